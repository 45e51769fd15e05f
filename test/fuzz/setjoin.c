/*
 * setjoin.c
 *	  The join of sets by resemblance, with any sets, thresholds and memory,
 *	  against every pair compared.
 */
#include "core/fingerprint/hamming.h"
#include "core/join/setjoin.h"
#include "input.h"

#define MAX_SETS 48
#define N_ELEMENTS 64

typedef struct Sets
{
	uint32_t n;
	uint64_t masks[MAX_SETS]; /* by rank */
	uint32_t sizes[MAX_SETS];
	uint32_t n_ranks[MAX_SETS];
	unsigned char found[MAX_SETS][MAX_SETS];
} Sets;

/* Masks over elements that have no order yet, with elements of one set only. */
static void
take_sets(Input *in, uint64_t *masks, uint32_t *alone, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t mask = take_word(in);

		/* many sets are almost another one */
		if (i > 0 && take_between(in, 0, 2) > 0)
			mask = masks[take_between(in, 0, i - 1)] ^
				   UINT64_C(1) << take_between(in, 0, 63);
		masks[i] = mask == 0 ? 1 : mask;
		alone[i] = (uint32_t) take_between(in, 0, 5);
	}
}

/* Number the elements by rarity, as the join wants them. */
static void
rank_elements(uint64_t *masks, uint32_t n)
{
	uint32_t counts[N_ELEMENTS] = {0};
	int rank_of[N_ELEMENTS];

	for (uint32_t i = 0; i < n; i++)
		for (int e = 0; e < N_ELEMENTS; e++)
			counts[e] += masks[i] >> e & 1;
	for (int e = 0; e < N_ELEMENTS; e++)
	{
		rank_of[e] = 0;
		for (int other = 0; other < N_ELEMENTS; other++)
			rank_of[e] += counts[other] < counts[e] ||
						  (counts[other] == counts[e] && other < e);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t ranked = 0;

		for (int e = 0; e < N_ELEMENTS; e++)
			ranked |= (masks[i] >> e & 1) << rank_of[e];
		masks[i] = ranked;
	}
}

/* Sets in ascending order of size. */
static void
order_sets(Sets *sets, const uint64_t *masks, const uint32_t *alone, uint32_t n)
{
	for (uint32_t size = 1; size <= N_ELEMENTS + 5; size++)
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t n_ranks = (uint32_t) simdup_popcount64(masks[i]);

			if (n_ranks + alone[i] != size)
				continue;
			sets->masks[sets->n] = masks[i];
			sets->n_ranks[sets->n] = n_ranks;
			sets->sizes[sets->n++] = size;
		}
}

static void
read_ranks(void *arg, uint32_t set, uint32_t *ranks)
{
	const Sets *sets = arg;

	for (uint32_t rank = 0; rank < N_ELEMENTS; rank++)
		if (sets->masks[set] >> rank & 1)
			*ranks++ = rank;
}

static void
put_pair(void *arg, uint32_t a, uint32_t b)
{
	Sets *sets = arg;

	must(a < b && b < sets->n);
	must(!sets->found[a][b]);
	sets->found[a][b] = 1;
}

static void
check_progress(void *arg, double done)
{
	(void) arg;
	must(done >= 0 && done <= 1);
}

static void
check_pairs(const Sets *sets, double min_resemblance)
{
	for (uint32_t a = 0; a < sets->n; a++)
		for (uint32_t b = a + 1; b < sets->n; b++)
		{
			int common = simdup_popcount64(sets->masks[a] & sets->masks[b]);
			double either =
				(double) sets->sizes[a] + (double) sets->sizes[b] - common;

			must(sets->found[a][b] == (common / either >= min_resemblance));
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	uint64_t masks[MAX_SETS];
	uint32_t alone[MAX_SETS];
	Sets sets = {0};
	SimdupSetJoin join = {.read = read_ranks,
						  .sink = put_pair,
						  .progress = check_progress,
						  .arg = &sets};
	uint32_t n = (uint32_t) take_between(&in, 1, MAX_SETS);
	double min_resemblance = (double) take_between(&in, 1, 100) / 100;
	size_t memory = take_between(&in, 0, 20000);

	join.common_from = (uint32_t) take_between(&in, 0, N_ELEMENTS);
	take_sets(&in, masks, alone, n);
	rank_elements(masks, n);
	order_sets(&sets, masks, alone, n);
	join.n = sets.n;
	join.sizes = sets.sizes;
	join.n_ranks = sets.n_ranks;
	join.all_ranks = N_ELEMENTS;
	simdup_set_join(&join, min_resemblance, memory);
	check_pairs(&sets, min_resemblance);
	return 0;
}
