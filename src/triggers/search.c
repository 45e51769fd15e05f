/*
 * search.c
 *	  The rows near a new one: reads the entries of all indexes, nearest first, and
 *	  then the rows of one distance after another. Passes over rows that are no other
 *	  row than the new one, or have a chain of flags that leads to it. README has the
 *	  rules.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "index/hamming/am.h"
#include "triggers/trigger.h"
#include "type/simhash64.h"

static bool
have_equal_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&state->key_functions->eq_opr_finfo,
										  state->key_att->attcollation, a, b));
}

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
 * Check whether a stored row is an earlier version of the new one. For flag and
 * log, its key names the new one, too, also in another partition.
 */
static bool
is_this_row(TriggerState *state, const TriggerTarget *target,
			TupleTableSlot *slot)
{
	bool isnull;

	return (target == state->own &&
			ItemPointerIsValid(&state->row.stored_tid) &&
			ItemPointerEquals(&slot->tts_tid,
							  (ItemPointer) &state->row.stored_tid)) ||
		   (state->kind != TRIGGER_REJECT && !state->row.key.isnull &&
			have_equal_keys(state, state->row.key.value,
							slot_getattr(slot, target->key, &isnull)));
}

/* Copy a value of the key's type, so that it lasts as long as the search. */
static NullableDatum
copy_key(const TriggerState *state, TupleTableSlot *slot, AttrNumber attnum)
{
	Form_pg_attribute att = state->key_att;
	NullableDatum copy;

	copy.value = slot_getattr(slot, attnum, &copy.isnull);
	if (!copy.isnull)
		copy.value = datumCopy(copy.value, att->attbyval, att->attlen);
	return copy;
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
	if (is_this_row(state, target, target->slot))
		return false;
	if (state->kind != TRIGGER_REJECT)
		near->key = copy_key(state, target->slot, target->key).value;
	near->is_newer =
		state->search.command != InvalidCommandId &&
		TTS_IS_BUFFERTUPLE(target->slot) &&
		command_of(ExecFetchSlotHeapTuple(target->slot, false, NULL)->t_data) ==
			state->search.command &&
		compare_keys(state, near->key, state->row.key.value) > 0;
	return true;
}

/*
 * Check whether the new row, which is to be inserted, has a stored row's values in
 * a unique index. Then both cannot be stored: the INSERT fails, does nothing, or
 * updates that row. Expressions and predicates are those of the index.
 */
static bool
meets(TriggerState *state, const UniqueIndex *unique, TupleTableSlot *stored)
{
	ExprContext *econtext = GetPerTupleExprContext(state->estate);
	IndexInfo *info = unique->info;
	TupleTableSlot *slots[] = {stored, state->slot};
	Datum values[2][INDEX_MAX_KEYS];
	bool isnull[2][INDEX_MAX_KEYS];

	for (int i = 0; i < 2; i++)
	{
		econtext->ecxt_scantuple = slots[i];
		if (!ExecQual(info->ii_PredicateState, econtext))
			return false;
		FormIndexDatum(info, slots[i], state->estate, values[i], isnull[i]);
	}
	for (int i = 0; i < info->ii_NumIndexKeyAttrs; i++)
		if (isnull[0][i] || isnull[1][i]
				? !info->ii_NullsNotDistinct || isnull[0][i] != isnull[1][i]
				: !DatumGetBool(OidFunctionCall2Coll(info->ii_UniqueProcs[i],
													 unique->collations[i],
													 values[0][i],
													 values[1][i])))
			return false;
	return true;
}

/* Check whether the new row, as an upsert, may meet rows of a target. */
static bool
may_meet(TriggerState *state, const TriggerTarget *target)
{
	return target == state->own && !ItemPointerIsValid(&state->row.stored_tid);
}

/* Check whether an upsert of the new row may meet a stored row of a target. */
static bool
meets_any(TriggerState *state, const TriggerTarget *target,
		  TupleTableSlot *slot)
{
	bool met = false;

	if (!may_meet(state, target))
		return false;
	ExecStoreHeapTuple(state->row.complete, state->slot, false);
	for (int i = 0; i < state->n_uniques && !met; i++)
		met = meets(state, &state->uniques[i], slot);
	ExecClearTuple(state->slot);
	ResetPerTupleExprContext(state->estate);
	return met;
}

/* Find the indexes of all targets that make the key one. */
static void
find_key_indexes(TriggerState *state)
{
	ListCell *cell;

	if (OidIsValid(state->own->key_index))
		return;
	foreach (cell, find_all_inheritors(state->key_index, NoLock, NULL))
	{
		Oid table = IndexGetRelation(lfirst_oid(cell), true);

		for (int i = 0; i < state->n_targets; i++)
			if (state->targets[i].table == table)
				state->targets[i].key_index = lfirst_oid(cell);
	}
}

/*
 * Follow a flag to the row that has this key. Set *flag to that row's, or to NULL
 * if there is none. Return whether it is the new row.
 */
static bool
follow_flag(TriggerState *state, NullableDatum *flag)
{
	Datum key = flag->value;
	bool is_new = !state->row.key.isnull &&
				  have_equal_keys(state, state->row.key.value, key);
	bool found = is_new;

	flag->isnull = true;
	find_key_indexes(state);
	for (int i = 0; i < state->n_targets && !found; i++)
	{
		TriggerTarget *target = &state->targets[i];
		ScanKeyData scan_key;
		SysScanDesc scan;

		ScanKeyEntryInitialize(&scan_key, 0, target->key, BTEqualStrategyNumber,
							   InvalidOid, state->key_att->attcollation,
							   state->key_functions->eq_opr_finfo.fn_oid, key);
		scan = systable_beginscan(target->heap, target->key_index, true,
								  state->search.snapshot, 1, &scan_key);
		found = HeapTupleIsValid(systable_getnext(scan));
		if (found)
		{
			is_new = is_this_row(state, target, scan->slot) ||
					 meets_any(state, target, scan->slot);
			*flag = copy_key(state, scan->slot, target->flag);
		}
		systable_endscan(scan);
	}
	return is_new;
}

/*
 * Check whether a near row, which is fetched, has a chain of flags that leads to
 * the new row. Then the new row must not be flagged with it. A person may have set
 * flags that make a loop. The walk ends where it meets a remembered key again
 * (Brent 1980).
 */
static bool
leads_here(TriggerState *state, const NearRow *near)
{
	const TriggerTarget *target = near->target;
	Datum remembered = near->key;
	NullableDatum flag = copy_key(state, target->slot, target->flag);

	for (int64 n = 1, renewed = 2; !flag.isnull; n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (have_equal_keys(state, flag.value, remembered))
			return false;
		if (n == renewed)
		{
			remembered = flag.value;
			renewed *= 2;
		}
		if (follow_flag(state, &flag))
			return true;
	}
	return false;
}

/* Check whether a near row is the one that an upsert meets, or leads to this. */
static bool
passes_over(TriggerState *state, const NearRow *near)
{
	bool is_flag = state->kind == TRIGGER_FLAG;

	/* spare the fetch of a row that cannot be passed over */
	if (!is_flag && !may_meet(state, near->target))
		return false;
	simdup_trigger_fetch(state, near);
	return meets_any(state, near->target, near->target->slot) ||
		   (is_flag && leads_here(state, near));
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

/* Read the rows at the next distance, in the order of their keys. */
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

/* Return the next row, whether it counts or not; NULL after the last. */
static NearRow *
next_row(TriggerState *state)
{
	NearSearch *search = &state->search;

	while (search->next_row == search->end_row)
	{
		if (search->next_distance == search->n_rows)
			return NULL;
		read_next_distance(state);
	}
	return &search->rows[search->next_row++];
}

const NearRow *
simdup_trigger_next_near(TriggerState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->search_context);
	NearRow *near;

	while ((near = next_row(state)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!passes_over(state, near) && simdup_trigger_counts(state, near))
		{
			require_visible(state, near);
			break;
		}
	}
	MemoryContextSwitchTo(caller);
	return near;
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
