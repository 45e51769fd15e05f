--
-- terms: I-Match, cosine, inverse document frequency
--

-- I-Match (Chowdhury et al. 2002)

CREATE FUNCTION imatch_fingerprints(content text, lexicon text[], n_lexicons integer DEFAULT 10,
  keep float8 DEFAULT 0.7, tokenizer text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION imatch_fingerprints(text, text[], integer, float8, text) IS
  'I-Match with randomised lexicons: equal in any element (&&) is a match';
CREATE FUNCTION imatch_fingerprint(content text, lexicon text[], tokenizer text DEFAULT 'word') RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
  RETURN (imatch_fingerprints(content, lexicon, 0, 0.5, tokenizer))[1];
COMMENT ON FUNCTION imatch_fingerprint(text, text[], text) IS 'I-Match: a hash of the lexicon''s terms';

-- the terms of many texts

CREATE TYPE simdup_term AS (term text, documents bigint, idf float8);
COMMENT ON TYPE simdup_term IS 'a term of many texts, how many have it, and its inverse document frequency';

CREATE FUNCTION terms_accum(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_terms_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
CREATE FUNCTION terms_accum(internal, text, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_terms_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
CREATE FUNCTION terms_accum(internal, text, float8, float8, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_terms_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
CREATE FUNCTION term_idf_final(internal) RETURNS simdup_term[]
  AS 'MODULE_PATHNAME', 'simdup_terms_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION imatch_lexicon_final(internal) RETURNS text[]
  AS 'MODULE_PATHNAME', 'simdup_terms_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION terms_accum(internal, text) IS 'aggregate transition';
COMMENT ON FUNCTION terms_accum(internal, text, text) IS 'aggregate transition';
COMMENT ON FUNCTION terms_accum(internal, text, float8, float8, text) IS 'aggregate transition';
COMMENT ON FUNCTION term_idf_final(internal) IS 'aggregate result';
COMMENT ON FUNCTION imatch_lexicon_final(internal) IS 'aggregate result';

CREATE AGGREGATE term_idf(content text) (
  SFUNC = terms_accum, STYPE = internal, SSPACE = 8192, FINALFUNC = term_idf_final, PARALLEL = SAFE);
CREATE AGGREGATE term_idf(content text, tokenizer text) (
  SFUNC = terms_accum, STYPE = internal, SSPACE = 8192, FINALFUNC = term_idf_final, PARALLEL = SAFE);
CREATE AGGREGATE imatch_lexicon(content text) (
  SFUNC = terms_accum, STYPE = internal, SSPACE = 8192, FINALFUNC = imatch_lexicon_final, PARALLEL = SAFE);
CREATE AGGREGATE imatch_lexicon(content text, min_idf float8, max_idf float8, tokenizer text) (
  SFUNC = terms_accum, STYPE = internal, SSPACE = 8192, FINALFUNC = imatch_lexicon_final, PARALLEL = SAFE);
COMMENT ON AGGREGATE term_idf(text) IS 'terms of all texts with their inverse document frequency';
COMMENT ON AGGREGATE term_idf(text, text) IS 'term_idf by another tokenizer';
COMMENT ON AGGREGATE imatch_lexicon(text) IS 'terms of all texts of medium frequency, for I-Match';
COMMENT ON AGGREGATE imatch_lexicon(text, float8, float8, text) IS
  'the terms of all texts whose inverse document frequency is in a range, for I-Match';

-- vector space model (Salton et al. 1975)

CREATE FUNCTION term_cosine(a text, b text, tokenizer text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION term_cosine(text, text, text) IS 'cosine of the term frequencies of two texts';

CREATE FUNCTION term_cosine(a text, b text, terms text[], weights float8[], tokenizer text DEFAULT 'word')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION term_cosine(text, text, text[], float8[], text) IS 'cosine by weights of terms';
