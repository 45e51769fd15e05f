-- simdup_clusters with min_resemblance: clusters by fingerprint, judged by contents
SET simdup.progress_interval = 0;
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
  RETURNS TABLE (key int, cluster int, distance int, resemblance float8) LANGUAGE plpgsql AS $$
DECLARE d doc; leaders int[] := '{}';
BEGIN
  CREATE TEMP TABLE member (key int PRIMARY KEY, cluster int, distance int, resemblance float8);
  FOR d IN SELECT * FROM doc WHERE fp IS NOT NULL AND body IS NOT NULL ORDER BY id LOOP
    INSERT INTO member SELECT d.id, doc.id, doc.fp <~> d.fp, shingle_resemblance(doc.body, d.body, w, unit)
      FROM doc WHERE doc.id = ANY (leaders) AND doc.fp <~> d.fp <= k AND shingle_resemblance(doc.body, d.body, w, unit) >= min_resemblance
      ORDER BY doc.fp <~> d.fp, doc.id LIMIT 1;
    CONTINUE WHEN FOUND;
    leaders := leaders || d.id;
    INSERT INTO member VALUES (d.id, d.id, 0, 1);
  END LOOP;
  RETURN QUERY SELECT * FROM member;
  DROP TABLE member;
END $$;
CREATE FUNCTION compared(k int, r float8, w int, unit text, OUT rows bigint, OUT clusters bigint, OUT largest bigint, OUT wrong bigint) LANGUAGE sql AS $$
  WITH n AS (SELECT *, count(*) OVER (PARTITION BY cluster) AS size FROM naive(k, r, w, unit)),
    v AS (SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc ORDER BY id', k, 'leader', r, w, unit, 1))
  SELECT count(*), count(DISTINCT n.cluster), max(n.size), count(*) FILTER (WHERE (v.cluster, v.size, v.distance, v.resemblance)
    IS DISTINCT FROM (n.cluster::bigint, n.size, n.distance, n.resemblance))
  FROM n FULL JOIN v ON v.key = n.key
$$;
SET client_min_messages = warning;
SELECT k, r, w, unit, c.* FROM (VALUES (0, 0.5, 2, 'word'), (4, 0.3, 1, 'word'), (8, 0.8, 4, 'char'), (12, 0.5, 2, 'word'), (16, 1, 3, 'word')) AS asked (k, r, w, unit),
  compared(k, r, w, unit) AS c;
-- beyond maintenance_work_mem and work_mem, the same
SET maintenance_work_mem = '1MB';
SET work_mem = '64kB';
CREATE TABLE many AS SELECT d.id * 100 + n AS id, d.fp, d.body || ' copy ' || n AS body FROM doc AS d, generate_series(1, 40) AS n WHERE d.id <= 400 ORDER BY 1;
CREATE TABLE on_disk AS SELECT * FROM simdup_clusters('SELECT repeat(''key '', 30) || id, fp, body AS content FROM many ORDER BY id', NULL::text, 8, 'leader', 0.6, 2, 'word');
RESET maintenance_work_mem;
RESET work_mem;
SELECT count(*), count(*) FILTER (WHERE (a.cluster, a.size, a.distance, a.resemblance) IS DISTINCT FROM (repeat('key ', 30) || b.cluster, b.size, b.distance, b.resemblance)) AS wrong
FROM on_disk AS a FULL JOIN simdup_clusters('SELECT id, fp, body AS content FROM many ORDER BY id', 8, 'leader', 0.6, 2, 'word') AS b ON a.key = repeat('key ', 30) || b.key;
DROP TABLE many, on_disk;
RESET client_min_messages;

-- notices count what is refused and what is left out
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc WHERE id BETWEEN 2001 AND 2150 OR id >= 3000 ORDER BY id', min_resemblance => 0.8, min_size => 1) ORDER BY key;
SELECT key, cluster, size FROM simdup_clusters('SELECT name, fp, body AS content FROM doc WHERE id >= 3000 AND fp IS NOT NULL AND body IS NOT NULL ORDER BY id', NULL::text, 8, 'leader', 0.5, 4, 'word');

-- no chain grows: every link resembles the next, the ends have nothing in common
CREATE TABLE chain AS
SELECT i AS id, ((1::bigint << (i % 64)) - 1)::simhash64 AS fp, (SELECT string_agg('w' || j, ' ') FROM generate_series(i, i + 20) AS j) AS body
FROM generate_series(0, 60) AS i;
SELECT count(*), max(size), max(distance) FROM simdup_clusters('SELECT id, fp FROM chain', 3, 'connected');
SELECT count(DISTINCT cluster), max(size), max(distance), min(resemblance) >= 0.5 AS near FROM simdup_clusters('SELECT id, fp, body AS content FROM chain', 16, 'leader', 0.5, 1, 'word', min_size => 1);
-- one fingerprint for texts that have nothing in common; one text that everybody sends
CREATE TABLE monster AS SELECT i AS id, simhash64 '0123456789abcdef' AS fp, md5(i::text) || ' ' || md5((-i)::text) || ' ' || md5((i + 0.5)::text) AS body FROM generate_series(1, 500) AS i;
INSERT INTO monster SELECT i, '0123456789abcdee', 'Please repair the lamp in front of our house, ' || repeat('it has been dark for weeks now ', i % 3 + 1) FROM generate_series(1001, 4000) AS i;
SELECT count(*) FILTER (WHERE size = 1) AS alone, count(DISTINCT cluster) FILTER (WHERE size > 1) AS clusters, max(size) FROM simdup_clusters('SELECT id, fp, body AS content FROM monster ORDER BY id', 8, 'leader', 0.5, 1, 'word', min_size => 1);
DROP TABLE chain, monster;

-- sketches in place of texts
SELECT count(*), count(*) FILTER (WHERE c.resemblance <> minhash_bits_resemblance(minhash_bits(a.body), minhash_bits(b.body)) OR c.resemblance < 0.6) AS wrong
FROM simdup_clusters('SELECT id, fp, minhash_bits(body) AS content FROM doc WHERE id < 400 ORDER BY id', 8, 'leader', 0.6) AS c
JOIN doc AS a ON a.id = c.key JOIN doc AS b ON b.id = c.cluster;
-- parameters, other keys, nothing
SELECT count(*) FROM simdup_clusters('SELECT id, fp, body AS content FROM doc WHERE id < $1', min_resemblance => 0.8, unit => 'word', params => '{100}');
SELECT count(*), min(key), max(cluster) FROM simdup_clusters('SELECT name, fp, body AS content FROM doc WHERE id < $1', NULL::text, 8, 'leader', 0.5, 4, 'word', 2, '{20}');
SELECT count(*) FROM simdup_clusters('SELECT id, fp, body AS content FROM doc WHERE false', min_resemblance => 0.8);
SELECT count(*) FROM simdup_clusters(NULL);

-- a scope of any type that can be hashed, NULL too: each scope as if it were alone
CREATE TABLE scoped AS SELECT id, fp, body AS content, CASE WHEN id % 3 > 0 THEN id % 3 END AS scope FROM doc WHERE fp IS NOT NULL AND body IS NOT NULL;
CREATE FUNCTION rows_of(call text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT f::text FROM ' || call || ' AS f', query);
END $$;
SET client_min_messages = error;
SELECT call, scope, count(one) > 100 AS many, count(*) FILTER (WHERE one IS NULL OR apart IS NULL) AS wrong
FROM unnest(ARRAY['simdup_pairs(%L, 8)', 'simdup_pairs(%L, 12, 0.5)', 'simdup_clusters(%L, 8)', 'simdup_clusters(%L, 12, ''connected'')',
    'simdup_clusters(%L, 12, ''leader'', 0.5)', 'simdup_clusters(%L, 12, ''connected'', 0.5)']) AS c (call),
  unnest(ARRAY['scope', 'ROW(scope, 1) AS scope', 'scope::text AS scope']) AS s (scope),
  LATERAL (SELECT * FROM rows_of(call, format('SELECT id, fp, %s, content FROM scoped ORDER BY id', scope)) AS one
    FULL JOIN (SELECT apart FROM generate_series(0, 2) AS n,
      rows_of(call, format('SELECT id, fp, content FROM scoped WHERE coalesce(scope, 0) = %s ORDER BY id', n)) AS apart) AS a ON one = apart) AS r
GROUP BY 1, 2 ORDER BY 1, 2;
RESET client_min_messages;
SET maintenance_work_mem = '1MB';
CREATE TABLE on_disk AS SELECT * FROM simdup_pairs('SELECT id * 100 + n, fp, scope FROM scoped, generate_series(1, 40) AS n ORDER BY 1', 2);
RESET maintenance_work_mem;
SELECT count(*) > 0 AS some, count(*) = (SELECT count(*) FROM simdup_pairs('SELECT id * 100 + n, fp, scope FROM scoped, generate_series(1, 40) AS n ORDER BY 1', 2)) AS same,
  bool_and(x.scope IS NOT DISTINCT FROM y.scope) AS one_scope FROM on_disk JOIN scoped AS x ON x.id = a / 100 JOIN scoped AS y ON y.id = b / 100;
SELECT count(*) > 0 AS some, bool_and(x.scope IS NOT DISTINCT FROM y.scope) AS one_scope
FROM simdup_new_pairs('SELECT id, fp, scope FROM scoped WHERE id % 2 = 0', 'SELECT id, fp, scope FROM scoped WHERE id % 2 = 1', 8)
  JOIN scoped AS x ON x.id = a JOIN scoped AS y ON y.id = b;
SELECT * FROM simdup_new_pairs('SELECT id, fp, scope FROM scoped', 'SELECT id, fp FROM scoped');
SELECT * FROM simdup_pairs('SELECT id, fp, scope AS district FROM scoped');
SELECT * FROM simdup_pairs('SELECT id, fp, scope, scope FROM scoped');
SELECT * FROM simdup_pairs('SELECT id, fp, ''[]''::json AS scope FROM scoped');
SELECT * FROM simdup_pairs('SELECT id, fp, scope AS content FROM scoped');
DROP FUNCTION rows_of;
DROP TABLE scoped, on_disk;

-- bad input
SELECT count(*) FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 8, 'leader', NULL);
SELECT * FROM simdup_clusters('SELECT id, fp FROM doc', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, body AS content, fp FROM doc', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT name, fp, body AS content FROM doc', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT NULL::int, fp, body AS content FROM doc', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 17, min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 8, 'leader', 0);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 8, 'leader', 'NaN');
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 8, 'leader', 0.5, 0);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', 8, 'leader', 0.5, 4, 'line');
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', NULL::integer, min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM doc', min_resemblance => 0.8, min_size => NULL);
SELECT * FROM simdup_clusters('SELECT id, fp, minhash_bits(body, 64 + id % 2 * 64) AS content FROM doc WHERE id < 3', min_resemblance => 0.8);
DROP FUNCTION compared;
DROP FUNCTION naive;
DROP TABLE doc;
