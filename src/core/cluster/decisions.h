/*
 * decisions.h
 *	  What people decided about pairs of elements.
 *
 * Decisions are constraints of a clustering (Wagstaff et al. 2001): "the same" is
 * a must-link, "not the same" a cannot-link. Must-links form components, closed
 * over chains. A cannot-link holds between two components. Within one it is a
 * contradiction.
 */
#ifndef SIMDUP_CORE_CLUSTER_DECISIONS_H
#define SIMDUP_CORE_CLUSTER_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* SIMDUP_CORE_CLUSTER_DECISIONS_H */
