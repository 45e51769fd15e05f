/*
 * winnow.c
 *	  Winnowing in one pass: the minima of a sliding window.
 *
 * A queue holds the hashes of the window that may still become its smallest: each
 * is smaller than all behind it. So the first one is the smallest of the window.
 */
#include "core/winnow.h"

typedef struct Winnow
{
	SimdupHashes *set;
	uint64_t window;
	uint64_t n; /* shingles so far */
	uint64_t hashes[SIMDUP_MAX_WINNOW_WINDOW];
	uint64_t numbers[SIMDUP_MAX_WINNOW_WINDOW]; /* of those shingles */
	uint64_t first; /* the queue is [first, end), modulo the window */
	uint64_t end;
	uint64_t last; /* the hash that was added last */
	bool any;
	bool overflow;
} Winnow;

static void
add_first(Winnow *winnow)
{
	uint64_t hash = winnow->hashes[winnow->first % winnow->window];

	if (winnow->any && hash == winnow->last)
		return;
	winnow->last = hash;
	winnow->any = true;
	winnow->overflow =
		winnow->overflow || !simdup_hashes_add(winnow->set, hash);
}

/* A SimdupElementSink. */
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
simdup_winnow(SimdupFoldedShingling shingling, int window, const char *text,
			  size_t len, SimdupHashes *set)
{
	Winnow winnow = {.set = set, .window = (uint64_t) window};

	simdup_folded_elements(shingling, text, len, add_shingles, &winnow);
	if (winnow.n > 0 && winnow.n < winnow.window)
		add_first(&winnow);
	simdup_hashes_unique(set);
	return !winnow.overflow;
}
