-- hamming: the access method, its plans, and its answers
CREATE SCHEMA hamming_room;
SET search_path = hamming_room, public;
SET max_parallel_workers_per_gather = 0;
SELECT opcname, opcintype::regtype, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'hamming' ORDER BY opcname COLLATE "C";

-- random, edits of a few centers, all within 2 bits, high bits only, NULL
CREATE TABLE fps (id int PRIMARY KEY, kind text, fp simhash64);
INSERT INTO fps
SELECT i, 'random', hashint8extended(i, 1)::simhash64 FROM generate_series(1, 3000) i
UNION ALL
SELECT 10000 + i, 'edits', (hashint8extended(i % 5, 1) # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)))::simhash64
FROM generate_series(1, 2000) i
UNION ALL
SELECT 20000 + i, 'near', (81985529216486895 # (1::bigint << (i % 64)) # (1::bigint << (i / 64 % 64)))::simhash64 FROM generate_series(1, 2000) i
UNION ALL
SELECT 30000 + i, 'sign', ((i::bigint << 56) | (-9223372036854775807 - 1))::simhash64 FROM generate_series(1, 127) i
UNION ALL
SELECT 40000 + i, 'equal', 'ffffffffffffffff' FROM generate_series(1, 1500) i
UNION ALL
SELECT 50000 + i, 'null', NULL FROM generate_series(1, 700) i;
CREATE TABLE queries AS
SELECT row_number() OVER (ORDER BY id) AS i, fp AS q FROM fps WHERE id IN (1, 10001, 20001, 30001, 40001)
UNION ALL VALUES (10, '0000000000000000'::simhash64), (11, '0123456789abcdef');
ANALYZE fps, queries;

-- The differences between a plain scan, a bitmap scan and a scan of the table,
-- for these radii and all queries. A row that a scan returns twice is a
-- difference. planned: the plans were the expected ones.
CREATE FUNCTION rows_of(plan text, query text, OUT ids bigint[], OUT planned bool) LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  PERFORM set_config('enable_seqscan', (plan = 'Seq Scan')::text, true),
          set_config('enable_indexscan', (plan = 'Index Scan')::text, true),
          set_config('enable_bitmapscan', (plan = 'Bitmap Index Scan')::text, true);
  planned := false;
  FOR line IN EXECUTE 'EXPLAIN SELECT id FROM ' || query LOOP
    planned := planned OR strpos(line, plan) > 0;
  END LOOP;
  EXECUTE 'SELECT array_agg(id::bigint ORDER BY id) FROM ' || query INTO ids;
  PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true),
          set_config('enable_bitmapscan', 'on', true);
END $$;
CREATE FUNCTION differences(target text, first_radius int = 0, last_radius int = 64, step int = 1)
RETURNS TABLE (searches int, differing int, planned bool) LANGUAGE plpgsql AS $$
DECLARE q simhash64; k int; plain record; bitmap record; scan record; condition text;
BEGIN
  searches := 0; differing := 0; planned := true;
  FOR q, k IN SELECT queries.q, r FROM queries, generate_series(first_radius, last_radius, step) r LOOP
    condition := format('%s simhash_within(fp, %L, %s)', target, q, k);
    plain := rows_of('Index Scan', condition);
    bitmap := rows_of('Bitmap Index Scan', condition);
    scan := rows_of('Seq Scan', condition);
    searches := searches + 1;
    differing := differing + (plain.ids IS DISTINCT FROM scan.ids)::int
                           + (bitmap.ids IS DISTINCT FROM scan.ids)::int;
    planned := planned AND plain.planned AND bitmap.planned AND scan.planned;
  END LOOP;
  RETURN NEXT;
END $$;

--
-- index and scan return the same rows
--
-- built at once
CREATE INDEX fps_fp ON fps USING hamming (fp);
SELECT pg_index_column_has_property('fps_fp', 1, 'distance_orderable') AS nearest, pg_index_column_has_property('fps_fp', 1, 'orderable') AS sorted;
SELECT * FROM differences('fps WHERE', 0, 64, 3);
-- leaves that are nearly empty, and so three levels
DROP INDEX fps_fp;
CREATE INDEX fps_fp ON fps USING hamming (fp) WITH (fillfactor = 10);
SELECT * FROM differences('fps WHERE', 1, 64, 9);
-- row by row, which splits
CREATE TABLE busy (LIKE fps) WITH (autovacuum_enabled = off);
CREATE INDEX busy_fp ON busy USING hamming (fp);
SELECT * FROM differences('busy WHERE', 2, 64, 20);
INSERT INTO busy SELECT * FROM fps WHERE id % 2 = 0;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
INSERT INTO busy SELECT * FROM fps WHERE id % 2 = 1;
UPDATE busy SET fp = (fp::bigint # 5)::simhash64 WHERE id % 3 = 0;
UPDATE busy SET kind = kind || '!' WHERE id % 5 = 0;
DELETE FROM busy WHERE id % 7 = 0;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
VACUUM busy;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
INSERT INTO busy SELECT * FROM fps;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
REINDEX INDEX busy_fp;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
DELETE FROM busy;
VACUUM busy;
SELECT * FROM differences('busy WHERE', 2, 64, 20);
INSERT INTO busy SELECT * FROM fps;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
REINDEX INDEX CONCURRENTLY busy_fp;
SELECT * FROM differences('busy WHERE', 1, 64, 9);
-- more rows than memory holds
CREATE TABLE many AS SELECT id + 100000 * j AS id, fp FROM fps, generate_series(0, 3) j;
SET maintenance_work_mem = '1MB';
CREATE INDEX ON many USING hamming (fp);
RESET maintenance_work_mem;
SELECT * FROM differences('many WHERE', 2, 64, 20);

--
-- nearest neighbours
--
-- The searches in which an ordered scan and a sort of the table differ in the
-- distances of the nearest n. If n is all rows, the rows are compared too.
CREATE FUNCTION orderings(target text, n int, OUT searches int, OUT differing int, OUT planned bool) LANGUAGE plpgsql AS $$
DECLARE q simhash64; list text; line text; by_index text; by_scan text;
BEGIN
  searches := 0; differing := 0; planned := true;
  FOR q IN SELECT queries.q FROM queries LOOP
    list := format('(SELECT d, id, row_number() OVER () AS place FROM (SELECT fp <~> %1$L AS d, id FROM %2$s ORDER BY fp <~> %1$L LIMIT %3$s) s) s', q, target, n);
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
            set_config('enable_sort', 'off', true);
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM ' || list LOOP
      planned := planned AND line !~ 'Sort|Filter';
    END LOOP;
    EXECUTE 'SELECT format(''%s %s %s %s'', array_agg(d ORDER BY place), count(*), count(DISTINCT id), sum(id * (coalesce(d, 99) + 1)) FILTER (WHERE ' || n || '= 1000000)) FROM ' || list INTO by_index;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true),
            set_config('enable_indexscan', 'off', true);
    EXECUTE 'SELECT format(''%s %s %s %s'', array_agg(d ORDER BY place), count(*), count(DISTINCT id), sum(id * (coalesce(d, 99) + 1)) FILTER (WHERE ' || n || '= 1000000)) FROM ' || list INTO by_scan;
    PERFORM set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
    searches := searches + 1;
    differing := differing + (by_index IS DISTINCT FROM by_scan)::int;
  END LOOP;
END $$;
SELECT n, o.* FROM unnest(ARRAY[1, 10, 100, 2500, 1000000]) n, orderings('fps', n) o;
SELECT n, o.* FROM unnest(ARRAY[1, 100, 1000000]) n, orderings('fps WHERE simhash_within(fp, ''0123456789abcdef'', 12)', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 1000000]) n, orderings('fps WHERE fp IS NOT NULL', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 1000000]) n, orderings('fps WHERE fp IS NULL', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 1000000]) n, orderings('many', n) o;
-- with more candidates than work_mem holds; again for each row of a join; left early
SET work_mem = '64kB';
SELECT n, o.* FROM unnest(ARRAY[10, 20000, 1000000]) n, orderings('many', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 1000000]) n, orderings('many WHERE simhash_within(fp, ''0123456789abcdef'', 31)', n) o;
SET enable_sort = off;
SET enable_seqscan = off;
SELECT i, n, rows, in_order FROM queries q, unnest(ARRAY[7000, 30000]) n, LATERAL (
  SELECT count(*) AS rows, bool_and(d >= before) AS in_order FROM (SELECT d, lag(d) OVER () AS before
    FROM (SELECT fp <~> q.q AS d FROM many ORDER BY fp <~> q.q LIMIT n) s) s) s ORDER BY i, n;
RESET enable_sort;
RESET enable_seqscan;
BEGIN;
DECLARE early CURSOR FOR SELECT fp <~> '0123456789abcdef' AS d FROM many ORDER BY fp <~> '0123456789abcdef';
MOVE 20000 FROM early;
SAVEPOINT s;
FETCH 2 FROM early;
ROLLBACK TO s;
FETCH 2 FROM early;
CLOSE early;
COMMIT;
RESET work_mem;
-- by more distances than the index sorts by
CREATE FUNCTION many_distances(by_index bool, OUT planned bool, OUT distances text) LANGUAGE plpgsql AS $$
DECLARE
  list text := (SELECT string_agg(format('fp <~> %L', i::bigint::simhash64), ', ' ORDER BY i) FROM generate_series(0, 11) i);
  line text;
BEGIN
  PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true);
  EXECUTE 'EXPLAIN SELECT ARRAY[' || list || '] FROM fps ORDER BY ' || list INTO line;
  planned := line ~ '^Index Scan' = by_index;
  EXECUTE 'SELECT md5(string_agg(d::text, '' '')) FROM (SELECT ARRAY[' || list || '] AS d FROM fps ORDER BY ' || list || ') s' INTO distances;
  PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true);
END $$;
SELECT i.planned AS by_index, s.planned AS by_scan, i.distances = s.distances AS equal FROM many_distances(true) i, many_distances(false) s;
EXPLAIN (COSTS OFF) SELECT id FROM many ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM many WHERE simhash_within(fp, '0123456789abcdef', 8) ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM many ORDER BY fp <~> '0123456789abcdef', fp <~> 'ffffffffffffffff' LIMIT 10;
SELECT count(*) AS rows, count(DISTINCT (a.d1, a.d2)) > 9 AS many, bool_and(a = b) AS same FROM (
  SELECT row_number() OVER () AS i, * FROM (SELECT fp <~> '0123456789abcdef' AS d1, fp <~> 'ffffffffffffffff' AS d2
  FROM many ORDER BY fp <~> '0123456789abcdef', fp <~> 'ffffffffffffffff' LIMIT 9000) s) a JOIN (
  SELECT row_number() OVER () AS i, * FROM (SELECT fp <~> '0123456789abcdef' AS d1, fp <~> 'ffffffffffffffff' AS d2
  FROM many ORDER BY (fp <~> '0123456789abcdef') + 0, (fp <~> 'ffffffffffffffff') + 0 LIMIT 9000) s) b USING (i);
-- the nearest of each, and of nothing
SELECT i, (SELECT array_agg(d) FROM (SELECT fp <~> q.q AS d FROM many ORDER BY fp <~> q.q LIMIT 3) s) FROM queries q ORDER BY i;
SELECT count(*), count(d) FROM (SELECT fp <~> NULL::simhash64 AS d FROM fps ORDER BY fp <~> NULL::simhash64) s;
SET enable_seqscan = off;
SET enable_sort = off;
PREPARE nearest(simhash64) AS SELECT fp <~> $1 AS d FROM fps ORDER BY fp <~> $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE nearest(NULL);
CREATE TEMP TABLE all_rows AS EXECUTE nearest(NULL);
SELECT count(*), count(d) FROM all_rows;
-- all are alike by a NULL: another distance decides
PREPARE by_both(simhash64, simhash64) AS SELECT fp <~> 'ffffffffffffffff' AS d FROM fps WHERE fp IS NOT NULL ORDER BY fp <~> $1, fp <~> 'ffffffffffffffff', fp <~> $2;
EXPLAIN (COSTS OFF) EXECUTE by_both(NULL, NULL);
CREATE TEMP TABLE by_one AS EXECUTE by_both(NULL, NULL);
SELECT count(*) > 100 AS many, bool_and(d >= before) AS ordered FROM (SELECT d, lag(d, 1, 0) OVER (ORDER BY ctid) AS before FROM by_one) s;
-- more operands than the index orders by, some of them NULL
PREPARE by_nine(simhash64, simhash64, simhash64, simhash64, simhash64, simhash64, simhash64) AS
  SELECT fp <~> '0123456789abcdef' AS d1, fp <~> 'ffffffffffffffff' AS d2 FROM many
  ORDER BY fp <~> $1, fp <~> $2, fp <~> $3, fp <~> $4, fp <~> '0123456789abcdef', fp <~> $5, fp <~> $6, fp <~> $7, fp <~> 'ffffffffffffffff';
EXPLAIN (COSTS OFF) EXECUTE by_nine(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TEMP TABLE by_two AS EXECUTE by_nine(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT count(*) > 100 AS many, bool_and((d1, d2) >= before) AS ordered FROM (SELECT d1, d2, lag((d1, d2), 1, (0, 0)) OVER (ORDER BY ctid) AS before FROM by_two) s;
RESET plan_cache_mode;
RESET enable_sort;

-- NULLs
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE fp IS NULL;
SELECT count(*), count(fp) FROM fps WHERE fp IS NULL;
SET enable_bitmapscan = off;
SELECT count(*), count(fp) FROM fps WHERE fp IS NULL;
SELECT count(*), count(fp) FROM fps WHERE fp IS NOT NULL;
SELECT count(*) FROM fps WHERE fp IS NULL AND simhash_within(fp, '0123456789abcdef', 64);
SELECT count(*) FROM fps WHERE fp IS NOT NULL AND simhash_within(fp, 'ffffffffffffffff', 0);
RESET enable_bitmapscan;

-- a query that reads no column is an index-only scan
CREATE TABLE wide AS SELECT id, fp, repeat('a', 500) AS body FROM fps;
CREATE INDEX ON wide USING hamming (fp);
DELETE FROM wide WHERE id <= 100;
VACUUM ANALYZE wide;
EXPLAIN (COSTS OFF) SELECT count(*) FROM wide;
SELECT count(*), (SELECT count(id) FROM wide) AS by_scan FROM wide;
DROP TABLE wide;

--
-- the planner
--
-- every condition is the index's, and nothing is left to filter
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE simhash_within(fp, '0123456789abcdef', 3);
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE simhash_within('0123456789abcdef', fp, 20);
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE '<0123456789abcdef,3>' @> fp;
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE fp = 'ffffffffffffffff';
SELECT count(*) FROM fps WHERE fp = 'ffffffffffffffff';
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE fp = ANY ('{0123456789abcdef,ffffffffffffffff}');
SELECT count(*) FROM fps WHERE fp = ANY ('{0123456789abcdef,ffffffffffffffff}');
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE fp <@ ANY ('{"<0123456789abcdef,2>","<ffffffffffffffff,3>"}');
SELECT count(*) FROM fps WHERE fp <@ ANY ('{"<0123456789abcdef,2>","<ffffffffffffffff,3>"}');
-- two conditions on the column
EXPLAIN (COSTS OFF) SELECT * FROM fps WHERE simhash_within(fp, '0123456789abcdef', 9) AND simhash_within(fp, '0123456789abcdee', 2);
SELECT count(*) FROM fps WHERE simhash_within(fp, '0123456789abcdef', 9) AND simhash_within(fp, '0123456789abcdee', 2);
SELECT count(*) FROM fps WHERE simhash_within(fp, '0123456789abcdef', 1) AND simhash_within(fp, 'fedcba9876543210', 64);
SELECT count(*) FROM fps WHERE simhash_within(fp, '0123456789abcdef', 31) AND simhash_within(fp, 'fedcba9876543210', 32);
RESET enable_seqscan;
-- at every radius where it is faster, without being forced
CREATE TABLE big AS SELECT i AS id, hashint8extended(i, 11)::simhash64 AS fp FROM generate_series(1, 50000) i;
CREATE INDEX big_fp ON big USING hamming (fp);
ANALYZE big;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF) ' || query INTO line;
  RETURN line;
END $$;
SELECT k, plan_of(format('SELECT * FROM big WHERE simhash_within(fp, ''0123456789abcdef'', %s)', k))
FROM unnest(ARRAY[0, 3, 8, 11, 15, 20, 24, 40, 64]) k;
-- the plain scan of another path stays where a condition alone wants a bitmap
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM big AS a JOIN big AS b ON b.fp <@ simhash_ball(a.fp, 3)
WHERE a.id = 7 AND b.fp <@ simhash_ball('0123456789abcdef', 24);
SET random_page_cost = 1.1;
SELECT k, plan_of(format('SELECT * FROM big WHERE simhash_within(fp, ''0123456789abcdef'', %s)', k))
FROM unnest(ARRAY[0, 8, 15, 24, 28, 36, 64]) k;
RESET random_page_cost;
-- a center that is known when the query runs leaves nothing to filter either
SET enable_seqscan = off;
SET enable_indexscan = off;
CREATE FUNCTION conditions_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; conditions text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    conditions := concat_ws(' ', conditions, substring(line FROM '(Filter|Recheck Cond|Index Cond):'));
  END LOOP;
  RETURN conditions;
END $$;
SELECT conditions_of('SELECT id FROM big WHERE simhash_within(fp, (SELECT q FROM queries LIMIT 1), 20)') AS subquery,
       conditions_of('SELECT q, (SELECT count(*) FROM big WHERE simhash_within(q, fp, 20)) FROM queries') AS outer_column;
-- one between columns of two tables is the index's, but bitmaps filter again; the first filter is a.id = 7
SELECT conditions_of('SELECT b.id FROM big a JOIN big b ON simhash_within(a.fp, b.fp, 20) WHERE a.id = 7') AS by_function,
       conditions_of('SELECT b.id FROM big a JOIN big b ON b.fp <@ simhash_ball(a.fp, 20) WHERE a.id = 7') AS by_operator;
DROP FUNCTION conditions_of;
RESET enable_seqscan;
RESET enable_indexscan;
-- a plan is made for every radius, around centers of all kinds
CREATE FUNCTION plans() RETURNS int LANGUAGE plpgsql AS $$
DECLARE condition text; center text; k int; n int := 0; form text;
BEGIN
  FOREACH center IN ARRAY ARRAY['''0123456789abcdef''', 'NULL', 'a.fp', 'q.q', '(SELECT q FROM queries LIMIT 1)', 'hashint8extended(q.i, 1)::simhash64', 'hashint8extended((random() * 9)::bigint, 1)::simhash64'] LOOP
    FOREACH condition IN ARRAY ARRAY['simhash_within(b.fp, %s, %s)', 'simhash_within(%s, b.fp, %s)', 'b.fp <@ simhash_ball(%s, %s)', 'NOT simhash_within(b.fp, %s, %s)', 'NOT simhash_ball(%s, %s) @> b.fp'] LOOP
      FOR k IN 0..64 LOOP
        -- joins of other kinds only where rounding matters
        FOREACH form IN ARRAY CASE WHEN k BETWEEN 1 AND 59 THEN ARRAY['FROM big b, big a, queries q WHERE %s'] ELSE
            ARRAY['FROM big b, big a, queries q WHERE %s', 'FROM queries q CROSS JOIN big a LEFT JOIN big b ON %s',
            'FROM queries q, big a WHERE EXISTS (SELECT FROM big b WHERE %s)', 'FROM queries q, big a WHERE NOT EXISTS (SELECT FROM big b WHERE %s)'] END LOOP
          EXECUTE 'EXPLAIN SELECT 1 ' || format(form, format(condition, center, k));
          n := n + 1;
        END LOOP;
      END LOOP;
    END LOOP;
  END LOOP;
  FOR k IN 0..64 LOOP
    EXECUTE format('EXPLAIN SELECT 1 FROM big b FULL JOIN queries q ON b.id = q.i AND NOT simhash_within(b.fp, q.q, %s)', k);
    EXECUTE format('EXPLAIN SELECT 1 FROM big b FULL JOIN queries q ON b.id = q.i AND q.q <@ simhash_ball(b.fp, %s)', k);
    n := n + 2;
  END LOOP;
  RETURN n;
END $$;
SELECT plans();
DROP FUNCTION plans;
-- below row-level security, a ball from a subquery is a condition that cannot leak
CREATE ROLE regress_hamming_reader;
GRANT USAGE ON SCHEMA hamming_room TO regress_hamming_reader;
GRANT SELECT ON big, queries TO regress_hamming_reader;
ALTER TABLE big ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON big FOR SELECT TO regress_hamming_reader USING (id % 2 = 1);
SET ROLE regress_hamming_reader;
SELECT plan_of('SELECT id FROM big WHERE simhash_within(fp, ''0123456789abcdef'', 3)') AS constant,
       plan_of('SELECT id FROM big WHERE fp <@ (SELECT simhash_ball(q, 3) FROM queries LIMIT 1)') AS ball;
SELECT count(*), (SELECT count(*) FROM big WHERE fp <@ (SELECT simhash_ball(hashint8extended(78, 11)::simhash64, 3))) AS hidden
FROM big WHERE fp <@ (SELECT simhash_ball(hashint8extended(77, 11)::simhash64, 3));
RESET ROLE;
DROP POLICY odd ON big;
ALTER TABLE big DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_hamming_reader;
DROP ROLE regress_hamming_reader;
-- a volatile argument is computed for each row, and a wrong radius is no error before a row
EXPLAIN (COSTS OFF) SELECT id FROM big WHERE simhash_within(fp, hashint8extended((random() * 9)::bigint, 11)::simhash64, 3);
SELECT count(*) FROM (SELECT * FROM big LIMIT 0) b WHERE simhash_within(fp, (SELECT q FROM queries LIMIT 1), 65);
SELECT count(*) FROM (SELECT * FROM big LIMIT 1) b WHERE simhash_within(fp, (SELECT q FROM queries LIMIT 1), 65);
-- joins and parameters
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(q.q, b.fp, 3);
SET simdup.enable_join = off;
EXPLAIN (COSTS OFF) SELECT * FROM queries q WHERE NOT EXISTS (SELECT FROM big b WHERE simhash_within(b.fp, q.q, 8));
RESET simdup.enable_join;
SELECT count(*) FROM (SELECT * FROM big WHERE id <= 300) a JOIN big b ON simhash_within(a.fp, b.fp, 8);
PREPARE search(simhash64, int) AS SELECT id FROM big WHERE simhash_within(fp, $1, $2) ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search('0123456789abcdef', 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 3);
EXECUTE search(NULL, 3);
EXECUTE search('0123456789abcdef', 65);
RESET plan_cache_mode;
-- a scan that is left, and taken up again when its leaves have been split
CREATE FUNCTION interrupted_scan() RETURNS TABLE (rows bigint, ids bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  c CURSOR FOR SELECT id FROM fps WHERE simhash_within(fp, 'ffffffffffffffff', 10);
  one int;
  seen int[];
BEGIN
  OPEN c;
  LOOP
    FETCH c INTO one;
    EXIT WHEN NOT FOUND;
    seen := seen || one;
    IF cardinality(seen) IN (1, 700, 1200) THEN
      INSERT INTO fps SELECT 60000 + 2000 * cardinality(seen) + i, 'late', (-1::bigint # (1::bigint << (i % 60)))::simhash64
      FROM generate_series(1, 2000) i;
    END IF;
  END LOOP;
  RETURN QUERY SELECT count(*), count(DISTINCT s) FROM unnest(seen) s;
END $$;
SELECT count(*) FROM fps WHERE fp <~> 'ffffffffffffffff' <= 10;
SELECT * FROM interrupted_scan();
SELECT count(*) FROM fps WHERE fp <~> 'ffffffffffffffff' <= 10;
DELETE FROM fps WHERE kind = 'late';

--
-- tables and indexes of all kinds
--
CREATE TABLE parted (id int, fp simhash64) PARTITION BY HASH (id);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON parted USING hamming (fp);
INSERT INTO parted SELECT id, fp FROM fps;
SELECT * FROM differences('parted WHERE', 2, 64, 20);
CREATE INDEX part_fp ON busy USING hamming (fp) WHERE kind = 'edits';
DROP INDEX busy_fp;
SELECT * FROM differences('busy WHERE kind = ''edits'' AND', 2, 64, 20);
CREATE UNLOGGED TABLE unlogged_fps AS SELECT * FROM fps WHERE id < 11000;
CREATE INDEX ON unlogged_fps USING hamming (fp);
INSERT INTO unlogged_fps SELECT * FROM fps WHERE id >= 11000;
SELECT * FROM differences('unlogged_fps WHERE', 2, 64, 20);
CREATE TEMP TABLE temp_fps AS SELECT * FROM fps WHERE id < 11000;
CREATE INDEX ON temp_fps USING hamming (fp);
INSERT INTO temp_fps SELECT * FROM fps WHERE id >= 11000;
SELECT * FROM differences('temp_fps WHERE', 2, 64, 20);
CREATE INDEX CONCURRENTLY busy_fp ON busy USING hamming (fp);
SELECT * FROM differences('busy WHERE', 2, 64, 20);
TRUNCATE busy;
SELECT * FROM differences('busy WHERE', 2, 64, 20);
-- an expression, and a row that is undone
CREATE TABLE texts (id int, body text);
CREATE INDEX texts_fp ON texts USING hamming (simhash(body));
INSERT INTO texts VALUES (1, 'The bridge at the mill is closed'), (2, 'Something else'), (3, NULL), (4, '');
BEGIN;
SAVEPOINT s;
INSERT INTO texts VALUES (5, 'The bridge at the mill is closed');
ROLLBACK TO s;
INSERT INTO texts VALUES (6, 'the bridge at the mill is closed');
COMMIT;
SET enable_seqscan = off;
SELECT id FROM texts WHERE simhash_within(simhash(body), simhash('The bridge at the mill is closed'), 3) ORDER BY id;
SELECT id FROM texts WHERE simhash(body) IS NULL ORDER BY id;
RESET enable_seqscan;

--
-- near-duplicates are refused by a constraint
--
SELECT a, b, a ~= b AS mutual, b ~= a AS commuted
FROM (VALUES ('<00000000000000ff,8>'::simhash_ball, '<0000000000000000,8>'::simhash_ball),
             ('<00000000000000ff,8>', '<0000000000000000,7>'), ('<00000000000000ff,64>', '<0000000000000000,0>'),
             ('<00000000000000ff,0>', '<00000000000000ff,0>')) v(a, b);
CREATE TABLE petition (id int PRIMARY KEY, office text DEFAULT 'north', fp simhash64,
  CONSTRAINT petition_near EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=));
INSERT INTO petition VALUES (1, 'north', '0123456789abcdef');
INSERT INTO petition VALUES (2, 'north', '0123456789abcde8'), (3, 'north', NULL), (4, 'north', NULL);
INSERT INTO petition VALUES (2, 'north', '0123456789abcde8') ON CONFLICT DO NOTHING;
INSERT INTO petition VALUES (5, 'north', '0123456789abcd00') ON CONFLICT ON CONSTRAINT petition_near DO NOTHING;
INSERT INTO petition VALUES (3, 'north', NULL), (4, 'north', NULL);
SELECT id, fp FROM petition ORDER BY id;
UPDATE petition SET fp = '0123456789abcdee' WHERE id = 5;
UPDATE petition SET fp = '0123456789abcdee' WHERE id = 1;
UPDATE petition SET office = 'south' WHERE id = 1;
DELETE FROM petition WHERE id = 1;
INSERT INTO petition VALUES (6, 'north', '0123456789abcdef');
-- the radius may be a column: the smaller one counts
CREATE TABLE strict_petition (id int, k int, fp simhash64, EXCLUDE USING hamming (simhash_ball(fp, k) WITH ~=));
INSERT INTO strict_petition VALUES (1, 3, '0000000000000000');
INSERT INTO strict_petition VALUES (2, 0, '0000000000000001');
INSERT INTO strict_petition VALUES (3, 1, '0000000000000002');
INSERT INTO strict_petition VALUES (3, 64, '00000000000000ff');
-- partial
ALTER TABLE petition DROP CONSTRAINT petition_near;
ALTER TABLE petition ADD CONSTRAINT petition_north EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=) WHERE (office = 'north');
INSERT INTO petition VALUES (7, 'south', '0123456789abcdef');
INSERT INTO petition VALUES (8, 'north', '0123456789abcdef');
ALTER TABLE petition DROP CONSTRAINT petition_north;
-- rows that are there already; from 17 on the text names schemas
\set VERBOSITY sqlstate
ALTER TABLE petition ADD EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=);
\set VERBOSITY default
DELETE FROM petition WHERE id = 7;
-- deferred
ALTER TABLE petition ADD CONSTRAINT petition_late EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO petition VALUES (9, 'north', '0123456789abcdef');
DELETE FROM petition WHERE id = 6;
COMMIT;
BEGIN;
INSERT INTO petition VALUES (10, 'north', '0123456789abcdef');
COMMIT;
SELECT id, fp FROM petition ORDER BY id;
-- as a search
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM petition WHERE simhash_ball(fp, 3) ~= '<0123456789abcdee,8>';
SELECT id FROM petition WHERE simhash_ball(fp, 3) ~= '<0123456789abcdee,8>';
SELECT id FROM petition WHERE simhash_ball(fp, 3) ~= '<0123456789abcd00,20>';
RESET enable_seqscan;
-- where it is not allowed
\set VERBOSITY sqlstate
ALTER TABLE petition ADD EXCLUDE USING hamming (fp WITH <~>);
ALTER TABLE petition ADD EXCLUDE USING hamming (simhash_ball(fp, 3) WITH =);
\set VERBOSITY default

--
-- looking inside
--
SELECT simdup_index_check('fps_fp'), simdup_index_check('petition_late', true);
SELECT n_rows, n_nulls, levels, fill BETWEEN 0.1 AND 1 AS fill, largest_block FROM simdup_index_stat('big_fp');
SELECT simdup_index_check('fps_pkey');
SELECT simdup_index_check('fps');
SELECT simdup_index_stat('parted_fp_idx');
CREATE ROLE regress_hamming_stranger;
GRANT USAGE ON SCHEMA hamming_room TO regress_hamming_stranger;
SET ROLE regress_hamming_stranger;
SELECT simdup_index_check('fps_fp');
SELECT simdup_index_stat('fps_fp');
RESET ROLE;
DROP OWNED BY regress_hamming_stranger;
DROP ROLE regress_hamming_stranger;

-- features that it lacks
CREATE UNIQUE INDEX ON fps USING hamming (fp);
CREATE INDEX ON fps USING hamming (fp, fp);
CREATE INDEX ON fps USING hamming (fp) INCLUDE (id);
CREATE INDEX ON fps USING hamming (id);
-- 19 also points at the place
\set VERBOSITY sqlstate
CREATE INDEX ON fps USING hamming (fp DESC);
\set VERBOSITY default
CREATE INDEX ON fps USING hamming (fp) WITH (fillfactor = 9);
CREATE INDEX ON fps USING hamming (fp) WITH (pages = 9);

DROP SCHEMA hamming_room CASCADE;
