/*
 * blocks.h
 *	  A fingerprint cut into n blocks, as equal as can be, low bits first.
 *
 * The pigeonhole behind every search here: two 64-bit fingerprints within
 * Hamming distance k, cut into k + 1 blocks, agree in at least one block.
 * The first (64 mod n) blocks are one bit wider than the rest.
 */
#ifndef SIMDUP_CORE_BLOCKS_H
#define SIMDUP_CORE_BLOCKS_H

#include <stdint.h>

/* First bit of block i of n; block n would start at 64. */
static inline int
simdup_block_start(int i, int n)
{
	int wide = 64 % n;

	return i * (64 / n) + (i < wide ? i : wide);
}

/* Value of the block that spans bits [start, end) of fp. */
static inline uint64_t
simdup_block_bits(uint64_t fp, int start, int end)
{
	int width = end - start;

	if (width >= 64)
		return fp;
	return (fp >> start) & ((UINT64_C(1) << width) - 1);
}

#endif /* SIMDUP_CORE_BLOCKS_H */
