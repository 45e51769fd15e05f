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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Check whether a pair counts that differs in the bits of x. */
static inline bool
simdup_on_path(const SimdupPairPath *path, uint64_t x)
{
	if (x & path->same)
		return false;
	for (int i = 0; i < path->n_skipped; i++)
		if (!(x & path->skipped[i]))
			return false;
	return true;
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

typedef struct SimdupBalls SimdupBalls; /* see core/join/balls.h */

/* Others who help with a join: processes that share memory. */
typedef struct SimdupHelpers
{
	/* Return memory that is shared, or NULL if there is no help. */
	void *(*begin)(void *arg, size_t size);
	/* Join all tiles, those of helpers included, and report in their order. */
	void (*run)(void *arg, SimdupBalls *balls);
	void (*end)(void *arg);
	void *arg;
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
 * A set of elements with distinct fingerprints, and as much room for moving them
 * about. The join leaves the same set in elements, in another order.
 */
typedef struct SimdupPairSet
{
	SimdupElement *elements;
	SimdupElement *scratch;
	size_t n; /* below 2^32 */
} SimdupPairSet;

/*
 * Join one set, or two, by the recursion alone. A self join has in b the positions
 * of a, and no elements.
 */
extern void simdup_join_by_recursion(SimdupPairJoin *join, bool cross,
									 SimdupPairSet a, SimdupPairSet b);

/* Return what that costs in nanoseconds, and the bits that vary. */
extern double simdup_recursion_cost(SimdupPairJoin *join, bool cross,
									SimdupPairSet a, SimdupPairSet b,
									uint64_t *varying);

#endif /* SIMDUP_CORE_JOIN_ALLPAIRS_H */
