/*
 * profile.c
 *	  The options of a fingerprint.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"

#include "server/arguments.h"
#include "text/breaker.h"
#include "text/profile.h"
#include "type/simhash64.h"

/* Windows of the n-gram tokenizers. */
#define MAX_WINDOW 16

const SimdupProfile simdup_default_profile = {
	.tokenizer = {.kind = SIMDUP_TOKENIZER_WORD},
	.weighting = SIMDUP_WEIGHTING_LOG,
	.hash = SIMDUP_HASH_CITY64,
};

/*
 * "prefix:N" with N in plain digits. Returns false if it does not begin so;
 * an N that is no number, or out of range, gives 0.
 */
static bool
parse_window(const text *name, const char *prefix, int *n)
{
	const char *p = VARDATA_ANY(name);
	size_t len = VARSIZE_ANY_EXHDR(name);
	size_t skip = strlen(prefix);
	int value = 0;

	if (len < skip || memcmp(p, prefix, skip) != 0)
		return false;
	*n = 0;
	if (len == skip || p[skip] == '0')
		return true;
	for (; skip < len; skip++)
	{
		if (p[skip] < '0' || p[skip] > '9')
			return true;
		value = value * 10 + (p[skip] - '0');
		if (value > MAX_WINDOW)
			return true;
	}
	*n = value;
	return true;
}

/* "icu" or "icu:LOCALE": sets the breaker and returns true. */
static bool
parse_icu(const text *name, SimdupBreaker *breaker)
{
	char *s = text_to_cstring(name);
	bool is_icu = strcmp(s, "icu") == 0 || strncmp(s, "icu:", 4) == 0;

	if (is_icu)
		*breaker = simdup_get_icu_breaker(s[3] == ':' ? s + 4 : "root");
	pfree(s);
	return is_icu;
}

SimdupTokenizer
simdup_parse_tokenizer(const text *name)
{
	SimdupTokenizer tokenizer = {.kind = SIMDUP_TOKENIZER_WORD};

	if (simdup_text_is(name, "word"))
		return tokenizer;
	if (simdup_text_is(name, "alpha"))
		tokenizer.kind = SIMDUP_TOKENIZER_ALPHA;
	else if (simdup_text_is(name, "space"))
		tokenizer.kind = SIMDUP_TOKENIZER_SPACE;
	else if (parse_window(name, "char:", &tokenizer.n) && tokenizer.n > 0)
		tokenizer.kind = SIMDUP_TOKENIZER_CHAR_NGRAM;
	else if (parse_window(name, "word:", &tokenizer.n) && tokenizer.n > 0)
		tokenizer.kind = SIMDUP_TOKENIZER_WORD_NGRAM;
	else if (parse_icu(name, &tokenizer.breaker))
		tokenizer.kind = SIMDUP_TOKENIZER_SEGMENTS;
	else
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized tokenizer: \"%s\"", text_to_cstring(name)),
				errhint("Tokenizers are \"word\", \"alpha\", \"space\", \"char:N\" and \"word:N\" with N from 1 to %d, \"icu\" and \"icu:LOCALE\".",
						MAX_WINDOW));
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

SimdupHash
simdup_parse_hash(const text *name)
{
	SimdupHash hash;

	if (!simdup_hash_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &hash))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized hash: \"%s\"", text_to_cstring(name)),
				errhint("Hashes are %s.", SIMDUP_HASH_NAMES));
	return hash;
}

/* An option's value, which must not be NULL. */
static Datum
required_option(FunctionCallInfo fcinfo, int argno, const char *name)
{
	simdup_check_not_null(PG_ARGISNULL(argno), name);
	return PG_GETARG_DATUM(argno);
}

static void
limit_features(SimdupProfile *profile, int n_features)
{
	if (n_features < 1)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("n_features must be at least 1"),
				errdetail("The value given is %d.", n_features),
				errhint("Leave it NULL to keep all features."));
	profile->limited = true;
	profile->n_features = n_features;
}

SimdupProfile
simdup_get_profile(FunctionCallInfo fcinfo, SimdupProfileArgs args)
{
	SimdupProfile profile = simdup_default_profile;

	if (args.n_features >= 0 && !PG_ARGISNULL(args.n_features))
		limit_features(&profile, PG_GETARG_INT32(args.n_features));
	if (args.tokenizer >= 0)
		profile.tokenizer = simdup_parse_tokenizer(DatumGetTextPP(
			required_option(fcinfo, args.tokenizer, "tokenizer")));
	if (args.weighting >= 0)
		profile.weighting = parse_weighting(DatumGetTextPP(
			required_option(fcinfo, args.weighting, "weighting")));
	if (args.hash >= 0)
		profile.hash = simdup_parse_hash(
			DatumGetTextPP(required_option(fcinfo, args.hash, "hash")));
	if (args.ties >= 0)
		profile.ties = DatumGetBool(required_option(fcinfo, args.ties, "ties"));
	return profile;
}

void
simdup_collect_features(SimdupFeatures *features, const SimdupProfile *profile,
						SimdupUtf8 content, SimdupSum *sum)
{
	bool sum_later = sum && profile->limited;

	simdup_features_begin(features, profile->hash, profile->weighting,
						  sum_later ? NULL : sum, content.bytes, content.len);
	simdup_tokenize(profile->tokenizer, content.bytes, content.len,
					simdup_features_count, features);
	if (profile->limited)
		simdup_features_keep_top(features, (size_t) profile->n_features);
	if (sum_later)
		simdup_features_add_to(features, sum);
}

Datum
simdup_fingerprint(FunctionCallInfo fcinfo, const SimdupCounts *counts,
				   bool ties)
{
	if (simdup_counts_empty(counts))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(simdup_counts_signs(counts, ties));
}
