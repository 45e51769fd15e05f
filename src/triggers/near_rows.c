/*
 * near_rows.c
 *	  The rows near a new one: reads the entries of all indexes, nearest first, and
 *	  then the rows of one distance after another.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"
#include "triggers/trigger.h"
#include "type/simhash64.h"

/* The entries near the new row, of the ball that was read, and their rows. */
typedef struct NearRows
{
	CommandId command; /* that wrote the new row, if it decides which is newer */
	NearRow entry;	   /* read last */
	bool knows_rows;   /* of the leaf, some are known */
	bool reads_all;	   /* nothing is known */
	bool remembers;	   /* rows that are read, or their leaves */

	/* nearest first; those of one distance are read at once */
	int radius; /* of the ball whose entries are collected; -1: none yet */
	int64 n_rows;
	size_t max_rows;
	NearRow *rows;
	int64 next_row; /* to be reported */
	int64 end_row;	/* end of the rows that were read */
	int64 next_distance;
} NearRows;

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

/*
 * Equal rows. A flag goes to the smallest key, and the index has no keys, so the first
 * search of a statement reads all equal rows. It remembers the row of the smallest key,
 * and the LSN of each leaf with MANY_ENTRIES of the fingerprint or more. A leaf with the
 * same LSN has no new entry, so a later search passes over it. In a remembered leaf that
 * has changed, the rows are remembered when they are read, and passed over later. A row
 * that was visible keeps its key and TID while the statement runs. The row of the
 * smallest key is read again. If it is gone or does not count, all equal rows are read.
 * So a statement reads them for each new row if that row never fulfils the condition.
 */
#define MANY_ENTRIES 32

typedef struct Known
{
	struct
	{
		uint64 value;	  /* the fingerprint; of a row its TID */
		Oid index;		  /* 0 for the row of the smallest key */
		BlockNumber leaf; /* 0 for a row */
	} key;
	XLogRecPtr lsn; /* of the leaf, INCOMPLETE or, if it is new, invalid */
	Oid least_index;
	ItemPointerData least; /* the entry of the smallest key */
} Known;

/* A later search may see more rows. */
#define INCOMPLETE PG_UINT64_MAX

static Known *
find_known(TriggerState *state, uint64 value, Oid index, BlockNumber leaf,
		   HASHACTION action)
{
	Known key = {.key = {value, index, leaf}};
	Known *known;
	bool found;

	if (state->known == NULL)
	{
		HASHCTL info = {.keysize = sizeof(key.key),
						.entrysize = sizeof(key),
						.hcxt = state->context};

		state->known = hash_create("simdup trigger rows", 64, &info,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	known = hash_search(state->known, &key.key, action, &found);
	if (known != NULL && !found)
		*known = key;
	return known;
}

static Known *
find_known_row(TriggerState *state, const NearRow *near, HASHACTION action)
{
	return find_known(state, hamming_row_of_tid(&near->entry),
					  near->target->index, 0, action);
}

/* Begin a leaf. Return whether it has no new entry. Until it is read, suppose so. */
static bool
knows_leaf(void *arg, BlockNumber leaf, XLogRecPtr lsn)
{
	TriggerState *state = arg;
	NearRows *search = state->search.found;
	Known *known = find_known(state, state->row.fp, search->entry.target->index,
							  leaf, HASH_FIND);
	bool is_same;

	search->entry.leaf = leaf;
	search->entry.lsn = lsn;
	search->knows_rows = known != NULL && !search->reads_all;
	if (!search->knows_rows)
		return false;
	is_same = known->lsn == lsn;
	known->lsn = lsn;
	return is_same;
}

static void
add_entry(NearRows *search, const NearRow *entry)
{
	search->rows = simdup_grow(search->rows, &search->max_rows,
							   (size_t) search->n_rows + 1, sizeof(NearRow));
	search->rows[search->n_rows++] = *entry;
}

/*
 * Collect the near entries of all indexes, nearest first. A flag takes those of equal
 * fingerprints, and then all others. The operator is that of the access method: an
 * index of any operator class holds fingerprints.
 */
static void
collect_entries(TriggerState *state)
{
	NearRows *search = state->search.found;
	NearRow *entry = &search->entry;
	uint64 fp = state->row.fp;
	int complete = search->radius;
	bool remembers = state->kind == TRIGGER_FLAG && complete < 0;
	SimhashBall ball = {fp, remembers ? 0 : state->options.max_distance};
	ScanKeyData key = {.sk_attno = 1,
					   .sk_strategy = SIMHASH_IN_BALL_STRATEGY,
					   .sk_argument = PointerGetDatum(&ball)};
	const Known *known =
		remembers && !search->reads_all
			? find_known(state, fp, InvalidOid, InvalidBlockNumber, HASH_FIND)
			: NULL;

	search->radius = (int) ball.radius;
	search->knows_rows = false;
	for (int i = 0; i < state->n_targets; i++)
	{
		TriggerTarget *target = &state->targets[i];
		IndexScanDesc scan;
		ItemPointer tid;

		require_complete(state, target->index_rel);
		scan = SIMDUP_INDEX_BEGINSCAN(target->heap, target->index_rel,
									  state->search.snapshot, 1, 0);
		*entry = (NearRow){.target = target, .leaf = InvalidBlockNumber};
		if (known != NULL && known->least_index == target->index)
		{
			entry->tid = entry->entry = known->least;
			entry->is_least = true;
			add_entry(search, entry);
			entry->is_least = false;
		}
		if (remembers)
			simdup_hamming_pass_over(scan, knows_leaf, state);
		index_rescan(scan, &key, 1, NULL, 0);
		while ((tid = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			entry->distance =
				simdup_hamming64(simdup_hamming_returned(scan), fp);
			entry->tid = entry->entry = *tid;
			if (entry->distance > complete &&
				!(search->knows_rows &&
				  find_known_row(state, entry, HASH_FIND) != NULL))
				add_entry(search, entry);
		}
		index_endscan(scan);
	}
	if (!remembers && search->n_rows > search->next_distance + 1)
		qsort(&search->rows[search->next_distance],
			  search->n_rows - search->next_distance, sizeof(NearRow),
			  compare_distances);
}

/*
 * Return the command of this transaction that wrote a version of a row, or
 * InvalidCommandId if another transaction did. After a rollback to a savepoint, the
 * header may have a combined number of two commands.
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
 * new row. Set *is_dead if none will be visible again.
 */
static bool
read_near(TriggerState *state, NearRow *near, bool *is_dead)
{
	TriggerTarget *target = near->target;
	CommandId command = state->search.found->command;
	bool again = false;

	if (target->slot == NULL)
	{
		target->slot = table_slot_create(target->heap, NULL);
		target->fetch = SIMDUP_INDEX_FETCH_BEGIN(target->heap);
	}
	/* from the first version of the row to the visible one */
	if (!table_index_fetch_tuple(target->fetch, &near->tid,
								 state->search.snapshot, target->slot, &again,
								 is_dead))
		return false;
	if (simdup_trigger_is_this_row(state, target, target->slot))
		return false;
	if (state->kind != TRIGGER_REJECT)
		near->key = simdup_trigger_key(state, target->slot, target->key).value;
	near->is_newer =
		command != InvalidCommandId && TTS_IS_BUFFERTUPLE(target->slot) &&
		command_of(ExecFetchSlotHeapTuple(target->slot, false, NULL)->t_data) ==
			command &&
		compare_keys(state, near->key, state->row.key.value) > 0;
	return true;
}

/*
 * Require that the transaction's snapshot sees the row. It may have been committed
 * after that. Then the two transactions cannot be ordered.
 */
static void
require_visible(TriggerState *state, const NearRow *near)
{
	ItemPointerData tid = near->tid;
	Snapshot snapshot;
	bool visible;

	if (!state->options.lock || !IsolationUsesXactSnapshot())
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

static void
search_again(NearRows *search)
{
	search->reads_all = true;
	search->radius = -1;
	search->n_rows = 0;
	search->next_row = search->end_row = search->next_distance = 0;
}

/*
 * Read the next rows, of one leaf and distance. Add those that are not the new one to
 * the rows to report. Remember the leaf, unless a later search may see more of it: an
 * invisible row is known if it is dead for all.
 */
static void
read_leaf(TriggerState *state)
{
	NearRows *search = state->search.found;
	NearRow *rows = search->rows;
	int64 i = search->next_distance;
	NearRow entry = rows[i];
	int64 end = i + 1;
	bool is_complete = true;
	bool knows_rows = false;
	Known *known = NULL;

	while (end < search->n_rows && rows[end].distance == entry.distance &&
		   rows[end].leaf == entry.leaf && rows[end].target == entry.target)
		end++;
	search->next_distance = end;
	if (BlockNumberIsValid(entry.leaf))
		known =
			find_known(state, state->row.fp, entry.target->index, entry.leaf,
					   end - i < MANY_ENTRIES ? HASH_FIND : HASH_ENTER);
	if (known != NULL)
	{
		knows_rows = !XLogRecPtrIsInvalid(known->lsn);
		search->remembers = true;
	}
	for (; i < end; i++)
	{
		NearRow *near = &rows[i];
		bool is_dead = false;

		CHECK_FOR_INTERRUPTS();
		if (!read_near(state, near, &is_dead))
		{
			if (near->is_least)
				return search_again(search);
			(void) find_known_row(state, near, HASH_REMOVE);
			is_complete &= is_dead;
			continue;
		}
		if (knows_rows)
			(void) find_known_row(state, near, HASH_ENTER);
		rows[search->end_row++] = *near;
	}
	if (known != NULL)
		known->lsn = is_complete ? entry.lsn : INCOMPLETE;
}

/* Read the rows at the next distance, in the order of their keys. */
static void
read_next_distance(TriggerState *state)
{
	NearRows *search = state->search.found;
	int64 begin = search->next_distance;
	int distance = search->rows[begin].distance;

	search->next_row = search->end_row = begin;
	search->remembers = false;
	while (search->next_distance < search->n_rows &&
		   search->rows[search->next_distance].distance == distance)
		read_leaf(state);
	qsort_arg(&search->rows[begin], search->end_row - begin, sizeof(NearRow),
			  compare_rows, state);
	if (search->remembers && search->end_row > begin)
	{
		Known *known = find_known(state, state->row.fp, InvalidOid,
								  InvalidBlockNumber, HASH_ENTER);

		known->least_index = search->rows[begin].target->index;
		known->least = search->rows[begin].entry;
	}
}

const NearRow *
simdup_trigger_next_near(TriggerState *state)
{
	NearRows *search = state->search.found;
	MemoryContext caller = MemoryContextSwitchTo(state->search_context);
	const NearRow *found = NULL;

	for (;;)
		if (search->next_row < search->end_row)
		{
			const NearRow *near = &search->rows[search->next_row++];

			CHECK_FOR_INTERRUPTS();
			if (!simdup_trigger_passes_over(state, near) &&
				simdup_trigger_counts(state, near))
			{
				found = near;
				break;
			}
			if (near->is_least)
				search_again(search);
		}
		else if (search->next_distance < search->n_rows)
			read_next_distance(state);
		else if (search->radius < state->options.max_distance)
			collect_entries(state);
		else
			break;
	if (found != NULL)
		require_visible(state, found);
	MemoryContextSwitchTo(caller);
	return found;
}

const NearRow *
simdup_trigger_first_near(TriggerState *state)
{
	MemoryContext caller;

	state->search = (NearSearch){.snapshot = NULL};
	if (state->options.lock)
		simdup_trigger_lock(state->table, state->lock_distance, state->row.fp);
	if (!simdup_trigger_may_search(state))
		return NULL;
	caller = MemoryContextSwitchTo(state->search_context);
	state->search.found = palloc0(sizeof(NearRows));
	state->search.found->radius = -1;
	state->search.found->command = state->kind == TRIGGER_LOG
									   ? command_of(state->row.tuple->t_data)
									   : InvalidCommandId;
	simdup_trigger_open_targets(state);
	CommandCounterIncrement();
	state->search.snapshot = RegisterSnapshot(
		state->options.lock ? GetLatestSnapshot() : GetTransactionSnapshot());
	MemoryContextSwitchTo(caller);
	return simdup_trigger_next_near(state);
}

void
simdup_trigger_end_search(TriggerState *state)
{
	if (state->search.snapshot == NULL)
		return;
	simdup_trigger_close_targets(state);
	UnregisterSnapshot(state->search.snapshot);
	MemoryContextReset(state->search_context);
}
