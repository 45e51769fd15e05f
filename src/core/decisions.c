/*
 * decisions.c
 *	  Blocks of elements decided the same, the blocks kept apart from each, and
 *	  the ids of groups that were made anew.
 */
#include <stdbool.h>

#include "core/entries.h"
#include "core/group.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/place.h"

/* Decisions */

#define NO_ELEMENT UINT32_MAX

void
simdup_decisions_add(SimdupDecisions *decisions, uint32_t a, uint32_t b,
					 bool same)
{
	if (decisions->n == decisions->capacity)
	{
		decisions->capacity = decisions->capacity * 2 + 64;
		decisions->items =
			decisions->items == NULL
				? simdup_alloc(decisions->capacity * sizeof(SimdupDecision))
				: simdup_realloc(decisions->items,
								 decisions->capacity * sizeof(SimdupDecision));
	}
	decisions->items[decisions->n++] = (SimdupDecision){a, b, same};
}

/*
 * Make adjacency lists over 0 to n - 1 from the decisions of one kind, in their
 * order. With block, each element is replaced by its block.
 */
static uint32_t *
make_lists(const SimdupDecisions *decisions, bool same, uint32_t n,
		   const uint32_t *block, size_t *start)
{
	uint32_t *lists;

	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		if (d->same != same)
			continue;
		start[block ? block[d->a] : d->a]++;
		start[block ? block[d->b] : d->b]++;
	}
	for (size_t i = 0; i < n; i++)
		start[i + 1] += start[i];
	/* filled backwards, so that start comes down to where each list begins */
	lists = simdup_alloc((start[n] + 1) * sizeof(uint32_t));
	for (size_t i = decisions->n; i-- > 0;)
	{
		const SimdupDecision *d = &decisions->items[i];
		uint32_t a = block ? block[d->a] : d->a;
		uint32_t b = block ? block[d->b] : d->b;

		if (d->same != same)
			continue;
		lists[--start[a]] = b;
		lists[--start[b]] = a;
	}
	return lists;
}

const SimdupDecision *
simdup_blocks_find(SimdupBlocks *blocks, uint32_t n,
				   const SimdupDecisions *decisions)
{
	*blocks = (SimdupBlocks){.n = n};
	blocks->block = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	simdup_components_init(blocks->block, n);
	for (size_t i = 0; i < decisions->n; i++)
		if (decisions->items[i].same)
			simdup_components_join(blocks->block, decisions->items[i].a,
								   decisions->items[i].b);
	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32_t i = 0; i < n; i++)
		blocks->block[i] = blocks->block[blocks->block[i]];
	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		if (d->same)
			continue;
		if (blocks->block[d->a] == blocks->block[d->b])
			return d;
		blocks->n_apart += 2;
	}
	if (blocks->n_apart > 0)
	{
		blocks->start = simdup_alloc0(((size_t) n + 1) * sizeof(size_t));
		blocks->apart =
			make_lists(decisions, false, n, blocks->block, blocks->start);
	}
	return NULL;
}

void
simdup_blocks_free(SimdupBlocks *blocks)
{
	simdup_free(blocks->block);
	if (blocks->n_apart > 0)
	{
		simdup_free(blocks->start);
		simdup_free(blocks->apart);
	}
}

/* Breadth first, from b, so that the way back from a is in order. */
uint32_t
simdup_decisions_chain(const SimdupDecisions *decisions, uint32_t n, uint32_t a,
					   uint32_t b, uint32_t **chain)
{
	size_t *start = simdup_alloc0(((size_t) n + 1) * sizeof(size_t));
	uint32_t *lists = make_lists(decisions, true, n, NULL, start);
	uint32_t *queue = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t *next = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	uint32_t n_queued = 1;
	uint32_t length = 0;

	for (uint32_t i = 0; i < n; i++)
		next[i] = NO_ELEMENT;
	queue[0] = b;
	next[b] = b;
	for (uint32_t i = 0; i < n_queued && next[a] == NO_ELEMENT; i++)
		for (size_t j = start[queue[i]]; j < start[queue[i] + 1]; j++)
		{
			if (next[lists[j]] != NO_ELEMENT)
				continue;
			next[lists[j]] = queue[i];
			queue[n_queued++] = lists[j];
		}
	if (next[a] != NO_ELEMENT)
	{
		queue[length++] = a;
		while (queue[length - 1] != b)
		{
			queue[length] = next[queue[length - 1]];
			length++;
		}
	}
	*chain = queue;
	simdup_free(next);
	simdup_free(lists);
	simdup_free(start);
	return length;
}

/* Ids */

int64_t *
simdup_groupids_keep(uint32_t n, const uint32_t *group, const int64_t *old)
{
	int64_t *ids = simdup_alloc0(((size_t) n + 1) * sizeof(int64_t));
	SimdupEntry *shares = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));
	SimdupEntry *order = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));
	SimdupWordSet taken = {0};
	size_t n_rows = 0;
	size_t n_shares = 0;

	/* the rows of a share, an old id and a new group, stand together */
	for (uint32_t row = 0; row < n; row++)
		if (old[row] != SIMDUP_NO_ID)
			shares[n_rows++] = (SimdupEntry){(uint64_t) old[row], group[row]};
	simdup_sort_pairs(shares, n_rows);
	for (size_t i = 0; i < n_rows; i++)
	{
		if (n_shares == 0 ||
			simdup_entry_less(&shares[n_shares - 1], &shares[i]))
		{
			order[n_shares] = (SimdupEntry){UINT32_MAX, n_shares};
			shares[n_shares++] = shares[i];
		}
		order[n_shares - 1].value--;
	}
	/* most rows first, then in the order of shares */
	simdup_sort_pairs(order, n_shares);
	for (size_t i = 0; i < n_shares; i++)
	{
		SimdupEntry share = shares[order[i].row];

		if (ids[share.row] == SIMDUP_NO_ID &&
			simdup_wordset_add(&taken, share.value))
			ids[share.row] = (int64_t) share.value;
	}
	simdup_wordset_free(&taken);
	simdup_free(order);
	simdup_free(shares);
	return ids;
}

int64_t
simdup_groupids_give(uint32_t n, const uint32_t *group, const int64_t *last,
					 int64_t next_id, int64_t *ids)
{
	SimdupWordSet taken = {0};

	for (uint32_t row = 0; row < n; row++)
		if (group[row] == row && ids[row] != SIMDUP_NO_ID)
			(void) simdup_wordset_add(&taken, (uint64_t) ids[row]);
	for (uint32_t row = 0; row < n; row++)
	{
		if (group[row] != row || ids[row] != SIMDUP_NO_ID)
			continue;
		if (last[row] != SIMDUP_NO_ID &&
			simdup_wordset_add(&taken, (uint64_t) last[row]))
			ids[row] = last[row];
		else
			ids[row] = next_id++;
	}
	simdup_wordset_free(&taken);
	return next_id;
}
