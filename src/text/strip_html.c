/*
 * strip_html.c
 *	  simdup_strip_html: the text of a page.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"

#include "core/charclass.h"
#include "core/text.h"
#include "text/profile.h"

/*
 * A SimdupHtmlEncode for the database's encoding; arg is the conversion
 * function from UTF-8, or NULL if the database is in UTF-8.
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

PG_FUNCTION_INFO_V1(simdup_strip_html);
Datum
simdup_strip_html(PG_FUNCTION_ARGS)
{
	text *html = PG_GETARG_TEXT_PP(0);
	size_t len = VARSIZE_ANY_EXHDR(html);
	int encoding = GetDatabaseEncoding();
	Oid conversion = InvalidOid;
	bool is_utf8 = encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
	text *result = palloc(VARHDRSZ + len);

	if (!is_utf8)
		conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	len = simdup_html_text(VARDATA_ANY(html), len, VARDATA(result), encode_char,
						   is_utf8 ? NULL : &conversion);
	SET_VARSIZE(result, VARHDRSZ + len);
	PG_RETURN_TEXT_P(result);
}
