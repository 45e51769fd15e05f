-- A table of 100,000 letters, for its timing. A letter has eight sentences of the
-- project's petitions, in one language. The last 10,000 repeat earlier ones.

CREATE TABLE sentence AS
SELECT chinese, row_number() OVER (PARTITION BY chinese ORDER BY content) - 1 AS n, content
FROM (SELECT DISTINCT is_asked(sentence, true) AS chinese, sentence AS content
      FROM petition, regexp_split_to_table(content, '(?<=[.!?])\s+|(?<=[。！？])') AS sentence
      WHERE length(sentence) > 10) AS s;
SELECT count(*) FILTER (WHERE chinese) AS n_chinese, count(*) FILTER (WHERE NOT chinese) AS n_english FROM sentence \gset
CREATE TABLE letter AS
SELECT i AS id, string_agg(content, ' ' ORDER BY j) AS content
FROM generate_series(1, 90000) AS i CROSS JOIN generate_series(1, 8) AS j
  JOIN sentence ON chinese = (i % 2 = 0)
    AND n = (hashint8extended(i, j) & 1048575) % CASE WHEN i % 2 = 0 THEN :n_chinese ELSE :n_english END
GROUP BY i;
INSERT INTO letter
SELECT 90000 + id / 9, CASE WHEN id % 2 = 0 THEN '尊敬的领导，您好！' ELSE 'Dear Sir or Madam, ' END || content
FROM letter WHERE id % 9 = 0;
ALTER TABLE letter ADD PRIMARY KEY (id);
VACUUM ANALYZE letter;

\echo '== 7. How fast is a larger table? =='
\echo '100,000 letters have eight sentences of these each. One in ten repeats another.'
\set ECHO queries
\timing on
CREATE INDEX letter_near ON letter USING hamming (content);
SELECT near.id, near.content <~~> asked.content AS distance
FROM letter AS near, letter AS asked
WHERE asked.id = 9 AND simdup_resembles(near.content, asked.content, 0.8);
SELECT count(*) AS pairs
FROM letter AS a JOIN letter AS b ON a.id < b.id AND simdup_resembles(a.content, b.content, 0.8);
SELECT count(*) AS "rows that repeat another"
FROM (SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id) AS cluster
      FROM (SELECT id, minhash64(content) AS fp FROM letter OFFSET 0) AS l) AS c
WHERE id <> cluster;
\set ECHO none
\timing off
\echo
\echo 'The search again, without the index:'
SET enable_indexscan = off;
SET enable_bitmapscan = off;
\timing on
SELECT count(*) FROM letter WHERE simdup_resembles(content, (SELECT content FROM letter WHERE id = 9), 0.8) \g /dev/null
\timing off
RESET enable_indexscan;
RESET enable_bitmapscan;
\echo
