-- record: fingerprints of rows without a list of their columns
CREATE SCHEMA record;
SET search_path = record, public;
SET TimeZone = 'America/New_York';
CREATE TYPE mood AS ENUM ('calm', 'angry');
CREATE TYPE place AS (district text, since date);
CREATE DOMAIN title AS text;
CREATE DOMAIN tags AS text[];

CREATE TABLE petition (
  id integer PRIMARY KEY, gone text, content text, title title, who varchar(20),
  urgent boolean, code char(5), letter "char", name name, n numeric(10,2), f4 real, f8 float8,
  at timestamptz, noted timestamp, day date, hour time, hour_there timetz, took interval,
  fee money, scan bytea, address inet, key uuid, doc jsonb, area point,
  mood mood, place place, tags tags, days date[], period tstzrange, periods datemultirange,
  bits varbit, words tsvector, fp simhash64, shout text GENERATED ALWAYS AS (upper(who)) STORED);
ALTER TABLE petition DROP COLUMN gone;
INSERT INTO petition VALUES
  (1, 'The street lights in Mill Lane are broken', ' Lights ', 'Li', true, 'ab', 'x', 'n', 12.50, 0.1, 0.1::float8 + 0.2,
   '2024-01-02 03:04:05+02', '2024-01-02 03:04:05', '2024-01-02', '03:04', '03:04+02', '1 day 02:00',
   12.5, '\x01ff5c', '10.0.0.1', '6ecd8c99-4036-403d-bf84-cf8400f67836', '{"a": 1}', '(0.1,0.30000000000000004)',
   'calm', '("Mill Lane",2024-01-02)', '{a,"b c"}', '{2024-01-02}', '[2024-01-01,2024-02-01)', '{[2024-01-01,2024-02-01)}',
   B'101', 'a:1', 'ffffffffffffffff');
INSERT INTO petition (id, content) VALUES (2, 'The street lights in Mill Lane are broken'), (3, NULL);
INSERT INTO petition (id, title, who) VALUES (4, ' ', '');

-- the same as simhash_row over the columns by their text, as it is cast here
SET DateStyle = 'ISO';
SET TimeZone = 'UTC';
SET lc_monetary = 'C';
SET IntervalStyle = 'postgres';
SELECT id, simhash_record(p),
       simhash_record(p) = simhash_row(content, ARRAY[
         id::text, title, who, urgent::text, code::text, letter::text, name::text, n::text, f4::text, f8::text, at::text,
         noted::text, day::text, hour::text, hour_there::text, took::text, fee::text, scan::text,
         address::text, key::text, doc::text, area::text, mood::text, place::text,
         tags::text, days::text, period::text, periods::text, bits::text, words::text]) AS as_row
FROM petition p ORDER BY id;
SELECT id, simhash_record(p, exclude => '{id}') IS NOT DISTINCT FROM simhash(content) AS content_only
FROM petition p WHERE id > 1 ORDER BY id;

-- the fingerprint and generated columns do not count
UPDATE petition SET fp = simhash_record(petition);
SELECT count(*) FROM petition p WHERE fp IS DISTINCT FROM simhash_record(p);
SELECT simhash_record(r) = simhash_row('c', ARRAY['1']) AS fingerprint_left_out,
       simhash_record(r) = simhash_record(s) AS as_in_a_record
FROM (SELECT 1 AS a, 'c' AS content, simhash('x') AS fp) r,
     (SELECT 1 AS b, 'c'::varchar AS content) s;

-- no setting changes it, and none is changed
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Kathmandu';
SET IntervalStyle = 'iso_8601';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
SET xmlbinary = 'hex';
SELECT id FROM petition p WHERE fp IS DISTINCT FROM simhash_record(p);
SELECT simhash_field(at) AS at, simhash_field(day) AS day, simhash_field(took) AS took,
       simhash_field(f8) AS f8, simhash_field(scan) AS scan, simhash_field(fee) AS fee,
       simhash_field(period) AS period, simhash_field(periods) AS periods,
       simhash_field(days) AS days, simhash_field(area) AS area, simhash_field(f4) AS f4,
       simhash_field(urgent) AS urgent, simhash_field(hour_there) AS hour_there,
       simhash_field(title) AS title, simhash_field(tags) AS tags, simhash_field(words) AS words
FROM petition WHERE id = 1 \gx
SELECT name, setting FROM pg_settings
WHERE name IN ('DateStyle', 'TimeZone', 'IntervalStyle', 'extra_float_digits', 'bytea_output')
ORDER BY name COLLATE "C";

-- options are those of simhash_row
SELECT simhash_record(r, 'body', '{id}', 5, 3, 'char:2', 'tf', 'bkdr', true)
         = simhash_row(body, ARRAY[who], 5, 3, 'char:2', 'tf', 'bkdr', true) AS options,
       simhash_record(r, content => NULL) = simhash_row(NULL, ARRAY[id::text, body, who]) AS no_content,
       simhash_record(r, content => 'who', exclude => '{id,body,body}') = simhash(who) AS excluded,
       simhash_record(r, content => 'id', exclude => '{who,body}') = simhash(id::text) AS number_as_content
FROM (SELECT 7 AS id, 'to whom it may concern' AS body, 'Li Ming' AS who) r;
SELECT simhash_record(NULL), simhash_record(NULL::petition), simhash_record(p, exclude => '{id}')
FROM petition p WHERE id = 3;

-- mistakes
SELECT simhash_record(p, 'body') FROM petition p;
SELECT simhash_record(p, 'gone') FROM petition p;
SELECT simhash_record(p, exclude => '{id,nothing}') FROM petition p;
SELECT simhash_record(p, exclude => '{id,content}') FROM petition p;
SELECT simhash_record(p, exclude => '{NULL}') FROM petition p;
SELECT simhash_record(p, field_weight => -1) FROM petition p;
SELECT simhash_record(p, field_weight => NULL) FROM petition p;
SELECT simhash_record(p, tokenizer => 'none') FROM petition p;
SELECT simhash_record(ROW(1, 'a'));

-- types without a text form to rely on
CREATE TYPE with_name AS (a integer, b regclass);
CREATE DOMAIN class_domain AS regclass;
SELECT simhash_field('pg_class'::regclass);
SELECT simhash_field('{pg_class}'::regclass[]);
SELECT simhash_field('pg_class'::class_domain);
SELECT simhash_field(mood) FROM petition;
SELECT simhash_field(place) FROM petition;
SELECT simhash_field(ARRAY['calm']::mood[]);
SELECT simhash_record(r) FROM (SELECT 'c' AS content, 'pg_class'::regclass) r;
SELECT simhash_record(r) FROM (SELECT 'c' AS content, '(1,pg_class)'::with_name AS thing) r;
SELECT simhash_record(r) FROM (SELECT 'c' AS content, ROW(1, 2) AS thing) r;
SELECT simhash_record(r, exclude => '{thing}') = simhash('c') AS left_out
FROM (SELECT 'c' AS content, ROW(1, 2) AS thing) r;

-- a user's own casts to text: with the modifiers they may want, under the
-- pinned settings, to NULL, and with errors, after which all is as before
CREATE TYPE own AS (n integer);
CREATE FUNCTION own_text(own, integer, boolean) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF $1.n = 0 THEN
    RAISE EXCEPTION 'no text for zero under %', current_setting('TimeZone');
  ELSIF $1.n > 0 THEN
    RETURN format('%s %s %s %s', $1.n, $2, $3, current_setting('TimeZone'));
  END IF;
  RETURN NULL;
END $$;
CREATE CAST (own AS text) WITH FUNCTION own_text(own, integer, boolean);
SELECT simhash_field(ROW(1)::own), simhash_field(ROW(-1)::own) IS NULL AS null_text;
SELECT simhash_record(r) = simhash('c') AS null_text FROM (SELECT 'c' AS content, ROW(-1)::own) r;
SELECT simhash_record(r) FROM (SELECT 'c' AS content, ROW(0)::own) r;
SHOW TimeZone;
DO $$
BEGIN
  PERFORM simhash_field(ROW(0)::record.own);
EXCEPTION WHEN raise_exception THEN
  RAISE NOTICE '%, then %', SQLERRM, current_setting('TimeZone');
END $$;
DROP CAST (own AS text);
ALTER FUNCTION own_text VOLATILE;
CREATE CAST (own AS text) WITH FUNCTION own_text(own, integer, boolean);
SELECT simhash_field(ROW(1)::own);

-- records of one shape after the other through one call
DO $$
DECLARE
  r record;
  query text;
BEGIN
  FOREACH query IN ARRAY ARRAY['SELECT 1 AS a, ''c'' AS content', 'SELECT ''c'' AS content, date ''2024-01-02'' AS b, true AS d, 5 AS e',
                               'SELECT true AS x, ''c''::varchar AS content', 'SELECT ''c'' AS content'] LOOP
    EXECUTE query INTO r;
    RAISE NOTICE '% %', r, public.simhash_record(r);
  END LOOP;
END $$;
SELECT simhash_row('c', '{1}'), simhash_row('c', '{2024-01-02,true,5}'), simhash_row('c', '{true}'), simhash('c');

-- in a trigger, where generated columns are not there yet
CREATE TABLE kept (id integer, content text, who text, up text GENERATED ALWAYS AS (upper(who)) STORED, fp simhash64);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.fp := public.simhash_record(NEW, exclude => '{id}');
  RETURN NEW;
END $$;
CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO kept VALUES (1, 'noise at night', 'Li');
UPDATE kept SET id = 2;
SELECT fp = simhash_row(content, ARRAY[who]) AS kept, fp = simhash_record(k, exclude => '{id}') AS again FROM kept k;

-- the expression for a generated column
\pset format unaligned
\pset tuples_only on
SELECT simhash_row_expression('kept', exclude => '{id}');
SELECT simhash_row_expression('kept', NULL, '{id}', 3, 100, 'char:4', 'set', 'murmur3', true);
SELECT simhash_row_expression('petition', exclude => '{mood,place}');
\pset tuples_only off
\pset format aligned
SELECT simhash_row_expression(NULL) IS NULL AS null_of_null;
SELECT simhash_row_expression('petition');
SELECT simhash_row_expression('kept', 'body');
SELECT simhash_row_expression('kept', exclude => '{body}');
SELECT simhash_row_expression('kept', weighting => 'much');
SELECT simhash_row_expression('petition_pkey');

SELECT format('ALTER TABLE petition ADD generated simhash64 GENERATED ALWAYS AS (%s) STORED',
              simhash_row_expression('petition', exclude => '{mood,place}')) \gexec
SELECT id FROM petition p WHERE generated IS DISTINCT FROM simhash_record(p, exclude => '{mood,place}');
SET TimeZone = 'Pacific/Chatham';
UPDATE petition SET n = n;
SELECT id FROM petition p WHERE generated IS DISTINCT FROM simhash_record(p, exclude => '{mood,place}');

CREATE TABLE "Odd ""names""" ("Content" text, "a,b" text, "select" integer, "x""y" date, empty char(3));
SELECT format('ALTER TABLE "Odd ""names""" ADD fp simhash64 GENERATED ALWAYS AS (%s) STORED',
              simhash_row_expression('"Odd ""names"""', 'Content')) \gexec
INSERT INTO "Odd ""names""" VALUES ('c', 'b', 3, '2024-01-02', NULL), (NULL, 'b', 4, NULL, 'x'), (NULL, NULL, NULL, NULL, '');
SELECT fp, fp = simhash_record(o, 'Content') AS as_record FROM "Odd ""names""" o ORDER BY "select";
CREATE TABLE only_content (content text);
SELECT format('ALTER TABLE only_content ADD fp simhash64 GENERATED ALWAYS AS (%s) STORED',
              simhash_row_expression('only_content')) \gexec
INSERT INTO only_content VALUES ('c');
SELECT fp = simhash('c') AS content_only FROM only_content;

-- why there is a generator: a whole row cannot stand in a generated column
CREATE TABLE whole (content text, fp simhash64 GENERATED ALWAYS AS (simhash_record(whole)) STORED);

-- a parallel plan gives what a serial one gives
CREATE TABLE many AS
SELECT i AS id, 'petition number ' || i AS content, now() - i * interval '1 day' AS at, i / 7.0::float8 AS f
FROM generate_series(1, 1000) i;
SELECT array_agg(simhash_record(m) ORDER BY id) AS serial FROM many m \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT simhash_record(m) FROM many m;
SELECT array_agg(fp ORDER BY id) = :'serial' AS equal
FROM (SELECT id, simhash_record(m) AS fp FROM many m OFFSET 0) AS parallel;

SET client_min_messages = warning;
DROP SCHEMA record CASCADE;
RESET ALL;
