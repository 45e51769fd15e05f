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

#include "batch/groups.h"
#include "batch/join.h"
#include "core/cluster/grouping.h"
#include "core/compare/statistics.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The rows of a source that are being returned. */
typedef struct NearRows
{
	SimdupGrouping grouping;
	ReturnSetInfo *result;
	uint32 *first;	/* by row: the first one of its cluster, or SIMDUP_NO_ROW */
	uint32 *size;	/* of a cluster, by first row */
	uint8 *near;	/* bits, by the position of a fingerprint's first row */
	uint64 *sample; /* fingerprints of rows at equal steps */
	uint32 scope;	/* the current one */
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
	FIRST,
	CLUSTER_SIZE,
	SAME,
	NTH,
	N_SAME,
	N,
	CHANCES,
	N_COLUMNS
};

/* Mark two near fingerprints: a SimdupFingerprintSink. */
static void
mark_near(void *arg, const SimdupFingerprint *a, const SimdupFingerprint *b,
		  int distance pg_attribute_unused())
{
	NearRows *r = arg;

	simdup_set_bit(r->near, a->start);
	simdup_set_bit(r->near, b->start);
}

/* Number rows from 1. */
static Datum
place_of(uint32 row)
{
	return Int64GetDatum((int64) row + 1);
}

/* Fill in what the nth row of a fingerprint has of its own. */
static void
fill_row(const NearRows *r, uint32 row, const SimdupFingerprint *fingerprint,
		 uint32 nth, Datum *values, bool *nulls)
{
	const SimdupGrouping *grouping = &r->grouping;
	uint32 first = r->first[row];

	nulls[KEY] = nulls[FP] = nulls[SAME] = false;
	nulls[ID] = grouping->ids[row] == SIMDUP_NO_ID;
	nulls[FIRST] = nulls[CLUSTER_SIZE] = first == SIMDUP_NO_ROW;
	values[KEY] = CStringGetTextDatum(
		simdup_key_text(grouping->source.type[SIMDUP_SOURCE_KEY],
						simdup_keys_get(grouping->keys, row, 0)));
	values[FP] = Simhash64GetDatum(fingerprint->fp);
	values[ID] = Int64GetDatum(grouping->ids[row]);
	values[FIRST] = place_of(first);
	if (first != SIMDUP_NO_ROW)
		values[CLUSTER_SIZE] = Int64GetDatum(r->size[first]);
	values[SAME] =
		place_of(simdup_row_at(grouping->fingerprints, fingerprint->start));
	values[NTH] = Int64GetDatum(nth);
	values[N_SAME] = Int64GetDatum(fingerprint->n);
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
	Datum values[N_COLUMNS] = {[PLACE] = place_of(row),
							   [PART] = Int64GetDatum((int64) r->scope + 1),
							   [DAY] = DateADTGetDatum(day),
							   [NTH] = Int64GetDatum(1),
							   [N_SAME] = Int64GetDatum(1),
							   [N] = Int64GetDatum(n)};
	bool nulls[N_COLUMNS] =
		{[KEY] = true,			[FP] = true,   [ID] = true,		[FIRST] = true,
		 [CLUSTER_SIZE] = true, [SAME] = true, [CHANCES] = true};

	/* a timestamp has no later date */
	nulls[DAY] = DATE_NOT_FINITE(day) ||
				 day >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE;
	nulls[SCOPE] = r->scope == 0;
	if (r->scope > 0)
		values[SCOPE] = CStringGetTextDatum(
			simdup_key_text(grouping->source.type[SIMDUP_SOURCE_SCOPE],
							simdup_keys_get(rows->scope_keys, r->scope - 1,
											0)));
	if (fingerprint != NULL)
		fill_row(r, row, fingerprint, nth, values, nulls);
	simdup_put_result(r->result, values, nulls);
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
	Datum values[N_COLUMNS] = {[ID] = Int64GetDatum(id), [N] = Int64GetDatum(0)};
	bool nulls[N_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	nulls[ID] = nulls[N] = false;
	simdup_put_result(r->result, values, nulls);
}

/*
 * Put how many rows take no part, and the chances that two unrelated fingerprints
 * are within each distance from 0 to 64.
 */
static void
put_others(const NearRows *r, Size n_sampled)
{
	double chances[SIMHASH64_BITS + 1];
	Datum elements[SIMHASH64_BITS + 1];
	Datum values[N_COLUMNS] = {[N] = Int64GetDatum(r->grouping.n_skipped)};
	bool nulls[N_COLUMNS];

	simdup_false_pair_chances(r->sample, n_sampled, chances);
	for (int d = 0; d <= SIMHASH64_BITS; d++)
		elements[d] = Float8GetDatum(chances[d]);
	values[CHANCES] = PointerGetDatum(
		construct_array(elements, SIMHASH64_BITS + 1, FLOAT8OID, sizeof(float8),
						FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	memset(nulls, true, sizeof(nulls));
	nulls[N] = nulls[CHANCES] = false;
	simdup_put_result(r->result, values, nulls);
}

/* Return the first row of each row's group. */
static uint32 *
first_of_groups(const SimdupGrouping *grouping)
{
	Size n = (Size) grouping->rows->n;
	uint32 *first = simdup_alloc((n + 1) * sizeof(uint32));
	SimdupEntry *rows = simdup_alloc((n + 1) * sizeof(SimdupEntry));
	Size n_rows = 0;

	memset(first, 0xff, n * sizeof(uint32));
	for (uint32 row = 0; row < n; row++)
		if (grouping->ids[row] != SIMDUP_NO_ID)
			rows[n_rows++] = (SimdupEntry){(uint64) grouping->ids[row], row};
	simdup_sort_pairs(rows, n_rows);
	for (Size i = 0; i < n_rows; i++)
		first[rows[i].row] = i > 0 && rows[i].value == rows[i - 1].value
								 ? first[rows[i - 1].row]
								 : (uint32) rows[i].row;
	simdup_free(rows);
	return first;
}

/* Put the rows of all fingerprints, and how many are alone. Sample each step-th row. */
static void
put_fingerprints(NearRows *r, uint32 step)
{
	const SimdupGrouping *grouping = &r->grouping;
	SimdupFingerprints *fingerprints = grouping->fingerprints;

	for (int64 i = 0; i < fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		bool is_near =
			fingerprint.n > 1 || simdup_get_bit(r->near, fingerprint.start);

		for (; i >= fingerprints->scope_starts[r->scope + 1]; r->scope++)
			put_alone(r);
		for (uint32 j = 0; j < fingerprint.n; j++)
		{
			uint32 row = simdup_row_at(fingerprints, fingerprint.start + j);

			CHECK_FOR_INTERRUPTS();
			if ((row + 1) % step == 0)
				r->sample[(row + 1) / step - 1] = fingerprint.fp;
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
	uint32 step; /* at least 1 */

	if (PG_ARGISNULL(0))
		elog(ERROR, "simdup_near_rows called without a source");
	r.grouping = simdup_grouping_read(fcinfo, &options, true);
	fingerprints = r.grouping.fingerprints;
	n = r.grouping.rows->n;
	r.near = simdup_alloc0(n / 8 + 1);
	r.sample = simdup_alloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	r.alone = simdup_alloc((n + 1) * sizeof(SimdupEntry));
	if (PG_ARGISNULL(1))
		r.first = simdup_find_groups(fingerprints, NULL, mark_near, &r, NULL);
	else
	{
		simdup_members_read(&r.grouping, PG_GETARG_OID(1), put_gone, &r);
		simdup_join_fingerprints(fingerprints, options.max_distance, mark_near,
								 &r);
		r.first = first_of_groups(&r.grouping);
	}
	r.size = simdup_alloc0((n + 1) * sizeof(uint32));
	for (Size row = 0; row < n; row++)
		if (r.first[row] != SIMDUP_NO_ROW)
			r.size[r.first[row]]++;
	step = (uint32) ((Max(n, 1) + SIMDUP_SAMPLE_SIZE - 1) / SIMDUP_SAMPLE_SIZE);
	put_fingerprints(&r, step);
	put_others(&r, n / step);
	if (r.grouping.keys != r.grouping.rows->keys)
		simdup_keys_end(r.grouping.keys);
	simdup_rows_end(r.grouping.rows);
	return (Datum) 0;
}
