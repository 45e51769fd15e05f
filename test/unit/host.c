/*
 * host.c
 *	  core/ on plain malloc, for unit tests and fuzz targets.
 */
#include <stdlib.h>

#include "core/host.h"
#include "core/search/sort.h"
#include "host.h"

size_t host_n_checks = 0;

static void *
or_abort(void *p)
{
	if (!p)
		abort();
	return p;
}

void *
simdup_alloc(size_t size)
{
	return or_abort(malloc(size ? size : 1));
}

void *
simdup_alloc0(size_t size)
{
	return or_abort(calloc(1, size ? size : 1));
}

void *
simdup_realloc(void *p, size_t size)
{
	return or_abort(realloc(p, size ? size : 1));
}

void
simdup_free(void *p)
{
	free(p);
}

void
simdup_sort(void *array, size_t n, size_t width,
			int (*compare)(const void *, const void *))
{
	if (n > 0)
		qsort(array, n, width, compare);
}

void
simdup_check_interrupts(void)
{
	host_n_checks++;
}

struct SimdupPairSort
{
	SimdupSortItem *pairs;
	size_t n;
	size_t room;
	size_t at;
};

SimdupPairSort *
simdup_pairsort_begin(int64_t memory)
{
	(void) memory;
	return simdup_alloc0(sizeof(SimdupPairSort));
}

void
simdup_pairsort_put(SimdupPairSort *sort, uint64_t first, uint64_t second)
{
	sort->pairs = simdup_grow(sort->pairs, &sort->room, sort->n + 1,
							  sizeof(SimdupSortItem));
	sort->pairs[sort->n++] = (SimdupSortItem){first, second};
}

void
simdup_pairsort_perform(SimdupPairSort *sort)
{
	simdup_sort_pairs(sort->pairs, sort->n);
}

bool
simdup_pairsort_get(SimdupPairSort *sort, uint64_t *first, uint64_t *second)
{
	if (sort->at == sort->n)
		return false;
	*first = sort->pairs[sort->at].value;
	*second = sort->pairs[sort->at++].row;
	return true;
}

void
simdup_pairsort_end(SimdupPairSort *sort)
{
	free(sort->pairs);
	free(sort);
}
