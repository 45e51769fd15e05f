/*
 * setjoin.c
 *	  All pairs of near-equal sets against every pair compared.
 */
#include "core/join/setjoin.h"
#include "random.h"
#include "tap.h"

#define MAX_SETS 300
#define MAX_SIZE 200

typedef struct Sets
{
	uint32_t n;
	uint32_t sizes[MAX_SETS];
	uint32_t n_ranks[MAX_SETS];
	uint32_t ranks[MAX_SETS][MAX_SIZE];
	uint32_t all_ranks;
	unsigned char found[MAX_SETS][MAX_SETS];
	uint32_t expected[MAX_SETS][MAX_SETS]; /* in common */
	int64_t progress;
	double done;
} Sets;

static Sets sets;
static uint64_t state = 1;

static uint32_t
random_below(uint32_t n)
{
	return (uint32_t) (next_random_of(&state) % n);
}

static void
read_ranks(void *arg, uint32_t set, uint32_t *ranks)
{
	(void) arg;
	memcpy(ranks, sets.ranks[set], sets.n_ranks[set] * sizeof(uint32_t));
}

static void
put_pair(void *arg, uint32_t a, uint32_t b)
{
	(void) arg;
	sets.found[a][b]++;
}

static void
count_progress(void *arg, double done)
{
	(void) arg;
	if (done >= sets.done && done <= 1)
		sets.progress++;
	else
		sets.progress = INT32_MIN;
	sets.done = done;
}

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a;
	uint32_t y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

/* A set as generated, before ranks. */
typedef struct Raw
{
	uint32_t n;
	uint32_t elements[MAX_SIZE];
} Raw;

static Raw raw[MAX_SETS];

static bool
has_element(const Raw *set, uint32_t element)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->elements[i] == element)
			return true;
	return false;
}

static void
add_element(Raw *set, uint32_t element)
{
	if (set->n < MAX_SIZE && !has_element(set, element))
		set->elements[set->n++] = element;
}

/* Some sets are random, some are like an earlier one; few sizes or many. */
static void
make_raw_sets(uint32_t n, uint32_t alphabet, uint32_t max_size)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t size = 1 + random_below(max_size);

		raw[i].n = 0;
		if (i > 0 && random_below(2))
		{
			const Raw *model = &raw[random_below(i)];

			for (uint32_t j = 0; j < model->n; j++)
				if (random_below(8))
					add_element(&raw[i], model->elements[j]);
		}
		/* the square makes some elements much more frequent */
		while (raw[i].n < size)
			add_element(&raw[i], random_below(1 + random_below(alphabet)));
	}
}

static int
compare_sizes(const void *a, const void *b)
{
	return compare_numbers(&((const Raw *) a)->n, &((const Raw *) b)->n);
}

/* Turn elements into ranks: of those that two sets have, by frequency. */
static void
rank_sets(uint32_t n, uint32_t alphabet)
{
	uint32_t *frequency = calloc(alphabet, sizeof(uint32_t));

	qsort(raw, n, sizeof(Raw), compare_sizes);
	memset(&sets, 0, sizeof(sets));
	sets.n = n;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < raw[i].n; j++)
			frequency[raw[i].elements[j]]++;
	for (uint32_t f = 2; f <= n; f++)
		for (uint32_t element = 0; element < alphabet; element++)
		{
			if (frequency[element] != f)
				continue;
			for (uint32_t i = 0; i < n; i++)
				if (has_element(&raw[i], element))
					sets.ranks[i][sets.n_ranks[i]++] = sets.all_ranks;
			sets.all_ranks++;
		}
	for (uint32_t i = 0; i < n; i++)
		sets.sizes[i] = raw[i].n;
	free(frequency);
}

/* By definition, once for all thresholds. */
static void
count_common(void)
{
	for (uint32_t a = 0; a < sets.n; a++)
		for (uint32_t b = a + 1; b < sets.n; b++)
			for (uint32_t i = 0, j = 0;
				 i < sets.n_ranks[a] && j < sets.n_ranks[b];)
			{
				uint32_t x = sets.ranks[a][i];
				uint32_t y = sets.ranks[b][j];

				sets.expected[a][b] += x == y;
				i += x <= y;
				j += y <= x;
			}
}

/* Pairs that the join must have reported and has not, or the other way. */
static int
wrong_pairs(double threshold)
{
	int wrong = 0;

	for (uint32_t a = 0; a < sets.n; a++)
		for (uint32_t b = 0; b < sets.n; b++)
		{
			uint32_t common = sets.expected[a][b];
			double either = (double) sets.sizes[a] + sets.sizes[b] - common;
			bool near = a < b && common / either >= threshold;

			wrong += sets.found[a][b] != near;
		}
	return wrong;
}

static void
test_join(double threshold, uint32_t common_from, size_t memory)
{
	SimdupSetJoin join = {.n = sets.n,
						  .sizes = sets.sizes,
						  .n_ranks = sets.n_ranks,
						  .all_ranks = sets.all_ranks,
						  .common_from = common_from,
						  .read = read_ranks,
						  .sink = put_pair,
						  .progress = count_progress};

	memset(sets.found, 0, sizeof(sets.found));
	sets.progress = 0;
	sets.done = 0;
	simdup_set_join(&join, threshold, memory);
	ok(wrong_pairs(threshold) == 0 && sets.progress >= sets.n,
	   "%" PRIu32 " sets, %" PRIu32 " ranks, common from %" PRIu32
	   ", at %g, in %zu bytes",
	   sets.n, sets.all_ranks, common_from, threshold, memory);
}

int
main(void)
{
	static const double thresholds[] = {0.001, 0.3, 0.5, 0.6,  2.0 / 3,
										0.75,  0.8, 0.9, 0.99, 1.0};
	static const struct
	{
		uint32_t n;
		uint32_t alphabet;
		uint32_t max_size;
	} shapes[] = {{300, 100, 10},	{300, 1000, 60}, {200, 300, 190},
				  {100, 2000, 100}, {50, 8, 8},		 {2, 4, 4},
				  {1, 4, 4},		{0, 1, 1}};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		make_raw_sets(shapes[i].n, shapes[i].alphabet, shapes[i].max_size);
		rank_sets(shapes[i].n, shapes[i].alphabet);
		count_common();
		for (size_t t = 0; t < sizeof(thresholds) / sizeof(thresholds[0]); t++)
		{
			/* no bitmap, half of the ranks in bitmaps, all; one block, many */
			test_join(thresholds[t], sets.all_ranks, SIZE_MAX / 2);
			test_join(thresholds[t], sets.all_ranks / 2, SIZE_MAX / 2);
			test_join(thresholds[t], 0, 10000);
			test_join(thresholds[t], sets.all_ranks / 2, 10000);
			test_join(thresholds[t], sets.all_ranks * 3 / 4, 0);
		}
	}
	return done_testing();
}
