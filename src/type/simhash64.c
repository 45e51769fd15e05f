/*
 * simhash64.c
 *	  The type simhash64, a 64-bit fingerprint, 8 bytes by value; and simhash_ball.
 *
 * Order is unsigned, so that it is also the order of the text form. The server's
 * functions of pg_lsn compare, hash, send and receive it (sql/00-type.sql): any bit
 * pattern is a valid value.
 *
 * A ball is a query as a value: an index condition has one operand, so center
 * and radius travel together. People write simhash_within.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/sortsupport.h"
#include "utils/varbit.h"

#include "core/join/pigeonhole.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* Say how a string that is no fingerprint becomes one: a part of an ereport. */
static int
hint_about(const char *str)
{
	if (strncmp(str, "\\x", 2) == 0)
		return errhint("Cast bytes by way of bytea: x::bytea::simhash64.");
	if (strspn(str, "01") == SIMHASH64_BITS && strlen(str) == SIMHASH64_BITS)
		return errhint(
			"Cast binary digits by way of bit: x::bit(64)::simhash64.");
	switch (simdup_hash_form(str, strlen(str)))
	{
		case SIMDUP_HASH_PREFIXED:
			return errhint(
				"Leave out the prefix, and write leading zeros: lpad(substr(x, 3), 16, '0')::simhash64.");
		case SIMDUP_HASH_SHORT:
			if (strspn(str, "0123456789") == strlen(str))
				return errhint(
					"Cast a decimal number by way of numeric: x::numeric::simhash64. Hexadecimal digits need leading zeros: lpad(x, 16, '0')::simhash64.");
			return errhint(
				"The value has fewer than 16 digits. Write leading zeros: lpad(x, 16, '0')::simhash64.");
		case SIMDUP_HASH_UNSIGNED:
			return errhint(
				"Cast a decimal number by way of numeric: x::numeric::simhash64.");
		case SIMDUP_HASH_NEGATIVE:
			return errhint(
				"Cast a signed number by way of bigint: x::bigint::simhash64.");
		default:
			return errhint(
				"A fingerprint is 16 hexadecimal digits. Write simhash('text') or minhash64('text') for that of a text.");
	}
}

PG_FUNCTION_INFO_V1(simdup_simhash64_in);
/* Read exactly 16 hex digits, as pg_lsn_in reads its own form. */
Datum
simdup_simhash64_in(PG_FUNCTION_ARGS)
{
	const char *str = PG_GETARG_CSTRING(0);
	uint64 fp;

	if (!simdup_read_fingerprint(str, &fp))
		ereturn(fcinfo->context, (Datum) 0,
				errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s: \"%s\"", "simhash64",
					   str),
				hint_about(str));

	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_out);
Datum
simdup_simhash64_out(PG_FUNCTION_ARGS)
{
	char *str = palloc(SIMDUP_HEX_DIGITS + 1);

	simdup_write_fingerprint(PG_GETARG_SIMHASH64(0), str);
	str[SIMDUP_HEX_DIGITS] = '\0';

	PG_RETURN_CSTRING(str);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_sortsupport);
Datum
simdup_simhash64_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	/* tuplesort specialises on this comparator; without one it calls simhash64_cmp */
#if SIZEOF_DATUM >= 8
	ssup->comparator = ssup_datum_unsigned_cmp;
#else
	(void) ssup;
#endif
	PG_RETURN_VOID();
}

/* Casts: the same 64 bits, the most significant first. */

static uint64
fp_from_bytes(const void *bytes)
{
	uint64 fp;

	memcpy(&fp, bytes, sizeof(fp));
	return pg_ntoh64(fp);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_from_bit);
Datum
simdup_simhash64_from_bit(PG_FUNCTION_ARGS)
{
	VarBit *bits = PG_GETARG_VARBIT_P(0);

	if (VARBITLEN(bits) != SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot cast bit string to type %s", "simhash64"),
				errdetail("The bit string has %d bits, a fingerprint has %d.",
						  VARBITLEN(bits), SIMHASH64_BITS));
	PG_RETURN_SIMHASH64(fp_from_bytes(VARBITS(bits)));
}

PG_FUNCTION_INFO_V1(simdup_simhash64_to_bit);
Datum
simdup_simhash64_to_bit(PG_FUNCTION_ARGS)
{
	uint64 fp = pg_hton64(PG_GETARG_SIMHASH64(0));
	int size = VARBITTOTALLEN(SIMHASH64_BITS);
	VarBit *bits = palloc0(size);

	SET_VARSIZE(bits, size);
	VARBITLEN(bits) = SIMHASH64_BITS;
	memcpy(VARBITS(bits), &fp, sizeof(fp));
	PG_RETURN_VARBIT_P(bits);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_from_bytea);
Datum
simdup_simhash64_from_bytea(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	int len = (int) VARSIZE_ANY_EXHDR(bytes);

	if (len != SIMHASH64_BITS / 8)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot cast bytea to type %s", "simhash64"),
				errdetail("The value has %d bytes, a fingerprint has %d.", len,
						  SIMHASH64_BITS / 8));
	PG_RETURN_SIMHASH64(fp_from_bytes(VARDATA_ANY(bytes)));
}

PG_FUNCTION_INFO_V1(simdup_simhash64_from_numeric);
/* Read an unsigned number of 64 bits, as other databases have them. */
Datum
simdup_simhash64_from_numeric(PG_FUNCTION_ARGS)
{
	char *str =
		DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0)));
	char *end;
	uint64 fp;

	errno = 0;
	fp = strtoull(str, &end, 10);
	/* zeros behind the point add nothing */
	if (*end == '.')
		end += 1 + strspn(end + 1, "0");
	if (errno != 0 || *end != '\0' || *str < '0' || *str > '9')
		ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("value \"%s\" is out of range for type %s", str,
					   "simhash64"),
				errhint(
					"A fingerprint is an integer from 0 to 18446744073709551615. Cast a signed number by way of bigint."));
	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_simhash_distance);
Datum
simdup_simhash_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(
		simdup_hamming64(PG_GETARG_SIMHASH64(0), PG_GETARG_SIMHASH64(1)));
}

/*
 * simhash_blocks: a fingerprint as the array that GIN's array operators can search
 * (Manku et al. 2007)
 */

/* A block of half the bits and its index fit in a bigint. 16 is k = 15. */
#define SIMHASH_MIN_BLOCKS 2
#define SIMHASH_MAX_BLOCKS 16

PG_FUNCTION_INFO_V1(simdup_simhash_blocks);
Datum
simdup_simhash_blocks(PG_FUNCTION_ARGS)
{
	uint64 fp = PG_GETARG_SIMHASH64(0);
	int n = simdup_check_range(PG_GETARG_INT32(1), SIMHASH_MIN_BLOCKS,
							   SIMHASH_MAX_BLOCKS, "number of blocks");
	uint64 blocks[SIMHASH_MAX_BLOCKS];

	for (int i = 0; i < n; i++)
	{
		uint64 value = simdup_block_bits(fp, simdup_block_start(i, n),
										 simdup_block_start(i + 1, n));

		blocks[i] = (uint64) i << 32 | value;
	}

	PG_RETURN_ARRAYTYPE_P(simdup_make_array(blocks, n, INT8OID));
}

/* Pieces whose rows one machine holds: see core/join/pigeonhole.h. */
#define MAX_PIECES 4096

PG_FUNCTION_INFO_V1(simdup_simhash_pieces);
/* Return simhash_pieces(fp, max_distance, n). */
Datum
simdup_simhash_pieces(PG_FUNCTION_ARGS)
{
	int max_distance = simdup_check_max_distance(fcinfo, 1);
	SimdupPieces pieces = {.n_blocks = max_distance + 1};
	uint32 list[SIMDUP_MAX_PIECE_BLOCKS];

	pieces.n = (uint32) simdup_check_range(PG_GETARG_INT32(2), 1, MAX_PIECES,
										   "number of pieces");
	PG_RETURN_ARRAYTYPE_P(
		simdup_make_array(list,
						  simdup_pieces_of(&pieces, PG_GETARG_SIMHASH64(0),
										   list),
						  INT4OID));
}

/* simhash_ball */

static int
check_radius(int radius)
{
	return simdup_check_range(radius, 0, SIMHASH64_BITS, "radius");
}

static Datum
ball_datum(uint64 center, int64 radius)
{
	SimhashBall *ball = palloc(sizeof(SimhashBall));

	ball->center = center;
	ball->radius = radius;
	return PointerGetDatum(ball);
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
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("%s must be between %d and %d", "radius", 0,
					   SIMHASH64_BITS),
				errdetail("The value given is %.*s.", (int) ball.radius_len,
						  ball.radius_str));

	return ball_datum(ball.center, ball.radius);
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

	return ball_datum(center, check_radius(radius));
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
	return ball_datum(PG_GETARG_SIMHASH64(0), check_radius(PG_GETARG_INT32(1)));
}

/* Membership */

PG_FUNCTION_INFO_V1(simdup_simhash_in_ball);
Datum
simdup_simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(
		simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(1), PG_GETARG_SIMHASH64(0)));
}

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
	int radius = PG_GETARG_INT32(2);

	if (!simhash_radius_is_valid(radius))
		(void) check_radius(radius);
	PG_RETURN_BOOL(simdup_hamming64(PG_GETARG_SIMHASH64(0),
									PG_GETARG_SIMHASH64(1)) <= radius);
}

/* Mutual membership, and the value that the index stores for a ball */

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
