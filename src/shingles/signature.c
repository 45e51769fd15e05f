/*
 * signature.c
 *	  MinHash signatures, their similarity and their bands for a GIN index.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "funcapi.h"

#include "core/sketch.h"
#include "server/arguments.h"
#include "text/profile.h"

#define MAX_HASHES 4096

static void
check_n_hashes(int n_hashes)
{
	if (n_hashes < 1 || n_hashes > MAX_HASHES)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("number of hashes must be between 1 and %d", MAX_HASHES),
				errdetail("The number given is %d.", n_hashes));
}

PG_FUNCTION_INFO_V1(simdup_minhash_signature);
Datum
simdup_minhash_signature(PG_FUNCTION_ARGS)
{
	int n_hashes = PG_GETARG_INT32(1);
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(2), PG_GETARG_TEXT_PP(3));
	uint32 signature[MAX_HASHES];
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupHashes list = {0};

	check_n_hashes(n_hashes);
	if (!simdup_shingle_hashes(shingling.unit, shingling.w, content.bytes,
							   content.len, &list))
		simdup_too_many_shingles();
	if (list.n == 0)
		PG_RETURN_NULL();
	simdup_minhash(list.hashes, list.n, signature, n_hashes);
	simdup_hashes_free(&list);
	PG_RETURN_ARRAYTYPE_P(simdup_int4_array(signature, n_hashes));
}

/* A signature that came back from SQL. */
static const uint32 *
get_signature(ArrayType *array, int *n)
{
	const int32 *elements = simdup_int4_elements(array, "signature", n);

	if (*n == 0)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("signature must not be empty"));
	return (const uint32 *) elements;
}

PG_FUNCTION_INFO_V1(simdup_minhash_similarity);
Datum
simdup_minhash_similarity(PG_FUNCTION_ARGS)
{
	int n_a;
	int n_b;
	const uint32 *a = get_signature(PG_GETARG_ARRAYTYPE_P(0), &n_a);
	const uint32 *b = get_signature(PG_GETARG_ARRAYTYPE_P(1), &n_b);

	if (n_a != n_b)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("signatures must have the same number of hashes"),
				errdetail("They have %d and %d.", n_a, n_b));
	PG_RETURN_FLOAT8((double) simdup_minhash_equal(a, b, n_a) / n_a);
}

PG_FUNCTION_INFO_V1(simdup_minhash_bands);
Datum
simdup_minhash_bands(PG_FUNCTION_ARGS)
{
	int n;
	const uint32 *signature = get_signature(PG_GETARG_ARRAYTYPE_P(0), &n);
	int n_bands = PG_GETARG_INT32(1);
	uint64 *bands;

	if (n_bands < 1 || n_bands > n)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg(
					"number of bands must be between 1 and the number of hashes"),
				errdetail("The number given is %d, the signature has %d hashes.",
						  n_bands, n),
				errhint(
					"minhash_bands_for gives the bands for a resemblance."));
	bands = palloc((Size) n_bands * sizeof(uint64));
	simdup_band_hashes(signature, n, bands, n_bands);
	PG_RETURN_ARRAYTYPE_P(simdup_int8_array(bands, n_bands));
}

PG_FUNCTION_INFO_V1(simdup_minhash_bands_for);
/* minhash_bands_for(resemblance, n_hashes, recall) */
Datum
simdup_minhash_bands_for(PG_FUNCTION_ARGS)
{
	double resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(0), "resemblance");
	int n_hashes = PG_GETARG_INT32(1);
	double recall = simdup_check_fraction(PG_GETARG_FLOAT8(2), "recall");
	int n_bands;
	TupleDesc desc;
	Datum values[3];
	bool nulls[3] = {false, false, false};

	check_n_hashes(n_hashes);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	n_bands = simdup_choose_bands(resemblance, n_hashes, recall);
	values[0] = Int32GetDatum(n_bands);
	values[1] = Int32GetDatum(n_hashes / n_bands);
	values[2] = Float8GetDatum(
		simdup_band_recall(resemblance, n_bands, n_hashes / n_bands));
	PG_RETURN_DATUM(HeapTupleGetDatum(
		heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
