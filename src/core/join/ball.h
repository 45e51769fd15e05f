/*
 * ball.h
 *	  The join of all pairs, by balls or else: its plan, how fingerprints are
 *	  compared, and its tiles, which helpers share. See balls.c.
 */
#ifndef SIMDUP_CORE_JOIN_BALL_H
#define SIMDUP_CORE_JOIN_BALL_H

#include "core/fingerprint/hamming.h"
#include "core/join/allpairs.h"

#define SIMDUP_MAX_BALL_BLOCKS 6
#define SIMDUP_MAX_KEY_BITS 28
/* Fingerprints per comparison; each list has this much readable slack. */
#define SIMDUP_COMPARED 32
#define SIMDUP_MAX_BALL 16384 /* buckets that one meets */

typedef struct SimdupBallBlock
{
	uint64_t mask; /* its bits */
	uint64_t key;  /* those of them that name a bucket */
	int key_bits;
	int radius;
} SimdupBallBlock;

typedef struct SimdupBallPlan
{
	int n_blocks;
	SimdupBallBlock blocks[SIMDUP_MAX_BALL_BLOCKS];
	double cost; /* nanoseconds */
} SimdupBallPlan;

/* Return the cheapest plan for a join: see simdup_pair_join. These bits vary. */
extern SimdupBallPlan simdup_plan_balls(int max_distance, SimdupPairSet a,
										const SimdupPairSet *b,
										uint64_t varying);

/* The low bits of a key, within a tile. */
#define SIMDUP_TILE_BITS 10

/* A set, and its fingerprints in the order of their keys. */
typedef struct SimdupSorted
{
	uint32_t n;
	uint64_t *codes;  /* and SIMDUP_COMPARED that can be read */
	uint32_t *starts; /* of each bucket; then n */
	/* these are not there for a helper */
	const SimdupElement *elements;
	uint32_t *positions; /* of the codes, in elements; in the set's scratch */
	const uint64_t *indexes; /* not NULL: of the codes, in place of these two */
} SimdupSorted;

/* Return the element of a code. */
static inline SimdupElement
simdup_element_at(const SimdupSorted *set, uint32_t code)
{
	return set->indexes != NULL
			   ? (SimdupElement){set->codes[code], set->indexes[code]}
			   : set->elements[set->positions[code]];
}

/* Sort a set by a block's key. */
extern void simdup_sort_by_key(const SimdupBallBlock *block, SimdupSorted *set);

/* A comparison of fingerprints, for a block. */
typedef struct SimdupComparison
{
	const SimdupBallPlan *plan;
	int block;
	int max_distance;
	/* Receives a near pair that this block, of all blocks, reports, by numbers. */
	void (*found)(void *arg, uint32_t i, uint32_t j);
	void *arg;
} SimdupComparison;

/* Check whether this block, of all blocks, reports a pair that differs by x. */
static inline bool
simdup_is_first_block(const SimdupComparison *c, uint64_t x)
{
	const SimdupBallBlock *block = c->plan->blocks;
	const SimdupBallBlock *current = block + c->block;

	for (; block < current; block++)
		if (simdup_popcount64(x & block->mask) <= block->radius)
			return false;
	return simdup_popcount64(x & block->mask) <= block->radius;
}

typedef struct SimdupComparer
{
	/* Compares n fingerprints with m others. */
	void (*compare)(const SimdupComparison *c, const uint64_t *own, uint32_t n,
					const uint64_t *run, uint32_t m);
	double cost; /* of a pair, in nanoseconds */
} SimdupComparer;

/* Return the comparer of the instruction set in use. */
extern const SimdupComparer *simdup_comparer(void);

/* Compare n fingerprints, each with each. */
extern void simdup_compare_within(const SimdupComparison *c,
								  const uint64_t *codes, uint32_t n);

/*
 * Report all pairs of a, where b is NULL, or in a cross join those of one from
 * each set, except equal ones. Take the cheaper way: balls (balls.c), or the
 * recursion alone.
 */
extern void simdup_pair_join(SimdupPairJoin *join, SimdupPairSet a,
							 const SimdupPairSet *b);

/*
 * A join of more sets than fit in memory, in which each is sorted once by each
 * block. Plan it by a sample that is as large as a set: false if other ways are
 * better. Then, for each block, join the sets in pairs, and each with itself (b is
 * NULL).
 */
extern bool simdup_plan_sorted(const SimdupPairJoin *join, SimdupPairSet sample,
							   SimdupBallPlan *plan);
extern void simdup_join_sorted(SimdupPairJoin *join, const SimdupBallPlan *plan,
							   int block, SimdupSorted a,
							   const SimdupSorted *b);

/* Receives a pair, as numbers that only the one who began the join can read. */
typedef void (*SimdupPairPut)(void *arg, uint32_t a, uint32_t b);

/* Return the number of tiles. */
extern uint32_t simdup_balls_tiles(const SimdupTileWorker *balls);

extern void simdup_balls_join(SimdupTileWorker *balls, uint32_t tile,
							  SimdupPairPut put, void *arg);

/* Give a pair to the join, which is `balls`: a SimdupPairPut. */
extern void simdup_balls_report(void *balls, uint32_t a, uint32_t b);

/* Return a helper's part of the join, from the shared memory. */
extern SimdupTileWorker *simdup_balls_help(void *memory);

#endif /* SIMDUP_CORE_JOIN_BALL_H */
