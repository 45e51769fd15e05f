/*
 * allpairs.h
 *	  All pairs, each once: of fingerprints within a Hamming distance, and of sets
 *	  that resemble each other.
 */
#ifndef SIMDUP_CORE_ALLPAIRS_H
#define SIMDUP_CORE_ALLPAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "core/hamming.h"

/*
 * All pairs of fingerprints within a Hamming distance, each pair once.
 *
 * The join works on sets of distinct fingerprints: equal ones are grouped
 * before (see group.h), so ten thousand equal rows are one element here. It
 * reports pairs of elements through a callback and remembers none of them.
 */

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

typedef struct SimdupBalls SimdupBalls; /* see core/balls.h */

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
 * Join one set, or two, by the recursion alone. A self join has in b the places
 * of a, and no elements.
 */
extern void simdup_join_by_recursion(SimdupPairJoin *join, bool cross,
									 SimdupPairSet a, SimdupPairSet b);

/* Return what that costs in nanoseconds, and the bits that vary. */
extern double simdup_recursion_cost(SimdupPairJoin *join, bool cross,
									SimdupPairSet a, SimdupPairSet b,
									uint64_t *varying);

/*
 * Cut the bits of `varying` into n blocks (masks) of like entropy, which
 * ones[bit] of n_sampled fingerprints tell. varying has n bits or more.
 */
extern void simdup_cut_blocks(uint64_t varying, const uint32_t *ones,
							  uint32_t n_sampled, int n, uint64_t *blocks);

/*
 * All pairs of sets whose resemblance reaches a threshold.
 *
 * Elements are ranks: numbers from 0 in the order of rarity, the rarest first.
 * An element that only one set has needs no rank; the set's size counts it.
 */

/* The number of ranks fits 32 bits, and one value stays free. */
#define SIMDUP_MAX_RANKS (UINT32_MAX - 1)

/* Copy the ranks of a set, ascending, to a buffer. */
typedef void (*SimdupSetReader)(void *arg, uint32_t set, uint32_t *ranks);

/* Receives the number of elements that sets a and b, a < b, share. */
typedef void (*SimdupSetPairSink)(void *arg, uint32_t a, uint32_t b,
								  uint32_t common);

/* Receives how many of all sets have met all others of this pass. */
typedef void (*SimdupSetProgress)(void *arg, uint32_t done, uint32_t total);

/* Sets are numbered from 0 in ascending order of size. */
typedef struct SimdupSetJoin
{
	uint32_t n;				 /* sets */
	const uint32_t *sizes;	 /* elements of each, 1 or more */
	const uint32_t *n_ranks; /* those among them that have a rank */
	uint32_t all_ranks;		 /* every rank is below */
	uint32_t common_from;	 /* ranks from here on are worth a bitmap */
	SimdupSetReader read;
	SimdupSetPairSink sink;
	SimdupSetProgress progress; /* or NULL */
	void *arg;					/* of the three callbacks */
} SimdupSetJoin;

/*
 * Return the least number of n sets that makes an element worth a bit in every
 * set's bitmap. Bitmaps then take no more memory than the ranks do.
 */
extern uint32_t simdup_set_join_common(uint32_t n);

/*
 * Report every pair whose resemblance, the quotient of two doubles, is at
 * least min_resemblance (above 0, at most 1), once. Use `memory` bytes, or
 * as many as the two largest sets take.
 */
extern void simdup_set_join(const SimdupSetJoin *join, double min_resemblance,
							size_t memory);

#endif /* SIMDUP_CORE_ALLPAIRS_H */
