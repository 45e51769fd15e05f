--
-- groups: tables over a source, decisions, ids
--
\set SHOW_CONTEXT never
CREATE SCHEMA groups;
SET search_path = groups, public;
-- rows n and m of one line are |n - m| apart
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE RETURN ((1::bigint << n) - 1)::simhash64;
-- the groups as sets of keys, by id
CREATE FUNCTION show(grouping_name text) RETURNS TABLE (id bigint, keys text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT id, string_agg(key::text, '' '' ORDER BY key) FROM %s GROUP BY id ORDER BY id', grouping_name);
END $$;

-- four empty tables
CREATE TABLE letter (id integer PRIMARY KEY, fp simhash64);
INSERT INTO letter VALUES (1, bits(0)), (2, bits(2)), (3, bits(20)), (4, bits(5)), (5, NULL);
SELECT simdup_group('letter_group', 'letter', max_distance => 3);
SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns
WHERE table_schema = 'groups' AND table_name LIKE 'letter\_group%' GROUP BY 1 ORDER BY 1;
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relnamespace = 'groups'::regnamespace AND relname LIKE 'letter\_group%' AND relkind = 'r' ORDER BY 1;
SELECT * FROM simdup_regroup('letter_group', dry_run => true);
TABLE letter_group;
SELECT * FROM simdup_regroup('letter_group');
SELECT * FROM simdup_regroup('letter_group');
SELECT source, next_id, next_refresh FROM letter_group_settings;
-- rows come, go and change
INSERT INTO letter VALUES (6, bits(1)), (7, bits(21));
DELETE FROM letter WHERE id = 2;
UPDATE letter SET fp = bits(22) WHERE id = 4;
SELECT * FROM simdup_regroup('letter_group') ORDER BY key;
SELECT * FROM show('letter_group');
-- an id that ended comes back with its first row
DELETE FROM letter WHERE id IN (1, 6);
SELECT * FROM simdup_regroup('letter_group') ORDER BY key;
SELECT simdup_group_of('letter_group', 1);
INSERT INTO letter VALUES (1, bits(0)), (2, bits(2));
SELECT * FROM simdup_regroup('letter_group') ORDER BY key;
SELECT refresh, key, was, id FROM letter_group_events ORDER BY refresh, key;
-- to no other row that had it, also if that is the first one of its group now
CREATE TABLE stranger (id integer PRIMARY KEY, fp simhash64);
INSERT INTO stranger VALUES (1, bits(0)), (2, bits(2)), (3, bits(30)), (4, bits(31)), (5, bits(31));
SELECT simdup_group('stranger_group', 'stranger', max_distance => 3);
SELECT * FROM simdup_regroup('stranger_group');
UPDATE stranger SET fp = bits(30) WHERE id = 2;
DELETE FROM stranger WHERE id = 1;
SELECT * FROM simdup_regroup('stranger_group') ORDER BY key;
UPDATE stranger SET fp = bits(50) WHERE id = 2;
SELECT * FROM simdup_regroup('stranger_group');
SELECT simdup_group_of('stranger_group', 1);
-- nor to the second one of its last rows
DELETE FROM stranger WHERE id IN (3, 4, 5);
SELECT count(*) FROM simdup_regroup('stranger_group');
INSERT INTO stranger VALUES (1, bits(2)), (4, bits(31));
SELECT * FROM simdup_regroup('stranger_group');
UPDATE stranger SET fp = bits(15) WHERE id = 4;
INSERT INTO stranger VALUES (3, bits(31));
SELECT * FROM simdup_regroup('stranger_group');
SELECT id, simdup_group_of('stranger_group', id) FROM generate_series(1, 4) AS id;

-- decisions
SELECT * FROM simdup_decide('letter_group', 1, 3, same => true, note => 'one visit');
SELECT * FROM simdup_decide('letter_group', 3, 1, same => true);
SELECT a, b, same, note, by = current_user AS by, at = now() AS now FROM letter_group_decisions;
SELECT simdup_group_of('letter_group', 2), simdup_group_of('letter_group', 1), simdup_group_of('letter_group', 3), simdup_group_of('letter_group', 99);
-- a copy of an absorbed leader joins its group
INSERT INTO letter VALUES (8, bits(20));
SELECT * FROM simdup_regroup('letter_group');
-- the id comes back when the decision that ended it is taken back
SELECT * FROM simdup_undecide('letter_group', 1, 3) ORDER BY key;
SELECT * FROM simdup_undecide('letter_group', 1, 3);
-- not the same: the younger one finds another leader, or leads
SELECT * FROM simdup_decide('letter_group', '1', '2', same => false);
INSERT INTO letter VALUES (9, bits(2)), (10, bits(0));
SELECT * FROM simdup_regroup('letter_group');
-- the other way round
SELECT * FROM simdup_decide('letter_group', 1, 2, same => true);
SELECT a, b, same FROM letter_group_decisions;
-- arrays, stored at once; pairs may repeat
SELECT * FROM simdup_decide('letter_group', ARRAY[1, 9, 3, 4], ARRAY[9, 1, 4, 8], same => true);
SELECT * FROM simdup_decide('letter_group', ARRAY[7, 7], ARRAY[3, 1], same => false, refresh => false);
SELECT * FROM show('letter_group');
SELECT * FROM simdup_regroup('letter_group');
SELECT count(*) FROM letter_group_decisions;
SELECT * FROM simdup_undecide('letter_group', '{7,7}'::int[], '{3,1}'::int[]);
SELECT count(*) FROM simdup_decide('letter_group', '{}'::int[], '{}'::int[], true);
CREATE DOMAIN many AS int[];
SELECT count(*) FROM simdup_decide('letter_group', '{3,4}'::many, '{4,8}'::many, true) AS d;
SELECT count(*) FROM simdup_undecide('letter_group', '{}'::many, '{}'::many) AS d;
-- contradictions, with the chain; nothing of the arrays is stored
SELECT * FROM simdup_decide('letter_group', 3, 8, same => false);
SELECT * FROM simdup_decide('letter_group', ARRAY[5, 8], ARRAY[6, 3], same => false);
SELECT * FROM simdup_decide('letter_group', 2, 3, same => false);
SELECT * FROM simdup_decide('letter_group', 8, 9, same => true);
-- about rows that are not there, too
SELECT * FROM simdup_decide('letter_group', ARRAY[50, 51], ARRAY[51, 52], same => true);
SELECT * FROM simdup_decide('letter_group', 50, 52, same => false);
-- a long chain is cut
SELECT count(*) FROM (SELECT array_agg(i) AS a, array_agg(i + 1) AS b FROM generate_series(100, 140) AS i) AS d, simdup_decide('letter_group', d.a, d.b, same => true);
SELECT * FROM simdup_decide('letter_group', 100, 141, same => false);
-- the last of many contradictions has its chain
SELECT simdup_group('crowd', 'stranger');
INSERT INTO crowd_decisions (a, b, same) SELECT 1, i, true FROM generate_series(2, 50) AS i;
INSERT INTO crowd_decisions (a, b, same) SELECT i, j, false FROM generate_series(2, 50) AS i, generate_series(i + 1, 50) AS j;
SELECT * FROM simdup_decide('crowd', 2, 51, true, refresh => false);
SELECT * FROM simdup_decide('crowd', 1, 51, false);
SELECT count(*) AS n, count(*) FILTER (WHERE why ~ ': ') AS chains, count(*) FILTER (WHERE why ~ ': ?$') AS empty FROM simdup_review('crowd', 1200);
-- written by hand, they count at the next refresh
BEGIN;
INSERT INTO letter_group_decisions (a, b, same) VALUES (3, 8, false);
SELECT * FROM simdup_regroup('letter_group');
ROLLBACK;
BEGIN;
INSERT INTO letter_group_decisions (a, b, same) VALUES (3, 10, true);
DELETE FROM letter_group_decisions WHERE (a, b) = (2, 3);
SELECT * FROM simdup_regroup('letter_group') ORDER BY key;
SELECT * FROM simdup_undecide('letter_group', 3, 10) ORDER BY key;
ROLLBACK;

-- connected
SELECT source, source_owner = current_user AS own, max_distance, method, min_resemblance, w, unit, next_id, next_refresh FROM letter_group_settings;
UPDATE letter_group_settings SET method = 'connected';
BEGIN;
INSERT INTO letter VALUES (20, bits(40)), (21, bits(43)), (22, bits(46)), (23, bits(49));
SELECT * FROM simdup_regroup('letter_group') ORDER BY key;
SELECT * FROM simdup_decide('letter_group', 20, 23, same => false);
SELECT * FROM show('letter_group');
ROLLBACK;

-- scope: NULL is one
CREATE TABLE scoped (id text PRIMARY KEY, fp simhash64, district text, content text);
INSERT INTO scoped VALUES ('a', bits(0), 'x', 'the lamp in the lane is out'), ('b', bits(1), 'y', 'a tree has fallen over'),
  ('c', bits(1), NULL, 'the lamp in the lane is out!'), ('d', bits(2), NULL, 'a tree has fallen over'), ('e', bits(0), 'x', 'a tree has fallen over'), ('f', bits(0), 'x', NULL);
CREATE VIEW districts AS SELECT id AS key, fp, district AS scope FROM scoped;
SELECT simdup_group('by_scope', 'districts');
SELECT count(*) FROM simdup_regroup('by_scope');
SELECT * FROM show('by_scope');
-- min_resemblance: rows without a content are in no group
SELECT simdup_group('by_content', 'scoped', min_resemblance => 0.8);
SELECT count(*) FROM simdup_regroup('by_content');
SELECT * FROM show('by_content');
-- texts without a shingle resemble nothing, not even an equal one
CREATE VIEW wordless AS SELECT id AS key, bits(0) AS fp, repeat('.', id / 4) AS content FROM generate_series(1, 9) AS id;
SELECT simdup_group('by_nothing', 'wordless', min_resemblance => 0.8);
SELECT count(*), count(DISTINCT id) FROM simdup_regroup('by_nothing');
UPDATE by_nothing_settings SET method = 'connected';
SELECT count(*) FROM simdup_regroup('by_nothing');
CREATE VIEW by_all AS SELECT id AS key, fp, content, district AS scope FROM scoped;
SELECT simdup_group('by_both', 'by_all', 8, 'connected', 0.8);
SELECT count(*) FROM simdup_regroup('by_both');
SELECT * FROM show('by_both');
SELECT * FROM simdup_decide('by_content', 'c', 'd', true);

-- keys of other types
CREATE DOMAIN positive AS bigint CHECK (VALUE > 0);
CREATE VIEW from_of_uuid AS SELECT (repeat(md5(id), 1))::uuid AS key, fp FROM scoped;
SELECT simdup_group('of_uuid', 'from_of_uuid');
CREATE VIEW from_of_domain AS SELECT id::positive AS key, fp FROM letter;
SELECT simdup_group('of_domain', 'from_of_domain');
CREATE VIEW from_of_char AS SELECT id::char(3) AS key, fp FROM scoped;
SELECT simdup_group('of_char', 'from_of_char');
CREATE VIEW from_of_numeric AS SELECT id::numeric(5, 1) AS key, fp FROM letter;
SELECT simdup_group('of_numeric', 'from_of_numeric');
CREATE VIEW from_of_date AS SELECT DATE '2026-01-01' + id AS key, fp FROM letter;
SELECT simdup_group('of_date', 'from_of_date');
SELECT name, count(r.key) FROM unnest(ARRAY['of_uuid', 'of_domain', 'of_char', 'of_numeric', 'of_date']) AS name, simdup_regroup(name) AS r GROUP BY name ORDER BY name;
SELECT attrelid::regclass, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid IN ('of_uuid'::regclass, 'of_domain'::regclass, 'of_char'::regclass, 'of_numeric'::regclass, 'of_date'::regclass) AND attname = 'key' ORDER BY attrelid::regclass::text;
SELECT count(*) FROM simdup_decide('of_uuid', md5('a')::uuid, md5('c')::uuid, false);
SELECT count(*) FROM simdup_decide('of_domain', 1::positive, 3, true);
SELECT count(*) FROM simdup_decide('of_char', ARRAY['a', 'b']::char(3)[], ARRAY['c', 'd']::char(3)[], false);
SELECT * FROM simdup_decide('of_date', DATE '2026-01-02', DATE '2026-01-04', true) ORDER BY key;
SELECT * FROM simdup_decide('of_date', 'a', 'b', true);
CREATE TYPE pair_key AS (a int, b text);
CREATE VIEW from_of_pair AS SELECT ROW(id, NULL)::pair_key AS key, fp FROM letter;
SELECT simdup_group('of_pair', 'from_of_pair');
SELECT count(*) FROM simdup_decide('of_pair', ROW(1, NULL)::pair_key, ROW(2, NULL)::pair_key, true) AS r;
SELECT count(*) FROM simdup_decide('of_pair', ARRAY[ROW(1, NULL)::pair_key], ARRAY[ROW(4, NULL)::pair_key], false);
SELECT a, b, same FROM of_pair_decisions ORDER BY a, b;
SELECT count(*) > 0 AS shown FROM simdup_review('of_pair');
SELECT count(*) FROM simdup_undecide('of_pair', ROW(4, NULL)::pair_key, ROW(1, NULL)::pair_key);
SELECT count(*) FROM simdup_decide('of_pair', ROW(NULL, NULL)::pair_key, ROW(1, NULL)::pair_key, false, refresh => false);
SELECT count(*) FROM simdup_undecide('of_pair', ARRAY[ROW(1, NULL)::pair_key], ARRAY[ROW(NULL, NULL)::pair_key], refresh => false);
-- as texts, however the session writes times and numbers: IST is also the time of another zone
CREATE VIEW from_of_time AS SELECT TIMESTAMPTZ '2026-01-01 12:00+05:30' + id * interval '1 day' AS key, fp FROM letter;
SELECT simdup_group('of_time', 'from_of_time');
CREATE VIEW from_of_float AS SELECT id / 3::float8 AS key, fp FROM letter;
SELECT simdup_group('of_float', 'from_of_float');
SET TimeZone = 'Asia/Kolkata';
SET DateStyle = 'SQL, DMY';
SET extra_float_digits = -15;
SELECT count(*) FROM simdup_decide('of_time', TIMESTAMPTZ '2026-01-02 12:00+05:30', TIMESTAMPTZ '2026-01-04 12:00+05:30', true, refresh => false);
SELECT count(*) FROM simdup_decide('of_float', 1 / 3::float8, 2 / 3::float8, true, refresh => false);
RESET TimeZone;
RESET DateStyle;
RESET extra_float_digits;
SELECT a = '2026-01-02 12:00+05:30' AS first, b = '2026-01-04 12:00+05:30' AS second FROM of_time_decisions;
SELECT a = 1 / 3::float8 AS first, b = 2 / 3::float8 AS second FROM of_float_decisions;
-- and so do results
CREATE VIEW from_of_interval AS SELECT id * make_interval(days => -1, mins => 25) AS key, fp FROM letter;
SELECT simdup_group('of_interval', 'from_of_interval');
CREATE VIEW from_of_sum AS SELECT id * (-0.1::float8 - 0.2) AS key, fp FROM letter;
SELECT simdup_group('of_sum', 'from_of_sum');
TRUNCATE of_date;
SET DateStyle = 'German';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -15;
SELECT min(key) FROM simdup_regroup('of_date', true);
SELECT min(key) FROM simdup_regroup('of_date');
SELECT max(key) FROM simdup_regroup('of_interval', true);
SELECT max(key) FROM simdup_regroup('of_interval');
SELECT min(key) FROM simdup_regroup('of_sum', true);
SELECT min(key) FROM simdup_regroup('of_sum');
DELETE FROM letter WHERE id = 10;
SELECT * FROM simdup_regroup('of_interval');
SELECT * FROM simdup_regroup('of_sum');
SELECT * FROM simdup_decide('of_sum', -0.1::float8 - 0.2, 2 * (-0.1::float8 - 0.2), false);
SELECT * FROM simdup_decide('of_sum', -0.1::float8 - 0.2, 2 * (-0.1::float8 - 0.2), true);
SELECT * FROM simdup_decide('of_interval', make_interval(days => -1, mins => 25), make_interval(days => -3, mins => 75), true);
SELECT * FROM simdup_decide('of_interval', make_interval(days => -1, mins => 25), make_interval(days => -1, mins => 25), true);
RESET DateStyle;
RESET IntervalStyle;
RESET extra_float_digits;
SELECT a, b FROM of_interval_decisions;
INSERT INTO letter VALUES (10, bits(0));
CREATE VIEW points AS SELECT point(id, id) AS key, fp FROM letter;
SELECT simdup_group('bad', 'points');
CREATE TYPE ward AS ENUM ('north', 'south');
CREATE DOMAIN some_ward AS ward;
CREATE VIEW wards AS SELECT 'north'::some_ward AS key, fp FROM letter LIMIT 1;
SELECT simdup_group('bad', 'wards');
SELECT * FROM simdup_regroup(NULL);
CREATE VIEW arrays AS SELECT ARRAY[id] AS key, fp FROM letter;
SELECT simdup_group('bad', 'arrays');

-- names
CREATE SCHEMA "Old Town";
SELECT simdup_group('"Old Town"."The ""groups"""', 'groups.letter');
SELECT count(*) FROM simdup_regroup('"Old Town"."The ""groups"""');
SELECT count(*) FROM simdup_decide('"Old Town"."The ""groups"""', 1, 3, true);
SELECT simdup_ungroup('"Old Town"."The ""groups"""', with_decisions => true);
DROP SCHEMA "Old Town";
SELECT simdup_group(repeat('n', 53), 'letter');
SELECT simdup_ungroup(repeat('n', 53));
SELECT simdup_group(repeat('n', 54), 'letter');
SELECT simdup_group('a.b.c', 'letter');
SELECT simdup_group('letter_group', 'letter');
SET search_path = '';
SELECT public.simdup_group('nowhere', 'groups.letter');
SELECT public.simdup_group('elsewhere', 'groups.letter', schema => 'groups');
SELECT public.simdup_ungroup('groups.elsewhere');
SET search_path = groups, public;
-- columns found by their indexes: at once, from views by the names of the settings, and later the indexed ones
CREATE TABLE xinfang (nr int PRIMARY KEY, bt varchar, sj date, print simhash64, note text);
INSERT INTO xinfang SELECT i, repeat('the lamp in the lane is out. ', 1 + i % 2), '2026-09-29'::date + i, ('0000000000000' || 100 + i % 3)::simhash64 FROM generate_series(1, 6) AS i;
CREATE INDEX ON xinfang USING hamming (bt);
SELECT r #> '{counts,clusters}' AS clusters, r #> '{settings,query}' AS query, r #> '{settings,columns}' AS columns, r #> '{cases,kept,0,common}' AS common
FROM simdup_report('xinfang', 3) AS r;
SELECT max_distance, n_found FROM simdup_tune('xinfang', 0);
SELECT simdup_group('by_text', 'xinfang', 3);
CREATE INDEX ON xinfang USING hamming (print);
SELECT simdup_group('by_print', 'xinfang', 0);
CREATE INDEX ON xinfang USING hamming (note);
ALTER TABLE xinfang ADD content text, ADD scope int;
UPDATE xinfang SET scope = nr;
SELECT key, fp, content, scope FROM by_text_settings UNION ALL SELECT key, fp, content, scope FROM by_print_settings ORDER BY fp NULLS FIRST;
SELECT count(*), count(DISTINCT id) FROM simdup_regroup('by_text') UNION ALL SELECT count(*), count(DISTINCT id) FROM simdup_regroup('by_print');
CREATE VIEW october AS SELECT * FROM xinfang WHERE sj >= '2026-10-01';
SELECT r #> '{counts,rows}' AS rows, r #> '{cases,kept,0,common}' AS common FROM simdup_report('october', groups => 'by_text') AS r;
ALTER TABLE xinfang RENAME bt TO biaoti;
SELECT simdup_regroup('by_text');
UPDATE by_text_settings SET content = 'biaoti';
SELECT count(*) FROM simdup_regroup('by_text');
SELECT simdup_group('bad', 'october');
SELECT simdup_ungroup('by_text'), simdup_ungroup('by_print');
DROP TABLE xinfang CASCADE;

-- bad input
CREATE TABLE other (id integer, fp text, PRIMARY KEY (id, fp));
SELECT simdup_group('bad', 'other');
ALTER TABLE other ADD key integer;
SELECT simdup_group('bad', 'other');
ALTER TABLE other ADD note text, ADD content jsonb;
SELECT simdup_group('bad', 'other');
ALTER TABLE other DROP fp;
SELECT simdup_group('bad', 'other');
ALTER TABLE other DROP content, DROP note;
SELECT simdup_group('bad', 'other');
SELECT simdup_group('bad', 'letter', min_resemblance => 0.5);
SELECT simdup_group('bad', 'letter', max_distance => 33);
SELECT simdup_group('bad', 'letter', method => 'other');
SELECT simdup_group('bad', 'letter', max_distance => NULL);
SELECT simdup_group('bad', NULL);
SELECT simdup_group('bad', 'SELECT id, fp FROM letter');
CREATE TABLE of_xids (key xid, fp simhash64, scope point);
SELECT simdup_group('bad', 'of_xids');
ALTER TABLE of_xids ALTER key TYPE int USING 1;
SELECT simdup_group('bad', 'of_xids');
SELECT simdup_group('bad', 'letter_pkey');
SELECT simdup_group('bad', 1);
SELECT simdup_regroup('nothing');
SELECT simdup_regroup('letter');
SELECT simdup_group_of('nothing', 1);
ALTER TABLE letter_group RENAME key TO name;
SELECT simdup_ungroup('letter_group', true);
SELECT simdup_decide('letter_group', 1, 2, true, refresh => false);
ALTER TABLE letter_group RENAME name TO key;
SELECT simdup_decide('letter_group', 1, 1, true);
SELECT simdup_decide('letter_group', 1, NULL::int, true);
SET array_nulls = off;
SELECT simdup_decide('letter_group', ARRAY[1, NULL], ARRAY[2, 3], true);
RESET array_nulls;
SELECT simdup_decide('letter_group', 1, 2, NULL);
SELECT simdup_decide('letter_group', 1, 2, true, refresh => NULL);
SELECT simdup_decide('letter_group', ARRAY[1, 2], ARRAY[3], true);
SELECT simdup_decide('letter_group', ARRAY[[1, 2]], ARRAY[[3, 4]], true);
SELECT simdup_decide('letter_group', 'x', 'y', true);
SELECT simdup_undecide('letter_group', 4, 5);
SELECT simdup_undecide('letter_group', NULL::int, 5);
SELECT simdup_undecide('letter_group', ARRAY[1, 2], ARRAY[3]);
SELECT simdup_undecide('letter_group', ARRAY[1, NULL], ARRAY[1, 3]);
SELECT simdup_regroup(1);
SELECT simdup_grouping_source(1, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT simdup_grouping_source('letter_group_decisions', NULL, NULL, NULL, NULL, NULL, NULL);
SELECT keys_of, same_key, less_key, statement FROM simdup_grouping_source('letter', NULL, NULL, NULL, NULL, NULL, NULL);
SELECT simdup_grouping_source('letter', 3, NULL, NULL, 4, 'char', NULL);
SELECT simdup_review_pairs(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT simdup_review_pairs(NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL);
SELECT simdup_review_pairs('letter', 'letter_group', 'letter_group_decisions', 3, 'leader', NULL, NULL, NULL);
SELECT simdup_review_pairs('letter', 1, 'letter_group_decisions', 3, 'leader', NULL, 1, NULL);
SELECT simdup_group_changes('letter', 1, 'letter_group_decisions', 'letter_group_events', 3, 'leader', NULL, 4, 'char', 1, NULL);
SELECT simdup_group_changes('letter', 0, 'letter_group_decisions', 'letter_group_events', 3, 'leader', NULL, 4, 'char', 1, NULL);
SELECT simdup_review_pairs(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL);
SELECT simdup_review_pairs(NULL, NULL, 'letter_group', NULL, NULL, NULL, NULL, NULL);
BEGIN;
INSERT INTO letter_group VALUES (99, 1);
ALTER TABLE letter DROP CONSTRAINT letter_pkey;
ALTER TABLE letter RENAME id TO key;
INSERT INTO letter VALUES (1, bits(0));
SELECT simdup_regroup('letter_group');
ROLLBACK;
BEGIN;
ALTER TABLE letter DROP CONSTRAINT letter_pkey;
ALTER TABLE letter RENAME id TO key;
ALTER TABLE letter ALTER key DROP NOT NULL;
INSERT INTO letter VALUES (NULL, NULL);
SELECT simdup_regroup('letter_group');
ROLLBACK;
BEGIN;
ALTER TABLE letter RENAME id TO number;
ALTER TABLE letter ADD key bigint;
SELECT simdup_regroup('letter_group');
ROLLBACK;
BEGIN;
ALTER TABLE letter_group_events ALTER refresh TYPE text;
INSERT INTO letter VALUES (300, bits(60));
SELECT simdup_regroup('letter_group');
ROLLBACK;
\set VERBOSITY terse
INSERT INTO letter_group_decisions (a, b, same) VALUES (4, 3, true);
\set VERBOSITY default
-- of texts, by code points
CREATE TABLE word (id text PRIMARY KEY, fp simhash64);
INSERT INTO word VALUES ('a', bits(0)), ('B', bits(50)), ('c', bits(30));
SELECT simdup_group('word_group', 'word');
SELECT count(*) FROM simdup_decide('word_group', ARRAY['a', 'b'], ARRAY['B', 'A'], same => true, refresh => false);
SELECT a, b FROM word_group_decisions ORDER BY a COLLATE "C";
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('letter_group_decisions'::regclass, 'word_group_decisions'::regclass) AND contype = 'c' ORDER BY conrelid::regclass::text;

-- tables of each kind
CREATE TABLE parted (id integer PRIMARY KEY, fp simhash64) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (4);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (4) TO (100);
INSERT INTO parted SELECT id, fp FROM letter WHERE id < 10;
CREATE MATERIALIZED VIEW stored AS SELECT id AS key, fp FROM letter WHERE id < 10;
CREATE TEMP TABLE passing AS SELECT id AS key, fp FROM letter WHERE id < 10;
CREATE TABLE heirs () INHERITS (letter);
INSERT INTO heirs SELECT id + 1000, fp FROM letter WHERE id < 10;
SELECT t, simdup_group(t || '_group', t::regclass) FROM unnest('{parted,stored,passing}'::text[]) AS t;
SELECT t, (SELECT count(*) FROM simdup_regroup(t || '_group')) AS rows FROM unnest('{parted,stored,passing}'::text[]) AS t;
SELECT source ~ '^pg_temp_\d+\.passing$' AS of_this_session FROM passing_group_settings;
SELECT count(*) FROM simdup_regroup('letter_group', dry_run => true);
DROP TABLE heirs;
-- a column that is renamed under a view
CREATE VIEW seen AS SELECT id AS key, fp FROM letter;
SELECT simdup_group('seen_group', 'seen');
ALTER TABLE letter RENAME fp TO print;
SELECT count(*) > 0 AS any FROM simdup_regroup('seen_group');
SELECT simdup_regroup('letter_group');
ALTER TABLE letter RENAME print TO fp;

-- the table is renamed, the grouping is renamed and moved
ALTER TABLE letter RENAME TO mail;
SELECT simdup_regroup('letter_group');
SELECT simdup_review('letter_group');
UPDATE letter_group_settings SET source = 'no..name';
SELECT simdup_regroup('letter_group');
UPDATE letter_group_settings SET source = 'mail';
SELECT simdup_regroup('letter_group');
UPDATE letter_group_settings SET source = 'groups.mail', method = 'leader';
CREATE SCHEMA office;
ALTER TABLE letter_group RENAME TO mail_group;
SELECT simdup_regroup('mail_group');
ALTER TABLE letter_group_decisions RENAME TO mail_group_decisions;
ALTER TABLE letter_group_events RENAME TO mail_group_events;
ALTER TABLE letter_group_settings RENAME TO mail_group_settings;
ALTER TABLE mail_group SET SCHEMA office;
ALTER TABLE mail_group_decisions SET SCHEMA office;
ALTER TABLE mail_group_events SET SCHEMA office;
ALTER TABLE mail_group_settings SET SCHEMA office;
SELECT count(*) FROM simdup_regroup('office.mail_group');
SELECT count(*) FROM simdup_undecide('office.mail_group', 1, 2);

-- the settings are lost
BEGIN;
DELETE FROM office.mail_group_settings;
SELECT simdup_regroup('office.mail_group');
ROLLBACK;

-- a trigger of the user's that keeps rows is an error
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep BEFORE INSERT OR UPDATE OR DELETE ON office.mail_group FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO mail VALUES (200, bits(50));
SELECT simdup_regroup('office.mail_group');
DROP TRIGGER keep ON office.mail_group;
CREATE TRIGGER keep BEFORE UPDATE ON office.mail_group_settings FOR EACH ROW EXECUTE FUNCTION keep();
SELECT simdup_regroup('office.mail_group');
DROP TRIGGER keep ON office.mail_group_settings;
CREATE TRIGGER keep BEFORE INSERT ON office.mail_group_decisions FOR EACH ROW EXECUTE FUNCTION keep();
SELECT simdup_decide('office.mail_group', 1, 200, true);
DROP TRIGGER keep ON office.mail_group_decisions;
SELECT * FROM simdup_regroup('office.mail_group');

SELECT simdup_ungroup('office.mail_group');
SELECT simdup_ungroup('office.mail_group', with_decisions => true);
SELECT relname FROM pg_class WHERE relnamespace = 'office'::regnamespace;
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA groups CASCADE;
DROP SCHEMA office;
RESET client_min_messages;
