--
-- removal: duplicates go, and what refers to them refers to the kept rows
--
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = error;
CREATE SCHEMA "Town Hall";
SET search_path = "Town Hall", public;
CREATE TABLE "Letter" (id int PRIMARY KEY, tenant int NOT NULL DEFAULT 1, code text UNIQUE, body text,
  answers int REFERENCES "Letter", width int GENERATED ALWAYS AS (length(body)) STORED, gone int, UNIQUE (tenant, id));
ALTER TABLE "Letter" DROP COLUMN gone;
INSERT INTO "Letter" (id, code, body, answers) VALUES
  (1, 'a', 'the lamp', NULL), (2, 'b', 'the lamp', 1), (3, 'c', 'the lamp!', 2), (4, 'd', 'a tree', 3), (5, NULL, 'a tree', 4), (6, 'f', 'a bench', 5);
-- by the key, with a cascade; by another column; by two columns; from a partitioned table; without a key; in part
CREATE TABLE reply (id int PRIMARY KEY, letter int NOT NULL REFERENCES "Letter" ON DELETE CASCADE);
CREATE TABLE by_code (code text REFERENCES "Letter" (code) ON DELETE SET NULL, note text);
CREATE TABLE by_two (tenant bigint, letter bigint, FOREIGN KEY (tenant, letter) REFERENCES "Letter" (tenant, id));
CREATE TABLE parted (letter int REFERENCES "Letter" ON DELETE CASCADE, year int, PRIMARY KEY (letter, year)) PARTITION BY LIST (letter);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_more PARTITION OF parted DEFAULT;
INSERT INTO reply SELECT i, i FROM generate_series(1, 6) AS i;
INSERT INTO by_code VALUES ('a', '1'), ('b', '2'), ('c', '3'), (NULL, '-');
INSERT INTO by_two VALUES (1, 2), (1, 4), (NULL, 3), (1, NULL);
INSERT INTO parted VALUES (1, 2001), (2, 2002), (3, 2003);

-- what would happen
SELECT n, regexp_replace(statement, '^(.{60}).*', '\1 ...') AS statement
FROM simdup_remove('"Letter"', 'VALUES (1, 1), (2, 1), (3, 1)', dry_run => true);
SELECT count(*) FROM "Letter";
SELECT to_regclass('"Letter_simdup_removed"') IS NULL AS nothing_made;
-- the statements whole
SELECT statement FROM simdup_remove('"Letter"', 'VALUES (2, 1), (3, 1)', dry_run => true) WHERE statement ~ 'by_two|parted|^(INSERT|DELETE)' OR statement ~ 'NULL';
-- and happens
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('"Letter"', 'VALUES (1, 1), (2, 1), (3, 1)');
SELECT * FROM "Letter" ORDER BY id;
SELECT id, tenant, code, body, answers, width, simdup_kept, simdup_removed_at = now() FROM "Letter_simdup_removed" ORDER BY id;
SELECT * FROM reply ORDER BY id;
SELECT * FROM by_code ORDER BY note;
SELECT * FROM by_two ORDER BY tenant, letter;
SELECT tableoid::regclass, * FROM parted ORDER BY year;
SELECT removed, kept, referrer, constraint_name, row_key FROM "Letter_simdup_moved" ORDER BY referrer, removed, constraint_name;

-- a kept row that answered its duplicate answers nothing; two rows of one removal that refer to each other go together
SELECT n, substring(statement FROM 'LOCK|INSERT|SET answers = [^ ]+|DELETE') AS what FROM simdup_remove('"Letter"', 'VALUES (4, 5)', dry_run => true) WHERE statement ~ 'answers =';
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('"Letter"', 'VALUES (4, 5)') WHERE statement !~ '^LOCK';
SELECT id, answers FROM "Letter" ORDER BY id;
SELECT removed, kept, row_key FROM "Letter_simdup_moved" WHERE removed = 4 ORDER BY row_key::text;
-- so it needs no value there
CREATE TABLE named (id int PRIMARY KEY, name text UNIQUE, answers text REFERENCES named (name));
INSERT INTO named VALUES (1, NULL, 'b'), (2, 'b', NULL);
SELECT sum(n) FROM simdup_remove('named', 'SELECT 2, 1');
SELECT * FROM named;
-- a root that answers itself may not answer nothing, and goes on to answer itself
CREATE TABLE tree (id int PRIMARY KEY, root int NOT NULL REFERENCES tree);
INSERT INTO tree VALUES (1, 1), (2, 1), (3, 2);
SELECT n FROM simdup_remove('tree', 'SELECT 1, 2', 'trees');
SELECT * FROM tree ORDER BY id;
SELECT id, root, simdup_kept FROM trees;
-- nothing to remove
SELECT n FROM simdup_remove('tree', 'SELECT 1, 1 WHERE false', 'trees');
SELECT n FROM simdup_remove('tree', 'SELECT id, id FROM tree', 'trees');
-- whole tables: the map of simdup_clusters, by the row that the query has first
CREATE TABLE doc (u uuid UNIQUE NOT NULL, fp simhash64, body text);
INSERT INTO doc SELECT md5(i::text)::uuid, (i % 3)::bigint::simhash64, repeat('x', i) FROM generate_series(1, 9) AS i;
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('doc',
  $$SELECT key, cluster, distance FROM simdup_clusters('SELECT u, fp FROM doc ORDER BY length(body) DESC', NULL::uuid, 0, 'leader')$$, key => 'u');
SELECT length(body) FROM doc ORDER BY 1;
-- a map with parameters
SELECT n FROM simdup_remove('tree', 'SELECT $1::int, 2', dry_run => true, params => ARRAY['3']);
SELECT n FROM simdup_remove('tree', 'SELECT $1::int, 2', 'trees', params => ARRAY['3']) WHERE n > 0;
SELECT n FROM simdup_remove('tree', 'SELECT 1, 2', params => ARRAY['3']);

-- references that would collide
CREATE TABLE tag (letter int REFERENCES "Letter", tag text, CONSTRAINT tag_key UNIQUE (letter, tag));
INSERT INTO tag VALUES (5, 'tree'), (6, 'tree'), (6, 'bench'), (5, NULL), (6, NULL);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (6, 5)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (6, 5)', dry_run => true);
DELETE FROM tag WHERE letter = 6 AND tag = 'tree';
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('"Letter"', 'VALUES (6, 5)') WHERE n > 0;
SELECT * FROM tag ORDER BY tag;
-- all collisions of all tables, and the statements that resolve them. Indexes are of a part, of two references,
-- of a generated column, of a NULL that counts once, and of an expression, where only its place names a row.
INSERT INTO "Letter" (id, body) VALUES (8, 'a tree'), (9, 'a tree');
CREATE TABLE by_part (id text PRIMARY KEY, letter int REFERENCES "Letter", open boolean);
CREATE UNIQUE INDEX ON by_part (letter) WHERE open;
INSERT INTO by_part VALUES ('it''s', 5, true), ('b%s', 8, true), ('c', 8, false), ('d', 9, true), ('e', 1, true);
CREATE TABLE by_pair (one int REFERENCES "Letter", other int REFERENCES "Letter", doubled int GENERATED ALWAYS AS (one * 2) STORED UNIQUE, UNIQUE (one, other));
INSERT INTO by_pair VALUES (5, 9), (8, 5), (1, 8);
CREATE TABLE by_null (letter int REFERENCES "Letter", tag text, UNIQUE NULLS NOT DISTINCT (letter, tag));
INSERT INTO by_null VALUES (8, NULL), (9, NULL), (9, 'x');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5), (9, 5)');
CREATE TABLE by_expression (letter int REFERENCES "Letter", note text);
CREATE UNIQUE INDEX ON by_expression ((letter % 4));
INSERT INTO by_expression VALUES (5, 'stays'), (8, 'goes');
DO $$
DECLARE
  hint text;
  statement text;
BEGIN
  PERFORM n FROM simdup_remove('"Letter"', 'VALUES (8, 5), (9, 5)');
EXCEPTION WHEN unique_violation THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  FOR statement IN SELECT s FROM string_to_table(hint, E'\n') AS s WHERE s LIKE 'DELETE%' LOOP
    EXECUTE statement;
  END LOOP;
END $$;
BEGIN;
SELECT sum(n) FROM simdup_remove('"Letter"', 'VALUES (8, 5), (9, 5)');
SELECT * FROM by_expression ORDER BY note;
SELECT * FROM by_part ORDER BY id;
SELECT * FROM by_pair ORDER BY one;
SELECT * FROM by_null ORDER BY tag;
ROLLBACK;
DROP TABLE by_expression, by_part, by_pair, by_null;
DELETE FROM "Letter" WHERE id = 9;

-- maps that do not hold
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5, 1), (5, 8)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5, 1), (8, 5)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (99, 1)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5, 99)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5, NULL::int)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (NULL::int, 5)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5::bigint, 5000000000)');
SELECT n FROM simdup_remove('"Letter"', 'SELECT 5');
SELECT n FROM simdup_remove('"Letter"', $$SELECT 5, 'x'$$);
\set VERBOSITY terse
SELECT n FROM simdup_remove('"Letter"', 'DELETE FROM "Letter"');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (5, 1); SELECT 1');
\set VERBOSITY default
SELECT n FROM simdup_remove('"Letter"', 'SELECT 8::numeric, 5');
-- a failed call leaves nothing in the way of the next
SELECT n FROM simdup_remove('"Letter"', 'SELECT 8, 1 / 0');
SELECT n FROM simdup_remove('"Letter"', E'SELECT 8, 5 -- a comment\n;', dry_run => true) WHERE n > 0;
SELECT count(*) FROM pg_prepared_statements;
SELECT n FROM simdup_remove('"Letter"', NULL);
SELECT n FROM simdup_remove(NULL, 'SELECT 1, 2');
SELECT n FROM simdup_remove('"Letter"', 'SELECT 1, 2', dry_run => NULL);
-- columns that a kept row has no value in
INSERT INTO by_code VALUES ('a', 'last');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (1, 8)');
-- tables and keys that do not fit
CREATE VIEW seen AS SELECT * FROM "Letter";
SELECT n FROM simdup_remove('seen', 'SELECT 1, 2');
SELECT n FROM simdup_remove('by_two', 'SELECT 1, 2');
SELECT n FROM simdup_remove('"Letter"', 'SELECT 1, 2', key => 'body');
SELECT n FROM simdup_remove('"Letter"', 'SELECT 1, 2', key => 'code');
SELECT n FROM simdup_remove('"Letter"', 'SELECT 1, 2', key => 'nothing');
SELECT n FROM simdup_remove('parted_1', 'SELECT 1, 2');
CREATE TABLE listed (a int[] PRIMARY KEY);
SELECT n FROM simdup_remove('listed', 'SELECT a, a FROM listed');
CREATE TABLE mother (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (mother);
SELECT n FROM simdup_remove('mother', 'SELECT 1, 2');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', '"Town Hall"."Letter"');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', 'nowhere.archive');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', 'tag');
-- an archive that does not fit, any more
CREATE TABLE filed (id int PRIMARY KEY, body text);
INSERT INTO filed VALUES (1, 'a'), (2, 'a'), (3, 'a');
CREATE TABLE of_filed (filed int REFERENCES filed);
INSERT INTO of_filed VALUES (2), (3);
SELECT n FROM simdup_remove('filed', 'VALUES (2, 1)') WHERE n > 0;
ALTER TABLE filed ADD COLUMN sent date;
SELECT n FROM simdup_remove('filed', 'VALUES (3, 1)', dry_run => true);
ALTER TABLE filed_simdup_removed ADD COLUMN sent point;
SELECT n FROM simdup_remove('filed', 'VALUES (3, 1)');
ALTER TABLE filed_simdup_removed ALTER sent TYPE text USING NULL;
ALTER TABLE filed_simdup_moved DROP COLUMN row_key;
SELECT n FROM simdup_remove('filed', 'VALUES (3, 1)');
ALTER TABLE filed_simdup_moved RENAME TO older;
SELECT n FROM simdup_remove('filed', 'VALUES (3, 1)') WHERE n > 0;
ALTER TABLE filed RENAME COLUMN sent TO simdup_kept;
SELECT n FROM simdup_remove('filed', 'VALUES (3, 1)', 'other');
DROP TABLE of_filed, filed, filed_simdup_removed, filed_simdup_moved, older;
CREATE TABLE years (id int, year int, PRIMARY KEY (year), UNIQUE (year, id)) PARTITION BY LIST (year);
CREATE TABLE years_1 PARTITION OF years FOR VALUES IN (1);
CREATE TABLE of_one (year int REFERENCES years_1 ON DELETE CASCADE);
SELECT n FROM simdup_remove('years', 'SELECT 1, 2');
DROP TABLE of_one;
CREATE TABLE of_all (year int REFERENCES years);
CREATE TABLE years_2 PARTITION OF years FOR VALUES IN (2);
INSERT INTO years VALUES (1, 1), (2, 2);
INSERT INTO of_all VALUES (1), (2);
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('years', 'SELECT 1, 2');
SELECT year FROM of_all;
-- archives that would round, cut or refuse a value: each column is named
CREATE DOMAIN short AS text CHECK (length(value) < 9);
CREATE DOMAIN amount AS numeric(12, 2);
CREATE TABLE paid (id int PRIMARY KEY, amount numeric(12, 2), exact float8, note text, at timestamptz, code varchar(10), place char(4), tags text[], cost amount);
INSERT INTO paid VALUES (1, 10.49, 0.1, 'first', '2024-03-05 10:00:00.5+00', 'a', 'b', '{c}', 1.25), (2, 10.49, 0.1, 'second', '2024-03-05 10:00:00.5+00', 'a', 'b', '{c}', 1.25);
CREATE TABLE narrow (id smallint, amount numeric(10, 0), exact float4, note varchar(5), at timestamptz(0), code short, place char(3), tags varchar(5)[], cost numeric(12, 1),
  simdup_kept smallint, simdup_removed_at date);
SELECT n FROM simdup_remove('paid', 'VALUES (2, 1)', 'narrow');
SELECT n FROM simdup_remove('paid', 'VALUES (2, 1)', 'narrow', dry_run => true);
CREATE TABLE computed (LIKE paid, simdup_kept int, simdup_removed_at timestamptz);
ALTER TABLE computed DROP COLUMN code;
ALTER TABLE computed ADD code varchar(10) GENERATED ALWAYS AS (note) STORED;
SELECT n FROM simdup_remove('paid', 'VALUES (2, 1)', 'computed');
CREATE TABLE wide (simdup_removed_at timestamptz(6), simdup_kept numeric, cost numeric(14, 3), tags text[], place varchar(4), code text, at timestamptz, note varchar, exact float8,
  amount numeric, id bigint GENERATED ALWAYS AS IDENTITY, more text);
SELECT sum(n) FROM simdup_remove('paid', 'VALUES (2, 1)', 'wide');
SELECT id, amount, exact, note, at = '2024-03-05 10:00:00.5+00' AS at, code, place, tags, cost, simdup_kept FROM wide;
-- which type holds which
SELECT into_type, string_agg(source_type, ', ' ORDER BY source_type COLLATE "C") AS holds
FROM (VALUES ('integer'), ('bigint'), ('numeric'), ('numeric(10,0)'), ('numeric(4,2)'), ('double precision'), ('real'), ('text'), ('character varying(8)'), ('character(8)'),
    ('bit varying'), ('timestamp without time zone'), ('timestamp(3) without time zone'), ('amount'), ('short'), ('integer[]')) AS i (into_type),
  (VALUES ('smallint'), ('integer'), ('numeric'), ('numeric(3,1)'), ('numeric(4,-2)'), ('double precision'), ('real'), ('text'), ('character varying(6)'), ('character varying(9)'),
    ('character(7)'), ('name'), ('bit(3)'), ('date'), ('timestamp(2) without time zone'), ('timestamp without time zone'), ('amount'), ('short'), ('uuid'), ('point'),
    ('integer[]')) AS s (source_type),
  LATERAL (SELECT regexp_replace(c.into_type, '\(.*\)', '')::regtype, regexp_replace(c.source_type, '\(.*\)', '')::regtype FROM (SELECT i.*, s.*) AS c) AS t (i, s),
  LATERAL (SELECT CASE t.i::text WHEN 'numeric' THEN substring(into_type FROM '\((\d+)')::int * 65536 + (substring(into_type FROM '(-?\d+)\)')::int & 2047) + 4
      WHEN 'timestamp without time zone' THEN substring(into_type FROM '\d+')::int ELSE substring(into_type FROM '\((\d+)')::int + 4 END,
    CASE t.s::text WHEN 'numeric' THEN substring(source_type FROM '\((\d+)')::int * 65536 + (substring(source_type FROM '(-?\d+)\)')::int & 2047) + 4
      WHEN 'timestamp without time zone' THEN substring(source_type FROM '\d+')::int WHEN 'bit' THEN 3 ELSE substring(source_type FROM '\((\d+)')::int + 4 END) AS m (i, s)
WHERE simdup_remove_holds(t.i, coalesce(m.i, -1), t.s, coalesce(m.s, -1))
GROUP BY into_type ORDER BY into_type COLLATE "C";
-- nothing is archived or noted in silence
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
\set VERBOSITY terse
INSERT INTO paid SELECT 3, amount, exact, note FROM paid;
CREATE TRIGGER keep BEFORE INSERT ON wide FOR EACH ROW EXECUTE FUNCTION keep();
SELECT n FROM simdup_remove('paid', 'VALUES (3, 1)', 'wide');
CREATE TABLE of_paid (paid int REFERENCES paid);
INSERT INTO of_paid VALUES (3);
CREATE TABLE paid_simdup_moved (removed int, kept int, referrer text, constraint_name name, row_key jsonb, moved_at timestamptz);
CREATE TRIGGER keep BEFORE INSERT ON paid_simdup_moved FOR EACH ROW EXECUTE FUNCTION keep();
SELECT n FROM simdup_remove('paid', 'VALUES (3, 1)');
SELECT count(*) FROM paid;
\set VERBOSITY default

-- a flag takes its reference along, by the primary key or another, unless a foreign key has the column
CREATE TABLE flagged (id int PRIMARY KEY, code text UNIQUE NOT NULL, body text, repeats int, first text, again int REFERENCES flagged);
INSERT INTO flagged VALUES (1, 'a', 'the lamp', NULL, NULL, NULL), (2, 'b', 'the lamp', 1, 'a', 1), (3, 'c', 'the lamp', 2, 'b', 2), (4, 'd', 'a tree', 2, 'b', NULL),
  (5, 'e', 'a tree', 3, NULL, NULL), (6, 'f', 'a tree', 99, 'zz', NULL);
CREATE TRIGGER flag BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
CREATE TRIGGER "flag by code" BEFORE INSERT ON flagged FOR EACH ROW WHEN (new.body <> '') EXECUTE FUNCTION simdup_flag_trigger('first', 'max_distance => 3', 'key => code');
CREATE TRIGGER flag_again BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('again');
CREATE TRIGGER other BEFORE INSERT ON flagged FOR EACH ROW WHEN (false) EXECUTE FUNCTION keep();
SELECT n, substring(statement FROM 'SET [^ ]+ = [^ ]+') AS sets FROM simdup_remove('flagged', 'VALUES (1, 3), (2, 3)');
SELECT id, repeats, first, again FROM flagged ORDER BY id;
SELECT removed, kept, constraint_name, row_key FROM flagged_simdup_moved ORDER BY constraint_name, row_key::text;

-- with the trigger at work, which leaves the flag as it is moved
CREATE TABLE lamp (id int PRIMARY KEY, content text, repeats int);
CREATE INDEX ON lamp USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON lamp FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'max_distance => 8');
INSERT INTO lamp SELECT i, 'The lamp at the corner of Mill Lane has been out for three weeks, please mend it soon.' FROM generate_series(1, 4) AS i;
SELECT id, repeats FROM lamp ORDER BY id;
SELECT sum(n) FROM simdup_remove('lamp', 'VALUES (1, 2), (3, 2)');
SELECT id, repeats FROM lamp ORDER BY id;

-- foreign keys without an index are named before anything is locked, also those of a single partition
CREATE TABLE hub (id int PRIMARY KEY, code int, UNIQUE (code, id));
CREATE TABLE spoke_none (hub int REFERENCES hub);
CREATE TABLE spoke_second (x int, hub int REFERENCES hub, PRIMARY KEY (x, hub));
CREATE TABLE spoke_part (hub int REFERENCES hub, x int);
CREATE INDEX ON spoke_part (hub) WHERE x > 0;
CREATE TABLE spoke_not_null (hub int REFERENCES hub);
CREATE INDEX ON spoke_not_null (hub) WHERE hub IS NOT NULL;
CREATE TABLE spoke_hash (hub int REFERENCES hub);
CREATE INDEX ON spoke_hash USING hash (hub);
CREATE TABLE spoke_two (id int, code int, FOREIGN KEY (id, code) REFERENCES hub (id, code));
CREATE INDEX ON spoke_two (code, id);
CREATE TABLE spoke_parts (hub int REFERENCES hub) PARTITION BY LIST (hub);
CREATE TABLE spoke_parts_1 PARTITION OF spoke_parts FOR VALUES IN (1);
CREATE TABLE spoke_parts_2 PARTITION OF spoke_parts FOR VALUES IN (2);
CREATE INDEX ON spoke_parts_1 (hub);
RESET client_min_messages;
SELECT count(*) FROM simdup_remove('hub', 'SELECT 1, 1', dry_run => true);
CREATE INDEX ON spoke_parts_2 (hub);
DROP TABLE spoke_none, spoke_second, spoke_part;
SELECT count(*) FROM simdup_remove('hub', 'SELECT 1, 1', dry_run => true);
SET client_min_messages = error;

-- keys of other types
CREATE DOMAIN code AS char(5) CHECK (value <> 'nope');
CREATE TYPE letter_kind AS ENUM ('petition', 'complaint');
CREATE TABLE by_char (id char(5) PRIMARY KEY, body text);
CREATE TABLE by_domain (id code PRIMARY KEY, again code REFERENCES by_domain);
CREATE TABLE by_enum (id letter_kind PRIMARY KEY);
CREATE TABLE by_text (id text PRIMARY KEY);
CREATE TABLE by_float (id float8 PRIMARY KEY);
CREATE TABLE of_char (id varchar(7), ref char(5) REFERENCES by_char ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
INSERT INTO by_char VALUES ('a', 'x'), ('b', 'x');
INSERT INTO of_char VALUES ('1', 'b');
INSERT INTO by_domain VALUES ('a', NULL), ('b', 'a'), ('c', 'b');
INSERT INTO by_enum VALUES ('petition'), ('complaint');
INSERT INTO by_text VALUES (E'a,"}\\ $1 %s'), (''), ('NULL');
INSERT INTO by_float VALUES (0.1), (0.1 + 1e-17 * 2), (1e308);
SELECT sum(n) FROM simdup_remove('by_char', $$SELECT 'b'::char(5), 'a'::char(9)$$);
SELECT sum(n) FROM simdup_remove('by_domain', $$SELECT 'b'::code, 'c'::code$$);
SELECT sum(n) FROM simdup_remove('by_enum', $$SELECT 'complaint'::letter_kind, 'petition'::letter_kind$$);
SELECT sum(n) FROM simdup_remove('by_text', $$SELECT id, 'NULL' FROM by_text$$);
SET extra_float_digits = -15;
SELECT sum(n) FROM simdup_remove('by_float', 'SELECT id, 1e308::float8 FROM by_float');
RESET extra_float_digits;
-- a session's way to write times: IST is also the time of another zone
CREATE TABLE by_time (id timestamptz PRIMARY KEY);
INSERT INTO by_time SELECT TIMESTAMPTZ '2026-01-01 12:00+05:30' + i * interval '3.5 hours' FROM generate_series(0, 3) AS i;
SET TimeZone = 'Asia/Kolkata';
SET DateStyle = 'SQL, DMY';
SELECT sum(n) FROM simdup_remove('by_time', 'SELECT min(id), min(id) + interval ''3.5 hours'' FROM by_time');
RESET TimeZone;
RESET DateStyle;
SELECT count(*) FILTER (WHERE id = '2026-01-01 12:00+05:30') AS removed, count(*) AS kept FROM by_time;
SELECT * FROM of_char;
SELECT * FROM by_domain ORDER BY id;
SELECT id, simdup_kept FROM by_text_simdup_removed ORDER BY id;
SELECT count(*) FROM by_float;

-- triggers that keep rows: nothing is lost by a cascade
CREATE TRIGGER keep BEFORE UPDATE ON reply FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO reply VALUES (8, 8);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
DROP TRIGGER keep ON reply;
CREATE TRIGGER keep BEFORE DELETE ON "Letter" FOR EACH ROW EXECUTE FUNCTION keep();
\set VERBOSITY terse
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
DROP TRIGGER keep ON "Letter";
\set VERBOSITY default
-- isolation levels whose snapshot is older than the locks
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
ROLLBACK;
BEGIN READ ONLY;
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('"Letter"', 'VALUES (8, 5)', dry_run => true);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
ROLLBACK;
-- rights and row security
CREATE ROLE regress_simdup_clerk;
CREATE ROLE regress_simdup_other;
GRANT USAGE ON SCHEMA "Town Hall" TO regress_simdup_clerk, regress_simdup_other;
SET ROLE regress_simdup_clerk;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', dry_run => true);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
RESET ROLE;
GRANT SELECT ON "Letter", "Letter_simdup_removed", "Letter_simdup_moved" TO regress_simdup_clerk;
SET ROLE regress_simdup_clerk;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', dry_run => true);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
RESET ROLE;
GRANT ALL ON ALL TABLES IN SCHEMA "Town Hall" TO regress_simdup_clerk;
ALTER TABLE reply ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simdup_clerk;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
RESET ROLE;
ALTER TABLE reply DISABLE ROW LEVEL SECURITY;
ALTER TABLE reply OWNER TO regress_simdup_other;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
ALTER TABLE reply OWNER TO CURRENT_USER;
ALTER TABLE "Letter_simdup_removed" OWNER TO regress_simdup_other;
SET ROLE regress_simdup_clerk;
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)', '"Letter_simdup_removed"') WHERE n > 0;
RESET ROLE;
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA "Town Hall" CASCADE;
DROP ROLE regress_simdup_clerk, regress_simdup_other;
RESET client_min_messages;
