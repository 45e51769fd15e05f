/*
 * groups.c
 *	  The report's cases: what their letters have in common, and what each adds.
 *
 * A case without a grouping is a group of near rows. A letter is a row.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/text.h"
#include "report/page.h"

/* Letters of a case that are shown. */
#define SHOWN_LETTERS 20
/* Bytes of a case's letters that are compared. */
#define COMPARED_BYTES (4 * 1024 * 1024)
/* A common passage is one that this share of the letters have, two at least. */
#define COMMON_SHARE 0.5
/* Characters of a case's common text, and of what a letter adds or leaves out. */
#define COMMON_CHARS 2000
#define OWN_CHARS 500
#define LEFT_OUT_CHARS 240
/* Characters of a closed case. */
#define HEAD_CHARS 90
/* Decisions that are shown. */
#define SHOWN_DECISIONS 200

#define ELLIPSIS " \xe2\x80\xa6 "

/* A letter of a case, compared with what its letters have in common. */
typedef struct Letter
{
	SimdupListedRow row;
	SimdupUtf8 text;
	SimdupPassage *own; /* passages */
	size_t n_own;
	int64 added; /* characters of them */
	bool cut;	 /* its text goes on, or another one's of the case */
} Letter;

static Letter
read_letter(const SimdupReport *report, SimdupListedRow row)
{
	Letter letter = {.row = row, .text = {"", 0}};

	if (report->rows->has_samples)
		letter.text = simdup_text_to_utf8(
			simdup_rows_sample(report->rows, row.number, &letter.cut));
	return letter;
}

static SimdupPassageText
words_of(SimdupUtf8 utf8)
{
	return (SimdupPassageText){utf8.bytes, utf8.len};
}

/* Return passages of a text as one, with an ellipsis between them. */
static SimdupUtf8
join(SimdupUtf8 text, const SimdupPassage *passages, size_t n)
{
	StringInfoData joined;

	initStringInfo(&joined);
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoString(&joined, ELLIPSIS);
		appendBinaryStringInfo(&joined, text.bytes + passages[i].from,
							   (int) (passages[i].to - passages[i].from));
	}
	return (SimdupUtf8){joined.data, (size_t) joined.len};
}

/* Return what the letters have in common, in the order of the first with a text. */
static SimdupUtf8
common_text(const Letter *letters, uint32 n_letters)
{
	SimdupPassageText *texts =
		palloc((n_letters + 1) * sizeof(SimdupPassageText));
	SimdupPassage *passages;
	size_t n_texts = 0;
	size_t n;

	for (uint32 i = 0; i < n_letters; i++)
		if (letters[i].text.len > 0)
			texts[n_texts++] = words_of(letters[i].text);
	if (n_texts < 2)
		return (SimdupUtf8){"", 0};
	passages =
		simdup_common_passages(texts, n_texts,
							   Max(COMMON_SHARE, 2.0 / (double) n_texts), &n);
	return join((SimdupUtf8){texts[0].bytes, texts[0].len}, passages, n);
}

/* Find what a letter adds to what the letters have in common. */
static void
find_own(Letter *letter, SimdupUtf8 common)
{
	if (letter->text.len == 0)
		return;
	letter->own = simdup_own_passages(words_of(letter->text), words_of(common),
									  &letter->n_own);
	for (size_t i = 0; i < letter->n_own; i++)
		letter->added += simdup_utf8_length(
			(SimdupUtf8){letter->text.bytes + letter->own[i].from,
						 letter->own[i].to - letter->own[i].from});
}

/* Compare letters: the most added first. */
static int
compare_letters(const void *a, const void *b)
{
	const Letter *x = a;
	const Letter *y = b;

	if (x->added != y->added)
		return x->added > y->added ? -1 : 1;
	return (x->row.number > y->row.number) - (x->row.number < y->row.number);
}

/* Put the start of a passage of a text. */
static void
put_passage(const SimdupReport *report, SimdupUtf8 passage, int64 max_chars)
{
	appendStringInfoString(report->page, "<span class=\"text\" dir=\"auto\">");
	simdup_put_start(report, passage, max_chars, false);
	appendStringInfoString(report->page, "</span>");
}

/* Put what a letter adds, and what of the common text it leaves out. */
static void
put_own(const SimdupReport *report, const Letter *letter, SimdupUtf8 common)
{
	StringInfo page = report->page;
	SimdupPassage *missing = NULL;
	size_t n_missing = 0;

	if (letter->text.len == 0)
		appendStringInfoString(page, simdup_say(report, no_text));
	else if (letter->n_own == 0)
		appendStringInfoString(page, simdup_say(report, adds_nothing));
	else
	{
		appendStringInfo(page, "%s ", simdup_say(report, adds));
		put_passage(report, join(letter->text, letter->own, letter->n_own),
					OWN_CHARS);
	}
	if (letter->cut)
		appendStringInfo(page, " <i class=\"omitted\">%s</i>",
						 simdup_say(report, not_compared));
	else if (letter->text.len > 0)
		missing = simdup_own_passages(words_of(common), words_of(letter->text),
									  &n_missing);
	if (n_missing > 0)
	{
		appendStringInfo(page, "<br>%s <del>", simdup_say(report, leaves_out));
		put_passage(report, join(common, missing, n_missing), LEFT_OUT_CHARS);
		appendStringInfoString(page, "</del>");
	}
}

static void
put_letter(const SimdupReport *report, const Letter *letter, uint32 first_row,
		   SimdupUtf8 common)
{
	StringInfo page = report->page;
	uint32 number = letter->row.number;
	bool beyond = letter->row.distance > report->stats->options.max_distance;
	const SimdupDecidedRows *decision =
		simdup_decision_of(report->cases, first_row, number);
	Datum key = simdup_keys_get(report->rows->keys, number, 0);

	appendStringInfo(page, "<li class=\"entry\"><p>%s ",
					 simdup_show_key(report->row_url, DatumGetTextPP(key)));
	if (number == first_row)
		appendStringInfo(page, "%s ", simdup_say(report, first_letter));
	else
		appendStringInfo(page, "<span class=\"bits\">%s%s%s </span>",
						 simdup_say_with(report, distance,
										 psprintf("%d", letter->row.distance)),
						 beyond ? ", " : "",
						 beyond ? simdup_say(report, beyond) : "");
	if (decision != NULL)
		appendStringInfo(page, "<strong>%s</strong> ",
						 simdup_say_decided(report, decision->same));
	if (report->rows->has_samples)
		put_own(report, letter, common);
	appendStringInfoString(page, "</p></li>\n");
}

/* Put a line of what is not shown, if there is any. */
static void
put_rest(const SimdupReport *report, int64 n, const char *line)
{
	if (n > 0)
		appendStringInfo(report->page, "<p class=\"rest\">%s</p>\n", line);
}

/* Say what of a case is not shown. */
static void
put_case_rest(const SimdupReport *report, const SimdupListedGroup *group,
			  const Letter *letters, uint32 n_letters)
{
	int64 n_outside = (int64) group->n_members - group->size;
	int64 n_hidden = (int64) group->size - Min(n_letters, SHOWN_LETTERS);
	int64 n_nothing = 0;

	put_rest(report, n_outside, simdup_say_count(report, outside, n_outside));
	put_rest(report, n_hidden, simdup_say_count(report, not_shown, n_hidden));
	if (n_hidden == 0 || !report->rows->has_samples)
		return;
	for (uint32 i = 0; i < n_letters; i++)
		n_nothing += letters[i].text.len > 0 && letters[i].n_own == 0;
	put_rest(report, n_nothing,
			 simdup_say_count(report, add_nothing, n_nothing));
	if (n_letters < group->size)
		put_rest(report, n_letters,
				 simdup_say_with(report, compared,
								 simdup_say_count(report, letters, n_letters)));
}

/* How a case's first text begins, or its key without texts; closed or open. */
static void
put_case_head(const SimdupReport *report, const SimdupListedGroup *group,
			  const Letter *first)
{
	StringInfo page = report->page;
	SimdupUtf8 start = simdup_utf8_words(first->text, HEAD_CHARS);
	bool loose = group->reach > report->stats->options.max_distance;

	appendStringInfo(page,
					 "<details class=\"group\"><summary><h3>%s</h3> <span>%s</span> ",
					 simdup_say_with(report, case,
									 psprintf(INT64_FORMAT, group->id)),
					 simdup_say_count(report, letters, group->size));
	if (loose && report->cases == NULL)
		appendStringInfo(page, "<strong class=\"loose\">%s</strong> ",
						 simdup_say(report, loose));
	if (start.len == 0)
		appendStringInfoString(page,
							   simdup_show_key(NULL,
											   DatumGetTextPP(
												   simdup_keys_get(report->rows
																	   ->keys,
																   group->first_row,
																   0))));
	appendStringInfoString(page, "<span class=\"start\" dir=\"auto\">");
	simdup_html_put(page, start, SIMDUP_HTML_PLAIN);
	appendStringInfo(page, "%s</span></summary>\n",
					 start.len < first->text.len ? " &#8230;" : "");
	if (loose)
		appendStringInfo(page,
						 "<p class=\"rest\">%s <span class=\"bits\">%s</span></p>\n",
						 report->cases != NULL
							 ? simdup_say(report, loose_case)
							 : simdup_say(report, loose_chain),
						 simdup_say_with(report, reach,
										 psprintf("%d", group->reach),
										 psprintf("%d", report->stats->options
															.max_distance)));
}

static void
put_case(const SimdupReport *report, const SimdupListedGroup *group)
{
	StringInfo page = report->page;
	Letter *letters = palloc(group->n_rows * sizeof(Letter));
	SimdupUtf8 common;
	size_t n_bytes = 0;
	uint32 n = 0;
	bool cut = false;

	while (n < group->n_rows && (n < 2 || n_bytes < COMPARED_BYTES))
	{
		CHECK_FOR_INTERRUPTS();
		letters[n] = read_letter(report, group->rows[n]);
		cut = cut || letters[n].cut;
		n_bytes += letters[n++].text.len;
	}
	put_case_head(report, group, &letters[0]);
	common = common_text(letters, n);
	for (uint32 i = 0; i < n; i++)
	{
		letters[i].cut = cut;
		find_own(&letters[i], common);
	}
	qsort(letters, n, sizeof(Letter), compare_letters);
	if (common.len > 0)
	{
		appendStringInfo(page, "<h4>%s</h4><div class=\"text\" dir=\"auto\">",
						 simdup_say(report, common));
		simdup_put_start(report, common, COMMON_CHARS, false);
		appendStringInfoString(page, "</div>\n");
	}
	else if (report->rows->has_samples)
		appendStringInfo(page, "<p>%s</p>\n", simdup_say(report, no_common));
	appendStringInfoString(page, "<ol>\n");
	for (uint32 i = 0; i < Min(n, SHOWN_LETTERS); i++)
		put_letter(report, &letters[i], group->first_row, common);
	appendStringInfoString(page, "</ol>\n");
	put_case_rest(report, group, letters, n);
	appendStringInfoString(page, "</details>\n");
}

/* Return the call that lists all cases. */
static const char *
clusters_call(const SimdupOptions *options)
{
	return psprintf("<code>SELECT * FROM simdup_clusters(query, %d, &#39;%s&#39;%s)</code>",
					options->max_distance,
					options->method == SIMDUP_LEADER ? "leader" : "connected",
					options->min_resemblance > 0
						? psprintf(", %g", options->min_resemblance)
						: "");
}

/* Put what the page leaves out, and how to get it. */
static void
put_left_out(const SimdupReport *report, int64 n)
{
	StringInfo page = report->page;

	if (n == 0)
		return;
	appendStringInfo(page, "<p class=\"rest\">%s %s",
					 simdup_say_count(report, left_out, n),
					 simdup_say_with(report, more_cases,
									 "<code>max_groups</code>"));
	if (report->cases == NULL)
		appendStringInfo(page, " %s",
						 simdup_say_with(report, all_cases,
										 clusters_call(
											 &report->stats->options)));
	appendStringInfoString(page, "</p>\n");
}

static void
put_introduction(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfo(page, "<section>\n<h2 id=\"groups\">%s</h2>\n<p>",
					 simdup_say(report, cases));
	if (report->cases == NULL)
		appendStringInfoString(page, simdup_say(report, cases_of_query));
	else
	{
		StringInfoData name;

		initStringInfo(&name);
		simdup_html_put_text(&name,
							 cstring_to_text(report->cases->members_name),
							 SIMDUP_HTML_LINE);
		appendStringInfoString(page, simdup_say_with(report, cases_of_grouping,
													 psprintf("<code>%s</code>",
															  name.data)));
		if (report->cases->n_without > 0)
			appendStringInfo(page, " %s",
							 simdup_say_count(report, without_case,
											  report->cases->n_without));
	}
	if (report->rows->has_samples)
		appendStringInfo(page, " %s",
						 simdup_say_with(report, how_to_read, "<del>",
										 "</del>"));
	appendStringInfoString(page, "</p>\n");
}

static void
put_tools(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfo(page,
					 "<div class=\"tools\" hidden><label>%s <input type=\"search\" id=\"search\"></label> "
					 "<output id=\"found\"></output> "
					 "<button type=\"button\" id=\"open-all\">%s</button> "
					 "<label><input type=\"checkbox\" id=\"show-numbers\"> %s</label> "
					 "<button type=\"button\" id=\"save-groups\">%s</button> ",
					 simdup_say(report, search), simdup_say(report, open_all),
					 simdup_say(report, show_numbers),
					 simdup_say(report, save_cases));
	if (report->rows->has_samples)
		appendStringInfo(page,
						 "<label><input type=\"checkbox\" id=\"with-texts\"> <span>%s</span></label> ",
						 simdup_say(report, with_texts));
	appendStringInfo(page,
					 "<button type=\"button\" id=\"save-pairs\">%s</button>",
					 simdup_say(report, save_pairs));
	if (report->cases != NULL)
		appendStringInfo(page,
						 " <button type=\"button\" id=\"save-decisions-csv\">%s</button>",
						 simdup_say(report, save_decisions));
	appendStringInfoString(page, "</div>\n");
}

/* Put a cell of the decisions. NULL is an empty one. */
static void
put_cell(StringInfo page, const text *value)
{
	appendStringInfoString(page, "<td class=\"words\">");
	if (value != NULL)
		simdup_html_put_text(page, value, SIMDUP_HTML_LINE);
	appendStringInfoString(page, "</td>");
}

/* Put what people decided, the latest first. */
static void
put_decisions(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupCases *cases = report->cases;

	if (cases == NULL || cases->n_decisions == 0)
		return;
	appendStringInfo(page,
					 "<details><summary><h3>%s</h3> <span>%s</span></summary>\n<div class=\"scroll\"><table>\n"
					 "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">%s</th><th scope=\"col\">%s</th>"
					 "<th scope=\"col\">%s</th><th scope=\"col\">%s</th></tr></thead>\n<tbody>\n",
					 simdup_say(report, decisions),
					 simdup_say_count(report, decisions, cases->n_decisions),
					 simdup_say(report, letters), simdup_say(report, answer),
					 simdup_say(report, note), simdup_say(report, by),
					 simdup_say(report, at));
	for (int64 i = 0; i < Min(cases->n_decisions, SHOWN_DECISIONS); i++)
	{
		const SimdupPersonsDecision *decision = &cases->decisions[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfo(page,
						 "<tr><th scope=\"row\">%s</th><td class=\"words\">%s</td>",
						 simdup_show_keys(report, decision->a, decision->b),
						 decision->same ? simdup_say(report, same)
										: simdup_say(report, not_same));
		put_cell(page, decision->note);
		put_cell(page, decision->by);
		put_cell(page, decision->at);
		appendStringInfoString(page, "</tr>\n");
	}
	appendStringInfoString(page, "</tbody></table></div>\n");
	put_rest(report, cases->n_decisions - SHOWN_DECISIONS,
			 simdup_say_count(report, more_decisions,
							  cases->n_decisions - SHOWN_DECISIONS));
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
	put_tools(report);
	for (i = 0; i < listing->n_shown && page->len - start < report->bytes; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(report->context);

		put_case(report, &listing->groups[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(report->context);
	}
	if (listing->n_groups == 0)
		appendStringInfo(page, "<p>%s</p>\n", simdup_say(report, none));
	put_left_out(report, listing->n_groups - i);
	simdup_put_sizes(report);
	put_decisions(report);
	appendStringInfoString(page, "</section>\n");
}
