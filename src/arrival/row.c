/*
 * row.c
 *	  The row that arrives: its values, and its fingerprint before and after.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "type/simhash64.h"

/* BEFORE, FOR EACH ROW, on an event that this firing is of. */
static bool
fires_before_this(const Trigger *trigger, TriggerEvent event)
{
	return TRIGGER_FOR_ROW(trigger->tgtype) &&
		   TRIGGER_FOR_BEFORE(trigger->tgtype) &&
		   trigger->tgenabled != TRIGGER_DISABLED &&
		   (TRIGGER_FIRED_BY_INSERT(event)
				? TRIGGER_FOR_INSERT(trigger->tgtype)
				: TRIGGER_FOR_UPDATE(trigger->tgtype));
}

/*
 * BEFORE triggers fire in the order of their names. One that looks at the
 * fingerprint before simhash_update_trigger computes it would look at NULL
 * or at the last one, and silently find nothing: refuse that.
 */
static void
check_firing_order(TriggerData *trigdata, ArrivalTrigger *at)
{
	TriggerDesc *desc = trigdata->tg_relation->trigdesc;
	const char *mine = trigdata->tg_trigger->tgname;
	const char *fp = trigdata->tg_trigger->tgargs[0];
	int i;

	for (i = 0; desc != NULL && i < desc->numtriggers; i++)
	{
		Trigger *other = &desc->triggers[i];
		char *function;

		if (strcmp(other->tgname, mine) <= 0 || other->tgnargs == 0 ||
			!fires_before_this(other, trigdata->tg_event) ||
			strcmp(other->tgargs[0], fp) != 0 ||
			get_func_namespace(other->tgfoid) != at->extension)
			continue;
		function = get_func_name(other->tgfoid);
		if (function != NULL && strcmp(function, "simhash_update_trigger") == 0)
			ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
					errmsg("trigger \"%s\" on table \"%s\" fires before trigger "
						   "\"%s\", which computes the fingerprint",
						   mine, RelationGetRelationName(trigdata->tg_relation),
						   other->tgname),
					errdetail(
						"BEFORE triggers fire in the order of their names."),
					errhint(
						"Rename one of them with ALTER TRIGGER ... RENAME TO."));
	}
}

/*
 * A generated fingerprint is not there yet when BEFORE triggers fire, so they
 * evaluate its expression themselves; it is immutable, so the row will get
 * the same value unless a later trigger changes what it depends on.
 */
static void
prepare_generation(TriggerData *trigdata, ArrivalTrigger *at,
				   MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Node *expr = build_column_default(trigdata->tg_relation, at->fp);

	if (expr == NULL)
		elog(ERROR,
			 "no generation expression found for column number %d of table "
			 "\"%s\"",
			 at->fp, RelationGetRelationName(trigdata->tg_relation));
	at->generation = ExecInitExpr(expression_planner((Expr *) expr), NULL);
	at->econtext = CreateStandaloneExprContext();
	MemoryContextSwitchTo(old);
}

/* What setup leaves to do for triggers that see a row. */
void
simdup_arrival_prepare_row(TriggerData *trigdata, ArrivalTrigger *at,
						   MemoryContext context)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);

	if (!TRIGGER_FIRED_BEFORE(trigdata->tg_event))
		return;
	if (TupleDescAttr(tupdesc, at->fp - 1)->attgenerated)
		prepare_generation(trigdata, at, context);
	else
		check_firing_order(trigdata, at);
}

static HeapTuple
new_tuple(TriggerData *trigdata)
{
	return TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ? trigdata->tg_newtuple
													   : trigdata->tg_trigtuple;
}

/* A column of the new row. */
Datum
simdup_arrival_value(TriggerData *trigdata, AttrNumber attnum, bool *isnull)
{
	return heap_getattr(new_tuple(trigdata), attnum,
						RelationGetDescr(trigdata->tg_relation), isnull);
}

static Datum
new_fingerprint(TriggerData *trigdata, ArrivalTrigger *at, bool *isnull)
{
	if (at->generation == NULL)
		return simdup_arrival_value(trigdata, at->fp, isnull);

	ResetExprContext(at->econtext);
	at->econtext->ecxt_scantuple = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
									   ? trigdata->tg_newslot
									   : trigdata->tg_trigslot;
	return ExecEvalExprSwitchContext(at->generation, at->econtext, isnull);
}

/*
 * The new row's fingerprint; false if it has none. *changed: does it arrive
 * with this statement, rather than stay what it was?
 */
bool
simdup_arrival_fingerprint(TriggerData *trigdata, ArrivalTrigger *at,
						   uint64 *fp, bool *changed)
{
	bool isnull;
	Datum value = new_fingerprint(trigdata, at, &isnull);

	*fp = isnull ? 0 : DatumGetSimhash64(value);
	*changed = true;
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
	{
		bool old_isnull;
		Datum old =
			heap_getattr(trigdata->tg_trigtuple, at->fp,
						 RelationGetDescr(trigdata->tg_relation), &old_isnull);

		*changed =
			isnull != old_isnull || (!isnull && DatumGetSimhash64(old) != *fp);
	}
	return !isnull;
}
