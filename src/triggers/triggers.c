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

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "server/catalog.h"
#include "server/keys.h"
#include "triggers/search.h"

/* Return the key of the nearest row that counts, NULL if there is none. */
static NullableDatum
nearest_key(TriggerState *state, const NewRow *row)
{
	NullableDatum key = {.isnull = true};
	NearSearch search;
	const NearRow *near;

	simdup_trigger_begin_search(&search, state, row);
	near = simdup_trigger_next_near(&search);
	if (near != NULL && !near->key_isnull)
	{
		key.value = datumCopy(near->key, state->key_att->attbyval,
							  state->key_att->attlen);
		key.isnull = false;
	}
	simdup_trigger_end_search(&search);
	return key;
}

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_FLAG);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	NullableDatum nearest = {.isnull = true};
	NewRow row;
	bool was_null;
	int flag = state->flag;

	if (!simdup_trigger_read_row(trigdata, state, &row) || !row.changed)
		return PointerGetDatum(simdup_trigger_new_tuple(trigdata));
	if (row.has_fp)
		nearest = nearest_key(state, &row);
	(void) heap_getattr(row.tuple, flag, state->tupdesc, &was_null);
	if (nearest.isnull && was_null)
		return PointerGetDatum(row.tuple);
	/* a key fits the flag; NULL may not */
	if (nearest.isnull &&
		get_typtype(state->key_att->atttypid) == TYPTYPE_DOMAIN)
		domain_check((Datum) 0, true, state->key_att->atttypid, NULL, NULL);
	return PointerGetDatum(heap_modify_tuple_by_cols(row.tuple, state->tupdesc,
													 1, &flag, &nearest.value,
													 &nearest.isnull));
}

/*
 * Find the log table. A name without a schema is looked up in the schema of the
 * trigger's table: the user who inserts must not choose the log. An INSERT's lock
 * is taken before the first pair is found, so that nobody drops or renames it.
 * Users who may not write to the log do not lock it; they get an error later.
 */
static void
find_log(TriggerData *trigdata, TriggerState *state)
{
	RangeVar *name = makeRangeVarFromNameList(textToQualifiedNameList(
		cstring_to_text(trigdata->tg_trigger->tgargs[0])));

	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(get_rel_namespace(state->table));
	state->log_table = RangeVarGetRelid(name, NoLock, true);
	if (OidIsValid(state->log_table) &&
		(pg_class_aclcheck(state->log_table, GetUserId(), ACL_INSERT) ==
			 ACLCHECK_OK ||
		 pg_attribute_aclcheck_all(state->log_table, GetUserId(), ACL_INSERT,
								   ACLMASK_ANY) == ACLCHECK_OK))
		state->log_table = RangeVarGetRelid(name, RowExclusiveLock, true);
	if (!OidIsValid(state->log_table))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("log table \"%s\" does not exist",
					   trigdata->tg_trigger->tgargs[0]),
				errhint("Write: CREATE TABLE %s (new_key %s, old_key %s, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key)).",
						quote_qualified_identifier(name->schemaname,
												   name->relname),
						format_type_be(state->key_att->atttypid),
						format_type_be(state->key_att->atttypid)));
}

/*
 * Write one row of the log. Triggers on it may rename it between two. A conflict
 * target would need the right to read the log. Of two rows that one command
 * wrote, the larger key is the new one, whichever is met first.
 */
static void
log_pair(const TriggerState *state, const NewRow *row, const NearRow *near)
{
	Oid types[] = {state->key_att->atttypid, state->key_att->atttypid, INT4OID};
	Datum values[] = {row->key, near->key, Int32GetDatum(near->distance)};
	char nulls[] = {row->key_isnull ? 'n' : ' ', near->key_isnull ? 'n' : ' ',
					' '};

	SPI_connect();
	SPI_execute_with_args(psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
								   " VALUES (%s, $3, pg_catalog.now()) ON CONFLICT DO NOTHING",
								   simdup_table_name(state->log_table),
								   near->is_newer ? "$2, $1" : "$1, $2"),
						  lengthof(types), types, values, nulls, false, 0);
	SPI_finish();
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_LOG);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	NearSearch search;
	const NearRow *near;
	NewRow row;

	if (!OidIsValid(state->log_table))
		find_log(trigdata, state);
	if (!simdup_trigger_read_row(trigdata, state, &row) || !row.has_fp)
		return PointerGetDatum(NULL);
	simdup_trigger_begin_search(&search, state, &row);
	while ((near = simdup_trigger_next_near(&search)) != NULL)
		log_pair(state, &row, near);
	simdup_trigger_end_search(&search);
	return PointerGetDatum(NULL);
}

/* Report the error for a row that repeats another. */
pg_noreturn static void
refuse(TriggerData *trigdata, const TriggerState *state, const NearRow *near)
{
	char *key = near->key_isnull
					? "null"
					: simdup_key_text(state->key_att->atttypid, near->key);

	ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
			errmsg("new row for relation \"%s\" repeats a row within distance %d, refused by \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation),
				   state->options.max_distance, trigdata->tg_trigger->tgname),
			simdup_trigger_detail(state, key, near->distance),
			errtableconstraint(trigdata->tg_relation,
							   trigdata->tg_trigger->tgname));
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	TriggerState *state = simdup_trigger_setup(fcinfo, TRIGGER_REJECT);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	NearSearch search;
	const NearRow *near;
	NewRow row;

	if (simdup_trigger_read_row(trigdata, state, &row) && row.has_fp)
	{
		simdup_trigger_begin_search(&search, state, &row);
		near = simdup_trigger_next_near(&search);
		if (near != NULL)
			refuse(trigdata, state, near);
		simdup_trigger_end_search(&search);
	}
	return PointerGetDatum(simdup_trigger_new_tuple(trigdata));
}
