/*
 * balls.h
 *	  The join of all pairs, and its tiles, which helpers share.
 */
#ifndef SIMDUP_CORE_JOIN_BALLS_H
#define SIMDUP_CORE_JOIN_BALLS_H

#include "core/join/ball_parts.h"

/*
 * Report all pairs of a, where b is NULL, or in a cross join those of one from
 * each set, except equal ones. Do it by what is cheaper: balls (balls.c), or the
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

/* The pairs of a tile come in the same order from everyone. */

/* Receives a pair, as numbers that only the one who began the join can read. */
typedef void (*SimdupPairPut)(void *arg, uint32_t a, uint32_t b);

/* Return the number of tiles. */
extern uint32_t simdup_balls_tiles(const SimdupBalls *balls);

extern void simdup_balls_join(SimdupBalls *balls, uint32_t tile,
							  SimdupPairPut put, void *arg);

/* Give a pair to the join, which is `balls`: a SimdupPairPut. */
extern void simdup_balls_report(void *balls, uint32_t a, uint32_t b);

/* Return what a helper joins by, from the shared memory. */
extern SimdupBalls *simdup_balls_help(void *memory);

#endif /* SIMDUP_CORE_JOIN_BALLS_H */
