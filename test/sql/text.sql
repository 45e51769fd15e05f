-- text: fingerprint profile 1
\encoding UTF8

-- golden vectors of an independent implementation
CREATE TABLE golden (content text, expected simhash64);
INSERT INTO golden VALUES
  ('This is a test string for testing', '32378026a603fce2'),
  ('This is a test string for testing, This is a test string for testing abcdef', '32378026a603fce2'),
  ('This is a test string for testing als', '32148020a40274c0'),
  ('a rose is a rose is a rose', 'b37d8a7272027fa3'),
  ('', NULL),
  ('   ', NULL),
  ('***', NULL),
  ('a', 'b3454265b6df75e3'),
  ('A', 'b3454265b6df75e3'),
  ('Straße STRASSE Été été', 'ba4d09d1b6a9c090'),
  ('don''t stop -- can''t', '6112b47a2110f678'),
  ('x1y2 2026-11-20 +86 20 1234 5678', '0e42a28044641000'),
  ('the the the the the the the the cat', '6132d02e3f9faf6a');
SELECT content, simhash(content), expected FROM golden
WHERE simhash(content) IS DISTINCT FROM expected;
SELECT count(*) FROM golden;

-- more than there are is all; the whole text is the limit of a window
SELECT simhash('a rose is a rose', 100000) = simhash('a rose is a rose') AS unlimited,
       simhash('ab', tokenizer => 'char:16') = simhash('ab') AS short_chars,
       simhash('ab cd', tokenizer => 'word:16') AS short_words;

-- no token, no fingerprint
SELECT simhash(NULL), simhash(''), simhash(' -- *** '), simhash('123', tokenizer => 'alpha'),
       simhash_row(NULL, NULL), simhash_row('', ARRAY[NULL, '', E' \t ']), simhash_row(NULL, ARRAY['x'], 0);

-- the features of a fingerprint
SELECT * FROM simdup_features('a rose is a rose is a rose', 2, 'word:4');
SELECT * FROM simdup_features('ÉTÉ été Ø', weighting => 'tf');
SELECT * FROM simdup_features(E'two\tparts, two\nparts', tokenizer => 'space', weighting => 'tf');
SELECT * FROM simdup_features('don''t STOP, don''t', tokenizer => 'alpha', weighting => 'set');
SELECT * FROM simdup_features(NULL);
SELECT * FROM simdup_features('***');

-- hashes
SELECT to_hex(simdup_hash('')) AS empty, to_hex(simdup_hash('a')) AS a,
       to_hex(simdup_hash('PostgreSQL')) AS "PostgreSQL",
       to_hex(simdup_hash('The quick brown fox jumps over the lazy dog')) AS "43 bytes",
       to_hex(simdup_hash(repeat('0123456789abcdef', 4))) AS "64 bytes",
       to_hex(simdup_hash(repeat('x', 1000))) AS "1000 bytes"
\gx
SELECT to_hex(simdup_hash(t, 'murmur3')) AS murmur3, to_hex(simdup_hash(t, 'bkdr')) AS bkdr,
       to_hex(simdup_hash(t, 'java')) AS java, t
FROM unnest(ARRAY['', 'a', 'abc', 'hello', 'test', 'testing', 'é', 'The quick brown fox jumps over the lazy dog']) t;

-- the Java program of documents.sql
SELECT simhash(t, tokenizer => 'space', weighting => 'tf', hash => 'java', ties => true)
FROM unnest(ARRAY['This is a test string for testing',
                  'This is a test string for testing, This is a test string for testing abcdef',
                  'This is a test string for testing als']) WITH ORDINALITY AS u (t, i) ORDER BY i;

-- options that are not allowed
\set SHOW_CONTEXT never
SELECT simhash('x', tokenizer => 'words');
SELECT simhash('x', tokenizer => 'char:0');
SELECT simhash('x', tokenizer => 'char:17');
SELECT simhash('x', tokenizer => 'word:');
SELECT simhash('x', tokenizer => 'word:2x');
SELECT simhash('x', tokenizer => NULL);
SELECT simhash('x', weighting => 'idf');
SELECT simhash('x', hash => 'md5');
SELECT simhash('x', 0);
SELECT simhash('x', ties => NULL);
SELECT simhash_row('x', ARRAY['y'], -1);
SELECT simdup_hash('x', 'city');
\echo :SQLSTATE

-- the workflow's query: GIN and the sequential scan find the same rows
CREATE TABLE blocks_test (id int PRIMARY KEY, fp simhash64);
INSERT INTO blocks_test
SELECT i, (hashint8extended(i, 0) # CASE WHEN i % 2 = 0 THEN 0 ELSE hashint8extended(i / 20, 0) # hashint8extended(i, 0) # (1::bigint << (i % 64)) END)::simhash64
FROM generate_series(1, 4000) i;
CREATE INDEX blocks_test_idx ON blocks_test USING gin (simhash_blocks(fp));
ANALYZE blocks_test;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF)
SELECT id FROM blocks_test
WHERE simhash_blocks(fp) && simhash_blocks('0123456789abcdef') AND fp <~> '0123456789abcdef' <= 3;
CREATE TABLE by_index AS
SELECT q.id AS q, b.id FROM blocks_test q JOIN blocks_test b
ON simhash_blocks(b.fp) && simhash_blocks(q.fp) AND b.fp <~> q.fp <= 3;
RESET enable_seqscan;
SET enable_bitmapscan = off;
CREATE TABLE by_scan AS
SELECT q.id AS q, b.id FROM blocks_test q JOIN blocks_test b ON b.fp <~> q.fp <= 3;
RESET enable_bitmapscan;
SELECT count(*) > 4000 AS found_some FROM by_scan;
(SELECT * FROM by_index EXCEPT ALL SELECT * FROM by_scan)
UNION ALL
(SELECT * FROM by_scan EXCEPT ALL SELECT * FROM by_index);

DROP TABLE golden, blocks_test, by_index, by_scan;

-- literals choose the function of texts, with any arguments behind them
SELECT simhash('a b', NULL, 'space') = simhash('a b') AS three, simhash('a b b', NULL, 'word', 'set') = simhash('a b') AS four,
       simhash('a b', NULL, 'word', 'log', 'java') = simhash('a b', hash => 'java') AS five, simhash_row('a', NULL, 1, NULL, 'word') = simhash('a') AS row,
       minhash64('a b', NULL, 'word') IS NULL AS minhash64, simhash(ARRAY['a', 'b'], ARRAY[1, 1]) = simhash('a b') AS features;

-- a text in the place of a fingerprint
SELECT simhash_within(simhash('hello'), 'hello', 8);
