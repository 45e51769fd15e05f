/*
 * lock_blocks.c
 *	  The blocks of a fingerprint that arrivals lock.
 */
#include "core/fingerprint/hamming.h"
#include "core/search/lock_blocks.h"

/* Where pairs are taken: at most 55 of them. */
#define FIRST_PAIRED_K 5
#define LAST_PAIRED_K 9

static uint64_t
block_value(uint64_t fp, int block, int n_blocks)
{
	int start = simdup_block_start(block, n_blocks);
	int end = simdup_block_start(block + 1, n_blocks);

	return start >= end ? 0 : simdup_block_bits(fp, start, end);
}

/* List the pairs of blocks, of ten bits at most, below the pair's number. */
static int
list_pairs(uint64_t fp, int n_blocks, SimdupLockBlock *blocks)
{
	int n = 0;

	for (int i = 0; i < n_blocks; i++)
		for (int j = i + 1; j < n_blocks; j++, n++)
			blocks[n] =
				(SimdupLockBlock){(uint32_t) ((uint64_t) n << 20 |
											  block_value(fp, i, n_blocks)
												  << 10 |
											  block_value(fp, j, n_blocks)),
								  0};
	return n;
}

int
simdup_lock_blocks(uint64_t fp, int k, SimdupLockBlock *blocks)
{
	if (k >= FIRST_PAIRED_K && k <= LAST_PAIRED_K)
		return list_pairs(fp, k + 2, blocks);
	for (int i = 0; i <= k; i++)
	{
		uint64_t value = block_value(fp, i, k + 1);

		/* 32 bits at most, and 64 for k = 0 */
		blocks[i] =
			(SimdupLockBlock){(uint32_t) (value ^ value >> 32), (uint16_t) i};
	}
	return k + 1;
}
