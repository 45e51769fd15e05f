/*
 * simhash64.h
 *	  The fingerprint type as C sees it: a uint64 passed by value, like int8; and
 *	  simhash_ball, all fingerprints within a Hamming distance of a center.
 */
#ifndef SIMDUP_TYPE_SIMHASH64_H
#define SIMDUP_TYPE_SIMHASH64_H

#include "core/fingerprint/hamming.h"

/* Bits in a fingerprint, and so the largest Hamming distance. */
#define SIMHASH64_BITS 64

static inline uint64
DatumGetSimhash64(Datum d)
{
	return (uint64) DatumGetInt64(d);
}

static inline Datum
Simhash64GetDatum(uint64 fp)
{
	return Int64GetDatum((int64) fp);
}

#define PG_GETARG_SIMHASH64(n) DatumGetSimhash64(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH64(fp) return Simhash64GetDatum(fp)

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

#endif /* SIMDUP_TYPE_SIMHASH64_H */
