/*
 * report.c
 *	  What sql/70-report.sql cannot say: the differences of two texts, pairs by
 *	  chance, and the files and the escapes of the page.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "core/compare/passages.h"
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "core/unicode/charclass.h"
#include "server/arguments.h"
#include "text/encoding.h"
#include "type/simhash64.h"

/*
 * The page: its files, values as ASCII to stand in it, and what two texts share.
 *
 * The page is ASCII, so it is right in every encoding that a client may save it
 * in. simdup_report_html (sql/70-report.sql) puts it together.
 */

#define REPLACEMENT_CHAR 0xFFFD

/* Passages that are returned. A page shows 800 characters of them. */
#define MAX_PARTS 1000

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
Datum
simdup_report_ascii(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(
		to_ascii(simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), PG_GETARG_BOOL(1)));
}

PG_FUNCTION_INFO_V1(simdup_report_file);
/* Return a file; the last one, the texts, in ASCII. */
Datum
simdup_report_file(PG_FUNCTION_ARGS)
{
	int n = PG_GETARG_INT32(0);

	if (n < 0 || n >= (int) lengthof(files))
		PG_RETURN_NULL();
	if (n < (int) lengthof(files) - 1)
		PG_RETURN_TEXT_P(cstring_to_text(files[n]));
	PG_RETURN_TEXT_P(to_ascii((SimdupUtf8){files[n], strlen(files[n])}, false));
}

static Datum
passage(SimdupUtf8 of, uint32 start, uint32 len)
{
	return PointerGetDatum(simdup_utf8_to_text(of.bytes + start, len));
}

PG_FUNCTION_INFO_V1(simdup_report_differences);
/*
 * simdup_report_differences(a, b): the first passages of both texts, in order,
 * each with the number of differences after it.
 */
Datum
simdup_report_differences(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupUtf8 a = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupUtf8 b = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	SimdupDiff diff = simdup_diff(a.bytes, a.len, b.bytes, b.len);
	int64 n_more = 0;

	for (size_t i = 0; i < diff.n; i++)
		n_more += !diff.parts[i].same;
	for (size_t i = 0; i < Min(diff.n, MAX_PARTS); i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];
		Datum values[] = {BoolGetDatum(part->same),
						  passage(a, part->a_start, part->a_len),
						  passage(b, part->b_start, part->b_len),
						  Int64GetDatum(part->same ? n_more : --n_more)};

		simdup_put_result(result, values, NULL);
	}
	simdup_diff_free(&diff);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_report_chances);
/*
 * simdup_report_chances(fps): the chances that two unrelated fingerprints are
 * within each distance from 0 to 64. Of more than SIMDUP_SAMPLE_SIZE, the first
 * ones are compared.
 */
Datum
simdup_report_chances(PG_FUNCTION_ARGS)
{
	int n;
	const uint64 *fps =
		simdup_array_elements(PG_GETARG_ARRAYTYPE_P(0), "fps", &n);
	double chances[SIMHASH64_BITS + 1];
	Datum values[SIMHASH64_BITS + 1];

	simdup_false_pair_chances(fps, (size_t) Min(n, SIMDUP_SAMPLE_SIZE),
							  chances);
	for (int d = 0; d <= SIMHASH64_BITS; d++)
		values[d] = Float8GetDatum(chances[d]);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, SIMHASH64_BITS + 1, FLOAT8OID,
										  sizeof(float8), true,
										  TYPALIGN_DOUBLE));
}
