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

/* Several rows of one cluster. */
typedef struct Cluster
{
	uint32 first;  /* row */
	uint32 n;	   /* rows */
	uint32 before; /* rows of larger clusters */
} Cluster;

/* The rows of a source that are being returned. */
typedef struct NearRows
{
	SimdupGrouping grouping;
	ReturnSetInfo *result;
	bool has_groups;
	Cluster *clusters;	/* the largest first */
	uint32 *rank;		/* by row: of its cluster, from 1; 0: alone */
	uint32 *member;		/* by row: its number in its cluster, from 1 */
	uint64 *fps;		/* by row */
	uint8 *near;		/* bits, by a fingerprint's first row */
	uint32 scope;		/* the current one */
	SimdupEntry *alone; /* its rows that are counted only, by day */
	Size n_alone;
} NearRows;

/* The columns of the result. */
enum
{
	PLACE,
	KEY,
	FP,
	PART,
	SCOPE,
	DAY,
	ID,
	RANK,
	MEMBER,
	SERIAL,
	CLUSTER_SIZE,
	DISTANCE,
	SAME,
	NTH,
	N_SAME,
	N,
	CHANCES,
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

/* Mark two near fingerprints: a SimdupRowPairSink. */
static void
mark_near(void *arg, uint32 a, uint32 b, uint32 distance pg_attribute_unused())
{
	NearRows *r = arg;

	simdup_set_bit(r->near, a);
	simdup_set_bit(r->near, b);
}

/* Set what a row has of its own. Rows are numbered from 1. */
static void
set_row(ResultRow *result, const NearRows *r, uint32 row,
		const SimdupFingerprint *fingerprint)
{
	const SimdupGrouping *grouping = &r->grouping;

	set(result, KEY,
		CStringGetTextDatum(
			simdup_key_text(grouping->source.type[SIMDUP_SOURCE_KEY],
							simdup_keys_get(grouping->keys, row, 0))));
	set(result, FP, Simhash64GetDatum(fingerprint->fp));
	set_number(result, SAME,
			   (int64) simdup_row_at(grouping->fingerprints,
									 fingerprint->start) +
				   1);
	set_number(result, N_SAME, fingerprint->n);
	if (r->has_groups && grouping->ids[row] != SIMDUP_NO_ID)
		set_number(result, ID, grouping->ids[row]);
	if (r->rank[row] > 0)
	{
		const Cluster *cluster = &r->clusters[r->rank[row] - 1];

		set_number(result, RANK, r->rank[row]);
		set_number(result, MEMBER, r->member[row]);
		set_number(result, SERIAL, (int64) cluster->before + r->member[row]);
		set_number(result, CLUSTER_SIZE, cluster->n);
		set(result, DISTANCE,
			Int32GetDatum(
				simdup_hamming64(fingerprint->fp, r->fps[cluster->first])));
	}
}

/*
 * Put a row, the nth of its fingerprint. Without a fingerprint, put that n rows of
 * its scope and day are alone.
 */
static void
put_row(const NearRows *r, uint32 row, const SimdupFingerprint *fingerprint,
		uint32 nth, int64 n)
{
	const SimdupGrouping *grouping = &r->grouping;
	SimdupRows *rows = grouping->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);
	DateADT day =
		grouping->days == NULL ? DATEVAL_NOBEGIN : grouping->days[row];
	ResultRow result = no_values();

	set_number(&result, PLACE, (int64) row + 1);
	set_number(&result, PART, (int64) r->scope + 1);
	set_number(&result, NTH, nth);
	set_number(&result, N_SAME, 1);
	set_number(&result, N, n);
	/* a timestamp has no later date */
	if (!DATE_NOT_FINITE(day) &&
		day < TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		set(&result, DAY, DateADTGetDatum(day));
	if (r->scope > 0)
		set(&result, SCOPE,
			CStringGetTextDatum(
				simdup_key_text(grouping->source.type[SIMDUP_SOURCE_SCOPE],
								simdup_keys_get(rows->scope_keys, r->scope - 1,
												0))));
	if (fingerprint != NULL)
		set_row(&result, r, row, fingerprint);
	simdup_put_result(r->result, result.values, result.nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->row_context);
}

/* Put how many rows of the current scope are alone, by day. */
static void
put_alone(NearRows *r)
{
	Size n;

	simdup_sort_pairs(r->alone, r->n_alone);
	for (Size i = 0; i < r->n_alone; i += n)
	{
		for (n = 1;
			 i + n < r->n_alone && r->alone[i + n].value == r->alone[i].value;)
			n++;
		put_row(r, (uint32) r->alone[i].row, NULL, 1, (int64) n);
	}
	r->n_alone = 0;
}

/* Put the id of a member that is no row: see simdup_members_read. */
static void
put_gone(void *arg, Datum key pg_attribute_unused(), int64 id)
{
	const NearRows *r = arg;
	ResultRow result = no_values();

	set_number(&result, ID, id);
	set_number(&result, N, 0);
	simdup_put_result(r->result, result.values, result.nulls);
}

/*
 * Put how many rows take no part, and the chances that two unrelated fingerprints
 * are within each distance from 0 to 64, by a sample.
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
	set_number(&result, N, r->grouping.n_skipped);
	simdup_put_result(r->result, result.values, result.nulls);
}

/*
 * Rank the clusters of several rows, the largest first, and number their rows. The
 * rows of a cluster have one id.
 */
static void
rank_clusters(NearRows *r)
{
	const SimdupGrouping *grouping = &r->grouping;
	Size n = grouping->rows->n;
	SimdupEntry *rows = simdup_alloc((n + 1) * sizeof(SimdupEntry));
	SimdupEntry *runs = simdup_alloc((n / 2 + 1) * sizeof(SimdupEntry));
	Size n_rows = 0;
	Size n_runs = 0;
	Size len;
	uint32 before = 0;

	r->member = simdup_alloc((n + 1) * sizeof(uint32));
	for (Size row = 0; row < n; row++)
		if (grouping->ids[row] != SIMDUP_NO_ID)
			rows[n_rows++] = (SimdupEntry){(uint64) grouping->ids[row], row};
	simdup_sort_pairs(rows, n_rows);
	for (Size i = 0; i < n_rows; i += len)
	{
		for (len = 1; i + len < n_rows && rows[i + len].value == rows[i].value;)
			len++;
		if (len > 1)
			runs[n_runs++] = (SimdupEntry){UINT64_MAX - len, rows[i].row};
		r->member[rows[i].row] = (uint32) i; /* where the run is */
	}
	simdup_sort_pairs(runs, n_runs);

	r->clusters = simdup_alloc((n_runs + 1) * sizeof(Cluster));
	r->rank = simdup_alloc0((n + 1) * sizeof(uint32));
	for (Size i = 0; i < n_runs; i++)
	{
		const SimdupEntry *run = &rows[r->member[runs[i].row]];

		len = UINT64_MAX - runs[i].value;
		r->clusters[i] = (Cluster){(uint32) run->row, (uint32) len, before};
		before += (uint32) len;
		for (Size j = 0; j < len; j++)
		{
			r->rank[run[j].row] = (uint32) i + 1;
			r->member[run[j].row] = (uint32) j + 1;
		}
	}
	simdup_free(rows);
	simdup_free(runs);
}

/* Put the rows of all fingerprints, and how many are alone. */
static void
put_fingerprints(NearRows *r)
{
	const SimdupGrouping *grouping = &r->grouping;
	SimdupFingerprints *fingerprints = grouping->fingerprints;

	for (int64 i = 0; i < fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		bool is_near =
			fingerprint.n > 1 ||
			simdup_get_bit(r->near,
						   simdup_row_at(fingerprints, fingerprint.start));

		for (; i >= fingerprints->scope_starts[r->scope + 1]; r->scope++)
			put_alone(r);
		for (uint32 j = 0; j < fingerprint.n; j++)
		{
			uint32 row = simdup_row_at(fingerprints, fingerprint.start + j);

			CHECK_FOR_INTERRUPTS();
			if (is_near || grouping->ids[row] != SIMDUP_NO_ID)
				put_row(r, row, &fingerprint, j + 1, 1);
			else
				r->alone[r->n_alone++] =
					(SimdupEntry){grouping->days == NULL
									  ? 0
									  : (uint32) grouping->days[row],
								  row};
		}
	}
	put_alone(r);
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
	r.has_groups = !PG_ARGISNULL(1);
	r.near = simdup_alloc0(n / 8 + 1);
	if (r.has_groups)
	{
		simdup_members_read(&r.grouping, PG_GETARG_OID(1), put_gone, &r);
		simdup_join_fingerprints(fingerprints, options.max_distance, mark_near,
								 &r);
	}
	else
	{
		uint32 *first =
			simdup_find_groups(fingerprints, NULL, mark_near, &r, NULL);

		/* the row that leads a cluster gives it an id */
		for (Size row = 0; row < n; row++)
			if (first[row] != row)
				r.grouping.ids[row] = r.grouping.ids[first[row]] =
					(int64) first[row] + 1;
		simdup_free(first);
	}
	rank_clusters(&r);
	r.fps = simdup_alloc((n + 1) * sizeof(uint64));
	simdup_fingerprints_by_row(fingerprints, r.fps, NULL);
	r.alone = simdup_alloc((n + 1) * sizeof(SimdupEntry));
	put_fingerprints(&r);
	put_others(&r);
	if (r.grouping.keys != r.grouping.rows->keys)
		simdup_keys_end(r.grouping.keys);
	simdup_rows_end(r.grouping.rows);
	return (Datum) 0;
}
