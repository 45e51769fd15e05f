-- field: the text of a value that no setting changes, for rows of many types
CREATE SCHEMA field;
SET search_path = field, public;
SET TimeZone = 'America/New_York';
CREATE TYPE mood AS ENUM ('calm', 'angry');
CREATE TYPE place AS (district text, since date);
CREATE DOMAIN title AS text;
CREATE DOMAIN tags AS text[];

CREATE TABLE petition (
  id integer PRIMARY KEY, content text, title title, who varchar(20),
  urgent boolean, code char(5), letter "char", name name, n numeric(10,2), f4 real, f8 float8,
  at timestamptz, noted timestamp, day date, hour time, hour_there timetz, took interval,
  fee money, scan bytea, address inet, key uuid, doc jsonb, area point,
  mood mood, place place, tags tags, days date[], period tstzrange, periods datemultirange,
  bits varbit, words tsvector);
INSERT INTO petition VALUES
  (1, 'The street lights in Mill Lane are broken', ' Lights ', 'Li', true, 'ab', 'x', 'n', 12.50, 0.1, 0.1::float8 + 0.2,
   '2024-01-02 03:04:05+02', '2024-01-02 03:04:05', '2024-01-02', '03:04', '03:04+02', '1 day 02:00',
   12.5, '\x01ff5c', '10.0.0.1', '6ecd8c99-4036-403d-bf84-cf8400f67836', '{"a": 1}', '(0.1,0.30000000000000004)',
   'calm', '("Mill Lane",2024-01-02)', '{a,"b c"}', '{2024-01-02}', '[2024-01-01,2024-02-01)', '{[2024-01-01,2024-02-01)}',
   B'101', 'a:1');
INSERT INTO petition (id, content) VALUES (2, 'The street lights in Mill Lane are broken'), (3, NULL);

-- the text of each value, as it is cast here
CREATE VIEW fields AS
SELECT id, ARRAY[simdup_field(title), simdup_field(who), simdup_field(urgent), simdup_field(code), simdup_field(letter),
    simdup_field(name), simdup_field(n), simdup_field(f4), simdup_field(f8), simdup_field(at), simdup_field(noted),
    simdup_field(day), simdup_field(hour), simdup_field(hour_there), simdup_field(took), simdup_field(fee),
    simdup_field(scan), simdup_field(address), simdup_field(key), simdup_field(doc), simdup_field(area),
    simdup_field(tags), simdup_field(days), simdup_field(period), simdup_field(periods), simdup_field(bits),
    simdup_field(words)] AS fields
FROM petition;
SET DateStyle = 'ISO';
SET TimeZone = 'UTC';
SET lc_monetary = 'C';
SET IntervalStyle = 'postgres';
SELECT id, fields = ARRAY[title, who, urgent::text, code::text, letter::text, name::text, n::text, f4::text, f8::text,
    at::text, noted::text, day::text, hour::text, hour_there::text, took::text, fee::text, scan::text, address::text,
    key::text, doc::text, area::text, tags::text, days::text, period::text, periods::text, bits::text, words::text] AS as_cast
FROM petition JOIN fields USING (id) ORDER BY id;

-- no setting changes it, and none is changed
CREATE TABLE kept AS TABLE fields;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Kathmandu';
SET IntervalStyle = 'iso_8601';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
SET xmlbinary = 'hex';
SELECT id FROM kept JOIN fields USING (id) WHERE kept.fields IS DISTINCT FROM fields.fields;
SELECT simdup_field(at) AS at, simdup_field(day) AS day, simdup_field(took) AS took,
       simdup_field(f8) AS f8, simdup_field(scan) AS scan, simdup_field(fee) AS fee,
       simdup_field(period) AS period, simdup_field(periods) AS periods,
       simdup_field(days) AS days, simdup_field(area) AS area, simdup_field(f4) AS f4,
       simdup_field(urgent) AS urgent, simdup_field(hour_there) AS hour_there,
       simdup_field(title) AS title, simdup_field(tags) AS tags, simdup_field(words) AS words
FROM petition WHERE id = 1 \gx
SELECT name, setting FROM pg_settings
WHERE name IN ('DateStyle', 'TimeZone', 'IntervalStyle', 'extra_float_digits', 'bytea_output')
ORDER BY name COLLATE "C";

-- types without a text form to rely on
CREATE TYPE with_name AS (a integer, b regclass);
CREATE DOMAIN class_domain AS regclass;
SELECT simdup_field('pg_class'::regclass);
SELECT simdup_field('{pg_class}'::regclass[]);
SELECT simdup_field('pg_class'::class_domain);
SELECT simdup_field('(1,pg_class)'::with_name);
SELECT simdup_field(ROW(1, 2));
SELECT simdup_field(mood) FROM petition;
SELECT simdup_field(place) FROM petition;
SELECT simdup_field(ARRAY['calm']::mood[]);

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
SELECT simdup_field(ROW(1)::own), simdup_field(ROW(-1)::own) IS NULL AS null_text;
SELECT simdup_field(ROW(0)::own);
SHOW TimeZone;
DO $$
BEGIN
  PERFORM simdup_field(ROW(0)::field.own);
EXCEPTION WHEN raise_exception THEN
  RAISE NOTICE '%, then %', SQLERRM, current_setting('TimeZone');
END $$;
DROP CAST (own AS text);
ALTER FUNCTION own_text VOLATILE;
CREATE CAST (own AS text) WITH FUNCTION own_text(own, integer, boolean);
SELECT simdup_field(ROW(1)::own);

-- in a generated column and in an index
ALTER TABLE petition ADD fp simhash64 GENERATED ALWAYS AS
  (simhash_row(content, ARRAY[who, simdup_field(at), simdup_field(fee), simdup_field(period)])) STORED;
CREATE INDEX ON petition (simdup_field(at));
SET TimeZone = 'Pacific/Chatham';
UPDATE petition SET n = n;
SELECT id FROM petition
WHERE fp IS DISTINCT FROM simhash_row(content, ARRAY[who, simdup_field(at), simdup_field(fee), simdup_field(period)]);

SET client_min_messages = warning;
DROP SCHEMA field CASCADE;
RESET ALL;
