
-- simhash_ball: a center and a radius, the right-hand side of index searches

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash_ball (
  INPUT = simhash_ball_in, OUTPUT = simhash_ball_out, RECEIVE = simhash_ball_recv, SEND = simhash_ball_send,
  INTERNALLENGTH = 16, ALIGNMENT = double);

COMMENT ON TYPE simhash_ball IS 'the fingerprints within a Hamming distance of a center: <hex,k>';
COMMENT ON FUNCTION simhash_ball_in(cstring) IS 'I/O: <hex,k> without blanks, k in decimal';
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS 'I/O: <hex,k>';
COMMENT ON FUNCTION simhash_ball_recv(internal) IS 'I/O: center as 8 bytes, radius as 4, big-endian';
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS 'I/O: center as 8 bytes, radius as 4, big-endian';

CREATE FUNCTION simhash_ball(center simhash64, radius integer) RETURNS simhash_ball
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 0.1;
COMMENT ON FUNCTION simhash_ball(simhash64, integer) IS 'the fingerprints within radius of center';

-- Membership. The functions are leakproof: every ball has a valid radius, so
-- they raise no error. A comparison takes a few nanoseconds, and so does making
-- a ball.

CREATE FUNCTION simhash_in_ball(simhash64, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simdup_simhash_in_ball' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 0.1;
CREATE FUNCTION simhash_ball_contains(simhash_ball, simhash64) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simdup_simhash_ball_contains'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 0.1;

COMMENT ON FUNCTION simhash_in_ball(simhash64, simhash_ball) IS 'implementation of <@ operator';
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash64) IS 'implementation of @> operator';

-- estimators: a function of the radius and of the column's statistics

CREATE FUNCTION simhash_ballsel(internal, oid, internal, integer) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_ballsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simhash_balljoinsel(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_balljoinsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ballsel(internal, oid, internal, integer) IS 'selectivity of <@, @> and <~@';
COMMENT ON FUNCTION simhash_balljoinsel(internal, oid, internal, smallint, internal) IS
  'join selectivity of <@, @> and <~@';

CREATE OPERATOR <@ (LEFTARG = simhash64, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
  COMMUTATOR = @>, RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
CREATE OPERATOR @> (LEFTARG = simhash_ball, RIGHTARG = simhash64, FUNCTION = simhash_ball_contains,
  COMMUTATOR = <@, RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
COMMENT ON OPERATOR <@ (simhash64, simhash_ball) IS 'fingerprint is within the radius of the center';
COMMENT ON OPERATOR @> (simhash_ball, simhash64) IS 'fingerprint is within the radius of the center';

CREATE FUNCTION simhash_within(a simhash64, b simhash64, max_distance integer DEFAULT 8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simdup_simhash_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 0.1
  SUPPORT simdup_support;
COMMENT ON FUNCTION simhash_within(simhash64, simhash64, integer) IS
  'is the Hamming distance of a and b at most max_distance? Uses a hamming index on either column';
