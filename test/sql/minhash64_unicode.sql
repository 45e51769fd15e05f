-- minhash64 of text that takes all of Unicode. In SQL_ASCII its bytes of UTF-8
-- have the same fingerprints.
SELECT getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII') AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks these characters
\quit
\endif
\encoding UTF8

-- golden vectors of an independent implementation: 4 characters, 2 words
CREATE TABLE golden (content text, chars simhash64, words simhash64);
INSERT INTO golden VALUES
  ('关系型数据库数据的高效判重', '9e2ae9aea5b1f3a5', '95cb869a8ec904a7'),
  ('關係型數據庫數據的高效判重', '9e2ae9aea5b1f3a5', '95cb869a8ec904a7'),
  ('请维修路灯', 'a257b6dab99a4dd4', '8dbd81bbb9618392'),
  ('請維修路燈', 'a257b6dab99a4dd4', '8dbd81bbb9618392'),
  ('Straße STRASSE Été été ΣΊΣΥΦΟΣ', '7924ec64f8b68571', '725b2fb5cb9b7653'),
  ('Été', 'a3105a90eba58a23', 'a3105a90eba58a23'),
  (E'E\xcc\x81te\xcc\x81', 'a3105a90eba58a23', 'a3105a90eba58a23'),
  ('ｶﾞｷﾞｸﾞ ガギグ', '473272a7627cba24', 'acdb40cee044f211'),
  ('ＮＯＩＳＥ １２３', '7cf5677bd292934d', '3d1c42130bb85536'),
  ('السَّلامُ عَلَيْكُمْ', 'b4c240ef5908850d', '2dbff3743999b35f'),
  ('السلام عليكم', 'b4c240ef5908850d', '2dbff3743999b35f'),
  ('Tiếng Việt có dấu', '300b0f308fdb0276', '7854573498f42c2d'),
  ('배송이 빨라서 좋았습니다', 'fc2f527515e6c047', 'c81a517b6c82943c'),
  ('배송이빨라서좋았습니다', 'fc2f527515e6c047', 'd37fb084a48555e2'),
  ('ภาษาไทยไม่มีช่องว่าง', '33089cd0538841e3', 'f8cf1cfc8ddf493c'),
  ('①②③ ㎏ ﬁne', '5f97eab5b2a149aa', 'e2e897fa6c2d9ff8'),
  (E'zero\xe2\x80\x8bwidth soft\xc2\xadhyphen', 'b46d0d549ebe2ab6', '811c4a6b84b3a709');
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE minhash64(content) IS NOT DISTINCT FROM chars AND minhash64(content, 2, 'word') IS NOT DISTINCT FROM words) AS equal
FROM golden;
SELECT content, minhash64(content), minhash64(content, 2, 'word') FROM golden
WHERE minhash64(content) IS DISTINCT FROM chars OR minhash64(content, 2, 'word') IS DISTINCT FROM words;
DROP TABLE golden;
SELECT minhash64_row('学校门口夜间施工', '{朝阳区,噪音}') AS row, minhash64_row('学校门口夜间施工', '{" 朝阳區　",噪音}') AS other_spelling,
       minhash64_row('学校门口夜间施工', '{朝阳區,噪音}', 32) AS more_bits,
       minhash64_row('学校门口夜间施工', '{朝阳区,噪音}') <~> minhash64_row('学校门口夜间施工', '{東區,噪音}') AS another_place;
SELECT minhash_bits('关系型数据库数据的高效判重', 128) = B'11101100011110110101011001101011010001011110101111011110001110100011111100110001010001010101101100110011001101000001101011000010' AS bits;

-- Resemblance has the meaning that the fingerprint gives it.
-- the sets are those of minhash64_shingles, and of simdup_shingles where nothing is folded
WITH t (a, b) AS (VALUES ('A rose is a rose.', 'a ROSE is a rosé'), ('請維修路燈，謝謝', '请维修路灯。谢谢！'), ('Ét Àb!', 'et ab'), ('x', 'X'), ('one two three', 'three four'),
                    ('السَّلامُ عَلَيْكُمْ يا جاري', 'السلام عليكم يا صديقي'), (E'e\xcc\x81te\xcc\x81 zero\xe2\x80\x8bwidth', 'Été zerowidth'))
SELECT count(*), bool_and(shingle_resemblance(a, b, w, u) IS NOT DISTINCT FROM shared / NULLIF(n_a + n_b - shared, 0)) AS resemblance,
       bool_and(shingle_containment(a, b, w, u) IS NOT DISTINCT FROM shared / NULLIF(n_a, 0)) AS containment
FROM t, generate_series(1, 6) AS w, unnest('{char,word,raw}'::text[]) AS u,
  LATERAL (SELECT count(x)::float8 AS n_a, count(y)::float8 AS n_b, count(*) FILTER (WHERE x = y)::float8 AS shared
           FROM (SELECT minhash64_shingles(a, w, u) AS x WHERE u <> 'raw' UNION SELECT * FROM simdup_shingles(a, w, 'raw') WHERE u = 'raw') AS x
           FULL JOIN (SELECT minhash64_shingles(b, w, u) AS y WHERE u <> 'raw' UNION SELECT * FROM simdup_shingles(b, w, 'raw') WHERE u = 'raw') AS y ON x = y) AS s;
-- what minhash64 folds is equal, except raw
SELECT u, shingle_resemblance('ABC ÉTÉ', 'abc été', 2, u), shingle_resemblance('請維修路燈', '请维修路灯', 2, u),
       shingle_resemblance('السَّلامُ عَلَيْكُمْ', 'السلام عليكم', 2, u) AS marks
FROM (VALUES ('word'), ('char'), ('raw')) AS b(u);
-- characters that count, and others, by script
SELECT equal, count(*), count(*) FILTER (WHERE (shingle_resemblance(a, b, 64) = 1) = equal) AS as_told
FROM (VALUES ('𝐚ᴀ ٣', 'aa3', true), ('éłøđıßæœþðŋəɛɔ', 'elodissaeoethdneeo', true), ('ёйїґқ', 'еиігк', true), ('Ώς', 'ωσ', true), ('أإآٱةہىیئک', 'ااااههيييك', true),
             ('שׁװ', 'שוו', true), ('ड़ँ', 'डं', true), ('แ', 'เเ', true), ('ﾍﾞへ゛', 'ベべ', true), ('관계', E'\xe1\x84\x80\xe1\x85\xaa\xe1\x86\xab계', true), ('關係', '关系', true),
             ('o', 'oe', false), ('å', 'aa', false), ('ä', 'ae', false), ('и', 'і', false), ('ь', 'ъ', false), ('є', 'е', false), ('گ', 'ك', false), ('چ', 'ج', false), ('پ', 'ب', false),
             ('ژ', 'ز', false), ('ے', 'ي', false), ('ھ', 'ه', false), ('ך', 'כ', false), ('कि', 'क', false), ('ก้า', 'กา', false), ('ベ', 'ヘ', false), ('っ', 'つ', false), ('らー', 'ら', false), ('ら', 'ラ', false), ('四', '4', false)) AS t (a, b, equal)
GROUP BY equal ORDER BY equal;
-- texts that differ in what minhash64 folds alone resemble each other wholly, and so they are found
CREATE TABLE folds (id int PRIMARY KEY, body text);
INSERT INTO folds VALUES (1, '请尽快维修学校门口的路灯，晚上太黑，孩子们上学放学都很危险。'), (2, '請盡快維修學校門口的路燈，晚上太黑，孩子們上學放學都很危險。'),
  (3, 'The lamp at the corner of Fish Street has been dark since May.'), (4, 'THE LAMP, at the corner of FISH STREET, has been dark since May!'),
  (5, 'Đèn đường ở góc phố đã tắt từ tháng năm, xin sửa lại.'), (6, 'den duong o goc pho da tat tu thang nam xin sua lai'),
  (7, 'Balık Sokağının köşesindeki ışık Mayıs ayından beri yanmıyor, lütfen onarın.'), (8, 'BALIK SOKAĞININ KÖŞESİNDEKİ IŞIK MAYIS AYINDAN BERİ YANMIYOR, LÜTFEN ONARIN.'),
  (9, '버스가 매일 아침 늦게 옵니다. 확인 부탁드립니다.'), (10, '버스가 매일 아침 늦게 옵니다. 확인 부탁드립니다.'),
  (11, 'バスが毎朝遅れています。時刻表どおりに運行してください。'), (12, 'ﾊﾞｽが毎朝遅れています｡時刻表どおりに運行してください｡'),
  (13, 'چراغ کوچهٔ ما از ماه مه خاموش است، لطفاً تعمیر کنید ۱۲۳'), (14, 'چراغ كوچه ما از ماه مه خاموش است، لطفا تعمير كنيد 123'),
  (15, 'बिजली की सड़क पर बत्ती मई से ख़राब है, कृपया ठीक करें'), (16, 'बिजली की सडक पर बत्ती मई से खराब है, कृपया ठीक करें'),
  (17, 'ベッドが欲しい'), (18, 'ヘッドが欲しい');
SELECT a.id, b.id FROM folds AS a JOIN folds AS b ON a.id < b.id AND shingle_resemblance(a.body, b.body) >= 1 ORDER BY 1;
SELECT a.id, b.id FROM folds AS a JOIN folds AS b ON a.id < b.id AND simdup_resembles(a.body, b.body, 1) ORDER BY 1;
SELECT id, simdup_cluster(id, body, 1) OVER (ORDER BY id) AS cluster FROM folds;
SELECT a.id, b.id, distance, resemblance, a_in_b, b_in_a FROM folds AS a, folds AS b, simdup_explain(a.body, b.body) WHERE a.id % 2 = 1 AND b.id = a.id + 1 ORDER BY 1;
-- all that folds says the same of two spellings, and of two words that differ
SELECT a.id, shingle_containment(a.body, b.body) AS contained, minhash_bits(a.body) = minhash_bits(b.body) AS bits, shingle_winnow(a.body, 2, 1) = shingle_winnow(b.body, 2, 1) AS quotes,
       minhash64_row('a', ARRAY[a.body]) = minhash64_row('a', ARRAY[b.body]) AS field, simdup_own_text(a.body, b.body) AS own, simdup_common_text(ARRAY[a.body, b.body], 1) = a.body AS common,
       btrim(simdup_without(repeat(a.body || ' ', 4), ARRAY[repeat(b.body || ' ', 4)])) = '' AS without
FROM folds AS a JOIN folds AS b ON b.id = a.id + 1 WHERE a.id % 2 = 1 ORDER BY 1;
CREATE INDEX ON folds USING hamming (body);
SET enable_seqscan = off;
SELECT f.id, array_agg(found.id ORDER BY found.id) FROM folds AS f, LATERAL (SELECT * FROM folds AS x WHERE simdup_resembles(x.body, f.body, 1)) AS found GROUP BY f.id ORDER BY 1;
RESET enable_seqscan;
-- boilerplate, in both spellings
CREATE VIEW footed AS SELECT i AS key, repeat(body || ' ', 4) || (SELECT string_agg(md5(i || 'word' || j), ' ') FROM generate_series(1, 30) AS j) AS content
FROM folds, generate_series(1, 10) AS i WHERE id = 9 + i % 2;
SELECT n_rows, share FROM simdup_boilerplate('footed');
DROP VIEW footed;
DROP TABLE folds;
