/*
 * distinct_rows.c
 *	  The rows of a query as core/cluster/grouping.h takes them: distinct, with
 *	  those that are near.
 *
 * The rows of one scope and one fingerprint are one distinct row. Where
 * contents count, a fingerprint has several, one for each content. The join
 * gives near fingerprints, and so near distinct rows. The pairs of distinct rows
 * that may lead are sorted, on disk where they are many, and read again as rows
 * join groups.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/rows.h"
#include "core/cluster/grouping.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "server/progress.h"
#include "server/spill.h"

typedef struct GroupingRows
{
	SimdupDistinctRows distinct_rows;
	SimdupFingerprints *fingerprints; /* its rows' context holds all of this */
	SimdupStoredTexts *contents;	  /* NULL: each fingerprint is one */
	uint8 *alone;					  /* bits by row: resembles no other */
	/*
	 * by position: the distinct rows of a fingerprint, from its first position on
	 */
	uint32 *distinct_at;

	SimdupFingerprintSink also; /* until the fingerprints were joined once */
	void *also_arg;

	/* while distinct rows are joined: gets each near pair of distinct rows */
	void (*sink)(struct GroupingRows *g, uint32 a, uint32 b, uint32 distance);
	SimdupPairSort *sort;

	/* leader */
	uint32 *first_near;	 /* by distinct row */
	uint8 *may_lead;	 /* by distinct row; NULL: all may */
	uint8 *leads_again;	 /* bits: asked for in no order; NULL: none */
	int64 n_sorted;		 /* near pairs in the sort */
	int64 most_sorted;	 /* beyond this number, a second join finds them */
	SimdupNearRow *near; /* of the distinct row that leads */
	Size n_near, near_capacity;
	uint32 next_row; /* next from the sort; SIMDUP_NO_ROW: none */
	SimdupNearRow next_near;
	SimdupEntry *kept; /* row, distance and near row: of those that lead again */
	Size n_kept, kept_capacity;

	/* connected */
	SimdupConnected *connected;
	uint32 distance; /* 0: pairs of any distance are united as they come */
} GroupingRows;

static void *
alloc_numbers(Size n)
{
	return simdup_alloc((n + 1) * sizeof(uint32));
}

/*
 * Distinct rows
 */

/* Each fingerprint is a distinct row. */
static void
take_fingerprints(GroupingRows *g)
{
	SimdupFingerprint fingerprint;
	int64 next = 0;

	g->distinct_rows.distinct = alloc_numbers(g->distinct_rows.n_rows);
	for (uint32 row = 0; row < g->distinct_rows.n_rows; row++)
		g->distinct_rows.distinct[row] = row;
	while (simdup_fingerprints_next_equal(g->fingerprints, &next, &fingerprint))
	{
		uint32 first = simdup_row_at(g->fingerprints, fingerprint.start);

		for (uint32 j = 1; j < fingerprint.n; j++)
			g->distinct_rows.distinct[simdup_row_at(g->fingerprints,
													fingerprint.start + j)] =
				first;
	}
}

/*
 * Find the first row of each row's distinct row, for the rows of one
 * fingerprint. Sorted by digest, the rows of a distinct row stand together. A
 * row whose digest collides is a distinct row of its own. So is one that
 * repeats a content without a shingle, which resembles no other.
 */
static void
find_first_rows(GroupingRows *g, const SimdupFingerprint *fingerprint,
				SimdupEntry *pairs)
{
	uint32 first = simdup_row_at(g->fingerprints, fingerprint->start);

	g->distinct_rows.distinct[first] = first;
	if (fingerprint->n == 1)
		return;
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = simdup_row_at(g->fingerprints, fingerprint->start + i);

		pairs[i] =
			(SimdupEntry){simdup_stored_texts_digest(g->contents, row), row};
	}
	simdup_sort_pairs(pairs, fingerprint->n);
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || pairs[i].value != pairs[i - 1].value)
			first = row;
		g->distinct_rows.distinct[row] = first;
		if (first == row)
			continue;
		if (!simdup_stored_texts_equal(g->contents, first, row))
			g->distinct_rows.distinct[row] = row;
		else if (!simdup_stored_texts_has_shingle(g->contents, first))
		{
			g->distinct_rows.distinct[row] = row;
			simdup_set_bit(g->alone, row);
		}
	}
}

/* List the distinct rows of a fingerprint that may resemble others. */
static void
list_distinct_rows(GroupingRows *g, const SimdupFingerprint *fingerprint)
{
	uint32 end = fingerprint->start;

	for (uint32 i = fingerprint->start; i < fingerprint->start + fingerprint->n;
		 i++)
	{
		uint32 row = simdup_row_at(g->fingerprints, i);

		g->distinct_at[i] = SIMDUP_NO_ROW;
		if (g->distinct_rows.distinct[row] == row &&
			!simdup_get_bit(g->alone, row))
			g->distinct_at[end++] = row;
	}
}

/* Cut the fingerprints into distinct rows by their contents. */
static void
cut_fingerprints(GroupingRows *g)
{
	Size n = g->distinct_rows.n_rows;
	SimdupEntry *pairs = NULL;
	Size n_pairs = 0; /* that there is room for */

	g->distinct_rows.distinct = alloc_numbers(n);
	g->distinct_at = alloc_numbers(n);
	g->alone = simdup_alloc0(n / 8 + 1);
	simdup_progress_phase("finding equal texts", (int64) n);
	for (int64 i = 0; i < g->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(g->fingerprints, i);

		CHECK_FOR_INTERRUPTS();
		pairs = simdup_grow(pairs, &n_pairs, fingerprint.n, sizeof(*pairs));
		find_first_rows(g, &fingerprint, pairs);
		list_distinct_rows(g, &fingerprint);
		simdup_progress_done(fingerprint.start);
	}
	simdup_free(pairs);
}

/*
 * Return the resemblance of two distinct rows, or -1:
 * SimdupDistinctRows.verify.
 */
static double
resemble(void *arg, uint32 distinct, uint32 other)
{
	GroupingRows *g = arg;

	CHECK_FOR_INTERRUPTS();
	return simdup_stored_texts_resemblance(g->contents, distinct, other,
										   g->fingerprints->rows
											   ->min_resemblance);
}

/*
 * Near distinct rows
 */

/*
 * Take a near pair of fingerprints, or one with itself, and report the pairs of
 * their distinct rows: a SimdupFingerprintSink.
 */
static void
join_distinct_rows(void *arg, const SimdupFingerprint *a,
				   const SimdupFingerprint *b, int distance)
{
	GroupingRows *g = arg;

	if (g->also != NULL && a != b)
		g->also(g->also_arg, a, b, distance);
	if (g->contents == NULL)
	{
		g->sink(g, simdup_row_at(g->fingerprints, a->start),
				simdup_row_at(g->fingerprints, b->start), (uint32) distance);
		return;
	}
	for (uint32 i = a->start;
		 i < a->start + a->n && g->distinct_at[i] != SIMDUP_NO_ROW; i++)
		for (uint32 j = a == b ? i + 1 : b->start;
			 j < b->start + b->n && g->distinct_at[j] != SIMDUP_NO_ROW; j++)
		{
			CHECK_FOR_INTERRUPTS();
			g->sink(g, g->distinct_at[i], g->distinct_at[j], (uint32) distance);
		}
}

/* Report each pair of near distinct rows once. */
static void
join_all(GroupingRows *g, uint32 max_distance)
{
	simdup_join_fingerprints(g->fingerprints, (int) max_distance, "comparing",
							 join_distinct_rows, g);
	g->also = NULL;
}

/* Report the pairs of distinct rows of one fingerprint. */
static void
join_equal(GroupingRows *g)
{
	for (int64 i = 0; g->contents != NULL && i < g->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(g->fingerprints, i);

		join_distinct_rows(g, &fingerprint, &fingerprint, 0);
	}
}

/*
 * leader
 *
 * Without contents, the first near distinct row before a distinct row mostly
 * tells that it does not lead. Its pairs are not needed. So the first join
 * finds these distinct rows, and keeps the pairs while they are few. If they
 * are many, a second join keeps those of the distinct rows that may lead. Then n
 * rows within the distance of each other cost n pairs, and not n².
 */

/*
 * Sort a pair by a distinct row, unless no row of the near one can follow its
 * leader.
 */
static void
sort_one(GroupingRows *g, uint32 distinct, uint32 near, uint32 distance)
{
	if (g->distinct_rows.last_row[near] <= distinct ||
		(g->may_lead != NULL && g->may_lead[distinct] == 0))
		return;
	simdup_pairsort_put(g->sort, distinct, (uint64) distance << 32 | near);
	g->n_sorted++;
}

static void
sort_near(GroupingRows *g, uint32 a, uint32 b, uint32 distance)
{
	sort_one(g, a, b, distance);
	sort_one(g, b, a, distance);
}

static void
note_near(GroupingRows *g, uint32 a, uint32 b, uint32 distance)
{
	g->first_near[Max(a, b)] = Min(g->first_near[Max(a, b)], Min(a, b));
	if (g->sort == NULL)
		return;
	sort_near(g, a, b, distance);
	if (g->n_sorted > g->most_sorted)
	{
		simdup_pairsort_end(g->sort);
		g->sort = NULL;
	}
}

/* Find the last row of each distinct row. */
static void
find_last_rows(GroupingRows *g)
{
	g->distinct_rows.last_row = alloc_numbers(g->distinct_rows.n_rows);
	for (uint32 row = 0; row < g->distinct_rows.n_rows; row++)
		g->distinct_rows.last_row[g->distinct_rows.distinct[row]] = row;
}

/* Sort the near pairs, by the distinct rows that may lead. */
static void
sort_all(GroupingRows *g, const SimdupConstraints *constraints)
{
	Size n = g->distinct_rows.n_rows;
	int share = Max(maintenance_work_mem / 4, 64);

	if (g->contents != NULL)
	{
		g->sort = simdup_pairsort_begin(maintenance_work_mem);
		g->sink = sort_near;
		join_equal(g);
		join_all(g, g->distinct_rows.max_distance);
		simdup_free(g->distinct_at);
		return;
	}
	g->first_near = alloc_numbers(n);
	memset(g->first_near, 0xff, n * sizeof(uint32));
	g->most_sorted = (int64) share * 1024 / (int64) sizeof(SimdupEntry);
	g->sort = simdup_pairsort_begin(share);
	g->sink = note_near;
	join_all(g, g->distinct_rows.max_distance);
	g->may_lead =
		simdup_may_lead(&g->distinct_rows, constraints, g->first_near);
	simdup_free(g->first_near);
	if (g->sort == NULL)
	{
		g->sort = simdup_pairsort_begin(maintenance_work_mem);
		g->sink = sort_near;
		join_all(g, g->distinct_rows.max_distance);
	}
	simdup_free(g->may_lead);
}

/* Note the distinct rows with a row that has a cannot-link. */
static void
note_cannot_link(GroupingRows *g, const SimdupConstraints *constraints)
{
	if (constraints == NULL || constraints->n_cannot_link == 0)
		return;
	g->leads_again = simdup_alloc0((Size) g->distinct_rows.n_rows / 8 + 1);
	for (uint32 row = 0; row < g->distinct_rows.n_rows; row++)
		if (simdup_n_cannot_link(constraints, constraints->component[row]) > 0)
			simdup_set_bit(g->leads_again, g->distinct_rows.distinct[row]);
}

static bool
leads_again(const GroupingRows *g, uint32 distinct)
{
	return g->leads_again != NULL && simdup_get_bit(g->leads_again, distinct);
}

/* Read the next near distinct row from the sort. */
static void
read_near(GroupingRows *g)
{
	uint64 distinct = SIMDUP_NO_ROW;
	uint64 near = 0;

	if (!simdup_pairsort_get(g->sort, &distinct, &near))
		distinct = SIMDUP_NO_ROW;
	g->next_row = (uint32) distinct;
	g->next_near = (SimdupNearRow){(uint32) near, (uint32) (near >> 32)};
}

static void
add_near(GroupingRows *g, SimdupNearRow near)
{
	g->near =
		simdup_grow(g->near, &g->near_capacity, g->n_near + 1, sizeof(near));
	g->near[g->n_near++] = near;
}

static void
keep_near(GroupingRows *g)
{
	g->kept = simdup_grow(g->kept, &g->kept_capacity, g->n_kept + 1,
						  sizeof(SimdupEntry));
	g->kept[g->n_kept++] =
		(SimdupEntry){g->next_row, (uint64) g->next_near.distance << 32 |
									   g->next_near.distinct};
}

/* Take the near distinct rows of a distinct row from those that were kept. */
static void
take_kept(GroupingRows *g, uint32 distinct)
{
	Size low = 0;
	Size high = g->n_kept;

	while (low < high)
	{
		Size middle = low + (high - low) / 2;

		if (g->kept[middle].value < distinct)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < g->n_kept && g->kept[low].value == distinct; low++)
		add_near(g, (SimdupNearRow){(uint32) g->kept[low].row,
									(uint32) (g->kept[low].row >> 32)});
}

/* Return the near distinct rows: SimdupDistinctRows.near. */
static const SimdupNearRow *
near_rows(void *arg, uint32_t distinct, size_t *n)
{
	GroupingRows *g = arg;

	g->n_near = 0;
	for (; g->next_row <= distinct; read_near(g))
	{
		CHECK_FOR_INTERRUPTS();
		if (leads_again(g, g->next_row))
			keep_near(g);
		else if (g->next_row == distinct)
			add_near(g, g->next_near);
	}
	if (leads_again(g, distinct))
		take_kept(g, distinct);
	*n = g->n_near;
	return g->near;
}

static uint32 *
lead(GroupingRows *g, const SimdupConstraints *constraints)
{
	uint32 *group;

	find_last_rows(g);
	sort_all(g, constraints);
	note_cannot_link(g, constraints);
	simdup_pairsort_perform(g->sort);
	g->distinct_rows.near = near_rows;
	read_near(g);
	group = simdup_group_by_leaders(&g->distinct_rows, constraints);
	simdup_pairsort_end(g->sort);
	simdup_free(g->near);
	simdup_free(g->kept);
	simdup_free(g->distinct_rows.last_row);
	return group;
}

/*
 * connected
 */

static void
unite_parts(GroupingRows *g, uint32 a, uint32 b, uint32 distance)
{
	SimdupConnected *u = g->connected;

	if (g->distance > 0 && distance != g->distance)
		return;
	for (uint32 x = simdup_connected_first(u, a); x != SIMDUP_NO_ROW;
		 x = simdup_connected_next(u, x))
		for (uint32 y = simdup_connected_first(u, b); y != SIMDUP_NO_ROW;
			 y = simdup_connected_next(u, y))
		{
			if (g->distance == 0)
				simdup_connected_join(u, x, y);
			else if (simdup_connected_may_join(u, x, y))
				simdup_pairsort_put(g->sort, Min(x, y), Max(x, y));
		}
}

/*
 * Unite groups in the order of pairs, which matters if there are cannot-links. So
 * each distance has a join of its own, whose pairs are sorted. Most of them are
 * passed over, because their rows are in one group by then.
 */
static void
unite_in_order(GroupingRows *g)
{
	uint64 a;
	uint64 b;

	for (g->distance = 1; g->distance <= g->distinct_rows.max_distance;
		 g->distance++)
	{
		g->sort = simdup_pairsort_begin(maintenance_work_mem);
		join_all(g, g->distance);
		simdup_pairsort_perform(g->sort);
		while (simdup_pairsort_get(g->sort, &a, &b))
		{
			CHECK_FOR_INTERRUPTS();
			simdup_connected_join(g->connected, (uint32) a, (uint32) b);
		}
		simdup_pairsort_end(g->sort);
	}
}

/* Note for each distinct row the first one of its fingerprint. */
static void
find_same_fps(GroupingRows *g)
{
	uint32 *same_fp = alloc_numbers(g->distinct_rows.n_rows);

	for (uint32 row = 0; row < g->distinct_rows.n_rows; row++)
		same_fp[row] = row;
	for (int64 i = 0; i < g->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(g->fingerprints, i);

		for (uint32 j = fingerprint.start;
			 j < fingerprint.start + fingerprint.n &&
			 g->distinct_at[j] != SIMDUP_NO_ROW;
			 j++)
			same_fp[g->distinct_at[j]] = g->distinct_at[fingerprint.start];
	}
	g->distinct_rows.same_fp = same_fp;
}

static uint32 *
connect(GroupingRows *g, const SimdupConstraints *constraints)
{
	if (g->contents != NULL)
		find_same_fps(g);
	g->connected = simdup_connected_begin(&g->distinct_rows, constraints);
	g->sink = unite_parts;
	if (constraints == NULL || constraints->n_cannot_link == 0)
		join_all(g, g->distinct_rows.max_distance);
	else
		unite_in_order(g);
	return simdup_connected_finish(g->connected);
}

uint32 *
simdup_find_groups(SimdupFingerprints *fingerprints,
				   const SimdupOptions *options,
				   const SimdupConstraints *constraints,
				   SimdupFingerprintSink also, void *also_arg,
				   double *resemblance)
{
	GroupingRows g = {.fingerprints = fingerprints,
					  .contents = fingerprints->rows->contents,
					  .also = also,
					  .also_arg = also_arg};
	uint32 *group;

	g.distinct_rows.n_rows = fingerprints->rows->n;
	g.distinct_rows.max_distance = (uint32) options->max_distance;
	g.distinct_rows.resemblance = resemblance;
	g.distinct_rows.arg = &g;
	if (g.contents == NULL)
		take_fingerprints(&g);
	else
	{
		g.distinct_rows.verify = resemble;
		cut_fingerprints(&g);
	}
	group = options->method == SIMDUP_LEADER ? lead(&g, constraints)
											 : connect(&g, constraints);
	simdup_free(g.distinct_rows.distinct);
	return group;
}
