/*
 * row.c
 *	  The row that arrives: its values, and its fingerprint before and after.
 */
#include "postgres.h"
#include "compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"
#include "type/simhash64.h"

/*
 * The flag takes a key as an assignment would: varchar(10) to varchar(3) is
 * checked for length, and a domain's constraints hold. Columns of one type
 * and type modifier need nothing.
 */
static void
prepare_assignment(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	Form_pg_attribute key = TupleDescAttr(tupdesc, at->key - 1);
	Form_pg_attribute flag = TupleDescAttr(tupdesc, at->flag - 1);
	CaseTestExpr *value;
	Node *expr;

	if (flag->atttypid == key->atttypid &&
		(flag->atttypmod == key->atttypmod || flag->atttypmod == -1) &&
		!SIMDUP_DOMAIN_HAS_CONSTRAINTS(flag->atttypid))
		return;

	value = makeNode(CaseTestExpr);
	value->typeId = getBaseType(key->atttypid);
	value->typeMod = key->atttypmod;
	value->collation = key->attcollation;
	expr = coerce_to_target_type(NULL, (Node *) value, value->typeId,
								 flag->atttypid, flag->atttypmod,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	if (expr == NULL)
		elog(ERROR, "could not find a conversion from type %s to type %s",
			 format_type_be(key->atttypid), format_type_be(flag->atttypid));
	assign_expr_collations(NULL, expr);
	at->assignment = ExecInitExpr(expression_planner((Expr *) expr), NULL);
}

/* The part of the setup that only triggers on rows need. */
void
simdup_arrival_prepare_row(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	MemoryContext caller;

	if (!TRIGGER_FIRED_BEFORE(trigdata->tg_event))
		return;
	caller = MemoryContextSwitchTo(at->context);
	simdup_conditions_prepare(&at->conditions, trigdata);
	if (TupleDescAttr(tupdesc, at->fp - 1)->attgenerated)
		at->generation =
			simdup_arrival_generation(trigdata->tg_relation, at->fp);
	if (at->usage->flag_arg != NO_ARGUMENT)
		prepare_assignment(trigdata, at);
	if (at->generation != NULL || at->assignment != NULL)
		at->econtext = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
}

/*
 * The newest version of a stored row; NULL if the transaction has deleted the
 * row since. An event of an AFTER trigger, deferred or not, may fire when a
 * later UPDATE of the transaction has superseded the version that the event
 * is about. That UPDATE need not have an event of its own.
 */
static HeapTuple
newest_version(TriggerData *trigdata)
{
	Relation rel = trigdata->tg_relation;
	TupleTableSlot *slot = simdup_arrival_new_slot(trigdata);
	ItemPointerData tid = slot->tts_tid;
	TableScanDesc scan;
	HeapTuple newest = NULL;

	/* constraint triggers alone are deferred, and foreign tables have none */
	if (rel->rd_tableam == NULL ||
		table_tuple_satisfies_snapshot(rel, slot, SnapshotSelf))
		return simdup_arrival_new_tuple(trigdata);

	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, &tid);
	table_endscan(scan);
	slot = table_slot_create(rel, NULL);
	if (table_tuple_fetch_row_version(rel, &tid, SnapshotSelf, slot))
		newest = ExecCopySlotHeapTuple(slot);
	ExecDropSingleTupleTableSlot(slot);
	return newest;
}

static bool
read_fingerprint(HeapTuple tuple, TupleDesc tupdesc, AttrNumber attnum,
				 uint64 *fp)
{
	bool isnull;
	Datum value = heap_getattr(tuple, attnum, tupdesc, &isnull);

	*fp = isnull ? 0 : DatumGetSimhash64(value);
	return !isnull;
}

/* The fingerprint of the new row; false if it has none. */
static bool
new_fingerprint(TriggerData *trigdata, ArrivalTrigger *at, HeapTuple tuple,
				uint64 *fp)
{
	bool isnull;
	Datum value;

	if (at->generation == NULL)
		return read_fingerprint(tuple, RelationGetDescr(trigdata->tg_relation),
								at->fp, fp);

	ResetExprContext(at->econtext);
	at->econtext->ecxt_scantuple = simdup_arrival_new_slot(trigdata);
	value = ExecEvalExprSwitchContext(at->generation, at->econtext, &isnull);
	*fp = isnull ? 0 : DatumGetSimhash64(value);
	return !isnull;
}

/* Has another version of the row this fingerprint, and equal conditions? */
static bool
is_same(TriggerData *trigdata, ArrivalTrigger *at, const ArrivalRow *row,
		HeapTuple other)
{
	uint64 fp;
	ConditionValues values;

	if (read_fingerprint(other, RelationGetDescr(trigdata->tg_relation), at->fp,
						 &fp) != row->has_fp ||
		fp != row->fp)
		return false;
	simdup_conditions_values(&at->conditions, trigdata, other, &values);
	return simdup_conditions_equal(&at->conditions, &values, &row->conditions);
}

/*
 * Does a version from the given one to the newest differ from the newest? A
 * row may go from A to B and back to A. Then the events of both changes are
 * about an A, and the last one is the one that counts.
 */
static bool
is_overtaken(TriggerData *trigdata, ArrivalTrigger *at, const ArrivalRow *row)
{
	Relation rel = trigdata->tg_relation;
	ItemPointerData tid = simdup_arrival_new_slot(trigdata)->tts_tid;
	TupleTableSlot *slot;
	bool overtaken = false;

	/* only a heap is known to link its versions */
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		return !is_same(trigdata, at, row, simdup_arrival_new_tuple(trigdata));
	slot = table_slot_create(rel, NULL);
	while (!overtaken && !ItemPointerEquals(&tid, &row->tuple->t_self) &&
		   table_tuple_fetch_row_version(rel, &tid, SnapshotAny, slot))
	{
		HeapTuple version = ExecFetchSlotHeapTuple(slot, false, NULL);

		overtaken = !is_same(trigdata, at, row, version);
		if (ItemPointerEquals(&tid, &version->t_data->t_ctid))
			break;
		tid = version->t_data->t_ctid;
	}
	ExecDropSingleTupleTableSlot(slot);
	return overtaken;
}

/* Does the UPDATE change the fingerprint, the conditions or the key? */
static void
compare_with_old(TriggerData *trigdata, ArrivalTrigger *at, ArrivalRow *row)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	Form_pg_attribute att = TupleDescAttr(tupdesc, at->key - 1);
	HeapTuple old = trigdata->tg_trigtuple;
	bool old_isnull;
	Datum old_key = heap_getattr(old, at->key, tupdesc, &old_isnull);

	row->changed = !is_same(trigdata, at, row, old);
	/* equal bytes are an equal key; different bytes cost a search at most */
	row->key_changed =
		row->key_isnull != old_isnull ||
		(!old_isnull &&
		 !datumIsEqual(row->key, old_key, att->attbyval, att->attlen));
}

/* The row that arrives, in *row; false if it is gone. */
bool
simdup_arrival_row(TriggerData *trigdata, ArrivalTrigger *at, ArrivalRow *row)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	HeapTuple given = simdup_arrival_new_tuple(trigdata);

	memset(row, 0, sizeof(*row));
	row->tuple = given;
	if (TRIGGER_FIRED_AFTER(trigdata->tg_event))
		row->tuple = newest_version(trigdata);
	if (row->tuple == NULL)
		return false;

	row->has_fp = new_fingerprint(trigdata, at, row->tuple, &row->fp);
	row->key = heap_getattr(row->tuple, at->key, tupdesc, &row->key_isnull);
	simdup_conditions_values(&at->conditions, trigdata, row->tuple,
							 &row->conditions);
	row->overtaken = row->tuple != given && is_overtaken(trigdata, at, row);
	row->changed = row->key_changed = true;
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		compare_with_old(trigdata, at, row);
	return true;
}
