
--
-- report: what a table holds, in psql and in a browser
--

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 3, params text[] DEFAULT '{}',
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 60;
COMMENT ON FUNCTION simdup_summary(text, integer, text[]) IS
  'a table''s duplicates: headline, rows, groups by size, the largest, pairs by distance, also by chance';

CREATE FUNCTION simdup_report_html(
  query text,
  title text,
  max_distance integer DEFAULT 3,
  params text[] DEFAULT '{}',
  row_url text DEFAULT NULL,
  max_groups integer DEFAULT 200,
  before jsonb DEFAULT NULL,
  target regclass DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer, text[], text, integer, jsonb, regclass) IS
  'a table''s duplicates as one HTML page: pairs, groups, marked differences of a third column';
