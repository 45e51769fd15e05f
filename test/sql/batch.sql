-- batch: pairs of whole tables, and which distance
SET simdup.progress_interval = 0;

-- a fingerprint out of a number, and one with some bits flipped
CREATE FUNCTION fp_of(i int) RETURNS simhash64 IMMUTABLE
  RETURN (('x' || substr(md5(i::text), 1, 16))::bit(64))::simhash64;
CREATE FUNCTION flipped(fp simhash64, seed int, bits int) RETURNS simhash64 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE v bigint := fp::bigint;
BEGIN
  FOR j IN 1 .. bits LOOP
    v := v # (1::bigint << (('x' || substr(md5(seed || '/' || j), 1, 4))::bit(16)::int % 64));
  END LOOP;
  RETURN v::simhash64;
END $$;

-- kinds of data that shortcuts could get wrong
CREATE TABLE rows (kind text, id bigint, fp simhash64);
INSERT INTO rows SELECT 'random', i, fp_of(i) FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'copies', i, CASE WHEN i % 3 = 0 THEN flipped(fp_of(i / 30), i, i % 11) ELSE fp_of(i) END
  FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'dense', i, flipped(fp_of(i % 3), i, i % 13) FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'skewed', i, (fp_of(i)::bigint & 255 | (i % 4)::bigint << 60)::simhash64 FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'equal', i, fp_of(i % 4) FROM generate_series(1, 120) i;

-- pairs equal brute force, for every distance
CREATE FUNCTION wrong_pairs(of_kind text, k int) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM (
    (SELECT a, b, distance, count(*) FROM simdup_pairs(
       format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY id', of_kind), k) GROUP BY 1, 2, 3)
    EXCEPT ALL
    (SELECT x.id, y.id, x.fp <~> y.fp, 1 FROM rows x JOIN rows y ON x.id < y.id
     WHERE x.kind = of_kind AND y.kind = of_kind AND x.fp <~> y.fp <= k)) AS too_many
$$;
CREATE FUNCTION n_pairs(of_kind text, k int) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM rows x JOIN rows y ON x.id < y.id
  WHERE x.kind = of_kind AND y.kind = of_kind AND x.fp <~> y.fp <= k
$$;
SELECT kind, sum(wrong_pairs(kind, k)) AS wrong,
  bool_and(n_pairs(kind, k) = (SELECT count(*) FROM simdup_pairs(format('SELECT id, fp FROM rows WHERE kind = %L', kind), k))) AS complete
FROM (SELECT DISTINCT kind FROM rows) AS kinds, generate_series(0, 16, 2) AS k
GROUP BY kind ORDER BY kind COLLATE "C";

-- new against old: what all pairs have, without the old ones
CREATE TABLE by_new AS SELECT least(a, b) AS a, greatest(a, b) AS b, distance FROM simdup_new_pairs(
  $$SELECT id, fp FROM rows WHERE kind = 'dense' AND id % 4 = 0$$,
  $$SELECT id, fp FROM rows WHERE kind = 'dense' AND id % 4 > 0$$, 4);
CREATE TABLE by_all AS SELECT a, b, distance FROM simdup_pairs($$SELECT id, fp FROM rows WHERE kind = 'dense' ORDER BY id$$, 4)
  WHERE a % 4 = 0 OR b % 4 = 0;
SELECT count(*) > 100 AS many FROM by_all;
SELECT count(*) AS wrong FROM ((TABLE by_new EXCEPT ALL TABLE by_all) UNION ALL (TABLE by_all EXCEPT ALL TABLE by_new)) AS difference;
SELECT * FROM simdup_new_pairs(
  $$SELECT * FROM (VALUES (1, simhash64 '0000000000000000'), (2, '0000000000000001')) AS v$$,
  $$SELECT * FROM (VALUES (10, simhash64 '0000000000000000'), (11, '0000000000000003'), (12, NULL), (13, '0000000000000003')) AS v$$)
ORDER BY a, b;

-- a is the earlier row of the query; keys of other types; duplicate keys
SELECT * FROM simdup_pairs($$SELECT id, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8, 12) ORDER BY id DESC$$) ORDER BY a, b;
SELECT * FROM simdup_pairs($$SELECT id::int, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8) ORDER BY id$$);
SELECT * FROM simdup_pairs($$SELECT id::int2, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8) ORDER BY id$$);
SELECT a, b, pg_typeof(a) FROM simdup_pairs($$SELECT md5(id::text)::uuid, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8) ORDER BY id$$, NULL::uuid, 3);
SELECT * FROM simdup_pairs($$SELECT 1, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8)$$);

-- rows without a fingerprint
SELECT * FROM simdup_pairs($$SELECT g, CASE WHEN g < 3 THEN simhash64 '0123456789abcdef' END FROM generate_series(1, 4) g ORDER BY g$$);
SELECT count(*) FROM simdup_pairs('SELECT id, NULL::simhash64 FROM rows');
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM rows WHERE false');
SELECT count(*) FROM simdup_pairs(NULL);
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM rows', max_distance => NULL);

-- queries that are none
SELECT * FROM simdup_pairs('');
SELECT * FROM simdup_pairs('SELEC 1');
SELECT * FROM simdup_pairs('SELECT');
SELECT * FROM simdup_pairs('SELECT id FROM rows');
SELECT * FROM simdup_pairs('SELECT id, id FROM rows');
SELECT * FROM simdup_pairs('SELECT id, fp, kind FROM rows');
SELECT * FROM simdup_pairs('SELECT kind, fp FROM rows');
SELECT * FROM simdup_pairs('SELECT id, fp FROM missing');
SELECT * FROM simdup_pairs('DELETE FROM rows RETURNING id, fp');
SELECT * FROM simdup_pairs('WITH gone AS (DELETE FROM rows RETURNING id, fp) SELECT * FROM gone');
SELECT * FROM simdup_pairs('SELECT id, fp FROM rows FOR UPDATE');
SELECT * FROM simdup_pairs('SELECT id, fp FROM rows; SELECT id, fp FROM rows');
SELECT * FROM simdup_pairs('CREATE TABLE x AS SELECT id, fp FROM rows');
SELECT * FROM simdup_pairs('SELECT NULL::bigint, fp FROM rows');
SELECT * FROM simdup_pairs('SELECT id / (id - 1), fp FROM rows');
SELECT * FROM simdup_pairs('SELECT id, fp FROM rows', -1);
SELECT * FROM simdup_pairs('SELECT id, fp FROM rows', 17);
SELECT * FROM simdup_new_pairs('SELECT id, fp FROM rows', 'SELECT fp, id FROM rows');
-- volatile functions may run
SELECT count(*) FROM simdup_pairs($$SELECT id, fp FROM rows WHERE kind = 'equal' ORDER BY random()$$);
SELECT count(*) FROM rows;

-- with the caller's rights
CREATE ROLE regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM public.rows');
RESET ROLE;
DROP ROLE regress_simdup_reader;

-- which distance: by labels
SELECT max_distance, n_found, n_true, n_both, round("precision"::numeric, 3) AS "precision", recall, round(f1::numeric, 3) AS f1,
  round(weighted_precision::numeric, 3) AS weighted_precision, weighted_recall, expected_false, recommended
FROM simdup_tune($$SELECT simhash64 '0000000000000000', v.fp, v.label FROM (VALUES
  (simhash64 '0000000000000000', true), ('0000000000000001', true), ('0000000000000003', false), ('000000000000000f', true),
  ('00000000000000ff', false), ('0000000000000001', NULL), (NULL, true)) AS v(fp, label)$$, 5);
-- labels sampled by distance stand for all pairs there: one in 10 judged at 0 to 2, all of them from 3 on
WITH pair AS (SELECT d, n, d < 2 OR (d < 5 AND n % 3 > 0) AS same, d > 2 OR n % 10 = 0 AS judged FROM generate_series(0, 6) AS d, generate_series(0, 29) AS n WHERE n % (d + 1) = 0),
  all_of_them AS (SELECT k, count(*) FILTER (WHERE same AND d <= k)::float8 AS hits, count(*) FILTER (WHERE d <= k) AS found, count(*) FILTER (WHERE same) AS truth FROM pair, generate_series(0, 6) AS k GROUP BY k)
SELECT count(*) FILTER (WHERE abs(weighted_precision - hits / found) + abs(weighted_recall - hits / truth) < 0.1) AS near,
       count(*) FILTER (WHERE abs("precision" - hits / found) + abs(recall - hits / truth) < 0.1) AS unweighted_near,
       string_agg(max_distance::text, ',') FILTER (WHERE recommended) AS recommended
FROM all_of_them, simdup_tune($$SELECT simhash64 '0000000000000000', ((1::bigint << d) - 1)::simhash64, CASE WHEN d > 2 OR n % 10 = 0 THEN d < 2 OR (d < 5 AND n % 3 > 0) END
  FROM generate_series(0, 6) AS d, generate_series(0, 29) AS n WHERE n % (d + 1) = 0$$, 6)
WHERE max_distance = k;
-- and without: about what is there, where enough is there to see
SELECT max_distance, expected_false BETWEEN 0.8 * n AND 1.25 * n AS as_expected
FROM simdup_tune('SELECT g, fp_of(g) FROM generate_series(1, 20000) g', 13) AS t,
  LATERAL (SELECT count(*) AS n FROM simdup_pairs('SELECT g, fp_of(g) FROM generate_series(1, 20000) g', t.max_distance)) AS found
WHERE max_distance >= 12;
-- the pairs found: all of them of few rows, about all of many; unrelated ones may be 2 % of them
CREATE TEMP TABLE repeated AS SELECT g, (fp_of(g / 2)::bigint # CASE WHEN g % 2 = 0 THEN 0 ELSE (1::bigint << g / 2 % 14) - 1 END)::simhash64 AS fp FROM generate_series(0, 19999) AS g;
CREATE TEMP TABLE tuned AS
SELECT rows, t.*, (SELECT count(*) FROM simdup_pairs(format('SELECT g, fp FROM repeated WHERE g < %s', rows), t.max_distance)) AS n
FROM unnest('{4000,20000}'::int[]) AS rows, simdup_tune(format('SELECT g, fp FROM repeated WHERE g < %s', rows), 12) AS t;
SELECT rows, bool_and(CASE rows WHEN 4000 THEN n_found = n ELSE n_found BETWEEN 0.8 * n AND 1.25 * n END) AS as_found,
       array_agg(max_distance) FILTER (WHERE recommended) = ARRAY[max(max_distance) FILTER (WHERE expected_false <= 0.02 * n_found)] AS recommended
FROM tuned GROUP BY rows ORDER BY rows;
SELECT * FROM simdup_tune('SELECT 1, NULL::simhash64', 1);
SELECT * FROM simdup_tune('SELECT 1, fp_of(1) FROM generate_series(1, 3)', 0);
SELECT * FROM simdup_tune('SELECT 1, 2');
SELECT * FROM simdup_tune('SELECT 1, fp_of(1)', 65);

-- on disk, a scope whose few varying bits make all fingerprints near: more of them than were expected in memory
SET maintenance_work_mem = '1MB';
CREATE TEMP TABLE dense AS SELECT scope, i FROM (VALUES (1, 32767), (2, 20000)) AS s (scope, n), generate_series(0, n) AS i;
SELECT scope, count(*), sum(distance) = sum(bit_count(i::bit(32))) AS is_exact
FROM simdup_new_pairs('SELECT scope, 0::bigint::simhash64, scope FROM dense WHERE i = 0',
  'SELECT scope * 100000 + i, i::bigint::simhash64, scope FROM dense WHERE i > 0', 15) AS p
JOIN dense ON a = scope AND b = scope * 100000 + i GROUP BY 1 ORDER BY 1;
RESET maintenance_work_mem;

DROP TABLE rows, by_new, by_all;
DROP FUNCTION wrong_pairs, n_pairs, flipped, fp_of;
