-- Makes the table petition from a user's table csv: the column with the text, and
-- the column that names the row. The variable file is the name to print.

-- The text: the column that is named, else one with a name for it, else the longest on
-- average. Columns of links are none.
SELECT name AS content
FROM (SELECT field.key AS name, avg(coalesce(length(field.value), 0)) AS average,
        avg((field.value ~* '^[\s,;|]*((https?://|www\.)[^\s,;|]*[\s,;|]*)+$')::int) FILTER (WHERE field.value <> '') AS links
      FROM (SELECT * FROM csv LIMIT 1000) AS line, jsonb_each_text(to_jsonb(line.*)) AS field
      GROUP BY field.key) AS columns
WHERE CASE WHEN :'text' = '' THEN links IS NULL OR links <= 0.5 ELSE name = :'text' END
ORDER BY average = 0,
         array_position('{content,body,text,comment,comment_text,description,message,正文,内容,留言详情}', lower(name)),
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
  content text
);
INSERT INTO petition (id, content)
SELECT CAST(:"id" AS :id_type), :"content" FROM csv;
\echo
\set ECHO none
