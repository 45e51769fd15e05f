
--
-- report: what a table holds, in psql and in a browser
--

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 60;
COMMENT ON FUNCTION simdup_summary(text, integer, text, float8, integer, text, text[]) IS
  'a table''s duplicates: headline, rows, clusters by size, the largest, pairs by distance, also by chance';

CREATE FUNCTION simdup_report_html(
  query text,
  title text,
  max_distance integer DEFAULT 8,
  method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4,
  unit text DEFAULT 'char',
  params text[] DEFAULT '{}',
  row_url text DEFAULT NULL,
  max_groups integer DEFAULT 200,
  before jsonb DEFAULT NULL,
  groups text DEFAULT NULL,
  lang text DEFAULT 'en',
  translations jsonb DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer, text, float8, integer, text, text[], text, integer, jsonb, text, text, jsonb) IS
  'a table''s duplicates as one HTML page: cases, what each letter adds, pairs, decisions';

-- A grouping's members, then its decisions, which have no id, latest first; for its
-- owner, as texts that do not depend on the caller's types.
CREATE FUNCTION simdup_report_members(
  name text, OUT key text, OUT id bigint, OUT other text, OUT same boolean, OUT note text, OUT by text, OUT at text
) RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 100000 SET row_security = off AS $$
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  RETURN QUERY EXECUTE pg_catalog.format('SELECT pg_catalog.format(''%%s'', m.key), m.id, NULL::pg_catalog.text, NULL::pg_catalog.bool,'
    ' NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.text FROM %s AS m', g.members);
  RETURN QUERY EXECUTE pg_catalog.format('SELECT pg_catalog.format(''%%s'', d.a), NULL::pg_catalog.int8, pg_catalog.format(''%%s'', d.b),'
    ' d.same, d.note, d.by::pg_catalog.text, pg_catalog.to_char(d.at, ''YYYY-MM-DD HH24:MI'') FROM %s AS d ORDER BY d.at DESC, 1, 3',
    g.decisions);
END $$;
COMMENT ON FUNCTION simdup_report_members(text) IS
  'implementation of simdup_report_html: the members and the decisions of a grouping';
