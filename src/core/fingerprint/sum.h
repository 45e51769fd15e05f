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
 * one word. Hashes of one binary digit of weight wait until there are sixteen.
 * A tree of carry-save adders takes these together, so a feature costs about
 * five word operations instead of 64 additions.
 *
 * Sums are exact up to a total weight of 2^127.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_SUM_H
#define SIMDUP_CORE_FINGERPRINT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Binary digits of a weight, and of a sum of weights. */
#define SIMDUP_SUM_DIGITS 64
#define SIMDUP_SUM_PLANES 128

/* Hashes that go through the adders together. */
#define SIMDUP_SUM_BATCH 16

/* The counters themselves: about a kilobyte, to keep and to combine. */
typedef struct SimdupCounters
{
	uint64_t total_low; /* sum of all weights, 128 bits */
	uint64_t total_high;
	uint64_t planes[SIMDUP_SUM_PLANES];
} SimdupCounters;

/* Counters with hashes on their way to them: for one text at full speed. */
typedef struct SimdupSum
{
	SimdupCounters counts;
	uint8_t waiting[SIMDUP_SUM_DIGITS]; /* hashes waiting, per digit */
	uint64_t batch[SIMDUP_SUM_DIGITS][SIMDUP_SUM_BATCH];
} SimdupSum;

/* Add one feature to counters, which start as all zeros. */
extern void simdup_counters_add(SimdupCounters *counts, uint64_t hash,
								uint64_t weight);

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

extern void simdup_sum_init(SimdupSum *sum);

/* Take the full batch of one digit into the planes. */
extern void simdup_sum_flush_digit(SimdupSum *sum, int digit);

/* Empty the batches: from here on the counters tell. Returns them. */
extern SimdupCounters *simdup_sum_finish(SimdupSum *sum);

static inline void
simdup_counters_add_total(SimdupCounters *counts, uint64_t weight)
{
	counts->total_low += weight;
	counts->total_high += counts->total_low < weight;
}

static inline void
simdup_sum_add_digit(SimdupSum *sum, uint64_t hash, int digit)
{
	sum->batch[digit][sum->waiting[digit]++] = hash;
	if (sum->waiting[digit] == SIMDUP_SUM_BATCH)
		simdup_sum_flush_digit(sum, digit);
}

/* Add n features of weight 1. */
extern void simdup_sum_add_ones(SimdupSum *sum, const uint64_t *hashes, int n);

/* Add one feature. */
static inline void
simdup_sum_add(SimdupSum *sum, uint64_t hash, uint64_t weight)
{
	simdup_counters_add_total(&sum->counts, weight);
	while (weight != 0)
	{
		simdup_sum_add_digit(sum, hash, __builtin_ctzll(weight));
		weight &= weight - 1;
	}
}

#endif /* SIMDUP_CORE_FINGERPRINT_SUM_H */
