/*
 * group.h
 *	  Rows into groups, by equal fingerprints and by connected pairs.
 */
#ifndef SIMDUP_CORE_GROUP_H
#define SIMDUP_CORE_GROUP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Rows grouped by scope and equal fingerprints, which ascend. Group i holds the
 * rows numbers[starts[i]] to numbers[starts[i + 1] - 1], which ascend, too. The
 * groups of scope s are scope_starts[s] to scope_starts[s + 1] - 1.
 */
typedef struct SimdupRowGroups
{
	uint32_t n;
	uint64_t *fps;
	uint32_t *starts; /* n + 1 */
	uint32_t *numbers;
	uint32_t *scope_starts; /* n_scopes + 1 */
} SimdupRowGroups;

/*
 * Group the rows 0 to n - 1 by their scopes, numbers from 0 to n_scopes - 1, and
 * their fingerprints. scope may be NULL where there is one. The array of
 * fingerprints becomes that of the groups; the other arrays are allocated.
 */
extern SimdupRowGroups simdup_group_rows(uint64_t *fps, const uint32_t *scope,
										 uint32_t n_scopes, uint32_t n);

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

#endif /* SIMDUP_CORE_GROUP_H */
