/*
 * balls.h
 *	  The all-pairs join, by balls of buckets where that is cheaper.
 */
#ifndef SIMDUP_CORE_JOIN_BALLS_H
#define SIMDUP_CORE_JOIN_BALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/join/allpairs.h"

/* Report all pairs of one set, by what is cheaper: balls, or allpairs.c alone. */
extern void simdup_pairs_self(SimdupPairJoin *join, SimdupPairSet set);

/* Report all pairs of one from each set, except equal ones. */
extern void simdup_pairs_cross(SimdupPairJoin *join, SimdupPairSet a,
							   SimdupPairSet b);

/*
 * A join in tiles, which several can share: SimdupHelpers in
 * core/join/allpairs.h. The pairs of a tile come in the same order from
 * everyone.
 */

/* Receives a pair, as numbers that only who began the join can read. */
typedef void (*SimdupPairPut)(void *arg, uint32_t a, uint32_t b);

/* Return the number of tiles. */
extern uint32_t simdup_balls_tiles(const SimdupBalls *balls);

extern void simdup_balls_join(SimdupBalls *balls, uint32_t tile,
							  SimdupPairPut put, void *arg);

/* Give a pair to the join, which is `balls`: a SimdupPairPut. */
extern void simdup_balls_report(void *balls, uint32_t a, uint32_t b);

/* Return what a helper joins by, from the shared memory. */
extern SimdupBalls *simdup_balls_help(void *memory);

/* Pairs of two buckets from which on these are a join of their own. */
extern uint64_t simdup_many_pairs;

#endif /* SIMDUP_CORE_JOIN_BALLS_H */
