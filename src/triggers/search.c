/*
 * search.c
 *	  Finds the tables to search and their indexes, and in them the rows near a
 *	  new one, and the rows that a flag leads to.
 */
#include "postgres.h"
#include "compat.h"

#include "access/attmap.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "index/hamming/am.h"
#include "server/arguments.h"
#include "triggers/identity.h"
#include "type/simhash64.h"

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
choose_index(Oid relid, const char *name, Oid model)
{
	Relation table = table_open(relid, AccessShareLock);
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
	no_index(relid, name);
}

/* A table that inherits has an index of its own, a partition one of the trigger's. */
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
	if (is_partitioned)
		indexes = find_all_inheritors(state->index, NoLock, NULL);
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
		if (!is_partitioned)
			indexes = lappend_oid(indexes, table == state->table
											   ? state->index
											   : choose_index(table, NULL,
															  state->index));
	}
	state->n_targets = 0;
	state->targets = palloc0(list_length(indexes) * sizeof(TriggerTarget));
	foreach (cell, indexes)
	{
		TriggerTarget *target = &state->targets[state->n_targets];

		target->index = lfirst_oid(cell);
		target->table = IndexGetRelation(target->index, true);
		if (get_rel_relkind(target->index) != RELKIND_INDEX ||
			!OidIsValid(target->table))
			continue;
		if (OidIsValid(state->key_index))
		{
			const char *key = linitial(state->options.key);

			target->key = get_attnum(target->table, key);
			/* a table that inherits has a unique index of its own */
			if (!is_partitioned && target->table != state->table)
				target->key_index =
					simdup_trigger_key_index(target->table, key);
		}
		if (state->flag != InvalidAttrNumber)
			target->flag =
				get_attnum(target->table, NameStr(TupleDescAttr(state->tupdesc,
																state->flag - 1)
													  ->attname));
		if (target->table == state->written)
			state->own = target;
		state->n_targets++;
	}
	/* a partition may be detached in the middle of the statement */
	if (state->own == NULL)
		no_index(state->written, NULL);
	MemoryContextSwitchTo(caller);
}

/*
 * Close what is open; locks stay until the transaction ends. After an ERROR the
 * server closes them, and the state ends with the statement.
 */
static void
close_targets(TriggerState *state)
{
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		if (target->slot != NULL)
			ExecDropSingleTupleTableSlot(target->slot);
		if (target->scan != NULL)
			index_endscan(target->scan);
		if (target->key_scan != NULL)
		{
			index_endscan(target->key_scan);
			index_close(target->key_rel, NoLock);
		}
		index_close(target->index_rel, NoLock);
		table_close(target->heap, NoLock);
		target->slot = NULL;
		target->scan = NULL;
		target->key_scan = NULL;
	}
}

/*
 * Open the tables to search and their indexes. A table may be attached while the
 * trigger waits for locks, and is then searched too.
 */
static void
open_targets(TriggerState *state)
{
	uint64 changes = state->relation_changes;

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
		close_targets(state);
	}
}

/* Compare two keys by the default order of their type. */
static int
compare_keys(const TriggerState *state, Datum a, Datum b)
{
	return DatumGetInt32(
		FunctionCall2Coll(&state->key_functions->cmp_proc_finfo,
						  state->key_att->attcollation, a, b));
}

/* Compare rows by their keys, or for reject by their places. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const TriggerState *state = arg;
	NearRow *left = (NearRow *) a;
	NearRow *right = (NearRow *) b;

	if (state->kind != TRIGGER_REJECT)
		return compare_keys(state, left->key, right->key);
	if (left->target != right->target)
		return left->target < right->target ? -1 : 1;
	return ItemPointerCompare(&left->tid, &right->tid);
}

static int
compare_distances(const void *a, const void *b)
{
	return ((const NearRow *) a)->distance - ((const NearRow *) b)->distance;
}

/*
 * Require that an index has all rows that the transaction's snapshot sees. One
 * that was made over changed rows may leave out their earlier versions. The
 * planner uses such an index for later snapshots only.
 */
static void
require_complete(const TriggerState *state, Relation index)
{
	if (state->options.lock || !IsolationUsesXactSnapshot() ||
		!index->rd_index->indcheckxmin ||
		TransactionIdPrecedes(HeapTupleHeaderGetXmin(
								  index->rd_indextuple->t_data),
							  TransactionXmin))
		return;
	ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent creation of index \"%s\"",
				   RelationGetRelationName(index)),
			errhint("The transaction might succeed if retried."));
}

/* Add the entry that the scan of a target returned last. */
static void
add_entry(NearSearch *search, TriggerTarget *target)
{
	CHECK_FOR_INTERRUPTS();
	search->rows = simdup_grow(search->rows, &search->max_rows,
							   (size_t) search->n_rows + 1, sizeof(NearRow));
	search->rows[search->n_rows++] =
		(NearRow){.target = target,
				  .distance =
					  simdup_hamming64(simdup_hamming_returned(target->scan),
									   search->row->fp),
				  .tid = target->scan->xs_heaptid};
}

/*
 * Collect the near entries of all indexes, nearest first. The operator is that
 * of the access method: an index of any operator class holds fingerprints.
 */
static void
collect_entries(NearSearch *search)
{
	const TriggerState *state = search->state;
	SimhashBall ball = {search->row->fp, state->options.max_distance};
	ScanKeyData key = {.sk_attno = 1,
					   .sk_strategy = SIMHASH_IN_BALL_STRATEGY,
					   .sk_argument = PointerGetDatum(&ball)};

	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];

		require_complete(state, target->index_rel);
		target->scan = SIMDUP_INDEX_BEGINSCAN(target->heap, target->index_rel,
											  search->snapshot, 1, 0);
		index_rescan(target->scan, &key, 1, NULL, 0);
		while (index_getnext_tid(target->scan, ForwardScanDirection) != NULL)
			add_entry(search, target);
	}
	if (search->n_rows > 1)
		qsort(search->rows, search->n_rows, sizeof(NearRow), compare_distances);
}

/*
 * Return the command of this transaction that wrote a version of a row, or
 * InvalidCommandId if another transaction did. A change of the row that a
 * savepoint took back leaves a combined number in the header, which stands for
 * two commands.
 */
static CommandId
command_of(HeapTupleHeader header)
{
	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(header)))
		return InvalidCommandId;
	return (header->t_infomask & HEAP_COMBOCID) != 0
			   ? HeapTupleHeaderGetCmin(header)
			   : HeapTupleHeaderGetRawCommandId(header);
}

/*
 * Read the row of an entry. Return false if none is visible there, or it is the
 * new row.
 */
static bool
read_near(const NearSearch *search, NearRow *near)
{
	const TriggerState *state = search->state;
	TriggerTarget *target = near->target;

	if (target->slot == NULL)
		target->slot = table_slot_create(target->heap, NULL);
	target->scan->xs_heaptid = near->tid;
	if (!index_fetch_heap(target->scan, target->slot))
		return false;
	near->tid = target->slot->tts_tid;
	if (simdup_trigger_is_this_row(search, target, target->slot))
		return false;
	if (state->kind != TRIGGER_REJECT)
		near->key =
			simdup_trigger_copy_key(state, target->slot, target->key).value;
	near->is_newer =
		search->command != InvalidCommandId &&
		TTS_IS_BUFFERTUPLE(target->slot) &&
		command_of(ExecFetchSlotHeapTuple(target->slot, false, NULL)->t_data) ==
			search->command &&
		compare_keys(state, near->key, search->row->key.value) > 0;
	return true;
}

/*
 * Require that the transaction's snapshot sees the row. It may have been committed
 * after that. Then the two transactions cannot be ordered.
 */
static void
require_visible(const NearSearch *search, const NearRow *near)
{
	ItemPointerData tid = near->tid;
	Snapshot snapshot;
	bool visible;

	if (!search->state->options.lock || !IsolationUsesXactSnapshot())
		return;
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	visible = table_tuple_fetch_row_version(near->target->heap, &tid, snapshot,
											near->target->slot);
	UnregisterSnapshot(snapshot);
	if (!visible)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg(
					"could not serialize access due to concurrent arrival of a near-duplicate"),
				errhint("The transaction might succeed if retried."));
}

/* Read the rows at the next distance, in the order of their keys. */
static void
read_next_distance(NearSearch *search)
{
	NearRow *rows = search->rows;
	int64 begin = search->next_distance;
	int64 n_read = begin;
	int64 i = begin;

	for (; i < search->n_rows && rows[i].distance == rows[begin].distance; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (read_near(search, &rows[i]))
			rows[n_read++] = rows[i];
	}
	qsort_arg(&rows[begin], n_read - begin, sizeof(NearRow), compare_rows,
			  search->state);
	search->next_row = begin;
	search->end_row = n_read;
	search->next_distance = i;
}

/* Return the next row, whether it counts or not; NULL after the last. */
static NearRow *
next_row(NearSearch *search)
{
	while (search->next_row == search->end_row)
	{
		if (search->next_distance == search->n_rows)
			return NULL;
		read_next_distance(search);
	}
	return &search->rows[search->next_row++];
}

const NearRow *
simdup_trigger_next_near(NearSearch *search)
{
	MemoryContext caller = MemoryContextSwitchTo(search->state->search_context);
	NearRow *near;

	while ((near = next_row(search)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!simdup_trigger_passes_over(search, near) &&
			simdup_trigger_counts(search, near))
		{
			require_visible(search, near);
			break;
		}
	}
	MemoryContextSwitchTo(caller);
	return near;
}

const NearRow *
simdup_trigger_first_near(NearSearch *search, TriggerState *state,
						  const NewRow *row)
{
	MemoryContext caller;

	*search = (NearSearch){.state = state,
						   .row = row,
						   .command = state->kind == TRIGGER_LOG
										  ? command_of(row->tuple->t_data)
										  : InvalidCommandId};
	if (state->options.lock)
		simdup_trigger_lock(state->table, state->lock_distance, row->fp);
	if (!simdup_trigger_may_search(search))
		return NULL;
	caller = MemoryContextSwitchTo(state->search_context);
	open_targets(state);
	CommandCounterIncrement();
	search->snapshot = RegisterSnapshot(
		state->options.lock ? GetLatestSnapshot() : GetTransactionSnapshot());
	collect_entries(search);
	MemoryContextSwitchTo(caller);
	return simdup_trigger_next_near(search);
}

void
simdup_trigger_end_search(NearSearch *search)
{
	if (search->snapshot == NULL)
		return;
	close_targets(search->state);
	UnregisterSnapshot(search->snapshot);
	MemoryContextReset(search->state->search_context);
}
