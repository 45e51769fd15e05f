--
-- text: fingerprints of ready-made features, in a value or over rows
--

CREATE FUNCTION simhash(vector tsvector, n_features integer DEFAULT NULL, weighting text DEFAULT 'tf',
  hash text DEFAULT 'city64', ties boolean DEFAULT false) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash_tsvector' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(tsvector, integer, text, text, boolean) IS
  'fingerprint of a text search vector''s lexemes, each as often as it has positions';

-- no further options: with them, the literals of simhash('a b', NULL, 'icu') would fit this one, too
CREATE FUNCTION simhash(features text[], weights float8[] DEFAULT NULL) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash_weighted' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text[], float8[]) IS 'fingerprint of features with their weights';

CREATE FUNCTION simhash_agg_accum(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_simhash_agg_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_accum(internal, text, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_simhash_agg_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_varbit_accum(internal, varbit, bigint) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_simhash_varbit_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_varbit_final(internal) RETURNS varbit
  AS 'MODULE_PATHNAME', 'simdup_simhash_varbit_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simdup_agg_final(internal) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simdup_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simdup_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION simhash_agg_accum(internal, text) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_agg_accum(internal, text, float8) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_varbit_accum(internal, varbit, bigint) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_varbit_final(internal) IS 'aggregate result';
COMMENT ON FUNCTION simdup_agg_final(internal) IS 'aggregate result: a fingerprint';
COMMENT ON FUNCTION simdup_agg_combine(internal, internal) IS 'aggregate combination of partial states';
COMMENT ON FUNCTION simdup_agg_serialize(internal) IS 'aggregate state to bytes';
COMMENT ON FUNCTION simdup_agg_deserialize(bytea, internal) IS 'aggregate state from bytes';

CREATE AGGREGATE simhash_agg(feature text) (
  SFUNC = simhash_agg_accum, STYPE = internal, SSPACE = 1100,
  FINALFUNC = simdup_agg_final, COMBINEFUNC = simdup_agg_combine,
  SERIALFUNC = simdup_agg_serialize, DESERIALFUNC = simdup_agg_deserialize, PARALLEL = SAFE);
CREATE AGGREGATE simhash_agg(feature text, weight float8) (
  SFUNC = simhash_agg_accum, STYPE = internal, SSPACE = 1100,
  FINALFUNC = simdup_agg_final, COMBINEFUNC = simdup_agg_combine,
  SERIALFUNC = simdup_agg_serialize, DESERIALFUNC = simdup_agg_deserialize, PARALLEL = SAFE);
CREATE AGGREGATE simhash_agg(hash varbit, weight bigint) (
  SFUNC = simhash_varbit_accum, STYPE = internal, SSPACE = 2200,
  FINALFUNC = simhash_varbit_final, COMBINEFUNC = simdup_agg_combine,
  SERIALFUNC = simdup_agg_serialize, DESERIALFUNC = simdup_agg_deserialize, PARALLEL = SAFE);

COMMENT ON AGGREGATE simhash_agg(text) IS 'fingerprint of the features in the rows, each of weight 1';
COMMENT ON AGGREGATE simhash_agg(text, float8) IS 'fingerprint of the weighted features in the rows';
COMMENT ON AGGREGATE simhash_agg(varbit, bigint) IS 'fingerprint of features given by their hashes';
