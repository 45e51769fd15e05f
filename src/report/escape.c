/*
 * escape.c
 *	  Values as HTML and JSON in plain ASCII.
 *
 * The page is ASCII, so it is right in every encoding that a client may save it
 * in. No byte of a value is copied as it is, unless it is a letter, a digit or
 * one of a few harmless marks.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "core/charclass.h"
#include "report/escape.h"

#define REPLACEMENT_CHAR 0xFFFD

/* The next character; one that is not UTF-8 is U+FFFD. */
static uint32
next_char(SimdupUtf8 *rest)
{
	const unsigned char *p = (const unsigned char *) rest->bytes;
	int len;
	uint32 cp = simdup_utf8_decode(p, p + rest->len, &len);

	rest->bytes += len;
	rest->len -= (size_t) len;
	return cp == SIMDUP_INVALID_CHAR ? REPLACEMENT_CHAR : cp;
}

static bool
in_range(uint32 cp, uint32 first, uint32 last)
{
	return cp >= first && cp <= last;
}

/* Is it shown by its number: invisible, or able to reorder what is around it? */
static bool
is_named(uint32 cp, SimdupHtmlForm form)
{
	/* scripts need the joiners and marks, so they count where they differ */
	if (in_range(cp, 0x200C, 0x200F) || cp == 0xAD || cp == 0x61C)
		return form == SIMDUP_HTML_CHANGED;
	return cp < 0x20 || in_range(cp, 0x7F, 0x9F) ||
		   in_range(cp, 0x200B, 0x200B) || in_range(cp, 0x2028, 0x202E) ||
		   in_range(cp, 0x2060, 0x206F) || cp == 0xFEFF ||
		   in_range(cp, 0xFFF9, 0xFFFB) || in_range(cp, 0xFDD0, 0xFDEF) ||
		   (cp & 0xFFFE) == 0xFFFE || in_range(cp, 0xE0000, 0xE0FFF);
}

/* Line ends and tabs as they are, with a mark where they may be what differs. */
static void
put_space(StringInfo page, uint32 cp, SimdupHtmlForm form)
{
	if (form == SIMDUP_HTML_CHANGED)
		appendStringInfoString(page, cp == '\n' ? "&#8629;" : "&#8677;");
	appendStringInfoChar(page, form == SIMDUP_HTML_PLAIN ? ' ' : (char) cp);
}

static void
put_char(StringInfo page, uint32 cp, SimdupHtmlForm form)
{
	if ((cp == '\n' || cp == '\t') && form != SIMDUP_HTML_LINE)
		put_space(page, cp, form);
	else if (cp == '\r' && form == SIMDUP_HTML_PLAIN)
		appendStringInfoChar(page, ' ');
	else if (is_named(cp, form))
		appendStringInfo(page,
						 form == SIMDUP_HTML_PLAIN
							 ? "[U+%04X]"
							 : "<span class=\"named\">U+%04X</span>",
						 cp);
	else if (cp > 0x7F || strchr("&<>\"'`=", (int) cp) != NULL)
		appendStringInfo(page, "&#%u;", cp);
	else
		appendStringInfoChar(page, (char) cp);
}

void
simdup_html_put(StringInfo page, SimdupUtf8 value, SimdupHtmlForm form)
{
	/* a line end of two characters is one, unless it is all that differs */
	bool joined = form == SIMDUP_HTML_TEXT ||
				  (form == SIMDUP_HTML_CHANGED && value.len > 2);

	while (value.len > 0)
	{
		uint32 cp = next_char(&value);

		if (cp == '\r' && joined && value.len > 0 && value.bytes[0] == '\n')
			continue;
		put_char(page, cp, form);
	}
}

void
simdup_html_put_text(StringInfo page, const text *value, SimdupHtmlForm form)
{
	simdup_html_put(page, simdup_text_to_utf8(value), form);
}

void
simdup_json_put(StringInfo page, SimdupUtf8 value)
{
	appendStringInfoChar(page, '"');
	while (value.len > 0)
	{
		uint32 cp = next_char(&value);

		if (cp > 0xFFFF)
			appendStringInfo(page, "\\u%04x\\u%04x",
							 0xD800 + ((cp - 0x10000) >> 10),
							 0xDC00 + ((cp - 0x10000) & 0x3FF));
		else if (cp < 0x20 || cp > 0x7E ||
				 strchr("&<>=\"'\\", (int) cp) != NULL)
			appendStringInfo(page, "\\u%04x", cp);
		else
			appendStringInfoChar(page, (char) cp);
	}
	appendStringInfoChar(page, '"');
}

SimdupUtf8
simdup_utf8_start(SimdupUtf8 value, int64 n)
{
	SimdupUtf8 rest = value;

	while (rest.len > 0 && n-- > 0)
		(void) next_char(&rest);
	value.len -= rest.len;
	return value;
}

SimdupUtf8
simdup_utf8_end(SimdupUtf8 value, int64 n)
{
	int64 length = simdup_utf8_length(value);

	while (length-- > n)
		(void) next_char(&value);
	return value;
}

int64
simdup_utf8_length(SimdupUtf8 value)
{
	int64 n = 0;

	for (; value.len > 0; n++)
		(void) next_char(&value);
	return n;
}

const char *
simdup_grouped(double value)
{
	char *digits = psprintf("%.0f", value);
	int len = (int) strlen(digits);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

const char *
simdup_counted(double n, const char *one, const char *many)
{
	return psprintf("%s %s", simdup_grouped(n), n == 1 ? one : many);
}
