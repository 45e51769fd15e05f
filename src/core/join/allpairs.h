/*
 * allpairs.h
 *	  All pairs of fingerprints within a Hamming distance, each pair once.
 *
 * The join works on sets of distinct fingerprints: equal ones are one before
 * (see core/cluster/grouping.h), so ten thousand equal rows are one element
 * here. It reports pairs of elements through a callback and remembers none of
 * them.
 */
#ifndef SIMDUP_CORE_JOIN_ALLPAIRS_H
#define SIMDUP_CORE_JOIN_ALLPAIRS_H

#include "core/host.h"

/* Most conditions of one path: blocks a plan may skip, times nested plans. */
#define SIMDUP_MAX_SKIPPED 2048

/*
 * Which pairs count: those that agree in every bit of `same` and differ
 * somewhere in each of the skipped blocks. Zeroed, it takes every pair.
 */
typedef struct SimdupPairPath
{
	uint64_t same;
	int n_skipped;
	uint64_t skipped[SIMDUP_MAX_SKIPPED];
} SimdupPairPath;

/* Check whether x has a bit in each of the blocks that the path skipped. */
static inline bool
simdup_differs_in_skipped(const SimdupPairPath *path, uint64_t x)
{
	for (int i = 0; i < path->n_skipped; i++)
		if (!(x & path->skipped[i]))
			return false;
	return true;
}

/* Check whether a pair counts that differs in the bits of x. */
static inline bool
simdup_pair_counts(const SimdupPairPath *path, uint64_t x)
{
	return (x & path->same) == 0 && simdup_differs_in_skipped(path, x);
}

/*
 * A fingerprint, and the index by which the caller knows it. Moving the index
 * about makes the join of a million elements 40 % dearer (make bench
 * PART=batch). Finding it again for each reported pair, by binary search, cost
 * as much at one pair for ten elements, and twice the join at four pairs each.
 */
typedef struct SimdupElement
{
	uint64_t fp;
	uint64_t index;
} SimdupElement;

/*
 * A set of elements with distinct fingerprints, and as much room for moving them
 * about. The join leaves the same set in elements, in another order.
 */
typedef struct SimdupPairSet
{
	SimdupElement *elements;
	SimdupElement *scratch;
	uint32_t n;
} SimdupPairSet;

typedef struct SimdupTileWorker SimdupTileWorker; /* see balls.c */

/* Helpers of a join: processes that share memory. */
typedef struct SimdupHelpers
{
	/* Return memory that is shared, or NULL if there is no help. */
	void *(*begin)(void *arg, size_t size);
	/* Join all tiles, those of helpers included, and report their pairs. */
	void (*run)(void *arg, SimdupTileWorker *balls);
	void (*end)(void *arg);
	void *arg;
	int n_launched; /* the most that helped with a join */
} SimdupHelpers;

typedef struct SimdupPairJoin
{
	int max_distance; /* 0 to SIMDUP_MAX_PAIR_DISTANCE */
	/* Receives each pair once; in a cross join a comes from the first set. */
	void (*sink)(void *arg, SimdupElement a, SimdupElement b);
	/* Where not NULL: called now and then with the share done, 0 to 1. */
	void (*progress)(void *arg, double done);
	void *arg;
	SimdupPairPath path;
	const SimdupHelpers *helpers; /* or NULL */
	int n_nested;				  /* joins that this one is a part of */
} SimdupPairJoin;

/*
 * Return about how many nanoseconds the join of n random fingerprints takes, or
 * that of n and m ones. m is 0 for a self join.
 */
extern double simdup_pair_join_cost(int max_distance, double n, double m);

/* Report all pairs of a, or those of one from each set, by the recursion alone. */
extern void simdup_join_by_recursion(SimdupPairJoin *join, SimdupPairSet a,
									 const SimdupPairSet *b);

/* Return the cost of the recursion in nanoseconds, and the bits that vary. */
extern double simdup_recursion_cost(const SimdupPairJoin *join, SimdupPairSet a,
									const SimdupPairSet *b, uint64_t *varying);

/* Pairs of two buckets from which on these are a join of their own. */
extern uint64_t simdup_many_pairs;

/* Check for interrupts, once for some million comparisons. */
static inline void
simdup_count_work(uint64_t *unchecked, uint64_t amount)
{
	*unchecked += amount;
	if (*unchecked >= 1000000)
	{
		*unchecked = 0;
		simdup_check_interrupts();
	}
}

/* Turn the counts of n buckets into their starts, the first of which is `start`. */
static inline void
simdup_sum_up(uint32_t *counts, uint32_t n, uint32_t start)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t count = counts[i];

		counts[i] = start;
		start += count;
	}
}

#endif /* SIMDUP_CORE_JOIN_ALLPAIRS_H */
