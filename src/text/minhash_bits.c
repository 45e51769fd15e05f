/*
 * minhash_bits.c
 *	  Sketches of many one-bit MinHashes: a second opinion on a pair that needs
 *	  no text.
 */
#include "postgres.h"
#include "compat.h"

#include "port/pg_bitutils.h"
#include "utils/varbit.h"

#include "core/statistics.h"
#include "text/minhash64.h"

#define MIN_BITS 64
#define MAX_BITS 8192

/* The lowest bit of each key, bin 0's first. */
static VarBit *
keys_to_varbit(const uint64_t *keys, int n_bits)
{
	Size size = VARBITTOTALLEN(n_bits);
	VarBit *bits = palloc0(size);

	SET_VARSIZE(bits, size);
	VARBITLEN(bits) = n_bits;
	for (int i = 0; i < n_bits; i++)
		VARBITS(bits)[i / 8] |= (keys[i] & 1) << (7 - i % 8);
	return bits;
}

PG_FUNCTION_INFO_V1(simdup_minhash_bits);
/* minhash_bits(content, n_bits, w, unit) */
Datum
simdup_minhash_bits(PG_FUNCTION_ARGS)
{
	SimdupFoldedShingling shingling = simdup_get_folded_shingling(fcinfo, 2, 3);
	int n_bits = PG_GETARG_INT32(1);
	SimdupSketch sketch;
	const uint64_t *keys;
	VarBit *bits;

	if (n_bits < MIN_BITS || n_bits > MAX_BITS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("number of bits must be between %d and %d", MIN_BITS,
					   MAX_BITS),
				errdetail("The number given is %d.", n_bits));
	simdup_sketch_begin(&sketch, n_bits);
	simdup_sketch_text(&sketch, shingling,
					   simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)));
	keys = simdup_sketch_keys(&sketch);
	if (keys == NULL)
		PG_RETURN_NULL();
	bits = keys_to_varbit(keys, n_bits);
	simdup_sketch_free(&sketch);
	PG_RETURN_VARBIT_P(bits);
}

void
simdup_check_sketch_bits(int a, int b)
{
	if (a != b)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("sketches must have the same number of bits"),
				errdetail("They have %d and %d.", a, b));
	if (a == 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("sketches must not be empty"));
}

PG_FUNCTION_INFO_V1(simdup_minhash_bits_resemblance);
/* minhash_bits_resemblance(a, b) */
Datum
simdup_minhash_bits_resemblance(PG_FUNCTION_ARGS)
{
	VarBit *a = PG_GETARG_VARBIT_P(0);
	VarBit *b = PG_GETARG_VARBIT_P(1);
	int n = VARBITLEN(a);
	int distance = 0;

	simdup_check_sketch_bits(n, VARBITLEN(b));
	for (int i = 0; i < (int) VARBITBYTES(a); i++)
		distance += pg_number_of_ones[VARBITS(a)[i] ^ VARBITS(b)[i]];
	PG_RETURN_FLOAT8(simdup_agreement_resemblance(distance, n));
}
