/*
 * icu.h
 *	  Word breaks by ICU. Without SIMDUP_ICU, nothing of it is built.
 */
#ifndef SIMDUP_TEXT_ICU_H
#define SIMDUP_TEXT_ICU_H

#include <stddef.h>

#include "core/fingerprint/tokenizer.h"

/*
 * Report that ICU failed, for this reason or, with NULL, for want of memory, and
 * leave by a non-local exit.
 */
typedef void (*SimdupIcuFail)(const char *reason);

/*
 * Return the word breaks of a locale: language, script and country by their ISO
 * codes, in ICU's or BCP 47's spelling, or "root". NULL: no locale has this name.
 * Failures are reported to fail, also those of breaks that are found later.
 *
 * The caller must not keep them beyond the current call. A session has few of
 * them, and one may become another locale's.
 */
extern void *simdup_icu_open(const char *locale, SimdupIcuFail fail);

/* Find the breaks of a window, as SimdupBreaker asks. */
extern int simdup_icu_find(void *words, const char *text, size_t len,
						   SimdupBreak *breaks);

/*
 * Return ICU's word breaks for a locale, for what cuts text in SQL. Raises 22023
 * for a name that is no locale, 0A000 where simdup was built without ICU. The
 * breaker is for the current call.
 */
extern SimdupBreaker simdup_get_icu_breaker(const char *locale);

#endif /* SIMDUP_TEXT_ICU_H */
