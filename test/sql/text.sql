-- text: fingerprint profile 1
SELECT getdatabaseencoding() <> 'UTF8' AS skip_test \gset
\if :skip_test
\quit
\endif

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
  ('中', 'ac065168c34af7fe'),
  ('中国', 'e4499ba8daad0087'),
  ('中国人', '440990a00a000086'),
  ('关系型数据库数据的高效判重', '9714432311d45d02'),
  ('关系型数据库数据高效判重', '8726632713f55d80'),
  ('A市A3区联丰路米兰春天G2栋320', '912f82f6ee7e95cb'),
  ('Ａ市Ａ３区联丰路米兰春天Ｇ２栋３２０', '912f82f6ee7e95cb'),
  ('信访人重复咨询、反复投诉', '11c87eb0ca812b06'),
  ('Straße STRASSE Été été ΣΊΣΥΦΟΣ', 'bb4f29d1b6bbc890'),
  ('İstanbul ISTANBUL istanbul', '032bb9ff31ecd42d'),
  ('日本語のカタカナとひらがな', '42c38c842513d823'),
  ('ภาษาไทยไม่มีช่องว่าง', '5b3b6df9cca2635a'),
  ('Привет, МИР! привет мир', '804024000e056029'),
  ('don''t stop -- can''t', '6112b47a2110f678'),
  ('x1y2 2026-11-20 +86 20 1234 5678', '0e42a28044641000'),
  ('the the the the the the the the cat', '6132d02e3f9faf6a');
SELECT content, simhash(content), expected FROM golden
WHERE simhash(content) IS DISTINCT FROM expected;
SELECT count(*) FROM golden;

\set q '''关于城市管理的投诉：学校门口的夜间施工噪音扰民，学校附近居民多次投诉，施工方仍然夜间施工。Noise, noise and NOISE again!'''
SELECT simhash(:q) AS "all",
       simhash(:q, 1) AS "1", simhash(:q, 3) AS "3",
       simhash(:q, 5) AS "5", simhash(:q, 20) AS "20"
\gx
SELECT simhash(:q, tokenizer => t), t
FROM unnest(ARRAY['alpha', 'char:1', 'char:3', 'char:4', 'word:2', 'word:3']) t;
SELECT simhash(:q, weighting => w), w FROM unnest(ARRAY['log', 'tf', 'set']) w;
SELECT simhash_row(:q, ARRAY['广州市', '城市管理', NULL, '']) AS fields,
       simhash_row(:q, ARRAY['广州市', '城市管理'], 5, 3) AS weight_5_features_3,
       simhash_row(NULL, ARRAY['广州市']) AS no_content;

-- more than there are is all; the whole text is the limit of a window
SELECT simhash(:q, 100000) = simhash(:q) AS unlimited,
       simhash('ab', tokenizer => 'char:16') = simhash('ab') AS short_chars,
       simhash('ab cd', tokenizer => 'word:16') AS short_words;

-- no token, no fingerprint
SELECT simhash(NULL), simhash(''), simhash(' -- *** '), simhash('123', tokenizer => 'alpha'),
       simhash_row(NULL, NULL), simhash_row('', ARRAY[NULL, '', E' \t　']), simhash_row(NULL, ARRAY['x'], 0);

-- what a fingerprint saw
SELECT * FROM simdup_features('关系型数据库数据的高效判重');
SELECT * FROM simdup_features('İstanbul ISTANBUL Ａ１ ǅ ẞ', weighting => 'tf');
SELECT * FROM simdup_features('a rose is a rose is a rose', 2, 'word:4');
SELECT * FROM simdup_features('a中b文', tokenizer => 'char:3');
SELECT * FROM simdup_features(E'two\tparts, two\nparts', tokenizer => 'space', weighting => 'tf');
SELECT * FROM simdup_features('don''t STOP, don''t', tokenizer => 'alpha', weighting => 'set');
SELECT * FROM simdup_features(NULL);
SELECT * FROM simdup_features('***');

-- hashes
SELECT to_hex(simdup_hash('')) AS empty, to_hex(simdup_hash('a')) AS a,
       to_hex(simdup_hash('PostgreSQL')) AS "PostgreSQL",
       to_hex(simdup_hash('重复投诉')) AS "12 bytes",
       to_hex(simdup_hash('The quick brown fox jumps over the lazy dog')) AS "43 bytes",
       to_hex(simdup_hash(repeat('0123456789abcdef', 4))) AS "64 bytes",
       to_hex(simdup_hash(repeat('x', 1000))) AS "1000 bytes"
\gx
SELECT to_hex(simdup_hash(t, 'murmur3')) AS murmur3, to_hex(simdup_hash(t, 'bkdr')) AS bkdr,
       to_hex(simdup_hash(t, 'java')) AS java, t
FROM unnest(ARRAY['', 'a', 'abc', 'hello', 'test', 'testing', '中国', 'The quick brown fox jumps over the lazy dog']) t;

-- document 001's program
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
