--
-- text: pages without markup, and why two texts are near
--

-- pages

CREATE FUNCTION simdup_strip_html(html text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simdup_strip_html(text) IS
  'the text of a page: tags, comments, scripts and styles out, the character references of HTML 4 decoded, white space collapsed, blocks on lines of their own; never fails, and its result is text, not safe markup (document 002)';

CREATE FUNCTION simdup_explain(
  a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word',
  OUT distance integer, OUT chance float8, OUT resemblance float8, OUT a_in_b float8, OUT b_in_a float8,
  OUT shared json, OUT only_a json, OUT only_b json
)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simdup_explain(text, text, integer, text) IS
  'why two texts are near or not: the distance of their default fingerprints; the chance that those of unrelated texts, 64 fair coins, differ in so few bits or fewer; resemblance and containments of their shingles; the features they share {"feature": [weight in a, weight in b]} and those of one only {"feature": weight}, heaviest first. Numbers are NULL where a text has no feature or shingle';
