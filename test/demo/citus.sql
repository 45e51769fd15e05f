-- citus.sql: simdup on a table that Citus distributes: index, search, triggers,
-- clusters, and all pairs on the workers; and what Citus refuses. Run on the
-- coordinator of a cluster with workers, whose databases all have simdup:
--
--   psql -X -d city -f citus.sql
--
-- The script works in a schema of its own, which it drops at the end. It prints
-- one line a test, ok or not ok; without Citus it prints skipped.

\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

SELECT count(*) > 0 AS citus FROM pg_extension WHERE extname = 'citus' \gset
\if :citus
\else
  \echo skipped: this database has no Citus (CREATE EXTENSION citus)
  \quit
\endif

CREATE SCHEMA simdup_citus;
SELECT set_config('search_path', 'simdup_citus,' || current_setting('search_path'), false) AS search_path \gset
SET citus.shard_count = 8;

-- the error that refuses a statement; its plan
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  EXECUTE statement;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN SQLERRM || coalesce(' ' || NULLIF(detail, ''), '');
END $$;
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN plan;
END $$;

-- A table distributed by district. Citus keeps a district's rows in one shard,
-- so distribute rows that belong together by a column they have in common.
CREATE TABLE petition (
  district  text NOT NULL,
  id        bigint NOT NULL,
  content   text,
  fp        simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED,
  duplicate bigint,
  PRIMARY KEY (district, id)
);
CREATE INDEX petition_fp ON petition USING hamming (fp);
SELECT create_distributed_table('petition', 'district') \g /dev/null
-- a key names one row of its shard; a shard that is moved gets the indexes of the coordinator's table
SELECT run_command_on_shards('petition', 'CREATE UNIQUE INDEX ON %s (id)') \g /dev/null
SET citus.enable_ddl_propagation = off;
CREATE UNIQUE INDEX ON petition (id);
RESET citus.enable_ddl_propagation;

-- Triggers fire on the shards and know the rows of their shard. Citus makes
-- them with this setting only.
SELECT CASE WHEN refusal($$CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
    EXECUTE FUNCTION simdup_flag_trigger('duplicate', 'key => id')$$)
  = 'triggers are not supported on distributed tables' THEN 'ok' ELSE 'not ok' END || ' - triggers need a setting';
SET citus.enable_unsafe_triggers = on;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('duplicate', 'key => id');

INSERT INTO petition (district, id, content) VALUES
  ('Castle', 1, 'The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.');
INSERT INTO petition (district, id, content) VALUES
  ('Castle', 2, 'The playground behind the school has no shade at all! In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail!');
INSERT INTO petition (district, id, content) VALUES
  ('Harbour', 3, 'The playground behind our school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.');
INSERT INTO petition (district, id, content)
  SELECT 'district ' || i % 50, i, 'petition about ' || md5(i::text) || ' and ' || md5((-i)::text)
  FROM generate_series(4, 2000) AS i;
ANALYZE petition;

SELECT CASE WHEN count(*) = 1 THEN 'ok' ELSE 'not ok' END || ' - the flag trigger finds a repeat in its shard'
FROM petition WHERE district = 'Castle' AND id = 2 AND duplicate = 1;
SELECT CASE WHEN refusal($$INSERT INTO petition (district, id, content) SELECT 'Castle', 2001, content FROM petition WHERE id = 1$$) = 'none'
              AND refusal('CREATE TRIGGER reject BEFORE INSERT ON petition FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger(''max_distance => 3'', ''key => id'')') = 'none'
              AND refusal($$INSERT INTO petition (district, id, content) VALUES ('Castle', 2002,
    'The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.')$$)
    LIKE 'new row for relation "petition_%" repeats a row within distance 3, refused by "reject_%"%' THEN 'ok' ELSE 'not ok' END
  || ' - the reject trigger refuses a repeat in its shard';
DELETE FROM petition WHERE district = 'Castle' AND id = 2001;
DROP TRIGGER reject ON petition;
CREATE CONSTRAINT TRIGGER reject AFTER INSERT ON petition DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id');
DROP TRIGGER reject ON petition;

-- A log is a table of each worker, because a trigger on a shard writes to no
-- table that Citus distributes.
CREATE TABLE petition_log (new_key bigint, old_key bigint, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key));
SELECT create_reference_table('petition_log') \g /dev/null
CREATE TRIGGER log AFTER INSERT ON petition FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('petition_log', 'key => id');
SELECT CASE WHEN refusal($$INSERT INTO petition (district, id, content) VALUES ('Castle', 2003,
    'The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.')$$)
    LIKE 'cannot execute a distributed query from a query on a shard%' THEN 'ok' ELSE 'not ok' END || ' - a log cannot be a reference table';
DROP TRIGGER log ON petition;
DROP TABLE petition_log;
SET citus.enable_ddl_propagation = off;
CREATE TABLE petition_log (new_key bigint, old_key bigint, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key));
RESET citus.enable_ddl_propagation;
SELECT run_command_on_workers('CREATE TABLE simdup_citus.petition_log (new_key bigint, old_key bigint, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key))') \g /dev/null
CREATE TRIGGER log AFTER INSERT ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('petition_log', 'key => id');
INSERT INTO petition (district, id, content) VALUES
  ('Castle', 2003, 'The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.');
SELECT CASE WHEN sum(result::integer) = 2 THEN 'ok' ELSE 'not ok' END || ' - the log trigger writes to the log of its worker'
FROM run_command_on_workers('SELECT count(*) FROM simdup_citus.petition_log WHERE new_key = 2003');
DROP TRIGGER log ON petition;
DELETE FROM petition WHERE district = 'Castle' AND id = 2003;
SELECT run_command_on_workers('DROP TABLE simdup_citus.petition_log') \g /dev/null
DROP TABLE petition_log;

-- A search goes to all shards, each by its index.
SELECT CASE WHEN string_agg(id::text, ' ' ORDER BY id) = '1 2 3' THEN 'ok' ELSE 'not ok' END || ' - a search finds near rows of all shards'
FROM petition
WHERE simhash_within(fp, minhash64('The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.'), 8);
SELECT CASE WHEN plan('SELECT id FROM petition WHERE simhash_within(fp, minhash64(''playground''), 8)') ~ 'Task Count: 8(.|\n)*petition_fp_\d+'
  THEN 'ok' ELSE 'not ok' END || ' - by the index of each';
SELECT CASE WHEN count(*) = 2000 THEN 'ok' ELSE 'not ok' END || ' - every row is near itself'
FROM petition WHERE fp <@ simhash_ball(fp, 0) AND fp <~> fp = 0;

-- more executions than it takes for a generic plan
PREPARE near (text, integer) AS
SELECT CASE WHEN string_agg(id::text, ' ' ORDER BY id) = '1 2 3' THEN 'ok' ELSE 'not ok' END || ' - a prepared search'
FROM petition WHERE simhash_within(fp, minhash64($1), $2);
SELECT content AS playground FROM petition WHERE district = 'Castle' AND id = 1 \gset
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
EXECUTE near(:'playground', 8);
SELECT CASE WHEN plan(format('EXECUTE near(%L, 8)', :'playground')) ~ 'petition_fp_\d+' THEN 'ok' ELSE 'not ok' END || ' - by the index, too';

-- the nearest ten of all shards: each shard sorts out its own
PREPARE nearest (simhash64, integer) AS
SELECT array_agg(distance ORDER BY distance) AS distances FROM (SELECT fp <~> $1 AS distance FROM petition ORDER BY fp <~> $1 LIMIT $2) AS n;
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
EXECUTE nearest('0123456789abcdef', 10) \gset
SELECT CASE WHEN :'distances' = (array_agg(fp <~> '0123456789abcdef' ORDER BY fp <~> '0123456789abcdef'))[1:10]::text
  THEN 'ok' ELSE 'not ok' END || ' - the nearest ten of all shards'
FROM petition;
SELECT CASE WHEN plan('SELECT id FROM petition ORDER BY fp <~> ''0123456789abcdef'' LIMIT 10') ~ 'Limit\n *->  Index Scan using petition_fp_\d+(.|\n)*Order By'
  THEN 'ok' ELSE 'not ok' END || ' - by the index of each shard';

-- EXCLUDE: not on a distributed table, but on a reference table. The constraint
-- has a name. Citus 14.0.1 crashes on ALTER TABLE ... ADD EXCLUDE with an
-- expression and without a name, with any access method.
SELECT CASE WHEN refusal('ALTER TABLE petition ADD CONSTRAINT alone EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=)')
    LIKE 'cannot create constraint on "petition" Distributed relations cannot have UNIQUE, EXCLUDE, or PRIMARY KEY constraints that do not include the partition column%'
  THEN 'ok' ELSE 'not ok' END || ' - EXCLUDE is not for distributed tables';
CREATE TABLE entry (id bigint PRIMARY KEY, fp simhash64, EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=));
SELECT create_reference_table('entry') \g /dev/null
INSERT INTO entry VALUES (1, '0123456789abcdef');
SELECT CASE WHEN refusal($$INSERT INTO entry VALUES (2, '0123456789abcdee')$$) LIKE 'conflicting key value violates exclusion constraint %'
  THEN 'ok' ELSE 'not ok' END || ' - EXCLUDE on a reference table';

-- Citus joins shards by equality only. A table of keys and fingerprints joins on the coordinator.
CREATE TEMP TABLE here AS SELECT id, fp FROM petition;
CREATE TEMP TABLE pair AS
SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance FROM here AS a JOIN here AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 14);
SELECT CASE WHEN count(*) FILTER (WHERE b <= 3) = 3 AND count(*) > 10 THEN 'ok' ELSE 'not ok' END || ' - a join finds the pairs of all shards'
FROM pair;
SELECT CASE WHEN count(*) = 3 THEN 'ok' ELSE 'not ok' END || ' - simdup_cluster puts them together'
FROM (SELECT simdup_cluster(id, fp, 8) OVER (ORDER BY id) AS cluster FROM petition) AS c WHERE cluster = 1;

-- All pairs on the workers.
\ir citus_pairs.sql
CALL simdup_citus_pairs('petition', 'id', 'fp', 14, 'petition_pairs');
SELECT CASE WHEN count(*) = count(DISTINCT (a, b)) AND bool_and(here.distance = workers.distance) THEN 'ok' ELSE 'not ok' END || ' - all pairs on the workers are the same'
FROM pair AS here FULL JOIN petition_pairs_all AS workers USING (a, b);
SELECT CASE WHEN bool_and(on_workers = here) AND count(*) > 10 THEN 'ok' ELSE 'not ok' END || ' - and so are the components'
FROM (SELECT a, b, simdup_component(a, b) OVER () AS on_workers FROM petition_pairs_all) AS w
  FULL JOIN (SELECT a, b, simdup_component(a, b) OVER () AS here FROM pair) AS c USING (a, b);
SELECT CASE WHEN count(*) = 0 THEN 'ok' ELSE 'not ok' END || ' - only the result is left'
FROM pg_class WHERE relnamespace = 'simdup_citus'::regnamespace AND relname LIKE 'petition\_pairs\_simdup%';

-- A fingerprint to distribute by: equal ones share a shard.
CREATE TABLE seen (fp simhash64 PRIMARY KEY, first_id bigint);
SELECT create_distributed_table('seen', 'fp', colocate_with => 'none') \g /dev/null
INSERT INTO seen SELECT fp, min(id) FROM petition GROUP BY fp;
INSERT INTO seen SELECT fp, 0 FROM seen ORDER BY fp LIMIT 10 ON CONFLICT DO NOTHING;
SELECT CASE WHEN s.n = p.n THEN 'ok' ELSE 'not ok' END || ' - a table distributed by fingerprint'
FROM (SELECT count(*) AS n FROM seen WHERE first_id > 0) AS s, (SELECT count(DISTINCT fp) AS n FROM petition) AS p;

DROP SCHEMA simdup_citus CASCADE;
