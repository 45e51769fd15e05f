/*
 * text.c
 *	  The sum of features against the plain loop over 64 counters, per feature.
 */
#include <stdio.h>
#include <time.h>

#include "core/fingerprint/token_counts.h"

#define FEATURES 200
#define TEXTS 20000

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* The textbook's simhash. */
static uint64_t
plain(const uint64_t *hashes, int n)
{
	int64_t counters[64] = {0};
	uint64_t signs = 0;

	for (int i = 0; i < n; i++)
		for (int bit = 0; bit < 64; bit++)
			counters[bit] += hashes[i] >> bit & 1 ? 1 : -1;
	for (int bit = 0; bit < 64; bit++)
		signs |= (uint64_t) (counters[bit] > 0) << bit;
	return signs;
}

static uint64_t
sliced(const uint64_t *hashes, int n)
{
	SimdupCounters sum = {0};

	simdup_counters_add_ones(&sum, hashes, n);
	return simdup_counters_signs(&sum, false);
}

/* Nanoseconds a feature. */
static double
measure(uint64_t (*simhash)(const uint64_t *, int), const uint64_t *hashes,
		uint64_t *check)
{
	double start = now();

	for (int i = 0; i < TEXTS; i++)
		*check ^= simhash(hashes + i % 64, FEATURES);
	return (now() - start) * 1e9 / TEXTS / FEATURES;
}

/* Prints pairs of nanoseconds: bit-sliced, plain. */
int
main(void)
{
	static uint64_t hashes[FEATURES + 64];
	uint64_t a = 0;
	uint64_t b = 0;
	uint64_t state = 1;

	for (int i = 0; i < FEATURES + 64; i++)
	{
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		hashes[i] = state ^ state >> 29;
	}
	for (int run = 0; run < 7; run++)
	{
		double ours = measure(sliced, hashes, &a);

		printf("%.3f %.3f\n", ours, measure(plain, hashes, &b));
	}
	return a != b;
}
