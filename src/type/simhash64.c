/*
 * simhash64.c
 *	  The type simhash64: a 64-bit fingerprint, 8 bytes by value.
 *
 * Order is unsigned, so that it is also the order of the text form. Every bit
 * pattern is a valid value: there is nothing to check on receive.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/sortsupport.h"
#include "utils/varbit.h"

#include "core/fingerprint/hamming.h"
#include "server/arguments.h"
#include "type/simhash64.h"

PG_FUNCTION_INFO_V1(simdup_simhash64_in);
/* Read exactly 16 hex digits, as pg_lsn_in reads its own form. */
Datum
simdup_simhash64_in(PG_FUNCTION_ARGS)
{
	char *str = PG_GETARG_CSTRING(0);
	uint64 fp;

	if (!simdup_read_fingerprint(str, &fp))
		ereturn(fcinfo->context, (Datum) 0,
				errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s: \"%s\"", "simhash64",
					   str),
				errhint(
					"A fingerprint is 16 hexadecimal digits. Write simhash('text') or minhash64('text') for that of a text."));

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

PG_FUNCTION_INFO_V1(simdup_simhash64_recv);
Datum
simdup_simhash64_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_SIMHASH64((uint64) pq_getmsgint64(buf));
}

PG_FUNCTION_INFO_V1(simdup_simhash64_send);
Datum
simdup_simhash64_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, PG_GETARG_SIMHASH64(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* Comparison */

#define SIMHASH64_COMPARISON(name, op) \
	PG_FUNCTION_INFO_V1(simdup_simhash64_##name); \
	Datum simdup_simhash64_##name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(PG_GETARG_SIMHASH64(0) op PG_GETARG_SIMHASH64(1)); \
	}

SIMHASH64_COMPARISON(eq, ==)
SIMHASH64_COMPARISON(ne, !=)
SIMHASH64_COMPARISON(lt, <)
SIMHASH64_COMPARISON(le, <=)
SIMHASH64_COMPARISON(gt, >)
SIMHASH64_COMPARISON(ge, >=)

PG_FUNCTION_INFO_V1(simdup_simhash64_cmp);
Datum
simdup_simhash64_cmp(PG_FUNCTION_ARGS)
{
	uint64 a = PG_GETARG_SIMHASH64(0);
	uint64 b = PG_GETARG_SIMHASH64(1);

	PG_RETURN_INT32((a > b) - (a < b));
}

#if SIZEOF_DATUM < 8
static int
simhash64_fastcmp(Datum x, Datum y, SortSupport ssup pg_attribute_unused())
{
	uint64 a = DatumGetSimhash64(x);
	uint64 b = DatumGetSimhash64(y);

	return (a > b) - (a < b);
}
#endif

PG_FUNCTION_INFO_V1(simdup_simhash64_sortsupport);
Datum
simdup_simhash64_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	/* tuplesort specialises on this very comparator for by-value datums */
#if SIZEOF_DATUM >= 8
	ssup->comparator = ssup_datum_unsigned_cmp;
#else
	ssup->comparator = simhash64_fastcmp;
#endif
	PG_RETURN_VOID();
}

/*
 * Hashing: core's int8 hash, like pg_lsn. Stored in hash indexes and hash
 * partitions, so cast in stone.
 */

PG_FUNCTION_INFO_V1(simdup_simhash64_hash);
Datum
simdup_simhash64_hash(PG_FUNCTION_ARGS)
{
	return hashint8(fcinfo);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_hash_extended);
Datum
simdup_simhash64_hash_extended(PG_FUNCTION_ARGS)
{
	return hashint8extended(fcinfo);
}

/* Casts: the same 64 bits, the most significant first. */

PG_FUNCTION_INFO_V1(simdup_simhash64_from_bit);
Datum
simdup_simhash64_from_bit(PG_FUNCTION_ARGS)
{
	VarBit *bits = PG_GETARG_VARBIT_P(0);
	uint64 fp = 0;

	if (VARBITLEN(bits) != SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot cast bit string to type %s", "simhash64"),
				errdetail("The bit string has %d bits, a fingerprint has %d.",
						  VARBITLEN(bits), SIMHASH64_BITS));
	for (int i = 0; i < SIMHASH64_BITS / 8; i++)
		fp = (fp << 8) | VARBITS(bits)[i];

	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_to_bit);
Datum
simdup_simhash64_to_bit(PG_FUNCTION_ARGS)
{
	uint64 fp = PG_GETARG_SIMHASH64(0);
	int size = VARBITTOTALLEN(SIMHASH64_BITS);
	VarBit *bits = palloc0(size);

	SET_VARSIZE(bits, size);
	VARBITLEN(bits) = SIMHASH64_BITS;
	for (int i = SIMHASH64_BITS / 8 - 1; i >= 0; i--, fp >>= 8)
		VARBITS(bits)[i] = (unsigned char) fp;

	PG_RETURN_VARBIT_P(bits);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_from_bytea);
Datum
simdup_simhash64_from_bytea(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	int len = (int) VARSIZE_ANY_EXHDR(bytes);
	uint64 fp = 0;

	if (len != SIMHASH64_BITS / 8)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot cast bytea to type %s", "simhash64"),
				errdetail("The value has %d bytes, a fingerprint has %d.", len,
						  SIMHASH64_BITS / 8));
	for (int i = 0; i < len; i++)
		fp = (fp << 8) | ((unsigned char *) VARDATA_ANY(bytes))[i];

	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_simhash64_to_bytea);
Datum
simdup_simhash64_to_bytea(PG_FUNCTION_ARGS)
{
	return simdup_simhash64_send(fcinfo);
}

/*
 * Distance. Like ball.c and simdup_simhash64_hash, because each operator and
 * cast needs a C function.
 */

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
	int n = PG_GETARG_INT32(1);
	uint64 blocks[SIMHASH_MAX_BLOCKS];

	if (n < SIMHASH_MIN_BLOCKS || n > SIMHASH_MAX_BLOCKS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("number of blocks must be between %d and %d",
					   SIMHASH_MIN_BLOCKS, SIMHASH_MAX_BLOCKS),
				errdetail("The number given is %d.", n),
				errhint(
					"Fingerprints within distance k share a block of k + 1."));

	for (int i = 0; i < n; i++)
	{
		uint64 value = simdup_block_bits(fp, simdup_block_start(i, n),
										 simdup_block_start(i + 1, n));

		blocks[i] = (uint64) i << 32 | value;
	}

	PG_RETURN_ARRAYTYPE_P(simdup_make_array(blocks, n, INT8OID));
}
