/*
 * icu.c
 *	  Word breaks by ICU: UAX #29, and dictionaries for scripts without spaces.
 *
 * The file includes no server header, so that a benchmark can measure it alone.
 * It reports failures as a status. ICU's break iterators are malloc'ed and stay
 * open for the session: an error leaks nothing.
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

#include "core/unicode/charclass.h"
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
 * Check for memory before ICU needs it. ICU's break iterators do not survive a
 * failed malloc (ICU-21569): ubrk_next crashes amid a dictionary, and a known
 * locale looks unknown. The check costs two system calls for a window of 32 KB:
 * malloc maps a block of this size, and nothing touches it. Without volatile,
 * the compiler could remove both calls.
 */
static bool
have_memory(void)
{
	void *volatile room = malloc(ICU_MEMORY);

	if (room == NULL)
		return false;
	free(room);
	return true;
}

static const char *reason = "";

const char *
simdup_icu_reason(void)
{
	return reason;
}

static SimdupIcuStatus
status_of(UErrorCode status)
{
	if (status == U_MEMORY_ALLOCATION_ERROR)
		return SIMDUP_ICU_NO_MEMORY;
	if (U_SUCCESS(status))
		return SIMDUP_ICU_OK;
	reason = u_errorName(status);
	return SIMDUP_ICU_FAILED;
}

/*
 * Check each part of a locale's name. ICU accepts any name, and uses the root
 * locale's rules for a name that it does not know. A typing error would
 * silently change fingerprints, so each part of the name must exist.
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
	/* codepages and keywords do not change word breaks: refuse them */
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
 * Convert to UTF-16. ICU breaks UTF-8 as well, by a UText, but UTF-16 with this
 * conversion takes four fifths of the time in Chinese and nine tenths in
 * English.
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

/* Check whether the last segment, beginning with this unit, is a number. */
static inline bool
is_number(UBreakIterator *words, UChar first)
{
	int32_t rule;

	/* most of a Latin text needs no call */
	if (first == ' ' || (unsigned) (first | 0x20) - 'a' < 26)
		return false;
	rule = ubrk_getRuleStatus(words);
	return rule >= UBRK_WORD_NUMBER && rule < UBRK_WORD_NUMBER_LIMIT;
}

SimdupIcuStatus
simdup_icu_find(void *words, const char *text, size_t len, SimdupBreak *breaks,
				int *count)
{
	UErrorCode status = U_ZERO_ERROR;
	int32_t units_len = to_utf16(text, len);
	int32_t at = 0;
	int32_t next;
	int n = 0;

	if (!have_memory())
		return SIMDUP_ICU_NO_MEMORY;
	ubrk_setText(words, units, units_len, &status);
	if (U_FAILURE(status))
		return status_of(status);
	for (; (next = ubrk_next(words)) != UBRK_DONE; at = next)
	{
		breaks[n].end = offsets[next];
		breaks[n++].is_number = is_number(words, units[at]);
	}
	*count = n;
	/* ubrk_next has no status: it just ends where it fails */
	if (at == units_len)
		return SIMDUP_ICU_OK;
	reason = "word break iteration ended early";
	return SIMDUP_ICU_FAILED;
}

/* Return the open locale of this name or NULL, without ICU's slow parsing. */
static OpenLocale *
find_open(const char *locale)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (open_locales[i].words != NULL &&
			strcmp(open_locales[i].name, locale) == 0)
			return &open_locales[i];
	return NULL;
}

/* Open a locale in the slot that was opened longest ago. */
static SimdupIcuStatus
open_locale(const char *locale, void **opened)
{
	OpenLocale *slot = &open_locales[next_slot];
	UErrorCode status = U_ZERO_ERROR;
	UBreakIterator *words = ubrk_open(UBRK_WORD, locale, NULL, 0, &status);

	if (U_FAILURE(status))
		return status_of(status);
	if (slot->words != NULL)
		ubrk_close(slot->words);
	slot->words = words;
	/* simdup_icu_open has checked the length */
	memcpy(slot->name, locale, strlen(locale) + 1);
	next_slot = (next_slot + 1) % MAX_OPEN;
	*opened = words;
	return SIMDUP_ICU_OK;
}

SimdupIcuStatus
simdup_icu_open(const char *locale, void **words)
{
	OpenLocale *slot = find_open(locale);

	if (slot != NULL)
	{
		*words = slot->words;
		return SIMDUP_ICU_OK;
	}
	if (!have_memory())
		return SIMDUP_ICU_NO_MEMORY;
	if (strlen(locale) >= sizeof(slot->name) || !is_known(locale))
		return SIMDUP_ICU_UNKNOWN;
	return open_locale(locale, words);
}

SimdupIcuStatus
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
	if (U_FAILURE(status))
		return status_of(status);
	u_versionToString(numbers, cldr);
	u_getUnicodeVersion(numbers);
	u_versionToString(numbers, unicode);
	snprintf(version, SIMDUP_ICU_VERSION_SIZE, "%s (CLDR %s, Unicode %s)", icu,
			 cldr, unicode);
	return SIMDUP_ICU_OK;
}

#endif /* SIMDUP_ICU */
