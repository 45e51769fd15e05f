/*
 * resemblance.c
 *	  How much two texts have in common, as sets of folded shingles or as terms.
 *
 * Winnowing takes the minima of a sliding window in one pass. A queue holds the
 * hashes of the window that may still become its smallest: each is smaller than
 * all behind it. So the first one is the smallest of the window.
 */
#include <math.h>
#include <stdlib.h>

#include "core/compare/resemblance.h"
#include "core/search/sort.h"

/* Sets */

/* Steps of a merge between two checks whether the limit can still be reached. */
#define STRETCH 64

/* Steps between two checks for interrupts. */
#define INTERRUPT_STRETCHES (1 << 14)

typedef struct SetSink
{
	SimdupHashes *set;
	bool overflow;
} SetSink;

/* Add hashes to a set: a SimdupElementSink. */
static void
add_to_set(void *arg, const uint64_t *hashes, size_t n)
{
	SetSink *sink = arg;

	for (size_t i = 0; i < n && !sink->overflow; i++)
		sink->overflow = !simdup_hashes_add(sink->set, hashes[i]);
}

bool
simdup_folded_set(SimdupShingling shingling, const char *text, size_t len,
				  SimdupHashes *set)
{
	SetSink sink = {set, false};

	simdup_folded_elements(shingling, text, len, add_to_set, &sink);
	simdup_hashes_unique(set);
	return !sink.overflow && set->n <= SIMDUP_MAX_SHINGLES;
}

/* Return the coefficient of two sets of these sizes. It grows with n_common. */
static inline double
jaccard(size_t n_a, size_t n_b, size_t n_common)
{
	return (double) n_common / (double) (n_a + n_b - n_common);
}

/* What is left of two ascending lists that are merged. */
typedef struct Merge
{
	const uint64_t *a;
	const uint64_t *a_end;
	const uint64_t *b;
	const uint64_t *b_end;
} Merge;

/* Return the most elements that both lists can have. */
static inline size_t
reachable(const Merge *merge)
{
	ptrdiff_t left_a = merge->a_end - merge->a;
	ptrdiff_t left_b = merge->b_end - merge->b;

	return (size_t) (left_a < left_b ? left_a : left_b);
}

/*
 * Pass the smaller of the next elements, or both if they are equal: then return 1.
 * No branch depends on the hashes, because none could be predicted.
 */
static inline size_t
step(Merge *merge)
{
	uint64_t x = *merge->a;
	uint64_t y = *merge->b;
	size_t next_a = x <= y;
	size_t next_b = y <= x;

	merge->a += next_a;
	merge->b += next_b;
	return next_a & next_b;
}

/* Cut two sets, which are not empty, at the middle element of the first. */
static void
cut_sets(const SimdupHashes *a, const SimdupHashes *b, Merge *low, Merge *high)
{
	const uint64_t *middle = a->hashes + a->n / 2;
	const uint64_t *from = b->hashes;

	for (size_t n = b->n; n > 0;)
	{
		size_t half = n / 2;

		if (from[half] < *middle)
		{
			from += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	*low = (Merge){a->hashes, middle, b->hashes, from};
	*high = (Merge){middle, a->hashes + a->n, from, b->hashes + b->n};
}

/*
 * Count the elements in both of two sets, which are not empty. Return false, in the
 * middle, if they cannot have min_resemblance. Each step of a merge waits for the
 * one before, so two merges take turns.
 */
static bool
count_common(const SimdupHashes *a, const SimdupHashes *b,
			 double min_resemblance, size_t *n_common)
{
	size_t common = 0;
	Merge low;
	Merge high;

	cut_sets(a, b, &low, &high);
	for (int stretches = 1;; stretches++)
	{
		size_t left_low = reachable(&low);
		size_t left_high = reachable(&high);
		size_t left = left_low + left_high;
		bool both = left_low > 0 && left_high > 0;
		Merge *one = left_low > 0 ? &low : &high;

		if (jaccard(a->n, b->n, common + left) < min_resemblance)
			return false;
		if (left == 0)
			break;
		if (stretches % INTERRUPT_STRETCHES == 0)
			simdup_check_interrupts();
		if (both)
			left = left_low < left_high ? left_low : left_high;
		if (left > STRETCH)
			left = STRETCH;
		for (; both && left > 0; left--)
			common += step(&low) + step(&high);
		for (; left > 0; left--)
			common += step(one);
	}
	*n_common = common;
	return true;
}

size_t
simdup_hashes_common(const SimdupHashes *a, const SimdupHashes *b)
{
	size_t common = 0;

	if (a->n > 0 && b->n > 0)
		(void) count_common(a, b, 0, &common);
	return common;
}

double
simdup_resemblance_from(const SimdupHashes *a, const SimdupHashes *b,
						double min_resemblance)
{
	size_t common;
	double resemblance;

	if (a->n == 0 || b->n == 0 || !count_common(a, b, min_resemblance, &common))
		return -1;
	resemblance = jaccard(a->n, b->n, common);
	return resemblance >= min_resemblance ? resemblance : -1;
}

/* Winnowing */

typedef struct Winnow
{
	SimdupHashes *set;
	uint64_t window;
	uint64_t n; /* shingles so far */
	uint64_t hashes[SIMDUP_MAX_WINNOW_WINDOW];
	uint64_t numbers[SIMDUP_MAX_WINNOW_WINDOW]; /* of those shingles */
	uint64_t first; /* the queue is [first, end), modulo the window */
	uint64_t end;
	bool overflow;
} Winnow;

static void
add_first(Winnow *winnow)
{
	uint64_t hash = winnow->hashes[winnow->first % winnow->window];
	const SimdupHashes *set = winnow->set;

	if (set->n == 0 || set->hashes[set->n - 1] != hash)
		winnow->overflow |= !simdup_hashes_add(winnow->set, hash);
}

/* Add shingles to the queue: a SimdupElementSink. */
static void
add_shingles(void *arg, const uint64_t *hashes, size_t n)
{
	Winnow *winnow = arg;
	uint64_t window = winnow->window;

	for (size_t i = 0; i < n && !winnow->overflow; i++)
	{
		while (winnow->end > winnow->first &&
			   winnow->hashes[(winnow->end - 1) % window] >= hashes[i])
			winnow->end--;
		if (winnow->end > winnow->first &&
			winnow->numbers[winnow->first % window] + window <= winnow->n)
			winnow->first++;
		winnow->hashes[winnow->end % window] = hashes[i];
		winnow->numbers[winnow->end % window] = winnow->n;
		winnow->end++;
		winnow->n++;
		if (winnow->n >= window)
			add_first(winnow);
	}
}

bool
simdup_winnow(SimdupShingling shingling, int window, const char *text,
			  size_t len, SimdupHashes *set)
{
	Winnow winnow = {.set = set, .window = (uint64_t) window};

	simdup_folded_elements(shingling, text, len, add_shingles, &winnow);
	if (winnow.n > 0 && winnow.n < winnow.window)
		add_first(&winnow);
	simdup_hashes_unique(set);
	return !winnow.overflow && set->n <= SIMDUP_MAX_SHINGLES;
}

/* Terms */

void
simdup_terms_sort(SimdupTerm *terms, size_t n)
{
	SimdupSortItem *entries;

	if (n < 2)
		return;
	entries = simdup_alloc(n * sizeof(SimdupSortItem));
	/* the order of equal hashes does not matter, nor do the bits of weights */
	memcpy(entries, terms, n * sizeof(SimdupTerm));
	simdup_sort_pairs(entries, n);
	memcpy(terms, entries, n * sizeof(SimdupTerm));
	simdup_free(entries);
}

const SimdupTerm *
simdup_terms_find(const SimdupTerm *terms, size_t n, uint64_t hash)
{
	SimdupTerm key = {hash, 0};

	return n ? bsearch(&key, terms, n, sizeof(SimdupTerm), simdup_compare_words)
			 : NULL;
}

/* Return the largest weight: divided by it, no square overflows. */
static double
largest_weight(const SimdupTerm *terms, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(terms[i].weight));
	return largest;
}

bool
simdup_cosine(const SimdupTerm *a, size_t n_a, const SimdupTerm *b, size_t n_b,
			  double *cosine)
{
	double unit_a = largest_weight(a, n_a);
	double unit_b = largest_weight(b, n_b);
	double product = 0;
	double square_a = 0;
	double square_b = 0;
	size_t i = 0;
	size_t j = 0;

	if (unit_a == 0 || unit_b == 0)
		return false;
	while (i < n_a || j < n_b)
	{
		bool take_a = j == n_b || (i < n_a && a[i].hash <= b[j].hash);
		bool take_b = i == n_a || (j < n_b && b[j].hash <= a[i].hash);
		double x = take_a ? a[i++].weight / unit_a : 0;
		double y = take_b ? b[j++].weight / unit_b : 0;

		simdup_check_interrupts_at(i + j);
		product += x * y;
		square_a += x * x;
		square_b += y * y;
	}
	/* one root of the product: equal vectors give 1 to the last digit */
	*cosine = fmin(1, fmax(-1, product / sqrt(square_a * square_b)));
	return true;
}

bool
simdup_imatch(const SimdupTerm *terms, size_t n, const SimdupTerm *lexicon,
			  size_t n_lexicon, uint32_t i, double keep, uint64_t *signature)
{
	uint64_t hash = i;
	bool any = false;

	for (size_t t = 0; t < n; t++)
	{
		uint64_t term = terms[t].hash;
		/* only the term and i decide whether signature i keeps it */
		uint64_t draw = simdup_mix64(term ^ i * SIMDUP_GOLDEN);

		simdup_check_interrupts_at(t);
		if ((i > 0 &&
			 (double) (draw >> 11) >= keep * (double) (UINT64_C(1) << 53)) ||
			!simdup_terms_find(lexicon, n_lexicon, term))
			continue;
		any = true;
		hash = simdup_mix64((hash + 1) * SIMDUP_GOLDEN ^ term);
	}
	*signature = hash;
	return any;
}
