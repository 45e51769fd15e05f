/* simdup: install script. One subject after the other; see sql/ in the source. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simdup" to load this file. \quit

--
-- type: simhash64, a 64-bit fingerprint. The server keeps, compares and hashes it as a
-- pg_lsn, which is an unsigned number of 64 bits, too.
--

CREATE TYPE simhash64;

CREATE FUNCTION simhash64_in(cstring) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash64_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_out(simhash64) RETURNS cstring
  AS 'MODULE_PATHNAME', 'simdup_simhash64_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_recv(internal) RETURNS simhash64
  AS 'pg_lsn_recv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_send(simhash64) RETURNS bytea
  AS 'pg_lsn_send' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash64 (
  INPUT = simhash64_in, OUTPUT = simhash64_out, RECEIVE = simhash64_recv, SEND = simhash64_send, LIKE = int8);

COMMENT ON TYPE simhash64 IS 'a fingerprint of 64 bits: similar contents differ in few of them';
COMMENT ON FUNCTION simhash64_in(cstring) IS 'I/O: exactly 16 hex digits of either case';
COMMENT ON FUNCTION simhash64_out(simhash64) IS 'I/O: 16 lower-case hex digits';
COMMENT ON FUNCTION simhash64_recv(internal) IS 'I/O: 8 bytes, big-endian';
COMMENT ON FUNCTION simhash64_send(simhash64) IS 'I/O and cast: 8 bytes, big-endian';

-- casts: the same bits; none is implicit, so that no operator of another type
-- is ever chosen for a fingerprint by accident. Texts are assigned, because drivers
-- such as JDBC send each string as a text or varchar.

CREATE FUNCTION simhash64_from_bit(bit) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash64_from_bit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_to_bit(simhash64) RETURNS bit
  AS 'MODULE_PATHNAME', 'simdup_simhash64_to_bit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_from_bytea(bytea) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash64_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_from_numeric(numeric) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash64_from_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bigint AS simhash64) WITHOUT FUNCTION;
CREATE CAST (simhash64 AS bigint) WITHOUT FUNCTION;
CREATE CAST (bit AS simhash64) WITH FUNCTION simhash64_from_bit(bit);
CREATE CAST (simhash64 AS bit) WITH FUNCTION simhash64_to_bit(simhash64);
CREATE CAST (bytea AS simhash64) WITH FUNCTION simhash64_from_bytea(bytea);
CREATE CAST (simhash64 AS bytea) WITH FUNCTION simhash64_send(simhash64);
CREATE CAST (numeric AS simhash64) WITH FUNCTION simhash64_from_numeric(numeric);
CREATE CAST (text AS simhash64) WITH INOUT AS ASSIGNMENT;
CREATE CAST (varchar AS simhash64) WITH INOUT AS ASSIGNMENT;

COMMENT ON FUNCTION simhash64_from_bit(bit) IS 'cast: 64 bits, most significant first';
COMMENT ON FUNCTION simhash64_to_bit(simhash64) IS 'cast: bit(64), most significant bit first';
COMMENT ON FUNCTION simhash64_from_bytea(bytea) IS 'cast: 8 bytes, big-endian';
COMMENT ON FUNCTION simhash64_from_numeric(numeric) IS 'cast: an unsigned integer of 64 bits';
COMMENT ON CAST (bigint AS simhash64) IS 'the same 64 bits';
COMMENT ON CAST (simhash64 AS bigint) IS 'the same 64 bits';
COMMENT ON CAST (bit AS simhash64) IS '64 bits, most significant first';
COMMENT ON CAST (simhash64 AS bit) IS 'bit(64), most significant bit first';
COMMENT ON CAST (bytea AS simhash64) IS '8 bytes, big-endian';
COMMENT ON CAST (simhash64 AS bytea) IS '8 bytes, big-endian';
COMMENT ON CAST (numeric AS simhash64) IS 'an unsigned integer of 64 bits';
COMMENT ON CAST (text AS simhash64) IS '16 hex digits, as the type is written';
COMMENT ON CAST (varchar AS simhash64) IS '16 hex digits, as the type is written';

-- comparison: unsigned, so the order of the text form. Equality is leakproof, so
-- the planner may use statistics below row-level security. An order is not:
-- estimates of it would tell a hidden common value, bit after bit.

CREATE FUNCTION simhash64_eq(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_eq' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_ne(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_ne' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_lt(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_lt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_le(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_le' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_gt(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_gt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_ge(simhash64, simhash64) RETURNS boolean
  AS 'pg_lsn_ge' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_cmp(simhash64, simhash64) RETURNS integer
  AS 'pg_lsn_cmp' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_sortsupport(internal) RETURNS void
  AS 'MODULE_PATHNAME', 'simdup_simhash64_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash64_hash(simhash64) RETURNS integer
  AS 'pg_lsn_hash' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_hash_extended(simhash64, bigint) RETURNS bigint
  AS 'pg_lsn_hash_extended' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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

CREATE OPERATOR = (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_eq,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ne,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_lt,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_le,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_gt,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ge,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);

COMMENT ON OPERATOR = (simhash64, simhash64) IS 'equal';
COMMENT ON OPERATOR <> (simhash64, simhash64) IS 'not equal';
COMMENT ON OPERATOR < (simhash64, simhash64) IS 'less than, unsigned';
COMMENT ON OPERATOR <= (simhash64, simhash64) IS 'less than or equal, unsigned';
COMMENT ON OPERATOR > (simhash64, simhash64) IS 'greater than, unsigned';
COMMENT ON OPERATOR >= (simhash64, simhash64) IS 'greater than or equal, unsigned';

CREATE OPERATOR CLASS simhash64_btree_ops
DEFAULT FOR TYPE simhash64 USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 simhash64_cmp(simhash64, simhash64), FUNCTION 2 simhash64_sortsupport(internal),
  FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash64_btree_ops USING btree IS 'unsigned order of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_btree_ops USING btree IS 'unsigned order of fingerprints';

CREATE OPERATOR CLASS simhash64_hash_ops
DEFAULT FOR TYPE simhash64 USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 simhash64_hash(simhash64), FUNCTION 2 simhash64_hash_extended(simhash64, bigint);
COMMENT ON OPERATOR CLASS simhash64_hash_ops USING hash IS 'equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash64_hash_ops USING hash IS 'equality of fingerprints';

-- distance

CREATE FUNCTION simdup_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_support(internal) IS 'planner support, which also loads the library for joins';

CREATE FUNCTION simhash_distance(a simhash64, b simhash64) RETURNS integer
  AS 'MODULE_PATHNAME', 'simdup_simhash_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT simdup_support;
COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS 'Hamming distance, 0 to 64 bits';

CREATE OPERATOR <~> (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash_distance,
  COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash64, simhash64) IS 'Hamming distance, 0 to 64 bits';

CREATE FUNCTION simhash_blocks(fp simhash64, n_blocks integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_simhash_blocks' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_blocks(simhash64, integer) IS 'n_blocks blocks of a fingerprint, for gin and &&';

CREATE FUNCTION simhash_pieces(fp simhash64, max_distance integer, n integer) RETURNS integer[]
  AS 'MODULE_PATHNAME', 'simdup_simhash_pieces' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_pieces(simhash64, integer, integer) IS
  'the pieces, 0 to n - 1, in which a row takes part; rows within max_distance share one, joined apart';
