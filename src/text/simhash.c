/*
 * simhash.c
 *	  Simhash of texts and rows, and the features behind it.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "core/folded.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/profile.h"

/* Add the features of the content at argument 0, if there is one. */
static void
add_content(FunctionCallInfo fcinfo, const SimdupProfile *profile,
			SimdupSum *sum)
{
	SimdupFeatures features;

	if (PG_ARGISNULL(0))
		return;
	simdup_collect_features(&features, profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), sum);
	simdup_features_free(&features);
}

PG_FUNCTION_INFO_V1(simdup_simhash);
/* simhash(content, n_features, tokenizer, weighting, hash, ties) */
Datum
simdup_simhash(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = 4,
													   .ties = 5});
	SimdupSum sum;

	simdup_sum_init(&sum);
	add_content(fcinfo, &profile, &sum);
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile.ties);
}

static uint64
get_field_weight(FunctionCallInfo fcinfo, int argno)
{
	int weight;

	simdup_check_not_null(PG_ARGISNULL(argno), "field_weight");
	weight = PG_GETARG_INT32(argno);
	if (weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_weight must not be negative"),
				errdetail("The value given is %d.", weight));
	return (uint64) weight;
}

/* Add a field as one feature; a blank field adds nothing. */
static void
add_field(SimdupSum *sum, SimdupHash hash, uint64 weight, SimdupUtf8 field)
{
	char *folded = simdup_alloc(field.len * SIMDUP_FIELD_GROWTH + 1);
	size_t len = simdup_lower_field(field.bytes, field.len, folded);

	if (len > 0)
		simdup_sum_add(sum, simdup_hash64(hash, folded, len), weight);
	simdup_free(folded);
}

static void
add_fields(SimdupSum *sum, SimdupHash hash, uint64 weight, ArrayType *fields)
{
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(fields, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			add_field(sum, hash, weight,
					  simdup_text_to_utf8(DatumGetTextPP(values[i])));
}

PG_FUNCTION_INFO_V1(simdup_simhash_row);
/* simhash_row(content, fields, field_weight, n_features, tokenizer, ...) */
Datum
simdup_simhash_row(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 3,
													   .tokenizer = 4,
													   .weighting = 5,
													   .hash = 6,
													   .ties = 7});
	uint64 weight = get_field_weight(fcinfo, 2);
	SimdupSum sum;

	simdup_sum_init(&sum);
	add_content(fcinfo, &profile, &sum);
	if (!PG_ARGISNULL(1))
		add_fields(&sum, profile.hash, weight, PG_GETARG_ARRAYTYPE_P(1));
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile.ties);
}

PG_FUNCTION_INFO_V1(simdup_features);
/* simdup_features(content, n_features, tokenizer, weighting) */
Datum
simdup_features(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = -1,
													   .ties = -1});
	ReturnSetInfo *result;
	SimdupFeatures features;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	simdup_collect_features(&features, &profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), NULL);
	simdup_features_sort(&features);
	for (size_t i = 0; i < features.count; i++)
	{
		SimdupFeature *feature = &features.features[i];
		text *token = simdup_utf8_to_text(feature->bytes, feature->len);
		Datum values[2] = {PointerGetDatum(token),
						   Int64GetDatum(
							   simdup_weight(profile.weighting, feature->tf))};
		bool nulls[2] = {false, false};

		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(token);
		simdup_check_interrupts();
	}
	simdup_features_free(&features);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_hash);
/* simdup_hash(text, algorithm) */
Datum
simdup_hash(PG_FUNCTION_ARGS)
{
	SimdupUtf8 value = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupHash hash = simdup_parse_hash(PG_GETARG_TEXT_PP(1));

	PG_RETURN_INT64((int64) simdup_hash64(hash, value.bytes, value.len));
}
