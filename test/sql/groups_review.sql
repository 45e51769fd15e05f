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
SELECT simdup_group('cases', 'SELECT id, fp, body AS content FROM letter ORDER BY id', 3);
SELECT * FROM simdup_review('cases');
SELECT count(*) FROM simdup_regroup('cases');
SELECT id, other, size, a, b, why, distance, round(resemblance::numeric, 2) AS resemblance, content_a, content_b FROM simdup_review('cases');
SELECT a, b, only_a, only_b FROM simdup_review('cases', 1);
-- what is decided is not shown: a pair, and a pair that others imply
SELECT count(*) FROM simdup_decide('cases', ARRAY[1, 4, 9], ARRAY[4, 3, 10], same => true);
SELECT count(*) FROM simdup_decide('cases', ARRAY[7, 2], ARRAY[8, 6], same => false);
SELECT a, b, why, distance FROM simdup_review('cases');
SELECT count(*) FROM simdup_undecide('cases', ARRAY[4, 9], ARRAY[3, 10]);
SELECT a, b, why, distance FROM simdup_review('cases');
-- rows that only decisions or other rows tie to the first row
INSERT INTO letter VALUES (12, 'a well', bits(50)), (13, 'the well', bits(52));
SELECT count(*) FROM simdup_decide('cases', 12, 1, same => true);
SELECT a, b, why, distance FROM simdup_review('cases', 2);
-- three pairs of a group at most, each fingerprint once
INSERT INTO letter SELECT 100 + i, 'none', ((7::bigint << i % 50) # (1 << i % 3))::simhash64 FROM generate_series(1, 60) AS i;
SELECT count(*) > 0 AS refreshed FROM simdup_regroup('cases');
SELECT max(n) FROM (SELECT count(*) AS n FROM simdup_review('cases', 100) GROUP BY id) AS shown;

-- verified: the resemblance nearest to the border comes first; without a content, fingerprints alone
SELECT simdup_group('verified', 'SELECT id, minhash64(body), body AS content FROM letter WHERE id < 10 ORDER BY id', 16, min_resemblance => 0.6);
SELECT count(*) FROM simdup_regroup('verified');
SELECT a, b, why, round(resemblance::numeric, 2) AS resemblance FROM simdup_review('verified', 3);
SELECT simdup_group('plain', 'SELECT id, fp FROM letter WHERE id < 10 ORDER BY id', 3, 'connected');
SELECT count(*) FROM simdup_regroup('plain');
SELECT a, b, why, distance, resemblance, content_a, only_b FROM simdup_review('plain', 3);

-- the decisions score the distances
SELECT max_distance, n_found, n_true, n_both FROM simdup_tune(
  'SELECT l.fp, r.fp, d.same FROM cases_decisions AS d JOIN letter AS l ON l.id = d.a JOIN letter AS r ON r.id = d.b', 4);

-- bad input
SELECT simdup_review('cases', 0);
SELECT simdup_review('cases', NULL);
SELECT simdup_review('letter');
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA review CASCADE;
RESET client_min_messages;
