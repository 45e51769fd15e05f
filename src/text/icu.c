/*
 * icu.c
 *	  Word breaks by ICU: UAX #29, and dictionaries for scripts without spaces.
 *
 * The file includes no server header, so that a benchmark can measure it alone.
 * ICU's break iterators are malloc'ed and stay open for the session: a failure,
 * which leaves by a non-local exit, leaks nothing.
 */
#ifdef SIMDUP_ICU

#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>
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

/* Reports failures of the current call. */
static SimdupIcuFail report_failure;

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
static void
check_memory(void)
{
	void *volatile room = malloc(ICU_MEMORY);

	if (room == NULL)
		report_failure(NULL);
	free(room);
}

static void
check_status(UErrorCode status)
{
	if (U_FAILURE(status))
		report_failure(
			status == U_MEMORY_ALLOCATION_ERROR ? NULL : u_errorName(status));
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

int
simdup_icu_find(void *words, const char *text, size_t len, SimdupBreak *breaks)
{
	UErrorCode status = U_ZERO_ERROR;
	int32_t units_len = to_utf16(text, len);
	int32_t at = 0;
	int32_t next;
	int n = 0;

	check_memory();
	ubrk_setText(words, units, units_len, &status);
	check_status(status);
	for (; (next = ubrk_next(words)) != UBRK_DONE; at = next)
	{
		breaks[n].end = offsets[next];
		breaks[n++].is_number = is_number(words, units[at]);
	}
	/* ubrk_next has no status: it just ends where it fails */
	if (at != units_len)
		report_failure("word break iteration ended early");
	return n;
}

void *
simdup_icu_open(const char *locale, SimdupIcuFail fail)
{
	OpenLocale *slot = &open_locales[next_slot];
	UErrorCode status = U_ZERO_ERROR;
	UBreakIterator *words;

	report_failure = fail;
	/* open ones need no parsing by ICU, which is slow */
	for (int i = 0; i < MAX_OPEN && open_locales[i].words != NULL; i++)
		if (strcmp(open_locales[i].name, locale) == 0)
			return open_locales[i].words;
	check_memory();
	if (strlen(locale) >= sizeof(slot->name) || !is_known(locale))
		return NULL;
	words = ubrk_open(UBRK_WORD, locale, NULL, 0, &status);
	check_status(status);
	/* it takes the slot of the locale that was opened longest ago */
	if (slot->words != NULL)
		ubrk_close(slot->words);
	slot->words = words;
	memcpy(slot->name, locale, strlen(locale) + 1);
	next_slot = (next_slot + 1) % MAX_OPEN;
	return words;
}

#endif /* SIMDUP_ICU */
