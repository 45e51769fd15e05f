/*
 * batch.c
 *	  The all-pairs join of core/ by each set of instructions, beside its recursion
 *	  alone; for k = 3 also beside a plain four-block sort and compare.
 *
 *	  batch ROWS MAX_DISTANCE KIND [MOST].  MOST is the number of the last set of
 *	  instructions to try, 0 for plain C.  KIND is one of:
 *
 *	  uniform  random fingerprints
 *	  near     the same, a tenth of them near another
 *	  p.15     each bit is set with this chance
 *	  family8  eight random bits flipped in one fingerprint
 *	  low24    all equal but for the low 24 bits
 *	  plain    as near, beside the plain way
 *
 *	  Times are of the processor, of one run each.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/fingerprint/hamming.h"
#include "core/fingerprint/vectors.h"
#include "core/join/ball.h"
#include "core/search/sort.h"
#include "../unit/random.h"

static double
seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		   (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static uint64_t state = 1;

static uint64_t
flip(uint64_t fp, int n)
{
	while (n--)
		fp ^= UINT64_C(1) << (next_random_of(&state) % 64);
	return fp;
}

static uint64_t
biased(double p)
{
	uint64_t fp = 0;

	for (int bit = 0; bit < 64; bit++)
		if ((double) (next_random_of(&state) >> 11) < p * 0x1p53)
			fp |= UINT64_C(1) << bit;
	return fp;
}

static void
fill(uint64_t *fps, size_t n, int k, const char *kind)
{
	uint64_t center = next_random_of(&state);

	for (size_t i = 0; i < n; i++)
	{
		uint64_t r = next_random_of(&state);

		if (kind[0] == 'p' && kind[1] == '.')
			fps[i] = biased(atof(kind + 1));
		else if (strncmp(kind, "family", 6) == 0)
			fps[i] = flip(center, atoi(kind + 6));
		else if (strncmp(kind, "low", 3) == 0)
			fps[i] = center ^ (r & ((UINT64_C(1) << atoi(kind + 3)) - 1));
		else if (strcmp(kind, "uniform") != 0 && i % 10 == 9)
			fps[i] = flip(fps[r % i],
						  (int) (next_random_of(&state) % (unsigned) (k + 1)));
		else
			fps[i] = r;
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

/* Group equal ones, then join, as the server does. */
static uint64_t
by_join(const uint64_t *input, size_t n, int k, bool recursion,
		const Arrays *arrays)
{
	SimdupSortItem *rows = simdup_alloc((n + 1) * sizeof(SimdupSortItem));
	Groups groups = {.sizes = arrays->sizes};
	SimdupPairJoin *join = calloc(1, sizeof(SimdupPairJoin));
	SimdupPairSet set;

	for (size_t i = 0; i < n; i++)
		rows[i] = (SimdupSortItem){input[i], i};
	simdup_sort_pairs(rows, n);
	set.n = 0;
	for (size_t i = 0, size; i < n; i += size)
	{
		for (size = 1; i + size < n && rows[i + size].value == rows[i].value;)
			size++;
		groups.sizes[set.n] = (uint32_t) size;
		groups.n_pairs += size * (size - 1) / 2;
		arrays->elements[set.n] = (SimdupElement){rows[i].value, set.n};
		set.n++;
	}
	simdup_free(rows);
	join->max_distance = k;
	/* deep within joins, balls are not tried */
	join->n_nested = recursion ? 1000 : 0;
	join->sink = count_pairs;
	join->arg = &groups;
	set.elements = arrays->elements;
	set.scratch = arrays->moved;
	simdup_pair_join(join, set, NULL);
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

/* Four times: sort by a block, compare those equal in it. k = 3. */
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

int
main(int argc, char **argv)
{
	static const char *const names[] = {"recursion", "plain C", "AVX2",
										"AVX-512"};
	size_t n = strtoul(argv[1], NULL, 10);
	int k = atoi(argv[2]);
	const char *kind = argc > 3 ? argv[3] : "near";
	uint64_t *input = touched(n * 8);
	Arrays arrays = {touched(n * 8), touched(n * 16), touched(n * 16),
					 touched(n * 4)};
	double first = 0;
	uint64_t pairs = 0;
	int most = argc > 4 ? atoi(argv[4]) : (int) simdup_find_vectors();

	fill(input, n, k, kind);
	printf("%-8s %9zu fingerprints, k = %2d:", kind, n, k);
	for (int i = 0; i <= most; i++)
	{
		double start = seconds();
		uint64_t found;

		simdup_vectors = (SimdupVectors) (i == 0 ? most : i);
		found = by_join(input, n, k, i == 0, &arrays);
		start = seconds() - start;
		if (i == 0)
		{
			first = start;
			pairs = found;
			printf(" %" PRIu64 " pairs; ", pairs);
		}
		printf(i == 0 ? "%s %.2f s" : ", %s %.2f s (%.2f)", names[i], start,
			   start / first);
		fflush(stdout);
		if (found != pairs)
			return 1;
	}
	if (strcmp(kind, "plain") == 0)
	{
		double start = seconds();

		if (by_sorting(input, n, &arrays) != pairs)
			return 1;
		printf(", plain sorting %.2f s", seconds() - start);
	}
	putchar('\n');
	return 0;
}
