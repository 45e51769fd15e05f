/*
 * report_rows.c
 *	  simdup_report_rows: the rows of a source that a report shows, and its figures.
 *
 * Rows and pairs are counted here. Only those that are shown become rows of the
 * result: members of clusters, the largest clusters first, and a few near pairs.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "batch/groups.h"
#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The nearest pairs, and how many bytes of their keys a report shows. */
#define N_NEAREST 10000
#define MAX_PAIR_BYTES 200000
#define N_EXAMPLES 5 /* of each distance */

/* Equal rows that stand in the pairs shown, at most. */
#define MAX_EQUAL 142

#define MAX_SHOWN_CLUSTERS 20000
#define MAX_SHOWN_MEMBERS 1000

/* Rows of clusters whose keys a report lists: 500,000 bytes have no more. */
#define MAX_LISTED 33334

#define MAX_SCOPES 100

/* In weeks, days of a span that is shorter; else in months. */
#define MAX_WEEKS 182

/* The rows of a source, and their clusters. A cluster has several rows. */
typedef struct ReportRows
{
	SimdupGrouping grouping;
	ReturnSetInfo *result;
	/* by row */
	uint64 *fps;
	uint32 *scopes;
	uint32 *first;	/* of its cluster or group */
	uint32 *in_all; /* members of its group in all; NULL: no groups */
	uint8 *repeats; /* bits: it is not the first of these */
	/* by first row */
	uint32 *size;	  /* of the cluster or group */
	uint32 *n_equal;  /* of the fingerprint */
	uint32 *position; /* of the fingerprint */

	SimdupSortItem
		*clusters; /* the largest first: size to UINT64_MAX, first row */
	Size n_clusters;
	uint32 *members; /* the rows of each cluster */

	uint32 n_equal_sets;
	uint32 n_equal_rows;
	uint64 n_pairs[SIMHASH64_BITS + 1]; /* of rows, by distance */
	/* pairs of fingerprints: the nearest, as distance, a, b; then room for more */
	SimdupSortItem *nearest;
	Size n_nearest;
	SimdupSortItem farthest; /* of the nearest, when they were cut */
	/* some of each distance, as chance, a, b */
	SimdupSortItem examples[SIMHASH64_BITS + 1][N_EXAMPLES];
} ReportRows;

/* Keep the nearest pairs. */
static void
cut_nearest(ReportRows *r)
{
	simdup_sort_pairs(r->nearest, r->n_nearest);
	r->n_nearest = Min(r->n_nearest, N_NEAREST);
	if (r->n_nearest == N_NEAREST)
		r->farthest = r->nearest[N_NEAREST - 1];
}

/*
 * Count the pairs of rows of two near fingerprints, or of one: a SimdupRowPairSink.
 * As examples, any pairs are fine that are always the same.
 */
static void
take_pair(void *arg, uint32 a, uint32 b, uint32 distance)
{
	ReportRows *r = arg;
	uint32 first = Min(a, b);
	uint32 second = Max(a, b);
	uint64 chance =
		(((uint64) first + 1) * 48271 + ((uint64) second + 1) * 69621) %
		1000003;
	SimdupSortItem pair = {(uint64) distance << 32 | first, second};
	SimdupSortItem example = {chance << 32 | first, second};

	r->n_pairs[distance] +=
		a == b ? (uint64) r->n_equal[a] * (r->n_equal[a] - 1) / 2
			   : (uint64) r->n_equal[a] * r->n_equal[b];
	for (int i = 0; i < N_EXAMPLES; i++)
		if (simdup_item_less(&example, &r->examples[distance][i]))
		{
			SimdupSortItem next = r->examples[distance][i];

			r->examples[distance][i] = example;
			example = next;
		}
	if (!simdup_item_less(&pair, &r->farthest))
		return;
	r->nearest[r->n_nearest++] = pair;
	if (r->n_nearest == 2 * N_NEAREST)
		cut_nearest(r);
}

/* Count the rows of each fingerprint, and take the pairs of equal ones. */
static void
count_equal(ReportRows *r)
{
	SimdupRows *rows = r->grouping.rows;

	for (int64 i = 0; i < rows->n_distinct; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(rows, i);
		uint32 first = simdup_row_at(rows, fingerprint.start);

		CHECK_FOR_INTERRUPTS();
		r->n_equal[first] = fingerprint.n;
		r->position[first] = fingerprint.start;
		if (fingerprint.n == 1)
			continue;
		r->n_equal_sets++;
		r->n_equal_rows += fingerprint.n;
		take_pair(r, first, first, 0);
	}
}

/* Take a member of a group: a sink of simdup_grouping_table. */
static void
take_member(void *arg, Datum *values)
{
	ReportRows *r = arg;
	uint32 row = simdup_grouping_member(&r->grouping, values);

	if (row == SIMDUP_NO_ROW)
		return;
	r->in_all[row] = (uint32) DatumGetInt64(values[2]);
	if (DatumGetInt64(values[3]) > 1)
		simdup_set_bit(r->repeats, row);
}

/*
 * Find the first row of each row's group. A row without a group is its own first row.
 */
static void
find_first_rows(ReportRows *r)
{
	const int64 *ids = r->grouping.ids;
	Size n = r->grouping.rows->n;
	SimdupSortItem *rows = simdup_alloc((n + 1) * sizeof(SimdupSortItem));
	Size n_rows = 0;

	r->first = simdup_alloc((n + 1) * sizeof(uint32));
	for (Size row = 0; row < n; row++)
	{
		r->first[row] = (uint32) row;
		if (ids[row] == SIMDUP_NO_ID)
			continue;
		rows[n_rows++] = (SimdupSortItem){(uint64) ids[row], row};
	}
	simdup_sort_pairs(rows, n_rows);
	for (Size i = 1; i < n_rows; i++)
		if (rows[i].value == rows[i - 1].value)
			r->first[rows[i].row] = r->first[rows[i - 1].row];
	simdup_free(rows);
}

static bool
in_cluster(const ReportRows *r, uint32 row)
{
	uint32 first = r->first[row];

	return r->size[first] > 1 || (r->in_all != NULL && r->in_all[first] > 1);
}

static bool
is_repeat(const ReportRows *r, uint32 row)
{
	return r->in_all != NULL ? simdup_get_bit(r->repeats, row)
							 : row != r->first[row];
}

/* Rank the clusters, those of one size by their first rows, and list their rows. */
static void
rank_clusters(ReportRows *r)
{
	uint32 n = r->grouping.rows->n;
	uint32 *next = simdup_alloc(((Size) n + 1) * sizeof(uint32));
	uint32 n_members = 0;

	r->size = simdup_alloc0(((Size) n + 1) * sizeof(uint32));
	r->members = simdup_alloc(((Size) n + 1) * sizeof(uint32));
	r->clusters = simdup_alloc(((Size) n + 1) * sizeof(SimdupSortItem));
	for (uint32 row = 0; row < n; row++)
		r->size[r->first[row]]++;
	for (uint32 row = 0; row < n; row++)
		if (r->first[row] == row && in_cluster(r, row))
			r->clusters[r->n_clusters++] =
				(SimdupSortItem){UINT64_MAX - r->size[row], row};
	simdup_sort_pairs(r->clusters, r->n_clusters);
	for (Size i = 0; i < r->n_clusters; i++)
	{
		next[r->clusters[i].row] = n_members;
		n_members += r->size[r->clusters[i].row];
	}
	for (uint32 row = 0; row < n; row++)
		if (in_cluster(r, row))
			r->members[next[r->first[row]]++] = row;
	simdup_free(next);
}

/* JSON */

/* Return a string as JSON. */
static char *
quoted(const char *string)
{
	StringInfoData json;

	initStringInfo(&json);
	escape_json(&json, string);
	return json.data;
}

static char *
key_of(const ReportRows *r, uint32 row)
{
	return simdup_keys_text(r->grouping.rows->keys, row);
}

/* Return a scope as JSON. */
static char *
scope_json(const SimdupGrouping *grouping, uint32 scope)
{
	if (scope == 0)
		return pstrdup("null");
	return quoted(simdup_keys_text(grouping->rows->scope_keys, scope - 1));
}

static DateADT
day_of(const ReportRows *r, uint32 row)
{
	return r->grouping.days == NULL ? DATEVAL_NOBEGIN : r->grouping.days[row];
}

static char *
day_text(DateADT day)
{
	return DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(day)));
}

static Datum
parse_json(const char *json)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}

/* Figures */

#define N_COLUMNS 8

/* Put an item of a list of the report. */
static void
put_item(const ReportRows *r, const char *list, const char *json)
{
	MemoryContext old = MemoryContextSwitchTo(r->grouping.rows->row_context);
	Datum values[N_COLUMNS] = {CStringGetTextDatum(list), parse_json(json)};
	bool nulls[N_COLUMNS] = {false, false, true, true, true, true, true, true};

	simdup_put_result(r->result, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->grouping.rows->row_context);
}

/* Counts of the rows of a scope, or of all. */
typedef struct Counts
{
	uint32 n_rows;
	uint32 n_repeats;
	uint32 n_clusters;
	uint32 n_members;
	uint32 n_alone; /* in no group */
	uint32 largest;
	uint32 first; /* row */
} Counts;

static void
count_row(Counts *counts, const ReportRows *r, uint32 row)
{
	bool is_member = in_cluster(r, row);
	uint32 first = r->first[row];

	if (counts->n_rows++ == 0)
		counts->first = row;
	counts->n_repeats += is_repeat(r, row);
	counts->n_clusters += is_member && first == row;
	counts->n_members += is_member;
	counts->n_alone += r->grouping.ids[row] == SIMDUP_NO_ID;
	counts->largest = Max(counts->largest, is_member ? r->size[first] : 1);
}

static void
put_counts(const ReportRows *r, const Counts *all)
{
	Size n_skipped = (Size) r->grouping.n_skipped;
	Size n_distinct = (Size) r->grouping.rows->n_distinct;
	const char *without_case = "";

	if (r->in_all != NULL)
		without_case = psprintf(", \"without_case\": %u", all->n_alone);
	put_item(r, "counts",
			 psprintf("{\"rows\": %zu, \"with_fingerprint\": %u, \"without_fingerprint\": %zu, \"distinct_fingerprints\": %zu, \"equal_sets\": %u, \"equal_rows\": %u, \"repeats\": %u, \"clusters\": %u, \"cluster_rows\": %u, \"largest\": %u%s}",
					  all->n_rows + n_skipped, all->n_rows, n_skipped,
					  n_distinct, r->n_equal_sets, r->n_equal_rows,
					  all->n_repeats, all->n_clusters, all->n_members,
					  all->largest, without_case));
}

/* Put how many clusters have each size up to a power of two. */
static void
put_sizes(const ReportRows *r)
{
	uint32 n[33] = {0};

	for (Size i = 0; i < r->n_clusters; i++)
		n[pg_ceil_log2_32(r->size[r->clusters[i].row])]++;
	for (int i = 0; i < (int) lengthof(n); i++)
		if (n[i] > 0)
			put_item(r, "sizes",
					 psprintf("{\"from\": %zu, \"to\": %zu, \"clusters\": %u}",
							  ((Size) 1 << i) / 2 + 1, (Size) 1 << i, n[i]));
}

/*
 * Put the pairs at each distance, and those to expect among unrelated rows, by a
 * sample.
 */
static void
put_distances(const ReportRows *r, double n_pairs)
{
	Size n = r->grouping.rows->n;
	Size step = Max(1, (n + SIMDUP_SAMPLE_SIZE - 1) / SIMDUP_SAMPLE_SIZE);
	uint64 sample[SIMDUP_SAMPLE_SIZE];
	double chances[SIMHASH64_BITS + 1];
	double before = 0;

	for (Size i = 0; i < n / step; i++)
		sample[i] = r->fps[(i + 1) * step - 1];
	simdup_false_pair_chances(sample, n / step, chances);
	for (int d = 0; d <= r->grouping.rows->options.max_distance; d++)
	{
		put_item(r, "distances",
				 psprintf("{\"distance\": %d, \"pairs\": %zu, \"by_chance\": %.6f}",
						  d, (Size) r->n_pairs[d],
						  n_pairs * (chances[d] - before)));
		before = chances[d];
	}
}

/* Return a row of a fingerprint that is known by its first row. */
static uint32
equal_row(const ReportRows *r, uint32 first, uint32 i)
{
	return simdup_row_at(r->grouping.rows, r->position[first] + i);
}

/*
 * List pairs of rows of the nearest fingerprints, in order: distance and the lesser
 * row, then the other one and whether it is of the first fingerprint.
 */
static SimdupSortItem *
nearest_rows(ReportRows *r, Size *n)
{
	SimdupSortItem *pairs = simdup_alloc((N_NEAREST + MAX_EQUAL * MAX_EQUAL) *
										 sizeof(SimdupSortItem));

	cut_nearest(r);
	for (Size i = 0; i < r->n_nearest && *n < N_NEAREST; i++)
	{
		uint32 a = (uint32) r->nearest[i].value;
		uint32 b = (uint32) r->nearest[i].row;
		uint32 n_a = Min(r->n_equal[a], MAX_EQUAL);
		uint32 n_b = Min(r->n_equal[b], MAX_EQUAL);

		for (uint32 j = 0; j < n_a * n_b; j++)
		{
			uint32 x = equal_row(r, a, j / n_b);
			uint32 y = equal_row(r, b, j % n_b);

			if (a != b || x < y)
				pairs[(*n)++] =
					(SimdupSortItem){r->nearest[i].value - a + Min(x, y),
									 (uint64) Max(x, y) << 1 | (x > y)};
		}
	}
	simdup_sort_pairs(pairs, *n);
	*n = Min(*n, N_NEAREST);
	return pairs;
}

static void
put_pairs(ReportRows *r)
{
	Size bytes = 0;
	Size n = 0;
	SimdupSortItem *pairs = nearest_rows(r, &n);

	for (Size i = 0; i < n; i++)
	{
		bool is_swapped = (pairs[i].row & 1) != 0;
		uint32 x = (uint32) pairs[i].value;
		uint32 y = (uint32) (pairs[i].row >> 1);
		char *a = key_of(r, is_swapped ? y : x);
		char *b = key_of(r, is_swapped ? x : y);
		uint32 distance = (uint32) (pairs[i].value >> 32);

		bytes += strlen(a) + strlen(b) + 10;
		if (bytes > MAX_PAIR_BYTES)
			break;
		put_item(r, "pairs",
				 psprintf("[%s, %s, %u]", quoted(a), quoted(b), distance));
	}
	simdup_free(pairs);
}

/* Put the scopes with most rows, of equal ones the first. Return how many there are. */
static Size
put_scopes(const ReportRows *r, const Counts *scopes)
{
	uint32 n = r->grouping.rows->n_scopes;
	SimdupSortItem *order = simdup_alloc(n * sizeof(SimdupSortItem));
	Size n_scopes = 0;

	for (uint32 i = 0; i < n; i++)
		if (scopes[i].n_rows > 0)
			order[n_scopes++] = (SimdupSortItem){UINT64_MAX - scopes[i].n_rows,
												 scopes[i].first};
	simdup_sort_pairs(order, n_scopes);
	for (Size i = 0; i < Min(n_scopes, MAX_SCOPES); i++)
	{
		uint32 scope = r->scopes[order[i].row];
		const Counts *counts = &scopes[scope];

		put_item(r, "scopes",
				 psprintf("{\"scope\": %s, \"rows\": %u, \"repeats\": %u, \"clusters\": %u, \"largest\": %u}",
						  scope_json(&r->grouping, scope), counts->n_rows,
						  counts->n_repeats, counts->n_clusters,
						  counts->largest));
	}
	simdup_free(order);
	return n_scopes;
}

/* Return the first day of a Julian day's week or month; 0 is a date's first day. */
static int
first_day(int day, bool by_week)
{
	int year;
	int month;
	int day_of_month;

	j2date(day, &year, &month, &day_of_month);
	return Max(0, day - (by_week ? day % 7 : day_of_month - 1));
}

/* Put the rows and repeats of each week or month. Return the name of one. */
static const char *
put_periods(const ReportRows *r)
{
	uint32 n_rows = r->grouping.rows->n;
	SimdupSortItem *days =
		simdup_alloc(((Size) n_rows + 1) * sizeof(SimdupSortItem));
	Size n = 0;
	bool by_week;

	for (uint32 row = 0; row < n_rows; row++)
		if (day_of(r, row) != DATEVAL_NOBEGIN)
			days[n++] = (SimdupSortItem){(uint64) (day_of(r, row) +
												   POSTGRES_EPOCH_JDATE),
										 row};
	simdup_sort_pairs(days, n);
	by_week = n > 0 && days[n - 1].value - days[0].value < MAX_WEEKS;
	for (Size i = 0, end; i < n; i = end)
	{
		int from = first_day((int) days[i].value, by_week);
		uint32 n_repeats = 0;

		for (end = i;
			 end < n && first_day((int) days[end].value, by_week) == from;)
			n_repeats += is_repeat(r, (uint32) days[end++].row);
		put_item(r, "periods",
				 psprintf("{\"from\": \"%s\", \"rows\": %zu, \"repeats\": %u}",
						  day_text(from - POSTGRES_EPOCH_JDATE), end - i,
						  n_repeats));
	}
	simdup_free(days);
	return by_week ? "week" : "month";
}

static void
put_figures(ReportRows *r)
{
	uint32 n = r->grouping.rows->n_scopes;
	Counts *scopes = simdup_alloc0(n * sizeof(Counts));
	Counts all = {0};
	double n_pairs = 0;
	Size n_found = 0;
	Size n_scopes;
	const char *unit;

	for (uint32 row = 0; row < r->grouping.rows->n; row++)
	{
		count_row(&scopes[r->scopes[row]], r, row);
		count_row(&all, r, row);
	}
	for (uint32 i = 0; i < n; i++)
		n_pairs += (double) scopes[i].n_rows * (scopes[i].n_rows - 1.0) / 2;
	for (int d = 0; d <= SIMHASH64_BITS; d++)
		n_found += r->n_pairs[d];
	put_counts(r, &all);
	put_sizes(r);
	put_distances(r, n_pairs);
	put_pairs(r);
	unit = put_periods(r);
	n_scopes = put_scopes(r, scopes);
	put_item(r, "all",
			 psprintf("{\"pairs\": %zu, \"scopes\": %zu, \"unit\": \"%s\"}",
					  n_found, n_scopes, unit));
	simdup_free(scopes);
}

/* Rows that are shown */

/* Return the case of a cluster, without its texts. */
static Datum
case_of(const ReportRows *r, const uint32 *members, int64 id)
{
	uint32 first = members[0];
	uint32 size = r->size[first];
	int reach = 0;
	DateADT from = DATEVAL_NOEND;
	DateADT to = DATEVAL_NOBEGIN;
	const char *days = "";
	const char *scope = "";

	for (uint32 i = 0; i < size; i++)
	{
		DateADT day = day_of(r, members[i]);

		CHECK_FOR_INTERRUPTS();
		reach = Max(reach, simdup_hamming64(r->fps[members[i]], r->fps[first]));
		if (day != DATEVAL_NOBEGIN)
			from = Min(from, day);
		to = Max(to, day);
	}
	if (to != DATEVAL_NOBEGIN)
		days = psprintf(", \"from\": \"%s\", \"to\": \"%s\"", day_text(from),
						day_text(to));
	if (r->grouping.rows->scopes != NULL)
		scope = psprintf(", \"scope\": %s",
						 scope_json(&r->grouping, r->scopes[first]));
	return parse_json(
		psprintf("{\"id\": %lld, \"size\": %u, \"outside\": %u, \"reach\": %d%s%s%s}",
				 (long long) id, size,
				 r->in_all == NULL ? 0 : r->in_all[first] - size, reach,
				 is_repeat(r, first) ? ", \"is_later\": true" : "", days,
				 scope));
}

/*
 * Put a row with its distance to another one: without a member, one that is listed
 * alone, and without a serial number, one of an example.
 */
static void
put_row(const ReportRows *r, int64 rank, uint32 member, uint32 serial,
		uint32 row, uint32 other)
{
	MemoryContext old = MemoryContextSwitchTo(r->grouping.rows->row_context);
	bool is_first = member == 1 && serial > 0;
	int64 id = r->grouping.ids[row];
	Datum values[N_COLUMNS] = {0};
	bool nulls[N_COLUMNS] = {true, !is_first, false, member == 0, serial == 0};

	if (id == SIMDUP_NO_ID)
		id = rank;
	if (is_first)
		values[1] = case_of(r, &r->members[serial - 1], id);
	values[2] = Int64GetDatum(rank);
	values[3] = Int64GetDatum(member);
	values[4] = Int64GetDatum(serial);
	values[5] = CStringGetTextDatum(key_of(r, row));
	values[6] = Int32GetDatum(simdup_hamming64(r->fps[row], r->fps[other]));
	values[7] = Int64GetDatum(id);
	simdup_put_result(r->result, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->grouping.rows->row_context);
}

/* Put the members that are shown or listed. */
static void
put_clusters(const ReportRows *r, Size n_shown)
{
	uint32 start = 0;

	for (Size i = 0; i < r->n_clusters; i++)
	{
		uint32 first = (uint32) r->clusters[i].row;
		uint32 n = i < n_shown ? MAX_SHOWN_MEMBERS : 0;

		if (n == 0 && start >= MAX_LISTED)
			break;
		for (uint32 m = 0; m < r->size[first]; m++)
		{
			CHECK_FOR_INTERRUPTS();
			if (m < n || start + m < MAX_LISTED)
				put_row(r, (int64) i + 1, m < n ? m + 1 : 0, start + m + 1,
						r->members[start + m], first);
		}
		start += r->size[first];
	}
}

/* Put the rows of examples. */
static void
put_examples(const ReportRows *r)
{
	int64 rank = 0;

	for (int i = 0; i <= SIMHASH64_BITS; i++)
		for (int j = 0; j < N_EXAMPLES && r->examples[i][j].value != UINT64_MAX;
			 j++)
		{
			uint32 a = (uint32) r->examples[i][j].value;
			uint32 b = (uint32) r->examples[i][j].row;

			if (a == b)
				b = equal_row(r, a, 1);
			put_row(r, --rank, 1, 0, a, b);
			put_row(r, rank, 2, 0, b, a);
		}
}

/* Read the groups of the rows, and of each group how many members there are. */
static void
read_groups(ReportRows *r, Oid table)
{
	Size n = r->grouping.rows->n;

	r->in_all = simdup_alloc0((n + 1) * sizeof(uint32));
	r->repeats = simdup_alloc0(n / 8 + 1);
	simdup_grouping_table(r->grouping.rows, table,
						  "t.key, t.id, count(*) OVER w, row_number() OVER (w ORDER BY t.key)",
						  "WINDOW w AS (PARTITION BY t.id)", 1, INT8OID,
						  take_member, r);
}

PG_FUNCTION_INFO_V1(simdup_report_rows);
/*
 * Return simdup_report_rows(source, groups, max_distance, method, min_resemblance, w,
 * unit, max_groups, columns): the rows that a report shows, and its figures.
 */
Datum
simdup_report_rows(PG_FUNCTION_ARGS)
{
	SimdupOptions options = simdup_options(fcinfo);
	ReportRows r = {.result = simdup_begin_result(fcinfo)};
	int n_shown;
	SimdupRows *rows;
	Size n;

	if (PG_ARGISNULL(0))
		elog(ERROR, "simdup_report_rows called without a source");
	simdup_check_not_null(PG_ARGISNULL(7), "max_groups");
	n_shown =
		simdup_check_range(PG_GETARG_INT32(7), 0, PG_INT32_MAX, "max_groups");
	r.grouping = simdup_grouping_read(fcinfo, &options, true);
	rows = r.grouping.rows;
	n = rows->n;
	r.n_equal = simdup_alloc((n + 1) * sizeof(uint32));
	r.position = simdup_alloc((n + 1) * sizeof(uint32));
	r.nearest = simdup_alloc(2 * N_NEAREST * sizeof(SimdupSortItem));
	memset(r.examples, 0xff, sizeof(r.examples));
	r.farthest.value = UINT64_MAX;
	count_equal(&r);
	if (PG_ARGISNULL(1) && options.method != SIMDUP_GIVEN)
		r.first = simdup_find_groups(rows, NULL, take_pair, &r);
	else
	{
		if (!PG_ARGISNULL(1))
			read_groups(&r, PG_GETARG_OID(1));
		simdup_join_fingerprints(rows, options.max_distance, NULL, take_pair,
								 &r);
		find_first_rows(&r);
	}
	/* a given cluster is shown by its rank */
	if (PG_ARGISNULL(1))
		memset(r.grouping.ids, 0, n * sizeof(int64));
	rank_clusters(&r);
	r.fps = simdup_alloc((n + 1) * sizeof(uint64));
	r.scopes = simdup_alloc0((n + 1) * sizeof(uint32));
	simdup_fingerprints_by_row(rows, r.fps, r.scopes);
	put_clusters(&r, Min(n_shown, MAX_SHOWN_CLUSTERS));
	put_examples(&r);
	put_figures(&r);
	simdup_rows_end(rows);
	return (Datum) 0;
}
