--
-- arrival_held: reject, log and flag hold against statements of several parts,
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
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON d DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
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
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
INSERT INTO d_insert VALUES (1, '0000000000000001');
BEGIN; INSERT INTO d_insert VALUES (2, '0000000000000001'); UPDATE d_insert SET note = 'x' WHERE id = 2; COMMIT;
CREATE TABLE d_column (LIKE d INCLUDING ALL);
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE OF fp ON d_column DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
INSERT INTO d_column VALUES (1, '0000000000000001');
BEGIN; INSERT INTO d_column VALUES (2, '0000000000000001'); UPDATE d_column SET note = 'x' WHERE id = 2; COMMIT;
-- a row that moves to another partition
CREATE TABLE d_part (id int, fp simhash64, note text) PARTITION BY LIST (note);
CREATE TABLE d_part_a PARTITION OF d_part FOR VALUES IN ('a');
CREATE TABLE d_part_b PARTITION OF d_part FOR VALUES IN ('b');
CREATE CONSTRAINT TRIGGER r AFTER INSERT OR UPDATE ON d_part DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
INSERT INTO d_part VALUES (1, '0000000000000001', 'a');
BEGIN; INSERT INTO d_part VALUES (2, '0000000000000001', 'a'); UPDATE d_part SET note = 'b' WHERE id = 2; COMMIT;
BEGIN; INSERT INTO d_part VALUES (2, '0000000000000001', 'b'); UPDATE d_part SET note = 'a' WHERE id = 2; UPDATE d_part SET id = 3 WHERE id = 2; COMMIT;
SELECT count(*) FROM d_part;

-- AFTER, and an earlier trigger that touches the row
CREATE TABLE a (LIKE d INCLUDING ALL);
CREATE TRIGGER a_touch AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER b_reject AFTER INSERT OR UPDATE ON a FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
INSERT INTO a VALUES (1, '0000000000000001');
INSERT INTO a VALUES (2, '0000000000000001');
INSERT INTO a VALUES (3, '00000000ffff0001'), (4, '00000000ffff0001');
SELECT * FROM a ORDER BY id;

-- log: each pair once, with what is there at the end
CREATE TABLE l (LIKE d INCLUDING ALL);
CREATE TABLE l_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE CONSTRAINT TRIGGER l AFTER INSERT OR UPDATE ON l DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('fp', 'id', '3', 'l_log');
CREATE VIEW said AS SELECT new_key, old_key, distance FROM l_log ORDER BY 1, 2, 3;
INSERT INTO l VALUES (1, '0000000000000001'), (11, 'ffff00000000ffff');
-- updated elsewhere; with another fingerprint; with another key; deleted
BEGIN; INSERT INTO l VALUES (2, '0000000000000001'); UPDATE l SET note = 'x' WHERE id = 2; COMMIT;
SELECT * FROM said;
TRUNCATE l_log;
BEGIN; INSERT INTO l VALUES (3, '0000000000000001'); UPDATE l SET fp = 'ffff00000000fffe' WHERE id = 3; UPDATE l SET note = 'x' WHERE id = 3; COMMIT;
SELECT * FROM said;
TRUNCATE l_log;
BEGIN; INSERT INTO l VALUES (40, 'ffff00000000fffc'); UPDATE l SET id = 4 WHERE id = 40; INSERT INTO l VALUES (5, '0000000000000001'); DELETE FROM l WHERE id = 5; COMMIT;
SELECT * FROM said;
-- two rows of one transaction, in either order of their keys
TRUNCATE l, l_log;
BEGIN; INSERT INTO l VALUES (6, '0000000000000001'); INSERT INTO l VALUES (5, '0000000000000001'); INSERT INTO l VALUES (7, '0000000000000001'); COMMIT;
SELECT * FROM said;

-- across savepoints; to another fingerprint and back
TRUNCATE l, l_log;
BEGIN;
INSERT INTO l VALUES (1, '0000000000000001');
SAVEPOINT s; INSERT INTO l VALUES (3, '0000000000000001');
SAVEPOINT s; INSERT INTO l VALUES (2, '0000000000000001');
SAVEPOINT s; INSERT INTO l VALUES (4, '0000000000000001'); ROLLBACK TO s;
COMMIT;
SELECT * FROM said;
TRUNCATE l_log;
BEGIN;
INSERT INTO l VALUES (5, '0000000000000001');
SAVEPOINT s; UPDATE l SET fp = 'ffff00000000fffe' WHERE id = 5;
SAVEPOINT s; UPDATE l SET note = 'x' WHERE id = 5; ROLLBACK TO s;
SAVEPOINT s; UPDATE l SET fp = '0000000000000001' WHERE id = 5;
COMMIT;
SELECT * FROM said;
TRUNCATE l_log;
BEGIN; UPDATE l SET fp = 'ffff00000000fffe' WHERE id = 5; UPDATE l SET fp = '0000000000000003' WHERE id = 5; UPDATE l SET note = 'y' WHERE id = 5; COMMIT;
SELECT * FROM said;

--
-- A key that changes: the search passes over the row of the same key
--
CREATE TABLE k (id int, fp simhash64, CONSTRAINT k_pkey PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TRIGGER r BEFORE INSERT OR UPDATE ON k FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
INSERT INTO k VALUES (1, '0000000000000001');
WITH u AS (UPDATE k SET id = 100 WHERE id = 1) INSERT INTO k VALUES (1, '0000000000000001');
WITH u AS (INSERT INTO k VALUES (1, '0000000000000001')) UPDATE k SET id = 100 WHERE id = 1;
BEGIN; INSERT INTO k VALUES (1, '0000000000000001'); UPDATE k SET id = 2 WHERE id = 1; COMMIT;
UPDATE k SET id = 2 WHERE id = 1;
SELECT * FROM k;
DROP TRIGGER r ON k;
CREATE TRIGGER r AFTER INSERT OR UPDATE ON k FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
WITH u AS (UPDATE k SET id = 100 WHERE id = 2) INSERT INTO k VALUES (2, '0000000000000001');
UPDATE k SET id = 1 WHERE id = 2;
SELECT * FROM k;

--
-- Settings of the session: none changes what a search finds
--
CREATE PROCEDURE duplicates(setting text, value text, index text) LANGUAGE plpgsql AS $$
DECLARE
  accepted int := 0; logged int; flagged int; before text := current_setting(setting);
BEGIN
  CREATE TABLE s (id int PRIMARY KEY, fp simhash64, flag int);
  CREATE TABLE s_log (new_key int, old_key int, distance int, logged_at timestamptz);
  EXECUTE format('CREATE INDEX ON s USING %s', index);
  INSERT INTO s SELECT i, hashint8extended(i % 100, 1)::simhash64 FROM generate_series(1, 300) i;
  ANALYZE s;
  CREATE TRIGGER f BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '0');
  CREATE TRIGGER l AFTER INSERT ON s REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION simdup_log_trigger('fp', 'id', '0', 's_log');
  PERFORM set_config(setting, value, true);
  INSERT INTO s SELECT 1000 + i, hashint8extended(i, 1)::simhash64 FROM generate_series(0, 99) i;
  SELECT count(*) INTO logged FROM s_log;
  SELECT count(*) INTO flagged FROM s WHERE flag IS NOT NULL;
  DROP TRIGGER f ON s;
  DROP TRIGGER l ON s;
  CREATE TRIGGER r BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '0');
  FOR i IN 0 .. 99 LOOP
    BEGIN
      INSERT INTO s VALUES (2000 + i, hashint8extended(i, 1)::simhash64);
      accepted := accepted + 1;
    EXCEPTION WHEN exclusion_violation THEN
    END;
  END LOOP;
  IF current_setting(setting) <> value OR current_setting('enable_seqscan') <> 'on' AND setting <> 'enable_seqscan'
     OR current_setting('enable_indexscan') <> 'on' AND setting <> 'enable_indexscan' THEN
    RAISE WARNING 'settings were changed';
  END IF;
  RAISE WARNING '% = %, %: accepted %, flagged %, logged %', setting, value, index, accepted, flagged, logged;
  PERFORM set_config(setting, before, true);
  DROP TABLE s, s_log;
END $$;
CALL duplicates('gin_fuzzy_search_limit', '1', 'gin (simhash_blocks(fp, 4))');
CALL duplicates('gin_fuzzy_search_limit', '1', 'hamming (fp)');
CALL duplicates('enable_bitmapscan', 'off', 'hamming (fp)');
CALL duplicates('enable_indexscan', 'off', 'hamming (fp)');
CALL duplicates('enable_seqscan', 'off', 'hamming (fp)');
CALL duplicates('plan_cache_mode', 'force_custom_plan', 'hamming (fp)');
CALL duplicates('transform_null_equals', 'on', 'hamming (fp)');
CALL duplicates('search_path', 'pg_catalog, arrival_held, public', 'hamming (fp)');
CALL duplicates('default_transaction_isolation', 'serializable', 'hamming (fp)');
CALL duplicates('cursor_tuple_fraction', '0', 'hamming (fp)');
CALL duplicates('work_mem', '64kB', 'hamming (fp)');
CALL duplicates('constraint_exclusion', 'on', 'hamming (fp)');
CALL duplicates('synchronize_seqscans', 'off', 'hamming (fp)');
-- every other setting of the planner that a user may turn off
SELECT format('CALL duplicates(%L, %L, %L)', name, 'off', 'hamming (fp)')
  FROM pg_settings WHERE context = 'user' AND vartype = 'bool' AND setting = 'on' AND category LIKE 'Query Tuning%'
   AND name IN ('enable_bitmapscan', 'enable_indexscan', 'enable_nestloop', 'enable_sort', 'enable_material', 'geqo')
  ORDER BY name \gexec
-- the index is used in spite of the session's settings; hamming at any radius
CREATE TABLE i (id int, fp simhash64);
CREATE TABLE i_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TABLE i_used (index text, k int, by_index bool);
CREATE PROCEDURE use_index(index text, k int) LANGUAGE plpgsql AS $$
DECLARE
  scans bigint;
BEGIN
  EXECUTE format('CREATE INDEX i_fp ON i USING %s', index);
  EXECUTE format('CREATE TRIGGER f BEFORE INSERT ON i FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger(%L, %L, %L)', 'fp', 'id', k);
  EXECUTE format('CREATE TRIGGER l AFTER INSERT ON i FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger(%L, %L, %L, %L)', 'fp', 'id', k, 'i_log');
  EXECUTE format('CREATE TRIGGER s AFTER INSERT ON i REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION simdup_log_trigger(%L, %L, %L, %L)', 'fp', 'id', k, 'i_log');
  PERFORM set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true);
  INSERT INTO i SELECT 1, '0000000000000000'::simhash64 UNION ALL SELECT 2, 'ffffffffffffffff';
  scans := pg_stat_get_xact_numscans('i_fp'::regclass);
  INSERT INTO i_used VALUES (index, k, scans >= 6);
  DROP INDEX i_fp;
  DROP TRIGGER f ON i;
  DROP TRIGGER l ON i;
  DROP TRIGGER s ON i;
  DELETE FROM i;
END $$;
CALL use_index('gin (simhash_blocks(fp, 5))', 4);
CALL use_index('hamming (fp)', 3);
CALL use_index('hamming (fp)', 12);
CALL use_index('hamming (fp)', 25);
CALL use_index('btree (fp)', 3);
SELECT * FROM i_used ORDER BY 1, 2;
SELECT count(*) FROM i_log;
-- hamming finds what a scan finds
CREATE TABLE h (id int PRIMARY KEY, fp simhash64, flag int);
CREATE TABLE h_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE INDEX ON h USING hamming (fp);
CREATE TRIGGER f BEFORE INSERT ON h FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '14');
CREATE TRIGGER l AFTER INSERT ON h FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('fp', 'id', '14', 'h_log');
INSERT INTO h SELECT i, (hashint8extended(i % 20, 1) # (hashint8extended(i, 2) & hashint8extended(i, 3) & hashint8extended(i, 4)))::simhash64 FROM generate_series(1, 400) i;
SELECT count(flag) > 300 AS flagged, count(*) FILTER (WHERE flag IS DISTINCT FROM
    (SELECT b.id FROM h b WHERE b.id < h.id AND b.fp <~> h.fp <= 14 ORDER BY b.fp <~> h.fp, b.id LIMIT 1)) AS wrong FROM h;
SELECT count(*) > 1000 AS logged, count(*) - (SELECT count(*) FROM h a JOIN h b ON a.id > b.id AND a.fp <~> b.fp <= 14) AS wrong FROM h_log;

--
-- A flag is a value of its own column
--
CREATE TABLE f (id varchar(10), fp simhash64, flag varchar(3));
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '3');
INSERT INTO f VALUES ('abc', '0000000000000001'), ('other', '0000000000000001'), ('longer', 'ffff00000000ffff');
INSERT INTO f VALUES ('last', 'ffff00000000ffff');
SELECT * FROM f ORDER BY id;
CREATE TABLE f_numeric (id numeric(6,2), fp simhash64, flag numeric(3,0));
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f_numeric FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '3');
INSERT INTO f_numeric VALUES (5, '0000000000000001'), (6, '0000000000000001'), (7.25, 'ffff00000000ffff'), (1000, 'ff00ff00ff00ff00');
INSERT INTO f_numeric VALUES (8, 'ff00ff00ff00ff00');
\set VERBOSITY default
\set SHOW_CONTEXT never
INSERT INTO f_numeric VALUES (8, 'ffff00000000ffff');
\set VERBOSITY terse
SELECT * FROM f_numeric ORDER BY id;
CREATE DOMAIN petition AS int CHECK (VALUE > 0);
CREATE DOMAIN known AS int NOT NULL;
CREATE TABLE f_domain (id petition, fp simhash64, flag petition);
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f_domain FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '3');
INSERT INTO f_domain VALUES (1, '0000000000000001', NULL), (2, '0000000000000001', NULL), (3, 'ffff00000000ffff', 2);
SELECT * FROM f_domain ORDER BY id;
CREATE TABLE f_known (id known, fp simhash64, flag known);
CREATE TRIGGER f BEFORE INSERT OR UPDATE ON f_known FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('fp', 'flag', 'id', '3');
INSERT INTO f_known VALUES (1, '0000000000000001', 1);

--
-- The DETAIL tells what its reader may read
--
CREATE ROLE regress_simdup_reader;
GRANT USAGE ON SCHEMA arrival_held TO regress_simdup_reader;
CREATE TABLE told (id int, fp simhash64, body text);
CREATE TRIGGER r BEFORE INSERT ON told FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
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

--
-- k is written in digits
--
CREATE TABLE digits (id int, fp simhash64);
SELECT format('CREATE OR REPLACE TRIGGER r BEFORE INSERT ON digits FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger(%L, %L, %L)', 'fp', 'id', k) AS create,
       'INSERT INTO digits VALUES (1, NULL)' AS insert
  FROM unnest(ARRAY['+3', ' 3', '3 ', ' +3', '0x3', '1e1', '03']) k \gexec
SELECT count(*) FROM digits;

SET client_min_messages = error;
DROP SCHEMA arrival_held CASCADE;
DROP ROLE regress_simdup_reader;

-- locks last as long as the row, also where a cursor inserted it
CREATE TABLE fetched (id int PRIMARY KEY, fp simhash64);
CREATE TRIGGER r BEFORE INSERT OR UPDATE ON fetched FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('fp', 'id', '3');
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

-- what fires on a log may close all cursors; a row without a key is nobody's duplicate
CREATE TABLE closing (id int, fp simhash64);
CREATE TABLE closing_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER a AFTER INSERT ON closing REFERENCING NEW TABLE AS n FOR EACH STATEMENT
  EXECUTE FUNCTION simdup_log_trigger('fp', 'id', '3', 'closing_log');
INSERT INTO closing VALUES (NULL, '0000000000000001');
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
