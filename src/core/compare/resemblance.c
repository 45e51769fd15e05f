/*
 * resemblance.c
 *	  How much two texts have in common, as sets of folded shingles.
 *
 * Winnowing takes the minima of a sliding window in one pass. A queue holds the
 * hashes of the window that may still become its smallest: each is smaller than
 * all behind it. So the first one is the smallest of the window.
 */
#include "core/compare/resemblance.h"
#include "core/host.h"

/* Sets */

/* Elements merged between two looks at what can still be reached. */
#define STRETCH 64

/* Elements merged between two looks for interrupts. */
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

/*
 * Count the elements in both of two sets. Return false, in the middle, if they
 * cannot have min_resemblance.
 */
static bool
count_common(const SimdupHashes *a, const SimdupHashes *b,
			 double min_resemblance, size_t *n_common)
{
	size_t common = 0;
	size_t i = 0;
	size_t j = 0;

	for (int stretches = 1; i < a->n && j < b->n; stretches++)
	{
		size_t left_a = a->n - i;
		size_t left_b = b->n - j;
		size_t left = left_a < left_b ? left_a : left_b;
		size_t stop = left_a > STRETCH ? i + STRETCH : a->n;

		if (jaccard(a->n, b->n, common + left) < min_resemblance)
			return false;
		if (stretches % INTERRUPT_STRETCHES == 0)
			simdup_check_interrupts();
		/* no branch depends on the hashes, because none could be predicted */
		while (i < stop && j < b->n)
		{
			uint64_t x = a->hashes[i];
			uint64_t y = b->hashes[j];

			common += x == y;
			i += x <= y;
			j += y <= x;
		}
	}
	*n_common = common;
	return true;
}

size_t
simdup_hashes_common(const SimdupHashes *a, const SimdupHashes *b)
{
	size_t common = 0;

	(void) count_common(a, b, 0, &common);
	return common;
}

double
simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b)
{
	return jaccard(a->n, b->n, simdup_hashes_common(a, b));
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
