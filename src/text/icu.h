/*
 * icu.h
 *	  Word breaks by ICU. Without SIMDUP_ICU, nothing of it is built.
 */
#ifndef SIMDUP_TEXT_ICU_H
#define SIMDUP_TEXT_ICU_H

#include <stddef.h>

#include "core/segments.h"

/*
 * Word breaks of a locale, false if the name is none: language, script and
 * country by their ISO codes, in ICU's or BCP 47's spelling, or "root".
 *
 * The breaker is good for what the caller does now. It must not be kept: a
 * session has few of them, and one may become another locale's.
 */
extern bool simdup_icu_open(const char *locale, SimdupBreaker *breaker);

/* Versions of ICU, CLDR and Unicode. */
#define SIMDUP_ICU_VERSION_SIZE 80
extern void simdup_icu_describe(char version[SIMDUP_ICU_VERSION_SIZE]);

/*
 * What icu.c needs from the program it runs in: to leave, by a non-local exit,
 * when ICU fails for this reason, or for lack of memory.
 */
extern void simdup_icu_failed(const char *reason) __attribute__((noreturn));
extern void simdup_icu_no_memory(void) __attribute__((noreturn));

#endif /* SIMDUP_TEXT_ICU_H */
