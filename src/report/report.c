/*
 * report.c
 *	  simdup_report_rows: the figures of a query, and the cases, rows and pairs to
 *	  show, from one reading. And what the report's page is made with.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/compare/diff.h"
#include "core/compare/statistics.h"
#include "core/host.h"
#include "core/unicode/charclass.h"
#include "report/collect.h"
#include "text/encoding.h"
#include "type/simhash64.h"

/* Cases, rows of a case and their bytes that are compared. */
#define MAX_CASES 20000
#define COMPARED_ROWS 1000
#define COMPARED_BYTES (4 * 1024 * 1024)
/* Rows that are listed. */
#define LISTED_ROWS 50000

/*
 * Put a row of the result, of a part that sql/70-report.sql names. The last four
 * values are texts, 0 for NULL. They are gone then: the memory context of one row
 * is reset.
 */
static void
put(const Report *report, const char *part, int64 place, int64 n, int64 m,
	double x, Datum key, Datum other, Datum a, Datum b)
{
	Datum values[] = {CStringGetTextDatum(part),
					  Int64GetDatum(place),
					  Int64GetDatum(n),
					  Int64GetDatum(m),
					  Float8GetDatum(x),
					  key,
					  other,
					  a,
					  b};
	bool nulls[] = {false,	  false,	  false,  false, false,
					key == 0, other == 0, a == 0, b == 0};

	CHECK_FOR_INTERRUPTS();
	simdup_put_result(report->result, values, nulls);
	MemoryContextReset(report->rows->row_context);
}

/* Put a row of figures. */
static void
put_figures(const Report *report, const char *part, int64 place, int64 n,
			int64 m, double x, Datum key)
{
	put(report, part, place, n, m, x, key, 0, 0, 0);
}

static void
put_count(const Report *report, const char *name, int64 n)
{
	put_figures(report, "count", 0, n, 0, 0, CStringGetTextDatum(name));
}

static int
distance_of(const Report *report, uint32 x, uint32 y)
{
	return simdup_hamming64(report->fps[x], report->fps[y]);
}

/* Return a row's text, 0 without one. */
static Datum
text_of(const Report *report, uint32 row, bool *cut)
{
	text *sample = simdup_rows_sample(report->rows, row, cut);

	return VARSIZE_ANY_EXHDR(sample) > 0 ? PointerGetDatum(sample) : 0;
}

/* Return the name of a scope as text, 0 for NULL, which is scope 0. */
static Datum
scope_name(const Report *report, uint32 scope)
{
	SimdupRows *rows = report->rows;

	if (scope == 0)
		return 0;
	return CStringGetTextDatum(
		simdup_key_text(rows->scope_type,
						simdup_keys_get(rows->scope_keys, scope - 1, 0)));
}

static void
put_counts(const Report *report)
{
	const SimdupRows *rows = report->rows;
	int64 skipped = rows->n_null + rows->n_no_content;
	int64 without = 0;

	for (uint32 i = 0; report->ids != NULL && i < rows->n; i++)
		without += report->ids[i] == 0;
	put_count(report, "rows", rows->n + skipped);
	put_count(report, "with_fingerprint", rows->n);
	put_count(report, "without_fingerprint", skipped);
	put_count(report, "distinct_fingerprints", report->fingerprints->n);
	put_count(report, "equal_sets", report->equal_sets);
	put_count(report, "equal_rows",
			  rows->n - report->fingerprints->n + report->equal_sets);
	put_count(report, "repeats", report->n_items - report->n_cases);
	put_count(report, "clusters", report->n_cases);
	put_count(report, "cluster_rows", report->n_items);
	put_count(report, "largest",
			  report->n_cases > 0 ? report->cases[0].size : Min(rows->n, 1));
	if (report->ids != NULL)
		put_count(report, "without_case", without);
}

/* Put how many cases are of each size, up to powers of two. */
static void
put_sizes(const Report *report)
{
	uint32 n[32] = {0};

	for (uint32 i = 0; i < report->n_cases; i++)
		n[pg_leftmost_one_pos32(report->cases[i].size - 1)]++;
	for (int i = 0; i < 32; i++)
		if (n[i] > 0)
			put_figures(report, "size", (int64) 2 << i, n[i], 0, 0, 0);
}

/*
 * Put the pairs at each distance, and those that chance alone makes. These are
 * estimated from the fingerprints of rows at equal steps. Rows of two scopes are
 * no pair.
 */
static void
put_distances(const Report *report, double n_pairs)
{
	uint64 n = report->rows->n;
	size_t taken = Min(n, SIMDUP_SAMPLE_SIZE);
	uint64 sample[SIMDUP_SAMPLE_SIZE];
	double chance[SIMHASH64_BITS + 1];

	for (size_t i = 0; i < taken; i++)
		sample[i] = report->fps[i * n / taken];
	simdup_false_pair_chances(sample, taken, chance);
	for (int d = 0; d <= report->options.max_distance; d++)
		put_figures(report, "distance", d, (int64) report->pairs[d], 0,
					n_pairs * (chance[d] - (d > 0 ? chance[d - 1] : 0)), 0);
}

/* Put the rows of each day: those that repeat another, and the rest. */
static void
put_days(const Report *report)
{
	uint32 n = report->days == NULL ? 0 : report->rows->n;
	SimdupEntry *days = simdup_alloc(((Size) n + 1) * sizeof(SimdupEntry));

	for (uint32 i = 0; i < n; i++)
		days[i] =
			(SimdupEntry){(uint64) ((int64) report->days[i] - NO_DAY) << 1 |
							  simdup_get_bit(report->repeats, i),
						  i};
	simdup_sort_pairs(days, n);
	for (uint32 i = 0, count; i < n; i += count)
	{
		int64 day = (int64) (days[i].value >> 1) + NO_DAY;

		count = simdup_equal_values(days + i, n - i);
		if (day != NO_DAY)
			put_figures(report, "day", day, count,
						days[i].value & 1 ? count : 0, 0, 0);
	}
	simdup_free(days);
}

/* Put the counts of each scope. Return the pairs of rows within scopes. */
static double
put_scopes(const Report *report)
{
	Size n = report->fingerprints->n_scopes;
	double n_pairs = 0;
	struct
	{
		int64 rows;
		int64 repeats;
		int64 clusters;
		uint32 largest;
	} *scopes = simdup_alloc0(n * sizeof(*scopes)), *scope;

	for (uint32 i = 0; i < report->rows->n; i++)
		scopes[report->scope[i]].rows++;
	for (uint32 i = 0; i < report->n_cases; i++)
	{
		const Case *one = &report->cases[i];

		scope = &scopes[report->scope[report->items[one->start].row]];
		scope->clusters++;
		scope->repeats += one->size - 1;
		scope->largest = Max(scope->largest, one->size);
	}
	for (uint32 i = 0; i < n; i++)
	{
		scope = &scopes[i];
		n_pairs += (double) scope->rows * ((double) scope->rows - 1) / 2;
		if (n > 1 && scope->rows > 0)
			put_figures(report, "scope", scope->clusters, scope->rows,
						scope->repeats, scope->largest, scope_name(report, i));
	}
	simdup_free(scopes);
	return n_pairs;
}

/*
 * Put a case and its rows. Rows that are compared have their texts, rows that are
 * listed have none.
 */
static void
put_case(const Report *report, uint32 place, bool shown, int64 *n_listed)
{
	const Case *one = &report->cases[place];
	const SimdupEntry *items = &report->items[one->start];
	SimdupKeys *keys = report->rows->keys;
	uint32 first = (uint32) items->row;
	int64 id = report->ids != NULL ? report->ids[first] : place + 1;
	int reach = 0; /* the longest distance from the first row */
	int32 from = PG_INT32_MAX;
	int32 to = NO_DAY;
	Size n_bytes = 0;

	for (uint32 i = 0; i < one->size; i++)
	{
		uint32 row = (uint32) items[i].row;
		int32 day = report->days == NULL ? NO_DAY : report->days[row];

		reach = Max(reach, distance_of(report, first, row));
		from = day == NO_DAY ? from : Min(from, day);
		to = Max(to, day);
	}
	put(report, shown ? "case" : "more", place, id, one->size, reach,
		simdup_keys_get(keys, first, 0),
		scope_name(report, report->scope[first]), 0, 0);
	if (to != NO_DAY)
		put_figures(report, "dates", place, from, to, 0, 0);
	for (uint32 i = 0; i < one->size; i++)
	{
		uint32 row = (uint32) items[i].row;
		bool compared =
			shown && i < COMPARED_ROWS && (i < 2 || n_bytes < COMPARED_BYTES);
		bool cut = false;
		Datum content = compared ? text_of(report, row, &cut) : 0;

		if (!compared && *n_listed >= LISTED_ROWS)
			break;
		++*n_listed;
		n_bytes += content == 0 ? 0 : VARSIZE_ANY(DatumGetPointer(content));
		put(report, compared ? "member" : "row", place,
			distance_of(report, first, row), cut, i,
			simdup_keys_get(keys, row, 0),
			report->n_further > 0 ? simdup_keys_get(report->values, row, 0) : 0,
			content, 0);
	}
}

/* Put the pairs of a list, with their texts if they are shown. */
static void
put_pairs(const Report *report, const Smallest *list, bool shown)
{
	SimdupKeys *keys = report->rows->keys;

	for (uint32 i = 0; i < list->n; i++)
	{
		uint32 x = (uint32) list->entries[i].value;
		uint32 y = (uint32) list->entries[i].row;
		bool cut_x = false;
		bool cut_y = false;
		Datum a = shown ? text_of(report, x, &cut_x) : 0;
		Datum b = shown ? text_of(report, y, &cut_y) : 0;

		put(report, shown ? "example" : "pair", i, distance_of(report, x, y),
			cut_x || cut_y, 0, simdup_keys_get(keys, x, 0),
			simdup_keys_get(keys, y, 1), a, b);
	}
}

/* Put the names of the further columns, and say which one has the dates. */
static void
put_columns(const Report *report)
{
	for (int i = 0; i < report->n_further; i++)
		put_figures(report, "column", i, &report->further[i] == report->day, 0,
					0, CStringGetTextDatum(NameStr(report->further[i].name)));
	if (report->rows->has_samples)
		put_figures(report, "content", 0, 0, 0, 0, 0);
}

PG_FUNCTION_INFO_V1(simdup_report_rows);
/*
 * simdup_report_rows(query, max_distance, method, min_resemblance, w, unit,
 * params, max_groups)
 */
Datum
simdup_report_rows(PG_FUNCTION_ARGS)
{
	Report report = {.result = simdup_begin_result(fcinfo)};
	int max_groups = PG_GETARG_INT32(7);
	int64 n_listed = 0;

	simdup_check_not_null(PG_ARGISNULL(0), "query");
	simdup_check_not_null(PG_ARGISNULL(7), "max_groups");
	if (max_groups < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_groups must not be negative"),
				errdetail("The number given is %d.", max_groups));
	simdup_report_collect(&report, fcinfo);
	put_counts(&report);
	put_sizes(&report);
	put_distances(&report, put_scopes(&report));
	put_days(&report);
	put_columns(&report);
	MemoryContextSwitchTo(report.rows->row_context);
	put_pairs(&report, &report.listed, false);
	for (int d = 0; d <= report.options.max_distance; d++)
		put_pairs(&report, &report.shown[d], true);
	for (uint32 i = 0; i < report.n_cases; i++)
	{
		bool shown = i < Min((uint32) max_groups, MAX_CASES);

		if (!shown && n_listed >= LISTED_ROWS)
			break;
		put_case(&report, i, shown, &n_listed);
	}
	if (report.values != NULL)
		simdup_keys_end(report.values);
	simdup_rows_end(report.rows);
	return (Datum) 0;
}

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
