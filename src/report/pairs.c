/*
 * pairs.c
 *	  The report's pairs: those to decide of a grouping, and those to judge the
 *	  distances by. Two texts are shown as one, with what differs marked.
 *
 * simdup_review finds the pairs to decide. The page's script writes a call of
 * simdup_decide for those that the reader ticked.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/text.h"
#include "report/page.h"
#include "server/arguments.h"
#include "text/minhash64.h"

/* Pairs to decide. */
#define N_PAIRS 50
/* Characters that are shown of a pair. */
#define PAIR_CHARS 800
/* Characters that are shown of an equal passage at either end. */
#define CONTEXT 60
/* An equal passage is left out if that many characters would go. */
#define MIN_OMITTED 30
/* Characters that are shown of a passage that differs. */
#define MAX_CHANGED 240

/* A text, and whether it goes on. */
typedef struct Sample
{
	SimdupUtf8 utf8;
	bool cut;
} Sample;

typedef struct Writer
{
	const SimdupReport *report;
	int64 left; /* characters that may still be shown */
} Writer;

/* Put what is said in place of text. */
static void
put_note(const SimdupReport *report, const char *said)
{
	appendStringInfo(report->page, "<i class=\"omitted\">%s</i>", said);
}

static void
put(Writer *writer, SimdupUtf8 value, SimdupHtmlForm form)
{
	writer->left -= simdup_utf8_length(value);
	simdup_html_put(writer->report->page, value, form);
}

/* Cut where a word begins, if one does in the first bytes. */
static SimdupUtf8
whole_words_at_end(SimdupUtf8 value)
{
	for (size_t i = 0; i < SIMDUP_MAX_WORD && i < value.len; i++)
		if (value.bytes[i] == ' ')
			return (SimdupUtf8){value.bytes + i, value.len - i};
	return value;
}

/* Put a passage that both texts have, without its middle if it is long. */
static void
put_same(Writer *writer, SimdupUtf8 value)
{
	int64 length = simdup_utf8_length(value);
	SimdupUtf8 start;
	SimdupUtf8 end;

	if (length < 2 * CONTEXT + MIN_OMITTED)
	{
		put(writer, value, SIMDUP_HTML_TEXT);
		return;
	}
	start = simdup_utf8_words(value, CONTEXT);
	end = whole_words_at_end(simdup_utf8_end(value, CONTEXT));
	put(writer, start, SIMDUP_HTML_TEXT);
	length -= simdup_utf8_length(start) + simdup_utf8_length(end);
	put_note(writer->report,
			 simdup_say_with(writer->report, omitted_same,
							 simdup_say_count(writer->report, characters,
											  length)));
	put(writer, end, SIMDUP_HTML_TEXT);
}

static void
put_changed(Writer *writer, SimdupUtf8 value, const char *tag)
{
	int64 length = simdup_utf8_length(value);

	if (length == 0)
		return;
	appendStringInfo(writer->report->page, "<%s>", tag);
	put(writer, simdup_utf8_start(value, MAX_CHANGED), SIMDUP_HTML_CHANGED);
	appendStringInfo(writer->report->page, "</%s>", tag);
	if (length > MAX_CHANGED)
		put_note(writer->report,
				 simdup_say_with(writer->report, omitted_more,
								 simdup_say_count(writer->report, characters,
												  length - MAX_CHANGED)));
}

/* Say how many differences of the rest are not shown. */
static void
put_rest(Writer *writer, const SimdupDiff *diff, size_t i)
{
	int64 n = 0;

	for (; i < diff->n; i++)
		n += !diff->parts[i].same;
	if (n > 0)
		put_note(writer->report,
				 simdup_say_count(writer->report, more_differences, n));
}

/*
 * Put text b, with the words of a that it lacks. Long passages that are equal are
 * left out, and what comes after PAIR_CHARS characters.
 */
static void
put_difference(const SimdupReport *report, Sample a, Sample b)
{
	SimdupDiff diff =
		simdup_diff(a.utf8.bytes, a.utf8.len, b.utf8.bytes, b.utf8.len);
	Writer writer = {report, PAIR_CHARS};
	size_t i;

	for (i = 0; i < diff.n && writer.left > 0; i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];
		SimdupUtf8 gone = {a.utf8.bytes + part->a_start, part->a_len};
		SimdupUtf8 come = {b.utf8.bytes + part->b_start, part->b_len};

		if (part->same)
			put_same(&writer, come);
		else
		{
			put_changed(&writer, gone, "del");
			put_changed(&writer, come, "ins");
		}
	}
	put_rest(&writer, &diff, i);
	if (a.cut || b.cut)
		put_note(report, simdup_say(report, not_compared));
	simdup_diff_free(&diff);
}

static bool
same_text(Sample a, Sample b)
{
	return a.utf8.len == b.utf8.len && !a.cut && !b.cut &&
		   memcmp(a.utf8.bytes, b.utf8.bytes, a.utf8.len) == 0;
}

/* Put two texts as one. */
static void
put_texts(const SimdupReport *report, Sample a, Sample b)
{
	StringInfo page = report->page;

	appendStringInfoString(page, "<div class=\"text\" dir=\"auto\">");
	if (a.utf8.len == 0 && b.utf8.len == 0)
		put_note(report, simdup_say(report, no_text));
	else if (same_text(a, b))
		simdup_put_start(report, b.utf8, PAIR_CHARS, b.cut);
	else
		put_difference(report, a, b);
	appendStringInfoString(page, "</div>");
}

/* --- pairs to decide */

/* Return a column of a row of SPI_tuptable as text, NULL for a null. */
static text *
text_at(uint64 row, const char *column)
{
	TupleDesc columns = SPI_tuptable->tupdesc;
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[row], columns,
								SPI_fnumber(columns, column), &isnull);

	return isnull ? NULL : DatumGetTextPP(value);
}

/* Return why a pair is doubtful, in the page's words. */
static const char *
reason(const SimdupReport *report, const text *why)
{
	if (simdup_text_is(why, "bridge"))
		return simdup_say(report, why_bridge);
	if (simdup_text_is(why, "borderline"))
		return simdup_say(report, why_borderline);
	return simdup_say(report, why_near_groups);
}

/* Put the numbers in which the two differ. */
static void
put_numbers(const SimdupReport *report, uint64 row)
{
	const text *sides[2] = {text_at(row, "numbers_a"),
							text_at(row, "numbers_b")};
	const char *shown[2];

	if (sides[0] == NULL && sides[1] == NULL)
		return;
	for (int i = 0; i < 2; i++)
	{
		StringInfoData html;

		initStringInfo(&html);
		if (sides[i] == NULL)
			appendStringInfoString(&html, "&#8211;");
		else
			simdup_html_put(&html,
							simdup_utf8_start(simdup_text_to_utf8(sides[i]),
											  MAX_CHANGED),
							SIMDUP_HTML_LINE);
		shown[i] = psprintf("<b dir=\"auto\">%s</b>", html.data);
	}
	appendStringInfo(report->page, "<p>%s</p>",
					 simdup_say_with(report, numbers_differ,
									 simdup_say_with(report, key_pair, shown[0],
													 shown[1])));
}

static void
put_contents(const SimdupReport *report, uint64 row)
{
	const char *const columns[2] = {"content_a", "content_b"};
	Sample contents[2];

	for (int i = 0; i < 2; i++)
	{
		const text *content = text_at(row, columns[i]);

		if (content == NULL)
			return;
		contents[i].utf8 = simdup_text_to_utf8(content);
		contents[i].cut = contents[i].utf8.len > SIMDUP_MAX_SAMPLE;
		contents[i].utf8.len = Min(contents[i].utf8.len, SIMDUP_MAX_SAMPLE);
	}
	put_texts(report, contents[0], contents[1]);
}

static void
put_choice(StringInfo page, uint64 row, const char *value, const char *name)
{
	appendStringInfo(page,
					 "<label><input type=\"radio\" name=\"pair" UINT64_FORMAT
					 "\" value=\"%s\"%s> %s</label> ",
					 row, value, value[0] == '\0' ? " checked" : "", name);
}

static void
put_open_pair(const SimdupReport *report, uint64 row)
{
	StringInfo page = report->page;
	const text *a = text_at(row, "a");
	const text *b = text_at(row, "b");
	const text *distance = text_at(row, "distance");
	const text *resemblance = text_at(row, "resemblance");
	double decides = atof(text_to_cstring(text_at(row, "decides")));

	appendStringInfo(page, "<article class=\"entry\"><h3>%s</h3><p>%s",
					 simdup_show_keys(report, a, b),
					 reason(report, text_at(row, "why")));
	appendStringInfo(page, "<span class=\"bits\">, %s",
					 simdup_say_with(report, distance,
									 text_to_cstring(distance)));
	if (resemblance != NULL)
		appendStringInfo(page, ", %s",
						 simdup_say_with(report, resemblance,
										 text_to_cstring(resemblance)));
	appendStringInfo(page, ", %s</span></p>",
					 simdup_say_count(report, decides, decides));
	put_numbers(report, row);
	put_contents(report, row);
	appendStringInfo(page, "<fieldset class=\"pair\"><legend>%s</legend>",
					 simdup_say_with(report, question, simdup_show_key(NULL, a),
									 simdup_show_key(NULL, b)));
	put_choice(page, row, "true", simdup_say(report, answer_same));
	put_choice(page, row, "false", simdup_say(report, answer_not_same));
	put_choice(page, row, "", simdup_say(report, answer_none));
	appendStringInfoString(page, "</fieldset></article>\n");
}

/* Put a name and a value of a JSON object. */
static void
put_json(StringInfo page, const char *name, const char *value)
{
	appendStringInfo(page, "\"%s\": ", name);
	simdup_json_put(page, simdup_bytes_to_utf8(value, strlen(value)));
	appendStringInfoString(page, ", ");
}

/* Put the script's data: names as SQL writes them, and the keys. */
static void
put_data(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfoString(page,
						   "<script type=\"application/json\" id=\"review-data\">\n{");
	put_json(page, "grouping", report->cases->members_name);
	put_json(page, "key_type", report->cases->key_type);
	put_json(page, "decide", psprintf("%s.simdup_decide", report->schema));
	appendStringInfoString(page, "\"pairs\": [");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		simdup_json_put(page, simdup_text_to_utf8(text_at(i, "a")));
		appendStringInfoString(page, ", ");
		simdup_json_put(page, simdup_text_to_utf8(text_at(i, "b")));
		appendStringInfoString(page, "]");
	}
	appendStringInfoString(page, "]}\n</script>\n");
}

/*
 * Find the open pairs. This needs an SPI connection, as the rows are in its
 * memory.
 */
static void
find_open_pairs(const SimdupReport *report)
{
	Oid types[2] = {TEXTOID, INT4OID};
	Datum values[2] = {PointerGetDatum(report->cases->name),
					   Int32GetDatum(N_PAIRS)};
	char *query =
		psprintf("SELECT r.a, r.b, r.why, r.decides::pg_catalog.text, r.distance::pg_catalog.text,"
				 " pg_catalog.to_char(r.resemblance, 'FM0.00') AS resemblance, r.numbers_a, r.numbers_b, r.content_a, r.content_b"
				 " FROM %s.simdup_review($1, $2) AS r",
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
	find_open_pairs(report);
	appendStringInfo(page,
					 "<section>\n<h2 id=\"review\">%s</h2>\n<p>%s</p>\n<p id=\"kept\" role=\"status\"></p>\n",
					 simdup_say(report, to_decide),
					 simdup_say(report, to_decide_intro));
	for (uint64 i = 0; i < SPI_processed; i++)
		put_open_pair(report, i);
	if (SPI_processed == 0)
		appendStringInfo(page, "<p>%s</p>\n", simdup_say(report, none));
	appendStringInfo(page,
					 "<div class=\"tools\" hidden><button type=\"button\" id=\"save-decisions\">%s</button> "
					 "<output id=\"decided\"></output></div>\n</section>\n",
					 simdup_say(report, save_sql));
	put_data(report);
	SPI_finish();
}

/* --- pairs to judge by */

static Sample
sample_of(const SimdupReport *report, uint32 number)
{
	Sample sample;

	sample.utf8 = simdup_text_to_utf8(
		simdup_rows_sample(report->rows, number, &sample.cut));
	return sample;
}

/* Put the resemblance by minhash64's shingles, or nothing without any. */
static void
put_resemblance(const SimdupReport *report, Sample a, Sample b)
{
	SimdupHashes sets[2];

	sets[0] = simdup_element_set(simdup_default_shingling, a.utf8);
	sets[1] = simdup_element_set(simdup_default_shingling, b.utf8);
	if (sets[0].n > 0 && sets[1].n > 0)
		appendStringInfo(report->page, ", %s",
						 simdup_say_with(report, resemblance,
										 psprintf("%.2f",
												  simdup_resemblance(&sets[0],
																	 &sets[1]))));
}

static void
put_pair(const SimdupReport *report, SimdupTriple pair, int distance)
{
	StringInfo page = report->page;
	SimdupKeys *keys = report->rows->keys;
	Sample a = sample_of(report, pair.y);
	Sample b = sample_of(report, pair.z);
	const SimdupDecidedRows *decision =
		simdup_decision_of(report->cases, pair.y, pair.z);

	appendStringInfo(page, "<article class=\"entry\"><h4>%s</h4><p>%s",
					 simdup_show_keys(report,
									  DatumGetTextPP(
										  simdup_keys_get(keys, pair.y, 0)),
									  DatumGetTextPP(
										  simdup_keys_get(keys, pair.z, 1))),
					 simdup_say_with(report, distance_head,
									 psprintf("%d", distance)));
	put_resemblance(report, a, b);
	if (report->rows->has_samples && same_text(a, b))
		appendStringInfo(page, ", %s", simdup_say(report, same_text));
	if (decision != NULL)
		appendStringInfo(page, ", <strong>%s</strong>",
						 simdup_say_decided(report, decision->same));
	appendStringInfoString(page, "</p>");
	if (report->rows->has_samples)
		put_texts(report, a, b);
	appendStringInfoString(page, "</article>\n");
}

void
simdup_put_pairs(const SimdupReport *report)
{
	StringInfo page = report->page;
	int farthest = 0;

	for (int d = 0; d <= report->stats->options.max_distance; d++)
		if (report->pairs->shown[d].n > 0)
			farthest = d;
	appendStringInfo(page, "<section>\n<h2 id=\"pairs\">%s</h2>\n<p>%s</p>\n",
					 simdup_say(report, pairs_to_judge),
					 simdup_say_with(report, pairs_intro, "<del>", "</del>",
									 "<ins>", "</ins>"));
	for (int d = 0; d <= report->stats->options.max_distance; d++)
	{
		const SimdupSmallest *shown = &report->pairs->shown[d];

		if (shown->n == 0)
			continue;
		appendStringInfo(page,
						 "<details%s><summary><h3>%s</h3> <span>%s</span></summary>\n",
						 d == farthest ? " open" : "",
						 d == 0 ? simdup_say(report, equal_fingerprints)
								: simdup_say_with(report, distance_head,
												  psprintf("%d", d)),
						 simdup_say_count(report, pairs,
										  report->stats->pairs[d]));
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
		appendStringInfo(page, "<p>%s</p>\n", simdup_say(report, none));
	appendStringInfoString(page, "</section>\n");
}
