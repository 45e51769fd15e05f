/*
 * simhash_row.c
 *	  The simhash of a row: a long text, and short fields as one feature each.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"

#include "core/field.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/simhash_row.h"

/* What field_weight is where nobody says, in SQL as in triggers. */
#define DEFAULT_FIELD_WEIGHT 2

static uint64
check_field_weight(int weight)
{
	if (weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_weight must not be negative"),
				errdetail("The value given is %d.", weight));
	return (uint64) weight;
}

static void
begin(SimdupFingerprinter *self)
{
	SimdupSimhashRow *row = (SimdupSimhashRow *) self;

	/* ICU's word breaks must not be kept from row to row: see icu.h */
	if (row->profile.tokenizer.kind == SIMDUP_TOKENIZER_SEGMENTS &&
		row->tokenizer != NULL)
		row->profile.tokenizer = simdup_parse_tokenizer(row->tokenizer);
	simdup_sum_init(&row->sum);
}

static void
add_content(SimdupFingerprinter *self, SimdupUtf8 content)
{
	SimdupSimhashRow *row = (SimdupSimhashRow *) self;
	SimdupFeatures features;

	simdup_collect_features(&features, &row->profile, content, &row->sum);
	simdup_features_free(&features);
}

static void
add_field(SimdupFingerprinter *self, SimdupUtf8 field)
{
	SimdupSimhashRow *row = (SimdupSimhashRow *) self;
	char *folded = simdup_alloc(field.len * SIMDUP_FIELD_GROWTH + 1);
	size_t len = simdup_lower_field(field.bytes, field.len, folded);

	if (len > 0)
		simdup_sum_add(&row->sum, simdup_hash64(row->profile.hash, folded, len),
					   row->field_weight);
	simdup_free(folded);
}

static bool
end(SimdupFingerprinter *self, uint64 *fp)
{
	SimdupSimhashRow *row = (SimdupSimhashRow *) self;
	const SimdupCounts *counts = simdup_sum_finish(&row->sum);

	if (simdup_counts_empty(counts))
		return false;
	*fp = simdup_counts_signs(counts, row->profile.ties);
	return true;
}

static bool
set_option(SimdupFingerprinter *self, const char *name, const char *value)
{
	SimdupSimhashRow *row = (SimdupSimhashRow *) self;
	const text *string = cstring_to_text(value);

	if (strcmp(name, "tokenizer") == 0)
	{
		row->profile.tokenizer = simdup_parse_tokenizer(string);
		row->tokenizer = string;
	}
	else if (strcmp(name, "weighting") == 0)
		row->profile.weighting = simdup_parse_weighting(string);
	else if (strcmp(name, "hash") == 0)
		row->profile.hash = simdup_parse_hash(string);
	else if (strcmp(name, "n_features") == 0)
		simdup_limit_features(&row->profile, pg_strtoint32(value));
	else if (strcmp(name, "field_weight") == 0)
		row->field_weight = check_field_weight(pg_strtoint32(value));
	else if (strcmp(name, "ties") == 0)
	{
		if (!parse_bool(value, &row->profile.ties))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("ties must be true or false"),
					errdetail("The value given is \"%s\".", value));
	}
	else
		return false;
	return true;
}

void
simdup_simhash_row_init(SimdupSimhashRow *row)
{
	row->base = (SimdupFingerprinter){begin, add_content, add_field,
									  end,	 set_option,  false};
	row->profile = simdup_default_profile;
	row->tokenizer = NULL;
	row->field_weight = DEFAULT_FIELD_WEIGHT;
	simdup_sum_init(&row->sum);
}

void
simdup_simhash_row_get(SimdupSimhashRow *row, FunctionCallInfo fcinfo,
					   int field_weight, SimdupProfileArgs args)
{
	simdup_simhash_row_init(row);
	row->profile = simdup_get_profile(fcinfo, args);
	simdup_check_not_null(PG_ARGISNULL(field_weight), "field_weight");
	row->field_weight = check_field_weight(PG_GETARG_INT32(field_weight));
}

SimdupFingerprinter *
simdup_simhash_row_make(void)
{
	SimdupSimhashRow *row = palloc0(sizeof(SimdupSimhashRow));

	simdup_simhash_row_init(row);
	return &row->base;
}

PG_FUNCTION_INFO_V1(simhash_row);
/* simhash_row(content, fields, field_weight, n_features, tokenizer, ...) */
Datum
simhash_row(PG_FUNCTION_ARGS)
{
	SimdupSimhashRow row;

	simdup_simhash_row_get(&row, fcinfo, 2,
						   (SimdupProfileArgs){.n_features = 3,
											   .tokenizer = 4,
											   .weighting = 5,
											   .hash = 6,
											   .ties = 7});
	return simdup_row_fingerprint(&row.base, fcinfo);
}
