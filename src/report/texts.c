/*
 * texts.c
 *	  The report's pairs and groups, with their texts.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "report/difference.h"
#include "report/row_url.h"
#include "report/sections.h"
#include "text/minhash64.h"
#include "text/profile.h"

/* Characters that are shown of a pair, and of a row of a group. */
#define PAIR_CHARS 1500
#define ROW_CHARS 500
/* Characters of a closed group. */
#define HEAD_CHARS 90
/* Decisions that are shown. */
#define SHOWN_DECISIONS 200
/* Bytes of a page that groups may take. */
#define GROUPS_BYTES (8 * 1024 * 1024)

/* The text of a row, and whether it goes on. */
typedef struct RowText
{
	SimdupUtf8 utf8;
	bool cut;
} RowText;

static RowText
text_of(const SimdupReport *report, uint32 number)
{
	RowText row;

	row.utf8 =
		simdup_text_to_utf8(simdup_rows_sample(report->rows, number, &row.cut));
	return row;
}

static void
put_key(const SimdupReport *report, uint32 number)
{
	Datum key = simdup_keys_get(report->rows->keys, number, 0);

	simdup_put_key(report->page, report->row_url, DatumGetTextPP(key));
}

static bool
same_text(RowText a, RowText b)
{
	return a.utf8.len == b.utf8.len && !a.cut && !b.cut &&
		   memcmp(a.utf8.bytes, b.utf8.bytes, a.utf8.len) == 0;
}

/* Text b, with what differs from a. */
static void
put_text(const SimdupReport *report, RowText a, RowText b, int64 max_chars)
{
	StringInfo page = report->page;

	appendStringInfoString(page, "<div class=\"text\" dir=\"auto\">");
	if (a.utf8.len == 0 && b.utf8.len == 0)
		appendStringInfoString(page, "<i class=\"omitted\">[no text]</i>");
	else if (same_text(a, b))
		simdup_put_start(page, b.utf8, max_chars, b.cut);
	else
		simdup_put_difference(page, a.utf8, b.utf8, max_chars, a.cut || b.cut);
	appendStringInfoString(page, "</div>");
}

/* Shingles of four characters, as minhash64 has them; nothing without any. */
static void
put_resemblance(StringInfo page, RowText a, RowText b)
{
	SimdupHashes sets[2];

	sets[0] = simdup_element_set(simdup_default_shingling, a.utf8);
	sets[1] = simdup_element_set(simdup_default_shingling, b.utf8);
	if (sets[0].n > 0 && sets[1].n > 0)
		appendStringInfo(page, ", resemblance %.2f",
						 simdup_resemblance(&sets[0], &sets[1]));
}

static void
put_pair(const SimdupReport *report, SimdupTriple pair, int distance)
{
	StringInfo page = report->page;
	RowText a = text_of(report, pair.y);
	RowText b = text_of(report, pair.z);
	const char *decision;

	appendStringInfoString(page, "<article class=\"entry\"><h4>");
	put_key(report, pair.y);
	appendStringInfoString(page, " and ");
	put_key(report, pair.z);
	appendStringInfo(page, "</h4><p>Distance %d", distance);
	put_resemblance(page, a, b);
	if (report->rows->has_samples)
		appendStringInfoString(page, same_text(a, b) ? ", the same text" : "");
	decision = simdup_decision_of(report->cases, pair.y, pair.z);
	if (decision != NULL)
		appendStringInfo(page, ", <strong>decided: %s</strong>", decision);
	appendStringInfoString(page, "</p>");
	if (report->rows->has_samples)
		put_text(report, a, b, PAIR_CHARS);
	appendStringInfoString(page, "</article>\n");
}

void
simdup_put_pairs(const SimdupReport *report)
{
	StringInfo page = report->page;
	int farthest = 0;

	for (int d = 0; d <= report->stats->max_distance; d++)
		if (report->pairs->shown[d].n > 0)
			farthest = d;
	appendStringInfoString(page,
						   "<section>\n<h2 id=\"pairs\">Pairs to judge by</h2>\n"
						   "<p>Up to five pairs at each distance, chosen at random. Read the farthest first: do they tell the same? "
						   "What the first text has alone is <del>struck out</del>; what the second has alone is <ins>underlined</ins>. "
						   "Resemblance is the share of four-character passages that both texts have.</p>\n");
	for (int d = 0; d <= report->stats->max_distance; d++)
	{
		const SimdupSmallest *shown = &report->pairs->shown[d];

		if (shown->n == 0)
			continue;
		appendStringInfo(page,
						 "<details%s><summary><h3>%s</h3> <span>%s</span></summary>\n",
						 d == farthest ? " open" : "",
						 d == 0 ? "Equal fingerprints"
								: psprintf("Distance %d", d),
						 simdup_counted(report->stats->pairs[d], "pair",
										"pairs"));
		for (uint32 i = 0; i < shown->n; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(report->context);

			CHECK_FOR_INTERRUPTS();
			put_pair(report, shown->triples[i], d);
			MemoryContextSwitchTo(old);
			MemoryContextReset(report->context);
		}
		appendStringInfoString(page, "</details>\n");
	}
	if (report->pairs->exported.n == 0)
		appendStringInfoString(page, "<p>There are none.</p>\n");
	appendStringInfoString(page, "</section>\n");
}

/* A row of a group; the first row is shown as it is, others against it. */
static void
put_row(const SimdupReport *report, const SimdupListedRow *row,
		uint32 first_row, RowText first)
{
	StringInfo page = report->page;
	bool far = row->distance > report->stats->max_distance;
	bool is_first = row->number == first_row;
	RowText text = is_first ? first : text_of(report, row->number);
	const char *decision =
		is_first ? NULL
				 : simdup_decision_of(report->cases, first_row, row->number);

	appendStringInfoString(page, "<li class=\"entry\"><p>");
	put_key(report, row->number);
	if (is_first)
		appendStringInfoString(page, report->cases != NULL ? " the first letter"
														   : " the first row");
	else
		appendStringInfo(page, " distance %d%s%s", row->distance,
						 far ? ", <strong>beyond the limit</strong>" : "",
						 report->rows->has_samples && same_text(first, text)
							 ? ", the same text"
							 : "");
	if (decision != NULL)
		appendStringInfo(page, ", <strong>decided: %s</strong>", decision);
	appendStringInfoString(page, "</p>");
	if (report->rows->has_samples && (is_first || !same_text(first, text)))
		put_text(report, first, text, ROW_CHARS);
	appendStringInfoString(page, "</li>\n");
}

/* A grouping is of letters, another query of rows. */
static const char *
counted_rows(const SimdupReport *report, double n)
{
	return report->cases != NULL ? simdup_counted(n, "letter", "letters")
								 : simdup_counted(n, "row", "rows");
}

/* The key of a group and how its text begins, closed or open. */
static void
put_group_head(const SimdupReport *report, const SimdupListedGroup *group,
			   RowText first)
{
	StringInfo page = report->page;
	Datum key = simdup_keys_get(report->rows->keys, group->first_row, 0);
	bool loose = group->reach > report->stats->max_distance;

	appendStringInfo(page,
					 "<details class=\"group\"><summary><h3>%s " INT64_FORMAT
					 "</h3> <span>%s</span> ",
					 report->cases != NULL ? "Case" : "Group", group->id,
					 counted_rows(report, group->size));
	if (loose && report->cases == NULL)
		appendStringInfoString(page,
							   "<strong class=\"loose\">does not hold together</strong> ");
	simdup_put_key(page, NULL, DatumGetTextPP(key));
	appendStringInfoString(page, " <span class=\"start\" dir=\"auto\">");
	simdup_html_put(page, simdup_utf8_start(first.utf8, HEAD_CHARS),
					SIMDUP_HTML_PLAIN);
	appendStringInfoString(page, "</span></summary>\n");
	if (loose)
		appendStringInfo(page,
						 "<p>Rows are up to %d bits from the first row, though the limit is %d. %s</p>\n",
						 group->reach, report->stats->max_distance,
						 report->cases != NULL
							 ? "The grouping&#39;s limit, its method or a decision brought them here."
							 : "A chain of rows in between connects them.");
}

static void
put_group(const SimdupReport *report, const SimdupListedGroup *group)
{
	StringInfo page = report->page;
	RowText first = {{"", 0}, false};

	if (report->rows->has_samples)
		first = text_of(report, group->first_row);
	put_group_head(report, group, first);
	appendStringInfoString(page, "<ol>\n");
	for (uint32 i = 0; i < group->n_rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_row(report, &group->rows[i], group->first_row, first);
	}
	appendStringInfoString(page, "</ol>\n");
	if (group->n_members > group->size)
		appendStringInfo(page,
						 "<p class=\"rest\">%s of this case not in the query.</p>\n",
						 counted_rows(report,
									  (double) group->n_members - group->size));
	if (group->size > group->n_rows)
		appendStringInfo(page,
						 "<p class=\"rest\">%s of this group not shown.</p>\n",
						 simdup_counted((double) group->size - group->n_rows,
										"more row", "more rows"));
	appendStringInfoString(page, "</details>\n");
}

/* What the page leaves out, and how to get it. */
static void
put_left_out(const SimdupReport *report, int64 n)
{
	StringInfo page = report->page;

	if (n == 0)
		return;
	if (report->cases != NULL)
	{
		appendStringInfo(page,
						 "<p class=\"rest\">%s left out. More of them on this page: <code>max_groups</code>.</p>\n",
						 simdup_counted((double) n, "smaller case is",
										"smaller cases are"));
		return;
	}
	appendStringInfo(page,
					 "<p class=\"rest\">%s left out. All groups: "
					 "<code>SELECT * FROM simdup_clusters(query, %d, &#39;connected&#39;)</code>; "
					 "more of them on this page: <code>max_groups</code>.</p>\n",
					 simdup_counted((double) n, "smaller group is",
									"smaller groups are"),
					 report->stats->max_distance);
}

static void
put_introduction(const SimdupReport *report)
{
	StringInfo page = report->page;

	if (report->cases == NULL)
	{
		appendStringInfoString(page,
							   "<section>\n<h2 id=\"groups\">Groups</h2>\n"
							   "<p>Rows that are near each other, directly or through rows in between, are a group. "
							   "The largest come first. Texts are marked against the group&#39;s first row.</p>\n");
		return;
	}
	appendStringInfoString(page,
						   "<section>\n<h2 id=\"groups\">Cases</h2>\n<p>The cases of two and more letters, under the ids of the grouping <code>");
	simdup_html_put_text(page, cstring_to_text(report->cases->members_name),
						 SIMDUP_HTML_LINE);
	appendStringInfo(page,
					 "</code>. The largest come first. Texts are marked against the case&#39;s first letter.%s</p>\n",
					 report->cases->n_without == 0
						 ? ""
						 : psprintf(" %s in no case yet.",
									simdup_counted((double)
													   report->cases->n_without,
												   "letter is",
												   "letters are")));
}

/* What people decided, the latest first. */
static void
put_decisions(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupCases *cases = report->cases;

	if (cases == NULL || cases->n_decisions == 0)
		return;
	appendStringInfo(page,
					 "<details><summary><h3>Decisions</h3> <span>%s</span></summary>\n<div class=\"scroll\"><table>\n"
					 "<thead><tr><th scope=\"col\">Rows</th><th scope=\"col\">Answer</th><th scope=\"col\">Note</th>"
					 "<th scope=\"col\">By</th><th scope=\"col\">At</th></tr></thead>\n<tbody>\n",
					 simdup_counted((double) cases->n_decisions, "decision",
									"decisions"));
	for (int64 i = 0; i < Min(cases->n_decisions, SHOWN_DECISIONS); i++)
	{
		const SimdupDecision *decision = &cases->decisions[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, "<tr><th scope=\"row\">");
		simdup_put_key(page, report->row_url, decision->a);
		appendStringInfoString(page, " and ");
		simdup_put_key(page, report->row_url, decision->b);
		appendStringInfo(page,
						 "</th><td class=\"words\">%s</td><td class=\"words\">",
						 decision->same ? "the same" : "not the same");
		if (decision->note != NULL)
			simdup_html_put_text(page, decision->note, SIMDUP_HTML_LINE);
		appendStringInfoString(page, "</td><td class=\"words\">");
		simdup_html_put_text(page, decision->by, SIMDUP_HTML_LINE);
		appendStringInfoString(page, "</td><td>");
		simdup_html_put_text(page, decision->at, SIMDUP_HTML_LINE);
		appendStringInfoString(page, "</td></tr>\n");
	}
	appendStringInfoString(page, "</tbody></table></div>\n");
	if (cases->n_decisions > SHOWN_DECISIONS)
		appendStringInfo(page,
						 "<p class=\"rest\">%s in the file of decisions.</p>\n",
						 simdup_counted((double) cases->n_decisions -
											SHOWN_DECISIONS,
										"more is", "more are"));
	appendStringInfoString(page, "</details>\n");
}

void
simdup_put_groups(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupListing *listing = report->listing;
	int start = page->len;
	int64 i;

	put_introduction(report);
	appendStringInfo(page,
					 "<div class=\"tools\" hidden><label>Search <input type=\"search\" id=\"search\"></label> "
					 "<output id=\"found\"></output> "
					 "<button type=\"button\" id=\"open-all\">Open all</button> "
					 "<button type=\"button\" id=\"save-groups\">%s as CSV</button> "
					 "<button type=\"button\" id=\"save-pairs\">Pairs as CSV</button>%s</div>\n",
					 report->cases != NULL ? "Cases" : "Groups",
					 report->cases != NULL
						 ? " <button type=\"button\" id=\"save-decisions-csv\">Decisions as CSV</button>"
						 : "");
	for (i = 0; i < listing->n_shown && page->len - start < GROUPS_BYTES; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(report->context);

		put_group(report, &listing->groups[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(report->context);
	}
	if (listing->n_groups == 0)
		appendStringInfoString(page, "<p>There are none.</p>\n");
	put_left_out(report, listing->n_groups - i);
	simdup_put_sizes(report);
	put_decisions(report);
	appendStringInfoString(page, "</section>\n");
}
