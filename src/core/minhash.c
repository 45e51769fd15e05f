/*
 * minhash.c
 *	  MinHash signatures by fast similarity sketching (Dahlgaard, Knudsen and
 *	  Thorup 2017).
 *
 * As in one-permutation hashing an element is thrown into one bin and each bin
 * keeps its smallest value, but while bins are empty all elements are thrown
 * again, with another hash and behind every earlier throw; from round n_hashes
 * on, round r fills bin r - n_hashes. A long text is through after one round
 * of one hash an element, and a short one has no densification that would
 * copy bins and add to the error: agreement of two bins is unbiased, and its
 * variance is at most that of n_hashes independent permutations.
 */
#include "core/minhash.h"

#include <math.h>

#include "core/host.h"
#include "core/shingle.h"

#define ROUND_SEED UINT64_C(0x9e3779b97f4a7c15)

/* elements between two looks at the interrupts */
#define STRETCH ((size_t) 1 << 20)

/* One round over a stretch of elements; returns the bins that it filled. */
static int
throw_once(const uint64_t *hashes, size_t n, uint64_t round, uint64_t *best,
		   int n_bins)
{
	bool fixed = round >= (uint64_t) n_bins;
	uint64_t fixed_bin = round - (uint64_t) n_bins;
	int filled = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t v = simdup_mix64(hashes[i] ^ round * ROUND_SEED);
		uint64_t bin = fixed ? fixed_bin : (v >> 32) * (uint64_t) n_bins >> 32;
		uint64_t key = round << 32 | (v & UINT32_MAX);

		filled += best[bin] == UINT64_MAX;
		best[bin] = key < best[bin] ? key : best[bin];
	}
	return filled;
}

void
simdup_minhash(const uint64_t *hashes, size_t n, uint32_t *signature,
			   int n_hashes)
{
	uint64_t *best = simdup_alloc((size_t) n_hashes * sizeof(uint64_t));
	int empty = n_hashes;

	for (int i = 0; i < n_hashes; i++)
		best[i] = UINT64_MAX;
	for (uint64_t round = 0; empty > 0; round++)
		for (size_t start = 0; start < n; start += STRETCH)
		{
			simdup_check_interrupts();
			empty -= throw_once(hashes + start,
								n - start < STRETCH ? n - start : STRETCH,
								round, best, n_hashes);
		}
	for (int i = 0; i < n_hashes; i++)
		signature[i] = (uint32_t) best[i];
	simdup_free(best);
}

int
simdup_minhash_equal(const uint32_t *a, const uint32_t *b, int n_hashes)
{
	int equal = 0;

	for (int i = 0; i < n_hashes; i++)
		equal += a[i] == b[i];
	return equal;
}

void
simdup_band_hashes(const uint32_t *signature, int n_hashes, uint64_t *bands,
				   int n_bands)
{
	int n_rows = n_hashes / n_bands;

	for (int band = 0; band < n_bands; band++)
	{
		uint64_t hash = (uint64_t) band;

		for (int row = 0; row < n_rows; row++)
			hash = simdup_mix64((hash + 1) * ROUND_SEED ^
								signature[band * n_rows + row]);
		bands[band] = hash;
	}
}

double
simdup_band_recall(double similarity, int n_bands, int n_rows)
{
	return 1 - pow(1 - pow(similarity, n_rows), n_bands);
}

int
simdup_choose_bands(double threshold, int n_hashes, double min_recall)
{
	/* fewer bands are longer bands: fewer candidates, and less recall */
	for (int n_bands = 1; n_bands < n_hashes; n_bands++)
	{
		int n_rows = n_hashes / n_bands;

		/* of the numbers of bands with as many rows the largest finds most */
		if (n_hashes / (n_bands + 1) != n_rows &&
			simdup_band_recall(threshold, n_bands, n_rows) >= min_recall)
			return n_bands;
	}
	return n_hashes;
}
