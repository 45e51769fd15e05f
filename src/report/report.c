/*
 * report.c
 *	  The differences of two texts, and the files and the escapes of the page, for
 *	  sql/70-report.sql.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

#include "core/compare/passages.h"
#include "core/unicode/charclass.h"
#include "text/encoding.h"

/*
 * The page: its files, values as ASCII to stand in it, and what two texts share.
 *
 * The page is ASCII, so it is right in every encoding that a client may save it
 * in. simdup_report_html (sql/70-report.sql) puts it together.
 */

#define REPLACEMENT_CHAR 0xFFFD

/* In characters: the texts that are compared, and the parts shown of them. */
#define MAX_COMPARED_CHARS (1 << 20)
#define MAX_SHOWN 800
#define MAX_OWN_SHOWN 240 /* of a passage that one text has */
#define MAX_SAME_SHOWN 60 /* at each end of a long passage that both have */
#define MIN_SAME_CUT 150  /* a passage that both have is long from here on */

/* The files by name, as C strings that make writes. The texts alone are not ASCII. */
static const char *const names[] = {"page", "style", "script", "texts"};
static const char *const files[] = {
#include "report/report_html.inc"
	,
#include "report/report_css.inc"
	,
#include "report/report_js.inc"
	,
#include "report/report_json.inc"
};

/* Return UTF-8 as ASCII, for HTML or for JSON. Invalid bytes become U+FFFD. */
static text *
to_ascii(SimdupUtf8 value, bool html)
{
	const unsigned char *p = (const unsigned char *) value.bytes;
	const unsigned char *end = p + value.len;
	StringInfoData page;
	int len;

	initStringInfo(&page);
	for (; p < end; p += len)
	{
		uint32 cp = simdup_utf8_decode(p, end, &len);

		CHECK_FOR_INTERRUPTS();
		/* HTML has no reference to a control character */
		if (cp == SIMDUP_INVALID_CHAR ||
			(html && (cp < 0x20 || (cp >= 0x7F && cp <= 0x9F))))
			cp = REPLACEMENT_CHAR;
		if ((cp < 0x7F && cp >= 0x20 && strchr("&<>\"'", (int) cp) == NULL) ||
			(!html && (cp == '"' || cp == '\n')))
			appendStringInfoChar(&page, (char) cp);
		else if (html)
			appendStringInfo(&page, "&#%u;", cp);
		else if (cp <= 0xFFFF)
			appendStringInfo(&page, "\\u%04x", cp);
		else
			appendStringInfo(&page, "\\u%04x\\u%04x",
							 0xD800 + ((cp - 0x10000) >> 10),
							 0xDC00 + ((cp - 0x10000) & 0x3FF));
	}
	return cstring_to_text_with_len(page.data, page.len);
}

PG_FUNCTION_INFO_V1(simdup_report_ascii);
/* Return a value as ASCII, for HTML or for JSON, or the file that it names. */
Datum
simdup_report_ascii(PG_FUNCTION_ARGS)
{
	text *value = PG_GETARG_TEXT_PP(0);
	char *form = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char *name;

	if (strcmp(form, "file") != 0)
		PG_RETURN_TEXT_P(
			to_ascii(simdup_text_to_utf8(value), strcmp(form, "html") == 0));
	name = text_to_cstring(value);
	for (int i = 0; i < (int) lengthof(files); i++)
	{
		if (strcmp(names[i], name) != 0)
			continue;
		if (strcmp(name, "texts") != 0)
			PG_RETURN_TEXT_P(cstring_to_text(files[i]));
		PG_RETURN_TEXT_P(
			to_ascii((SimdupUtf8){files[i], strlen(files[i])}, false));
	}
	PG_RETURN_NULL();
}

/* Begin a list with its kind and a passage. */
static void
put_passage(StringInfo json, char kind, Datum passage)
{
	appendStringInfo(json, "%s[\"%c\", ", json->len > 1 ? ", " : "", kind);
	escape_json(json, TextDatumGetCString(passage));
}

/*
 * Put a passage that both texts have, or the ends of a long one. Return how many
 * characters count as shown.
 */
static int
put_same(StringInfo json, Datum passage)
{
	int n = DatumGetInt32(DirectFunctionCall1(textlen, passage));
	Datum shown = Int32GetDatum(MAX_SAME_SHOWN);

	if (n >= MIN_SAME_CUT)
	{
		put_passage(json, '=', DirectFunctionCall2(text_left, passage, shown));
		appendStringInfo(json, "], [\"~\", %d]", n - 2 * MAX_SAME_SHOWN);
		passage = DirectFunctionCall2(text_right, passage, shown);
	}
	put_passage(json, '=', passage);
	appendStringInfoChar(json, ']');
	return Min(n, MIN_SAME_CUT - 1);
}

/*
 * Put a passage that one text has, and how much of it is left out. Return how
 * many characters are shown.
 */
static int
put_own(StringInfo json, char kind, Datum passage)
{
	int n = DatumGetInt32(DirectFunctionCall1(textlen, passage));

	if (n == 0)
		return 0;
	put_passage(json, kind,
				DirectFunctionCall2(text_left, passage,
									Int32GetDatum(MAX_OWN_SHOWN)));
	if (n > MAX_OWN_SHOWN)
		appendStringInfo(json, ", %d", n - MAX_OWN_SHOWN);
	appendStringInfoChar(json, ']');
	return Min(n, MAX_OWN_SHOWN);
}

static Datum
passage(SimdupUtf8 of, uint32 start, uint32 len)
{
	return PointerGetDatum(simdup_utf8_to_text(of.bytes + start, len));
}

/* Return the start of an argument, without blanks at its ends. */
static SimdupUtf8
compared_text(Datum value)
{
	Datum start = DirectFunctionCall2(text_left, value,
									  Int32GetDatum(MAX_COMPARED_CHARS));

	/* cut first, since nothing can interrupt btrim */
	return simdup_text_to_utf8(DatumGetTextPP(
		DirectFunctionCall2(btrim, start, CStringGetTextDatum(" \t\r\n"))));
}

PG_FUNCTION_INFO_V1(simdup_report_differences);
/*
 * simdup_report_differences(a, b): both texts as one. ["=", text] is in both,
 * ["-", text] in the first, ["+", text] in the second. A number after a text counts
 * the characters that are left out. ["~", n] are n characters in both.
 * ["more", n] are n differences that follow.
 */
Datum
simdup_report_differences(PG_FUNCTION_ARGS)
{
	SimdupUtf8 a = compared_text(PG_GETARG_DATUM(0));
	SimdupUtf8 b = compared_text(PG_GETARG_DATUM(1));
	SimdupDiff diff = simdup_diff(a.bytes, a.len, b.bytes, b.len);
	int n_shown = 0;
	int n_more = 0;
	size_t i;
	StringInfoData json;

	if (diff.n == 0)
		PG_RETURN_NULL();
	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	for (i = 0; i < diff.n && n_shown < MAX_SHOWN; i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];
		Datum in_b = passage(b, part->b_start, part->b_len);

		if (part->same)
			n_shown += put_same(&json, in_b);
		else
		{
			n_shown +=
				put_own(&json, '-', passage(a, part->a_start, part->a_len));
			n_shown += put_own(&json, '+', in_b);
		}
	}
	for (; i < diff.n; i++)
		n_more += !diff.parts[i].same;
	if (n_more > 0)
		appendStringInfo(&json, ", [\"more\", %d]", n_more);
	appendStringInfoChar(&json, ']');
	simdup_diff_free(&diff);
	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
}
