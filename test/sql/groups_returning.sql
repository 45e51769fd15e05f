--
-- groups: INSERT ... RETURNING gives the group that the row has then
--
SET client_min_messages = warning;
CREATE SCHEMA groups_returning;
SET search_path = groups_returning, public;
\pset footer off

-- a fingerprint with the lowest n bits set: distances are differences
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN ((1::bigint << n) - 1)::simhash64;
-- how many versions of rows the session replaced, until a transaction began
CREATE FUNCTION replaced(name text) RETURNS bigint LANGUAGE sql
  RETURN coalesce((SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relid = name::regclass), 0);

-- leader, with a decision about other rows
CREATE TABLE letter (id int PRIMARY KEY, body text);
SELECT count(*) > 0 AS attached FROM simdup_attach('letter', 'body', action => 'group', max_distance => 3);
DROP TRIGGER simdup_1_fingerprint ON letter;
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(20)), (3, bits(21)) RETURNING id, simdup_group;
SELECT simdup_decide('letter', 1, 2, true);
BEGIN;
SELECT replaced('letter') AS before \gset
INSERT INTO letter (id, simdup_fp) VALUES (4, bits(40)) RETURNING id, simdup_group = currval('letter_simdup_groups_id_seq') AS new;
INSERT INTO letter (id, simdup_fp) VALUES (5, bits(2)), (6, bits(42)), (7, bits(60)), (8, bits(61)) RETURNING id, simdup_group;
SELECT id, simdup_group FROM letter WHERE id > 3 ORDER BY id;
SELECT replaced('letter') - :before AS replaced;
COMMIT;
-- a row that was decided about comes back to those that it is tied to
DELETE FROM letter WHERE id = 2;
INSERT INTO letter (id, simdup_fp) VALUES (2, bits(21)) RETURNING id, simdup_group;
SELECT id, simdup_group FROM letter WHERE id = 2;
-- for one that was told apart, RETURNING does not know
SELECT simdup_decide('letter', 4, 6, false);
DELETE FROM letter WHERE id = 6;
INSERT INTO letter (id, simdup_fp) VALUES (6, bits(42)) RETURNING id, simdup_group;
SELECT simdup_group <> (SELECT simdup_group FROM letter WHERE id = 4) AS apart FROM letter WHERE id = 6;

-- connected
CREATE TABLE bridge (id int PRIMARY KEY, body text);
SELECT count(*) > 0 AS attached FROM simdup_attach('bridge', 'body', action => 'group', max_distance => 3, method => 'connected');
DROP TRIGGER simdup_1_fingerprint ON bridge;
BEGIN;
SELECT replaced('bridge') AS before \gset
INSERT INTO bridge (id, simdup_fp) VALUES (1, bits(0)) RETURNING id, simdup_group;
INSERT INTO bridge (id, simdup_fp) VALUES (2, bits(3)) RETURNING id, simdup_group;
INSERT INTO bridge (id, simdup_fp) VALUES (3, bits(6)) RETURNING id, simdup_group;
-- rows of one statement, each near the one before; two groups
INSERT INTO bridge (id, simdup_fp) VALUES (4, bits(20)), (5, bits(23)), (6, bits(26)), (7, bits(40)), (8, bits(9)) RETURNING id, simdup_group;
SELECT id, simdup_group FROM bridge ORDER BY id;
SELECT replaced('bridge') - :before AS replaced;
COMMIT;
-- a row that is not stored leaves no trace in those that were near it
INSERT INTO bridge (id, simdup_fp) VALUES (1, bits(60)), (9, bits(61)) ON CONFLICT DO NOTHING;
SELECT id, simdup_group = (SELECT g.id FROM bridge_simdup_groups AS g WHERE representative = 9) AS own FROM bridge WHERE id = 9;
-- a row that merges two groups returns the older id; 14 did not know of 13
SELECT simdup_group AS young FROM bridge WHERE id = 7 \gset
INSERT INTO bridge (id, simdup_fp) VALUES (10, bits(29)), (11, bits(32)), (12, bits(35)), (13, bits(38)), (14, bits(41)) RETURNING id, simdup_group;
SELECT id, simdup_group FROM bridge WHERE id IN (4, 7) OR id >= 10 ORDER BY id;
SELECT simdup_group_of('bridge', :young);
-- with a decision about other rows
SELECT simdup_decide('bridge', 1, 7, false);
INSERT INTO bridge (id, simdup_fp) VALUES (15, bits(50)), (16, bits(53)) RETURNING id, simdup_group;
SELECT id, simdup_group FROM bridge WHERE id >= 15 ORDER BY id;
SELECT t.id FROM bridge AS t FULL JOIN bridge_simdup_members AS m ON m.key = t.id WHERE t.simdup_group IS DISTINCT FROM m.id;
SELECT count(*) AS changed FROM simdup_regroup('bridge');

-- within: rows of another scope in the same statement
CREATE TABLE scoped (id int PRIMARY KEY, body text, place text);
SELECT count(*) > 0 AS attached FROM simdup_attach('scoped', 'body', action => 'group', max_distance => 3, method => 'connected', within => '{place}');
DROP TRIGGER simdup_1_fingerprint ON scoped;
INSERT INTO scoped (id, place, simdup_fp) VALUES (1, 'n', bits(0)), (2, 's', bits(1)), (3, 'n', bits(2));
INSERT INTO scoped (id, place, simdup_fp) VALUES (4, 's', bits(3)) RETURNING id, simdup_group = (SELECT simdup_group FROM scoped WHERE id = 2) AS as_2;
SELECT id, simdup_group = min(simdup_group) OVER (PARTITION BY place) AS by_place FROM scoped ORDER BY id;
SELECT count(DISTINCT simdup_group) AS groups FROM scoped;

DROP SCHEMA groups_returning CASCADE;
