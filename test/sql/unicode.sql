-- unicode: what every room makes of text that takes all of Unicode. In SQL_ASCII
-- its bytes of UTF-8 have the same fingerprints.
SELECT getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII') AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks these characters
\quit
\endif
\encoding UTF8

-- type: digits are ASCII's
\set VERBOSITY terse
SELECT '０１２３４５６７８９ａｂｃｄｅｆ'::simhash64;
\set VERBOSITY default

-- text: golden vectors of an independent implementation
CREATE TABLE golden (content text, expected simhash64);
INSERT INTO golden VALUES
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
  ('Привет, МИР! привет мир', '804024000e056029');
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
SELECT simhash(:q, 100000) = simhash(:q) AS unlimited,
       simhash_row('', ARRAY[E' \t　']) IS NULL AS wide_blanks;

-- the features of a fingerprint, by characters
SELECT * FROM simdup_features('关系型数据库数据的高效判重');
SELECT * FROM simdup_features('İstanbul ISTANBUL Ａ１ ǅ ẞ', weighting => 'tf');
SELECT * FROM simdup_features('a中b文', tokenizer => 'char:3');

SELECT to_hex(simdup_hash('重复投诉')) AS "12 bytes";
SELECT to_hex(simdup_hash(t, 'murmur3')) AS murmur3, to_hex(simdup_hash(t, 'bkdr')) AS bkdr,
       to_hex(simdup_hash(t, 'java')) AS java, t
FROM unnest(ARRAY['中国', '😀']) t;

-- shingles
SELECT * FROM simdup_shingles('Ａ市 A3区!', 3, 'char');
SELECT * FROM simdup_shingles('Ａ市 A3区!', 3, 'raw');
SELECT string_agg(shingle, '|') FROM simdup_shingles('关系型数据', 2, unit => 'word');
SELECT u, shingle_resemblance('ＡＢＣ def', 'abc DEF', 2, u) FROM (VALUES ('word'), ('char'), ('raw')) AS b(u);
SELECT shingle_resemblance(t, t, 3, u) FROM (VALUES ('关系型数据库')) AS a(t),
  (VALUES ('word'), ('char'), ('raw')) AS b(u);
SELECT s, to_hex(rabin_fingerprint(s, 32)) AS r32, to_hex(rabin_fingerprint(s)) AS r64
FROM (VALUES ('中国'), ('信访重复投诉')) AS t(s);

-- texts without a letter: as one feature, by the expression of the page on fingerprints
CREATE TABLE post (id integer PRIMARY KEY, content text, repeats integer);
CREATE INDEX ON post USING hamming (coalesce(minhash64(content), minhash64(string_to_array(btrim(content), ''))));
CREATE TRIGGER flag BEFORE INSERT ON post FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO post (id, content) VALUES (1, '?!'), (2, '👍👍'), (3, ' ?! '), (4, ''), (5, ''), (6, '👍'), (7, '👍👍'), (8, NULL), (9, NULL),
  (10, 'Mend the lamp!'), (11, 'mend the lamp'), (12, '!?'), (13, E'\n'), (14, '!?');
SELECT id, repeats FROM post WHERE repeats IS NOT NULL ORDER BY id;
DROP TABLE post;

-- sentences end with marks of many scripts
SELECT simdup_own_text('aa bb። cc dd። ee ff።', 'aa bb። ee ff።') AS ethiopic, simdup_own_text(E'aa bb\xe2\x80\xa9cc dd\xe2\x80\xa9ee ff', E'aa bb\xe2\x80\xa9ee ff') AS paragraphs,
       simdup_own_text(E'aa bb\n2. cc dd\n- ee ff', E'aa bb\n- ee ff') AS items, simdup_own_text('学校门口的路灯坏了五天，一直没人修理。', '学校门口的路灯坏了三天，一直没人修理。') IS NULL AS one_character;

-- html
SELECT simdup_strip_html('&#20013;&#x56fd; &Omega; 😀');

-- terms
SELECT term, documents FROM (SELECT term_idf(t) AS terms FROM (VALUES ('the 关系'), ('关系'), ('ＴＨＥ')) AS v (t)) AS a, unnest(terms);
SELECT imatch_lexicon(t, 0, 'Infinity', 'char:1') @> '{t,h,e,关}' FROM (VALUES ('the 关系'), ('x')) AS v (t);

-- verified
SELECT distance, resemblance FROM simdup_explain('关系型数据库', '关系型数据库');
SELECT distance = simhash(a) <~> simhash(b) AS same FROM (VALUES ('关系型数据库数据的高效判重', '关系型数据库数据高效判重')) AS t(a, b), simdup_explain(a, b, 'simhash');

DROP TABLE golden;
