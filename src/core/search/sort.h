/*
 * sort.h
 *	  Entries, which are pairs of numbers, and the sort of the whole module.
 */
#ifndef SIMDUP_CORE_SEARCH_SORT_H
#define SIMDUP_CORE_SEARCH_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * In a Hamming index, a rotated fingerprint and its row. Entries are ordered by
 * both: no two are equal, so any number of equal fingerprints can be parted between
 * pages. Batches sort other pairs of numbers as entries, which may be equal.
 */
typedef struct SimdupSortItem
{
	uint64_t value;
	uint64_t row; /* block number and offset of a TID, 48 bits */
} SimdupSortItem;

static inline bool
simdup_item_less(const SimdupSortItem *a, const SimdupSortItem *b)
{
	return a->value < b->value || (a->value == b->value && a->row < b->row);
}

/* Sort entries. Checks for interrupts. */
extern void simdup_sort_pairs(SimdupSortItem *entries, size_t n);

#endif /* SIMDUP_CORE_SEARCH_SORT_H */
