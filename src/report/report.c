/*
 * report.c
 *	  simdup_report_html: a table's duplicates as one page for a browser.
 *
 * The page is self-contained: no script, no font, no image from elsewhere. All
 * that comes from the table or the caller goes through put_escaped, which
 * leaves plain ASCII. So the page is right in every encoding that the client
 * may save it in, and nothing in a text can act as markup.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "report/stats.h"
#include "server/arguments.h"

#define SAMPLE_CHARS 280

/* Length of the UTF-8 character at p, its code point; 1 and U+FFFD if none. */
static int
decode_utf8(const unsigned char *p, int left, pg_wchar *c)
{
	int len = pg_utf_mblen(p);

	if (len > left || !pg_utf8_islegal(p, len))
	{
		*c = 0xfffd;
		return 1;
	}
	*c = utf8_to_unicode(p);
	return len;
}

static void
put_escaped(StringInfo page, const char *text, int len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end;

	/* in SQL_ASCII they may be any bytes, which is no reason to fail */
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		p = (const unsigned char *) pg_server_to_any(text, len, PG_UTF8);

	/* converted or not, it ends in a zero or at len */
	end = p == (const unsigned char *) text ? p + len
											: p + strlen((const char *) p);
	while (p < end)
	{
		pg_wchar c;

		p += decode_utf8(p, (int) (end - p), &c);
		if (c < 0x20 || c == 0x7f)
			appendStringInfoChar(page, ' ');
		else if (c > 0x7f || strchr("&<>\"'`=", (int) c))
			appendStringInfo(page, "&#%u;", (unsigned) c);
		else
			appendStringInfoChar(page, (char) c);
	}
}

/* 1234567 as 1,234,567 */
static const char *
grouped(double value)
{
	char *digits = psprintf("%.0f", value);
	int len = (int) strlen(digits);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0)
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<style>\n"
/* report.css as C strings, written by make */
#include "report/report_css.inc"
	"</style>\n<title>";

static void
put_fact(StringInfo page, const char *name, int64 value)
{
	appendStringInfo(page, "<div><b>%s</b><span>%s</span></div>\n",
					 grouped((double) value), name);
}

static void
put_facts(StringInfo page, const SimdupStats *stats)
{
	appendStringInfoString(page, "<div class=\"facts\">\n");
	put_fact(page, "rows", stats->n_rows);
	put_fact(page, "without a fingerprint", stats->n_null);
	put_fact(page, "distinct fingerprints", stats->n_distinct);
	put_fact(page, "groups of equal fingerprints", stats->exact_groups);
	put_fact(page, "groups of near ones", stats->near_groups);
	put_fact(page, "rows in those", stats->near_rows);
	appendStringInfoString(page, "</div>\n");
}

/* Room for a label of the charts in the widest of the usual fonts. */
static int
label_width(const char *label)
{
	const int character_width = 9;
	int n = 0;

	for (const char *p = label; *p; p++)
	{
		/* a character reference is one character */
		if (*p == '&')
			p = strchr(p, ';');
		n++;
	}
	return n * character_width;
}

/*
 * Horizontal bars: label, bar, number. The numbers may differ by orders of
 * magnitude, so a bar of any number above 0 is at least 2 units long.
 */
static void
put_bars(StringInfo page, const char *description, int n, char **labels,
		 const double *values)
{
	const int height = 24;
	const int width = 240;
	const int gap = 8;
	double most = 0;
	int left = 0;
	int right;

	for (int i = 0; i < n; i++)
	{
		most = Max(most, values[i]);
		left = Max(left, label_width(labels[i]) + gap);
	}
	if (most == 0)
	{
		appendStringInfoString(page, "<p>None.</p>\n");
		return;
	}
	right = left + width + gap + label_width(grouped(most));
	appendStringInfo(page,
					 "<figure><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">\n",
					 right, n * height + 4, right, description);
	for (int i = 0; i < n; i++)
	{
		double length = values[i] / most * width;
		int y = i * height;

		if (values[i] > 0 && length < 2)
			length = 2;
		appendStringInfo(page,
						 "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
						 "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>"
						 "<text x=\"%.1f\" y=\"%d\">%s</text>\n",
						 left - gap, y + 17, labels[i], left, y + 4, length,
						 height - 6, left + length + gap, y + 17,
						 grouped(values[i]));
	}
	appendStringInfoString(page, "</svg></figure>\n");
}

static void
put_sizes(StringInfo page, const SimdupStats *stats)
{
	char *labels[SIMDUP_N_SIZE_BINS];
	double values[SIMDUP_N_SIZE_BINS];
	int n = 0;

	for (int i = 0; i < SIMDUP_N_SIZE_BINS; i++)
	{
		double last = ldexp(2, i);

		labels[i] = i == 0 ? "2 rows"
						   : psprintf("%s&#8211;%s rows", grouped(last / 2 + 1),
									  grouped(last));
		values[i] = (double) stats->size_bins[i];
		if (stats->size_bins[i])
			n = i + 1;
	}
	appendStringInfoString(page, "<h2>Groups by size</h2>\n");
	put_bars(page, "Number of groups by their number of rows", n, labels,
			 values);
}

static void
put_distances(StringInfo page, const SimdupStats *stats)
{
	char *labels[SIMDUP_MAX_PAIR_DISTANCE + 1];

	for (int i = 0; i <= stats->max_distance; i++)
		labels[i] =
			i == 0 ? "equal" : psprintf("%d bit%s", i, i == 1 ? "" : "s");
	appendStringInfoString(page, "<h2>Pairs by distance</h2>\n");
	put_bars(page, "Number of pairs by Hamming distance",
			 stats->max_distance + 1, labels, stats->pairs);
}

static void
put_text(StringInfo page, Datum value)
{
	text *escaped = DatumGetTextPP(value);

	put_escaped(page, VARDATA_ANY(escaped), (int) VARSIZE_ANY_EXHDR(escaped));
}

/* Key and sample of a row. */
static void
put_member(StringInfo page, SimdupRows *rows, uint32 number)
{
	appendStringInfoString(page, "<li><b>");
	put_text(page, simdup_keys_get(rows->keys, number, 0));
	appendStringInfoString(page, "</b> ");
	put_text(page, simdup_keys_get(rows->samples, number, 0));
	appendStringInfoString(page, "</li>\n");
}

static void
put_largest(StringInfo page, SimdupRows *rows, const SimdupStats *stats)
{
	appendStringInfoString(page, "<h2>Largest groups</h2>\n");
	if (stats->n_largest == 0)
		appendStringInfoString(page, "<p>None.</p>\n");
	for (int i = 0; i < stats->n_largest; i++)
	{
		const SimdupLargeCluster *cluster = &stats->largest[i];

		appendStringInfo(page, "<article><h3>%s rows</h3><ul>\n",
						 grouped(cluster->size));
		for (int j = 0; j < cluster->n_members; j++)
			put_member(page, rows, cluster->members[j]);
		if ((int64) cluster->size > cluster->n_members)
			appendStringInfo(page, "<li>and %s more</li>\n",
							 grouped((double) cluster->size -
									 cluster->n_members));
		appendStringInfoString(page, "</ul></article>\n");
	}
}

static void
put_blocks(StringInfo page, const SimdupStats *stats)
{
	appendStringInfo(page,
					 "<h2>Candidates per search</h2>\n"
					 "<p>Rows that an index on %d blocks would offer for a row's neighbours: about %.1f. "
					 "Much more in one block than in others means that few values of it are common.</p>\n"
					 "<div class=\"scroll\"><table><tr><th>bits</th><th>values</th><th>rows of the largest</th><th>candidates</th></tr>\n",
					 stats->n_blocks, simdup_expected_candidates(stats));
	for (int i = 0; i < stats->n_blocks; i++)
	{
		const SimdupBlockStats *block = &stats->blocks[i];

		appendStringInfo(page,
						 "<tr><td>%d&#8211;%d</td><td>%s</td><td>%s</td><td>%.1f</td></tr>\n",
						 block->first_bit, block->last_bit,
						 grouped((double) block->n_values),
						 grouped((double) block->largest), block->expected);
	}
	appendStringInfoString(page, "</table></div>\n");
}

static void
put_page(StringInfo page, SimdupRows *rows, const SimdupStats *stats,
		 text *title)
{
	const char *name = VARDATA_ANY(title);
	int len = (int) VARSIZE_ANY_EXHDR(title);

	appendStringInfoString(page, page_head);
	put_escaped(page, name, len);
	appendStringInfoString(page, "</title>\n</head>\n<body>\n<h1>");
	put_escaped(page, name, len);
	appendStringInfo(page,
					 "</h1>\n<p>Near-duplicates: fingerprints that differ in at most %d of 64 bits, and all that hang together so.</p>\n",
					 stats->max_distance);
	put_facts(page, stats);
	put_sizes(page, stats);
	put_distances(page, stats);
	put_largest(page, rows, stats);
	put_blocks(page, stats);
	appendStringInfoString(page, "</body>\n</html>\n");
}

PG_FUNCTION_INFO_V1(simdup_report_html);
Datum
simdup_report_html(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	text *title = PG_GETARG_TEXT_PP(1);
	int max_distance = simdup_check_max_distance(PG_GETARG_INT32(2));
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1);
	SimdupGroups *groups;
	SimdupStats stats;
	StringInfoData page;

	initStringInfo(&page);
	simdup_rows_as_text(rows, SAMPLE_CHARS);
	simdup_rows_read(rows, query, "query");
	groups = simdup_rows_group(rows);
	simdup_compute_stats(groups, max_distance, &stats);
	put_page(&page, rows, &stats, title);
	simdup_groups_end(groups);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}
