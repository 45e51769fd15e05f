--
-- groups: the rows of a table in groups that live with it
--
SET client_min_messages = warning;
CREATE SCHEMA groups;
SET search_path = groups, public;

-- a fingerprint with the lowest n bits set: distances are differences
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN ((1::bigint << n) - 1)::simhash64;
CREATE TABLE letter (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('letter', 'body', action => 'group', max_distance => 3);
-- the tests write fingerprints themselves
DROP TRIGGER simdup_1_fingerprint ON letter;
ALTER TABLE letter RENAME COLUMN simdup_fp TO fp;
SELECT simdup_regroup('letter');
ALTER TABLE letter RENAME COLUMN fp TO simdup_fp;

CREATE VIEW now AS
  SELECT id, simdup_group AS "group", simhash64_to_bits, member = simdup_group AS is_member, representative = id AS leads
  FROM (SELECT l.id, l.simdup_group, l.simdup_fp <~> bits(0) AS simhash64_to_bits, m.id AS member, g.representative
        FROM letter l LEFT JOIN letter_simdup_members m ON m.key = l.id LEFT JOIN letter_simdup_groups g ON g.id = m.id) x
  ORDER BY id;
-- what must hold of every table: events replayed give the members, members
-- are the rows with a fingerprint, each row is near its representative
CREATE FUNCTION wrong() RETURNS TABLE (what text, key int) LANGUAGE plpgsql AS $$
DECLARE e record;
BEGIN
  CREATE TEMP TABLE replayed (key int PRIMARY KEY, id bigint);
  FOR e IN SELECT * FROM letter_simdup_events ORDER BY event LOOP
    IF e.kind IN ('opened', 'joined', 'split', 'returned') THEN
      INSERT INTO replayed VALUES (e.key, e.id) ON CONFLICT ON CONSTRAINT replayed_pkey DO UPDATE SET id = e.id;
    ELSIF e.kind = 'left' THEN DELETE FROM replayed r WHERE r.key = e.key;
    ELSIF e.kind = 'merged' THEN UPDATE replayed r SET id = e.other WHERE r.id = e.id;
    ELSIF e.kind = 'truncated' THEN DELETE FROM replayed;
    END IF;
  END LOOP;
  RETURN QUERY SELECT 'replayed', coalesce(r.key, m.key) FROM replayed r FULL JOIN letter_simdup_members m ON m.key = r.key
    WHERE r.id IS DISTINCT FROM m.id;
  RETURN QUERY SELECT 'column', coalesce(l.id, m.key) FROM letter l FULL JOIN letter_simdup_members m ON m.key = l.id
    WHERE l.simdup_group IS DISTINCT FROM m.id OR (l.simdup_fp IS NULL) <> (m.key IS NULL);
  RETURN QUERY SELECT 'far', l.id FROM letter l LEFT JOIN letter_simdup_groups g ON g.id = l.simdup_group
    WHERE l.simdup_fp IS NOT NULL AND (l.simdup_fp <~> g.simdup_fp <= 3) IS NOT TRUE;
  RETURN QUERY SELECT 'representative', g.representative FROM letter_simdup_groups g LEFT JOIN letter l ON l.id = g.representative
    WHERE l.simdup_group IS DISTINCT FROM g.id OR l.simdup_fp IS DISTINCT FROM g.simdup_fp;
  DROP TABLE replayed;
END $$;

-- join: the nearest group, of equally near ones the oldest; new: none is near.
-- Rows of one statement join each other, and joining merges nothing.
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(4)), (3, bits(2)), (4, bits(1)), (5, bits(7)), (6, NULL);
INSERT INTO letter (id, simdup_fp) VALUES (7, bits(30));
TABLE now;
SELECT * FROM wrong();
-- a user's value in the column does not count
INSERT INTO letter (id, simdup_fp, simdup_group) VALUES (8, bits(31), 1);
UPDATE letter SET simdup_group = 1 WHERE id IN (6, 7);
TABLE now;

-- split: the representative goes; the oldest of the others leads, rows that
-- are not near it come again
DELETE FROM letter WHERE id = 2;
TABLE now;
SELECT * FROM wrong();
-- a change keeps the row where it is near, else it moves; alone, it keeps its id
UPDATE letter SET simdup_fp = bits(32) WHERE id = 8;
UPDATE letter SET simdup_fp = bits(40) WHERE id = 8;
UPDATE letter SET simdup_fp = bits(31) WHERE id = 7;
TABLE now;
UPDATE letter SET simdup_fp = bits(31) WHERE id = 8;
-- the representative moves: the others stay together
UPDATE letter SET simdup_fp = bits(60) WHERE id = 1;
TABLE now;
SELECT * FROM wrong();
-- it gets a fingerprint, and loses it
UPDATE letter SET simdup_fp = bits(59) WHERE id = 6;
UPDATE letter SET simdup_fp = NULL WHERE id = 1;
TABLE now;
SELECT * FROM wrong();

-- rows that a statement drops open nothing
INSERT INTO letter (id, simdup_fp) VALUES (3, bits(20)), (9, bits(21)), (10, bits(22)) ON CONFLICT DO NOTHING;
INSERT INTO letter (id, simdup_fp) VALUES (3, bits(50)), (11, bits(50))
  ON CONFLICT (id) DO UPDATE SET simdup_fp = excluded.simdup_fp, simdup_group = excluded.simdup_group;
TABLE now;
SELECT * FROM wrong();
-- and neither do rows that are rolled back
BEGIN;
SAVEPOINT s;
INSERT INTO letter (id, simdup_fp) VALUES (12, 'f0f0f0f000000000');
ROLLBACK TO s;
INSERT INTO letter (id, simdup_fp) VALUES (13, 'f0f0f0f000000000'), (14, 'f0f0f0f000000001');
COMMIT;
SELECT id, "group" - (SELECT simdup_group FROM letter WHERE id = 13) AS "group" FROM now WHERE id >= 13;
SELECT * FROM wrong();
-- one statement changes, moves and deletes many rows
UPDATE letter SET id = id + 100, simdup_fp = (simdup_fp::bigint # 3)::simhash64;
SELECT * FROM wrong();
DELETE FROM letter WHERE id % 2 = 0;
SELECT * FROM wrong();
MERGE INTO letter USING generate_series(100, 120) i ON id = i
  WHEN MATCHED THEN UPDATE SET simdup_fp = bits(i - 100)
  WHEN NOT MATCHED THEN INSERT (id, simdup_fp) VALUES (i, bits(i - 100));
SELECT * FROM wrong();
SELECT count(DISTINCT "group"), count(*) FROM now;

-- regroup: the ids stay where the rows are; a dry run only says
SELECT count(*) FROM simdup_regroup('letter', true);
CREATE TEMP TABLE before AS TABLE letter;
ALTER TABLE letter DISABLE TRIGGER USER;
UPDATE letter SET simdup_fp = bits(30) WHERE id IN (101, 102);
INSERT INTO letter (id, simdup_fp) VALUES (200, bits(30)), (201, bits(50));
DELETE FROM letter WHERE id = 100;
ALTER TABLE letter ENABLE TRIGGER USER;
CREATE TEMP TABLE dry AS SELECT * FROM simdup_regroup('letter', true);
SELECT count(*) AS still FROM letter JOIN before USING (id) WHERE letter.simdup_group IS DISTINCT FROM before.simdup_group;
CREATE TEMP TABLE done AS SELECT * FROM simdup_regroup('letter');
SELECT d.key, d.before IS NULL AS is_new, x.after = d.after AS as_said FROM done d FULL JOIN dry x USING (key) ORDER BY key;
SELECT * FROM wrong();
SELECT count(*) FROM simdup_regroup('letter');
-- each row is in the group of the nearest representative that is older
SELECT l.id FROM letter l JOIN letter_simdup_members m ON m.key = l.id WHERE simdup_group <>
  (SELECT g.id FROM letter_simdup_groups g JOIN letter_simdup_members r ON r.key = g.representative
   WHERE r.age <= m.age AND g.simdup_fp <~> l.simdup_fp <= 3 ORDER BY g.simdup_fp <~> l.simdup_fp, r.age LIMIT 1);

-- ids that ended lead on
SELECT id FROM letter_simdup_redirects r WHERE simdup_group_of('letter', id) IS DISTINCT FROM
  (SELECT g.id FROM letter_simdup_groups g WHERE g.id = r.into_id);
INSERT INTO letter_simdup_redirects VALUES (1000, 1001), (1001, (SELECT max(id) FROM letter_simdup_groups));
SELECT simdup_group_of('letter', 1000) = max(id), simdup_group_of('letter', 12345678) IS NULL FROM letter_simdup_groups;

SELECT max(id) AS newest FROM letter_simdup_groups \gset
TRUNCATE letter;
SELECT count(*) FROM letter_simdup_members;

--
-- decisions
--
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(1)), (3, bits(20)), (4, bits(21)), (5, bits(40));
CREATE VIEW ids AS SELECT id, simdup_group - :newest AS "group" FROM letter WHERE simdup_group IS NOT NULL ORDER BY id;
TABLE ids;
-- same: two groups become one, the older id survives; undo: the first id returns
SELECT simdup_decide('letter', 2, 4, true, 'one sender');
TABLE ids;
SELECT id - :newest AS id, into_id - :newest AS into_id, simdup_group_of('letter', id) = into_id AS leads FROM letter_simdup_redirects
  WHERE id > :newest;
SELECT * FROM simdup_regroup('letter');
SELECT a, b, same, note, decided_by = current_user AS mine FROM letter_simdup_decisions;
SELECT simdup_undecide('letter', '4', '2');
TABLE ids;
SELECT count(*) FROM letter_simdup_redirects WHERE id > :newest;
SELECT * FROM wrong();
-- not the same: the younger row goes, and no row told apart comes in
SELECT simdup_decide('letter', 1, 2, false);
TABLE ids;
UPDATE letter SET simdup_fp = bits(2) WHERE id = 2;
TABLE ids;
SELECT * FROM simdup_regroup('letter');
SELECT simdup_undecide('letter', 1, 2);
TABLE ids;
SELECT * FROM wrong();
-- contradictions, with the chain
SELECT simdup_decide('letter', 1, 3, true), simdup_decide('letter', 3, 5, true);
SELECT simdup_decide('letter', 5, 1, false);
SELECT simdup_decide('letter', 2, 1, false);
SELECT simdup_decide('letter', 5, 2, true);
TABLE ids;
-- a decision may be changed, or said again
SELECT simdup_decide('letter', 3, 5, false);
SELECT simdup_decide('letter', 3, 5, false);
TABLE ids;
-- a representative that goes leaves what people tied together
DELETE FROM letter WHERE id = 1;
TABLE ids;
UPDATE letter SET id = 33 WHERE id = 3;
SELECT a, b, same FROM letter_simdup_decisions ORDER BY a, b;
SELECT kind, key, cause FROM letter_simdup_events WHERE kind ~ 'decided' ORDER BY event DESC LIMIT 3;
-- what is asked for wrongly
SELECT simdup_decide('letter', 2, 2, true);
SELECT simdup_decide('letter', 2, 99, true);
SELECT simdup_decide('letter', 'two', 'four', true);
SELECT simdup_decide('letter', 2, NULL, true);
SELECT simdup_decide('letter', 2, 4, NULL);
SELECT simdup_undecide('letter', 2, 99);
SELECT simdup_decide('now', 2, 4, true);
SELECT simdup_decide('letter_simdup_members', 2, 4, true);
-- who may write decisions decides, about rows that he sees
CREATE ROLE groups_clerk;
GRANT USAGE ON SCHEMA groups TO groups_clerk;
GRANT SELECT, INSERT, DELETE ON letter TO groups_clerk;
GRANT UPDATE (body) ON letter TO groups_clerk;
ALTER TABLE letter ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON letter TO groups_clerk USING (id <> 4);
SET ROLE groups_clerk;
SELECT simdup_decide('letter', 2, 5, true);
SELECT simdup_group_of('letter', 1);
SELECT * FROM simdup_regroup('letter');
INSERT INTO letter (id, simdup_fp) VALUES (50, bits(21));
RESET ROLE;
GRANT INSERT ON letter_simdup_decisions TO groups_clerk;
SET ROLE groups_clerk;
SELECT simdup_decide('letter', 2, 4, true);
SELECT simdup_decide('letter', 2, 5, true);
DELETE FROM letter WHERE id = 2;
RESET ROLE;
ALTER TABLE letter DISABLE ROW LEVEL SECURITY;
TABLE ids;
SELECT key FROM wrong() WHERE what <> 'far';
DROP OWNED BY groups_clerk;
DROP ROLE groups_clerk;
DROP VIEW ids;

-- told apart: a row that comes tied to rows of two groups makes them one, and
-- the younger of rows in it that were told apart goes
CREATE TABLE told (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('told', 'body', action => 'group', max_distance => 3);
DROP TRIGGER simdup_1_fingerprint ON told;
CREATE VIEW told_now AS
  SELECT t.id, simdup_group AS "group", representative, t.simdup_fp <~> g.simdup_fp AS distance
  FROM told AS t LEFT JOIN told_simdup_groups AS g ON g.id = t.simdup_group ORDER BY t.id;
INSERT INTO told (id, simdup_fp) VALUES (1, bits(0)), (2, bits(20)), (3, bits(40));
SELECT simdup_decide('told', 1, 2, true), simdup_decide('told', 2, 3, true);
DELETE FROM told WHERE id = 2;
UPDATE told SET simdup_fp = bits(41) WHERE id = 3;
INSERT INTO told (id, simdup_fp) VALUES (4, bits(1));
SELECT simdup_decide('told', 3, 4, false);
TABLE told_now;
INSERT INTO told (id, simdup_fp) VALUES (2, bits(20));
TABLE told_now;
-- computed anew, rows that are tied by a younger one are together from the first
SELECT simdup_decide('told', 1, 4, false);
SELECT simdup_undecide('told', 1, 4);
TABLE told_now;
-- the same with one group: the younger row is the one that comes
DELETE FROM told WHERE id = 3;
DELETE FROM told WHERE id = 4;
INSERT INTO told (id, simdup_fp) VALUES (4, bits(1));
TABLE told_now;
INSERT INTO told (id, simdup_fp) VALUES (3, bits(40));
TABLE told_now;
-- a representative leaves by a decision: another one leads, also in a regroup
INSERT INTO told (id, simdup_fp) VALUES (11, bits(10)), (12, bits(8)), (13, bits(12)), (14, bits(11));
SELECT simdup_decide('told', 11, 14, true), simdup_decide('told', 12, 14, false);
SELECT * FROM told_now WHERE id > 10;
SELECT * FROM simdup_regroup('told');
-- rows that have neither key while their representative goes: one leads then,
-- and none stays that is not near it
INSERT INTO told (id, simdup_fp) VALUES (21, bits(60)), (22, bits(58)), (23, bits(62));
UPDATE told SET id = id + 100, simdup_fp = CASE id WHEN 21 THEN NULL ELSE simdup_fp END WHERE id > 20;
SELECT * FROM told_now WHERE id > 100;
DROP VIEW told_now;
DROP TABLE told, told_simdup_groups, told_simdup_members, told_simdup_events, told_simdup_redirects, told_simdup_decisions;

--
-- connected: a bridge merges, and its end splits
--
CREATE TABLE bridge (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('bridge', 'body', action => 'group', max_distance => 3, method => 'connected');
DROP TRIGGER simdup_1_fingerprint ON bridge;
INSERT INTO bridge (id, simdup_fp) VALUES (1, bits(0)), (2, bits(6)), (3, bits(7));
SELECT id, simdup_group FROM bridge ORDER BY id;
INSERT INTO bridge (id, simdup_fp) VALUES (4, bits(3));
SELECT id, simdup_group FROM bridge ORDER BY id;
SELECT simdup_group_of('bridge', 2);
DELETE FROM bridge WHERE id = 4;
SELECT id, simdup_group FROM bridge ORDER BY id;
SELECT kind, id, key, other FROM bridge_simdup_events ORDER BY event;
UPDATE bridge SET simdup_fp = bits(4) WHERE id = 3;
SELECT id, simdup_group FROM bridge ORDER BY id;
SELECT * FROM simdup_regroup('bridge');
-- told apart: what the row that leaves had connected falls apart; the same by a
-- decision, by arrival after it, and by a regroup
CREATE TABLE chain (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('chain', 'body', action => 'group', max_distance => 3, method => 'connected');
DROP TRIGGER simdup_1_fingerprint ON chain;
INSERT INTO chain (id, simdup_fp) VALUES (1, bits(0)), (2, bits(6)), (3, bits(9)), (4, bits(3));
SELECT simdup_decide('chain', 1, 2, false);
SELECT array_agg(id ORDER BY id) FROM chain GROUP BY simdup_group ORDER BY 1;
SELECT * FROM simdup_regroup('chain');
DELETE FROM chain WHERE id > 2;
INSERT INTO chain (id, simdup_fp) VALUES (4, bits(3)), (3, bits(9));
SELECT array_agg(id ORDER BY id) FROM chain GROUP BY simdup_group ORDER BY 1;
SELECT * FROM simdup_regroup('chain');
-- what was decided about a row goes with it to a key of which more was decided
INSERT INTO chain (id, simdup_fp) VALUES (5, bits(20)), (6, bits(30)), (7, bits(40)), (8, bits(50));
SELECT simdup_decide('chain', 5, 6, true), simdup_decide('chain', 5, 7, false), simdup_decide('chain', 5, 8, false);
DELETE FROM chain WHERE id IN (6, 8);
UPDATE chain SET id = 6 WHERE id = 7;
SELECT a, b, same FROM chain_simdup_decisions WHERE a > 2 ORDER BY a, b;
UPDATE chain SET id = 8 WHERE id = 5;
SELECT a, b, same FROM chain_simdup_decisions WHERE a > 2 ORDER BY a, b;
-- keys that cannot be hashed
CREATE TABLE coded (id varbit PRIMARY KEY, body text);
INSERT INTO coded VALUES (B'01', 'the lights in the park are out again tonight'), (B'1', 'a tree has fallen on the road to the station');
SELECT count(*) FROM simdup_attach('coded', 'body', action => 'group');
SELECT * FROM simdup_regroup('coded');
ALTER TABLE coded DISABLE TRIGGER simdup_2_arrival, DISABLE TRIGGER simdup_3_members;
INSERT INTO coded VALUES (B'0', 'the lights in the park are out again tonight!');
DELETE FROM coded WHERE id = B'1';
ALTER TABLE coded ENABLE TRIGGER simdup_2_arrival, ENABLE TRIGGER simdup_3_members;
SELECT * FROM simdup_regroup('coded');
SELECT id, representative FROM coded_simdup_groups;
SELECT key, id FROM coded_simdup_members ORDER BY age;
TRUNCATE letter;
SELECT * FROM wrong();
SELECT count(*) FROM letter_simdup_groups;
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(1)), (3, bits(2));
SELECT count(DISTINCT "group"), min("group") > :newest AS is_new FROM now;

-- changed, removed, attached again: ids and history go on
SELECT simdup_group AS before FROM letter WHERE id = 1 \gset
DROP VIEW now;
ALTER TABLE letter DISABLE TRIGGER USER;
UPDATE letter SET body = 'one letter';
ALTER TABLE letter ENABLE TRIGGER USER;
SELECT count(*) FROM simdup_detach('letter');
SELECT count(*) FROM simdup_attach('letter', 'body');
SELECT count(*) FROM simdup_alter('letter', action => 'group');
SELECT count(DISTINCT simdup_group), min(simdup_group) = :before AS same FROM letter;
SELECT count(*) FROM simdup_alter('letter', max_distance => 0);
SELECT regexp_replace(pg_get_triggerdef(oid), '.*EXECUTE FUNCTION ', '') FROM pg_trigger WHERE tgrelid = 'letter'::regclass ORDER BY tgname;
SELECT count(*) FROM simdup_alter('letter', action => 'log', max_distance => 8);
SELECT tgname FROM pg_trigger WHERE tgrelid = 'letter'::regclass ORDER BY tgname;
SELECT count(*) FROM simdup_detach('letter');
SELECT attname FROM pg_attribute WHERE attrelid = 'letter'::regclass AND attnum > 0 AND NOT attisdropped;

-- partitions, of another order of columns: a row that moves has another key, and comes again
CREATE TABLE part (id int PRIMARY KEY, place text, body text) PARTITION BY RANGE (id);
CREATE TABLE part_n PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_s (body text, place text, id int NOT NULL);
INSERT INTO part VALUES (1, 'n', 'the lights in the park are out again tonight');
SELECT count(*) FROM simdup_attach('part', 'body', action => 'group');
ALTER TABLE part_s ADD simdup_fp simhash64, ADD simdup_group bigint;
ALTER TABLE part ATTACH PARTITION part_s FOR VALUES FROM (10) TO (20);
INSERT INTO part VALUES (12, 's', 'the lights in the park are out again tonight!'), (3, 'n', 'a tree has fallen on the road to the station');
SELECT id, place, simdup_group FROM part ORDER BY id;
UPDATE part SET id = (id + 10) % 20;
SELECT part.id, place, simdup_group, age, m.id = simdup_group AS is_member FROM part JOIN part_simdup_members m ON m.key = part.id ORDER BY 1;
DELETE FROM part WHERE id = 11;
SELECT * FROM part_simdup_groups;

-- what is asked for wrongly
CREATE VIEW letters AS TABLE letter;
SELECT simdup_regroup('letters');
SELECT simdup_regroup('letter');
SELECT simdup_group_of('part_s', 1);
SELECT simdup_attach('letter', 'body', action => 'group', method => 'sorted');
SELECT simdup_attach('letter', 'body', action => 'flag', method => 'leader');
SELECT simdup_attach('letter', 'body', action => 'group', max_distance => 17);
CREATE TABLE odd (id uuid PRIMARY KEY, body text);
CREATE TABLE odd_simdup_members (key int PRIMARY KEY);
SELECT simdup_attach('odd', 'body', action => 'group');
-- Citus names its distributed tables in a catalog
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition AS SELECT 'odd'::regclass AS logicalrelid, 'h'::"char" AS partmethod;
SELECT simdup_attach('odd', 'body', action => 'group');
ROLLBACK;
CREATE TABLE loose (id int PRIMARY KEY, fp simhash64, gr bigint, note text);
CREATE FUNCTION made(arguments text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE OR REPLACE TRIGGER t BEFORE INSERT ON loose FOR EACH ROW EXECUTE FUNCTION simdup_group_trigger(' || arguments || ')';
  INSERT INTO loose VALUES (1, '0000000000000000');
END $$;
SELECT made($$'fp', 'gr', 'id'$$);
SELECT made($$'fp', 'note', 'id', '3'$$);
SELECT made($$'fp', 'gr', 'id', '3', 'method => sorted'$$);
SELECT made($$'fp', 'gr', 'id', '3', 'colour => red'$$);
SELECT made($$'fp', 'gr', 'id', '3'$$);
CREATE TRIGGER late AFTER DELETE ON loose FOR EACH STATEMENT EXECUTE FUNCTION simdup_group_trigger('fp', 'gr', 'id', '3');
DELETE FROM loose;
SELECT simdup_group_trigger();
DROP SCHEMA groups CASCADE;
