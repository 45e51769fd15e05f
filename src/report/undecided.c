/*
 * undecided.c
 *	  The report's list of pairs to decide, of a grouping.
 *
 * simdup_review finds them. The page's script writes a call of simdup_decide for
 * those that the reader ticked.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "report/difference.h"
#include "report/sections.h"
#include "report/row_url.h"
#include "server/catalog.h"

#define N_PAIRS 50
#define MAX_CHARS 1500

typedef struct ReviewPair
{
	text *a; /* keys */
	text *b;
	text *why;
	Datum distance;
	bool null_distance;
	Datum resemblance;
	bool null_resemblance;
	text *contents[2]; /* NULL where the table keeps none */
} ReviewPair;

/* A column of a row of SPI_tuptable, as text; NULL for a null. */
static text *
text_at(uint64 row, int column)
{
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
								column, &isnull);

	return isnull ? NULL : DatumGetTextPP(value);
}

static ReviewPair
pair_at(uint64 row)
{
	HeapTuple tuple = SPI_tuptable->vals[row];
	TupleDesc columns = SPI_tuptable->tupdesc;
	ReviewPair pair;

	pair.a = text_at(row, 1);
	pair.b = text_at(row, 2);
	pair.why = text_at(row, 3);
	pair.distance = SPI_getbinval(tuple, columns, 4, &pair.null_distance);
	pair.resemblance = SPI_getbinval(tuple, columns, 5, &pair.null_resemblance);
	pair.contents[0] = text_at(row, 6);
	pair.contents[1] = text_at(row, 7);
	return pair;
}

static void
put_choice(StringInfo page, uint64 number, const char *value, const char *name,
		   bool checked)
{
	appendStringInfo(page,
					 "<label><input type=\"radio\" name=\"pair" UINT64_FORMAT
					 "\" value=\"%s\"%s> %s</label> ",
					 number, value, checked ? " checked" : "", name);
}

static void
put_contents(StringInfo page, const ReviewPair *pair)
{
	SimdupUtf8 contents[2];
	bool cut = false;

	if (pair->contents[0] == NULL || pair->contents[1] == NULL)
		return;
	for (int i = 0; i < 2; i++)
	{
		contents[i] = simdup_text_to_utf8(pair->contents[i]);
		cut = cut || contents[i].len > SIMDUP_MAX_SAMPLE;
		contents[i].len = Min(contents[i].len, SIMDUP_MAX_SAMPLE);
	}
	appendStringInfoString(page, "<div class=\"text\" dir=\"auto\">");
	simdup_put_difference(page, contents[0], contents[1], MAX_CHARS, cut);
	appendStringInfoString(page, "</div>");
}

static void
put_pair(const SimdupReport *report, uint64 number)
{
	StringInfo page = report->page;
	ReviewPair pair = pair_at(number);

	appendStringInfoString(page, "<article class=\"entry\"><h3>");
	simdup_put_key(page, report->row_url, pair.a);
	appendStringInfoString(page, " and ");
	simdup_put_key(page, report->row_url, pair.b);
	appendStringInfoString(page, "</h3><p>");
	if (pair.why != NULL)
		simdup_html_put_text(page, pair.why, SIMDUP_HTML_LINE);
	if (!pair.null_distance)
		appendStringInfo(page, ", distance %d", DatumGetInt32(pair.distance));
	if (!pair.null_resemblance)
		appendStringInfo(page, ", resemblance %.2f",
						 DatumGetFloat8(pair.resemblance));
	appendStringInfoString(page, "</p>");
	put_contents(page, &pair);
	appendStringInfoString(page, "<fieldset class=\"pair\"><legend>Do ");
	simdup_put_key(page, NULL, pair.a);
	appendStringInfoString(page, " and ");
	simdup_put_key(page, NULL, pair.b);
	appendStringInfoString(page, " tell the same?</legend>");
	put_choice(page, number, "true", "The same", false);
	put_choice(page, number, "false", "Not the same", false);
	put_choice(page, number, "", "Not decided", true);
	appendStringInfoString(page, "</fieldset></article>\n");
}

static void
put_utf8_json(StringInfo page, const text *value)
{
	simdup_json_put(page, simdup_text_to_utf8(value));
}

/* What the script needs: names as SQL writes them, and the keys. */
static void
put_data(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupCases *cases = report->cases;

	appendStringInfoString(page,
						   "<script type=\"application/json\" id=\"review-data\">\n{\"grouping\": ");
	put_utf8_json(page, cstring_to_text(cases->members_name));
	appendStringInfoString(page, ", \"key_type\": ");
	put_utf8_json(page, cstring_to_text(cases->key_type));
	appendStringInfoString(page, ", \"decide\": ");
	put_utf8_json(page, cstring_to_text(
							psprintf("%s.simdup_decide", report->schema)));
	appendStringInfoString(page, ", \"pairs\": [");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		put_utf8_json(page, text_at(i, 1));
		appendStringInfoString(page, ", ");
		put_utf8_json(page, text_at(i, 2));
		appendStringInfoString(page, "]");
	}
	appendStringInfoString(page, "]}\n</script>\n");
}

/* Needs an SPI connection, as the rows are in its memory. */
static void
find_pairs(const SimdupReport *report)
{
	Oid types[2] = {TEXTOID, INT4OID};
	Datum values[2] = {PointerGetDatum(report->cases->name),
					   Int32GetDatum(N_PAIRS)};
	char *query =
		psprintf("SELECT r.a, r.b, r.why, r.distance, r.resemblance, r.content_a, r.content_b FROM %s.simdup_review($1, $2) AS r",
				 report->schema);

	if (SPI_execute_with_args(query, 2, types, values, NULL, true, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s", query);
}

void
simdup_put_review(const SimdupReport *report)
{
	StringInfo page = report->page;

	if (report->cases == NULL)
		return;
	SPI_connect();
	find_pairs(report);
	appendStringInfoString(page,
						   "<section>\n<h2 id=\"review\">To decide</h2>\n"
						   "<p>These pairs are most worth a look. Tick what they are, and save the decisions as SQL.</p>\n"
						   "<p id=\"kept\" role=\"status\"></p>\n");
	for (uint64 i = 0; i < SPI_processed; i++)
		put_pair(report, i);
	if (SPI_processed == 0)
		appendStringInfoString(page, "<p>There are none.</p>\n");
	appendStringInfoString(page,
						   "<div class=\"tools\" hidden><button type=\"button\" id=\"save-decisions\">Decisions as SQL</button> "
						   "<output id=\"decided\"></output></div>\n</section>\n");
	put_data(report);
	SPI_finish();
}
