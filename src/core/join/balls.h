/*
 * balls.h
 *	  A join by balls in tiles, which helpers share.
 */
#ifndef SIMDUP_CORE_JOIN_BALLS_H
#define SIMDUP_CORE_JOIN_BALLS_H

#include "core/join/allpairs.h"

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
