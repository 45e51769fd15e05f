--
-- text: fingerprints of texts and rows
--

CREATE FUNCTION simhash(content text, n_features integer DEFAULT NULL, tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log', hash text DEFAULT 'city64', ties boolean DEFAULT false) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, integer, text, text, text, boolean) IS
  'fingerprint of a text: near-duplicates differ in few bits; NULL for a text without a token';

CREATE FUNCTION simhash_row(content text, fields text[], field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL, tokenizer text DEFAULT 'word', weighting text DEFAULT 'log',
  hash text DEFAULT 'city64', ties boolean DEFAULT false) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash_row(text, text[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a row: the features of its long text, and each short field as one feature';

CREATE FUNCTION simdup_field(value anyelement) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_field(anyelement) IS 'a value''s text for a row''s fields, under any settings';

CREATE FUNCTION simdup_numbers(content text, without text DEFAULT '') RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simdup_numbers(text, text) IS
  'the numbers of a text in ASCII digits, in order, less those of another';

CREATE FUNCTION simdup_features(content text, n_features integer DEFAULT NULL, tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  OUT feature text, OUT weight bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500 ROWS 100;
COMMENT ON FUNCTION simdup_features(text, integer, text, text) IS 'tokens of a text with their weights';

CREATE FUNCTION simdup_hash(content text, algorithm text DEFAULT 'city64') RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_hash(text, text) IS '64-bit hash of a text by city64, murmur3, bkdr or java';
