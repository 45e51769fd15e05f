--
-- groups: who may do what, and whose statements run
--
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE ROLE regress_simdup_owner;
CREATE ROLE regress_simdup_clerk;
CREATE ROLE regress_simdup_stranger;
CREATE SCHEMA rights;
GRANT USAGE, CREATE ON SCHEMA rights TO regress_simdup_owner, regress_simdup_stranger;
GRANT USAGE ON SCHEMA rights TO regress_simdup_clerk;
SET search_path = rights, public;
CREATE TABLE ran (who text);
GRANT INSERT ON ran TO PUBLIC;
-- a source that tells who reads it
CREATE FUNCTION told(id int) RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO rights.ran VALUES (current_user); RETURN id; END';
SET ROLE regress_simdup_owner;
CREATE TABLE letter (id int PRIMARY KEY, fp simhash64);
INSERT INTO letter VALUES (1, '0000000000000000'), (2, '0000000000000001'), (3, 'ffffffffffffffff');
-- grants by default are not for the settings
ALTER DEFAULT PRIVILEGES IN SCHEMA rights GRANT ALL ON TABLES TO regress_simdup_clerk, PUBLIC;
CREATE VIEW telling AS SELECT told(id) AS key, fp FROM letter;
SELECT simdup_group('letter_group', 'letter');
ALTER DEFAULT PRIVILEGES IN SCHEMA rights REVOKE ALL ON TABLES FROM regress_simdup_clerk, PUBLIC;
SELECT relname, bool_or(privilege_type IN ('INSERT', 'UPDATE')) AS writes, bool_or(privilege_type = 'TRIGGER') AS triggers
FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'rights'::regnamespace AND relname LIKE 'letter\_group%' AND relkind = 'r' AND grantee <> relowner GROUP BY 1 ORDER BY 1;
REVOKE ALL ON letter_group, letter_group_decisions, letter_group_events, letter_group_settings FROM regress_simdup_clerk, PUBLIC;
SELECT count(*) FROM simdup_regroup('letter_group');

-- a clerk
GRANT SELECT ON letter_group TO regress_simdup_clerk;
GRANT SELECT, DELETE, INSERT (a, b, same, note) ON letter_group_decisions TO regress_simdup_clerk;
SET ROLE regress_simdup_clerk;
SELECT * FROM simdup_decide('letter_group', 1, 3, true, note => 'by the clerk', refresh => false);
SELECT * FROM simdup_decide('letter_group', ARRAY[4, 5], ARRAY[5, 6], true, refresh => false);
-- corrects himself, says the same again, and takes back
SELECT * FROM simdup_decide('letter_group', 3, 1, false, refresh => false);
SELECT * FROM simdup_decide('letter_group', 1, 3, false, note => 'again', refresh => false);
SELECT a, b, same, note, by FROM letter_group_decisions ORDER BY a, b;
SELECT * FROM simdup_decide('letter_group', 1, 3, true, note => 'by the clerk', refresh => false);
SELECT * FROM simdup_decide('letter_group', 4, 6, false, refresh => false);
SELECT * FROM simdup_undecide('letter_group', 5, 6, refresh => false);
-- and nothing else
INSERT INTO letter_group_decisions (a, b, same, by) VALUES (7, 8, true, 'somebody');
INSERT INTO letter_group_decisions (a, b, same, at) VALUES (7, 8, true, now());
UPDATE letter_group_decisions SET by = 'somebody';
SELECT * FROM simdup_decide('letter_group', 1, 2, false);
SELECT * FROM simdup_undecide('letter_group', 1, 3);
SELECT * FROM simdup_regroup('letter_group');
SELECT * FROM simdup_review('letter_group');
SELECT simdup_ungroup('letter_group', true);
SET ROLE regress_simdup_owner;
SELECT a, b, same, note, by FROM letter_group_decisions ORDER BY a, b;
SELECT * FROM simdup_regroup('letter_group');
-- written by hand against the others, a decision is passed over
INSERT INTO letter_group_decisions (a, b, same) VALUES (2, 3, true), (1, 2, false);
\set VERBOSITY terse
INSERT INTO letter_group_decisions (a, b, same) VALUES (2, 2, false);
\set VERBOSITY default
SELECT * FROM simdup_regroup('letter_group');
DELETE FROM letter_group_decisions WHERE 2 IN (a, b);

-- a superuser must be the owner
RESET ROLE;
UPDATE letter_group_settings SET source = 'rights.telling';
SELECT simdup_regroup('letter_group');
SELECT simdup_regroup('letter_group', true);
SELECT simdup_review('letter_group');
SELECT simdup_decide('letter_group', 1, 2, true);
SELECT simdup_undecide('letter_group', 1, 3);
-- another role may write the settings, or add a trigger
SET ROLE regress_simdup_owner;
GRANT UPDATE (source) ON letter_group_settings TO regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
REVOKE UPDATE (source) ON letter_group_settings FROM regress_simdup_stranger;
GRANT INSERT ON letter_group_settings TO PUBLIC;
SELECT simdup_regroup('letter_group', true);
REVOKE INSERT ON letter_group_settings FROM PUBLIC;
GRANT TRIGGER ON letter_group_events TO regress_simdup_stranger;
SELECT simdup_decide('letter_group', 1, 2, true);
REVOKE TRIGGER ON letter_group_events FROM regress_simdup_stranger;
-- or refer to it, from a table whose triggers would run
GRANT REFERENCES (key) ON letter_group TO regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
SET ROLE regress_simdup_stranger;
CREATE TABLE refers (key int REFERENCES rights.letter_group ON DELETE CASCADE);
SET ROLE regress_simdup_owner;
REVOKE REFERENCES (key) ON letter_group FROM regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
SELECT simdup_review('letter_group');
SET ROLE regress_simdup_stranger;
DROP TABLE refers;
SET ROLE regress_simdup_owner;
-- another role's function is called by a trigger
RESET ROLE;
SET ROLE regress_simdup_stranger;
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO rights.ran VALUES (current_user); RETURN NULL; END';
RESET ROLE;
CREATE TRIGGER watch AFTER INSERT ON letter_group_events EXECUTE FUNCTION watch();
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
DROP TRIGGER watch ON letter_group_events;
-- or calls one in its condition
SET ROLE regress_simdup_stranger;
CREATE FUNCTION watches() RETURNS boolean LANGUAGE sql AS 'INSERT INTO rights.ran VALUES (current_user) RETURNING true';
RESET ROLE;
CREATE TRIGGER watch BEFORE INSERT ON letter_group_events WHEN (watches()) EXECUTE FUNCTION suppress_redundant_updates_trigger();
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
DROP TRIGGER watch ON letter_group_events;
-- or one of ours names code of another role
SET ROLE regress_simdup_stranger;
CREATE FUNCTION alike(letter_group, letter_group) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE TABLE alike_log (new_key int, old_key int, distance int, logged_at timestamptz);
RESET ROLE;
CREATE TRIGGER watch BEFORE INSERT ON letter_group FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => alike');
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
RESET ROLE;
CREATE OR REPLACE TRIGGER watch AFTER INSERT ON letter_group FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('alike_log');
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
DROP TRIGGER watch ON letter_group;
-- also by a trigger of the table that ours is a partition of
CREATE TABLE all_groups (key int PRIMARY KEY, id bigint NOT NULL) PARTITION BY LIST (key);
ALTER TABLE all_groups ATTACH PARTITION letter_group DEFAULT;
CREATE TRIGGER watch AFTER INSERT ON all_groups FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('alike_log');
SELECT simdup_regroup('letter_group');
ALTER TABLE all_groups DETACH PARTITION letter_group;
DROP TABLE all_groups;
-- or a log of ours has such a trigger
CREATE TABLE own_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER watch AFTER INSERT ON letter_group FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('own_log');
GRANT TRIGGER ON own_log TO regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
SET ROLE regress_simdup_stranger;
CREATE TRIGGER watch AFTER INSERT ON own_log EXECUTE FUNCTION watch();
SET ROLE regress_simdup_owner;
REVOKE TRIGGER ON own_log FROM regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
-- a name that is none is no error
CREATE OR REPLACE TRIGGER watch AFTER INSERT ON letter_group FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('a..b', 'condition => a.b.c.d');
ALTER TABLE letter_group DISABLE TRIGGER watch;
SELECT * FROM simdup_trigger_names('letter_group');
DROP TRIGGER watch ON letter_group;
DROP TABLE own_log;
-- another role owns one of the four
RESET ROLE;
ALTER TABLE letter_group_settings OWNER TO regress_simdup_stranger;
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
SELECT simdup_review('letter_group');
RESET ROLE;
ALTER TABLE letter_group_settings OWNER TO regress_simdup_owner;
ALTER TABLE letter_group OWNER TO regress_simdup_stranger;
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
SET ROLE regress_simdup_stranger;
SELECT simdup_regroup('letter_group');
RESET ROLE;
ALTER TABLE letter_group OWNER TO regress_simdup_owner;
TABLE ran;
-- the owner runs it, and nobody else
SET ROLE regress_simdup_owner;
SELECT * FROM simdup_regroup('letter_group');
CREATE TABLE refers (key int REFERENCES letter_group);
SELECT * FROM simdup_regroup('letter_group');
DROP TABLE refers;
RESET ROLE;
SELECT DISTINCT who FROM ran;
-- a stranger's view of the same name is no grouping
SET ROLE regress_simdup_stranger;
CREATE TABLE other (key int PRIMARY KEY, id bigint);
CREATE TABLE other_decisions (a int, b int, same bool);
CREATE TABLE other_events (refresh bigint, key int, was bigint, id bigint);
CREATE VIEW other_settings AS SELECT 'rights.telling'::text AS source, 8 AS max_distance, 'leader'::text AS method, NULL::float8 AS min_resemblance, 1::bigint AS next_id, 1::bigint AS next_refresh;
GRANT ALL ON other, other_decisions, other_events, other_settings TO regress_simdup_owner;
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('other');

-- row security that hides rows is an error
RESET ROLE;
UPDATE letter_group_settings SET source = 'rights.letter';
ALTER TABLE letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE letter FORCE ROW LEVEL SECURITY;
CREATE POLICY few ON letter USING (id < 3);
SET ROLE regress_simdup_owner;
SELECT simdup_regroup('letter_group');
SELECT simdup_review('letter_group');
RESET ROLE;
ALTER TABLE letter NO FORCE ROW LEVEL SECURITY;
ALTER TABLE letter_group_decisions ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON letter_group_decisions USING (by = current_user) WITH CHECK (by = current_user);
SET ROLE regress_simdup_clerk;
SELECT * FROM simdup_decide('letter_group', 2, 3, true, refresh => false);
SET ROLE regress_simdup_owner;
SELECT * FROM simdup_regroup('letter_group');
RESET ROLE;
ALTER TABLE letter_group_decisions FORCE ROW LEVEL SECURITY;
SET ROLE regress_simdup_owner;
SELECT * FROM simdup_regroup('letter_group');
SHOW row_security;
RESET ROLE;

-- a source that the owner of the grouping may not read, but by a view
ALTER TABLE rights.letter DISABLE ROW LEVEL SECURITY;
ALTER TABLE rights.letter OWNER TO regress_simdup_stranger;
SET ROLE regress_simdup_owner;
SELECT * FROM simdup_regroup('letter_group');
UPDATE letter_group_settings SET source_owner = 'regress_simdup_stranger';
SELECT * FROM simdup_regroup('letter_group');
SELECT simdup_group('another', 'letter');
RESET ROLE;
-- nor all columns of that: only a report reads the day
CREATE VIEW rights.readable AS SELECT id AS key, fp, DATE '2026-01-01' AS day FROM rights.letter;
GRANT SELECT (key, fp) ON rights.readable TO regress_simdup_owner;
SET ROLE regress_simdup_owner;
SELECT simdup_group('another', 'readable');
SELECT count(*) FROM simdup_regroup('another');
SELECT simdup_report('readable', groups => 'another');
SELECT simdup_ungroup('another');
RESET ROLE;
ALTER TABLE rights.letter OWNER TO regress_simdup_owner;
ALTER TABLE rights.letter ENABLE ROW LEVEL SECURITY;

-- functions that a search_path has first are not called
CREATE SCHEMA hostile;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
CREATE FUNCTION hostile.run() RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END';
DO $$
DECLARE
  type text;
  op text;
BEGIN
  FOREACH type IN ARRAY ARRAY['int4', 'int8', 'text', 'bool', 'regclass', 'oid', 'name', 'float8', 'simhash64'] LOOP
    FOREACH op IN ARRAY ARRAY['=', '<>', '<', '>', '<=', '>='] LOOP
      EXECUTE format('CREATE FUNCTION hostile.op(%1$s, %1$s) RETURNS bool LANGUAGE sql AS ''SELECT hostile.run()''', type);
      EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = hostile.op)', op, type);
      EXIT;
    END LOOP;
    FOREACH op IN ARRAY ARRAY['<>', '<', '>', '<=', '>='] LOOP
      EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = hostile.op)', op, type);
    END LOOP;
  END LOOP;
END $$;
CREATE FUNCTION hostile.plus(int8, int8) RETURNS int8 LANGUAGE sql AS 'SELECT hostile.run()::int::int8';
CREATE OPERATOR hostile.+ (LEFTARG = int8, RIGHTARG = int8, FUNCTION = hostile.plus);
CREATE OPERATOR hostile.- (LEFTARG = int8, RIGHTARG = int8, FUNCTION = hostile.plus);
CREATE FUNCTION hostile.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT hostile.run()::text';
CREATE FUNCTION hostile.count(anyelement) RETURNS int8 LANGUAGE sql AS 'SELECT hostile.run()::int::int8';
CREATE FUNCTION hostile.abs(int4) RETURNS int4 LANGUAGE sql AS 'SELECT hostile.run()::int';
CREATE FUNCTION hostile.simdup_group_changes(regclass, regclass, regclass, regclass, int4, text, float8, int4, text, int8, name[], OUT key int4, OUT was int8, OUT id int8) LANGUAGE sql AS 'SELECT hostile.run()::int, 1::int8, 1::int8';
CREATE FUNCTION hostile.simdup_grouping(regclass, bool, bool) RETURNS bool LANGUAGE sql AS 'SELECT hostile.run()';
CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (hostile.run());
CREATE DOMAIN hostile.int8 AS pg_catalog.int8 CHECK (hostile.run());
CREATE DOMAIN hostile.bool AS pg_catalog.bool CHECK (hostile.run());
ALTER TABLE rights.letter_group_decisions DISABLE ROW LEVEL SECURITY;
SET ROLE regress_simdup_owner;
UPDATE rights.letter_group_settings SET max_distance = 3;
SET search_path = hostile, pg_catalog, public, rights;
SELECT * FROM simdup_regroup('letter_group');
SELECT * FROM simdup_decide('letter_group', 1, 2, false);
SELECT * FROM simdup_decide('letter_group', ARRAY[1, 3], ARRAY[2, 7], true);
SELECT * FROM simdup_undecide('letter_group', '7', '3');
SELECT a, b, why FROM simdup_review('letter_group');
SELECT simdup_group_of('letter_group', 1), simdup_group_of('letter_group', 2);
SELECT simdup_group('rights.more', 'rights.letter', 8, 'connected');
SELECT * FROM simdup_regroup('more', true);
SELECT simdup_ungroup('more');
RESET ROLE;
SET search_path = public;

-- an owner whose name needs quotes
CREATE ROLE "regress_simdup Owner";
GRANT USAGE, CREATE ON SCHEMA rights TO "regress_simdup Owner";
SET ROLE "regress_simdup Owner";
CREATE VIEW rights.three AS SELECT i AS key, i::bigint::simhash64 AS fp FROM generate_series(1, 3) AS i;
SELECT simdup_group('rights.quoted', 'rights.three');
SELECT count(*) FROM simdup_regroup('rights.quoted');
SELECT simdup_ungroup('rights.quoted');
RESET ROLE;

-- who may create where the extension is, makes functions and operators that nearly fit
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'simdup' \gset
GRANT CREATE, USAGE ON SCHEMA :home TO regress_simdup_stranger;
SET ROLE regress_simdup_stranger;
SELECT set_config('search_path', :'home', false) IS NOT NULL AS set;
DO $$
DECLARE
  f record;
  other text[];
BEGIN
  FOREACH other SLICE 1 IN ARRAY '{{text,varchar},{text,name},{text,anyelement},{regtype,oid},{regclass,oid},{regclass,text},{integer,bigint},
      {integer,smallint},{bigint,integer},{boolean,text},{anycompatible,anyelement},{anycompatible,integer},{anycompatible,text}}'::text[] LOOP
    FOR f IN SELECT p.proname, p.prorettype::regtype AS result, p.proretset, replace(pg_get_function_identity_arguments(p.oid), other[1], other[2]) AS arguments
             FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
             WHERE p.proname ~ '^simdup_(group_changes|review_pairs|source_rows|numbers|own_text|grouping|grouping_source|regroup)$|^(shingle_resemblance|minhash64|minhash64_resemblance|minhash_bits_resemblance)$' LOOP
      BEGIN
        EXECUTE format('CREATE FUNCTION %I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
          f.proname, f.arguments, CASE WHEN f.arguments ~ 'OUT ' OR f.result = 'record'::regtype THEN 'SETOF record' ELSE 'SETOF ' || f.result END,
          format('BEGIN INSERT INTO rights.ran VALUES (current_user || %L); RETURN; END', f.proname));
      EXCEPTION WHEN OTHERS THEN NULL; -- the same as another
      END;
    END LOOP;
  END LOOP;
END $$;
CREATE FUNCTION ran() RETURNS bool LANGUAGE plpgsql AS 'BEGIN INSERT INTO rights.ran VALUES (current_user || '' by an operator''); RETURN true; END';
CREATE FUNCTION op(int4, int4) RETURNS bool LANGUAGE sql AS 'SELECT ran()';
CREATE FUNCTION op(int4, int8) RETURNS bool LANGUAGE sql AS 'SELECT ran()';
CREATE FUNCTION op(varchar, text) RETURNS bool LANGUAGE sql AS 'SELECT ran()';
CREATE OPERATOR <> (LEFTARG = int4, RIGHTARG = int4, FUNCTION = op);
CREATE OPERATOR = (LEFTARG = int4, RIGHTARG = int4, FUNCTION = op);
CREATE OPERATOR > (LEFTARG = int4, RIGHTARG = int8, FUNCTION = op);
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = text, FUNCTION = op);
CREATE FUNCTION format(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran()::text; END';
CREATE FUNCTION format(text, text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran()::text; END';
CREATE FUNCTION concat(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran()::text; END';
CREATE FUNCTION num_nulls(text, text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN ran()::int; END';
SELECT count(*) > 20 AS made FROM pg_proc WHERE pronamespace = :'home'::regnamespace AND proowner = 'regress_simdup_stranger'::regrole;
RESET ROLE;
DELETE FROM rights.ran;
SET ROLE regress_simdup_owner;
SET search_path = rights, public;
SELECT simdup_group('more', 'rights.letter', 3);
SELECT count(*) FROM simdup_regroup('more');
SELECT count(*) FROM simdup_decide('more', 1, 2, false, 'apart');
SELECT count(*) FROM simdup_decide('more', ARRAY[1, 3], ARRAY[3, 4], true, 'one', true);
SELECT count(*) >= 0 AS reviewed FROM simdup_review('more', 3);
SELECT count(*) FROM simdup_undecide('more', 1, 2, true);
SELECT simdup_group_of('more', 1);
SELECT simdup_ungroup('more', true);
CREATE VIEW rights.texts AS SELECT id AS key, repeat('the lamp is out ', id)::varchar AS content FROM rights.letter;
SELECT simdup_group('more', 'rights.texts', min_resemblance => 0.5);
SELECT count(*) FROM simdup_regroup('more');
SELECT count(*) >= 0 AS reviewed FROM simdup_review('more', 3);
SELECT simdup_ungroup('more', true);
RESET ROLE;
TABLE rights.ran;
SET client_min_messages = error;
DROP OWNED BY regress_simdup_stranger CASCADE;
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA hostile, rights CASCADE;
DROP ROLE regress_simdup_owner, "regress_simdup Owner", regress_simdup_clerk, regress_simdup_stranger;
RESET client_min_messages;
