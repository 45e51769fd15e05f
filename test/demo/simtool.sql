-- simtool: the duplicate finder of a programming course, in SQL.
--
--   psql -v n=1000 -v m=16 -v dir=/folder -f test/demo/simtool.sql
--
-- The script reads article.txt, sample.txt, hashvalue.txt and stopwords.txt of
-- the client's folder dir, by default the current one. It writes result.txt
-- there, or the file that -v result=... names, and shows the result of the
-- first sample. The variable n is the number of features (1 to 10000), m the
-- width of a fingerprint (1 to 128). The script needs the extension in the
-- search path and leaves nothing in the database.
--
-- Files are read and written as large objects, so they may hold any bytes. In
-- SQL they have the escape format of bytea, which is ASCII in every database
-- encoding. The format keeps letters as they are, and so it keeps words.

\set QUIET on
\set ON_ERROR_STOP on
\pset tuples_only on
\pset format unaligned
\if :{?n}
\else
  \set n 1000
\endif
\if :{?m}
\else
  \set m 16
\endif
\if :{?dir}
\else
  \set dir .
\endif
\if :{?result}
\else
  \set result :dir /result.txt
\endif

BEGIN;
CREATE TEMPORARY TABLE simtool_options (
  n integer CONSTRAINT n_from_1_to_10000 CHECK (n BETWEEN 1 AND 10000),
  m integer CONSTRAINT m_from_1_to_128 CHECK (m BETWEEN 1 AND 128)
) ON COMMIT DROP;
INSERT INTO simtool_options VALUES (:'n', :'m');
CREATE TEMPORARY TABLE simtool_file (name text, content text) ON COMMIT DROP;

\set file :dir /article.txt
\lo_import :file
INSERT INTO simtool_file VALUES ('article', encode(lo_get(:LASTOID), 'escape'));
\set file :dir /sample.txt
\lo_import :file
INSERT INTO simtool_file VALUES ('sample', encode(lo_get(:LASTOID), 'escape'));
\set file :dir /hashvalue.txt
\lo_import :file
INSERT INTO simtool_file VALUES ('hashvalue', encode(lo_get(:LASTOID), 'escape'));
\set file :dir /stopwords.txt
\lo_import :file
INSERT INTO simtool_file VALUES ('stopwords', encode(lo_get(:LASTOID), 'escape'));

-- Pages stand between form feeds. The first thing on a page is its id; where
-- there is nothing there is no page.
CREATE TEMPORARY TABLE simtool_page ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY ordinality) AS page, file, id,
       substr(body, length(id) + 1) AS content
FROM (SELECT name AS file, ordinality, body, substring(body FROM '^[^ \t\n\v\r]+') AS id
      FROM simtool_file,
           string_to_table(content, E'\f') WITH ORDINALITY AS part (raw, ordinality),
           ltrim(raw, E' \t\n\v\r') AS body
      WHERE name IN ('article', 'sample')) AS split
WHERE id IS NOT NULL;

-- Every page's words with their frequencies.
CREATE TEMPORARY TABLE simtool_word ON COMMIT DROP AS
SELECT page, file, feature COLLATE "C" AS word, weight AS frequency
FROM simtool_page, simdup_features(content, tokenizer => 'alpha', weighting => 'tf');

-- The features: the n most frequent words of the articles without stop words,
-- ties in byte order. The hash of the k-th is the first m characters of the k-th
-- line of hash values.
CREATE TEMPORARY TABLE simtool_feature ON COMMIT DROP AS
WITH stopword AS (
  SELECT lower(word COLLATE "C") AS word
  FROM simtool_file, regexp_split_to_table(content, '[ \t\n\v\f\r]+') AS word
  WHERE name = 'stopwords'),
vocabulary AS (
  SELECT word, row_number() OVER (ORDER BY sum(frequency) DESC, word) AS k
  FROM simtool_word
  WHERE file = 'article' AND word NOT IN (SELECT word FROM stopword)
  GROUP BY word),
hashvalue AS (
  SELECT line, row_number() OVER (ORDER BY ordinality) AS k
  FROM simtool_file,
       regexp_split_to_table(content, '[ \t\n\v\f\r]+') WITH ORDINALITY AS part (line, ordinality)
  WHERE name = 'hashvalue' AND line <> '')
SELECT word, CAST(left(line, :m) AS varbit) AS hash
FROM vocabulary JOIN hashvalue USING (k)
WHERE k <= :n;

ALTER TABLE simtool_feature
  ADD CONSTRAINT hashvalue_lines_have_m_digits CHECK (length(hash) = :m);

-- Fingerprints. A page without a feature has sums of 0, so all bits are 0.
-- Comparisons use two halves of 64 bits, filled up with zeros.
CREATE TEMPORARY TABLE simtool_fingerprint ON COMMIT DROP AS
SELECT page, file, decode(id, 'escape') AS id,
       CAST(CAST(substring(bits FROM 1 FOR 64) AS bit(64)) AS simhash64) AS high,
       CAST(CAST(substring(bits FROM 65) AS bit(64)) AS simhash64) AS low
FROM simtool_page
LEFT JOIN (SELECT page, simhash_agg(hash, frequency) AS fp
           FROM simtool_word JOIN simtool_feature USING (word)
           GROUP BY page) AS sums USING (page),
     CAST(coalesce(fp, '') AS bit(128)) AS bits;

-- Every sample against every article, and the line to be written about it.
CREATE TEMPORARY TABLE simtool_article ON COMMIT DROP AS
SELECT page, id, high, low FROM simtool_fingerprint WHERE file = 'article' ORDER BY page;
ANALYZE simtool_article;
CREATE TEMPORARY TABLE simtool_result ON COMMIT DROP AS
SELECT sample.page, sample.id || '\x0a' || coalesce(lines, '') AS piece
FROM simtool_fingerprint AS sample
LEFT JOIN LATERAL (
  SELECT string_agg(line, '' ORDER BY distance) AS lines
  FROM (SELECT distance, CAST(distance || ':' AS bytea)
                         || string_agg(id || '\x20', '' ORDER BY page) || '\x0a' AS line
        FROM (SELECT page, id, (high <~> sample.high) + (low <~> sample.low) AS distance
              FROM simtool_article) AS article
        WHERE distance <= 3
        GROUP BY distance) AS by_distance) AS near ON true
WHERE sample.file = 'sample';

SELECT lo_create(0) AS object \gset
SELECT count(lo_put(:object, position, piece)) AS samples
FROM (SELECT sum(length(piece)) OVER (ORDER BY page)::bigint - length(piece) AS position, piece
      FROM simtool_result) AS placed \gset
\lo_export :object :result

-- The screen gets the first sample's, as the bytes that were written.
SELECT coalesce((SELECT length(piece) FROM simtool_result ORDER BY page LIMIT 1), 0) AS first \gset
\setenv SIMTOOL_RESULT :result
\setenv SIMTOOL_FIRST :first
\! head -c "$SIMTOOL_FIRST" "$SIMTOOL_RESULT"
ROLLBACK;
