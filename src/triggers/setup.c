/*
 * setup.c
 *	  The trigger that fires, as one statement sees it: its table, its index,
 *	  and the searched tables. OIDs and column numbers are kept, never names.
 */
#include "postgres.h"
#include "compat.h"

#include "access/attmap.h"
#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "index/hamming/am.h"
#include "server/arguments.h"
#include "triggers/arrival.h"

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

/*
 * Return the column that an index to be made is most likely to be on: one of
 * fingerprints, or else a text.
 */
static const char *
column_to_index(TupleDesc tupdesc)
{
	Oid am = get_am_oid("hamming", true);
	Form_pg_attribute found = NULL;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);

		if (!att->attisdropped &&
			OidIsValid(GetDefaultOpClass(att->atttypid, am)) &&
			(found == NULL || (simdup_is_text_type(found->atttypid) &&
							   !simdup_is_text_type(att->atttypid))))
			found = att;
	}
	return found == NULL ? "column" : quote_identifier(NameStr(found->attname));
}

/* Raise the error for a table without a hamming index, or the named one. */
void
simdup_arrival_no_index(Oid table, const char *name)
{
	Relation rel = try_table_open(table, AccessShareLock);

	if (rel == NULL)
		simdup_no_such_table(table);
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
			name != NULL
				? errmsg("index \"%s\" of relation \"%s\" does not exist", name,
						 RelationGetRelationName(rel))
				: errmsg("relation \"%s\" has no index of access method %s",
						 RelationGetRelationName(rel), "hamming"),
			errdetail("The search goes by an index, never through the table."),
			errhint("Write: CREATE INDEX %s%sON %s USING hamming (%s).",
					name != NULL ? quote_identifier(name) : "",
					name != NULL ? " " : "", simdup_table_name(table),
					column_to_index(RelationGetDescr(rel))));
}

/* ERROR because an index cannot be searched. */
static void
refuse_invalid(Oid index)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("index \"%s\" is not valid", get_rel_name(index)),
			errdetail("The search goes by an index, never through the table."),
			errhint("Write: DROP INDEX %s; %s.", simdup_table_name(index),
					pg_get_indexdef_string(index)));
}

/* Check whether an index stores the same as one of the same table or a parent. */
static bool
are_alike(Relation parent, Relation parent_index, Relation table,
		  Relation index)
{
	AttrMap *map = SIMDUP_ATTRMAP_BY_NAME(RelationGetDescr(table),
										  RelationGetDescr(parent));
	bool alike =
		CompareIndexInfo(BuildIndexInfo(index), BuildIndexInfo(parent_index),
						 index->rd_indcollation, parent_index->rd_indcollation,
						 index->rd_opfamily, parent_index->rd_opfamily, map);

	free_attrmap(map);
	return alike;
}

/*
 * Return the index of this name, or any if all that can be used are alike. For
 * a child that inherits from a parent, they must be like the parent's. An ERROR
 * names the CREATE INDEX to run.
 */
static Oid
choose_index(Relation table, const char *name, Relation parent,
			 Relation parent_index)
{
	Oid chosen = InvalidOid;
	Oid invalid = InvalidOid;
	Relation first = NULL; /* without a parent, others are like this one */
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_indam->aminsert != simdup_hamming_insert ||
			(name != NULL && strcmp(RelationGetRelationName(index), name) != 0))
			;
		else if (!index->rd_index->indisvalid || !index->rd_index->indisready ||
				 !index->rd_index->indislive)
			invalid = RelationGetRelid(index);
		else if (parent_index == NULL)
		{
			chosen = RelationGetRelid(index);
			first = index;
			parent = table;
			parent_index = index;
			continue;
		}
		else if (are_alike(parent, parent_index, table, index))
			chosen = RelationGetRelid(index);
		else if (first != NULL)
			ereport(ERROR, errcode(ERRCODE_AMBIGUOUS_PARAMETER),
					errmsg("relation \"%s\" has several indexes of access method %s that differ",
						   RelationGetRelationName(table), "hamming"),
					errdetail("Two of them are \"%s\" and \"%s\".",
							  RelationGetRelationName(first),
							  RelationGetRelationName(index)),
					errhint("Name one of them: '%s'.", "index => name"));
		index_close(index, NoLock);
	}
	if (first != NULL)
		index_close(first, NoLock);
	if (!OidIsValid(chosen) && OidIsValid(invalid))
		refuse_invalid(invalid);
	if (!OidIsValid(chosen))
		simdup_arrival_no_index(RelationGetRelid(table), name);
	return chosen;
}

/* Return the index of a child table that is like the trigger's. */
static Oid
index_of_child(const ArrivalTrigger *at, Oid child)
{
	Relation table = table_open(at->table, NoLock);
	Relation index = index_open(at->index, AccessShareLock);
	Relation child_table = table_open(child, NoLock);
	Oid result = choose_index(child_table, NULL, table, index);

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
		simdup_arrival_no_index(written, NULL);
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
	at->index = choose_index(table, at->index_name, NULL, NULL);
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
