/*
 * ball.c
 *	  The type simhash_ball, what lies in one, and simhash_within.
 *
 * A ball is a query as a value: an index condition has one operand, so
 * center and radius travel together. People write simhash_within.
 */
#include "postgres.h"
#include "compat.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "core/fingerprint/hamming.h"
#include "type/simhash64.h"

/* The message about a bad radius, for ereport and ereturn. */
#define RADIUS_ERROR(given) \
	(errcode(ERRCODE_INVALID_PARAMETER_VALUE), \
	 errmsg("radius must be between 0 and %d", SIMHASH64_BITS), \
	 errdetail("The radius given is %s.", given), \
	 errhint( \
		 "The radius is a Hamming distance in bits: 3 finds copies, 8 near-duplicates."))

static void
check_radius(int64 radius)
{
	if (!simhash_radius_is_valid(radius))
		ereport(ERROR, RADIUS_ERROR(psprintf(INT64_FORMAT, radius)));
}

static SimhashBall *
make_ball(uint64 center, int64 radius)
{
	SimhashBall *ball = palloc(sizeof(SimhashBall));

	ball->center = center;
	ball->radius = radius;
	return ball;
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball_in);
/* Read <hex,k>, without blanks. */
Datum
simdup_simhash_ball_in(PG_FUNCTION_ARGS)
{
	char *str = PG_GETARG_CSTRING(0);
	SimdupBallLiteral ball;

	if (!simdup_read_ball(str, &ball))
		ereturn(fcinfo->context, (Datum) 0,
				errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s: \"%s\"",
					   "simhash_ball", str));
	if (!simhash_radius_is_valid(ball.radius))
		ereturn(fcinfo->context, (Datum) 0,
				RADIUS_ERROR(pnstrdup(ball.radius_str, ball.radius_len)));

	PG_RETURN_POINTER(make_ball(ball.center, ball.radius));
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball_out);
Datum
simdup_simhash_ball_out(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);
	char hex[SIMDUP_HEX_DIGITS];

	simdup_write_fingerprint(ball->center, hex);
	PG_RETURN_CSTRING(
		psprintf("<%.*s,%d>", SIMDUP_HEX_DIGITS, hex, (int) ball->radius));
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball_recv);
Datum
simdup_simhash_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);
	uint64 center = (uint64) pq_getmsgint64(buf);
	int32 radius = (int32) pq_getmsgint(buf, sizeof(int32));

	check_radius(radius);
	PG_RETURN_POINTER(make_ball(center, radius));
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball_send);
Datum
simdup_simhash_ball_send(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, ball->center);
	pq_sendint32(&buf, (int32) ball->radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball);
Datum
simdup_simhash_ball(PG_FUNCTION_ARGS)
{
	int32 radius = PG_GETARG_INT32(1);

	check_radius(radius);
	PG_RETURN_POINTER(make_ball(PG_GETARG_SIMHASH64(0), radius));
}

/* Equality */

PG_FUNCTION_INFO_V1(simdup_simhash_ball_eq);
Datum
simdup_simhash_ball_eq(PG_FUNCTION_ARGS)
{
	SimhashBall *a = PG_GETARG_SIMHASH_BALL_P(0);
	SimhashBall *b = PG_GETARG_SIMHASH_BALL_P(1);

	PG_RETURN_BOOL(a->center == b->center && a->radius == b->radius);
}

PG_FUNCTION_INFO_V1(simdup_simhash_ball_hash);
Datum
simdup_simhash_ball_hash(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);
	uint32 center = DatumGetUInt32(
		DirectFunctionCall1(hashint8, Int64GetDatum((int64) ball->center)));

	PG_RETURN_INT32(
		(int32) hash_combine(center, murmurhash32((uint32) ball->radius)));
}

/* Membership */

PG_FUNCTION_INFO_V1(simdup_simhash_in_ball);
Datum
simdup_simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(
		simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(1), PG_GETARG_SIMHASH64(0)));
}

/* Like simdup_simhash_ball_eq, because each operator needs a C function. */
PG_FUNCTION_INFO_V1(simdup_simhash_ball_contains);
Datum
simdup_simhash_ball_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(
		simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(0), PG_GETARG_SIMHASH64(1)));
}

PG_FUNCTION_INFO_V1(simdup_simhash_within);
Datum
simdup_simhash_within(PG_FUNCTION_ARGS)
{
	int32 radius = PG_GETARG_INT32(2);

	check_radius(radius);
	PG_RETURN_BOOL(simdup_hamming64(PG_GETARG_SIMHASH64(0),
									PG_GETARG_SIMHASH64(1)) <= radius);
}

/* Mutual membership, and what the index stores of a ball */

PG_FUNCTION_INFO_V1(simdup_ball_mutual);
Datum
simdup_ball_mutual(PG_FUNCTION_ARGS)
{
	SimhashBall *a = PG_GETARG_SIMHASH_BALL_P(0);
	SimhashBall *b = PG_GETARG_SIMHASH_BALL_P(1);

	PG_RETURN_BOOL(simhash_ball_has(a, b->center) &&
				   simhash_ball_has(b, a->center));
}

PG_FUNCTION_INFO_V1(simdup_ball_center);
Datum
simdup_ball_center(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH64(PG_GETARG_SIMHASH_BALL_P(0)->center);
}
