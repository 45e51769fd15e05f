/*
 * exports.c
 *	  Keys of groups and pairs as JSON, from which the page makes files.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "report/sections.h"

static void
put_text(StringInfo page, const text *value)
{
	simdup_json_put(page, simdup_text_to_utf8(value));
}

static void
put_key(const SimdupReport *report, uint32 number)
{
	Datum key = simdup_keys_get(report->rows->keys, number, 0);

	put_text(report->page, DatumGetTextPP(key));
}

/* Each row of the groups: number of the group, key, distance. */
static void
put_rows(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *rows = &report->listing->rows;

	appendStringInfo(page, "\"n_rows\": " INT64_FORMAT ",\n\"rows\": [",
					 report->listing->n_rows);
	for (uint32 i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(page, "%s[" INT64_FORMAT ", ", i > 0 ? ",\n" : "",
						 report->listing->groups[rows->triples[i].x].id);
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
		appendStringInfo(page, ", %u", pair.x);
		if (report->cases != NULL)
		{
			const char *decision =
				simdup_decision_of(report->cases, pair.y, pair.z);

			appendStringInfo(page, ", \"%s\"", decision ? decision : "");
		}
		appendStringInfoString(page, "]");
	}
	appendStringInfoString(page, "]");
}

/* The latest decisions: two keys, the answer, note, person, time. */
static void
put_decisions(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupCases *cases = report->cases;
	int64 n = Min(cases->n_decisions, SIMDUP_EXPORTED_PAIRS);

	appendStringInfo(page,
					 ",\n\"n_decisions\": " INT64_FORMAT ",\n\"decisions\": [",
					 cases->n_decisions);
	for (int64 i = 0; i < n; i++)
	{
		const SimdupDecision *decision = &cases->decisions[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		put_text(page, decision->a);
		appendStringInfoString(page, ", ");
		put_text(page, decision->b);
		appendStringInfo(page, ", \"%s\", ",
						 decision->same ? "the same" : "not the same");
		if (decision->note == NULL)
			appendStringInfoString(page, "\"\"");
		else
			put_text(page, decision->note);
		appendStringInfoString(page, ", ");
		put_text(page, decision->by);
		appendStringInfoString(page, ", ");
		put_text(page, decision->at);
		appendStringInfoString(page, "]");
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
	if (report->cases != NULL)
		put_decisions(report);
	appendStringInfoString(page, "}\n</script>\n");
}
