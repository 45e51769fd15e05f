/*
 * resemblance.c
 *	  The resemblance of two texts by the sets of their folded shingles.
 */
#include "core/resemblance.h"

#include "core/host.h"

/* Elements merged between two looks at what can still be reached. */
#define STRETCH 64

/* Elements merged between two looks for interrupts. */
#define INTERRUPT_STRETCHES (1 << 14)

typedef struct SetSink
{
	SimdupHashes *set;
	bool overflow;
} SetSink;

/* A SimdupElementSink. */
static void
add_to_set(void *arg, const uint64_t *hashes, size_t n)
{
	SetSink *sink = arg;

	for (size_t i = 0; i < n && !sink->overflow; i++)
		sink->overflow = !simdup_hashes_add(sink->set, hashes[i]);
}

bool
simdup_folded_set(SimdupFoldedShingling shingling, const char *text, size_t len,
				  SimdupHashes *set)
{
	SetSink sink = {set, false};

	simdup_folded_elements(shingling, text, len, add_to_set, &sink);
	simdup_hashes_unique(set);
	return !sink.overflow;
}

/* The coefficient of two sets of these sizes. It grows with n_common. */
static inline double
jaccard(size_t n_a, size_t n_b, size_t n_common)
{
	return (double) n_common / (double) (n_a + n_b - n_common);
}

double
simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b)
{
	return jaccard(a->n, b->n,
				   simdup_hashes_common(a->hashes, a->n, b->hashes, b->n));
}

double
simdup_resemblance_from(const SimdupHashes *a, const SimdupHashes *b,
						double min_resemblance)
{
	size_t common = 0;
	size_t i = 0;
	size_t j = 0;
	double resemblance;

	if (a->n == 0 || b->n == 0)
		return -1;
	for (int stretches = 0; i < a->n && j < b->n; stretches++)
	{
		size_t left_a = a->n - i;
		size_t left_b = b->n - j;
		size_t left = left_a < left_b ? left_a : left_b;
		size_t stop = left_a > STRETCH ? i + STRETCH : a->n;

		if (jaccard(a->n, b->n, common + left) < min_resemblance)
			return -1;
		if (stretches == INTERRUPT_STRETCHES)
		{
			simdup_check_interrupts();
			stretches = 0;
		}
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
	resemblance = jaccard(a->n, b->n, common);
	return resemblance >= min_resemblance ? resemblance : -1;
}
