/*
 * falsepairs.c
 *	  How far apart unrelated fingerprints of a table are.
 *
 * Near pairs of a sample are mostly true duplicates, and unrelated ones that
 * near are too rare to be counted. So the bulk of the distances, those beyond
 * any useful threshold, is fitted by a beta-binomial distribution (64 bits
 * that differ with a common chance, which itself varies from pair to pair, as
 * it does where texts share words), and its tail is the answer. With bits
 * that are fair and independent it is the binomial.
 */
#include <math.h>
#include <string.h>

#include "core/falsepairs.h"
#include "core/hamming.h"
#include "core/host.h"

/* Pairs up to this distance may be related. */
#define MAYBE_RELATED 16

SIMDUP_POPCNT_CLONES static void
add_distances(const uint64_t *sample, size_t i, uint64_t *histogram)
{
	size_t j;

	for (j = 0; j < i; j++)
		histogram[simdup_hamming64(sample[i], sample[j])]++;
}

/* log of the chance that d of 64 bits differ. */
static double
log_beta_binomial(int d, double a, double b)
{
	return lgamma(65) - lgamma(d + 1) - lgamma(65 - d) + lgamma(d + a) +
		   lgamma(64 - d + b) - lgamma(64 + a + b) + lgamma(a + b) - lgamma(a) -
		   lgamma(b);
}

/* Shares of distances in the bulk of the histogram: mean and variance. */
static double
bulk_moments(const uint64_t *histogram, double *mean, double *variance)
{
	double n = 0;
	double sum = 0;
	double squares = 0;
	int d;

	for (d = MAYBE_RELATED + 1; d <= 64; d++)
	{
		n += (double) histogram[d];
		sum += (double) histogram[d] * d;
		squares += (double) histogram[d] * d * d;
	}
	if (n > 0)
	{
		*mean = sum / n;
		*variance = squares / n - *mean * *mean;
	}
	return n;
}

void
simdup_false_pair_chances(const uint64_t *sample, size_t n, double *chance)
{
	uint64_t histogram[65] = {0};
	double mean = 0;
	double variance = 0;
	double p;
	double overlap;
	double sum = 0;
	size_t i;
	int d;

	memset(chance, 0, 65 * sizeof(double));
	for (i = 0; i < n; i++)
	{
		add_distances(sample, i, histogram);
		if (i % 256 == 0)
			simdup_check_interrupts();
	}
	if (bulk_moments(histogram, &mean, &variance) == 0)
		return;

	/*
	 * The variance of a beta-binomial is that of a binomial times 1 + 63
	 * overlap; a little overlap stands for none, to keep its parameters
	 * finite. All pairs at distance 64 leave nothing to fit.
	 */
	p = mean / 64;
	if (p >= 1)
		return;
	overlap = (variance / (64 * p * (1 - p)) - 1) / 63;
	overlap = overlap < 1e-6 ? 1e-6 : overlap;
	for (d = 0; d <= 64; d++)
	{
		sum += exp(log_beta_binomial(d, p * (1 / overlap - 1),
									 (1 - p) * (1 / overlap - 1)));
		chance[d] = sum < 1 ? sum : 1;
	}
}
