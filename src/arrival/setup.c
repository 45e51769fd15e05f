/*
 * setup.c
 *	  The trigger that fires, as one statement sees it: its table, its index,
 *	  and the searched tables. OIDs and column numbers are kept, never names.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_inherits.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "arrival/arrival.h"
#include "index/hamming/am.h"
#include "server/catalog.h"

/* How often this session has heard that some relation changed. */
static uint64 relation_changes = 0;

static void
count_relation_change(Datum arg pg_attribute_unused(),
					  Oid relid pg_attribute_unused())
{
	relation_changes++;
}

/*
 * Find the table that is searched: the one with the trigger that the user made.
 * The triggers of partitions are clones of it.
 */
static void
find_table(TriggerData *trigdata, ArrivalTrigger *at)
{
	at->table = RelationGetRelid(trigdata->tg_relation);
	if (!trigdata->tg_trigger->tgisclone)
		return;
	at->table = simdup_table_of_trigger(trigdata->tg_trigger->tgoid);

	/*
	 * The writer has locked only the partition. Lock the parent too, so that
	 * no other session renames or drops it before the search.
	 */
	if (OidIsValid(at->table))
		LockRelationOid(at->table, AccessShareLock);
	if (!OidIsValid(at->table) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(at->table)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("trigger \"%s\" for table \"%s\" does not exist",
					   trigdata->tg_trigger->tgname,
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail(
					"The partitioned table that had it was changed or dropped while a statement wrote to its partition."));
}

/* Return the index of a child table that is like the trigger's. */
static Oid
index_of_child(const ArrivalTrigger *at, Oid child)
{
	Relation table = table_open(at->table, NoLock);
	Relation index = index_open(at->index, AccessShareLock);
	Relation child_table = table_open(child, NoLock);
	Oid result = simdup_hamming_choose(child_table, NULL, table, index);

	table_close(child_table, NoLock);
	index_close(index, NoLock);
	table_close(table, NoLock);
	return result;
}

static void
add_target(ArrivalTrigger *at, Oid table, Oid index)
{
	at->targets[at->n_targets++] =
		(ArrivalTarget){.table = table,
						.index = index,
						.key = get_attnum(table, at->key_name)};
}

/*
 * Find the tables to search, and lock them until the transaction ends. A table
 * that inherits has an index of its own, a partition one of the trigger's. Return
 * false if no relation has changed since they were found.
 */
bool
simdup_arrival_find_targets(ArrivalTrigger *at)
{
	MemoryContext caller;
	List *tables;
	List *indexes = NIL;
	ListCell *cell;

	if (at->targets != NULL && at->targets_changes == relation_changes)
		return false;
	caller = MemoryContextSwitchTo(at->context);
	tables = list_make1_oid(at->table);
	/* a change from here on counts */
	at->targets_changes = relation_changes;
	if (has_subclass(at->table))
		tables = find_all_inheritors(at->table, AccessShareLock, NULL);
	if (get_rel_relkind(at->table) == RELKIND_PARTITIONED_TABLE)
		indexes = find_all_inheritors(at->index, NoLock, NULL);
	at->n_targets = 0;
	at->targets = palloc((list_length(tables) + list_length(indexes)) *
						 sizeof(ArrivalTarget));
	foreach (cell, tables)
	{
		Oid table = lfirst_oid(cell);

		if (get_rel_relkind(table) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("cannot search foreign table \"%s\"",
						   get_rel_name(table)),
					errdetail("A trigger on \"%s\" searches the indexes of all partitions.",
							  get_rel_name(at->table)),
					errhint(
						"Make triggers on the tables that are not foreign."));
		if (indexes == NIL)
			add_target(at, table,
					   table == at->table ? at->index
										  : index_of_child(at, table));
	}
	foreach (cell, indexes)
	{
		Oid table = IndexGetRelation(lfirst_oid(cell), true);

		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_INDEX &&
			OidIsValid(table))
			add_target(at, table, lfirst_oid(cell));
	}
	MemoryContextSwitchTo(caller);
	return true;
}

/* Find the index of the table that is written to. */
static void
find_own_index(TriggerData *trigdata, ArrivalTrigger *at)
{
	Oid written = RelationGetRelid(trigdata->tg_relation);

	at->own = (ArrivalTarget){.table = at->table, .index = at->index};
	for (int i = 0; i < at->n_targets; i++)
		if (at->targets[i].table == written)
			at->own = at->targets[i];
	/* a partition may be detached in the middle of the statement */
	if (at->own.table != written)
		simdup_hamming_missing(written, NULL);
}

static ArrivalTrigger *
set_up(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context =
		AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup arrival trigger",
							  ALLOCSET_DEFAULT_SIZES);
	ArrivalTrigger *at = MemoryContextAllocZero(context, sizeof(*at));
	Relation table;

	at->context = context;
	at->row_context = AllocSetContextCreate(context, "simdup arrival row",
											ALLOCSET_DEFAULT_SIZES);
	at->usage = usage;
	at->function = fcinfo->flinfo->fn_oid;
	/* a change from here on, while locks are waited for, counts too */
	at->relation_changes = relation_changes;
	find_table(trigdata, at);
	simdup_arrival_read_options(trigdata, at);
	simdup_arrival_find_columns(trigdata, at);
	table = table_open(at->table, AccessShareLock);
	at->index = simdup_hamming_choose(table, at->index_name, NULL, NULL);
	table_close(table, NoLock);
	simdup_arrival_find_targets(at);
	find_own_index(trigdata, at);
	if (at->lock)
		at->lock_distance = simdup_arrival_lock_distance(at);
	simdup_arrival_prepare_row(trigdata, at);
	return at;
}

/* Return the trigger that fires. A change of any relation sets it up again. */
ArrivalTrigger *
simdup_arrival_setup(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	static bool watches = false;
	ArrivalTrigger *at = fcinfo->flinfo->fn_extra;

	simdup_arrival_check_fired(fcinfo, usage);
	if (!watches)
		CacheRegisterRelcacheCallback(count_relation_change, (Datum) 0);
	watches = true;
	if (at == NULL || at->relation_changes != relation_changes)
	{
		fcinfo->flinfo->fn_extra = NULL;
		if (at != NULL)
			MemoryContextDelete(at->context);
		at = set_up(fcinfo, usage);
		fcinfo->flinfo->fn_extra = at;
	}
	MemoryContextReset(at->row_context);
	return at;
}
