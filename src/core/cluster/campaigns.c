/*
 * campaigns.c
 *	  Candidates by shared values, and centers by partners.
 *
 * What a text can take only falls. So a heap may hold old gains: a text that comes
 * first with an old one goes back with that of now.
 */
#include <string.h>

#include "core/cluster/grouping.h"
#include "core/host.h"

#define NO_CENTER UINT32_MAX

uint32_t
simdup_first_candidates(uint32_t n, uint32_t position)
{
	return n > SIMDUP_MANY_SHARERS && position > SIMDUP_FIRST_SHARERS
			   ? SIMDUP_FIRST_SHARERS
			   : position;
}

typedef struct Taking
{
	const SimdupPartners *partners;
	uint32_t *center; /* by text; NO_CENTER: not taken */
	uint32_t *gain;	  /* by text: the rows that it would take */
	uint64_t *heap;	  /* gains and texts, the largest first */
	size_t n_heap;
	uint32_t *taken; /* by a center */
	size_t room;
} Taking;

void
simdup_gain_sift(uint64_t *heap, size_t n, size_t at, uint64_t entry)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child)
	{
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= entry)
			break;
		heap[at] = heap[child];
	}
	heap[at] = entry;
}

static const SimdupNear *
partners_of(const Taking *t, uint32_t text, size_t *n)
{
	simdup_check_interrupts();
	return t->partners->of(t->partners->lists, text, n);
}

static void
begin_heap(Taking *t)
{
	const uint32_t *copies = t->partners->copies;

	t->n_heap = t->partners->n;
	for (uint32_t text = t->partners->n; text-- > 0;)
	{
		size_t n;
		const SimdupNear *list = partners_of(t, text, &n);

		t->gain[text] = copies[text];
		for (size_t i = 0; i < n; i++)
			t->gain[text] += copies[list[i].row];
		simdup_gain_sift(t->heap, t->n_heap, text,
						 simdup_gain_entry(t->gain[text], text));
	}
}

/* Let a center take its partners, which others no longer gain. */
static void
take(Taking *t, uint32_t center)
{
	size_t n;
	size_t n_taken = 0;
	const SimdupNear *list = partners_of(t, center, &n);

	t->center[center] = center;
	t->taken = simdup_grow(t->taken, &t->room, n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		if (t->center[list[i].row] == NO_CENTER)
		{
			t->center[list[i].row] = center;
			t->taken[n_taken++] = (uint32_t) list[i].row;
		}
	for (size_t i = 0; i < n_taken; i++)
	{
		list = partners_of(t, t->taken[i], &n);
		for (size_t j = 0; j < n; j++)
			t->gain[list[j].row] -= t->partners->copies[t->taken[i]];
	}
}

/* Let each text that is no center join the nearest one. */
static void
join_nearest(Taking *t)
{
	for (uint32_t text = 0; text < t->partners->n; text++)
	{
		size_t n;
		const SimdupNear *list;
		const SimdupNear *nearest = NULL;

		if (t->center[text] == text)
			continue;
		list = partners_of(t, text, &n);
		for (size_t i = 0; i < n; i++)
			if (t->center[list[i].row] == list[i].row &&
				(nearest == NULL || list[i].weight > nearest->weight))
			{
				nearest = &list[i];
				t->center[text] = (uint32_t) nearest->row;
			}
	}
}

uint32_t *
simdup_find_centers(const SimdupPartners *partners)
{
	size_t n = (size_t) partners->n + 1;
	Taking t = {.partners = partners};

	t.center = simdup_alloc(n * sizeof(uint32_t));
	memset(t.center, 0xff, n * sizeof(uint32_t));
	t.gain = simdup_alloc(n * sizeof(uint32_t));
	t.heap = simdup_alloc(n * sizeof(uint64_t));
	begin_heap(&t);
	while (t.n_heap > 0)
	{
		uint32_t text = simdup_gain_text(t.heap[0]);
		uint64_t entry = simdup_gain_entry(t.gain[text], text);

		simdup_check_interrupts_at(t.n_heap);
		if (t.center[text] != NO_CENTER || entry == t.heap[0])
		{
			if (t.center[text] == NO_CENTER)
				take(&t, text);
			entry = t.heap[--t.n_heap];
		}
		simdup_gain_sift(t.heap, t.n_heap, 0, entry);
	}
	join_nearest(&t);
	simdup_free(t.taken);
	simdup_free(t.heap);
	simdup_free(t.gain);
	return t.center;
}
