/*
 * pairorder.h
 *	  Pairs of numbers put in order, in place.
 */
#ifndef SIMDUP_CORE_PAIRORDER_H
#define SIMDUP_CORE_PAIRORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SimdupPair
{
	uint64_t first;
	uint64_t second;
} SimdupPair;

static inline bool
simdup_pair_less(const SimdupPair *a, const SimdupPair *b)
{
	return a->first < b->first ||
		   (a->first == b->first && a->second < b->second);
}

/* Sort by first and then second, ascending. */
extern void simdup_order_pairs(SimdupPair *pairs, size_t n);

#endif /* SIMDUP_CORE_PAIRORDER_H */
