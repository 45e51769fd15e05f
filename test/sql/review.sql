--
-- groups: pairs to look at, and distances scored by decisions
--
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA review;
SET search_path = review, public;
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN (CASE WHEN n >= 64 THEN -1 ELSE (1::bigint << n) - 1 END)::simhash64;

-- fingerprints that the test writes: a large group, a small one, one alone
CREATE TABLE letter (id int PRIMARY KEY, "bo{T}dy" text);
SELECT count(*) > 0 AS attached FROM simdup_attach('letter', 'bo{T}dy', action => 'group', max_distance => 3);
ALTER TABLE letter DISABLE TRIGGER simdup_1_fingerprint;
INSERT INTO letter (id, "bo{T}dy", simdup_fp) VALUES
  (1, 'the lamp in the lane is out', bits(0)), (2, 'the lamp in the lane is out', bits(0)), (3, 'the lamp in Mill Lane is out', bits(3)),
  (4, 'the lamp in Mill Lane is out!', bits(3)), (5, 'one lamp in the lane is out', bits(2)), (6, 'a lamp is out', bits(4)),
  (7, 'a tree has fallen', bits(20)), (8, 'the tree has fallen', bits(23)), (9, 'more benches', bits(30)), (10, NULL, bits(33)), (11, 'none', NULL);
SELECT simdup_group, array_agg(id ORDER BY id) FROM letter GROUP BY 1 ORDER BY 1;
SELECT size, a, b, why, distance, round(resemblance::numeric, 2) AS resemblance, content_a, content_b FROM simdup_review('letter');
SELECT a, b, only_a, only_b FROM simdup_review('letter', 1);
-- what is decided is not shown
INSERT INTO letter_simdup_decisions (a, b, same, decided_at, decided_by)
  VALUES (1, 3, true, now(), 'clerk'), (7, 8, false, now(), 'clerk'), (9, 10, true, now(), 'clerk');
SELECT a, b, why FROM simdup_review('letter');
-- and scores the distances
SELECT * FROM simdup_tune('letter'::regclass, 4);
SELECT count(*) FROM simdup_tune(target => 'letter');
-- a query in a text means a query
SELECT count(*) FROM simdup_tune('SELECT id, simdup_fp FROM letter');
SELECT simdup_tune('letter');
-- three pairs of a group at most, each fingerprint once
INSERT INTO letter (id, simdup_fp) SELECT 100 + i, ((7::bigint << i % 50) # (1 << i % 3))::simhash64 FROM generate_series(1, 60) AS i;
SELECT id, count(*), min(why) FROM simdup_review('letter', 100) WHERE id = other GROUP BY id ORDER BY id;
-- bad input
SELECT simdup_review('letter', 0);
SELECT simdup_review('letter', NULL);
SELECT simdup_review(NULL);
SELECT simdup_tune('letter'::regclass, 65);
SELECT simdup_tune('letter'::regclass, NULL);
SELECT simdup_tune(NULL::regclass);
CREATE TABLE plain (id int PRIMARY KEY);
SELECT simdup_review('plain');
SELECT simdup_tune('plain'::regclass);
CREATE VIEW seen AS SELECT * FROM letter;
SELECT simdup_review('seen');

-- a row that changed while triggers were off is linked by nothing near
ALTER TABLE letter DISABLE TRIGGER ALL;
UPDATE letter SET simdup_fp = bits(12) WHERE id = 5;
ALTER TABLE letter ENABLE TRIGGER ALL;
SELECT a, b, why, distance, round(resemblance::numeric, 2) AS resemblance FROM simdup_review('letter', 100) WHERE why = 'bridge';

-- verified groups: the resemblance nearest to the border comes first
CREATE TABLE verified (id text PRIMARY KEY, body text);
SELECT count(*) > 0 AS attached FROM simdup_attach('verified', 'body', action => 'group', max_distance => 16);
DO $$
DECLARE t record;
BEGIN
  FOR t IN SELECT tgname, pg_get_triggerdef(oid) AS def FROM pg_trigger
           WHERE tgrelid = 'verified'::regclass AND pg_get_triggerdef(oid) ~ 'group_trigger' LOOP
    EXECUTE format('DROP TRIGGER %I ON verified', t.tgname);
    EXECUTE rtrim(t.def, ')') || ', ''content => body'', ''min_resemblance => 0.5'')';
  END LOOP;
END $$;
INSERT INTO verified (id, body) VALUES ('a', 'the lamp in the lane is out since Monday and nobody comes'),
  ('b', 'the lamp in the lane is out since Monday and nobody came'), ('c', 'the lamp in the lane is out since Friday and nobody comes'),
  ('d', 'the lamp in the lane is out since Monday and nobody will come');
SELECT a, b, why, round(resemblance::numeric, 2) AS resemblance, only_a, only_b FROM simdup_review('verified');

-- rights and row security are the caller's
CREATE ROLE regress_simdup_reader;
GRANT USAGE ON SCHEMA review TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT simdup_review('letter');
SELECT simdup_tune('letter'::regclass);
RESET ROLE;
GRANT SELECT ON letter TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT simdup_review('letter');
SELECT simdup_tune('letter'::regclass);
RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA review TO regress_simdup_reader;
ALTER TABLE letter ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON letter FOR SELECT USING (id IN (1, 3, 5));
SET ROLE regress_simdup_reader;
SELECT a, b, why FROM simdup_review('letter');
SELECT n_true FROM simdup_tune('letter'::regclass, 3) WHERE max_distance = 3;
RESET ROLE;
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA review CASCADE;
DROP ROLE regress_simdup_reader;
RESET client_min_messages;
