-- The beginning of a text, cut to a number of columns of a terminal, where a
-- Chinese character takes two.
CREATE FUNCTION shorten(content text, columns integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH line AS (
    SELECT trim(regexp_replace(content, '\s+', ' ', 'g')) AS content
  ), measured AS (
    SELECT n, sum(CASE WHEN ascii(c) BETWEEN 4352 AND 4447 OR ascii(c) BETWEEN 11904 AND 42191
                         OR ascii(c) BETWEEN 44032 AND 55203 OR ascii(c) BETWEEN 63744 AND 64255
                         OR ascii(c) BETWEEN 65072 AND 65135 OR ascii(c) BETWEEN 65281 AND 65376
                         OR ascii(c) BETWEEN 65504 AND 65510 OR ascii(c) BETWEEN 127744 AND 262141
                       THEN 2 ELSE 1 END) OVER (ORDER BY n) AS width
    FROM line, string_to_table(left(line.content, columns + 1), NULL) WITH ORDINALITY AS letter(c, n)
  )
  SELECT CASE WHEN max(width) > columns
              THEN left(line.content, (count(*) FILTER (WHERE width < columns))::integer) || '…'
              ELSE line.content END
  FROM line LEFT JOIN measured ON true
  GROUP BY line.content;
END;
