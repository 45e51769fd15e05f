/*
 * scan.c
 *	  Plain and bitmap scans of a hamming index.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/spccache.h"

#include "index/hamming/am.h"
#include "index/hamming/walk.h"

IndexScanDesc
simdup_hamming_begin_scan(Relation index, int n_keys, int n_orders)
{
	IndexScanDesc scan = RelationGetIndexScan(index, n_keys, n_orders);
	MemoryContext caller = MemoryContextSwitchTo(
		AllocSetContextCreate(CurrentMemoryContext, "hamming scan",
							  ALLOCSET_SMALL_SIZES));
	HammingScan *state = palloc0(sizeof(HammingScan));

	state->balls = palloc(sizeof(SimhashBall) * n_keys);
	if (n_orders > 1)
	{
		scan->xs_orderbyvals = palloc0(sizeof(Datum) * n_orders);
		scan->xs_orderbynulls = palloc0(sizeof(bool) * n_orders);
	}
	MemoryContextSwitchTo(caller);
	state->pin = InvalidBuffer;
	if (!RelationUsesLocalBuffers(index))
		state->walk.distance =
			get_tablespace_io_concurrency(index->rd_rel->reltablespace);
	scan->opaque = state;
	return scan;
}

void
simdup_hamming_end_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	simdup_hamming_release_pin(state);
	if (state->slot != NULL)
		ExecDropSingleTupleTableSlot(state->slot);
	simdup_hamming_end_stage(&state->order);
	/* an exclusion check is a scan for each row of a statement */
	MemoryContextDelete(GetMemoryChunkContext(state));
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
	simdup_hamming_release_pin(state);
	simdup_hamming_end_stage(&state->order);
	state->started = false;
}

/*
 * Add a condition on NULL. A row without a fingerprint may be a value for which
 * the operator class has none: then both conditions read those rows, and the
 * executor decides.
 */
static void
add_null_test(IndexScanDesc scan, bool is_null)
{
	HammingScan *state = scan->opaque;

	if (simdup_hamming_computes(scan->indexRelation))
		state->recheck_nulls = true;
	else if (!is_null)
		state->reads_nulls = false;
	if (is_null)
		state->reads_values = false;
}

/* Add a condition, as fp <@ ball. The ball of least radius is kept first. */
static void
add_ball(HammingScan *state, uint64 center, int64 radius)
{
	SimhashBall ball = {center, radius};

	state->balls[state->n_balls++] = ball;
	if (radius < state->balls[0].radius)
	{
		state->balls[state->n_balls - 1] = state->balls[0];
		state->balls[0] = ball;
	}
}

static void
add_key(IndexScanDesc scan, ScanKey key)
{
	HammingScan *state = scan->opaque;

	if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL))
	{
		add_null_test(scan, (key->sk_flags & SK_SEARCHNULL) != 0);
		return;
	}
	/* no row without a fingerprint fulfils an operator, and none fulfils NULL */
	state->reads_nulls = false;
	if (key->sk_flags & SK_ISNULL)
		state->reads_values = false;
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
}

/*
 * Give the executor an empty tuple. A query that reads no column, such as
 * count(*), is an index-only scan for the planner even though the index returns
 * no column. The executor needs a tuple.
 */
static void
give_empty_tuple(IndexScanDesc scan)
{
	Datum value = 0;
	bool is_null = true;

	scan->xs_itupdesc = RelationGetDescr(scan->indexRelation);
	scan->xs_itup = index_form_tuple(scan->xs_itupdesc, &value, &is_null);
}

/*
 * Check whether a row was removed. On a standby no pin holds up the removal of
 * dead rows: replay of generic WAL takes no cleanup lock. An index-only scan
 * would trust the visibility map and count a removed row, so each row is looked
 * up here. The server offers no way to refuse such a scan; its cost includes
 * the look-ups (cost.c). The executor asks for the row again and needs the root of
 * its HOT chain.
 */
static bool
is_removed_row(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	ItemPointerData root = scan->xs_heaptid;
	bool found;

	if (!scan->xs_want_itup || !scan->xactStartedInRecovery)
		return false;
	if (state->slot == NULL)
		state->slot = table_slot_create(scan->heapRelation, NULL);
	found = index_fetch_heap(scan, state->slot);
	ExecClearTuple(state->slot);
	scan->xs_heaptid = root;
	return !found;
}

/* Read the conditions and begin. */
static void
start_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	simdup_hamming_make_hints(scan->indexRelation);
	if (scan->xs_want_itup && scan->xs_itup == NULL)
		give_empty_tuple(scan);
	state->n_balls = 0;
	state->reads_values = state->reads_nulls = true;
	state->recheck = state->recheck_nulls = false;
	for (int i = 0; i < scan->numberOfKeys; i++)
		add_key(scan, &scan->keyData[i]);
	state->searches = state->n_balls > 0;
	if (state->searches)
		state->search = state->balls[0];
	state->started = true;
	if (scan->numberOfOrderBys > 0)
		simdup_hamming_begin_order(scan);
	else
		simdup_hamming_begin_search(scan);
}

/* Check whether the executor must check conditions for this leaf's matches. */
static bool
needs_recheck(const HammingScan *state)
{
	return state->recheck ||
		   (state->recheck_nulls && state->tree == HAMMING_NULL_TREE);
}

bool
simdup_hamming_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	HammingScan *state = scan->opaque;
	bool found;

	if (direction != ForwardScanDirection)
		elog(ERROR, "hamming indexes are only scanned forward");
	if (!state->started)
		start_scan(scan);
	scan->xs_recheckorderby = false;
	if (scan->numberOfOrderBys > 0)
		found = simdup_hamming_next_nearest(scan);
	else
		do
		{
			found = state->at < state->n_matches ||
					simdup_hamming_next_matches(scan);
			if (found)
				scan->xs_heaptid = state->matches[state->at++];
		} while (found && is_removed_row(scan));
	scan->xs_recheck = needs_recheck(state);
	return found;
}

uint64
simdup_hamming_returned(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	return simdup_unrotate(state->values[state->at - 1], state->tree);
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
					   needs_recheck(state));
		n += state->n_matches;
	}
	return n;
}
