/*
 * statistics.c
 *	  Chances of false pairs: the binomial for fair bits, more for shared ones,
 *	  and samples that tell nothing.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/search/search.h"
#include "random.h"
#include "tap.h"

#define N 1000

static uint64_t state = 1;
static uint64_t sample[N];
static double chance[65];

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* Numbers from 0 to 1, none smaller than the one before. */
static bool
is_distribution(void)
{
	bool right = chance[0] >= 0;

	for (int d = 1; d <= 64; d++)
		right = right && chance[d] >= chance[d - 1] && chance[d] <= 1;
	return right;
}

static bool
all_zero(void)
{
	bool zero = true;

	for (int d = 0; d <= 64; d++)
		zero = zero && chance[d] == 0;
	return zero;
}

int
main(void)
{
	bool like_binomial = true;
	bool rises = true;
	double fair;
	double half;

	for (int i = 0; i < N; i++)
		sample[i] = next_random();
	simdup_false_pair_chances(sample, N, chance);
	for (int d = 3; d <= 64; d++)
		like_binomial = like_binomial &&
						chance[d] < 1.5 * simdup_ball_fraction(64, d) &&
						chance[d] > simdup_ball_fraction(64, d) / 1.5;
	ok(is_distribution() && like_binomial, "fair bits give the binomial");
	fair = chance[8];

	half = simdup_ball_fraction(64, 32) + simdup_ball_fraction(64, 31);
	ok(half > 1 - 1e-9 && half < 1 + 1e-9, "half of all is nearer than 32");
	ok(simdup_ball_fraction(64, 0) == 1.0 / 18446744073709551616.0 &&
		   simdup_ball_fraction(64, 64) > 1 - 1e-9,
	   "ball of 0 and of 64");
	for (int k = 0; k <= 64; k++)
		rises = rises && simdup_ball_fraction(64, k) <= 1 &&
				(k == 0 || simdup_ball_fraction(64, k) >=
							   simdup_ball_fraction(64, k - 1));
	ok(rises, "the fraction rises to 1, and not above");

	/* copies are true pairs, however many there are */
	for (int i = 0; i < N / 2; i++)
		sample[i] = sample[N - 1 - i] ^ 1;
	simdup_false_pair_chances(sample, N, chance);
	ok(is_distribution() && chance[8] < 10 * fair && chance[8] > fair / 10,
	   "copies hardly change it");

	for (int i = 0; i < N; i++)
		sample[i] = next_random() & next_random();
	simdup_false_pair_chances(sample, N, chance);
	ok(is_distribution() && chance[8] > 100 * fair,
	   "texts that share words come nearer");

	simdup_false_pair_chances(sample, 0, chance);
	ok(all_zero(), "no sample");
	simdup_false_pair_chances(sample, 1, chance);
	ok(all_zero(), "a sample of one");
	sample[1] = ~sample[0];
	simdup_false_pair_chances(sample, 2, chance);
	ok(all_zero(), "nothing but opposites");
	sample[1] = sample[0];
	simdup_false_pair_chances(sample, 2, chance);
	ok(all_zero(), "nothing but equals");
	sample[1] = sample[0] ^ 0xFFFFF;
	simdup_false_pair_chances(sample, 2, chance);
	ok(is_distribution() && chance[64] > 0.99, "a single distance");
	return done_testing();
}
