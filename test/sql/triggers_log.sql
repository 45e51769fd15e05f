--
-- triggers_log: after each of many random statements, the log has the near pairs of its
-- rows, in one order at least, and no other pair. No other trigger writes the table.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_log;
SET search_path = arrival_log, public;
CREATE TABLE t (id int PRIMARY KEY, fp simhash64, note text);
CREATE INDEX ON t USING hamming (fp);
CREATE TABLE log (line serial, new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER log AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'max_distance => 4');
CREATE TABLE done (kind text, ended text, required int, missing int, lines int, strangers int, backwards int);

CREATE FUNCTION below(n int) RETURNS int LANGUAGE sql RETURN floor(random() * n)::int;
-- near one of three centers, or without a fingerprint
CREATE FUNCTION any_fp() RETURNS simhash64 LANGUAGE sql
  RETURN CASE WHEN below(12) > 0 THEN (hashint8extended(below(3), 1) # (1::bigint << below(64)) # (1::bigint << below(64)))::simhash64 END;
CREATE FUNCTION new_rows() RETURNS TABLE (id int, fp simhash64) LANGUAGE sql
  AS $$ SELECT DISTINCT ON (1) below(40), any_fp() FROM generate_series(0, below(8)) $$;

CREATE FUNCTION run(kind text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CASE kind
    WHEN 'insert' THEN INSERT INTO t SELECT * FROM new_rows();
    WHEN 'insert, what is new' THEN INSERT INTO t SELECT * FROM new_rows() ON CONFLICT DO NOTHING;
    WHEN 'upsert' THEN
      INSERT INTO t SELECT * FROM new_rows() ON CONFLICT (id) DO UPDATE SET fp = EXCLUDED.fp, note = 'upsert';
    WHEN 'upsert, note' THEN INSERT INTO t SELECT * FROM new_rows() ON CONFLICT (id) DO UPDATE SET note = 'again';
    WHEN 'update' THEN UPDATE t SET fp = any_fp() WHERE id % 5 = below(5);
    WHEN 'update all' THEN UPDATE t SET fp = (t.fp::bigint # (1::bigint << below(64)))::simhash64;
    WHEN 'update key' THEN UPDATE t SET id = id + 40 * (1 + below(100)), note = 'key' WHERE id % 7 = below(7);
    WHEN 'update note' THEN UPDATE t SET note = 'note' WHERE id % 3 = below(3);
    WHEN 'delete' THEN DELETE FROM t WHERE id % 4 = below(4) OR id > 200;
    WHEN 'merge' THEN
      MERGE INTO t USING (SELECT * FROM new_rows() OFFSET 0) AS n ON n.id = t.id
        WHEN MATCHED AND n.id % 5 = 0 THEN DELETE
        WHEN MATCHED THEN UPDATE SET fp = n.fp
        WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.fp, 'merge');
    WHEN 'two in one' THEN
      WITH u AS (UPDATE t SET fp = any_fp() WHERE id % 4 = below(4)), d AS (DELETE FROM t WHERE id % 11 = 10)
      INSERT INTO t SELECT 1000 + below(100000), any_fp() FROM generate_series(1, 3);
  END CASE;
END $$;

-- Run a statement, in a savepoint that is sometimes taken back, and compare.
CREATE PROCEDURE step(kind text, writer text) LANGUAGE plpgsql AS $$
DECLARE
  last_line int := coalesce((SELECT max(line) FROM log), 0);
  d done;
BEGIN
  CREATE TEMP TABLE before AS SELECT id, fp FROM t;
  EXECUTE format('SET LOCAL ROLE %I', writer);
  BEGIN
    PERFORM run(kind);
    IF random() < 0.1 THEN
      RAISE SQLSTATE 'XX999';
    END IF;
    d.ended := 'kept';
  EXCEPTION WHEN SQLSTATE 'XX999' THEN d.ended := 'taken back';
  WHEN unique_violation THEN d.ended := 'refused';
  END;
  RESET ROLE;
  d.kind := kind;
  CREATE TEMP TABLE after AS
    SELECT t.*, NOT EXISTS (SELECT FROM before AS o WHERE (o.id, o.fp) IS NOT DISTINCT FROM (t.id, t.fp)) AS changed FROM t;
  CREATE TEMP TABLE near AS
    SELECT x.id AS a, y.id AS b, x.fp <~> y.fp AS distance, y.changed AS of_two
    FROM after AS x JOIN after AS y ON x.id <> y.id AND x.fp <~> y.fp <= 4
    WHERE x.changed AND (writer = current_user OR y.id % 2 = 0);
  SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM log WHERE (new_key, old_key) IN ((a, b), (b, a))))
    INTO d.required, d.missing FROM near;
  SELECT count(*), count(*) FILTER (WHERE NOT EXISTS
      (SELECT FROM near WHERE (a, b) IN ((new_key, old_key), (old_key, new_key)) AND near.distance = log.distance)),
    count(*) FILTER (WHERE new_key < old_key AND EXISTS (SELECT FROM near WHERE (a, b) = (new_key, old_key) AND of_two))
    INTO d.lines, d.strangers, d.backwards FROM log WHERE line > last_line;
  INSERT INTO done SELECT d.*;
  DROP TABLE near, after, before;
END $$;

CREATE ROLE regress_simdup_log;
GRANT USAGE ON SCHEMA arrival_log TO regress_simdup_log;
GRANT ALL ON t TO regress_simdup_log;
GRANT INSERT ON log TO regress_simdup_log;
GRANT USAGE ON SEQUENCE log_line_seq TO regress_simdup_log;
CREATE POLICY all_rows ON t USING (true);
CREATE PROCEDURE steps(n int, writer text) LANGUAGE plpgsql AS $$
DECLARE
  kinds text[] := '{insert,"insert, what is new",upsert,"upsert, note",update,"update all","update key","update note",delete,merge,"two in one"}';
BEGIN
  FOR i IN 1 .. n LOOP
    CALL step(kinds[1 + below(11)], writer);
    -- several statements in one transaction
    IF random() < 0.3 THEN
      COMMIT;
    END IF;
  END LOOP;
END $$;
SELECT current_user AS me \gset
CALL steps(300, :'me');
-- a writer to whom row security shows only even keys
CREATE POLICY even ON t AS RESTRICTIVE FOR SELECT USING (id % 2 = 0);
DROP POLICY all_rows ON t;
CREATE POLICY readable ON t FOR SELECT USING (true);
CREATE POLICY inserted ON t FOR INSERT WITH CHECK (true);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
INSERT INTO done VALUES ('by a clerk');
TRUNCATE t, log;
CREATE OR REPLACE FUNCTION run(kind text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t SELECT * FROM new_rows() ON CONFLICT DO NOTHING;
END $$;
CALL steps(60, 'regress_simdup_log');
SELECT count(*) > 0 AS hidden FROM t AS a JOIN t AS b ON a.id < b.id AND a.fp <~> b.fp <= 4 WHERE b.id % 2 = 1 AND (b.id, a.id) NOT IN (SELECT new_key, old_key FROM log);
SELECT count(*) > 300 AS steps, sum(required) > 1000 AS required, sum(missing) AS missing, sum(lines) > 500 AS lines,
  sum(strangers) AS strangers, sum(backwards) AS backwards FROM done;
SELECT kind, sum(missing) AS missing, sum(strangers) AS strangers, sum(backwards) AS backwards FROM done
WHERE missing > 0 OR strangers > 0 OR backwards > 0 GROUP BY kind ORDER BY kind;
SELECT ended FROM done WHERE lines > 0 GROUP BY ended HAVING count(*) > 10;
SELECT count(*) > 10 AS taken_back FROM done WHERE ended = 'taken back';

SET client_min_messages = error;
DROP SCHEMA arrival_log CASCADE;
DROP ROLE regress_simdup_log;
