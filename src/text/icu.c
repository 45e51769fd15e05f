/*
 * icu.c
 *	  Word breaks by ICU (UAX #29, and dictionaries where a script writes no
 *	  spaces), straight on UTF-8. No server header, so that it can be measured
 *	  without one.
 *
 * What ICU opens is malloc'ed and stays for the session, a few break iterators
 * and one UText, so there is nothing that an error could leak.
 */
#ifdef SIMDUP_ICU

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/ulocdata.h>
#include <unicode/utf16.h>

#include "core/charclass.h"
#include "text/icu.h"

#define MAX_OPEN 32

typedef struct OpenLocale
{
	char name[ULOC_FULLNAME_CAPACITY];
	UBreakIterator *words;
} OpenLocale;

static OpenLocale open_locales[MAX_OPEN];
static int next_slot = 0;

/*
 * More than ICU allocates to open a locale, or to break a window (of 32 KB,
 * at most some 40 bytes a character).
 */
#define ICU_MEMORY (4 * 1024 * 1024)

/*
 * Where it runs out of memory, ICU may crash (72 does, amid a dictionary), or
 * take a name for unknown. So be sure that there is enough before it works:
 * a block that was freed can be had again. volatile, lest the compiler see
 * that nobody wants it.
 */
static void
require_memory(void)
{
	void *volatile room = malloc(ICU_MEMORY);

	if (room == NULL)
		simdup_icu_no_memory();
	free(room);
}

static void
check(UErrorCode status)
{
	if (status == U_MEMORY_ALLOCATION_ERROR)
		simdup_icu_no_memory();
	if (U_FAILURE(status))
		simdup_icu_failed(u_errorName(status));
}

/*
 * ICU takes any name, and the root locale's rules where it knows none. That
 * would make of a slip of the pen a silent change, so every part must exist.
 */
static bool
is_known(const char *locale)
{
	UErrorCode status = U_ZERO_ERROR;
	char name[ULOC_FULLNAME_CAPACITY];
	char part[ULOC_FULLNAME_CAPACITY];

	/* "root" is a name of the empty locale */
	uloc_getName(locale, name, sizeof(name), &status);
	if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING)
		return false;
	if (name[0] == '\0' || strcmp(name, "root") == 0)
		return true;
	/* no codepage, and no keyword has a say in word breaks */
	if (strpbrk(name, ".@") || uloc_getISO3Language(name)[0] == '\0')
		return false;
	if (uloc_getCountry(name, part, sizeof(part), &status) > 0 &&
		uloc_getISO3Country(name)[0] == '\0')
		return false;
	if (uloc_getScript(name, part, sizeof(part), &status) > 0 &&
		u_getPropertyValueEnum(UCHAR_SCRIPT, part) == UCHAR_INVALID_CODE)
		return false;
	/* the only variant with word breaks of its own */
	return (uloc_getVariant(name, part, sizeof(part), &status) <= 0 ||
			strcmp(part, "POSIX") == 0) &&
		   U_SUCCESS(status);
}

/* A window as UTF-16, and where each unit's character is in the UTF-8. */
static UChar units[SIMDUP_BREAK_WINDOW];
static uint16_t offsets[SIMDUP_BREAK_WINDOW + 1];

/*
 * ICU breaks UTF-8 as well, by a UText, but UTF-16 with this conversion takes
 * four fifths of the time in Chinese and nine tenths in English.
 */
static int32_t
to_utf16(const char *text, size_t len)
{
	const unsigned char *start = (const unsigned char *) text;
	const unsigned char *end = start + len;
	int32_t n = 0;
	int bytes;

	for (const unsigned char *p = start; p < end; p += bytes)
	{
		uint32_t cp;

		for (; p < end && *p < 0x80; p++)
		{
			offsets[n] = (uint16_t) (p - start);
			units[n++] = *p;
		}
		if (p == end)
			break;
		cp = simdup_utf8_decode(p, end, &bytes);
		if (cp == SIMDUP_INVALID_CHAR)
			cp = 0xFFFD;
		offsets[n] = (uint16_t) (p - start);
		if (cp > 0xFFFF)
		{
			units[n++] = U16_LEAD(cp);
			offsets[n] = (uint16_t) (p - start);
			cp = U16_TRAIL(cp);
		}
		units[n++] = (UChar) cp;
	}
	offsets[n] = (uint16_t) len;
	return n;
}

/* Is what begins with this unit, and was found last, a number? */
static inline bool
is_number(UBreakIterator *words, UChar first)
{
	int32_t rule;

	/* spare the call for the most of a Latin text */
	if (first == ' ' || (unsigned) (first | 0x20) - 'a' < 26)
		return false;
	rule = ubrk_getRuleStatus(words);
	return rule >= UBRK_WORD_NUMBER && rule < UBRK_WORD_NUMBER_LIMIT;
}

/* A failure of ICU's iteration looks like an early end. */
static int
find_breaks(void *arg, const char *text, size_t len, SimdupBreak *breaks)
{
	UBreakIterator *words = ((OpenLocale *) arg)->words;
	UErrorCode status = U_ZERO_ERROR;
	int32_t units_len = to_utf16(text, len);
	int32_t at = 0;
	int32_t next;
	int count = 0;

	require_memory();
	ubrk_setText(words, units, units_len, &status);
	check(status);
	for (; (next = ubrk_next(words)) != UBRK_DONE; at = next)
	{
		breaks[count].end = offsets[next];
		breaks[count++].is_number = is_number(words, units[at]);
	}
	if (at != units_len)
		simdup_icu_failed("word break iteration ended early");
	return count;
}

/* Opened before, under this very name? Looking at a name takes ICU long. */
static OpenLocale *
find_open(const char *locale)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (open_locales[i].words && strcmp(open_locales[i].name, locale) == 0)
			return &open_locales[i];
	return NULL;
}

/* Open a locale in the slot that was opened longest ago. */
static OpenLocale *
open_locale(const char *locale)
{
	OpenLocale *slot = &open_locales[next_slot];
	UErrorCode status = U_ZERO_ERROR;
	UBreakIterator *words = ubrk_open(UBRK_WORD, locale, NULL, 0, &status);

	check(status);
	if (slot->words)
		ubrk_close(slot->words);
	slot->words = words;
	strcpy(slot->name, locale);
	next_slot = (next_slot + 1) % MAX_OPEN;
	return slot;
}

bool
simdup_icu_open(const char *locale, SimdupBreaker *breaker)
{
	OpenLocale *slot = find_open(locale);

	if (!slot)
	{
		require_memory();
		if (strlen(locale) >= sizeof(slot->name) || !is_known(locale))
			return false;
		slot = open_locale(locale);
	}
	*breaker = (SimdupBreaker){find_breaks, slot};
	return true;
}

void
simdup_icu_describe(char version[SIMDUP_ICU_VERSION_SIZE])
{
	UErrorCode status = U_ZERO_ERROR;
	UVersionInfo numbers;
	char icu[U_MAX_VERSION_STRING_LENGTH];
	char cldr[U_MAX_VERSION_STRING_LENGTH];
	char unicode[U_MAX_VERSION_STRING_LENGTH];

	u_getVersion(numbers);
	u_versionToString(numbers, icu);
	ulocdata_getCLDRVersion(numbers, &status);
	check(status);
	u_versionToString(numbers, cldr);
	u_getUnicodeVersion(numbers);
	u_versionToString(numbers, unicode);
	snprintf(version, SIMDUP_ICU_VERSION_SIZE, "%s (CLDR %s, Unicode %s)", icu,
			 cldr, unicode);
}

#endif /* SIMDUP_ICU */
