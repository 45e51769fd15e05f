/*
 * search.c
 *	  The rows near a new one: reads the entries of all indexes, nearest first, and
 *	  then the rows of one distance after another.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "index/hamming/am.h"
#include "triggers/trigger.h"
#include "type/simhash64.h"

/* Compare two keys by the default order of their type. */
static int
compare_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetInt32(
		FunctionCall2Coll(&state->key_functions->cmp_proc_finfo,
						  state->key_att->attcollation, a, b));
}

/* Compare rows by their keys, or for reject by their places. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const TriggerState *state = arg;
	NearRow *left = (NearRow *) a;
	NearRow *right = (NearRow *) b;

	if (state->kind != TRIGGER_REJECT)
		return compare_keys(state, left->key, right->key);
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	return ItemPointerCompare(&left->tid, &right->tid);
}

static int
compare_distances(const void *a, const void *b)
{
	return ((const NearRow *) a)->distance - ((const NearRow *) b)->distance;
}

/*
 * Require that an index has all rows that the transaction's snapshot sees. One
 * that was made over changed rows may leave out their earlier versions. The
 * planner uses such an index for later snapshots only.
 */
static void
require_complete(const TriggerState *state, Relation index)
{
	if (state->options.lock || !IsolationUsesXactSnapshot() ||
		!index->rd_index->indcheckxmin ||
		TransactionIdPrecedes(HeapTupleHeaderGetXmin(
								  index->rd_indextuple->t_data),
							  TransactionXmin))
		return;
	ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent creation of index \"%s\"",
				   RelationGetRelationName(index)),
			errhint("The transaction might succeed if retried."));
}

/*
 * Collect the near entries of all indexes, nearest first. The operator is that
 * of the access method: an index of any operator class holds fingerprints.
 */
static void
collect_entries(TriggerState *state)
{
	NearSearch *search = &state->search;
	uint64 fp = state->row.fp;
	SimhashBall ball = {fp, state->options.max_distance};
	ScanKeyData key = {.sk_attno = 1,
					   .sk_strategy = SIMHASH_IN_BALL_STRATEGY,
					   .sk_argument = PointerGetDatum(&ball)};

	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];
		IndexScanDesc scan;
		ItemPointer tid;

		require_complete(state, target->index_rel);
		scan = SIMDUP_INDEX_BEGINSCAN(target->heap, target->index_rel,
									  search->snapshot, 1, 0);
		index_rescan(scan, &key, 1, NULL, 0);
		while ((tid = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
		{
			int distance = simdup_hamming64(simdup_hamming_returned(scan), fp);

			CHECK_FOR_INTERRUPTS();
			search->rows =
				simdup_grow(search->rows, &search->max_rows,
							(size_t) search->n_rows + 1, sizeof(NearRow));
			search->rows[search->n_rows++] =
				(NearRow){.target = target, .distance = distance, .tid = *tid};
		}
		index_endscan(scan);
	}
	if (search->n_rows > 1)
		qsort(search->rows, search->n_rows, sizeof(NearRow), compare_distances);
}

/*
 * Return the command of this transaction that wrote a version of a row, or
 * InvalidCommandId if another transaction did. After a rollback to a savepoint, the
 * header may have a combined number of two commands.
 */
static CommandId
command_of(HeapTupleHeader header)
{
	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(header)))
		return InvalidCommandId;
	return (header->t_infomask & HEAP_COMBOCID) != 0
			   ? HeapTupleHeaderGetCmin(header)
			   : HeapTupleHeaderGetRawCommandId(header);
}

/*
 * Read the row of an entry. Return false if none is visible there, or it is the
 * new row.
 */
static bool
read_near(TriggerState *state, NearRow *near)
{
	TriggerTarget *target = near->target;
	bool again = false;

	if (target->slot == NULL)
	{
		target->slot = table_slot_create(target->heap, NULL);
		target->fetch = SIMDUP_INDEX_FETCH_BEGIN(target->heap);
	}
	/* from the first version of the row to the visible one */
	if (!table_index_fetch_tuple(target->fetch, &near->tid,
								 state->search.snapshot, target->slot, &again,
								 NULL))
		return false;
	if (simdup_trigger_is_this_row(state, target, target->slot))
		return false;
	if (state->kind != TRIGGER_REJECT)
		near->key = simdup_trigger_key(state, target->slot, target->key).value;
	near->is_newer =
		state->search.command != InvalidCommandId &&
		TTS_IS_BUFFERTUPLE(target->slot) &&
		command_of(ExecFetchSlotHeapTuple(target->slot, false, NULL)->t_data) ==
			state->search.command &&
		compare_keys(state, near->key, state->row.key.value) > 0;
	return true;
}

/*
 * Require that the transaction's snapshot sees the row. It may have been committed
 * after that. Then the two transactions cannot be ordered.
 */
static void
require_visible(TriggerState *state, const NearRow *near)
{
	ItemPointerData tid = near->tid;
	Snapshot snapshot;
	bool visible;

	if (!state->options.lock || !IsolationUsesXactSnapshot())
		return;
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	visible = table_tuple_fetch_row_version(near->target->heap, &tid, snapshot,
											near->target->slot);
	UnregisterSnapshot(snapshot);
	if (!visible)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg(
					"could not serialize access due to concurrent arrival of a near-duplicate"),
				errhint("The transaction might succeed if retried."));
}

/*
 * Read the rows at the next distance, in the order of their keys. After the last
 * distance, there are none, and next_row is n_rows.
 */
static void
read_next_distance(TriggerState *state)
{
	NearSearch *search = &state->search;
	NearRow *rows = search->rows;
	int64 begin = search->next_distance;
	int64 i = begin;

	search->next_row = search->end_row = begin;
	for (; i < search->n_rows && rows[i].distance == rows[begin].distance; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (read_near(state, &rows[i]))
			rows[search->end_row++] = rows[i];
	}
	qsort_arg(&rows[begin], search->end_row - begin, sizeof(NearRow),
			  compare_rows, state);
	search->next_distance = i;
}

const NearRow *
simdup_trigger_next_near(TriggerState *state)
{
	NearSearch *search = &state->search;
	MemoryContext caller = MemoryContextSwitchTo(state->search_context);
	const NearRow *found = NULL;

	while (found == NULL && search->next_row < search->n_rows)
		if (search->next_row == search->end_row)
			read_next_distance(state);
		else
		{
			const NearRow *near = &search->rows[search->next_row++];

			CHECK_FOR_INTERRUPTS();
			if (!simdup_trigger_passes_over(state, near) &&
				simdup_trigger_counts(state, near))
				found = near;
		}
	if (found != NULL)
		require_visible(state, found);
	MemoryContextSwitchTo(caller);
	return found;
}

const NearRow *
simdup_trigger_first_near(TriggerState *state)
{
	NearSearch *search = &state->search;
	MemoryContext caller;

	*search = (NearSearch){.command = InvalidCommandId};
	if (state->kind == TRIGGER_LOG)
		search->command = command_of(state->row.tuple->t_data);
	if (state->options.lock)
		simdup_trigger_lock(state->table, state->lock_distance, state->row.fp);
	if (!simdup_trigger_may_search(state))
		return NULL;
	caller = MemoryContextSwitchTo(state->search_context);
	simdup_trigger_open_targets(state);
	CommandCounterIncrement();
	search->snapshot = RegisterSnapshot(
		state->options.lock ? GetLatestSnapshot() : GetTransactionSnapshot());
	collect_entries(state);
	MemoryContextSwitchTo(caller);
	return simdup_trigger_next_near(state);
}

void
simdup_trigger_end_search(TriggerState *state)
{
	if (state->search.snapshot == NULL)
		return;
	simdup_trigger_close_targets(state);
	UnregisterSnapshot(state->search.snapshot);
	MemoryContextReset(state->search_context);
}
