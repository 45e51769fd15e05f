/*
 * centers.c
 *	  Candidates by shared values, texts by their gains, and centers by partners.
 */

#include "core/cluster/grouping.h"

#define NO_CENTER UINT32_MAX

uint32_t
simdup_first_candidates(uint32_t n, uint32_t position)
{
	return n > SIMDUP_MANY_SHARERS && position > SIMDUP_FIRST_SHARERS
			   ? SIMDUP_FIRST_SHARERS
			   : position;
}

/* Put an entry where it belongs, at this place of a heap of n or below. */
static void
sift(uint64_t *heap, size_t n, size_t at, uint64_t entry)
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

/*
 * A heap has gains and texts, the largest first. Gains only fall, so it may hold old
 * ones. A text that comes first with an old gain goes back with its present one.
 */
void
simdup_take_by_gain(uint32_t n, const SimdupGains *gains)
{
	uint64_t *heap = simdup_alloc(((size_t) n + 1) * sizeof(uint64_t));

	for (uint32_t text = n; text-- > 0;)
		sift(heap, n, text,
			 (uint64_t) gains->of(gains->arg, text) << 32 |
				 (UINT32_MAX - text));
	while (n > 0)
	{
		uint32_t text = UINT32_MAX - (uint32_t) heap[0];
		uint32_t gain = gains->of(gains->arg, text);
		uint64_t entry = (uint64_t) gain << 32 | (UINT32_MAX - text);

		simdup_check_interrupts_at(n);
		if (gain == 0 || entry == heap[0])
		{
			if (gain > 0)
				gains->take(gains->arg, text);
			entry = heap[--n];
		}
		sift(heap, n, 0, entry);
	}
	simdup_free(heap);
}

typedef struct Taking
{
	const SimdupPartners *partners;
	uint32_t *center; /* by text; NO_CENTER: not taken */
	uint32_t *gain;	  /* by text: the rows that it would take */
	uint32_t *taken;  /* by a center */
	size_t room;
} Taking;

static const SimdupNear *
partners_of(const Taking *t, uint32_t text, size_t *n)
{
	simdup_check_interrupts();
	return t->partners->of(t->partners->lists, text, n);
}

/* Return the rows that a text would take: of SimdupGains. */
static uint32_t
gain_of(void *arg, uint32_t text)
{
	const Taking *t = arg;

	return t->center[text] == NO_CENTER ? t->gain[text] : 0;
}

/* Let a center take its partners, which others no longer gain: of SimdupGains. */
static void
take(void *arg, uint32_t center)
{
	Taking *t = arg;
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
	for (uint32_t text = 0; text < partners->n; text++)
	{
		size_t n_near;
		const SimdupNear *list = partners_of(&t, text, &n_near);

		t.gain[text] = partners->copies[text];
		for (size_t i = 0; i < n_near; i++)
			t.gain[text] += partners->copies[list[i].row];
	}
	simdup_take_by_gain(partners->n, &(SimdupGains){gain_of, take, &t});
	join_nearest(&t);
	simdup_free(t.taken);
	simdup_free(t.gain);
	return t.center;
}
