--
-- text: a column of texts in a hamming index
--

CREATE FUNCTION simdup_text_fingerprint(text) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
-- leakproof: no text is an error in any encoding, and a ball has a valid radius
CREATE FUNCTION simdup_text_in_ball(text, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 500;
CREATE FUNCTION simdup_text_distance(text, text) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simdup_text_fingerprint(text) IS 'implementation of text_ops: minhash64 of a text';
COMMENT ON FUNCTION simdup_text_in_ball(text, simhash_ball) IS 'implementation of <~@ operator';
COMMENT ON FUNCTION simdup_text_distance(text, text) IS 'implementation of <~~> operator';

CREATE OPERATOR <~@ (LEFTARG = text, RIGHTARG = simhash_ball, FUNCTION = simdup_text_in_ball,
  RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
CREATE OPERATOR <~~> (LEFTARG = text, RIGHTARG = text, FUNCTION = simdup_text_distance,
  COMMUTATOR = <~~>);
COMMENT ON OPERATOR <~@ (text, simhash_ball) IS 'minhash64 of the text is within the radius of the center';
COMMENT ON OPERATOR <~~> (text, text) IS 'Hamming distance of the texts'' minhash64';

CREATE OPERATOR CLASS text_ops
DEFAULT FOR TYPE text USING hamming FAMILY simhash64_ops AS
  OPERATOR 1 <~@ (text, simhash_ball), OPERATOR 3 <~~> (text, text) FOR ORDER BY integer_ops,
  FUNCTION 1 simdup_text_fingerprint(text), STORAGE simhash64;
COMMENT ON OPERATOR CLASS text_ops USING hamming IS 'search of texts by minhash64';

CREATE FUNCTION simdup_resembles(a text, b text, min_resemblance float8 DEFAULT 0.8,
  recall float8 DEFAULT 0.99) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 SUPPORT simdup_support;
COMMENT ON FUNCTION simdup_resembles(text, text, float8, float8) IS
  'do two texts share enough folded shingles? Uses a hamming index on either text';
