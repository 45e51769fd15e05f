--
-- groups_verified: groups where texts, or a scope, decide besides the distance.
-- A fill makes the groups that rows make one by one.
--
SET client_min_messages = warning;
CREATE SCHEMA groups_verified;
SET search_path = groups_verified, public;

-- 23 letters in versions: up to four words of 30 differ from one to the next
CREATE TABLE source AS
  SELECT i AS id, (ARRAY['north', 'south', NULL])[1 + i * 7 % 3] AS place, i % 4 = 0 AS urgent,
    CASE WHEN i % 50 = 0 THEN NULL ELSE (SELECT string_agg(CASE WHEN abs(hashint4extended(i * 100 + n, 3)) % 40 < i % 5
        THEN 'x' || abs(hashint4(i + n)) % 900 ELSE 'word' || abs(hashint4(i % 23 * 100 + n)) % 3000 END, ' ' ORDER BY n)
      FROM generate_series(1, 30) n) END AS body
  FROM generate_series(1, 300) i;

-- the rule of the method leader, said once more: each row joins the nearest
-- representative that passes, of equally near ones the oldest
CREATE FUNCTION simply(k int, limit_r float8, scoped boolean) RETURNS TABLE (id int, leader int) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  CREATE TEMP TABLE simple (id int, leader int, fp simhash64, place text, urgent boolean, body text);
  FOR r IN SELECT * FROM filled f WHERE f.simdup_fp IS NOT NULL ORDER BY f.id LOOP
    INSERT INTO simple SELECT r.id, coalesce((SELECT s.id FROM simple s
        WHERE s.leader = s.id AND s.fp <~> r.simdup_fp <= k
          AND (limit_r IS NULL OR shingle_resemblance(s.body, r.body, 3, 'char') >= limit_r)
          AND (NOT scoped OR (s.place IS NOT DISTINCT FROM r.place AND s.urgent IS NOT DISTINCT FROM r.urgent))
        ORDER BY s.fp <~> r.simdup_fp, s.id LIMIT 1), r.id), r.simdup_fp, r.place, r.urgent, r.body;
  END LOOP;
  RETURN QUERY SELECT s.id, s.leader FROM simple s;
  DROP TABLE simple;
END $$;

-- Rows in other groups: a fill against rows one by one, a regroup of those, a
-- fill against the rule. Then the groups, and if the conditions keep near rows apart.
CREATE FUNCTION compare(limit_r float8, scoped boolean, method_ text) RETURNS TABLE (
    other_than_arrived bigint, changed_by_regroup bigint, other_than_the_rule bigint, "groups" bigint, largest bigint, apart boolean)
  LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  CREATE TABLE filled AS TABLE source;
  ALTER TABLE filled ADD PRIMARY KEY (id);
  CREATE TABLE arrived (LIKE source, PRIMARY KEY (id));
  PERFORM simdup_attach(t::regclass, 'body', action => 'group', min_resemblance => limit_r, w => 3, unit => 'char', max_distance => 14, method => method_,
    within => CASE WHEN scoped THEN '{place,urgent}'::text[] END) FROM unnest('{filled,arrived}'::text[]) t;
  FOR r IN SELECT * FROM source ORDER BY id LOOP
    INSERT INTO arrived SELECT r.id, r.place, r.urgent, r.body;
  END LOOP;
  RETURN QUERY
    WITH f AS (SELECT id, simdup_group, min(id) FILTER (WHERE simdup_group IS NOT NULL) OVER (PARTITION BY simdup_group) AS first FROM filled),
      a AS (SELECT id, min(id) FILTER (WHERE simdup_group IS NOT NULL) OVER (PARTITION BY simdup_group) AS first FROM arrived)
    SELECT (SELECT count(*) FROM f FULL JOIN a USING (id) WHERE f.first IS DISTINCT FROM a.first),
      (SELECT count(*) FROM simdup_regroup('arrived')),
      CASE method_ WHEN 'leader' THEN (SELECT count(*) FROM f FULL JOIN simply(14, limit_r, scoped) s USING (id) WHERE s.leader IS DISTINCT FROM f.first) END,
      (SELECT count(DISTINCT simdup_group) FROM f),
      (SELECT count(*) FROM f WHERE simdup_group IS NOT NULL GROUP BY simdup_group ORDER BY 1 DESC LIMIT 1),
      EXISTS (SELECT FROM filled x, filled y WHERE x.simdup_fp <~> y.simdup_fp <= 14 AND x.simdup_group <> y.simdup_group);
  DROP TABLE filled, filled_simdup_groups, filled_simdup_members, filled_simdup_events, filled_simdup_redirects, filled_simdup_decisions;
  DROP TABLE arrived, arrived_simdup_groups, arrived_simdup_members, arrived_simdup_events, arrived_simdup_redirects, arrived_simdup_decisions;
END $$;
SELECT * FROM compare(NULL, false, 'leader');
SELECT * FROM compare(0.75, false, 'leader');
SELECT * FROM compare(NULL, true, 'leader');
SELECT * FROM compare(0.75, true, 'leader');
SELECT * FROM compare(NULL, false, 'connected');
SELECT * FROM compare(0.75, false, 'connected');
SELECT * FROM compare(NULL, true, 'connected');
SELECT * FROM compare(0.75, true, 'connected');

--
-- the triggers: a text or a scope that changes alone is a change
--
CREATE TABLE letter (id int PRIMARY KEY, place varchar(20), body text);
SELECT count(*) FROM simdup_attach('letter', 'body', action => 'group', max_distance => 3, min_resemblance => 0.6, w => 2, unit => 'word', within => '{place}');
-- the tests write fingerprints themselves
DROP TRIGGER simdup_1_fingerprint ON letter;
CREATE VIEW now AS
  SELECT l.id, l.simdup_group AS "group", m.id = l.simdup_group AS is_member, g.representative = l.id AS leads
  FROM letter l LEFT JOIN letter_simdup_members m ON m.key = l.id LEFT JOIN letter_simdup_groups g ON g.id = m.id ORDER BY l.id;
\set a '''00ff00ff00ff00ff''::simhash64'
\set b '''00ff00ff00ff00fe''::simhash64'
INSERT INTO letter (id, place, body, simdup_fp) VALUES
  (1, 'north', 'one two three four five six', :a),
  (2, 'north', 'nothing of that kind is in here', :a),
  (3, 'north', 'one two three four five seven', :a),
  (4, 'south', 'one two three four five six', :a),
  (5, NULL, 'one two three four five six', :a),
  (6, NULL, 'one two three four five six', :b),
  (7, 'north', NULL, :a),
  (8, 'north', NULL, :a),
  (9, 'north', 'Nothing of that kind is in here!', :b),
  (10, 'north', 'one two three four five six', NULL);
TABLE now;
SELECT * FROM simdup_regroup('letter');
-- the text alone, the scope alone, the fingerprint alone
UPDATE letter SET body = 'nothing of that kind is in here' WHERE id = 3;
UPDATE letter SET place = 'south' WHERE id = 6;
UPDATE letter SET simdup_fp = :a WHERE id = 9;
UPDATE letter SET body = 'one two three four five six' WHERE id = 7;
TABLE now;
-- what changes nothing moves nobody
SELECT max(event) AS before FROM letter_simdup_events \gset
UPDATE letter SET body = body, place = place, simdup_fp = simdup_fp;
SELECT count(*) FROM letter_simdup_events WHERE event > :before;
-- a row that is alone keeps its id through every change
UPDATE letter SET place = 'west', body = 'quite another letter from here' WHERE id = 8;
-- a representative changes its text: the others stay together
UPDATE letter SET body = 'one two three four five seven' WHERE id = 7;
UPDATE letter SET body = 'quite another letter from here' WHERE id = 1;
TABLE now;
-- a representative changes its scope, and joins there; one goes
UPDATE letter SET place = 'south' WHERE id = 2;
UPDATE letter SET place = 'west' WHERE id = 1;
DELETE FROM letter WHERE id = 4;
TABLE now;
-- a representative goes, and not all others resemble the next one
INSERT INTO letter (id, place, body, simdup_fp) VALUES
  (20, 'east', 'a b c d e f g h i', :a), (21, 'east', 'a b c d e f g h', :a), (22, 'east', 'b c d e f g h i', :a),
  (23, 'east', 'b c d e f g h i j', :a), (24, 'east', 'a b c d e f g', :a);
SELECT id, "group" = (SELECT simdup_group FROM letter WHERE id = 20) AS first FROM now WHERE id >= 20;
UPDATE letter SET body = 'a b c d e f' WHERE id = 21;
DELETE FROM letter WHERE id = 20;
SELECT id, "group" - (SELECT simdup_group FROM letter WHERE id = 21) AS "group", leads FROM now WHERE id >= 20;
-- people outrank texts and scope; row 8 was alone, so row 1 came near it and kept its id
SELECT simdup_decide('letter', 1, 9, true), simdup_decide('letter', 6, 2, false);
SELECT count(DISTINCT "group") FROM now WHERE id IN (1, 9);
CREATE TEMP TABLE before AS TABLE now;
SELECT * FROM simdup_regroup('letter');
SELECT * FROM before EXCEPT TABLE now;

-- the triggers off: regroup follows texts and scopes
ALTER TABLE letter DISABLE TRIGGER USER;
UPDATE letter SET place = 'north' WHERE id = 24;
UPDATE letter SET body = 'b c d e f g h i' WHERE id = 21;
ALTER TABLE letter ENABLE TRIGGER USER;
SELECT key, before IS NULL AS was_none, after = (SELECT simdup_group FROM letter WHERE id = 22) AS into_its FROM simdup_regroup('letter', true);
SELECT count(*) FROM simdup_regroup('letter');
SELECT count(*) FROM simdup_regroup('letter');
-- each row passes against its representative, but those that people tied to row 1
SELECT l.id FROM letter l JOIN letter_simdup_groups g ON g.id = l.simdup_group JOIN letter r ON r.id = g.representative
WHERE g.id <> (SELECT simdup_group FROM letter WHERE id = 1) AND (l.simdup_fp <~> r.simdup_fp <= 3 AND l.place IS NOT DISTINCT FROM r.place
  AND (l.id = r.id OR shingle_resemblance(l.body, r.body, 2, 'word') >= 0.6)) IS NOT TRUE;

-- keys of another type, and a scope whose equal values have different bytes
CREATE TABLE letter2 (id uuid PRIMARY KEY, body text, place float8);
SELECT count(*) FROM simdup_attach('letter2', 'body', action => 'group', within => '{place}', max_distance => 8);
INSERT INTO letter2 SELECT md5(i::text)::uuid, 'the lights in the park are out again tonight ' || i / 4, ('{0,-0,NaN,NULL}'::float8[])[1 + i % 4]
  FROM generate_series(0, 15) i;
SELECT place, count(DISTINCT simdup_group) FROM letter2 GROUP BY place ORDER BY place;
SELECT count(*) FROM simdup_regroup('letter2');
SELECT count(*) FROM simdup_alter('letter2', max_distance => 12, min_resemblance => 0.99);
SELECT count(DISTINCT simdup_group), count(DISTINCT (body, place)) FROM letter2;
-- by bits, where reading texts is too dear: triggers written by hand
CREATE TABLE sketched (id int PRIMARY KEY, body text, bits varbit GENERATED ALWAYS AS (minhash_bits(body, 256)) STORED);
SELECT count(*) FROM simdup_attach('sketched', 'body', action => 'group', max_distance => 16);
DO $$ DECLARE t record; BEGIN
  FOR t IN SELECT pg_get_triggerdef(oid) AS def FROM pg_trigger WHERE tgrelid = 'sketched'::regclass AND tgname ~ '[234]' LOOP
    EXECUTE replace(replace(t.def, 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER'), '''16''', '''16'', ''bits => bits'', ''min_resemblance => 0.7''');
  END LOOP;
END $$;
INSERT INTO sketched (id, body) SELECT id, body FROM source ORDER BY id;
SELECT count(DISTINCT simdup_group) FROM sketched;
SELECT count(*) FROM simdup_regroup('sketched');
SELECT count(*) FROM sketched s JOIN sketched_simdup_groups g ON g.id = s.simdup_group JOIN sketched r ON r.id = g.representative
WHERE s.id <> r.id AND (minhash_bits_resemblance(s.bits, r.bits) >= 0.7) IS NOT TRUE;
UPDATE sketched SET body = 'another letter, which resembles none of those that are here' WHERE id IN (5, 28);
SELECT count(DISTINCT simdup_group) FROM sketched WHERE id IN (5, 28);
SELECT count(*) FROM simdup_regroup('sketched');
DROP SCHEMA groups_verified CASCADE;
