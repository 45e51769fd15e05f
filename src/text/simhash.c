/*
 * simhash.c
 *	  Simhash of texts, rows and ready-made features, and the features behind it.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>
#include "catalog/pg_type.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "core/fingerprint/field.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/profile.h"
#include "type/simhash64.h"

/* Add the features of the content at argument 0, if there is one. */
static void
add_content(FunctionCallInfo fcinfo, const SimdupProfile *profile,
			SimdupSum *sum)
{
	SimdupTokenCounts features;

	if (PG_ARGISNULL(0))
		return;
	simdup_collect_features(&features, profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), sum);
	simdup_token_counts_free(&features);
}

PG_FUNCTION_INFO_V1(simdup_simhash);
/* Return simhash(content, n_features, tokenizer, weighting, hash, ties). */
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

PG_FUNCTION_INFO_V1(simdup_simhash_row);
/* Return simhash_row(content, fields, field_weight, n_features, tokenizer, ...). */
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
	SimdupUtf8 *fields = NULL;
	size_t n = 0;
	SimdupSum sum;

	simdup_sum_init(&sum);
	add_content(fcinfo, &profile, &sum);
	if (!PG_ARGISNULL(1))
		fields = simdup_utf8_texts(PG_GETARG_ARRAYTYPE_P(1), &n);
	for (size_t i = 0; i < n; i++)
		add_field(&sum, profile.hash, weight, fields[i]);
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile.ties);
}

PG_FUNCTION_INFO_V1(simdup_features);
/* Return simdup_features(content, n_features, tokenizer, weighting). */
Datum
simdup_features(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = -1,
													   .ties = -1});
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupTokenCounts features;

	if (PG_ARGISNULL(0))
		return (Datum) 0;

	simdup_collect_features(&features, &profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), NULL);
	simdup_token_counts_sort(&features);
	for (size_t i = 0; i < features.count; i++)
	{
		SimdupTokenCount *feature = &features.features[i];
		text *token = simdup_utf8_to_text(feature->bytes, feature->len);
		Datum values[2] = {PointerGetDatum(token),
						   Int64GetDatum(
							   simdup_weight(profile.weighting, feature->tf))};
		bool nulls[2] = {false, false};

		simdup_put_result(result, values, nulls);
		pfree(token);
		simdup_check_interrupts();
	}
	simdup_token_counts_free(&features);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_hash);
/* Return simdup_hash(text, algorithm). */
Datum
simdup_hash(PG_FUNCTION_ARGS)
{
	SimdupUtf8 value = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupHash hash = simdup_parse_hash(PG_GETARG_TEXT_PP(1));

	PG_RETURN_INT64((int64) simdup_hash64(hash, value.bytes, value.len));
}

/* Weights are counted in units of 2^-16. In units they must fit 63 bits. */
#define WEIGHT_UNIT 65536.0
#define WEIGHT_LIMIT 140737488355328.0 /* 2^47 */

uint64
simdup_fixed_weight(float8 weight, int position)
{
	if (isnan(weight) || isinf(weight) || weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must be a finite number that is not negative"),
				position ? errdetail("The weight at position %d is %s.",
									 position, float8out_internal(weight))
						 : errdetail("The weight given is %s.",
									 float8out_internal(weight)));
	if (weight >= WEIGHT_LIMIT)
		ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("weight out of range"),
				position
					? errdetail("The weight at position %d is %s; it must be less than 2^47.",
								position, float8out_internal(weight))
					: errdetail("The weight given is %s; it must be less than 2^47.",
								float8out_internal(weight)));
	return (uint64) rint(weight * WEIGHT_UNIT);
}

/* Fingerprints of a tsvector's lexemes, or of features with weights. */

/* Collect the lexemes, each as often as it has positions (once if stripped). */
static void
collect_lexemes(TSVector vector, SimdupTokenCounts *features)
{
	WordEntry *entries = ARRPTR(vector);

	for (int i = 0; i < vector->size; i++)
	{
		WordEntry *entry = &entries[i];
		int positions = entry->haspos ? POSDATALEN(vector, entry) : 1;
		char *lexeme = STRPTR(vector) + entry->pos;
		SimdupUtf8 utf8 = simdup_bytes_to_utf8(lexeme, entry->len);

		simdup_token_counts_add_distinct(features, utf8.bytes, utf8.len,
										 (uint32) Max(positions, 1));
		if (utf8.bytes != lexeme)
			pfree(unconstify(char *, utf8.bytes));
		simdup_check_interrupts();
	}
}

PG_FUNCTION_INFO_V1(simdup_simhash_tsvector);
/* Return simhash(vector, n_features, weighting, hash, ties). */
Datum
simdup_simhash_tsvector(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = -1,
													   .weighting = 2,
													   .hash = 3,
													   .ties = 4});
	SimdupTokenCounts features;
	SimdupSum sum;
	TSVector vector;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	vector = PG_GETARG_TSVECTOR(0);
	simdup_token_counts_begin(&features, profile.hash, profile.weighting, NULL,
							  (char *) vector, VARSIZE(vector));
	collect_lexemes(vector, &features);
	if (profile.limited)
		simdup_token_counts_keep_top(&features, (size_t) profile.n_features);

	simdup_sum_init(&sum);
	simdup_token_counts_sum(&features, &sum);
	simdup_token_counts_free(&features);
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile.ties);
}

/* Return the features at an argument, an array without NULLs. */
static SimdupUtf8 *
get_features(FunctionCallInfo fcinfo, int argument, size_t *n)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);

	simdup_check_array(array, "features");
	return simdup_utf8_texts(array, n);
}

PG_FUNCTION_INFO_V1(simdup_simhash_weighted);
/* Return simhash(features, weights, hash, ties). */
Datum
simdup_simhash_weighted(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = -1,
													   .tokenizer = -1,
													   .weighting = -1,
													   .hash = 2,
													   .ties = 3});
	SimdupCounters counts = {0};
	const float8 *weights = NULL;
	SimdupUtf8 *features;
	size_t n;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	features = get_features(fcinfo, 0, &n);
	if (!PG_ARGISNULL(1))
	{
		int n_weights;

		weights = simdup_array_elements(PG_GETARG_ARRAYTYPE_P(1), "weights",
										&n_weights);
		if ((size_t) n_weights != n)
			ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("features and weights must have the same length"),
					errdetail("There are %d features and %d weights, so position %d lacks its partner.",
							  (int) n, n_weights, Min((int) n, n_weights) + 1));
	}

	for (size_t i = 0; i < n; i++)
	{
		simdup_counters_add(&counts,
							simdup_hash64(profile.hash, features[i].bytes,
										  features[i].len),
							simdup_fixed_weight(weights != NULL ? weights[i]
																: 1,
												(int) i + 1));
		simdup_check_interrupts();
	}
	return simdup_fingerprint(fcinfo, &counts, profile.ties);
}

/* Add a feature as it is to a minhash64 sketch. */
static void
add_feature(SimdupSketch *sketch, SimdupUtf8 feature)
{
	uint64_t hash = simdup_city64(feature.bytes, feature.len);

	simdup_sketch_add(sketch, &hash, 1);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_features);
/* Return minhash64(features). */
Datum
simdup_minhash64_features(PG_FUNCTION_ARGS)
{
	size_t n;
	SimdupUtf8 *features = get_features(fcinfo, 0, &n);
	SimdupSketch sketch;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	for (size_t i = 0; i < n; i++)
		add_feature(&sketch, features[i]);
	return simdup_minhash64_result(fcinfo, &sketch);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_tsvector);
/* Return minhash64(vector). */
Datum
simdup_minhash64_tsvector(PG_FUNCTION_ARGS)
{
	TSVector vector = PG_GETARG_TSVECTOR(0);
	WordEntry *entries = ARRPTR(vector);
	SimdupSketch sketch;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	for (int i = 0; i < vector->size; i++)
		add_feature(&sketch,
					simdup_bytes_to_utf8(STRPTR(vector) + entries[i].pos,
										 entries[i].len));
	return simdup_minhash64_result(fcinfo, &sketch);
}
