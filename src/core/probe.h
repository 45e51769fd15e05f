/*
 * probe.h
 *	  Exact search within a Hamming distance, through any ordered set of keys.
 *
 * Each fingerprint has four keys. Key i is made of
 *
 *	  i (2 bits) | block i of the fingerprint (16 bits) | the rest (46 bits)
 *
 * so the keys that share a block value lie side by side: they are a range
 * that one probe reads. Generalised pigeonhole: if radii r[i] >= -1 satisfy
 * sum(r[i] + 1) > k, then two fingerprints within distance k differ, for some
 * i, in at most r[i] bits of block i. A search therefore probes, for each i,
 * the block values within r[i] of the query's, and loses nothing.
 *
 * What is found there need not be fetched to know its distance: the key holds
 * the whole fingerprint. Number and fingerprint are 66 bits, so 2 bits had to
 * go: the rest is folded by a linear code (fold in probe.c) under which the
 * four fingerprints of one key are at least 31 bits from each other. So a key
 * can be within distance by a fingerprint that it does not stand for, but
 * hardly: never for a neighbour of the query, and for a stranger with three
 * times the chance that a random fingerprint is within k (k = 8: 1e-9). Who
 * promises exactness looks at the fingerprints that are found, which costs
 * nothing.
 */
#ifndef SIMDUP_CORE_PROBE_H
#define SIMDUP_CORE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hamming.h"

/* Keys of a fingerprint. */
#define SIMDUP_KEYS 4

#define SIMDUP_KEY_REST_BITS 46

/*
 * Largest radius to probe for, and the probes it takes. Bound by the code's
 * minimum distance (2 * 15 < 31), and close to where reading all rows takes
 * as long.
 */
#define SIMDUP_PROBE_MAX_RADIUS 15
#define SIMDUP_PROBE_MAX 2788

/* Key i of a fingerprint. */
extern uint64_t simdup_key(uint64_t fp, int i);

/* The radii, -1 where block i is not probed; k from 0 to 64. */
extern void simdup_probe_radii(int k, int radii[SIMDUP_KEYS]);

/* Probes in a search of this radius: 4 for 3, 188 for 8, 548 for 11. */
extern int simdup_probe_count(int k);

/*
 * The first key of each probe's range, grouped by key number; as many as
 * simdup_probe_count(k) says, k not above SIMDUP_PROBE_MAX_RADIUS. A range
 * ends where simdup_key_same_block does.
 */
extern void simdup_probes(uint64_t fp, int k, uint64_t *starts);

/* The part of random pairs that are within distance k of each other. */
extern double simdup_ball_fraction(int k);

/* Which of the four keys is this? */
static inline int
simdup_key_number(uint64_t key)
{
	return (int) (key >> 62);
}

/* Are two keys of the same number and block? */
static inline bool
simdup_key_same_block(uint64_t a, uint64_t b)
{
	return ((a ^ b) >> SIMDUP_KEY_REST_BITS) == 0;
}

/* The same 16-bit lanes of a word, each replaced by its number of ones. */
static inline uint64_t
simdup_lane_popcounts(uint64_t x)
{
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) +
		((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (x + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
}

/*
 * May two keys of the same number belong to fingerprints within distance k?
 * Never false if they do.
 *
 * The fold is linear, so the difference of the keys is the folded difference
 * of the fingerprints, and each of the four differences that fold to it has
 * one of the four weights below: the folded-out bits complement the lanes of
 * the rest that their pattern covers (16, 16 and 14 bits wide).
 */
static inline bool
simdup_key_near(uint64_t a, uint64_t b, int k)
{
	uint64_t lanes = simdup_lane_popcounts((a ^ b) << 2);
	int		 block = (int) (lanes >> 48);
	int		 high = (int) (lanes >> 32 & 0xff);
	int		 middle = (int) (lanes >> 16 & 0xff);
	int		 low = (int) (lanes & 0xff);
	int		 budget = k - block;

	return high + middle + low <= budget ||
		   1 + (16 - high) + middle + (14 - low) <= budget ||
		   1 + high + (16 - middle) + (14 - low) <= budget ||
		   2 + (16 - high) + (16 - middle) + low <= budget;
}

#endif /* SIMDUP_CORE_PROBE_H */
