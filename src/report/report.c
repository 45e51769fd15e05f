/*
 * report.c
 *	  simdup_report_html: a table's duplicates as one page for a browser.
 *
 * The page is self-contained and loads nothing. Its policy (CSP) names the
 * hashes of one script and one style sheet, and a browser runs no other. All
 * that comes from the table or the caller goes through escape.c.
 */
#include "postgres.h"
#include "compat.h"

#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "report/page.h"
#include "server/arguments.h"
#include "server/catalog.h"

/* Characters of a title and a query that are shown. */
#define MAX_TITLE 1000
#define MAX_QUERY 20000
#define DEFAULT_MAX_GROUPS 200
/* Bytes of the page for each group asked for, and the least and most in all. */
#define GROUP_BYTES 5000
#define MIN_BYTES (DEFAULT_MAX_GROUPS * GROUP_BYTES)
#define MAX_BYTES (8 * 1024 * 1024)
/* Bytes of all else. Texts for the files fill what is left of them. */
#define OTHER_BYTES (1900 * 1000)
/* Bytes of the rows, and of the pairs or the decisions, that the files hold. */
#define MAX_ROW_BYTES (800 * 1024)
#define MAX_PAIR_BYTES (250 * 1024)
/* Characters of a text in the files. */
#define MAX_TEXT_CHARS 5000

/* report.css and report.js as C strings, written by make */
static const char style[] =
#include "report/report_css.inc"
	;
static const char script[] =
#include "report/report_js.inc"
	;

/* 'sha256-…' of a text, as a policy names it. */
static const char *
policy_hash(const char *source)
{
	Datum bytes = PointerGetDatum(cstring_to_text(source));
	Datum hash = DirectFunctionCall1(sha256_bytea, bytes);
	Datum encoded =
		DirectFunctionCall2(binary_encode, hash, CStringGetTextDatum("base64"));

	return psprintf("&#39;sha256-%s&#39;", TextDatumGetCString(encoded));
}

static void
put_title(const SimdupReport *report, SimdupHtmlForm form)
{
	simdup_html_put(report->page,
					simdup_utf8_start(simdup_text_to_utf8(report->title),
									  MAX_TITLE),
					form);
}

static void
put_head(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfo(page,
					 "<!DOCTYPE html>\n<html lang=\"%s\" dir=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
					 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
					 report->lang, simdup_say(report, direction));
	appendStringInfo(page,
					 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src %s; script-src %s; "
					 "base-uri &#39;none&#39;; form-action &#39;none&#39;; require-trusted-types-for &#39;script&#39;; trusted-types &#39;none&#39;\">\n",
					 policy_hash(style), policy_hash(script));
	appendStringInfo(page, "<style>%s</style>\n<title>", style);
	put_title(report, SIMDUP_HTML_PLAIN);
	appendStringInfoString(page, "</title>\n</head>\n");
}

static const char *
current_time(void)
{
	TimestampTz now = GetCurrentTimestamp();
	struct pg_tm tm;
	fsec_t fraction;

	if (timestamp2tm(now, NULL, &tm, &fraction, NULL, NULL) != 0)
		ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				errmsg("timestamp out of range"));
	return psprintf("<time datetime=\"%04d-%02d-%02dT%02d:%02d:%02dZ\">%04d-%02d-%02d %02d:%02d UTC</time>",
					tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min,
					tm.tm_sec, tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour,
					tm.tm_min);
}

/* Put a name and a value of a list. */
static void
put_item(const SimdupReport *report, const char *name, const char *value)
{
	appendStringInfo(report->page, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

static void
put_question(const SimdupReport *report)
{
	SimdupUtf8 query = simdup_text_to_utf8(report->query);
	SimdupUtf8 start = simdup_utf8_start(query, MAX_QUERY);
	StringInfoData shown;

	initStringInfo(&shown);
	appendStringInfoString(&shown, "<code>");
	simdup_html_put(&shown, start, SIMDUP_HTML_TEXT);
	appendStringInfo(&shown, "%s</code>",
					 start.len < query.len ? " &#8230;" : "");
	appendStringInfo(report->page,
					 "<section>\n<h2 id=\"question\">%s</h2>\n<dl>\n",
					 simdup_say(report, asked));
	put_item(report, simdup_say(report, query), shown.data);
	put_item(report, simdup_say(report, limit),
			 simdup_say_with(report, limit_is,
							 psprintf("%d",
									  report->stats->options.max_distance)));
	if (report->stats->n_null > 0)
		put_item(report, simdup_say(report, left_out),
				 simdup_say_count(report, no_fingerprint,
								  report->stats->n_null));
	put_item(report, simdup_say(report, time), current_time());
	put_item(report, simdup_say(report, versions),
			 "simdup " SIMDUP_VERSION ", PostgreSQL " PG_VERSION);
	appendStringInfoString(report->page, "</dl>\n</section>\n");
}

/* The answer in one line: how many letters repeat another. */
static const char *
headline(const SimdupReport *report)
{
	const SimdupStats *stats = report->stats;
	int64 repeats = simdup_repeats(stats);

	return simdup_say_text(report,
						   repeats == 1 ? SIMDUP_TEXT_headline_one
										: SIMDUP_TEXT_headline_many,
						   (const char
								*const[]){simdup_grouped((double) repeats),
										  simdup_say_count(report, letters,
														   stats->n_rows),
										  psprintf("%.1f",
												   100 * simdup_repeat_share(
															 stats)),
										  simdup_say_count(report, cases,
														   stats->near_groups),
										  simdup_grouped(
											  (double) stats->largest),
										  NULL});
}

static void
put_link(const SimdupReport *report, const char *section, const char *name)
{
	appendStringInfo(report->page, "<a href=\"#%s\">%s</a> ", section, name);
}

static void
put_header(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfoString(page, "<header>\n<h1 dir=\"auto\">");
	put_title(report, SIMDUP_HTML_LINE);
	appendStringInfo(page,
					 "</h1>\n<p class=\"headline\">%s</p>\n<nav aria-label=\"%s\">",
					 headline(report), simdup_say(report, sections));
	put_link(report, "groups", simdup_say(report, cases));
	if (report->cases != NULL)
		put_link(report, "review", simdup_say(report, to_decide));
	put_link(report, "pairs", simdup_say(report, pairs));
	put_link(report, "distances", simdup_say(report, by_chance_link));
	put_link(report, "numbers", simdup_say(report, numbers));
	put_link(report, "question", simdup_say(report, asked));
	appendStringInfoString(page, "</nav>\n</header>\n");
}

/* --- what the page's script makes files of, as JSON */

static void
put_json(StringInfo page, const text *value)
{
	simdup_json_put(page, simdup_text_to_utf8(value));
}

static void
put_json_key(const SimdupReport *report, uint32 number)
{
	Datum key = simdup_keys_get(report->rows->keys, number, 0);

	put_json(report->page, DatumGetTextPP(key));
}

/* Put the text of a row, as much as files hold of it. */
static void
put_json_sample(const SimdupReport *report, uint32 number)
{
	MemoryContext old = MemoryContextSwitchTo(report->context);
	bool cut;
	SimdupUtf8 whole =
		simdup_text_to_utf8(simdup_rows_sample(report->rows, number, &cut));
	SimdupUtf8 start = simdup_utf8_start(whole, MAX_TEXT_CHARS);
	StringInfoData value;

	initStringInfo(&value);
	appendBinaryStringInfo(&value, start.bytes, (int) start.len);
	if (cut || start.len < whole.len)
		appendStringInfoString(&value, " \xe2\x80\xa6");
	MemoryContextSwitchTo(old);
	simdup_json_put(report->page, (SimdupUtf8){value.data, (size_t) value.len});
	MemoryContextReset(report->context);
}

/* Put each row of the groups: its group, key and distance. */
static void
put_rows(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *rows = &report->listing->rows;
	int start = page->len;

	appendStringInfo(page, "\"n_rows\": " INT64_FORMAT ",\n\"rows\": [",
					 report->listing->n_rows);
	for (uint32 i = 0; i < rows->n && page->len - start < MAX_ROW_BYTES; i++)
	{
		SimdupTriple row = rows->triples[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfo(page, "%s[" INT64_FORMAT ",", i > 0 ? ",\n" : "",
						 report->listing->groups[row.x].id);
		put_json_key(report, row.y);
		appendStringInfo(page, ",%u]", row.z);
	}
	appendStringInfoString(page, "]");
}

/*
 * Put the pairs. The first of a pair is the earlier in the order of the query.
 */
static void
put_pairs(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *pairs = &report->pairs->exported;
	int start = page->len;
	double n = 0;

	for (int d = 0; d <= report->stats->options.max_distance; d++)
		n += report->stats->pairs[d];
	appendStringInfo(page, "\"n_pairs\": %.0f,\n\"pairs\": [", n);
	for (uint32 i = 0; i < pairs->n && page->len - start < MAX_PAIR_BYTES; i++)
	{
		SimdupTriple pair = pairs->triples[i];
		const SimdupDecidedRows *decision =
			simdup_decision_of(report->cases, pair.y, pair.z);

		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		put_json_key(report, Min(pair.y, pair.z));
		appendStringInfoChar(page, ',');
		put_json_key(report, Max(pair.y, pair.z));
		appendStringInfo(page, ",%u", pair.x);
		if (decision != NULL)
			appendStringInfo(page, ",%s", decision->same ? "true" : "false");
		appendStringInfoString(page, "]");
	}
	appendStringInfoString(page, "]");
}

/* Put the latest decisions: two keys, the answer, note, person, time. */
static void
put_decisions(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupCases *cases = report->cases;
	int64 n = Min(cases->n_decisions, SIMDUP_EXPORTED_PAIRS);
	int start = page->len;

	appendStringInfo(page,
					 ",\n\"n_decisions\": " INT64_FORMAT ",\n\"decisions\": [",
					 cases->n_decisions);
	for (int64 i = 0; i < n && page->len - start < MAX_PAIR_BYTES; i++)
	{
		const SimdupPersonsDecision *decision = &cases->decisions[i];
		text *none = cstring_to_text("");

		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, i > 0 ? ",\n[" : "[");
		put_json(page, decision->a);
		appendStringInfoString(page, ", ");
		put_json(page, decision->b);
		appendStringInfo(page, ", %s, ", decision->same ? "true" : "false");
		put_json(page, decision->note == NULL ? none : decision->note);
		appendStringInfoString(page, ", ");
		put_json(page, decision->by);
		appendStringInfoString(page, ", ");
		put_json(page, decision->at);
		appendStringInfoString(page, "]");
	}
	appendStringInfoString(page, "]");
}

/* Put the texts of the first rows, while the page has room. */
static void
put_samples(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupSmallest *rows = &report->listing->rows;

	appendStringInfoString(page, ",\n\"texts\": [");
	for (uint32 i = 0; i < rows->n && page->len < report->bytes + OTHER_BYTES;
		 i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(page, i > 0 ? ",\n" : "");
		put_json_sample(report, rows->triples[i].y);
	}
	appendStringInfoString(page, "]");
}

static void
put_data(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfoString(page,
						   "<script type=\"application/json\" id=\"data\">\n{");
	put_rows(report);
	appendStringInfoString(page, ",\n");
	put_pairs(report);
	if (report->cases != NULL)
		put_decisions(report);
	if (report->rows->has_samples)
		put_samples(report);
	appendStringInfoString(page, "}\n</script>\n");
}

static void
put_page(const SimdupReport *report)
{
	StringInfo page = report->page;

	put_head(report);
	appendStringInfoString(page, "<body>\n");
	put_header(report);
	appendStringInfoString(page, "<main>\n");
	simdup_put_groups(report);
	simdup_put_review(report);
	simdup_put_pairs(report);
	simdup_put_distances(report);
	simdup_put_facts(report);
	put_question(report);
	appendStringInfoString(page, "</main>\n");
	simdup_put_texts(report);
	put_data(report);
	appendStringInfo(page, "<script>%s</script>\n</body>\n</html>\n", script);
}

/* Group the rows of the query, and fill the report's lists. */
static SimdupGroups *
collect(FunctionCallInfo fcinfo, SimdupReport *report, int64 max_groups,
		text *grouping)
{
	SimdupOptions options = simdup_options(fcinfo);
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1, &options);
	SimdupGroups *groups;

	report->rows = rows;
	report->stats = palloc(sizeof(SimdupStats));
	report->listing = palloc(sizeof(SimdupListing));
	report->pairs = palloc(sizeof(SimdupPairList));
	report->context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup report",
							  ALLOCSET_DEFAULT_SIZES);
	simdup_rows_as_text(rows, true);
	if (grouping != NULL)
		report->cases = simdup_cases_begin(grouping, report->schema, rows);
	simdup_rows_read(rows, text_to_cstring(report->query), "query");
	simdup_rows_tell_skipped(rows);
	groups = simdup_rows_group(rows);
	simdup_pair_list_init(report->pairs, groups);
	simdup_compute_stats(groups, &options, report->pairs, report->stats);
	simdup_pair_list_finish(report->pairs);
	if (grouping != NULL)
		simdup_list_cases(report->cases, report->stats, max_groups,
						  report->listing);
	else
		simdup_list_groups(report->stats, max_groups, report->listing);
	return groups;
}

PG_FUNCTION_INFO_V1(simdup_report_html);
/*
 * simdup_report_html(query, title, max_distance, method, min_resemblance, w,
 * unit, params, row_url, max_groups, before, groups, lang, translations)
 */
Datum
simdup_report_html(PG_FUNCTION_ARGS)
{
	int64 max_groups = DEFAULT_MAX_GROUPS;
	SimdupReport report = {0};
	SimdupGroups *groups;
	StringInfoData page;

	if (simdup_has_null(fcinfo, 0, 2))
		PG_RETURN_NULL();
	report.query = PG_GETARG_TEXT_PP(0);
	report.title = PG_GETARG_TEXT_PP(1);
	if (!PG_ARGISNULL(8))
		report.row_url = simdup_check_row_url(PG_GETARG_TEXT_PP(8));
	if (!PG_ARGISNULL(9))
		max_groups = PG_GETARG_INT32(9);
	if (max_groups < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_groups must not be negative"),
				errdetail("The number given is %lld.", (long long) max_groups));
	if (!PG_ARGISNULL(10))
		report.before = PG_GETARG_JSONB_P(10);
	report.bytes =
		(int) Min(Max(max_groups * GROUP_BYTES, MIN_BYTES), MAX_BYTES);
	simdup_take_texts(&report, PG_ARGISNULL(12) ? NULL : PG_GETARG_TEXT_PP(12),
					  PG_ARGISNULL(13) ? NULL : PG_GETARG_JSONB_P(13));
	report.schema = quote_identifier(
		get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	groups = collect(fcinfo, &report, max_groups,
					 PG_ARGISNULL(11) ? NULL : PG_GETARG_TEXT_PP(11));
	initStringInfo(&page);
	report.page = &page;
	put_page(&report);
	simdup_groups_end(groups);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}
