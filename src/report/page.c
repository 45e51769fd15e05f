/*
 * page.c
 *	  The files of the report's page, and values as ASCII to stand in it.
 *
 * The page is ASCII, so it is right in every encoding that a client may save it
 * in. simdup_report_html (sql/70-report.sql) puts it together.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "core/charclass.h"
#include "text/profile.h"

#define REPLACEMENT_CHAR 0xFFFD

/* The files as C strings, written by make. */
static const char *const files[] = {
#include "report/report_html.inc"
	,
#include "report/report_css.inc"
	,
#include "report/report_js.inc"
	,
#include "report/report_json.inc"
};

/* Check whether a character is invisible, or able to reorder text. */
static bool
is_hidden(uint32 cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp <= 0x9F) || cp == 0x200B ||
		   (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2060 && cp <= 0x206F) ||
		   cp == 0xFEFF;
}

static void
put_char(StringInfo page, uint32 cp, bool html)
{
	if (cp < 0x7F && cp >= 0x20 && strchr("&<>\"'", (int) cp) == NULL)
		appendStringInfoChar(page, (char) cp);
	else if (html)
		appendStringInfo(page, "&#%u;", is_hidden(cp) ? REPLACEMENT_CHAR : cp);
	else if (cp == '"' || cp == '\n')
		appendStringInfoChar(page, (char) cp);
	else if (cp <= 0xFFFF)
		appendStringInfo(page, "\\u%04x", cp);
	else
		appendStringInfo(page, "\\u%04x\\u%04x",
						 0xD800 + ((cp - 0x10000) >> 10),
						 0xDC00 + ((cp - 0x10000) & 0x3FF));
}

/* Return UTF-8 as ASCII, for HTML or for JSON. What is not UTF-8 is U+FFFD. */
static text *
to_ascii(SimdupUtf8 value, bool html)
{
	const unsigned char *p = (const unsigned char *) value.bytes;
	const unsigned char *end = p + value.len;
	StringInfoData page;

	initStringInfo(&page);
	while (p < end)
	{
		int len;
		uint32 cp = simdup_utf8_decode(p, end, &len);

		put_char(&page, cp == SIMDUP_INVALID_CHAR ? REPLACEMENT_CHAR : cp,
				 html);
		p += len;
	}
	return cstring_to_text_with_len(page.data, page.len);
}

PG_FUNCTION_INFO_V1(simdup_report_ascii);
/* Return simdup_report_ascii(value, html). */
Datum
simdup_report_ascii(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(
		to_ascii(simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), PG_GETARG_BOOL(1)));
}

PG_FUNCTION_INFO_V1(simdup_report_file);
/*
 * Return simdup_report_file(n): the template, the style sheet or the script of
 * the page, or its texts in ASCII, from 0.
 */
Datum
simdup_report_file(PG_FUNCTION_ARGS)
{
	int n = PG_GETARG_INT32(0);
	const char *file;

	if (n < 0 || n >= (int) lengthof(files))
		PG_RETURN_NULL();
	file = files[n];
	if (n < (int) lengthof(files) - 1)
		PG_RETURN_TEXT_P(cstring_to_text(file));
	PG_RETURN_TEXT_P(to_ascii((SimdupUtf8){file, strlen(file)}, false));
}
