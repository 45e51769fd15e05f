/*
 * grouping.c
 *	  Rows into groups, by either method, with people's decisions.
 */
#include <string.h>

#include "core/cluster/grouping.h"
#include "core/host.h"
#include "core/search/sort.h"

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

uint8_t *
simdup_may_lead(const SimdupDistinctRows *distinct_rows,
				const SimdupConstraints *constraints,
				const uint32_t *first_near)
{
	enum
	{
		NEVER,
		PERHAPS,
		SURELY
	};
	uint8_t *leads = simdup_alloc0((size_t) distinct_rows->n_rows + 1);

	for (uint32_t row = 0; row < distinct_rows->n_rows; row++)
	{
		uint32_t distinct = distinct_rows->distinct[row];
		bool first = distinct == row;

		simdup_check_interrupts_at(row);
		if (first && first_near[row] == SIMDUP_NO_ROW)
			leads[row] = SURELY;
		/* a row that may pass over a leader may lead */
		else if (leads[distinct] == NEVER &&
				 ((first && leads[first_near[row]] != SURELY) ||
				  simdup_n_cannot_link(constraints,
									   component_of(constraints, row)) > 0))
			leads[distinct] = PERHAPS;
	}
	return leads;
}

/* A leader near a distinct row, in the list of its distance. */
typedef struct NearLeader
{
	uint32_t row;
	uint32_t next;
	double resemblance; /* below 0: not yet verified */
} NearLeader;

/* The leaders of one distinct row at one distance, the earliest first. */
typedef struct LeaderList
{
	uint32_t first;
	uint32_t last;
	uint32_t next; /* list of the distinct row, at the next distance */
	uint32_t distance;
} LeaderList;

typedef struct Leading
{
	const SimdupDistinctRows *distinct_rows;
	const SimdupConstraints *constraints;
	uint32_t *group;		   /* of each row: its first row */
	uint32_t *component_group; /* of each component; NULL constraints: group */
	SimdupWordSet cannot_link; /* (component, group) */
	uint32_t *lists; /* of each distinct row: its first list in list_pool */
	LeaderList *list_pool;
	uint32_t n_lists;
	size_t lists_capacity;
	NearLeader *leaders;
	uint32_t n_leaders;
	size_t leaders_capacity;
} Leading;

/* Add a leader to the list of a distinct row at a distance. */
static void
add_leader(Leading *l, uint32_t row, uint32_t distinct, uint32_t distance)
{
	uint32_t *at = &l->lists[distinct];
	LeaderList *list;

	if (l->distinct_rows->last_row[distinct] <= row)
		return;
	l->leaders = simdup_grow(l->leaders, &l->leaders_capacity,
							 (size_t) l->n_leaders + 1, sizeof(NearLeader));
	l->list_pool = simdup_grow(l->list_pool, &l->lists_capacity,
							   (size_t) l->n_lists + 1, sizeof(LeaderList));
	while (*at != NONE && l->list_pool[*at].distance < distance)
		at = &l->list_pool[*at].next;
	if (*at == NONE || l->list_pool[*at].distance > distance)
	{
		l->list_pool[l->n_lists] = (LeaderList){NONE, NONE, *at, distance};
		*at = l->n_lists++;
	}
	list = &l->list_pool[*at];
	if (list->first == NONE)
		list->first = l->n_leaders;
	else
		l->leaders[list->last].next = l->n_leaders;
	list->last = l->n_leaders;
	l->leaders[l->n_leaders++] = (NearLeader){row, NONE, -1};
}

/*
 * Make a row lead: later rows of its distinct row and of near distinct rows
 * find it.
 */
static void
lead(Leading *l, uint32_t row)
{
	uint32_t distinct = l->distinct_rows->distinct[row];
	size_t n;
	const SimdupNear *near =
		l->distinct_rows->near(l->distinct_rows->lists, distinct, &n);

	add_leader(l, row, distinct, 0);
	for (size_t i = 0; i < n; i++)
		add_leader(l, row, (uint32_t) near[i].row, (uint32_t) near[i].weight);
}

/*
 * Return the resemblance of two distinct rows that seem near; below 0: they are
 * not.
 */
static double
verify(const SimdupDistinctRows *distinct_rows, uint32_t a, uint32_t b)
{
	if (a == b || distinct_rows->verify == NULL)
		return 1;
	return distinct_rows->verify(distinct_rows->arg, a > b ? a : b,
								 a > b ? b : a);
}

/* Return the nearest leader whose group a row may join, or NONE. */
static uint32_t
find_leader(Leading *l, uint32_t row)
{
	uint32_t distinct = l->distinct_rows->distinct[row];
	uint32_t component = component_of(l->constraints, row);

	for (uint32_t d = l->lists[distinct]; d != NONE; d = l->list_pool[d].next)
	{
		LeaderList *list = &l->list_pool[d];
		uint32_t before = NONE;
		uint32_t *at = &list->first;

		while (*at != NONE)
		{
			NearLeader *leader = &l->leaders[*at];

			if (simdup_wordset_has(&l->cannot_link,
								   apart(component, l->group[leader->row])))
			{
				before = *at;
				at = &leader->next;
				continue;
			}
			if (leader->resemblance < 0)
				leader->resemblance =
					verify(l->distinct_rows, distinct,
						   l->distinct_rows->distinct[leader->row]);
			if (leader->resemblance >= 0)
			{
				if (l->distinct_rows->resemblance != NULL)
					l->distinct_rows->resemblance[row] = leader->resemblance;
				return leader->row;
			}
			/* it leaves the list */
			*at = leader->next;
			if (*at == NONE)
				list->last = before;
		}
	}
	return NONE;
}

static void
group_row(Leading *l, uint32_t row)
{
	uint32_t component = component_of(l->constraints, row);
	uint32_t leader = find_leader(l, row);

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

static uint32_t *
make_numbers(size_t n)
{
	return memset(simdup_alloc((n + 1) * sizeof(uint32_t)), 0xff,
				  (n + 1) * sizeof(uint32_t));
}

uint32_t *
simdup_group_by_leaders(const SimdupDistinctRows *distinct_rows,
						const SimdupConstraints *constraints)
{
	Leading l = {.distinct_rows = distinct_rows, .constraints = constraints};

	l.group = make_numbers(distinct_rows->n_rows);
	l.component_group =
		constraints == NULL ? l.group : make_numbers(distinct_rows->n_rows);
	l.lists = make_numbers(distinct_rows->n_rows);
	l.list_pool = simdup_grow(NULL, &l.lists_capacity, 1, sizeof(LeaderList));
	l.leaders = simdup_grow(NULL, &l.leaders_capacity, 1, sizeof(NearLeader));
	for (uint32_t row = 0; row < distinct_rows->n_rows; row++)
	{
		if (row % 1024 == 0) /* a row may lead thousands */
			simdup_check_interrupts();
		group_row(&l, row);
	}
	if (constraints != NULL)
		simdup_free(l.component_group);
	simdup_free(l.lists);
	simdup_free(l.list_pool);
	simdup_free(l.leaders);
	simdup_wordset_free(&l.cannot_link);
	return l.group;
}

/* connected */

struct SimdupConnected
{
	const SimdupDistinctRows *distinct_rows;
	SimdupConstraints rows; /* components: rows in one group */

	/*
	 * the representatives of each distinct row, linked; NULL: each distinct row
	 * is in one group
	 */
	uint32_t *first_representative; /* by distinct row */
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
	const SimdupDistinctRows *distinct_rows = c->distinct_rows;

	if (simdup_constraints_may_join(&c->rows, a, b) &&
		verify(distinct_rows, distinct_rows->distinct[a],
			   distinct_rows->distinct[b]) >= 0)
		simdup_constraints_join(&c->rows, a, b);
}

/*
 * Check whether no earlier row of a row's distinct row is in its group; then
 * the row is a representative. Only representatives have near pairs that
 * matter. An earlier row of the distinct row and the group has tried the same
 * partners, and a refused pair stays refused. The groups of a distinct row's
 * representatives have cannot-links to each other, so n > 0 decisions make at
 * most 2 sqrt(n) of them.
 */
static bool
is_representative(SimdupConnected *c, uint32_t row)
{
	uint32_t *end = &c->first_representative[c->distinct_rows->distinct[row]];
	uint32_t root = simdup_component_root(c->rows.component, row);

	for (; *end != NONE; end = &c->next_representative[*end])
		if (simdup_component_root(c->rows.component, *end) == root)
			return false;
	*end = row;
	return true;
}

/* Join the near pairs at distance 0, by earlier and later row. */
static void
join_at_distance_0(SimdupConnected *c)
{
	const SimdupDistinctRows *distinct_rows = c->distinct_rows;
	/* the rows of each fingerprint, linked */
	uint32_t *first = make_numbers(distinct_rows->n_rows);
	uint32_t *next = make_numbers(distinct_rows->n_rows);

	for (uint32_t row = distinct_rows->n_rows; row-- > 0;)
	{
		uint32_t same_fp = distinct_rows->distinct[row];

		if (distinct_rows->same_fp != NULL)
			same_fp = distinct_rows->same_fp[same_fp];
		next[row] = first[same_fp];
		first[same_fp] = row;
	}
	for (uint32_t row = 0; row < distinct_rows->n_rows; row++)
	{
		if (c->first_representative == NULL
				? distinct_rows->distinct[row] != row
				: !is_representative(c, row))
			continue;
		simdup_check_interrupts();
		for (uint32_t i = next[row]; i != NONE; i = next[i])
		{
			/* distinct rows in one group each: first rows are enough */
			if (c->first_representative == NULL &&
				distinct_rows->distinct[i] != row &&
				distinct_rows->distinct[i] != i)
				continue;
			simdup_connected_join(c, row, i);
		}
	}
	simdup_free(next);
	simdup_free(first);
}

SimdupConnected *
simdup_connected_begin(const SimdupDistinctRows *distinct_rows,
					   const SimdupConstraints *constraints)
{
	SimdupConnected *c = simdup_alloc0(sizeof(SimdupConnected));

	c->distinct_rows = distinct_rows;
	c->rows = (SimdupConstraints){.n = distinct_rows->n_rows,
								  .component = distinct_rows->distinct};
	if (constraints == NULL && distinct_rows->same_fp == NULL)
		return c;
	c->rows.component = make_numbers(distinct_rows->n_rows);
	memcpy(c->rows.component,
		   constraints == NULL ? distinct_rows->distinct
							   : constraints->component,
		   distinct_rows->n_rows * sizeof(uint32_t));
	if (constraints != NULL && constraints->cannot_links.n > 0)
	{
		const SimdupLink *links = constraints->cannot_links.links;

		/* both ways of a cannot-link follow each other */
		for (size_t i = 0; i < constraints->cannot_links.n; i += 2)
			simdup_constraints_add(&c->rows, links[i].element,
								   links[i + 1].element);
		c->first_representative = make_numbers(distinct_rows->n_rows);
		c->next_representative = make_numbers(distinct_rows->n_rows);
	}
	join_at_distance_0(c);
	return c;
}

uint32_t
simdup_connected_first(const SimdupConnected *c, uint32_t distinct)
{
	return c->first_representative == NULL ? distinct
										   : c->first_representative[distinct];
}

uint32_t
simdup_connected_next(const SimdupConnected *c, uint32_t row)
{
	return c->next_representative == NULL ? NONE : c->next_representative[row];
}

uint32_t *
simdup_connected_finish(SimdupConnected *c)
{
	uint32_t n = c->distinct_rows->n_rows;
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
	if (c->rows.component == c->distinct_rows->distinct)
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
	SimdupEntry *shares = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));
	SimdupEntry *order = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));
	SimdupWordSet taken = {0};
	size_t n_rows = 0;
	size_t n_shares = 0;

	/* the rows of a share, an old id and a new group, stand together */
	for (uint32_t row = 0; row < n; row++)
		if (old[row] != SIMDUP_NO_ID)
			shares[n_rows++] = (SimdupEntry){(uint64_t) old[row], group[row]};
	simdup_sort_pairs(shares, n_rows);
	for (size_t i = 0; i < n_rows; i++)
	{
		simdup_check_interrupts_at(i);
		if (n_shares == 0 ||
			simdup_entry_less(&shares[n_shares - 1], &shares[i]))
		{
			order[n_shares] = (SimdupEntry){UINT32_MAX, n_shares};
			shares[n_shares++] = shares[i];
		}
		order[n_shares - 1].value--;
	}
	/* most rows first, then in the order of shares */
	simdup_sort_pairs(order, n_shares);
	for (size_t i = 0; i < n_shares; i++)
	{
		SimdupEntry share = shares[order[i].row];

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
