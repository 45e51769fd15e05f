-- index: simhash_ball, simhash_within and the GIN operator class
CREATE SCHEMA index_room;
SET search_path = index_room, public;
SELECT opcname, amname, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcname ~ '^simhash' AND amname <> 'hamming' ORDER BY opcname COLLATE "C";

--
-- the type
--
SELECT '<0123456789ABCdef,3>'::simhash_ball, simhash_ball('0123456789abcdef', 64),
       '<0123456789abcdef,007>'::simhash_ball;
SELECT simhash_ball_send('<0123456789abcdef,3>');
SELECT typlen, typbyval, typalign FROM pg_type WHERE typname = 'simhash_ball';
SELECT a, b, a = b AS eq, a <> b AS ne
FROM (VALUES ('<0000000000000001,3>'::simhash_ball, '<0000000000000001,3>'::simhash_ball),
             ('<0000000000000001,3>', '<0000000000000001,4>'),
             ('<0000000000000001,3>', '<0000000000000002,3>')) v(a, b);
SELECT count(*)
FROM (SELECT DISTINCT simhash_ball((i % 5)::bigint::simhash64, i % 3) FROM generate_series(1, 100) i) s;
SELECT b, count(*) FROM (VALUES ('<0000000000000001,3>'::simhash_ball), ('<0000000000000001,3>')) v(b) GROUP BY b;
-- not balls
SELECT ''::simhash_ball;
SELECT '0123456789abcdef'::simhash_ball;
SELECT '<0123456789abcdef>'::simhash_ball;
SELECT '<0123456789abcde,3>'::simhash_ball;
SELECT '<0123456789abcdef0,3>'::simhash_ball;
SELECT '<0123456789abcdef,>'::simhash_ball;
SELECT '<0123456789abcdef,->'::simhash_ball;
SELECT '<0123456789abcdef,3'::simhash_ball;
SELECT '<0123456789abcdef,3> '::simhash_ball;
SELECT '<0123456789abcdef, 3>'::simhash_ball;
SELECT '<0123456789abcdef,3.0>'::simhash_ball;
-- a radius is 0 to 64 in every form
SELECT '<0123456789abcdef,65>'::simhash_ball;
SELECT '<0123456789abcdef,-1>'::simhash_ball;
SELECT '<0123456789abcdef,99999999999999999999>'::simhash_ball;
SELECT simhash_ball('0123456789abcdef', 65);
SELECT simhash_ball('0123456789abcdef', -1);
SELECT simhash_within('0123456789abcdef', '0123456789abcdef', 65);
SELECT simhash_within('0123456789abcdef', '0123456789abcdef', -2147483648);

--
-- membership
--
SELECT k, simhash_within(a, b, k) AS within, a <@ simhash_ball(b, k) AS is_in,
       simhash_ball(a, k) @> b AS has
FROM (VALUES ('00000000000000ff'::simhash64, '0000000000000000'::simhash64)) v(a, b),
     unnest(ARRAY[0, 7, 8, 9, 64]) k;
SELECT simhash_within(NULL, '0123456789abcdef', 3) IS NULL AS a,
       simhash_within('0123456789abcdef', NULL, 3) IS NULL AS b,
       simhash_within('0123456789abcdef', '0123456789abcdef', NULL) IS NULL AS k,
       simhash_ball(NULL, 3) IS NULL AS center,
       '0123456789abcdef'::simhash64 <@ NULL::simhash_ball IS NULL AS ball;

--
-- index and scan return the same rows
--
-- random, edits of a few centers, all equal, one block constant, high bits zero
CREATE FUNCTION some_bits(seed bigint, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT coalesce(bit_or(1::bigint << p), 0)
   FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, seed), p LIMIT n) s $$;
CREATE TABLE fps (id int PRIMARY KEY, kind text, fp simhash64);
INSERT INTO fps
SELECT i, 'random', hashint8extended(i, 1)::simhash64 FROM generate_series(1, 600) i
UNION ALL
SELECT 1000 + i, 'neighbours', (hashint8extended(i % 3, 1) # some_bits(i, i % 40))::simhash64 FROM generate_series(1, 400) i
UNION ALL
SELECT 2000 + i, 'edits', (hashint8extended(i % 4, 2) # some_bits(i, i % 7))::simhash64 FROM generate_series(1, 600) i
UNION ALL
SELECT 3000 + i, 'equal', 'fedcba9876543210' FROM generate_series(1, 300) i
UNION ALL
SELECT 4000 + i, 'constant block', ((hashint8extended(i, 3) & ~(65535::bigint << 16)) | (4660::bigint << 16))::simhash64
FROM generate_series(1, 400) i
UNION ALL
SELECT 5000 + i, 'high bits zero', (hashint8extended(i, 4) & 1048575)::simhash64 FROM generate_series(1, 400) i
UNION ALL
SELECT 6000 + i, 'null', NULL FROM generate_series(1, 50) i
UNION ALL
SELECT 7000 + i, 'one block of four', (v | (v << 16) | (v << 32) | (v << 48))::simhash64
FROM (SELECT i, hashint8extended(i, 5) & 65535 AS v FROM generate_series(1, 100) i) s;
CREATE TABLE queries AS
SELECT row_number() OVER () AS i, q FROM (
  SELECT DISTINCT ON (kind COLLATE "C") fp AS q FROM fps WHERE fp IS NOT NULL ORDER BY kind COLLATE "C", id
) s
UNION ALL VALUES (100, '0000000000000000'::simhash64), (101, 'ffffffffffffffff'), (102, '0123456789abcdef');
CREATE INDEX fps_fp ON fps USING gin (fp);
ANALYZE fps;
ANALYZE queries;

-- Do index and scan agree on this table for these radii? The result counts the
-- searches, and the rows that only one of the two finds. by_index: the first
-- search used the index.
CREATE FUNCTION differences(target text, first_radius int, last_radius int, step int = 1)
RETURNS TABLE (searches int, matches bigint, differing bigint, by_index boolean) LANGUAGE plpgsql AS $$
DECLARE
  k int; query simhash64; condition text; line text;
  by_index_rows text[]; by_scan_rows text[];
BEGIN
  searches := 0; matches := 0; differing := 0; by_index := true;
  FOR k IN SELECT generate_series(first_radius, last_radius, step) LOOP
    FOR query IN SELECT q FROM queries ORDER BY i LOOP
      condition := format('%s fp <@ %L::simhash_ball',
                          target, format('<%s,%s>', query, k));
      SET LOCAL enable_seqscan = off;
      IF searches = 0 THEN
        by_index := false;
        FOR line IN EXECUTE 'EXPLAIN SELECT id FROM ' || condition LOOP
          by_index := by_index OR line ~ 'Index Cond: .*<@';
        END LOOP;
      END IF;
      EXECUTE 'SELECT array_agg(id::text) FROM ' || condition INTO by_index_rows;
      SET LOCAL enable_seqscan = on;
      SET LOCAL enable_bitmapscan = off;
      EXECUTE 'SELECT array_agg(id::text) FROM ' || condition INTO by_scan_rows;
      SET LOCAL enable_bitmapscan = on;
      searches := searches + 1;
      matches := matches + coalesce(cardinality(by_scan_rows), 0);
      differing := differing + (SELECT count(*) FROM
        ((SELECT unnest(by_index_rows) EXCEPT ALL SELECT unnest(by_scan_rows)) UNION ALL
         (SELECT unnest(by_scan_rows) EXCEPT ALL SELECT unnest(by_index_rows))) d);
    END LOOP;
  END LOOP;
  RETURN NEXT;
END $$;
SELECT * FROM differences('fps WHERE', 0, 64);
-- equality
SET enable_seqscan = off;
SELECT count(*) FROM fps WHERE fp = 'fedcba9876543210';
SELECT count(*) FROM fps WHERE fp = 'fedcba9876543211';
SELECT count(*) FROM fps WHERE fp <@ '<fedcba9876543210,0>';
RESET enable_seqscan;

-- Four fingerprints, 31 bits and more apart, have the same key. A search finds
-- only its own of those four.
CREATE TABLE aliases (id int, fp simhash64);
INSERT INTO aliases
SELECT i, (q::bigint # e)::simhash64
FROM (SELECT '0123456789abcdef'::simhash64 AS q) s,
     (VALUES (0, 0::bigint),
             (1, (1::bigint << 62) | (((1::bigint << 30) - 1) << 16)),
             (2, (1::bigint << 63) | (((1::bigint << 14) - 1) << 16) | (((1::bigint << 16) - 1) << 46)),
             (3, (3::bigint << 62) | (((1::bigint << 32) - 1) << 30))) v(i, e);
CREATE INDEX ON aliases USING gin (fp);
SET enable_seqscan = off;
SELECT id FROM aliases WHERE fp = '0123456789abcdef';
SELECT id FROM aliases WHERE fp <@ '<0123456789abcdef,0>';
SELECT id FROM aliases WHERE fp <@ '<0123456789abcdef,9>';
SELECT id, fp <~> '0123456789abcdef' AS distance FROM aliases WHERE fp <@ '<0123456789abcdef,34>' ORDER BY id;
RESET enable_seqscan;

-- updates, deletes, VACUUM, pending list full and flushed
CREATE TABLE busy (LIKE fps) WITH (autovacuum_enabled = off);
CREATE INDEX busy_fp ON busy USING gin (fp) WITH (fastupdate = on);
INSERT INTO busy SELECT * FROM fps WHERE id % 2 = 0;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
SELECT gin_clean_pending_list('busy_fp') > 0 AS flushed;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
INSERT INTO busy SELECT * FROM fps WHERE id % 2 = 1;
UPDATE busy SET fp = (fp::bigint # 5)::simhash64 WHERE id % 3 = 0;
UPDATE busy SET kind = kind || '!' WHERE id % 5 = 0;
DELETE FROM busy WHERE id % 7 = 0;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
VACUUM busy;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
INSERT INTO busy SELECT id, kind, fp FROM fps;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
REINDEX INDEX busy_fp;
SELECT differing, by_index FROM differences('busy WHERE', 3, 35, 8);
DELETE FROM busy;
VACUUM busy;
SELECT matches, differing, by_index FROM differences('busy WHERE', 3, 19, 8);

-- a bitmap that does not fit in work_mem
CREATE TABLE wide (id int, fp simhash64) WITH (fillfactor = 10);
INSERT INTO wide SELECT i, ((i % 4)::bigint # ((i / 2000)::bigint << 20))::simhash64 FROM generate_series(1, 40000) i;
CREATE INDEX wide_fp ON wide USING gin (fp);
ANALYZE wide;
CREATE FUNCTION explained(query text) RETURNS json LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan';
END $$;
SET work_mem = '64kB';
SET enable_seqscan = off;
SELECT (explained('SELECT * FROM wide WHERE fp <@ ''<0000000000000000,4>''')->>'Lossy Heap Blocks')::int > 0 AS lossy;
SET enable_seqscan = on;
SELECT differing, by_index FROM differences('wide WHERE', 1, 5, 2);
RESET work_mem;

-- heap pages: those of the true matches
SET enable_seqscan = off;
CREATE TABLE sparse (id int, fp simhash64, filler text) WITH (fillfactor = 10);
INSERT INTO sparse SELECT i, (CASE WHEN i % 100 = 0 THEN hashint8extended(0, 9) # some_bits(i, i / 100 % 14)
                                   ELSE hashint8extended(i, 9) END)::simhash64
FROM generate_series(1, 20000) i;
CREATE INDEX ON sparse USING gin (fp);
VACUUM ANALYZE sparse;
SELECT k, (plan->>'Actual Rows')::float = matches AS rows_right,
       (plan->>'Exact Heap Blocks')::int = pages AS pages_right, matches
FROM (SELECT k, explained(format('SELECT * FROM sparse WHERE fp <@ %L', simhash_ball(hashint8extended(0, 9)::simhash64, k))) AS plan
      FROM unnest(ARRAY[0, 1, 3, 5, 8, 11]) k) p,
     LATERAL (SELECT count(*) AS matches, count(DISTINCT split_part(ctid::text, ',', 1)) AS pages
              FROM sparse WHERE fp <~> hashint8extended(0, 9)::simhash64 <= k) t
ORDER BY k;
RESET enable_seqscan;

-- other indexes, other tables
CREATE INDEX part_fp ON fps USING gin (fp) WHERE kind = 'edits';
DROP INDEX fps_fp;
SELECT differing, by_index FROM differences('fps WHERE kind = ''edits'' AND', 3, 35, 8);
DROP INDEX part_fp;
CREATE INDEX CONCURRENTLY fps_concurrently ON fps USING gin (fp);
SELECT differing, by_index FROM differences('fps WHERE', 3, 35, 8);
REINDEX INDEX CONCURRENTLY fps_concurrently;
SELECT differing, by_index FROM differences('fps WHERE', 3, 35, 8);
DROP INDEX fps_concurrently;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
RESET client_min_messages;
CREATE INDEX fps_two ON fps USING gin (kind, fp);
SELECT differing, by_index FROM differences('fps WHERE kind = ''edits'' AND', 3, 35, 8);
SELECT differing, by_index FROM differences('fps WHERE', 3, 35, 8);
DROP INDEX fps_two;
CREATE INDEX fps_expression ON fps USING gin ((fp::bigint::simhash64));
SET enable_seqscan = off;
SELECT count(*) FROM fps WHERE simhash_within(fp::bigint::simhash64, 'fedcba9876543210', 3);
RESET enable_seqscan;
DROP INDEX fps_expression;
CREATE UNLOGGED TABLE unlogged_fps AS SELECT * FROM fps;
CREATE INDEX ON unlogged_fps USING gin (fp);
SELECT differing, by_index FROM differences('unlogged_fps WHERE', 3, 35, 8);
CREATE TEMP TABLE temp_fps AS SELECT * FROM fps;
CREATE INDEX ON temp_fps USING gin (fp) WITH (fastupdate = off);
SELECT differing, by_index FROM differences('temp_fps WHERE', 3, 35, 8);
CREATE TABLE parted (id int, kind text, fp simhash64) PARTITION BY HASH (id);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON parted USING gin (fp);
INSERT INTO parted SELECT * FROM fps;
SELECT differing, by_index FROM differences('parted WHERE', 3, 35, 8);
CREATE DOMAIN petition_fp AS simhash64 CHECK (VALUE <> '0000000000000000');
CREATE TABLE domained AS SELECT id, fp::petition_fp FROM fps WHERE fp <> '0000000000000000';
CREATE INDEX ON domained USING gin (fp);
ANALYZE domained;
SELECT differing, by_index FROM differences('domained WHERE', 3, 35, 8);
-- a bitmap of two indexes
CREATE INDEX fps_fp ON fps USING gin (fp);
CREATE INDEX fps_kind ON fps (kind);
SET enable_seqscan = off;
SELECT count(*) FROM fps WHERE simhash_within(fp, 'fedcba9876543210', 3) AND id BETWEEN 3100 AND 3199;
SELECT count(*) FROM fps WHERE simhash_within(fp, 'fedcba9876543210', 3) OR kind = 'random';
SELECT count(*) FROM fps WHERE simhash_within(fp, 'fedcba9876543210', 3) OR simhash_within(fp, '0000000000000000', 5);
RESET enable_seqscan;
DROP INDEX fps_kind;

--
-- the planner
--
CREATE TABLE big AS
SELECT i AS id, hashint8extended(i, 11)::simhash64 AS fp FROM generate_series(1, 50000) i;
CREATE INDEX big_fp ON big USING gin (fp);
ANALYZE big;
-- plans as they are without workers
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within('0123456789abcdef', fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE '<0123456789abcdef,3>' @> fp;
-- where a scan is cheaper
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', 40);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE fp <@ '<0123456789abcdef,40>';
-- both sides columns of one table, or a radius from it: no index condition
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', id);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, (random() * 9)::bigint::simhash64, 3);
-- nested loops, from either side
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(q.q, b.fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(b.fp, q.q, 3);
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(b.fp, q.q, q.i::int % 4);
EXPLAIN (COSTS OFF) SELECT * FROM queries q WHERE NOT EXISTS (SELECT FROM big b WHERE simhash_within(b.fp, q.q, 3));
SELECT count(*) FROM (SELECT * FROM big WHERE id <= 300) a JOIN big b ON simhash_within(a.fp, b.fp, 3);
-- parameters, with a plan for each and with one for all
PREPARE search(simhash64, int) AS SELECT id FROM big WHERE simhash_within(fp, $1, $2) ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search('0123456789abcdef', 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 0);
EXECUTE search(NULL, 3);
EXECUTE search('0123456789abcdef', 65);
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE search('0123456789abcdef', 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 3);
EXECUTE search('0123456789abcdef', -1);
RESET plan_cache_mode;
RESET max_parallel_workers_per_gather;
-- an index of another kind is left alone
CREATE TABLE btree_only AS SELECT * FROM big;
CREATE INDEX ON btree_only (fp);
CREATE INDEX ON btree_only USING hash (fp);
SET enable_seqscan = off;
SELECT count(*) FROM btree_only WHERE simhash_within(fp, hashint8extended(77, 11)::simhash64, 3);
RESET enable_seqscan;
-- no name is looked up through search_path
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.simhash_ball(simhash64, int) RETURNS simhash_ball LANGUAGE sql IMMUTABLE AS
$$ SELECT public.simhash_ball('0000000000000000', 0) $$;
BEGIN;
SET LOCAL search_path = elsewhere, pg_catalog;
SELECT id FROM index_room.big WHERE public.simhash_within(fp, hashint8extended(77, 11)::public.simhash64, 3);
SET LOCAL search_path = '';
SELECT id FROM index_room.big WHERE public.simhash_within(fp, pg_catalog.hashint8extended(77, 11)::public.simhash64, 3);
EXPLAIN (COSTS OFF) SELECT id FROM index_room.big WHERE public.simhash_within(fp, '0123456789abcdef', 3);
COMMIT;

-- estimates: how far from the truth, as a factor; the sample is the whole table,
-- so that it is the same one each time
SET default_statistics_target = 1000;
ANALYZE big;
CREATE FUNCTION estimate_factor(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json; estimate numeric; truth numeric;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  estimate := greatest((plan->0->'Plan'->>'Plan Rows')::numeric, 1);
  EXECUTE 'SELECT count(*) FROM (' || query || ') s' INTO truth;
  truth := greatest(truth, 1);
  RETURN greatest(estimate / truth, truth / estimate);
END $$;
SELECT k, max(estimate_factor(format('SELECT * FROM big WHERE simhash_within(fp, %L, %s)', q, k))) <= 10 AS close
FROM (SELECT fp AS q FROM big WHERE id % 5000 = 1 UNION ALL SELECT '0123456789abcdef'
      UNION ALL (SELECT fp FROM big ORDER BY fp LIMIT 1) UNION ALL (SELECT fp FROM big ORDER BY fp DESC LIMIT 1)) s,
     unnest(ARRAY[0, 1, 3, 8, 15, 20, 24, 28, 32, 40, 64]) k
GROUP BY k ORDER BY k;
CREATE TABLE copies AS
SELECT i AS id, (hashint8extended((i::bigint * 7919 % 1000) * (i::bigint * 104729 % 997) / 2000, 12))::simhash64 AS fp FROM generate_series(1, 50000) i;
INSERT INTO copies SELECT i, NULL FROM generate_series(1, 20000) i;
ANALYZE copies;
SELECT k, max(estimate_factor(format('SELECT * FROM copies WHERE fp <@ %L', simhash_ball(fp, k)))) <= 100 AS close
FROM (SELECT DISTINCT fp FROM copies WHERE id % 500 = 0 AND fp IS NOT NULL) s, unnest(ARRAY[0, 3, 8, 32, 64]) k
GROUP BY k ORDER BY k;
CREATE TABLE same AS SELECT i AS id, '0123456789abcdef'::simhash64 AS fp FROM generate_series(1, 10000) i;
ANALYZE same;
SELECT estimate_factor('SELECT * FROM same WHERE simhash_within(fp, ''0123456789abcdef'', 3)') <= 2 AS equal_to_all,
       estimate_factor('SELECT * FROM same WHERE simhash_within(fp, ''fedcba9876543210'', 3)') <= 2 AS far_from_all,
       estimate_factor('SELECT * FROM same WHERE simhash_within(fp, NULL, 3)') <= 2 AS null_center,
       estimate_factor('SELECT * FROM same WHERE fp <@ NULL::simhash_ball') <= 2 AS null_ball,
       estimate_factor('SELECT * FROM same a JOIN queries q ON simhash_within(a.fp, q.q, 3)') <= 100 AS with_few,
       estimate_factor('SELECT * FROM queries q WHERE EXISTS (SELECT FROM same a WHERE a.fp <@ simhash_ball(q.q, 3))') <= 100 AS semi;
-- edits of ten centers: each a tenth of the rows, and no value is common
CREATE TABLE clustered AS
SELECT i AS id, (hashint8extended(i % 10, 13) # some_bits(i, 8))::simhash64 AS fp FROM generate_series(1, 5000) i;
ANALYZE clustered;
SELECT estimate_factor(format('SELECT * FROM clustered WHERE simhash_within(fp, %L, 8)', hashint8extended(3, 13)::simhash64)) <= 10 AS center;
-- no statistics
CREATE TABLE fresh (id int, fp simhash64);
INSERT INTO fresh SELECT * FROM big LIMIT 1000;
SELECT estimate_factor('SELECT * FROM fresh WHERE simhash_within(fp, ''0123456789abcdef'', 3)') <= 10 AS fresh;
RESET default_statistics_target;

-- below row-level security: the operator is leakproof, so it may use the index
CREATE ROLE simdup_reader;
GRANT USAGE ON SCHEMA index_room TO simdup_reader;
GRANT SELECT ON big TO simdup_reader;
ALTER TABLE big ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON big FOR SELECT TO simdup_reader USING (id % 2 = 1);
SET ROLE simdup_reader;
EXPLAIN (COSTS OFF) SELECT id FROM big WHERE fp <@ '<0123456789abcdef,3>';
SELECT count(*) FROM big WHERE fp = hashint8extended(77, 11)::simhash64;
SELECT count(*) FROM big WHERE simhash_within(fp, hashint8extended(77, 11)::simhash64, 3);
SELECT count(*) FROM big WHERE simhash_within(fp, hashint8extended(78, 11)::simhash64, 3);
RESET ROLE;
ALTER TABLE big DISABLE ROW LEVEL SECURITY;
DROP OWNED BY simdup_reader;
DROP ROLE simdup_reader;

-- the estimators on operators of other types
SELECT count(*) FROM pg_operator WHERE oprrest = 'simhash_ballsel'::regproc;
CREATE FUNCTION int_in(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
CREATE OPERATOR <@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = int_in,
                     RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
SELECT count(*) FROM big WHERE id <@@ 5;
SELECT count(*) FROM queries a JOIN queries b ON a.i::int <@@ b.i::int;
CREATE OPERATOR <@@ (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq,
                     RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
SELECT count(*) FROM fps WHERE kind <@@ 'edits';

-- a search is cancelled at once
SET enable_seqscan = off;
SET enable_material = off;
SET statement_timeout = '200ms';
SELECT count(*) FROM big a JOIN big b ON a.fp <@ simhash_ball(b.fp, 12);
RESET statement_timeout;
RESET enable_material;
RESET enable_seqscan;

SET client_min_messages = warning;
DROP SCHEMA elsewhere, index_room CASCADE;
RESET client_min_messages;
RESET search_path;
