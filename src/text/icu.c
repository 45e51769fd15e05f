/*
 * icu.c
 *	  Word breaks by ICU: UAX #29, and dictionaries for scripts without spaces. The
 *	  text search parser simdup_icu, whether simdup was built with ICU or without.
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

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "tsearch/ts_public.h"
#include "utils/builtins.h"

#include "core/fingerprint/tokenizer.h"
#include "core/unicode/charclass.h"
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

/* Find the breaks of a window, as SimdupBreaker asks. */
static int
find_breaks(void *words, const char *text, size_t len, SimdupBreak *breaks)
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

/*
 * The text search parser simdup_icu.
 *
 * A text search parser has no arguments, so this one finds the words of the
 * root locale. ICU chooses dictionaries by script, not by locale: the parser
 * finds Chinese, Japanese and Thai words in any text.
 */

/*
 * Token types. The numbers are those of the default parser's word, uint and
 * blank, because this parser uses the default parser's headlines.
 */
enum
{
	TOKEN_WORD = 2,
	TOKEN_BLANK = 12,
	TOKEN_NUMBER = 22
};

/*
 * A longer blank is split: for each token of 2 kB or more, text search warns
 * that the word is too long to be indexed.
 */
#define MAX_BLANK 1024

typedef struct Parser
{
	SimdupSegments segments;
	SimdupUtf8 utf8;
	SimdupSegment segment; /* what is left of the last one */
	const char *at;		   /* what is left of the text as it was given */
	int left;
	bool converted; /* to UTF-8 */
} Parser;

/*
 * The find function of the parser's breaker. It opens the root locale for each
 * window: other breakers may take its place between two calls.
 */
static int
find_root_breaks(void *arg pg_attribute_unused(), const char *text, size_t len,
				 SimdupBreak *breaks)
{
	SimdupBreaker root = simdup_get_icu_breaker("root");

	return root.find(root.arg, text, len, breaks);
}

static int
count_chars(const char *utf8, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char) utf8[i] & 0xC0) != 0x80;
	return count;
}

PG_FUNCTION_INFO_V1(simdup_icu_start);
/* START of the parser: (text, length) */
Datum
simdup_icu_start(PG_FUNCTION_ARGS)
{
	char *bytes = (char *) PG_GETARG_POINTER(0);
	int len = PG_GETARG_INT32(1);
	Parser *parser = palloc0(sizeof(Parser));

	(void) simdup_get_icu_breaker("root");
	parser->at = bytes;
	parser->left = len;
	parser->utf8 = simdup_bytes_to_utf8(bytes, (size_t) len);
	parser->converted = parser->utf8.bytes != bytes;

	/* tokens are found in the text by counting its characters */
	if (parser->converted &&
		pg_mbstrlen_with_len(bytes, len) !=
			count_chars(parser->utf8.bytes, parser->utf8.len))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("text search parser \"%s\" does not support this text in encoding \"%s\"",
					   "simdup_icu", GetDatabaseEncodingName()),
				errdetail(
					"A character of the text is more than one in Unicode."),
				errhint("Use a database with encoding UTF8."));
	simdup_segments_begin(&parser->segments,
						  (SimdupBreaker){find_root_breaks, NULL},
						  parser->utf8.bytes, parser->utf8.len);
	PG_RETURN_POINTER(parser);
}

PG_FUNCTION_INFO_V1(simdup_icu_gettoken);
/* GETTOKEN of the parser: (state, token, length), returns its type */
Datum
simdup_icu_gettoken(PG_FUNCTION_ARGS)
{
	Parser *parser = (Parser *) PG_GETARG_POINTER(0);
	char **token = (char **) PG_GETARG_POINTER(1);
	int *token_len = (int *) PG_GETARG_POINTER(2);
	SimdupSegment *segment = &parser->segment;
	int len;

	if (segment->len == 0 && !simdup_segments_next(&parser->segments, segment))
		PG_RETURN_INT32(0);
	len = (int) segment->len;
	/* a byte that is not UTF-8 is a segment of its own */
	if (!segment->is_word && len > MAX_BLANK)
		len = pg_encoding_mbcliplen(PG_UTF8, segment->bytes, len, MAX_BLANK);
	*token = unconstify(char *, parser->at);
	*token_len = len;
	if (parser->converted)
		*token_len = pg_mbcharcliplen(parser->at, parser->left,
									  count_chars(segment->bytes, len));
	parser->at += *token_len;
	parser->left -= *token_len;
	segment->bytes += len;
	segment->len -= len;
	if (!segment->is_word)
		PG_RETURN_INT32(TOKEN_BLANK);
	PG_RETURN_INT32(segment->is_number ? TOKEN_NUMBER : TOKEN_WORD);
}

PG_FUNCTION_INFO_V1(simdup_icu_end);
/* END of the parser: (state) */
Datum
simdup_icu_end(PG_FUNCTION_ARGS)
{
	Parser *parser = (Parser *) PG_GETARG_POINTER(0);

	simdup_segments_free(&parser->segments);
	if (parser->converted)
		pfree(unconstify(char *, parser->utf8.bytes));
	pfree(parser);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(simdup_icu_lextypes);
/* LEXTYPES of the parser: (unused), with or without ICU */
Datum
simdup_icu_lextypes(PG_FUNCTION_ARGS pg_attribute_unused())
{
	LexDescr *types = palloc0(4 * sizeof(LexDescr));

	/* the server frees the strings */
	types[0] = (LexDescr){TOKEN_WORD, pstrdup("word"), pstrdup("Word")};
	types[1] = (LexDescr){TOKEN_NUMBER, pstrdup("number"), pstrdup("Number")};
	types[2] = (LexDescr){TOKEN_BLANK, pstrdup("blank"),
						  pstrdup("Space and punctuation")};
	PG_RETURN_POINTER(types);
}
