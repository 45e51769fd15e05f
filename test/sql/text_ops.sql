-- text_ops: texts in a hamming index, simdup_resembles, <~@ and <~~>
CREATE SCHEMA text_ops_rows;
SET search_path = text_ops_rows, public;
SET max_parallel_workers_per_gather = 0;

-- Sentences of words that i decides; edits of a few of them; equal ones; texts
-- without a shingle; short ones; NULL
CREATE FUNCTION sentence(i int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg((ARRAY['lamp', 'street', 'corner', 'night', 'bridge', 'school', 'water', 'office', 'letter', 'garden', 'market',
    'station', 'window', 'ticket', 'winter', 'number'])[1 + abs(hashint4extended(i * 1000 + j, 5) % 16)] || (hashint4extended(i * 1000 + j, 6) & 7), ' ' ORDER BY j)
  FROM generate_series(1, n) j $$;
CREATE TABLE texts (id int PRIMARY KEY, kind text, content text);
INSERT INTO texts
SELECT i, 'random', sentence(i, 20) FROM generate_series(1, 400) i
UNION ALL
SELECT 1000 + i, 'edits', sentence(i % 8, 24) || ' ' || sentence(i, i % 12) FROM generate_series(1, 300) i
UNION ALL
SELECT 2000 + i, 'equal', CASE WHEN i % 2 = 0 THEN upper(sentence(3, 20)) ELSE replace(sentence(3, 20), ' ', ' - ') END FROM generate_series(1, 150) i
UNION ALL
SELECT 3000 + i, 'short', chr(97 + i % 26) || repeat(chr(97 + i % 7), i % 5) FROM generate_series(1, 60) i
UNION ALL
SELECT 4000 + i, 'without', repeat('!', i % 3) FROM generate_series(1, 40) i
UNION ALL
SELECT 5000 + i, 'null', NULL FROM generate_series(1, 50) i;
CREATE INDEX texts_near ON texts USING hamming (content);
ANALYZE texts;
SELECT n_rows, n_nulls FROM simdup_index_stat('texts_near');
SELECT simdup_index_check('texts_near', true);
SELECT opcdefault, opckeytype::regtype, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'hamming' AND opcintype = 'text'::regtype;
SELECT pg_index_column_has_property('texts_near', 1, p) FROM unnest(ARRAY['distance_orderable', 'returnable', 'search_nulls']) p;

-- the exact resemblance, by its definition
CREATE FUNCTION resemblance(a text, b text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT (SELECT count(*) FROM (SELECT minhash64_shingles(a) INTERSECT SELECT minhash64_shingles(b)) s)::float8
    / nullif((SELECT count(*) FROM (SELECT minhash64_shingles(a) UNION SELECT minhash64_shingles(b)) s), 0) $$;
CREATE TABLE queries (i int, q text);
INSERT INTO queries VALUES (1, sentence(1, 20)), (2, sentence(2, 24)), (3, sentence(3, 20)), (4, 'abbbb'), (5, ''), (6, '?!'),
  (7, sentence(4711, 20)), (8, sentence(2, 24) || ' ' || sentence(10, 10)), (9, 'A'), (10, NULL);
-- The rows of a query by a plan, and whether it was that plan.
CREATE FUNCTION rows_of(plan text, query text, OUT ids int[], OUT planned bool) LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  PERFORM set_config('enable_seqscan', (plan = 'Seq Scan')::text, true),
          set_config('enable_indexscan', (plan = 'Index Scan')::text, true),
          set_config('enable_bitmapscan', (plan = 'Bitmap Index Scan')::text, true);
  planned := false;
  FOR line IN EXECUTE 'EXPLAIN SELECT id FROM ' || query LOOP
    planned := planned OR strpos(line, plan) > 0;
  END LOOP;
  EXECUTE 'SELECT array_agg(id ORDER BY id) FROM ' || query INTO ids;
  PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true),
          set_config('enable_bitmapscan', 'on', true);
END $$;
CREATE FUNCTION differences(target text, condition text, OUT searches int, OUT rows bigint, OUT differing int, OUT planned bool) LANGUAGE plpgsql AS $$
DECLARE q text; plain record; bitmap record; scan record; query text;
BEGIN
  searches := 0; rows := 0; differing := 0; planned := true;
  FOR q IN SELECT queries.q FROM queries WHERE queries.q IS NOT NULL LOOP
    query := target || ' WHERE ' || replace(condition, ':q', quote_literal(q));
    plain := rows_of('Index Scan', query);
    bitmap := rows_of('Bitmap Index Scan', query);
    scan := rows_of('Seq Scan', query);
    searches := searches + 1;
    rows := rows + coalesce(cardinality(scan.ids), 0);
    differing := differing + (plain.ids IS DISTINCT FROM scan.ids)::int
                           + (bitmap.ids IS DISTINCT FROM scan.ids)::int;
    planned := planned AND plain.planned AND bitmap.planned AND scan.planned;
  END LOOP;
END $$;
-- each answer is right, for each pair of a text and a query
CREATE TABLE pairs AS
SELECT content, q, minhash64(content) <~> minhash64(q) AS distance, resemblance(content, q) AS resemblance
FROM (SELECT DISTINCT ON (kind, id % 25) content FROM texts WHERE content IS NOT NULL ORDER BY kind, id % 25, id) t, (SELECT q FROM queries WHERE q IS NOT NULL) q;
SELECT m, r, count(*) FILTER (WHERE simdup_resembles(content, q, m, r)) AS found,
  count(*) FILTER (WHERE simdup_resembles(content, q, m, r) IS DISTINCT FROM coalesce(distance <= minhash64_distance(m, r) AND resemblance >= m, false)) AS differing,
  count(*) FILTER (WHERE simdup_resembles(q, content, m, r) IS DISTINCT FROM simdup_resembles(content, q, m, r)) AS one_sided
FROM pairs, unnest(ARRAY[0, 0.3, 0.8, 1]) m, unnest(ARRAY[0, 0.99, 1]) r
GROUP BY m, r ORDER BY m, r;
-- with the index and without
SELECT m, r, d.* FROM unnest(ARRAY[0, 0.01, 0.3, 0.8, 1]) m, unnest(ARRAY[0, 0.99, 1]) r,
  differences('texts', format('simdup_resembles(content, :q, %s, %s)', m, r)) d ORDER BY m, r;
SELECT k, d.* FROM unnest(ARRAY[0, 3, 12, 30, 64]) k, differences('texts', format('content <~@ simhash_ball(coalesce(minhash64(:q), ''0123456789abcdef''), %s)', k)) d;
SELECT d.* FROM differences('texts', 'simdup_resembles(:q, content) AND content IS NOT NULL') d;
SELECT d.* FROM differences('texts', 'simdup_resembles(content, :q) AND content IS NULL') d;
SELECT d.* FROM differences('texts', 'simdup_resembles(content, :q, 0.3) AND simdup_resembles(content, sentence(3, 20), 0.5)') d;
-- IS NULL and IS NOT NULL: a text without a fingerprint is no NULL
SELECT d.* FROM differences('texts', 'content IS NULL') d;
SELECT d.* FROM differences('texts', 'content IS NOT NULL') d;
SELECT d.* FROM differences('texts', 'content IS NULL AND content IS NOT NULL') d;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM texts WHERE content IS NULL;
-- EXPLAIN counts rows that the executor checks, and candidates that the texts do not confirm
CREATE FUNCTION removed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    IF line ~ 'Removed|Index Cond' THEN
      RETURN NEXT btrim(line);
    END IF;
  END LOOP;
END $$;
SELECT removed('SELECT id FROM texts WHERE content IS NULL');
SET enable_bitmapscan = off;
SELECT removed('SELECT id FROM texts WHERE content IS NOT NULL');
SELECT removed('SELECT id FROM texts WHERE simdup_resembles(content, ''abbbb'', 0.3, 1)');
-- false and not NULL
SELECT simdup_resembles('', ''), simdup_resembles('', 'a'), NOT simdup_resembles('a', '?'), simdup_resembles('A!', 'a', 1, 1), simdup_resembles(NULL, 'a'), simdup_resembles('a', 'a', NULL);
SELECT count(*) FROM texts WHERE NOT simdup_resembles(content, 'abbbb');
SELECT count(*) FROM texts WHERE content IS NOT NULL AND NOT simdup_resembles(content, '');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- a plan without what 18 says of scans that are off
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Disabled' THEN
      RETURN NEXT line;
    END IF;
  END LOOP;
END $$;

-- parameters, generic plans, NULL
PREPARE near (text, float8, float8) AS SELECT array_agg(id) FROM (SELECT id FROM texts WHERE simdup_resembles(content, $1, $2, $3) ORDER BY id) AS s;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SELECT plan($$EXECUTE near ('', 0.8, 0.99)$$);
EXECUTE near (sentence(1, 20), 0.5, 0.99);
EXECUTE near (sentence(2, 24), 0.9, 0);
EXECUTE near ('', 0, 1);
EXECUTE near (NULL, 0.8, 0.99);
EXECUTE near ('abbbb', NULL, 0.99);
EXECUTE near ('abbbb', 0.5, NULL);
EXECUTE near ('abbbb', 1.0000000001, 0.99);
EXECUTE near ('abbbb', 0.8, -1);
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
EXECUTE near (sentence(1, 20), 0.5, 0.99);
EXECUTE near (sentence(2, 24), 0.9, 0);
EXECUTE near ('', 0, 1);
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET plan_cache_mode;
SELECT simdup_resembles('a', 'b', 'NaN');
SELECT simdup_resembles('a', 'b', 0.8, 2);
SELECT id FROM texts WHERE simdup_resembles(content, 'abbbb', 2);

-- joins: either column may be the indexed one
CREATE TABLE asked AS SELECT i, q::varchar AS q FROM queries;
SET enable_seqscan = off;
SELECT plan($$SELECT i, id FROM asked JOIN texts ON simdup_resembles(q, content, 0.6)$$);
SELECT i, count(*), sum(id) FROM asked JOIN texts ON simdup_resembles(q, content, 0.6) GROUP BY i ORDER BY i;
SELECT plan($$SELECT i FROM asked WHERE EXISTS (SELECT FROM texts WHERE content <~@ simhash_ball(minhash64(q), 12))$$);
SELECT i FROM asked WHERE EXISTS (SELECT FROM texts WHERE content <~@ simhash_ball(minhash64(q), 12)) ORDER BY i;
SELECT i, (SELECT id FROM texts ORDER BY content <~~> q, id LIMIT 1) FROM asked ORDER BY i;
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT i, count(*), sum(id) FROM asked JOIN texts ON simdup_resembles(q, content, 0.6) GROUP BY i ORDER BY i;
SELECT i FROM asked WHERE EXISTS (SELECT FROM texts WHERE content <~@ simhash_ball(minhash64(q), 12)) ORDER BY i;
SELECT i, (SELECT id FROM texts ORDER BY content <~~> q, id LIMIT 1) FROM asked ORDER BY i;
RESET enable_indexscan;
RESET enable_bitmapscan;

-- conditions on minhash64(content) are the index's
SELECT c, d.* FROM unnest(ARRAY['simhash_within(fp, q, 12)', 'simhash_within(q, fp, 12)', 'fp <@ simhash_ball(q, 12)', 'simhash_ball(q, 12) @> fp',
  'fp <~> q <= 12', 'fp <~> q < 13', '12 >= q <~> fp', '13 > fp <~> q', 'NOT fp <~> q > 12', 'fp <~> q <= 30 AND id < 2000', 'fp <~> q <= 12 AND content <~@ simhash_ball(q, 9)',
  'fp <~> q < 1', 'fp <~> q < 0', 'fp <~> q <= -2147483648', 'fp <~> q <= 64', 'fp <~> q <= 2147483647']) c,
  differences('texts', replace(regexp_replace(c, '\mq\M', 'coalesce(minhash64(:q), ''0123456789abcdef'')', 'g'), 'fp', 'minhash64(content)')) d;
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM texts WHERE minhash64(content) <~> minhash64('abbbb') <= 3 OR id = 1 OR simhash_within(minhash64('a'), minhash64(content), 2) AND kind = 'short'$$);
SELECT array_agg(id ORDER BY id) FROM texts WHERE minhash64(content) <~> minhash64('abbbb') <= 3 OR id = 1 OR simhash_within(minhash64('a'), minhash64(content), 2) AND kind = 'short';
SELECT plan($$SELECT id FROM texts WHERE simhash_within(minhash64(content), minhash64('abbbb'), 20) ORDER BY content <~~> 'abbbb' LIMIT 3$$);
-- other fingerprints are not, nor a condition that is true elsewhere, nor a radius that is none
SELECT c, (SELECT bool_or(line ~ 'texts_near') FROM plan(format('SELECT id FROM texts WHERE ' || c, 'simhash_within(minhash64(content', '''0123456789abcdef'', 8)')) line) AS by_index
FROM unnest(ARRAY['%s), %s', '%s, 4, ''char'', 0), %s', '%s, 3), %s', '%s, 4, ''word''), %s', '%s, 4, ''char'', 1), %s', '%s || kind), %s', '%s), minhash64(kind), 8)', '%s), minhash64(random()::text), 8)',
  'NOT %s), %s', '%s), %s IS NOT TRUE', '%s), %s OR kind = ''short''', '%s), ''0123456789abcdef'', -1)', '%s), ''0123456789abcdef'', 65)', 'simhash_within(simhash(content), %2$s',
  'minhash64(content) <~> ''0123456789abcdef'' >= 8', 'minhash64(content) <~> ''0123456789abcdef'' <= id']) c;
RESET enable_seqscan;
CREATE FUNCTION executed(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE statement INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN
  RETURN sqlerrm;
END $$;
SET plan_cache_mode = force_generic_plan;
PREPARE near_fp (text, int) AS SELECT array_agg(id ORDER BY id)::text FROM texts WHERE minhash64(content) <~> minhash64($1) <= $2;
PREPARE below_fp (text, int) AS SELECT array_agg(id ORDER BY id)::text FROM texts WHERE minhash64(content) <~> minhash64($1) < $2;
PREPARE within_fp (text, int) AS SELECT array_agg(id ORDER BY id)::text FROM texts WHERE simhash_within(minhash64($1), minhash64(content), $2);
PREPARE in_ball (simhash_ball) AS SELECT array_agg(id ORDER BY id)::text FROM texts WHERE minhash64(content) <@ $1;
CREATE TABLE executions (statement text, by_index text);
INSERT INTO executions SELECT format('EXECUTE %s (%L, %s)', name, q, k) FROM unnest(ARRAY['near_fp', 'below_fp', 'within_fp']) name,
  (VALUES ('abbbb'), (''), (NULL), (sentence(2, 24))) v (q), unnest(ARRAY['-2147483648', '-1', '0', '9', '64', '65', '2147483647', 'NULL']) k;
INSERT INTO executions VALUES ('EXECUTE in_ball (NULL)'), (format('EXECUTE in_ball (simhash_ball(minhash64(%L), 9))', sentence(2, 24)));
SET enable_seqscan = off;
SELECT name, bool_or(line ~ 'texts_near') FROM unnest(ARRAY['below_fp ('''', 8)', 'within_fp ('''', 8)', 'in_ball (NULL)']) name, plan('EXECUTE ' || name) line GROUP BY name ORDER BY name;
UPDATE executions SET by_index = executed(statement);
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
DISCARD PLANS;
SELECT name, bool_or(line ~ 'Seq Scan') FROM unnest(ARRAY['near_fp ('''', 8)', 'below_fp ('''', 8)', 'within_fp ('''', 8)', 'in_ball (NULL)']) name, plan('EXECUTE ' || name) line GROUP BY name ORDER BY name;
SELECT statement, by_index FROM executions WHERE by_index IS DISTINCT FROM executed(statement);
SELECT count(*), count(by_index), count(*) FILTER (WHERE by_index ~ 'radius') AS invalid FROM executions;
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET plan_cache_mode;

-- joins by minhash64: for each outer row a scan of the index
SET simdup.enable_join = off;
CREATE TABLE few (LIKE texts INCLUDING INDEXES);
INSERT INTO few SELECT * FROM texts WHERE id % 9 = 1;
ANALYZE few;
CREATE TABLE joins (query text, by_index text);
INSERT INTO joins SELECT format('SELECT array_agg(x ORDER BY x)::text FROM (%s) r (x)', format(q, c)) FROM unnest(ARRAY['simhash_within(minhash64(content), minhash64(q), 12)', 'simhash_within(minhash64(q), minhash64(content), 12)',
  'minhash64(content) <@ simhash_ball(minhash64(q), 12)', 'minhash64(q) <@ simhash_ball(minhash64(content), 12)', 'minhash64(content) <~> minhash64(q) <= i * 8 - 20',
  'i * 8 - 20 > minhash64(q) <~> minhash64(content)', 'minhash64(content) <~> minhash64(q) <= 3 OR id = i']) c,
  unnest(ARRAY['SELECT (i, id) FROM asked JOIN few ON %s', 'SELECT (i, id) FROM asked LEFT JOIN few ON %s', 'SELECT i FROM asked WHERE EXISTS (SELECT FROM few WHERE %s)',
  'SELECT i FROM asked WHERE NOT EXISTS (SELECT FROM few WHERE %s)', 'SELECT (i, n) FROM asked, LATERAL (SELECT count(*) FROM few WHERE %s) n']) q;
INSERT INTO joins VALUES ('SELECT array_agg(x ORDER BY x)::text FROM (SELECT (t.id, u.id) FROM few t JOIN few u ON simhash_within(minhash64(t.content), minhash64(u.content), 3) AND t.id < u.id WHERE t.id % 10 = 0) r (x)'),
  ('SELECT array_agg(x ORDER BY x)::text FROM (SELECT (i, t.id, u.id) FROM asked JOIN few u ON u.id = i * 9 + 1 JOIN few t ON simhash_within(minhash64(t.content), minhash64(u.content), 9) AND minhash64(t.content) <~> minhash64(q) <= 30) r (x)');
SET enable_seqscan = off;
SELECT plan($$SELECT i, id FROM asked JOIN few ON simhash_within(minhash64(q), minhash64(content), 12)$$);
SELECT plan($$SELECT i FROM asked WHERE NOT EXISTS (SELECT FROM few WHERE minhash64(content) <~> minhash64(q) <= i)$$);
SELECT plan($$SELECT i, n.id FROM asked, LATERAL (SELECT id FROM few WHERE minhash64(content) <@ simhash_ball(minhash64(q), 12) ORDER BY id LIMIT 3) n$$);
SELECT query FROM joins WHERE NOT (SELECT bool_or(line ~ 'few_content_idx') FROM plan(query) line);
UPDATE joins SET by_index = executed(query);
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT query FROM joins WHERE (SELECT bool_or(line ~ 'Index') FROM plan(query) line);
SELECT query, by_index FROM joins WHERE by_index IS DISTINCT FROM executed(query);
SELECT count(*), count(by_index), count(*) FILTER (WHERE by_index !~ '^{') AS errors FROM joins;
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET simdup.enable_join;
-- partitions, children, samples
CREATE TABLE parted (id int, content text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2000);
CREATE TABLE parted_2 (content text, id int);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (2000) TO (9000);
INSERT INTO parted SELECT id, content FROM texts;
CREATE INDEX ON parted USING hamming (content);
CREATE TABLE base (id int, content text);
CREATE TABLE child () INHERITS (base);
INSERT INTO base SELECT id, content FROM texts WHERE id < 1000;
INSERT INTO child SELECT id, content FROM texts WHERE id >= 1000;
CREATE INDEX ON base USING hamming (content);
CREATE INDEX ON child USING hamming (content);
SELECT t, d.* FROM unnest(ARRAY['parted', 'base', 'ONLY base', 'ONLY parted']) t, differences(t, 'simhash_within(minhash64(content), coalesce(minhash64(:q), ''0123456789abcdef''), 12)') d;
SET enable_seqscan = off;
SELECT plan($$SELECT i, id FROM asked JOIN parted ON simhash_within(minhash64(q), minhash64(content), 12)$$);
SELECT plan($$SELECT id FROM ONLY base TABLESAMPLE bernoulli (100) WHERE simhash_within(minhash64(content), '0123456789abcdef', 12)$$);
RESET enable_seqscan;

-- the nearest
CREATE FUNCTION orderings(target text, n int, OUT searches int, OUT differing int, OUT planned bool) LANGUAGE plpgsql AS $$
DECLARE q text; list text; line text; by_index text; by_scan text;
BEGIN
  searches := 0; differing := 0; planned := true;
  FOR q IN SELECT queries.q FROM queries LOOP
    list := format('(SELECT d, id, row_number() OVER () AS place FROM (SELECT content <~~> %1$L::text AS d, id FROM %2$s ORDER BY content <~~> %1$L::text LIMIT %3$s) s) s', q, target, n);
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true);
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM ' || list LOOP
      planned := planned AND line !~ 'Sort';
    END LOOP;
    EXECUTE 'SELECT format(''%s %s %s %s'', array_agg(d ORDER BY place), count(*), count(DISTINCT id), sum(id * (coalesce(d, 99) + 1)) FILTER (WHERE ' || n || '= 10000)) FROM ' || list INTO by_index;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true), set_config('enable_indexscan', 'off', true);
    EXECUTE 'SELECT format(''%s %s %s %s'', array_agg(d ORDER BY place), count(*), count(DISTINCT id), sum(id * (coalesce(d, 99) + 1)) FILTER (WHERE ' || n || '= 10000)) FROM ' || list INTO by_scan;
    PERFORM set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
    searches := searches + 1;
    differing := differing + (by_index IS DISTINCT FROM by_scan)::int;
  END LOOP;
END $$;
SELECT n, o.* FROM unnest(ARRAY[1, 10, 100, 10000]) n, orderings('texts', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 10000]) n, orderings('texts WHERE content IS NOT NULL', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 10000]) n, orderings('texts WHERE content IS NULL', n) o;
SELECT n, o.* FROM unnest(ARRAY[10, 10000]) n, orderings('texts WHERE simdup_resembles(content, sentence(3, 20), 0.2)', n) o;
EXPLAIN (COSTS OFF) SELECT id FROM texts ORDER BY 'abbbb' <~~> content LIMIT 3;
SELECT 'a' <~~> 'a', 'a' <~~> 'b', 'a' <~~> '!', NULL <~~> 'a';
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM texts ORDER BY content <~~> sentence(1, 20), content <~~> sentence(2, 24);
SELECT array_agg(d) FROM (SELECT format('%s %s', content <~~> sentence(1, 20), content <~~> sentence(2, 24)) AS d FROM texts ORDER BY content <~~> sentence(1, 20), content <~~> sentence(2, 24) LIMIT 5) s;
RESET enable_seqscan;
RESET enable_sort;
SELECT array_agg(d) FROM (SELECT format('%s %s', content <~~> sentence(1, 20), content <~~> sentence(2, 24)) AS d FROM texts ORDER BY content <~~> sentence(1, 20), content <~~> sentence(2, 24) LIMIT 5) s;

-- no text is made of the fingerprint that the index holds
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT content FROM texts WHERE content <~@ '<0123456789abcdef,64>';
EXPLAIN (COSTS OFF) SELECT max(content) FROM texts WHERE content IS NOT NULL;
SELECT count(DISTINCT content) FROM texts WHERE content IS NOT NULL;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(DISTINCT content) FROM texts;

-- fingerprints as before beside it; an exclusion constraint
SELECT '0123456789abcdef' <~> '0123456789abcdee' AS distance, '0123456789abcdef' <@ '<0123456789abcdef,3>'::simhash_ball AS inside;
CREATE TABLE refusing (id int, content text, EXCLUDE USING hamming (simhash_ball(minhash64(content), 3) WITH ~=));
INSERT INTO refusing SELECT 1, sentence(1, 20) UNION ALL SELECT 2, '' UNION ALL SELECT 3, '' UNION ALL SELECT 4, NULL;
INSERT INTO refusing VALUES (5, upper(sentence(1, 20)));
INSERT INTO refusing VALUES (5, upper(sentence(1, 20))) ON CONFLICT DO NOTHING;

-- varchar, domains, collations, expressions, predicates, more than one index
CREATE DOMAIN message AS varchar(500) CHECK (value <> 'no');
CREATE TABLE kinds (id int, v varchar(200), d message, c text COLLATE "POSIX", n name, b char(20), number int);
INSERT INTO kinds SELECT id, left(content, 200), left(content, 500), content, 'n', 'b', id FROM texts WHERE id % 3 = 0;
CREATE INDEX kinds_v ON kinds USING hamming (v);
CREATE INDEX kinds_d ON kinds USING hamming (d) WHERE id < 2000;
CREATE INDEX kinds_c ON kinds USING hamming (c);
CREATE INDEX kinds_lower ON kinds USING hamming ((lower(c) || 'x'));
CREATE INDEX kinds_b ON kinds USING hamming (b);
CREATE INDEX ON kinds USING hamming (number);
CREATE INDEX ON kinds USING hamming (c) INCLUDE (id);
CREATE INDEX ON kinds USING hamming (c, v);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM kinds WHERE simdup_resembles(v, 'abbbb');
EXPLAIN (COSTS OFF) SELECT id FROM kinds WHERE simdup_resembles(d, 'abbbb') AND id < 1000;
EXPLAIN (COSTS OFF) SELECT id FROM kinds WHERE simdup_resembles(c, 'abbbb');
EXPLAIN (COSTS OFF) SELECT id FROM kinds ORDER BY c <~~> 'abbbb' LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM kinds WHERE simdup_resembles(lower(c) || 'x', 'abbbb');
RESET enable_seqscan;
SELECT c, d.* FROM unnest(ARRAY['v', 'c', 'd', 'c COLLATE "C"']) c, differences('kinds', format('simdup_resembles(%s, :q, 0.5)%s', c, CASE c WHEN 'd' THEN ' AND id < 2000' ELSE '' END)) d;
SELECT d.* FROM differences('kinds', 'simdup_resembles(lower(c) || ''x'', :q, 0.5)') d;
SELECT simdup_index_check(i::regclass, true) FROM unnest(ARRAY['kinds_v', 'kinds_d', 'kinds_c', 'kinds_lower']) i;

-- a class of one's own makes other fingerprints: simdup_resembles is not its
CREATE FUNCTION titles(text) RETURNS simhash64 LANGUAGE sql IMMUTABLE STRICT RETURN minhash64($1, 2);
CREATE FUNCTION title_near(text, simhash_ball) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN minhash64($1, 2) <@ $2; END';
CREATE OPERATOR <<@ (LEFTARG = text, RIGHTARG = simhash_ball, FUNCTION = title_near);
CREATE OPERATOR CLASS title_ops FOR TYPE text USING hamming AS OPERATOR 1 <<@ (text, simhash_ball), FUNCTION 1 titles(text), STORAGE simhash64;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'title_ops';
DROP INDEX texts_near;
CREATE INDEX texts_title ON texts USING hamming (content title_ops);
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM texts WHERE simdup_resembles(content, 'abbbb')$$);
SELECT plan($$SELECT id FROM texts WHERE content <<@ '<0123456789abcdef,3>'$$);
RESET enable_seqscan;
DROP INDEX texts_title;
-- a function that is replaced gives its new fingerprint, also of the last text
CREATE TABLE replaced (id int, content text);
CREATE INDEX ON replaced USING hamming (content title_ops);
INSERT INTO replaced VALUES (1, 'the lamp is out');
CREATE OR REPLACE FUNCTION titles(text) RETURNS simhash64 LANGUAGE sql IMMUTABLE STRICT RETURN minhash64($1, 3);
INSERT INTO replaced VALUES (2, 'the lamp is out');
SET enable_seqscan = off;
SELECT id FROM replaced WHERE content IS NOT NULL AND content <<@ simhash_ball(minhash64('the lamp is out', 2), 0);
RESET enable_seqscan;
DROP TABLE replaced;
-- and one that is not whole, or answers with another type
CREATE OPERATOR CLASS half_ops FOR TYPE text USING hamming AS OPERATOR 1 <<@ (text, simhash_ball), STORAGE simhash64;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'half_ops';

-- row by row, through the life of a table
CREATE INDEX texts_near ON texts USING hamming (content) WITH (fillfactor = 10);
INSERT INTO texts SELECT id + 10000, kind, content FROM texts;
UPDATE texts SET content = content || ' and more' WHERE id % 3 = 0;
UPDATE texts SET content = '' WHERE id % 17 = 0;
UPDATE texts SET content = NULL WHERE id % 19 = 0;
DELETE FROM texts WHERE id % 5 = 0;
SELECT simdup_index_check('texts_near', true);
VACUUM texts;
SELECT simdup_index_check('texts_near', true);
SELECT d.* FROM differences('texts', 'simdup_resembles(content, :q, 0.5)') d;
SELECT d.* FROM differences('texts', 'content IS NOT NULL') d;
SELECT d.* FROM differences('texts', 'content IS NULL') d;
REINDEX INDEX CONCURRENTLY texts_near;
SELECT d.* FROM differences('texts', 'simdup_resembles(content, :q, 0.5)') d;

-- texts that are long, compressed or stored apart
CREATE TABLE long (id int, content text);
ALTER TABLE long ALTER content SET STORAGE external;
INSERT INTO long SELECT i, repeat(sentence(i % 3, 50) || ' ', 50) || sentence(i, 5) FROM generate_series(1, 9) i;
ALTER TABLE long ALTER content SET STORAGE extended;
INSERT INTO long SELECT 9 + i, repeat(sentence(i % 3, 50) || ' ', 50) || sentence(i, 5) FROM generate_series(1, 9) i;
CREATE INDEX long_near ON long USING hamming (content);
INSERT INTO long SELECT 18 + id, content FROM long;
SELECT min(octet_length(content)) > 16000 AS long, count(*) FILTER (WHERE pg_column_size(content) < 8000) AS compressed FROM long;
SELECT simdup_index_check('long_near', true);
SELECT pg_relation_size('long_near') = 6 * 8192 AS small;
SELECT count(*) FROM long a JOIN long b ON simdup_resembles(a.content, b.content, 0.9, 1);
SET enable_seqscan = off;
SELECT count(*) FROM long a JOIN long b ON simdup_resembles(a.content, b.content, 0.9, 1);
RESET enable_seqscan;

-- fingerprints in text form are no prose; some texts among them are
CREATE TABLE hashes (id int PRIMARY KEY, hex varchar, mixed text, prefixed text, unsigned text, cut text, code text);
INSERT INTO hashes SELECT i, h, CASE WHEN i = 50 THEN 'n/a' ELSE h END, '0x' || h, 9e18::numeric + i, left(h, 15), left(h, 8)
FROM generate_series(1, 200) i, LATERAL (SELECT left(md5(i::text), 16)) AS m (h);
CREATE INDEX hashes_hex ON hashes USING hamming (hex);
CREATE INDEX hashes_prefixed ON hashes USING hamming (prefixed);
CREATE INDEX hashes_unsigned ON hashes USING hamming (unsigned);
CREATE INDEX hashes_cut ON hashes USING hamming (cut);
CREATE INDEX hashes_mixed ON hashes USING hamming (mixed);
CREATE INDEX hashes_code ON hashes USING hamming (code);
CREATE INDEX hashes_one ON hashes USING hamming (hex) WHERE id = 1;
CREATE INDEX hashes_none ON hashes USING hamming (hex) WHERE id = 0;
CREATE INDEX hashes_cast ON hashes USING hamming ((hex::simhash64));
CREATE INDEX hashes_later ON hashes USING hamming ((CASE WHEN id <= 100 THEN hex ELSE 'The lamp in Fish Street is dark.' END));
SELECT count(*) FROM hashes WHERE simhash_within(hex::simhash64, (left(md5('1'), 15) || '0')::simhash64, 4);
-- the words of these numbers are hashed: their bits are not compared
SELECT count(*) FROM hashes WHERE simhash_within(minhash64(hex), minhash64(left(md5('1'), 15) || '0'), 4);

-- under row-level security: the operator may be asked before the policies
CREATE ROLE text_ops_reader;
GRANT USAGE ON SCHEMA text_ops_rows TO text_ops_reader;
GRANT SELECT ON texts TO text_ops_reader;
GRANT EXECUTE ON FUNCTION sentence(int, int) TO text_ops_reader;
ALTER TABLE texts ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON texts USING (id % 2 = 0);
SET ROLE text_ops_reader;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM texts WHERE content <~@ '<0123456789abcdef,3>';
SELECT plan($$SELECT id FROM texts WHERE simdup_resembles(content, 'abbbb')$$);
SELECT plan($$SELECT id FROM texts WHERE simhash_within(minhash64(content), minhash64('abbbb'), 3)$$);
SET simdup.enable_join = off;
SELECT count(*) FROM plan($$SELECT id FROM texts, (SELECT 'abbbb'::text AS q OFFSET 0) s WHERE simhash_within(minhash64(content), minhash64(q), 3)$$) line WHERE line ~ 'texts_near';
RESET simdup.enable_join;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 1) FROM texts WHERE simhash_within(minhash64(content), minhash64(sentence(2, 24)), 12);
SELECT count(*), count(*) FILTER (WHERE id % 2 = 1) FROM texts WHERE content <~@ (SELECT simhash_ball(minhash64(sentence(2, 24)), 12));
RESET enable_seqscan;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 1) FROM texts WHERE simdup_resembles(content, sentence(2, 24));
RESET ROLE;
-- a cursor's row is found by its place alone
GRANT SELECT, UPDATE ON texts TO text_ops_reader;
CREATE POLICY near ON texts AS RESTRICTIVE USING (simhash_within(minhash64(content), minhash64(sentence(2, 24)), 12));
SET ROLE text_ops_reader;
BEGIN;
DECLARE near CURSOR FOR SELECT id FROM texts ORDER BY id FOR UPDATE;
FETCH near;
UPDATE texts SET kind = 'seen' WHERE CURRENT OF near RETURNING id, kind;
ROLLBACK;
RESET ROLE;
DROP POLICY near ON texts;
DROP OWNED BY text_ops_reader;
DROP ROLE text_ops_reader;

SET client_min_messages = warning;
DROP SCHEMA text_ops_rows CASCADE;
