/*
 * minhash64_row.c
 *	  Fingerprints of rows by minhash64: a long text and short fields.
 *
 * A field that differs should separate two rows by the same distance whether
 * their texts are long or short. So a field is as many elements as a fixed
 * share of the content's.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "core/hash.h"
#include "core/host.h"
#include "text/minhash64.h"
#include "text/shingling.h"

/* The step between the elements of a field. */
#define FIELD_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Elements of a field that are made together. */
#define FIELD_STRETCH 256

/* A row of fields larger than this many contents is a mistake. */
#define MAX_FIELD_SHARE 1000.0

static double
get_field_share(FunctionCallInfo fcinfo, int argno)
{
	double share;

	if (PG_ARGISNULL(argno))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", "field_share"));
	share = PG_GETARG_FLOAT8(argno);
	if (!(share >= 0 && share <= MAX_FIELD_SHARE))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_share must be between 0 and %g", MAX_FIELD_SHARE),
				errdetail("The value given is %g.", share));
	return share;
}

void
simdup_minhash_row_begin(SimdupMinhashRow *row, FunctionCallInfo fcinfo,
						 int field_share, int w, int unit)
{
	memset(row, 0, sizeof(*row));
	row->field_share = get_field_share(fcinfo, field_share);
	row->shingling = simdup_get_folded_shingling(fcinfo, w, unit);
	simdup_sketch_begin(&row->sketch, SIMDUP_MINHASH64_BINS);
}

/* A SimdupElementSink. */
static void
add_to_row(void *arg, const uint64_t *hashes, size_t n)
{
	SimdupMinhashRow *row = arg;

	simdup_sketch_add(&row->sketch, hashes, n);
	for (size_t i = 0; i < n; i++)
		if (!simdup_hashes_add(&row->elements, hashes[i]))
			simdup_too_many_shingles();
}

void
simdup_minhash_row_content(SimdupMinhashRow *row, SimdupUtf8 content)
{
	simdup_folded_elements(row->shingling, content.bytes, content.len,
						   add_to_row, row);
	simdup_hashes_unique(&row->elements);
}

void
simdup_minhash_row_field(SimdupMinhashRow *row, SimdupUtf8 field)
{
	size_t len;
	char *folded = simdup_fold_field(field.bytes, field.len, &len);

	if (len > 0)
		simdup_hashes_add(&row->fields, simdup_city64(folded, len));
	simdup_free(folded);
}

/* A field's elements, as many as the share of the content's, at least one. */
static void
add_field_elements(SimdupMinhashRow *row, uint64 hash)
{
	double share = ceil(row->field_share * (double) row->elements.n);
	uint64 count = share < 1 ? 1 : (uint64) share;
	uint64_t elements[FIELD_STRETCH];
	size_t n = 0;

	for (uint64 j = 1; j <= count; j++)
	{
		elements[n++] = simdup_mix64(hash ^ j * FIELD_SEED);
		if (n == FIELD_STRETCH || j == count)
		{
			simdup_sketch_add(&row->sketch, elements, n);
			n = 0;
		}
	}
}

Datum
simdup_minhash_row_end(FunctionCallInfo fcinfo, SimdupMinhashRow *row)
{
	for (size_t i = 0; i < row->fields.n; i++)
		add_field_elements(row, row->fields.hashes[i]);
	simdup_hashes_free(&row->elements);
	simdup_hashes_free(&row->fields);
	return simdup_minhash64_result(fcinfo, &row->sketch);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_row);
/* minhash64_row(content, fields, field_share, w, unit) */
Datum
simdup_minhash64_row(PG_FUNCTION_ARGS)
{
	SimdupMinhashRow row;

	simdup_minhash_row_begin(&row, fcinfo, 2, 3, 4);
	if (!PG_ARGISNULL(0))
		simdup_minhash_row_content(&row,
								   simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)));
	if (!PG_ARGISNULL(1))
	{
		Datum *fields;
		bool *nulls;
		int n;

		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false,
						  TYPALIGN_INT, &fields, &nulls, &n);
		for (int i = 0; i < n; i++)
			if (!nulls[i])
				simdup_minhash_row_field(&row, simdup_text_to_utf8(
												   DatumGetTextPP(fields[i])));
	}
	return simdup_minhash_row_end(fcinfo, &row);
}
