-- icu: dictionary words
SELECT getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII') AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks these characters
\quit
\endif
\encoding UTF8
SELECT simdup_icu_version() IS NULL AS no_icu \gset
\if :no_icu
-- built without ICU: an error that says so, and all that needs none works
SELECT simhash('x', tokenizer => 'icu');
SELECT simhash('x', tokenizer => 'icu:zh');
\quit
\endif

SELECT simdup_icu_version() ~ '^\d+\.\d+.* \(CLDR \d.*, Unicode \d.*\)$' AS version;

-- words of the dictionary, folded, and nothing else
CREATE FUNCTION words(content text, tokenizer text DEFAULT 'icu') RETURNS text
  LANGUAGE sql AS $$
    SELECT string_agg(feature, '|' ORDER BY feature COLLATE "C")
    FROM simdup_features(content, NULL, tokenizer)
  $$;
SELECT words('我们在学校学习。'), words('東京大学'), words('ภาษาไทย');
SELECT words('Ｆｕｌｌ ＷＩＤＴＨ ３．１４ Don''t STOP 1,000 times!');
SELECT words('ÉTÉ Straße ΣΊΣΥΦΟΣ'), words(E'e\xcc\x81s') = E'e\xcc\x81s' AS with_its_accent;
SELECT words('我们在学校学习。', 'icu:zh') = words('我们在学校学习。') AS same_dictionary;
SELECT simhash('学习 Learning'), simhash('学习 Learning', tokenizer => 'icu') = simhash('学习 learning', tokenizer => 'space') AS same_words;
SELECT simhash_row('学习', ARRAY['x'], tokenizer => 'icu') = simhash_row('学习', ARRAY['x'], tokenizer => 'space') AS same_row;
SELECT simhash(NULL, tokenizer => 'icu'), simhash('', tokenizer => 'icu'), simhash('。 -- 😀', tokenizer => 'icu');

-- every locale has the dictionaries; one that does not exist is an error
SELECT name, simhash('我们学习', tokenizer => 'icu:' || name) = simhash('我们学习', tokenizer => 'icu') AS known
FROM unnest('{zh,zh_CN,zh-Hant-TW,ja_JP,th,en_US_POSIX,root}'::text[]) AS name;
SELECT simhash('x', tokenizer => 'icu:');
SELECT simhash('x', tokenizer => 'icu:xx-nonsense');
SELECT simhash('x', tokenizer => 'icu:zh_CHINA');
SELECT simhash('x', tokenizer => 'icu:zh_Nons');
SELECT simhash('x', tokenizer => 'icu:zh_XX');
SELECT simhash('x', tokenizer => 'icu:zh@x=y');
SELECT simhash('x', tokenizer => 'icu:中文');
SELECT simhash('x', tokenizer => 'icu:' || repeat('zh-', 60));
SELECT simhash('x', tokenizer => 'icu2');
SELECT simhash(NULL, tokenizer => 'icu:xx');

-- longer than what ICU is given at a time
SELECT feature, weight FROM simdup_features(repeat('我们在学校学习。', 10000), NULL, 'icu', 'tf')
ORDER BY feature COLLATE "C";
SELECT feature, weight FROM simdup_features(repeat(repeat('x', 9973) || ' ', 50), NULL, 'icu', 'tf') AS f (feature, weight)
WHERE feature <> repeat('x', 9973);
SELECT sum(octet_length(feature) * weight) FROM simdup_features(repeat('学习', 100000), NULL, 'icu', 'tf');

-- it can be cancelled, and works afterwards
SET statement_timeout = '200ms';
SELECT simhash(repeat('学习', 30000000), tokenizer => 'icu');
RESET statement_timeout;
SELECT simhash('学习', tokenizer => 'icu') = simhash('学习', tokenizer => 'space') AS same_words;

-- in an index and a generated column
CREATE TABLE page (id integer PRIMARY KEY, body text,
  fp simhash64 GENERATED ALWAYS AS (simhash(body, tokenizer => 'icu:zh')) STORED);
CREATE INDEX ON page USING hamming (simhash(body, tokenizer => 'icu:zh'));
INSERT INTO page VALUES (1, '我们在学校学习'), (2, '我们学习'), (3, NULL);
SET enable_seqscan = off;
SELECT id, fp = simhash(body, tokenizer => 'icu') AS same FROM page
WHERE simhash(body, tokenizer => 'icu:zh') <@ simhash_ball(simhash('我们在学校学习', tokenizer => 'icu'), 0) ORDER BY id;
