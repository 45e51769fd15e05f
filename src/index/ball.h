/*
 * ball.h
 *	  simhash_ball: all fingerprints within a Hamming distance of a center.
 */
#ifndef SIMDUP_INDEX_BALL_H
#define SIMDUP_INDEX_BALL_H

#include "core/hamming.h"
#include "type/simhash64.h"

/*
 * Every value in being has a radius of 0 to 64: all ways to make one check it.
 * The radius is as wide as the center so that no byte is padding, and equal
 * balls are equal bytes.
 */
typedef struct SimhashBall
{
	uint64 center;
	int64 radius;
} SimhashBall;

#define DatumGetSimhashBallP(d) ((SimhashBall *) DatumGetPointer(d))
#define PG_GETARG_SIMHASH_BALL_P(n) DatumGetSimhashBallP(PG_GETARG_DATUM(n))

static inline bool
simhash_radius_is_valid(int64 radius)
{
	return radius >= 0 && radius <= SIMHASH64_BITS;
}

static inline bool
simhash_ball_has(const SimhashBall *ball, uint64 fp)
{
	return simdup_hamming64(ball->center, fp) <= ball->radius;
}

#endif /* SIMDUP_INDEX_BALL_H */
