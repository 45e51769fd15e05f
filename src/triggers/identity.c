/*
 * identity.c
 *	  Detects stored rows that are the new row, or whose flags lead to it. README has
 *	  the rules.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "triggers/trigger.h"

static bool
have_equal_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&state->key_functions->eq_opr_finfo,
										  state->key_att->attcollation, a, b));
}

bool
simdup_trigger_is_this_row(TriggerState *state, const TriggerTarget *target,
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

NullableDatum
simdup_trigger_key(const TriggerState *state, TupleTableSlot *slot,
				   AttrNumber attnum)
{
	Form_pg_attribute att = state->key_att;
	NullableDatum copy;

	copy.value = slot_getattr(slot, attnum, &copy.isnull);
	if (!copy.isnull)
		copy.value = datumCopy(copy.value, att->attbyval, att->attlen);
	return copy;
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
				: !DatumGetBool(OidFunctionCall2Coll(unique->procs[i],
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
 * Prepare the search for versions of a row by its key, less the partition key.
 * Return the number of scan keys; 0 if nothing but the partition key names a row.
 */
static int
moved_keys(TriggerState *state, const TriggerTarget *target, HeapTuple row,
		   ScanKeyData *keys)
{
	Relation index = index_open(target->key_index, AccessShareLock);
	int n = 0;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber attnum = index->rd_index->indkey.values[i];
		AttrNumber own = get_attnum(state->written,
									get_attname(target->table, attnum, false));
		Oid type = TupleDescAttr(state->tupdesc, own - 1)->atttypid;
		bool isnull;
		Datum value = heap_getattr(row, own, state->tupdesc, &isnull);

		if (bms_is_member(own, state->partition_key))
			continue;
		ScanKeyEntryInitialize(&keys[n++], isnull ? SK_ISNULL : 0, attnum,
							   BTEqualStrategyNumber, InvalidOid,
							   index->rd_indcollation[i],
							   lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO)
								   ->eq_opr_finfo.fn_oid,
							   value);
	}
	index_close(index, NoLock);
	return n;
}

/* Check whether this transaction has deleted or updated a version of a row. */
static bool
is_ended_here(HeapTupleHeader header)
{
	return (header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
		   !HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
		   TransactionIdIsCurrentTransactionId(
			   HeapTupleHeaderGetUpdateXid(header));
}

/*
 * The server deletes such a row with a mark, and inserts it by the same command.
 * The statistics of the transaction, where they are kept, spare the search of a
 * table of which it has deleted nothing.
 */
HeapTuple
simdup_trigger_moved_version(TriggerState *state, const TriggerData *trigdata)
{
	bool is_after = TRIGGER_FIRED_AFTER(trigdata->tg_event);
	HeapTuple row = is_after ? trigdata->tg_trigtuple : state->row.complete;
	CommandId command = is_after ? HeapTupleHeaderGetCmin(row->t_data)
								 : GetActiveSnapshot()->curcid;
	ScanKeyData keys[INDEX_MAX_KEYS];
	HeapTuple found = NULL;
	bool has_moved = false;

	if (bms_is_empty(state->partition_key) || !OidIsValid(state->key_index))
		return NULL;
	find_key_indexes(state);
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];
		Datum table = ObjectIdGetDatum(target->table);
		bool may_have_moved =
			!pgstat_track_counts ||
			DatumGetInt64(DirectFunctionCall1(pg_stat_get_xact_tuples_deleted,
											  table)) > 0;
		int n_keys = may_have_moved ? moved_keys(state, target, row, keys) : 0;
		Relation heap;
		SysScanDesc scan;
		HeapTuple version;

		if (n_keys == 0)
			continue;
		heap = table_open(target->table, AccessShareLock);
		scan = systable_beginscan(heap, target->key_index, true, SnapshotAny,
								  n_keys, keys);
		while (HeapTupleIsValid(version = systable_getnext(scan)))
		{
			HeapTupleHeader header = version->t_data;
			bool is_move;

			CHECK_FOR_INTERRUPTS();
			if (!is_ended_here(header))
				continue;
			is_move = HeapTupleHeaderIndicatesMovedPartitions(header) &&
					  HeapTupleHeaderGetCmax(header) == command;
			has_moved |= is_move;
			if (is_after ? !TransactionIdIsCurrentTransactionId(
							   HeapTupleHeaderGetXmin(header))
						 : is_move)
			{
				TupleConversionMap *map =
					convert_tuples_by_name(RelationGetDescr(heap),
										   state->tupdesc);

				found = map == NULL ? heap_copytuple(version)
									: execute_attr_map_tuple(version, map);
			}
		}
		systable_endscan(scan);
		table_close(heap, NoLock);
	}
	return has_moved ? found : NULL;
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
			is_new = simdup_trigger_is_this_row(state, target, scan->slot) ||
					 meets_any(state, target, scan->slot);
			*flag = simdup_trigger_key(state, scan->slot, target->flag);
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
	NullableDatum flag = simdup_trigger_key(state, target->slot, target->flag);

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

bool
simdup_trigger_passes_over(TriggerState *state, const NearRow *near)
{
	bool is_flag = state->kind == TRIGGER_FLAG;

	/* spare the fetch of a row that cannot be passed over */
	if (!is_flag && !may_meet(state, near->target))
		return false;
	simdup_trigger_fetch(state, near);
	return meets_any(state, near->target, near->target->slot) ||
		   (is_flag && leads_here(state, near));
}
