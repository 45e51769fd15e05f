/*
 * allpairs.c
 *	  The all-pairs join and components against brute force: random,
 *	  clustered, skewed and dense sets, for every distance.
 */
#include "core/cluster/components.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/shingle.h"
#include "core/fingerprint/vectors.h"
#include "core/host.h"
#include "core/join/ball.h"
#include "random.h"
#include "tap.h"

#define MAX_N 3000

static uint64_t state = 1;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

static uint64_t
flip(uint64_t fp, int n)
{
	while (n--)
		fp ^= UINT64_C(1) << (next_random() % 64);
	return fp;
}

static uint64_t
spread(uint64_t bits, uint64_t mask)
{
	uint64_t fp = 0;

	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
		{
			fp |= (bits & 1) << i;
			bits >>= 1;
		}
	return fp;
}

/* Each kind is a set that some shortcut could get wrong. */
static const char *const kinds[] = {"random",			"near copies",
									"few centres",		"high bits zero",
									"low bits zero",	"constant block",
									"few bits vary",	"all of 11 bits",
									"bits mostly zero", "two values of a block",
									"every second bit"};
#define N_KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

static uint64_t
make(int kind, uint64_t *fps, size_t i, int k)
{
	uint64_t r = next_random();

	switch (kind)
	{
		case 0:
			return r;
		case 1:
			return i > 9 && i % 3
					   ? flip(fps[r % i], (int) (next_random() % (k + 2)))
					   : r;
		case 2:
			return i < 5 ? r : flip(fps[r % 5], (int) (next_random() % 12));
		case 3:
			return r >> 30;
		case 4:
			return r << 34;
		case 5:
			return (r & ~UINT64_C(0xffff0000)) | UINT64_C(0x12340000);
		case 6:
			return spread(r, UINT64_C(0x8001020040100c21));
		case 7:
			return spread(i % 2048, UINT64_C(0xf00000000000007f));
		case 8:
			return r & next_random() & next_random() & next_random();
		case 9:
			return (r & ~UINT64_C(0xffff)) | (r >> 40 & 1 ? 0xbeef : 0xcafe);
		default:
			return r & UINT64_C(0x5555555555555555);
	}
}

/* Sort and drop equal ones. */
static size_t
distinct(uint64_t *fps, size_t n)
{
	SimdupHashes list = {fps, n, n};

	simdup_hashes_unique(&list);
	return list.n;
}

typedef struct Found
{
	const uint64_t *fps;
	uint8_t *seen; /* n by n */
	size_t n;
	size_t n_found;
	bool wrong;
	bool cross;
	int k;
	double done;
} Found;

static void
find(void *arg, SimdupElement a, SimdupElement b)
{
	Found *found = arg;
	size_t i = a.index;
	size_t j = b.index;

	if (!found->cross && i > j)
	{
		size_t swap = i;

		i = j;
		j = swap;
	}
	found->wrong = found->wrong || i == j || found->fps[a.index] != a.fp ||
				   found->fps[b.index] != b.fp ||
				   simdup_hamming64(a.fp, b.fp) > found->k ||
				   found->seen[i * found->n + j]++;
	found->n_found++;
}

static void
advance(void *arg, double done)
{
	Found *found = arg;

	found->wrong = found->wrong || done < 0 || done > 1.0001;
	found->done = done;
}

/* Count near pairs: of all, or of each third one with those that are no fifth one. */
static size_t
count_pairs(const uint64_t *fps, size_t n, int k, bool cross)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i += cross ? 3 : 1)
		for (size_t j = cross ? 0 : i + 1; j < n; j++)
			if (simdup_hamming64(fps[i], fps[j]) <= k)
				count += !cross || (i != j && j % 5 != 0);
	return count;
}

/* Self join, or cross join of two overlapping sets. */
static bool
join_is_right(const uint64_t *fps, size_t n, int k, bool cross, size_t expected)
{
	static SimdupElement moved[2 * MAX_N];
	static SimdupElement scratch[2 * MAX_N];
	Found found = {.fps = fps, .n = n, .k = k, .cross = cross};
	SimdupPairJoin *join = calloc(1, sizeof(SimdupPairJoin));
	SimdupPairSet a = {moved, scratch, 0};
	SimdupPairSet b;
	bool right;

	found.seen = calloc(n, n);
	join->max_distance = k;
	join->sink = find;
	join->progress = advance;
	join->arg = &found;
	for (size_t i = 0; i < n; i++)
		if (!cross || i % 3 == 0)
			moved[a.n++] = (SimdupElement){fps[i], i};
	b.elements = moved + a.n;
	b.scratch = scratch + a.n;
	b.n = 0;
	for (size_t i = 0; i < n; i++)
		if (cross && i % 5 != 0) /* some are in both */
			b.elements[b.n++] = (SimdupElement){fps[i], i};
	simdup_pair_join(join, a, cross ? &b : NULL);

	right = !found.wrong && found.n_found == expected;
	if (!right)
		printf("# found %zu, expected %zu, wrong %d\n", found.n_found, expected,
			   found.wrong);
	free(found.seen);
	free(join);
	return right;
}

/*
 * By each set of instructions that the processor has, and once with buckets as
 * joins of their own.
 */
static bool
joins_are_right(const uint64_t *fps, size_t n, int k, bool cross)
{
	size_t expected = count_pairs(fps, n, k, cross);
	bool right = true;

	for (int i = SIMDUP_VECTORS_PLAIN; i <= SIMDUP_VECTORS_AVX512; i++)
	{
		SimdupVectors best = simdup_find_vectors();

		simdup_vectors = i < (int) best ? (SimdupVectors) i : best;
		simdup_many_pairs = i == SIMDUP_VECTORS_AVX2 ? 200 : UINT64_C(1) << 28;
		right = join_is_right(fps, n, k, cross, expected) && right;
	}
	return right;
}

#define MANY 60000

static void
add_pair(void *arg, SimdupElement a, SimdupElement b)
{
	uint64_t *sum = arg;

	*sum += (a.index + 1) * (b.index + 1);
}

/* Return a sum over the near pairs of many random fingerprints. */
static uint64_t
sum_of_many(bool recursion)
{
	static SimdupElement elements[MANY];
	static SimdupElement scratch[MANY];
	SimdupPairJoin *join = calloc(1, sizeof(SimdupPairJoin));
	uint64_t random = 1;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MANY; i++)
		elements[i] = (SimdupElement){next_random_of(&random), i};
	join->max_distance = 14;
	join->sink = add_pair;
	join->arg = &sum;
	/* deep within joins, balls are not tried */
	join->n_nested = recursion ? 1000 : 0;
	simdup_pair_join(join, (SimdupPairSet){elements, scratch, MANY}, NULL);
	free(join);
	return sum;
}

/* Near pairs in a shuffled order: must not matter. */
static size_t
near_pairs(const uint64_t *fps, uint32_t n, int k, uint32_t (*pairs)[2])
{
	size_t m = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			if (simdup_hamming64(fps[i], fps[j]) <= k)
			{
				pairs[m][0] = i;
				pairs[m++][1] = j;
			}
	for (size_t i = m; i > 1; i--)
	{
		size_t j = next_random() % i;
		uint32_t swap[2] = {pairs[i - 1][0], pairs[i - 1][1]};

		memcpy(pairs[i - 1], pairs[j], sizeof(swap));
		memcpy(pairs[j], swap, sizeof(swap));
	}
	return m;
}

static bool
components_are_right(const uint64_t *fps, uint32_t n, int k)
{
	static uint32_t pairs[512 * 512][2];
	static uint32_t parent[512];
	static uint32_t name[512];
	size_t m = near_pairs(fps, n, k, pairs);
	bool changed = true;
	bool right = true;

	simdup_components_init(parent, n);
	for (size_t i = 0; i < m; i++)
		simdup_components_join(parent, pairs[i][0], pairs[i][1]);
	/* the slow way: smallest names spread until nothing changes */
	for (uint32_t i = 0; i < n; i++)
		name[i] = i;
	while (changed)
	{
		changed = false;
		for (size_t i = 0; i < m; i++)
		{
			uint32_t a = name[pairs[i][0]];
			uint32_t b = name[pairs[i][1]];
			uint32_t least = a < b ? a : b;

			changed = changed || a != b;
			name[pairs[i][0]] = name[pairs[i][1]] = least;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		right = right && simdup_component_root(parent, i) == name[i];
	return right;
}

int
main(void)
{
	static uint64_t fps[MAX_N];
	const char *suite = getenv("SUITE");
	int often = suite != NULL && strcmp(suite, "whole") == 0 ? 4 : 16;

	for (int kind = 0; kind < N_KINDS; kind++)
	{
		bool self = true;
		bool cross = true;
		bool components = true;

		for (int k = 0; k <= SIMDUP_MAX_PAIR_DISTANCE; k++)
		{
			size_t n = k % often == 3 ? MAX_N : 700;

			for (size_t i = 0; i < n; i++)
				fps[i] = make(kind, fps, i, k);
			components = components && components_are_right(fps, 300, k);
			n = distinct(fps, n);
			self = self && joins_are_right(fps, n, k, false);
			cross = cross && joins_are_right(fps, n, k, true);
		}
		ok(self, "%s: pairs equal brute force for every distance", kinds[kind]);
		ok(cross, "%s: pairs of two sets equal brute force", kinds[kind]);
		ok(components, "%s: components equal the naive ones", kinds[kind]);
	}
	for (size_t n = 0; n < 3; n++)
		ok(joins_are_right(fps, n, 3, false) &&
			   joins_are_right(fps, n, 3, true),
		   "a set of %zu", n);
	ok(sum_of_many(false) == sum_of_many(true),
	   "a bucket that meets more than a run holds");
	return done_testing();
}
