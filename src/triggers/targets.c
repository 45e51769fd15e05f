/*
 * targets.c
 *	  The tables that a trigger searches, and their indexes: of fingerprints, of the
 *	  key, and the unique ones; and the log that it writes to.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/ruleutils.h"
#include "utils/varlena.h"

#include "index/hamming/am.h"
#include "server/arguments.h"
#include "triggers/trigger.h"

static uint64 relation_changes = 0;

static void
count_relation_change(Datum arg pg_attribute_unused(),
					  Oid relid pg_attribute_unused())
{
	relation_changes++;
}

uint64
simdup_trigger_relation_changes(void)
{
	static bool watches = false;

	if (!watches)
		CacheRegisterRelcacheCallback(count_relation_change, (Datum) 0);
	watches = true;
	return relation_changes;
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
				? errmsg("relation \"%s\" has no index \"%s\" of access method %s",
						 RelationGetRelationName(rel), name, "hamming")
				: errmsg("relation \"%s\" has no index of access method %s",
						 RelationGetRelationName(rel), "hamming"),
			errdetail("The search goes by an index, never through the table."),
			errhint("Write: CREATE INDEX %s%sON %s USING hamming (%s).",
					name != NULL ? quote_identifier(name) : "",
					name != NULL ? " " : "", simdup_table_name(table),
					column_to_index(RelationGetDescr(rel))));
}

bool
simdup_trigger_is_hamming(Relation index)
{
	return index->rd_indam->aminsert == simdup_hamming_insert;
}

bool
simdup_trigger_is_complete(Relation index)
{
	Form_pg_index form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive;
}

bool
simdup_trigger_is_like(Relation index, Oid model)
{
	Relation other = index_open(model, AccessShareLock);
	Relation table = table_open(index->rd_index->indrelid, NoLock);
	Relation parent = table_open(other->rd_index->indrelid, NoLock);
	AttrMap *map = SIMDUP_ATTRMAP_BY_NAME(RelationGetDescr(table),
										  RelationGetDescr(parent));
	IndexInfo *infos[] = {BuildIndexInfo(index), BuildIndexInfo(other)};
	bool result;

	/* an exclusion constraint, which the comparison refuses, stores the same */
	for (int i = 0; i < 2; i++)
		infos[i]->ii_ExclusionOps = NULL;
	result = CompareIndexInfo(infos[0], infos[1], index->rd_indcollation,
							  other->rd_indcollation, index->rd_opfamily,
							  other->rd_opfamily, map);

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
choose_index(Oid relid, const char *name, Oid model)
{
	Relation table = table_open(relid, AccessShareLock);
	bool is_child = OidIsValid(model);
	Oid chosen = InvalidOid;
	Oid invalid = InvalidOid;
	Oid unlike = InvalidOid; /* a child's */
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Oid oid = lfirst_oid(cell);
		Relation index = index_open(oid, AccessShareLock);

		if (simdup_trigger_is_hamming(index) &&
			(name == NULL || strcmp(RelationGetRelationName(index), name) == 0))
		{
			if (!simdup_trigger_is_complete(index))
				invalid = oid;
			else if (!OidIsValid(model))
				chosen = model = oid;
			else if (simdup_trigger_is_like(index, model))
				chosen = oid;
			else if (is_child)
				unlike = oid;
			else
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
	table_close(table, NoLock);
	if (OidIsValid(chosen))
		return chosen;
	if (OidIsValid(invalid))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("index \"%s\" is not valid", get_rel_name(invalid)),
				errdetail(
					"The search goes by an index, never through the table."),
				errhint("Write: DROP INDEX %s; %s.", simdup_table_name(invalid),
						pg_get_indexdef_string(invalid)));
	if (OidIsValid(unlike))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("relation \"%s\" has no index like \"%s\"",
					   get_rel_name(relid), get_rel_name(model)),
				errdetail("Its index \"%s\" differs.", get_rel_name(unlike)),
				errhint("Make one that stores the same as: %s.",
						pg_get_indexdef_string(model)));
	no_index(relid, name);
}

Bitmapset *
simdup_trigger_partition_columns(Oid relid, Oid numbered)
{
	Bitmapset *columns = NULL;
	ListCell *cell;

	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return NULL;
	foreach (cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Oid oid = lfirst_oid(cell);
		Relation part = table_open(oid, NoLock);
		PartitionKey key = RelationGetPartitionKey(part);

		for (int i = 0; key != NULL && i < key->partnatts; i++)
		{
			AttrNumber attnum = key->partattrs[i];

			if (attnum != 0)
				columns =
					bms_add_member(columns,
								   get_attnum(numbered,
											  get_attname(oid, attnum, false)));
		}
		table_close(part, NoLock);
	}
	return columns;
}

/*
 * Check whether a unique index makes columns a key. At no moment are two rows
 * equal in the columns by their own equality, unless they differ in the columns
 * `beside`.
 */
static bool
is_key_index(Relation index, TupleDesc desc, Bitmapset *columns,
			 Bitmapset *beside)
{
	Form_pg_index form = index->rd_index;
	Bitmapset *missing = bms_copy(columns);

	if (!form->indisunique || !form->indisvalid || !form->indimmediate ||
		index->rd_rel->relam != BTREE_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber attnum = form->indkey.values[i];

		if (bms_is_member(attnum, columns) &&
			index->rd_indcollation[i] ==
				TupleDescAttr(desc, attnum - 1)->attcollation &&
			index->rd_opfamily[i] ==
				lookup_type_cache(TupleDescAttr(desc, attnum - 1)->atttypid,
								  TYPECACHE_BTREE_OPFAMILY)
					->btree_opf)
			missing = bms_del_member(missing, attnum);
		else if (!bms_is_member(attnum, beside))
			return false;
	}
	return bms_is_empty(missing);
}

Oid
simdup_trigger_key_index(Oid relid, const TriggerState *state)
{
	Relation table = table_open(relid, AccessShareLock);
	TupleDesc desc = RelationGetDescr(table);
	Bitmapset *beside = simdup_trigger_partition_columns(relid, relid);
	Bitmapset *columns = NULL;
	bool is_not_null = true;
	Oid found = InvalidOid;
	ListCell *cell;

	foreach (cell, state->options.key)
	{
		AttrNumber column = get_attnum(relid, lfirst(cell));

		columns = bms_add_member(columns, column);
		is_not_null &= SIMDUP_IS_NOT_NULL(desc, column - 1);
	}
	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		/* one that begins with the key finds it soonest */
		if (is_not_null &&
			(!OidIsValid(found) ||
			 bms_is_member(index->rd_index->indkey.values[0], columns)) &&
			is_key_index(index, desc, columns, beside))
			found = RelationGetRelid(index);
		index_close(index, NoLock);
	}
	if (!OidIsValid(found) && state->kind != TRIGGER_REJECT)
		ereport(ERROR, errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key",
					   (char *) linitial(state->options.key),
					   RelationGetRelationName(table)),
				beside == NULL
					? errdetail(
						  "A key is NOT NULL and has a valid unique index on it alone, not partial, not deferrable, and of its own collation.")
					: errdetail(
						  "A key is NOT NULL and has a valid unique index on it and the partition key alone, not partial, not deferrable, and of its own collation."),
				errhint("Give the column NOT NULL and UNIQUE, or name another one: '%s'.",
						"key => column"));
	table_close(table, NoLock);
	return found;
}

void
simdup_trigger_find_uniques(Relation table, TriggerState *state)
{
	List *indexes = RelationGetIndexList(table);
	ListCell *cell;

	state->uniques = palloc(list_length(indexes) * sizeof(UniqueIndex));
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;
		UniqueIndex *unique = &state->uniques[state->n_uniques];

		if ((form->indisunique || form->indisexclusion) && form->indisready &&
			form->indimmediate)
		{
			unique->info = BuildIndexInfo(index);
			if (!form->indisexclusion)
				BuildSpeculativeIndexInfo(index, unique->info);
			unique->procs = form->indisexclusion
								? unique->info->ii_ExclusionProcs
								: unique->info->ii_UniqueProcs;
			unique->info->ii_PredicateState =
				ExecPrepareQual(unique->info->ii_Predicate, state->estate);
			memcpy(unique->collations, index->rd_indcollation,
				   form->indnkeyatts * sizeof(Oid));
			state->n_uniques++;
		}
		index_close(index, NoLock);
	}
}

static void
add_target(TriggerState *state, Oid table, Oid index, bool is_partition)
{
	TriggerTarget *target = &state->targets[state->n_targets++];

	*target = (TriggerTarget){.table = table, .index = index};
	if (table == state->written)
		state->own = target;
	if (table == state->table)
		target->key_index = state->key_index;
	if (state->kind == TRIGGER_REJECT)
		return;
	target->key = get_attnum(table, linitial(state->options.key));
	if (state->kind == TRIGGER_FLAG)
		target->flag =
			get_attnum(table, get_attname(state->written, state->flag, false));
	if (table != state->table && !is_partition)
		target->key_index = simdup_trigger_key_index(table, state);
}

/* A table that inherits has indexes of its own, a partition those of the trigger's. */
void
simdup_trigger_find_targets(TriggerState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);
	bool is_partitioned =
		get_rel_relkind(state->table) == RELKIND_PARTITIONED_TABLE;
	List *tables = list_make1_oid(state->table);
	List *indexes = NIL;
	ListCell *cell;

	if (!OidIsValid(state->index))
		state->index =
			choose_index(state->table, state->options.index, InvalidOid);
	if (has_subclass(state->table))
		tables = find_all_inheritors(state->table, AccessShareLock, NULL);
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
		if (table == state->table)
			indexes = lappend_oid(indexes, state->index);
		else if (!is_partitioned)
			indexes =
				lappend_oid(indexes, choose_index(table, NULL, state->index));
	}
	if (is_partitioned)
		indexes = find_all_inheritors(state->index, NoLock, NULL);
	state->own = NULL;
	state->known = NULL;
	state->n_targets = 0;
	state->targets = palloc(list_length(indexes) * sizeof(TriggerTarget));
	foreach (cell, indexes)
	{
		Oid index = lfirst_oid(cell);
		Oid table = IndexGetRelation(index, true);

		/* a partition whose detaching is pending is no longer the table's */
		if (get_rel_relkind(index) == RELKIND_INDEX && OidIsValid(table) &&
			(table == state->written || list_member_oid(tables, table)))
			add_target(state, table, index, is_partitioned);
	}
	/* a partition may be detached in the middle of the statement */
	if (state->own == NULL)
		no_index(state->written, NULL);
	MemoryContextSwitchTo(caller);
}

void
simdup_trigger_close_targets(TriggerState *state)
{
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		if (target->slot != NULL)
		{
			ExecDropSingleTupleTableSlot(target->slot);
			table_index_fetch_end(target->fetch);
		}
		index_close(target->index_rel, NoLock);
		table_close(target->heap, NoLock);
		target->slot = NULL;
	}
}

/* A table may be attached while the trigger waits for locks. */
void
simdup_trigger_open_targets(TriggerState *state)
{
	uint64 changes = state->relation_changes;

	/* opening a table that is locked already does not tell of changes */
	AcceptInvalidationMessages();
	for (;;)
	{
		/* a change from here on counts */
		if (changes != relation_changes)
		{
			changes = relation_changes;
			simdup_trigger_find_targets(state);
		}
		for (int i = 0; i < state->n_targets; i++)
		{
			TriggerTarget *target = &state->targets[i];

			target->heap = table_open(target->table, AccessShareLock);
			target->index_rel = try_index_open(target->index, AccessShareLock);
			if (target->index_rel == NULL)
				no_index(target->table, NULL);
		}
		if (changes == relation_changes)
			return;
		simdup_trigger_close_targets(state);
	}
}

void
simdup_trigger_fetch(TriggerState *state, const NearRow *near)
{
	ItemPointerData tid = near->tid;

	if (!table_tuple_fetch_row_version(near->target->heap, &tid,
									   state->search.snapshot,
									   near->target->slot))
		elog(ERROR, "failed to fetch a near row");
}

RangeVar *
simdup_trigger_log_name(Oid table, const char *name)
{
	RangeVar *log = makeRangeVarFromNameList(
		textToQualifiedNameList(cstring_to_text(name)));

	if (log->schemaname == NULL)
		log->schemaname = get_namespace_name(get_rel_namespace(table));
	return log;
}

/*
 * Find the log table. A name without a schema is looked up in the schema of the
 * trigger's table: the user who inserts must not choose the log. An INSERT's lock
 * is taken before the first pair is found, so that nobody drops or renames it.
 * Users who may not write to the log do not lock it; they get an error later.
 * Columns that cannot take the row of a pair are an error now, and not at the
 * first near row.
 */
void
simdup_trigger_find_log(TriggerData *trigdata, TriggerState *state)
{
	RangeVar *name =
		simdup_trigger_log_name(state->table, trigdata->tg_trigger->tgargs[0]);
	const char *columns[] = {"new_key", "old_key", "distance", "logged_at"};
	Oid key = state->key_att->atttypid;
	const Oid types[] = {key, key, INT4OID, TIMESTAMPTZOID};
	const char *table;

	table = quote_qualified_identifier(name->schemaname, name->relname);
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
						table, format_type_be(key), format_type_be(key)));
	for (size_t i = 0; i < lengthof(columns); i++)
	{
		AttrNumber column = get_attnum(state->log_table, columns[i]);
		Oid type = get_atttype(state->log_table, column);

		if (column == InvalidAttrNumber)
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
					errmsg("column \"%s\" of relation \"%s\" does not exist",
						   columns[i], name->relname),
					errhint("Write: ALTER TABLE %s ADD COLUMN %s %s.", table,
							columns[i], format_type_be(types[i])));
		if (!can_coerce_type(1, &types[i], &type, COERCION_ASSIGNMENT))
			ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
						   columns[i], name->relname, format_type_be(type),
						   format_type_be(types[i])));
	}
	memcpy(state->log_types, types, sizeof(types));
}
