/*
 * generated.c
 *	  Generated columns of a row that the server has not computed yet: stored ones
 *	  before a row is written, and virtual ones.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/executor.h"
#include "rewrite/rewriteHandler.h"

#include "triggers/trigger.h"

void
simdup_trigger_find_generated(TriggerState *state, Relation table,
							  Bitmapset *columns, char kind,
							  GeneratedColumns *found)
{
	TupleDesc desc = RelationGetDescr(table);

	found->columns = palloc(desc->natts * sizeof(int));
	found->values = palloc(desc->natts * sizeof(ExprState *));
	for (int i = -1; (i = bms_next_member(columns, i)) >= 0;)
		if (TupleDescAttr(desc, i - 1)->attgenerated == kind)
		{
			Node *value = kind == ATTRIBUTE_GENERATED_VIRTUAL
							  ? build_generation_expression(table, i)
							  : build_column_default(table, i);

			found->columns[found->n] = i;
			found->values[found->n++] =
				ExecPrepareExpr((Expr *) value, state->estate);
		}
}

HeapTuple
simdup_trigger_generate(TriggerState *state, const GeneratedColumns *generated,
						TupleTableSlot *slot, HeapTuple tuple)
{
	ExprContext *econtext = GetPerTupleExprContext(state->estate);
	Datum *values;
	bool *isnull;

	if (generated->n == 0)
		return tuple;
	values = palloc(generated->n * sizeof(Datum));
	isnull = palloc(generated->n * sizeof(bool));
	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < generated->n; i++)
		values[i] = ExecEvalExprSwitchContext(generated->values[i], econtext,
											  &isnull[i]);
	return heap_modify_tuple_by_cols(tuple, slot->tts_tupleDescriptor,
									 generated->n, generated->columns, values,
									 isnull);
}
