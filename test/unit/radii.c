/*
 * radii.c
 *	  Radii of a search: complete, cheapest, and the blocks that they read.
 */
#include <math.h>

#include "core/search/search.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 7;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* A word with n ones. */
static uint64_t
random_ones(int n)
{
	uint64_t word = 0;

	while (simdup_popcount64(word) < n)
		word |= UINT64_C(1) << (next_random() & 63);
	return word;
}

static void
test_rotations(void)
{
	bool right = true;

	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		for (int n = 0; n < 100; n++)
		{
			uint64_t fp = next_random();
			uint64_t value = simdup_rotate(fp, i);

			right = right && simdup_unrotate(value, i) == fp &&
					simdup_first_block(value) == (fp >> 16 * i & 0xffff) &&
					simdup_popcount64(value) == simdup_popcount64(fp);
		}
	ok(right, "rotation i has block i in front and can be undone");
}

/* The blocks near a center against all blocks. */
static void
test_near_blocks(void)
{
	static uint16_t blocks[SIMDUP_BLOCKS];

	for (int radius = 0; radius <= 16; radius++)
	{
		bool right = true;
		uint32_t center = (uint32_t) (next_random() & 0xffff);
		int n = simdup_near_blocks(center, radius, blocks);
		int at = 0;

		for (uint32_t block = 0; block < SIMDUP_BLOCKS; block++)
			if (simdup_popcount64(block ^ center) <= radius)
				right = right && at < n && blocks[at++] == block;
		ok(right && at == n && n == simdup_count_near(radius),
		   "radius %d: the near blocks, ascending", radius);
	}
}

/* Exactly one rotation reports a near fingerprint. */
static bool
is_reported_once(uint64_t difference, const int *radii)
{
	int n = 0;

	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		n += simdup_reports(i, difference, radii);
	return n == 1;
}

/* Costs at random, rising with the radius. */
static void
random_costs(SimdupPageCosts *costs)
{
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
	{
		costs[i][0] = (double) (next_random() % 100);
		for (int r = 1; r <= SIMDUP_BLOCK_BITS; r++)
			costs[i][r] =
				costs[i][r - 1] + (double) (next_random() % (UINT64_C(1) << r));
	}
}

static bool
are_complete(const int *radii, int k)
{
	int sum = 0;

	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
	{
		if (radii[i] == SIMDUP_BLOCK_BITS)
			return true;
		sum += radii[i] + 1;
	}
	return sum == k + 1;
}

/* The least cost of complete radii, by trying all. */
static double
least_cost(int k, const SimdupPageCosts *costs)
{
	double least = INFINITY;
	int r[SIMDUP_ROTATIONS];

	for (r[0] = -1; r[0] <= 16; r[0]++)
		for (r[1] = -1; r[1] <= 16; r[1]++)
			for (r[2] = -1; r[2] <= 16; r[2]++)
				for (r[3] = -1; r[3] <= 16; r[3]++)
				{
					double cost = 0;

					for (int i = 0; i < SIMDUP_ROTATIONS; i++)
						cost += r[i] < 0 ? 0 : costs[i][r[i]];
					if (are_complete(r, k) && cost < least)
						least = cost;
				}
	return least;
}

static void
test_choice(void)
{
	bool complete = true;
	bool once = true;
	bool least = true;

	for (int k = 0; k <= 64; k++)
	{
		SimdupPageCosts costs[SIMDUP_ROTATIONS];
		int radii[SIMDUP_ROTATIONS];
		double cost;

		random_costs(costs);
		cost = simdup_choose_radii(k, (const SimdupPageCosts *) costs, radii);
		complete = complete && are_complete(radii, k);
		if (k % 8 == 3)
			least = least &&
					fabs(cost -
						 least_cost(k, (const SimdupPageCosts *) costs)) < 1e-6;
		for (int n = 0; n < 2000; n++)
			once = once &&
				   is_reported_once(random_ones((int) (next_random() %
													   (uint64_t) (k + 1))),
									radii);
	}
	ok(complete, "radii are complete for every k");
	ok(once, "a near fingerprint is reported by one rotation");
	ok(least, "radii are the cheapest");
}

/*
 * A histogram of one rotation of random values, or with half of the pages in the
 * block `heavy`, if that is not negative.
 */
static void
make_histogram(SimdupHistogram *histogram, int buckets, double pages, int heavy)
{
	histogram->n_buckets = buckets;
	histogram->pages = pages / buckets;
	for (int j = 0; j < buckets; j++)
		histogram->bounds[j] = heavy >= 0 && j > buckets / 2
								   ? (uint16_t) heavy
								   : (uint16_t) (j * 0x10000 / buckets);
	/* as random values have it: buckets do not begin at round numbers */
	for (int j = 1; j < buckets && heavy < 0; j++)
		histogram->bounds[j] += (uint16_t) (next_random() % 64);
	simdup_finish_histogram(histogram);
}

static void
test_costs(void)
{
	static SimdupHistogram histogram;
	SimdupPageCosts costs;
	SimdupPageCosts uniform;
	bool close = true;
	bool rising = true;

	make_histogram(&histogram, 512, 20000, -1);
	simdup_page_costs(&histogram, 0x1234, 16, costs);
	simdup_uniform_page_costs(20000, uniform);
	for (int r = 0; r <= 16; r++)
	{
		close = close && costs[r] < 1.5 * uniform[r] + 2 &&
				costs[r] > uniform[r] / 2;
		rising = rising && (r == 0 || costs[r] >= costs[r - 1] - 1);
	}
	ok(close, "even values cost what the formula says");
	ok(rising, "a larger radius costs more");

	simdup_page_costs(&histogram, 0x1234, 3, costs);
	ok(costs[3] < 20000 && isinf(costs[4]) && isfinite(costs[16]),
	   "radii above the largest are not offered, but the whole is");

	make_histogram(&histogram, 512, 20000, 0xffff);
	simdup_page_costs(&histogram, 0xffff, 2, costs);
	ok(costs[0] > 9000, "a block that half of the pages hold is expensive");
	simdup_page_costs(&histogram, 0x0001, 2, costs);
	ok(costs[2] < 2000, "blocks far from it are not");
}

int
main(void)
{
	test_rotations();
	test_near_blocks();
	test_choice();
	test_costs();
	return done_testing();
}
