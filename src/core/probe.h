/*
 * probe.h
 *	  Exact search within a Hamming distance, through any ordered set of keys.
 *
 * A fingerprint is cut into three blocks and has three keys. Key i is
 *
 *	  i (2 bits) | block i (22 or 21 bits) | the rest (40 or 41 bits)
 *
 * so the keys with equal or similar block i lie side by side, a range that one
 * probe reads. Generalised pigeonhole: if radii r[i] >= -1 satisfy
 * sum(r[i] + 1) > k, then two fingerprints within distance k differ, for some
 * i, in at most r[i] bits of block i. A search therefore probes, for each i,
 * the block values within r[i] of the query's, and misses nothing.
 *
 * What is found there need not be fetched to know its distance: the key holds
 * the whole fingerprint. Number and fingerprint are 66 bits, so 2 bits had to
 * go: the rest is folded by a linear code (fold in probe.c) under which the
 * four fingerprints of one key are at least 25 bits from each other. So a key
 * can be near by a fingerprint that it does not stand for, but hardly: a
 * stranger passes with four times the chance that a random fingerprint is
 * within k, one in 10^9 for k = 8. Who promises exactness looks at the
 * fingerprints that were found; there are no more of them than matches.
 *
 * Why three: with four keys of 16-bit blocks a search has fewer probes (k = 3:
 * 4 against 24, k = 8: 188 against 516), but the index is a third larger and
 * slower to build and to insert into, and each probe reads as many keys as
 * there are rows to 65,536: from some 50 million rows on, more time.
 */
#ifndef SIMDUP_CORE_PROBE_H
#define SIMDUP_CORE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* Keys, and blocks, of a fingerprint. */
#define SIMDUP_KEYS 3

/*
 * Largest radius that is probed for: beyond it there are so many probes that
 * reading all rows takes no longer.
 */
#define SIMDUP_PROBE_MAX_RADIUS 14

/* Key i of a fingerprint. */
extern uint64_t simdup_key(uint64_t fp, int i);

/* The radii for k from 0 to 64, -1 where block i is not probed. */
extern void simdup_probe_radii(int k, int radii[SIMDUP_KEYS]);

/* A range of keys: all that agree with first in their upper bits. */
typedef struct SimdupProbe
{
	uint64_t first; /* its other bits are 0 */
	int      bits;
} SimdupProbe;

/* Probes in a search, k not above SIMDUP_PROBE_MAX_RADIUS. */
extern int simdup_probe_count(int k);

/* Fills in as many probes as simdup_probe_count(k) says. */
extern void simdup_probes(uint64_t fp, int k, SimdupProbe *probes);

/*
 * May two keys of the same number belong to fingerprints within distance k?
 * Never false if they do.
 */
extern bool simdup_keys_near(uint64_t a, uint64_t b, int k);

/* The part of random fingerprints that are within distance k of one. */
extern double simdup_ball_fraction(int k);

/* Which of its fingerprint's keys is this? */
static inline int
simdup_key_number(uint64_t key)
{
	return (int) (key >> 62);
}

static inline bool
simdup_probe_covers(SimdupProbe probe, uint64_t key)
{
	return (key ^ probe.first) >> (64 - probe.bits) == 0;
}

#endif /* SIMDUP_CORE_PROBE_H */
