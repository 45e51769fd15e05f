--
-- groups: duplicates removed, with what refers to them
--
\set VERBOSITY default
SET client_min_messages = warning;
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
SELECT n, substr(statement, 1, 20) AS statement FROM simdup_remove('"Letter"', 'VALUES (4, 5)') WHERE statement !~ '^LOCK';
SELECT id, answers FROM "Letter" ORDER BY id;
SELECT removed, kept, row_key FROM "Letter_simdup_moved" WHERE removed = 4 ORDER BY row_key::text;
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
  $$SELECT key, cluster, distance FROM simdup_clusters('SELECT u, fp FROM doc ORDER BY length(body) DESC', 0, 'leader', NULL::uuid)$$, key => 'u');
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
-- what only the UPDATE finds
INSERT INTO "Letter" (id, body) VALUES (8, 'a tree');
CREATE TABLE once (letter int REFERENCES "Letter");
CREATE UNIQUE INDEX ON once ((letter % 4));
INSERT INTO once VALUES (5), (8);
SELECT n FROM simdup_remove('"Letter"', 'VALUES (8, 5)');
DROP TABLE once;

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
SELECT n FROM simdup_remove('"Letter"', 'DELETE FROM "Letter"');
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
-- triggers that keep rows: nothing is lost by a cascade
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
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
