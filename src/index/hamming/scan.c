/*
 * scan.c
 *	  Plain and bitmap scans of a hamming index.
 *
 * A search of radius k walks the rotations one after the other, each with its
 * own radius: see core/radii.h. Every value on a leaf is compared whole, so
 * what is found is exact. A row is reported by the first rotation whose radius
 * it meets and by no other. That depends on its fingerprint alone, so no TID
 * is reported twice and no TID needs to be remembered.
 *
 * The matches of a leaf are copied, and the leaf is unlocked before they are
 * returned. Under an MVCC snapshot its pin goes too: a row that took the TID
 * of another since is too young to be seen. Under any other snapshot (an
 * exclusion constraint's) the pin stays until the next leaf is read, and
 * VACUUM, which needs a cleanup lock, waits with removing the entry, and so
 * with giving the TID away.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "index/hamming/scan.h"
#include "index/strategy.h"

IndexScanDesc
simdup_hamming_begin_scan(Relation index, int n_keys, int n_orders)
{
	IndexScanDesc scan = RelationGetIndexScan(index, n_keys, n_orders);
	HammingScan *state = palloc0(sizeof(HammingScan));

	state->balls = palloc(sizeof(SimhashBall) * Max(n_keys, 1));
	if (n_orders > 0)
	{
		if (n_orders > HAMMING_MAX_ORDERS)
			ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("a hamming index orders by at most %d distances",
						   HAMMING_MAX_ORDERS));
		state->order = palloc0(sizeof(HammingOrder));
	}
	state->pin = InvalidBuffer;
	scan->opaque = state;
	return scan;
}

static void
release_pin(HammingScan *state)
{
	if (BufferIsValid(state->pin))
		ReleaseBuffer(state->pin);
	state->pin = InvalidBuffer;
}

void
simdup_hamming_end_scan(IndexScanDesc scan)
{
	release_pin(scan->opaque);
}

void
simdup_hamming_rescan(IndexScanDesc scan, ScanKey keys,
					  int n_keys pg_attribute_unused(), ScanKey orders,
					  int n_orders pg_attribute_unused())
{
	HammingScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orders != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orders,
				scan->numberOfOrderBys * sizeof(ScanKeyData));
	release_pin(state);
	state->started = false;
	state->n_matches = 0;
	state->at = 0;
}

/* A condition fp <@ ball, or as good as that. The least ball comes first. */
static void
add_ball(HammingScan *state, uint64 center, int64 radius)
{
	SimhashBall ball = {center, radius};

	if (state->n_balls > 0 && radius < state->balls[0].radius)
	{
		state->balls[state->n_balls++] = state->balls[0];
		state->balls[0] = ball;
	}
	else
		state->balls[state->n_balls++] = ball;
}

static void
add_key(HammingScan *state, ScanKey key)
{
	if (key->sk_flags & SK_SEARCHNULL)
		state->wants_null = true;
	else if (key->sk_flags & SK_SEARCHNOTNULL)
		state->wants_value = true;
	else if (key->sk_flags & SK_ISNULL)
		state->wants_value = state->wants_null = true; /* nothing */
	else if (key->sk_strategy == SIMHASH_EQUAL_STRATEGY)
		add_ball(state, DatumGetSimhash64(key->sk_argument), 0);
	else
	{
		SimhashBall *ball = DatumGetSimhashBallP(key->sk_argument);

		if (key->sk_strategy != SIMHASH_IN_BALL_STRATEGY &&
			key->sk_strategy != HAMMING_MUTUAL_STRATEGY)
			elog(ERROR, "unrecognized strategy number: %d", key->sk_strategy);
		add_ball(state, ball->center, ball->radius);
		/* the stored ball's radius is not in the index */
		if (key->sk_strategy == HAMMING_MUTUAL_STRATEGY)
			state->recheck = true;
	}
	state->wants_value = state->wants_value || state->n_balls > 0;
}

/* Which trees are read, and how far around the center. */
static void
choose_trees(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
		state->radii[tree] = -1;
	if (state->wants_null && state->wants_value)
		return;
	if (state->searches)
	{
		SimdupPageCosts costs[SIMDUP_ROTATIONS];

		simdup_hamming_page_costs(scan->indexRelation, state->search.center,
								  (int) state->search.radius, costs);
		(void) simdup_choose_radii((int) state->search.radius,
								   (const SimdupPageCosts *) costs,
								   state->radii);
	}
	else if (!state->wants_null)
		state->radii[0] = SIMDUP_BLOCK_BITS;
	if (!state->wants_value && !state->searches)
		state->radii[HAMMING_NULL_TREE] = SIMDUP_BLOCK_BITS;
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

/* Read the conditions and begin. */
static void
start_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	state->n_balls = 0;
	state->wants_null = state->wants_value = state->recheck = false;
	for (int i = 0; i < scan->numberOfKeys; i++)
		add_key(state, &scan->keyData[i]);
	state->searches = state->n_balls > 0;
	if (state->searches)
		state->search = state->balls[0];
	state->started = true;
	if (state->order != NULL)
		simdup_hamming_begin_order(scan);
	else
		simdup_hamming_begin_search(scan);
}

/* Does the row belong to this rotation, and lie in all balls? */
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
add_match(HammingScan *state, Page page, int i)
{
	state->matches[state->n_matches] = *hamming_tid(page, i);
	state->values[state->n_matches++] = hamming_values(page)[i];
}

/* Copy the TIDs of a leaf that match. */
static void
collect_matches(HammingScan *state, Page page)
{
	int n = hamming_count(page);
	uint64 *values = hamming_values(page);
	uint16 found[SIMDUP_MAX_FOUND];
	int n_found;

	state->at = 0;
	state->n_matches = 0;
	if (!state->searches)
	{
		for (int i = 0; i < n; i++)
			add_match(state, page, i);
		return;
	}
	n_found = simdup_find_near(values, n,
							   simdup_rotate(state->search.center, state->tree),
							   (int) state->search.radius, found);
	for (int i = 0; i < n_found; i++)
		if (is_match(state, values[found[i]]))
			add_match(state, page, found[i]);
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

	release_pin(state);
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
		collect_matches(state, BufferGetPage(buffer));
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (state->n_matches > 0 && !IsMVCCSnapshot(scan->xs_snapshot))
			state->pin = buffer;
		else
			ReleaseBuffer(buffer);
		if (state->n_matches > 0)
			return true;
	}
	return false;
}

bool
simdup_hamming_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	HammingScan *state = scan->opaque;

	if (direction != ForwardScanDirection)
		elog(ERROR, "hamming indexes are only scanned forward");
	if (!state->started)
		start_scan(scan);
	scan->xs_recheck = state->recheck;
	scan->xs_recheckorderby = false;
	if (state->order != NULL)
		return simdup_hamming_next_nearest(scan);
	if (state->at == state->n_matches && !simdup_hamming_next_matches(scan))
		return false;
	scan->xs_heaptid = state->matches[state->at++];
	return true;
}

int64
simdup_hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	HammingScan *state = scan->opaque;
	int64 n = 0;

	start_scan(scan);
	while (simdup_hamming_next_matches(scan))
	{
		tbm_add_tuples(bitmap, state->matches, state->n_matches,
					   state->recheck);
		n += state->n_matches;
	}
	return n;
}
