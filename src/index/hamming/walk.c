/*
 * walk.c
 *	  The leaves of one tree that hold a block near the center, in order.
 *
 * A walk only moves forward. Its `next` rises to the high key of each leaf that
 * was read. A leaf whose high key is not above `next` is skipped. A split moves
 * entries to the right, but below the high key that the leaf had. So no entry
 * is read twice, and none that stays in the index is missed.
 *
 * The leaves below an inner page are listed at once, under one lock. A leaf may
 * be split before it is visited. So the walk follows right links up to the end
 * of the range that the inner page gave for the leaf.
 */
#include "postgres.h"
#include "compat.h"

#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "index/hamming/walk.h"

/* A leaf is loaded while the ones before it, so many, are compared. */
#define LEAVES_AHEAD 4

/* The processor follows the values by itself after so many bytes. */
#define BYTES_AHEAD 1024
#define CACHE_LINE 64

/* One access in so many goes the server's way: see read_leaf. */
#define COUNTED_READS 4

#define N_PLACES 262144

/*
 * The buffers where this backend last found leaves, by block. They are guesses
 * only: a page may have left its buffer, and two blocks may share a place. Pages
 * of this array that no search needs take no memory.
 */
static Buffer places[N_PLACES];

void
simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan, int tree,
						  uint32 center, int radius)
{
	walk->scan = scan;
	walk->tree = tree;
	walk->center = center;
	walk->radius = radius;
	walk->next = (SimdupEntry){0, 0};
	walk->finished = false;
	walk->right = InvalidBlockNumber;
	walk->n_leaves = 0;
	walk->at = 0;
}

/* The first key from *key on whose block is near; false if there is none. */
static bool
next_near_key(const HammingWalk *walk, SimdupEntry *key)
{
	uint32 block = simdup_first_block(key->value);
	uint32 near;

	if (walk->radius >= SIMDUP_BLOCK_BITS)
		return true;
	near = simdup_next_near(walk->center, walk->radius, block);
	if (near == SIMDUP_NO_BLOCK)
		return false;
	if (near != block)
		*key = (SimdupEntry){(uint64) near << 48, 0};
	return true;
}

static bool
is_before_end(const HammingLeaf *leaf, const SimdupEntry *key)
{
	return leaf->is_last || simdup_entry_less(key, &leaf->until);
}

/* Child i of an inner page and the end of its range. */
static void
describe_leaf(Page page, int i, HammingLeaf *leaf)
{
	bool is_last_child = i + 1 == hamming_count(page);

	leaf->block = hamming_child(page, i);
	leaf->is_last = is_last_child && hamming_is_last(page);
	leaf->until =
		is_last_child ? hamming_high_key(page) : hamming_low_key(page, i + 1);
}

/* List the leaves to visit below an inner page, from the one with the key. */
static void
list_leaves(HammingWalk *walk, Page page, SimdupEntry key)
{
	int n = hamming_count(page);
	int i = simdup_hamming_find_child(page, &key);

	for (;;)
	{
		HammingLeaf *leaf = &walk->leaves[walk->n_leaves++];

		describe_leaf(page, i, leaf);
		key = leaf->until;
		if (++i == n || !next_near_key(walk, &key))
			return;
		/* the key is most often on the next child or far away */
		if (i + 1 < n)
		{
			SimdupEntry end = hamming_low_key(page, i + 1);

			if (!simdup_entry_less(&key, &end))
				i = simdup_hamming_find_child(page, &key);
		}
		if (i + 1 == n && !hamming_below_high_key(page, &key))
			return;
	}
}

static Buffer *
place_of(Relation index, BlockNumber block)
{
	return &places[(block + RelationGetRelid(index) * UINT32_C(0x9e3779b1)) %
				   N_PLACES];
}

/*
 * Let the processor load leaf i of the list, if there is one, from where it was
 * last. A search waits for memory more than it computes. If the page has moved,
 * nothing but time is lost. Inlined, because gcc drops calls that only prefetch.
 */
static pg_attribute_always_inline void
prefetch_leaf(const HammingWalk *walk, int i)
{
	Buffer place;
	const char *page;

	if (i >= walk->n_leaves)
		return;
	place = *place_of(walk->scan->indexRelation, walk->leaves[i].block);
	if (place == InvalidBuffer)
		return;
	page = BufferGetBlock(place);
	__builtin_prefetch(GetBufferDescriptor(place - 1));
	__builtin_prefetch(page + BLCKSZ - 1);
	for (int at = 0; at < BYTES_AHEAD; at += CACHE_LINE)
		__builtin_prefetch(page + at);
}

/*
 * Pin a leaf. A right guess saves the search in the server's table of buffers, a
 * quarter of all time. The server does not count such a use of a buffer when it
 * chooses the next to be evicted. So some reads do without the guess.
 */
static Buffer
read_leaf(Relation index, BlockNumber block)
{
	static uint32 n_reads = 0;
	Buffer *place = place_of(index, block);
	Buffer buffer;

	if (*place != InvalidBuffer && ++n_reads % COUNTED_READS != 0 &&
		!RelationUsesLocalBuffers(index) &&
		ReadRecentBuffer(index->SIMDUP_RD_LOCATOR, MAIN_FORKNUM, block, *place))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return *place;
	}
	buffer = simdup_hamming_read(index, block);
	if (!BufferIsLocal(buffer))
		*place = buffer;
	return buffer;
}

/* Find the next leaves to visit; false if there are none. */
static bool
fill_leaves(HammingWalk *walk)
{
	Relation index = walk->scan->indexRelation;
	SimdupEntry key = walk->next;
	HammingRoots roots = simdup_hamming_roots(index, false);
	Buffer buffer;

	walk->n_leaves = 0;
	walk->at = 0;
	if (walk->finished || !next_near_key(walk, &key))
		return false;
	SIMDUP_COUNT_SEARCH(walk->scan);
	if (roots.level[walk->tree] == 0)
	{
		walk->leaves[0].block = roots.root[walk->tree];
		walk->leaves[0].is_last = true;
		walk->n_leaves = 1;
		return true;
	}
	buffer =
		simdup_hamming_descend(index, walk->tree, &key, 1, BUFFER_LOCK_SHARE);
	list_leaves(walk, BufferGetPage(buffer), key);
	UnlockReleaseBuffer(buffer);
	for (int i = 0; i < LEAVES_AHEAD; i++)
		prefetch_leaf(walk, i);
	return true;
}

/* Lock the leaf that holds the next near key, from a block at or before it. */
static Buffer
lock_leaf(HammingWalk *walk, BlockNumber block)
{
	Relation index = walk->scan->indexRelation;
	SimdupEntry key = walk->next;
	Buffer buffer = read_leaf(index, block);

	(void) next_near_key(walk, &key);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	simdup_hamming_check_page(index, buffer, walk->tree, 0);
	while (!hamming_below_high_key(BufferGetPage(buffer), &key))
		buffer = simdup_hamming_step_right(index, buffer, BUFFER_LOCK_SHARE,
										   walk->tree, 0);
	return buffer;
}

Buffer
simdup_hamming_next_leaf(HammingWalk *walk)
{
	BlockNumber block = walk->right;
	Buffer buffer;
	Page page;
	SimdupEntry key;

	if (block == InvalidBlockNumber)
	{
		if (walk->at == walk->n_leaves && !fill_leaves(walk))
			return InvalidBuffer;
		prefetch_leaf(walk, walk->at + LEAVES_AHEAD);
		walk->leaf = walk->leaves[walk->at++];
		block = walk->leaf.block;
	}
	buffer = lock_leaf(walk, block);
	page = BufferGetPage(buffer);
	walk->right = InvalidBlockNumber;
	if (hamming_is_last(page))
		walk->finished = true;
	else
	{
		key = walk->next = hamming_high_key(page);
		if (next_near_key(walk, &key) && is_before_end(&walk->leaf, &key))
			walk->right = hamming_opaque(page)->right;
	}
	return buffer;
}
