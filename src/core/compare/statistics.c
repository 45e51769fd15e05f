/*
 * statistics.c
 *	  Distances of fingerprints as resemblances, and the chances of distances
 *	  between unrelated fingerprints.
 *
 * Near pairs of a sample are mostly true duplicates, and near pairs of unrelated
 * rows are too rare to be counted. So a beta-binomial distribution is fitted to
 * the bulk of the distances, which lies beyond any useful threshold. Its tail
 * is the answer. The model: 64 bits differ with a common chance, which varies
 * from pair to pair as far as texts share words. Fair and independent bits give
 * the binomial distribution.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"

/* Agreement */

#define N_BITS 64

double
simdup_agreement_resemblance(int d, int n)
{
	return fmax(0, 1 - 2.0 * d / n);
}

/* Return the chance that d of 64 bits differ, each with chance p. */
static double
binomial(int d, double p)
{
	double chance = 1;

	/* one factor of each kind at a time: nothing overflows or vanishes */
	for (int i = 1; i <= d; i++)
		chance *= (N_BITS - d + i) / (double) i * p;
	for (int i = 0; i < N_BITS - d; i++)
		chance *= 1 - p;
	return chance;
}

/* Rounding does not count, as only sums of small chances are compared. */
int
simdup_agreement_distance(double resemblance, double recall)
{
	double p = (1 - resemblance) / 2;
	int distance = 0;
	double sum = 0;

	if (recall <= 0.5)
	{
		while (distance < N_BITS && (sum += binomial(distance, p)) < recall)
			distance++;
		return distance;
	}
	distance = N_BITS;
	while (distance > 0 && (sum += binomial(distance, p)) <= 1 - recall)
		distance--;
	return distance;
}

/* Unrelated pairs */

/* Pairs up to this distance may be related. */
#define MAYBE_RELATED 16

SIMDUP_POPCNT_CLONES static void
add_distances(const uint64_t *sample, size_t i, uint64_t *histogram)
{
	for (size_t j = 0; j < i; j++)
		histogram[simdup_hamming64(sample[i], sample[j])]++;
}

/* Return the logarithm of the chance that d of 64 bits differ. */
static double
log_beta_binomial(int d, double a, double b)
{
	return lgamma(65) - lgamma(d + 1) - lgamma(65 - d) + lgamma(d + a) +
		   lgamma(64 - d + b) - lgamma(64 + a + b) + lgamma(a + b) - lgamma(a) -
		   lgamma(b);
}

void
simdup_false_pair_chances(const uint64_t *sample, size_t n, double *chance)
{
	uint64_t histogram[N_BITS + 1] = {0};
	double n_pairs = 0; /* and their distances, in the bulk */
	double distances = 0;
	double squares = 0;
	double mean;
	double p;
	double overlap;
	double sum = 0;

	memset(chance, 0, (N_BITS + 1) * sizeof(double));
	for (size_t i = 0; i < n; i++)
	{
		add_distances(sample, i, histogram);
		if (i % 256 == 0)
			simdup_check_interrupts();
	}
	for (int d = MAYBE_RELATED + 1; d <= N_BITS; d++)
	{
		n_pairs += (double) histogram[d];
		distances += (double) histogram[d] * d;
		squares += (double) histogram[d] * d * d;
	}

	if (n_pairs == 0)
		return;
	mean = distances / n_pairs;
	p = mean / N_BITS;
	/* if all pairs are at distance 64, there is nothing to fit */
	if (p >= 1)
		return;

	/*
	 * The variance of a beta-binomial is that of a binomial times 1 + 63
	 * overlap. No overlap would make the parameters infinite, so overlap has a
	 * small lower limit.
	 */
	overlap = ((squares / n_pairs - mean * mean) / (N_BITS * p * (1 - p)) - 1) /
			  (N_BITS - 1);
	overlap = fmax(overlap, 1e-6);
	for (int d = 0; d <= N_BITS; d++)
	{
		sum += exp(log_beta_binomial(d, p * (1 / overlap - 1),
									 (1 - p) * (1 / overlap - 1)));
		chance[d] = fmin(sum, 1);
	}
}
