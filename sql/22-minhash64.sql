--
-- text: minhash64, the fingerprint of shared text
--

CREATE FUNCTION minhash64(content text, w integer DEFAULT 4, unit text DEFAULT 'char',
  min_features integer DEFAULT 0) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash64(text, integer, text, integer) IS
  'fingerprint of a text''s folded shingles: at distance 32 * (1 - resemblance) on average';

CREATE FUNCTION minhash64(features text[]) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_features' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash64(text[]) IS 'fingerprint of a set of features, taken as they are';

CREATE FUNCTION minhash64_row(content text, fields text[], field_bits integer DEFAULT 10, w integer DEFAULT 4,
  unit text DEFAULT 'char', min_features integer DEFAULT 0) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash64_row(text, text[], integer, integer, text, integer) IS
  'fingerprint of a row: that of its text, moved by 17 bits for each short field that differs';

CREATE FUNCTION minhash64_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'char')
  RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'simdup_minhash64_shingles'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION minhash64_shingles(text, integer, text) IS 'distinct folded shingles of a text, in order';

CREATE FUNCTION minhash64_agg_accum(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_agg_accum(internal, text) IS 'aggregate transition';

CREATE AGGREGATE minhash64_agg(feature text) (
  SFUNC = minhash64_agg_accum, STYPE = internal, SSPACE = 1300,
  FINALFUNC = simdup_agg_final, COMBINEFUNC = simdup_agg_combine,
  SERIALFUNC = simdup_agg_serialize, DESERIALFUNC = simdup_agg_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE minhash64_agg(text) IS 'fingerprint of the set of features in the rows';

-- resemblance and distance

CREATE FUNCTION minhash64_resemblance(distance integer) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash64_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_resemblance(integer) IS 'the resemblance to expect at a distance';

CREATE FUNCTION minhash64_distance(min_resemblance float8, recall float8 DEFAULT 0.99) RETURNS integer
  AS 'MODULE_PATHNAME', 'simdup_minhash64_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_distance(float8, float8) IS 'max_distance for a resemblance and recall';

-- a second opinion

CREATE FUNCTION minhash_bits(content text, n_bits integer DEFAULT 512, w integer DEFAULT 4,
  unit text DEFAULT 'char') RETURNS varbit
  AS 'MODULE_PATHNAME', 'simdup_minhash_bits' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 600;
COMMENT ON FUNCTION minhash_bits(text, integer, integer, text) IS 'sketch of a text''s folded shingles';

CREATE FUNCTION minhash_bits_resemblance(a varbit, b varbit) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_bits_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bits_resemblance(varbit, varbit) IS 'resemblance of two texts by their sketches';
