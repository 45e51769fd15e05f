/*
 * triggers.c
 *	  The three trigger functions: the new row, with its key, fingerprint and scope
 *	  as the index computes them, and the action of each on the near rows.
 *
 * Flag sets a column to the key of the nearest other row. Log fires for each row at
 * the end of the statement, and writes a row to the log for each row that it then
 * meets. Reject refuses a row near another, as a unique constraint does; also as a
 * constraint trigger.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/index.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "index/hamming/am.h"
#include "server/arguments.h"
#include "triggers/trigger.h"

/* The new row */

static HeapTuple
new_tuple(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newtuple
													   : trigdata->tg_trigtuple;
}

static TupleTableSlot *
new_slot(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newslot
													   : trigdata->tg_trigslot;
}

/*
 * Compute whether a version of a row is in the scope of the index, and the
 * fingerprint that the index stores of it. Return whether it has one.
 */
static bool
index_value(TriggerState *state, HeapTuple tuple, bool *in_scope, uint64 *fp)
{
	ExprContext *econtext = GetPerTupleExprContext(state->estate);
	Datum values[INDEX_MAX_KEYS];
	bool isnull[INDEX_MAX_KEYS];
	bool has_fp = false;

	*fp = 0;
	econtext->ecxt_scantuple = state->slot;
	ExecStoreHeapTuple(tuple, state->slot, false);
	*in_scope = ExecQual(state->index_info->ii_PredicateState, econtext);
	if (*in_scope)
	{
		Relation index = index_open(state->own->index, AccessShareLock);

		FormIndexDatum(state->index_info, state->slot, state->estate, values,
					   isnull);
		has_fp = simdup_hamming_fingerprint(index, values[0], isnull[0], fp);
		index_close(index, NoLock);
	}
	ExecClearTuple(state->slot);
	return has_fp;
}

/* Check whether two versions of a row have equal bytes in some columns. */
static bool
have_equal_columns(TupleDesc desc, Bitmapset *columns, HeapTuple a, HeapTuple b)
{
	int i = -1;

	while ((i = bms_next_member(columns, i)) >= 0)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i - 1);
		bool a_isnull;
		bool b_isnull;
		Datum a_value = heap_getattr(a, i, desc, &a_isnull);
		Datum b_value = heap_getattr(b, i, desc, &b_isnull);

		if (a_isnull != b_isnull ||
			(!a_isnull &&
			 !datum_image_eq(a_value, b_value, att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/*
 * Return the newest version of a stored row, or NULL if the transaction has
 * deleted the row since. An UPDATE may have superseded the version that an event of
 * an AFTER trigger is about, and need not have an event of its own.
 */
static HeapTuple
newest_version(TriggerData *trigdata)
{
	Relation rel = trigdata->tg_relation;
	TupleTableSlot *slot = new_slot(trigdata);
	ItemPointerData tid = slot->tts_tid;
	TableScanDesc scan;
	HeapTuple newest = NULL;

	if (table_tuple_satisfies_snapshot(rel, slot, SnapshotSelf))
		return new_tuple(trigdata);

	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, &tid);
	table_endscan(scan);
	slot = table_slot_create(rel, NULL);
	if (table_tuple_fetch_row_version(rel, &tid, SnapshotSelf, slot))
		newest = ExecCopySlotHeapTuple(slot);
	ExecDropSingleTupleTableSlot(slot);
	return newest;
}

/*
 * Read the new row. Return false if the trigger has nothing to do: the row is
 * gone, is out of scope, or has not changed.
 */
static bool
read_row(TriggerData *trigdata, TriggerState *state)
{
	NewRow *row = &state->row;
	bool is_update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	bool is_after = TRIGGER_FIRED_AFTER(trigdata->tg_event);
	HeapTuple old = trigdata->tg_trigtuple; /* before an UPDATE */
	bool acts = true;
	bool locks = false;
	bool in_scope;
	bool was_in_scope;
	uint64 old_fp;

	*row = (NewRow){.tuple = is_after ? newest_version(trigdata)
									  : new_tuple(trigdata)};
	ResetPerTupleExprContext(state->estate);
	if (row->tuple == NULL)
		return false;
	if (is_after)
		row->stored_tid = row->tuple->t_self;
	else if (is_update)
		row->stored_tid = old->t_self;
	else
		ItemPointerSetInvalid(&row->stored_tid);
	/* a generated column may be of tableoid, which the server sets later */
	new_slot(trigdata)->tts_tableOid = state->written;
	row->complete = simdup_trigger_generate(state, &state->stored_columns,
											new_slot(trigdata), row->tuple);
	row->key.value = heap_getattr(row->complete, state->key, state->tupdesc,
								  &row->key.isnull);
	if (!is_update)
		old = simdup_trigger_moved_version(state, trigdata);
	if (old != NULL)
	{
		acts = !have_equal_columns(state->tupdesc, state->acting, row->complete,
								   old);
		locks = state->options.lock && state->kind != TRIGGER_FLAG &&
				!have_equal_columns(state->tupdesc, state->locking,
									row->complete, old);
		if (!acts && !locks &&
			have_equal_columns(state->tupdesc, state->deciding, row->complete,
							   old))
			return false;
	}
	row->has_fp = index_value(state, row->complete, &in_scope, &row->fp);
	/* other columns may give the same value */
	if (!acts)
		acts = index_value(state, old, &was_in_scope, &old_fp) != row->has_fp ||
			   was_in_scope != in_scope || old_fp != row->fp;
	if (locks && !acts && in_scope && row->has_fp)
		simdup_trigger_lock(state->table, state->lock_distance, row->fp);
	return in_scope && acts;
}

/* The trigger functions */

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_FLAG);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	Form_pg_attribute key = state->key_att;
	NullableDatum nearest = {.isnull = true};
	const NearRow *near;
	int flag = state->flag;

	if (!read_row(trigdata, state))
		return PointerGetDatum(new_tuple(trigdata));
	if (state->row.has_fp)
	{
		near = simdup_trigger_first_near(state);
		if (near != NULL)
			nearest = (NullableDatum){datumCopy(near->key, key->attbyval,
												key->attlen),
									  false};
		simdup_trigger_end_search(state);
	}
	if (nearest.isnull &&
		heap_attisnull(state->row.tuple, flag, state->tupdesc))
		return PointerGetDatum(state->row.tuple);
	/* a key fits the flag; NULL may not */
	if (nearest.isnull && get_typtype(key->atttypid) == TYPTYPE_DOMAIN)
		domain_check((Datum) 0, true, key->atttypid, NULL, NULL);
	return PointerGetDatum(
		heap_modify_tuple_by_cols(state->row.tuple, state->tupdesc, 1, &flag,
								  &nearest.value, &nearest.isnull));
}

/*
 * Write one row of the log. The log is named anew for each row, since a trigger on
 * it may rename it. A conflict target would need the right to read the log. The
 * larger key of two rows that one command wrote is the new one.
 */
static void
log_pair(const TriggerState *state, const NearRow *near)
{
	Datum values[] = {state->row.key.value, near->key,
					  Int32GetDatum(near->distance),
					  TimestampTzGetDatum(
						  GetCurrentTransactionStartTimestamp())};

	SPI_connect();
	SPI_execute_with_args(psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
								   " VALUES (%s, $3, $4) ON CONFLICT DO NOTHING",
								   simdup_table_name(state->log_table),
								   near->is_newer ? "$2, $1" : "$1, $2"),
						  lengthof(values), (Oid *) state->log_types, values,
						  NULL, false, 0);
	SPI_finish();
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_LOG);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	const NearRow *near;

	if (!read_row(trigdata, state) || !state->row.has_fp)
		return PointerGetDatum(NULL);
	for (near = simdup_trigger_first_near(state); near != NULL;
		 near = simdup_trigger_next_near(state))
		log_pair(state, near);
	simdup_trigger_end_search(state);
	return PointerGetDatum(NULL);
}

/* Return the key of a near row, as core writes keys: "(names)=(values)". */
static char *
near_key(TriggerState *state, const NearRow *near)
{
	TupleTableSlot *slot = near->target->slot;
	StringInfoData names;
	StringInfoData values;
	ListCell *cell;

	simdup_trigger_fetch(state, near);
	initStringInfo(&names);
	initStringInfo(&values);
	foreach (cell, state->options.key)
	{
		char *name = lfirst(cell);
		char *value = SPI_getvalue(ExecFetchSlotHeapTuple(slot, false, NULL),
								   slot->tts_tupleDescriptor,
								   get_attnum(near->target->table, name));
		const char *comma = names.len == 0 ? "" : ", ";

		appendStringInfo(&names, "%s%s", comma, name);
		appendStringInfo(&values, "%s%s", comma,
						 value == NULL ? "null" : value);
	}
	return psprintf("(%s)=(%s)", names.data, values.data);
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_REJECT);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	const NearRow *near;

	if (!read_row(trigdata, state) || !state->row.has_fp)
		return PointerGetDatum(new_tuple(trigdata));
	near = simdup_trigger_first_near(state);
	if (near != NULL)
	{
		char *key = near_key(state, near);

		ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
				errmsg("new row for relation \"%s\" repeats a row within distance %d, refused by \"%s\"",
					   RelationGetRelationName(trigdata->tg_relation),
					   state->options.max_distance,
					   trigdata->tg_trigger->tgname),
				simdup_trigger_detail(state, key, near->distance),
				errtableconstraint(trigdata->tg_relation,
								   trigdata->tg_trigger->tgname));
	}
	simdup_trigger_end_search(state);
	return PointerGetDatum(new_tuple(trigdata));
}
