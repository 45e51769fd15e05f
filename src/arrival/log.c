/*
 * log.c
 *	  simdup_log_trigger(fp, key, k, log_table [, 'lock']): one row of the log
 *	  for each row within k of the one that arrives.
 *
 * FOR EACH ROW it searches once a row. FOR EACH STATEMENT it joins the
 * transition table with the table, which suits bulk loads.
 */
#include "postgres.h"
#include "compat.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "arrival/arrival.h"
#include "type/simhash64.h"

static const ArrivalUsage usage = {
	.function = "simdup_log_trigger",
	.arguments = "fp, key, k, log_table [, 'lock']",
	.min_args = 4,
	.max_args = 5,
	.after = true,
	.statement = true,
	.flag_arg = NO_ARGUMENT,
	.key_arg = 1,
	.k_arg = 2,
	.log_arg = 3,
	.lock_arg = 4,
};

/* Pairs of a statement are logged in batches of this many. */
#define FETCH_ROWS 1000

static SPIPlanPtr
log_plan(ArrivalTrigger *at)
{
	SPIPlanPtr plan = simdup_arrival_plan(at, ARRIVAL_LOG);
	Oid types[] = {at->key_type, at->key_type, INT4OID};
	char *text;

	if (plan != NULL)
		return plan;
	text = psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
					" VALUES ($1, $2, $3, pg_catalog.now())",
					quote_qualified_identifier(get_namespace_name(
												   get_rel_namespace(
													   at->log_table)),
											   get_rel_name(at->log_table)));
	plan = SPI_prepare(text, lengthof(types), types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), text);
	simdup_arrival_keep_plan(at, ARRIVAL_LOG, plan);
	return plan;
}

/* Log what a search found; new_key is theirs where not in the result. */
static void
log_found(ArrivalTrigger *at, SPITupleTable *found, uint64 n, Datum new_key,
		  bool new_key_isnull)
{
	SPIPlanPtr plan = log_plan(at);
	bool in_result = found->tupdesc->natts >= ARRIVAL_NEW_KEY;
	uint64 i;

	for (i = 0; i < n; i++)
	{
		HeapTuple tuple = found->vals[i];
		Datum values[3];
		bool isnull[3];
		char nulls[3];
		int j;

		simdup_arrival_require_visible(at, tuple, found->tupdesc);
		values[0] = new_key;
		isnull[0] = new_key_isnull;
		if (in_result)
			values[0] = SPI_getbinval(tuple, found->tupdesc, ARRIVAL_NEW_KEY,
									  &isnull[0]);
		values[1] =
			SPI_getbinval(tuple, found->tupdesc, ARRIVAL_OLD_KEY, &isnull[1]);
		values[2] =
			SPI_getbinval(tuple, found->tupdesc, ARRIVAL_DISTANCE, &isnull[2]);
		for (j = 0; j < 3; j++)
			nulls[j] = isnull[j] ? 'n' : ' ';
		simdup_arrival_execute(plan, values, nulls, InvalidSnapshot, 0);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
log_row(TriggerData *trigdata, ArrivalTrigger *at)
{
	bool changed;
	bool isnull;
	uint64 fp;
	uint64 n;
	Datum key;

	if (!simdup_arrival_fingerprint(trigdata, at, &fp, &changed) || !changed)
		return;

	if (at->lock)
		simdup_arrival_lock(at, fp);
	key = simdup_arrival_value(trigdata, at->key, &isnull);
	SPI_connect();
	n = simdup_arrival_search(trigdata, at, ARRIVAL_ALL, fp, false);
	if (n > 0)
		log_found(at, SPI_tuptable, n, key, isnull);
	SPI_finish();
}

/* Lock every new row's blocks before looking at any. */
static void
lock_new_rows(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(RelationGetDescr(trigdata->tg_relation),
								 &TTSOpsMinimalTuple);
	Tuplestorestate *rows = trigdata->tg_newtable;

	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool isnull;
		Datum fp = slot_getattr(slot, at->fp, &isnull);

		if (!isnull)
			simdup_arrival_lock(at, DatumGetSimhash64(fp));
	}
	tuplestore_rescan(rows);
	ExecDropSingleTupleTableSlot(slot);
}

/* The statement-level form needs to see which rows are new. */
static void
check_transition_tables(TriggerData *trigdata)
{
	bool update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);

	if (trigdata->tg_newtable != NULL &&
		(!update || trigdata->tg_oldtable != NULL))
		return;
	ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			errmsg("statement-level trigger \"%s\" on table \"%s\" needs "
				   "transition tables",
				   trigdata->tg_trigger->tgname,
				   RelationGetRelationName(trigdata->tg_relation)),
			errhint("Write: CREATE TRIGGER ... AFTER %s ON %s REFERENCING %s "
					"FOR EACH STATEMENT EXECUTE FUNCTION %s(%s).",
					update ? "UPDATE" : "INSERT",
					quote_identifier(
						RelationGetRelationName(trigdata->tg_relation)),
					update ? "OLD TABLE AS old_rows NEW TABLE AS new_rows"
						   : "NEW TABLE AS new_rows",
					usage.function, usage.arguments));
}

static void
log_statement(TriggerData *trigdata, ArrivalTrigger *at)
{
	Portal portal;

	check_transition_tables(trigdata);
	if (at->lock)
		lock_new_rows(trigdata, at);
	SPI_connect();
	SPI_register_trigger_data(trigdata);
	portal = simdup_arrival_search_statement(trigdata, at);
	for (;;)
	{
		SPITupleTable *found;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		found = SPI_tuptable;
		log_found(at, found, SPI_processed, (Datum) 0, true);
		SPI_freetuptable(found);
	}
	SPI_cursor_close(portal);
	SPI_finish();
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;

	if (TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
		log_row(trigdata, at);
	else
		log_statement(trigdata, at);
	return PointerGetDatum(NULL);
}
