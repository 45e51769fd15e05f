-- The table csv for a user's CSV, every column as text: :names (one a line, behind
-- a =) come from run.sh.

-- Names that a table cannot have, or has already, get their column's number.
SELECT format('CREATE TABLE csv (%s)', string_agg(format('%I text', name), ', ' ORDER BY n))
FROM (SELECT n, CASE WHEN name IN ('', 'csv_row', 'tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax')
                       OR row_number() OVER (PARTITION BY name ORDER BY n) > 1
                     THEN trim(left(name, 12) || ' column ' || n) ELSE name END AS name
      FROM (SELECT n, trim(substr(line, 2))::name::text AS name
            FROM string_to_table(:'names', E'\n') WITH ORDINALITY AS header(line, n)) AS given) AS named \gexec
