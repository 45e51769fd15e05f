/*
 * simhash.c
 *	  Fingerprints of texts, and what they saw.
 */
#include "postgres.h"
#include "compat.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "core/host.h"
#include "text/profile.h"
#include "type/simhash64.h"

/* Add the features of the content at argument 0. */
static void
add_content(FunctionCallInfo fcinfo, const SimdupProfile *profile,
			SimdupSum *sum)
{
	SimdupFeatures features;

	simdup_collect_features(&features, profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), sum);
	simdup_features_free(&features);
}

/* The fingerprint of the content at argument 0. */
static Datum
fingerprint_content(FunctionCallInfo fcinfo, const SimdupProfile *profile)
{
	SimdupSum sum;

	simdup_sum_init(&sum);
	if (!PG_ARGISNULL(0))
		add_content(fcinfo, profile, &sum);
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile->ties);
}

PG_FUNCTION_INFO_V1(simhash);
/* simhash(content, n_features, tokenizer, weighting, hash, ties) */
Datum
simhash(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = 4,
													   .ties = 5});

	return fingerprint_content(fcinfo, &profile);
}

PG_FUNCTION_INFO_V1(simdup_simhash_tokenizer);
/*
 * simhash(content, tokenizer_name). NULL is the default tokenizer: simhash(content,
 * NULL) meant no limit of features before this form existed.
 */
Datum
simdup_simhash_tokenizer(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo,
						   (SimdupProfileArgs){.n_features = -1,
											   .tokenizer =
												   PG_ARGISNULL(1) ? -1 : 1,
											   .weighting = -1,
											   .hash = -1,
											   .ties = -1});

	return fingerprint_content(fcinfo, &profile);
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
