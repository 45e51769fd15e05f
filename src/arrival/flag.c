/*
 * flag.c
 *	  simdup_flag_trigger(fp, flag, key, k [, 'lock'] [, 'option => value'
 *	  ...]): marks a row with the key of the nearest row that the table holds.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simdup_flag_trigger",
	.arguments = "fp, flag, key, k [, 'lock'] [, 'option => value' ...]",
	.min_args = 4,
	.max_args = MAX_ARRIVAL_ARGS,
	.before = true,
	.flag_arg = 1,
	.key_arg = 2,
	.k_arg = 3,
	.log_arg = NO_ARGUMENT,
	.may_lock = true,
};

/* The nearest row's key, in the current context, or null. */
static Datum
nearest_key(TriggerData *trigdata, ArrivalTrigger *at, const ArrivalRow *row,
			bool *isnull)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	Form_pg_attribute att = TupleDescAttr(tupdesc, at->key - 1);
	MemoryContext caller = CurrentMemoryContext;
	ArrivalFound found;
	Datum key = (Datum) 0;

	*isnull = true;
	if (at->lock)
		simdup_arrival_lock(at, row->fp);
	SPI_connect();
	found = simdup_arrival_search(trigdata, at, ARRIVAL_NEAREST, row, false);
	if (found.n > 0)
	{
		simdup_arrival_require_visible(at, found, 0);
		key = SPI_getbinval(found.rows->vals[0], found.rows->tupdesc,
							ARRIVAL_OLD_KEY, isnull);
	}
	if (!*isnull)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);

		key = datumCopy(key, att->attbyval, att->attlen);
		MemoryContextSwitchTo(spi);
	}
	SPI_finish();
	return key;
}

/* A key that the flag's type rounds would name another row. */
static void
check_same_key(TriggerData *trigdata, ArrivalTrigger *at, Datum key, Datum flag)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	Form_pg_attribute key_att = TupleDescAttr(tupdesc, at->key - 1);
	Form_pg_attribute flag_att = TupleDescAttr(tupdesc, at->flag - 1);
	TypeCacheEntry *type =
		lookup_type_cache(at->key_type, TYPECACHE_EQ_OPR_FINFO);

	if (DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo,
									   key_att->attcollation, key, flag)))
		return;
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("key of the nearest row does not fit column \"%s\" of relation \"%s\"",
				   NameStr(flag_att->attname),
				   RelationGetRelationName(trigdata->tg_relation)),
			errdetail("The type of the flag is %s, that of the key is %s.",
					  format_type_with_typemod(flag_att->atttypid,
											   flag_att->atttypmod),
					  format_type_with_typemod(key_att->atttypid,
											   key_att->atttypmod)),
			errhint("Give the flag the type of the key."));
}

/* A key as a value of the flag's column. */
static Datum
assign_key(TriggerData *trigdata, ArrivalTrigger *at, Datum key, bool *isnull)
{
	bool was_null = *isnull;
	Datum flag;

	if (at->assignment == NULL)
		return key;
	ResetExprContext(at->econtext);
	at->econtext->caseValue_datum = key;
	at->econtext->caseValue_isNull = *isnull;
	flag = ExecEvalExprSwitchContext(at->assignment, at->econtext, isnull);
	if (!was_null && !*isnull)
		check_same_key(trigdata, at, key, flag);
	return flag;
}

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	ArrivalRow row;
	Datum key = (Datum) 0;
	bool isnull = true;
	bool was_null;
	int flag = at->flag;

	(void) simdup_arrival_row(trigdata, at, &row);
	if (!row.changed)
		return PointerGetDatum(row.tuple);
	if (row.has_fp)
		key = nearest_key(trigdata, at, &row, &isnull);
	(void) simdup_arrival_value(trigdata, at->flag, &was_null);
	if (isnull && was_null)
		return PointerGetDatum(row.tuple);

	key = assign_key(trigdata, at, key, &isnull);
	return PointerGetDatum(
		heap_modify_tuple_by_cols(row.tuple,
								  RelationGetDescr(trigdata->tg_relation), 1,
								  &flag, &key, &isnull));
}
