/*
 * components.h
 *	  Connected components of elements, kept apart by cannot-links.
 *
 * Elements are numbers from 0 to n - 1, four bytes each. The root of a component is
 * its smallest element, so the name of a component does not depend on the order of
 * its edges; with cannot-links it may be another one. Paths are halved on the way;
 * without ranks that still costs O(log n) amortised.
 */
#ifndef SIMDUP_CORE_CLUSTER_COMPONENTS_H
#define SIMDUP_CORE_CLUSTER_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/hash.h"

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

/* Components that cannot-links keep apart. */

/* Begins with n and parents as above, the rest zeroed. */
typedef struct SimdupUnion
{
	uint32_t n;							   /* elements */
	uint32_t *parent;					   /* of each; a root is its own */
	SimdupWordSet cannot_link;			   /* (smaller root, larger root) */
	struct SimdupCannotLinkList *lists;	   /* by root; NULL: no cannot-link */
	struct SimdupCannotLinkEntry *entries; /* of all lists */
	size_t n_entries;
	size_t size; /* of entries */
} SimdupUnion;

/* Never unite the sets of two elements, which are not in one set. */
extern void simdup_union_cannot_link(SimdupUnion *u, uint32_t a, uint32_t b);

/* Check whether two elements are in different sets that may be united. */
extern bool simdup_union_may_join(SimdupUnion *u, uint32_t a, uint32_t b);

/* Unite the sets of two elements of which that is so. */
extern void simdup_union_join(SimdupUnion *u, uint32_t a, uint32_t b);

/* Free all but the parents. */
extern void simdup_union_free(SimdupUnion *u);

/*
 * What people decided about pairs of elements.
 *
 * Decisions are constraints of a clustering (Wagstaff et al. 2001): "the same" is
 * a must-link, "not the same" a cannot-link. Must-links form components, closed
 * over chains. A cannot-link holds between two components. Within one it is a
 * contradiction.
 */

typedef struct SimdupDecision
{
	uint32_t a;
	uint32_t b;
	bool same;
} SimdupDecision;

typedef struct SimdupDecisions
{
	SimdupDecision *items;
	size_t n;
	size_t capacity;
} SimdupDecisions;

typedef struct SimdupConstraints
{
	uint32_t n;
	uint32_t *component; /* of each element: the smallest one of its component */
	size_t *start;		 /* by component, in cannot_link; n + 1 */
	uint32_t *cannot_link; /* the components that it is not the same as */
	size_t n_cannot_link;  /* length of cannot_link */
} SimdupConstraints;

extern void simdup_decisions_add(SimdupDecisions *decisions, uint32_t a,
								 uint32_t b, bool same);

/*
 * Keep the decisions about elements 0 to n - 1 that agree with those before them,
 * in their order. The others go to passed.
 */
extern void simdup_decisions_settle(SimdupDecisions *decisions, uint32_t n,
									SimdupDecisions *passed);

/*
 * Find the components of elements 0 to n - 1. Return the first decision that
 * contradicts others, or NULL and the components.
 */
extern const SimdupDecision *simdup_constraints_find(
	SimdupConstraints *constraints, uint32_t n,
	const SimdupDecisions *decisions);
extern void simdup_constraints_free(SimdupConstraints *constraints);

/*
 * Find the shortest chain of elements decided the same that leads from a to b.
 * Return its length, a and b included, and the chain, to be freed; 0 without.
 */
extern uint32_t simdup_decisions_chain(const SimdupDecisions *decisions,
									   uint32_t n, uint32_t a, uint32_t b,
									   uint32_t **chain);

static inline uint32_t
simdup_component_of(const SimdupConstraints *constraints, uint32_t element)
{
	return constraints == NULL ? element : constraints->component[element];
}

/* Return the number of elements of a component's list. */
static inline size_t
simdup_n_cannot_link(const SimdupConstraints *constraints, uint32_t component)
{
	return constraints == NULL || constraints->n_cannot_link == 0
			   ? 0
			   : constraints->start[component + 1] -
					 constraints->start[component];
}

static inline const uint32_t *
simdup_cannot_link(const SimdupConstraints *constraints, uint32_t component)
{
	return constraints->cannot_link + constraints->start[component];
}

#endif /* SIMDUP_CORE_CLUSTER_COMPONENTS_H */
