--
-- removal: the statements, their errors, and flags; random schemas are in t/removal.pl
--
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE letter (id int PRIMARY KEY, code text UNIQUE, body text, answers int UNIQUE REFERENCES letter);
CREATE TABLE tag (letter int REFERENCES letter ON DELETE CASCADE, tag text, UNIQUE (letter, tag));
CREATE TABLE r (r int REFERENCES letter ON DELETE CASCADE, m text COLLATE "C" REFERENCES letter (code), gone int);
INSERT INTO letter VALUES (1, 'a', 'the lamp', 2), (2, 'b', 'the lamp', NULL), (3, NULL, 'the lamp!', 1), (4, 'd', 'a tree', 3);
INSERT INTO tag VALUES (1, 'lamp'), (2, 'lamp'), (2, 'lane'), (3, 'lane'), (3, NULL);
INSERT INTO r VALUES (2, 'b', 1), (4, 'a', 2), (NULL, NULL, 3);
-- the statements, which change nothing by themselves
CREATE VIEW letter_map (removed, kept) AS VALUES (2, 1), (3, 1), (4, 4);
SELECT step, statement FROM simdup_removal('letter', 'letter_map') \g (format=unaligned tuples_only=on)
SELECT count(*) FROM letter;
\set ECHO errors
SELECT statement FROM simdup_removal('letter', 'letter_map') ORDER BY step \gexec
\set ECHO all
TABLE letter ORDER BY id;
TABLE tag ORDER BY tag;
TABLE r ORDER BY gone;
SELECT id, code, body, answers, kept, removed_at IS NOT NULL AS at FROM letter_removed ORDER BY id;
SELECT letter, tag, removed, kept, foreign_key, deleted FROM tag_moved ORDER BY letter, tag;
SELECT r, m, gone, removed, kept, foreign_key, deleted FROM r_moved ORDER BY foreign_key;
SELECT id, answers, removed, kept, foreign_key, deleted FROM letter_moved ORDER BY id;
-- again: the archives are there
INSERT INTO letter VALUES (5, 'e', 'a tree', NULL);
INSERT INTO r VALUES (5, 'e', 4);
-- keys as texts, in a table with another column
CREATE TABLE text_map (kept text, gone int, removed text);
INSERT INTO text_map VALUES ('4', NULL, '5');
\set ECHO errors
SELECT statement FROM simdup_removal('letter', 'text_map') \gexec
\set ECHO all
SELECT id, kept FROM letter_removed ORDER BY id;
TABLE r ORDER BY gone;

-- maps that do not hold change nothing
CREATE PROCEDURE try(pairs text, target text DEFAULT 'letter') LANGUAGE plpgsql AS $$
DECLARE
  statement text;
  detail text;
BEGIN
  EXECUTE 'CREATE OR REPLACE VIEW tried (removed, kept) AS ' || pairs;
  FOR statement IN SELECT s.statement FROM simdup_removal(target::regclass, 'tried') AS s WHERE s.statement !~ '^(--|BEGIN|COMMIT)' LOOP
    EXECUTE statement;
  END LOOP;
  RAISE EXCEPTION 'nothing was refused';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE WARNING '%: %', sqlerrm, detail;
END $$;
CALL try('VALUES (4, 1), (4, 1)');
CALL try('VALUES (4, 1), (1, 4)');
CALL try('VALUES (99, 1)');
CALL try('VALUES (4, 99)');
CALL try('VALUES (4, NULL::int)');
CALL try('SELECT 4, 5000000000');
-- a kept row has no value to which a reference could move
INSERT INTO letter VALUES (6, NULL, 'a tree', NULL);
CALL try('VALUES (1, 6)');
-- two rows that stay may not collide, which the server says
INSERT INTO letter VALUES (7, 'g', 'a bench', NULL), (8, 'h', 'a bench', 7), (9, 'i', 'a tree', 4);
CALL try('VALUES (7, 4)');
-- a trigger that keeps a row from moving, and so nothing is lost by a cascade
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep BEFORE UPDATE ON r FOR EACH ROW EXECUTE FUNCTION keep();
CALL try('VALUES (4, 6)');
DROP TRIGGER keep ON r;
CREATE TRIGGER keep BEFORE DELETE ON letter FOR EACH ROW EXECUTE FUNCTION keep();
CALL try('VALUES (7, 6)');
DROP TRIGGER keep ON letter;
CREATE TRIGGER keep BEFORE INSERT ON letter_removed FOR EACH ROW EXECUTE FUNCTION keep();
CALL try('VALUES (7, 6)');
DROP TRIGGER keep ON letter_removed;

-- flags move, by the primary key or another, unless a foreign key has the column; two triggers of one are one
CREATE TABLE flagged (id int PRIMARY KEY, code text UNIQUE NOT NULL, body text, repeats int, first text COLLATE "C", again int REFERENCES flagged);
INSERT INTO flagged VALUES (1, 'a', '', NULL, NULL, NULL), (2, 'b', '', 1, 'a', 1), (3, 'c', '', 2, 'b', 2),
  (4, 'd', '', 2, 'b', NULL), (5, 'e', '', 3, NULL, NULL), (6, 'f', '', 99, 'zz', NULL);
CREATE VIEW flagged_map (removed, kept) AS VALUES (1, 3), (2, 3);
CREATE TRIGGER flag BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
CREATE TRIGGER flag_too BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'max_distance => 3');
CREATE TRIGGER "flag by code" BEFORE INSERT ON flagged FOR EACH ROW WHEN (new.body <> '')
  EXECUTE FUNCTION simdup_flag_trigger('first', 'max_distance => 3', E' key=>\tcode');
CREATE TRIGGER flag_again BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('again');
-- under a setting that version 19 lacks, too
DO $$ BEGIN SET standard_conforming_strings = off; EXCEPTION WHEN OTHERS THEN NULL; END $$;
\set ECHO errors
SELECT statement FROM simdup_removal('flagged', 'flagged_map') \gexec
\set ECHO all
RESET standard_conforming_strings;
TABLE flagged ORDER BY id;
SELECT id, repeats, first, again, removed, foreign_key FROM flagged_moved ORDER BY id, foreign_key;
-- the longest of each fingerprint is kept, by another key
CREATE TABLE doc (u uuid UNIQUE NOT NULL, fp simhash64, body text);
INSERT INTO doc SELECT md5(i::text)::uuid, (i % 3)::bigint::simhash64, repeat('x', i) FROM generate_series(1, 9) AS i;
CREATE VIEW doc_map AS
SELECT u AS removed, first_value(u) OVER (PARTITION BY fp ORDER BY length(body) DESC) AS kept FROM doc;
\set ECHO errors
SELECT statement FROM simdup_removal('doc', 'doc_map') \gexec
\set ECHO all
SELECT length(body) FROM doc ORDER BY 1;

-- columns named as those of the stores
CREATE TABLE named (removed int PRIMARY KEY, kept int REFERENCES named, simdup_kept int, simdup_simdup_moved_at int, "Code" int UNIQUE NOT NULL, first int);
INSERT INTO named VALUES (1, NULL, 7, 8, 10, NULL), (2, 1, 7, 8, 20, 10), (3, 2, 7, 8, 30, 20);
-- an option names the flag's key as SQL does
CREATE TRIGGER flag BEFORE INSERT ON named FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('first', 'key => "Code"');
CREATE VIEW named_map (removed, kept) AS VALUES (2, 1);
\set ECHO errors
SELECT statement FROM simdup_removal('named', 'named_map') \gexec
\set ECHO all
TABLE named ORDER BY removed;
SELECT * FROM named_removed \gset
\echo :simdup_simdup_simdup_kept
SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'named_moved'::regclass AND attnum > 0;

-- columns that may be null, from 18 on also because they were before they were NOT NULL
CREATE TABLE coded (id int PRIMARY KEY, code text UNIQUE);
CREATE TABLE coded_ref (code text REFERENCES coded (code), note text, UNIQUE (code, note));
SELECT current_setting('server_version_num')::int >= 180000 AS has_not_valid \gset
\if :has_not_valid
ALTER TABLE coded ADD NOT NULL code NOT VALID;
ALTER TABLE coded_ref ADD NOT NULL note NOT VALID;
\endif
CREATE VIEW coded_map AS SELECT 2 AS removed, 1 AS kept;
SELECT count(*) FILTER (WHERE statement ~ 'kept\.code IS NOT NULL') > 0 AS code, count(*) FILTER (WHERE statement ~ 'r\.note IS NOT NULL') > 0 AS note
FROM simdup_removal('coded', 'coded_map');

-- arguments that it does not take
\set VERBOSITY default
SET plpgsql.extra_errors = 'all';
SELECT simdup_removal('letter', 'letter');
RESET plpgsql.extra_errors;
SELECT simdup_removal('letter', 'SELECT 1, 2');
SELECT simdup_removal('letter', NULL);
SELECT simdup_removal('letter', 0);
SELECT simdup_removal(NULL, 'letter_map');
CREATE VIEW seen AS SELECT * FROM letter;
SELECT simdup_removal('seen', 'letter_map');
SELECT simdup_removal('tag', 'letter_map');
CREATE TABLE years (year int PRIMARY KEY) PARTITION BY LIST (year);
CREATE TABLE years_1 PARTITION OF years FOR VALUES IN (1);
SELECT simdup_removal('years_1', 'letter_map');
CREATE TABLE two (a int UNIQUE NOT NULL, b int UNIQUE NOT NULL);
SELECT simdup_removal('two', 'letter_map');
-- it needs no right; tables of a third role are refused, and row security may not hide rows
CREATE ROLE "regress_simdup Clerk";
CREATE ROLE regress_simdup_other;
SET ROLE "regress_simdup Clerk";
SELECT count(*) > 0 AS written FROM simdup_removal('letter', 'letter_map');
RESET ROLE;
CREATE SCHEMA regress_simdup_clerk AUTHORIZATION "regress_simdup Clerk";
SET ROLE "regress_simdup Clerk";
SET search_path = regress_simdup_clerk, public;
CREATE TABLE item (id int PRIMARY KEY);
INSERT INTO item VALUES (1), (2), (3);
CREATE TABLE refers (item int REFERENCES item ON DELETE CASCADE);
INSERT INTO refers VALUES (2);
CREATE TABLE heir () INHERITS (refers);
ALTER TABLE refers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY none ON refers USING (false);
CALL try('VALUES (2, 1)', 'item');
ALTER TABLE refers NO FORCE ROW LEVEL SECURITY;
-- archives of tables whose names begin alike, and without what default privileges grant
SELECT format('CREATE TABLE %I (item int REFERENCES item)', repeat('n', 60) || i) FROM generate_series(1, 2) AS i \gexec
SELECT format('INSERT INTO %I VALUES (%s + 1)', repeat('n', 60) || i, i) FROM generate_series(1, 2) AS i \gexec
CREATE VIEW item_map (removed, kept) AS VALUES (2, 1), (3, 1);
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC, regress_simdup_other;
ALTER DEFAULT PRIVILEGES IN SCHEMA regress_simdup_clerk GRANT ALL ON TABLES TO "regress_simdup Clerk", regress_simdup_other;
\set ECHO errors
SELECT statement FROM simdup_removal('item', 'item_map') \gexec
\set ECHO all
SELECT regexp_replace(relname, '[0-9]+$', 'N') AS archive, count(*), array_agg(DISTINCT g.grantee::regrole) AS grantees
FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner))) AS g
WHERE relnamespace = 'regress_simdup_clerk'::regnamespace AND relname ~ '_(removed|moved)' AND privilege_type = 'SELECT' GROUP BY 1 ORDER BY 1;
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC, regress_simdup_other;
ALTER DEFAULT PRIVILEGES IN SCHEMA regress_simdup_clerk REVOKE ALL ON TABLES FROM "regress_simdup Clerk", regress_simdup_other;
RESET ROLE;
RESET search_path;
DROP SCHEMA regress_simdup_clerk CASCADE;
ALTER TABLE tag OWNER TO regress_simdup_other;
SELECT simdup_removal('letter', 'letter_map');
ALTER TABLE tag OWNER TO CURRENT_USER;
-- code that the arguments of a trigger name
CREATE FUNCTION alike(tag, tag) RETURNS boolean LANGUAGE sql AS 'SELECT true';
ALTER FUNCTION alike OWNER TO regress_simdup_other;
CREATE TRIGGER near BEFORE INSERT ON tag FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => alike');
SELECT simdup_removal('letter', 'letter_map');
DROP TRIGGER near ON tag;
CREATE TABLE alike_log (new_key int);
ALTER TABLE alike_log OWNER TO regress_simdup_other;
CREATE TRIGGER near AFTER INSERT ON tag FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('alike_log');
SELECT simdup_removal('letter', 'letter_map');
DROP TRIGGER near ON tag;
DROP TABLE alike_log;
DROP FUNCTION alike;
ALTER TABLE letter_removed OWNER TO regress_simdup_other;
SELECT simdup_removal('letter', 'letter_map');
-- a temporary table that comes after another of its name
SET search_path = public, pg_temp;
CREATE TABLE twin AS SELECT id FROM generate_series(1, 3) AS id;
CREATE TEMP TABLE twin (id int PRIMARY KEY);
INSERT INTO pg_temp.twin SELECT id FROM generate_series(1, 3) AS id;
CREATE TABLE twin_map (removed, kept) AS VALUES (1, 2);
CREATE TEMP VIEW twin_map (removed, kept) AS VALUES (2, 1);
\set ECHO errors
SELECT statement FROM simdup_removal('pg_temp.twin', 'pg_temp.twin_map') ORDER BY step \gexec
\set ECHO all
SELECT array_agg(id) FROM twin;
SELECT array_agg(id) FROM pg_temp.twin;
DROP TABLE twin, twin_map;
RESET search_path;
-- a generated column is not set: the check names its rows
CREATE TABLE number (id int PRIMARY KEY);
CREATE TABLE generated (before int, next int GENERATED ALWAYS AS (before + 1) STORED REFERENCES number);
SELECT count(*) FROM simdup_removal('number', 'letter_map') WHERE statement LIKE 'UPDATE%';
DROP TABLE generated, number;
DROP VIEW letter_map, flagged_map;
DROP TABLE text_map, r, tag, letter, letter_removed, letter_moved, tag_moved, r_moved, flagged, flagged_removed, flagged_moved,
  doc, doc_removed, years, two CASCADE;
DROP PROCEDURE try;
DROP FUNCTION keep;
DROP ROLE "regress_simdup Clerk", regress_simdup_other;
