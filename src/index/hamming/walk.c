/*
 * walk.c
 *	  Searches: their radii, the leaves of one tree that hold a block near the
 *	  center, in order, and the rows on them that match. Every value is compared
 *	  whole, so results are exact.
 *
 * A walk goes down level by level. The children of an inner page that may hold a
 * near block are listed in one pass, under one lock, and visited later. README
 * says why splits meanwhile lose nothing and show nothing twice.
 *
 * The matches of a leaf are copied, and the leaf is unlocked before they are
 * returned. Under an MVCC snapshot its pin is released too: a row that has
 * since taken the TID of another is too young to be seen.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/hamming/walk.h"

/*
 * The radii of a search are chosen by how the index's values are distributed.
 *
 * The inner pages of a tree are an equi-depth histogram of its values (Qin et
 * al. 2018 choose radii by histograms). The backend keeps a coarse copy of the
 * histogram, and renews the copy when the file has grown by a half. Radii
 * decide which leaves are read, not the result, so the copy may be old.
 */

/* A level with this many children is fine enough to make the histogram. */
#define ENOUGH_CHILDREN 256

/* Store the first blocks of a level's low keys, in order. Return their number. */
static int
read_level(Relation index, int tree, int level, StringInfo blocks)
{
	SimdupSortItem lowest = {0, 0};
	Buffer buffer =
		simdup_hamming_descend(index, tree, &lowest, level, BUFFER_LOCK_SHARE);

	resetStringInfo(blocks);
	for (;;)
	{
		Page page = BufferGetPage(buffer);

		for (int i = 0; i < hamming_count(page); i++)
		{
			uint16 block = (uint16) simdup_first_block(hamming_values(page)[i]);

			appendBinaryStringInfo(blocks, (char *) &block, sizeof(block));
		}
		if (hamming_is_last(page))
			break;
		buffer = simdup_hamming_step_right(index, buffer, BUFFER_LOCK_SHARE,
										   tree, level);
	}
	UnlockReleaseBuffer(buffer);
	return blocks->len / (int) sizeof(uint16);
}

static void
make_histograms(Relation index)
{
	HammingMeta roots = simdup_hamming_roots(index, true);
	BlockNumber n_blocks = RelationGetNumberOfBlocks(index);
	SimdupHistogram *made = palloc(sizeof(SimdupHistogram) * SIMDUP_ROTATIONS);
	StringInfoData blocks;
	HammingCache *cache;

	initStringInfo(&blocks);
	for (int tree = 0; tree < SIMDUP_ROTATIONS; tree++)
	{
		SimdupHistogram *histogram = &made[tree];
		int level = (int) roots.level[tree];
		double pages = (double) n_blocks / SIMDUP_ROTATIONS;
		int n = 0;

		for (; level > 0 && n < ENOUGH_CHILDREN; level--)
			n = read_level(index, tree, level, &blocks);
		/* the children are the leaves, or the root is the only one */
		if (level == 0)
			pages = Max(n, 1);
		/* the first bucket has all keys below the second low key */
		histogram->n_buckets = Min(Max(n, 1), SIMDUP_BUCKETS);
		histogram->pages = pages / histogram->n_buckets;
		histogram->bounds[0] = 0;
		for (int i = 1; i < histogram->n_buckets; i++)
			histogram->bounds[i] =
				((uint16 *) blocks.data)[(int64) i * n / histogram->n_buckets];
		simdup_finish_histogram(histogram);
	}
	cache = simdup_hamming_cache(index);
	memcpy(cache->histogram, made, sizeof(cache->histogram));
	cache->histogram_blocks = n_blocks;
	pfree(blocks.data);
	pfree(made);
}

const SimdupPageCosts *
simdup_hamming_page_costs(Relation index, HammingCosts *costs, uint64 center,
						  int largest)
{
	HammingCache *cache = simdup_hamming_cache(index);
	BlockNumber blocks = RelationGetTargetBlock(index);

	largest = Min(largest, SIMDUP_BLOCK_BITS);
	if (costs->center == center && costs->n_radii > largest)
		return (const SimdupPageCosts *) costs->pages;
	/* not made yet, or the file has grown by half since */
	if (cache->histogram_blocks == 0 ||
		(blocks != InvalidBlockNumber &&
		 blocks / 3 > cache->histogram_blocks / 2))
		make_histograms(index);
	cache = simdup_hamming_cache(index);
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		simdup_page_costs(&cache->histogram[i],
						  simdup_first_block(simdup_rotate(center, i)), largest,
						  costs->pages[i]);
	costs->center = center;
	costs->n_radii = largest + 1;
	return (const SimdupPageCosts *) costs->pages;
}

/* Walks */

/* Pages listed before the first of them is read, if there are as many. */
#define ENOUGH_LISTED 64

/* The processor loads a page while this number of others is read. */
#define PAGES_AHEAD 4

void
simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan, int tree,
						  uint64 center, int radius)
{
	walk->scan = scan;
	walk->tree = tree;
	walk->is_whole = radius >= SIMDUP_BLOCK_BITS;
	walk->n_near = 0;
	if (!walk->is_whole)
	{
		int n = simdup_count_near(radius);

		if (n > walk->near_size)
		{
			if (walk->near != NULL)
				pfree(walk->near);
			walk->near = MemoryContextAlloc(GetMemoryChunkContext(scan->opaque),
											n * sizeof(uint16));
			walk->near_size = n;
		}
		walk->n_near =
			simdup_near_blocks(simdup_first_block(simdup_rotate(center, tree)),
							   radius, walk->near);
	}
	walk->started = false;
}

/* Find the first key from the level's `next` on that may be near, if any. */
static bool
next_near_key(const HammingWalk *walk, HammingLevel *level, SimdupSortItem *key)
{
	uint32 block = simdup_first_block(level->next.value);

	*key = level->next;
	if (key->row == PG_UINT64_MAX)
	{
		/* the last page has been read */
		level->near = walk->n_near;
		return false;
	}
	if (walk->is_whole)
		return true;
	while (level->near < walk->n_near && walk->near[level->near] < block)
		level->near++;
	if (level->near == walk->n_near)
		return false;
	if (walk->near[level->near] > block)
		*key = (SimdupSortItem){(uint64) walk->near[level->near] << 48, 0};
	return true;
}

/* Make room for another page of a level. */
static HammingListed *
next_listed(const HammingWalk *walk, HammingLevel *level)
{
	MemoryContext caller =
		MemoryContextSwitchTo(GetMemoryChunkContext(walk->scan->opaque));

	level->listed = simdup_grow(level->listed, &level->size,
								(Size) level->n + 1, sizeof(HammingListed));
	MemoryContextSwitchTo(caller);
	return &level->listed[level->n++];
}

/* List the children of an inner page that may be near, from the key on. */
static void
list_children(const HammingWalk *walk, HammingLevel *parent,
			  HammingLevel *level, Page page, SimdupSortItem key)
{
	int n = hamming_count(page);
	int i = simdup_hamming_find_child(page, 0, &key);

	for (;;)
	{
		HammingListed *listed = next_listed(walk, level);
		bool is_last_child = i + 1 == n;

		listed->block = hamming_child(page, i);
		listed->low = hamming_values(page)[i];
		listed->near = key.value;
		listed->until = is_last_child ? hamming_high_key(page)
									  : hamming_low_key(page, i + 1);
		if (is_last_child)
			return;
		parent->next = listed->until;
		if (!next_near_key(walk, parent, &key))
			return;
		i = simdup_hamming_find_child(page, i + 1, &key);
		if (i + 1 == n && !hamming_below_high_key(page, &key))
			return;
	}
}

/*
 * Let the processor load a listed page from where it was last. A search waits
 * for memory more than it computes. If the page has moved, nothing but time is
 * lost.
 */
static void
prefetch_listed(const HammingWalk *walk, const HammingLevel *level, int i)
{
	if (i < level->n)
		simdup_hamming_prefetch(walk->scan->indexRelation,
								level->listed[i].block, level->listed[i].low,
								level->listed[i].near,
								level->listed[i].until.value);
}

static Buffer next_page(HammingWalk *walk, int l, SimdupSortItem *key);

/* Leave the locked page of a level, which has been read. */
static void
leave_page(HammingWalk *walk, int l, Page page)
{
	HammingLevel *level = &walk->level[l];
	SimdupSortItem key;

	level->right = InvalidBlockNumber;
	level->next = hamming_high_key(page);
	if (next_near_key(walk, level, &key) &&
		simdup_item_less(&key, &level->until))
		level->right = hamming_head(page)->right;
}

/* List the pages of a level that come next; false if there are none. */
static bool
fill_level(HammingWalk *walk, int l)
{
	HammingLevel *level = &walk->level[l];

	level->n = level->at = level->ahead = 0;
	if (l == walk->root_level)
		return false;
	while (level->n < ENOUGH_LISTED)
	{
		SimdupSortItem key;
		Buffer buffer = next_page(walk, l + 1, &key);

		if (!BufferIsValid(buffer))
			break;
		list_children(walk, &walk->level[l + 1], level, BufferGetPage(buffer),
					  key);
		leave_page(walk, l + 1, BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
	}
	return level->n > 0;
}

/* Pin the next page of a level. Return InvalidBuffer after the last. */
static Buffer
pin_next_page(HammingWalk *walk, int l)
{
	Relation index = walk->scan->indexRelation;
	HammingLevel *level = &walk->level[l];
	const HammingListed *listed;

	if (level->right != InvalidBlockNumber)
		return simdup_hamming_read_again(index, level->right);
	if (level->at == level->n)
	{
		if (!fill_level(walk, l))
			return InvalidBuffer;
		for (int i = 0; i < PAGES_AHEAD; i++)
			prefetch_listed(walk, level, i);
	}
	prefetch_listed(walk, level, level->at + PAGES_AHEAD);
	listed = &level->listed[level->at++];
	level->until = listed->until;
	/* ask the server for the pages that come next and are probably not in memory */
	for (level->ahead = Max(level->ahead, level->at);
		 level->ahead < Min(level->at + 1 + walk->distance, level->n);
		 level->ahead++)
		simdup_hamming_read_ahead(index, level->listed[level->ahead].block);
	return simdup_hamming_read_again(index, listed->block);
}

/* Lock the page of a level that holds the next near key. */
static Buffer
next_page(HammingWalk *walk, int l, SimdupSortItem *key)
{
	Relation index = walk->scan->indexRelation;
	HammingLevel *level = &walk->level[l];
	Buffer buffer = walk->root;

	if (!next_near_key(walk, level, key))
		return InvalidBuffer;
	if (l == walk->root_level && BufferIsValid(buffer))
		walk->root = InvalidBuffer;
	else
	{
		buffer = pin_next_page(walk, l);
		if (!BufferIsValid(buffer))
			return InvalidBuffer;
		simdup_hamming_lock(index, buffer, BUFFER_LOCK_SHARE, walk->tree, l);
	}
	while (!hamming_below_high_key(BufferGetPage(buffer), key))
		buffer = simdup_hamming_step_right(index, buffer, BUFFER_LOCK_SHARE,
										   walk->tree, l);
	simdup_hamming_remember(index, buffer);
	return buffer;
}

/* Lock the root, and begin on all levels. */
static void
start_walk(HammingWalk *walk)
{
	SIMDUP_COUNT_SEARCH(walk->scan);
	walk->started = true;
	walk->root =
		simdup_hamming_lock_root(walk->scan->indexRelation, walk->tree, 0,
								 BUFFER_LOCK_SHARE, &walk->root_level);
	for (int l = 0; l <= walk->root_level; l++)
	{
		HammingLevel *level = &walk->level[l];

		level->next = (SimdupSortItem){0, 0};
		level->near = 0;
		level->right = InvalidBlockNumber;
		level->n = level->at = level->ahead = 0;
	}
	/* all keys are in the root's range */
	walk->level[walk->root_level].until =
		(SimdupSortItem){PG_UINT64_MAX, PG_UINT64_MAX};
}

Buffer
simdup_hamming_next_leaf(HammingWalk *walk)
{
	HammingLevel *leaves = &walk->level[0];
	SimdupSortItem key;
	Buffer buffer;
	Page page;
	int end;

	if (!walk->started)
		start_walk(walk);
	buffer = next_page(walk, 0, &key);
	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	page = BufferGetPage(buffer);
	walk->leaf_near = leaves->near;
	leave_page(walk, 0, page);
	end = leaves->near;
	/* a block may begin on this leaf and go on behind it */
	if (end < walk->n_near &&
		walk->near[end] == simdup_first_block(leaves->next.value))
		end++;
	walk->n_leaf_near = end - walk->leaf_near;
	return buffer;
}

/* Matches */

void
simdup_hamming_release_pin(HammingScan *state)
{
	if (BufferIsValid(state->pin))
		ReleaseBuffer(state->pin);
	state->pin = InvalidBuffer;
}

void
simdup_hamming_begin_search(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
		state->radii[tree] = -1;
	if (state->reads_nulls)
		state->radii[HAMMING_NULL_TREE] = SIMDUP_BLOCK_BITS;
	if (state->reads_values && state->searches)
	{
		uint64 center = state->search.center;
		int radius = (int) state->search.radius;

		(void) simdup_choose_radii(radius,
								   simdup_hamming_page_costs(scan->indexRelation,
															 &state->costs,
															 center, radius),
								   state->radii);
	}
	else if (state->reads_values)
		state->radii[0] = SIMDUP_BLOCK_BITS;
	state->n_matches = 0;
	state->at = 0;
	state->tree = -1;
}

/* Check whether the row belongs to this rotation and lies in all balls. */
static bool
is_match(const HammingScan *state, uint64 value)
{
	uint64 fp = simdup_unrotate(value, state->tree);

	if (!simdup_reports(state->tree, fp ^ state->search.center, state->radii))
		return false;
	for (int i = 0; i < state->n_balls; i++)
		if (!simhash_ball_has(&state->balls[i], fp))
			return false;
	return true;
}

static void
add_match(IndexScanDesc scan, Buffer buffer, int i)
{
	HammingScan *state = scan->opaque;
	Page page = BufferGetPage(buffer);
	ItemPointer tid = hamming_tid(page, i);

	simdup_hamming_check_tid(scan->indexRelation, BufferGetBlockNumber(buffer),
							 tid, &state->heap_blocks);
	state->values[state->n_matches] = hamming_values(page)[i];
	state->matches[state->n_matches++] = *tid;
}

/*
 * Find the positions of the values on a leaf that may match. Return their
 * number. Sorted values are compared only if they begin with a near block.
 */
static int
find_candidates(const HammingScan *state, Page page, uint16 *found)
{
	const HammingWalk *walk = &state->walk;
	const uint64 *values = hamming_values(page);
	uint64 center = simdup_rotate(state->search.center, state->tree);
	int radius = (int) state->search.radius;
	int n = hamming_count(page);
	int n_sorted = hamming_head(page)->n_sorted;
	int n_found;

	if (walk->is_whole)
		return simdup_find_near(values, n, center, radius, found);
	n_found =
		simdup_find_in_blocks(values, n_sorted, hamming_high_key(page).value,
							  walk->near + walk->leaf_near, walk->n_leaf_near,
							  center, radius, found);
	for (int n_tail = simdup_find_near(values + n_sorted, n - n_sorted, center,
									   radius, found + n_found);
		 n_tail > 0; n_tail--)
		found[n_found++] += (uint16) n_sorted;
	return n_found;
}

/* Copy the TIDs of a leaf that match. */
static void
collect_matches(IndexScanDesc scan, Buffer buffer)
{
	HammingScan *state = scan->opaque;
	Page page = BufferGetPage(buffer);
	uint16 found[SIMDUP_MAX_FOUND];
	int n_found;

	state->at = 0;
	state->n_matches = 0;
	if (state->knows != NULL && RelationNeedsWAL(scan->indexRelation) &&
		state->knows(state->knows_arg, BufferGetBlockNumber(buffer),
					 PageGetLSN(page)))
		return;
	if (!state->searches)
	{
		for (int i = 0; i < hamming_count(page); i++)
			add_match(scan, buffer, i);
		return;
	}
	n_found = find_candidates(state, page, found);
	for (int i = 0; i < n_found; i++)
		if (is_match(state, hamming_values(page)[found[i]]))
			add_match(scan, buffer, found[i]);
}

bool
simdup_hamming_next_matches(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	simdup_hamming_release_pin(state);
	while (state->tree < HAMMING_TREES)
	{
		Buffer buffer = InvalidBuffer;

		CHECK_FOR_INTERRUPTS();
		if (state->tree >= 0)
			buffer = simdup_hamming_next_leaf(&state->walk);
		if (!BufferIsValid(buffer))
		{
			while (++state->tree < HAMMING_TREES &&
				   state->radii[state->tree] < 0)
				;
			if (state->tree < HAMMING_TREES)
				simdup_hamming_begin_walk(&state->walk, scan, state->tree,
										  state->search.center,
										  state->radii[state->tree]);
			continue;
		}
		TestForOldSnapshot(scan->xs_snapshot, scan->indexRelation,
						   BufferGetPage(buffer));
		collect_matches(scan, buffer);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		/* an index-only scan trusts the visibility map: VACUUM must wait */
		if (state->n_matches > 0 &&
			(scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot)))
			state->pin = buffer;
		else
			ReleaseBuffer(buffer);
		if (state->n_matches > 0)
			return true;
	}
	return false;
}
