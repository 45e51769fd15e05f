-- batch: pairs, clusters and evaluation of whole tables
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

-- clusters equal the naive ones, in any order of input
CREATE FUNCTION naive_clusters(of_kind text, k int, by_id bool)
  RETURNS TABLE (key bigint, component bigint, leader bigint) LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[]; fps simhash64[]; comp int[]; lead int[]; n int; nearest int; changed bool := true;
BEGIN
  SELECT array_agg(id ORDER BY CASE WHEN by_id THEN id ELSE (id * 7919) % 1009 END),
         array_agg(fp ORDER BY CASE WHEN by_id THEN id ELSE (id * 7919) % 1009 END)
    INTO ids, fps FROM rows WHERE kind = of_kind;
  n := array_length(ids, 1);
  FOR i IN 1 .. n LOOP
    comp[i] := i; lead[i] := i; nearest := k + 1;
    FOR j IN 1 .. i - 1 LOOP
      IF lead[j] = j AND fps[i] <~> fps[j] < nearest THEN lead[i] := j; nearest := fps[i] <~> fps[j]; END IF;
    END LOOP;
  END LOOP;
  WHILE changed LOOP
    changed := false;
    FOR i IN 2 .. n LOOP
      FOR j IN 1 .. i - 1 LOOP
        IF comp[i] <> comp[j] AND fps[i] <~> fps[j] <= k THEN
          comp[i] := least(comp[i], comp[j]); comp[j] := comp[i]; changed := true;
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  RETURN QUERY SELECT ids[i], ids[comp[i]], ids[lead[i]] FROM generate_series(1, n) i;
END $$;
CREATE TABLE cases AS
  SELECT kind, k, by_id, format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY %s', kind,
    CASE WHEN by_id THEN 'id' ELSE '(id * 7919) % 1009' END) AS query
  FROM (VALUES ('copies'), ('dense'), ('skewed')) AS kinds(kind), (VALUES (3), (6)) AS ks(k), (VALUES (true), (false)) AS orders(by_id);
SELECT kind, k, by_id, r.*
FROM cases, LATERAL (
  SELECT count(*) AS rows, sum((c.cluster = n.component)::int) AS right_components,
    sum((l.cluster = n.leader)::int) AS right_leaders
  FROM naive_clusters(kind, k, by_id) AS n
    JOIN simdup_clusters(query, k, 'connected', min_size => 1) AS c USING (key)
    JOIN simdup_clusters(query, k, 'leader', min_size => 1) AS l USING (key)) AS r
ORDER BY kind COLLATE "C", k, by_id;

-- sizes; rows that are alone only where asked for
SELECT size, count(*), count(DISTINCT cluster) FROM simdup_clusters($$SELECT id, fp FROM rows WHERE kind = 'copies'$$, 3, 'connected', min_size => 1)
GROUP BY size ORDER BY size;
SELECT min(size) FROM simdup_clusters($$SELECT id, fp FROM rows WHERE kind = 'copies'$$, 3, 'connected');
-- the distance to the cluster's first row; by leader, the default, at most max_distance
SELECT kinds.kind, count(*) AS rows, count(*) FILTER (WHERE c.distance = own.fp <~> first.fp) AS right_distances,
  max(l.distance) AS by_leader
FROM (VALUES ('copies'), ('dense'), ('skewed')) AS kinds(kind),
  simdup_clusters(format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY id', kind), 3, 'connected') AS c
  JOIN simdup_clusters(format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY id', kind)) AS l USING (key)
  JOIN rows AS own ON own.id = key JOIN rows AS first ON first.id = c.cluster
WHERE own.kind = kinds.kind AND first.kind = kinds.kind
GROUP BY kinds.kind ORDER BY kinds.kind COLLATE "C";
-- a chain: connected says so
SELECT size, max(distance) FROM simdup_clusters('SELECT g, ((1::bigint << g) - 1)::simhash64 FROM generate_series(0, 20) g', 2, 'connected') GROUP BY size;
SELECT size, max(distance) FROM simdup_clusters('SELECT g, ((1::bigint << g) - 1)::simhash64 FROM generate_series(0, 5) g', 3, 'connected') GROUP BY size;
SELECT size, max(distance) FROM simdup_clusters('SELECT g, ((1::bigint << g) - 1)::simhash64 FROM generate_series(0, 20) g', 2) GROUP BY size;
-- components of any pairs: of those of simdup_pairs, in query order, the connected clusters
SELECT kind, count(*) AS rows, count(*) FILTER (WHERE c.size = m.size) AS same_sizes, count(DISTINCT (c.cluster, m.cluster)) = count(DISTINCT m.cluster) AS same_clusters
FROM (VALUES ('copies'), ('dense'), ('skewed')) AS kinds(kind),
  simdup_components(format('SELECT * FROM simdup_pairs($q$SELECT id, fp FROM rows WHERE kind = %L ORDER BY id$q$, 4)', kind)) AS m
  FULL JOIN simdup_clusters(format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY id', kind), 4, 'connected') AS c USING (key)
GROUP BY kind ORDER BY kind COLLATE "C";
SELECT * FROM simdup_components('VALUES (7, 3), (1, 1), (3, 9), (5, 4), (9, 7)') ORDER BY key;
SELECT * FROM simdup_components($$VALUES ('b', 'a'), ('c', repeat('x', 3)), ('xxx', 'b')$$, NULL::text) ORDER BY key COLLATE "C";
SELECT * FROM simdup_components($$VALUES (1.0, 2.0), (2.00, 3.0), (4.0, 4.0)$$, NULL::numeric) ORDER BY key;
SELECT count(*), count(DISTINCT cluster), max(size), sum(key) FROM simdup_components('SELECT g, g + 1 FROM generate_series(1, 300000) g WHERE g % 3 > 0');
SELECT * FROM simdup_components('SELECT 1, 2 WHERE false');
SELECT * FROM simdup_components(NULL);
SELECT * FROM simdup_components('SELECT 1, NULL::integer');
SELECT * FROM simdup_components('SELECT 1, 2::bigint');
SELECT * FROM simdup_components('SELECT 1');
SELECT * FROM simdup_components($$SELECT 'a'::text, 'b'::text$$);
SELECT * FROM simdup_components($$SELECT '1'::json, '2'::json$$, NULL::json);

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
SELECT key, cluster, size, pg_typeof(key) FROM simdup_clusters($$SELECT 'row ' || id, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8) ORDER BY id$$, NULL::text, 3, 'leader') ORDER BY key COLLATE "C";
-- a null integer alone is a max_distance, before another argument a key_type
SELECT * FROM simdup_clusters('SELECT id, fp FROM rows', NULL::integer);
SELECT DISTINCT pg_typeof(key) FROM simdup_clusters('SELECT id::integer, fp FROM rows', NULL::integer, 3, 'leader');
SELECT * FROM simdup_pairs($$SELECT 1, fp FROM rows WHERE kind = 'equal' AND id IN (4, 8)$$);

-- rows without a fingerprint
SELECT * FROM simdup_pairs($$SELECT g, CASE WHEN g < 3 THEN simhash64 '0123456789abcdef' END FROM generate_series(1, 4) g ORDER BY g$$);
SELECT count(*) FROM simdup_pairs('SELECT id, NULL::simhash64 FROM rows');
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM rows WHERE false');
SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM rows WHERE false', 3, 'leader');
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
SELECT * FROM simdup_clusters('SELECT id, fp FROM rows', 3, 'nearest');
SELECT * FROM simdup_new_pairs('SELECT id, fp FROM rows', 'SELECT fp, id FROM rows');
-- volatile functions may run
SELECT count(*) FROM simdup_pairs($$SELECT id, fp FROM rows WHERE kind = 'equal' ORDER BY random()$$);
SELECT count(*) FROM rows;

-- with the caller's rights
CREATE ROLE regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM public.rows');
SELECT * FROM simdup_evaluate('SELECT id, id FROM public.rows', 'SELECT 1, 2');
RESET ROLE;
DROP ROLE regress_simdup_reader;

-- found against true
SELECT * FROM simdup_evaluate('SELECT * FROM (VALUES (1, 2), (3, 4), (4, 3), (5, 5)) AS v;', 'SELECT 2, 1 UNION ALL SELECT 7, 8 -- all');
SELECT * FROM simdup_evaluate($$SELECT 'a', 'b'$$, $$SELECT 'b', 'a', 0.9$$);
SELECT * FROM simdup_evaluate('SELECT 1, 2 WHERE false', 'SELECT 1, 2 WHERE false');
SELECT * FROM simdup_evaluate('SELECT 1, 2 WHERE false', 'SELECT 1, 2');
SELECT * FROM simdup_evaluate('SELECT NULL::int, 2', 'SELECT 1, 2');
SELECT * FROM simdup_evaluate($$SELECT * FROM (VALUES ('{1,2}'::int[], '{3}'::int[]), ('{4}', '{4}'), ('{5}', '{6}')) AS v$$,
  $$SELECT '{3}'::int[], '{1,2}'::int[]$$);
SELECT * FROM simdup_evaluate('SELECT 1', 'SELECT 1, 2');
SELECT * FROM simdup_evaluate('SELECT 1, 2) AS q(a, b), (SELECT 3, 4', 'SELECT 1, 2');
SELECT * FROM simdup_evaluate_clusters('SELECT g, g / 3 FROM generate_series(0, 9) g', 'SELECT g, (g / 4)::text FROM generate_series(0, 8) g');
SELECT * FROM simdup_evaluate_clusters('SELECT 1, 1 UNION ALL SELECT 2, 1 UNION ALL SELECT 3, NULL', $$SELECT 1, 'x' UNION ALL SELECT 3, 'x'$$);
SELECT * FROM simdup_evaluate_clusters('SELECT 1, 1 UNION ALL SELECT 1, 2', 'SELECT 1, 1');
SELECT * FROM simdup_evaluate_clusters('SELECT 1, 1', 'SELECT 1, 1 UNION ALL SELECT 2, 1 UNION ALL SELECT 1, 1');
SELECT * FROM simdup_evaluate_clusters($$SELECT * FROM (VALUES ('{1}'::int[], '{1}'::int[]), ('{2,3}', '{1}'), ('{4}', '{4}')) AS v$$,
  $$SELECT * FROM (VALUES ('{1}'::int[], '{1,1}'::int[]), ('{2,3}', '{1,1}'), ('{4}', '{1,1}')) AS v$$);
-- a hundred thousand equal labels are five billion pairs, which nobody writes down
SELECT * FROM simdup_evaluate_clusters('SELECT g, 1 FROM generate_series(1, 100000) g', 'SELECT g, 1 FROM generate_series(1, 100000) g');

-- on disk, a scope whose few varying bits make all fingerprints near: more of them than were expected in memory
SET maintenance_work_mem = '1MB';
CREATE TEMP TABLE dense AS SELECT scope, i FROM (VALUES (1, 32767), (2, 20000)) AS s (scope, n), generate_series(0, n) AS i;
SELECT scope, count(*), sum(distance) = sum(bit_count(i::bit(32))) AS is_exact
FROM simdup_new_pairs('SELECT scope, 0::bigint::simhash64, scope FROM dense WHERE i = 0',
  'SELECT scope * 100000 + i, i::bigint::simhash64, scope FROM dense WHERE i > 0', 15) AS p
JOIN dense ON a = scope AND b = scope * 100000 + i GROUP BY 1 ORDER BY 1;
RESET maintenance_work_mem;

DROP TABLE rows, cases, by_new, by_all;
DROP FUNCTION wrong_pairs, n_pairs, naive_clusters, flipped, fp_of;
