--
-- terms: I-Match, cosine, inverse document frequency
--

-- I-Match (Chowdhury and others 2002; document 003)

CREATE FUNCTION imatch_fingerprint(content text, lexicon text[], tokenizer text DEFAULT 'word') RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_imatch_fingerprint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION imatch_fingerprint(text, text[], text) IS
  'I-Match signature: one hash of the distinct terms of the text that are in the lexicon, whatever their order and frequency; NULL where it has none of them; lexicon terms are as the tokenizer gives them (Chowdhury and others 2002; document 003)';

CREATE FUNCTION imatch_fingerprints(content text, lexicon text[], n_lexicons integer DEFAULT 10, keep float8 DEFAULT 0.7, tokenizer text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_fingerprints' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION imatch_fingerprints(text, text[], integer, float8, text) IS
  'I-Match with randomised lexicons: imatch_fingerprint, then one signature for each of n_lexicons (0 to 100) random parts that keep the share keep (above 0, below 1) of the lexicon; equal in any (&&, index with gin) is a match, so a differing term is overlooked where a part has dropped it; NULL where none has a term (Kolcz, Chowdhury and Alspector 2004)';

CREATE FUNCTION imatch_lexicon(query text, min_idf float8 DEFAULT 1, max_idf float8 DEFAULT 7, tokenizer text DEFAULT 'word') RETURNS text[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_lexicon' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION imatch_lexicon(text, float8, float8, text) IS
  'the terms of a corpus whose inverse document frequency ln(documents / documents with the term) lies in [min_idf, max_idf], in byte order; the query yields one text column and runs with the caller''s rights (Chowdhury and others 2002; document 003)';

-- vector space model (Salton, Wong and Yang 1975; document 003)

CREATE FUNCTION term_idf(query text, tokenizer text DEFAULT 'word')
  RETURNS TABLE (term text, documents bigint, idf float8)
  AS 'MODULE_PATHNAME', 'simdup_term_idf' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION term_idf(text, text) IS
  'the terms of a corpus in byte order, in how many documents each is, and its inverse document frequency ln(documents that have a term at all / documents with this term); the query yields one text column and runs with the caller''s rights; sorts on disk beyond maintenance_work_mem';

CREATE FUNCTION term_cosine(a text, b text, tokenizer text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION term_cosine(text, text, text) IS
  'cosine of the vectors of term frequencies, 0 to 1; NULL where a text has no term (Salton, Wong and Yang 1975; document 003)';

CREATE FUNCTION term_cosine(a text, b text, terms text[], weights float8[], tokenizer text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_term_cosine_weighted' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION term_cosine(text, text, text[], float8[], text) IS
  'cosine of the vectors of term frequency times weight: terms[i] weighs weights[i] (not negative), such as array_agg(term) and array_agg(idf) of a table made from term_idf, and a term that is not there as much as the heaviest that is; NULL where a text has no term of weight';
