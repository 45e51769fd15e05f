/*
 * sum.h
 *	  The weighted sum of feature hashes, whose signs are a simhash.
 *
 * A simhash adds each feature's weight to 64 counters where the bit of its hash
 * is 1, and subtracts it where the bit is 0 (Charikar 2002). The signs are the
 * fingerprint. It is enough to count the ones: a counter is positive if and
 * only if the weight at its ones is more than half of the total.
 *
 * The 64 counts are bit-sliced: plane p holds binary digit p of all of them in
 * one word. A tree of carry-save adders takes sixteen hashes of weight 1 together,
 * so a hash costs about five word operations instead of 64 additions.
 *
 * Sums are exact up to a total weight of 2^127.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_SUM_H
#define SIMDUP_CORE_FINGERPRINT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Binary digits of a sum of weights. */
#define SIMDUP_SUM_PLANES 128

typedef struct SimdupCounters
{
	uint64_t total_low; /* sum of all weights, 128 bits */
	uint64_t total_high;
	uint64_t planes[SIMDUP_SUM_PLANES];
} SimdupCounters;

/* Add one feature to counters, which start as all zeros. */
extern void simdup_counters_add(SimdupCounters *counts, uint64_t hash,
								uint64_t weight);

/* Add n features of weight 1. */
extern void simdup_counters_add_ones(SimdupCounters *counts,
									 const uint64_t *hashes, int n);

/* Add all that other holds. */
extern void simdup_counters_merge(SimdupCounters *counts,
								  const SimdupCounters *other);

/*
 * Return the signs of the counters: bit i is 1 where its sum is positive, or
 * with ties where it is not negative.
 */
extern uint64_t simdup_counters_signs(const SimdupCounters *counts, bool ties);

/* Check whether no feature has added weight. */
static inline bool
simdup_counters_empty(const SimdupCounters *counts)
{
	return counts->total_low == 0 && counts->total_high == 0;
}

#endif /* SIMDUP_CORE_FINGERPRINT_SUM_H */
