/*
 * log.c
 *	  simdup_log_trigger(fp, key, k, log_table [, 'lock'] [, 'option => value'
 *	  ...]): writes a row to the log for each row within k of one that arrives.
 *
 * FOR EACH ROW, the trigger searches once a row. FOR EACH STATEMENT, it joins
 * the transition table with the table, which suits bulk loads.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#include "arrival/arrival.h"
#include "type/simhash64.h"

static const ArrivalUsage usage = {
	.function = "simdup_log_trigger",
	.arguments = "fp, key, k, log_table [, 'lock'] [, 'option => value' ...]",
	.min_args = 4,
	.max_args = MAX_ARRIVAL_ARGS,
	.after = true,
	.statement = true,
	.flag_arg = NO_ARGUMENT,
	.key_arg = 1,
	.k_arg = 2,
	.log_arg = 3,
	.may_lock = true,
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
					simdup_arrival_table_name(at->log_table));
	plan = SPI_prepare(text, lengthof(types), types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), text);
	simdup_arrival_keep_plan(at, ARRIVAL_LOG, plan);
	return plan;
}

/* Write one row of the log. */
static void
log_pair(ArrivalTrigger *at, Datum *values, const bool *isnull)
{
	char nulls[3];

	for (int i = 0; i < 3; i++)
		nulls[i] = isnull[i] ? 'n' : ' ';
	/* look the plan up for each row: triggers on the log may rename it */
	simdup_arrival_execute(log_plan(at), values, nulls, InvalidSnapshot, 0);
}

/* Log the rows found; row has the new key unless a column has it. */
static void
log_found(ArrivalTrigger *at, ArrivalFound found, const ArrivalRow *row)
{
	TupleDesc tupdesc = found.rows->tupdesc;

	for (uint64 i = 0; i < found.n; i++)
	{
		HeapTuple tuple = found.rows->vals[i];
		Datum values[3];
		bool isnull[3];

		if (row != NULL && simdup_arrival_is_later(found, i, row))
			continue;
		simdup_arrival_require_visible(at, found, i);
		if (row != NULL)
		{
			values[0] = row->key;
			isnull[0] = row->key_isnull;
		}
		else
			values[0] =
				SPI_getbinval(tuple, tupdesc, ARRIVAL_NEW_KEY, &isnull[0]);
		values[1] = SPI_getbinval(tuple, tupdesc, ARRIVAL_OLD_KEY, &isnull[1]);
		values[2] = SPI_getbinval(tuple, tupdesc, ARRIVAL_DISTANCE, &isnull[2]);
		log_pair(at, values, isnull);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Does a later event log this row? An UPDATE that gave the row another
 * fingerprint has an event of its own, if this trigger fires for every UPDATE.
 * So a deferred trigger logs each pair once, as it is at the end.
 */
static bool
left_to_later_event(const Trigger *trigger, const ArrivalRow *row)
{
	return row->overtaken && TRIGGER_FOR_UPDATE(trigger->tgtype) &&
		   trigger->tgnattr == 0 && trigger->tgqual == NULL;
}

static void
log_row(TriggerData *trigdata, ArrivalTrigger *at)
{
	ArrivalRow row;
	ArrivalFound found;

	if (!simdup_arrival_row(trigdata, at, &row) || !row.has_fp ||
		!row.changed || left_to_later_event(trigdata->tg_trigger, &row))
		return;

	if (at->lock)
		simdup_arrival_lock(at, row.fp);
	SPI_connect();
	found = simdup_arrival_search(trigdata, at, ARRIVAL_ALL, &row, false);
	log_found(at, found, &row);
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
			errmsg("statement-level trigger \"%s\" on table \"%s\" needs transition tables",
				   trigdata->tg_trigger->tgname,
				   RelationGetRelationName(trigdata->tg_relation)),
			errhint("Write: CREATE TRIGGER ... AFTER %s ON %s REFERENCING %s FOR EACH STATEMENT EXECUTE FUNCTION %s(%s).",
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
	/* what fires on the log may run CLOSE ALL */
	PinPortal(portal);
	for (;;)
	{
		ArrivalFound found = simdup_arrival_fetch(portal, FETCH_ROWS);

		if (found.n == 0)
			break;
		log_found(at, found, NULL);
		SPI_freetuptable(found.rows);
	}
	UnpinPortal(portal);
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
