-- A user's CSV: every column as text in table csv; then table petition with
-- the column that holds the text, the one that names the row, and fingerprints.
--
-- :file, :delimiter and :names (one a line, behind a =) come from run.sh, the rows from
-- standard input.

-- Names that a table cannot have, or has already, get their column's number.
SELECT format('CREATE TABLE csv (%s)', string_agg(format('%I text', CASE
         WHEN name = '' OR name IN ('tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax')
           OR row_number() OVER (PARTITION BY name ORDER BY n) > 1
         THEN trim(left(name, 12) || ' column ' || n) ELSE name END), ', ' ORDER BY n))
FROM (SELECT n, trim(substr(line, 2))::name::text AS name
      FROM string_to_table(:'names', E'\n') WITH ORDINALITY AS header(line, n)) AS named \gexec

SELECT :'delimiter' = ',' AS comma, :'delimiter' = ';' AS semicolon \gset
\if :comma
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER)
\elif :semicolon
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER, DELIMITER ';')
\else
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER, DELIMITER E'\t')
\endif

-- The text: a column with a name for it, else the longest on average.
SELECT name AS content, length(name) AS content_length
FROM (SELECT key AS name, avg(coalesce(length(value), 0)) AS average
      FROM (SELECT * FROM csv LIMIT 1000) AS some, jsonb_each_text(to_jsonb(some))
      GROUP BY key) AS columns
ORDER BY average = 0,
         array_position('{content,body,text,正文,内容,留言详情}', lower(name)),
         average DESC, name
LIMIT 1 \gset

-- The name of a row: a column called so, if it does name each row; else a number.
SELECT count(*) = 1 AS has_id, min(name) AS id
FROM (SELECT attname::text AS name
      FROM pg_attribute
      WHERE attrelid = 'csv'::regclass AND attnum > 0 AND attname <> :'content'
        AND lower(attname) IN ('id', 'key', 'no', 'number', '编号', '序号', '留言编号')
      ORDER BY array_position('{id,key,no,number,编号,序号,留言编号}', lower(attname))
      LIMIT 1) AS candidate \gset
\if :has_id
  SELECT count(*) = count(DISTINCT :"id") AND max(length(:"id")) <= 36 AS has_id,
         CASE WHEN bool_and(:"id" ~ '^(0|[1-9][0-9]{0,17})$') THEN 'bigint' ELSE 'text' END AS id_type
  FROM csv \gset
\endif

\echo
\echo 'simdup: near-duplicates in' :file
\echo
\echo '1. Every row gets a fingerprint'
\echo '-------------------------------'
\echo 'The text is column' :"content"
\if :has_id
  \echo 'The name of a row is column' :"id"
\else
  ALTER TABLE csv ADD csv_row bigint GENERATED ALWAYS AS IDENTITY;
  \set id csv_row
  \set id_type bigint
  \echo 'No column names each row once: rows are numbered as they stand in the file.'
\endif

\echo
\set ECHO queries
CREATE TABLE petition (
  id      :id_type PRIMARY KEY,
  content text,
  fp      simhash64 GENERATED ALWAYS AS (simhash(content)) STORED
);
\timing on
INSERT INTO petition (id, content) SELECT CAST(:"id" AS :id_type), :"content" FROM csv;
\timing off
\echo
\set ECHO none
