--
-- trigger_dropped_columns: a trigger drops, renames or moves in the middle of a
-- statement an object that an arrival trigger of it knows. By another
-- session and at other moments: test/t/triggers_objects.pl.
--
SET client_min_messages = warning;
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE SCHEMA arrival_dropped;
CREATE SCHEMA arrival_dropped_log;
CREATE SCHEMA arrival_dropped_ext;
SET search_path = arrival_dropped, public;

-- the log, dropped by a later trigger
CREATE TABLE t (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON t USING hamming (fp);
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'max_distance => 3');
CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id = 10 THEN
    EXECUTE TG_ARGV[0];
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER z AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION act('DROP TABLE log');
INSERT INTO t VALUES (1, '0000000000000001');
INSERT INTO t VALUES (10, 'ffffffff00000000'), (11, '0000000000000001');
-- renamed, moved, replaced
CREATE OR REPLACE TRIGGER z AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION act('ALTER TABLE log RENAME TO lost');
INSERT INTO t VALUES (10, 'ffffffff00000000'), (11, '0000000000000001');
CREATE OR REPLACE TRIGGER z AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION act('ALTER SCHEMA arrival_dropped_log RENAME TO arrival_dropped_lost');
DROP TRIGGER a ON t;
CREATE TABLE arrival_dropped_log.found (LIKE log);
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('arrival_dropped_log.found', 'max_distance => 3', 'key => id');
INSERT INTO t VALUES (10, 'ffffffff00000000'), (11, '0000000000000001');
SELECT new_key, old_key, distance FROM arrival_dropped_lost.found;
DELETE FROM t WHERE id > 1;
DROP TRIGGER a ON t;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'max_distance => 3');
CREATE OR REPLACE TRIGGER z AFTER INSERT ON t FOR EACH ROW
  EXECUTE FUNCTION act('DROP TABLE log; CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz)');
INSERT INTO t VALUES (10, 'ffffffff00000000'), (11, '0000000000000001');
SELECT new_key, old_key, distance FROM log;
DELETE FROM t WHERE id > 1;
-- by a trigger of the log itself, between two rows that are logged
INSERT INTO t VALUES (2, '0000000000000003');
CREATE FUNCTION rename_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I RENAME TO %I', TG_RELNAME, TG_RELNAME || '_');
  RETURN NULL;
END $$;
TRUNCATE log;
CREATE TRIGGER r AFTER INSERT ON log FOR EACH ROW EXECUTE FUNCTION rename_log();
DROP TRIGGER z ON t;
INSERT INTO t VALUES (12, '0000000000000001');
SELECT new_key, old_key, distance FROM log__ ORDER BY 1, 2;
DROP TABLE log__;
DROP TRIGGER a ON t;

-- the log goes when its first pair is there
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'max_distance => 3');
CREATE FUNCTION drop_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE log; RETURN NULL; END $$;
CREATE TRIGGER r AFTER INSERT ON log FOR EACH ROW EXECUTE FUNCTION drop_log();
INSERT INTO t VALUES (13, '0000000000000001');

-- the partitioned table that a partition's triggers come from
CREATE TABLE p (id int, region text, fp simhash64, flag int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE INDEX p_fp ON p USING hamming (fp);
CREATE TABLE p_n PARTITION OF p FOR VALUES IN ('n');
CREATE TABLE p_s PARTITION OF p FOR VALUES IN ('s');
CREATE TRIGGER f BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3', 'key => id', 'lock => true');
CREATE TRIGGER r BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0', 'key => id');
CREATE PROCEDURE in_the_middle(action text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER c BEFORE INSERT ON p_n FOR EACH ROW EXECUTE FUNCTION act(%L)', action);
  INSERT INTO p_n (id, region, fp) VALUES (1, 'n', '0000000000000001'), (10, 'n', 'ffff000000000000'), (11, 'n', '0000000000000003'), (12, 'n', 'ffff000000000001');
  RAISE WARNING '%: flagged %', action, (SELECT array_agg(flag ORDER BY id) FROM p_n);
  RAISE SQLSTATE 'XX999';
EXCEPTION WHEN SQLSTATE 'XX999' THEN
WHEN OTHERS THEN
  RAISE WARNING '%: % %', action, SQLSTATE, SQLERRM;
END $$;
CALL in_the_middle('SELECT 1');
CALL in_the_middle('ALTER TABLE p RENAME TO lost');
CALL in_the_middle('ALTER TABLE p SET SCHEMA arrival_dropped_ext');
CALL in_the_middle('ALTER TABLE p DETACH PARTITION p_n');
CALL in_the_middle('ALTER TABLE p DETACH PARTITION p_n; DROP TABLE p');
CALL in_the_middle('ALTER TABLE p DETACH PARTITION p_s; DROP TABLE p_s');
CALL in_the_middle('DROP TABLE p');
CALL in_the_middle('DROP TRIGGER f ON p');
CALL in_the_middle('ALTER TABLE p RENAME fp TO lost');
CALL in_the_middle('ALTER TABLE p ADD note text');
CALL in_the_middle('CREATE INDEX ON p USING hamming (fp)');
CALL in_the_middle('DROP INDEX p_fp');
CALL in_the_middle('CREATE INDEX ON p USING hamming (fp); DROP INDEX p_fp');
CALL in_the_middle('REINDEX INDEX p_fp');
CALL in_the_middle('CREATE INDEX ON p_s USING hamming (fp); DROP INDEX p_fp');
CALL in_the_middle('ALTER SCHEMA arrival_dropped RENAME TO arrival_elsewhere');

-- the extension's schema
CALL in_the_middle('ALTER SCHEMA public RENAME TO arrival_elsewhere');
CALL in_the_middle('DROP FUNCTION simdup_flag_trigger() CASCADE');

-- a condition that drops, renames and writes while it is asked
CREATE TABLE c (id int PRIMARY KEY, fp simhash64, flag int);
CREATE INDEX c_fp ON c USING hamming (fp);
CREATE TABLE c_action (what text);
CREATE FUNCTION acts(a c, b c) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN EXECUTE (SELECT what FROM arrival_dropped.c_action); RETURN true; END $$;
CREATE TRIGGER f BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3', 'condition => acts');
INSERT INTO c VALUES (1, '0000000000000001');
CREATE PROCEDURE in_condition(action text) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM c_action;
  INSERT INTO c_action VALUES (action);
  INSERT INTO c VALUES (2, '0000000000000001'), (3, '0000000000000003');
  RAISE WARNING '%: flagged %', action, (SELECT array_agg(flag ORDER BY id) FROM c);
  RAISE SQLSTATE 'XX999';
EXCEPTION WHEN SQLSTATE 'XX999' THEN
WHEN OTHERS THEN
  RAISE WARNING '%: % %', action, SQLSTATE, SQLERRM;
END $$;
CALL in_condition('SELECT 1');
CALL in_condition('DROP INDEX arrival_dropped.c_fp');
CALL in_condition('DROP TABLE arrival_dropped.c CASCADE');
CALL in_condition('TRUNCATE arrival_dropped.c');
CALL in_condition('DROP FUNCTION arrival_dropped.acts');
CALL in_condition('ALTER FUNCTION arrival_dropped.acts RENAME TO acted');
CALL in_condition('ALTER FUNCTION arrival_dropped.acts SET search_path = nowhere');
CALL in_condition('ALTER TABLE arrival_dropped.c ADD more int');
CALL in_condition('DELETE FROM arrival_dropped.c');
CALL in_condition('INSERT INTO arrival_dropped.c VALUES (10, NULL)');
CALL in_condition('SET search_path = nowhere');
CALL in_condition('CREATE SCHEMA IF NOT EXISTS arrival_more');

-- a policy whose function writes where triggers fire, while the statement is planned
CREATE TABLE q (id int PRIMARY KEY, fp simhash64, flag int);
CREATE TABLE q_other (id int PRIMARY KEY, fp simhash64, flag int);
CREATE INDEX ON q USING hamming (fp);
CREATE INDEX ON q_other USING hamming (fp);
CREATE TRIGGER f BEFORE INSERT ON q FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3', 'key => id');
CREATE TRIGGER f BEFORE INSERT ON q_other FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3', 'key => id');
CREATE FUNCTION writes() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN INSERT INTO q_other VALUES (1, '0000000000000001'); RETURN true; END $$;
CREATE FUNCTION claims() RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN writes(); END $$;
CREATE POLICY all_rows ON q USING (claims()) WITH CHECK (true);
ALTER TABLE q ENABLE ROW LEVEL SECURITY;
ALTER TABLE q FORCE ROW LEVEL SECURITY;
CREATE ROLE regress_simdup_owner;
GRANT ALL ON SCHEMA arrival_dropped TO regress_simdup_owner;
ALTER TABLE q OWNER TO regress_simdup_owner;
ALTER TABLE q_other OWNER TO regress_simdup_owner;
SET ROLE regress_simdup_owner;
INSERT INTO q VALUES (1, '0000000000000001'), (2, '0000000000000001');
RESET ROLE;
SELECT * FROM q ORDER BY id;

SET client_min_messages = error;
DROP SCHEMA arrival_dropped, arrival_dropped_lost, arrival_dropped_ext CASCADE;
DROP ROLE regress_simdup_owner;
