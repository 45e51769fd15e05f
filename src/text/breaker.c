/*
 * breaker.c
 *	  ICU as SQL sees it: a locale's word breaks, the errors, and the version.
 *
 * Other files call this one, whether simdup was built with ICU or without.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "text/breaker.h"
#include "text/icu.h"

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

/* The find function of a SimdupBreaker. */
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
/* simdup_icu_version() */
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
