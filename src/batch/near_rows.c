/*
 * near_rows.c
 *	  simdup_near_rows: the rows of a source that are near others, for a report.
 *
 * They come one by one, as the rows of a grouping do. Most rows are alone, and are
 * counted by scope and day.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/memutils.h"

#include "batch/distinct_rows.h"
#include "batch/groups.h"
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "core/search/sort.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The nearest pairs that a report shows, and those of each distance. */
#define N_NEAREST 10000
#define N_EXAMPLES 5

/* The rows of a source that are being returned. A cluster has several rows. */
typedef struct NearRows
{
	SimdupGrouping grouping;
	ReturnSetInfo *result;
	/* by row */
	uint32 *first;	/* of its cluster or group */
	uint32 *rank;	/* of its cluster, from 1, the largest first; 0: in none */
	uint32 *serial; /* among the rows of all clusters, by rank, from 1 */
	uint64 *fps;
	uint32 *in_all; /* members of its group in all; NULL: no groups */
	uint8 *repeats; /* bits: it is not the first member */
	/* by first row */
	uint32 *size;	 /* of the cluster or group */
	uint8 *near;	 /* bits: of a fingerprint that is near another */
	uint32 *n_equal; /* of the fingerprint */

	uint64 n_pairs[SIMHASH64_BITS + 1]; /* of rows, by distance */
	/* pairs of fingerprints: the nearest, as distance, a, b; then room for more */
	SimdupSortItem *nearest;
	Size n_nearest;
	/* some of each distance, as chance, a, b */
	SimdupSortItem examples[SIMHASH64_BITS + 1][N_EXAMPLES];
} NearRows;

/* The columns of the result. */
enum
{
	PLACE,
	KEY,
	PART,
	SCOPE,
	DAY,
	ID,
	RANK,
	MEMBER,
	SERIAL,
	CLUSTER_SIZE,
	OUTSIDE,
	IS_REPEAT,
	DISTANCE,
	SAME,
	NTH,
	N_SAME,
	N,
	CHANCES,
	FOUND,
	A,
	B,
	CHANCE,
	N_COLUMNS
};

/* A row of the result. Its columns are NULL until they are set. */
typedef struct ResultRow
{
	Datum values[N_COLUMNS];
	bool nulls[N_COLUMNS];
} ResultRow;

static ResultRow
no_values(void)
{
	ResultRow result = {0};

	memset(result.nulls, true, sizeof(result.nulls));
	return result;
}

static void
set(ResultRow *result, int column, Datum value)
{
	result->values[column] = value;
	result->nulls[column] = false;
}

static void
set_number(ResultRow *result, int column, int64 value)
{
	set(result, column, Int64GetDatum(value));
}

/* Keep the nearest pairs. */
static void
cut_nearest(NearRows *r)
{
	simdup_sort_pairs(r->nearest, r->n_nearest);
	r->n_nearest = Min(r->n_nearest, N_NEAREST);
}

/*
 * Mark two near fingerprints, or one of several rows, and count the pairs of their
 * rows: a SimdupRowPairSink. As examples, any pairs are fine that are always the same.
 */
static void
take_pair(void *arg, uint32 a, uint32 b, uint32 distance)
{
	NearRows *r = arg;
	uint32 first = Min(a, b);
	uint32 second = Max(a, b);
	uint64 chance =
		(((uint64) first + 1) * 48271 + ((uint64) second + 1) * 69621) %
		1000003;
	SimdupSortItem pair = {(uint64) distance << 32 | first, second};
	SimdupSortItem example = {chance << 32 | first, second};

	simdup_set_bit(r->near, a);
	simdup_set_bit(r->near, b);
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
	if (r->n_nearest >= N_NEAREST &&
		!simdup_item_less(&pair, &r->nearest[N_NEAREST - 1]))
		return;
	r->nearest[r->n_nearest++] = pair;
	if (r->n_nearest == 2 * N_NEAREST)
		cut_nearest(r);
}

/* Set what a row that is near others has of its own. Rows are numbered from 1. */
static void
set_row(ResultRow *result, const NearRows *r, uint32 row,
		const SimdupFingerprint *fingerprint)
{
	const SimdupGrouping *grouping = &r->grouping;

	set(result, KEY,
		CStringGetTextDatum(
			simdup_key_text(grouping->source.type[SIMDUP_SOURCE_KEY],
							simdup_keys_get(grouping->keys, row, 0))));
	set_number(result, SAME,
			   (int64) simdup_row_at(grouping->fingerprints,
									 fingerprint->start) +
				   1);
	set_number(result, N_SAME, fingerprint->n);
	if (grouping->ids[row] != SIMDUP_NO_ID)
		set_number(result, ID, grouping->ids[row]);
	if (r->rank[row] > 0)
	{
		uint32 first = r->first[row];

		set_number(result, RANK, r->rank[row]);
		set_number(result, MEMBER, r->serial[row] - r->serial[first] + 1);
		set_number(result, SERIAL, r->serial[row]);
		set_number(result, CLUSTER_SIZE, r->size[first]);
		set_number(result, OUTSIDE,
				   r->in_all == NULL ? 0 : r->in_all[first] - r->size[first]);
		set(result, IS_REPEAT,
			BoolGetDatum(r->in_all != NULL ? simdup_get_bit(r->repeats, row)
										   : row != first));
		set(result, DISTANCE,
			Int32GetDatum(simdup_hamming64(fingerprint->fp, r->fps[first])));
	}
}

/*
 * Put a row, the nth of its fingerprint. Without a fingerprint, put that n rows of
 * its scope and day are alone.
 */
static void
put_row(const NearRows *r, uint32 scope, uint32 row,
		const SimdupFingerprint *fingerprint, uint32 nth, int64 n)
{
	const SimdupGrouping *grouping = &r->grouping;
	SimdupRows *rows = grouping->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);
	DateADT day =
		grouping->days == NULL ? DATEVAL_NOBEGIN : grouping->days[row];
	ResultRow result = no_values();

	set_number(&result, PLACE, (int64) row + 1);
	set_number(&result, PART, (int64) scope + 1);
	set_number(&result, NTH, nth);
	set_number(&result, N, n);
	/* a timestamp has no later date */
	if (!DATE_NOT_FINITE(day) &&
		day < TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		set(&result, DAY, DateADTGetDatum(day));
	if (scope > 0)
		set(&result, SCOPE,
			CStringGetTextDatum(
				simdup_key_text(grouping->source.type[SIMDUP_SOURCE_SCOPE],
								simdup_keys_get(rows->scope_keys, scope - 1,
												0))));
	if (fingerprint != NULL)
		set_row(&result, r, row, fingerprint);
	simdup_put_result(r->result, result.values, result.nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->row_context);
}

/* Take a member of a group: a sink of simdup_grouping_table. */
static void
take_member(void *arg, Datum *values)
{
	NearRows *r = arg;
	uint32 row = simdup_keyids_find(r->grouping.rows->numbers, values[0]);

	if (row >= r->grouping.rows->n)
		return;
	r->grouping.ids[row] = DatumGetInt64(values[1]);
	r->in_all[row] = (uint32) DatumGetInt64(values[2]);
	if (DatumGetInt64(values[3]) > 1)
		simdup_set_bit(r->repeats, row);
}

/* Put a pair of fingerprints by the places of their first rows. */
static void
put_pair(const NearRows *r, uint32 distance, const SimdupSortItem *pair,
		 bool is_example)
{
	ResultRow result = no_values();

	set(&result, DISTANCE, Int32GetDatum((int32) distance));
	set_number(&result, A, (int64) (uint32) pair->value + 1);
	set_number(&result, B, (int64) pair->row + 1);
	if (is_example)
		set_number(&result, CHANCE, (int64) (pair->value >> 32));
	simdup_put_result(r->result, result.values, result.nulls);
}

/* Put the nearest pairs, as many as have enough pairs of rows, and the examples. */
static void
put_pairs(NearRows *r)
{
	uint64 n_before = 0;

	cut_nearest(r);
	for (Size i = 0; i < r->n_nearest && n_before < N_NEAREST; i++)
	{
		const SimdupSortItem *pair = &r->nearest[i];
		uint64 n = r->n_equal[(uint32) pair->value];

		put_pair(r, (uint32) (pair->value >> 32), pair, false);
		n_before += (uint32) pair->value == pair->row
						? n * (n - 1) / 2
						: n * r->n_equal[pair->row];
	}
	for (uint32 distance = 0; distance <= SIMHASH64_BITS; distance++)
		for (int i = 0; i < N_EXAMPLES; i++)
			if (r->examples[distance][i].value != UINT64_MAX)
				put_pair(r, distance, &r->examples[distance][i], true);
}

/*
 * Put how many rows take no part, the chances that two unrelated fingerprints are
 * within each distance from 0 to 64, by a sample, and the pairs at each distance.
 */
static void
put_others(const NearRows *r)
{
	Size n = r->grouping.rows->n;
	Size step = Max(1, (n + SIMDUP_SAMPLE_SIZE - 1) / SIMDUP_SAMPLE_SIZE);
	uint64 *sample = simdup_alloc((n / step + 1) * sizeof(uint64));
	double chances[SIMHASH64_BITS + 1];
	Datum elements[SIMHASH64_BITS + 1];
	ResultRow result = no_values();

	for (Size i = 0; i < n / step; i++)
		sample[i] = r->fps[(i + 1) * step - 1];
	simdup_false_pair_chances(sample, n / step, chances);
	for (int d = 0; d <= SIMHASH64_BITS; d++)
		elements[d] = Float8GetDatum(chances[d]);
	set(&result, CHANCES,
		PointerGetDatum(construct_array(elements, SIMHASH64_BITS + 1, FLOAT8OID,
										sizeof(float8), FLOAT8PASSBYVAL,
										TYPALIGN_DOUBLE)));
	set(&result, FOUND,
		PointerGetDatum(
			simdup_make_array(r->n_pairs, SIMHASH64_BITS + 1, INT8OID)));
	set_number(&result, N, r->grouping.n_skipped);
	simdup_put_result(r->result, result.values, result.nulls);
}

/*
 * Find the first row of each row's group. A row without a group is its own first row.
 */
static void
find_first_rows(NearRows *r)
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

/* Rank the clusters, of one size by their first rows, and number their rows. */
static void
rank_clusters(NearRows *r)
{
	Size n = r->grouping.rows->n;
	SimdupSortItem *clusters = simdup_alloc((n + 1) * sizeof(SimdupSortItem));
	uint32 *next = simdup_alloc((n + 1) * sizeof(uint32)); /* by first row */
	Size n_clusters = 0;
	uint32 serial = 1;

	r->size = simdup_alloc0((n + 1) * sizeof(uint32));
	r->rank = simdup_alloc0((n + 1) * sizeof(uint32));
	r->serial = simdup_alloc0((n + 1) * sizeof(uint32));
	for (Size row = 0; row < n; row++)
		r->size[r->first[row]]++;
	for (Size row = 0; row < n; row++)
		if (r->size[row] > 1 ||
			(r->size[row] == 1 && r->in_all != NULL && r->in_all[row] > 1))
			clusters[n_clusters++] =
				(SimdupSortItem){UINT64_MAX - r->size[row], row};
	simdup_sort_pairs(clusters, n_clusters);
	for (Size i = 0; i < n_clusters; i++)
	{
		r->rank[clusters[i].row] = (uint32) i + 1;
		next[clusters[i].row] = serial;
		serial += r->size[clusters[i].row];
	}
	for (Size row = 0; row < n; row++)
	{
		r->rank[row] = r->rank[r->first[row]];
		if (r->rank[row] > 0)
			r->serial[row] = next[r->first[row]]++;
	}
	simdup_free(clusters);
	simdup_free(next);
}

/*
 * Put the rows of each fingerprint that are near others or in a group, and then how
 * many of the others there are, by scope and day.
 */
static void
put_rows(const NearRows *r)
{
	const SimdupGrouping *grouping = &r->grouping;
	SimdupFingerprints *fingerprints = grouping->fingerprints;
	SimdupSortItem *alone =
		simdup_alloc(((Size) grouping->rows->n + 1) * sizeof(SimdupSortItem));
	Size n_alone = 0;
	Size len;
	uint32 scope = 0;

	for (int64 i = 0; i < fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		uint32 first = simdup_row_at(fingerprints, fingerprint.start);
		bool is_near = r->rank[first] > 0 ||
					   grouping->ids[first] != SIMDUP_NO_ID ||
					   simdup_get_bit(r->near, first);

		while (i >= fingerprints->scope_starts[scope + 1])
			scope++;
		for (uint32 j = 0; j < fingerprint.n; j++)
		{
			uint32 row = simdup_row_at(fingerprints, fingerprint.start + j);
			uint32 day =
				grouping->days == NULL ? 0 : (uint32) grouping->days[row];

			CHECK_FOR_INTERRUPTS();
			if (is_near)
				put_row(r, scope, row, &fingerprint, j + 1, 1);
			else
				alone[n_alone++] =
					(SimdupSortItem){(uint64) scope << 32 | day, row};
		}
	}
	simdup_sort_pairs(alone, n_alone);
	for (Size i = 0; i < n_alone; i += len)
	{
		for (len = 1;
			 i + len < n_alone && alone[i + len].value == alone[i].value;)
			len++;
		put_row(r, (uint32) (alone[i].value >> 32), (uint32) alone[i].row, NULL,
				1, (int64) len);
	}
	simdup_free(alone);
}

/* Count the rows of each fingerprint, and take the pairs of equal ones. */
static void
count_equal(NearRows *r)
{
	SimdupFingerprints *fingerprints = r->grouping.fingerprints;
	Size n = r->grouping.rows->n;

	r->n_equal = simdup_alloc((n + 1) * sizeof(uint32));
	for (int64 i = 0; i < fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		uint32 first = simdup_row_at(fingerprints, fingerprint.start);

		CHECK_FOR_INTERRUPTS();
		r->n_equal[first] = fingerprint.n;
		if (fingerprint.n > 1)
			take_pair(r, first, first, 0);
	}
}

PG_FUNCTION_INFO_V1(simdup_near_rows);
/*
 * Return simdup_near_rows(source, groups, max_distance, method,
 * min_resemblance, w, unit): one by one the rows that are near another one or in a
 * group. The others are counted.
 */
Datum
simdup_near_rows(PG_FUNCTION_ARGS)
{
	SimdupOptions options = simdup_options(fcinfo);
	NearRows r = {.result = simdup_begin_result(fcinfo)};
	SimdupFingerprints *fingerprints;
	Size n;

	if (PG_ARGISNULL(0))
		elog(ERROR, "simdup_near_rows called without a source");
	r.grouping = simdup_grouping_read(fcinfo, &options, true);
	fingerprints = r.grouping.fingerprints;
	n = r.grouping.rows->n;
	r.near = simdup_alloc0(n / 8 + 1);
	r.nearest = simdup_alloc(2 * N_NEAREST * sizeof(SimdupSortItem));
	memset(r.examples, 0xff, sizeof(r.examples));
	count_equal(&r);
	if (PG_ARGISNULL(1) && options.method != SIMDUP_GIVEN)
		r.first = simdup_find_groups(fingerprints, NULL, take_pair, &r);
	else
	{
		if (!PG_ARGISNULL(1))
		{
			r.in_all = simdup_alloc0((n + 1) * sizeof(uint32));
			r.repeats = simdup_alloc0(n / 8 + 1);
			simdup_grouping_table(r.grouping.rows, PG_GETARG_OID(1),
								  "t.key, t.id, count(*) OVER w, row_number() OVER (w ORDER BY t.key)",
								  "WINDOW w AS (PARTITION BY t.id)", 1, INT8OID,
								  take_member, &r);
		}
		simdup_join_fingerprints(fingerprints, options.max_distance, take_pair,
								 &r);
		find_first_rows(&r);
	}
	/* a given cluster is shown by its rank */
	if (PG_ARGISNULL(1))
		memset(r.grouping.ids, 0, n * sizeof(int64));
	rank_clusters(&r);
	r.fps = simdup_alloc((n + 1) * sizeof(uint64));
	simdup_fingerprints_by_row(fingerprints, r.fps, NULL);
	put_rows(&r);
	put_pairs(&r);
	put_others(&r);
	if (r.grouping.keys != r.grouping.rows->keys)
		simdup_keys_end(r.grouping.keys);
	simdup_rows_end(r.grouping.rows);
	return (Datum) 0;
}
