/*
 * pairs.c
 *	  shingle_pairs: document 002's four steps.
 *
 * 1. The shingles of each document, a set.
 * 2. One list of (shingle, document), sorted by a tuplesort.
 * 3. Each shingle's documents give pairs of documents; sorted by another
 *	  tuplesort, their runs are the counts of common shingles.
 * 4. Pairs above the threshold, and their connected components.
 *
 * A shingle of n documents gives n (n - 1) / 2 pairs, so those in too many
 * documents are left out of step 3. A pair that shares none but such shingles
 * is lost, which is told; for every other pair the count is a lower bound, and
 * where left-out shingles could lift it above the threshold the two sets
 * themselves are compared: what is reported is exact.
 */
#include "postgres.h"

#include "compat.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "batch/output.h"
#include "core/unionfind.h"
#include "methods/documents.h"

typedef struct PairSearch
{
	SimdupDocuments *documents;
	double           min_resemblance;
	uint32           max_documents;

	Tuplesortstate *list; /* (shingle, document) */
	TupleTableSlot *list_slot;
	Tuplesortstate *pairs;    /* a << 32 | b, once for each common shingle */
	uint32         *left_out; /* by document: shingles in too many documents */
	int64           n_left_out;

	SimdupTempFile *found; /* of FoundPair */
	int64           n_found;
	uint32         *parent; /* components */
} PairSearch;

typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	uint32 common;
} FoundPair;

static void
begin_list(PairSearch *search)
{
	TupleDesc  columns = CreateTemplateTupleDesc(2);
	AttrNumber attributes[2] = {1, 2};
	Oid        operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid        collations[2] = {InvalidOid, InvalidOid};
	bool       nulls_first[2] = {false, false};

	TupleDescInitEntry(columns, 1, "shingle", INT8OID, -1, 0);
	TupleDescInitEntry(columns, 2, "document", INT8OID, -1, 0);
	search->list_slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
	search->list =
		tuplesort_begin_heap(columns, 2, attributes, operators, collations,
							 nulls_first, maintenance_work_mem / 2, NULL, 0);
}

/* A SimdupDocumentSink: step 2's list. */
static void
list_shingles(void *arg, uint32 number, const SimdupHashes *set)
{
	PairSearch     *search = arg;
	TupleTableSlot *slot = search->list_slot;

	for (size_t i = 0; i < set->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		slot->tts_values[0] = Int64GetDatum((int64) set->hashes[i]);
		slot->tts_values[1] = Int64GetDatum((int64) number);
		slot->tts_isnull[0] = false;
		slot->tts_isnull[1] = false;
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(search->list, slot);
	}
}

/* Pairs of one shingle's documents; sizes alone rule some out. */
static void
put_pairs(PairSearch *search, const uint32 *numbers, uint32 n)
{
	const uint32 *sizes = search->documents->sizes;

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 j = i + 1; j < n; j++)
		{
			uint32 a = numbers[i];
			uint32 b = numbers[j];
			double smaller = Min(sizes[a], sizes[b]);
			double larger = Max(sizes[a], sizes[b]);

			if (smaller / larger >= search->min_resemblance)
				tuplesort_putdatum(search->pairs,
								   Int64GetDatum(
									   (int64) ((uint64) a << 32 | b)),
								   false);
		}
	}
}

/* Step 3's first half: walk the sorted list, shingle by shingle. */
static void
pair_documents(PairSearch *search)
{
	TupleDesc       columns = search->list_slot->tts_tupleDescriptor;
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
	uint32 *numbers = palloc((Size) search->max_documents * sizeof(uint32));
	uint64  n = 0;
	int64   shingle = 0;
	bool    more;

	tuplesort_performsort(search->list);
	do
	{
		bool  isnull;
		int64 next = 0;

		more = tuplesort_gettupleslot(search->list, true, false, slot, NULL);
		if (more)
			next = DatumGetInt64(slot_getattr(slot, 1, &isnull));
		if (n > 0 && (!more || next != shingle))
		{
			if (n <= search->max_documents)
				put_pairs(search, numbers, (uint32) n);
			n = 0;
		}
		if (more)
		{
			uint32 number =
				(uint32) DatumGetInt64(slot_getattr(slot, 2, &isnull));

			shingle = next;
			if (n < search->max_documents)
				numbers[n] = number;
			else
			{
				/* one too many: all of them count as left out */
				for (uint64 i = 0; n == search->max_documents && i < n; i++)
					search->left_out[numbers[i]]++;
				search->n_left_out += n == search->max_documents;
				search->left_out[number]++;
			}
			n++;
		}
	} while (more);
	pfree(numbers);
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(search->list);
	ExecDropSingleTupleTableSlot(search->list_slot);
}

/* One pair and its count: the exact one, where the pair is near enough. */
static void
judge_pair(PairSearch *search, uint32 a, uint32 b, uint32 common)
{
	uint32    sum = search->documents->sizes[a] + search->documents->sizes[b];
	uint32    hidden = Min(search->left_out[a], search->left_out[b]);
	uint32    most = common + hidden;
	FoundPair pair = {a, b, common};

	if ((double) most / (double) (sum - most) < search->min_resemblance)
		return;
	if (hidden > 0)
	{
		const SimdupHashes *set_a =
			simdup_document_set(search->documents, a, 0);
		const SimdupHashes *set_b =
			simdup_document_set(search->documents, b, 1);

		pair.common = (uint32) simdup_hashes_common(set_a->hashes, set_a->n,
													set_b->hashes, set_b->n);
		if ((double) pair.common / (double) (sum - pair.common) <
			search->min_resemblance)
			return;
	}
	simdup_tempfile_append(search->found, &pair, sizeof(pair));
	search->n_found++;
	simdup_components_join(search->parent, a, b);
}

/* Step 3's second half, and step 4. */
static void
count_pairs(PairSearch *search)
{
	uint64 pair = 0;
	uint32 common = 0;
	Datum  value;
	bool   isnull;
	bool   more;

	tuplesort_performsort(search->pairs);
	do
	{
		CHECK_FOR_INTERRUPTS();
		more = simdup_tuplesort_getdatum(search->pairs, &value, &isnull);
		if (common > 0 && (!more || (uint64) DatumGetInt64(value) != pair))
		{
			judge_pair(search, (uint32) (pair >> 32), (uint32) pair, common);
			common = 0;
		}
		if (more)
		{
			pair = (uint64) DatumGetInt64(value);
			common++;
		}
	} while (more);
	tuplesort_end(search->pairs);
}

static void
put_results(PairSearch *search, ReturnSetInfo *result)
{
	SimdupDocuments *documents = search->documents;

	for (int64 i = 0; i < search->n_found; i++)
	{
		FoundPair pair;
		Datum     values[5];
		bool      nulls[5] = {false, false, false, false, false};
		uint32    sum;

		simdup_tempfile_read(search->found, i * (int64) sizeof(pair), &pair,
							 sizeof(pair));
		sum = documents->sizes[pair.a] + documents->sizes[pair.b];
		values[0] = documents->keys[pair.a];
		values[1] = documents->keys[pair.b];
		values[2] = Int32GetDatum((int32) pair.common);
		values[3] =
			Float8GetDatum((double) pair.common / (double) (sum - pair.common));
		values[4] =
			documents->keys[simdup_component_root(search->parent, pair.a)];
		simdup_put_result(result, values, nulls);
	}
}

static void
report_left_out(const PairSearch *search)
{
	if (search->n_left_out > 0)
		ereport(NOTICE,
				(errmsg("%lld shingles are in more than %u documents and were "
						"left out of the search",
						(long long) search->n_left_out, search->max_documents),
				 errdetail("Pairs that share none but such shingles are not "
						   "found."),
				 errhint("Raise max_documents to find them too.")));
}

PG_FUNCTION_INFO_V1(simdup_shingle_pairs);
Datum
simdup_shingle_pairs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo  *result = simdup_begin_result(fcinfo);
	PairSearch      search = {0};
	SimdupShingling shingling;
	int32           max_documents;

	if (simdup_has_null(fcinfo, 5))
		return (Datum) 0;
	shingling = simdup_get_shingling(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(3));
	max_documents = PG_GETARG_INT32(4);
	if (max_documents < 2 || max_documents > 1000000)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("max_documents must be between 2 and 1000000"),
						errdetail("The number given is %d.", max_documents)));
	search.min_resemblance = simdup_check_min_resemblance(PG_GETARG_FLOAT8(2));
	search.max_documents = (uint32) max_documents;
	begin_list(&search);
	search.documents = simdup_read_documents(fcinfo, 5, shingling, false,
											 list_shingles, &search);
	search.left_out =
		MemoryContextAllocExtended(search.documents->context,
								   ((Size) search.documents->n + 1) *
									   sizeof(uint32),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	search.parent = MemoryContextAllocHuge(search.documents->context,
										   ((Size) search.documents->n + 1) *
											   sizeof(uint32));
	simdup_components_init(search.parent, search.documents->n);
	search.found = simdup_tempfile_create();
	search.pairs =
		tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
							  maintenance_work_mem / 2, NULL, 0);
	pair_documents(&search);
	count_pairs(&search);
	put_results(&search, result);
	simdup_tempfile_close(search.found);
	simdup_documents_end(search.documents);
	report_left_out(&search);
	return (Datum) 0;
}
