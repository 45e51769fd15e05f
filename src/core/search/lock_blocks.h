/*
 * lock_blocks.h
 *	  What to lock of a fingerprint, so that near fingerprints lock one thing in
 *	  common and unrelated ones seldom do.
 *
 * Cut into k + 1 blocks, two fingerprints within distance k agree in one of
 * them. For the middle distances these blocks are short, and unrelated
 * fingerprints agree in one too often (k = 8: one pair in 15). Pairs of k + 2
 * blocks are taken there. Near fingerprints agree in two of the blocks (k = 8:
 * one pair of unrelated fingerprints in 160 does).
 */
#ifndef SIMDUP_CORE_SEARCH_LOCK_BLOCKS_H
#define SIMDUP_CORE_SEARCH_LOCK_BLOCKS_H

#include <stdint.h>

/* Most blocks, or pairs of blocks, that one fingerprint has. */
#define SIMDUP_MAX_LOCK_BLOCKS 65

/* A block or pair of blocks; two of different number have nothing in common. */
typedef struct SimdupLockBlock
{
	uint32_t value;
	uint16_t number; /* below 128 */
} SimdupLockBlock;

/* List the blocks of fp for distance k, 0 to 64. Return their number. */
extern int simdup_lock_blocks(uint64_t fp, int k, SimdupLockBlock *blocks);

#endif /* SIMDUP_CORE_SEARCH_LOCK_BLOCKS_H */
