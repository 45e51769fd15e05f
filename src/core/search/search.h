/*
 * search.h
 *	  How a Hamming search is split over the four rotations of a fingerprint, and
 *	  the search in a page of an index.
 *
 * Rotation i is the fingerprint rotated so that its block i, 16 bits, stands in
 * front. Generalised pigeonhole: let radii r[i] >= -1 satisfy
 * sum(r[i] + 1) > k. Two fingerprints within distance k differ, for some i, in
 * at most r[i] bits of block i. So a search reads, in the order of rotation i,
 * the values whose first block is within r[i] of the center's. A radius of -1
 * skips a rotation; a radius of 16 reads all of it and is complete alone.
 */
#ifndef SIMDUP_CORE_SEARCH_SEARCH_H
#define SIMDUP_CORE_SEARCH_SEARCH_H

#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"

#define SIMDUP_ROTATIONS 4
#define SIMDUP_BLOCK_BITS 16

#define SIMDUP_BLOCKS (1 << SIMDUP_BLOCK_BITS)

/* Most buckets in a rotation's histogram. */
#define SIMDUP_BUCKETS 512

/* Neighbouring blocks, all in one bucket, that share a prefix. */
typedef struct SimdupBlockRange
{
	uint16_t first;
	uint8_t bits;  /* below the prefix */
	uint16_t part; /* of the bucket's pages, in SIMDUP_WHOLE_BUCKET */
} SimdupBlockRange;

#define SIMDUP_WHOLE_BUCKET 256

/*
 * An equi-depth histogram of a rotation: every bucket has the same number of
 * pages. Bucket j holds the blocks from bounds[j] to bounds[j + 1], the last
 * one those up to 0xffff.
 */
typedef struct SimdupHistogram
{
	int n_buckets;
	double pages; /* in one bucket */
	uint16_t bounds[SIMDUP_BUCKETS];
	int n_ranges;
	int least_bits; /* of all ranges */
	int most_bits;
	SimdupBlockRange ranges[2 * SIMDUP_BUCKETS];
	/* pages read of a bucket, by its free bits and t more bits */
	double within[SIMDUP_BLOCK_BITS + 1][SIMDUP_BLOCK_BITS + 1];
} SimdupHistogram;

/* Pages that a radius reads in a rotation, radius 0 to 16. */
typedef double SimdupPageCosts[SIMDUP_BLOCK_BITS + 1];

static inline uint64_t
simdup_rotate(uint64_t fp, int i)
{
	return simdup_rotate64(fp, 16 * (i + 1) & 63);
}

static inline uint64_t
simdup_unrotate(uint64_t value, int i)
{
	return simdup_rotate64(value, 16 * (3 - i) & 63);
}

/* Return the first block of a rotated value. */
static inline uint32_t
simdup_first_block(uint64_t value)
{
	return (uint32_t) (value >> 48);
}

/*
 * Check whether rotation i reports a fingerprint that differs from the center
 * in these bits. The first rotation whose radius it meets does, and no other.
 */
static inline bool
simdup_reports(int i, uint64_t difference, const int *radii)
{
	for (int j = 0; j < i; j++)
		if (simdup_popcount64(difference >> 16 * j & 0xffff) <= radii[j])
			return false;
	return simdup_popcount64(difference >> 16 * i & 0xffff) <= radii[i];
}

/* Return the part of all numbers of `bits` bits that are within distance k of one. */
extern double simdup_ball_fraction(int bits, int k);

/* Return the number of blocks within radius 0 to 16 of any. */
extern int simdup_count_near(int radius);

/* Store the blocks within radius 0 to 16 of the center, ascending; their number. */
extern int simdup_near_blocks(uint32_t center, int radius, uint16_t *blocks);

/* Fill in all but the buckets, from these. */
extern void simdup_finish_histogram(SimdupHistogram *histogram);

/*
 * Set costs to the expected pages of each radius around a block, up to the
 * largest. Larger radii cost infinity.
 */
extern void simdup_page_costs(const SimdupHistogram *histogram, uint32_t block,
							  int largest, SimdupPageCosts costs);

/* Set costs to those of uniformly distributed values on these pages. */
extern void simdup_uniform_page_costs(double pages, SimdupPageCosts costs);

/*
 * Find the cheapest complete radii for distance k, and return their pages. A
 * rotation read as a whole is complete alone and comes at the price of radius
 * 16.
 */
extern double simdup_choose_radii(int k, const SimdupPageCosts *costs,
								  int *radii);

/* Pages, whose values are sorted but for a tail */

/* Longest list of values that simdup_find_near takes. */
#define SIMDUP_MAX_FOUND 4096

/*
 * Find the positions of the values within radius of the center, ascending.
 * Return their number. The list is of one page, n at most SIMDUP_MAX_FOUND.
 */
extern int simdup_find_near(const uint64_t *values, int n, uint64_t center,
							int radius, uint16_t *found);

/*
 * Find the same among ascending values that begin with one of the blocks. The
 * blocks ascend. No value is above `high`.
 */
extern int simdup_find_in_blocks(const uint64_t *values, int n, uint64_t high,
								 const uint16_t *blocks, int n_blocks,
								 uint64_t center, int radius, uint16_t *found);

/*
 * Return the probable position of a value among n ascending ones from `low` to
 * `high`, if they are evenly spread.
 */
static inline int
simdup_guess_position(uint64_t value, uint64_t low, uint64_t high, int n)
{
	if (value <= low || high <= low)
		return 0;
	if (value >= high)
		return n;
	return (int) ((double) (value - low) / (double) (high - low) * n);
}

/*
 * Return the first position from `from` on of ascending values where the value is
 * not below this one, or n. The guess is where it may be.
 */
extern int simdup_first_not_below(const uint64_t *values, int from, int n,
								  uint64_t value, int guess);

/* Compute the distance of each value from the center. */
extern void simdup_distances(const uint64_t *values, int n, uint64_t center,
							 uint8_t *distances);

#endif /* SIMDUP_CORE_SEARCH_SEARCH_H */
