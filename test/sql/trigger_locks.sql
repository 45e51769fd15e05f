--
-- trigger_locks: reject, log and flag hold against statements of several parts,
-- other triggers and settings of the session.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_held;
SET search_path = arrival_held, public;
\set VERBOSITY terse
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I SET note = $1 WHERE id = $2', TG_TABLE_NAME) USING 'touched', NEW.id;
  RETURN NULL;
END $$;

--
-- Deferred: the newest version of a row counts
--
CREATE TABLE d (id int PRIMARY KEY, fp simhash64, note text);
CREATE INDEX ON d USING hamming (fp);
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON d DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO d VALUES (1, '0000000000000001'), (9, 'ffffffff00000000');
-- inserted, then updated elsewhere
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET note = 'x' WHERE id = 2; COMMIT;
-- the fingerprint updated, then something else
BEGIN; UPDATE d SET fp = '0000000000000003' WHERE id = 9; UPDATE d SET note = 'x' WHERE id = 9; COMMIT;
-- and then the key
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET id = 3 WHERE id = 2; COMMIT;
-- an update that a savepoint takes back
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); SAVEPOINT s; UPDATE d SET note = 'x', fp = 'ffff00000000ffff' WHERE id = 2;
ROLLBACK TO s; COMMIT;
-- in a subtransaction that is kept
BEGIN; SAVEPOINT s; INSERT INTO d VALUES (2, '0000000000000001'); RELEASE s; SAVEPOINT t; UPDATE d SET note = 'y' WHERE id = 2; RELEASE t; COMMIT;
-- checked in the middle
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET note = 'x' WHERE id = 2; SET CONSTRAINTS r IMMEDIATE; ROLLBACK;
-- prepared
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET note = 'x' WHERE id = 2; PREPARE TRANSACTION 'simdup_held';
-- locked, which is no new version
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); SELECT id FROM d WHERE id = 2 FOR UPDATE; COMMIT;
-- gone at the end, or moved out of the way: nothing to refuse
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET note = 'x' WHERE id = 2; DELETE FROM d WHERE id = 2; COMMIT;
BEGIN; INSERT INTO d VALUES (2, '0000000000000001'); UPDATE d SET note = 'x' WHERE id = 2; UPDATE d SET fp = 'ffff00000000ffff' WHERE id = 2; COMMIT;
BEGIN; INSERT INTO d VALUES (4, '0000000000000001'); UPDATE d SET fp = NULL WHERE id = 4; COMMIT;
SELECT * FROM d ORDER BY id;
-- a trigger for INSERT alone, or for one column: the row is still checked
CREATE TABLE d_insert (LIKE d INCLUDING ALL);
CREATE CONSTRAINT TRIGGER r AFTER INSERT ON d_insert DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO d_insert VALUES (1, '0000000000000001');
BEGIN; INSERT INTO d_insert VALUES (2, '0000000000000001'); UPDATE d_insert SET note = 'x' WHERE id = 2; COMMIT;
CREATE TABLE d_column (LIKE d INCLUDING ALL);
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE OF fp ON d_column DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO d_column VALUES (1, '0000000000000001');
BEGIN; INSERT INTO d_column VALUES (2, '0000000000000001'); UPDATE d_column SET note = 'x' WHERE id = 2; COMMIT;
-- a row that moves to another partition
CREATE TABLE d_part (id int, fp simhash64, note text) PARTITION BY LIST (note);
CREATE INDEX ON d_part USING hamming (fp);
CREATE TABLE d_part_a PARTITION OF d_part FOR VALUES IN ('a');
CREATE TABLE d_part_b PARTITION OF d_part FOR VALUES IN ('b');
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON d_part DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id');
INSERT INTO d_part VALUES (1, '0000000000000001', 'a');
BEGIN; INSERT INTO d_part VALUES (2, '0000000000000001', 'a'); UPDATE d_part SET note = 'b' WHERE id = 2; COMMIT;
BEGIN; INSERT INTO d_part VALUES (2, '0000000000000001', 'b'); UPDATE d_part SET note = 'a' WHERE id = 2; UPDATE d_part SET id = 3 WHERE id = 2; COMMIT;
SELECT count(*) FROM d_part;

-- AFTER, and an earlier trigger that touches the row
CREATE TABLE a (LIKE d INCLUDING ALL);
CREATE TRIGGER a_touch AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER b_reject AFTER INSERT OR UPDATE ON a FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO a VALUES (1, '0000000000000001');
INSERT INTO a VALUES (2, '0000000000000001');
INSERT INTO a VALUES (3, '00000000ffff0001'), (4, '00000000ffff0001');
SELECT * FROM a ORDER BY id;

--
-- A key that changes, and may be that of two rows until the transaction ends
--
CREATE TABLE k (id int, fp simhash64, CONSTRAINT k_pkey PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX ON k USING hamming (fp);
CREATE TRIGGER r BEFORE INSERT OR UPDATE ON k FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO k VALUES (1, '0000000000000001');
WITH u AS (UPDATE k SET id = 100 WHERE id = 1) INSERT INTO k VALUES (1, '0000000000000001');
WITH u AS (INSERT INTO k VALUES (1, '0000000000000001')) UPDATE k SET id = 100 WHERE id = 1;
BEGIN; INSERT INTO k VALUES (1, '0000000000000001'); UPDATE k SET id = 2 WHERE id = 1; COMMIT;
UPDATE k SET id = 2 WHERE id = 1;
SELECT * FROM k;
DROP TRIGGER r ON k;
CREATE TRIGGER r AFTER INSERT OR UPDATE ON k FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
WITH u AS (UPDATE k SET id = 100 WHERE id = 2) INSERT INTO k VALUES (2, '0000000000000001');
UPDATE k SET id = 1 WHERE id = 2;
SELECT * FROM k;

--
-- Settings of the session: none that a user may change has an effect on
-- a trigger. Each is tried at its extremes. (With row_security off, PostgreSQL itself
-- refuses the INSERT.)
--
CREATE TABLE s (id int PRIMARY KEY, content text, flag int);
CREATE INDEX s_content ON s USING hamming (content);
CREATE TABLE s_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION near_keys(a s, b s) RETURNS boolean RETURN b.id <> 3;
CREATE TRIGGER f BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag');
CREATE TRIGGER l AFTER INSERT ON s FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('s_log', 'lock => true', 'condition => near_keys');
INSERT INTO s SELECT i, 'the light at the corner of ' || md5((i % 100)::text) || ' is out' FROM generate_series(1, 300) i;
TRUNCATE s_log;
CREATE TRIGGER r AFTER INSERT ON s FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0');
CREATE ROLE regress_simdup_settings;
GRANT USAGE ON SCHEMA arrival_held TO regress_simdup_settings;
GRANT SELECT, INSERT ON s, s_log TO regress_simdup_settings;
ALTER TABLE s ENABLE ROW LEVEL SECURITY;
CREATE POLICY s_even ON s FOR SELECT USING (id % 2 = 0 OR id > 300);
CREATE POLICY s_all ON s FOR INSERT WITH CHECK (true);
CREATE FUNCTION arrive_under(setting text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  SET LOCAL ROLE regress_simdup_settings;
  BEGIN
    PERFORM set_config(setting, value, true);
  EXCEPTION WHEN OTHERS THEN -- no such value
    RAISE SQLSTATE 'XX999';
  END;
  INSERT INTO arrival_held.s SELECT i, 'The light at the corner of ' || md5('1') || ' is out!' FROM generate_series(1001, 1002) i;
  BEGIN
    INSERT INTO arrival_held.s VALUES (-1, 'The light at the corner of ' || md5('1') || ' is out!');
    result := 'accepted';
  EXCEPTION WHEN exclusion_violation THEN
    result := 'refused';
  END;
  RESET ROLE;
  result := concat_ws(' ', result, (SELECT string_agg(coalesce(flag::text, '-'), ',' ORDER BY id) FROM arrival_held.s WHERE id > 1000),
    (SELECT string_agg(new_key || ':' || old_key, ',' ORDER BY new_key, old_key) FROM arrival_held.s_log));
  RAISE SQLSTATE 'XX999';
EXCEPTION WHEN SQLSTATE 'XX999' THEN
  RETURN result;
END $$;
SELECT arrive_under('work_mem', '4MB') AS expected \gset
\echo :expected
CREATE TABLE tried AS
  SELECT name, value, arrive_under(name, value) AS result
  FROM pg_settings,
    LATERAL (SELECT v FROM unnest(CASE vartype WHEN 'bool' THEN '{on,off}' WHEN 'enum' THEN enumvals
                                  WHEN 'string' THEN '{""}' ELSE ARRAY[min_val, max_val] END) v) AS v(value)
  WHERE context = 'user' AND name NOT IN ('exit_on_error', 'transaction_read_only', 'client_min_messages', 'max_stack_depth', 'row_security');
SELECT name, value, result FROM tried WHERE result <> :'expected' ORDER BY 1, 2;
SELECT count(DISTINCT name) > 100 AS many FROM tried WHERE result IS NOT NULL;
SELECT arrive_under('search_path', 'pg_catalog, arrival_held, public') = :'expected' AS same;
-- the index is searched, at any radius
CREATE TABLE i (id int PRIMARY KEY, fp simhash64);
CREATE TABLE i_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE INDEX i_fp ON i USING hamming (fp);
CREATE FUNCTION searches(k int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER f BEFORE INSERT ON i FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger(%L)', 'max_distance => ' || k);
  EXECUTE format('CREATE TRIGGER l AFTER INSERT ON i FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger(%L, %L)', 'i_log', 'max_distance => ' || k);
  INSERT INTO i SELECT 1, '0000000000000000'::simhash64 UNION ALL SELECT 2, 'ffffffffffffffff';
  DROP TRIGGER f ON i;
  DROP TRIGGER l ON i;
  DELETE FROM i;
  RETURN pg_stat_get_xact_numscans('i_fp'::regclass);
END $$;
BEGIN;
SELECT k, searches(k) FROM unnest(ARRAY[3, 12, 25, 63]) k;
COMMIT;

--
-- A flag is a value of its own column
--
CREATE DOMAIN petition AS int CHECK (VALUE > 0);
CREATE DOMAIN known AS int NOT NULL;
CREATE TABLE f_domain (id petition PRIMARY KEY, fp simhash64, flag petition);
CREATE INDEX ON f_domain USING hamming (fp);
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f_domain FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3');
INSERT INTO f_domain VALUES (1, '0000000000000001', NULL), (2, '0000000000000001', NULL), (3, 'ffff00000000ffff', 2);
SELECT * FROM f_domain ORDER BY id;
CREATE TABLE f_known (id known PRIMARY KEY, fp simhash64, flag known);
CREATE INDEX ON f_known USING hamming (fp);
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f_known FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag', 'max_distance => 3');
INSERT INTO f_known VALUES (1, '0000000000000001', 1);

--
-- The DETAIL tells what its reader may read
--
CREATE ROLE regress_simdup_reader;
GRANT USAGE ON SCHEMA arrival_held TO regress_simdup_reader;
CREATE TABLE told (id int PRIMARY KEY, fp simhash64, body text);
CREATE INDEX ON told USING hamming (fp);
CREATE TRIGGER r BEFORE INSERT ON told FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO told VALUES (1, '0000000000000001');
GRANT INSERT ON told TO regress_simdup_reader;
\set VERBOSITY default
SET ROLE regress_simdup_reader;
INSERT INTO told VALUES (2, '0000000000000000');
RESET ROLE;
GRANT SELECT (id) ON told TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
INSERT INTO told VALUES (2, '0000000000000000');
RESET ROLE;
REVOKE SELECT (id) ON told FROM regress_simdup_reader;
GRANT SELECT (fp) ON told TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
INSERT INTO told VALUES (2, '0000000000000000');
RESET ROLE;
GRANT SELECT (id) ON told TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
INSERT INTO told VALUES (2, '0000000000000000');
RESET ROLE;

SET client_min_messages = error;
DROP SCHEMA arrival_held CASCADE;
DROP ROLE regress_simdup_reader, regress_simdup_settings;

-- locks last as long as the row, also where a cursor inserted it
CREATE TABLE fetched (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON fetched USING hamming (fp);
CREATE TRIGGER r BEFORE INSERT OR UPDATE ON fetched FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
CREATE FUNCTION add_row(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF i = 2 THEN RAISE EXCEPTION 'two'; END IF;
  INSERT INTO fetched VALUES (i, '00000000000000ff');
  RETURN i;
END$$;
BEGIN;
DECLARE c CURSOR FOR SELECT add_row(i) FROM generate_series(1, 2) i;
FETCH 1 FROM c;
SELECT count(*) > 0 AS locked FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
SELECT count(*) > 0 AS locked FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
ROLLBACK;
DROP TABLE fetched;
DROP FUNCTION add_row;

-- what fires on a log may close all cursors
CREATE TABLE closing (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON closing USING hamming (fp);
CREATE TABLE closing_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER a AFTER INSERT ON closing FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('closing_log', 'max_distance => 3', 'key => id');
INSERT INTO closing VALUES (0, '0000000000000001');
INSERT INTO closing VALUES (1, '0000000000000001');
SELECT new_key, old_key, distance FROM closing_log;
CREATE FUNCTION close_all() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'CLOSE ALL'; RETURN NULL; END$$;
CREATE TRIGGER z AFTER INSERT ON closing_log FOR EACH ROW EXECUTE FUNCTION close_all();
\set VERBOSITY sqlstate
INSERT INTO closing SELECT i, '0000000000000001' FROM generate_series(2, 3) i;
\set VERBOSITY default
SELECT count(*) FROM closing;
DROP TABLE closing, closing_log;
DROP FUNCTION close_all;
