/*
 * new_row.c
 *	  The new row: its key, and its fingerprint and scope before and
 *	  after, computed as the index computes them.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "index/hamming/am.h"
#include "triggers/trigger.h"

#define COLUMN_BIT(attnum) ((attnum) -FirstLowInvalidHeapAttributeNumber)

HeapTuple
simdup_trigger_new_tuple(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newtuple
													   : trigdata->tg_trigtuple;
}

/* Return the new row, in a slot. */
static TupleTableSlot *
new_slot(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newslot
													   : trigdata->tg_trigslot;
}

/* Return the columns that an index and its predicate are of, as bits. */
static Bitmapset *
index_columns(const IndexInfo *info)
{
	Bitmapset *columns = NULL;

	if (info->ii_IndexAttrNumbers[0] != 0)
		columns = bms_make_singleton(COLUMN_BIT(info->ii_IndexAttrNumbers[0]));
	pull_varattnos((Node *) info->ii_Expressions, 1, &columns);
	pull_varattnos((Node *) info->ii_Predicate, 1, &columns);
	return columns;
}

/*
 * Find the columns that decide, and the generated ones to compute. The columns
 * of the index decide, and with a condition all columns, but never a flag. What
 * is generated of other columns changes with them. BEFORE triggers fire before
 * generated columns are stored. A later trigger may still change what they depend
 * on.
 */
static void
find_columns(TriggerState *state, Relation rel, bool is_before)
{
	Bitmapset *indexed = index_columns(state->index_info);
	/* a whole row is each of its columns */
	bool all = bms_is_member(COLUMN_BIT(InvalidAttrNumber), indexed);
	bool has_condition = state->options.condition != NULL;
	int natts = state->tupdesc->natts;

	state->generated = palloc(natts * sizeof(int));
	state->generations = palloc(natts * sizeof(ExprState *));
	for (int i = 1; i <= natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(state->tupdesc, i - 1);
		bool is_indexed = all || bms_is_member(COLUMN_BIT(i), indexed);

		if (att->attisdropped)
			continue;
		if ((is_indexed || (has_condition && att->attgenerated == '\0')) &&
			!bms_is_member(i, state->flags))
			state->deciding = bms_add_member(state->deciding, i);
		if (is_before && att->attgenerated == ATTRIBUTE_GENERATED_STORED &&
			(is_indexed || has_condition || i == state->key))
		{
			state->generated[state->n_generated] = i;
			state->generations[state->n_generated++] =
				ExecPrepareExpr((Expr *) build_column_default(rel, i),
								state->estate);
		}
	}
}

void
simdup_trigger_prepare_row(TriggerData *trigdata, TriggerState *state)
{
	Relation rel = trigdata->tg_relation;
	Relation index = index_open(state->own->index, AccessShareLock);

	state->index_info = BuildIndexInfo(index);
	index_close(index, NoLock);
	state->slot = MakeSingleTupleTableSlot(state->tupdesc, &TTSOpsHeapTuple);
	state->estate = CreateExecutorState();
	state->predicate =
		ExecPrepareQual(state->index_info->ii_Predicate, state->estate);
	find_columns(state, rel, TRIGGER_FIRED_BEFORE(trigdata->tg_event));
}

/* Return the new row with its generated columns, as far as they are needed. */
static HeapTuple
complete_tuple(TriggerData *trigdata, TriggerState *state, HeapTuple tuple)
{
	ExprContext *econtext = GetPerTupleExprContext(state->estate);
	Datum *values;
	bool *isnull;

	if (state->n_generated == 0)
		return tuple;
	values = palloc(state->n_generated * sizeof(Datum));
	isnull = palloc(state->n_generated * sizeof(bool));
	econtext->ecxt_scantuple = new_slot(trigdata);
	for (int i = 0; i < state->n_generated; i++)
		values[i] = ExecEvalExprSwitchContext(state->generations[i], econtext,
											  &isnull[i]);
	return heap_modify_tuple_by_cols(tuple, state->tupdesc, state->n_generated,
									 state->generated, values, isnull);
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
	*in_scope = ExecQual(state->predicate, econtext);
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

/* Check whether a column has equal bytes in two versions of a row. */
static bool
has_equal_column(TupleDesc desc, int attnum, HeapTuple a, HeapTuple b)
{
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	bool a_isnull;
	bool b_isnull;
	Datum a_value = heap_getattr(a, attnum, desc, &a_isnull);
	Datum b_value = heap_getattr(b, attnum, desc, &b_isnull);

	return a_isnull == b_isnull &&
		   (a_isnull ||
			datum_image_eq(a_value, b_value, att->attbyval, att->attlen));
}

/* Compare two versions of a row in the columns that decide. */
static bool
have_equal_columns(const TriggerState *state, HeapTuple a, HeapTuple b)
{
	int i = -1;

	while ((i = bms_next_member(state->deciding, i)) >= 0)
		if (!has_equal_column(state->tupdesc, i, a, b))
			return false;
	return true;
}

/*
 * Return the newest version of a stored row, or NULL if the transaction has
 * deleted the row since. An event of an AFTER trigger, deferred or not, may
 * fire when a later UPDATE of the transaction has superseded the version that
 * the event is about. That UPDATE need not have an event of its own.
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
		return simdup_trigger_new_tuple(trigdata);

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
 * A search skips rows of the same key. So a row that gets another key may have
 * neighbours that it was never compared with.
 */
bool
simdup_trigger_read_row(TriggerData *trigdata, TriggerState *state, NewRow *row)
{
	bool is_update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	bool is_after = TRIGGER_FIRED_AFTER(trigdata->tg_event);
	HeapTuple old = trigdata->tg_trigtuple; /* before an UPDATE */
	bool key_changed = true;
	bool in_scope;
	bool was_in_scope;
	uint64 old_fp;

	*row = (NewRow){.tuple = is_after ? newest_version(trigdata)
									  : simdup_trigger_new_tuple(trigdata),
					.changed = true};
	ResetPerTupleExprContext(state->estate);
	if (row->tuple == NULL)
		return false;
	if (is_after)
		row->stored_tid = row->tuple->t_self;
	else if (is_update)
		row->stored_tid = old->t_self;
	else
		ItemPointerSetInvalid(&row->stored_tid);
	row->complete = complete_tuple(trigdata, state, row->tuple);
	row->key = heap_getattr(row->complete, state->key, state->tupdesc,
							&row->key_isnull);
	if (is_update)
	{
		row->changed = !have_equal_columns(state, row->complete, old);
		key_changed =
			!has_equal_column(state->tupdesc, state->key, row->complete, old);
	}
	if (!row->changed && !key_changed)
		return false;
	row->has_fp = index_value(state, row->complete, &in_scope, &row->fp);
	/* other columns may give the same value */
	if (is_update && row->changed && state->options.condition == NULL)
		row->changed =
			index_value(state, old, &was_in_scope, &old_fp) != row->has_fp ||
			was_in_scope != in_scope || old_fp != row->fp;
	return in_scope && (row->changed || key_changed);
}
