/*
 * minhash.c
 *	  Signatures estimate the Jaccard similarity, bands find the pairs they promise.
 */
#include <math.h>

#include "core/fingerprint/sketch.h"
#include "random.h"
#include "tap.h"

#define N_HASHES 128
#define N_PAIRS 400

static uint64_t state = 1;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/*
 * Pairs of sets of this many elements in all and in both: the mean of the
 * estimate, its error, and the share that has a common band.
 */
static void
test_estimate(int total, int common)
{
	double jaccard = (double) common / total;
	double sum = 0;
	double squares = 0;
	int found = 0;
	int n_bands = simdup_choose_bands(jaccard, N_HASHES, 0.9);
	double recall = simdup_band_recall(jaccard, n_bands, N_HASHES / n_bands);
	double mean;
	double deviation = sqrt(jaccard * (1 - jaccard) / N_HASHES);

	for (int i = 0; i < N_PAIRS; i++)
	{
		uint64_t a[2000];
		uint64_t b[2000];
		uint32_t signatures[2][N_HASHES];
		uint64_t bands[2][N_HASHES];
		int n_a = common + (total - common) / 2;
		int n_b = 0;
		double error;
		bool shared = false;

		for (int j = 0; j < total; j++)
		{
			uint64_t x = next_random();

			if (j < n_a)
				a[j] = x;
			if (j < common || j >= n_a)
				b[n_b++] = x;
		}
		simdup_minhash(a, (size_t) n_a, signatures[0], N_HASHES);
		simdup_minhash(b, (size_t) n_b, signatures[1], N_HASHES);
		error = (double) simdup_minhash_equal(signatures[0], signatures[1],
											  N_HASHES) /
					N_HASHES -
				jaccard;
		sum += error;
		squares += error * error;
		for (int s = 0; s < 2; s++)
			simdup_band_hashes(signatures[s], N_HASHES, bands[s], n_bands);
		for (int band = 0; band < n_bands; band++)
			shared = shared || bands[0][band] == bands[1][band];
		found += shared;
	}
	mean = sum / N_PAIRS;
	ok(fabs(mean) < 4 * deviation / sqrt(N_PAIRS) + 1e-9,
	   "%d of %d in common: unbiased (%.4f)", common, total, mean);
	ok(sqrt(squares / N_PAIRS) <= 1.15 * deviation + 1e-9,
	   "%d of %d in common: error %.4f, of independent hashes %.4f", common,
	   total, sqrt(squares / N_PAIRS), deviation);
	ok(fabs((double) found / N_PAIRS - recall) < 0.06,
	   "%d of %d in common: %d bands find %.3f, foreseen %.3f", common, total,
	   n_bands, (double) found / N_PAIRS, recall);
}

int
main(void)
{
	static const uint64_t one[] = {42, 42, 42};
	uint32_t signatures[2][4096];
	uint64_t bands[4096];
	bool distinct = true;

	test_estimate(1, 1);
	test_estimate(2, 1);
	test_estimate(10, 5);
	test_estimate(60, 48);
	test_estimate(128, 102);
	test_estimate(300, 240);
	test_estimate(300, 150);
	test_estimate(2000, 1600);

	for (int n_hashes = 1; n_hashes <= 4096; n_hashes *= 8)
	{
		simdup_minhash(one, 3, signatures[0], n_hashes);
		simdup_minhash(one, 1, signatures[1], n_hashes);
		ok(simdup_minhash_equal(signatures[0], signatures[1], n_hashes) ==
			   n_hashes,
		   "one element, repeated or not, %d hashes", n_hashes);
	}

	simdup_band_hashes(signatures[0], 4096, bands, 4096);
	for (int i = 1; i < 4096; i++)
		distinct = distinct && bands[i] != bands[i - 1];
	ok(distinct, "bands of equal rows differ");

	ok(simdup_choose_bands(0.8, 128, 0.99) == 21, "0.8 of 128: 21 bands of 6");
	ok(simdup_choose_bands(1, 128, 1) == 1,
	   "equal sets share the whole signature");
	ok(simdup_choose_bands(0.01, 16, 0.9) == 16,
	   "out of reach: what finds most");
	ok(fabs(simdup_band_recall(0.8, 21, 6) - 0.998312) < 1e-6, "recall at 0.8");
	return done_testing();
}
