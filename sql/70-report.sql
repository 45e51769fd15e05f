
--
-- report: what a table holds, in psql and in a browser
--

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 3,
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 40;
COMMENT ON FUNCTION simdup_summary(text, integer) IS
  'a table''s duplicates: rows, groups by size, the largest, pairs by distance, rows that share a block';

CREATE FUNCTION simdup_report_html(query text, title text, max_distance integer DEFAULT 3)
  RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer) IS
  'simdup_summary as one HTML page, with samples of a third column';
