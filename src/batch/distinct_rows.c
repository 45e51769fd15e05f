/*
 * distinct_rows.c
 *	  The rows of a batch as core/cluster/grouping.h takes them: distinct, with
 *	  those that are near.
 *
 * The rows of one scope and one fingerprint are one distinct row. If contents
 * count, a fingerprint has a distinct row for each content. The join
 * gives near fingerprints, and so near distinct rows. The pairs of distinct rows
 * that may lead are sorted, on disk where they are many, and read again as rows
 * join groups.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/campaigns.h"
#include "batch/join.h"
#include "core/cluster/grouping.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "server/progress.h"

typedef struct GroupingRows
{
	SimdupDistinctRows distinct_rows;
	SimdupFingerprints *fingerprints; /* its rows' context holds all of this */
	SimdupStoredTexts *contents;	  /* NULL: each fingerprint is one */
	/*
	 * by position: the distinct rows of a fingerprint that may resemble others,
	 * from its first position on, then SIMDUP_NO_ROW; NULL without contents
	 */
	uint32 *distinct_at;

	SimdupFingerprintSink sink; /* until the fingerprints were joined once */
	void *sink_arg;
	SimdupRowPairSink take; /* gets each pair of near distinct rows */
	SimdupPairSort *sort;

	/* leader */
	uint32 *first_near; /* by distinct row; NULL: not wanted */
	uint8 *may_lead;	/* by distinct row; NULL: all may */
	uint8 *leads_again; /* bits: asked for in no order */
	int64 n_sorted;		/* near pairs in the sort */
	int64 most_sorted;	/* of a first join; more are found by a second one */
	uint32 next_row;	/* next from the sort; SIMDUP_NO_ROW: none */
	SimdupNearRow next_near;
	/* the near rows of all that lead again, then those of one that leads */
	SimdupNearRow *near;
	Size n_kept, n_near, near_capacity;
	SimdupEntry *kept; /* a row that leads again, and its start in near */
	Size n_kept_rows, kept_capacity;

	/* connected */
	SimdupConnected *connected;
	uint32 distance; /* 0: pairs of any distance are united as they come */
} GroupingRows;

static void *
alloc_numbers(Size n)
{
	return simdup_alloc((n + 1) * sizeof(uint32));
}

static SimdupPairSort *
begin_sort(const GroupingRows *g)
{
	return simdup_pairsort_begin(g->fingerprints->rows->budget);
}

/*
 * Distinct rows
 */

/*
 * Cut a fingerprint into distinct rows by contents. Sorted by digest, the rows of
 * a distinct row stand together. A row whose digest collides is a distinct row
 * of its own.
 */
static void
cut_fingerprint(GroupingRows *g, const SimdupFingerprint *fingerprint,
				SimdupEntry *pairs)
{
	uint32 *distinct = g->distinct_rows.distinct;
	uint32 *same_fp = g->distinct_rows.same_fp;
	uint32 *list = &g->distinct_at[fingerprint->start];
	uint32 n_listed = 0;
	uint32 first = 0;

	for (uint32 i = 0; i < fingerprint->n; i++)
		pairs[i] =
			(SimdupEntry){simdup_stored_texts_digest(g->contents, list[i]),
						  list[i]};
	simdup_sort_pairs(pairs, fingerprint->n);
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || pairs[i].value != pairs[i - 1].value)
			first = row;
		else if (simdup_stored_texts_equal(g->contents, first, row))
			distinct[row] = first;
	}
	for (uint32 i = 0; i < fingerprint->n; i++)
		if (distinct[list[i]] == list[i])
			list[n_listed++] = list[i];
	if (n_listed < fingerprint->n)
		list[n_listed] = SIMDUP_NO_ROW;
	for (uint32 i = 0; same_fp != NULL && i < n_listed; i++)
		same_fp[list[i]] = list[0];
	/* a content without a shingle resembles no other, not even an equal one */
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (distinct[row] != row &&
			!simdup_stored_texts_has_shingle(g->contents, distinct[row]))
			distinct[row] = row;
	}
}

/* Find the distinct rows: the fingerprints, cut where contents count. */
static void
find_distinct_rows(GroupingRows *g)
{
	Size n = g->distinct_rows.n_rows;
	uint32 *distinct = alloc_numbers(n);
	SimdupEntry *pairs = NULL;
	Size n_pairs = 0; /* that there is room for */
	SimdupFingerprint fingerprint;
	int64 next = 0;

	g->distinct_rows.distinct = distinct;
	for (uint32 row = 0; row < n; row++)
		distinct[row] = row;
	if (g->contents == NULL)
	{
		while (simdup_fingerprints_next_equal(g->fingerprints, &next,
											  &fingerprint))
		{
			uint32 first = simdup_row_at(g->fingerprints, fingerprint.start);

			for (uint32 i = 1; i < fingerprint.n; i++)
				distinct[simdup_row_at(g->fingerprints, fingerprint.start + i)] =
					first;
		}
		return;
	}
	simdup_progress_phase("finding equal texts", (int64) n);
	if (g->fingerprints->rows->options.method == SIMDUP_CONNECTED)
		g->distinct_rows.same_fp =
			memcpy(alloc_numbers(n), distinct, n * sizeof(uint32));
	g->distinct_at = alloc_numbers(n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		g->distinct_at[i] = simdup_row_at(g->fingerprints, i);
	}
	while (simdup_fingerprints_next_equal(g->fingerprints, &next, &fingerprint))
	{
		pairs = simdup_grow(pairs, &n_pairs, fingerprint.n, sizeof(*pairs));
		cut_fingerprint(g, &fingerprint, pairs);
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
										   g->fingerprints->rows->options
											   .min_resemblance);
}

/*
 * Near distinct rows
 */

/*
 * Take the pairs of distinct rows of a near pair of fingerprints, or of one with
 * itself: a SimdupFingerprintSink.
 */
static void
join_distinct_rows(void *arg, const SimdupFingerprint *a,
				   const SimdupFingerprint *b, int distance)
{
	GroupingRows *g = arg;
	const uint32 *list = g->distinct_at;

	if (g->sink != NULL && a != b)
		g->sink(g->sink_arg, a, b, distance);
	if (list == NULL)
	{
		g->take(g, simdup_row_at(g->fingerprints, a->start),
				simdup_row_at(g->fingerprints, b->start), (uint32) distance);
		return;
	}
	for (uint32 i = a->start; i < a->start + a->n && list[i] != SIMDUP_NO_ROW;
		 i++)
		for (uint32 j = a == b ? i + 1 : b->start;
			 j < b->start + b->n && list[j] != SIMDUP_NO_ROW; j++)
		{
			CHECK_FOR_INTERRUPTS();
			g->take(g, list[i], list[j], (uint32) distance);
		}
}

/* Take each pair of near distinct rows of different fingerprints once. */
static void
join_all(GroupingRows *g, uint32 max_distance)
{
	if (g->sink == NULL && g->distinct_at == NULL)
		simdup_join_first_rows(g->fingerprints, (int) max_distance, g->take, g);
	else
		simdup_join_fingerprints(g->fingerprints, (int) max_distance,
								 join_distinct_rows, g);
	g->sink = NULL;
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

/* Take a pair: a SimdupRowPairSink. */
static void
sort_near(void *arg, uint32 a, uint32 b, uint32 distance)
{
	GroupingRows *g = arg;

	if (g->first_near != NULL)
		g->first_near[Max(a, b)] = Min(g->first_near[Max(a, b)], Min(a, b));
	if (g->sort == NULL)
		return;
	sort_one(g, a, b, distance);
	sort_one(g, b, a, distance);
	if (g->first_near != NULL && g->n_sorted > g->most_sorted)
	{
		simdup_pairsort_end(g->sort);
		g->sort = NULL;
	}
}

/* Sort the near pairs of distinct rows without contents, after a first join. */
static void
sort_all(GroupingRows *g, const SimdupConstraints *constraints)
{
	Size n = g->distinct_rows.n_rows;
	int64 share = Max(g->fingerprints->rows->budget / 4, 65536);

	g->first_near = alloc_numbers(n);
	memset(g->first_near, 0xff, n * sizeof(uint32));
	g->most_sorted = Max(share / (int64) sizeof(SimdupEntry), 4 * (int64) n);
	g->sort = simdup_pairsort_begin(share);
	join_all(g, g->distinct_rows.max_distance);
	g->may_lead =
		simdup_may_lead(&g->distinct_rows, constraints, g->first_near);
	simdup_free(g->first_near);
	g->first_near = NULL;
	if (g->sort == NULL)
	{
		g->sort = begin_sort(g);
		join_all(g, g->distinct_rows.max_distance);
	}
	simdup_free(g->may_lead);
}

/* Sort the near pairs of distinct rows that contents tell apart. */
static void
sort_all_verified(GroupingRows *g)
{
	SimdupFingerprint fingerprint;
	int64 next = 0;

	g->sort = begin_sort(g);
	while (simdup_fingerprints_next_equal(g->fingerprints, &next, &fingerprint))
		join_distinct_rows(g, &fingerprint, &fingerprint, 0);
	join_all(g, g->distinct_rows.max_distance);
	simdup_free(g->distinct_at);
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

/* Add the next near row. Those of a row that leads again are kept. */
static void
add_near(GroupingRows *g, bool again)
{
	if (again && (g->n_kept_rows == 0 ||
				  g->kept[g->n_kept_rows - 1].value != g->next_row))
	{
		g->kept = simdup_grow(g->kept, &g->kept_capacity, g->n_kept_rows + 1,
							  sizeof(SimdupEntry));
		g->kept[g->n_kept_rows++] = (SimdupEntry){g->next_row, g->n_near};
	}
	g->near = simdup_grow(g->near, &g->near_capacity, g->n_near + 1,
						  sizeof(SimdupNearRow));
	g->near[g->n_near++] = g->next_near;
	if (again)
		g->n_kept = g->n_near;
}

/*
 * Return the near distinct rows: SimdupDistinctRows.near. Distinct rows are first
 * asked for in ascending order, which is the order of the sort. Those that lead
 * again are asked for again, so their near rows are kept, before those of now.
 */
static const SimdupNearRow *
near_rows(void *arg, uint32_t distinct, size_t *n)
{
	GroupingRows *g = arg;
	uint64 value = distinct;
	const SimdupEntry *kept;

	g->n_near = g->n_kept;
	for (; g->next_row <= distinct; read_near(g))
	{
		bool again = simdup_get_bit(g->leads_again, g->next_row);

		CHECK_FOR_INTERRUPTS();
		if (again || g->next_row == distinct)
			add_near(g, again);
	}
	*n = g->n_near - g->n_kept;
	if (!simdup_get_bit(g->leads_again, distinct) || g->n_kept == 0)
		return g->near + g->n_kept;
	kept = bsearch(&value, g->kept, g->n_kept_rows, sizeof(SimdupEntry),
				   simdup_compare_words);
	if (kept != NULL)
		*n = (kept == &g->kept[g->n_kept_rows - 1] ? g->n_kept : kept[1].row) -
			 kept->row;
	return g->near + (kept == NULL ? 0 : kept->row);
}

static uint32 *
group_by_leaders(GroupingRows *g, const SimdupConstraints *constraints)
{
	SimdupDistinctRows *distinct_rows = &g->distinct_rows;
	uint32 n = distinct_rows->n_rows;
	uint32 *group;

	g->take = sort_near;
	distinct_rows->near = near_rows;
	distinct_rows->last_row = alloc_numbers(n);
	for (uint32 row = 0; row < n; row++)
		distinct_rows->last_row[distinct_rows->distinct[row]] = row;
	if (g->contents == NULL)
		sort_all(g, constraints);
	else
		sort_all_verified(g);
	g->leads_again = simdup_alloc0((Size) n / 8 + 1);
	for (uint32 row = 0; row < n && constraints != NULL; row++)
		if (simdup_n_cannot_link(constraints, constraints->component[row]) > 0)
			simdup_set_bit(g->leads_again, distinct_rows->distinct[row]);
	g->near = simdup_grow(NULL, &g->near_capacity, 1, sizeof(SimdupNearRow));
	simdup_pairsort_perform(g->sort);
	read_near(g);
	group = simdup_group_by_leaders(distinct_rows, constraints);
	simdup_pairsort_end(g->sort);
	simdup_free(g->leads_again);
	simdup_free(g->near);
	simdup_free(g->kept);
	simdup_free(distinct_rows->last_row);
	return group;
}

/*
 * connected
 */

/* Take a pair: a SimdupRowPairSink. */
static void
unite_parts(void *arg, uint32 a, uint32 b, uint32 distance)
{
	GroupingRows *g = arg;
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
		g->sort = begin_sort(g);
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

static uint32 *
group_connected(GroupingRows *g, const SimdupConstraints *constraints)
{
	g->take = unite_parts;
	g->connected = simdup_connected_begin(&g->distinct_rows, constraints);
	if (constraints == NULL || constraints->cannot_links.n == 0)
		join_all(g, g->distinct_rows.max_distance);
	else
		unite_in_order(g);
	return simdup_connected_finish(g->connected);
}

uint32 *
simdup_find_groups(SimdupFingerprints *fingerprints,
				   const SimdupConstraints *constraints,
				   SimdupFingerprintSink sink, void *sink_arg,
				   double *resemblance)
{
	GroupingRows g = {.fingerprints = fingerprints,
					  .contents = fingerprints->rows->contents,
					  .sink = sink,
					  .sink_arg = sink_arg};
	const SimdupOptions *options = &fingerprints->rows->options;
	uint32 *group;

	g.distinct_rows.n_rows = fingerprints->rows->n;
	g.distinct_rows.max_distance = (uint32) options->max_distance;
	g.distinct_rows.verify = g.contents == NULL ? NULL : resemble;
	g.distinct_rows.resemblance = resemblance;
	g.distinct_rows.arg = &g;
	find_distinct_rows(&g);
	if (options->method == SIMDUP_CAMPAIGNS)
		group =
			simdup_find_campaigns(fingerprints->rows, g.distinct_rows.distinct);
	else if (options->method == SIMDUP_LEADER)
		group = group_by_leaders(&g, constraints);
	else
		group = group_connected(&g, constraints);
	simdup_free(g.distinct_rows.distinct);
	return group;
}
