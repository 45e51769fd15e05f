/*
 * setjoin.h
 *	  All pairs of sets whose resemblance reaches a threshold.
 *
 * Elements are ranks: numbers from 0 in the order of rarity, the rarest first.
 * An element that only one set has needs no rank; the set's size counts it.
 */
#ifndef SIMDUP_CORE_JOIN_SETJOIN_H
#define SIMDUP_CORE_JOIN_SETJOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of ranks fits 32 bits, and one value stays free. */
#define SIMDUP_MAX_RANKS (UINT32_MAX - 1)

/* Sets are numbered from 0 in ascending order of size. */
typedef struct SimdupSetJoin
{
	uint32_t n;				 /* sets */
	const uint32_t *sizes;	 /* elements of each, 1 or more */
	const uint32_t *n_ranks; /* those among them that have a rank */
	uint32_t all_ranks;		 /* every rank is below */
	uint32_t common_from;	 /* ranks from here on are worth a bitmap */
	/* Copies the ranks of a set, ascending, to a buffer. */
	void (*read)(void *arg, uint32_t set, uint32_t *ranks);
	/* Where not NULL: tells whether two sets are a pair that is asked for. */
	bool (*is_pair)(void *arg, uint32_t a, uint32_t b);
	/* Receives each pair of sets, a < b. */
	void (*sink)(void *arg, uint32_t a, uint32_t b);
	/* Receives the share done, 0 to 1, which never falls. */
	void (*progress)(void *arg, double done);
	void *arg;
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

#endif /* SIMDUP_CORE_JOIN_SETJOIN_H */
