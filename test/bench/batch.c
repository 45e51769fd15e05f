/*
 * batch.c
 *	  The all-pairs join of core/ beside a plain four-block sort and compare.
 *
 *	  batch ROWS MAX_DISTANCE [plain]: random fingerprints, a tenth of them at
 *	  most MAX_DISTANCE bits away from another. The plain one is for k = 3.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/hamming.h"
#include "core/group.h"
#include "core/allpairs.h"
#include "../unit/random.h"

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void
fill(uint64_t *fps, size_t n, int k)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++)
	{
		fps[i] = next_random_of(&state);
		if (i % 10 == 9)
		{
			int flips = (int) (next_random_of(&state) % (k + 1));

			fps[i] = fps[next_random_of(&state) % i];
			while (flips--)
				fps[i] ^= UINT64_C(1) << (next_random_of(&state) % 64);
		}
	}
}

typedef struct Groups
{
	uint32_t *sizes;
	uint64_t n_pairs;
} Groups;

static void
count_pairs(void *arg, SimdupElement a, SimdupElement b)
{
	Groups *groups = arg;

	groups->n_pairs +=
		(uint64_t) groups->sizes[a.index] * groups->sizes[b.index];
}

/* Memory that both have before the clock starts, as the reader's is. */
typedef struct Arrays
{
	uint64_t *fps;
	SimdupElement *elements;
	SimdupElement *moved;
	uint32_t *sizes;
} Arrays;

/* Group equal ones, then join: what the server does, without the server. */
static uint64_t
by_join(const uint64_t *input, size_t n, int k, const Arrays *arrays)
{
	uint64_t *fps = arrays->fps;
	SimdupRowGroups rows;
	size_t distinct = 0;
	Groups groups = {.sizes = arrays->sizes};
	SimdupPairJoin *join = calloc(1, sizeof(SimdupPairJoin));
	SimdupPairSet set;

	memcpy(fps, input, n * 8);
	rows = simdup_group_rows(fps, NULL, 1, (uint32_t) n);
	for (size_t i = 0; i < rows.n; i++)
	{
		uint64_t size = rows.starts[i + 1] - rows.starts[i];

		groups.sizes[i] = (uint32_t) size;
		groups.n_pairs += size * (size - 1) / 2;
		arrays->elements[i] = (SimdupElement){fps[i], i};
	}
	distinct = rows.n;
	join->max_distance = k;
	join->sink = count_pairs;
	join->arg = &groups;
	set.elements = arrays->elements;
	set.scratch = arrays->moved;
	set.n = distinct;
	simdup_pairs_self(join, set);
	free(join);
	return groups.n_pairs;
}

static int sort_shift;

static int
compare_rotated(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	x = sort_shift ? x >> sort_shift | x << (64 - sort_shift) : x;
	y = sort_shift ? y >> sort_shift | y << (64 - sort_shift) : y;
	return (x > y) - (x < y);
}

/* Check whether a pair agrees in a block before this one, and was counted there. */
static int
counted_before(uint64_t x, int block)
{
	for (int i = 0; i < block; i++)
		if (!(x >> (16 * i) & 0xffff))
			return 1;
	return 0;
}

/* Four times: sort by a block, compare what is equal in it. k = 3. */
static uint64_t
by_sorting(const uint64_t *input, size_t n, const Arrays *arrays)
{
	uint64_t *fps = arrays->fps;
	uint64_t found = 0;

	memcpy(fps, input, n * 8);
	for (int block = 0; block < 4; block++)
	{
		size_t start = 0;

		sort_shift = (16 * (block + 1)) % 64;
		qsort(fps, n, sizeof(uint64_t), compare_rotated);
		for (size_t i = 1; i < n; i++)
		{
			if (((fps[i] ^ fps[start]) >> (16 * block)) & 0xffff)
				start = i;
			for (size_t j = start; j < i; j++)
				if (simdup_hamming64(fps[i], fps[j]) <= 3 &&
					!counted_before(fps[i] ^ fps[j], block))
					found++;
		}
	}
	return found;
}

static void *
touched(size_t size)
{
	void *p = malloc(size);

	memset(p, 1, size);
	return p;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

#define ROUNDS 3

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	int k = argc > 2 ? atoi(argv[2]) : 3;
	bool plain = argc > 3;
	uint64_t *input = touched(n * 8);
	Arrays arrays = {touched(n * 8), touched(n * 16), touched(n * 16),
					 touched(n * 4)};
	double took[2][ROUNDS];
	uint64_t pairs[2] = {0, 0};

	fill(input, n, k);
	for (int i = 0; i < ROUNDS; i++)
	{
		double start = seconds();

		pairs[0] = by_join(input, n, k, &arrays);
		took[0][i] = seconds() - start;
		if (!plain)
			continue;
		start = seconds();
		pairs[1] = by_sorting(input, n, &arrays);
		took[1][i] = seconds() - start;
	}
	qsort(took[0], ROUNDS, sizeof(double), compare_doubles);
	printf("  %9zu fingerprints, k = %2d: %9" PRIu64 " pairs, join %.3f s", n,
		   k, pairs[0], took[0][ROUNDS / 2]);
	if (plain)
	{
		qsort(took[1], ROUNDS, sizeof(double), compare_doubles);
		printf(", plain %.3f s, ratio %.2f", took[1][ROUNDS / 2],
			   took[0][ROUNDS / 2] / took[1][ROUNDS / 2]);
	}
	putchar('\n');
	if (plain && pairs[0] != pairs[1])
		return 1;
	return 0;
}
