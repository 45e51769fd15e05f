/*
 * components.c
 *	  Components that cannot-links keep apart, and those of people's decisions.
 *
 * Pairs of roots with a cannot-link are in a set. Each root has a list of the
 * elements it has cannot-links to. The root with the shorter list becomes the child
 * of the other. Its list is walked, to add pairs of the other root. So an entry of
 * a list is walked as often as its list at least doubles.
 */
#include "core/cluster/components.h"
#include "core/host.h"

#define NO_ENTRY UINT32_MAX
#define NO_ELEMENT UINT32_MAX

/* The elements that a root cannot be linked with: entries, linked by next. */
typedef struct SimdupCannotLinkList
{
	uint32_t n;
	uint32_t first;
} SimdupCannotLinkList;

typedef struct SimdupCannotLinkEntry
{
	uint32_t element;
	uint32_t next;
} SimdupCannotLinkEntry;

/* Return two roots as an element of a set of pairs. */
static uint64_t
pair_of(uint32_t a, uint32_t b)
{
	return ((uint64_t) (a < b ? a : b) << 32 | (a < b ? b : a)) + 1;
}

static void
add_entry(SimdupUnion *u, uint32_t root, uint32_t element)
{
	SimdupCannotLinkList *list = &u->lists[root];
	uint32_t entry = (uint32_t) u->n_entries++;

	u->entries = simdup_grow(u->entries, &u->size, u->n_entries,
							 sizeof(SimdupCannotLinkEntry));
	u->entries[entry] =
		(SimdupCannotLinkEntry){element, list->n > 0 ? list->first : NO_ENTRY};
	list->first = entry;
	list->n++;
}

void
simdup_union_cannot_link(SimdupUnion *u, uint32_t a, uint32_t b)
{
	a = simdup_component_root(u->parent, a);
	b = simdup_component_root(u->parent, b);
	if (!simdup_wordset_add(&u->cannot_link, pair_of(a, b)))
		return;
	if (u->lists == NULL)
		u->lists = simdup_alloc0((size_t) u->n * sizeof(SimdupCannotLinkList));
	add_entry(u, a, b);
	add_entry(u, b, a);
}

bool
simdup_union_may_join(SimdupUnion *u, uint32_t a, uint32_t b)
{
	a = simdup_component_root(u->parent, a);
	b = simdup_component_root(u->parent, b);
	return a != b && !simdup_wordset_has(&u->cannot_link, pair_of(a, b));
}

void
simdup_union_join(SimdupUnion *u, uint32_t a, uint32_t b)
{
	uint32_t root = simdup_component_root(u->parent, a);
	uint32_t child = simdup_component_root(u->parent, b);
	SimdupCannotLinkList *to;
	uint32_t *entry; /* where the next one of the child's list stands */

	if (u->lists == NULL ? child < root : u->lists[root].n < u->lists[child].n)
	{
		uint32_t swap = root;

		root = child;
		child = swap;
	}
	u->parent[child] = root;
	if (u->lists == NULL || u->lists[child].n == 0)
		return;
	to = &u->lists[root];
	for (entry = &u->lists[child].first; *entry != NO_ENTRY;
		 entry = &u->entries[*entry].next)
	{
		uint32_t other =
			simdup_component_root(u->parent, u->entries[*entry].element);

		(void) simdup_wordset_add(&u->cannot_link, pair_of(root, other));
	}
	*entry = to->first;
	to->first = u->lists[child].first;
	to->n += u->lists[child].n;
}

void
simdup_union_free(SimdupUnion *u)
{
	simdup_wordset_free(&u->cannot_link);
	simdup_free(u->lists);
	simdup_free(u->entries);
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

/*
 * Make adjacency lists over 0 to n - 1 from the decisions of one kind, in their
 * order. Each element is replaced by its component.
 */
static uint32_t *
make_lists(const SimdupDecisions *decisions, bool same, uint32_t n,
		   const uint32_t *component, size_t *start)
{
	uint32_t *lists;

	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		start[component[d->a]] += d->same == same;
		start[component[d->b]] += d->same == same;
	}
	for (size_t i = 0; i < n; i++)
		start[i + 1] += start[i];
	/* filled backwards, so that start comes down to where each list begins */
	lists = simdup_alloc((start[n] + 1) * sizeof(uint32_t));
	for (size_t i = decisions->n; i-- > 0;)
	{
		const SimdupDecision *d = &decisions->items[i];

		if (d->same != same)
			continue;
		lists[--start[component[d->a]]] = component[d->b];
		lists[--start[component[d->b]]] = component[d->a];
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
	uint32_t *queue = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t *next = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t *lists;
	uint32_t n_queued = 1;
	uint32_t length = 0;

	simdup_components_init(next, n); /* each element for itself */
	lists = make_lists(decisions, true, n, next, start);
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
