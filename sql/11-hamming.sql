
-- hamming: the index to use for a Hamming search at any radius

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'simdup_hamming_handler' LANGUAGE C;
COMMENT ON FUNCTION hamming_handler(internal) IS 'hamming index access method handler';
CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact Hamming search: any radius, nearest neighbours, constraints';

CREATE OPERATOR CLASS simhash64_ops
DEFAULT FOR TYPE simhash64 USING hamming AS
  OPERATOR 1 <@ (simhash64, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY integer_ops;
COMMENT ON OPERATOR CLASS simhash64_ops USING hamming IS 'Hamming search, nearest neighbours, equality';
COMMENT ON OPERATOR FAMILY simhash64_ops USING hamming IS 'Hamming search, nearest neighbours, equality';

-- ~= on balls, for exclusion constraints: each holds the other's center. The
-- index stores the center; a match is rechecked with the stored radius.

CREATE FUNCTION simhash_ball_center(simhash_ball) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_ball_center' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_center(simhash_ball) IS 'the center of a ball';

CREATE FUNCTION simhash_ball_mutual(simhash_ball, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simdup_ball_mutual' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 0.1;
COMMENT ON FUNCTION simhash_ball_mutual(simhash_ball, simhash_ball) IS 'implementation of ~= operator';

CREATE OPERATOR ~= (LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_mutual,
  COMMUTATOR = ~=, RESTRICT = contsel, JOIN = contjoinsel);
COMMENT ON OPERATOR ~= (simhash_ball, simhash_ball) IS 'each ball holds the center of the other';

CREATE OPERATOR CLASS simhash_ball_ops
DEFAULT FOR TYPE simhash_ball USING hamming FAMILY simhash64_ops AS
  OPERATOR 4 ~=, FUNCTION 1 simhash_ball_center(simhash_ball), STORAGE simhash64;
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hamming IS 'EXCLUDE (simhash_ball(fp, k) WITH ~=)';

-- the inside of an index; for its owner

CREATE FUNCTION simdup_index_check(index regclass, every_row boolean DEFAULT false) RETURNS void
  AS 'MODULE_PATHNAME', 'simdup_index_check' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_index_check(regclass, boolean) IS 'raises an error for a damaged hamming index';

CREATE FUNCTION simdup_index_stat(index regclass,
  OUT n_rows bigint, OUT n_nulls bigint, OUT levels integer, OUT leaf_pages bigint, OUT inner_pages bigint,
  OUT unused_pages bigint, OUT fill float8, OUT largest_block bigint)
  AS 'MODULE_PATHNAME', 'simdup_index_stat' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_index_stat(regclass) IS 'entries, levels, pages and fill of a hamming index';
