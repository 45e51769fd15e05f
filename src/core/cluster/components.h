/*
 * components.h
 *	  Connected components of elements, people's decisions about pairs of elements, and
 *	  the components that decisions keep apart.
 *
 * Elements are numbers from 0 to n - 1, four bytes each. The root of a component is
 * its smallest element, so the name of a component does not depend on the order of
 * its edges. Paths are halved on the way; without ranks that still costs O(log n)
 * amortised.
 */
#ifndef SIMDUP_CORE_CLUSTER_COMPONENTS_H
#define SIMDUP_CORE_CLUSTER_COMPONENTS_H

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

extern void simdup_decisions_add(SimdupDecisions *decisions, uint32_t a,
								 uint32_t b, bool same);

/*
 * Keep the decisions about elements 0 to n - 1 that agree with those before them,
 * in their order. The others go to passed.
 */
extern void simdup_decisions_resolve(SimdupDecisions *decisions, uint32_t n,
									 SimdupDecisions *passed);

/*
 * Find the shortest chain of elements decided the same that leads from a to b.
 * Return its length, a and b included, and the chain, to be freed; 0 without.
 */
extern uint32_t simdup_decisions_chain(const SimdupDecisions *decisions,
									   uint32_t n, uint32_t a, uint32_t b,
									   uint32_t **chain);

/* Links between elements, in lists by element. */

typedef struct SimdupLink
{
	uint32_t element;
	uint32_t next; /* link of the list; UINT32_MAX: it is the last one */
} SimdupLink;

typedef struct SimdupLinks
{
	uint32_t n;
	uint32_t first; /* link, if n > 0 */
} SimdupLinks;

typedef struct SimdupLinkLists
{
	SimdupLinks *lists; /* by element; NULL: there is no link */
	SimdupLink *links;	/* of all lists: each link in both ways */
	size_t n;
	size_t size;
} SimdupLinkLists;

/* Components that cannot-links keep apart. */
typedef struct SimdupConstraints
{
	uint32_t n;					  /* elements */
	uint32_t *component;		  /* of each the parent; a root is its own */
	SimdupWordSet root_pairs;	  /* with a cannot-link */
	SimdupLinkLists cannot_links; /* by root */
} SimdupConstraints;

/*
 * Find the components of elements 0 to n - 1. Return the first decision that
 * contradicts others, or NULL and the components: all elements have roots. The first
 * elements are rows. Cannot-links of a component without a row are left out.
 */
extern const SimdupDecision *simdup_constraints_find(
	SimdupConstraints *constraints, uint32_t n, uint32_t n_rows,
	const SimdupDecisions *decisions);
extern void simdup_constraints_free(SimdupConstraints *constraints);

/* Never join two elements, which are not in one component. */
extern void simdup_constraints_add(SimdupConstraints *constraints, uint32_t a,
								   uint32_t b);

/* Check whether two elements are in different components that may be joined. */
extern bool simdup_constraints_may_join(SimdupConstraints *constraints,
										uint32_t a, uint32_t b);

/*
 * Join two elements of which that is so. The root of their component need not be
 * its smallest element.
 */
extern void simdup_constraints_join(SimdupConstraints *constraints, uint32_t a,
									uint32_t b);

/* Return the number of cannot-links of a component. */
static inline uint32_t
simdup_n_cannot_link(const SimdupConstraints *constraints, uint32_t component)
{
	return constraints == NULL || constraints->cannot_links.lists == NULL
			   ? 0
			   : constraints->cannot_links.lists[component].n;
}

#endif /* SIMDUP_CORE_CLUSTER_COMPONENTS_H */
