/*
 * identity.c
 *	  Which row a key names, which stored row is no other row than the new one, and
 *	  which rows a chain of flags leads to. README has the rules.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

#include "triggers/identity.h"

/* Return the columns that a table and its partitions are partitioned by. */
static Bitmapset *
partition_columns(Relation table)
{
	Bitmapset *columns = NULL;
	ListCell *cell;

	if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return NULL;
	foreach (cell, find_all_inheritors(RelationGetRelid(table), AccessShareLock,
									   NULL))
	{
		Oid oid = lfirst_oid(cell);
		Relation part;
		PartitionKey key;

		if (get_rel_relkind(oid) != RELKIND_PARTITIONED_TABLE)
			continue;
		part = table_open(oid, NoLock);
		key = RelationGetPartitionKey(part);
		for (int i = 0; i < key->partnatts; i++)
			if (key->partattrs[i] != 0)
				columns =
					bms_add_member(columns,
								   get_attnum(RelationGetRelid(table),
											  get_attname(oid,
														  key->partattrs[i],
														  false)));
		table_close(part, NoLock);
	}
	return columns;
}

/*
 * Check whether a unique index makes a column name one row: no two rows, at any
 * moment, are equal in the column by its own equality, but for rows that differ
 * in the columns `beside`.
 */
static bool
is_key_index(Relation index, AttrNumber column, TypeCacheEntry *type,
			 Oid collation, Bitmapset *beside)
{
	Form_pg_index form = index->rd_index;
	bool found = false;

	if (!form->indisunique || !form->indisvalid || !form->indimmediate ||
		index->rd_rel->relam != BTREE_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber attnum = form->indkey.values[i];

		if (attnum == column && index->rd_opfamily[i] == type->btree_opf &&
			index->rd_indcollation[i] == collation)
			found = true;
		else if (!bms_is_member(attnum, beside))
			return false;
	}
	return found;
}

Oid
simdup_trigger_key_index(Oid relid, const char *name)
{
	Relation table = table_open(relid, AccessShareLock);
	AttrNumber column = get_attnum(relid, name);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(table), column - 1);
	TypeCacheEntry *type =
		lookup_type_cache(att->atttypid, TYPECACHE_BTREE_OPFAMILY);
	Bitmapset *beside = partition_columns(table);
	Oid found = InvalidOid;
	ListCell *cell;

	if (SIMDUP_IS_NOT_NULL(RelationGetDescr(table), column - 1))
		foreach (cell, RelationGetIndexList(table))
		{
			Relation index = index_open(lfirst_oid(cell), AccessShareLock);

			if (!OidIsValid(found) &&
				is_key_index(index, column, type, att->attcollation, beside))
				found = RelationGetRelid(index);
			index_close(index, NoLock);
		}
	if (!OidIsValid(found))
		ereport(ERROR, errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key", name,
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
		UniqueIndex *unique = &state->uniques[state->n_uniques];
		int n = index->rd_index->indnkeyatts;

		if (index->rd_index->indisunique && index->rd_index->indisready &&
			index->rd_index->indimmediate &&
			index->rd_rel->relam == BTREE_AM_OID)
		{
			unique->info = BuildIndexInfo(index);
			BuildSpeculativeIndexInfo(index, unique->info);
			unique->predicate =
				ExecPrepareQual(unique->info->ii_Predicate, state->estate);
			unique->equal = palloc(n * sizeof(FmgrInfo));
			unique->collations = palloc(n * sizeof(Oid));
			for (int i = 0; i < n; i++)
			{
				fmgr_info(unique->info->ii_UniqueProcs[i], &unique->equal[i]);
				unique->collations[i] = index->rd_indcollation[i];
			}
			state->n_uniques++;
		}
		index_close(index, NoLock);
	}
}

static bool
have_equal_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&state->key_functions->eq_opr_finfo,
										  state->key_att->attcollation, a, b));
}

/*
 * Check whether the new row, which is to be inserted, has a stored row's values in
 * a unique index. Then both cannot be stored: the INSERT fails, does nothing, or
 * updates that row. Expressions and predicates are those of the index.
 */
static bool
meets(TriggerState *state, const UniqueIndex *unique, TupleTableSlot *stored)
{
	ExprContext *econtext = GetPerTupleExprContext(state->estate);
	TupleTableSlot *slots[] = {stored, state->slot};
	Datum values[2][INDEX_MAX_KEYS];
	bool isnull[2][INDEX_MAX_KEYS];

	for (int i = 0; i < 2; i++)
	{
		econtext->ecxt_scantuple = slots[i];
		if (!ExecQual(unique->predicate, econtext))
			return false;
		FormIndexDatum(unique->info, slots[i], state->estate, values[i],
					   isnull[i]);
	}
	for (int i = 0; i < unique->info->ii_NumIndexKeyAttrs; i++)
		if (isnull[0][i] || isnull[1][i]
				? !unique->info->ii_NullsNotDistinct ||
					  isnull[0][i] != isnull[1][i]
				: !DatumGetBool(FunctionCall2Coll(&unique->equal[i],
												  unique->collations[i],
												  values[0][i], values[1][i])))
			return false;
	return true;
}

/* Check whether the new row, as an upsert, may meet rows of a target. */
static bool
may_meet(const NearSearch *search, const TriggerTarget *target)
{
	return target == search->state->own &&
		   !ItemPointerIsValid(&search->row->stored_tid);
}

/* Check whether an upsert of the new row may meet a stored row of a target. */
static bool
meets_any(const NearSearch *search, const TriggerTarget *target,
		  TupleTableSlot *slot)
{
	TriggerState *state = search->state;
	bool met = false;

	if (!may_meet(search, target))
		return false;
	ExecStoreHeapTuple(search->row->complete, state->slot, false);
	for (int i = 0; i < state->n_uniques && !met; i++)
		met = meets(state, &state->uniques[i], slot);
	ExecClearTuple(state->slot);
	ResetPerTupleExprContext(state->estate);
	return met;
}

bool
simdup_trigger_is_this_row(const NearSearch *search,
						   const TriggerTarget *target, TupleTableSlot *slot)
{
	const TriggerState *state = search->state;
	const NewRow *row = search->row;
	bool isnull;

	return (target == state->own && ItemPointerIsValid(&row->stored_tid) &&
			ItemPointerEquals(&slot->tts_tid,
							  (ItemPointer) &row->stored_tid)) ||
		   (state->kind != TRIGGER_REJECT && !row->key.isnull &&
			have_equal_keys(state, row->key.value,
							slot_getattr(slot, target->key, &isnull)));
}

NullableDatum
simdup_trigger_copy_key(const TriggerState *state, TupleTableSlot *slot,
						AttrNumber attnum)
{
	Form_pg_attribute att = state->key_att;
	NullableDatum copy;

	copy.value = slot_getattr(slot, attnum, &copy.isnull);
	if (!copy.isnull)
		copy.value = datumCopy(copy.value, att->attbyval, att->attlen);
	return copy;
}

/* Find the indexes of all targets that make the key one. */
static void
find_key_indexes(TriggerState *state)
{
	ListCell *cell;

	if (OidIsValid(state->own->key_index))
		return;
	foreach (cell, find_all_inheritors(state->key_index, NoLock, NULL))
	{
		Oid table = IndexGetRelation(lfirst_oid(cell), true);

		for (int i = 0; i < state->n_targets; i++)
			if (state->targets[i].table == table)
				state->targets[i].key_index = lfirst_oid(cell);
	}
}

/* Begin to look up rows of a target by their keys. */
static void
begin_key_scan(const NearSearch *search, TriggerTarget *target, Datum key)
{
	const TriggerState *state = search->state;
	ScanKeyData scan_key;
	int column = 0;

	if (target->key_scan == NULL)
	{
		target->key_rel =
			OidIsValid(target->key_index)
				? try_index_open(target->key_index, AccessShareLock)
				: NULL;
		if (target->key_rel == NULL)
			(void) simdup_trigger_key_index(target->table,
											linitial(state->options.key));
		target->key_scan = SIMDUP_INDEX_BEGINSCAN(target->heap, target->key_rel,
												  search->snapshot, 1, 0);
	}
	while (target->key_rel->rd_index->indkey.values[column] != target->key)
		column++;
	ScanKeyEntryInitialize(&scan_key, 0, column + 1, BTEqualStrategyNumber,
						   InvalidOid, state->key_att->attcollation,
						   state->key_functions->eq_opr_finfo.fn_oid, key);
	index_rescan(target->key_scan, &scan_key, 1, NULL, 0);
}

/*
 * Follow a flag to the row that has this key. Set *flag to that row's, or to NULL
 * if there is none. Return whether it is the new row.
 */
static bool
follow_flag(const NearSearch *search, NullableDatum *flag)
{
	TriggerState *state = search->state;
	Datum key = flag->value;

	flag->isnull = true;
	if (!search->row->key.isnull &&
		have_equal_keys(state, search->row->key.value, key))
		return true;
	find_key_indexes(state);
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		begin_key_scan(search, target, key);
		if (target->slot == NULL)
			target->slot = table_slot_create(target->heap, NULL);
		if (!index_getnext_slot(target->key_scan, ForwardScanDirection,
								target->slot))
			continue;
		if (simdup_trigger_is_this_row(search, target, target->slot) ||
			meets_any(search, target, target->slot))
			return true;
		*flag = simdup_trigger_copy_key(state, target->slot, target->flag);
		return false;
	}
	return false;
}

void
simdup_trigger_fetch(const NearSearch *search, const NearRow *near)
{
	ItemPointerData tid = near->tid;

	if (!table_tuple_fetch_row_version(near->target->heap, &tid,
									   search->snapshot, near->target->slot))
		elog(ERROR, "failed to fetch a near row");
}

/*
 * Check whether a near row, which is fetched, has a chain of flags that leads to
 * the new row, which then must not be flagged with the near one. A person may have
 * set flags that make a loop. The walk ends where it meets a remembered key again
 * (Brent 1980).
 */
static bool
leads_here(const NearSearch *search, const NearRow *near)
{
	const TriggerTarget *target = near->target;
	Datum remembered = near->key;
	NullableDatum flag =
		simdup_trigger_copy_key(search->state, target->slot, target->flag);

	for (int64 n = 1, renewed = 2; !flag.isnull; n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (have_equal_keys(search->state, flag.value, remembered))
			return false;
		if (n == renewed)
		{
			remembered = flag.value;
			renewed *= 2;
		}
		if (follow_flag(search, &flag))
			return true;
	}
	return false;
}

bool
simdup_trigger_passes_over(const NearSearch *search, const NearRow *near)
{
	bool is_flag = search->state->kind == TRIGGER_FLAG;

	/* spare the fetch of a row that cannot be passed over */
	if (!is_flag && !may_meet(search, near->target))
		return false;
	simdup_trigger_fetch(search, near);
	return meets_any(search, near->target, near->target->slot) ||
		   (is_flag && leads_here(search, near));
}
