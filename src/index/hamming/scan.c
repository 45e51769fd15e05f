/*
 * scan.c
 *	  Scans of a hamming index: plain ones, bitmaps, and in the order of distance.
 */
#include "postgres.h"
#include "compat.h"

#include "access/tableam.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/spccache.h"

#include "index/hamming/walk.h"

/*
 * Rows in the order of their distance: ORDER BY fp <~> q.
 *
 * A scan works in stages. Each stage has a radius, and finds the rows that are
 * within it and outside that of the stage before. It sorts them, and returns
 * them before the next stage begins. So the order is exact, and a row belongs
 * to one stage only: none is returned twice. Each stage is expected to read a
 * few times the pages of the one before, so all of them together cost little
 * more than the last.
 *
 * If a search would read as many pages as one rotation holds, the scan reads a
 * whole rotation instead. The first pass counts the rows at each distance. Each
 * later pass keeps a batch of the nearest rows. Batches grow, so that a scan
 * that returns all rows needs few passes.
 *
 * With a condition around another center, one stage finds and sorts all rows
 * that fulfil it. Rows without a fingerprint come last.
 *
 * A stage's candidates are sorted, in files if they exceed work_mem.
 */

/* Pages that the first stage may read for each rotation. */
#define FIRST_PAGES 3

/*
 * A stage may read this multiple of the pages of the one before. It may also
 * read pages that cost no more than to plan the query. With 10 million rows,
 * the stages then end at k = 3, 7, 8 and 11. A search that ends at k = 8 reads
 * 1.5 times the pages of k = 8.
 */
#define STAGE_GROWTH 3
#define SMALL_STAGE 100

#define FIRST_BATCH 512
#define BATCH_GROWTH 8

#define DISTANCE_BITS 7

static void
begin_order(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	HammingOrder *order = &state->order;
	Relation index = scan->indexRelation;

	order->n = 0;
	/* an operand is a fingerprint or of the column's type */
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		ScanKey key = &scan->orderByData[i];
		bool is_null = (key->sk_flags & SK_ISNULL) != 0;
		uint64 center = 0;

		if (key->sk_subtype == index->rd_opcintype[0])
			is_null = !simdup_hamming_fingerprint(index, key->sk_argument,
												  is_null, &center);
		else if (!is_null)
			center = DatumGetSimhash64(key->sk_argument);
		/* all rows are alike by a NULL */
		if (scan->numberOfOrderBys > HAMMING_MAX_ORDERS)
			scan->xs_orderbynulls[i] = is_null;
		if (is_null)
			continue;
		if (order->n < HAMMING_MAX_ORDERS)
			order->centers[order->n] = center;
		order->n++;
	}
	order->grows =
		order->n > 0 &&
		(state->n_balls == 0 || state->balls[0].center == order->centers[0]);
	order->limit =
		state->n_balls == 0 ? SIMHASH64_BITS : (int) state->balls[0].radius;
	order->complete = -1;
	order->batch = FIRST_BATCH;
	order->nulls = false;
	/* not in a stage: they come after all */
	order->wants_nulls = state->reads_nulls;
	state->reads_nulls = false;
}

static void
end_stage(HammingOrder *order)
{
	if (order->sort != NULL)
		simdup_pairsort_end(order->sort);
	order->sort = NULL;
}

/* Return all distances of a row as one number that sorts as they do. */
static uint64
distances_of(const HammingOrder *order, uint64 fp)
{
	uint64 distances = 0;

	for (int i = 0; i < Min(order->n, HAMMING_MAX_ORDERS); i++)
		distances = distances << DISTANCE_BITS |
					(uint64) simdup_hamming64(fp, order->centers[i]);
	return distances;
}

/* Return the least radius that holds a batch of rows above the complete radius. */
static int
radius_of_batch(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	HammingOrder *order = &state->order;
	uint8 distances[HAMMING_LEAF_CAPACITY];
	double count[SIMHASH64_BITS + 1] = {0};
	double missing = order->batch;
	int k = order->complete + 1;
	Buffer buffer;

	simdup_hamming_begin_walk(&state->walk, scan, 0, 0, SIMDUP_BLOCK_BITS);
	while ((buffer = simdup_hamming_next_leaf(&state->walk)) != InvalidBuffer)
	{
		Page page = BufferGetPage(buffer);
		int n = hamming_count(page);

		simdup_distances(hamming_values(page), n,
						 simdup_rotate(order->centers[0], 0), distances);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			count[distances[i]]++;
	}
	for (; k < order->limit; k++)
	{
		missing -= count[k];
		if (missing <= 0)
			break;
	}
	order->batch *= BATCH_GROWTH;
	return k;
}

/*
 * Return the radius of the next stage, larger than that of the last. It is the
 * largest that is expected to read at most SMALL_STAGE pages, or STAGE_GROWTH
 * times the pages of the last stage, if there is such. If reading a whole
 * rotation is no worse, it is that of a batch.
 */
static int
next_radius(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	HammingOrder *order = &state->order;
	int radii[SIMDUP_ROTATIONS];
	int k = order->complete + 1;
	double limit = FIRST_PAGES * SIMDUP_ROTATIONS;
	const SimdupPageCosts *costs =
		simdup_hamming_page_costs(scan->indexRelation, &state->costs,
								  order->centers[0], SIMDUP_BLOCK_BITS);

	if (order->complete >= 0)
		limit = Max(STAGE_GROWTH *
						simdup_choose_radii(order->complete, costs, radii),
					SMALL_STAGE);
	while (k < order->limit &&
		   simdup_choose_radii(k + 1, costs, radii) <= limit)
		k++;
	(void) simdup_choose_radii(k, costs, radii);
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		if (radii[i] == SIMDUP_BLOCK_BITS)
			return radius_of_batch(scan);
	return k;
}

/*
 * Find the next candidates, which are above the complete radius. Return false if no
 * row with a fingerprint is left.
 */
static bool
next_stage(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	HammingOrder *order = &state->order;
	int k = order->limit;
	MemoryContext caller;

	/* rows without a fingerprint are all alike */
	if (order->complete >= order->limit || !state->reads_values)
		return false;
	if (order->grows)
	{
		k = next_radius(scan);
		state->searches = true;
		state->search = (SimhashBall){order->centers[0], k};
	}
	caller = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	order->sort = simdup_pairsort_begin((int64) work_mem * 1024);
	MemoryContextSwitchTo(caller);
	simdup_hamming_begin_search(scan);
	while (simdup_hamming_next_matches(scan))
		for (int i = 0; i < state->n_matches; i++)
		{
			uint64 fp = simdup_unrotate(state->values[i], state->tree);

			if (simdup_hamming64(fp, order->centers[0]) > order->complete)
				simdup_pairsort_put(order->sort, distances_of(order, fp),
									hamming_row_of_tid(&state->matches[i]));
		}
	simdup_pairsort_perform(order->sort);
	order->complete = k;
	return true;
}

/* Get the next row without a fingerprint, if these are wanted. */
static bool
next_null(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;
	HammingOrder *order = &state->order;

	if (!order->nulls && !order->wants_nulls)
		return false;
	if (!order->nulls)
	{
		order->nulls = true;
		state->searches = false;
		state->reads_values = false;
		state->reads_nulls = true;
		simdup_hamming_begin_search(scan);
	}
	if (state->at == state->n_matches && !simdup_hamming_next_matches(scan))
		return false;
	scan->xs_heaptid = state->matches[state->at++];
	return true;
}

/*
 * Give the least that distances can be, where there are more operands than one number
 * has room for. The executor then compares the real ones, and holds rows back until
 * no later one can come before them.
 */
static void
give_least_distances(IndexScanDesc scan, uint64 distances)
{
	HammingOrder *order = &((HammingScan *) scan->opaque)->order;
	int shift = HAMMING_MAX_ORDERS * DISTANCE_BITS;

	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		uint64 distance = 0;

		if (!scan->xs_orderbynulls[i] && shift > 0)
		{
			shift -= DISTANCE_BITS;
			distance = distances >> shift & ((1 << DISTANCE_BITS) - 1);
		}
		scan->xs_orderbyvals[i] = Int32GetDatum((int32) distance);
		scan->xs_orderbynulls[i] |= order->nulls;
	}
}

static bool
next_nearest(IndexScanDesc scan)
{
	HammingOrder *order = &((HammingScan *) scan->opaque)->order;
	uint64 distances = 0;
	uint64 row;
	bool found;

	do
	{
		found = order->sort != NULL &&
				simdup_pairsort_get(order->sort, &distances, &row);
		if (!found)
			end_stage(order);
	} while (!found && next_stage(scan));
	if (found)
		hamming_tid_of_row(row, &scan->xs_heaptid);
	else if (!next_null(scan))
		return false;
	if (order->n > HAMMING_MAX_ORDERS)
		give_least_distances(scan, distances);
	return true;
}

/* Scans */

IndexScanDesc
simdup_hamming_begin_scan(Relation index, int n_keys, int n_orders)
{
	IndexScanDesc scan = RelationGetIndexScan(index, n_keys, n_orders);
	MemoryContext caller = MemoryContextSwitchTo(
		AllocSetContextCreate(CurrentMemoryContext, "hamming scan",
							  ALLOCSET_SMALL_SIZES));
	HammingScan *state = palloc0(sizeof(HammingScan));

	state->balls = palloc(sizeof(SimhashBall) * n_keys);
	if (n_orders > HAMMING_MAX_ORDERS)
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
	end_stage(&state->order);
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
	end_stage(&state->order);
	state->started = false;
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
		bool is_null = (key->sk_flags & SK_SEARCHNULL) != 0;

		/*
		 * A row without a fingerprint may be a value for which the operator class has
		 * none. Then both conditions read those rows, and the executor decides.
		 */
		if (simdup_hamming_computes(scan->indexRelation))
			state->recheck_nulls = true;
		else if (!is_null)
			state->reads_nulls = false;
		if (is_null)
			state->reads_values = false;
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
 * Check whether a row was removed, for an index-only scan on a standby: see README.
 * The server offers no way to refuse such a scan; its cost includes the look-ups
 * (scan_cost.c). The executor asks for the row again and needs the root of its HOT
 * chain.
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

static void
start_scan(IndexScanDesc scan)
{
	HammingScan *state = scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	simdup_hamming_make_hints(scan->indexRelation);

	/*
	 * A query that reads no column, such as count(*), is an index-only scan for the
	 * planner even though the index returns no column. The executor needs a tuple.
	 */
	if (scan->xs_want_itup && scan->xs_itup == NULL)
	{
		scan->xs_itupdesc = RelationGetDescr(scan->indexRelation);
		scan->xs_itup =
			index_form_tuple(scan->xs_itupdesc, (Datum[]){0}, (bool[]){true});
	}
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
		begin_order(scan);
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
	scan->xs_recheckorderby = state->order.n > HAMMING_MAX_ORDERS;
	if (scan->numberOfOrderBys > 0)
		found = next_nearest(scan);
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

void
simdup_hamming_pass_over(IndexScanDesc scan, HammingKnowsLeaf knows, void *arg)
{
	HammingScan *state = scan->opaque;

	state->knows = knows;
	state->knows_arg = arg;
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
