
--
-- report: what a table holds, in psql and in a browser
--

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
    min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 60;
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
) RETURNS text AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer, text, float8, integer, text, text[], text,
  integer, jsonb, text, text, jsonb) IS
  'a table''s duplicates as one HTML page: cases, what each letter adds, pairs, decisions';

-- A grouping's members, then its decisions, which have no id, latest first; for its
-- owner, as texts that do not depend on the caller's types.
CREATE FUNCTION simdup_report_members(
  target regclass, name text,
  OUT key text, OUT id bigint, OUT other text, OUT same boolean, OUT note text, OUT by text, OUT at text
) RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 100000
SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  g record;
BEGIN
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, true;
  RETURN QUERY EXECUTE format('SELECT format(%L, m.key), m.id, NULL::text, NULL::boolean, NULL::text,'
    ' NULL::text, NULL::text'
    ' FROM %s AS m', '%s', g.members);
  RETURN QUERY EXECUTE format('SELECT format(%1$L, d.a), NULL::bigint, format(%1$L, d.b), d.same, d.note,'
    ' d.by::text,'
    ' to_char(d.at, %2$L) FROM %3$s AS d ORDER BY d.at DESC, 1, 3', '%s', 'YYYY-MM-DD HH24:MI', g.decisions);
END $$;
COMMENT ON FUNCTION simdup_report_members(regclass, text) IS
  'implementation of simdup_report_html: the members and the decisions of a grouping';
