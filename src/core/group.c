/*
 * group.c
 *	  Rows grouped by equal fingerprints: a radix sort.
 */
#include <string.h>

#include "core/group.h"
#include "core/host.h"

#define DIGIT_BITS 8
#define N_DIGITS (64 / DIGIT_BITS)
#define N_VALUES (1 << DIGIT_BITS)
#define SMALL_RUN 32

/* Rows and room to move them to, and which of the two pairs holds them. */
typedef struct Rows
{
	uint64_t *fps;
	uint32_t *rows;
	uint64_t *fps_to;
	uint32_t *rows_to;
	size_t n;
} Rows;

static inline int
digit_of(uint64_t fp, int digit)
{
	return (int) (fp >> (digit * DIGIT_BITS)) & (N_VALUES - 1);
}

/* One stable pass by one digit; the pairs of arrays change places. */
static void
move_by_digit(Rows *r, int digit)
{
	uint32_t ends[N_VALUES] = {0};
	uint32_t sum = 0;
	Rows moved = {r->fps_to, r->rows_to, r->fps, r->rows, r->n};

	for (size_t i = 0; i < r->n; i++)
		ends[digit_of(r->fps[i], digit)]++;
	for (size_t i = 0; i < N_VALUES; i++)
	{
		uint32_t count = ends[i];

		ends[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < r->n; i++)
	{
		uint32_t to = ends[digit_of(r->fps[i], digit)]++;

		r->fps_to[to] = r->fps[i];
		r->rows_to[to] = r->rows[i];
		if ((i & 0xfffff) == 0xfffff)
			simdup_check_interrupts();
	}
	*r = moved;
}

static void
insertion_sort(uint64_t *fps, uint32_t *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64_t fp = fps[i];
		uint32_t row = rows[i];
		size_t j;

		for (j = i; j > 0 && fps[j - 1] > fp; j--)
		{
			fps[j] = fps[j - 1];
			rows[j] = rows[j - 1];
		}
		fps[j] = fp;
		rows[j] = row;
	}
}

/*
 * Sort by the highest digits that differ, as many as tell most rows apart. Then
 * sort each run that is still equal by the digits below.
 */
static void
sort_below(Rows r, int n_digits)
{
	Rows home = r;
	uint64_t varying = 0;
	int digits[N_DIGITS];
	int n_chosen = 0;
	int lowest = n_digits;

	for (size_t i = 1; i < r.n; i++)
		varying |= r.fps[i] ^ r.fps[0];
	while (lowest > 0 &&
		   (n_chosen == 0 || r.n >> (DIGIT_BITS * n_chosen - 1) > 0))
		if (digit_of(varying, --lowest))
			digits[n_chosen++] = lowest;
	while (n_chosen > 0)
		move_by_digit(&r, digits[--n_chosen]);
	if (r.fps != home.fps)
	{
		memcpy(home.fps, r.fps, r.n * sizeof(uint64_t));
		memcpy(home.rows, r.rows, r.n * sizeof(uint32_t));
	}
	if (lowest == 0)
		return;

	for (size_t start = 0, i = 1; i <= r.n; i++)
	{
		if (i < r.n &&
			(home.fps[i] ^ home.fps[start]) >> (DIGIT_BITS * lowest) == 0)
			continue;
		if (i - start > SMALL_RUN)
		{
			Rows run = {home.fps + start, home.rows + start,
						home.fps_to + start, home.rows_to + start, i - start};

			sort_below(run, lowest);
		}
		else
			insertion_sort(home.fps + start, home.rows + start, i - start);
		start = i;
	}
}

void
simdup_sort_rows(uint64_t *fps, uint32_t *rows, uint64_t *fp_scratch,
				 uint32_t *row_scratch, size_t n)
{
	Rows r = {fps, rows, fp_scratch, row_scratch, n};

	sort_below(r, N_DIGITS);
}

/* The same with scratch arrays of its own. */
static void
sort_alone(uint64_t *fps, uint32_t *rows, uint32_t n)
{
	uint64_t *fp_scratch = simdup_alloc((size_t) n * sizeof(uint64_t));
	uint32_t *row_scratch = simdup_alloc((size_t) n * sizeof(uint32_t));

	simdup_sort_rows(fps, rows, fp_scratch, row_scratch, n);
	simdup_free(fp_scratch);
	simdup_free(row_scratch);
}

SimdupRowGroups
simdup_group_rows(uint64_t *fps, uint32_t n)
{
	SimdupRowGroups groups = {0, fps, NULL, NULL};
	uint32_t g = 0;

	groups.numbers = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		groups.numbers[i] = i;
	if (n > 0)
		sort_alone(fps, groups.numbers, n);
	for (uint32_t i = 0; i < n; i++)
		groups.n += i == 0 || fps[i] != fps[i - 1];

	groups.starts = simdup_alloc(((size_t) groups.n + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t fp = fps[i];

		if (g > 0 && fps[g - 1] == fp)
			continue;
		groups.starts[g] = i;
		fps[g++] = fp;
	}
	groups.starts[g] = n;
	return groups;
}
