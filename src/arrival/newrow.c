/*
 * newrow.c
 *	  The new row of a trigger, as the server hands it over.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"

#include "arrival/newrow.h"

/* The new row, in the version that the trigger got. */
HeapTuple
simdup_arrival_new_tuple(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newtuple
													   : trigdata->tg_trigtuple;
}

/* A column of the new row. */
Datum
simdup_arrival_value(TriggerData *trigdata, AttrNumber attnum, bool *isnull)
{
	return heap_getattr(simdup_arrival_new_tuple(trigdata), attnum,
						RelationGetDescr(trigdata->tg_relation), isnull);
}

/* The new row, in a slot. */
TupleTableSlot *
simdup_arrival_new_slot(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newslot
													   : trigdata->tg_trigslot;
}

/*
 * A generated column is not there yet when BEFORE triggers fire, so they
 * evaluate its expression themselves. The expression is immutable: the row
 * gets the same value unless a later trigger changes what it depends on.
 */
ExprState *
simdup_arrival_generation(Relation rel, AttrNumber attnum)
{
	Node *expr = build_column_default(rel, attnum);

	if (expr == NULL)
		elog(ERROR,
			 "no generation expression found for column number %d of table \"%s\"",
			 attnum, RelationGetRelationName(rel));
	return ExecInitExpr(expression_planner((Expr *) expr), NULL);
}
