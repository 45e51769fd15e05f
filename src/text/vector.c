/*
 * vector.c
 *	  Fingerprints of ready-made features: a tsvector's lexemes, or an array of
 *	  features with weights.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "core/hash.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/weight.h"
#include "tsearch/ts_type.h"
#include "type/simhash64.h"
#include "utils/array.h"

/* The lexemes, each as often as it has positions (once if stripped). */
static void
collect_lexemes(TSVector vector, SimdupFeatures *features)
{
	WordEntry *entries = ARRPTR(vector);

	for (int i = 0; i < vector->size; i++)
	{
		WordEntry *entry = &entries[i];
		int positions = entry->haspos ? POSDATALEN(vector, entry) : 1;
		char *lexeme = STRPTR(vector) + entry->pos;
		SimdupUtf8 utf8 = simdup_bytes_to_utf8(lexeme, entry->len);

		simdup_features_add_distinct(features, utf8.bytes, utf8.len,
									 (uint32) Max(positions, 1));
		if (utf8.bytes != lexeme)
			pfree(unconstify(char *, utf8.bytes));
		simdup_check_interrupts();
	}
}

PG_FUNCTION_INFO_V1(simdup_simhash_tsvector);
/* simhash(vector, n_features, weighting, hash, ties) */
Datum
simdup_simhash_tsvector(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = -1,
													   .weighting = 2,
													   .hash = 3,
													   .ties = 4});
	SimdupFeatures features;
	SimdupSum sum;
	TSVector vector;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	vector = PG_GETARG_TSVECTOR(0);
	simdup_features_begin(&features, profile.hash, profile.weighting, NULL,
						  (char *) vector, VARSIZE(vector));
	collect_lexemes(vector, &features);
	if (profile.limited)
		simdup_features_keep_top(&features, (size_t) profile.n_features);

	simdup_sum_init(&sum);
	simdup_features_add_to(&features, &sum);
	simdup_features_free(&features);
	return simdup_fingerprint(fcinfo, simdup_sum_finish(&sum), profile.ties);
}

/* Take an array apart, which must be one-dimensional and without NULLs. */
static int
array_elements(ArrayType *array, Oid type, const char *name, Datum **values)
{
	bool is_text = type == TEXTOID;
	int n;

	simdup_check_array(array, name);
	deconstruct_array(array, type, is_text ? -1 : 8,
					  is_text ? false : FLOAT8PASSBYVAL,
					  is_text ? TYPALIGN_INT : TYPALIGN_DOUBLE, values, NULL,
					  &n);
	return n;
}

PG_FUNCTION_INFO_V1(simdup_simhash_weighted);
/* simhash(features, weights, hash, ties) */
Datum
simdup_simhash_weighted(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = -1,
													   .tokenizer = -1,
													   .weighting = -1,
													   .hash = 2,
													   .ties = 3});
	SimdupCounts counts = {0};
	Datum *features;
	Datum *weights = NULL;
	int n;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	n = array_elements(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, "features",
					   &features);
	if (!PG_ARGISNULL(1))
	{
		int n_weights = array_elements(PG_GETARG_ARRAYTYPE_P(1), FLOAT8OID,
									   "weights", &weights);

		if (n_weights != n)
			ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("features and weights must have the same length"),
					errdetail("There are %d features and %d weights, so position %d lacks its partner.",
							  n, n_weights, Min(n, n_weights) + 1));
	}

	for (int i = 0; i < n; i++)
	{
		SimdupUtf8 feature = simdup_text_to_utf8(DatumGetTextPP(features[i]));
		float8 weight = weights ? DatumGetFloat8(weights[i]) : 1;

		simdup_counts_add(&counts,
						  simdup_hash64(profile.hash, feature.bytes,
										feature.len),
						  simdup_fixed_weight(weight, i + 1));
		simdup_check_interrupts();
	}
	return simdup_fingerprint(fcinfo, &counts, profile.ties);
}

/* A feature as it is, into a minhash64 sketch. */
static void
add_feature(SimdupSketch *sketch, SimdupUtf8 feature)
{
	uint64_t hash = simdup_city64(feature.bytes, feature.len);

	simdup_sketch_add(sketch, &hash, 1);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_features);
/* minhash64(features) */
Datum
simdup_minhash64_features(PG_FUNCTION_ARGS)
{
	Datum *features;
	int n = array_elements(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, "features",
						   &features);
	SimdupSketch sketch;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	for (int i = 0; i < n; i++)
		add_feature(&sketch, simdup_text_to_utf8(DatumGetTextPP(features[i])));
	return simdup_minhash64_result(fcinfo, &sketch);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_tsvector);
/* minhash64(vector) */
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
