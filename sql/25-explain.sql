--
-- text: pages without markup, and why two texts are near
--

-- pages

CREATE FUNCTION simdup_strip_html(html text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simdup_strip_html(text) IS 'the text of an HTML page; it is not safe markup';

CREATE FUNCTION simdup_explain(a text, b text, fingerprint text DEFAULT 'minhash64', w integer DEFAULT 4,
  unit text DEFAULT 'char',
  OUT distance integer, OUT resemblance float8, OUT a_in_b float8, OUT b_in_a float8, OUT shared json,
  OUT only_a json, OUT only_b json)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simdup_explain(text, text, text, integer, text) IS
  'why two texts are near or not: distance, resemblance, and what they share or have alone';

CREATE FUNCTION simdup_own_text(content text, template text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION simdup_own_text(text, text) IS 'passages of a text that another one lacks';

CREATE FUNCTION simdup_common_text(contents text[], share float8 DEFAULT 0.5) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simdup_common_text(text[], float8) IS
  'passages that at least this share of the texts have, as in the text with most of them; NULL without any';

CREATE FUNCTION simdup_without(content text, passages text[]) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simdup_without(text, text[]) IS 'a text without these passages, such as a footer';
