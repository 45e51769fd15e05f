/*
 * parser.c
 *	  ICU as SQL sees it: a locale's word breaks, the version, and the text search
 *	  parser simdup_icu, whether simdup was built with ICU or without.
 */
#include "postgres.h"

#ifdef SIMDUP_ICU
#include <unicode/uchar.h>
#include <unicode/ulocdata.h>
#endif

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "tsearch/ts_public.h"
#include "utils/builtins.h"

#include "core/fingerprint/tokenizer.h"
#include "text/encoding.h"
#include "text/icu.h"

#ifdef SIMDUP_ICU

/* Raise the error for a failure of ICU: a SimdupIcuFail. */
static void
raise_icu_error(const char *reason)
{
	if (reason == NULL)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				errdetail("Failed while finding words with ICU."));
	ereport(ERROR, errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			errmsg("could not find words with ICU: %s", reason));
}

SimdupBreaker
simdup_get_icu_breaker(const char *locale)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	void *words = NULL;

	if (locale[0] != '\0' && locale[strspn(locale, letters)] == '\0')
		words = simdup_icu_open(locale, raise_icu_error);
	if (words == NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized ICU locale: \"%s\"", locale),
				errhint(
					"A locale is a language, with its script and country where they matter, such as in \"icu:zh\", \"icu:ja_JP\" and \"icu:zh_Hant_TW\"."));
	return (SimdupBreaker){simdup_icu_find, words};
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
	if (U_FAILURE(status))
		raise_icu_error(
			status == U_MEMORY_ALLOCATION_ERROR ? NULL : u_errorName(status));
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
