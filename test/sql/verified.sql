-- whole tables by shingles, and simhash candidates verified by them
CREATE TABLE documents (id int PRIMARY KEY, name text, body text);
INSERT INTO documents
SELECT i, 'doc' || i,
       (SELECT string_agg(CASE WHEN j % 40 = i % 6 THEN 'x' || i ELSE 'w' || j || '_' || i / 6 END, ' ' ORDER BY j)
        FROM generate_series(1, 80) AS j)
FROM generate_series(1, 60) AS i;
INSERT INTO documents VALUES (100, 'null', NULL), (101, 'blank', '***'), (102, 'short', 'a b'), (103, 'short2', 'A, b');

-- against every pair
SELECT count(*) AS found, count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM t.resemblance) AS wrong
FROM shingle_pairs('SELECT id, body FROM documents ORDER BY id', 2, 0.7) AS p
FULL JOIN (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2) AS resemblance
           FROM documents a JOIN documents b ON a.id < b.id) AS t USING (a, b)
WHERE p.a IS NOT NULL OR t.resemblance >= 0.7;
SELECT * FROM shingle_pairs('SELECT id, body FROM documents WHERE id > 99', 4);
SELECT cluster, count(*) AS pairs, min(common) AS common, min(a) AS a, max(b) AS b
FROM shingle_pairs('SELECT id, body FROM documents ORDER BY id', 2, 0.7) GROUP BY cluster ORDER BY cluster;
-- other keys, other units, other resemblances
SELECT * FROM shingle_pairs('SELECT name, body FROM documents WHERE id > 99', 1, 0.5, 'char', 10, NULL::text);
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents', 2, 1);
SELECT count(*) FROM shingle_pairs('SELECT id, body FROM documents WHERE false');
SELECT count(*) FROM shingle_pairs(NULL);
SELECT count(*) FROM shingle_pairs(NULL, 1, 0.5, 'char', 10, NULL::text);
SELECT count(*) FROM simdup_verified_pairs('SELECT', NULL, 1, 4, 'word', NULL::text);

-- A shingle among the rarest of too many documents leads to no pairs, and a
-- NOTICE counts it. The pairs found by other shingles are exact.
SELECT count(*) AS found, count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM t.resemblance) AS wrong
FROM shingle_pairs('SELECT id, body || '' pair'' || id / 2 || '' more'' || id / 2 FROM documents WHERE id <= 60 ORDER BY id', 2, 0.7, 'word', 3) AS p
LEFT JOIN (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body || ' pair' || a.id / 2 || ' more' || a.id / 2, b.body || ' pair' || b.id / 2 || ' more' || b.id / 2, 2) AS resemblance
           FROM documents a JOIN documents b ON a.id < b.id) AS t USING (a, b);
SELECT count(*) FROM shingle_pairs('SELECT i, ''the very same text'' FROM generate_series(1, 10) AS i', 2, 0.5, 'word', 9);
SELECT count(*) FROM shingle_pairs('SELECT i, ''the very same text'' FROM generate_series(1, 10) AS i', 2, 0.5, 'word', 10);

-- beyond the memory it is allowed, the same
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(common) FROM shingle_pairs('SELECT id, body || id FROM documents, generate_series(1, 5) AS n ORDER BY id, n', 2, 0.7);
RESET maintenance_work_mem;
SELECT count(*), sum(common) FROM shingle_pairs('SELECT id, body || id FROM documents, generate_series(1, 5) AS n ORDER BY id, n', 2, 0.7);

-- candidates by fingerprint, verified by resemblance
SELECT count(*) AS found, count(*) FILTER (WHERE p.resemblance IS DISTINCT FROM t.resemblance OR p.distance IS DISTINCT FROM t.distance) AS wrong
FROM simdup_verified_pairs('SELECT id, simhash(body), body FROM documents ORDER BY id', 16, 0.7, 2) AS p
FULL JOIN (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2) AS resemblance, simhash(a.body) <~> simhash(b.body) AS distance
           FROM documents a JOIN documents b ON a.id < b.id) AS t USING (a, b)
WHERE p.a IS NOT NULL OR (t.resemblance >= 0.7 AND t.distance <= 16);
SELECT * FROM simdup_verified_pairs('SELECT name, simhash(body), body FROM documents WHERE id > 99', 0, 1, 4, 'word', NULL::text);
SELECT count(*) FROM simdup_verified_pairs('SELECT id, simhash(body), body FROM documents WHERE false');
SELECT count(*) FROM simdup_verified_pairs('SELECT 1::smallint, NULL::simhash64, ''a''');

-- why
SELECT * FROM simdup_explain('the rose is a rose', 'The tulip is a rose', 2) \gx
SELECT * FROM simdup_explain('***', 'a "rose"') \gx
SELECT distance, chance, resemblance FROM simdup_explain('one and the same', 'one and the same');
SELECT distance = simhash(a) <~> simhash(b) AS same FROM (VALUES ('the rose is a rose', 'The tulip is a rose')) AS t(a, b), simdup_explain(a, b);

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
SELECT * FROM shingle_pairs('SELECT id, body FROM documents', 4, 0.5, 'word', 1);
SELECT * FROM simdup_verified_pairs('SELECT id, body FROM documents');
SELECT * FROM simdup_verified_pairs('SELECT id, 1::bigint, body FROM documents');
SELECT * FROM simdup_verified_pairs('SELECT id, simhash(body), body FROM documents', 17);
SELECT * FROM simdup_explain('a', 'b', 0);
DROP TABLE documents;
