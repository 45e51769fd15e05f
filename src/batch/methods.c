/*
 * methods.c
 *	  The groups of a batch by its method: the near rows that core/cluster/grouping.h
 *	  needs for leaders and connected components. Campaigns and templates are in
 *	  campaigns.c.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "miscadmin.h"

#include "batch/units.h"
#include "core/fingerprint/hamming.h"

/*
 * leader
 *
 * Rows are grouped by ranges. A join finds the near pairs of a range in which a row
 * may lead. Another one offers its leaders to the units of later rows. In a
 * dense table few rows lead, and in another one few pairs are near. So a range is
 * as long as a sample says that its pairs are few, and is often the whole table.
 */

/* Pairs of a range, if they fit in memory. It may have one for each row of the table. */
#define MOST_PAIRS 1000000

/* Rows of a range that are compared with each other to estimate its pairs. */
#define SAMPLE_SIZE 2048

/* Bits of a unit in a range. */
#define MAY_LEAD 1
#define FOLLOWS 2	/* it has a row there */
#define NEEDS_ALL 4 /* it has one with cannot-links */

typedef struct Leader
{
	SimdupBatchUnits *units;
	SimdupLeading *leading;
	uint32 from; /* the range */
	uint32 end;
	uint64 *fps;	  /* by row */
	uint32 *scopes;	  /* by row */
	uint32 *last_row; /* by unit */
	uint8 *bits;	  /* by unit */
	bool any_needs_all;
	SimdupPairSort *sort; /* near units of the range */
	SimdupNearLists *lists;

	/* with contents: offers that wait until they are compared in their order */
	SimdupSortItem *offers;
	Size n_offers;
	Size most_offers;
} Leader;

/* Return about how many pairs of a range may have a row that leads. */
SIMDUP_POPCNT_CLONES static double
estimate_pairs(const Leader *l, uint32 from, uint32 end)
{
	const uint32 *unit = l->units->core.unit;
	int k = l->units->rows->options.max_distance;
	uint32 n = Min((uint32) (8 * sqrt(end - from)), SAMPLE_SIZE);
	uint32 rows[SAMPLE_SIZE];
	uint64 fps[SAMPLE_SIZE];
	bool may_lead[SAMPLE_SIZE];
	double n_pairs = 0;
	double share;

	n = Min(n, end - from);
	share = (double) n / (end - from);
	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = from + (uint32) (i / share);
		fps[i] = l->fps[rows[i]];
		may_lead[i] = simdup_may_lead(l->leading, rows[i]);
		for (uint32 j = 0; j < i; j++)
			if (simdup_hamming64(fps[i], fps[j]) <= k &&
				(may_lead[i] || may_lead[j]) &&
				l->scopes[rows[i]] == l->scopes[rows[j]] &&
				unit[rows[i]] != unit[rows[j]])
				n_pairs++;
	}
	return n_pairs / share / share;
}

/* Find the end of a range that has few pairs. */
static void
find_end(Leader *l)
{
	double n = l->units->core.n_rows;
	double budget = (double) l->units->rows->budget;
	double most = Max(Min(budget / 8 / sizeof(SimdupSortItem), MOST_PAIRS), n);
	double n_rows = n - l->from;

	while (n_rows * n_rows / 2 > most)
	{
		double pairs = estimate_pairs(l, l->from, l->from + (uint32) n_rows);

		CHECK_FOR_INTERRUPTS();
		if (pairs <= most)
			break;
		n_rows = ceil(n_rows * Min(sqrt(most / pairs), 0.5));
	}
	l->end = l->from + (uint32) n_rows;
}

/* Take a unit that may lead a near one in the range: a SimdupRowPairSink. */
static void
take_choice(void *arg, uint32 leader, uint32 row, uint32 distance)
{
	Leader *l = arg;
	const SimdupLeading *leading = l->leading;
	bool needs_all = (l->bits[row] & NEEDS_ALL) != 0;

	if ((l->bits[row] & FOLLOWS) != 0 && l->last_row[row] > leader &&
		(needs_all || ((l->bits[leader] & MAY_LEAD) != 0 &&
					   (leading->nearest[row] == SIMDUP_NO_ROW ||
						distance < leading->distance[row]))))
		simdup_put_near(l->sort, row, leader, distance);
}

/* The same for two units of which each may lead the other. */
static void
take_both(void *arg, uint32 a, uint32 b, uint32 distance)
{
	take_choice(arg, a, b, distance);
	take_choice(arg, b, a, distance);
}

/* Return the sides of a join on which a unit is: a SimdupSideOf. */
static int
side_of_choice(void *arg, uint32 row)
{
	const Leader *l = arg;
	bool leads =
		(l->bits[row] & MAY_LEAD) != 0 ||
		(l->any_needs_all && l->leading->first_leader[row] != SIMDUP_NO_ROW);

	return (leads ? SIMDUP_FIRST_SIDE : 0) |
		   ((l->bits[row] & FOLLOWS) != 0 ? SIMDUP_SECOND_SIDE : 0);
}

/* The next step is done when this share of the range is. */
static void
show_range(const Leader *l, double share)
{
	simdup_show_join(l->units->rows, (l->from + share * (l->end - l->from)) /
										 l->units->core.n_rows);
}

/* Return the near rows of a unit of the range: a SimdupNearOf. */
static const SimdupNear *
near_of(void *arg, uint32 row, size_t *n)
{
	const Leader *l = arg;

	simdup_progress_done(((int64) l->end + row) / 2);
	return simdup_near_list(l->lists, row, n);
}

/* Group the rows of a range. */
static void
group_range(Leader *l)
{
	SimdupBatchUnits *u = l->units;
	Size memory = (Size) u->rows->budget / 8;

	memset(l->bits, 0, u->core.n_rows);
	l->any_needs_all = false;
	for (uint32 row = l->from; row < l->end; row++)
	{
		uint8 *bits = &l->bits[u->core.unit[row]];
		bool needs_all = simdup_needs_all_leaders(l->leading, row);

		l->any_needs_all |= needs_all;
		*bits |= (uint8) (FOLLOWS | (needs_all ? NEEDS_ALL : 0) |
						  (simdup_may_lead(l->leading, row) ? MAY_LEAD : 0));
	}
	l->sort = simdup_pairsort_begin((int64) memory);
	show_range(l, 0.5);
	if (l->from == 0 && l->end == u->core.n_rows)
		simdup_join_units(u, u->rows->options.max_distance, NULL, take_both, l);
	else
		simdup_join_units(u, u->rows->options.max_distance, side_of_choice,
						  take_choice, l);
	l->lists = simdup_near_lists(l->sort, u->core.n_rows, memory);
	simdup_leading_range(l->leading, l->from, l->end, near_of, l);
	simdup_near_lists_end(l->lists);
}

static void
take_offers(Leader *l)
{
	simdup_sort_pairs(l->offers, l->n_offers);
	for (Size i = 0; i < l->n_offers; i++)
	{
		const SimdupSortItem *offer = &l->offers[i];

		simdup_leading_offer(l->leading, (uint32) (offer->value >> 32),
							 (uint32) offer->row, (uint32) offer->value);
	}
	l->n_offers = 0;
}

/* Take a leader of the range that is near to a later row: a SimdupRowPairSink. */
static void
take_offer(void *arg, uint32 leader, uint32 row, uint32 distance)
{
	Leader *l = arg;
	const SimdupLeading *leading = l->leading;

	if (leading->nearest[row] != SIMDUP_NO_ROW &&
		distance >= leading->distance[row] &&
		(distance > leading->distance[row] ||
		 leading->first_leader[leader] >= leading->nearest[row]))
		return;
	if (l->most_offers == 0)
	{
		simdup_leading_offer(l->leading, row, leader, distance);
		return;
	}
	l->offers[l->n_offers++] =
		(SimdupSortItem){(uint64) row << 32 | distance, leader};
	if (l->n_offers == l->most_offers)
		take_offers(l);
}

/* The sides where leaders of the range are first, and later rows second. */
static int
side_of_offer(void *arg, uint32 row)
{
	const Leader *l = arg;
	uint32 leader = l->leading->first_leader[row];

	return (leader >= l->from && leader < l->end ? SIMDUP_FIRST_SIDE : 0) |
		   (l->last_row[row] >= l->end ? SIMDUP_SECOND_SIDE : 0);
}

static uint32 *
group_by_leader(SimdupBatchUnits *units, const SimdupConstraints *constraints)
{
	SimdupRows *rows = units->rows;
	Size n = units->core.n_rows;
	Leader l = {.units = units,
				.leading = simdup_leading_begin(&units->core, constraints)};

	l.fps = simdup_alloc((n + 1) * sizeof(uint64));
	l.scopes = simdup_alloc0((n + 1) * sizeof(uint32));
	l.last_row = simdup_alloc((n + 1) * sizeof(uint32));
	l.bits = simdup_alloc(n + 1);
	simdup_fingerprints_by_row(rows, l.fps, l.scopes);
	for (uint32 row = 0; row < n; row++)
		l.last_row[units->core.unit[row]] = row;
	for (; l.from < n; l.from = l.end)
	{
		find_end(&l);
		group_range(&l);
		if (l.end == n)
			continue;
		if (units->rows->contents != NULL && l.most_offers == 0)
		{
			l.most_offers = (Size) rows->budget / 4 / sizeof(SimdupSortItem);
			l.offers = simdup_alloc(l.most_offers * sizeof(SimdupSortItem));
		}
		show_range(&l, 1);
		simdup_join_units(units, rows->options.max_distance, side_of_offer,
						  take_offer, &l);
		take_offers(&l);
	}
	if (units->sink != NULL)
		simdup_join_fingerprints(rows, rows->options.max_distance, NULL,
								 units->sink, units->sink_arg);
	simdup_free(l.fps);
	simdup_free(l.scopes);
	simdup_free(l.last_row);
	simdup_free(l.bits);
	simdup_free(l.offers);
	return simdup_leading_finish(l.leading);
}

/*
 * connected
 *
 * Near pairs are united as they come. Cannot-links matter only in the groups that
 * hold one then. These are found again, by the order of their pairs: each distance
 * has a join of its own. Most pairs are passed over, since their rows are in one group
 * by then.
 */

typedef struct Connecting
{
	SimdupConnected *connected;
	const uint32 *group; /* by row, without cannot-links */
	uint8 *parted;		 /* bits, by first row: a cannot-link parts the group */
	uint32 distance;
	SimdupPairSort *sort; /* of the pairs at that distance */
} Connecting;

/* Unite the groups of a pair: a SimdupRowPairSink. */
static void
unite(void *arg, uint32 a, uint32 b, uint32 distance pg_attribute_unused())
{
	simdup_connected_join(arg, a, b);
}

/* Sort the pairs of parted groups at a distance: a SimdupRowPairSink. */
static void
sort_parted(void *arg, uint32 a, uint32 b, uint32 distance)
{
	const Connecting *c = arg;
	SimdupConnected *u = c->connected;

	if (distance != c->distance || !simdup_get_bit(c->parted, c->group[a]))
		return;
	for (uint32 x = simdup_connected_first(u, a); x != SIMDUP_NO_ROW;
		 x = simdup_connected_next(u, x))
		for (uint32 y = simdup_connected_first(u, b); y != SIMDUP_NO_ROW;
			 y = simdup_connected_next(u, y))
			if (simdup_connected_may_join(u, x, y))
				simdup_pairsort_put(c->sort, Min(x, y), Max(x, y));
}

/* Unite the groups that are near at a distance, in the order of pairs. */
static void
unite_at(Connecting *c, SimdupBatchUnits *units, int distance)
{
	uint64 a;
	uint64 b;

	c->distance = (uint32) distance;
	c->sort = simdup_pairsort_begin(units->rows->budget);
	simdup_join_units(units, distance, NULL, sort_parted, c);
	simdup_pairsort_perform(c->sort);
	while (simdup_pairsort_get(c->sort, &a, &b))
	{
		CHECK_FOR_INTERRUPTS();
		simdup_connected_join(c->connected, (uint32) a, (uint32) b);
	}
	simdup_pairsort_end(c->sort);
}

/* Return the groups where cannot-links do not count. */
static uint32 *
group_linked(SimdupBatchUnits *units, const SimdupConstraints *constraints)
{
	SimdupConstraints must_links;
	SimdupConnected *connected;

	if (constraints != NULL)
	{
		must_links = *constraints;
		must_links.cannot_links.n = 0;
	}
	connected =
		simdup_connected_begin(&units->core,
							   constraints == NULL ? NULL : &must_links);
	simdup_join_units(units, units->rows->options.max_distance, NULL, unite,
					  connected);
	return simdup_connected_finish(connected);
}

static uint32 *
group_connected(SimdupBatchUnits *units, const SimdupConstraints *constraints)
{
	const SimdupLinkLists *apart =
		constraints == NULL ? NULL : &constraints->cannot_links;
	int max_distance = units->rows->options.max_distance;
	uint32 n = units->core.n_rows;
	Connecting c = {0};
	uint32 *group;
	uint32 *parted;
	bool any = false;

	if (apart != NULL && apart->n > 0)
		simdup_show_join(units->rows, 1.0 / (max_distance + 1));
	group = group_linked(units, constraints);
	c.group = group;
	c.parted = simdup_alloc0(n / 8 + 1);
	/* both ways of a cannot-link follow each other */
	for (size_t i = 0; apart != NULL && i < apart->n; i += 2)
	{
		uint32 first = group[apart->links[i].element];

		if (first != group[apart->links[i + 1].element])
			continue;
		any = true;
		simdup_set_bit(c.parted, first);
	}
	if (!any)
		return group;
	c.connected = simdup_connected_begin(&units->core, constraints);
	for (int distance = 1; distance <= max_distance; distance++)
	{
		simdup_show_join(units->rows, (distance + 1.0) / (max_distance + 1));
		unite_at(&c, units, distance);
	}
	parted = simdup_connected_finish(c.connected);
	for (uint32 row = 0; row < n; row++)
		if (!simdup_get_bit(c.parted, group[row]))
			parted[row] = group[row];
	return parted;
}

uint32 *
simdup_find_groups(SimdupRows *rows, const SimdupConstraints *constraints,
				   SimdupRowPairSink sink, void *sink_arg)
{
	SimdupClusterMethod method = rows->options.method;
	SimdupBatchUnits u;
	uint32 *group;

	simdup_units_begin(&u, rows);
	u.sink = sink;
	u.sink_arg = sink_arg;
	if (method == SIMDUP_CAMPAIGNS || method == SIMDUP_TEMPLATES)
		group = simdup_find_campaigns(&u);
	else if (method == SIMDUP_LEADER)
		group = group_by_leader(&u, constraints);
	else
		group = group_connected(&u, constraints);
	simdup_free(u.core.unit);
	return group;
}
