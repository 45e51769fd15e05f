--
-- groups: pairs to look at
--
\set SHOW_CONTEXT never
CREATE SCHEMA review;
SET search_path = review, public;
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN (CASE WHEN n >= 64 THEN -1 ELSE (1::bigint << n) - 1 END)::simhash64;

-- fingerprints that the test writes: a large group, a small one, one alone
CREATE TABLE letter (id int PRIMARY KEY, body text, fp simhash64);
INSERT INTO letter VALUES
  (1, 'the lamp in the lane is out', bits(0)), (2, 'the lamp in the lane is out', bits(0)), (3, 'the lamp in Mill Lane is out', bits(3)),
  (4, 'the lamp in Mill Lane is out!', bits(3)), (5, 'one lamp in the lane is out', bits(2)), (6, 'a lamp is out', bits(4)),
  (7, 'a tree has fallen', bits(20)), (8, 'the tree has fallen', bits(23)), (9, 'more benches', bits(30)), (10, NULL, bits(33)), (11, 'none', NULL);
CREATE VIEW letters AS SELECT id AS key, fp, body AS content FROM letter;
SELECT simdup_group('groups', 'letters', 3);
SELECT * FROM simdup_review('groups');
SELECT count(*) FROM simdup_regroup('groups');
SELECT id, other, a, b, why, n_decided, distance, round(resemblance::numeric, 2) AS resemblance, only_a, only_b FROM simdup_review('groups');
-- decided pairs are not shown, nor pairs that others imply
SELECT count(*) FROM simdup_decide('groups', ARRAY[1, 4, 9], ARRAY[4, 3, 10], same => true);
SELECT count(*) FROM simdup_decide('groups', ARRAY[7, 2], ARRAY[8, 6], same => false);
SELECT a, b, why, distance FROM simdup_review('groups');
SELECT count(*) FROM simdup_undecide('groups', ARRAY[4, 9], ARRAY[3, 10]);
SELECT a, b, why, distance FROM simdup_review('groups');
-- rows that only decisions or other rows tie to the first row
INSERT INTO letter VALUES (12, 'a well', bits(50)), (13, 'the well', bits(52));
SELECT count(*) FROM simdup_decide('groups', 12, 1, same => true);
SELECT a, b, why, distance FROM simdup_review('groups', 2);
-- three pairs of a group at most, each fingerprint once
INSERT INTO letter SELECT 100 + i, 'none', ((7::bigint << i % 50) # (1 << i % 3))::simhash64 FROM generate_series(1, 60) AS i;
SELECT count(*) > 0 AS refreshed FROM simdup_regroup('groups');
SELECT max(n) FROM (SELECT count(*) AS n FROM simdup_review('groups', 100) GROUP BY id) AS shown;

-- verified: the resemblance nearest to the border comes first; without a content, fingerprints alone
CREATE VIEW few AS SELECT id AS key, body AS content FROM letter WHERE id < 10;
SELECT simdup_group('verified', 'few', 16, min_resemblance => 0.6);
SELECT count(*) FROM simdup_regroup('verified');
SELECT a, b, why, round(resemblance::numeric, 2) AS resemblance FROM simdup_review('verified', 3);
CREATE VIEW sketches AS SELECT id AS key, minhash64(body) AS fp, minhash_bits(body) AS content FROM letter WHERE id < 10;
SELECT simdup_group('sketched', 'sketches', 16, min_resemblance => 0.6);
SELECT count(*) FROM simdup_regroup('sketched');
SELECT count(*) > 0 AS any, bool_and(r.resemblance = minhash_bits_resemblance(minhash_bits(a.body), minhash_bits(b.body))) AS of_sketches,
  count(numbers_a) + count(only_a) + count(content_a) AS texts
FROM simdup_review('sketched') AS r JOIN letter AS a ON a.id = r.a::int JOIN letter AS b ON b.id = r.b::int;
CREATE VIEW prints AS SELECT id AS key, fp FROM letter WHERE id < 10;
SELECT simdup_group('plain', 'prints', 3, 'connected');
SELECT count(*) FROM simdup_regroup('plain');
SELECT a, b, why, distance, resemblance, numbers_a, only_a, content_a FROM simdup_review('plain', 3);
-- without contents, the source is read once
CREATE SEQUENCE reads;
CREATE VIEW counted AS SELECT r.id AS key, r.fp FROM (SELECT id, fp, nextval('reads') FROM letter WHERE id < 10) AS r;
SELECT simdup_group('counted_group', 'counted', 3);
SELECT count(*) FROM simdup_regroup('counted_group');
SELECT count(*) > 0 AS any FROM simdup_review('counted_group');
SELECT last_value FROM reads;

-- keys in full, however the session writes numbers
CREATE VIEW by_thirds AS SELECT id / 3::float8 AS key, fp, body AS content FROM letter WHERE id < 10;
SELECT simdup_group('thirds', 'by_thirds', 3);
SET extra_float_digits = -15;
SELECT count(*) FROM simdup_regroup('thirds');
SELECT a, b, content_a = (SELECT body FROM letter WHERE id = round(a::float8 * 3)) AS a_is_its,
  content_b = (SELECT body FROM letter WHERE id = round(b::float8 * 3)) AS b_is_its FROM simdup_review('thirds', 3);
RESET extra_float_digits;

-- what tells two letters apart, and more rows before fewer
CREATE TABLE note (id int PRIMARY KEY, content text);
INSERT INTO note SELECT i, CASE WHEN i <= 4 THEN 'The lamp at 14 Fish Street has been dark since 5 May. Please mend it before the winter, for the children walk home there.'
  WHEN i <= 7 THEN 'The lamp at 15 Fish Street has been dark since 5 May. Please mend it before the winter, for the children walk home there. We are 60 neighbours.'
  WHEN i = 8 THEN 'The bridge over the mill race shakes when a cart crosses it, and nobody has looked at it for 10 years.'
  ELSE 'The bridge over the mill race shakes when the cart crosses it, and nobody looked at it for 10 years.' END FROM generate_series(1, 9) AS i;
SELECT simdup_group('notes', 'note', 16, min_resemblance => 0.9);
SELECT count(DISTINCT id) AS groups FROM simdup_regroup('notes');
-- the dots between passages are three where the encoding lacks the one
SELECT a, b, why, n_decided, numbers_a, numbers_b, regexp_replace(only_a, '[.]{3}|[^[:alnum:] .]+', '.') AS only_a, regexp_replace(only_b, '[.]{3}|[^[:alnum:] .]+', '.') AS only_b FROM simdup_review('notes');

-- texts of many numbers
INSERT INTO note SELECT 100 + k, (SELECT string_agg('no ' || (i + k * 7)::text, ' ') FROM generate_series(1, 50000) AS i) FROM generate_series(0, 1) AS k;
CREATE VIEW numbers AS SELECT id AS key, simhash64 '0000000000000000' AS fp, content FROM note WHERE id >= 100;
UPDATE notes_settings SET source = 'review.numbers';
SELECT count(*) FROM simdup_regroup('notes');
SELECT a, b, numbers_a, numbers_b FROM simdup_review('notes');

-- decisions at random: implied pairs are never asked, and all others still are
CREATE TABLE point AS SELECT i AS key, bits(i) AS fp FROM generate_series(0, 59) AS i;
SELECT simdup_group('points', 'point', 2);
SELECT count(*) > 0 AS grouped FROM simdup_regroup('points');
CREATE TABLE asked AS SELECT a::int, b::int, p.id = p.other AS inside FROM simdup_review('points', 1000) AS p;
CREATE FUNCTION wrong(seed int) RETURNS bigint LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  wrong bigint;
BEGIN
  -- people answer some questions without contradiction, also about rows that are gone
  INSERT INTO points_decisions (a, b, same)
  SELECT least(x, y), greatest(x, y), x / 7 = y / 7 FROM (
    SELECT hashint4(seed * 1000 + i) & 63 AS x, hashint4(seed * 1000 + i + 500) & 63 AS y FROM generate_series(1, 40) AS i) AS r
  WHERE x <> y ON CONFLICT DO NOTHING;
  CREATE TEMP TABLE block ON COMMIT DROP AS
    WITH RECURSIVE linked(a, b) AS (
      SELECT a, b FROM points_decisions WHERE same UNION SELECT b, a FROM points_decisions WHERE same UNION SELECT id, id FROM generate_series(0, 63) AS id),
    reached(a, b) AS (SELECT a, b FROM linked UNION SELECT r.a, l.b FROM reached AS r JOIN linked AS l ON l.a = r.b)
    SELECT a AS id, min(b) AS first FROM reached GROUP BY a;
  WITH implied AS (
    SELECT l.id AS a, r.id AS b FROM block AS l JOIN block AS r ON r.first = l.first
    UNION SELECT x.id, y.id FROM points_decisions AS d JOIN block AS l ON l.id = d.a JOIN block AS r ON r.id = d.b
      JOIN block AS x ON x.first = l.first JOIN block AS y ON y.first = r.first WHERE NOT d.same
    UNION SELECT y.id, x.id FROM points_decisions AS d JOIN block AS l ON l.id = d.a JOIN block AS r ON r.id = d.b
      JOIN block AS x ON x.first = l.first JOIN block AS y ON y.first = r.first WHERE NOT d.same),
  groups_apart AS (
    SELECT l.id, r.id AS other FROM points_decisions AS d JOIN points AS l ON l.key = d.a JOIN points AS r ON r.key = d.b WHERE NOT d.same
    UNION SELECT r.id, l.id FROM points_decisions AS d JOIN points AS l ON l.key = d.a JOIN points AS r ON r.key = d.b WHERE NOT d.same),
  expected AS (
    SELECT a, b FROM asked EXCEPT SELECT a, b FROM implied
    EXCEPT SELECT k.a, k.b FROM asked AS k JOIN points AS l ON l.key = k.a JOIN points AS r ON r.key = k.b
      JOIN groups_apart AS g ON g.id = l.id AND g.other = r.id WHERE NOT k.inside),
  found AS (SELECT a::int, b::int FROM simdup_review('points', 1000))
  SELECT (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) AS f) + (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS e) INTO wrong;
  DROP TABLE block;
  DELETE FROM points_decisions;
  RETURN wrong;
END $$;
SELECT count(*) AS asked, count(*) FILTER (WHERE inside) AS inside FROM asked;
SELECT sum(wrong(seed)) AS wrong FROM generate_series(1, 25) AS seed;

-- pairs of one scope, of any type that knows equality; NULL is a scope
CREATE TABLE place AS
  SELECT i AS key, bits(i % 12 * 2) AS fp, CASE i / 12 WHEN 0 THEN NULL ELSE (i / 12)::text::xid END AS scope FROM generate_series(0, 35) AS i;
SELECT simdup_group('places', 'place', 2);
SELECT count(DISTINCT id) AS groups FROM simdup_regroup('places');
CREATE VIEW asked_places AS
  SELECT l.key, r.key AS other, l.scope IS NOT DISTINCT FROM r.scope AS one_scope, p.distance, p.why
  FROM simdup_review('places', 1000) AS p JOIN place AS l ON l.key = p.a::int JOIN place AS r ON r.key = p.b::int;
SELECT why, one_scope, count(*) FROM asked_places GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TYPE office AS (street text, number int);
CREATE VIEW offices AS SELECT key, fp, ROW(scope::text, NULL)::office AS scope FROM place;
UPDATE places_settings SET source = 'review.offices';
SELECT count(*) FROM simdup_regroup('places');
SELECT why, one_scope, count(*) FROM asked_places GROUP BY 1, 2 ORDER BY 1, 2;
-- a decision puts rows of two scopes into one group: the rows of each are asked about alone
SELECT count(*) FROM simdup_decide('places', ARRAY[0, 12], ARRAY[12, 26], same => true);
SELECT why, one_scope, count(*) FROM asked_places GROUP BY 1, 2 ORDER BY 1, 2;

-- decisions that a refresh passes over come first
BEGIN;
INSERT INTO places_decisions (a, b, same) VALUES (0, 26, false), (40, 41, true), (41, 42, true), (40, 42, false);
SELECT id IS NULL AS gone, a, b, why, n_decided FROM simdup_review('places', 3);
SELECT count(*) FROM simdup_review('places', 1);
SET client_min_messages = error;
SELECT length(simdup_report_html('review.place', 'Places', groups => 'places')) > 0 AS shown;
RESET client_min_messages;
ROLLBACK;

-- bad input
SELECT simdup_review('groups', 0);
SELECT simdup_review('groups', NULL);
SELECT simdup_review('letter');
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA review CASCADE;
RESET client_min_messages;
