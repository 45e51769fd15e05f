/*
 * page_search.c
 *	  The search in a page of a hamming index.
 */
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/search/search.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 11;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* The loops over a page against one comparison after the other. */
static void
test_find(int n)
{
	uint64_t *values = malloc(sizeof(uint64_t) * (size_t) (n + 1));
	uint16_t *found = malloc(sizeof(uint16_t) * (size_t) (n + 1));
	uint8_t *distances = malloc((size_t) (n + 1));
	bool right = true;

	for (int i = 0; i < n; i++)
		values[i] = next_random() & next_random() & next_random();
	for (int k = 0; k <= 64; k += k < 3 ? 1 : 4)
	{
		int n_found = simdup_find_near(values, n, 5, k, found);
		int expected = 0;

		for (int i = 0; i < n; i++)
			if (simdup_hamming64(values[i], 5) <= k)
				right = right && expected < n_found && found[expected++] == i;
		right = right && expected == n_found;
	}
	simdup_distances(values, n, 5, distances);
	for (int i = 0; i < n; i++)
		right = right && distances[i] == simdup_hamming64(values[i], 5);
	ok(right, "%d values: those within each radius, and all distances", n);
	free(values);
	free(found);
	free(distances);
}

/*
 * A leaf's sorted values, around a first block, and the near blocks of a center
 * that the leaf may hold, against one comparison after the other.
 */
static void
test_blocks(int n, int span, int radius)
{
	static uint16_t near[SIMDUP_BLOCKS];
	uint64_t *values = malloc(sizeof(uint64_t) * (size_t) (n + 1));
	uint16_t *found = malloc(sizeof(uint16_t) * (size_t) (n + 1));
	bool right = true;

	for (int round = 0; round < 300; round++)
	{
		uint64_t center = next_random();
		uint32_t first = round % 3 == 0 ? (uint32_t) (center >> 48)
						 : round % 3 == 1
							 ? (uint32_t) (next_random() & 0xffff)
							 : (uint32_t) (SIMDUP_BLOCKS - 1 - span);
		uint32_t last =
			first + (uint32_t) span > 0xffff ? 0xffff : first + (uint32_t) span;
		int n_near =
			simdup_near_blocks((uint32_t) (center >> 48), radius, near);
		int start = 0;
		int end;
		int at = 0;
		int n_found;

		/* some are like the center, but for a few bits */
		for (int i = 0; i < n; i++)
		{
			uint64_t block = first + next_random() % (last - first + 1);
			uint64_t rest =
				i % 5 == 0 ? center ^ UINT64_C(1) << i % 48 : next_random();

			values[i] = block << 48 | (rest & (UINT64_MAX >> 16));
		}
		qsort(values, (size_t) n, sizeof(uint64_t), simdup_compare_words);
		while (start < n_near && near[start] < first)
			start++;
		for (end = start; end < n_near && near[end] <= last;)
			end++;
		n_found =
			simdup_find_in_blocks(values, n,
								  (uint64_t) last << 48 | (UINT64_MAX >> 16),
								  near + start, end - start, center, 12, found);
		/* an entry that is not near by its block may be found too, but only once */
		for (int i = 0; i < n; i++)
		{
			bool is_near = simdup_hamming64(values[i], center) <= 12;

			if (at < n_found && found[at] == i)
			{
				right = right && is_near;
				at++;
			}
			else
				right = right &&
						!(is_near && simdup_popcount64((values[i] ^ center) >>
													   48) <= radius);
		}
		right = right && at == n_found;
	}
	ok(right, "%d values of %d blocks, radius %d: those in near blocks", n,
	   span + 1, radius);
	free(values);
	free(found);
}

int
main(void)
{
	for (int n = 0; n < 70; n += 1 + n / 8)
		test_find(n);
	test_find(581);
	for (int span = 0; span < SIMDUP_BLOCKS; span = 3 * span + 1)
		for (int radius = 0; radius < 4; radius++)
		{
			test_blocks(0, span, radius);
			test_blocks(7, span, radius);
			test_blocks(523, span, radius);
		}
	return done_testing();
}
