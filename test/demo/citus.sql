-- citus.sql: simdup on a table that Citus distributes: index, search,
-- triggers, batch, and all pairs on the workers. Run on the coordinator:
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

-- A table distributed by district. Citus keeps a district's rows in one shard,
-- so what belongs together should be distributed by what it has in common.
CREATE TABLE petition (
  district  text NOT NULL,
  id        bigint NOT NULL,
  content   text,
  fp        simhash64 GENERATED ALWAYS AS (simhash(content)) STORED,
  duplicate bigint,
  PRIMARY KEY (district, id)
);
CREATE INDEX petition_fp ON petition USING gin (fp) WITH (fastupdate = off);
SELECT create_distributed_table('petition', 'district') \g /dev/null

-- Triggers fire on the shards and know the rows of their shard. Citus makes
-- them with this setting only, and statement-level ones not at all.
SET citus.enable_unsafe_triggers = on;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('fp', 'duplicate', 'id', '8');

INSERT INTO petition (district, id, content) VALUES
  ('Castle', 1, 'The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.');
INSERT INTO petition (district, id, content) VALUES
  ('Castle', 2, 'The playground behind the school has no shade at all! In summer the slides are too hot to touch and the children stay indoors. Please plant trees, or put up a sail.');
INSERT INTO petition (district, id, content) VALUES
  ('Harbour', 3, 'The playground behind our school has no shade at all. In summer the slides are too hot to touch and the children stay inside. Please plant trees or put up a sail!');
INSERT INTO petition (district, id, content)
  SELECT 'district ' || i % 50, i, 'petition about ' || md5(i::text) || ' and ' || md5((-i)::text)
  FROM generate_series(4, 2000) AS i;

SELECT CASE WHEN count(*) = 1 THEN 'ok' ELSE 'not ok' END || ' - the flag trigger finds a repeat in its shard'
FROM petition WHERE district = 'Castle' AND id = 2 AND duplicate = 1;

-- A search goes to all shards, each by its index.
SELECT CASE WHEN string_agg(id::text, ' ' ORDER BY id) = '1 2 3' THEN 'ok' ELSE 'not ok' END || ' - a search finds near rows of all shards'
FROM petition
WHERE simhash_within(fp, simhash('The playground behind the school has no shade at all. In summer the slides are too hot to touch and children stay inside. Please plant trees or put up a sail.'), 8);
SELECT CASE WHEN count(*) = 2000 THEN 'ok' ELSE 'not ok' END || ' - every row is near itself'
FROM petition WHERE fp <@ simhash_ball(fp, 0) AND fp <~> fp = 0;

-- Batch functions fetch keys and fingerprints and work on the coordinator.
CREATE TEMP TABLE pair AS
SELECT * FROM simdup_pairs('SELECT id, fp FROM petition ORDER BY id', 8);
SELECT CASE WHEN count(*) = 3 THEN 'ok' ELSE 'not ok' END || ' - simdup_pairs finds the pairs of all shards'
FROM pair WHERE b <= 3;
SELECT CASE WHEN max(size) FILTER (WHERE cluster = 1) = 3 THEN 'ok' ELSE 'not ok' END || ' - simdup_clusters puts them together'
FROM simdup_clusters('SELECT id, fp FROM petition ORDER BY id', 8);

-- All pairs on the workers. A row goes to the shard of each of its k + 1 blocks.
-- A pair is reported by the first block that its rows share. The time is
-- quadratic in the rows that share a block.
CREATE TABLE piece (block bigint NOT NULL, id bigint NOT NULL, fp simhash64 NOT NULL);
SELECT create_distributed_table('piece', 'block', colocate_with => 'none') \g /dev/null
INSERT INTO piece
  SELECT block, id, fp FROM petition, LATERAL unnest(simhash_blocks(fp, 9)) AS block;
CREATE TEMP TABLE found AS
SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
FROM piece AS a JOIN piece AS b ON b.block = a.block AND a.id < b.id
WHERE a.fp <~> b.fp <= 8
  AND NOT (simhash_blocks(a.fp, 9))[1:(a.block >> 32)::int] && (simhash_blocks(b.fp, 9))[1:(a.block >> 32)::int];
SELECT CASE WHEN (SELECT count(*) FROM found) = (SELECT count(*) FROM pair)
                 AND NOT EXISTS (TABLE found EXCEPT TABLE pair) THEN 'ok' ELSE 'not ok' END || ' - all pairs on the workers are the same';

-- A fingerprint to distribute by: equal ones share a shard.
CREATE TABLE seen (fp simhash64 PRIMARY KEY, first_id bigint);
SELECT create_distributed_table('seen', 'fp', colocate_with => 'none') \g /dev/null
INSERT INTO seen SELECT fp, min(id) FROM petition GROUP BY fp;
INSERT INTO seen SELECT fp, 0 FROM seen ORDER BY fp LIMIT 10 ON CONFLICT DO NOTHING;
SELECT CASE WHEN count(*) = (SELECT count(DISTINCT fp) FROM petition) THEN 'ok' ELSE 'not ok' END || ' - a table distributed by fingerprint'
FROM seen WHERE first_id > 0;

DROP SCHEMA simdup_citus CASCADE;
