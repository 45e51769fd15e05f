/*
 * balls.h
 *	  The all-pairs join by balls of buckets, as core/allpairs.c chooses it.
 */
#ifndef SIMDUP_CORE_BALLS_H
#define SIMDUP_CORE_BALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/allpairs.h"

/*
 * Join one set, or two, by balls of buckets, and return true. Return false if
 * another way, which takes other_cost nanoseconds, is cheaper. varying has the
 * bits in which the fingerprints differ. The elements stay where they are; the
 * scratch is used.
 */
extern bool simdup_join_by_balls(SimdupPairJoin *join, bool cross,
								 SimdupPairSet a, SimdupPairSet b,
								 uint64_t varying, double other_cost);

/*
 * The vector instructions that compare fingerprints: of those that the processor
 * has, the widest up to a limit, which tests lower.
 */
typedef enum SimdupInstructions
{
	SIMDUP_PLAIN,
	SIMDUP_POPCNT,
	SIMDUP_AVX2,
	SIMDUP_AVX512
} SimdupInstructions;

extern SimdupInstructions simdup_widest_instructions;

/* Pairs of two buckets from which on these are a join of their own. */
extern uint64_t simdup_many_pairs;

/* Return the instructions that joins use. */
extern SimdupInstructions simdup_instructions(void);

#endif /* SIMDUP_CORE_BALLS_H */
