--
-- trigger_row_security: flag and log tell of no row that the user may not be told of. An
-- INSERT near such a row ends as one near nothing, with each kind of rights, policy
-- and trigger.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_hidden;
SET search_path = arrival_hidden, public;
CREATE ROLE regress_simdup_hidden;
GRANT USAGE ON SCHEMA arrival_hidden TO regress_simdup_hidden;
CREATE TABLE t (id int PRIMARY KEY, owner name DEFAULT current_user, fp simhash64, flag int);
CREATE INDEX ON t USING hamming (fp);
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TABLE secret (owner name);
CREATE FUNCTION any_two(new_row t, near_row t) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION fails(name) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'the row of %', $1; END $$;

CREATE TABLE a_right (name text, statement text, tells boolean);
INSERT INTO a_right VALUES
  ('no SELECT', 'SELECT 1', false),
  ('SELECT on another column', 'GRANT SELECT (fp) ON t TO regress_simdup_hidden', false),
  ('SELECT on the key', 'GRANT SELECT (id) ON t TO regress_simdup_hidden', true),
  ('SELECT on each column', 'GRANT SELECT (id, owner, fp, flag) ON t TO regress_simdup_hidden', true),
  ('SELECT', 'GRANT SELECT ON t TO regress_simdup_hidden', true);
CREATE TABLE a_policy (name text, statement text, shows boolean);
INSERT INTO a_policy VALUES
  ('no row security', NULL, true),
  ('no policy', 'SELECT 1', false),
  ('all rows', 'CREATE POLICY p ON t FOR SELECT USING (true)', true),
  ('own rows', 'CREATE POLICY p ON t FOR SELECT USING (owner = current_user)', false),
  ('a table of no right', 'CREATE POLICY p ON t FOR SELECT USING (owner IN (SELECT owner FROM secret))', false),
  ('an error', 'CREATE POLICY p ON t FOR SELECT USING (1 / (id - id) = 1)', false),
  ('an error of a function', 'CREATE POLICY p ON t FOR SELECT USING (fails(owner))', false),
  ('a setting that is not there', $$CREATE POLICY p ON t FOR SELECT USING (owner = current_setting('no.such'))$$, false);
CREATE TABLE a_trigger (name text, statement text);
INSERT INTO a_trigger
SELECT kind || coalesce(', ' || option, ''), format('CREATE TRIGGER r %s INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_%s_trigger(%L%s)',
  CASE kind WHEN 'flag' THEN 'BEFORE' ELSE 'AFTER' END, kind, kind, ', ' || quote_literal(option))
FROM (VALUES ('flag'), ('log')) AS k (kind), (VALUES (NULL), ('lock => true'), ('condition => any_two')) AS o (option);

-- How an INSERT of the user ends; it is taken back.
CREATE FUNCTION outcome(new_fp simhash64) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text; state text; message text; context text;
BEGIN
  SET LOCAL ROLE regress_simdup_hidden;
  INSERT INTO t (id, fp) VALUES (2, new_fp);
  RESET ROLE;
  RAISE SQLSTATE 'XX999' USING MESSAGE = concat('flag ', (SELECT flag FROM t WHERE id = 2), ', log ', (SELECT count(*) FROM log));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
  RETURN CASE state WHEN 'XX999' THEN message ELSE concat(state, ' ', message, ' ', context) END;
END $$;
CREATE TABLE tried (a_right text, a_policy text, a_trigger text, tells boolean, near_row text, near_nothing text);
CREATE PROCEDURE try_all() LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  INSERT INTO t VALUES (1, 'owner', '00ff00ff00ff00ff');
  FOR r IN SELECT a_right.name AS a_right, a_right.statement AS of_right, a_policy.name AS a_policy, a_policy.statement AS of_policy,
      a_trigger.name AS a_trigger, a_trigger.statement AS of_trigger,
      tells AND shows AND (a_policy.statement IS NULL OR a_right.name = 'SELECT') AS tells FROM a_right, a_policy, a_trigger LOOP
    BEGIN
      GRANT INSERT ON t, log TO regress_simdup_hidden;
      EXECUTE r.of_right;
      IF r.of_policy IS NOT NULL THEN
        EXECUTE r.of_policy;
        CREATE POLICY i ON t FOR INSERT WITH CHECK (true);
        ALTER TABLE t ENABLE ROW LEVEL SECURITY;
      END IF;
      EXECUTE r.of_trigger;
      INSERT INTO tried VALUES (r.a_right, r.a_policy, r.a_trigger, r.tells, outcome('00ff00ff00ff00ff'), outcome('ffffffff00000000'));
      RAISE SQLSTATE 'XX998' USING MESSAGE = (SELECT tried::text FROM tried);
    EXCEPTION WHEN SQLSTATE 'XX998' THEN
      EXECUTE 'INSERT INTO tried SELECT ($1::tried).*' USING SQLERRM;
    END;
    INSERT INTO done SELECT * FROM tried;
    DELETE FROM tried;
  END LOOP;
END $$;
CREATE TABLE done (LIKE tried);
CALL try_all();
SELECT a_right, a_policy, a_trigger, near_row, near_nothing FROM done
WHERE (near_row = near_nothing) = tells OR near_nothing <> 'flag , log 0' OR near_row LIKE '%context%' OR near_row NOT LIKE 'flag%';
SELECT count(*), count(*) FILTER (WHERE tells) AS told FROM done;
SELECT DISTINCT near_row FROM done ORDER BY 1;

-- An error of the server's, such as a cancel, is raised, and leaves the session
-- outside of a transaction.
CREATE TRIGGER flag BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('flag');
CREATE FUNCTION cancels() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE query_canceled USING MESSAGE = 'canceled'; END $$;
CREATE POLICY s ON t FOR SELECT USING (cancels());
CREATE POLICY i ON t FOR INSERT WITH CHECK (true);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
GRANT INSERT, SELECT ON t TO regress_simdup_hidden;
SET ROLE regress_simdup_hidden;
\set VERBOSITY terse
INSERT INTO t (id, fp) VALUES (2, '00ff00ff00ff00ff');
\set VERBOSITY default
RESET ROLE;
SELECT count(*) FROM t;
-- The row is asked for by the server's operators. A policy's functions have the user's path.
CREATE SCHEMA arrival_hidden_path;
CREATE FUNCTION arrival_hidden_path.always(tid, tid) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR arrival_hidden_path.= (LEFTARG = tid, RIGHTARG = tid, FUNCTION = arrival_hidden_path.always);
CREATE FUNCTION arrival_hidden_path.is_own(name) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 = current_user';
CREATE FUNCTION sees(name) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN is_own($1); END $$;
GRANT USAGE ON SCHEMA arrival_hidden_path TO regress_simdup_hidden;
DROP POLICY s ON t;
CREATE POLICY s ON t FOR SELECT USING (sees(owner));
SET search_path = arrival_hidden_path, pg_catalog, arrival_hidden, public;
SET ROLE regress_simdup_hidden;
INSERT INTO t (id, fp) VALUES (3, 'ffffffff00000000'), (4, '00ff00ff00ff00ff'), (5, 'ffffffff00000001');
RESET ROLE;
SET search_path = arrival_hidden, public;
SELECT id, flag FROM t WHERE id > 2 ORDER BY id;
-- A policy may ask for the path itself.
DROP POLICY s ON t;
CREATE POLICY s ON t FOR SELECT USING (current_schema() = 'arrival_hidden_path');
SET search_path = arrival_hidden_path, pg_catalog, arrival_hidden, public;
SET ROLE regress_simdup_hidden;
INSERT INTO t (id, fp) VALUES (6, 'ffffffff00000003');
RESET ROLE;
SET search_path = arrival_hidden, public;
SELECT id, flag FROM t WHERE id = 6;
SET client_min_messages = error;
DROP SCHEMA arrival_hidden, arrival_hidden_path CASCADE;
DROP ROLE regress_simdup_hidden;
