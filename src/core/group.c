/*
 * group.c
 *	  Rows grouped by scope and equal fingerprints, and pairs of numbers put in
 *	  order.
 *
 * Pairs are sorted by radix from the highest byte on (American flag sort:
 * McIlroy, Bostic and McIlroy 1993). It needs no second array, and reads the
 * pairs about three times where a comparison sort reads them once a binary digit
 * of their number.
 */
#include <string.h>

#include "core/group.h"
#include "core/host.h"

/* Equal fingerprints */

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

/* Make one stable pass by one digit. The pairs of arrays change places. */
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

/* Sort with scratch arrays of its own. */
static void
sort_alone(uint64_t *fps, uint32_t *rows, uint32_t n)
{
	uint64_t *fp_scratch = simdup_alloc((size_t) n * sizeof(uint64_t));
	uint32_t *row_scratch = simdup_alloc((size_t) n * sizeof(uint32_t));

	simdup_sort_rows(fps, rows, fp_scratch, row_scratch, n);
	simdup_free(fp_scratch);
	simdup_free(row_scratch);
}

/* Put sorted rows in the order of their scopes, and keep their order in each. */
static void
order_by_scope(uint64_t *fps, uint32_t *rows, const uint32_t *scope,
			   uint32_t n_scopes, uint32_t n)
{
	uint32_t *ends = simdup_alloc0(((size_t) n_scopes + 1) * sizeof(uint32_t));
	uint64_t *fps_from = simdup_alloc(((size_t) n + 1) * sizeof(uint64_t));
	uint32_t *rows_from = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));

	memcpy(fps_from, fps, n * sizeof(uint64_t));
	memcpy(rows_from, rows, n * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		ends[scope[i] + 1]++;
	for (uint32_t s = 1; s <= n_scopes; s++)
		ends[s] += ends[s - 1];
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t to = ends[scope[rows_from[i]]]++;

		fps[to] = fps_from[i];
		rows[to] = rows_from[i];
	}
	simdup_free(ends);
	simdup_free(fps_from);
	simdup_free(rows_from);
}

SimdupRowGroups
simdup_group_rows(uint64_t *fps, const uint32_t *scope, uint32_t n_scopes,
				  uint32_t n)
{
	SimdupRowGroups groups = {0, fps, NULL, NULL, NULL};
	uint32_t n_begun = 0; /* scopes */

	groups.numbers = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		groups.numbers[i] = i;
	if (n > 0)
		sort_alone(fps, groups.numbers, n);
	if (n_scopes > 1)
		order_by_scope(fps, groups.numbers, scope, n_scopes, n);
	for (uint32_t i = 0; i < n; i++)
		groups.n += i == 0 || fps[i] != fps[i - 1] ||
					(n_scopes > 1 &&
					 scope[groups.numbers[i]] != scope[groups.numbers[i - 1]]);

	groups.starts = simdup_alloc(((size_t) groups.n + 1) * sizeof(uint32_t));
	groups.scope_starts =
		simdup_alloc(((size_t) n_scopes + 1) * sizeof(uint32_t));
	groups.n = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t fp = fps[i];
		uint32_t of = n_scopes > 1 ? scope[groups.numbers[i]] : 0;

		if (of < n_begun && fps[groups.n - 1] == fp)
			continue;
		while (n_begun <= of)
			groups.scope_starts[n_begun++] = groups.n;
		groups.starts[groups.n] = i;
		fps[groups.n++] = fp;
	}
	groups.starts[groups.n] = n;
	while (n_begun <= n_scopes)
		groups.scope_starts[n_begun++] = groups.n;
	return groups;
}

/* Pairs of numbers */

/* So few pairs are sorted by insertion. */
#define FEW_PAIRS 40

#define N_BYTES 256

static void
sort_few_pairs(SimdupPair *pairs, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		SimdupPair pair = pairs[i];
		size_t at = i;

		while (at > 0 && simdup_pair_less(&pair, &pairs[at - 1]))
		{
			pairs[at] = pairs[at - 1];
			at--;
		}
		pairs[at] = pair;
	}
}

/*
 * Return a byte of the pair. Byte 0 is the highest of the first number, byte 15
 * the lowest of the second.
 */
static inline unsigned
byte_of(const SimdupPair *pair, int byte)
{
	uint64_t word = byte < 8 ? pair->first : pair->second;

	return (unsigned) (word >> (56 - byte % 8 * 8)) & 0xff;
}

/* Return the highest byte in which the pairs differ; 16 if all are equal. */
static int
first_difference(const SimdupPair *pairs, size_t n)
{
	uint64_t first = 0;
	uint64_t second = 0;
	int byte = 0;

	for (size_t i = 1; i < n; i++)
	{
		first |= pairs[i].first ^ pairs[0].first;
		second |= pairs[i].second ^ pairs[0].second;
	}
	if (first == 0)
	{
		byte = 8;
		first = second;
	}
	if (first == 0)
		return 16;
	while (first >> 56 == 0)
	{
		first <<= 8;
		byte++;
	}
	return byte;
}

/*
 * Partition the pairs by a byte; ends[b] becomes the end of those with byte b.
 */
static void
part_by_byte(SimdupPair *pairs, size_t n, int byte, size_t *ends)
{
	size_t next[N_BYTES];
	size_t start = 0;

	for (int b = 0; b < N_BYTES; b++)
		ends[b] = 0;
	for (size_t i = 0; i < n; i++)
		ends[byte_of(&pairs[i], byte)]++;
	for (int b = 0; b < N_BYTES; b++)
	{
		next[b] = start;
		start = ends[b] += start;
	}
	/* a pair out of place goes to its place, and what was there goes on */
	for (int b = 0; b < N_BYTES; b++)
		while (next[b] < ends[b])
		{
			SimdupPair pair = pairs[next[b]];
			unsigned own;

			while ((own = byte_of(&pair, byte)) != (unsigned) b)
			{
				SimdupPair other = pairs[next[own]];

				pairs[next[own]++] = pair;
				pair = other;
			}
			pairs[next[b]++] = pair;
		}
}

void
simdup_order_pairs(SimdupPair *pairs, size_t n)
{
	size_t ends[N_BYTES];
	size_t start = 0;
	int byte;

	if (n <= FEW_PAIRS)
	{
		sort_few_pairs(pairs, n);
		return;
	}
	simdup_check_interrupts();
	byte = first_difference(pairs, n);
	if (byte == 16)
		return;
	part_by_byte(pairs, n, byte, ends);
	/* at most 16 deep, since each level settles a byte */
	for (int b = 0; b < N_BYTES; b++)
	{
		simdup_order_pairs(pairs + start, ends[b] - start);
		start = ends[b];
	}
}
