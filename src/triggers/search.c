/*
 * search.c
 *	  Finds the rows near a new row, by the indexes of the tables.
 *
 * A row with the new row's key is the row itself, or the row that an upsert is
 * about to update. The TID tells which stored row is this version.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "index/hamming/am.h"
#include "triggers/search.h"
#include "type/simhash64.h"

/* Compare two keys by the default order of their type. */
static int
compare_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetInt32(
		FunctionCall2Coll(&state->key_functions->cmp_proc_finfo,
						  state->key_collation, a, b));
}

/* Compare rows by their keys; NULL comes last. */
static int
compare_rows(const void *a, const void *b, void *state)
{
	const NearRow *left = a;
	const NearRow *right = b;

	if (left->key_isnull || right->key_isnull)
		return (int) left->key_isnull - (int) right->key_isnull;
	return compare_keys(state, left->key, right->key);
}

static int
compare_entries(const void *a, const void *b)
{
	return ((const NearEntry *) a)->distance -
		   ((const NearEntry *) b)->distance;
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

/* Add the entry that the scan of a target returned last. */
static void
add_entry(NearSearch *search, int target)
{
	IndexScanDesc scan = search->state->targets[target].scan;
	int distance =
		simdup_hamming64(simdup_hamming_returned(scan), search->row->fp);

	CHECK_FOR_INTERRUPTS();
	search->entries =
		simdup_grow(search->entries, &search->max_entries,
					(size_t) search->n_entries + 1, sizeof(NearEntry));
	search->entries[search->n_entries++] =
		(NearEntry){distance, target, scan->xs_heaptid};
}

/*
 * Collect the near entries of all indexes, nearest first. The operator is that
 * of the access method: an index of any operator class holds fingerprints.
 */
static void
collect_entries(NearSearch *search)
{
	const TriggerState *state = search->state;
	SimhashBall ball = {search->row->fp, state->options.max_distance};
	ScanKeyData key = {.sk_attno = 1,
					   .sk_strategy = SIMHASH_IN_BALL_STRATEGY,
					   .sk_argument = PointerGetDatum(&ball)};

	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		require_complete(state, target->index_rel);
		target->scan = SIMDUP_INDEX_BEGINSCAN(target->heap, target->index_rel,
											  search->snapshot, 1, 0);
		index_rescan(target->scan, &key, 1, NULL, 0);
		while (index_getnext_tid(target->scan, ForwardScanDirection) != NULL)
			add_entry(search, i);
	}
	if (search->n_entries > 1)
		qsort(search->entries, search->n_entries, sizeof(NearEntry),
			  compare_entries);
}

/*
 * Return the command of this transaction that wrote a version of a row, or
 * InvalidCommandId if another transaction did. A change of the row that a
 * savepoint took back leaves a combined number in the header, which stands for
 * two commands.
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
 * new row itself. The key belongs to the slot.
 */
static bool
read_row(const NearSearch *search, const NearEntry *entry, NearRow *near)
{
	const TriggerState *state = search->state;
	const NewRow *row = search->row;
	TriggerTarget *target = &state->targets[entry->target];

	if (target->slot == NULL)
		target->slot = table_slot_create(target->heap, NULL);
	target->scan->xs_heaptid = entry->tid;
	if (!index_fetch_heap(target->scan, target->slot))
		return false;
	near->distance = entry->distance;
	near->target = target;
	near->tid = target->slot->tts_tid;
	if (target->table == row->stored_table &&
		ItemPointerEquals(&near->tid, (ItemPointer) &row->stored_tid))
		return false;
	near->key = slot_getattr(target->slot, target->key, &near->key_isnull);
	if (!row->key_isnull && !near->key_isnull &&
		DatumGetBool(FunctionCall2Coll(&state->key_functions->eq_opr_finfo,
									   state->key_collation, row->key,
									   near->key)))
		return false;
	near->is_newer =
		search->command != InvalidCommandId && !row->key_isnull &&
		!near->key_isnull && TTS_IS_BUFFERTUPLE(target->slot) &&
		command_of(ExecFetchSlotHeapTuple(target->slot, false, NULL)->t_data) ==
			search->command &&
		compare_keys(state, near->key, row->key) > 0;
	return true;
}

/*
 * Require that the transaction's snapshot sees the row. It may have been committed
 * after that. Then the two transactions cannot be ordered.
 */
static void
require_visible(const NearSearch *search, const NearRow *near)
{
	ItemPointerData tid = near->tid;
	Snapshot snapshot;
	bool visible;

	if (!search->state->options.lock || !IsolationUsesXactSnapshot())
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

/* Read the rows at the next distance, in the order of their keys. */
static void
read_next_distance(NearSearch *search)
{
	TriggerState *state = search->state;
	Form_pg_attribute att = TupleDescAttr(state->tupdesc, state->key - 1);
	int64 begin = search->next_entry;
	int64 end = begin;

	while (end < search->n_entries &&
		   search->entries[end].distance == search->entries[begin].distance)
		end++;
	search->next_entry = end;
	if (search->rows != NULL)
		pfree(search->rows);
	search->rows =
		palloc_extended((end - begin) * sizeof(NearRow), MCXT_ALLOC_HUGE);
	search->n_rows = search->next_row = 0;
	for (int64 i = begin; i < end; i++)
	{
		NearRow *near = &search->rows[search->n_rows];

		CHECK_FOR_INTERRUPTS();
		if (!read_row(search, &search->entries[i], near))
			continue;
		if (!near->key_isnull)
			near->key = datumCopy(near->key, att->attbyval, att->attlen);
		search->n_rows++;
	}
	qsort_arg(search->rows, search->n_rows, sizeof(NearRow), compare_rows,
			  state);
}

/* Return the next row, whether it counts or not; NULL after the last. */
static NearRow *
next_row(NearSearch *search)
{
	while (search->next_row == search->n_rows)
	{
		if (search->next_entry == search->n_entries)
			return NULL;
		read_next_distance(search);
	}
	return &search->rows[search->next_row++];
}

const NearRow *
simdup_trigger_next_near(NearSearch *search)
{
	MemoryContext caller = MemoryContextSwitchTo(search->state->search_context);
	NearRow *near;

	while ((near = next_row(search)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (simdup_trigger_counts(search, near))
		{
			require_visible(search, near);
			break;
		}
	}
	MemoryContextSwitchTo(caller);
	return near;
}

void
simdup_trigger_begin_search(NearSearch *search, TriggerState *state,
							const NewRow *row)
{
	MemoryContext caller;

	*search = (NearSearch){.state = state,
						   .row = row,
						   .command = state->kind == TRIGGER_LOG
										  ? command_of(row->tuple->t_data)
										  : InvalidCommandId};
	if (state->options.lock)
		simdup_trigger_lock(state, row->fp);
	if (!simdup_trigger_may_search(search))
		return;
	caller = MemoryContextSwitchTo(state->search_context);
	simdup_trigger_open_targets(state);
	CommandCounterIncrement();
	search->snapshot = RegisterSnapshot(
		state->options.lock ? GetLatestSnapshot() : GetTransactionSnapshot());
	collect_entries(search);
	MemoryContextSwitchTo(caller);
}

void
simdup_trigger_end_search(NearSearch *search)
{
	if (search->snapshot == NULL)
		return;
	simdup_trigger_close_targets(search->state);
	UnregisterSnapshot(search->snapshot);
	MemoryContextReset(search->state->search_context);
}
