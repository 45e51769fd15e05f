/*
 * search.c
 *	  Finds the rows near the row that arrives, by the indexes of the tables.
 *
 * A row with the new row's key is the row itself, or the row that an upsert is
 * about to update. The TID tells which stored row is this version.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "index/hamming/am.h"
#include "triggers/arrival.h"
#include "type/simhash64.h"

/* A table that is being searched. */
typedef struct Reading
{
	Relation heap;
	Relation index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
} Reading;

/* An entry of an index near the new row. */
typedef struct NearEntry
{
	int distance;
	int reading;
	ItemPointerData tid;
} NearEntry;

typedef struct Searching
{
	ArrivalSearch *search;
	int n_readings;
	Reading *readings;
	int64 n_candidates;
	size_t max_candidates;
	NearEntry *candidates;
} Searching;

/* Compare two keys by the default order of their type. */
static int
compare_keys(const ArrivalTrigger *at, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(&at->key_functions->cmp_proc_finfo,
										   at->key_collation, a, b));
}

/* Compare rows by their keys; NULL comes last. */
static int
compare_found(const void *a, const void *b, void *at)
{
	const ArrivalFound *left = a;
	const ArrivalFound *right = b;

	if (left->key_isnull || right->key_isnull)
		return (int) left->key_isnull - (int) right->key_isnull;
	return compare_keys(at, left->key, right->key);
}

static int
compare_candidates(const void *a, const void *b)
{
	return ((const NearEntry *) a)->distance -
		   ((const NearEntry *) b)->distance;
}

/* Close what is open; locks stay until the transaction ends. */
static void
close_tables(Searching *s)
{
	for (int i = 0; i < s->n_readings; i++)
	{
		Reading *reading = &s->readings[i];

		if (reading->slot != NULL)
			ExecDropSingleTupleTableSlot(reading->slot);
		if (reading->scan != NULL)
			index_endscan(reading->scan);
		index_close(reading->index, NoLock);
		table_close(reading->heap, NoLock);
	}
}

/*
 * Open the tables and their indexes. A table may be attached while the trigger
 * waits for locks, and is then searched too.
 */
static void
open_tables(Searching *s)
{
	ArrivalTrigger *at = s->search->at;

	(void) simdup_arrival_find_targets(at);
	do
	{
		close_tables(s);
		s->readings = palloc0(at->n_targets * sizeof(Reading));
		s->n_readings = at->n_targets;
		for (int i = 0; i < at->n_targets; i++)
		{
			Oid table = at->targets[i].table;

			s->readings[i].heap = table_open(table, AccessShareLock);
			s->readings[i].index =
				try_index_open(at->targets[i].index, AccessShareLock);
			if (s->readings[i].index == NULL)
				simdup_arrival_no_index(table, NULL);
		}
	} while (simdup_arrival_find_targets(at));
}

static void
add_candidate(Searching *s, int reading)
{
	IndexScanDesc scan = s->readings[reading].scan;
	int distance =
		simdup_hamming64(simdup_hamming_returned(scan), s->search->row->fp);

	CHECK_FOR_INTERRUPTS();
	s->candidates =
		simdup_grow(s->candidates, &s->max_candidates,
					(size_t) s->n_candidates + 1, sizeof(NearEntry));
	s->candidates[s->n_candidates++] =
		(NearEntry){distance, reading, scan->xs_heaptid};
}

/*
 * Require that an index has all rows that the transaction's snapshot sees. One
 * that was made over changed rows may leave out their earlier versions. The
 * planner uses such an index for later snapshots only.
 */
static void
require_complete(const ArrivalSearch *search, Relation index)
{
	if (search->at->lock || !IsolationUsesXactSnapshot() ||
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
 * Collect the near entries of all indexes, nearest first. The operator is that
 * of the access method: an index of any operator class holds fingerprints.
 */
static void
collect_candidates(Searching *s)
{
	SimhashBall ball = {s->search->row->fp, s->search->at->max_distance};
	ScanKeyData key = {.sk_attno = 1,
					   .sk_strategy = SIMHASH_IN_BALL_STRATEGY,
					   .sk_argument = PointerGetDatum(&ball)};

	for (int i = 0; i < s->n_readings; i++)
	{
		Reading *reading = &s->readings[i];

		require_complete(s->search, reading->index);
		reading->scan = SIMDUP_INDEX_BEGINSCAN(reading->heap, reading->index,
											   s->search->snapshot, 1, 0);
		index_rescan(reading->scan, &key, 1, NULL, 0);
		while (index_getnext_tid(reading->scan, ForwardScanDirection) != NULL)
			add_candidate(s, i);
	}
	if (s->n_candidates > 1)
		qsort(s->candidates, s->n_candidates, sizeof(NearEntry),
			  compare_candidates);
}

/*
 * A change of the row that a savepoint took back leaves a combined number in the
 * header, which stands for two commands.
 */
CommandId
simdup_arrival_command(HeapTupleHeader header)
{
	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(header)))
		return InvalidCommandId;
	return (header->t_infomask & HEAP_COMBOCID) != 0
			   ? HeapTupleHeaderGetCmin(header)
			   : HeapTupleHeaderGetRawCommandId(header);
}

/*
 * Read the row of a candidate. Return false if none is visible there, or it is
 * the new row itself. The key belongs to the slot.
 */
static bool
read_row(Searching *s, const NearEntry *candidate, ArrivalFound *found)
{
	const ArrivalSearch *search = s->search;
	const ArrivalTrigger *at = search->at;
	const ArrivalRow *row = search->row;
	Reading *reading = &s->readings[candidate->reading];

	if (reading->slot == NULL)
		reading->slot = table_slot_create(reading->heap, NULL);
	reading->scan->xs_heaptid = candidate->tid;
	if (!index_fetch_heap(reading->scan, reading->slot))
		return false;
	found->distance = candidate->distance;
	found->target = &at->targets[candidate->reading];
	found->heap = reading->heap;
	found->tid = reading->slot->tts_tid;
	if (row->is_stored && found->target->table == row->stored_table &&
		ItemPointerEquals(&found->tid, (ItemPointer) &row->stored_tid))
		return false;
	found->key =
		slot_getattr(reading->slot, found->target->key, &found->key_isnull);
	if (!row->key_isnull && !found->key_isnull &&
		DatumGetBool(FunctionCall2Coll(&at->key_functions->eq_opr_finfo,
									   at->key_collation, row->key,
									   found->key)))
		return false;
	found->is_newer =
		row->command != InvalidCommandId && !row->key_isnull &&
		!found->key_isnull && TTS_IS_BUFFERTUPLE(reading->slot) &&
		simdup_arrival_command(
			ExecFetchSlotHeapTuple(reading->slot, false, NULL)->t_data) ==
			row->command &&
		compare_keys(at, found->key, row->key) > 0;
	return true;
}

/*
 * Require that the transaction's snapshot sees the row. It may have been committed
 * after that. Then the two transactions cannot be ordered.
 */
static void
require_visible(const ArrivalSearch *search, const ArrivalFound *found)
{
	ItemPointerData tid = found->tid;
	TupleTableSlot *slot;
	Snapshot snapshot;
	bool visible;

	if (!search->at->lock || !IsolationUsesXactSnapshot())
		return;
	slot = table_slot_create(found->heap, NULL);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	visible = table_tuple_fetch_row_version(found->heap, &tid, snapshot, slot);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	if (!visible)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg(
					"could not serialize access due to concurrent arrival of a near-duplicate"),
				errhint("The transaction might succeed if retried."));
}

/*
 * Report the rows of n candidates at one distance that count, in the order of
 * their keys. Return whether that is enough.
 */
static bool
report_rows(Searching *s, const NearEntry *candidates, int64 n)
{
	ArrivalSearch *search = s->search;
	ArrivalTrigger *at = search->at;
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	ArrivalFound *found =
		palloc_extended(n * sizeof(ArrivalFound), MCXT_ALLOC_HUGE);
	int64 n_found = 0;

	for (int64 i = 0; i < n; i++)
	{
		ArrivalFound *row = &found[n_found];

		CHECK_FOR_INTERRUPTS();
		if (!read_row(s, &candidates[i], row))
			continue;
		if (!row->key_isnull)
			row->key = datumCopy(row->key, att->attbyval, att->attlen);
		n_found++;
	}
	qsort_arg(found, n_found, sizeof(ArrivalFound), compare_found, at);
	for (int64 i = 0; i < n_found; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!simdup_arrival_counts(search, &found[i]))
			continue;
		require_visible(search, &found[i]);
		if (search->receive(search, &found[i]))
			return true;
	}
	pfree(found);
	return false;
}

/*
 * Call receive for the rows near a row that has a fingerprint, nearest first, of
 * equal distance by their key.
 *
 * A search that has locked must see what committed while it waited, at every
 * isolation level. Other searches see what their transaction sees. Both see the
 * rows that the statement has written.
 */
void
simdup_arrival_search(ArrivalTrigger *at, const ArrivalRow *row,
					  ArrivalReceiver receive, void *arg)
{
	ArrivalSearch search = {.at = at,
							.row = row,
							.receive = receive,
							.arg = arg};
	Searching s = {.search = &search};
	MemoryContext context;
	MemoryContext caller;
	bool done = false;

	if (!simdup_arrival_begin_near(&search))
		return;
	context = AllocSetContextCreate(at->row_context, "simdup arrival search",
									ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	open_tables(&s);
	CommandCounterIncrement();
	search.snapshot = RegisterSnapshot(at->lock ? GetLatestSnapshot()
												: GetTransactionSnapshot());
	collect_candidates(&s);
	for (int64 i = 0, end; i < s.n_candidates && !done; i = end)
	{
		for (end = i + 1; end < s.n_candidates && s.candidates[end].distance ==
													  s.candidates[i].distance;)
			end++;
		done = report_rows(&s, &s.candidates[i], end - i);
	}
	close_tables(&s);
	UnregisterSnapshot(search.snapshot);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}
