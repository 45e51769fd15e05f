--
-- shingles: shingling, MinHash, pairs by resemblance
--

-- shingling (Broder 1997)

CREATE FUNCTION simdup_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'word')
  RETURNS TABLE (shingle text)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS 'distinct windows of w units of a text, in order';

CREATE FUNCTION shingle_resemblance(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'char')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000
  SUPPORT simdup_support;
COMMENT ON FUNCTION shingle_resemblance(text, text, integer, text) IS 'Jaccard coefficient of the shingles';

CREATE FUNCTION shingle_containment(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'char')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_containment(text, text, integer, text) IS 'share of a''s shingles that b has';

CREATE FUNCTION shingle_winnow(content text, w integer DEFAULT 8, "window" integer DEFAULT 8,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_winnow' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingle_winnow(text, integer, integer, text) IS 'sample of the shingles, for gin and &&';

CREATE FUNCTION rabin_fingerprint(content text, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION rabin_fingerprint(content bytea, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS 'Rabin fingerprint of degree 32 or 64 of a text';
COMMENT ON FUNCTION rabin_fingerprint(bytea, integer) IS 'Rabin fingerprint of degree 32 or 64 of bytes';

CREATE FUNCTION shingle_sketch(content text, w integer DEFAULT 10, modulus integer DEFAULT 25,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch(text, integer, integer, text) IS 'sample of the shingles, by a modulus';

CREATE FUNCTION shingle_sketch_bottom(content text, w integer DEFAULT 10, k integer DEFAULT 100,
  unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch_bottom' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch_bottom(text, integer, integer, text) IS 'the k smallest of the shingles';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[], k integer DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_sketch_resemblance' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS 'resemblance of two texts by sketches';

CREATE FUNCTION super_shingles(sketch bigint[], w integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_super_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION super_shingles(bigint[], integer) IS 'shingles of a sketch';

-- MinHash (Broder 1997; Dahlgaard, Knudsen and Thorup 2017)

CREATE FUNCTION minhash_signature(content text, n_hashes integer DEFAULT 128, w integer DEFAULT 4,
  unit text DEFAULT 'char') RETURNS integer[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_signature' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles: n_hashes numbers; NULL where the text has no shingle';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_similarity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS 'resemblance of two texts by signatures';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS 'a hash for each band of a signature';

CREATE FUNCTION minhash_bands_for(min_resemblance float8, n_hashes integer DEFAULT 128,
  recall float8 DEFAULT 0.99, OUT bands integer, OUT rows integer, OUT recall float8)
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands_for(float8, integer, float8) IS 'bands for a resemblance and a recall';
