--
-- text: fingerprints of ready-made features, in a value or over rows
--

CREATE FUNCTION simhash(
  vector tsvector,
  n_features integer DEFAULT NULL,
  weighting text DEFAULT 'tf',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simhash_tsvector' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(tsvector, integer, text, text, boolean) IS
  'fingerprint of a tsvector''s lexemes, so that any text search configuration with its stop words and dictionaries can choose the features; a lexeme occurs as often as it has positions (core keeps at most 255), once in a stripped vector. Arguments as in simhash(text). NULL without a lexeme. As durable as the configuration: a changed dictionary changes the lexemes';

CREATE FUNCTION simhash(
  features text[],
  weights float8[] DEFAULT NULL,
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simhash_weighted' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text[], float8[], text, boolean) IS
  'fingerprint of features taken as they are, with their weights (NULL: 1 each), equal features added. Weights are finite, 0 to less than 2^47, rounded to 2^-16. NULL where nothing weighs anything. SQLSTATE 2202E for arrays of different length or more than one dimension, 22004 for NULLs in them, 22023 or 22003 for weights, with the position';

CREATE FUNCTION simhash_agg_accum(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_accum(internal, text, float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_accum(internal, text, float8, text) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_remove(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_remove(internal, text, float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_remove(internal, text, float8, text) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_final(internal) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_varbit_accum(internal, varbit, bigint) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_varbit_remove(internal, varbit, bigint) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_varbit_final(internal) RETURNS varbit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION simhash_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION simhash_agg_accum(internal, text) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_agg_accum(internal, text, float8) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_agg_accum(internal, text, float8, text) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_agg_remove(internal, text) IS 'aggregate inverse transition';
COMMENT ON FUNCTION simhash_agg_remove(internal, text, float8) IS 'aggregate inverse transition';
COMMENT ON FUNCTION simhash_agg_remove(internal, text, float8, text) IS 'aggregate inverse transition';
COMMENT ON FUNCTION simhash_agg_final(internal) IS 'aggregate result';
COMMENT ON FUNCTION simhash_varbit_accum(internal, varbit, bigint) IS 'aggregate transition';
COMMENT ON FUNCTION simhash_varbit_remove(internal, varbit, bigint) IS 'aggregate inverse transition';
COMMENT ON FUNCTION simhash_varbit_final(internal) IS 'aggregate result';
COMMENT ON FUNCTION simhash_agg_combine(internal, internal) IS 'aggregate combination of partial states';
COMMENT ON FUNCTION simhash_agg_serialize(internal) IS 'aggregate state to bytes';
COMMENT ON FUNCTION simhash_agg_deserialize(bytea, internal) IS 'aggregate state from bytes';

CREATE AGGREGATE simhash_agg(feature text) (
  SFUNC = simhash_agg_accum, STYPE = internal, SSPACE = 1100,
  FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine,
  SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  MSFUNC = simhash_agg_accum, MINVFUNC = simhash_agg_remove, MSTYPE = internal,
  MSSPACE = 1100, MFINALFUNC = simhash_agg_final, PARALLEL = SAFE
);
CREATE AGGREGATE simhash_agg(feature text, weight float8) (
  SFUNC = simhash_agg_accum, STYPE = internal, SSPACE = 1100,
  FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine,
  SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  MSFUNC = simhash_agg_accum, MINVFUNC = simhash_agg_remove, MSTYPE = internal,
  MSSPACE = 1100, MFINALFUNC = simhash_agg_final, PARALLEL = SAFE
);
CREATE AGGREGATE simhash_agg(feature text, weight float8, hash text) (
  SFUNC = simhash_agg_accum, STYPE = internal, SSPACE = 1100,
  FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine,
  SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  MSFUNC = simhash_agg_accum, MINVFUNC = simhash_agg_remove, MSTYPE = internal,
  MSSPACE = 1100, MFINALFUNC = simhash_agg_final, PARALLEL = SAFE
);
CREATE AGGREGATE simhash_agg(hash varbit, weight bigint) (
  SFUNC = simhash_varbit_accum, STYPE = internal, SSPACE = 2200,
  FINALFUNC = simhash_varbit_final, COMBINEFUNC = simhash_agg_combine,
  SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = simhash_agg_deserialize,
  MSFUNC = simhash_varbit_accum, MINVFUNC = simhash_varbit_remove, MSTYPE = internal,
  MSSPACE = 2200, MFINALFUNC = simhash_varbit_final, PARALLEL = SAFE
);

COMMENT ON AGGREGATE simhash_agg(text) IS
  'fingerprint of the features in the rows, each of weight 1, equal features added; NULL features are skipped, NULL where there is none. Parallel; exact in a moving frame';
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
  'fingerprint of the weighted features in the rows, equal features added: simhash_agg(feature, weight) over simdup_features(t) is simhash(t). Weights are finite, 0 to less than 2^47, rounded to 2^-16 (else SQLSTATE 22023 or 22003); rows with a NULL are skipped, NULL where nothing weighs anything. Parallel; exact in a moving frame';
COMMENT ON AGGREGATE simhash_agg(text, float8, text) IS
  'simhash_agg(feature, weight) with another hash: see simdup_hash';
COMMENT ON AGGREGATE simhash_agg(varbit, bigint) IS
  'fingerprint, as wide as the hashes, of features given by their hashes: bit i is 1 if and only if the weights of the hashes with a 1 there exceed those with a 0. Weights are 0 or more (else SQLSTATE 22023), hashes all of one width (else 22026); rows with a NULL are skipped, NULL where there is none. Parallel; exact in a moving frame (document 004)';
