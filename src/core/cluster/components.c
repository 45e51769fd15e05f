/*
 * components.c
 *	  Decisions, and components that cannot-links keep apart.
 *
 * Pairs of roots with a cannot-link are in a set. The root with the shorter list
 * of cannot-links becomes the child of the other. Its list is walked, to add pairs
 * of the other root. So an entry of a list is walked as often as its list at least
 * doubles.
 */
#include "core/cluster/components.h"

#define NONE UINT32_MAX

/* Components */

/* Return two roots as an element of a set of pairs. */
static uint64_t
pair_of(uint32_t a, uint32_t b)
{
	return ((uint64_t) (a < b ? a : b) << 32 | (a < b ? b : a)) + 1;
}

static void
add_link(SimdupLinkLists *of, uint32_t from, uint32_t to)
{
	SimdupLinks *list = &of->lists[from];
	uint32_t link = (uint32_t) of->n++;

	of->links = simdup_grow(of->links, &of->size, of->n, sizeof(SimdupLink));
	of->links[link] = (SimdupLink){to, list->n > 0 ? list->first : NONE};
	list->first = link;
	list->n++;
}

/* Add a link to the lists of two of n elements, at their beginning. */
static void
add_links(SimdupLinkLists *of, uint32_t n, uint32_t a, uint32_t b)
{
	if (of->lists == NULL)
		of->lists = simdup_alloc0(n * sizeof(SimdupLinks));
	add_link(of, a, b);
	add_link(of, b, a);
}

void
simdup_constraints_add(SimdupConstraints *constraints, uint32_t a, uint32_t b)
{
	a = simdup_component_root(constraints->component, a);
	b = simdup_component_root(constraints->component, b);
	if (simdup_wordset_add(&constraints->root_pairs, pair_of(a, b)))
		add_links(&constraints->cannot_links, constraints->n, a, b);
}

bool
simdup_constraints_may_join(SimdupConstraints *constraints, uint32_t a,
							uint32_t b)
{
	a = simdup_component_root(constraints->component, a);
	b = simdup_component_root(constraints->component, b);
	return a != b &&
		   !simdup_wordset_has(&constraints->root_pairs, pair_of(a, b));
}

void
simdup_constraints_join(SimdupConstraints *constraints, uint32_t a, uint32_t b)
{
	uint32_t *parent = constraints->component;
	uint32_t root = simdup_component_root(parent, a);
	uint32_t child = simdup_component_root(parent, b);
	SimdupLinks *lists = constraints->cannot_links.lists;
	SimdupLink *links = constraints->cannot_links.links;
	uint32_t *link;

	if (lists == NULL ? child < root : lists[root].n < lists[child].n)
	{
		uint32_t swap = root;

		root = child;
		child = swap;
	}
	parent[child] = root;
	if (lists == NULL || lists[child].n == 0)
		return;
	for (link = &lists[child].first; *link != NONE; link = &links[*link].next)
	{
		uint32_t other = simdup_component_root(parent, links[*link].element);

		(void) simdup_wordset_add(&constraints->root_pairs,
								  pair_of(root, other));
	}
	/* the child's list goes before that of the root */
	*link = lists[root].first;
	lists[root].first = lists[child].first;
	lists[root].n += lists[child].n;
}

static SimdupConstraints
no_constraints(uint32_t n)
{
	SimdupConstraints constraints = {.n = n};

	constraints.component = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	simdup_components_init(constraints.component, n);
	return constraints;
}

const SimdupDecision *
simdup_constraints_find(SimdupConstraints *constraints, uint32_t n,
						uint32_t n_rows, const SimdupDecisions *decisions)
{
	uint32_t *component;

	*constraints = no_constraints(n);
	component = constraints->component;
	for (size_t i = 0; i < decisions->n; i++)
	{
		simdup_check_interrupts_at(i);
		if (decisions->items[i].same)
			simdup_components_join(component, decisions->items[i].a,
								   decisions->items[i].b);
	}
	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32_t i = 0; i < n; i++)
		component[i] = component[component[i]];
	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		simdup_check_interrupts_at(i);
		if (d->same)
			continue;
		if (component[d->a] == component[d->b])
			return d;
		/* a component is named by its smallest element */
		if (component[d->a] < n_rows && component[d->b] < n_rows)
			simdup_constraints_add(constraints, d->a, d->b);
	}
	return NULL;
}

static void
free_links(SimdupLinkLists *of)
{
	simdup_free(of->lists);
	simdup_free(of->links);
}

void
simdup_constraints_free(SimdupConstraints *constraints)
{
	simdup_wordset_free(&constraints->root_pairs);
	simdup_free(constraints->component);
	free_links(&constraints->cannot_links);
}

/* Decisions */

void
simdup_decisions_add(SimdupDecisions *decisions, uint32_t a, uint32_t b,
					 bool same)
{
	decisions->items = simdup_grow(decisions->items, &decisions->capacity,
								   decisions->n + 1, sizeof(SimdupDecision));
	decisions->items[decisions->n++] = (SimdupDecision){a, b, same};
}

void
simdup_decisions_resolve(SimdupDecisions *decisions, uint32_t n,
						 SimdupDecisions *passed)
{
	SimdupConstraints constraints = no_constraints(n);
	size_t n_left = 0;

	for (size_t i = 0; i < decisions->n; i++)
	{
		SimdupDecision d = decisions->items[i];
		bool together = simdup_component_root(constraints.component, d.a) ==
						simdup_component_root(constraints.component, d.b);

		simdup_check_interrupts_at(i);
		if (d.same ? !together &&
						 !simdup_constraints_may_join(&constraints, d.a, d.b)
				   : together)
		{
			simdup_decisions_add(passed, d.a, d.b, d.same);
			continue;
		}
		decisions->items[n_left++] = d;
		if (!d.same)
			simdup_constraints_add(&constraints, d.a, d.b);
		else if (!together)
			simdup_constraints_join(&constraints, d.a, d.b);
	}
	decisions->n = n_left;
	simdup_constraints_free(&constraints);
}

/* Breadth first, from b, so that the way back from a is in order. */
uint32_t
simdup_decisions_chain(const SimdupDecisions *decisions, uint32_t n, uint32_t a,
					   uint32_t b, uint32_t **chain)
{
	SimdupLinkLists must_links = {0};
	size_t bytes = ((size_t) n + 1) * sizeof(uint32_t);
	uint32_t *queue = simdup_alloc(bytes);
	uint32_t *next = memset(simdup_alloc(bytes), 0xff, bytes);
	uint32_t n_queued = 1;
	uint32_t length = 0;

	/* the last first, so that each list is in the order of decisions */
	for (size_t i = decisions->n; i-- > 0;)
		if (decisions->items[i].same)
			add_links(&must_links, n, decisions->items[i].a,
					  decisions->items[i].b);
	queue[0] = b;
	next[b] = b;
	for (uint32_t i = 0; i < n_queued && next[a] == NONE; i++)
	{
		uint32_t link = NONE;

		if (must_links.lists != NULL && must_links.lists[queue[i]].n > 0)
			link = must_links.lists[queue[i]].first;

		simdup_check_interrupts_at(i);
		for (; link != NONE; link = must_links.links[link].next)
		{
			uint32_t element = must_links.links[link].element;

			if (next[element] != NONE)
				continue;
			next[element] = queue[i];
			queue[n_queued++] = element;
		}
	}
	if (next[a] != NONE)
		queue[length++] = a;
	for (; length > 0 && queue[length - 1] != b; length++)
		queue[length] = next[queue[length - 1]];
	*chain = queue;
	simdup_free(next);
	free_links(&must_links);
	return length;
}
