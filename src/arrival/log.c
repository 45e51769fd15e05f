/*
 * log.c
 *	  simdup_log_trigger(log_table [, 'option => value' ...]): writes a row to the
 *	  log for each row near one that arrives.
 *
 * The trigger fires once for each row, at the end of the statement. It logs the
 * rows that it then meets. A unique constraint on the log keeps a pair once.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "server/catalog.h"

static const ArrivalUsage usage = {
	.function = "simdup_log_trigger",
	.arguments = "log_table [, 'option => value' ...]",
	.n_fixed = 1,
	.after = true,
	.tells = true,
};

/* Check whether the user may write to the log, or to some of its columns. */
static bool
may_insert(Oid table)
{
	return pg_class_aclcheck(table, GetUserId(), ACL_INSERT) == ACLCHECK_OK ||
		   pg_attribute_aclcheck_all(table, GetUserId(), ACL_INSERT,
									 ACLMASK_ANY) == ACLCHECK_OK;
}

/*
 * Find the log table. A name without a schema is looked up in the schema of the
 * trigger's table, never along search_path: the user who inserts must not
 * choose the log. The lock is the same that an INSERT takes. It is taken before
 * the first pair is found, and keeps other sessions from dropping or renaming
 * the log until the transaction ends. Users who may not write to the log do not
 * lock it. They get an error when there is something to log.
 */
static void
find_log(TriggerData *trigdata, ArrivalTrigger *at)
{
	RangeVar *name = makeRangeVarFromNameList(textToQualifiedNameList(
		cstring_to_text(trigdata->tg_trigger->tgargs[0])));

	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(get_rel_namespace(at->table));
	at->log_table = RangeVarGetRelid(name, NoLock, true);
	if (OidIsValid(at->log_table) && may_insert(at->log_table))
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
	int of_new = found->is_newer ? 1 : 0;
	Oid types[] = {at->key_type, at->key_type, INT4OID};
	Datum values[] = {0, 0, Int32GetDatum(found->distance)};
	char nulls[] = {' ', ' ', ' '};

	values[of_new] = row->key;
	nulls[of_new] = row->key_isnull ? 'n' : ' ';
	values[1 - of_new] = found->key;
	nulls[1 - of_new] = found->key_isnull ? 'n' : ' ';
	SPI_connect();
	SPI_execute_with_args(psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
								   " VALUES ($1, $2, $3, pg_catalog.now()) ON CONFLICT DO NOTHING",
								   simdup_table_name(at->log_table)),
						  lengthof(types), types, values, nulls, false, 0);
	SPI_finish();
	return false;
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
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
