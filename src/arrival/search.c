/*
 * search.c
 *	  Finds the rows near the row that arrives, by the indexes of the tables.
 *
 * The indexes give the places of all near rows and their distances. The rows are
 * then read in the order of their distance, and those at one distance sorted by
 * their key. A row with the new row's key is the row itself, or the row that an
 * upsert is about to update, and no duplicate. The place tells which stored row
 * is this version.
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

#include "arrival/arrival.h"
#include "core/hamming.h"
#include "index/hamming/am.h"
#include "index/hamming/find.h"
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
typedef struct Candidate
{
	uint64 fp;
	int distance;
	int reading;
	ItemPointerData tid;
} Candidate;

/* A row as it was before. */
typedef struct Earlier
{
	Datum key;
	uint64 fp;
	ItemPointerData tid;
} Earlier;

typedef struct Searching
{
	ArrivalSearch *search;
	int n_readings;
	Reading *readings;
	int64 n_candidates;
	int64 max_candidates;
	Candidate *candidates;
} Searching;

/* Compare two keys by the default order of their type. */
int
simdup_arrival_compare_keys(const ArrivalTrigger *at, Datum a, Datum b)
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
	return simdup_arrival_compare_keys(at, left->key, right->key);
}

static int
compare_candidates(const void *a, const void *b)
{
	return ((const Candidate *) a)->distance -
		   ((const Candidate *) b)->distance;
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

	for (;;)
	{
		if (!simdup_arrival_knows_targets(at))
			simdup_arrival_find_targets(at);
		s->readings = palloc0(at->n_targets * sizeof(Reading));
		s->n_readings = at->n_targets;
		for (int i = 0; i < at->n_targets; i++)
		{
			const ArrivalTarget *target = &at->targets[i];

			s->readings[i].heap = table_open(target->table, AccessShareLock);
			s->readings[i].index =
				try_index_open(target->index, AccessShareLock);
			if (s->readings[i].index == NULL)
				simdup_hamming_missing(target->table, NULL);
		}
		if (simdup_arrival_knows_targets(at))
			return;
		close_tables(s);
	}
}

static void
add_candidate(Searching *s, int reading)
{
	IndexScanDesc scan = s->readings[reading].scan;
	uint64 fp = simdup_hamming_returned(scan);

	CHECK_FOR_INTERRUPTS();
	if (s->n_candidates == s->max_candidates)
	{
		s->max_candidates *= 2;
		s->candidates =
			repalloc_huge(s->candidates, s->max_candidates * sizeof(Candidate));
	}
	s->candidates[s->n_candidates++] =
		(Candidate){fp, simdup_hamming64(fp, s->search->row->fp), reading,
					scan->xs_heaptid};
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

	s->max_candidates = 16;
	s->candidates = palloc(s->max_candidates * sizeof(Candidate));
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
		qsort(s->candidates, s->n_candidates, sizeof(Candidate),
			  compare_candidates);
}

/*
 * A change of the row that a savepoint took back leaves a combined number in the
 * header. Such numbers do not compare as commands do.
 */
CommandId
simdup_arrival_command(HeapTupleHeader header)
{
	return (header->t_infomask & HEAP_COMBOCID) != 0
			   ? HeapTupleHeaderGetCmin(header)
			   : HeapTupleHeaderGetRawCommandId(header);
}

/*
 * Read the row of a candidate. Return false if none is visible there, or it is
 * the new row itself. The key belongs to the slot.
 */
static bool
read_row(Searching *s, const Candidate *candidate, ArrivalFound *found)
{
	const ArrivalSearch *search = s->search;
	const ArrivalTrigger *at = search->at;
	const ArrivalRow *row = search->row;
	Reading *reading = &s->readings[candidate->reading];
	HeapTupleHeader header;

	if (reading->slot == NULL)
		reading->slot = table_slot_create(reading->heap, NULL);
	reading->scan->xs_heaptid = candidate->tid;
	if (!index_fetch_heap(reading->scan, reading->slot))
		return false;
	found->distance = candidate->distance;
	found->fp = candidate->fp;
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
	header = ExecFetchSlotHeapTuple(reading->slot, false, NULL)->t_data;
	found->is_own =
		TTS_IS_BUFFERTUPLE(reading->slot) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(header));
	found->command = found->is_own ? simdup_arrival_command(header) : 0;
	found->is_update = (header->t_infomask & HEAP_UPDATED) != 0;
	return true;
}

/*
 * Require that the snapshot sees the row. Under REPEATABLE READ and
 * SERIALIZABLE, a row found may have been committed after this transaction's
 * snapshot. Then the two transactions cannot be ordered, and this one has to
 * run again.
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

static int
compare_earlier(const void *a, const void *b, void *at)
{
	const Earlier *left = a;
	const Earlier *right = b;
	int order = simdup_arrival_compare_keys(at, left->key, right->key);

	if (order != 0 || left->fp == right->fp)
		return order;
	return left->fp < right->fp ? -1 : 1;
}

/* List the rows of n candidates as they were before a command. */
static int64
list_earlier(Searching *s, const Candidate *candidates, int64 n,
			 Earlier *earlier)
{
	ArrivalTrigger *at = s->search->at;
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	SnapshotData before = *s->search->snapshot;
	int64 n_earlier = 0;

	before.curcid = s->search->row->since;
	for (int64 i = 0; i < n; i++)
	{
		Reading *reading = &s->readings[candidates[i].reading];
		bool is_null = true;
		Datum key = 0;

		CHECK_FOR_INTERRUPTS();
		reading->scan->xs_heaptid = candidates[i].tid;
		reading->scan->xs_snapshot = &before;
		if (index_fetch_heap(reading->scan, reading->slot))
			key =
				slot_getattr(reading->slot,
							 at->targets[candidates[i].reading].key, &is_null);
		reading->scan->xs_snapshot = s->search->snapshot;
		if (!is_null)
			earlier[n_earlier++] =
				(Earlier){datumCopy(key, att->attbyval, att->attlen),
						  candidates[i].fp, reading->slot->tts_tid};
	}
	qsort_arg(earlier, n_earlier, sizeof(Earlier), compare_earlier, at);
	return n_earlier;
}

/* Check whether two versions of a row have equal bytes in all columns. */
static bool
are_equal_versions(Relation heap, ItemPointerData a, ItemPointerData b)
{
	TupleDesc desc = RelationGetDescr(heap);
	TupleTableSlot *left = table_slot_create(heap, NULL);
	TupleTableSlot *right = table_slot_create(heap, NULL);
	HeapTuple x = NULL;
	HeapTuple y = NULL;
	bool equal = table_tuple_fetch_row_version(heap, &a, SnapshotAny, left) &&
				 table_tuple_fetch_row_version(heap, &b, SnapshotAny, right);

	if (equal)
	{
		x = ExecFetchSlotHeapTuple(left, false, NULL);
		y = ExecFetchSlotHeapTuple(right, false, NULL);
	}
	for (int i = 1; equal && i <= desc->natts; i++)
		equal = simdup_arrival_has_equal_column(desc, i, x, y);
	ExecDropSingleTupleTableSlot(left);
	ExecDropSingleTupleTableSlot(right);
	return equal;
}

/*
 * Remove the rows that were passed over, because they belong to an event of
 * their own. A row that had its fingerprint before has no such event: an UPDATE
 * changed something else. With a condition, it must have changed nothing. Return
 * the number of rows left.
 */
static int64
remove_passed(Searching *s, const Candidate *candidates, int64 n,
			  ArrivalFound *found, int64 n_found)
{
	Earlier *earlier = palloc_extended(n * sizeof(Earlier), MCXT_ALLOC_HUGE);
	int64 n_earlier = list_earlier(s, candidates, n, earlier);
	int64 n_left = 0;

	for (int64 i = 0; i < n_found; i++)
	{
		Earlier row = {.key = found[i].key, .fp = found[i].fp};
		const Earlier *was = NULL;

		if (found[i].passed && !found[i].key_isnull)
			was = bsearch_arg(&row, earlier, n_earlier, sizeof(Earlier),
							  compare_earlier, s->search->at);
		if (!found[i].passed ||
			(was != NULL &&
			 (s->search->at->condition == NULL ||
			  are_equal_versions(found[i].heap, was->tid, found[i].tid))))
			found[n_left++] = found[i];
	}
	pfree(earlier);
	return n_left;
}

/*
 * Report the rows of n candidates at one distance that count, in the order of
 * their keys. Return whether that is enough.
 */
static bool
report_rows(Searching *s, const Candidate *candidates, int64 n)
{
	ArrivalSearch *search = s->search;
	ArrivalTrigger *at = search->at;
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	ArrivalFound *found =
		palloc_extended(n * sizeof(ArrivalFound), MCXT_ALLOC_HUGE);
	int64 n_found = 0;
	bool any_passed = false;

	for (int64 i = 0; i < n; i++)
	{
		ArrivalFound *row = &found[n_found];

		CHECK_FOR_INTERRUPTS();
		if (!read_row(s, &candidates[i], row))
			continue;
		row->passed = search->passes != NULL && search->passes(search, row);
		if (row->passed && !(search->row->knows_events && row->is_update))
			continue;
		any_passed |= row->passed;
		if (!row->key_isnull)
			row->key = datumCopy(row->key, att->attbyval, att->attlen);
		n_found++;
	}
	if (any_passed)
		n_found = remove_passed(s, candidates, n, found, n_found);
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
simdup_arrival_search(ArrivalTrigger *at, const ArrivalRow *row, bool tells,
					  ArrivalReceiver passes, ArrivalReceiver receive,
					  void *arg)
{
	ArrivalSearch search = {.at = at,
							.row = row,
							.tells = tells,
							.passes = passes,
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
