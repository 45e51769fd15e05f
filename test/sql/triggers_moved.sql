--
-- triggers_moved: an UPDATE that moves a row to another partition is an UPDATE, for
-- triggers that fire BEFORE, AFTER, deferred, or on INSERT alone.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_moved;
SET search_path = arrival_moved, public;
\set VERBOSITY terse
\set a '''00ff00ff00ff00ff'''
\set b '''00ff00ff00ff00fe'''
\set far '''ffffffff00000000'''

CREATE TABLE p (region text, day int, id int, fp simhash64, repeats int, note text, PRIMARY KEY (region, day, id)) PARTITION BY LIST (region);
CREATE TABLE p_n PARTITION OF p FOR VALUES IN ('n');
CREATE TABLE p_s PARTITION OF p FOR VALUES IN ('s') PARTITION BY RANGE (day);
CREATE TABLE p_s_1 (gone int, note text, repeats int, fp simhash64, id int NOT NULL, day int NOT NULL, region text NOT NULL);
ALTER TABLE p_s_1 DROP gone;
ALTER TABLE p_s ATTACH PARTITION p_s_1 FOR VALUES FROM (0) TO (100);
CREATE TABLE p_s_2 PARTITION OF p_s FOR VALUES FROM (100) TO (200);
CREATE INDEX p_near ON p USING hamming (fp);
CREATE TABLE p_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE FUNCTION set_up(kind text, fires text, options text, extra text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE p, p_log;
  INSERT INTO p VALUES ('n', 1, 1, '00ff00ff00ff00ff', NULL), ('n', 1, 2, '00ff00ff00ff00fe', NULL), ('n', 1, 3, NULL, 1), ('n', 1, 4, '00ff00ff00ff00ff', 7);
  EXECUTE format('CREATE %s ON p %s FOR EACH ROW EXECUTE FUNCTION simdup_%s_trigger(%s)', fires, extra, kind, options);
END $$;
CREATE VIEW rows AS SELECT id, region, day, fp, repeats, note FROM p ORDER BY id;

--
-- Flag: a value that a person set or cleared stays
--
SELECT set_up('flag', 'TRIGGER t BEFORE INSERT OR UPDATE', $$'repeats', 'key => id'$$);
UPDATE p SET region = 's';
SELECT * FROM rows;
-- to another level, back, and within a partition
UPDATE p SET day = 150;
UPDATE p SET region = 'n', day = id;
UPDATE p SET day = day + 10;
MERGE INTO p USING (VALUES (1), (2), (3), (4)) AS v(id) ON p.id = v.id WHEN MATCHED THEN UPDATE SET region = 's', note = 'merged';
SELECT * FROM rows;
-- the person sets it in the same UPDATE
UPDATE p SET region = 'n', repeats = id + 10;
SELECT * FROM rows;
-- changed, it is judged; also the option's column, and the partition's if it is named
UPDATE p SET region = 's', fp = :far WHERE id = 1;
UPDATE p SET region = 's', fp = :a WHERE id = 3;
SELECT * FROM rows;
CREATE OR REPLACE TRIGGER t BEFORE INSERT OR UPDATE ON p FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id', 'columns => note, region');
UPDATE p SET region = 's' WHERE id = 2;
UPDATE p SET region = 's' WHERE id = 4;
SELECT * FROM rows;
DROP TRIGGER t ON p;
-- a trigger on INSERT alone; another that changes the row on the way
CREATE TRIGGER t BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
UPDATE p SET region = 'n', repeats = NULL;
SELECT * FROM rows;
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.fp := '00ff00ff00ff00f0'; RETURN NEW; END $$;
CREATE TRIGGER a BEFORE INSERT ON p FOR EACH ROW WHEN (NEW.note = 'change') EXECUTE FUNCTION change();
UPDATE p SET region = 's', note = 'change' WHERE id = 2;
SELECT * FROM rows;
DROP TRIGGER a ON p;
-- a new row is new: DELETE + INSERT in one statement, in two, and an INSERT beside a move
UPDATE p SET repeats = NULL;
WITH d AS (DELETE FROM p WHERE id = 2 RETURNING *) INSERT INTO p SELECT 'n', day, id, fp FROM d;
BEGIN;
UPDATE p SET region = 's' WHERE id = 2;
UPDATE p SET region = 'n', repeats = NULL WHERE id = 2;
DELETE FROM p WHERE id = 2;
INSERT INTO p VALUES ('s', 1, 2, '00ff00ff00ff00f0');
COMMIT;
WITH u AS (UPDATE p SET region = 'n', repeats = NULL WHERE id = 2) INSERT INTO p VALUES ('s', 2, 6, '00ff00ff00ff00f0');
SELECT * FROM rows;
-- after a rollback to a savepoint the row did not move, and it was locked before
BEGIN;
SELECT id FROM p WHERE id = 6 FOR UPDATE;
SAVEPOINT s;
UPDATE p SET region = 'n', repeats = NULL WHERE id = 6;
ROLLBACK TO s;
UPDATE p SET repeats = NULL WHERE id = 6;
SAVEPOINT s;
UPDATE p SET region = 'n' WHERE id = 6;
COMMIT;
SELECT * FROM rows WHERE id = 6;
-- without statistics, and by a cascade
SET track_counts = off;
UPDATE p SET region = 's' WHERE id = 6;
SELECT * FROM rows WHERE id = 6;
RESET track_counts;
CREATE TABLE regions (region text PRIMARY KEY);
INSERT INTO regions VALUES ('s'), ('n');
ALTER TABLE p ADD FOREIGN KEY (region) REFERENCES regions ON UPDATE CASCADE;
DELETE FROM p WHERE region = 'n';
DELETE FROM regions WHERE region = 'n';
UPDATE p SET repeats = 9;
UPDATE regions SET region = 'n' WHERE region = 's';
SELECT id, region, repeats FROM rows;
ALTER TABLE p DROP CONSTRAINT p_region_fkey;
DROP TRIGGER t ON p;

--
-- Log: no pair of rows that have not changed
--
SELECT set_up('log', 'TRIGGER t AFTER INSERT OR UPDATE', $$'p_log', 'key => id'$$);
UPDATE p SET region = 's';
BEGIN; UPDATE p SET note = 'x'; UPDATE p SET region = 'n', note = 'y'; COMMIT;
SELECT new_key, old_key, distance FROM p_log;
UPDATE p SET region = 's', fp = :b WHERE id = 1;
SELECT new_key, old_key, distance FROM p_log ORDER BY 1, 2;
DROP TRIGGER t ON p;

--
-- Reject: rows that stand are not refused when they move, BEFORE, AFTER and deferred
--
SELECT set_up('reject', 'TRIGGER t BEFORE INSERT OR UPDATE', '');
UPDATE p SET region = 's', note = 'before';
UPDATE p SET region = 'n', fp = :a WHERE id = 2;
INSERT INTO p VALUES ('n', 1, 2, :a);
DROP TRIGGER t ON p;
SELECT set_up('reject', 'TRIGGER t AFTER INSERT OR UPDATE', '');
UPDATE p SET region = 's', note = 'after';
UPDATE p SET region = 'n', fp = :a WHERE id = 2;
DROP TRIGGER t ON p;
SELECT set_up('reject', 'CONSTRAINT TRIGGER t AFTER INSERT OR UPDATE', '', 'DEFERRABLE INITIALLY DEFERRED');
BEGIN; UPDATE p SET note = 'x'; UPDATE p SET region = 's'; UPDATE p SET region = 'n'; UPDATE p SET note = 'deferred'; COMMIT;
SELECT * FROM rows;
-- a row not judged before it moved is judged then
BEGIN; UPDATE p SET region = 'n', fp = :a WHERE id = 2; UPDATE p SET region = 's' WHERE id = 2; COMMIT;
BEGIN; INSERT INTO p VALUES ('n', 1, 9, :a); UPDATE p SET region = 's' WHERE id = 9; COMMIT;
BEGIN; INSERT INTO p VALUES ('n', 1, 9, :a); UPDATE p SET region = 's' WHERE id = 9; UPDATE p SET region = 'n' WHERE id = 9; COMMIT;
DROP TRIGGER t ON p;
-- a key that is not unique names no row
SELECT set_up('reject', 'TRIGGER t BEFORE INSERT', $$'key => note'$$);
UPDATE p SET region = 's' WHERE id = 2;

-- columns of the partition key alone are no key: the row is new
CREATE TABLE whole (id int PRIMARY KEY, fp simhash64, repeats int) PARTITION BY RANGE (id);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES FROM (0) TO (10);
CREATE TABLE whole_2 PARTITION OF whole FOR VALUES FROM (10) TO (20);
CREATE INDEX ON whole USING hamming (fp);
INSERT INTO whole VALUES (1, :a), (2, :a);
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON whole FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
UPDATE whole SET id = 12 WHERE id = 2;
SELECT * FROM whole ORDER BY id;
CREATE TRIGGER r AFTER INSERT OR UPDATE ON whole FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
UPDATE whole SET id = 13 WHERE id = 12;

DROP SCHEMA arrival_moved CASCADE;
