/*
 * matches.c
 *	  The leaves that a scan of a hamming index reads, and the rows on them that
 *	  match. Every value is compared whole, so what is found is exact.
 *
 * The matches of a leaf are copied, and the leaf is unlocked before they are
 * returned. Under an MVCC snapshot its pin is released too: a row that has
 * since taken the TID of another is too young to be seen. Under any other
 * snapshot (an exclusion constraint's) the pin stays until the next leaf is
 * read. VACUUM needs a cleanup lock, so it cannot remove the entry and free the
 * TID before that.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "index/hamming/scanning.h"

void
simdup_hamming_release_pin(HammingScan *state)
{
	if (BufferIsValid(state->pin))
		ReleaseBuffer(state->pin);
	state->pin = InvalidBuffer;
}

/* Choose the trees to read, and how far around the center. */
static void
choose_trees(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
		state->radii[tree] = -1;
	if (state->reads_nulls)
		state->radii[HAMMING_NULL_TREE] = SIMDUP_BLOCK_BITS;
	if (!state->reads_values)
		return;
	if (state->searches)
	{
		uint64 center = state->search.center;
		int radius = (int) state->search.radius;

		(void) simdup_choose_radii(radius,
								   simdup_hamming_page_costs(scan, center,
															 radius),
								   state->radii);
	}
	else
		state->radii[0] = SIMDUP_BLOCK_BITS;
}

void
simdup_hamming_begin_search(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	choose_trees(scan);
	state->n_matches = 0;
	state->at = 0;
	state->tree = -1;
	state->walking = false;
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

/* Check whether this can be the TID of a row. */
static bool
is_possible(IndexScanDesc scan, const ItemPointerData *tid)
{
	HammingScan *state = scan->opaque;
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(tid);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(tid);

	if (offset == InvalidOffsetNumber || offset > MaxHeapTuplesPerPage)
		return false;
	if (block >= state->heap_blocks)
	{
		/* a bitmap scan is not told of the table, which the executor has locked */
		Relation heap =
			table_open(scan->indexRelation->rd_index->indrelid, NoLock);

		state->heap_blocks = RelationGetNumberOfBlocks(heap);
		table_close(heap, NoLock);
	}
	return block < state->heap_blocks;
}

static void
add_match(IndexScanDesc scan, Buffer buffer, int i)
{
	HammingScan *state = scan->opaque;
	Page page = BufferGetPage(buffer);
	ItemPointer tid = hamming_tid(page, i);

	if (!is_possible(scan, tid))
		simdup_hamming_corrupted(scan->indexRelation,
								 BufferGetBlockNumber(buffer),
								 "A TID is not one of the table.");
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
	HammingHead *head = hamming_head(page);
	const uint64 *values = hamming_values(page);
	uint64 center = simdup_rotate(state->search.center, state->tree);
	int radius = (int) state->search.radius;
	int n = hamming_count(page);
	int n_sorted = head->n_sorted;
	int n_found;

	if (walk->is_whole)
		return simdup_find_near(values, n, center, radius, found);
	n_found = simdup_find_in_blocks(values, n_sorted,
									hamming_is_last(page) ? PG_UINT64_MAX
														  : head->high_value,
									walk->near + walk->leaf_near,
									walk->n_leaf_near, center, radius, found);
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

/* Begin with the next tree that is to be read; false after the last. */
static bool
next_tree(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	uint64 center = state->searches ? state->search.center : 0;

	do
	{
		if (++state->tree == HAMMING_TREES)
			return false;
	} while (state->radii[state->tree] < 0);
	if (state->tree != HAMMING_NULL_TREE)
		center = simdup_rotate(center, state->tree);
	simdup_hamming_begin_walk(&state->walk, scan, state->tree,
							  simdup_first_block(center),
							  state->radii[state->tree]);
	return true;
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
		if (state->walking)
			buffer = simdup_hamming_next_leaf(&state->walk);
		if (!BufferIsValid(buffer))
		{
			state->walking = next_tree(scan);
			continue;
		}
		SIMDUP_TEST_OLD_SNAPSHOT(scan, buffer);
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
