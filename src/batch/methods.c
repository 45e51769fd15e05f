/*
 * methods.c
 *	  The groups of a batch by either method: what core/cluster/grouping.h wants to
 *	  know of near rows.
 *
 * The pairs that count are sorted, on disk where they are many.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/distinct_rows.h"
#include "core/host.h"

/*
 * leader
 *
 * Without contents, the first near distinct row before a distinct row mostly
 * tells that it does not lead. Its pairs are not needed. So the first join
 * finds these distinct rows, and keeps the pairs while they are few. If they
 * are many, a second join keeps those of the distinct rows that may lead. Then n
 * rows within the distance of each other cost n pairs, and not n².
 */

/* Pairs for each row that the first join keeps, beyond its memory. */
#define FEW_PAIRS 4

typedef struct Leader
{
	const SimdupDistinct *distinct;
	uint32 *first_near;	  /* by distinct row; NULL: not wanted */
	uint8 *may_lead;	  /* by distinct row; NULL: all may */
	SimdupPairSort *sort; /* NULL: too many for a first join */
	int64 n_sorted;
	int64 most_sorted;
} Leader;

/*
 * Sort a pair by a distinct row, unless no row of the near one can follow its
 * leader.
 */
static void
sort_one(Leader *l, uint32 distinct, uint32 near, uint32 distance)
{
	if (l->distinct->rows.last_row[near] <= distinct ||
		(l->may_lead != NULL && l->may_lead[distinct] == 0))
		return;
	simdup_put_near(l->sort, distinct, near, distance);
	l->n_sorted++;
}

/* Take a pair: a SimdupRowPairSink. */
static void
sort_near(void *arg, uint32 a, uint32 b, uint32 distance)
{
	Leader *l = arg;

	if (l->first_near != NULL)
		l->first_near[Max(a, b)] = Min(l->first_near[Max(a, b)], Min(a, b));
	if (l->sort == NULL)
		return;
	sort_one(l, a, b, distance);
	sort_one(l, b, a, distance);
	if (l->first_near != NULL && l->n_sorted > l->most_sorted)
	{
		simdup_pairsort_end(l->sort);
		l->sort = NULL;
	}
}

/* Sort the near pairs of distinct rows without contents. */
static void
sort_all(Leader *l, SimdupDistinct *distinct,
		 const SimdupConstraints *constraints)
{
	Size n = distinct->rows.n_rows;
	int max_distance = (int) distinct->rows.max_distance;
	int64 budget = distinct->fingerprints->rows->budget;

	l->first_near = simdup_alloc((n + 1) * sizeof(uint32));
	memset(l->first_near, 0xff, n * sizeof(uint32));
	l->most_sorted =
		Max(budget / 4 / (int64) sizeof(SimdupEntry), FEW_PAIRS * (int64) n);
	l->sort = simdup_pairsort_begin(budget / 4);
	simdup_join_distinct(distinct, max_distance, sort_near, l);
	l->may_lead = simdup_may_lead(&distinct->rows, constraints, l->first_near);
	simdup_free(l->first_near);
	l->first_near = NULL;
	if (l->sort == NULL)
	{
		l->sort = simdup_pairsort_begin(budget);
		simdup_join_distinct(distinct, max_distance, sort_near, l);
	}
	simdup_free(l->may_lead);
}

static uint32 *
group_by_leader(SimdupDistinct *distinct, const SimdupConstraints *constraints)
{
	SimdupDistinctRows *rows = &distinct->rows;
	int64 budget = distinct->fingerprints->rows->budget;
	Leader l = {.distinct = distinct};
	uint32 *group;

	rows->last_row = simdup_alloc(((Size) rows->n_rows + 1) * sizeof(uint32));
	for (uint32 row = 0; row < rows->n_rows; row++)
		rows->last_row[rows->distinct[row]] = row;
	if (distinct->contents == NULL)
		sort_all(&l, distinct, constraints);
	else
	{
		l.sort = simdup_pairsort_begin(budget);
		simdup_pair_same_fp(distinct, sort_near, &l);
		simdup_join_distinct(distinct, (int) rows->max_distance, sort_near, &l);
		simdup_free(distinct->next);
	}
	rows->near = simdup_near_list;
	rows->lists = simdup_near_lists(l.sort, rows->n_rows, (Size) budget / 4);
	group = simdup_group_by_leaders(rows, constraints);
	simdup_near_lists_end(rows->lists);
	simdup_free(rows->last_row);
	return group;
}

/*
 * connected
 */

typedef struct Connecting
{
	SimdupConnected *connected;
	uint32 distance;	  /* 0: pairs of any distance are united as they come */
	SimdupPairSort *sort; /* of the pairs of that distance */
} Connecting;

/* Take a pair: a SimdupRowPairSink. */
static void
unite_parts(void *arg, uint32 a, uint32 b, uint32 distance)
{
	Connecting *c = arg;
	SimdupConnected *u = c->connected;

	if (c->distance > 0 && distance != c->distance)
		return;
	for (uint32 x = simdup_connected_first(u, a); x != SIMDUP_NO_ROW;
		 x = simdup_connected_next(u, x))
		for (uint32 y = simdup_connected_first(u, b); y != SIMDUP_NO_ROW;
			 y = simdup_connected_next(u, y))
		{
			if (c->distance == 0)
				simdup_connected_join(u, x, y);
			else if (simdup_connected_may_join(u, x, y))
				simdup_pairsort_put(c->sort, Min(x, y), Max(x, y));
		}
}

/*
 * Unite the groups that are near at a distance, in the order of pairs. Most of them
 * are passed over, because their rows are in one group by then.
 */
static void
unite_at(Connecting *c, SimdupDistinct *distinct, uint32 distance)
{
	uint64 a;
	uint64 b;

	c->distance = distance;
	c->sort = simdup_pairsort_begin(distinct->fingerprints->rows->budget);
	simdup_join_distinct(distinct, (int) distance, unite_parts, c);
	simdup_pairsort_perform(c->sort);
	while (simdup_pairsort_get(c->sort, &a, &b))
	{
		CHECK_FOR_INTERRUPTS();
		simdup_connected_join(c->connected, (uint32) a, (uint32) b);
	}
	simdup_pairsort_end(c->sort);
}

static uint32 *
group_connected(SimdupDistinct *distinct, const SimdupConstraints *constraints)
{
	int max_distance = (int) distinct->rows.max_distance;
	Connecting c = {.connected =
						simdup_connected_begin(&distinct->rows, constraints)};

	/* the order matters if there are cannot-links, so each distance has a join */
	if (constraints == NULL || constraints->cannot_links.n == 0)
		simdup_join_distinct(distinct, max_distance, unite_parts, &c);
	else
		for (int distance = 1; distance <= max_distance; distance++)
			unite_at(&c, distinct, (uint32) distance);
	return simdup_connected_finish(c.connected);
}

uint32 *
simdup_find_groups(SimdupFingerprints *fingerprints,
				   const SimdupConstraints *constraints, SimdupRowPairSink sink,
				   void *sink_arg, double *resemblance)
{
	SimdupClusterMethod method = fingerprints->rows->options.method;
	SimdupDistinct d;
	uint32 *group;

	simdup_distinct_begin(&d, fingerprints, resemblance);
	d.sink = sink;
	d.sink_arg = sink_arg;
	if (method == SIMDUP_CAMPAIGNS || method == SIMDUP_TEMPLATES)
		group = simdup_find_campaigns(&d);
	else if (method == SIMDUP_LEADER)
		group = group_by_leader(&d, constraints);
	else
		group = group_connected(&d, constraints);
	simdup_free(d.rows.distinct);
	return group;
}
