-- simdup_cluster, simdup_campaign and simdup_component: clusters, campaigns and
-- components as window functions

-- fingerprints: a fingerprint out of a number, and one with some bits flipped
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
CREATE TABLE rows (kind text, id bigint, fp simhash64);
INSERT INTO rows SELECT 'copies', i, CASE WHEN i % 3 = 0 THEN flipped(fp_of(i / 30), i, i % 11) ELSE fp_of(i) END
  FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'dense', i, flipped(fp_of(i % 3), i, i % 13) FROM generate_series(1, 300) i;
INSERT INTO rows SELECT 'skewed', i, (fp_of(i)::bigint & 255 | (i % 4)::bigint << 60)::simhash64 FROM generate_series(1, 300) i;

-- clusters equal the naive ones, in any order of rows
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
SELECT cases.kind, k, by_id, r.*
FROM (VALUES ('copies'), ('dense'), ('skewed')) AS cases(kind), (VALUES (3), (6)) AS ks(k), (VALUES (true), (false)) AS orders(by_id),
  LATERAL (
  SELECT count(*) AS rows, sum((c.component = n.component)::int) AS right_components, sum((c.leader = n.leader)::int) AS right_leaders,
    count(DISTINCT c.leader) AS leaders
  FROM naive_clusters(cases.kind, k, by_id) AS n
    JOIN (SELECT id AS key, simdup_cluster(id, fp, k, 'connected') OVER w AS component, simdup_cluster(id, fp, k) OVER w AS leader
      FROM rows WHERE rows.kind = cases.kind WINDOW w AS (ORDER BY CASE WHEN by_id THEN id ELSE (id * 7919) % 1009 END)) AS c USING (key)) AS r
ORDER BY cases.kind COLLATE "C", k, by_id;

-- sizes and distances are plain SQL; a chain grows by connected alone
SELECT method, count(DISTINCT cluster) AS clusters, max(size) AS largest, max(distance) AS farthest
FROM unnest('{connected,leader}'::text[]) AS method,
  LATERAL (SELECT cluster, count(*) OVER (PARTITION BY cluster) AS size, fp <~> first_value(fp) OVER (PARTITION BY cluster ORDER BY g) AS distance
    FROM (SELECT g, ((1::bigint << g) - 1)::simhash64 AS fp, simdup_cluster(g, ((1::bigint << g) - 1)::simhash64, 2, method) OVER (ORDER BY g) AS cluster
      FROM generate_series(0, 20) AS g) AS c) AS s
GROUP BY method ORDER BY method;
-- keep the first of each, and lose nothing else
SELECT count(*), min(id), count(*) FILTER (WHERE fp IS NULL) AS without
FROM (SELECT *, simdup_cluster(id, fp, 3) OVER (ORDER BY id) AS cluster FROM (SELECT id, CASE WHEN id % 50 > 0 THEN fp END AS fp FROM rows WHERE kind = 'copies') AS r) AS c
WHERE id = cluster;

-- partitions, NULLs being one of them; several functions and windows; no frame counts
CREATE TABLE part AS SELECT id, fp, CASE WHEN id % 4 > 0 THEN id % 4 END AS district, kind FROM rows WHERE kind <> 'skewed';
CREATE TABLE apart AS SELECT p.* FROM (VALUES (NULL), (1), (2), (3)) AS v (district),
  LATERAL (SELECT kind, id, simdup_cluster(id, fp) OVER (ORDER BY id) AS cluster FROM part WHERE part.district IS NOT DISTINCT FROM v.district AND kind = 'dense') AS p;
SELECT count(*) AS rows, count(DISTINCT whole.cluster) AS clusters, count(*) FILTER (WHERE whole.cluster IS DISTINCT FROM apart.cluster) AS wrong
FROM (SELECT id, simdup_cluster(id, fp) OVER (PARTITION BY district ORDER BY id) AS cluster FROM part WHERE kind = 'dense') AS whole FULL JOIN apart USING (id);
SELECT count(*) AS rows, count(*) FILTER (WHERE a <> b OR a <> c OR a <> d OR a <> e OR a <> f) AS wrong, count(DISTINCT a) AS clusters
FROM (SELECT simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id) AS a,
    simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS b,
    simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) AS c,
    simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS d,
    simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS e,
    simdup_cluster(id, fp, max_distance => 6, method => 'leader') OVER (PARTITION BY kind ORDER BY id) AS f FROM part) AS w;
SELECT count(*) AS rows, count(DISTINCT (a, b, c)) AS clusters, count(*) FILTER (WHERE a <= id AND b >= id) AS by_order
FROM (SELECT id, simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id) AS a, simdup_cluster(id, fp, 6) OVER (PARTITION BY kind ORDER BY id DESC) AS b,
    row_number() OVER (PARTITION BY simdup_cluster ORDER BY kind, id) AS c
  FROM (SELECT *, simdup_cluster(id, fp) OVER (PARTITION BY kind ORDER BY id) FROM part) AS p) AS w;
-- ties come in any order, so the partition is the same, and each cluster has a name of its own rows
SELECT count(*) AS rows, count(DISTINCT c) AS clusters, bool_and(c % 3 = id % 3) AS own FROM (SELECT id, simdup_cluster(id, fp_of((id % 3)::int), 0) OVER (ORDER BY 1::int) AS c FROM part) AS t;
-- cursors, loops, rescans, prepared statements, views, run conditions
BEGIN;
DECLARE forth_and_back SCROLL CURSOR FOR SELECT id, simdup_cluster(id, fp, 3) OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'copies' ORDER BY id;
FETCH FORWARD 6 FROM forth_and_back;
FETCH BACKWARD 2 FROM forth_and_back;
DECLARE early CURSOR WITH HOLD FOR SELECT id, simdup_cluster(id, fp, 3) OVER (ORDER BY id) FROM rows WHERE kind = 'copies' ORDER BY id;
FETCH 1 FROM early;
COMMIT;
FETCH 2 FROM early;
CLOSE early;
SELECT n, count(*), count(DISTINCT cluster) FROM generate_series(100, 300, 100) AS n,
  LATERAL (SELECT simdup_cluster(id, fp, 6) OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'dense' AND id <= n) AS c GROUP BY n ORDER BY n;
DO $$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN SELECT id, simdup_cluster(id, fp, 6) OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'dense' LOOP
    n := n + (r.id = r.cluster)::int;
    BEGIN
      PERFORM 1 / (r.id % 2);
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    EXIT WHEN r.id > 200;
  END LOOP;
  ASSERT n > 1;
END $$;
PREPARE by_distance (int, text) AS SELECT count(DISTINCT cluster) FROM (SELECT simdup_cluster(id, fp, $1, $2) OVER (PARTITION BY kind ORDER BY id) AS cluster FROM part) AS c;
EXECUTE by_distance (0, 'leader');
EXECUTE by_distance (6, 'leader');
EXECUTE by_distance (6, 'connected');
SET plan_cache_mode = force_generic_plan;
EXECUTE by_distance (6, 'connected');
EXECUTE by_distance (6, 'nearest');
RESET plan_cache_mode;
DEALLOCATE by_distance;
-- options are those of the first row of a partition
SELECT kind, count(DISTINCT cluster) FROM (SELECT kind, simdup_cluster(id, fp, CASE kind WHEN 'dense' THEN 6 ELSE 0 END) OVER (PARTITION BY kind ORDER BY id) AS cluster FROM part) AS c GROUP BY kind ORDER BY kind COLLATE "C";
CREATE VIEW clustered AS SELECT id, simdup_cluster(id, fp, 3) OVER (PARTITION BY kind ORDER BY id) AS cluster FROM rows;
SELECT pg_get_viewdef('clustered') LIKE '%simdup_cluster(rows.id, rows.fp, 3) OVER (PARTITION BY rows.kind ORDER BY rows.id)%' OR pg_get_viewdef('clustered') LIKE '%simdup_cluster(id, fp, 3) OVER (PARTITION BY kind ORDER BY id)%' AS written;
SELECT count(*) FROM clustered WHERE id = cluster;
SELECT count(cluster) FROM (SELECT id, simdup_cluster(id, fp, 3) OVER w AS cluster, row_number() OVER w AS n FROM rows WHERE kind = 'dense' WINDOW w AS (ORDER BY id)) AS c WHERE n < 4;
DROP VIEW clustered;
DROP TABLE part, apart;

-- keys of any type, and NULLs: a row without a key or a fingerprint has its own
SELECT pg_typeof(min(c)), array_agg(c ORDER BY n) FROM (SELECT n, simdup_cluster(k, fp_of(n / 2)) OVER (ORDER BY n) AS c FROM unnest('{a,b,c,d,e}'::text[]) WITH ORDINALITY AS u (k, o), LATERAL (SELECT o::int AS n) AS x) AS y;
SELECT pg_typeof(min(c)), array_agg(c ORDER BY n) FROM (SELECT n, simdup_cluster(n::numeric / 2, fp_of(n / 2)) OVER (ORDER BY n) AS c FROM generate_series(1, 5) AS n) AS y;
SELECT array_agg(simdup_cluster) FROM (SELECT simdup_cluster(n::int2, fp_of(n / 2)) OVER (ORDER BY n) FROM generate_series(1, 5) AS n) AS y;
SELECT array_agg(simdup_cluster) FROM (SELECT simdup_cluster(md5((n / 2 * 2)::text)::uuid = md5(n::text)::uuid, fp_of(n / 2)) OVER (ORDER BY n) FROM generate_series(1, 5) AS n) AS y;
SELECT array_agg(simdup_cluster) FROM (SELECT simdup_cluster(ROW(n, 'x'), fp_of(n / 2)) OVER (ORDER BY n) FROM generate_series(1, 5) AS n) AS y;
SELECT array_agg(length(simdup_cluster) ORDER BY n) FROM (SELECT n, simdup_cluster(repeat('k', n * 100000), fp_of(n / 2)) OVER (ORDER BY n) FROM generate_series(1, 5) AS n) AS y;
SELECT n, simdup_cluster(CASE WHEN n % 4 > 0 THEN n END, CASE WHEN n <> 5 THEN fp_of(n / 10) END) OVER (ORDER BY n DESC) FROM generate_series(1, 12) AS n ORDER BY n;
SELECT count(*), count(c) FROM (SELECT simdup_cluster(n, NULL::simhash64) OVER () AS c FROM generate_series(1, 5) AS n) AS y;
SELECT simdup_cluster(1, fp_of(1)) OVER () WHERE false;
SELECT simdup_cluster(1, fp_of(1)) OVER ();
DROP FUNCTION naive_clusters, flipped;
DROP TABLE rows;

-- contents: clusters by fingerprint, judged by texts
CREATE TABLE doc (id int PRIMARY KEY, name text, fp simhash64, body text);
-- families of texts, some of them equal, with fingerprints a few bits apart
INSERT INTO doc
SELECT i, 'doc ' || i, (('x' || left(md5((i / 7)::text), 16))::bit(64)::bigint # (1::bigint << (i * 13 % 64)) # (1::bigint << (i * 29 % 64)))::simhash64,
       (SELECT string_agg(CASE WHEN j % 40 < i % 4 * 5 THEN 'x' || i % 8 ELSE 'w' || j || '_' || i / 14 END, ' ' ORDER BY j)
        FROM generate_series(1, 60) AS j)
FROM generate_series(1, 400) AS i;
INSERT INTO doc SELECT id + 1000, name, fp, body FROM doc WHERE id % 5 = 0;
INSERT INTO doc SELECT id + 2000, name, '00000000000000ff', body FROM doc WHERE id % 50 = 0;
INSERT INTO doc VALUES (3000, 'no text', '00000000000000ff', NULL), (3001, 'no shingle', '00000000000000ff', '***'),
  (3002, 'no shingle', '00000000000000ff', '***'), (3003, 'no shingle', '00000000000000ff', '+++'), (3004, 'no fingerprint', NULL, 'text');

-- by the rule: each row joins the nearest leader that it resembles, the earlier one
-- of two as near; a text without a shingle resembles nothing
CREATE FUNCTION naive(k int, min_resemblance float8, w int, unit text)
  RETURNS TABLE (key int, cluster int) LANGUAGE plpgsql AS $$
DECLARE d doc; leaders int[] := '{}';
BEGIN
  CREATE TEMP TABLE member (key int PRIMARY KEY, cluster int);
  FOR d IN SELECT * FROM doc ORDER BY id LOOP
    INSERT INTO member SELECT d.id, doc.id
      FROM doc WHERE doc.id = ANY (leaders) AND doc.fp <~> d.fp <= k AND shingle_resemblance(doc.body, d.body, w, unit) >= min_resemblance
      ORDER BY doc.fp <~> d.fp, doc.id LIMIT 1;
    CONTINUE WHEN FOUND;
    IF d.fp IS NOT NULL AND d.body IS NOT NULL THEN leaders := leaders || d.id; END IF;
    INSERT INTO member VALUES (d.id, d.id);
  END LOOP;
  RETURN QUERY TABLE member;
  DROP TABLE member;
END $$;
SELECT k, r, w, unit, count(*) AS rows, count(DISTINCT n.cluster) AS clusters, count(*) FILTER (WHERE v.cluster IS DISTINCT FROM n.cluster) AS wrong
FROM (VALUES (0, 0.5, 2, 'word'), (4, 0.3, 1, 'word'), (8, 0.8, 4, 'char'), (12, 0.5, 2, 'word'), (16, 1, 3, 'word')) AS asked (k, r, w, unit),
  LATERAL (SELECT * FROM naive(k, r, w, unit)) AS n,
  LATERAL (SELECT * FROM (SELECT id, simdup_cluster(id, fp, body, k, r, 'leader', w, unit) OVER (ORDER BY id) AS cluster FROM doc OFFSET 0) AS d WHERE d.id = n.key) AS v
GROUP BY k, r, w, unit ORDER BY k;
-- without a least resemblance contents do not count
SELECT count(*), count(DISTINCT a), count(*) FILTER (WHERE a <> b) AS wrong
FROM (SELECT simdup_cluster(id, fp, body, 8, NULL) OVER (ORDER BY id) AS a, simdup_cluster(id, fp, 8) OVER (ORDER BY id) AS b FROM doc) AS c;
-- contents alone: minhash64 and the largest distance of simdup_resembles
SELECT r, method, count(*), count(DISTINCT a) AS clusters, count(*) FILTER (WHERE a <> b) AS wrong
FROM (VALUES (0.8, 'leader'), (0.9, 'leader'), (0.75, 'connected'), (1, 'connected')) AS v (r, method),
  LATERAL (SELECT simdup_cluster(id, body, r, method) OVER (ORDER BY id) AS a,
    simdup_cluster(id, minhash64(body), body, minhash64_distance(r), r, method) OVER (ORDER BY id) AS b FROM doc) AS c GROUP BY r, method ORDER BY r;
SELECT id, simdup_cluster(id, body) OVER (ORDER BY id) AS of_text, simdup_cluster(id, body::varchar(80)) OVER (ORDER BY id) AS of_varchar FROM doc WHERE id >= 2250 ORDER BY id;

-- beyond work_mem the same, in partitions large and small
CREATE TABLE many AS SELECT d.id * 100 + n AS id, n % 3 AS district, d.fp, d.body || ' copy ' || n AS body FROM doc AS d, generate_series(1, 40) AS n WHERE d.id <= 400;
SET work_mem = '64kB';
-- many short texts, each twice, beyond the table of equal ones
SELECT count(DISTINCT a) AS templates, count(DISTINCT b) AS campaigns, count(DISTINCT c) AS clusters
FROM (SELECT simdup_template(i, t) OVER w AS a, simdup_campaign(i, t) OVER w AS b, simdup_cluster(i, t, 1) OVER w AS c
      FROM generate_series(1, 10000) AS i, LATERAL (SELECT 'plea ' || i % 5000) AS s (t) WINDOW w AS (ORDER BY i)) AS s;
SET hash_mem_multiplier = 1;
CREATE TABLE on_disk AS SELECT id, simdup_cluster(repeat('key ', 30) || id, fp, body, 8, 0.6, 'leader', 2, 'word') OVER (PARTITION BY district ORDER BY id) AS verified,
  simdup_cluster(id, fp) OVER (PARTITION BY district ORDER BY id) AS near, simdup_cluster(id, fp, 6, 'connected') OVER (PARTITION BY district ORDER BY id) AS chained,
  simdup_cluster(id, fp) OVER (PARTITION BY id / 100 ORDER BY id) AS of_few FROM many;
SET work_mem = '256MB';
SELECT count(*), count(DISTINCT m.verified) AS verified, count(DISTINCT m.near) AS near, count(*) FILTER (WHERE (d.verified, d.near, d.chained, d.of_few) IS DISTINCT FROM
    (repeat('key ', 30) || m.verified, m.near, m.chained, m.of_few)) AS wrong
FROM on_disk AS d FULL JOIN (SELECT id, simdup_cluster(id, fp, body, 8, 0.6, 'leader', 2, 'word') OVER (PARTITION BY district ORDER BY id) AS verified,
  simdup_cluster(id, fp) OVER (PARTITION BY district ORDER BY id) AS near, simdup_cluster(id, fp, 6, 'connected') OVER (PARTITION BY district ORDER BY id) AS chained,
  simdup_cluster(id, fp) OVER (PARTITION BY id / 100 ORDER BY id) AS of_few FROM many) AS m USING (id);
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE many, on_disk;
-- texts beyond the memory that finds equal ones, in dense balls: the leader method takes many ranges, or one
CREATE TABLE ball AS SELECT i AS id, i % 2 AS district, (hashint4(n) & 65535)::bigint::simhash64 AS fp, concat_ws(' ', 'we ask for a lamp', n % 3, n % 5, 'street', n) AS body
  FROM generate_series(1, 2400) AS i, LATERAL (SELECT CASE WHEN i > 1600 THEN i - 800 ELSE i END AS n) AS l;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE on_disk AS SELECT id, simdup_cluster(id, fp, body, 8, 0.75, 'leader', 1, 'word') OVER w AS verified, simdup_cluster(id, fp, 6) OVER w AS near,
  simdup_cluster(id, fp, 5) OVER (PARTITION BY district ORDER BY id) AS parted FROM ball WINDOW w AS (ORDER BY id);
SET work_mem = '512MB';
SELECT count(*), count(DISTINCT m.verified) AS verified, count(DISTINCT m.near) AS near, count(DISTINCT m.parted) AS parted,
  count(*) FILTER (WHERE (d.verified, d.near, d.parted) IS DISTINCT FROM (m.verified, m.near, m.parted)) AS wrong
FROM on_disk AS d FULL JOIN (SELECT id, simdup_cluster(id, fp, body, 8, 0.75, 'leader', 1, 'word') OVER w AS verified, simdup_cluster(id, fp, 6) OVER w AS near,
  simdup_cluster(id, fp, 5) OVER (PARTITION BY district ORDER BY id) AS parted FROM ball WINDOW w AS (ORDER BY id)) AS m USING (id);
-- the naive rule: the nearest row before that leads, of equal ones the first
CREATE TABLE naive (id int PRIMARY KEY, fp simhash64, leader int);
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT * FROM ball ORDER BY id LOOP
    INSERT INTO naive SELECT r.id, r.fp, coalesce((SELECT n.id FROM naive AS n WHERE n.leader = n.id AND n.fp <~> r.fp <= 6
      ORDER BY n.fp <~> r.fp, n.id LIMIT 1), r.id);
  END LOOP;
END $$;
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE near <> leader) AS wrong FROM on_disk JOIN naive USING (id);
-- decisions across ranges: a row with cannot-links chooses among all leaders before it
SET client_min_messages = error; -- contradictions are passed over
CREATE TABLE source AS SELECT id AS key, fp, body AS content FROM ball;
SELECT simdup_group(g || v, 'source', 6, min_resemblance => r, w => 1, unit => 'word')
FROM unnest(ARRAY['few', 'many']) AS g, (VALUES ('_near', NULL), ('_verified', 0.75)) AS o (v, r);
SELECT count(*)
FROM unnest(ARRAY['few', 'many']) AS g, unnest(ARRAY['_near', '_verified']) AS v, (
  SELECT i % 3 = 0 AS same, array_agg(i) AS a, array_agg(CASE WHEN i % 4 = 0 THEN i + 1 ELSE 1 + (hashint4(i) & 2047) END) AS b
  FROM generate_series(1, 2300, 5) AS i GROUP BY 1) AS d,
  simdup_decide(g || v, a, b, same, refresh => false);
SET maintenance_work_mem = '512MB';
SELECT count(*) FROM unnest(ARRAY['few_near', 'few_verified']) AS g, simdup_regroup(g);
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM unnest(ARRAY['many_near', 'many_verified']) AS g, simdup_regroup(g);
SELECT count(DISTINCT f.id) AS groups, count(*) FILTER (WHERE f.id IS DISTINCT FROM m.id) AS wrong FROM few_near AS f FULL JOIN many_near AS m USING (key)
UNION ALL
SELECT count(DISTINCT f.id), count(*) FILTER (WHERE f.id IS DISTINCT FROM m.id) FROM few_verified AS f FULL JOIN many_verified AS m USING (key);
SELECT FROM unnest(ARRAY['few', 'many']) AS g, unnest(ARRAY['_near', '_verified']) AS v, simdup_ungroup(g || v, with_decisions => true);
RESET client_min_messages;
RESET maintenance_work_mem;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE ball, on_disk, naive, source;
-- one fingerprint for texts that have nothing in common; one text that everybody sends
CREATE TABLE monster AS SELECT i AS id, simhash64 '0123456789abcdef' AS fp, md5(i::text) || ' ' || md5((-i)::text) || ' ' || md5((i + 0.5)::text) AS body FROM generate_series(1, 500) AS i;
INSERT INTO monster SELECT i, '0123456789abcdee', 'Please repair the lamp in front of our house, ' || repeat('it has been dark for weeks now ', i % 3 + 1) FROM generate_series(1001, 4000) AS i;
SELECT count(*) FILTER (WHERE n = 1) AS alone, count(*) FILTER (WHERE n > 1) AS clusters, max(n)
FROM (SELECT count(*) AS n FROM (SELECT simdup_cluster(id, fp, body, 8, 0.5, 'leader', 1, 'word') OVER (ORDER BY id) AS c FROM monster) AS m GROUP BY c) AS s;
DROP TABLE monster;

-- campaigns: the center takes most rows, copies counted, of equal ones the earliest; the others join the nearest center
CREATE FUNCTION words(VARIADIC ranges int[]) RETURNS text IMMUTABLE
  RETURN (SELECT string_agg(format('w%s', i), ' ' ORDER BY n, i) FROM unnest(ranges) WITH ORDINALITY AS r (word, n), generate_series(word * 20, word * 20 + 19) AS i);
CREATE TABLE sent (id int, content text);
INSERT INTO sent VALUES (1, words(1)), (2, words(1, 2)), (3, words(2, 3)), (4, words(3)), (5, words(9)), (6, words(1)), (7, ''), (8, ''),
  (9, '?!'), (10, NULL), (11, NULL), (12, 'Thanks!'), (13, 'THANKS'), (14, words(3)), (15, words(3)), (16, upper(words(9)) || '!');
SELECT id, simdup_campaign(id, content) OVER (ORDER BY id), simdup_campaign(-id, content) OVER (ORDER BY id DESC) AS backwards FROM sent ORDER BY id;
-- the shorter is in the longer by 18 of 18, 18 of 38 and, of 3 in 2, 18 of 38
SELECT id, simdup_campaign(id, content, 1) OVER w AS all, simdup_campaign(id, content, 0.48) OVER w AS most, simdup_campaign(id, content, 18.0 / 38) OVER w AS half
FROM sent WHERE id < 5 WINDOW w AS (ORDER BY id) ORDER BY id;
-- a NULL key gives NULL; where the center has none, the first row with a key names the campaign
SELECT id, simdup_campaign(nullif(id, 3), content) OVER (ORDER BY id) AS no_center, simdup_campaign(CASE WHEN id > 14 THEN id END, content) OVER (ORDER BY id) AS few FROM sent WHERE id IN (2, 3, 4, 14, 15) ORDER BY id;
-- partitions, keys of other types, the options of the first row, little memory
SELECT id, simdup_campaign(ROW(id, 'letter'), content) OVER (PARTITION BY id % 2 ORDER BY id), simdup_campaign('key ' || id, content, id::float8 / 15) OVER (ORDER BY id) AS text FROM sent WHERE id < 16 ORDER BY id;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), count(DISTINCT c), count(*) FILTER (WHERE c = 500 + id % 500) AS right FROM (SELECT id, simdup_campaign(id, words(id % 500, 3000 + id % 500, 4000 + id % 500, 5000 + id % 500, 6000 + id % 500, id)) OVER (ORDER BY id) AS c FROM generate_series(500, 2999) AS id) AS w;
RESET work_mem;
RESET hash_mem_multiplier;
BEGIN;
DECLARE sent SCROLL CURSOR FOR SELECT id, simdup_campaign(id, content) OVER (ORDER BY id) FROM sent WHERE id < 7;
FETCH ABSOLUTE 6 FROM sent;
FETCH ABSOLUTE 1 FROM sent;
COMMIT;
SELECT n, c FROM generate_series(1, 3) AS n, LATERAL (SELECT count(DISTINCT c) AS c FROM (SELECT simdup_campaign(id, content) OVER (ORDER BY id) AS c FROM sent WHERE id > 5 * n) AS w) AS l;
-- ten letters on ten matters with one opening, of which one is short; longer letters that are one but for their own words
SELECT least, count(DISTINCT c) FROM (VALUES (1), (2)) AS v (least), LATERAL (SELECT simdup_campaign(id, words(3) || ' ' || words(3, 10 * id + 1) || CASE WHEN id >= least THEN words(10 * id + 2, 10 * id + 3, 10 * id + 4) ELSE '' END) OVER (ORDER BY id) AS c FROM generate_series(1, 10) AS id) AS w GROUP BY 1 ORDER BY 1;
SELECT count(DISTINCT c) FROM (SELECT simdup_campaign(id, words(1, 2, 3, 4, 5, 10 + id)) OVER (ORDER BY id) AS c FROM generate_series(1, 10) AS id) AS w;
-- templates: letters whose ten sentences are one of four; the others are alone
CREATE TABLE exchanged AS SELECT id, concat_ws(' ', (SELECT string_agg(md5(format('%s %s %s', n, m, (id * 7 + n * (id / 4 + 3) + id / (n + 1)) % 4)), ' ' ORDER BY n, m) FROM generate_series(1, 10) AS n, generate_series(1, 6) AS m WHERE id <= 40), (SELECT string_agg(md5(format('%s %s', id, m)), ' ') FROM generate_series(1, CASE WHEN id > 40 THEN 60 ELSE 5 END) AS m)) AS content
FROM generate_series(1, 60) AS id;
SELECT count(*) FILTER (WHERE t <= 40 AND id <= 40) AS of_it, count(DISTINCT t) FILTER (WHERE id <= 40) AS templates, count(*) FILTER (WHERE t = id AND id > 40) AS alone, count(DISTINCT c) FILTER (WHERE id <= 40) > 10 AS no_campaign
FROM (SELECT id, simdup_template(id, content) OVER (ORDER BY id) AS t, simdup_campaign(id, content) OVER (ORDER BY id) AS c FROM exchanged) AS w;
-- seven letters are too few; copies are one letter; a cover of all is asked for too much
SELECT count(DISTINCT t) FROM (SELECT simdup_template(id, content) OVER (ORDER BY id) AS t FROM exchanged WHERE id <= 7) AS w;
SELECT count(DISTINCT t) FROM (SELECT simdup_template(n, content) OVER (ORDER BY n) AS t FROM exchanged, generate_series(1, 3) AS n WHERE id = 1) AS w;
SELECT count(DISTINCT t) FROM (SELECT simdup_template(id, content, 1) OVER (ORDER BY id) AS t FROM exchanged WHERE id <= 40) AS w;
DROP TABLE exchanged;
DROP TABLE sent;
DROP FUNCTION words;

-- components: each is named by its smallest key, in any order of the pairs
SELECT a, b, simdup_component(a, b) OVER () FROM (VALUES (7, 3), (1, 1), (3, 9), (5, 4), (9, 7)) AS v (a, b) ORDER BY a, b;
SELECT a, b, simdup_component(a, b) OVER () FROM (VALUES ('b', 'a'), ('c', repeat('x', 3)), ('xxx', 'b')) AS v (a, b) ORDER BY a COLLATE "C";
SELECT a, b, simdup_component(a, b) OVER () FROM (VALUES (1.0, 2.0), (2.00, 3.0), (4.0, 4.0)) AS v (a, b) ORDER BY a;
SELECT DISTINCT simdup_component(a, b COLLATE "C") OVER () FROM (VALUES ('a', 'B'), ('B', 'c')) AS v (a, b);
SELECT simdup_component(a, b) OVER () FROM (VALUES (ARRAY[2, 1], ARRAY[1, 2]), ('{3}', '{1,2}')) AS v (a, b);
SELECT DISTINCT simdup_component(ROW(a, 1), ROW(b, 1)) OVER () FROM (VALUES (2, 1), (2, 3)) AS v (a, b);
-- a NULL connects nothing, as in a left join
SELECT a, b, simdup_component(a, b) OVER () FROM (VALUES (7, NULL), (NULL, 3), (3, 9), (NULL, NULL), (9, 7)) AS v (a, b) ORDER BY a, b;
-- partitions are apart, of many keys
SELECT g % 2 AS half, count(*), count(DISTINCT c), sum(c) FROM (SELECT g, simdup_component(g, g + 1) OVER (PARTITION BY g % 2) AS c FROM generate_series(1, 300000) AS g WHERE g % 3 > 0) AS x GROUP BY 1 ORDER BY 1;
SELECT count(*), count(DISTINCT c), min(c), max(c) FROM (SELECT simdup_component(300001 - g, 300000 - g) OVER (ORDER BY g % 1000) AS c FROM generate_series(1, 300000) AS g WHERE g % 3 > 0) AS x;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT c), min(c), max(c) FROM (SELECT simdup_component('key ' || g, 'key ' || g / 2) OVER (PARTITION BY g % 7) AS c FROM generate_series(1, 50000) AS g) AS x;
RESET work_mem;
-- the components of near pairs are the connected clusters
SELECT count(*), count(DISTINCT cluster), count(*) FILTER (WHERE component <> cluster) AS wrong
FROM (SELECT id, simdup_cluster(id, fp, 4, 'connected') OVER (ORDER BY id) AS cluster FROM doc) AS c
  JOIN (SELECT DISTINCT a.id, simdup_component(a.id, b.id) OVER () AS component FROM doc AS a LEFT JOIN doc AS b ON a.id <> b.id AND a.fp <~> b.fp <= 4) AS d USING (id);
SELECT simdup_component(1, 2) OVER () WHERE false;

-- refusals, by the server or here
SELECT simdup_cluster(id, fp) FROM doc;
SELECT simdup_cluster(id, fp) FILTER (WHERE id > 1) OVER (ORDER BY id) FROM doc;
SELECT simdup_cluster(DISTINCT id, fp) OVER (ORDER BY id) FROM doc;
SELECT simdup_component(id, id ORDER BY id) OVER () FROM doc;
SELECT simdup_component(id, id) FILTER (WHERE id > 1) OVER () FROM doc;
SELECT id FROM doc WHERE simdup_cluster(id, fp) OVER () = id;
SELECT simdup_cluster(id, fp, -1) OVER () FROM doc;
SELECT simdup_cluster(id, fp, 33) OVER () FROM doc;
SELECT simdup_cluster(id, fp, NULL::int) OVER () FROM doc;
SELECT simdup_cluster(id, fp, NULL) OVER () FROM doc;
SELECT simdup_cluster(id, fp, '8') OVER () FROM doc;
SELECT simdup_cluster(id, 'text') OVER () FROM doc;
SELECT simdup_cluster(id, fp, 3, 'nearest') OVER () FROM doc;
SELECT simdup_cluster(id, fp, 3, NULL) OVER () FROM doc;
SELECT simdup_cluster(id, fp, body, 8, 0) OVER () FROM doc;
SELECT simdup_cluster(id, fp, body, 8, 'NaN') OVER () FROM doc;
SELECT simdup_cluster(id, fp, body, w => 0) OVER () FROM doc;
SELECT simdup_cluster(id, fp, body, unit => 'line') OVER () FROM doc;
SELECT simdup_cluster(id, body, 1.5) OVER () FROM doc;
SELECT simdup_cluster(id, body, 0.2) OVER () FROM doc;
SELECT simdup_cluster(id, body, NULL::float8) OVER () FROM doc;
SELECT simdup_campaign(id, body) FROM doc;
SELECT simdup_campaign(id, 'text') OVER () FROM doc;
SELECT simdup_campaign(id, body, 1.5) OVER () FROM doc;
SELECT simdup_campaign(id, body, -0.1) OVER () FROM doc;
SELECT simdup_campaign(id, body, 'NaN') OVER () FROM doc;
SELECT simdup_campaign(id, body, NULL) OVER () FROM doc;
SELECT simdup_template(id, 'text') OVER () FROM doc;
SELECT simdup_template(id, body, NULL) OVER () FROM doc;
SELECT simdup_component('1'::json, '2'::json) OVER ();
SELECT simdup_component('(1,2)'::point, '(1,2)'::point) OVER ();
DROP FUNCTION naive, fp_of;
DROP TABLE doc;
