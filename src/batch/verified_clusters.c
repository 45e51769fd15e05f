/*
 * verified_clusters.c
 *	  simdup_verified_clusters: candidates by fingerprint, clusters by content.
 *
 * 1. Read the rows; the contents go to disk. Group them by fingerprint.
 * 2. In each group, find the rows whose content repeats an earlier row's. They
 *	  are in that row's cluster, and take no further part.
 * 3. Join the groups. Each row of a near group visits the other group, unless
 *	  that begins with a later row. The visits are sorted by row.
 * 4. Take the rows in query order. Only the first rows of clusters count: those
 *	  of the visited groups are tried by distance, the earlier one first. The
 *	  row joins the first that it resembles, or begins a cluster.
 *
 * So a row meets first rows only, and memory does not grow with the number of
 * pairs: visits are sorted on disk. The arrays below take 33 bytes a row with
 * that of the contents.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/clustering.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/session.h"

#define NO_ROW PG_UINT32_MAX

/* The first row of a cluster, within max_distance of a row. */
typedef struct Candidate
{
	int distance;
	uint32 row;
} Candidate;

typedef struct Verified
{
	SimdupGroups *groups;
	SimdupContents *contents;
	int max_distance;
	double min_resemblance;

	/* by position */
	uint8 *repeats;	 /* one bit: content of an earlier row of the group */
	uint8 *has_near; /* one bit: the group that begins here has a near one */
	uint32 *first_leader; /* of the group that begins here */

	/* by row */
	uint32 *cluster; /* its first row; of a repeat, the row that it repeats */
	uint32 *size;	 /* of the cluster, at its first row */
	uint32 *next_leader;
	uint8 *distance; /* to the cluster's first row, like the next */
	double *resemblance;

	SimdupPairSort *visits; /* (row, visit) */
	Candidate *candidates;	/* of one row */
	uint32 n_candidates;
	uint32 capacity;
	int64 n_refused;	  /* comparisons that found too little in common */
	int64 n_refused_rows; /* rows that no near cluster took */
} Verified;

static void
make_arrays(Verified *v)
{
	Size n = v->groups->rows->n;

	v->repeats = simdup_alloc0(n / 8 + 1);
	v->has_near = simdup_alloc0(n / 8 + 1);
	v->first_leader = simdup_alloc((n + 1) * sizeof(uint32));
	v->next_leader = simdup_alloc((n + 1) * sizeof(uint32));
	v->cluster = simdup_alloc((n + 1) * sizeof(uint32));
	v->size = simdup_alloc0((n + 1) * sizeof(uint32));
	v->distance = simdup_alloc0(n + 1);
	v->resemblance = simdup_alloc((n + 1) * sizeof(double));
	for (Size i = 0; i < n; i++)
	{
		v->first_leader[i] = NO_ROW;
		v->cluster[i] = (uint32) i;
		v->resemblance[i] = 1;
	}
}

/* Return the array at twice its capacity. NULL is none yet. */
static void *
enlarge(void *array, uint32 *capacity, Size width)
{
	*capacity = *capacity * 2 + 16;
	return array == NULL ? palloc(*capacity * width)
						 : repalloc_huge(array, *capacity * width);
}

/*
 * Repeated contents
 */

/* Rows of one group and one digest with different contents; almost always one. */
typedef struct Originals
{
	uint64 digest;
	uint32 group; /* its first position */
	uint32 *rows;
	uint32 n;
	uint32 capacity;
} Originals;

static void
add_original(Originals *originals, uint32 row)
{
	if (originals->n == originals->capacity)
		originals->rows =
			enlarge(originals->rows, &originals->capacity, sizeof(uint32));
	originals->rows[originals->n++] = row;
}

/* Sort the digests of rows that share a fingerprint, with their places. */
static SimdupPairSort *
sort_digests(Verified *v)
{
	SimdupPairSort *sort = simdup_pairsort_begin(maintenance_work_mem);

	for (int64 i = 0; i < v->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(v->groups, i);

		for (uint32 j = 0; group.n > 1 && j < group.n; j++)
		{
			uint32 row = simdup_groups_row(v->groups, group.start + j);

			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, simdup_contents_digest(v->contents, row),
								(uint64) group.start << 32 | (group.start + j));
		}
		simdup_progress_done(group.start);
	}
	simdup_pairsort_perform(sort);
	return sort;
}

/*
 * Find repeats. Rows ascend within a group: the first is the original. A repeat
 * of a content without a shingle is compared no more, and is alone.
 */
static void
find_repeats(Verified *v)
{
	Originals originals = {.group = NO_ROW};
	SimdupPairSort *sort;
	uint64 digest;
	uint64 place;

	simdup_progress_phase("finding equal texts", v->groups->rows->n);
	sort = sort_digests(v);
	while (simdup_pairsort_get(sort, &digest, &place))
	{
		uint32 row = simdup_groups_row(v->groups, (uint32) place);
		uint32 i = 0;

		if (digest != originals.digest ||
			(uint32) (place >> 32) != originals.group)
			originals.n = 0;
		originals.digest = digest;
		originals.group = (uint32) (place >> 32);
		while (i < originals.n &&
			   !simdup_contents_equal(v->contents, originals.rows[i], row))
			i++;
		if (i == originals.n)
			add_original(&originals, row);
		else
		{
			v->cluster[row] =
				simdup_contents_has_shingle(v->contents, originals.rows[i])
					? originals.rows[i]
					: row;
			simdup_set_bit(v->repeats, (uint32) place);
		}
	}
	simdup_pairsort_end(sort);
}

/*
 * Visits: 8 bits of distance, 32 of the visited group's first position, and one
 * that says that it is the row's own group.
 */

/*
 * A row joins only clusters that began before it. So it does not visit a group
 * whose rows all come later.
 */
static void
put_visits(Verified *v, const SimdupGroup *group, const SimdupGroup *visited,
		   int distance)
{
	uint64 visit = (uint64) distance << 33 | (uint64) visited->start << 1 |
				   (group->start == visited->start);
	uint32 first = simdup_groups_row(v->groups, visited->start);

	for (uint32 i = group->start; i < group->start + group->n; i++)
	{
		uint32 row = simdup_groups_row(v->groups, i);

		CHECK_FOR_INTERRUPTS();
		if (row >= first && !simdup_get_bit(v->repeats, i))
			simdup_pairsort_put(v->visits, row, visit);
	}
}

/* A SimdupGroupSink. */
static void
visit_each_other(void *arg, const SimdupGroup *a, const SimdupGroup *b,
				 int distance)
{
	Verified *v = arg;

	simdup_set_bit(v->has_near, a->start);
	simdup_set_bit(v->has_near, b->start);
	put_visits(v, a, b, distance);
	put_visits(v, b, a, distance);
}

static bool
has_two_contents(const Verified *v, const SimdupGroup *group)
{
	for (uint32 i = 1; i < group->n; i++)
		if (!simdup_get_bit(v->repeats, group->start + i))
			return true;
	return false;
}

static void
sort_visits(Verified *v)
{
	v->visits = simdup_pairsort_begin(maintenance_work_mem);
	simdup_join_groups(v->groups, v->max_distance, "comparing",
					   visit_each_other, v);
	for (int64 i = 0; i < v->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(v->groups, i);

		CHECK_FOR_INTERRUPTS();
		if (simdup_get_bit(v->has_near, group.start) ||
			has_two_contents(v, &group))
			put_visits(v, &group, &group, 0);
	}
	simdup_pairsort_perform(v->visits);
}

/*
 * Rows in query order
 */

static void
add_candidates(Verified *v, uint64 visit)
{
	uint32 row = v->first_leader[(uint32) (visit >> 1)];

	for (; row != NO_ROW; row = v->next_leader[row])
	{
		if (v->n_candidates == v->capacity)
			v->candidates =
				enlarge(v->candidates, &v->capacity, sizeof(Candidate));
		v->candidates[v->n_candidates++] =
			(Candidate){(int) (visit >> 33), row};
	}
}

static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Join a row to a cluster, or return false. All its visits are known. */
static bool
join_cluster(Verified *v, uint32 row)
{
	qsort(v->candidates, v->n_candidates, sizeof(Candidate),
		  compare_candidates);
	for (uint32 i = 0; i < v->n_candidates; i++)
	{
		Candidate *candidate = &v->candidates[i];
		double resemblance =
			simdup_contents_resemblance(v->contents, row, candidate->row,
										v->min_resemblance);

		CHECK_FOR_INTERRUPTS();
		if (resemblance >= 0)
		{
			v->cluster[row] = candidate->row;
			v->distance[row] = (uint8) candidate->distance;
			v->resemblance[row] = resemblance;
			return true;
		}
		v->n_refused++;
	}
	v->n_refused_rows += v->n_candidates > 0;
	return false;
}

/* Decide a row. Rows find a cluster's first row as they visit its group. */
static void
decide_row(Verified *v, uint32 row, uint32 own_group)
{
	if (!join_cluster(v, row))
	{
		v->next_leader[row] = v->first_leader[own_group];
		v->first_leader[own_group] = row;
	}
	v->n_candidates = 0;
}

static void
decide_rows(Verified *v)
{
	uint32 own_group = 0;
	uint64 last = 0;
	uint64 row;
	uint64 visit;
	bool any = false;

	simdup_progress_phase("comparing texts", v->groups->rows->n);
	while (simdup_pairsort_get(v->visits, &row, &visit))
	{
		if (any && row != last)
			decide_row(v, (uint32) last, own_group);
		if (visit & 1)
			own_group = (uint32) (visit >> 1);
		add_candidates(v, visit);
		last = row;
		any = true;
		simdup_progress_done((int64) row);
	}
	if (any)
		decide_row(v, (uint32) last, own_group);
	simdup_pairsort_end(v->visits);
}

/* Complete clusters: repeats follow the row that they repeat. */
static void
complete_clusters(Verified *v)
{
	SimdupGroups *groups = v->groups;

	for (uint32 i = 0; i < groups->rows->n; i++)
	{
		uint32 row = simdup_groups_row(groups, i);

		CHECK_FOR_INTERRUPTS();
		if (simdup_get_bit(v->repeats, i))
		{
			uint32 original = v->cluster[row];

			v->cluster[row] = v->cluster[original];
			v->distance[row] = v->distance[original];
			v->resemblance[row] = v->resemblance[original];
		}
		v->size[v->cluster[row]]++;
	}
}

static void
put_clusters(const Verified *v, ReturnSetInfo *result, int min_size)
{
	SimdupRows *rows = v->groups->rows;

	simdup_progress_phase("writing", rows->n);
	for (uint32 row = 0; row < rows->n; row++)
	{
		uint32 cluster = v->cluster[row];
		Datum values[5];
		bool nulls[5] = {false, false, false, false, false};

		CHECK_FOR_INTERRUPTS();
		simdup_progress_done(row);
		if ((int64) v->size[cluster] < min_size)
			continue;
		values[0] = simdup_keys_get(rows->keys, row, 0);
		values[1] = simdup_keys_get(rows->keys, cluster, 1);
		values[2] = Int64GetDatum((int64) v->size[cluster]);
		values[3] = Int32GetDatum(v->distance[row]);
		values[4] = Float8GetDatum(v->resemblance[row]);
		simdup_put_result(result, values, nulls);
	}
}

static void
tell_refused(const Verified *v)
{
	if (v->n_refused == 0)
		return;
	ereport(NOTICE,
			errmsg_plural("refused %lld join by the texts",
						  "refused %lld joins by the texts",
						  (unsigned long) v->n_refused,
						  (long long) v->n_refused),
			errdetail_plural("%lld row is within max_distance of the first row of a cluster, but resembles none of them enough.",
							 "%lld rows are within max_distance of the first row of a cluster, but resemble none of them enough.",
							 (unsigned long) v->n_refused_rows,
							 (long long) v->n_refused_rows));
}

static void
find_clusters(Verified *v, SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	v->groups = simdup_rows_group(rows);
	make_arrays(v);
	find_repeats(v);
	sort_visits(v);
	decide_rows(v);
	complete_clusters(v);
	MemoryContextSwitchTo(old);
}

PG_FUNCTION_INFO_V1(simdup_verified_clusters);
/*
 * simdup_verified_clusters(query [, key_type], max_distance, min_resemblance, w,
 * unit, min_size, params)
 */
Datum
simdup_verified_clusters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	int option = simdup_first_option(fcinfo, 1);
	Verified v = {.max_distance = simdup_check_max_distance(fcinfo, option)};
	SimdupRows *rows;

	simdup_check_not_null(PG_ARGISNULL(option + 4), "min_size");
	rows = simdup_rows_read_verified(fcinfo, option + 1, &v.min_resemblance);
	if (rows == NULL)
		return (Datum) 0;
	v.contents = rows->contents;
	find_clusters(&v, rows);
	put_clusters(&v, result, PG_GETARG_INT32(option + 4));
	tell_refused(&v);
	simdup_contents_end(v.contents);
	simdup_groups_end(v.groups);
	return (Datum) 0;
}
