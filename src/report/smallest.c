/*
 * smallest.c
 *	  The smallest of many triples of numbers, in bounded memory.
 */
#include "postgres.h"
#include "compat.h"

#include "report/smallest.h"

static int
compare(const void *a, const void *b)
{
	const SimdupTriple *s = a;
	const SimdupTriple *t = b;

	if (s->x != t->x)
		return s->x < t->x ? -1 : 1;
	if (s->y != t->y)
		return s->y < t->y ? -1 : 1;
	return (s->z > t->z) - (s->z < t->z);
}

void
simdup_smallest_init(SimdupSmallest *list, uint32 limit)
{
	list->limit = limit;
	list->n = 0;
	list->full = false;
	list->triples = palloc(2 * (Size) limit * sizeof(SimdupTriple));
}

bool
simdup_smallest_add(SimdupSmallest *list, SimdupTriple triple)
{
	if (list->full && compare(&list->triples[list->limit - 1], &triple) <= 0)
		return false;
	list->triples[list->n++] = triple;
	if (list->n == 2 * list->limit)
	{
		simdup_smallest_finish(list);
		list->full = true;
	}
	return true;
}

void
simdup_smallest_finish(SimdupSmallest *list)
{
	qsort(list->triples, list->n, sizeof(SimdupTriple), compare);
	list->n = Min(list->n, list->limit);
}
