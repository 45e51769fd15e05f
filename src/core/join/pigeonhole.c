/*
 * pigeonhole.c
 *	  Fingerprints cut into blocks: of joins, of pieces of a table, of locks.
 */
#include <math.h>

#include "core/fingerprint/hash.h"
#include "core/join/pigeonhole.h"

/* Distances at which pairs of blocks are locked: at most 55 of them. */
#define FIRST_PAIRED_K 5
#define LAST_PAIRED_K 9

/* Return the entropy of one bit: -log2 of the chance that two agree in it. */
static double
bit_entropy(uint32_t ones, uint32_t n_sampled)
{
	double p = (double) ones / n_sampled;
	double entropy = -log2(p * p + (1 - p) * (1 - p));

	return entropy > 0.01 ? entropy : 0.01;
}

double
simdup_total_entropy(uint64_t varying, const uint32_t *ones, uint32_t n_sampled)
{
	double total = 0;

	for (int bit = 0; bit < 64; bit++)
		if (varying >> bit & 1)
			total += bit_entropy(ones[bit], n_sampled);
	return total;
}

void
simdup_cut_blocks(uint64_t varying, const uint32_t *ones, uint32_t n_sampled,
				  int n, uint64_t *blocks)
{
	double share = simdup_total_entropy(varying, ones, n_sampled) / n;
	double sum = 0;
	int left = simdup_popcount64(varying);
	int block = 0;

	memset(blocks, 0, n * sizeof(uint64_t));
	for (int bit = 0; bit < 64; bit++)
	{
		double entropy;

		if (!(varying >> bit & 1))
			continue;
		entropy = bit_entropy(ones[bit], n_sampled);
		/* on to the next block where most of this bit lies beyond the share */
		if (block < n - 1 && blocks[block] &&
			(sum + entropy / 2 > share * (block + 1) || left <= n - 1 - block))
			block++;
		blocks[block] |= UINT64_C(1) << bit;
		sum += entropy;
		left--;
	}
}

/* Return the value of block i of n, which may have no bits. */
static inline uint64_t
block_value(uint64_t fp, int i, int n)
{
	int start = simdup_block_start(i, n);
	int end = simdup_block_start(i + 1, n);

	return start >= end ? 0 : simdup_block_bits(fp, start, end);
}

/*
 * Return a block's piece. Its values are dealt to the pieces in turn, after the n_dealt
 * values of the blocks before. They are permuted first, because of bits that are often
 * equal. Frozen, since servers of several versions may share the pieces of a table.
 */
static uint32_t
piece_of_block(const SimdupPieces *pieces, uint64_t fp, int block,
			   uint64_t *n_dealt)
{
	int width = simdup_block_start(block + 1, pieces->n_blocks) -
				simdup_block_start(block, pieces->n_blocks);
	uint64_t mask = UINT64_MAX >> (64 - width);
	uint64_t x = block_value(fp, block, pieces->n_blocks);

	x += (uint64_t) (block + 1) * SIMDUP_GOLDEN;
	for (int round = 0; round < 2; round++)
	{
		x = x * SIMDUP_GOLDEN & mask;
		x ^= x >> (width + 1) / 2;
	}
	x = (*n_dealt + x) % pieces->n;
	*n_dealt += mask + 1;
	return (uint32_t) x;
}

int
simdup_pieces_of(const SimdupPieces *pieces, uint64_t fp, uint32_t *list)
{
	uint64_t n_dealt = 0;
	int n = 0;

	for (int block = 0; block < pieces->n_blocks; block++)
	{
		uint32_t piece = piece_of_block(pieces, fp, block, &n_dealt);
		int i = 0;

		while (i < n && list[i] < piece)
			i++;
		if (i < n && list[i] == piece)
			continue;
		memmove(&list[i + 1], &list[i], (size_t) (n++ - i) * sizeof(*list));
		list[i] = piece;
	}
	return n;
}

static int
is_paired(int k)
{
	return k >= FIRST_PAIRED_K && k <= LAST_PAIRED_K;
}

int
simdup_lock_values(uint64_t fp, int k, uint64_t *values)
{
	int n = is_paired(k) ? k + 2 : k + 1;

	for (int i = 0; i < n; i++)
		values[i] = block_value(fp, i, n);
	return n;
}

int
simdup_lock_blocks(int k, const uint32_t *hashes, uint32_t *locks)
{
	int n = 0;

	if (!is_paired(k))
	{
		memcpy(locks, hashes, (k + 1) * sizeof(uint32_t));
		return k + 1;
	}
	for (int i = 0; i < k + 2; i++)
		for (int j = i + 1; j < k + 2; j++)
			locks[n++] = hashes[i] << 10 ^ hashes[j];
	return n;
}
