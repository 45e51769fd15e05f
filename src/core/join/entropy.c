/*
 * entropy.c
 *	  Blocks of bits that tell fingerprints from each other equally well.
 */
#include <math.h>
#include <string.h>

#include "core/fingerprint/hamming.h"
#include "core/join/entropy.h"

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
