/*
 * triggers.c
 *	  The three trigger functions: what each does with the near rows.
 *
 * simdup_flag_trigger(column [, 'option => value' ...]) sets a column to the key
 * of the nearest other row. simdup_log_trigger(log_table [, ...]) fires for each
 * row at the end of the statement, and writes a row to the log for each row that
 * it then meets. simdup_reject_trigger([...]) refuses a row near another, as a
 * unique constraint does; also as a constraint trigger.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "server/arguments.h"
#include "server/keys.h"
#include "triggers/arrival.h"

/* Flag */

static const ArrivalUsage flag_usage = {
	.function = "simdup_flag_trigger",
	.arguments = "column [, 'option => value' ...]",
	.n_fixed = 1,
	.before = true,
	.flags = true,
	.tells = true,
};

/* Keep the key of the nearest row. */
static bool
take_key(ArrivalSearch *search, const ArrivalFound *found)
{
	ArrivalTrigger *at = search->at;
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	NullableDatum *nearest = search->arg;
	MemoryContext caller = MemoryContextSwitchTo(at->row_context);

	nearest->isnull = found->key_isnull;
	if (!found->key_isnull)
		nearest->value = datumCopy(found->key, att->attbyval, att->attlen);
	MemoryContextSwitchTo(caller);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &flag_usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	NullableDatum nearest = {.isnull = true};
	ArrivalRow row;
	bool was_null;
	int flag = at->flag;

	if (!simdup_arrival_row(trigdata, at, &row) || !row.changed)
		return PointerGetDatum(simdup_arrival_new_tuple(trigdata));
	if (row.has_fp)
	{
		if (at->lock)
			simdup_arrival_lock(at, row.fp);
		simdup_arrival_search(at, &row, take_key, &nearest);
	}
	(void) heap_getattr(row.tuple, at->flag, at->tupdesc, &was_null);
	if (nearest.isnull && was_null)
		return PointerGetDatum(row.tuple);
	/* a key fits the flag; NULL may not */
	if (nearest.isnull && get_typtype(at->key_type) == TYPTYPE_DOMAIN)
		domain_check((Datum) 0, true, at->key_type, NULL, NULL);
	return PointerGetDatum(heap_modify_tuple_by_cols(row.tuple, at->tupdesc, 1,
													 &flag, &nearest.value,
													 &nearest.isnull));
}

/* Log */

static const ArrivalUsage log_usage = {
	.function = "simdup_log_trigger",
	.arguments = "log_table [, 'option => value' ...]",
	.n_fixed = 1,
	.after = true,
	.tells = true,
};

/*
 * Find the log table. A name without a schema is looked up in the schema of the
 * trigger's table: the user who inserts must not choose the log. An INSERT's lock
 * is taken before the first pair is found, so that nobody drops or renames it.
 * Users who may not write to the log do not lock it; they get an error later.
 */
static void
find_log(TriggerData *trigdata, ArrivalTrigger *at)
{
	RangeVar *name = makeRangeVarFromNameList(textToQualifiedNameList(
		cstring_to_text(trigdata->tg_trigger->tgargs[0])));

	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(get_rel_namespace(at->table));
	at->log_table = RangeVarGetRelid(name, NoLock, true);
	if (OidIsValid(at->log_table) &&
		(pg_class_aclcheck(at->log_table, GetUserId(), ACL_INSERT) ==
			 ACLCHECK_OK ||
		 pg_attribute_aclcheck_all(at->log_table, GetUserId(), ACL_INSERT,
								   ACLMASK_ANY) == ACLCHECK_OK))
		at->log_table = RangeVarGetRelid(name, RowExclusiveLock, true);
	if (!OidIsValid(at->log_table))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("log table \"%s\" does not exist",
					   trigdata->tg_trigger->tgargs[0]),
				errhint("Write: CREATE TABLE %s (new_key %s, old_key %s, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key)).",
						quote_qualified_identifier(name->schemaname,
												   name->relname),
						format_type_be(at->key_type),
						format_type_be(at->key_type)));
}

/*
 * Write one row of the log. Triggers on it may rename it between two. A conflict
 * target would need the right to read the log. Of two rows that one command
 * wrote, the larger key is the new one, whichever is met first.
 */
static bool
log_pair(ArrivalSearch *search, const ArrivalFound *found)
{
	ArrivalTrigger *at = search->at;
	const ArrivalRow *row = search->row;
	Oid types[] = {at->key_type, at->key_type, INT4OID};
	Datum values[] = {row->key, found->key, Int32GetDatum(found->distance)};
	char nulls[] = {row->key_isnull ? 'n' : ' ', found->key_isnull ? 'n' : ' ',
					' '};

	SPI_connect();
	SPI_execute_with_args(psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
								   " VALUES (%s, $3, pg_catalog.now()) ON CONFLICT DO NOTHING",
								   simdup_table_name(at->log_table),
								   found->is_newer ? "$2, $1" : "$1, $2"),
						  lengthof(types), types, values, nulls, false, 0);
	SPI_finish();
	return false;
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &log_usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	ArrivalRow row;

	if (!OidIsValid(at->log_table))
		find_log(trigdata, at);
	if (simdup_arrival_row(trigdata, at, &row) && row.has_fp)
	{
		if (at->lock)
			simdup_arrival_lock(at, row.fp);
		row.command = simdup_arrival_command(row.tuple->t_data);
		simdup_arrival_search(at, &row, log_pair, NULL);
	}
	return PointerGetDatum(NULL);
}

/* Reject */

static const ArrivalUsage reject_usage = {
	.function = "simdup_reject_trigger",
	.arguments = "['option => value' ...]",
	.before = true,
	.after = true,
	.deferred = true,
};

/* Report the error for a row that repeats another. */
static bool
refuse(ArrivalSearch *search, const ArrivalFound *found)
{
	const ArrivalTrigger *at = search->at;
	TriggerData *trigdata = search->arg;
	char *key =
		found->key_isnull ? "null" : simdup_key_text(at->key_type, found->key);

	ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
			errmsg("new row for relation \"%s\" repeats a row within distance %d, refused by \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation),
				   at->max_distance, trigdata->tg_trigger->tgname),
			simdup_arrival_detail(at, key, found->distance),
			errtableconstraint(trigdata->tg_relation,
							   trigdata->tg_trigger->tgname));
	return true;
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &reject_usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	ArrivalRow row;

	if (simdup_arrival_row(trigdata, at, &row) && row.has_fp)
	{
		simdup_arrival_lock(at, row.fp);
		simdup_arrival_search(at, &row, refuse, trigdata);
	}
	return PointerGetDatum(simdup_arrival_new_tuple(trigdata));
}
