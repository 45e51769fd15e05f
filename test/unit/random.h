/*
 * random.h
 *	  Reproducible random numbers for tests and benchmarks: splitmix64.
 */
#ifndef SIMDUP_UNIT_RANDOM_H
#define SIMDUP_UNIT_RANDOM_H

#include <stdint.h>

/* The next number of the sequence of a state, which may start as any number. */
static inline uint64_t
next_random_of(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif /* SIMDUP_UNIT_RANDOM_H */
