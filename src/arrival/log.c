/*
 * log.c
 *	  simdup_log_trigger(log_table [, 'option => value' ...]): writes a row to the
 *	  log for each row near one that arrives.
 *
 * FOR EACH STATEMENT, the trigger does so for the rows of the transition table.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "server/catalog.h"

static const ArrivalUsage usage = {
	.function = "simdup_log_trigger",
	.arguments = "log_table [, 'option => value' ...]",
	.n_fixed = 1,
	.after = true,
	.statement = true,
	.may_lock = true,
};

/* A row that a statement has written. */
typedef struct ArrivedRow
{
	uint64 fp;
	bool searches;
} ArrivedRow;

/* The key of such a row. */
typedef struct ArrivedKey
{
	Datum key;
	bool searches;
} ArrivedKey;

/* The rows that a statement has written, and their sorted keys. */
typedef struct Arrived
{
	TupleTableSlot *slot;
	int64 n;
	ArrivedRow *rows;
	size_t n_keys;
	ArrivedKey *keys;
	bool leaves_inserted; /* does another trigger log its inserted rows? */
	CommandId command;
} Arrived;

/* The log table */

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
				errhint("Write: CREATE TABLE %s (new_key %s, old_key %s, distance integer, logged_at timestamptz).",
						quote_qualified_identifier(name->schemaname,
												   name->relname),
						format_type_be(at->key_type),
						format_type_be(at->key_type)));
}

/* Write one row of the log, which triggers on it may rename between two. */
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
	simdup_arrival_execute(psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
									" VALUES ($1, $2, $3, pg_catalog.now())",
									simdup_table_name(at->log_table)),
						   lengthof(types), types, values, nulls,
						   InvalidSnapshot);
	SPI_finish();
	return false;
}

/* FOR EACH ROW */

/*
 * Pass over a row to which the pair belongs. A pair of two rows of one
 * transaction belongs to the later one: the row of the later command or, in one
 * command, of the larger key. Such rows can find each other when their triggers
 * fire AFTER. Commands are counted across savepoints. A row that the trigger
 * does not fire for has no event.
 */
static bool
passes_later(ArrivalSearch *search, const ArrivalFound *found)
{
	const ArrivalRow *row = search->row;
	const Trigger *trigger = search->arg;
	HeapTupleHeader header = row->tuple->t_data;
	CommandId mine;

	if (!found->is_own ||
		!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(header)))
		return false;
	if (!row->is_deferred &&
		!(found->is_update ? TRIGGER_FOR_UPDATE(trigger->tgtype)
						   : TRIGGER_FOR_INSERT(trigger->tgtype)))
		return false;
	mine = simdup_arrival_command(header);
	return found->command > mine ||
		   (found->command == mine && !row->key_isnull && !found->key_isnull &&
			simdup_arrival_compare_keys(search->at, found->key, row->key) > 0);
}

/*
 * Check whether a later event logs this row. An UPDATE that gave the row another
 * fingerprint has an event of its own, if this trigger fires for every UPDATE.
 * So a deferred trigger logs each pair once, as it is at the end.
 */
static bool
is_left_to_later_event(const Trigger *trigger, const ArrivalRow *row)
{
	return row->overtaken && TRIGGER_FOR_UPDATE(trigger->tgtype) &&
		   trigger->tgnattr == 0 && trigger->tgqual == NULL;
}

static void
log_row(TriggerData *trigdata, ArrivalTrigger *at)
{
	ArrivalRow row;
	CommandId command;

	if (!simdup_arrival_row(trigdata, at, &row) || !row.has_fp ||
		!row.changed || is_left_to_later_event(trigdata->tg_trigger, &row))
		return;
	if (at->lock)
		simdup_arrival_lock(at, row.fp);
	command = GetActiveSnapshot()->curcid;
	row.is_deferred = simdup_arrival_command(row.tuple->t_data) < command;
	row.since = row.is_deferred ? FirstCommandId : command;
	row.knows_events = true;
	simdup_arrival_search(at, &row, true, passes_later, log_pair,
						  trigdata->tg_trigger);
}

/* FOR EACH STATEMENT */

/* Return the next row of a transition table, or NULL. */
static HeapTuple
next_tuple(ArrivalTrigger *at, Tuplestorestate *rows, Arrived *arrived)
{
	MemoryContext caller;
	HeapTuple tuple;

	CHECK_FOR_INTERRUPTS();
	if (!tuplestore_gettupleslot(rows, true, false, arrived->slot))
		return NULL;
	caller = MemoryContextSwitchTo(at->row_context);
	tuple = ExecCopySlotHeapTuple(arrived->slot);
	MemoryContextSwitchTo(caller);
	return tuple;
}

static int
compare_keys(const void *a, const void *b, void *at)
{
	return simdup_arrival_compare_keys(at, ((const ArrivedKey *) a)->key,
									   ((const ArrivedKey *) b)->key);
}

/* ERROR unless the statement-level trigger can tell which rows are new. */
static void
check_transition_tables(TriggerData *trigdata)
{
	bool update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);

	if (trigdata->tg_newtable == NULL ||
		(update && trigdata->tg_oldtable == NULL))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("statement-level trigger \"%s\" on table \"%s\" needs transition tables",
					   trigdata->tg_trigger->tgname,
					   RelationGetRelationName(trigdata->tg_relation)),
				errhint("Write: REFERENCING %sNEW TABLE AS new_rows FOR EACH STATEMENT.",
						update ? "OLD TABLE AS old_rows " : ""));
}

/*
 * Check whether a trigger that does the same for INSERT fires too. A statement
 * with ON CONFLICT, and MERGE, may insert rows and update others. Pairs of both
 * are left to the trigger for INSERT: all its rows search.
 */
static bool
has_insert_twin(TriggerData *trigdata)
{
	const Trigger *own = trigdata->tg_trigger;
	const TriggerDesc *desc = trigdata->tg_relation->trigdesc;

	for (int i = 0; i < desc->numtriggers; i++)
	{
		const Trigger *other = &desc->triggers[i];
		int n_same = 0;

		if (!TRIGGER_TYPE_MATCHES(other->tgtype, TRIGGER_TYPE_STATEMENT,
								  TRIGGER_TYPE_AFTER, TRIGGER_TYPE_INSERT) ||
			other->tgfoid != own->tgfoid ||
			other->tgenabled != own->tgenabled || other->tgqual != NULL ||
			other->tgnargs != own->tgnargs)
			continue;
		while (n_same < own->tgnargs &&
			   strcmp(other->tgargs[n_same], own->tgargs[n_same]) == 0)
			n_same++;
		if (n_same == own->tgnargs)
			return true;
	}
	return false;
}

/*
 * Read the statement's new rows. An UPDATE may leave a row as near to others as
 * it was: such a row has not arrived. The transition tables have the old and
 * the new versions in the same order. If a trigger suppressed a row's move to
 * another partition, the server leaves one out, and all count as arrived.
 */
static void
read_rows(TriggerData *trigdata, ArrivalTrigger *at, Arrived *arrived)
{
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	Tuplestorestate *news = trigdata->tg_newtable;
	Tuplestorestate *olds = trigdata->tg_oldtable;
	int64 n = tuplestore_tuple_count(news);
	ArrivalRow row;

	if (olds != NULL && tuplestore_tuple_count(olds) != n)
		olds = NULL;
	tuplestore_rescan(news);
	if (olds != NULL)
		tuplestore_rescan(olds);
	arrived->rows = MemoryContextAllocHuge(CurrentMemoryContext,
										   (n + 1) * sizeof(ArrivedRow));
	arrived->keys = MemoryContextAllocHuge(CurrentMemoryContext,
										   (n + 1) * sizeof(ArrivedKey));
	for (;;)
	{
		HeapTuple tuple;
		HeapTuple old = NULL;
		ArrivedRow *kept = &arrived->rows[arrived->n];

		MemoryContextReset(at->row_context);
		tuple = next_tuple(at, news, arrived);
		if (tuple == NULL)
			break;
		if (olds != NULL)
			old = next_tuple(at, olds, arrived);
		arrived->n++;
		simdup_arrival_transition_row(at, tuple, &row);
		kept->fp = row.fp;
		kept->searches =
			row.in_scope && row.has_fp && !row.key_isnull &&
			(old == NULL || !simdup_arrival_is_same(at, &row, old));
		if (!row.key_isnull)
			arrived->keys[arrived->n_keys++] =
				(ArrivedKey){datumCopy(row.key, att->attbyval, att->attlen),
							 kept->searches};
	}
	qsort_arg(arrived->keys, arrived->n_keys, sizeof(ArrivedKey), compare_keys,
			  at);
}

/*
 * Pass over a row to which the pair belongs. A pair of two rows of the transition
 * table belongs to the larger key. The statement may also have inserted other rows.
 */
static bool
passes_arrived(ArrivalSearch *search, const ArrivalFound *found)
{
	const Arrived *arrived = search->arg;
	ArrivedKey key = {.key = found->key};
	const ArrivedKey *other;

	if (found->key_isnull)
		return false;
	other = bsearch_arg(&key, arrived->keys, arrived->n_keys,
						sizeof(ArrivedKey), compare_keys, search->at);
	if (other == NULL)
		return arrived->leaves_inserted && found->is_own &&
			   found->command == arrived->command;
	return other->searches &&
		   simdup_arrival_compare_keys(search->at, found->key,
									   search->row->key) > 0;
}

static void
log_statement(TriggerData *trigdata, ArrivalTrigger *at)
{
	Arrived arrived = {.n = 0};
	ArrivalRow row = {.has_fp = true};

	check_transition_tables(trigdata);
	arrived.slot = MakeSingleTupleTableSlot(at->tupdesc, &TTSOpsMinimalTuple);
	arrived.leaves_inserted = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) &&
							  has_insert_twin(trigdata);
	arrived.command = GetActiveSnapshot()->curcid;
	read_rows(trigdata, at, &arrived);
	/* all rows' locks before the first search */
	for (int64 i = 0; at->lock && i < arrived.n; i++)
		if (arrived.rows[i].searches)
			simdup_arrival_lock(at, arrived.rows[i].fp);
	tuplestore_rescan(trigdata->tg_newtable);
	for (int64 i = 0; i < arrived.n; i++)
	{
		MemoryContextReset(at->row_context);
		row.complete = next_tuple(at, trigdata->tg_newtable, &arrived);
		row.fp = arrived.rows[i].fp;
		row.key =
			heap_getattr(row.complete, at->key, at->tupdesc, &row.key_isnull);
		if (arrived.rows[i].searches)
			simdup_arrival_search(at, &row, true, passes_arrived, log_pair,
								  &arrived);
	}
	ExecDropSingleTupleTableSlot(arrived.slot);
}

PG_FUNCTION_INFO_V1(simdup_log_trigger);
Datum
simdup_log_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;

	if (!OidIsValid(at->log_table))
		find_log(trigdata, at);
	if (TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
		log_row(trigdata, at);
	else
		log_statement(trigdata, at);
	return PointerGetDatum(NULL);
}
