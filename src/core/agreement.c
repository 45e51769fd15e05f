/*
 * agreement.c
 *	  What the distance of two minhash64 fingerprints says about their texts.
 */
#include "core/agreement.h"

#define N_BITS 64

double
simdup_agreement_resemblance(int d, int n)
{
	double resemblance = 1 - 2.0 * d / n;

	return resemblance > 0 ? resemblance : 0;
}

/* The chance that d of 64 bits differ, each with chance p. */
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

/* The chance of a distance of more than d, summed from the rarest on. */
static double
chance_beyond(int d, double p)
{
	double chance = 0;

	for (int i = N_BITS; i > d; i--)
		chance += binomial(i, p);
	return chance;
}

/* The chance of a distance of at most d. */
static double
chance_within(int d, double p)
{
	double chance = 0;

	for (int i = 0; i <= d; i++)
		chance += binomial(i, p);
	return chance;
}

int
simdup_agreement_distance(double resemblance, double recall)
{
	double p = (1 - resemblance) / 2;
	int distance = 0;

	/* the sum that is compared is of small numbers: rounding does not count */
	while (distance < N_BITS &&
		   (recall <= 0.5 ? chance_within(distance, p) < recall
						  : chance_beyond(distance, p) > 1 - recall))
		distance++;
	return distance;
}
