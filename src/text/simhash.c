/*
 * simhash.c
 *	  Simhash of texts and rows with its options in SQL, the features behind it,
 *	  and simhash and minhash64 of ready-made features.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>
#include "tsearch/ts_type.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"
#include "type/simhash64.h"

/* Options */

/* Windows of the n-gram tokenizers. */
#define MAX_WINDOW 16

const SimdupProfile simdup_default_profile = {
	.tokenizer = {.kind = SIMDUP_TOKENIZER_WORD},
	.weighting = SIMDUP_WEIGHTING_LOG,
	.hash = SIMDUP_HASH_CITY64,
};

/*
 * Return N of "prefix:N", in plain digits. 0: the name is another one, or N is out
 * of range.
 */
static int
parse_window(const char *name, const char *prefix)
{
	const char *digits = name + strlen(prefix);
	int n;

	if (strncmp(name, prefix, strlen(prefix)) != 0 || digits[0] == '0' ||
		strlen(digits) > 2 || digits[strspn(digits, "0123456789")] != '\0')
		return 0;
	n = atoi(digits);
	return n <= MAX_WINDOW ? n : 0;
}

SimdupTokenizer
simdup_parse_tokenizer(const text *name)
{
	SimdupTokenizer tokenizer = {.kind = SIMDUP_TOKENIZER_WORD};
	char *s;

	if (simdup_text_is(name, "word"))
		return tokenizer;
	s = text_to_cstring(name);
	if (strcmp(s, "alpha") == 0)
		tokenizer.kind = SIMDUP_TOKENIZER_ALPHA;
	else if (strcmp(s, "space") == 0)
		tokenizer.kind = SIMDUP_TOKENIZER_SPACE;
	else if ((tokenizer.n = parse_window(s, "char:")) > 0)
		tokenizer.kind = SIMDUP_TOKENIZER_CHAR_NGRAM;
	else if ((tokenizer.n = parse_window(s, "word:")) > 0)
		tokenizer.kind = SIMDUP_TOKENIZER_WORD_NGRAM;
	else if (strcmp(s, "icu") == 0 || strncmp(s, "icu:", 4) == 0)
	{
		tokenizer.kind = SIMDUP_TOKENIZER_SEGMENTS;
		tokenizer.breaker =
			simdup_get_icu_breaker(s[3] == ':' ? s + 4 : "root");
	}
	else
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized tokenizer: \"%s\"", s),
				errhint("Tokenizers are \"word\", \"alpha\", \"space\", \"char:N\" and \"word:N\" with N from 1 to %d, \"icu\" and \"icu:LOCALE\".",
						MAX_WINDOW));
	pfree(s);
	return tokenizer;
}

static SimdupWeighting
parse_weighting(const text *name)
{
	if (simdup_text_is(name, "log"))
		return SIMDUP_WEIGHTING_LOG;
	if (simdup_text_is(name, "tf"))
		return SIMDUP_WEIGHTING_TF;
	if (simdup_text_is(name, "set"))
		return SIMDUP_WEIGHTING_SET;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized weighting: \"%s\"", text_to_cstring(name)),
			errhint("Weightings are \"log\", \"tf\" and \"set\"."));
}

static SimdupHash
parse_hash(const text *name)
{
	static const char *const names[] = {[SIMDUP_HASH_CITY64] = "city64",
										[SIMDUP_HASH_MURMUR3] = "murmur3",
										[SIMDUP_HASH_BKDR] = "bkdr",
										[SIMDUP_HASH_JAVA] = "java"};

	for (size_t i = 0; i < lengthof(names); i++)
		if (simdup_text_is(name, names[i]))
			return (SimdupHash) i;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized hash: \"%s\"", text_to_cstring(name)),
			errhint("Hashes are \"city64\", \"murmur3\", \"bkdr\", \"java\"."));
}

/* Return an option's value, which must not be NULL. */
static Datum
required_option(FunctionCallInfo fcinfo, int argno, const char *name)
{
	simdup_check_not_null(PG_ARGISNULL(argno), name);
	return PG_GETARG_DATUM(argno);
}

/* Return n_features: 0, for all features, where the argument is NULL. */
static int
get_n_features(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? 0
							   : simdup_check_range(PG_GETARG_INT32(argno), 1,
													PG_INT32_MAX, "n_features");
}

/* The options of a profile, in the order of every function's arguments. */
enum
{
	N_FEATURES = 1,
	TOKENIZER = 2,
	WEIGHTING = 4,
	HASH = 8,
	TIES = 16,
	ALL_OPTIONS = 31
};

/*
 * Read the profile from a call's arguments, which have these options from argno on.
 * The others take the default. Raises 22023 for values that are not allowed and
 * 22004 for NULLs, except for n_features, where NULL means all.
 */
static SimdupProfile
get_profile(FunctionCallInfo fcinfo, int argno, int options)
{
	SimdupProfile profile = simdup_default_profile;

	if (options & N_FEATURES)
		profile.n_features = get_n_features(fcinfo, argno++);
	if (options & TOKENIZER)
		profile.tokenizer = simdup_parse_tokenizer(
			DatumGetTextPP(required_option(fcinfo, argno++, "tokenizer")));
	if (options & WEIGHTING)
		profile.weighting = parse_weighting(
			DatumGetTextPP(required_option(fcinfo, argno++, "weighting")));
	if (options & HASH)
		profile.hash = parse_hash(
			DatumGetTextPP(required_option(fcinfo, argno++, "hash")));
	if (options & TIES)
		profile.ties = DatumGetBool(required_option(fcinfo, argno, "ties"));
	return profile;
}

void
simdup_collect_features(SimdupTokenCounts *features,
						const SimdupProfile *profile, SimdupUtf8 content,
						SimdupCounters *sum)
{
	bool limited = profile->n_features > 0;

	simdup_token_counts_begin(features, profile->hash, profile->weighting,
							  limited ? NULL : sum, content.bytes, content.len);
	simdup_tokenize(profile->tokenizer, content.bytes, content.len,
					simdup_token_counts_add, features);
	if (limited)
		simdup_token_counts_keep_top(features, (size_t) profile->n_features);
	if (limited && sum != NULL)
		simdup_token_counts_sum(features, sum);
}

Datum
simdup_fingerprint(FunctionCallInfo fcinfo, const SimdupCounters *counts,
				   bool ties)
{
	if (simdup_counters_empty(counts))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(simdup_counters_signs(counts, ties));
}

/* Fingerprints of texts and rows */

/* Add the features of the content at argument 0, if there is one. */
static void
add_content(FunctionCallInfo fcinfo, const SimdupProfile *profile,
			SimdupCounters *sum)
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
	SimdupProfile profile = get_profile(fcinfo, 1, ALL_OPTIONS);
	SimdupCounters sum = {0};

	add_content(fcinfo, &profile, &sum);
	return simdup_fingerprint(fcinfo, &sum, profile.ties);
}

static uint64
get_field_weight(FunctionCallInfo fcinfo, int argno)
{
	Datum weight = required_option(fcinfo, argno, "field_weight");

	return (uint64) simdup_check_range(DatumGetInt32(weight), 0, PG_INT32_MAX,
									   "field_weight");
}

/* Add a field as one feature; a blank field adds nothing. */
static void
add_field(SimdupCounters *sum, SimdupHash hash, uint64 weight, SimdupUtf8 field)
{
	char *folded = simdup_alloc(field.len * SIMDUP_MAX_UTF8 + 1);
	size_t len = simdup_lower_field(field.bytes, field.len, folded);

	if (len > 0)
		simdup_counters_add(sum, simdup_hash64(hash, folded, len), weight);
	simdup_free(folded);
}

PG_FUNCTION_INFO_V1(simdup_simhash_row);
/* Return simhash_row(content, fields, field_weight, n_features, tokenizer, ...). */
Datum
simdup_simhash_row(PG_FUNCTION_ARGS)
{
	SimdupProfile profile = get_profile(fcinfo, 3, ALL_OPTIONS);
	uint64 weight = get_field_weight(fcinfo, 2);
	SimdupUtf8 *fields = NULL;
	size_t n = 0;
	SimdupCounters sum = {0};

	add_content(fcinfo, &profile, &sum);
	if (!PG_ARGISNULL(1))
		fields = simdup_utf8_texts(PG_GETARG_ARRAYTYPE_P(1), &n);
	for (size_t i = 0; i < n; i++)
		add_field(&sum, profile.hash, weight, fields[i]);
	return simdup_fingerprint(fcinfo, &sum, profile.ties);
}

PG_FUNCTION_INFO_V1(simdup_features);
/* Return simdup_features(content, n_features, tokenizer, weighting). */
Datum
simdup_features(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		get_profile(fcinfo, 1, N_FEATURES | TOKENIZER | WEIGHTING);
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

		simdup_put_result(result, values, NULL);
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
	SimdupHash hash = parse_hash(PG_GETARG_TEXT_PP(1));

	PG_RETURN_INT64((int64) simdup_hash64(hash, value.bytes, value.len));
}

/* Weights in units must fit 63 bits. */
#define WEIGHT_LIMIT 140737488355328.0 /* 2^47 */

void
simdup_check_weight(float8 weight, int position)
{
	if (isnan(weight) || isinf(weight) || weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must be a finite number that is not negative"),
				position ? errdetail("The weight at position %d is %s.",
									 position, float8out_internal(weight))
						 : errdetail("The weight given is %s.",
									 float8out_internal(weight)));
}

uint64
simdup_fixed_weight(float8 weight, int position)
{
	simdup_check_weight(weight, position);
	if (weight >= WEIGHT_LIMIT)
		ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("weight out of range"),
				position
					? errdetail("The weight at position %d is %s; it must be less than 2^47.",
								position, float8out_internal(weight))
					: errdetail("The weight given is %s; it must be less than 2^47.",
								float8out_internal(weight)));
	return (uint64) rint(weight * SIMDUP_WEIGHT_UNIT);
}

/* Fingerprints of a tsvector's lexemes, or of features with weights. */

/* Collect the lexemes, each as often as it has positions (once if stripped). */
static void
collect_lexemes(TSVector vector, SimdupTokenCounts *features)
{
	for (int i = 0; i < vector->size; i++)
	{
		WordEntry *entry = &ARRPTR(vector)[i];
		int positions = entry->haspos ? POSDATALEN(vector, entry) : 1;
		SimdupUtf8 utf8 =
			simdup_bytes_to_utf8(STRPTR(vector) + entry->pos, entry->len);

		simdup_token_counts_add_distinct(features, utf8.bytes, utf8.len,
										 (uint32) Max(positions, 1));
		simdup_check_interrupts();
	}
}

PG_FUNCTION_INFO_V1(simdup_simhash_tsvector);
/* Return simhash(vector, n_features, weighting, hash, ties). */
Datum
simdup_simhash_tsvector(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		get_profile(fcinfo, 1, N_FEATURES | WEIGHTING | HASH | TIES);
	SimdupTokenCounts features;
	SimdupCounters sum = {0};
	TSVector vector;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	vector = PG_GETARG_TSVECTOR(0);
	simdup_token_counts_begin(&features, profile.hash, profile.weighting, NULL,
							  (char *) vector, VARSIZE(vector));
	collect_lexemes(vector, &features);
	if (profile.n_features > 0)
		simdup_token_counts_keep_top(&features, (size_t) profile.n_features);

	simdup_token_counts_sum(&features, &sum);
	simdup_token_counts_free(&features);
	return simdup_fingerprint(fcinfo, &sum, profile.ties);
}

/* Return the features at argument 0, an array without NULLs. */
static SimdupUtf8 *
get_features(FunctionCallInfo fcinfo, size_t *n)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);

	simdup_check_array(array, "features");
	return simdup_utf8_texts(array, n);
}

PG_FUNCTION_INFO_V1(simdup_simhash_weighted);
/* Return simhash(features, weights). */
Datum
simdup_simhash_weighted(PG_FUNCTION_ARGS)
{
	SimdupCounters counts = {0};
	const float8 *weights = NULL;
	SimdupUtf8 *features;
	size_t n;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	features = get_features(fcinfo, &n);
	if (!PG_ARGISNULL(1))
	{
		int n_weights;

		weights = simdup_array_elements(PG_GETARG_ARRAYTYPE_P(1), "weights",
										&n_weights);
		if ((size_t) n_weights != n)
			ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("features and weights must have the same length"),
					errdetail("There are %d features and %d weights.", (int) n,
							  n_weights));
	}

	for (size_t i = 0; i < n; i++)
	{
		simdup_counters_add(&counts,
							simdup_city64(features[i].bytes, features[i].len),
							weights != NULL
								? simdup_fixed_weight(weights[i], (int) i + 1)
								: SIMDUP_WEIGHT_UNIT);
		simdup_check_interrupts();
	}
	return simdup_fingerprint(fcinfo, &counts, false);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_features);
/* Return minhash64(features). */
Datum
simdup_minhash64_features(PG_FUNCTION_ARGS)
{
	size_t n;
	SimdupUtf8 *features = get_features(fcinfo, &n);
	SimdupSketch sketch;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = simdup_city64(features[i].bytes, features[i].len);

		simdup_sketch_add(&sketch, &hash, 1);
	}
	return simdup_minhash64_result(fcinfo, &sketch);
}
