/*
 * components.h
 *	  Connected components over elements 0 to n - 1, four bytes an element.
 *
 * The root of a component is always its smallest element, so the name of a
 * component does not depend on the order of its edges. Paths are halved on
 * the way; without ranks that still costs O(log n) amortised.
 */
#ifndef SIMDUP_CORE_CLUSTER_COMPONENTS_H
#define SIMDUP_CORE_CLUSTER_COMPONENTS_H

#include <stdint.h>

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

#endif /* SIMDUP_CORE_CLUSTER_COMPONENTS_H */
