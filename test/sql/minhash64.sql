-- minhash64: the fingerprint of shared text, where ASCII is enough. Other
-- characters: minhash64_unicode.

-- golden vectors of an independent implementation: 4 characters, 2 words
CREATE TABLE golden (content text, chars simhash64, words simhash64);
INSERT INTO golden VALUES
  ('', NULL, NULL),
  ('***', NULL, NULL),
  ('a', 'd89e9168df0a877a', 'd89e9168df0a877a'),
  ('abc', '562c0bda5db61651', '562c0bda5db61651'),
  ('This is a test string for testing', 'f8810fb1467ef754', 'bb189a100e987f8e'),
  ('this is a test-string for TESTING!', 'f8810fb1467ef754', 'bb189a100e987f8e'),
  ('The quick brown fox jumps over the lazy dog', '8e4a70b8ca1059d3', '4c201e2c4beb8b3b'),
  ('Tieng Viet co dau', '300b0f308fdb0276', '7854573498f42c2d'),
  (repeat('a', 1000), '5bd60cdf19cef498', '75907881fcc046fa'),
  ((SELECT string_agg(i::text, ' ' ORDER BY i) FROM generate_series(0, 999) AS i), 'a2b9f8366e3c0e31', '5b9347df0bdab328');
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE minhash64(content) IS NOT DISTINCT FROM chars AND minhash64(content, 2, 'word') IS NOT DISTINCT FROM words) AS equal
FROM golden;
SELECT left(content, 40), minhash64(content), minhash64(content, 2, 'word') FROM golden
WHERE minhash64(content) IS DISTINCT FROM chars OR minhash64(content, 2, 'word') IS DISTINCT FROM words;
DROP TABLE golden;
SELECT fields, bits, minhash64_row('The lamp at the corner of Fish Street has been dark since May, please mend it.', fields, bits) = expected AS equal
FROM (VALUES ('{Castle,lighting}'::text[], 10, '8ce7e9b76a60afe5'::simhash64), ('{Harbour,lighting}', 10, 'e89fc1bf7262ada1'),
             ('{lighting,Castle}', 10, 'ac0365357634aba5'), ('{Castle,lighting}', 16, 'dce739a76b606b61'), ('{}', 10, 'aca9c7b57036ae45'),
             ('{CASTLE,"  Lighting "}', 10, '8ce7e9b76a60afe5'), ('{NULL,"  ",Castle,lighting}', 10, 'aeadcb96713f2d8b'),
             ('{Castle,lighting}', 0, 'aca9c7b57036ae45')) AS v(fields, bits, expected);
SELECT minhash64_row(NULL, '{Castle}') AS no_content, minhash64_row('***', '{Castle}') AS no_shingle, minhash64_row('a text', '{Castle}', min_features => 4) AS too_few,
       minhash64_row('a text', NULL) = minhash64('a text') AS content_only, minhash64_row('a text', '{a}', 7, 2, 'word', 1) <~> minhash64('a text', 2, 'word') AS options;
-- the same text again, with another width
SELECT minhash64('a text', 2), minhash64('a text', 3);
-- a field that is missing moves by field_bits, one that differs by 17 bits on average, beside any other fields
CREATE FUNCTION moved(n_fields int, bits int, OUT missing text, OUT differing float8, OUT near float8) LANGUAGE sql AS $$
  SELECT string_agg(DISTINCT (minhash64_row(t, f, bits) <~> minhash64_row(t, array_replace(f, f[i % n_fields + 1], NULL), bits))::text, ','),
         avg(minhash64_row(t, f, bits) <~> minhash64_row(t, array_replace(f, f[i % n_fields + 1], 'other ' || i), bits)),
         avg((minhash64_row(t, f, bits) <~> minhash64_row(t, array_replace(f, f[i % n_fields + 1], 'other ' || i), bits) <= 8)::int)
  FROM generate_series(1, 4000) AS i, LATERAL (SELECT repeat('text ' || i || ' ', 1 + i % 20) AS t, array_agg('field ' || j || ' of ' || i ORDER BY j) AS f FROM generate_series(1, n_fields) AS j) AS r
$$;
SELECT n_fields, bits, missing, abs(differing - (2 * bits - bits * bits / 32.0)) < 0.2 AS as_expected, near < 0.003 AS apart
FROM (VALUES (1, 10), (3, 10), (9, 10), (3, 16), (3, 32)) AS v(n_fields, bits), moved(n_fields, bits);
DROP FUNCTION moved;
SELECT features, minhash64(features) FROM (VALUES ('{a}'::text[]), ('{a,b}'), ('{b,a,a}'), ('{near,duplicate,detection}'), ('{}')) AS v(features);
SELECT minhash_bits('a', 128) = B'00100010110110010000111110010011001100010000000101001111111001110110000100111000110010001100001001111110010001001010001110001011' AS a,
       minhash_bits('This is a test string for testing', 128) = B'10101110010011001110101010110111000111111110100000011100010011001100000010100011101101010100010011000000100000111010010110110111' AS test,
       minhash_bits('The quick brown fox jumps over the lazy dog') = X'ba7611cf5e89efed318834fded24b50ad2f4a991cc24c04a807b4cacf88bfee7e0de0d23a639545d416e4028c574114cb83227e5325dbc806b685e444dc5363c'::varbit AS fox,
       minhash_bits('***') AS none;
-- 64 bits of a sketch are the fingerprint, bin 0 first
SELECT reverse(minhash_bits(t, 64)::text)::bit(64) = minhash64(t)::bit(64) AS equal FROM (VALUES ('a'), ('The quick brown fox')) AS v(t);

-- the shingles of a fingerprint
SELECT minhash64_shingles('Mend it! MEND IT.');
SELECT string_agg(s, '|') FROM minhash64_shingles('The cat, the cat sat', 2, 'word') AS s;
SELECT count(*) FROM minhash64_shingles('***');
SELECT minhash64(t) = minhash64(ARRAY(SELECT minhash64_shingles(t))) AS chars,
       minhash64(t, 3, 'word') = minhash64(ARRAY(SELECT minhash64_shingles(t, 3, 'word'))) AS words
FROM (VALUES ('The lamp at the corner of Fish Street'), ('a'), (repeat('x y zz ', 3000))) AS v(t);

-- windows of any width
SELECT w, minhash64(t, w) = minhash64(ARRAY(SELECT DISTINCT substr(t, i, w) FROM generate_series(1, 1500 - w + 1) AS i)) AS equal
FROM (SELECT string_agg(chr(97 + (i * i * 7 + i / 3) % 26), '' ORDER BY i) AS t FROM generate_series(1, 1500) AS i) AS s, unnest('{1,2,5,16,63,64}'::int[]) AS w;
-- fewer units than the window are one shingle
SELECT minhash64('a b c', 64) = minhash64('abc', 3) AS chars, minhash64('a b c', 64, 'word') = minhash64('{a b c}'::text[]) AS words;
-- a word longer than any buffer, and many words
SELECT minhash64(repeat('x', 300000) || ' y', 2, 'word') = minhash64(ARRAY[repeat('x', 300000) || ' y']) AS long,
       minhash64(string_agg('w' || i, ' '), 2, 'word') = minhash64(array_agg('w' || i || ' w' || i + 1) FILTER (WHERE i < 100000)) AS many
FROM generate_series(1, 100000) AS i;

-- a tsvector's lexemes are features
SELECT minhash64(tsvector_to_array(to_tsvector('simple', 'the cat sat on the mat'))) = minhash64('{the,cat,sat,on,mat}'::text[]) AS equal, minhash64('{}'::text[]) AS none;

-- the aggregate: any order, any partition, groups small and large
SELECT minhash64_agg(f) AS none FROM (VALUES (NULL::text)) AS v(f);
SELECT n, (SELECT minhash64_agg('f' || i) FROM generate_series(1, n) AS i) = minhash64(ARRAY(SELECT 'f' || i FROM generate_series(1, n) AS i)) AS up,
       (SELECT minhash64_agg('f' || i ORDER BY i DESC) FROM generate_series(1, n) AS i) = minhash64(ARRAY(SELECT 'f' || i FROM generate_series(1, n) AS i)) AS down,
       (SELECT minhash64_agg('f' || i % n) FROM generate_series(1, 3 * n) AS i) = minhash64(ARRAY(SELECT 'f' || i FROM generate_series(0, n - 1) AS i)) AS repeated
FROM unnest('{1,2,63,64,65,400,1023,1024,1025,5000,100000}'::int[]) AS n;
CREATE TABLE features AS SELECT i, i % 7 AS g, CASE WHEN i % 5 > 0 THEN 'f' || i % 9000 END AS f FROM generate_series(1, 50000) AS i;
ALTER TABLE features SET (parallel_workers = 3);
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT g, minhash64_agg(f) AS fp FROM features GROUP BY ROLLUP (g);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS off) SELECT minhash64_agg(f) FROM features;
SELECT (SELECT minhash64_agg(f) FROM features) = (SELECT fp FROM serial WHERE g IS NULL) AS all_rows,
       (SELECT bool_and(p.fp = s.fp) FROM (SELECT g, minhash64_agg(f) AS fp FROM features GROUP BY g) AS p JOIN serial AS s USING (g)) AS groups,
       (SELECT minhash64_agg(f) FROM features WHERE i <= 20) = (SELECT minhash64(array_agg(f) FILTER (WHERE f IS NOT NULL)) FROM features WHERE i <= 20) AS few,
       (SELECT minhash64_agg(f) FROM features WHERE f IS NULL) AS none;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
DROP TABLE serial, features;

-- distances follow the law: 100 pairs of sets at each resemblance, or 1,000
\set suite ''
\getenv suite SUITE
SELECT CASE :'suite' WHEN 'whole' THEN 1000 ELSE 100 END AS pairs \gset
SELECT j, abs(avg(minhash64(ARRAY(SELECT p || ' ' || i FROM generate_series(1, 100 + common) AS i)) <~>
                  minhash64(ARRAY(SELECT p || ' ' || i FROM generate_series(101, 200 + common) AS i))) - 32 * (1 - j)) < 9.5 / sqrt(:pairs) AS near
FROM (SELECT n / 10.0 AS j, round(n * 200.0 / (10 - n))::int AS common FROM generate_series(0, 9) AS n) AS s, generate_series(1, :pairs) AS p
GROUP BY j ORDER BY j;
SELECT count(*) FROM generate_series(1, 1000) AS p WHERE minhash64('same ' || p) <~> minhash64('SAME' || p) <> 0;

-- the meaning of a distance
SELECT d, minhash64_resemblance(d) FROM unnest('{0,4,8,16,32,33,64}'::int[]) AS d;
SELECT r, minhash64_distance(r) AS p99, minhash64_distance(r, 0.5) AS p50, minhash64_distance(r, 0.999) AS p999,
       minhash64_distance(r, 0) AS p0, minhash64_distance(r, 1) AS p1
FROM unnest('{0,0.3,0.5,0.7,0.8,0.9,0.95,1}'::float8[]) AS r;
WITH b AS MATERIALIZED (
  SELECT (SELECT exp(sum(ln((64 - d + i)::float8 / i))) FROM generate_series(1, d) AS i) AS choose, d FROM generate_series(1, 64) AS d UNION ALL SELECT 1, 0),
t AS MATERIALIZED (
  SELECT r / 100.0::float8 AS r, p / 100.0::float8 AS p, minhash64_distance(r / 100.0, p / 100.0) AS most
  FROM generate_series(0, 100) AS r, generate_series(0, 100) AS p)
SELECT count(*) FROM t
WHERE NOT (SELECT coalesce(sum(choose * ((1 - r) / 2) ^ d * ((1 + r) / 2) ^ (64 - d)), 0) >= p - 1e-12 FROM b WHERE d <= most);
SELECT minhash_bits_resemblance(minhash_bits('a b c d e'), minhash_bits('A, B, C, D, E!')) AS same,
       minhash_bits_resemblance(B'1111', B'0000') AS opposite, minhash_bits_resemblance(B'11110000', B'11110011') AS half;

-- bad input
SELECT minhash64('a', 0);
SELECT minhash64('a', 65);
SELECT minhash64('a', 4, 'raw');
SELECT minhash64(NULL), minhash64('a', NULL), minhash64('a', 4, NULL), minhash64(NULL::text[]);
SELECT minhash64('{a,NULL}'::text[]);
SELECT minhash64('{{a,b},{c,d}}'::text[]);
SELECT minhash64_row('a', '{}', NULL);
SELECT minhash64_row('a', '{}', w => NULL);
SELECT minhash64_row('a', '{}', unit => NULL);
SELECT minhash64_row('a', '{}', -1);
SELECT minhash64_row('a', '{}', 33);
SELECT minhash64_resemblance(-1);
SELECT minhash64_resemblance(65);
SELECT minhash64_distance(1.1);
SELECT minhash64_distance(0.8, 'NaN');
SELECT minhash_bits('a', 63);
SELECT minhash_bits('a', 8193);
SELECT minhash_bits_resemblance(B'1', B'11');
SELECT minhash_bits_resemblance(B'', B'');

-- candidates verified by sketches in place of texts
CREATE TABLE letter AS
SELECT i AS id, (SELECT string_agg(CASE WHEN j % 30 = i % 6 THEN 'other' || i ELSE 'word' || j * (i / 6 + 1) END, ' ') FROM generate_series(1, 60) AS j) AS content FROM generate_series(1, 60) AS i;
ALTER TABLE letter ADD fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED, ADD bits varbit GENERATED ALWAYS AS (minhash_bits(content, 1000)) STORED;
CREATE TABLE by_sketch AS
SELECT id, simdup_cluster(id, fp, content, 10, 0.7) OVER (ORDER BY id) AS by_text,
  (SELECT min(b.id) FROM letter AS b WHERE b.fp <~> a.fp <= 10 AND minhash_bits_resemblance(a.bits, b.bits) >= 0.7) AS nearest
FROM letter AS a;
SELECT count(*) FILTER (WHERE nearest < id) > 40 AS many, count(*) FILTER (WHERE nearest <> by_text) < 6 AS as_texts FROM by_sketch;
SELECT count(*) > 40 AS many, max(abs(minhash_bits_resemblance(a.bits, b.bits) - shingle_resemblance(a.content, b.content))) < 0.15 AS near_the_truth
FROM letter AS a JOIN letter AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 10) AND minhash_bits_resemblance(a.bits, b.bits) >= 0.7;
SELECT minhash_bits_resemblance(bits, minhash_bits(content, 64)) FROM letter WHERE id = 1;
SELECT minhash_bits_resemblance(B''::varbit, B''::varbit);
DROP TABLE letter, by_sketch;

-- why two texts are near or not
SELECT distance, resemblance, round(a_in_b::numeric, 3) AS a_in_b, round(b_in_a::numeric, 3) AS b_in_a, shared, only_a, only_b
FROM simdup_explain('Mend the lamp!', 'MEND the lamps') \gx
SELECT shared, only_a, only_b FROM simdup_explain('The rose is "red"', 'the rose is blue', 'minhash64', 2, 'word');
SELECT distance, resemblance, shared, only_a, only_b FROM simdup_explain('***', 'a rose') \gx
SELECT e.distance = minhash64(a) <~> minhash64(b) AS minhash64, s.distance = simhash(a) <~> simhash(b) AS simhash,
       s.resemblance = e.resemblance AND e.resemblance = shingle_resemblance(a, b) AS same_resemblance
FROM (VALUES ('the rose is a rose', 'The tulip is a rose')) AS t(a, b),
  simdup_explain(a, b) AS e, simdup_explain(a, b, 'simhash') AS s;
SELECT simdup_explain('a', 'b', 'md5');
SELECT simdup_explain('a', 'b', 'minhash64', 0);
