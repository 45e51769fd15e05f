-- A user's CSV as table csv, every column as text: :delimiter and :names (one a
-- line, behind a =) come from run.sh, the rows from standard input.

-- Names that a table cannot have, or has already, get their column's number.
SELECT format('CREATE TABLE csv (%s)', string_agg(format('%I text', name), ', ' ORDER BY n))
FROM (SELECT n, CASE WHEN name IN ('', 'csv_row', 'tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax')
                       OR row_number() OVER (PARTITION BY name ORDER BY n) > 1
                     THEN trim(left(name, 12) || ' column ' || n) ELSE name END AS name
      FROM (SELECT n, trim(substr(line, 2))::name::text AS name
            FROM string_to_table(:'names', E'\n') WITH ORDINALITY AS header(line, n)) AS given) AS named \gexec

SELECT :'delimiter' = ',' AS comma, :'delimiter' = ';' AS semicolon \gset
\if :comma
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER)
\elif :semicolon
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER, DELIMITER ';')
\else
  \copy csv FROM pstdin WITH (FORMAT csv, HEADER, DELIMITER E'\t')
\endif
