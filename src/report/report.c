/*
 * report.c
 *	  simdup_report_html: a table's duplicates as one page for a browser.
 *
 * The page is self-contained and loads nothing. Its policy (CSP) names the
 * hashes of one script and one style sheet, and a browser runs no other. All that comes from the table or the caller goes through html.c.
 */
#include "postgres.h"
#include "compat.h"

#include "datatype/timestamp.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "report/sections.h"
#include "report/row_url.h"
#include "server/arguments.h"
#include "server/catalog.h"

/* Characters of a title and a query that are shown. */
#define MAX_TITLE 1000
#define MAX_QUERY 20000
#define DEFAULT_MAX_GROUPS 200

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

	appendStringInfoString(page,
						   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
						   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
	appendStringInfo(page,
					 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src %s; script-src %s; "
					 "base-uri &#39;none&#39;; form-action &#39;none&#39;; require-trusted-types-for &#39;script&#39;; trusted-types &#39;none&#39;\">\n",
					 policy_hash(style), policy_hash(script));
	appendStringInfo(page, "<style>%s</style>\n<title>", style);
	put_title(report, SIMDUP_HTML_PLAIN);
	appendStringInfoString(page, "</title>\n</head>\n");
}

static void
put_time(StringInfo page)
{
	TimestampTz now = GetCurrentTimestamp();
	struct pg_tm tm;
	fsec_t fraction;

	if (timestamp2tm(now, NULL, &tm, &fraction, NULL, NULL) != 0)
		ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				errmsg("timestamp out of range"));
	appendStringInfo(page,
					 "<time datetime=\"%04d-%02d-%02dT%02d:%02d:%02dZ\">%04d-%02d-%02d %02d:%02d UTC</time>",
					 tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min,
					 tm.tm_sec, tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour,
					 tm.tm_min);
}

static void
put_question(const SimdupReport *report)
{
	StringInfo page = report->page;
	SimdupUtf8 query = simdup_text_to_utf8(report->query);
	SimdupUtf8 start = simdup_utf8_start(query, MAX_QUERY);

	appendStringInfoString(page,
						   "<section>\n<h2 id=\"question\">What was asked</h2>\n<dl>\n<dt>Query</dt><dd><code>");
	simdup_html_put(page, start, SIMDUP_HTML_TEXT);
	appendStringInfo(page, "%s</code></dd>\n",
					 start.len < query.len ? " &#8230;" : "");
	appendStringInfo(page,
					 "<dt>Limit</dt><dd>max_distance %d: rows whose fingerprints differ in at most so many of 64 bits are near</dd>\n",
					 report->stats->max_distance);
	if (report->stats->n_null > 0)
		appendStringInfo(page,
						 "<dt>Left out</dt><dd>%s without a fingerprint</dd>\n",
						 simdup_counted((double) report->stats->n_null, "row",
										"rows"));
	appendStringInfoString(page, "<dt>Time</dt><dd>");
	put_time(page);
	appendStringInfo(page,
					 "</dd>\n<dt>Versions</dt><dd>simdup %s, PostgreSQL %s</dd>\n</dl>\n</section>\n",
					 SIMDUP_VERSION, PG_VERSION);
}

static void
put_page(const SimdupReport *report)
{
	StringInfo page = report->page;

	put_head(report);
	appendStringInfoString(page, "<body>\n<header>\n<h1 dir=\"auto\">");
	put_title(report, SIMDUP_HTML_LINE);
	appendStringInfo(page, "</h1>\n<p class=\"headline\">%s</p>\n",
					 report->cases != NULL
						 ? simdup_headline(report->stats, "letter", "letters",
										   "case", "cases")
						 : simdup_headline(report->stats, "row", "rows",
										   "group", "groups"));
	appendStringInfo(page,
					 "<nav aria-label=\"Sections\"><a href=\"#groups\">%s</a> %s<a href=\"#pairs\">Pairs</a> "
					 "<a href=\"#distances\">By chance?</a> <a href=\"#numbers\">Numbers</a> <a href=\"#question\">What was asked</a></nav>\n</header>\n<main>\n",
					 report->cases != NULL ? "Cases" : "Groups",
					 report->cases != NULL
						 ? "<a href=\"#review\">To decide</a> "
						 : "");
	simdup_put_groups(report);
	simdup_put_review(report);
	simdup_put_pairs(report);
	simdup_put_distances(report);
	simdup_put_facts(report);
	put_question(report);
	appendStringInfoString(page, "</main>\n");
	simdup_put_exports(report);
	appendStringInfo(page, "<script>%s</script>\n</body>\n</html>\n", script);
}

/* Group the rows of the query, and fill the report's lists. */
static SimdupGroups *
collect(FunctionCallInfo fcinfo, SimdupReport *report, int max_distance,
		int64 max_groups, text *grouping)
{
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1);
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
	groups = simdup_rows_group(rows);
	simdup_pair_list_init(report->pairs, groups);
	simdup_compute_stats(groups, max_distance, simdup_list_pair, report->pairs,
						 report->stats);
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
 * simdup_report_html(query, title, max_distance, params, row_url, max_groups,
 * before, groups)
 */
Datum
simdup_report_html(PG_FUNCTION_ARGS)
{
	int max_distance;
	int64 max_groups = DEFAULT_MAX_GROUPS;
	SimdupReport report = {0};
	SimdupGroups *groups;
	StringInfoData page;

	if (simdup_has_null(fcinfo, 0, 2))
		PG_RETURN_NULL();
	report.query = PG_GETARG_TEXT_PP(0);
	report.title = PG_GETARG_TEXT_PP(1);
	max_distance = simdup_check_max_distance(fcinfo, 2);
	if (!PG_ARGISNULL(4))
		report.row_url = simdup_check_row_url(PG_GETARG_TEXT_PP(4));
	if (!PG_ARGISNULL(5))
		max_groups = PG_GETARG_INT32(5);
	if (max_groups < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_groups must not be negative"),
				errdetail("The number given is %lld.", (long long) max_groups));
	if (!PG_ARGISNULL(6))
		report.before = PG_GETARG_JSONB_P(6);
	report.schema = quote_identifier(
		get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	groups = collect(fcinfo, &report, max_distance, max_groups,
					 PG_ARGISNULL(7) ? NULL : PG_GETARG_TEXT_PP(7));
	initStringInfo(&page);
	report.page = &page;
	put_page(&report);
	simdup_groups_end(groups);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}
