-- MinHash signatures and bands
SELECT minhash_signature('a rose is a rose', 8, 2, 'word'), cardinality(minhash_signature('a')), minhash_signature('***');
-- characters by default
SELECT minhash_signature(t) = minhash_signature(t, 128, 4, 'char'), minhash_signature(t) = minhash_signature(t, 128, 4, 'word')
FROM (VALUES ('a rose is a rose is a rose')) AS v (t);
SELECT minhash_similarity(s, s), minhash_similarity(s, minhash_signature('something else'))
FROM (SELECT minhash_signature('a rose is a rose is a rose')) AS t(s);
-- an estimate: n of 1000 numbers in common
SELECT n, abs(minhash_similarity(minhash_signature(a, 1024, 1, 'word'), minhash_signature(b, 1024, 1, 'word')) - shingle_resemblance(a, b, 1, 'word')) < 0.05 AS near
FROM generate_series(0, 1000, 200) AS n,
  LATERAL (SELECT string_agg(i::text, ' ') AS a, string_agg((i + 1000 - n)::text, ' ') AS b FROM generate_series(1, 1000) AS i) AS t;

SELECT cardinality(minhash_bands(s, 21)), minhash_bands(s, 128) && minhash_bands(s, 128), minhash_bands(s, 1) = minhash_bands(s, 1)
FROM (SELECT minhash_signature('a rose is a rose is a rose')) AS t(s);
-- a band is shared where all its rows are; rows that are left over do not count
SELECT minhash_bands('{1,2,3,4,5}', 2) && minhash_bands('{1,2,9,9,9}', 2), minhash_bands('{1,2,3,4,5}', 2) && minhash_bands('{1,9,3,9,5}', 2),
       minhash_bands('{1,2,3,4}', 2) && minhash_bands('{3,4,1,2}', 2), minhash_bands('{1,2,3,4,5}', 2) = minhash_bands('{1,2,3,4,6}', 2);
SELECT t, bands, rows, round(recall::numeric, 4) AS recall FROM (VALUES (0.5), (0.8), (0.9), (1)) AS v(t), minhash_bands_for(t);
SELECT bands, rows, round(recall::numeric, 4) AS recall FROM minhash_bands_for(0.01, 16);
SELECT bands, rows, round(recall::numeric, 4) AS recall FROM minhash_bands_for(0.8, 256, 0.9);

-- candidates by index, verified
CREATE TABLE minhash_texts (id int PRIMARY KEY, body text, bands bigint[] GENERATED ALWAYS AS (minhash_bands(minhash_signature(body, 128, 2, 'word'), 32)) STORED);
INSERT INTO minhash_texts SELECT i, (SELECT string_agg(CASE WHEN j % 40 = i % 7 THEN 'x' || i ELSE 'w' || j || i / 7 END, ' ') FROM generate_series(1, 40) AS j) FROM generate_series(1, 70) AS i;
CREATE INDEX ON minhash_texts USING gin (bands);
SET enable_seqscan = off;
SELECT count(*) AS found, min(j) > 0.8 AS near
FROM (SELECT shingle_resemblance(a.body, b.body, 2, 'word') AS j FROM minhash_texts a JOIN minhash_texts b ON a.bands && b.bands AND a.id < b.id) AS c
WHERE j > 0.8;
RESET enable_seqscan;
SELECT count(*) AS truth FROM minhash_texts a JOIN minhash_texts b ON a.id < b.id WHERE shingle_resemblance(a.body, b.body, 2, 'word') > 0.8;
DROP TABLE minhash_texts;

-- bad input
SELECT minhash_signature('a', 0);
SELECT minhash_signature('a', 4097);
SELECT minhash_signature('a', 128, 0);
SELECT minhash_similarity('{1,2}', '{1}');
SELECT minhash_similarity('{}', '{}');
SELECT minhash_similarity('{1,NULL}', '{1,2}');
SELECT minhash_bands('{1,2}', 3);
SELECT minhash_bands('{1,2}', 0);
SELECT minhash_bands_for(0);
SELECT minhash_bands_for('NaN');
SELECT minhash_bands_for(0.8, 128, 1.1);
