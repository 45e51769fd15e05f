/* simdup: install script. One room after the other; see sql/ in the source. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simdup" to load this file. \quit

--
-- type: simhash64, a 64-bit fingerprint
--

CREATE TYPE simhash64;

CREATE FUNCTION simhash64_in(cstring) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_out(simhash64) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_recv(internal) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_send(simhash64) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash64 (
  INPUT = simhash64_in,
  OUTPUT = simhash64_out,
  RECEIVE = simhash64_recv,
  SEND = simhash64_send,
  LIKE = pg_catalog.int8
);

COMMENT ON TYPE simhash64 IS
  '64-bit similarity-preserving fingerprint: 16 hex digits; near-duplicates differ in few bits';
COMMENT ON FUNCTION simhash64_in(cstring) IS 'I/O: exactly 16 hex digits of either case; else SQLSTATE 22P02';
COMMENT ON FUNCTION simhash64_out(simhash64) IS 'I/O: 16 lower-case hex digits';
COMMENT ON FUNCTION simhash64_recv(internal) IS 'I/O: 8 bytes, big-endian';
COMMENT ON FUNCTION simhash64_send(simhash64) IS 'I/O: 8 bytes, big-endian';

-- casts: the same bits; none is implicit, so that no operator of another type
-- is ever chosen for a fingerprint by accident

CREATE FUNCTION simhash64_from_bigint(bigint) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_to_bigint(simhash64) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_from_bit(bit) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_to_bit(simhash64) RETURNS bit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_from_bytea(bytea) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_to_bytea(simhash64) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bigint AS simhash64) WITH FUNCTION simhash64_from_bigint(bigint);
CREATE CAST (simhash64 AS bigint) WITH FUNCTION simhash64_to_bigint(simhash64);
CREATE CAST (bit AS simhash64) WITH FUNCTION simhash64_from_bit(bit);
CREATE CAST (simhash64 AS bit) WITH FUNCTION simhash64_to_bit(simhash64);
CREATE CAST (bytea AS simhash64) WITH FUNCTION simhash64_from_bytea(bytea);
CREATE CAST (simhash64 AS bytea) WITH FUNCTION simhash64_to_bytea(simhash64);

COMMENT ON FUNCTION simhash64_from_bigint(bigint) IS 'cast: the same 64 bits (two''s complement)';
COMMENT ON FUNCTION simhash64_to_bigint(simhash64) IS 'cast: the same 64 bits (two''s complement), so negative where the highest bit is 1';
COMMENT ON FUNCTION simhash64_from_bit(bit) IS 'cast: 64 bits, most significant first; any other length is SQLSTATE 22026';
COMMENT ON FUNCTION simhash64_to_bit(simhash64) IS 'cast: bit(64), most significant bit first';
COMMENT ON FUNCTION simhash64_from_bytea(bytea) IS 'cast: 8 bytes, big-endian; any other length is SQLSTATE 22026';
COMMENT ON FUNCTION simhash64_to_bytea(simhash64) IS 'cast: 8 bytes, big-endian';
COMMENT ON CAST (bigint AS simhash64) IS 'the same 64 bits';
COMMENT ON CAST (simhash64 AS bigint) IS 'the same 64 bits';
COMMENT ON CAST (bit AS simhash64) IS '64 bits, most significant first';
COMMENT ON CAST (simhash64 AS bit) IS 'bit(64), most significant bit first';
COMMENT ON CAST (bytea AS simhash64) IS '8 bytes, big-endian';
COMMENT ON CAST (simhash64 AS bytea) IS '8 bytes, big-endian';

-- comparison: unsigned, so the order of the text form. Leakproof: they can
-- raise no error and see nothing but their arguments, and the planner may use
-- statistics below row-level security.

CREATE FUNCTION simhash64_eq(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_ne(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_lt(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_le(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_gt(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_ge(simhash64, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_cmp(simhash64, simhash64) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_sortsupport(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_hash(simhash64) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_hash_extended(simhash64, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION simhash64_eq(simhash64, simhash64) IS 'implementation of = operator';
COMMENT ON FUNCTION simhash64_ne(simhash64, simhash64) IS 'implementation of <> operator';
COMMENT ON FUNCTION simhash64_lt(simhash64, simhash64) IS 'implementation of < operator';
COMMENT ON FUNCTION simhash64_le(simhash64, simhash64) IS 'implementation of <= operator';
COMMENT ON FUNCTION simhash64_gt(simhash64, simhash64) IS 'implementation of > operator';
COMMENT ON FUNCTION simhash64_ge(simhash64, simhash64) IS 'implementation of >= operator';
COMMENT ON FUNCTION simhash64_cmp(simhash64, simhash64) IS 'less-equal-greater as -1, 0, 1, unsigned';
COMMENT ON FUNCTION simhash64_sortsupport(internal) IS 'sort support';
COMMENT ON FUNCTION simhash64_hash(simhash64) IS 'hash';
COMMENT ON FUNCTION simhash64_hash_extended(simhash64, bigint) IS 'hash with a seed';

CREATE OPERATOR = (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_lt,
  COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_le,
  COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_gt,
  COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ge,
  COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON OPERATOR = (simhash64, simhash64) IS 'equal';
COMMENT ON OPERATOR <> (simhash64, simhash64) IS 'not equal';
COMMENT ON OPERATOR < (simhash64, simhash64) IS 'less than, unsigned';
COMMENT ON OPERATOR <= (simhash64, simhash64) IS 'less than or equal, unsigned';
COMMENT ON OPERATOR > (simhash64, simhash64) IS 'greater than, unsigned';
COMMENT ON OPERATOR >= (simhash64, simhash64) IS 'greater than or equal, unsigned';

CREATE OPERATOR CLASS simhash64_btree_ops
DEFAULT FOR TYPE simhash64 USING btree AS
  OPERATOR 1 <,
  OPERATOR 2 <=,
  OPERATOR 3 =,
  OPERATOR 4 >=,
  OPERATOR 5 >,
  FUNCTION 1 simhash64_cmp(simhash64, simhash64),
  FUNCTION 2 simhash64_sortsupport(internal),
  FUNCTION 4 pg_catalog.btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash64_btree_ops USING btree IS 'unsigned order of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_btree_ops USING btree IS 'unsigned order of fingerprints';

CREATE OPERATOR CLASS simhash64_hash_ops
DEFAULT FOR TYPE simhash64 USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 simhash64_hash(simhash64),
  FUNCTION 2 simhash64_hash_extended(simhash64, bigint);
COMMENT ON OPERATOR CLASS simhash64_hash_ops USING hash IS 'equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_hash_ops USING hash IS 'equality of fingerprints';

-- distance

CREATE FUNCTION simhash_distance(a simhash64, b simhash64) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS
  'Hamming distance: the number of bits, 0 to 64, in which two fingerprints differ; function form of <~> (Charikar 2002; document 001)';

CREATE OPERATOR <~> (
  LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash_distance,
  COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash64, simhash64) IS 'Hamming distance, 0 to 64 bits';

CREATE FUNCTION simhash_similarity(a simhash64, b simhash64) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_similarity(simhash64, simhash64) IS
  '1 - distance / 64: 1 for equal fingerprints, about 0.5 for unrelated ones';

CREATE FUNCTION simhash_blocks(fp simhash64, n_blocks integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_blocks(simhash64, integer) IS
  'the fingerprint cut into n_blocks (2 to 16) blocks, low bits first, the first 64 mod n_blocks of them one bit wider; element i is i << 32 | block value. Fingerprints within distance k share an element of n_blocks = k + 1: index with gin, search with && and recheck <~>. SQLSTATE 22023 for another n_blocks (documents 001 and 003)';

-- simhash_ball: a center and a radius, the right-hand side of index searches

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash_ball (
  INPUT = simhash_ball_in,
  OUTPUT = simhash_ball_out,
  RECEIVE = simhash_ball_recv,
  SEND = simhash_ball_send,
  INTERNALLENGTH = 16,
  ALIGNMENT = double
);

COMMENT ON TYPE simhash_ball IS
  'all fingerprints within a Hamming distance of a center: <hex,k>, k from 0 to 64';
COMMENT ON FUNCTION simhash_ball_in(cstring) IS
  'I/O: <hex,k> without blanks, hex as for simhash64 and k in decimal; else SQLSTATE 22P02, or 22023 where k is not from 0 to 64';
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS 'I/O: <hex,k>';
COMMENT ON FUNCTION simhash_ball_recv(internal) IS
  'I/O: center as 8 bytes, radius as 4, big-endian; SQLSTATE 22023 where the radius is not from 0 to 64';
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS 'I/O: center as 8 bytes, radius as 4, big-endian';

CREATE FUNCTION simhash_ball(center simhash64, radius integer) RETURNS simhash_ball
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball(simhash64, integer) IS
  'the fingerprints within Hamming distance radius of center; SQLSTATE 22023 where radius is not from 0 to 64';

CREATE FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash_ball_hash(simhash_ball) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) IS 'implementation of = operator';
COMMENT ON FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) IS 'implementation of <> operator';
COMMENT ON FUNCTION simhash_ball_hash(simhash_ball) IS 'hash';

CREATE OPERATOR = (
  LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
CREATE OPERATOR <> (
  LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR = (simhash_ball, simhash_ball) IS 'same center and radius';
COMMENT ON OPERATOR <> (simhash_ball, simhash_ball) IS 'not same center and radius';

CREATE OPERATOR CLASS simhash_ball_hash_ops
DEFAULT FOR TYPE simhash_ball USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 simhash_ball_hash(simhash_ball);
COMMENT ON OPERATOR CLASS simhash_ball_hash_ops USING hash IS 'equality of balls';
COMMENT ON OPERATOR FAMILY simhash_ball_hash_ops USING hash IS 'equality of balls';

-- membership; leakproof: a ball that exists has a valid radius, so they raise
-- no error. The cost is not of the function but of the choice: the planner
-- charges each probe of the index as random page reads, some 20 times the
-- measured time, and cannot be told otherwise. With 50 for a comparison, index
-- and scan stand in the right relation where both are in memory: the scan is
-- chosen from k = 8 on at 10,000 rows, 12 at 100,000, 16 at a million.

CREATE FUNCTION simhash_in_ball(simhash64, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 50;
CREATE FUNCTION simhash_ball_contains(simhash_ball, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 50;

COMMENT ON FUNCTION simhash_in_ball(simhash64, simhash_ball) IS 'implementation of <@ operator';
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash64) IS 'implementation of @> operator';

-- estimators: a function of the radius and of the column's statistics

CREATE FUNCTION simhash_ballsel(internal, oid, internal, integer) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_balljoinsel(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ballsel(internal, oid, internal, integer) IS
  'restriction selectivity of <@ and @> with a simhash_ball';
COMMENT ON FUNCTION simhash_balljoinsel(internal, oid, internal, smallint, internal) IS
  'join selectivity of <@ and @> with a simhash_ball';

CREATE OPERATOR <@ (
  LEFTARG = simhash64, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
  COMMUTATOR = @>,
  RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel
);
CREATE OPERATOR @> (
  LEFTARG = simhash_ball, RIGHTARG = simhash64, FUNCTION = simhash_ball_contains,
  COMMUTATOR = <@,
  RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel
);
COMMENT ON OPERATOR <@ (simhash64, simhash_ball) IS 'fingerprint is within the radius of the center';
COMMENT ON OPERATOR @> (simhash_ball, simhash64) IS 'fingerprint is within the radius of the center';

CREATE FUNCTION simhash_within_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_within_support(internal) IS 'planner support for simhash_within';

CREATE FUNCTION simhash_within(a simhash64, b simhash64, k integer) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
  SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_within(simhash64, simhash64, integer) IS
  'is the Hamming distance of a and b at most k? Uses a gin index on either; SQLSTATE 22023 where k is not from 0 to 64';

-- GIN operator class: every radius, exact

CREATE FUNCTION simhash64_gin_extract_value(simhash64, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_gin_extract_query(simhash64, internal, smallint, internal, internal, internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_gin_consistent(internal, smallint, simhash64, integer, internal, internal, internal, internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_gin_compare_partial(simhash64, simhash64, smallint, internal) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_gin_tri_consistent(internal, smallint, simhash64, integer, internal, internal, internal) RETURNS "char"
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION simhash64_gin_extract_value(simhash64, internal) IS 'GIN support';
COMMENT ON FUNCTION simhash64_gin_extract_query(simhash64, internal, smallint, internal, internal, internal, internal) IS 'GIN support';
COMMENT ON FUNCTION simhash64_gin_consistent(internal, smallint, simhash64, integer, internal, internal, internal, internal) IS 'GIN support';
COMMENT ON FUNCTION simhash64_gin_compare_partial(simhash64, simhash64, smallint, internal) IS 'GIN support';
COMMENT ON FUNCTION simhash64_gin_tri_consistent(internal, smallint, simhash64, integer, internal, internal, internal) IS 'GIN support';

CREATE OPERATOR CLASS simhash64_ops
DEFAULT FOR TYPE simhash64 USING gin AS
  OPERATOR 1 <@ (simhash64, simhash_ball),
  OPERATOR 2 =,
  FUNCTION 1 simhash64_cmp(simhash64, simhash64),
  FUNCTION 2 simhash64_gin_extract_value(simhash64, internal),
  FUNCTION 3 simhash64_gin_extract_query(simhash64, internal, smallint, internal, internal, internal, internal),
  FUNCTION 4 simhash64_gin_consistent(internal, smallint, simhash64, integer, internal, internal, internal, internal),
  FUNCTION 5 simhash64_gin_compare_partial(simhash64, simhash64, smallint, internal),
  FUNCTION 6 simhash64_gin_tri_consistent(internal, smallint, simhash64, integer, internal, internal, internal);
COMMENT ON OPERATOR CLASS simhash64_ops USING gin IS 'Hamming search at any radius, exact, and equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_ops USING gin IS 'Hamming search at any radius, exact, and equality of fingerprints';
--
-- text: fingerprints of texts and rows
--

CREATE FUNCTION simhash(
  content text,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, integer, text, text, text, boolean) IS
  'fingerprint of a text: near-duplicate texts get fingerprints a few bits apart. n_features: keep only the most frequent tokens, NULL for all. tokenizer: word, alpha, space, char:N, word:N (N 1 to 16), icu, icu:LOCALE (dictionary words). weighting of a token that occurs tf times: log = 1 + floor(log2 tf), tf, set = 1. hash: see simdup_hash. ties: a sum of zero gives a 1. NULL for a text without a token. Frozen: the same text gives the same fingerprint on every platform, encoding and collation, for ever; except with icu, whose words depend on simdup_icu_version(). SQLSTATE 22023 for values that are not allowed, 22004 for NULL where there is a default other than NULL (Charikar 2002; documents 001 and 003)';

CREATE FUNCTION simhash_row(
  content text,
  fields text[],
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash_row(text, text[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a row: the features of its long text (limited by n_features, see simhash) and each short field, folded and without the white space around it, as one feature of field_weight (0 or more). NULL and blank fields are skipped; NULL where nothing is left. Errors as in simhash (document 003)';

CREATE FUNCTION simdup_features(
  content text,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  OUT feature text,
  OUT weight bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500 ROWS 100;
COMMENT ON FUNCTION simdup_features(text, integer, text, text) IS
  'what a fingerprint saw: the distinct tokens of a text with their weights, most frequent first, ties in byte order; arguments as in simhash';

CREATE FUNCTION simdup_hash(content text, algorithm text DEFAULT 'city64') RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_hash(text, text) IS
  '64-bit hash of a text''s UTF-8 bytes, as a bigint of the same bits: city64 (CityHash64 1.1.1), murmur3 (first half of MurmurHash3_x64_128, seed 0), bkdr (seed 131, 64-bit), java (document 001''s string hash, over UTF-16 units). SQLSTATE 22023 for another name';
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
--
-- text: fingerprints of rows without a list of their columns
--

CREATE FUNCTION simhash_field(value anyelement) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_field(anyelement) IS
  'text form of a value of almost any type, the same under all settings, so that it may stand in a generated column: what value::text gives with DateStyle ISO, TimeZone UTC, IntervalStyle postgres, extra_float_digits 1, bytea_output hex and lc_monetary C. SQLSTATE 0A000 for types whose text may change for the same value: enums (a label can be renamed), composite types (they can be altered), regclass and its like, and others whose output function is not immutable';

CREATE FUNCTION simhash_record(
  value record,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_record(record, name, name[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a whole row: simhash_row of the column named content (NULL: of none) with every other column as a field, by its text form, which no setting changes (see simhash_field; enums and composite types may stand here too). Left out are the columns named in exclude, columns of type simhash64 and, of a table''s row, its generated columns. NULL for a NULL row and where nothing is left. SQLSTATE 42703 for a name that is no column, 0A000 for a column without a stable text form (document 003)';

CREATE FUNCTION simhash_row_expression(
  relation regclass,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_row_expression(regclass, name, name[], integer, integer, text, text, text, boolean) IS
  'the call of simhash_row that gives what simhash_record with the same arguments gives for a row of the table, as text to put into GENERATED ALWAYS AS (...) STORED, an index or a trigger: names are quoted and qualified, all of it is immutable. SQLSTATE 0A000, with all of them in the DETAIL, where columns have no text form that lasts (see simhash_field)';

--
-- icu: dictionary words
--

CREATE FUNCTION simdup_icu_version() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_version() IS
  'versions of ICU, CLDR and Unicode that find the words of the tokenizers icu and icu:LOCALE and of the text search parser simdup_icu; NULL where simdup was built without ICU. Other versions may find other words: when this changes, compute again what was stored with them';

CREATE FUNCTION simdup_icu_start(internal, integer) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_start(internal, integer) IS
  'begins a text of the text search parser simdup_icu; SQLSTATE 0A000 where simdup was built without ICU';

CREATE FUNCTION simdup_icu_gettoken(internal, internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_gettoken(internal, internal, internal) IS
  'next token of the text search parser simdup_icu';

CREATE FUNCTION simdup_icu_end(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_end(internal) IS
  'ends a text of the text search parser simdup_icu';

CREATE FUNCTION simdup_icu_lextypes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_lextypes(internal) IS
  'token types of the text search parser simdup_icu';

CREATE TEXT SEARCH PARSER simdup_icu (
  START = simdup_icu_start,
  GETTOKEN = simdup_icu_gettoken,
  END = simdup_icu_end,
  LEXTYPES = simdup_icu_lextypes,
  HEADLINE = pg_catalog.prsd_headline
);
COMMENT ON TEXT SEARCH PARSER simdup_icu IS
  'words as ICU finds them (UAX #29; by dictionary in Chinese, Japanese, Thai, Lao, Khmer and Burmese), with the segmentation of the tokenizer icu. Token types: word, number, blank. Depends on the ICU version: see simdup_icu_version(). SQLSTATE 0A000 where simdup was built without ICU';
--
-- methods: shingles, MinHash, I-Match, cosine, bitmaps, pages
--

-- shingling (Broder 1997; document 002)

CREATE FUNCTION simdup_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'word')
  RETURNS TABLE (shingle text)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS
  'the distinct windows of w (1 or more) consecutive units, in order of first occurrence; unit ''word'' is a token of the word tokenizer, ''char'' a word character, folded, ''raw'' any character but white space, as it is. Fewer units than w are one shingle, no unit gives no row. SQLSTATE 22023 for another w or unit (Broder 1997; document 002)';

CREATE FUNCTION shingle_resemblance(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_resemblance(text, text, integer, text) IS
  'shingles in both / shingles in either, exact, 0 to 1; NULL where a text has no shingle; w and unit as in simdup_shingles (Broder 1997; document 002)';

CREATE FUNCTION shingle_containment(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_containment(text, text, integer, text) IS
  'share of the shingles of a that b has too, exact, 0 to 1: 1 where b contains a; NULL where a text has no shingle; w and unit as in simdup_shingles (Broder 1997)';

CREATE FUNCTION rabin_fingerprint(content text, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION rabin_fingerprint(content bytea, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS
  'Rabin fingerprint of the UTF-8 bytes: the bytes as a polynomial over GF(2) modulo x^32 + x^7 + x^3 + x^2 + 1 (degree 32: 0 to 2^32 - 1) or x^64 + x^4 + x^3 + x + 1 (degree 64: two''s complement); texts of up to degree / 8 bytes are their own fingerprint; SQLSTATE 22023 for another degree (Rabin 1981; document 002)';
COMMENT ON FUNCTION rabin_fingerprint(bytea, integer) IS
  'Rabin fingerprint of bytes, as of text; leading zero bytes make no difference';

CREATE FUNCTION shingle_sketch(content text, w integer DEFAULT 10, modulus integer DEFAULT 25, unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch(text, integer, integer, text) IS
  'the mixed 63-bit fingerprints of the shingles that are divisible by modulus (1 or more), ascending: one shingle in modulus, and of a short text perhaps none; NULL where the text has no shingle (Broder 1997; document 002)';

CREATE FUNCTION shingle_sketch_bottom(content text, w integer DEFAULT 10, k integer DEFAULT 100, unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch_bottom' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch_bottom(text, integer, integer, text) IS
  'the k (1 or more) smallest of the mixed 63-bit fingerprints of the shingles, ascending, all of them where the text has fewer: the sketch that does not starve on short texts; NULL where the text has no shingle (Broder 1997)';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[], k integer DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_sketch_resemblance' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS
  'estimate of the resemblance from two sketches: values in both / values in either; for sketches of shingle_sketch_bottom give their k, then only the k smallest of either count; NULL where a sketch is NULL or empty, since it says nothing then; SQLSTATE 22023 where one is not ascending or k is below 1, 22004 where one holds NULLs';

CREATE FUNCTION super_shingles(sketch bigint[], w integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_super_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION super_shingles(bigint[], integer) IS
  'shingles of a sketch: 63-bit fingerprints of its windows of w (1 or more) consecutive values, ascending; texts that share one share w values in a row: index with gin, search with && (Broder 1997; document 002)';

-- MinHash (Broder 1997; Dahlgaard, Knudsen and Thorup 2017)

CREATE FUNCTION minhash_signature(content text, n_hashes integer DEFAULT 128, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS integer[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_signature' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles, n_hashes (1 to 4096, else SQLSTATE 22023) numbers; NULL where the text has no shingle; w and unit as in simdup_shingles (fast similarity sketching, Dahlgaard, Knudsen and Thorup 2017: one hash a shingle, no worse than independent permutations)';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_similarity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
  'share of equal hashes of two signatures: an estimate of the resemblance J, off by at most sqrt(J (1 - J) / n_hashes) in the mean square; SQLSTATE 2202E for signatures of different lengths or empty ones';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
  'one hash for each of so many bands (1 to n_hashes, else SQLSTATE 22023) of n_hashes / bands consecutive hashes (a remainder takes no part): index with gin, candidates share an element (&&); see minhash_bands_for';

CREATE FUNCTION minhash_bands_for(threshold float8, n_hashes integer DEFAULT 128, min_recall float8 DEFAULT 0.99, OUT bands integer, OUT rows integer, OUT recall float8)
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands_for(float8, integer, float8) IS
  'bands and rows (hashes a band) that find a pair of resemblance threshold with at least min_recall, with as few candidates as can be, and the recall to expect, 1 - (1 - threshold^rows)^bands; where min_recall is out of reach, what finds most';

-- bitmaps (document 000)

CREATE FUNCTION simdup_bitmap(content text, n_bits integer DEFAULT 128, tokenizer text DEFAULT 'word') RETURNS varbit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simdup_bitmap(text, integer, text) IS
  'feature bitmap of n_bits (1 to 32768) bits, bit CityHash64 mod n_bits set for each token; NULL where the text has no token; tokenizers as in simhash (document 000)';

CREATE FUNCTION simdup_bitmap_similarity(a varbit, b varbit) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_bitmap_similarity(varbit, varbit) IS
  'bits in both / bits in either, 0 to 1; NULL for two empty bitmaps; SQLSTATE 22026 for different sizes (document 000)';

CREATE FUNCTION simdup_window(bitmap varbit, window_size integer, threshold float8 DEFAULT 0.5) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE WINDOW COST 100;
COMMENT ON FUNCTION simdup_window(varbit, integer, float8) IS
  'window function: the class of the row, numbered from 0 in each partition. The first bitmaps of the last window_size (1 or more) classes are kept in a ring; a row takes the class of the first of them, in ring order, whose similarity is strictly greater than threshold (0 to 1), else opens the next class. A NULL bitmap has class NULL, an empty one is like nothing. Options are those of the partition''s first row (document 000)';

-- pages

CREATE FUNCTION simdup_strip_html(html text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simdup_strip_html(text) IS
  'the text of a page: tags, comments, scripts and styles out, the character references of HTML 4 decoded, white space collapsed, blocks on lines of their own; never fails, and its result is text, not safe markup (document 002)';

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

-- whole tables: the query runs with the caller's rights. Keys are bigint (or a
-- smaller integer) in the first form of each, and of the type of the last
-- argument, a null of it, in the second.

CREATE FUNCTION shingle_pairs(
  query text, w integer DEFAULT 4, min_resemblance float8 DEFAULT 0.5, unit text DEFAULT 'word', max_documents integer DEFAULT 1000,
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION shingle_pairs(
  query text, w integer, min_resemblance float8, unit text, max_documents integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT common integer, OUT resemblance float8, OUT cluster anyelement
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION shingle_pairs(text, integer, float8, text, integer) IS
  'all pairs of documents of at least min_resemblance (above 0, at most 1), a before b in query order, with their common shingles, exact resemblance and connected component, named by its first key; the query yields (key, text). Only the rarest shingles of each document lead to pairs, which loses none; but one that is among the rarest of more than max_documents (2 to 1000000) is left out: a NOTICE tells how many are, and pairs that share none but such are not found. Sorts on disk beyond maintenance_work_mem (document 002)';
COMMENT ON FUNCTION shingle_pairs(text, integer, float8, text, integer, anyelement) IS
  'shingle_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_verified_pairs(
  query text, max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT 0.5, w integer DEFAULT 4, unit text DEFAULT 'word',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION simdup_verified_pairs(
  query text, max_distance integer, min_resemblance float8, w integer, unit text, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION simdup_verified_pairs(text, integer, float8, integer, text) IS
  'pairs whose fingerprints differ in at most max_distance (0 to 16) bits and whose texts have at least min_resemblance (above 0, at most 1), a before b in query order: candidates by simhash, verified by shingles; the query yields (key, simhash64, text), rows with a NULL among the last two or without a shingle are left out';
COMMENT ON FUNCTION simdup_verified_pairs(text, integer, float8, integer, text, anyelement) IS
  'simdup_verified_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_explain(
  a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word',
  OUT distance integer, OUT chance float8, OUT resemblance float8, OUT a_in_b float8, OUT b_in_a float8,
  OUT shared json, OUT only_a json, OUT only_b json
)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simdup_explain(text, text, integer, text) IS
  'why two texts are near or not: the distance of their default fingerprints; the chance that those of unrelated texts, 64 fair coins, differ in so few bits or fewer; resemblance and containments of their shingles; the features they share {"feature": [weight in a, weight in b]} and those of one only {"feature": weight}, heaviest first. Numbers are NULL where a text has no feature or shingle';

--
-- batch: whole tables at once
--
-- Every function here runs a query that its caller gives: with the caller's
-- rights, and as volatile and as unsafe in parallel workers as that query may
-- be. Keys are bigint (or a smaller integer) in the first form of each, and
-- of the type of the last argument, a null of it, in the second.

CREATE FUNCTION simdup_pairs(
  query text, max_distance integer DEFAULT 3,
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs(
  query text, max_distance integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_pairs(text, integer) IS
  'all pairs of rows whose fingerprints differ in at most max_distance (0 to 16) bits, each pair once, a before b in query order; the query yields (key, simhash64), NULL fingerprints are skipped with a NOTICE. SQLSTATE 22023 for another distance or what is no query, 42804 for other columns, 22004 for a NULL key; no row where an argument is NULL. Beyond maintenance_work_mem it works on disk (documents 001 and 003)';
COMMENT ON FUNCTION simdup_pairs(text, integer, anyelement) IS
  'simdup_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance integer DEFAULT 3,
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer) IS
  'incremental batch: the pairs of new rows with old ones and with each other, none of two old rows; a is a new row, b an old one or a later new one; queries and distance as for simdup_pairs (document 003)';
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer, anyelement) IS
  'simdup_new_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_clusters(
  query text, max_distance integer DEFAULT 3, method text DEFAULT 'connected', min_size integer DEFAULT 2,
  OUT key bigint, OUT cluster bigint, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters(
  query text, max_distance integer, method text, key_type anyelement, min_size integer DEFAULT 2,
  OUT key anyelement, OUT cluster anyelement, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_clusters(text, integer, text, integer) IS
  'the clusters of at least min_size rows (1: every row that has a fingerprint): each row''s key, the cluster''s name, which is its first key in query order, and its size; method connected: connected components of simdup_pairs; leader: each row in query order joins the first earlier leader within max_distance or becomes one (the single pass of document 003)';
COMMENT ON FUNCTION simdup_clusters(text, integer, text, anyelement, integer) IS
  'simdup_clusters for keys of any type: key_type is a null of it, such as NULL::uuid';

-- how good, and which distance

CREATE FUNCTION simdup_evaluate(
  found text, truth text,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate(text, text) IS
  'found pairs against true ones: each query yields two keys of any one type in its first columns; order within a pair, repetition, pairs of a key with itself and pairs with a NULL do not matter; NULL where there is nothing to divide by (document 003)';

CREATE FUNCTION simdup_evaluate_clusters(
  found text, truth text,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate_clusters(text, text) IS
  'found clusters against labelled ones by the pairs that they imply: each query yields (key, cluster), a key once at most, else SQLSTATE 21000; a key that is missing, or whose cluster is NULL, is alone';

CREATE FUNCTION simdup_tune(
  query text, up_to integer DEFAULT 16,
  OUT max_distance integer,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8,
  OUT expected_false float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(text, integer) IS
  'what each distance from 0 to up_to (0 to 64) would find: for labelled pairs (simhash64, simhash64, boolean: is it a duplicate) precision, recall and F1; for a table''s (key, simhash64) the expected number of pairs of unrelated rows, from a beta-binomial fit to the distances in a sample of 4096';

-- what other sessions see

CREATE FUNCTION simdup_progress(
  OUT pid integer, OUT batch text, OUT phase text, OUT done bigint, OUT total bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION simdup_progress() IS
  'batches that run now, in sessions whose statements the caller may see: phase (starting, reading, grouping, comparing, counting, writing) and units done of a total, which is 0 where it is not known; as shown before the statement in pg_stat_activity';

-- for the DBA

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 3,
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 40;
COMMENT ON FUNCTION simdup_summary(text, integer) IS
  'duplicates of a query''s (key of any type, simhash64): rows, groups of equal fingerprints, connected groups by size, the ten largest by their first key, pairs by distance up to max_distance (0 to 16), and for blocks of the fingerprint how many rows share a value (expected candidates per search)';

CREATE FUNCTION simdup_report_html(query text, title text, max_distance integer DEFAULT 3)
  RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer) IS
  'simdup_summary as one self-contained HTML page in ASCII, with charts and, if the query yields a text as third column, samples of it; every value escaped';

--
-- arrival: triggers that catch duplicates as they come in
--

CREATE FUNCTION simhash_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_update_trigger() IS
  'trigger (fp, content [, field ...]), BEFORE INSERT OR UPDATE FOR EACH ROW: sets column fp to simhash(content), or simhash_row(content, ARRAY[field ...]) where fields are given, on insert and when a source is in the UPDATE''s list or was changed by an earlier trigger. content is of a character type; fields of any type whose text form depends on no setting. SQLSTATE 42703, 42804, 39P01 for wrong columns, types, firing';

CREATE FUNCTION simdup_flag_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_flag_trigger() IS
  'trigger (fp, flag, key, k [, ''lock'']), BEFORE INSERT OR UPDATE FOR EACH ROW: sets column flag to the key of the nearest other row within Hamming distance k (0 to 64), ties to the smallest key, NULL if there is none; on insert and when the fingerprint changes. Searches with the rights of the user who writes. lock: misses no row that another session is writing (see simdup_reject_trigger)';

CREATE FUNCTION simdup_log_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_log_trigger() IS
  'trigger (fp, key, k, log_table [, ''lock'']), AFTER INSERT OR UPDATE FOR EACH ROW, or FOR EACH STATEMENT with transition tables: writes new_key, old_key, distance and logged_at to log_table for every row within Hamming distance k (0 to 64) of a new one, each pair once. log_table without a schema is one beside the table. Searches and writes with the rights of the user who writes. lock: see simdup_reject_trigger';

CREATE FUNCTION simdup_reject_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger (fp, key, k), BEFORE or AFTER INSERT OR UPDATE FOR EACH ROW, also as a constraint trigger: refuses a row within Hamming distance k (0 to 64) of another with SQLSTATE 23P01, also one that another session is writing: until the transaction ends it locks what any near-duplicate would lock too, the values of blocks of the fingerprint (pg_locks: advisory, classid the table, objsubid from 16384). 40001 where the transaction''s snapshot cannot see the other row. Searches with the rights of the table''s owner';

CREATE FUNCTION simdup_lock_arrivals(target regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS
  'makes other sessions'' locking arrivals in the table (the one that has the trigger) wait until this transaction ends, and waits for theirs: for bulk loads, which take this lock by themselves but in the middle, where two of them can deadlock. Needs INSERT or UPDATE on the table, else SQLSTATE 42501';

-- setting it up on an existing table

CREATE FUNCTION simdup_attach(
  target regclass,
  content text,
  fields text[] DEFAULT '{}',
  k integer DEFAULT 3,
  action text DEFAULT 'flag',
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean) IS
  'gives a table a fingerprint column simdup_fp of content and fields, kept by a trigger, an index on it, and a trigger that flags (in column simdup_of), logs (in log_table, by default TABLE_simdup_log) or rejects rows within distance k (0 to 64). Returns the statements in order; with dry_run it does not run them. key: the column that tells rows apart, by default the primary key. live: the statements for a table in use (backfill in batches, index concurrently, a check at the end), which only dry_run gives. SQLSTATE 42710 where that was done before, 42704 without a primary key of one column, 42703 for a column that is not there';

CREATE FUNCTION simdup_detach(
  target regclass,
  dry_run boolean DEFAULT false,
  keep_columns boolean DEFAULT false
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 4;
COMMENT ON FUNCTION simdup_detach(regclass, boolean, boolean) IS
  'takes off what simdup_attach made: its triggers and, unless keep_columns, its columns with their index; a log table stays. Returns the statements in order; with dry_run it does not run them';
