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
  ('ｶﾞｷﾞｸﾞ ガギグ', 'e254a7be31f57f11', 'fdf4031d034b95ca'),
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
       minhash64_row('学校门口夜间施工', '{朝阳区,噪音}') <~> minhash64_row('学校门口夜间施工', '{東區,噪音}') AS another_place;
SELECT minhash_bits('关系型数据库数据的高效判重', 128) = B'11101100011110110101011001101011010001011110101111011110001110100011111100110001010001010101101100110011001101000001101011000010' AS bits;
