/*
 * texts.c
 *	  Functions of whole texts, and the encoding of texts.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/charclass.h"
#include "core/host.h"
#include "core/text.h"
#include "server/arguments.h"
#include "text/profile.h"

/*
 * Text of the database's encoding as UTF-8, and back.
 *
 * The server's own conversion raises an error for a character that Unicode does
 * not have, and for a result of more than 1 GB. A text that a column holds must
 * not be refused because of its fingerprint. So such a character becomes a byte
 * that is no UTF-8, which separates like white space, and a text is converted
 * part by part. The conversion is always that of pg_catalog.
 */

/* Bytes that are converted at a time. */
#define PART 65536

/* No UTF-8 sequence has this byte. */
#define NO_CHARACTER 0xFF

SimdupUtf8
simdup_text_to_utf8(const text *value)
{
	return simdup_bytes_to_utf8(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

static bool
is_ascii(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (IS_HIGHBIT_SET(bytes[i]))
			return false;
	return true;
}

/* Check whether texts are UTF-8, or taken as it. */
static bool
is_utf8(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		   GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Find the conversion of the database's encoding, which does not change. */
static Oid
find_conversion(int encoding)
{
	static Oid conversion = InvalidOid;

	if (!OidIsValid(conversion))
		conversion =
			FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding, PG_UTF8);
	return conversion;
}

/*
 * Convert bytes from the start of a part on, as far as they have characters, and
 * append them to out. Return how many bytes were converted.
 */
static size_t
convert_part(Oid conversion, int encoding, const char *bytes, size_t len,
			 char *out, size_t *out_len)
{
	int n;

	if (!OidIsValid(conversion))
	{
		/* as far as they are ASCII, then */
		for (n = 0; (size_t) n < len && !IS_HIGHBIT_SET(bytes[n]); n++)
			out[*out_len + n] = bytes[n];
		*out_len += n;
		return n;
	}
	n = pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
									  (unsigned char *) bytes, (int) len,
									  (unsigned char *) out + *out_len,
									  (int) len * MAX_CONVERSION_GROWTH + 1,
									  true);
	*out_len += strlen(out + *out_len);
	return n;
}

static SimdupUtf8
convert(const char *bytes, size_t len, int encoding)
{
	Oid conversion = find_conversion(encoding);
	size_t size = 0;
	size_t out_len = 0;
	char *out = NULL;
	size_t at = 0;

	while (at < len)
	{
		size_t part = Min(len - at, PART);
		size_t converted;

		CHECK_FOR_INTERRUPTS();
		if (out == NULL || size - out_len < part * MAX_CONVERSION_GROWTH + 1)
		{
			size += Max(size / 2, part * MAX_CONVERSION_GROWTH + 1);
			out = out == NULL ? simdup_alloc(size) : simdup_realloc(out, size);
		}
		converted =
			convert_part(conversion, encoding, bytes + at, part, out, &out_len);
		at += converted;
		if (converted == 0)
		{
			out[out_len++] = (char) NO_CHARACTER;
			at +=
				Min((size_t) pg_encoding_mblen(encoding, bytes + at), len - at);
		}
	}
	return (SimdupUtf8){out, out_len};
}

SimdupUtf8
simdup_bytes_to_utf8(const char *bytes, size_t len)
{
	if (is_utf8() || is_ascii(bytes, len))
		return (SimdupUtf8){bytes, len};
	return convert(bytes, len, GetDatabaseEncoding());
}

text *
simdup_utf8_to_text(const char *bytes, size_t len)
{
	char *converted;

	if (is_utf8())
		return cstring_to_text_with_len(bytes, (int) len);
	converted = pg_any_to_server(bytes, (int) len, PG_UTF8);
	if (converted == bytes)
		return cstring_to_text_with_len(bytes, (int) len);
	return cstring_to_text(converted);
}

/* simdup_strip_html: the text of a page. */

/*
 * Encode a character in the database's encoding: a SimdupHtmlEncode. arg is the
 * conversion function from UTF-8, or NULL if the database is in UTF-8.
 */
static size_t
encode_char(void *arg, uint32_t code_point, char *out)
{
	Oid *conversion = arg;
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1];
	unsigned char converted[SIMDUP_MAX_UTF8 * MAX_CONVERSION_GROWTH + 1];
	int len = simdup_utf8_encode(code_point, utf8);
	size_t converted_len;

	if (conversion == NULL)
	{
		memcpy(out, utf8, len);
		return (size_t) len;
	}
	if (!OidIsValid(*conversion))
		return 0;
	utf8[len] = '\0';
	if (pg_do_encoding_conversion_buf(*conversion, PG_UTF8,
									  GetDatabaseEncoding(), utf8, len,
									  converted, sizeof(converted),
									  true) != len)
		return 0;
	converted_len = strlen((char *) converted);
	if (converted_len > SIMDUP_HTML_CHAR_MAX)
		return 0;
	memcpy(out, converted, converted_len);
	return converted_len;
}

/* Return the arg of encode_char. */
static Oid *
conversion_from_utf8(void)
{
	static Oid conversion;

	if (is_utf8())
		return NULL;
	conversion = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
	return &conversion;
}

PG_FUNCTION_INFO_V1(simdup_strip_html);
Datum
simdup_strip_html(PG_FUNCTION_ARGS)
{
	text *html = PG_GETARG_TEXT_PP(0);
	size_t len = VARSIZE_ANY_EXHDR(html);
	text *result = palloc(VARHDRSZ + len);

	len = simdup_html_text(VARDATA_ANY(html), len, VARDATA(result), encode_char,
						   conversion_from_utf8());
	SET_VARSIZE(result, VARHDRSZ + len);
	PG_RETURN_TEXT_P(result);
}

/* The numbers of a text: simdup_numbers. */

PG_FUNCTION_INFO_V1(simdup_numbers);
/* Return simdup_numbers(content). */
Datum
simdup_numbers(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	size_t len;
	/* other encodings may have the fullwidth signs only */
	char *numbers =
		simdup_text_numbers(content.bytes, content.len, is_utf8(), &len);

	PG_RETURN_TEXT_P(simdup_utf8_to_text(numbers, len));
}

/*
 * What a letter adds, what letters have in common, and a letter without its
 * boilerplate: simdup_own_text, simdup_common_text and simdup_without.
 */

/* What stands between passages: full stops in encodings without an ellipsis. */
static const char *
separator(void)
{
	char encoded[SIMDUP_HTML_CHAR_MAX];

	return encode_char(conversion_from_utf8(), 0x2026, encoded) > 0
			   ? " \xe2\x80\xa6 "
			   : " ... ";
}

/* Return the texts of an array, and their number, without its NULLs. */
static SimdupUtf8 *
passage_texts(ArrayType *array, size_t *n)
{
	SimdupUtf8 *texts;
	Datum *values;
	bool *nulls;
	int n_values;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n_values);
	texts = palloc(((Size) n_values + 1) * sizeof(SimdupUtf8));
	*n = 0;
	for (int i = 0; i < n_values; i++)
		if (!nulls[i])
			texts[(*n)++] = simdup_text_to_utf8(DatumGetTextPP(values[i]));
	return texts;
}

void
simdup_too_many_words(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many words"));
}

StringInfoData
simdup_join_passages(SimdupUtf8 content, const SimdupPassage *passages,
					 size_t n, const char *between)
{
	StringInfoData joined;

	if (passages == NULL)
		simdup_too_many_words();
	initStringInfo(&joined);
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoString(&joined, between);
		appendBinaryStringInfo(&joined, content.bytes + passages[i].from,
							   (int) (passages[i].to - passages[i].from));
	}
	/* a character that Unicode lacks cannot come back */
	for (int i = 0; GetDatabaseEncoding() != PG_SQL_ASCII && i < joined.len;
		 i++)
		if ((unsigned char) joined.data[i] == NO_CHARACTER)
			joined.data[i] = '?';
	return joined;
}

/* The result of a function that shows passages of a text; NULL for none. */
static Datum
show_passages(FunctionCallInfo fcinfo, SimdupUtf8 content,
			  const SimdupPassage *passages, size_t n)
{
	StringInfoData joined =
		simdup_join_passages(content, passages, n, separator());

	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.data, (size_t) joined.len));
}

PG_FUNCTION_INFO_V1(simdup_own_text);
/* Return simdup_own_text(content, template). */
Datum
simdup_own_text(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupUtf8 other = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	size_t n = 0;
	SimdupPassage *passages = simdup_own_passages(content, other, &n);

	return show_passages(fcinfo, content, passages, n);
}

PG_FUNCTION_INFO_V1(simdup_common_text);
/* Return simdup_common_text(contents, share). */
Datum
simdup_common_text(PG_FUNCTION_ARGS)
{
	double share = simdup_check_fraction(PG_GETARG_FLOAT8(1), "share");
	size_t n_texts;
	SimdupUtf8 *texts = passage_texts(PG_GETARG_ARRAYTYPE_P(0), &n_texts);
	SimdupPassage *passages;
	size_t n = 0;

	if (n_texts == 0)
		PG_RETURN_NULL();
	passages = simdup_common_passages(texts, n_texts, share, &n);
	return show_passages(fcinfo, texts[0], passages, n);
}

/* The passages of a call, for the next ones. */
typedef struct WithoutCache
{
	MemoryContext context;
	ArrayType *array;
	SimdupBoilerplate boilerplate;
} WithoutCache;

/* Return the boilerplate of an array, which is that of the last call as a rule. */
static const SimdupBoilerplate *
boilerplate_of(FmgrInfo *function, ArrayType *array)
{
	WithoutCache *cache = function->fn_extra;
	MemoryContext context;
	MemoryContext old;
	SimdupUtf8 *texts;
	size_t n;

	if (cache != NULL && VARSIZE(cache->array) == VARSIZE(array) &&
		memcmp(cache->array, array, VARSIZE(array)) == 0)
		return &cache->boilerplate;
	function->fn_extra = NULL;
	if (cache != NULL)
		MemoryContextDelete(cache->context);
	context = AllocSetContextCreate(function->fn_mcxt, "simdup_without",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	cache = palloc0(sizeof(WithoutCache));
	cache->context = context;
	texts = passage_texts(array, &n);
	for (size_t i = 0; i < n; i++)
		if (!simdup_add_boilerplate(&cache->boilerplate, texts[i]))
			simdup_too_many_words();
	cache->array = memcpy(palloc(VARSIZE(array)), array, VARSIZE(array));
	MemoryContextSwitchTo(old);
	function->fn_extra = cache;
	return &cache->boilerplate;
}

PG_FUNCTION_INFO_V1(simdup_without);
/* Return simdup_without(content, passages). */
Datum
simdup_without(PG_FUNCTION_ARGS)
{
	const SimdupBoilerplate *boilerplate;
	SimdupUtf8 content;
	SimdupPassage *passages;
	StringInfoData joined;
	size_t n = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	boilerplate = boilerplate_of(fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(1));
	content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	passages = simdup_without_boilerplate(content, boilerplate, &n);
	/* as it is, also where Unicode lacks one of its characters */
	if (n == 1 && passages[0].from == 0 && passages[0].to == content.len)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	joined = simdup_join_passages(content, passages, n, "\n");
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.data, (size_t) joined.len));
}
