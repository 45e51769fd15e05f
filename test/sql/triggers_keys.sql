--
-- triggers_keys: which column names a row, and which stored row is the new one: the row
-- that an upsert meets, and the original of its repeats.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_keys;
SET search_path = arrival_keys, public;
\set a '''00ff00ff00ff00ff''::simhash64'
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));

--
-- A key of two columns. One of them alone names no row.
--
CREATE TABLE tenanted (tenant int, id int, fp simhash64, repeats int, PRIMARY KEY (tenant, id));
CREATE INDEX ON tenanted USING hamming (fp);
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON tenanted FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
INSERT INTO tenanted VALUES (1, 1, :a), (2, 1, :a);
DROP TRIGGER t ON tenanted;
CREATE TRIGGER t AFTER INSERT OR UPDATE ON tenanted FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'key => id');
INSERT INTO tenanted VALUES (1, 1, :a), (2, 1, :a);
DROP TRIGGER t ON tenanted;
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON tenanted FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO tenanted VALUES (1, 1, :a);
INSERT INTO tenanted VALUES (2, 1, :a);
CREATE OR REPLACE TRIGGER t BEFORE INSERT OR UPDATE ON tenanted FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => tenant, id');
INSERT INTO tenanted VALUES (2, 1, :a);
CREATE OR REPLACE TRIGGER t BEFORE INSERT OR UPDATE ON tenanted FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
INSERT INTO tenanted VALUES (2, 1, :a);
INSERT INTO tenanted VALUES (1, 1, :a) ON CONFLICT (tenant, id) DO UPDATE SET fp = EXCLUDED.fp;
INSERT INTO tenanted VALUES (2, 1, 'ffffffff00000000');
UPDATE tenanted SET fp = :a WHERE tenant = 2;
UPDATE tenanted SET fp = :a, tenant = 3 WHERE tenant = 1;
SELECT tenant, id FROM tenanted ORDER BY 1;

--
-- What makes a column a key
--
CREATE TABLE keyed (id int, fp simhash64, name text COLLATE "C", repeats text COLLATE "C");
CREATE INDEX ON keyed USING hamming (fp);
CREATE TRIGGER t BEFORE INSERT ON keyed FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => name');
CREATE FUNCTION is_key(VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE statement text;
BEGIN
  FOREACH statement IN ARRAY statements LOOP EXECUTE statement; END LOOP;
  INSERT INTO keyed VALUES (1, '00ff00ff00ff00ff', 'a'), (2, '00ff00ff00ff00ff', 'b');
  RAISE SQLSTATE 'XX999' USING MESSAGE = (SELECT repeats FROM keyed WHERE id = 2);
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT is_key('ALTER TABLE keyed ADD PRIMARY KEY (name)');
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL, ADD UNIQUE (name)');
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed (name) INCLUDE (id)');
SELECT is_key('ALTER TABLE keyed ADD PRIMARY KEY (id)', 'ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed (name)');
-- no index, one that is not unique, NULLs, two columns
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL');
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE INDEX ON keyed (name)');
SELECT is_key('ALTER TABLE keyed ADD UNIQUE (name)');
SELECT is_key('ALTER TABLE keyed ADD PRIMARY KEY (name, id)');
-- partial, deferrable, of an expression, not valid
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed (name) WHERE id > 0');
SELECT is_key('ALTER TABLE keyed ADD PRIMARY KEY (name) DEFERRABLE');
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed ((name || ''''))');
SELECT is_key('ALTER TABLE keyed ADD PRIMARY KEY (name)', 'UPDATE pg_index SET indisvalid = false WHERE indexrelid = ''keyed_pkey''::regclass');
-- by another equality
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed (name COLLATE "POSIX")');
SELECT is_key('ALTER TABLE keyed ALTER name SET NOT NULL', 'CREATE UNIQUE INDEX ON keyed (name text_pattern_ops)');

--
-- Partitions: beside the key, the index has the columns of the partition key
--
CREATE TABLE parted (id int, region text, at int, fp simhash64, repeats int) PARTITION BY LIST (region);
CREATE TABLE parted_n PARTITION OF parted FOR VALUES IN ('n');
CREATE TABLE parted_s PARTITION OF parted FOR VALUES IN ('s') PARTITION BY RANGE (at);
CREATE TABLE parted_s_1 (fp simhash64, repeats int, at int NOT NULL, id int NOT NULL, region text NOT NULL);
ALTER TABLE parted_s ATTACH PARTITION parted_s_1 FOR VALUES FROM (0) TO (100);
CREATE INDEX ON parted USING hamming (fp);
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
INSERT INTO parted VALUES (1, 'n', 1, :a);
ALTER TABLE parted ADD PRIMARY KEY (region, at, id);
INSERT INTO parted VALUES (1, 'n', 1, :a), (2, 's', 1, :a), (3, 's', 1, :a);
-- an edit of each, and a move: no flags in a loop
UPDATE parted SET fp = '00ff00ff00ff00fe';
UPDATE parted SET fp = '00ff00ff00ff00fd', region = 's' WHERE id = 1;
SELECT id, region, repeats FROM parted ORDER BY id;
-- the key is compared: a row of the same key in another partition is no other row
INSERT INTO parted VALUES (4, 'n', 1, 'ffffffff00000000'), (4, 's', 1, 'ffffffff00000000');
SELECT id, region, repeats FROM parted WHERE id = 4 ORDER BY 1, 2;
-- for reject it is one
DROP TRIGGER t ON parted;
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
INSERT INTO parted VALUES (4, 'n', 2, 'ffffffff00000000');
CREATE TABLE half (id int, region text, at int, fp simhash64, repeats int, PRIMARY KEY (id, region, at)) PARTITION BY LIST (region);
CREATE TABLE half_n PARTITION OF half FOR VALUES IN ('n');
CREATE INDEX ON half USING hamming (fp);
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON half FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
INSERT INTO half VALUES (1, 'n', 1, :a);

--
-- Upserts: the row that one meets is no other row, by any of its unique indexes
--
CREATE TABLE item (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, guid text UNIQUE, mail text, state text,
  fp simhash64, repeats int, seen int NOT NULL DEFAULT 1, twice int GENERATED ALWAYS AS (seen * 2) STORED);
CREATE UNIQUE INDEX item_mail ON item (lower(mail)) WHERE state = 'open';
CREATE INDEX ON item USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO item (guid, mail, state, fp) VALUES ('x', 'Ann@example.org', 'open', :a);
INSERT INTO item (guid, fp) VALUES ('x', :a) ON CONFLICT (guid) DO UPDATE SET fp = EXCLUDED.fp, repeats = EXCLUDED.repeats, seen = item.seen + 1;
INSERT INTO item (guid, mail, state, fp) VALUES ('y', 'ann@example.org', 'open', :a)
  ON CONFLICT (lower(mail)) WHERE state = 'open' DO UPDATE SET repeats = EXCLUDED.repeats, seen = item.seen + 1;
INSERT INTO item (guid, fp) VALUES ('x', :a) ON CONFLICT DO NOTHING;
-- outside of the predicate, and with NULLs, it is another row
INSERT INTO item (guid, mail, state, fp) VALUES ('y', 'ann@example.org', 'closed', :a);
INSERT INTO item (guid, fp) VALUES (NULL, :a), (NULL, :a);
SELECT guid, mail, state, seen, repeats IS NULL AS original FROM item ORDER BY id;
-- its repeats do not make it one
INSERT INTO item (guid, fp) VALUES ('x', :a) ON CONFLICT (guid) DO UPDATE SET repeats = EXCLUDED.repeats;
SELECT guid, repeats FROM item WHERE guid = 'x';
-- reject
TRUNCATE item;
DROP TRIGGER flag ON item;
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO item (guid, fp) VALUES ('x', :a);
INSERT INTO item (guid, fp) VALUES ('x', :a) ON CONFLICT (guid) DO NOTHING;
INSERT INTO item (guid, fp) VALUES ('x', :a) ON CONFLICT DO NOTHING;
INSERT INTO item (guid, fp) VALUES ('x', '00ff00ff00ff00fe') ON CONFLICT (guid) DO UPDATE SET fp = EXCLUDED.fp;
MERGE INTO item USING (VALUES ('x', :a)) AS v (guid, fp) ON item.guid = v.guid
  WHEN MATCHED THEN UPDATE SET fp = v.fp WHEN NOT MATCHED THEN INSERT (guid, fp) VALUES (v.guid, v.fp);
SELECT guid, fp FROM item;
\set VERBOSITY sqlstate
INSERT INTO item (guid, fp) VALUES ('x', :a);
INSERT INTO item (guid, fp) VALUES ('y', :a) ON CONFLICT DO NOTHING;
-- the row has its guid no more
WITH u AS (UPDATE item SET guid = 'z' WHERE guid = 'x' RETURNING fp) INSERT INTO item (guid, fp) SELECT 'x', fp FROM u;
-- a unique index of a generated column, and one where NULLs are equal
ALTER TABLE item ADD UNIQUE (twice);
INSERT INTO item (guid, fp) VALUES ('y', :a) ON CONFLICT (twice) DO NOTHING;
INSERT INTO item (guid, fp, seen) VALUES ('y', :a, 2) ON CONFLICT (twice) DO NOTHING;
ALTER TABLE item DROP twice;
UPDATE item SET guid = NULL;
INSERT INTO item (guid, fp) VALUES (NULL, :a);
ALTER TABLE item DROP CONSTRAINT item_guid_key, ADD UNIQUE NULLS NOT DISTINCT (guid);
INSERT INTO item (guid, fp) VALUES (NULL, :a);
INSERT INTO item (guid, fp) VALUES (NULL, :a) ON CONFLICT (guid) DO NOTHING;
-- no upsert uses a deferrable constraint
ALTER TABLE item ADD CONSTRAINT later UNIQUE (state) DEFERRABLE;
UPDATE item SET state = 'open';
INSERT INTO item (guid, state, fp) VALUES ('y', 'open', :a);
\set VERBOSITY default
-- the upsert names the key, or the trigger fires AFTER
CREATE TABLE by_guid (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, guid text NOT NULL UNIQUE, fp simhash64, repeats text);
CREATE INDEX ON by_guid USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON by_guid FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => guid');
INSERT INTO by_guid (guid, fp) VALUES ('x', :a), ('y', :a);
INSERT INTO by_guid (guid, fp) VALUES ('x', :a), ('y', :a) ON CONFLICT (guid) DO UPDATE SET fp = EXCLUDED.fp, repeats = EXCLUDED.repeats;
SELECT guid, repeats FROM by_guid ORDER BY guid;
DROP TRIGGER flag ON by_guid;
DELETE FROM by_guid WHERE guid = 'y';
CREATE TRIGGER reject AFTER INSERT OR UPDATE ON by_guid FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
INSERT INTO by_guid (guid, fp) VALUES ('x', :a) ON CONFLICT (guid) DO NOTHING;
INSERT INTO by_guid (guid, fp) VALUES ('x', :a) ON CONFLICT (guid) DO UPDATE SET fp = EXCLUDED.fp;
\set VERBOSITY sqlstate
INSERT INTO by_guid (guid, fp) VALUES ('y', :a) ON CONFLICT (guid) DO NOTHING;
\set VERBOSITY default

--
-- An original keeps no flag: its repeats lead to it
--
CREATE TABLE pair (id int PRIMARY KEY, fp simhash64, repeats int);
ALTER TABLE pair ADD CONSTRAINT cascades FOREIGN KEY (repeats) REFERENCES pair ON UPDATE CASCADE;
CREATE INDEX ON pair USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON pair FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'max_distance => 3');
INSERT INTO pair VALUES (1, :a), (2, :a);
UPDATE pair SET fp = '00ff00ff00ff00fe' WHERE id = 1;
UPDATE pair SET fp = '00ff00ff00ff00fe' WHERE id = 2;
SELECT id, repeats FROM pair ORDER BY id;
-- with another key, too
UPDATE pair SET id = 9, fp = '00ff00ff00ff00ff' WHERE id = 1;
SELECT id, repeats FROM pair ORDER BY id;
-- of a thousand pairs, an UPDATE of all rows flags one of each
TRUNCATE pair;
INSERT INTO pair SELECT i, hashint8extended(i % 1000, 0)::simhash64 FROM generate_series(0, 1999) AS i;
UPDATE pair SET fp = (fp::bigint # 1)::simhash64;
UPDATE pair SET fp = (fp::bigint # (2 + id / 1000))::simhash64;
SELECT count(repeats), count(*) FILTER (WHERE EXISTS (SELECT FROM pair AS b WHERE b.id = a.repeats AND b.repeats = a.id)) AS loops FROM pair AS a;
-- flags that a person has set in a loop end no search
UPDATE pair SET repeats = CASE id WHEN 1 THEN 1001 WHEN 1001 THEN 1 WHEN 2 THEN 2 END WHERE id IN (1, 2, 1001, 1002);
INSERT INTO pair SELECT 5000 + id, fp FROM pair WHERE id IN (1, 2);
SELECT id, repeats FROM pair WHERE id > 5000 ORDER BY id;
-- a row that was deleted comes back
ALTER TABLE pair DROP CONSTRAINT cascades;
DELETE FROM pair WHERE id = 3;
INSERT INTO pair SELECT 3, fp FROM pair WHERE id = 1003;
SELECT id, repeats FROM pair WHERE id IN (3, 1003) ORDER BY id;

-- Versions of one row: what overlaps in an exclusion is that row, and the next version is none
CREATE TABLE rate (id int, during int4range, fp simhash64, CONSTRAINT versions EXCLUDE USING gist (int4range(id, id, '[]') WITH =, during WITH &&));
CREATE INDEX ON rate USING hamming (fp);
CREATE TRIGGER r BEFORE INSERT OR UPDATE ON rate FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO rate VALUES (1, '[1,5)', :a);
INSERT INTO rate VALUES (1, '[4,6)', :a) ON CONFLICT DO NOTHING;
INSERT INTO rate VALUES (1, '[4,6)', :a);
INSERT INTO rate VALUES (1, '[5,9)', :a);
CREATE FUNCTION another(new_row rate, near_row rate) RETURNS boolean RETURN new_row.id <> near_row.id;
CREATE OR REPLACE TRIGGER r BEFORE INSERT OR UPDATE ON rate FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id', 'condition => another');
INSERT INTO rate VALUES (1, '[5,9)', :a);
INSERT INTO rate VALUES (2, '[5,9)', :a);
-- a version that gets another end judges nothing
CREATE OR REPLACE TRIGGER r BEFORE INSERT OR UPDATE ON rate FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id');
UPDATE rate SET during = '[5,8)' WHERE during = '[5,9)';

SET client_min_messages = error;
DROP SCHEMA arrival_keys CASCADE;
