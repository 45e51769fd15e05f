--
-- text: fingerprints of texts and rows
--

CREATE FUNCTION simhash(
  content text,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, integer, text, text, text, boolean) IS
  'fingerprint of a text: near-duplicate texts get fingerprints a few bits apart. n_features: keep only the most frequent tokens, NULL for all. tokenizer: word, alpha, space, char:N, word:N (N 1 to 16), icu, icu:LOCALE (dictionary words). weighting of a token that occurs tf times: log = 1 + floor(log2 tf), tf, set = 1. hash: see simdup_hash. ties: a sum of zero gives a 1. NULL for a text without a token. Frozen: the same text gives the same fingerprint on every platform, encoding and collation, for ever; except with icu, whose words depend on simdup_icu_version(). SQLSTATE 22023 for values that are not allowed, 22004 for NULL where there is a default other than NULL (Charikar 2002; documents 001 and 003)';

CREATE FUNCTION simhash_row(
  content text,
  fields text[],
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash_row(text, text[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a row: the features of its long text (limited by n_features, see simhash) and each short field, folded and without the white space around it, as one feature of field_weight (0 or more). NULL and blank fields are skipped; NULL where nothing is left. Errors as in simhash (document 003)';

CREATE FUNCTION simdup_features(
  content text,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  OUT feature text,
  OUT weight bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500 ROWS 100;
COMMENT ON FUNCTION simdup_features(text, integer, text, text) IS
  'what a fingerprint saw: the distinct tokens of a text with their weights, most frequent first, ties in byte order; arguments as in simhash';

CREATE FUNCTION simdup_hash(content text, algorithm text DEFAULT 'city64') RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_hash(text, text) IS
  '64-bit hash of a text''s UTF-8 bytes, as a bigint of the same bits: city64 (CityHash64 1.1.1), murmur3 (first half of MurmurHash3_x64_128, seed 0), bkdr (seed 131, 64-bit), java (document 001''s string hash, over UTF-16 units). SQLSTATE 22023 for another name';
