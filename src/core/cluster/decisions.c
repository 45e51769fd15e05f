/*
 * decisions.c
 *	  Components of elements decided the same, and the cannot-links of each.
 */
#include <stdbool.h>

#include "core/cluster/components.h"
#include "core/cluster/decisions.h"
#include "core/cluster/unions.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"

#define NO_ELEMENT UINT32_MAX

void
simdup_decisions_add(SimdupDecisions *decisions, uint32_t a, uint32_t b,
					 bool same)
{
	decisions->items = simdup_grow(decisions->items, &decisions->capacity,
								   decisions->n + 1, sizeof(SimdupDecision));
	decisions->items[decisions->n++] = (SimdupDecision){a, b, same};
}

/*
 * Make adjacency lists over 0 to n - 1 from the decisions of one kind, in their
 * order. With component, each element is replaced by its component.
 */
static uint32_t *
make_lists(const SimdupDecisions *decisions, bool same, uint32_t n,
		   const uint32_t *component, size_t *start)
{
	uint32_t *lists;

	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		if (d->same != same)
			continue;
		start[component ? component[d->a] : d->a]++;
		start[component ? component[d->b] : d->b]++;
	}
	for (size_t i = 0; i < n; i++)
		start[i + 1] += start[i];
	/* filled backwards, so that start comes down to where each list begins */
	lists = simdup_alloc((start[n] + 1) * sizeof(uint32_t));
	for (size_t i = decisions->n; i-- > 0;)
	{
		const SimdupDecision *d = &decisions->items[i];
		uint32_t a = component ? component[d->a] : d->a;
		uint32_t b = component ? component[d->b] : d->b;

		if (d->same != same)
			continue;
		lists[--start[a]] = b;
		lists[--start[b]] = a;
	}
	return lists;
}

void
simdup_decisions_settle(SimdupDecisions *decisions, uint32_t n,
						SimdupDecisions *passed)
{
	SimdupUnion u = {.n = n};
	size_t n_left = 0;

	u.parent = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	simdup_components_init(u.parent, n);
	for (size_t i = 0; i < decisions->n; i++)
	{
		SimdupDecision d = decisions->items[i];
		bool together = simdup_component_root(u.parent, d.a) ==
						simdup_component_root(u.parent, d.b);

		simdup_check_interrupts_at(i);
		if (d.same ? !together && !simdup_union_may_join(&u, d.a, d.b)
				   : together)
		{
			simdup_decisions_add(passed, d.a, d.b, d.same);
			continue;
		}
		decisions->items[n_left++] = d;
		if (!d.same)
			simdup_union_cannot_link(&u, d.a, d.b);
		else if (!together)
			simdup_union_join(&u, d.a, d.b);
	}
	decisions->n = n_left;
	simdup_union_free(&u);
	simdup_free(u.parent);
}

const SimdupDecision *
simdup_constraints_find(SimdupConstraints *constraints, uint32_t n,
						const SimdupDecisions *decisions)
{
	*constraints = (SimdupConstraints){.n = n};
	constraints->component = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	simdup_components_init(constraints->component, n);
	for (size_t i = 0; i < decisions->n; i++)
	{
		simdup_check_interrupts_at(i);
		if (decisions->items[i].same)
			simdup_components_join(constraints->component,
								   decisions->items[i].a,
								   decisions->items[i].b);
	}
	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32_t i = 0; i < n; i++)
		constraints->component[i] =
			constraints->component[constraints->component[i]];
	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		if (d->same)
			continue;
		if (constraints->component[d->a] == constraints->component[d->b])
			return d;
		constraints->n_cannot_link += 2;
	}
	if (constraints->n_cannot_link > 0)
	{
		constraints->start = simdup_alloc0(((size_t) n + 1) * sizeof(size_t));
		constraints->cannot_link =
			make_lists(decisions, false, n, constraints->component,
					   constraints->start);
	}
	return NULL;
}

void
simdup_constraints_free(SimdupConstraints *constraints)
{
	simdup_free(constraints->component);
	simdup_free(constraints->start);
	simdup_free(constraints->cannot_link);
}

/* Breadth first, from b, so that the way back from a is in order. */
uint32_t
simdup_decisions_chain(const SimdupDecisions *decisions, uint32_t n, uint32_t a,
					   uint32_t b, uint32_t **chain)
{
	size_t *start = simdup_alloc0(((size_t) n + 1) * sizeof(size_t));
	uint32_t *lists = make_lists(decisions, true, n, NULL, start);
	uint32_t *queue = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t *next = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t n_queued = 1;
	uint32_t length = 0;

	for (uint32_t i = 0; i < n; i++)
		next[i] = NO_ELEMENT;
	queue[0] = b;
	next[b] = b;
	for (uint32_t i = 0; i < n_queued && next[a] == NO_ELEMENT; i++)
	{
		simdup_check_interrupts_at(i);
		for (size_t j = start[queue[i]]; j < start[queue[i] + 1]; j++)
		{
			if (next[lists[j]] != NO_ELEMENT)
				continue;
			next[lists[j]] = queue[i];
			queue[n_queued++] = lists[j];
		}
	}
	if (next[a] != NO_ELEMENT)
	{
		queue[length++] = a;
		while (queue[length - 1] != b)
		{
			queue[length] = next[queue[length - 1]];
			length++;
		}
	}
	*chain = queue;
	simdup_free(next);
	simdup_free(lists);
	simdup_free(start);
	return length;
}
