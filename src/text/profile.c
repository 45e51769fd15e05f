/*
 * profile.c
 *	  What SQL says about how a text is cut and fingerprinted, checked.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "server/arguments.h"
#include "text/icu.h"
#include "text/profile.h"
#include "type/simhash64.h"

/*
 * ICU as SQL sees it: a locale's word breaks, the errors, and the version.
 *
 * Other files call this one, whether simdup was built with ICU or without.
 */

#ifdef SIMDUP_ICU

/* ERROR, unless ICU did what it should. */
static void
check_icu(SimdupIcuStatus status)
{
	if (status == SIMDUP_ICU_NO_MEMORY)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				errdetail("Failed while finding words with ICU."));
	if (status != SIMDUP_ICU_OK)
		ereport(ERROR, errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("could not find words with ICU: %s",
					   simdup_icu_reason()));
}

/* Find breaks, for a SimdupBreaker. */
static int
find_breaks(void *words, const char *text, size_t len, SimdupBreak *breaks)
{
	int count = 0;

	check_icu(simdup_icu_find(words, text, len, breaks, &count));
	return count;
}

SimdupBreaker
simdup_get_icu_breaker(const char *locale)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	SimdupIcuStatus status = SIMDUP_ICU_UNKNOWN;
	void *words = NULL;

	if (locale[0] != '\0' && locale[strspn(locale, letters)] == '\0')
		status = simdup_icu_open(locale, &words);
	if (status == SIMDUP_ICU_UNKNOWN)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized ICU locale: \"%s\"", locale),
				errhint(
					"A locale is a language, with its script and country where they matter, such as in \"icu:zh\", \"icu:ja_JP\" and \"icu:zh_Hant_TW\"."));
	check_icu(status);
	return (SimdupBreaker){find_breaks, words};
}

#else

SimdupBreaker
simdup_get_icu_breaker(const char *locale pg_attribute_unused())
{
	ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("simdup was built without ICU"),
			errhint(
				"Build and install simdup where ICU's headers are (on Debian, the package libicu-dev)."));
}

#endif

PG_FUNCTION_INFO_V1(simdup_icu_version);
/* Return simdup_icu_version(). */
Datum
simdup_icu_version(PG_FUNCTION_ARGS pg_attribute_unused())
{
#ifdef SIMDUP_ICU
	char version[SIMDUP_ICU_VERSION_SIZE];

	check_icu(simdup_icu_describe(version));
	PG_RETURN_TEXT_P(cstring_to_text(version));
#else
	PG_RETURN_NULL();
#endif
}

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
parse_window(const text *name, const char *prefix)
{
	char *s = text_to_cstring(name);
	size_t skip = strlen(prefix);
	int n = 0;

	if (strncmp(s, prefix, skip) == 0 && s[skip] != '0' &&
		strlen(s) <= skip + 2 &&
		strspn(s + skip, "0123456789") == strlen(s + skip))
		n = atoi(s + skip);
	pfree(s);
	return n <= MAX_WINDOW ? n : 0;
}

/* Parse "icu" or "icu:LOCALE": set the breaker and return true. */
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
	else if ((tokenizer.n = parse_window(name, "char:")) > 0)
		tokenizer.kind = SIMDUP_TOKENIZER_CHAR_NGRAM;
	else if ((tokenizer.n = parse_window(name, "word:")) > 0)
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
simdup_collect_features(SimdupTokenCounts *features,
						const SimdupProfile *profile, SimdupUtf8 content,
						SimdupSum *sum)
{
	bool sum_later = sum && profile->limited;

	simdup_token_counts_begin(features, profile->hash, profile->weighting,
							  sum_later ? NULL : sum, content.bytes,
							  content.len);
	simdup_tokenize(profile->tokenizer, content.bytes, content.len,
					simdup_token_counts_add, features);
	if (profile->limited)
		simdup_token_counts_keep_top(features, (size_t) profile->n_features);
	if (sum_later)
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

/* Shingles */

SimdupShingleUnit
simdup_parse_unit(const text *name, bool raw)
{
	if (simdup_text_is(name, "char"))
		return SIMDUP_SHINGLE_CHAR;
	if (simdup_text_is(name, "word"))
		return SIMDUP_SHINGLE_WORD;
	if (raw && simdup_text_is(name, "raw"))
		return SIMDUP_SHINGLE_RAW;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized shingle unit: \"%s\"", text_to_cstring(name)),
			raw ? errhint("Units are \"char\", \"word\" and \"raw\".")
				: errhint("Units are \"char\" and \"word\"."));
}

SimdupShingling
simdup_get_shingling(int w, const text *unit)
{
	if (w < 1)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("shingle width must be at least 1"),
				errdetail("The width given is %d.", w),
				errhint("A shingle is a window of so many units."));
	return (SimdupShingling){simdup_parse_unit(unit, true), w};
}

void
simdup_too_many_shingles(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many shingles"),
			errdetail("More than %zu of them are distinct.",
					  SIMDUP_MAX_SHINGLES));
}
