/*
 * icu.h
 *	  Word breaks by ICU. Without SIMDUP_ICU, nothing of it is built.
 */
#ifndef SIMDUP_TEXT_ICU_H
#define SIMDUP_TEXT_ICU_H

#include <stddef.h>

#include "core/fingerprint/segments.h"

typedef enum SimdupIcuStatus
{
	SIMDUP_ICU_OK,
	SIMDUP_ICU_UNKNOWN, /* no locale has this name */
	SIMDUP_ICU_NO_MEMORY,
	SIMDUP_ICU_FAILED /* simdup_icu_reason tells why */
} SimdupIcuStatus;

/*
 * Open the word breaks of a locale: language, script and country by their ISO
 * codes, in ICU's or BCP 47's spelling, or "root".
 *
 * The caller must not keep *words beyond the current call. A session has few
 * of them, and one may become another locale's.
 */
extern SimdupIcuStatus simdup_icu_open(const char *locale, void **words);

/* Find the breaks of a window, as SimdupBreaker asks; their number in *count. */
extern SimdupIcuStatus simdup_icu_find(void *words, const char *text,
									   size_t len, SimdupBreak *breaks,
									   int *count);

/* Versions of ICU, CLDR and Unicode. */
#define SIMDUP_ICU_VERSION_SIZE 80
extern SimdupIcuStatus simdup_icu_describe(
	char version[SIMDUP_ICU_VERSION_SIZE]);

/* Return ICU's name of the error of the last call that failed. */
extern const char *simdup_icu_reason(void);

/* ICU's word breaks for what cuts text in SQL. */

/*
 * Return ICU's word breaks for a locale, "root" for none in particular. Raises
 * 22023 for a name that is no locale, 0A000 where simdup was built without ICU.
 * The breaker is for the current call: see icu.h.
 */
extern SimdupBreaker simdup_get_icu_breaker(const char *locale);

#endif /* SIMDUP_TEXT_ICU_H */
