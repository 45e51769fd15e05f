--
-- text: fingerprints of rows without a list of their columns
--

CREATE FUNCTION simhash_field(value anyelement) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_field(anyelement) IS
  'a value''s text, the same under all settings, for the fields of simhash_row';

CREATE FUNCTION simhash_record(
  value record,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_record(record, name, name[], integer, integer, text, text, text, boolean) IS
  'simhash_row of a row value: one column is the content, all others are fields, by their text';

CREATE FUNCTION simhash_row_expression(
  relation regclass,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_row_expression(regclass, name, name[], integer, integer, text, text, text, boolean) IS
  'the call of simhash_row that gives what simhash_record gives for a table''s row, immutable';
