/*
 * minhash.c
 *	  MinHash signatures and their bands.
 *
 * A signature is a sketch of n_hashes bins. Agreement of two bins is unbiased,
 * and its variance is at most that of n_hashes independent permutations
 * (Dahlgaard, Knudsen and Thorup 2017).
 */
#include "core/minhash.h"

#include <math.h>

#include "core/host.h"
#include "core/shingle.h"
#include "core/sketch.h"

#define BAND_SEED UINT64_C(0x9e3779b97f4a7c15)

void
simdup_minhash(const uint64_t *hashes, size_t n, uint32_t *signature,
			   int n_hashes)
{
	SimdupSketch sketch;
	const uint64_t *keys;

	simdup_sketch_begin(&sketch, n_hashes);
	simdup_sketch_add(&sketch, hashes, n);
	keys = simdup_sketch_keys(&sketch);
	for (int i = 0; i < n_hashes; i++)
		signature[i] = (uint32_t) keys[i];
	simdup_sketch_free(&sketch);
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
			hash = simdup_mix64((hash + 1) * BAND_SEED ^
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
	/* fewer bands are longer, with fewer candidates and less recall */
	for (int n_bands = 1; n_bands < n_hashes; n_bands++)
	{
		int n_rows = n_hashes / n_bands;

		/* of all numbers of bands with so many rows, the largest finds most */
		if (n_hashes / (n_bands + 1) != n_rows &&
			simdup_band_recall(threshold, n_bands, n_rows) >= min_recall)
			return n_bands;
	}
	return n_hashes;
}
