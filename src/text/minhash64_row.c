/*
 * minhash64_row.c
 *	  Fingerprints of rows by minhash64: a long text and short fields.
 *
 * A field that differs should separate two rows by the same distance, whether
 * their texts are long or short. So the number of a field's elements is a fixed
 * share of the number of the content's.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "core/hash.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/profile.h"
#include "text/shingling.h"
#include "type/simhash64.h"

/* The step between the elements of a field. */
#define FIELD_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Elements of a field that are made together. */
#define FIELD_STRETCH 256

/* A row of fields larger than this many contents is a mistake. */
#define MAX_FIELD_SHARE 1000.0

static double
check_field_share(double share)
{
	if (!(share >= 0 && share <= MAX_FIELD_SHARE))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_share must be between 0 and %g", MAX_FIELD_SHARE),
				errdetail("The value given is %g.", share));
	return share;
}

/* A row in the making. */
typedef struct MinhashRow
{
	SimdupSketch sketch;
	SimdupHashes elements; /* of the content */
	SimdupFewest fewest;
} MinhashRow;

/* A SimdupElementSink. */
static void
add_to_row(void *arg, const uint64_t *hashes, size_t n)
{
	MinhashRow *row = arg;

	simdup_sketch_add(&row->sketch, hashes, n);
	simdup_fewest_add(&row->fewest, hashes, n);
	for (size_t i = 0; i < n; i++)
		if (!simdup_hashes_add(&row->elements, hashes[i]))
			simdup_too_many_shingles();
}

/* Add n elements of a field, whose hash this is. */
static void
add_field_elements(SimdupSketch *sketch, uint64 hash, uint64 count)
{
	uint64_t elements[FIELD_STRETCH];
	size_t n = 0;

	for (uint64 j = 1; j <= count; j++)
	{
		elements[n++] = simdup_mix64(hash ^ j * FIELD_SEED);
		if (n == FIELD_STRETCH || j == count)
		{
			simdup_sketch_add(sketch, elements, n);
			n = 0;
		}
	}
}

/* Add the fields: each at least one element, as many as its share of the content's. */
static void
add_fields(MinhashRow *row, ArrayType *fields, double field_share)
{
	double share = ceil(field_share * (double) row->elements.n);
	uint64 count = share < 1 ? 1 : (uint64) share;
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(fields, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
	{
		SimdupUtf8 field;
		size_t len;
		char *folded;

		if (nulls[i])
			continue;
		field = simdup_text_to_utf8(DatumGetTextPP(values[i]));
		folded = simdup_fold_field(field.bytes, field.len, &len);
		if (len > 0)
			add_field_elements(&row->sketch, simdup_city64(folded, len), count);
		simdup_free(folded);
	}
}

static void
add_content(MinhashRow *row, SimdupFoldedShingling shingling, text *content)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(content);

	simdup_folded_elements(shingling, utf8.bytes, utf8.len, add_to_row, row);
	simdup_hashes_unique(&row->elements);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_row);
/* minhash64_row(content, fields, field_share, w, unit, min_features) */
Datum
simdup_minhash64_row(PG_FUNCTION_ARGS)
{
	SimdupFoldedShingling shingling = simdup_get_folded_shingling(fcinfo, 3, 4);
	MinhashRow row = {0};
	const uint64_t *keys;
	double field_share;
	uint64 fp = 0;

	simdup_check_not_null(PG_ARGISNULL(2), "field_share");
	field_share = check_field_share(PG_GETARG_FLOAT8(2));
	simdup_check_not_null(PG_ARGISNULL(5), "min_features");
	simdup_fewest_set(&row.fewest, PG_GETARG_INT32(5));
	simdup_sketch_begin(&row.sketch, SIMDUP_MINHASH64_BINS);
	if (!PG_ARGISNULL(0))
		add_content(&row, shingling, PG_GETARG_TEXT_PP(0));
	if (!PG_ARGISNULL(1))
		add_fields(&row, PG_GETARG_ARRAYTYPE_P(1), field_share);
	simdup_hashes_free(&row.elements);
	keys =
		row.fewest.n < row.fewest.min ? NULL : simdup_sketch_keys(&row.sketch);
	if (keys != NULL)
		fp = simdup_sketch_fingerprint(keys);
	simdup_sketch_free(&row.sketch);
	if (keys == NULL)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}
