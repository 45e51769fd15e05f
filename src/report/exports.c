/*
 * exports.c
 *	  Keys of groups and pairs as JSON, from which the page makes files.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "report/sections.h"

static void
put_key(const SimdupReport *report, uint32 number)
{
	Datum key = simdup_keys_get(report->rows->keys, number, 0);

	simdup_json_put(report->page, simdup_text_to_utf8(DatumGetTextPP(key)));
}

/* Each row of the groups: number of the group, key, distance. */
static void
put_rows(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *rows = &report->listing->rows;

	appendStringInfo(page, "\"n_rows\": " INT64_FORMAT ",\n\"rows\": [",
					 report->stats->near_rows);
	for (uint32 i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(page, "%s[%u, ", i > 0 ? ",\n" : "",
						 rows->triples[i].x + 1);
		put_key(report, rows->triples[i].y);
		appendStringInfo(page, ", %u]", rows->triples[i].z);
	}
	appendStringInfoString(page, "]");
}

/* The first of a pair is the earlier in the order of the query. */
static void
put_pairs(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *pairs = &report->pairs->exported;
	double n = 0;

	for (int d = 0; d <= report->stats->max_distance; d++)
		n += report->stats->pairs[d];
	appendStringInfo(page, "\"n_pairs\": %.0f,\n\"pairs\": [", n);
	for (uint32 i = 0; i < pairs->n; i++)
	{
		SimdupTriple pair = pairs->triples[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		put_key(report, Min(pair.y, pair.z));
		appendStringInfoString(page, ", ");
		put_key(report, Max(pair.y, pair.z));
		appendStringInfo(page, ", %u]", pair.x);
	}
	appendStringInfoString(page, "]");
}

void
simdup_put_exports(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfoString(page,
						   "<script type=\"application/json\" id=\"data\">\n{");
	put_rows(report);
	appendStringInfoString(page, ",\n");
	put_pairs(report);
	appendStringInfoString(page, "}\n</script>\n");
}
