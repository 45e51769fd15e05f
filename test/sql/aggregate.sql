-- fingerprints of ready-made features, in a value or over rows
CREATE TABLE word (doc int, feature text, weight float8);
INSERT INTO word
SELECT d, 'w' || (i * d) % 97, (i * 7 + d) % 23 / 8.0 FROM generate_series(1, 50) d, generate_series(1, 400) i;
ANALYZE word;

-- a text's features sum to its fingerprint
SELECT count(*) AS documents, bool_and(a = b AND b = c AND c = d) AS equal
FROM (SELECT doc, string_agg(feature, ' ') AS content, simhash_agg(feature) AS d FROM word GROUP BY doc) t,
     LATERAL (SELECT simhash(content, weighting => 'tf') AS a) a,
     LATERAL (SELECT simhash_agg(feature, weight) AS b FROM simdup_features(content, weighting => 'tf')) b,
     LATERAL (SELECT simhash(array_agg(feature), array_agg(weight::float8)) AS c FROM simdup_features(content, weighting => 'tf')) c;
SELECT simhash_agg(feature, weight) = simhash(t) AS equal
FROM unnest(ARRAY['A rose is a rose is a rose', 'x', 'to be or not to be, that is the question']) t, simdup_features(t) GROUP BY t;

-- a tsvector's lexemes are features
SELECT simhash(to_tsvector('simple', t)) = simhash(t, weighting => 'tf') AS tf,
       simhash(to_tsvector('simple', t), weighting => 'log') = simhash(t) AS log,
       simhash(to_tsvector('simple', t), weighting => 'set') = simhash(t, weighting => 'set') AS set,
       simhash(to_tsvector('simple', t), 2) = simhash(t, 2, weighting => 'tf') AS top,
       simhash(strip(to_tsvector('simple', t))) = simhash(t, weighting => 'set') AS stripped,
       simhash(to_tsvector('simple', t), hash => 'bkdr') = simhash(t, weighting => 'tf', hash => 'bkdr') AS hash
FROM unnest(ARRAY['A rose is a rose is a rose', 'x', 'to be or not to be that is the question']) t;
SELECT simhash(''::tsvector), simhash(NULL::tsvector), simhash(to_tsvector('english', 'the of and'));

-- real weights
SELECT simhash(ARRAY['a', 'b'], ARRAY[1e9, 1e-4]) = simhash('a') AS heavier,
       simhash(ARRAY['a', 'b'], ARRAY[0, 1e-4]) = simhash('b') AS nothing_against_little,
       simhash(ARRAY['a', 'b', 'a'], ARRAY[1, 1.5, 1]) = simhash('a') AS equal_features_added,
       simhash(ARRAY['a', 'b']) = simhash('a b') AS no_weights,
       simhash(ARRAY['a'], ARRAY[0]) AS nothing, simhash('{}'::text[]) AS empty;
SELECT bool_and(s = a) AS equal FROM
  (SELECT simhash_agg(feature, weight) AS s, simhash(array_agg(feature), array_agg(weight)) AS a FROM word GROUP BY doc) t;

-- published vectors of ready-made hashes
SELECT simhash_agg(h, 1) FROM (VALUES (x'ABCD'::varbit), (x'BCDE'), (x'CDEF')) v (h);
SELECT simhash_agg(h, w) FROM (VALUES (b'100110'::varbit, 5), (b'110000', 2), (b'001001', 7)) v (h, w);
SELECT simhash_agg(h, 0) FROM (VALUES (b'101'::varbit)) v (h);
SELECT simhash_agg(NULL::varbit, 1), simhash_agg(b'1'::varbit, NULL), simhash_agg(NULL::text), simhash_agg('x', NULL);
SELECT simhash_agg(h, 9223372036854775807) FROM (VALUES (b'11'::varbit), (b'10'), (b'00'), (b'10')) v (h);
-- a wide hash is the bits of its parts
SELECT simhash_agg(h, w) = simhash_agg(substring(h FROM 1 FOR 64), w) || simhash_agg(substring(h FROM 65), w) AS equal
FROM (SELECT (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64) || hashint8extended(i, 3)::bit(64)::bit(9))::varbit AS h, i % 5 AS w
      FROM generate_series(1, 99) i) t;

-- parallel plans
CREATE TABLE serial_result AS
SELECT simhash_agg(feature) AS f, simhash_agg(feature, weight) AS w,
       simhash_agg(simdup_hash(feature)::bit(64)::varbit || b'101', (weight * 8)::bigint) AS v FROM word;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF)
SELECT simhash_agg(feature), simhash_agg(feature, weight),
       simhash_agg(simdup_hash(feature)::bit(64)::varbit || b'101', (weight * 8)::bigint) FROM word;
SELECT p = s AS equal, s IS NOT NULL AS something FROM serial_result s,
(SELECT simhash_agg(feature) AS f, simhash_agg(feature, weight) AS w,
       simhash_agg(simdup_hash(feature)::bit(64)::varbit || b'101', (weight * 8)::bigint) AS v FROM word) p;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- windows: each frame is summed anew
SELECT count(*) AS frames, bool_and(m.f = a.f AND m.v = a.v) AS equal
FROM (SELECT doc, feature, row_number() OVER w AS i,
             simhash_agg(feature, weight + 1) OVER (w ROWS 9 PRECEDING) AS f,
             simhash_agg(simdup_hash(feature)::bit(64)::varbit, weight::bigint) OVER (w ROWS 9 PRECEDING) AS v
      FROM word WHERE doc <= 3 WINDOW w AS (ORDER BY doc, feature, weight, ctid)) m,
     LATERAL (SELECT simhash_agg(feature, weight + 1) AS f, simhash_agg(simdup_hash(feature)::bit(64)::varbit, weight::bigint) AS v
              FROM (SELECT *, row_number() OVER (ORDER BY doc, feature, weight, ctid) AS j FROM word WHERE doc <= 3) t
              WHERE j BETWEEN i - 9 AND i) a;
SELECT i, simhash_agg(h, 1) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW)
FROM (VALUES (1, NULL), (2, b'1'::varbit), (3, NULL), (4, b'01')) v (i, h);
SELECT i, simhash_agg(f, 2) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW)
FROM (VALUES (1, NULL), (2, 'a'), (3, NULL)) v (i, f);

-- errors
\set SHOW_CONTEXT never
SELECT simhash(ARRAY['a', 'b'], ARRAY[1]);
\echo :SQLSTATE
SELECT simhash(ARRAY['a', NULL], ARRAY[1, 2]);
SELECT simhash(ARRAY['a', 'b'], ARRAY[1, NULL]);
SELECT simhash(ARRAY[['a'], ['b']]);
SELECT simhash(ARRAY['a', 'b'], ARRAY[1, 'NaN'::float8]);
SELECT simhash(ARRAY['a'], ARRAY['inf'::float8]);
SELECT simhash(ARRAY['a'], ARRAY[-1]);
SELECT simhash(ARRAY['a'], ARRAY[1e15]);
\echo :SQLSTATE
SELECT simhash_agg('a', 'NaN');
SELECT simhash_agg('a', -0.5);
SELECT simhash_agg(h, 1) FROM (VALUES (b'1'::varbit), (b'01')) v (h);
\echo :SQLSTATE
SELECT simhash_agg(b'1'::varbit, -1);
SELECT length(simhash_agg(repeat('01', 32768)::varbit, 1));
SELECT simhash_agg(repeat('0', 65537)::varbit, 1);
\echo :SQLSTATE

DROP TABLE word, serial_result;
