/*
 * allpairs.c
 *	  All pairs of any set of fingerprints, and of two sets, against comparing
 *	  all with all. Each pair comes once, none is too far, none is missed, and
 *	  the set stays as it was. Also the steps before: rows sorted and grouped by
 *	  their fingerprints, a group found by its value, the bits cut into blocks.
 */
#include "core/cluster/grouping.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/shingle.h"
#include "core/fingerprint/vectors.h"
#include "core/host.h"
#include "core/join/ball.h"
#include "core/join/pigeonhole.h"
#include "input.h"
#include "random.h"

#define MAX_ROWS 800

static uint64_t fps[MAX_ROWS];

/*
 * Sets out of few bytes: single fingerprints, runs of random or counted ones
 * that vary in some bits only, copies of earlier ones with bits flipped.
 */
static size_t
take_fingerprints(Input *in)
{
	size_t n = 0;

	while (input_left(in) > 0 && n < MAX_ROWS)
	{
		uint8_t kind = take_byte(in);
		uint64_t base = n > 0 ? fps[take_between(in, 0, n - 1)] : 0;
		uint64_t mask = ~UINT64_C(0);
		size_t count = 1;

		if (kind & 4)
			base = take_word(in);
		if (kind & 8)
			mask = take_word(in);
		if (kind & 16)
			count = take_between(in, 1, kind & 32 ? 500 : 60);
		for (size_t i = 0; i < count && n < MAX_ROWS; i++)
		{
			uint64_t state = base + i;
			uint64_t word = kind & 1 ? next_random_of(&state) : i;

			if (kind & 2) /* a few bits flipped */
				word = UINT64_C(1) << (next_random_of(&state) & 63) |
					   UINT64_C(1) << (next_random_of(&state) & 63);
			fps[n++] = base ^ (word & mask);
		}
	}
	return n;
}

/* Sort the fingerprints, and drop equal ones; how many are left. */
static size_t
drop_equal(size_t n)
{
	SimdupHashes list = {fps, n, n};

	simdup_hashes_unique(&list);
	return list.n;
}

static int
distance(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b);
}

typedef struct Found
{
	uint8_t *seen; /* n by n: times found */
	uint32_t n;
	double done;
} Found;

static void
find(void *arg, SimdupElement a, SimdupElement b)
{
	Found *found = arg;

	must(fps[a.index] == a.fp && fps[b.index] == b.fp);
	found->seen[a.index * found->n + b.index]++;
}

static void
advance(void *arg, double done)
{
	Found *found = arg;

	must(done >= 0 && done <= 1.0001);
	found->done = done;
}

/* Fingerprint i is in a set if its lot says so. */
static bool
in_set(size_t i, uint64_t lots, int set)
{
	return lots >> (i % 32 * 2 + (size_t) set) & 1;
}

static size_t
make_set(SimdupElement *set, size_t n, uint64_t lots, int number)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (in_set(i, lots, number))
			set[m++] = (SimdupElement){fps[i], i};
	return m;
}

static void
check_join(SimdupPairJoin *join, Found *found, uint64_t lots, bool cross)
{
	static SimdupElement sets[2][MAX_ROWS];
	static SimdupElement scratch[2][MAX_ROWS];
	uint32_t n = found->n;
	size_t n_a = make_set(sets[0], n, lots, 0);
	size_t n_b = make_set(sets[1], n, lots, 1);
	SimdupPairSet a = {sets[0], scratch[0], n_a};
	SimdupPairSet b = {sets[1], scratch[1], n_b};

	memset(found->seen, 0, (size_t) n * n);
	simdup_pair_join(join, a, cross ? &b : NULL);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
		{
			bool near =
				i != j && distance(fps[i], fps[j]) <= join->max_distance;
			int times = found->seen[(size_t) i * n + j];

			if (cross)
				must(times ==
					 (near && in_set(i, lots, 0) && in_set(j, lots, 1)));
			else if (i < j)
				must(times + found->seen[(size_t) j * n + i] ==
					 (near && in_set(i, lots, 0) && in_set(j, lots, 0)));
			else if (i == j)
				must(times == 0);
		}

	/* the same set, in any order */
	qsort(sets[0], n_a, sizeof(SimdupElement), compare_words);
	must(make_set(scratch[0], n, lots, 0) == n_a &&
		 memcmp(sets[0], scratch[0], n_a * sizeof(SimdupElement)) == 0);
}

/* Blocks are not empty, have no bit in common and together have all. */
static void
check_cut(Input *in)
{
	uint64_t varying = take_word(in);
	int n_bits = __builtin_popcountll(varying);
	uint32_t n_sampled = (uint32_t) take_between(in, 1, 512);
	int n = (int) take_between(in, 1, 32);
	uint32_t ones[64];
	uint64_t blocks[32];
	uint64_t all = 0;

	for (int i = 0; i < 64; i++)
		ones[i] = (uint32_t) take_between(in, 0, n_sampled);
	if (n > n_bits)
		return;
	simdup_cut_blocks(varying, ones, n_sampled, n, blocks);
	for (int i = 0; i < n; i++)
	{
		must(blocks[i] != 0 && (blocks[i] & all) == 0);
		all |= blocks[i];
	}
	must(all == varying);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static SimdupPairJoin join;
	Input in = input_of(data, size);
	uint8_t kind = take_byte(&in);
	uint64_t lots = take_word(&in);
	Found found = {.done = 0};

	if (kind == 255)
	{
		check_cut(&in);
		return 0;
	}
	memset(&join, 0, sizeof(join));
	join.max_distance = kind % (SIMDUP_MAX_PAIR_DISTANCE + 1);
	join.sink = find;
	join.progress = kind & 64 ? advance : NULL;
	simdup_vectors = (SimdupVectors) (SIMDUP_VECTORS_PLAIN + lots % 3);
	if (simdup_vectors > simdup_find_vectors())
		simdup_vectors = simdup_find_vectors();
	simdup_many_pairs = lots & 4 ? 200 : UINT64_C(1) << 28;
	join.arg = &found;

	found.n = (uint32_t) drop_equal(take_fingerprints(&in));
	found.seen = checked(malloc((size_t) found.n * found.n + 1));
	check_join(&join, &found, ~UINT64_C(0), false);
	check_join(&join, &found, lots, true);
	must(join.path.same == 0 && join.path.n_skipped == 0);
	free(found.seen);
	return 0;
}
