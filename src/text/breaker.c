/*
 * breaker.c
 *	  ICU as SQL sees it: a locale's word breaks, what goes wrong with them, and
 *	  the version. Everything else asks here, built with ICU or without.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "text/breaker.h"
#include "text/icu.h"

#ifdef SIMDUP_ICU

void
simdup_icu_failed(const char *reason)
{
	ereport(ERROR, errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			errmsg("could not find words with ICU: %s", reason));
}

void
simdup_icu_no_memory(void)
{
	ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
			errdetail("Failed while finding words with ICU."));
}

SimdupBreaker
simdup_get_icu_breaker(const char *locale)
{
	SimdupBreaker breaker;

	if (locale[strspn(locale,
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")] !=
			'\0' ||
		locale[0] == '\0' || !simdup_icu_open(locale, &breaker))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized ICU locale: \"%s\"", locale),
				errhint(
					"A locale is a language, with its script and country where they matter, such as in \"icu:zh\", \"icu:ja_JP\" and \"icu:zh_Hant_TW\"."));
	return breaker;
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

	simdup_icu_describe(version);
	PG_RETURN_TEXT_P(cstring_to_text(version));
#else
	PG_RETURN_NULL();
#endif
}
