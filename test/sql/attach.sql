--
-- attach: an existing table gets, changes and loses fingerprints and a trigger
--
SET client_min_messages = warning;
CREATE SCHEMA attach;
SET search_path = attach, public;
-- what attach did not make must be there in the end as it was in the beginning
CREATE FUNCTION columns_of(target regclass) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped $$;
CREATE FUNCTION triggers_of(target regclass) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(regexp_replace(pg_get_triggerdef(oid), '.*EXECUTE FUNCTION ', ''), '; ' ORDER BY tgname)
     FROM pg_trigger WHERE tgrelid = target AND NOT tgisinternal $$;

CREATE TABLE "Pet ition" ("Id" int PRIMARY KEY, "Body" text, place varchar(40), ok bool);
INSERT INTO "Pet ition" SELECT i, 'petition number ' || i || ' about ' || md5(i::text), 'place ' || i % 3, i % 2 = 0
  FROM generate_series(1, 50) i;
INSERT INTO "Pet ition" VALUES (100, ''), (101, NULL);
CREATE TABLE part (id int NOT NULL, region text, body text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE part_n PARTITION OF part FOR VALUES IN ('n');
\pset format unaligned
\pset tuples_only on
SELECT simdup_attach('"Pet ition"', 'Body', ARRAY['place', 'ok'], dry_run => true);
SELECT simdup_attach('"Pet ition"', 'Body', max_distance => 8, action => 'log', log_table => 'public."Log"', dry_run => true,
                     fingerprint => 'simhash', tokenizer => 'char:4', weighting => 'set', backfill => true);
SELECT simdup_attach('"Pet ition"', 'Body', live => true, dry_run => true, w => 2, unit => 'word', foreign_key => true);
SELECT simdup_attach('part', 'body', action => 'log', key => 'id', live => true, dry_run => true);
SELECT count(*) FROM pg_trigger WHERE tgrelid = '"Pet ition"'::regclass;
SELECT count(*) FROM simdup_attach('"Pet ition"', 'Body', ARRAY['place', 'ok']);
\pset format aligned
\pset tuples_only off
\d "Pet ition"
INSERT INTO "Pet ition" SELECT 200, "Body", place, ok FROM "Pet ition" WHERE "Id" = 7;
SELECT "Id", simdup_of FROM "Pet ition" WHERE simdup_of IS NOT NULL OR simdup_fp IS NULL ORDER BY 1;
SELECT count(*) FROM "Pet ition" WHERE simdup_fp IS DISTINCT FROM minhash64_row("Body", ARRAY[place, ok::text]);
SELECT simdup_attach('"Pet ition"', 'Body');
SELECT simdup_detach('"Pet ition"', dry_run => true);
SELECT simdup_detach('"Pet ition"');
\d "Pet ition"
SELECT simdup_detach('"Pet ition"');
DELETE FROM "Pet ition" WHERE "Id" = 200;
-- the statements for a live table, run one by one
SELECT simdup_attach('"Pet ition"', 'Body', ARRAY['place'], action => 'reject', live => true, dry_run => true) \gexec
INSERT INTO "Pet ition" SELECT 200, "Body", place, ok FROM "Pet ition" WHERE "Id" = 7;
SELECT simdup_detach('"Pet ition"', keep_columns => true);
SELECT count(simdup_fp) FROM "Pet ition";
-- a column that was kept is the table's own
SELECT simdup_detach('"Pet ition"');
ALTER TABLE "Pet ition" RENAME COLUMN simdup_fp TO kept;
SELECT count(*) FROM simdup_attach('"Pet ition"', 'Body');
SELECT count(*) FROM simdup_alter('"Pet ition"', max_distance => 5);
SELECT count(*) FROM simdup_detach('"Pet ition"');
SELECT columns_of('"Pet ition"');
SELECT count(*) FROM simdup_attach('"Pet ition"', 'Body', action => 'log');
INSERT INTO "Pet ition" SELECT 200, "Body", place, ok FROM "Pet ition" WHERE "Id" = 7;
SELECT new_key, old_key, distance FROM "Pet ition_simdup_log";
DROP TABLE "Pet ition", "Pet ition_simdup_log";

--
-- detach takes off what attach made, and nothing else
--
CREATE TABLE own (id int PRIMARY KEY, body text, simdup_of int DEFAULT 7, note text);
INSERT INTO own VALUES (1, 'the lights in the park are out');
SELECT count(*) FROM simdup_attach('own', 'body', action => 'reject');
SELECT simdup_detach('own');
SELECT * FROM own;
SELECT simdup_attach('own', 'body', action => 'flag');
SELECT simdup_attach('own', 'body', action => 'flag', dry_run => true);
-- after renames, by the comments; not what looks like it, nor who lost the comment
CREATE TABLE renamed (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('renamed', 'body');
ALTER TABLE renamed RENAME TO "Renamed again";
ALTER TABLE "Renamed again" RENAME COLUMN simdup_of TO "Repeats";
ALTER TABLE "Renamed again" RENAME COLUMN simdup_fp TO print;
ALTER TABLE "Renamed again" ADD COLUMN simdup_fp simhash64, ADD COLUMN simdup_of int;
SELECT simdup_detach('"Renamed again"');
SELECT columns_of('"Renamed again"');
SELECT count(*) FROM simdup_attach('part', 'body', key => 'id');
COMMENT ON COLUMN part.simdup_of IS 'now mine';
SELECT simdup_detach('part');
SELECT columns_of('part');
ALTER TABLE part DROP COLUMN simdup_of;
-- a copy has the comments, and was never attached
CREATE TABLE original (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('original', 'body');
CREATE TABLE copied (LIKE original INCLUDING ALL);
SELECT simdup_detach('copied');
SELECT simdup_attach('copied', 'body');
SELECT columns_of('copied');
-- an attachment of 0.2.0 has no comments: its triggers tell
CREATE TABLE before (id int PRIMARY KEY, body text, simdup_fp simhash64, simdup_of int);
CREATE TRIGGER simdup_1_fingerprint BEFORE INSERT OR UPDATE ON before FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('simdup_fp', 'body');
CREATE TRIGGER simdup_2_arrival BEFORE INSERT OR UPDATE ON before FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('simdup_fp', 'id', '3');
SELECT simdup_detach('before', dry_run => true);
CREATE OR REPLACE TRIGGER simdup_2_arrival BEFORE INSERT OR UPDATE ON before FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('simdup_fp', 'simdup_of', 'id', '3');
SELECT simdup_detach('before', dry_run => true);
SELECT simdup_alter('before', max_distance => 5, dry_run => true);
-- altered in 0.3.0, only its flag has a comment; a user's comment keeps a column
CREATE TABLE before_altered (id int PRIMARY KEY, body text, simdup_fp simhash64);
CREATE TRIGGER simdup_1_fingerprint BEFORE INSERT OR UPDATE ON before_altered FOR EACH ROW EXECUTE FUNCTION simhash_update_trigger('simdup_fp', 'body');
CREATE TRIGGER simdup_2_arrival BEFORE INSERT OR UPDATE ON before_altered FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('simdup_fp', 'id', '3');
SELECT count(*) FROM simdup_alter('before_altered', action => 'flag');
SELECT simdup_detach('before_altered', keep_columns => true, dry_run => true);
COMMENT ON COLUMN before_altered.simdup_fp IS 'mine';
SELECT simdup_detach('before_altered', dry_run => true);
COMMENT ON COLUMN before_altered.simdup_fp IS NULL;
SELECT simdup_detach('before_altered');
SELECT columns_of('before_altered');
-- triggers of these names that are not the extension's
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE OR REPLACE TRIGGER simdup_1_fingerprint BEFORE INSERT OR UPDATE ON before FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT simdup_detach('before', dry_run => true);
DROP TRIGGER simdup_2_arrival ON before;
SELECT simdup_detach('before');
-- what was attached comes off also where a foreign partition came later
CREATE TABLE afar (id int NOT NULL, region text, body text) PARTITION BY LIST (region);
CREATE UNIQUE INDEX ON afar (region, id);
CREATE TABLE afar_near PARTITION OF afar FOR VALUES IN ('near');
SELECT count(*) FROM simdup_attach('afar', 'body', key => 'id');
DROP INDEX afar_region_id_idx;
CREATE FOREIGN DATA WRAPPER simdup_nowhere;
CREATE SERVER simdup_nowhere FOREIGN DATA WRAPPER simdup_nowhere;
CREATE FOREIGN TABLE afar_far PARTITION OF afar FOR VALUES IN ('far') SERVER simdup_nowhere;
SELECT simdup_attach('afar', 'body', key => 'id');
SELECT simdup_detach('afar_near');
SELECT count(*) FROM simdup_detach('afar');
\d afar
DROP TABLE afar;
DROP FOREIGN DATA WRAPPER simdup_nowhere CASCADE;

--
-- The rows that are there: flags and pairs by the batch join
--
CREATE TABLE old (id int PRIMARY KEY, body text);
INSERT INTO old SELECT i, CASE WHEN i % 4 = 0 THEN 'the same letter about the street lights in Mill Lane'
    WHEN i % 4 = 1 THEN 'the same letter about the street lights in Mill Lane, again'
    ELSE md5(i::text) || md5((i + 1)::text) END FROM generate_series(1, 60) i;
INSERT INTO old VALUES (0, NULL), (-1, '...');
-- what the trigger would have said, had the rows arrived in the order of the key
CREATE FUNCTION wrong_flags(target regclass, k int, OUT wrong bigint, OUT flags bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count(*) FILTER (WHERE simdup_of IS DISTINCT FROM
    (SELECT o.id FROM %1$s o WHERE o.id < t.id AND o.simdup_fp <~> t.simdup_fp <= %2$s
     ORDER BY o.simdup_fp <~> t.simdup_fp, o.id LIMIT 1)), count(simdup_of) FROM %1$s t', target, k) INTO wrong, flags;
END $$;
SELECT count(*) FROM simdup_attach('old', 'body');
SELECT * FROM wrong_flags('old', 8);
SELECT count(*) FROM simdup_alter('old', max_distance => 12, backfill => true);
SELECT * FROM wrong_flags('old', 12);
SELECT count(*) FROM simdup_detach('old');
SELECT count(*) FROM simdup_attach('old', 'body', backfill => false);
SELECT count(simdup_of) FROM old;
SELECT count(*) FROM simdup_detach('old');
SELECT count(*) FROM simdup_attach('old', 'body', action => 'log', backfill => true);
SELECT count(*) = (SELECT count(*) FROM old a JOIN old b ON a.id > b.id AND a.simdup_fp <~> b.simdup_fp <= 8) AS all_pairs,
       bool_and(new_key > old_key) AS in_order FROM old_simdup_log;
SELECT count(*) FROM simdup_detach('old');
DROP TABLE old_simdup_log;
SELECT simdup_attach('old', 'body', live => true, dry_run => true) \gexec
SELECT * FROM wrong_flags('old', 8);
SELECT count(*) FROM simdup_detach('old');
-- keys of other types: text in another order, uuid, a domain, smallint, a type with a modifier
CREATE DOMAIN number AS varchar(8) CHECK (length(VALUE) > 0);
CREATE TABLE by_text (id varchar(10) COLLATE "C" PRIMARY KEY, body text);
CREATE TABLE by_uuid (id uuid PRIMARY KEY, body text);
CREATE TABLE by_domain (id number PRIMARY KEY, body text);
CREATE TABLE by_smallint (id smallint PRIMARY KEY, body text);
CREATE TABLE by_numeric (id numeric(9, 3) PRIMARY KEY, body text);
INSERT INTO by_text SELECT chr(65 + id % 2 * 32 + id % 20) || id, body FROM old;
INSERT INTO by_uuid SELECT md5(id::text)::uuid, body FROM old;
INSERT INTO by_domain SELECT id, body FROM old;
INSERT INTO by_smallint SELECT id, body FROM old;
INSERT INTO by_numeric SELECT id / 8.0, body FROM old;
SELECT t, (SELECT count(*) FROM simdup_attach(t, 'body', foreign_key => true)) AS statements,
       (wrong_flags(t, 8)).*
FROM unnest(ARRAY['by_text', 'by_uuid', 'by_domain', 'by_smallint', 'by_numeric']::regclass[]) AS t;
SELECT attrelid::regclass::text COLLATE "C" AS "table", format_type(atttypid, atttypmod), collname
FROM pg_attribute LEFT JOIN pg_collation c ON c.oid = attcollation
WHERE attrelid::regclass::text ~ '^by_[a-z]*$' AND attname = 'simdup_of' ORDER BY 1;

--
-- A foreign key: no flag points to a row that is gone
--
CREATE TABLE referring (id int PRIMARY KEY, body text);
INSERT INTO referring VALUES (1, 'the lights in the park are out'), (2, 'the lights in the park are out');
SELECT count(*) FROM simdup_attach('referring', 'body', foreign_key => true);
INSERT INTO referring VALUES (3, 'the lights in the park are out');
SELECT id, simdup_of FROM referring ORDER BY id;
DELETE FROM referring WHERE id = 1;
SELECT id, simdup_of FROM referring ORDER BY id;
SELECT count(*) FROM simdup_alter('referring', foreign_key => true);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'referring'::regclass AND contype = 'f';
SELECT count(*) FROM simdup_detach('referring');
\d referring
SELECT simdup_attach('referring', 'body', live => true, dry_run => true, foreign_key => true) \gexec
SELECT pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE conrelid = 'referring'::regclass AND contype = 'f';

--
-- simdup_alter: one call, nothing is lost
--
CREATE TABLE changed (id int PRIMARY KEY, body text, place text, mood text);
INSERT INTO changed VALUES (1, 'the lights in the park are out', 'North'), (2, 'the lights in the park are out', 'South');
SELECT count(*) FROM simdup_attach('changed', 'body');
SELECT id, simdup_of FROM changed ORDER BY id;
UPDATE changed SET simdup_of = NULL; -- a person looked
\pset format unaligned
\pset tuples_only on
SELECT simdup_alter('changed');
SELECT simdup_alter('changed', max_distance => 5);
SELECT simdup_alter('changed', fields => '{place}', w => 2);
SELECT simdup_alter('changed', w => 3, unit => 'word');
SELECT simdup_alter('changed', fingerprint => 'simhash', max_distance => 4, dry_run => true);
SELECT simdup_alter('changed', w => 4, live => true, dry_run => true);
SELECT simdup_alter('changed', action => 'reject');
SELECT simdup_alter('changed', action => 'log');
SELECT simdup_alter('changed', action => 'flag', content => 'mood', fields => '{}');
\pset format aligned
\pset tuples_only off
SELECT triggers_of('changed');
SELECT id, simdup_of, simdup_fp FROM changed ORDER BY id;
SELECT count(*) FROM simdup_alter('changed', content => 'body', fingerprint => 'simhash', tokenizer => 'char:3');
SELECT bool_and(simdup_fp = simhash(body, tokenizer => 'char:3')) FROM changed;
SELECT count(*) FROM simdup_alter('changed', action => 'log', log_table => 'attach.changed_simdup_log', backfill => true);
SELECT new_key, old_key, distance FROM changed_simdup_log;
SELECT count(*) FROM simdup_detach('changed');
SELECT columns_of('changed');
\set VERBOSITY terse
SELECT simdup_alter('changed', max_distance => 5);
SELECT count(*) FROM simdup_attach('changed', 'body', action => 'reject', backfill => true);
SELECT count(*) FROM simdup_attach('changed', 'body', action => 'reject', key => 'id', fingerprint => 'simhash');
SELECT simdup_alter('changed', max_distance => 65);
SELECT simdup_alter('changed', w => 2);
SELECT simdup_alter('changed', fields => '{simdup_fp}');
SELECT simdup_alter('changed', tokenizer => 'words');
SELECT simdup_alter('changed', live => true);
SELECT simdup_alter('changed', foreign_key => true);
ALTER TABLE changed ADD COLUMN simdup_of text;
SELECT simdup_alter('changed', action => 'flag');
\set VERBOSITY default

--
-- Names
--
CREATE TABLE a_table_with_a_name_of_63_bytes_which_is_as_long_as_a_name_goes (id int PRIMARY KEY, body text);
SELECT count(*) FROM simdup_attach('a_table_with_a_name_of_63_bytes_which_is_as_long_as_a_name_goes', 'body', action => 'log');
INSERT INTO a_table_with_a_name_of_63_bytes_which_is_as_long_as_a_name_goes VALUES (1, 'some words'), (2, 'some words');
SELECT new_key, old_key FROM a_table_with_a_name_of_63_bytes_which_is_as_long_as__simdup_log;
CREATE TABLE pages (simdup_page int PRIMARY KEY, simdup_page_ text, simdup_attach text, page int);
INSERT INTO pages VALUES (1, 'some words', 'x', 1), (2, 'some words', 'y', 2);
SELECT simdup_attach('pages', 'simdup_page_', '{simdup_page,page}', live => true, dry_run => true) \gexec
SELECT count(simdup_fp) FROM pages;
CREATE TABLE finds (id int PRIMARY KEY, found text, page int);
INSERT INTO finds VALUES (1, 'some words', 1), (2, 'some words', 2);
SELECT simdup_attach('finds', 'found', live => true, dry_run => true) \gexec
SELECT count(simdup_fp), count(simdup_of) FROM finds;
CREATE TABLE """odd"" $simdup$ name" ("the 'key'" int PRIMARY KEY, "tokenizer => x" text, "a,b" text, "$simdup$" text);
INSERT INTO """odd"" $simdup$ name" VALUES (1, 'some words', 'x', 'y'), (2, 'some words', 'x', 'y');
SELECT simdup_attach('"""odd"" $simdup$ name"', 'tokenizer => x', '{"a,b",$simdup$}', live => true, dry_run => true, foreign_key => true) \gexec
SELECT count(simdup_fp), count(simdup_of) FROM """odd"" $simdup$ name";
SELECT count(*) FROM simdup_alter('"""odd"" $simdup$ name"', content => '$simdup$', fields => '{"a,b"}', action => 'log');
SELECT count(*) FROM simdup_detach('"""odd"" $simdup$ name"');
SELECT columns_of('"""odd"" $simdup$ name"');
CREATE TEMP TABLE passing (id int PRIMARY KEY, body text);
INSERT INTO passing VALUES (1, 'some words'), (2, 'some words');
SELECT count(*) FROM simdup_attach('passing', 'body', action => 'log', backfill => true);
SELECT new_key, old_key FROM passing_simdup_log;
SELECT count(*) FROM simdup_detach('passing');

--
-- What can be known at attach is checked at attach
--
CREATE TABLE wrong (id int PRIMARY KEY, body text, doc jsonb, class regclass, at timestamptz, mood money, twice int,
  near int UNIQUE, up text GENERATED ALWAYS AS (upper(body)) STORED, upid int GENERATED ALWAYS AS (id + 1) STORED,
  pair int NOT NULL, late int NOT NULL UNIQUE DEFERRABLE, partly int NOT NULL, thing part_n, "w => 2" text, gone int NOT NULL UNIQUE);
CREATE UNIQUE INDEX ON wrong (partly) WHERE partly > 0;
CREATE UNIQUE INDEX ON wrong (pair, id);
ALTER TABLE wrong DROP COLUMN gone;
CREATE VIEW a_view AS SELECT * FROM wrong;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM wrong;
CREATE SEQUENCE a_sequence;
CREATE TABLE parent (id int PRIMARY KEY, body text);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE no_key (id int, body text);
CREATE TABLE two_keys (id int, part int, body text, PRIMARY KEY (id, part));
CREATE TYPE shape AS (id int, body text);
CREATE TABLE typed OF shape (PRIMARY KEY (id));
CREATE TABLE bad_log (new_key int, old_key int, distance int);
CREATE TABLE uuid_log (new_key uuid, old_key uuid, distance int, logged_at timestamptz);
CREATE TABLE full_log (new_key text, old_key text, distance int, logged_at timestamptz, line serial, who text NOT NULL);
CREATE DOMAIN present AS int NOT NULL;
CREATE TABLE by_present (id present PRIMARY KEY, body text);
CREATE TABLE named (id int PRIMARY KEY, body text, to_id int CONSTRAINT simdup_of_fkey REFERENCES wrong);
CREATE TRIGGER simdup_2_arrival BEFORE INSERT ON two_keys FOR EACH ROW EXECUTE FUNCTION nothing();
CREATE UNIQUE INDEX ON two_keys (id);
CREATE TABLE part_by_id (id int PRIMARY KEY, body text) PARTITION BY HASH (id);
CREATE PROCEDURE try(call text) LANGUAGE plpgsql AS $$
DECLARE
  state text; message text; detail text; hint text;
BEGIN
  EXECUTE format('SELECT simdup_attach(%s, dry_run => true)', call);
  RAISE WARNING '% works', call;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
    detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE WARNING E'% %\n  %\n  %', state, message, detail, hint;
END $$;
CALL try($$'a_view', 'body'$$);
CALL try($$'a_matview', 'body'$$);
CALL try($$'a_sequence', 'body'$$);
CALL try($$'wrong_pkey', 'body'$$);
CALL try($$0, 'body'$$);
CALL try($$NULL, 'body'$$);
CALL try($$'parent', 'body'$$);
CALL try($$'child', 'body', key => 'id'$$);
CALL try($$'wrong', NULL$$);
CALL try($$'wrong', 'nope'$$);
CALL try($$'wrong', 'ctid'$$);
CALL try($$'wrong', 'gone'$$);
CALL try($$'wrong', 'doc'$$);
CALL try($$'wrong', 'up'$$);
CALL try($$'wrong', 'body', '{nope}'$$);
CALL try($$'wrong', 'body', '{NULL}'$$);
CALL try($$'wrong', 'body', '{class}'$$);
CALL try($$'wrong', 'body', '{up}'$$);
CALL try($$'wrong', 'body', '{thing}'$$);
CALL try($$'wrong', 'body', '{"w => 2"}'$$);
CALL try($$'wrong', 'body', '{"w => 2"}', fingerprint => 'simhash'$$);
CALL try($$'wrong', 'body', '{doc,at,mood}'$$);
CALL try($$'wrong', 'body', max_distance => -1$$);
CALL try($$'wrong', 'body', max_distance => 65$$);
CALL try($$'wrong', 'body', max_distance => 64$$);
CALL try($$'wrong', 'body', max_distance => 17, backfill => true$$);
CALL try($$'wrong', 'body', action => 'scold'$$);
CALL try($$'wrong', 'body', action => NULL$$);
CALL try($$'wrong', 'body', action => 'reject', backfill => true$$);
CALL try($$'wrong', 'body', action => 'log', foreign_key => true$$);
CALL try($$'wrong', 'body', fingerprint => 'md5'$$);
CALL try($$'wrong', 'body', fingerprint => NULL$$);
CALL try($$'wrong', 'body', w => 0$$);
CALL try($$'wrong', 'body', unit => 'line'$$);
CALL try($$'wrong', 'body', tokenizer => 'word'$$);
CALL try($$'wrong', 'body', fingerprint => 'simhash', w => 2$$);
CALL try($$'wrong', 'body', fingerprint => 'simhash', tokenizer => 'words'$$);
CALL try($$'wrong', 'body', key => 'nope'$$);
CALL try($$'wrong', 'body', key => 'twice'$$);
CALL try($$'wrong', 'body', key => 'near'$$);
CALL try($$'wrong', 'body', key => 'pair'$$);
CALL try($$'wrong', 'body', key => 'partly'$$);
CALL try($$'wrong', 'body', key => 'late'$$);
CALL try($$'wrong', 'body', key => 'late', foreign_key => true$$);
CALL try($$'wrong', 'body', key => 'doc'$$);
CALL try($$'wrong', 'body', key => 'upid'$$);
CALL try($$'no_key', 'body'$$);
CALL try($$'no_key', 'body', key => 'id'$$);
CALL try($$'part', 'body', key => 'region'$$);
CALL try($$'part', 'body', key => 'id', foreign_key => true$$);
CALL try($$'part', 'body', action => 'reject', key => 'id'$$);
CALL try($$'part_by_id', 'body', action => 'reject', key => 'id'$$);
CALL try($$'part_n', 'body', key => 'id'$$);
CALL try($$'typed', 'body'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'bad_log'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'uuid_log'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'full_log'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'wrong'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'nowhere.log'$$);
CALL try($$'by_present', 'body'$$);
CALL try($$'by_present', 'body', action => 'log'$$);
CALL try($$'named', 'body', foreign_key => true$$);
CALL try($$'two_keys', 'body', key => 'part'$$);
CALL try($$'two_keys', 'body', key => 'id'$$);
CALL try($$'wrong', 'body', action => 'log', log_table => 'no.such.schema.here'$$);
SELECT simdup_attach('wrong', 'body', live => true);
SELECT columns_of('wrong');

--
-- Rights
--
CREATE ROLE regress_simdup_owner;
CREATE ROLE regress_simdup_other;
GRANT USAGE, CREATE ON SCHEMA attach TO regress_simdup_owner;
GRANT USAGE ON SCHEMA attach TO regress_simdup_other;
SET ROLE regress_simdup_owner;
CREATE TABLE owned (id int PRIMARY KEY, body text);
GRANT ALL ON owned TO regress_simdup_other;
INSERT INTO owned VALUES (1, 'some words'), (2, 'some words');
SET ROLE regress_simdup_other;
SELECT simdup_attach('owned', 'body');
SELECT count(*) FROM simdup_attach('owned', 'body', dry_run => true);
SET ROLE regress_simdup_owner;
SELECT count(*) FROM simdup_attach('owned', 'body');
SET ROLE regress_simdup_other;
SELECT simdup_alter('owned', max_distance => 3);
SELECT simdup_detach('owned');
SET ROLE regress_simdup_owner;
-- who may not read the table cannot lock it by a dry run; its owner can
REVOKE ALL ON owned FROM regress_simdup_other, regress_simdup_owner;
GRANT INSERT ON owned TO regress_simdup_other;
SELECT count(*) FROM simdup_alter('owned', max_distance => 3, dry_run => true);
SET ROLE regress_simdup_other;
SELECT simdup_attach('owned', 'body', dry_run => true);
SELECT simdup_alter('owned', max_distance => 3, dry_run => true);
SELECT simdup_detach('owned', dry_run => true);
SET ROLE regress_simdup_owner;
GRANT ALL ON owned TO regress_simdup_owner;
SELECT count(*) FROM simdup_detach('owned');
-- an owner who does not see all rows
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
ALTER TABLE owned FORCE ROW LEVEL SECURITY;
SELECT simdup_attach('owned', 'body');
ALTER TABLE owned NO FORCE ROW LEVEL SECURITY;
SELECT count(*) FROM simdup_attach('owned', 'body');
RESET ROLE;
BEGIN READ ONLY;
SELECT simdup_detach('owned');
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM simdup_alter('owned', w => 2, dry_run => true);
SELECT simdup_alter('owned', w => 2);
ROLLBACK;

SET client_min_messages = error;
DROP SCHEMA attach CASCADE;
DROP ROLE regress_simdup_owner, regress_simdup_other;
