--
-- shingles: shingling, MinHash, pairs by resemblance
--

-- shingling (Broder 1997)

CREATE FUNCTION simdup_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'word')
  RETURNS TABLE (shingle text)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS
  'the distinct windows of w consecutive units of a text, in order of first occurrence';

CREATE FUNCTION shingle_resemblance(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'char')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
  SUPPORT simdup_support;
COMMENT ON FUNCTION shingle_resemblance(text, text, integer, text) IS
  'shingles in both texts / shingles in either, exact, 0 to 1; NULL where a text has no shingle';

CREATE FUNCTION shingle_containment(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'char')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_containment(text, text, integer, text) IS
  'share of the shingles of a that b has too, exact: 1 where b contains a';

CREATE FUNCTION shingle_winnow(content text, w integer DEFAULT 8, "window" integer DEFAULT 8,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_winnow' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingle_winnow(text, integer, integer, text) IS
  'sample of the shingles, for gin and &&: texts that share w + window - 1 units share one';

CREATE FUNCTION simdup_boilerplate(
  source regclass, min_share float8 DEFAULT 0.02, min_words integer DEFAULT 15,
  OUT passage text, OUT n_rows bigint, OUT share float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 5;
COMMENT ON FUNCTION simdup_boilerplate(regclass, float8, integer) IS
  'passages that otherwise different texts share, for simdup_without; copies of a text are one row';

CREATE FUNCTION rabin_fingerprint(content text, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION rabin_fingerprint(content bytea, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS
  'Rabin fingerprint of degree 32 or 64 of a text''s UTF-8 bytes';
COMMENT ON FUNCTION rabin_fingerprint(bytea, integer) IS
  'Rabin fingerprint of bytes, as of text; leading zero bytes make no difference';

CREATE FUNCTION shingle_sketch(content text, w integer DEFAULT 10, modulus integer DEFAULT 25,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch(text, integer, integer, text) IS
  'sample of the shingles: the fingerprints divisible by modulus, ascending';

CREATE FUNCTION shingle_sketch_bottom(content text, w integer DEFAULT 10, k integer DEFAULT 100,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch_bottom' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch_bottom(text, integer, integer, text) IS
  'sample of the shingles: the k smallest fingerprints, ascending';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[], k integer DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_sketch_resemblance' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS
  'resemblance of two texts, estimated from their sketches';

CREATE FUNCTION super_shingles(sketch bigint[], w integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_super_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION super_shingles(bigint[], integer) IS
  'shingles of a sketch; texts that share one share w of its values in a row';

-- MinHash (Broder 1997; Dahlgaard, Knudsen and Thorup 2017)

CREATE FUNCTION minhash_signature(content text, n_hashes integer DEFAULT 128, w integer DEFAULT 4,
  unit text DEFAULT 'char') RETURNS integer[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_signature' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles: n_hashes numbers; NULL where the text has no shingle';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_similarity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
  'share of equal numbers of two MinHash signatures: an estimate of the resemblance';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
  'one hash for each band of a MinHash signature, for gin and &&';

CREATE FUNCTION minhash_bands_for(min_resemblance float8, n_hashes integer DEFAULT 128,
  recall float8 DEFAULT 0.99, OUT bands integer, OUT rows integer, OUT recall float8)
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands_for(float8, integer, float8) IS
  'number of bands for a resemblance and a recall, and the recall to expect';
