/*
 * probe.h
 *	  Exact search within a Hamming distance, through any ordered set of keys.
 *
 * A fingerprint is cut into four blocks and has four keys. Key i is
 *
 *	  i (2 bits) | block i (16 bits) | the rest (46 bits)
 *
 * so the keys with the same block i lie side by side, a range that one probe
 * reads. Generalised pigeonhole: choose radii r[i] >= -1 with sum(r[i] + 1) > k.
 * Then two fingerprints within distance k differ in at most r[i] bits of block
 * i, for some i. A search therefore probes, for each i, the block values within
 * r[i] of the query's, and misses nothing.
 *
 * A key tells the distance of its fingerprint, so the row need not be fetched.
 * Number and fingerprint are 66 bits, two too many. A linear code folds the
 * rest (see probe.c), under which the four fingerprints of one key are at least
 * 31 bits apart. So a key may seem near because of one of the three other
 * fingerprints that share it. An unrelated key seems near with four times the
 * chance that a random fingerprint is within k: one in 10^9 for k = 8. An exact
 * search compares the fingerprints that it found; there are hardly more of them
 * than matches.
 *
 * The number in front is worth two bits: without it each probe would read the
 * keys of all four blocks. Three keys of 22-bit blocks were tried on ten million
 * rows. The index was a tenth to a quarter smaller, and built in three quarters
 * of the time. But a search needs more probes (k = 3: 24 instead of 4, k = 11:
 * 2964 instead of 548), each of them a page. It took twice the time for k = 3,
 * and four times for k = 11.
 */
#ifndef SIMDUP_CORE_PROBE_H
#define SIMDUP_CORE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* Keys, and blocks, of a fingerprint. */
#define SIMDUP_KEYS 4

/* Bits of the rest: what lies below number and block. */
#define SIMDUP_REST_BITS 46

/*
 * Largest radius that is probed for, by 2788 probes. It is also the last that
 * the fold supports: at most one fingerprint of a key is within 15 bits.
 */
#define SIMDUP_PROBE_MAX_RADIUS 15

/* Key i of a fingerprint. */
extern uint64_t simdup_key(uint64_t fp, int i);

/* The radii for k from 0 to 64, -1 where block i is not probed. */
extern void simdup_probe_radii(int k, int radii[SIMDUP_KEYS]);

/* Probes in a search: k = 3: 4, 5: 36, 7: 68, 8: 188, 11: 548. */
extern int simdup_probe_count(int k);

/*
 * The first key of the range of each probe, as many as simdup_probe_count(k)
 * says; k not above SIMDUP_PROBE_MAX_RADIUS. The range is the keys that
 * simdup_key_in_range says.
 */
extern void simdup_probes(uint64_t fp, int k, uint64_t *starts);

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

/* Is the key of the number and block for which the range stands? */
static inline bool
simdup_key_in_range(uint64_t key, uint64_t start)
{
	return (key ^ start) >> SIMDUP_REST_BITS == 0;
}

#endif /* SIMDUP_CORE_PROBE_H */
