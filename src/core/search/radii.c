/*
 * radii.c
 *	  How a Hamming search is split over the four rotations of a fingerprint.
 */
#include <math.h>

#include "core/search/search.h"

#define MAX_DISTANCE 64

/*
 * Append the blocks that begin with the bits of `prefix` above `bit` and differ
 * from the center in at most `radius` of the others. Returns the new end.
 */
static uint16_t *
add_near(uint16_t *end, uint32_t prefix, uint32_t center, int bit, int radius)
{
	if (radius == 0)
	{
		*end++ = (uint16_t) (prefix | (center & ((UINT32_C(1) << bit) - 1)));
		return end;
	}
	if (radius >= bit)
	{
		for (uint32_t rest = 0; rest >> bit == 0; rest++)
			*end++ = (uint16_t) (prefix | rest);
		return end;
	}
	bit--;
	for (uint32_t value = 0; value < 2; value++)
		end = add_near(end, prefix | value << bit, center, bit,
					   radius - (value != (center >> bit & 1)));
	return end;
}

double
simdup_ball_fraction(int bits, int k)
{
	double at_distance = ldexp(1.0, -bits);
	double sum = 0;

	for (int d = 0; d <= k && d <= bits; d++)
	{
		sum += at_distance;
		at_distance = at_distance * (bits - d) / (d + 1);
	}
	/* rounding: a fraction above 1 would be an error in the planner */
	return fmin(sum, 1);
}

int
simdup_count_near(int radius)
{
	/* exact, since the numbers are multiples of 2^-16 */
	return (int) (simdup_ball_fraction(SIMDUP_BLOCK_BITS, radius) *
				  SIMDUP_BLOCKS);
}

int
simdup_near_blocks(uint32_t center, int radius, uint16_t *blocks)
{
	return (int) (add_near(blocks, 0, center, SIMDUP_BLOCK_BITS, radius) -
				  blocks);
}

/*
 * Return the number of pages that hold a block within t of a given one. The
 * pages hold all blocks that share a prefix and differ in the last `bits` bits.
 * With more pages than blocks, a block takes several pages. With fewer, a page
 * is read if any of its blocks is near. With `parted`, blocks do not end where
 * pages end. So each block is on one page more.
 */
static double
pages_within(double pages, int bits, int t, bool parted)
{
	double blocks = ldexp(1.0, bits);
	double part = simdup_ball_fraction(bits, t);

	if (t < 0)
		return 0;
	if (pages >= blocks)
		return fmin((pages + parted * blocks) * part, pages);
	return pages * (1 - pow(1 - part, blocks / pages + parted));
}

/* Return the number of bits below the prefix that the blocks share. */
static int
free_bits(uint32_t first, uint32_t last)
{
	return first == last ? 0 : 32 - __builtin_clz(first ^ last);
}

static void
add_range(SimdupHistogram *histogram, uint32_t first, uint32_t last, int part)
{
	SimdupBlockRange *range = &histogram->ranges[histogram->n_ranges++];

	range->first = (uint16_t) first;
	range->bits = (uint8_t) free_bits(first, last);
	range->part = (uint16_t) part;
	if (range->bits < histogram->least_bits)
		histogram->least_bits = range->bits;
	if (range->bits > histogram->most_bits)
		histogram->most_bits = range->bits;
}

/*
 * Add the blocks of bucket j on both sides of the number among them that ends
 * with most zeros. Each side shares a longer prefix than all of them do. The
 * bucket may end within the first block of the next bucket. That block counts
 * for the next one only.
 */
static void
add_bucket(SimdupHistogram *histogram, int j)
{
	uint32_t first = histogram->bounds[j];
	uint32_t next = j + 1 < histogram->n_buckets ? histogram->bounds[j + 1]
												 : (uint32_t) SIMDUP_BLOCKS;
	uint32_t last = next > first ? next - 1 : first;
	int bits = free_bits(first, last);
	uint32_t middle = bits == 0 ? first : last >> (bits - 1) << (bits - 1);
	int part = (int) (SIMDUP_WHOLE_BUCKET * (uint64_t) (middle - first) /
					  (last - first + 1));

	if (middle > first)
		add_range(histogram, first, middle - 1, part);
	add_range(histogram, middle, last, SIMDUP_WHOLE_BUCKET - part);
}

void
simdup_finish_histogram(SimdupHistogram *histogram)
{
	for (int bits = 0; bits <= SIMDUP_BLOCK_BITS; bits++)
		for (int t = 0; t <= SIMDUP_BLOCK_BITS; t++)
			histogram->within[bits][t] =
				pages_within(histogram->pages, bits, t, true);
	histogram->n_ranges = 0;
	histogram->least_bits = SIMDUP_BLOCK_BITS;
	histogram->most_bits = 0;
	for (int j = 0; j < histogram->n_buckets; j++)
		add_bucket(histogram, j);
}

SIMDUP_POPCNT_CLONES
void
simdup_page_costs(const SimdupHistogram *histogram, uint32_t block, int largest,
				  SimdupPageCosts costs)
{
	/* of buckets, by free bits and distance */
	int parts[SIMDUP_BLOCK_BITS + 1][SIMDUP_BLOCK_BITS + 1] = {{0}};

	for (int j = 0; j < histogram->n_ranges; j++)
	{
		const SimdupBlockRange *range = &histogram->ranges[j];
		uint32_t different = (range->first ^ block) >> range->bits;

		parts[range->bits][simdup_popcount64(different)] += range->part;
	}
	for (int r = 0; r < SIMDUP_BLOCK_BITS; r++)
		costs[r] = INFINITY;
	for (int r = 0; r <= largest && r < SIMDUP_BLOCK_BITS; r++)
	{
		double pages = 0;

		for (int bits = histogram->least_bits; bits <= histogram->most_bits;
			 bits++)
			for (int d = 0; d <= r && d <= SIMDUP_BLOCK_BITS - bits; d++)
				pages += parts[bits][d] * histogram->within[bits][r - d];
		costs[r] = 1 + pages / SIMDUP_WHOLE_BUCKET;
	}
	costs[SIMDUP_BLOCK_BITS] = histogram->n_buckets * histogram->pages;
}

void
simdup_uniform_page_costs(double pages, SimdupPageCosts costs)
{
	for (int r = 0; r <= SIMDUP_BLOCK_BITS; r++)
		costs[r] = fmax(pages_within(pages, SIMDUP_BLOCK_BITS, r, false), 1);
}

/*
 * Find the radii by dynamic programming. The least cost at which the rotations
 * so far contribute s to the sum k + 1 is best[s]. The last rotation's radius
 * for it, plus one, is in choice.
 */
double
simdup_choose_radii(int k, const SimdupPageCosts *costs, int *radii)
{
	double best[MAX_DISTANCE + 2];
	int choice[SIMDUP_ROTATIONS][MAX_DISTANCE + 2] = {{0}};
	int whole = 0;
	int sum = k + 1;

	for (int s = 0; s <= sum; s++)
		best[s] = s == 0 ? 0 : INFINITY;
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
	{
		for (int s = sum; s >= 0; s--)
			for (int part = 1; part <= SIMDUP_BLOCK_BITS + 1 && part <= s;
				 part++)
				if (best[s - part] + costs[i][part - 1] < best[s])
				{
					best[s] = best[s - part] + costs[i][part - 1];
					choice[i][s] = part;
				}
		if (costs[i][SIMDUP_BLOCK_BITS] < costs[whole][SIMDUP_BLOCK_BITS])
			whole = i;
	}
	if (costs[whole][SIMDUP_BLOCK_BITS] <= best[sum])
	{
		for (int i = 0; i < SIMDUP_ROTATIONS; i++)
			radii[i] = i == whole ? SIMDUP_BLOCK_BITS : -1;
		return costs[whole][SIMDUP_BLOCK_BITS];
	}
	for (int i = SIMDUP_ROTATIONS - 1, s = sum; i >= 0; i--)
	{
		radii[i] = choice[i][s] - 1;
		s -= choice[i][s];
	}
	return best[sum];
}
