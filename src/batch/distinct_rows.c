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
#include "utils/memutils.h"

#include "batch/distinct_rows.h"
#include "batch/rows.h"
#include "core/host.h"
#include "server/progress.h"
#include "server/spill.h"

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
take_fingerprints(SimdupGroupingRows *c)
{
	SimdupFingerprint fingerprint;
	int64 next = 0;

	c->distinct_rows.distinct = alloc_numbers(c->distinct_rows.n_rows);
	for (uint32 row = 0; row < c->distinct_rows.n_rows; row++)
		c->distinct_rows.distinct[row] = row;
	while (simdup_fingerprints_next_equal(c->fingerprints, &next, &fingerprint))
	{
		uint32 first = simdup_row_at(c->fingerprints, fingerprint.start);

		for (uint32 j = 1; j < fingerprint.n; j++)
			c->distinct_rows.distinct[simdup_row_at(c->fingerprints,
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
find_first_rows(SimdupGroupingRows *c, const SimdupFingerprint *fingerprint,
				SimdupEntry *pairs)
{
	uint32 first = simdup_row_at(c->fingerprints, fingerprint->start);

	c->distinct_rows.distinct[first] = first;
	if (fingerprint->n == 1)
		return;
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = simdup_row_at(c->fingerprints, fingerprint->start + i);

		pairs[i] =
			(SimdupEntry){simdup_stored_texts_digest(c->contents, row), row};
	}
	simdup_sort_pairs(pairs, fingerprint->n);
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || pairs[i].value != pairs[i - 1].value)
			first = row;
		c->distinct_rows.distinct[row] = first;
		if (first == row)
			continue;
		if (!simdup_stored_texts_equal(c->contents, first, row))
			c->distinct_rows.distinct[row] = row;
		else if (!simdup_stored_texts_has_shingle(c->contents, first))
		{
			c->distinct_rows.distinct[row] = row;
			simdup_set_bit(c->alone, row);
		}
	}
}

/* List the distinct rows of a fingerprint that may resemble others. */
static void
list_distinct_rows(SimdupGroupingRows *c, const SimdupFingerprint *fingerprint)
{
	uint32 end = fingerprint->start;

	for (uint32 i = fingerprint->start; i < fingerprint->start + fingerprint->n;
		 i++)
	{
		uint32 row = simdup_row_at(c->fingerprints, i);

		c->distinct_at[i] = SIMDUP_NO_ROW;
		if (c->distinct_rows.distinct[row] == row &&
			!simdup_get_bit(c->alone, row))
			c->distinct_at[end++] = row;
	}
}

/* Cut the fingerprints into distinct rows by their contents. */
static void
cut_fingerprints(SimdupGroupingRows *c)
{
	Size n = c->distinct_rows.n_rows;
	Size largest = 0;
	SimdupEntry *pairs;

	for (int64 i = 0; i < c->fingerprints->n; i++)
		largest = Max(largest, simdup_fingerprint_at(c->fingerprints, i).n);
	pairs = simdup_alloc((largest + 1) * sizeof(SimdupEntry));
	c->distinct_rows.distinct = alloc_numbers(n);
	c->distinct_at = alloc_numbers(n);
	c->alone = simdup_alloc0(n / 8 + 1);
	simdup_progress_phase("finding equal texts", (int64) n);
	for (int64 i = 0; i < c->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(c->fingerprints, i);

		CHECK_FOR_INTERRUPTS();
		find_first_rows(c, &fingerprint, pairs);
		list_distinct_rows(c, &fingerprint);
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
	SimdupGroupingRows *c = arg;

	CHECK_FOR_INTERRUPTS();
	return simdup_stored_texts_resemblance(c->contents, distinct, other,
										   c->fingerprints->rows
											   ->min_resemblance);
}

SimdupGroupingRows *
simdup_grouping_begin(SimdupFingerprints *fingerprints,
					  const SimdupOptions *options)
{
	MemoryContext old = MemoryContextSwitchTo(fingerprints->rows->context);
	SimdupGroupingRows *c = palloc0(sizeof(SimdupGroupingRows));

	c->fingerprints = fingerprints;
	c->contents = fingerprints->rows->contents;
	c->distinct_rows.n_rows = fingerprints->rows->n;
	c->distinct_rows.max_distance = (uint32) options->max_distance;
	c->distinct_rows.arg = c;
	if (c->contents == NULL)
		take_fingerprints(c);
	else
	{
		c->distinct_rows.verify = resemble;
		cut_fingerprints(c);
	}
	MemoryContextSwitchTo(old);
	return c;
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
	SimdupGroupingRows *c = arg;

	if (c->also != NULL && a != b)
		c->also(c->also_arg, a, b, distance);
	if (c->contents == NULL)
	{
		c->sink(c, simdup_row_at(c->fingerprints, a->start),
				simdup_row_at(c->fingerprints, b->start), (uint32) distance);
		return;
	}
	for (uint32 i = a->start;
		 i < a->start + a->n && c->distinct_at[i] != SIMDUP_NO_ROW; i++)
		for (uint32 j = a == b ? i + 1 : b->start;
			 j < b->start + b->n && c->distinct_at[j] != SIMDUP_NO_ROW; j++)
		{
			CHECK_FOR_INTERRUPTS();
			c->sink(c, c->distinct_at[i], c->distinct_at[j], (uint32) distance);
		}
}

/* Report each pair of near distinct rows once. */
static void
join_all(SimdupGroupingRows *c, uint32 max_distance)
{
	simdup_join_fingerprints(c->fingerprints, (int) max_distance, "comparing",
							 join_distinct_rows, c);
	c->also = NULL;
}

/* Report the pairs of distinct rows of one fingerprint. */
static void
join_equal(SimdupGroupingRows *c)
{
	for (int64 i = 0; c->contents != NULL && i < c->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(c->fingerprints, i);

		join_distinct_rows(c, &fingerprint, &fingerprint, 0);
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
sort_one(SimdupGroupingRows *c, uint32 distinct, uint32 near, uint32 distance)
{
	if (c->distinct_rows.last_row[near] <= distinct ||
		(c->may_lead != NULL && c->may_lead[distinct] == 0))
		return;
	simdup_pairsort_put(c->sort, distinct, (uint64) distance << 32 | near);
	c->n_sorted++;
}

static void
sort_near(SimdupGroupingRows *c, uint32 a, uint32 b, uint32 distance)
{
	sort_one(c, a, b, distance);
	sort_one(c, b, a, distance);
}

static void
note_near(SimdupGroupingRows *c, uint32 a, uint32 b, uint32 distance)
{
	c->first_near[Max(a, b)] = Min(c->first_near[Max(a, b)], Min(a, b));
	if (c->sort == NULL)
		return;
	sort_near(c, a, b, distance);
	if (c->n_sorted > c->most_sorted)
	{
		simdup_pairsort_end(c->sort);
		c->sort = NULL;
	}
}

/* Find the last row of each distinct row. */
static void
find_last_rows(SimdupGroupingRows *c)
{
	c->distinct_rows.last_row = alloc_numbers(c->distinct_rows.n_rows);
	for (uint32 row = 0; row < c->distinct_rows.n_rows; row++)
		c->distinct_rows.last_row[c->distinct_rows.distinct[row]] = row;
}

/* Sort the near pairs, by the distinct rows that may lead. */
static void
sort_all(SimdupGroupingRows *c, const SimdupConstraints *constraints)
{
	Size n = c->distinct_rows.n_rows;
	int share = Max(maintenance_work_mem / 4, 64);

	if (c->contents != NULL)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		c->sink = sort_near;
		join_equal(c);
		join_all(c, c->distinct_rows.max_distance);
		simdup_free(c->distinct_at);
		return;
	}
	c->first_near = alloc_numbers(n);
	memset(c->first_near, 0xff, n * sizeof(uint32));
	c->most_sorted = (int64) share * 1024 / (int64) sizeof(SimdupEntry);
	c->sort = simdup_pairsort_begin(share);
	c->sink = note_near;
	join_all(c, c->distinct_rows.max_distance);
	c->may_lead =
		simdup_may_lead(&c->distinct_rows, constraints, c->first_near);
	simdup_free(c->first_near);
	if (c->sort == NULL)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		c->sink = sort_near;
		join_all(c, c->distinct_rows.max_distance);
	}
	simdup_free(c->may_lead);
}

/* Note the distinct rows with a row that has a cannot-link. */
static void
note_cannot_link(SimdupGroupingRows *c, const SimdupConstraints *constraints)
{
	if (constraints == NULL || constraints->n_cannot_link == 0)
		return;
	c->leads_again = simdup_alloc0((Size) c->distinct_rows.n_rows / 8 + 1);
	for (uint32 row = 0; row < c->distinct_rows.n_rows; row++)
		if (simdup_n_cannot_link(constraints, constraints->component[row]) > 0)
			simdup_set_bit(c->leads_again, c->distinct_rows.distinct[row]);
}

static bool
leads_again(const SimdupGroupingRows *c, uint32 distinct)
{
	return c->leads_again != NULL && simdup_get_bit(c->leads_again, distinct);
}

/* Read the next near distinct row from the sort. */
static void
read_near(SimdupGroupingRows *c)
{
	uint64 distinct = SIMDUP_NO_ROW;
	uint64 near = 0;

	if (!simdup_pairsort_get(c->sort, &distinct, &near))
		distinct = SIMDUP_NO_ROW;
	c->next_row = (uint32) distinct;
	c->next_near = (SimdupNearRow){(uint32) near, (uint32) (near >> 32)};
}

static void
add_near(SimdupGroupingRows *c, SimdupNearRow near)
{
	c->near =
		simdup_grow(c->near, &c->near_capacity, c->n_near + 1, sizeof(near));
	c->near[c->n_near++] = near;
}

static void
keep_near(SimdupGroupingRows *c)
{
	c->kept = simdup_grow(c->kept, &c->kept_capacity, c->n_kept + 1,
						  sizeof(SimdupEntry));
	c->kept[c->n_kept++] =
		(SimdupEntry){c->next_row, (uint64) c->next_near.distance << 32 |
									   c->next_near.distinct};
}

/* Take the near distinct rows of a distinct row from those that were kept. */
static void
take_kept(SimdupGroupingRows *c, uint32 distinct)
{
	Size low = 0;
	Size high = c->n_kept;

	while (low < high)
	{
		Size middle = low + (high - low) / 2;

		if (c->kept[middle].value < distinct)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->n_kept && c->kept[low].value == distinct; low++)
		add_near(c, (SimdupNearRow){(uint32) c->kept[low].row,
									(uint32) (c->kept[low].row >> 32)});
}

/* Return the near distinct rows: SimdupDistinctRows.near. */
static const SimdupNearRow *
near_rows(void *arg, uint32_t distinct, size_t *n)
{
	SimdupGroupingRows *c = arg;

	c->n_near = 0;
	for (; c->next_row <= distinct; read_near(c))
	{
		CHECK_FOR_INTERRUPTS();
		if (leads_again(c, c->next_row))
			keep_near(c);
		else if (c->next_row == distinct)
			add_near(c, c->next_near);
	}
	if (leads_again(c, distinct))
		take_kept(c, distinct);
	*n = c->n_near;
	return c->near;
}

static uint32 *
lead(SimdupGroupingRows *c, const SimdupConstraints *constraints)
{
	uint32 *group;

	find_last_rows(c);
	sort_all(c, constraints);
	note_cannot_link(c, constraints);
	simdup_pairsort_perform(c->sort);
	c->distinct_rows.near = near_rows;
	read_near(c);
	group = simdup_group_by_leaders(&c->distinct_rows, constraints);
	simdup_pairsort_end(c->sort);
	simdup_free(c->near);
	simdup_free(c->kept);
	simdup_free(c->distinct_rows.last_row);
	return group;
}

/*
 * connected
 */

static void
unite(SimdupGroupingRows *c, uint32 a, uint32 b)
{
	if (!simdup_connected_may_join(c->connected, a, b))
		return;
	if (c->contents != NULL)
	{
		uint32 distinct = c->distinct_rows.distinct[a];
		uint32 other = c->distinct_rows.distinct[b];

		if (resemble(c, Max(distinct, other), Min(distinct, other)) < 0)
			return;
	}
	simdup_connected_join(c->connected, a, b);
}

static void
unite_parts(SimdupGroupingRows *c, uint32 a, uint32 b, uint32 distance)
{
	SimdupConnected *u = c->connected;

	if (c->distance > 0 && distance != c->distance)
		return;
	for (uint32 x = simdup_connected_first(u, a); x != SIMDUP_NO_ROW;
		 x = simdup_connected_next(u, x))
		for (uint32 y = simdup_connected_first(u, b); y != SIMDUP_NO_ROW;
			 y = simdup_connected_next(u, y))
		{
			if (c->distance == 0)
				unite(c, x, y);
			else if (simdup_connected_may_join(u, x, y))
				simdup_pairsort_put(c->sort, Min(x, y), Max(x, y));
		}
}

/*
 * Unite groups in the order of pairs, which matters if there are cannot-links. So
 * each distance has a join of its own, whose pairs are sorted. Most of them are
 * passed over, because their rows are in one group by then.
 */
static void
unite_in_order(SimdupGroupingRows *c)
{
	uint64 a;
	uint64 b;

	for (c->distance = 1; c->distance <= c->distinct_rows.max_distance;
		 c->distance++)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		join_all(c, c->distance);
		simdup_pairsort_perform(c->sort);
		while (simdup_pairsort_get(c->sort, &a, &b))
		{
			CHECK_FOR_INTERRUPTS();
			unite(c, (uint32) a, (uint32) b);
		}
		simdup_pairsort_end(c->sort);
	}
}

/* Note for each distinct row the first one of its fingerprint. */
static void
find_same_fps(SimdupGroupingRows *c)
{
	uint32 *same_fp = alloc_numbers(c->distinct_rows.n_rows);

	for (uint32 row = 0; row < c->distinct_rows.n_rows; row++)
		same_fp[row] = row;
	for (int64 i = 0; i < c->fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(c->fingerprints, i);

		for (uint32 j = fingerprint.start;
			 j < fingerprint.start + fingerprint.n &&
			 c->distinct_at[j] != SIMDUP_NO_ROW;
			 j++)
			same_fp[c->distinct_at[j]] = c->distinct_at[fingerprint.start];
	}
	c->distinct_rows.same_fp = same_fp;
}

static uint32 *
connect(SimdupGroupingRows *c, const SimdupConstraints *constraints)
{
	if (c->contents != NULL)
		find_same_fps(c);
	c->connected = simdup_connected_begin(&c->distinct_rows, constraints);
	c->sink = unite_parts;
	if (constraints == NULL || constraints->n_cannot_link == 0)
		join_all(c, c->distinct_rows.max_distance);
	else
		unite_in_order(c);
	return simdup_connected_finish(c->connected);
}

uint32 *
simdup_grouping_find(SimdupGroupingRows *c,
					 const SimdupConstraints *constraints,
					 SimdupClusterMethod method)
{
	MemoryContext old = MemoryContextSwitchTo(c->fingerprints->rows->context);
	uint32 *group = method == SIMDUP_LEADER ? lead(c, constraints)
											: connect(c, constraints);

	simdup_free(c->distinct_rows.distinct);
	MemoryContextSwitchTo(old);
	return group;
}
