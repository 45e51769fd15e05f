/*
 * group.h
 *	  Rows into groups: by equal fingerprints, by connected pairs, by leaders; and
 *	  pairs of numbers put in order.
 */
#ifndef SIMDUP_CORE_GROUP_H
#define SIMDUP_CORE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows grouped by equal fingerprints. */

/*
 * Sort fingerprints with their row numbers, stably, by radix: equal ones stay
 * in the order of their rows. The scratch arrays are as long.
 */
extern void simdup_sort_rows(uint64_t *fps, uint32_t *rows,
							 uint64_t *fp_scratch, uint32_t *row_scratch,
							 size_t n);

/*
 * Rows grouped by equal fingerprints, which ascend. Group i holds the rows
 * numbers[starts[i]] to numbers[starts[i + 1] - 1], which ascend, too.
 */
typedef struct SimdupRowGroups
{
	uint32_t n;
	uint64_t *fps;
	uint32_t *starts; /* n + 1 */
	uint32_t *numbers;
} SimdupRowGroups;

/*
 * Group the rows 0 to n - 1 by their fingerprints. The array of fingerprints
 * becomes that of the groups; the other arrays are allocated.
 */
extern SimdupRowGroups simdup_group_rows(uint64_t *fps, uint32_t n);

/*
 * Connected components over elements 0 to n - 1, four bytes an element.
 *
 * The root of a component is always its smallest element, so the name of a
 * component does not depend on the order of its edges. Paths are halved on
 * the way; without ranks that still costs O(log n) amortised.
 */

static inline void
simdup_components_init(uint32_t *parent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		parent[i] = i;
}

static inline uint32_t
simdup_component_root(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
	{
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

static inline void
simdup_components_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = simdup_component_root(parent, a);
	b = simdup_component_root(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/*
 * The single pass: elements come in order, and each joins the first earlier
 * leader near it, or becomes a leader itself.
 *
 * The naive pass compares each element with every leader. Here the near pairs
 * come from the all-pairs join instead, in any order, in two rounds:
 *
 * 1. simdup_leader_near takes every near pair, and keeps the first near
 * predecessor of each element, four bytes. An element without one is a
 * leader. An element whose first near predecessor is a leader belongs to
 * it. simdup_leaders_settle decides these two cases, in order.
 * 2. The other elements follow an element that is not a leader itself (a
 * chain), and need all their near predecessors. The caller gives these to
 * simdup_leader_offer, ordered by element and then by predecessor.
 *
 * So memory does not grow with the number of pairs, and without chains there
 * is no second round.
 */

/* Not decided; as a predecessor: none. */
#define SIMDUP_NO_LEADER UINT32_MAX

typedef struct SimdupLeaders
{
	uint32_t n;
	uint32_t *leader;	  /* of each element; a leader is its own */
	uint32_t *first_near; /* its first near predecessor */
} SimdupLeaders;

extern void simdup_leaders_init(SimdupLeaders *leaders, uint32_t n);

/* Note that two elements are near each other. */
static inline void
simdup_leader_near(SimdupLeaders *leaders, uint32_t a, uint32_t b)
{
	uint32_t first = a < b ? a : b;
	uint32_t later = a < b ? b : a;

	if (first < leaders->first_near[later])
		leaders->first_near[later] = first;
}

/* Decide what round 1 can. Return the number of elements left for round 2. */
extern uint32_t simdup_leaders_settle(SimdupLeaders *leaders);

/* Check whether round 2 needs this near pair. Set element and predecessor. */
extern bool simdup_leader_wants(const SimdupLeaders *leaders, uint32_t a,
								uint32_t b, uint32_t *element,
								uint32_t *predecessor);

/* Offer a pair in round 2, by ascending element and predecessor. */
extern void simdup_leader_offer(SimdupLeaders *leaders, uint32_t element,
								uint32_t predecessor);

/*
 * End the last round: an element that found no leader is one. Free all but the
 * array of leaders, which is the caller's from then on.
 */
extern void simdup_leaders_finish(SimdupLeaders *leaders);

/* Pairs of numbers put in order, in place. */

typedef struct SimdupPair
{
	uint64_t first;
	uint64_t second;
} SimdupPair;

static inline bool
simdup_pair_less(const SimdupPair *a, const SimdupPair *b)
{
	return a->first < b->first ||
		   (a->first == b->first && a->second < b->second);
}

/* Sort by first and then second, ascending. */
extern void simdup_order_pairs(SimdupPair *pairs, size_t n);

#endif /* SIMDUP_CORE_GROUP_H */
