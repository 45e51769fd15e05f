/*
 * centers.c
 *	  Candidates by position, and centers: random partners against a naive model,
 *	  and sizes at which anything quadratic would not end.
 */
#include "core/cluster/grouping.h"
#include "core/host.h"
#include "random.h"
#include "tap.h"

#define MOST 24

static uint64_t state = 52;

static uint32_t
below(uint32_t n)
{
	return (uint32_t) (next_random_of(&state) % n);
}

/* Random texts; containment is below 0 where two are no partners. */
typedef struct Texts
{
	uint32_t n;
	uint32_t copies[MOST];
	int containment[MOST][MOST];
	SimdupNear list[MOST];
} Texts;

static const SimdupNear *
partners_of(void *lists, uint32_t text, size_t *n)
{
	Texts *texts = lists;

	*n = 0;
	for (uint32_t i = 0; i < texts->n; i++)
		if (texts->containment[text][i] >= 0)
			texts->list[(*n)++] =
				(SimdupNear){i, (uint64_t) texts->containment[text][i]};
	return texts->list;
}

static void
random_texts(Texts *texts)
{
	uint32_t odds = 1 + below(10);

	texts->n = below(MOST + 1);
	for (uint32_t i = 0; i < texts->n; i++)
	{
		texts->copies[i] = below(3) ? 1 : 1 + below(6);
		texts->containment[i][i] = -1;
		for (uint32_t j = 0; j < i; j++)
			texts->containment[i][j] = texts->containment[j][i] =
				below(odds) ? -1 : (int) below(4);
	}
}

/* The rows that a text would take. */
static uint32_t
naive_gain(const Texts *texts, const bool *taken, uint32_t text)
{
	uint32_t gain = texts->copies[text];

	for (uint32_t i = 0; i < texts->n; i++)
		if (!taken[i] && texts->containment[text][i] >= 0)
			gain += texts->copies[i];
	return gain;
}

static void
naive_centers(const Texts *texts, uint32_t *center)
{
	bool taken[MOST] = {false};
	bool is_center[MOST] = {false};

	for (;;)
	{
		uint32_t best = MOST;

		for (uint32_t i = 0; i < texts->n; i++)
			if (!taken[i] &&
				(best == MOST ||
				 naive_gain(texts, taken, i) > naive_gain(texts, taken, best)))
				best = i;
		if (best == MOST)
			break;
		is_center[best] = taken[best] = true;
		for (uint32_t i = 0; i < texts->n; i++)
			taken[i] |= texts->containment[best][i] >= 0;
	}
	for (uint32_t i = 0; i < texts->n; i++)
	{
		int largest = -1;

		center[i] = i;
		for (uint32_t j = 0; j < texts->n && !is_center[i]; j++)
			if (is_center[j] && texts->containment[i][j] > largest)
			{
				largest = texts->containment[i][j];
				center[i] = j;
			}
	}
}

static void
test_random(void)
{
	int n_wrong = 0;
	int n_moved = 0; /* texts that follow another one */

	for (int run = 0; run < 20000; run++)
	{
		static Texts texts;
		uint32_t expected[MOST];
		uint32_t *center;

		random_texts(&texts);
		naive_centers(&texts, expected);
		center = simdup_find_centers(
			&(SimdupPartners){texts.n, texts.copies, partners_of, &texts});
		n_wrong += memcmp(center, expected, texts.n * sizeof(uint32_t)) != 0;
		for (uint32_t i = 0; i < texts.n; i++)
			n_moved += center[i] != i;
		simdup_free(center);
	}
	ok(n_wrong == 0 && n_moved > 10000, "random partners: %d wrong, %d follow",
	   n_wrong, n_moved);
}

/* The middle text is every other one's partner. */
static const SimdupNear *
star(void *arg, uint32_t text, size_t *n)
{
	static SimdupNear partner;
	const SimdupPartners *partners = arg;
	uint32_t middle = partners->n / 2;

	if (text == middle)
	{
		static SimdupNear *all;

		all = simdup_realloc(all, partners->n * sizeof(SimdupNear));
		*n = 0;
		for (uint32_t i = 0; i < partners->n; i++)
			if (i != middle)
				all[(*n)++] = (SimdupNear){i, 5};
		return all;
	}
	partner = (SimdupNear){middle, 5};
	*n = 1;
	return &partner;
}

/* Each text is a partner of those beside it. */
static const SimdupNear *
chain(void *arg, uint32_t text, size_t *n)
{
	static SimdupNear beside[2];
	const SimdupPartners *partners = arg;

	*n = 0;
	if (text > 0)
		beside[(*n)++] = (SimdupNear){text - 1, 5};
	if (text + 1 < partners->n)
		beside[(*n)++] = (SimdupNear){text + 1, 5};
	return beside;
}

static void
test_sizes(void)
{
	enum
	{
		N = 300000
	};
	SimdupPartners partners = {.n = N, .of = star, .lists = &partners};
	uint32_t *copies = simdup_alloc(N * sizeof(uint32_t));
	uint32_t n_right = 0;
	uint32_t *center;

	for (uint32_t i = 0; i < N; i++)
		copies[i] = 1;
	partners.copies = copies;
	center = simdup_find_centers(&partners);
	for (uint32_t i = 0; i < N; i++)
		n_right += center[i] == N / 2;
	ok(n_right == N, "a star has one center");
	simdup_free(center);

	/* threes: the text in the middle takes those beside it */
	partners.of = chain;
	center = simdup_find_centers(&partners);
	n_right = 0;
	for (uint32_t i = 0; i < N; i++)
		n_right += center[i] == i / 3 * 3 + 1;
	ok(n_right == N, "a chain has a center in each three");
	simdup_free(center);
	simdup_free(copies);
}

static void
test_candidates(void)
{
	bool is_right = true;

	for (uint32_t i = 0; i < 1000; i++)
		is_right =
			is_right && simdup_first_candidates(20, i % 20) == i % 20 &&
			simdup_first_candidates(1000, i) == (i < 10 ? i : 10) &&
			simdup_first_candidates(21, i % 21) == (i % 21 < 10 ? i % 21 : 10);
	ok(is_right, "candidates of a value that 20 and 21 texts have");
}

int
main(void)
{
	test_candidates();
	test_random();
	test_sizes();
	return done_testing();
}
