--
-- terms: I-Match, cosine, inverse document frequency
--

-- I-Match (Chowdhury et al. 2002)

CREATE FUNCTION imatch_fingerprint(content text, lexicon text[], tokenizer text DEFAULT 'word') RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_imatch_fingerprint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION imatch_fingerprint(text, text[], text) IS
  'I-Match: one hash of the terms of a text that are in the lexicon, in any order';

CREATE FUNCTION imatch_fingerprints(content text, lexicon text[], n_lexicons integer DEFAULT 10,
  keep float8 DEFAULT 0.7, tokenizer text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION imatch_fingerprints(text, text[], integer, float8, text) IS
  'I-Match with randomised lexicons: equal in any element (&&) is a match';

CREATE FUNCTION imatch_lexicon(query text, min_idf float8 DEFAULT 1, max_idf float8 DEFAULT 7,
  tokenizer text DEFAULT 'word', params text[] DEFAULT '{}') RETURNS text[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_lexicon' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION imatch_lexicon(text, float8, float8, text, text[]) IS
  'the terms of a corpus whose inverse document frequency is in a range, for I-Match';

-- vector space model (Salton et al. 1975)

CREATE FUNCTION term_idf(query text, tokenizer text DEFAULT 'word', params text[] DEFAULT '{}')
  RETURNS TABLE (term text, documents bigint, idf float8)
  AS 'MODULE_PATHNAME', 'simdup_term_idf' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION term_idf(text, text, text[]) IS
  'the terms of a corpus, the number of documents with each, and its inverse document frequency';

CREATE FUNCTION term_cosine(a text, b text, tokenizer text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION term_cosine(text, text, text) IS
  'cosine of the term frequencies of two texts, 0 to 1; NULL where a text has no term';

CREATE FUNCTION term_cosine(a text, b text, terms text[], weights float8[], tokenizer text DEFAULT 'word')
  RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine_weighted' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION term_cosine(text, text, text[], float8[], text) IS
  'cosine of term frequency times weight; terms[i] weighs weights[i]';
