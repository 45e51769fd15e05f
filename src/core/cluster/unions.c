/*
 * unions.c
 *	  Sets of elements that are united, unless a cannot-link forbids it.
 *
 * The sets are the roots of a union-find. Pairs of roots with a cannot-link
 * are in a set. Each root has a list of the elements it has cannot-links to.
 * The root with the shorter list becomes the child of the other. Its list is
 * walked, to add pairs of the other root. So an entry of a list is walked as
 * often as its list at least doubles.
 */
#include "core/cluster/components.h"
#include "core/cluster/unions.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"

#define NO_ENTRY UINT32_MAX

/* The elements that a root cannot be linked with: entries, linked by next. */
typedef struct SimdupCannotLinkList
{
	uint32_t n;
	uint32_t first;
	uint32_t last;
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
	u->entries[entry] = (SimdupCannotLinkEntry){element, NO_ENTRY};
	if (list->n++ == 0)
		list->first = entry;
	else
		u->entries[list->last].next = entry;
	list->last = entry;
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
	const SimdupCannotLinkList *from;

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
	from = &u->lists[child];
	for (uint32_t i = from->first; i != NO_ENTRY; i = u->entries[i].next)
		(void) simdup_wordset_add(&u->cannot_link,
								  pair_of(root,
										  simdup_component_root(u->parent,
																u->entries[i]
																	.element)));
	u->entries[to->last].next = from->first;
	to->last = from->last;
	to->n += from->n;
}

void
simdup_union_free(SimdupUnion *u)
{
	simdup_wordset_free(&u->cannot_link);
	simdup_free(u->lists);
	simdup_free(u->entries);
}
