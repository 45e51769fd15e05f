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

#include "utils/builtins.h"

#include "core/hash.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/minhash64_row.h"
#include "text/shingling.h"

/* The step between the elements of a field. */
#define FIELD_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Elements of a field that are made together. */
#define FIELD_STRETCH 256

/* A row of fields larger than this many contents is a mistake. */
#define MAX_FIELD_SHARE 1000.0

/* The default options, in SQL as in triggers. */
#define DEFAULT_FIELD_SHARE 0.25

static double
check_field_share(double share)
{
	if (!(share >= 0 && share <= MAX_FIELD_SHARE))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_share must be between 0 and %g", MAX_FIELD_SHARE),
				errdetail("The value given is %g.", share));
	return share;
}

static void
begin(SimdupFingerprinter *self)
{
	SimdupMinhashRow *row = (SimdupMinhashRow *) self;

	row->elements = (SimdupHashes){0};
	row->fields = (SimdupHashes){0};
	simdup_sketch_begin(&row->sketch, SIMDUP_MINHASH64_BINS);
	row->fewest.n = 0;
}

/* A SimdupElementSink. */
static void
add_to_row(void *arg, const uint64_t *hashes, size_t n)
{
	SimdupMinhashRow *row = arg;

	simdup_sketch_add(&row->sketch, hashes, n);
	simdup_fewest_add(&row->fewest, hashes, n);
	if (row->base.content_only)
		return;
	for (size_t i = 0; i < n; i++)
		if (!simdup_hashes_add(&row->elements, hashes[i]))
			simdup_too_many_shingles();
}

static void
add_content(SimdupFingerprinter *self, SimdupUtf8 content)
{
	SimdupMinhashRow *row = (SimdupMinhashRow *) self;

	simdup_folded_elements(row->shingling, content.bytes, content.len,
						   add_to_row, row);
	simdup_hashes_unique(&row->elements);
}

static void
add_field(SimdupFingerprinter *self, SimdupUtf8 field)
{
	SimdupMinhashRow *row = (SimdupMinhashRow *) self;
	size_t len;
	char *folded = simdup_fold_field(field.bytes, field.len, &len);

	if (len > 0)
		simdup_hashes_add(&row->fields, simdup_city64(folded, len));
	simdup_free(folded);
}

/* A field's elements: at least one, as many as its share of the content's. */
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

static bool
end(SimdupFingerprinter *self, uint64 *fp)
{
	SimdupMinhashRow *row = (SimdupMinhashRow *) self;
	const uint64_t *keys;

	for (size_t i = 0; i < row->fields.n; i++)
		add_field_elements(row, row->fields.hashes[i]);
	simdup_hashes_free(&row->elements);
	simdup_hashes_free(&row->fields);
	keys = row->fewest.n < row->fewest.min ? NULL
										   : simdup_sketch_keys(&row->sketch);
	if (keys != NULL)
		*fp = simdup_sketch_fingerprint(keys);
	simdup_sketch_free(&row->sketch);
	return keys != NULL;
}

static bool
set_option(SimdupFingerprinter *self, const char *name, const char *value)
{
	SimdupMinhashRow *row = (SimdupMinhashRow *) self;

	if (strcmp(name, "w") == 0)
		row->shingling.w = simdup_check_folded_width(pg_strtoint32(value));
	else if (strcmp(name, "unit") == 0)
		row->shingling.unit = simdup_parse_folded_unit(cstring_to_text(value));
	else if (strcmp(name, "field_share") == 0)
		row->field_share = check_field_share(DatumGetFloat8(
			DirectFunctionCall1(float8in, CStringGetDatum(value))));
	else if (strcmp(name, "min_features") == 0)
		simdup_fewest_set(&row->fewest, pg_strtoint32(value));
	else
		return false;
	return true;
}

static void
init(SimdupMinhashRow *row)
{
	*row = (SimdupMinhashRow){.base = {begin, add_content, add_field, end,
									   set_option, false},
							  .shingling = simdup_default_shingling,
							  .field_share = DEFAULT_FIELD_SHARE};
}

void
simdup_minhash_row_get(SimdupMinhashRow *row, FunctionCallInfo fcinfo,
					   int field_share, int w, int unit)
{
	init(row);
	simdup_check_not_null(PG_ARGISNULL(field_share), "field_share");
	row->field_share = check_field_share(PG_GETARG_FLOAT8(field_share));
	row->shingling = simdup_get_folded_shingling(fcinfo, w, unit);
	if (PG_NARGS() > unit + 1)
	{
		simdup_check_not_null(PG_ARGISNULL(unit + 1), "min_features");
		simdup_fewest_set(&row->fewest, PG_GETARG_INT32(unit + 1));
	}
	begin(&row->base);
}

/* Like simhash_row.c, because each kind of fingerprint has these functions. */
SimdupFingerprinter *
simdup_minhash_row_make(void)
{
	SimdupMinhashRow *row = palloc(sizeof(SimdupMinhashRow));

	init(row);
	return &row->base;
}

PG_FUNCTION_INFO_V1(simdup_minhash64_row);
/* minhash64_row(content, fields, field_share, w, unit, min_features) */
Datum
simdup_minhash64_row(PG_FUNCTION_ARGS)
{
	SimdupMinhashRow row;

	simdup_minhash_row_get(&row, fcinfo, 2, 3, 4);
	return simdup_row_fingerprint(&row.base, fcinfo);
}
