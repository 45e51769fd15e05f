
-- hamming: the index to use for a Hamming search at any radius

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'simdup_hamming_handler' LANGUAGE C;
COMMENT ON FUNCTION hamming_handler(internal) IS 'hamming index access method handler';
CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact Hamming search of fingerprints: any radius, nearest neighbours, exclusion constraints';

CREATE OPERATOR CLASS simhash64_ops
DEFAULT FOR TYPE simhash64 USING hamming AS
  OPERATOR 1 <@ (simhash64, simhash_ball),
  OPERATOR 2 =;
COMMENT ON OPERATOR CLASS simhash64_ops USING hamming IS 'Hamming search at any radius and equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_ops USING hamming IS 'Hamming search at any radius and equality of fingerprints';
