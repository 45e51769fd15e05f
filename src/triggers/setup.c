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
#include "server/catalog.h"
#include "triggers/new_row.h"

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
find_table(TriggerData *trigdata, TriggerState *state)
{
	state->table = RelationGetRelid(trigdata->tg_relation);
	if (!trigdata->tg_trigger->tgisclone)
		return;
	state->table = simdup_table_of_trigger(trigdata->tg_trigger->tgoid);

	/*
	 * The writer has locked only the partition. Lock the parent too, so that
	 * no other session renames or drops it before the search.
	 */
	if (OidIsValid(state->table))
		LockRelationOid(state->table, AccessShareLock);
	if (!OidIsValid(state->table) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(state->table)))
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
pg_noreturn static void
no_index(Oid table, const char *name)
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

/* Check whether an index stores the same as one of the same table or a parent. */
static bool
is_like(Relation index, Oid model)
{
	Relation other = index_open(model, AccessShareLock);
	Relation table = table_open(index->rd_index->indrelid, NoLock);
	Relation parent = table_open(other->rd_index->indrelid, NoLock);
	AttrMap *map = SIMDUP_ATTRMAP_BY_NAME(RelationGetDescr(table),
										  RelationGetDescr(parent));
	bool result =
		CompareIndexInfo(BuildIndexInfo(index), BuildIndexInfo(other),
						 index->rd_indcollation, other->rd_indcollation,
						 index->rd_opfamily, other->rd_opfamily, map);

	table_close(parent, NoLock);
	table_close(table, NoLock);
	index_close(other, NoLock);
	return result;
}

/*
 * Return the table's index of this name, or any if all that can be used are
 * alike. For a child that inherits, they must be like `model`, the parent's. An
 * ERROR names the statement to run.
 */
static Oid
choose_index(Relation table, const char *name, Oid model)
{
	bool is_child = OidIsValid(model);
	Oid chosen = InvalidOid;
	Oid invalid = InvalidOid;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Oid oid = lfirst_oid(cell);
		Relation index = index_open(oid, AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (index->rd_indam->aminsert == simdup_hamming_insert &&
			(name == NULL || strcmp(RelationGetRelationName(index), name) == 0))
		{
			if (!form->indisvalid || !form->indisready || !form->indislive)
				invalid = oid;
			else if (!OidIsValid(model))
				chosen = model = oid;
			else if (is_like(index, model))
				chosen = oid;
			else if (!is_child)
				ereport(ERROR, errcode(ERRCODE_AMBIGUOUS_PARAMETER),
						errmsg("relation \"%s\" has several indexes of access method %s that differ",
							   RelationGetRelationName(table), "hamming"),
						errdetail("Two of them are \"%s\" and \"%s\".",
								  get_rel_name(model),
								  RelationGetRelationName(index)),
						errhint("Name one of them: '%s'.", "index => name"));
		}
		index_close(index, NoLock);
	}
	if (!OidIsValid(chosen) && OidIsValid(invalid))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("index \"%s\" is not valid", get_rel_name(invalid)),
				errdetail(
					"The search goes by an index, never through the table."),
				errhint("Write: DROP INDEX %s; %s.", simdup_table_name(invalid),
						pg_get_indexdef_string(invalid)));
	if (!OidIsValid(chosen))
		no_index(RelationGetRelid(table), name);
	return chosen;
}

static void
add_target(TriggerState *state, Oid table, Oid index)
{
	state->targets[state->n_targets++] =
		(TriggerTarget){.table = table,
						.index = index,
						.key = get_attnum(table, state->options.key)};
}

/* Add a table that inherits, or the trigger's own, with an index of its own. */
static void
add_child(TriggerState *state, Oid child)
{
	Relation table;

	if (child == state->table)
	{
		add_target(state, child, state->index);
		return;
	}
	table = table_open(child, NoLock);
	add_target(state, child, choose_index(table, NULL, state->index));
	table_close(table, NoLock);
}

/*
 * Find the tables to search, and lock them until the transaction ends. A table
 * that inherits has an index of its own, a partition one of the trigger's.
 */
static void
find_targets(TriggerState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);
	List *tables = list_make1_oid(state->table);
	List *indexes = NIL;
	ListCell *cell;

	if (has_subclass(state->table))
		tables = find_all_inheritors(state->table, AccessShareLock, NULL);
	if (get_rel_relkind(state->table) == RELKIND_PARTITIONED_TABLE)
		indexes = find_all_inheritors(state->index, NoLock, NULL);
	state->n_targets = 0;
	state->targets = palloc((list_length(tables) + list_length(indexes)) *
							sizeof(TriggerTarget));
	foreach (cell, tables)
	{
		Oid table = lfirst_oid(cell);

		if (get_rel_relkind(table) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("cannot search foreign table \"%s\"",
						   get_rel_name(table)),
					errdetail("A trigger on \"%s\" searches the indexes of all partitions.",
							  get_rel_name(state->table)),
					errhint(
						"Make triggers on the tables that are not foreign."));
		if (indexes == NIL)
			add_child(state, table);
	}
	foreach (cell, indexes)
	{
		Oid table = IndexGetRelation(lfirst_oid(cell), true);

		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_INDEX &&
			OidIsValid(table))
			add_target(state, table, lfirst_oid(cell));
	}
	MemoryContextSwitchTo(caller);
}

void
simdup_trigger_close_targets(TriggerState *state)
{
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		if (target->slot != NULL)
			ExecDropSingleTupleTableSlot(target->slot);
		if (target->scan != NULL)
			index_endscan(target->scan);
		index_close(target->index_rel, NoLock);
		table_close(target->heap, NoLock);
		target->slot = NULL;
		target->scan = NULL;
	}
}

void
simdup_trigger_open_targets(TriggerState *state)
{
	uint64 changes = state->relation_changes;
	bool is_open = false;

	while (!is_open || changes != relation_changes)
	{
		if (is_open)
			simdup_trigger_close_targets(state);
		/* a change from here on counts */
		if (changes != relation_changes)
		{
			changes = relation_changes;
			find_targets(state);
		}
		for (int i = 0; i < state->n_targets; i++)
		{
			TriggerTarget *target = &state->targets[i];

			target->heap = table_open(target->table, AccessShareLock);
			target->index_rel = try_index_open(target->index, AccessShareLock);
			if (target->index_rel == NULL)
				no_index(target->table, NULL);
		}
		is_open = true;
	}
}

/* Find the target that is written to. */
static TriggerTarget *
find_own(TriggerData *trigdata, const TriggerState *state)
{
	Oid written = RelationGetRelid(trigdata->tg_relation);

	for (int i = 0; i < state->n_targets; i++)
		if (state->targets[i].table == written)
			return &state->targets[i];
	/* a partition may be detached in the middle of the statement */
	no_index(written, NULL);
}

static TriggerState *
set_up(FunctionCallInfo fcinfo, TriggerKind kind)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context =
		AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup trigger",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	TriggerState *state = palloc0(sizeof(*state));
	Relation table;

	state->context = context;
	state->search_context =
		AllocSetContextCreate(context, "simdup trigger search",
							  ALLOCSET_DEFAULT_SIZES);
	state->kind = kind;
	state->function = fcinfo->flinfo->fn_oid;
	/* a change from here on, while locks are waited for, counts too */
	state->relation_changes = relation_changes;
	find_table(trigdata, state);
	simdup_trigger_read_options(trigdata, state);
	table = table_open(state->table, AccessShareLock);
	state->index = choose_index(table, state->options.index, InvalidOid);
	/* a copy, which no resource owner counts */
	state->table_desc = CreateTupleDescCopyConstr(RelationGetDescr(table));
	table_close(table, NoLock);
	find_targets(state);
	state->own = find_own(trigdata, state);
	simdup_trigger_prepare_row(trigdata, state);
	MemoryContextSwitchTo(caller);
	return state;
}

TriggerState *
simdup_trigger_setup(FunctionCallInfo fcinfo, TriggerKind kind)
{
	static bool watches = false;
	TriggerState *state = fcinfo->flinfo->fn_extra;

	simdup_trigger_check_fired(fcinfo, kind);
	if (!watches)
		CacheRegisterRelcacheCallback(count_relation_change, (Datum) 0);
	watches = true;
	if (state == NULL || state->relation_changes != relation_changes)
	{
		fcinfo->flinfo->fn_extra = NULL;
		if (state != NULL)
			MemoryContextDelete(state->context);
		state = set_up(fcinfo, kind);
		fcinfo->flinfo->fn_extra = state;
	}
	return state;
}
