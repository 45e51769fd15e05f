-- whole tables by shingles, and near pairs judged by them
SET simdup.progress_interval = 0;
CREATE TABLE documents (id int PRIMARY KEY, name text, body text);
INSERT INTO documents
SELECT i, 'doc' || i,
       (SELECT string_agg(CASE WHEN j % 40 = i % 6 THEN 'x' || i ELSE 'w' || j || '_' || i / 6 END, ' ' ORDER BY j)
        FROM generate_series(1, 80) AS j)
FROM generate_series(1, 60) AS i;
INSERT INTO documents VALUES (100, 'null', NULL), (101, 'blank', '***'), (102, 'short', 'a b'), (103, 'short2', 'A, b');

-- against every pair
SELECT count(*) AS found, count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM t.resemblance) AS wrong
FROM shingle_pairs('SELECT id, body FROM documents ORDER BY id', 2, 0.7, 'word') AS p
FULL JOIN (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2, 'word') AS resemblance
           FROM documents a JOIN documents b ON a.id < b.id) AS t USING (a, b)
WHERE p.a IS NOT NULL OR t.resemblance >= 0.7;
SELECT * FROM shingle_pairs('SELECT id, body FROM documents WHERE id > 99', 4);
SELECT cluster, count(*) AS pairs, min(common) AS common, min(a) AS a, max(b) AS b
FROM shingle_pairs('SELECT id, body FROM documents ORDER BY id', 2, 0.7, 'word') GROUP BY cluster ORDER BY cluster;
-- other keys, other units, other resemblances
SELECT * FROM shingle_pairs('SELECT name, body FROM documents WHERE id > 99', NULL::text, 1, 0.5, 'char');
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents', 2, 1);
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents WHERE false');
SELECT count(*) FROM shingle_pairs(NULL);
SELECT count(*) FROM shingle_pairs(NULL, NULL::text, 1, 0.5, 'char');
SELECT count(*) FROM simdup_pairs('SELECT', NULL::text, NULL, 1, 4, 'word');

-- no pair is left out, however many documents share a shingle: equal texts,
-- near-equal letters, and both beside texts that have nothing in common
SELECT count(*) = 3000 * 2999 / 2 AS complete, min(common), min(resemblance), count(DISTINCT cluster) AS clusters
FROM shingle_pairs('SELECT i, ''the very same text'' FROM generate_series(1, 3000) AS i', 2, unit => 'word');
SELECT count(*) = 3000 * 2999 / 2 AS complete, min(resemblance) >= 0.8 AS near, count(DISTINCT cluster) AS clusters
FROM shingle_pairs('SELECT i, ''Dear office, please repair the street lamp that stands in front of house number '' || i || '', thank you very much'' FROM generate_series(1, 3000) AS i', 4, 0.5, 'char');
CREATE TABLE mixed AS
SELECT i AS id, CASE i % 3 WHEN 0 THEN (SELECT string_agg('w' || j, ' ') FROM generate_series(1, 20 + i / 3 % 5) AS j)
                WHEN 1 THEN 'one and only one text' ELSE md5(i::text) || ' ' || md5((-i)::text) END AS body
FROM generate_series(1, 450) AS i;
SELECT t, found, found = expected AS same_count, wrong
FROM unnest(ARRAY[0.3, 0.5, 0.7, 0.9, 0.95, 1.0]) AS t,
  LATERAL (SELECT count(*) FILTER (WHERE p.a IS NOT NULL) AS found, count(*) FILTER (WHERE m.resemblance >= t) AS expected,
                  count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM m.resemblance) AS wrong
           FROM shingle_pairs('SELECT id, body FROM mixed ORDER BY id', 1, t, 'word') AS p
           FULL JOIN (SELECT x.id AS a, y.id AS b, shingle_resemblance(x.body, y.body, 1, 'word') AS resemblance
                      FROM mixed x JOIN mixed y ON x.id < y.id) AS m USING (a, b)
           WHERE p.a IS NOT NULL OR m.resemblance >= t) AS f
ORDER BY t;
DROP TABLE mixed;

-- beyond the memory it is allowed, the same
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(common) FROM shingle_pairs('SELECT id, body || id FROM documents, generate_series(1, 5) AS n ORDER BY id, n', 2, 0.7, 'word');
RESET maintenance_work_mem;
SELECT count(*), sum(common) FROM shingle_pairs('SELECT id, body || id FROM documents, generate_series(1, 5) AS n ORDER BY id, n', 2, 0.7, 'word');

-- candidates by fingerprint, verified by resemblance
SELECT count(*) AS found, count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM t.resemblance OR p.distance IS DISTINCT FROM t.distance) AS wrong
FROM simdup_pairs('SELECT id, simhash(body), body AS content FROM documents ORDER BY id', 16, 0.7, 2, 'word') AS p
FULL JOIN (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2, 'word') AS resemblance, simhash(a.body) <~> simhash(b.body) AS distance
           FROM documents a JOIN documents b ON a.id < b.id) AS t USING (a, b)
WHERE p.a IS NOT NULL OR (t.resemblance >= 0.7 AND t.distance <= 16);
SELECT * FROM simdup_pairs('SELECT name, simhash(body), body AS content FROM documents WHERE id > 99', NULL::text, 0, 1, 4, 'word');
SELECT count(*) FROM simdup_pairs('SELECT id, simhash(body), body AS content FROM documents WHERE false', min_resemblance => 0.8);
SELECT count(*) FROM simdup_pairs('SELECT 1::smallint, NULL::simhash64, ''a'' AS content', min_resemblance => 0.8);

-- why
SELECT * FROM simdup_explain('the rose is a rose', 'The tulip is a rose', 'simhash', 2, 'word') \gx
SELECT * FROM simdup_explain('***', 'a "rose"', 'simhash') \gx
SELECT distance, resemblance FROM simdup_explain('one and the same', 'one and the same');
SELECT distance = simhash(a) <~> simhash(b) AS same FROM (VALUES ('the rose is a rose', 'The tulip is a rose')) AS t(a, b), simdup_explain(a, b, 'simhash');

-- the query is read-only and runs as its caller, who sees only what he may
CREATE ROLE regress_simdup_reader;
GRANT USAGE ON SCHEMA public TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents');
RESET ROLE;
GRANT SELECT ON documents TO regress_simdup_reader;
ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_short ON documents FOR SELECT TO regress_simdup_reader USING (id > 99);
SET ROLE regress_simdup_reader;
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents');
RESET ROLE;
DROP OWNED BY regress_simdup_reader;
DROP ROLE regress_simdup_reader;

-- bad input
SELECT * FROM shingle_pairs('SELECT id FROM documents');
SELECT * FROM shingle_pairs('SELECT id, id FROM documents');
SELECT * FROM shingle_pairs('SELECT name, body FROM documents');
SELECT * FROM shingle_pairs('SELECT NULL::int, body FROM documents');
SELECT * FROM shingle_pairs('DELETE FROM documents RETURNING id, body');
SELECT * FROM shingle_pairs('SELECT id, body FROM documents; SELECT 1');
SELECT * FROM shingle_pairs('SELECT id, body FROM');
SELECT * FROM shingle_pairs('SELECT id, body FROM documents', 0);
SELECT * FROM shingle_pairs('SELECT id, body FROM documents', 4, 0);
SELECT * FROM shingle_pairs('SELECT id, body FROM documents', 4, 'NaN');
SELECT * FROM shingle_pairs('SELECT id, body FROM documents', 4, 0.5, 'line');
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents', w => NULL);
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents', min_resemblance => NULL);
SELECT count(*) FROM simdup_pairs('SELECT id, simhash(body), body AS content FROM documents', min_resemblance => NULL);
SELECT * FROM simdup_pairs('SELECT id, body FROM documents');
SELECT * FROM simdup_pairs('SELECT id, 1::bigint, body AS content FROM documents');
SELECT * FROM simdup_pairs('SELECT id, simhash(body), body AS content FROM documents', 17);
SELECT * FROM simdup_explain('a', 'b', w => 0);
DROP TABLE documents;
