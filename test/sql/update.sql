--
-- update: simhash_update_trigger gives what simhash_row and simhash_record give
--
SET client_min_messages = warning;
CREATE SCHEMA "update";
SET search_path = "update", public;

-- fields of types whose text depends on settings: the trigger pins them
CREATE TYPE mood AS ENUM ('calm', 'angry');
CREATE TYPE place AS (district text, since date);
CREATE TABLE letter (
  id int, content varchar(200), scan bytea, area point, amount float8, weight real, at timestamptz, day date,
  took interval, fee money, hour timetz, period tstzrange, days date[], mood mood, place place, code char(8),
  urgent bool, doc jsonb, fp simhash64);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger(
  'fp', 'content', 'scan', 'area', 'amount', 'weight', 'at', 'day', 'took', 'fee', 'hour', 'period', 'days', 'mood',
  'place', 'code', 'urgent', 'doc');
CREATE VIEW letters AS SELECT * FROM (VALUES
  ('the lights in the park are out', '\x01ff5c'::bytea, '(0.1,0.30000000000000004)'::point, 0.1::float8 + 0.2, 0.1::real,
   '2024-01-02 03:04:05+02'::timestamptz, '2024-01-02'::date, '1 day 02:00'::interval, 12.5::float8::numeric::money,
   '03:04+02'::timetz, '[2024-01-01 00:00+00,2024-02-01 00:00+00)'::tstzrange, '{2024-01-02}'::date[], 'calm'::mood,
   '("Mill Lane",2024-01-02)'::place, ' Ab ', true, '{"a": 1}'::jsonb)) AS v;
INSERT INTO letter SELECT 1, * FROM letters;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Kathmandu';
SET IntervalStyle = 'iso_8601';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
INSERT INTO letter SELECT 2, content, scan, area, amount, weight, at, day, took, fee, hour, period, days, mood, place,
  code, urgent, doc FROM letter WHERE id = 1;
UPDATE letter SET content = content WHERE id = 1;
SELECT count(DISTINCT fp) AS fingerprints, bool_and(fp = simhash_record(l, exclude => '{id}')) AS as_record FROM letter l;
RESET DateStyle;
RESET TimeZone;
RESET IntervalStyle;
RESET extra_float_digits;
RESET bytea_output;
SELECT bool_and(fp = simhash_record(l, exclude => '{id}')) AS as_record,
       bool_and(fp = simhash_row(content, ARRAY[simhash_field(scan), simhash_field(area), simhash_field(amount),
         simhash_field(weight), simhash_field(at), simhash_field(day), simhash_field(took), simhash_field(fee),
         simhash_field(hour), simhash_field(period), simhash_field(days), mood::text, '("Mill Lane",2024-01-02)',
         code::text, urgent::text, doc::text])) AS as_row
FROM letter l;
DROP TABLE letter CASCADE;

-- a user's cast to text: called with all its arguments, the same for each row
CREATE TYPE own AS (n integer);
CREATE FUNCTION own_text(own, integer, boolean) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
  $$ BEGIN RETURN CASE WHEN $1.n > 0 THEN format('%s %s %s', $1.n, $2, $3) END; END $$;
CREATE CAST (own AS text) WITH FUNCTION own_text(own, integer, boolean);
CREATE TABLE casted (body text, thing own, fp simhash64);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON casted FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('fp', 'body', 'thing');
INSERT INTO casted SELECT 'a b c', ROW(7)::own FROM generate_series(1, 50);
SELECT count(DISTINCT fp) AS fingerprints, bool_and(fp = simhash_row(body, ARRAY['7 -1 t'])) AS as_row FROM casted;
TRUNCATE casted;
INSERT INTO casted VALUES ('a b c', ROW(-1));
SELECT fp = simhash('a b c') AS null_text FROM casted;
DROP TABLE casted;

-- a domain over simhash64 is checked
CREATE DOMAIN even AS simhash64 CHECK (VALUE::bigint % 2 = 0);
CREATE DOMAIN present AS simhash64 NOT NULL;
CREATE TABLE checked (body text, fp even);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON checked FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('fp', 'body');
CREATE TABLE required (body text, fp present DEFAULT '0000000000000000');
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON required FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('fp', 'body');
SELECT v, simhash(v)::bigint % 2 = 0 AS even FROM (VALUES ('one'), ('four')) AS x (v);
DO $$
DECLARE
  word text;
BEGIN
  FOREACH word IN ARRAY ARRAY['one', 'two', 'three', 'four', 'five', 'six', NULL] LOOP
    BEGIN
      INSERT INTO checked VALUES (word);
    EXCEPTION WHEN check_violation THEN NULL;
    END;
  END LOOP;
END $$;
SELECT count(*) > 1 AS some, count(*) < 7 AS not_all, bool_and(fp IS NULL OR fp::bigint % 2 = 0) AS checked,
       bool_and(fp IS NOT DISTINCT FROM simhash(body)) AS is_right FROM checked;
INSERT INTO required VALUES ('some words');
INSERT INTO required VALUES (NULL);
UPDATE required SET body = '...';
SELECT body, fp = simhash(body) AS is_right FROM required;

-- one default profile for SQL, trigger and simdup_explain
CREATE TABLE plain (body text, fp simhash64);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('fp', 'body');
INSERT INTO plain VALUES ('The THE the lights, lights of 街灯 the park'), ('another text of the town'), ('...'), (NULL);
SELECT bool_and(fp IS NOT DISTINCT FROM simhash(body)) AS as_simhash,
       bool_and(fp IS NOT DISTINCT FROM simhash_row(body, '{}')) AS as_row FROM plain;
SELECT (simdup_explain(a.body, b.body, 'simhash')).distance = a.fp <~> b.fp AS as_explained
FROM plain a, plain b WHERE a.body ~ 'lights' AND b.body ~ 'town';
SELECT proname, pg_get_expr(proargdefaults, 0) FROM pg_proc WHERE proname IN ('simhash', 'simhash_row', 'simhash_record')
  AND proargnames::text[] @> '{tokenizer}' ORDER BY 1;

-- options
CREATE TABLE optional (id int, body text, place text, "w => x" text, fp simhash64);
CREATE FUNCTION with_options(VARIADIC options text[]) RETURNS simhash64 LANGUAGE plpgsql AS $$
DECLARE
  found simhash64;
BEGIN
  EXECUTE 'CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON optional FOR EACH ROW EXECUTE FUNCTION '
    'simhash_update_trigger(''fp'', ''body'', ''place'', ' || (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) o) || ')';
  INSERT INTO optional VALUES (1, 'The lights in the park are out and the park is dark', 'North', 'x') RETURNING fp INTO found;
  RETURN found;
END $$;
\set row 'The lights in the park are out and the park is dark'
SELECT with_options('tokenizer => char:3') = simhash_row(:'row', '{North}', tokenizer => 'char:3') AS tokenizer,
       with_options('weighting => tf', 'hash => murmur3') = simhash_row(:'row', '{North}', weighting => 'tf', hash => 'murmur3') AS weighting_and_hash,
       with_options('n_features => 2', 'ties => true') = simhash_row(:'row', '{North}', n_features => 2, ties => true) AS n_features_and_ties,
       with_options('field_weight => 5') = simhash_row(:'row', '{North}', 5) AS field_weight,
       with_options('w => x') = simhash_row(:'row', '{North,x}') AS a_column,
       with_options('tokenizer => word', 'w => x', 'weighting => set') = simhash_row(:'row', '{North,x}', weighting => 'set') AS among_them;
\set VERBOSITY terse
SELECT with_options('tokenizer => words');
SELECT with_options('tokenizer =>');
SELECT with_options('weight => tf');
SELECT with_options('field_weight => -1');
SELECT with_options('n_features => 0');
SELECT with_options('n_features => many');
SELECT with_options('ties => perhaps');
\set VERBOSITY default

-- partitions, whose columns are in another order
CREATE TABLE part (gone int, id int PRIMARY KEY, body text, day date, fp simhash64) PARTITION BY RANGE (id);
CREATE TABLE part_low (fp simhash64, day date, body text, id int NOT NULL);
ALTER TABLE part DROP COLUMN gone;
ALTER TABLE part ATTACH PARTITION part_low FOR VALUES FROM (0) TO (100);
CREATE TABLE part_high PARTITION OF part FOR VALUES FROM (100) TO (200);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON part FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('fp', 'body', 'day');
INSERT INTO part (id, body, day) VALUES (1, 'a b c', '2024-01-02'), (101, 'a b c', '2024-01-02');
INSERT INTO part_low (id, body, day) VALUES (2, 'a b c', '2024-01-02');
UPDATE part SET id = id + 100, body = 'd e f' WHERE id = 2;
SELECT tableoid::regclass, id, fp = simhash_row(body, ARRAY[simhash_field(day)]) AS is_right FROM part ORDER BY id;

-- minhash64_update_trigger gives what minhash64 and minhash64_row give
CREATE TABLE sketched (id int, body text, place text, at timestamptz, fp simhash64);
CREATE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION minhash64_update_trigger('fp', 'body');
INSERT INTO sketched (id, body, place, at) VALUES (1, 'Die Straßenlampen im Park sind aus', 'North', '2024-01-02 03:04:05+02'),
  (2, 'ｔｈｅ　ｌｉｇｈｔｓ', '  ', NULL), (3, '...', 'North', NULL), (4, NULL, NULL, NULL);
SELECT bool_and(fp IS NOT DISTINCT FROM minhash64(body)) AS as_minhash64, count(fp) FROM sketched;
CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW
  EXECUTE FUNCTION minhash64_update_trigger('fp', 'body', 'place', 'at', 'w => 2', 'unit => word', 'field_share => 0.5');
SET TimeZone = 'Asia/Kathmandu';
SET DateStyle = 'SQL, DMY';
UPDATE sketched SET body = body;
RESET TimeZone;
RESET DateStyle;
SELECT bool_and(fp IS NOT DISTINCT FROM minhash64_row(body, ARRAY[place, simhash_field(at)], 0.5, 2, 'word')) AS as_row, count(fp)
FROM sketched;
\set VERBOSITY terse
CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION minhash64_update_trigger('fp', 'body', 'w => 0');
UPDATE sketched SET body = body;
CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION minhash64_update_trigger('fp', 'body', 'unit => line');
UPDATE sketched SET body = body;
CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION minhash64_update_trigger('fp', 'body', 'field_share => NaN');
UPDATE sketched SET body = body;
CREATE OR REPLACE TRIGGER fp BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION minhash64_update_trigger('fp', 'body', 'tokenizer => word');
UPDATE sketched SET body = body;
\set VERBOSITY default

-- columns that cannot be sources
CREATE TABLE wrong (id int, body text, doc jsonb, class regclass, fp simhash64, up text GENERATED ALWAYS AS (upper(body)) STORED);
CREATE PROCEDURE try(arguments text) LANGUAGE plpgsql AS $$
DECLARE
  state text; message text; detail text; hint text;
BEGIN
  EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger(%s)', arguments);
  INSERT INTO wrong VALUES (1, 'a b');
  RAISE WARNING '% works', arguments;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
    detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE WARNING E'% %\n  %\n  %', state, message, detail, hint;
END $$;
CALL try($$'fp', 'doc'$$);
CALL try($$'fp', 'up'$$);
CALL try($$'fp', 'body', 'class'$$);
CALL try($$'fp', 'tokenizer => word'$$);

SET client_min_messages = error;
DROP SCHEMA "update" CASCADE;
