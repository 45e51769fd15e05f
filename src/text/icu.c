/*
 * icu.c
 *	  Word breaks by ICU: UAX #29, and dictionaries for scripts without spaces.
 *
 * ICU's break iterators are malloc'ed and stay open for the session: an error leaks
 * nothing.
 */
#include "postgres.h"
#include "compat.h"

#ifdef SIMDUP_ICU
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/ulocdata.h>
#include <unicode/utf16.h>
#endif

#include "utils/builtins.h"

#include "text/encoding.h"

#ifdef SIMDUP_ICU

#define MAX_OPEN 32

typedef struct OpenLocale
{
	char name[ULOC_FULLNAME_CAPACITY];
	UBreakIterator *words;
} OpenLocale;

static OpenLocale open_locales[MAX_OPEN];
static int next_slot = 0;

/* Raise the error for a failure of ICU, for want of memory without a reason. */
pg_noreturn static void
fail(const char *reason)
{
	if (reason == NULL)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				errdetail("Failed while finding words with ICU."));
	ereport(ERROR, errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			errmsg("could not find words with ICU: %s", reason));
}

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
		fail(NULL);
	free(room);
}

static void
check_status(UErrorCode status)
{
	if (U_FAILURE(status))
		fail(status == U_MEMORY_ALLOCATION_ERROR ? NULL : u_errorName(status));
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

/* Find the breaks of a window, as SimdupBreaker asks. */
static int
find_breaks(void *words, const char *text, size_t len, uint32_t *breaks)
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
		breaks[n++] = offsets[next];
	/* ubrk_next has no status: it just ends where it fails */
	if (at != units_len)
		fail("word break iteration ended early");
	return n;
}

/*
 * Return the word breaks of a locale: language, script and country by their ISO
 * codes, in ICU's or BCP 47's spelling, or "root". NULL: no locale has this name.
 */
static UBreakIterator *
open_locale(const char *locale)
{
	OpenLocale *slot = &open_locales[next_slot];
	UErrorCode status = U_ZERO_ERROR;
	UBreakIterator *words;

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

SimdupBreaker
simdup_get_icu_breaker(const char *locale)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	UBreakIterator *words = NULL;

	if (locale[0] != '\0' && locale[strspn(locale, letters)] == '\0')
		words = open_locale(locale);
	if (words == NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized ICU locale: \"%s\"", locale),
				errhint(
					"A locale is a language, with its script and country where they matter, such as in \"icu:zh\", \"icu:ja_JP\" and \"icu:zh_Hant_TW\"."));
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
	UErrorCode status = U_ZERO_ERROR;
	UVersionInfo numbers;
	char icu[U_MAX_VERSION_STRING_LENGTH];
	char cldr[U_MAX_VERSION_STRING_LENGTH];
	char unicode[U_MAX_VERSION_STRING_LENGTH];

	u_getVersion(numbers);
	u_versionToString(numbers, icu);
	ulocdata_getCLDRVersion(numbers, &status);
	check_status(status);
	u_versionToString(numbers, cldr);
	u_getUnicodeVersion(numbers);
	u_versionToString(numbers, unicode);
	PG_RETURN_TEXT_P(cstring_to_text(
		psprintf("%s (CLDR %s, Unicode %s)", icu, cldr, unicode)));
#else
	PG_RETURN_NULL();
#endif
}
