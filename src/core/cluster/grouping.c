/*
 * grouping.c
 *	  Rows into groups, by either method, with people's decisions.
 */
#include "core/cluster/grouping.h"

#define NONE UINT32_MAX

/* leader */

/* Return the component of a row. */
static uint32_t
component_of(const SimdupConstraints *constraints, uint32_t row)
{
	return constraints == NULL ? row : constraints->component[row];
}

/* Return a component and a group it may not join, as an element of a set. */
static uint64_t
apart(uint32_t component, uint32_t group)
{
	return ((uint64_t) component << 32 | group) + 1;
}

static uint32_t *
make_numbers(size_t n)
{
	return memset(simdup_alloc((n + 1) * sizeof(uint32_t)), 0xff,
				  (n + 1) * sizeof(uint32_t));
}

SimdupLeading *
simdup_leading_begin(const SimdupUnits *units,
					 const SimdupConstraints *constraints)
{
	SimdupLeading *l = simdup_alloc0(sizeof(SimdupLeading));
	uint32_t n = units->n_rows;

	l->units = units;
	l->constraints = constraints;
	l->group = make_numbers(n);
	l->component_group = constraints == NULL ? l->group : make_numbers(n);
	l->next_leader = constraints == NULL ? NULL : make_numbers(n);
	l->first_leader = make_numbers(n);
	l->nearest = make_numbers(n);
	l->distance = simdup_alloc0((size_t) n + 1);
	l->found = simdup_grow(NULL, &l->room, 1, sizeof(SimdupSortItem));
	return l;
}

bool
simdup_needs_all_leaders(const SimdupLeading *l, uint32_t row)
{
	return simdup_n_cannot_link(l->constraints,
								component_of(l->constraints, row)) > 0;
}

bool
simdup_may_lead(const SimdupLeading *l, uint32_t row)
{
	return (l->units->unit[row] == row && l->nearest[row] == NONE) ||
		   simdup_needs_all_leaders(l, row);
}

/* Check whether a leader is nearer to a unit than the one that is known. */
static bool
is_nearer(const SimdupLeading *l, uint32_t unit, uint32_t leader,
		  uint32_t distance)
{
	return l->nearest[unit] == NONE || distance < l->distance[unit] ||
		   (distance == l->distance[unit] && leader < l->nearest[unit]);
}

static void
set_nearest(SimdupLeading *l, uint32_t unit, uint32_t leader, uint32_t distance)
{
	l->nearest[unit] = leader;
	l->distance[unit] = (uint8_t) distance;
}

/* Check whether two units that seem near are. */
static bool
verify(const SimdupUnits *units, uint32_t a, uint32_t b)
{
	return a == b || units->verify == NULL ||
		   units->verify(units->arg, a > b ? a : b, a > b ? b : a);
}

void
simdup_leading_offer(SimdupLeading *l, uint32_t unit, uint32_t other,
					 uint32_t distance)
{
	uint32_t leader = l->first_leader[other];

	if (is_nearer(l, unit, leader, distance) && verify(l->units, unit, other))
		set_nearest(l, unit, leader, distance);
}

/*
 * Find the leaders of a unit among those of a near one. A row without
 * cannot-links needs only the first of them, if it is nearer than the nearest.
 */
static size_t
add_leaders(SimdupLeading *l, size_t n, uint32_t unit, SimdupNear near,
			bool needs_all)
{
	uint32_t leader = l->first_leader[near.row];

	while (leader != NONE &&
		   (needs_all || is_nearer(l, unit, leader, (uint32_t) near.weight)))
	{
		l->found =
			simdup_grow(l->found, &l->room, n + 1, sizeof(SimdupSortItem));
		l->found[n++] = (SimdupSortItem){near.weight, leader};
		leader = needs_all ? l->next_leader[leader] : NONE;
	}
	return n;
}

/* Return the nearest leader whose group a row may join, or NONE. */
static uint32_t
find_leader(SimdupLeading *l, uint32_t row, const SimdupNear *near,
			size_t n_near)
{
	uint32_t unit = l->units->unit[row];
	uint32_t component = component_of(l->constraints, row);
	bool needs_all = simdup_needs_all_leaders(l, row);
	size_t n = 0;

	if (needs_all)
		n = add_leaders(l, n, unit, (SimdupNear){unit, 0}, true);
	for (size_t i = 0; i < n_near; i++)
		n = add_leaders(l, n, unit, near[i], needs_all);
	simdup_sort_pairs(l->found, n);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t leader = (uint32_t) l->found[i].row;

		if (simdup_wordset_has(&l->cannot_link,
							   apart(component, l->group[leader])) ||
			!verify(l->units, unit, l->units->unit[leader]))
			continue;
		if (!needs_all)
			set_nearest(l, unit, leader, (uint32_t) l->found[i].value);
		return leader;
	}
	return needs_all ? NONE : l->nearest[unit];
}

/* Make a row lead: later rows of its unit and of near ones find it. */
static void
lead(SimdupLeading *l, uint32_t row)
{
	uint32_t unit = l->units->unit[row];
	uint32_t *end = &l->first_leader[unit];

	while (*end != NONE)
		end = &l->next_leader[*end];
	*end = row;
	if (is_nearer(l, unit, row, 0))
		set_nearest(l, unit, row, 0);
}

static void
group_row(SimdupLeading *l, uint32_t row, const SimdupNear *near, size_t n_near)
{
	uint32_t component = component_of(l->constraints, row);
	uint32_t leader = find_leader(l, row, near, n_near);

	if (l->component_group[component] == NONE)
	{
		uint32_t group = leader == NONE ? row : l->group[leader];

		l->component_group[component] = group;
		if (simdup_n_cannot_link(l->constraints, component) > 0)
		{
			const SimdupLinkLists *of = &l->constraints->cannot_links;

			for (uint32_t link = of->lists[component].first; link != NONE;
				 link = of->links[link].next)
				(void) simdup_wordset_add(&l->cannot_link,
										  apart(of->links[link].element,
												group));
		}
	}
	l->group[row] = l->component_group[component];
	if (leader == NONE)
		lead(l, row);
}

void
simdup_leading_range(SimdupLeading *l, uint32_t from, uint32_t end,
					 SimdupNearOf near, void *lists)
{
	for (uint32_t row = from; row < end; row++)
	{
		size_t n;
		const SimdupNear *list = near(lists, l->units->unit[row], &n);

		if (row % 1024 == 0) /* a row may have thousands of leaders */
			simdup_check_interrupts();
		group_row(l, row, list, n);
	}
}

uint32_t *
simdup_leading_finish(SimdupLeading *l)
{
	uint32_t *group = l->group;

	if (l->constraints != NULL)
		simdup_free(l->component_group);
	simdup_free(l->next_leader);
	simdup_free(l->first_leader);
	simdup_free(l->nearest);
	simdup_free(l->distance);
	simdup_free(l->found);
	simdup_wordset_free(&l->cannot_link);
	simdup_free(l);
	return group;
}

/* connected */

struct SimdupConnected
{
	const SimdupUnits *units;
	SimdupConstraints rows; /* components: rows in one group */

	/*
	 * the representatives of each unit, linked; NULL: each unit
	 * is in one group
	 */
	uint32_t *first_representative; /* by unit */
	uint32_t *next_representative;	/* by row */
};

bool
simdup_connected_may_join(SimdupConnected *c, uint32_t a, uint32_t b)
{
	return simdup_constraints_may_join(&c->rows, a, b);
}

void
simdup_connected_join(SimdupConnected *c, uint32_t a, uint32_t b)
{
	const SimdupUnits *units = c->units;

	if (simdup_constraints_may_join(&c->rows, a, b) &&
		verify(units, units->unit[a], units->unit[b]))
		simdup_constraints_join(&c->rows, a, b);
}

/*
 * Check whether no earlier row of a row's unit is in its group; then
 * the row is a representative. Only representatives have near pairs that
 * matter. An earlier row of the unit and the group has tried the same
 * partners, and a refused pair stays refused. The groups of a unit's
 * representatives have cannot-links to each other, so n > 0 decisions make at
 * most 2 sqrt(n) of them.
 */
static bool
is_representative(SimdupConnected *c, uint32_t row)
{
	uint32_t *end = &c->first_representative[c->units->unit[row]];
	uint32_t root = simdup_component_root(c->rows.component, row);

	for (; *end != NONE; end = &c->next_representative[*end])
		if (simdup_component_root(c->rows.component, *end) == root)
			return false;
	*end = row;
	return true;
}

/*
 * Join the units of one fingerprint, first rows of units that are linked from `left`
 * on. Without cannot-links their order means nothing. So a row that has joined leaves
 * the list, and meets those that are left.
 */
static void
join_units(SimdupConnected *c, uint32_t *next, uint32_t left)
{
	while (left != NONE)
	{
		uint32_t joined = left; /* rows that have not met those left */

		left = next[left];
		next[joined] = NONE;
		while (joined != NONE)
		{
			uint32_t row = joined;
			uint32_t *i = &left;

			joined = next[row];
			simdup_check_interrupts();
			while (*i != NONE)
			{
				uint32_t other = *i;

				simdup_connected_join(c, row, other);
				if (simdup_component_root(c->rows.component, row) !=
					simdup_component_root(c->rows.component, other))
				{
					i = &next[other];
					continue;
				}
				*i = next[other];
				next[other] = joined;
				joined = other;
			}
		}
	}
}

/* Join the near pairs at distance 0, by earlier and later row. */
static void
join_at_distance_0(SimdupConnected *c)
{
	const SimdupUnits *units = c->units;
	bool in_order = c->first_representative != NULL;
	/* the rows of each fingerprint, linked; first rows of units if not in_order */
	uint32_t *first = make_numbers(units->n_rows);
	uint32_t *next = make_numbers(units->n_rows);

	for (uint32_t row = units->n_rows; row-- > 0;)
	{
		uint32_t same_fp = units->unit[row];

		if (!in_order && same_fp != row)
		{
			simdup_connected_join(c, same_fp, row);
			continue;
		}
		if (units->same_fp != NULL)
			same_fp = units->same_fp[same_fp];
		next[row] = first[same_fp];
		first[same_fp] = row;
	}
	for (uint32_t row = 0; row < units->n_rows; row++)
	{
		if (!in_order)
			join_units(c, next, first[row]);
		else if (is_representative(c, row))
		{
			simdup_check_interrupts();
			for (uint32_t i = next[row]; i != NONE; i = next[i])
				simdup_connected_join(c, row, i);
		}
	}
	simdup_free(next);
	simdup_free(first);
}

SimdupConnected *
simdup_connected_begin(const SimdupUnits *units,
					   const SimdupConstraints *constraints)
{
	SimdupConnected *c = simdup_alloc0(sizeof(SimdupConnected));

	c->units = units;
	c->rows = (SimdupConstraints){.n = units->n_rows, .component = units->unit};
	if (constraints == NULL && units->same_fp == NULL)
		return c;
	c->rows.component = make_numbers(units->n_rows);
	memcpy(c->rows.component,
		   constraints == NULL ? units->unit : constraints->component,
		   units->n_rows * sizeof(uint32_t));
	if (constraints != NULL && constraints->cannot_links.n > 0)
	{
		const SimdupLink *links = constraints->cannot_links.links;

		/* both ways of a cannot-link follow each other */
		for (size_t i = 0; i < constraints->cannot_links.n; i += 2)
			simdup_constraints_add(&c->rows, links[i].element,
								   links[i + 1].element);
		c->first_representative = make_numbers(units->n_rows);
		c->next_representative = make_numbers(units->n_rows);
	}
	join_at_distance_0(c);
	return c;
}

uint32_t
simdup_connected_first(const SimdupConnected *c, uint32_t unit)
{
	return c->first_representative == NULL ? unit
										   : c->first_representative[unit];
}

uint32_t
simdup_connected_next(const SimdupConnected *c, uint32_t row)
{
	return c->next_representative == NULL ? NONE : c->next_representative[row];
}

uint32_t *
simdup_connected_finish(SimdupConnected *c)
{
	uint32_t n = c->units->n_rows;
	uint32_t *group = make_numbers(n);
	uint32_t *first = make_numbers(n); /* by root */

	for (uint32_t row = 0; row < n; row++)
	{
		uint32_t root = simdup_component_root(c->rows.component, row);

		simdup_check_interrupts_at(row);
		if (first[root] == NONE)
			first[root] = row;
		group[row] = first[root];
	}
	simdup_free(c->first_representative);
	simdup_free(c->next_representative);
	if (c->rows.component == c->units->unit)
		c->rows.component = NULL; /* it is the caller's */
	simdup_constraints_free(&c->rows);
	simdup_free(first);
	simdup_free(c);
	return group;
}

/* Ids */

int64_t *
simdup_group_ids_keep(uint32_t n, const uint32_t *group, const int64_t *old)
{
	int64_t *ids = simdup_alloc0(((size_t) n + 1) * sizeof(int64_t));
	SimdupSortItem *shares =
		simdup_alloc(((size_t) n + 1) * sizeof(SimdupSortItem));
	SimdupSortItem *order =
		simdup_alloc(((size_t) n + 1) * sizeof(SimdupSortItem));
	SimdupWordSet taken = {0};
	size_t n_rows = 0;
	size_t n_shares = 0;

	/* the rows of a share, an old id and a new group, stand together */
	for (uint32_t row = 0; row < n; row++)
		if (old[row] != SIMDUP_NO_ID)
			shares[n_rows++] =
				(SimdupSortItem){(uint64_t) old[row], group[row]};
	simdup_sort_pairs(shares, n_rows);
	for (size_t i = 0; i < n_rows; i++)
	{
		simdup_check_interrupts_at(i);
		if (n_shares == 0 ||
			simdup_item_less(&shares[n_shares - 1], &shares[i]))
		{
			order[n_shares] = (SimdupSortItem){UINT32_MAX, n_shares};
			shares[n_shares++] = shares[i];
		}
		order[n_shares - 1].value--;
	}
	/* most rows first, then in the order of shares */
	simdup_sort_pairs(order, n_shares);
	for (size_t i = 0; i < n_shares; i++)
	{
		SimdupSortItem share = shares[order[i].row];

		simdup_check_interrupts_at(i);
		if (ids[share.row] == SIMDUP_NO_ID &&
			simdup_wordset_add(&taken, share.value))
			ids[share.row] = (int64_t) share.value;
	}
	simdup_wordset_free(&taken);
	simdup_free(order);
	simdup_free(shares);
	return ids;
}
