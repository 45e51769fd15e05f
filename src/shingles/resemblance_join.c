/*
 * resemblance_join.c
 *	  shingle_pairs: document 002's steps, each on a tuplesort.
 *
 * 1. The shingles of each document, a set.
 * 2. One list of (shingle, document), sorted.
 * 3. Documents on the same shingle are pairs of documents, each once.
 * 4. Pairs above the threshold, and their connected components.
 *
 * A shingle of n documents gives n (n - 1) / 2 pairs, and the common ones
 * would give nearly all pairs there are. They are not needed: two sets of
 * resemblance t share t of the larger at least, so of each set the rarest
 * |A| - ceil(t |A|) + 1 shingles suffice to meet (the prefix filter of
 * Chaudhuri, Ganti and Kaushik 2006). Between steps 2 and 3 the list is
 * therefore sorted once more, by document and rarity, and only those go on.
 * Candidates that met on enough of them are then compared set by set, so
 * what is reported is exact.
 *
 * What is too common even so belongs to that many near documents: such
 * shingles are left out beyond max_documents, which is told.
 */
#include "postgres.h"

#include "compat.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "server/arguments.h"
#include "server/result.h"
#include "core/unionfind.h"
#include "shingles/documents.h"

#include <math.h>

typedef struct PairSearch
{
	SimdupDocuments *documents;
	double min_resemblance;
	uint32 max_documents;
	int64 n_left_out; /* shingles */
	uint32 *left_out; /* by document, of its rarest ones */

	/* lists of two bigints; two are in use at a time */
	TupleDesc columns;
	TupleTableSlot *slot;	   /* of what goes into them */
	Tuplesortstate *list;	   /* (shingle, document) */
	Tuplesortstate *by_rarity; /* (document << 32 | documents, shingle) */
	Tuplesortstate *rarest;	   /* (shingle, document) */
	Tuplesortstate *pairs;	   /* a << 32 | b */

	SimdupTempFile *found; /* of FoundPair */
	int64 n_found;
	uint32 *parent; /* components */
} PairSearch;

typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	uint32 common;
} FoundPair;

/* Entries of a list that agree in the first column. */
typedef struct Run
{
	uint64 first;
	uint64 *seconds;
	uint64 n;
	uint64 size;
} Run;

typedef void (*RunSink)(PairSearch *search, const Run *run);

static void
begin_columns(PairSearch *search)
{
	search->columns = CreateTemplateTupleDesc(2);
	TupleDescInitEntry(search->columns, 1, "first", INT8OID, -1, 0);
	TupleDescInitEntry(search->columns, 2, "second", INT8OID, -1, 0);
	SIMDUP_TUPLEDESC_DONE(search->columns);
	search->slot = MakeSingleTupleTableSlot(search->columns, &TTSOpsVirtual);
}

static Tuplesortstate *
begin_list(const PairSearch *search)
{
	AttrNumber attributes[2] = {1, 2};
	Oid operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid collations[2] = {InvalidOid, InvalidOid};
	bool nulls_first[2] = {false, false};

	return tuplesort_begin_heap(search->columns, 2, attributes, operators,
								collations, nulls_first,
								maintenance_work_mem / 2, NULL, 0);
}

static void
put_entry(const PairSearch *search, Tuplesortstate *list, uint64 first,
		  uint64 second)
{
	TupleTableSlot *slot = search->slot;

	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) first);
	slot->tts_values[1] = Int64GetDatum((int64) second);
	slot->tts_isnull[0] = false;
	slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(list, slot);
}

/* The next entry of a sorted list; false at its end. */
static bool
get_entry(Tuplesortstate *list, TupleTableSlot *slot, uint64 *first,
		  uint64 *second)
{
	bool isnull;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(list, true, false, slot, NULL))
		return false;
	*first = (uint64) DatumGetInt64(slot_getattr(slot, 1, &isnull));
	*second = (uint64) DatumGetInt64(slot_getattr(slot, 2, &isnull));
	return true;
}

/* A SimdupDocumentSink: step 2's list. */
static void
list_shingles(void *arg, uint32 number, const SimdupHashes *set)
{
	PairSearch *search = arg;

	for (size_t i = 0; i < set->n; i++)
		put_entry(search, search->list, set->hashes[i], number);
}

static void
add_to_run(Run *run, uint64 second)
{
	if (run->n == run->size)
	{
		run->size *= 2;
		run->seconds = repalloc_huge(run->seconds, run->size * sizeof(uint64));
	}
	run->seconds[run->n++] = second;
}

/* Sort a list, hand on its runs, and end it. */
static void
walk_list(PairSearch *search, Tuplesortstate *list, RunSink sink)
{
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(search->columns, &TTSOpsMinimalTuple);
	Run run = {.size = 64};
	uint64 first;
	uint64 second;

	run.seconds = palloc(run.size * sizeof(uint64));
	tuplesort_performsort(list);
	while (get_entry(list, slot, &first, &second))
	{
		if (run.n > 0 && first != run.first)
		{
			sink(search, &run);
			run.n = 0;
		}
		run.first = first;
		add_to_run(&run, second);
	}
	if (run.n > 0)
		sink(search, &run);
	pfree(run.seconds);
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(list);
}

/* A RunSink: a shingle's documents learn how many they are. */
static void
put_rarity(PairSearch *search, const Run *shingle)
{
	for (uint64 i = 0; i < shingle->n; i++)
		put_entry(search, search->by_rarity,
				  shingle->seconds[i] << 32 | shingle->n, shingle->first);
}

/*
 * How many of a document's shingles are common enough not to go on: one less
 * than it must share. Rounding makes it one too few rather than too many.
 */
static double
count_common(const PairSearch *search, uint64 document)
{
	double size = search->documents->sizes[document];

	return ceil(size * search->min_resemblance * (1 - 1e-9)) - 1;
}

/*
 * Of each document those of the rarest shingles go on that a near document
 * cannot do without. Rarity has one order for all: fewer documents first, then
 * by hash. A shingle of one document counts, but need not go on.
 */
static void
keep_rarest(PairSearch *search)
{
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(search->columns, &TTSOpsMinimalTuple);
	uint64 document = PG_UINT64_MAX;
	double left = 0;
	uint64 first;
	uint64 shingle;

	tuplesort_performsort(search->by_rarity);
	while (get_entry(search->by_rarity, slot, &first, &shingle))
	{
		if (first >> 32 != document)
		{
			document = first >> 32;
			left = search->documents->sizes[document] -
				   count_common(search, document);
		}
		if (left >= 1 && (first & PG_UINT32_MAX) > 1)
			put_entry(search, search->rarest, shingle, document);
		left--;
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(search->by_rarity);
}

/* A RunSink: the documents of one shingle; sizes alone rule some pairs out. */
static void
put_pairs(PairSearch *search, const Run *shingle)
{
	const uint32 *sizes = search->documents->sizes;

	if (shingle->n > search->max_documents)
	{
		search->n_left_out++;
		for (uint64 i = 0; i < shingle->n; i++)
			search->left_out[shingle->seconds[i]]++;
		return;
	}
	for (uint64 i = 0; i < shingle->n; i++)
	{
		uint64 a = shingle->seconds[i];

		CHECK_FOR_INTERRUPTS();
		for (uint64 j = i + 1; j < shingle->n; j++)
		{
			uint64 b = shingle->seconds[j];
			double smaller = Min(sizes[a], sizes[b]);
			double larger = Max(sizes[a], sizes[b]);

			if (smaller / larger >= search->min_resemblance)
				tuplesort_putdatum(search->pairs,
								   Int64GetDatum((int64) (a << 32 | b)), false);
		}
	}
}

/*
 * Could two documents that met on so many shingles be near? Of the one whose
 * rarest shingles end first in the order of rarity, the others have met all
 * they can; so what is shared is what met, or was left out, and at most all
 * that did not go on.
 */
static bool
may_be_near(const PairSearch *search, uint32 a, uint32 b, double met)
{
	const uint32 *sizes = search->documents->sizes;
	double most = met + Min(search->left_out[a], search->left_out[b]) +
				  Max(count_common(search, a), count_common(search, b));
	double sum = (double) sizes[a] + sizes[b];

	return most >= (sum - most) * search->min_resemblance * (1 - 1e-9);
}

/* A candidate: the sets themselves decide. */
static void
judge_pair(PairSearch *search, uint32 a, uint32 b, double met)
{
	const SimdupHashes *set_a;
	const SimdupHashes *set_b;
	size_t common;
	FoundPair pair = {a, b, 0};

	if (!may_be_near(search, a, b, met))
		return;
	set_a = simdup_document_set(search->documents, a, 0);
	set_b = simdup_document_set(search->documents, b, 1);
	common =
		simdup_hashes_common(set_a->hashes, set_a->n, set_b->hashes, set_b->n);
	if ((double) common / (double) (set_a->n + set_b->n - common) <
		search->min_resemblance)
		return;
	pair.common = (uint32) common;
	simdup_tempfile_append(search->found, &pair, sizeof(pair));
	search->n_found++;
	simdup_components_join(search->parent, a, b);
}

/* Step 4: each candidate once, with the shingles that it met on. */
static void
judge_pairs(PairSearch *search)
{
	uint64 pair = 0;
	double met = 0;
	Datum value;
	bool isnull;
	bool more;

	tuplesort_performsort(search->pairs);
	do
	{
		CHECK_FOR_INTERRUPTS();
		more = simdup_tuplesort_getdatum(search->pairs, &value, &isnull);
		if (met > 0 && (!more || (uint64) DatumGetInt64(value) != pair))
		{
			judge_pair(search, (uint32) (pair >> 32), (uint32) pair, met);
			met = 0;
		}
		if (more)
		{
			pair = (uint64) DatumGetInt64(value);
			met++;
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
		Datum values[5];
		bool nulls[5] = {false, false, false, false, false};
		uint32 sum;

		CHECK_FOR_INTERRUPTS();
		simdup_tempfile_read(search->found, i * (int64) sizeof(pair), &pair,
							 sizeof(pair));
		sum = documents->sizes[pair.a] + documents->sizes[pair.b];
		values[0] = simdup_keys_get(documents->keys, pair.a, 0);
		values[1] = simdup_keys_get(documents->keys, pair.b, 1);
		values[2] = Int32GetDatum((int32) pair.common);
		values[3] =
			Float8GetDatum((double) pair.common / (double) (sum - pair.common));
		values[4] =
			simdup_keys_get(documents->keys,
							simdup_component_root(search->parent, pair.a), 2);
		simdup_put_result(result, values, nulls);
	}
}

static void
report_left_out(const PairSearch *search)
{
	if (search->n_left_out > 0)
		ereport(NOTICE,
				errmsg("%lld shingles were left out of the search",
					   (long long) search->n_left_out),
				errdetail("Each is among the rarest of more than %u documents; "
						  "pairs that share none but such are not found.",
						  search->max_documents),
				errhint("Raise max_documents to find them too."));
}

static void
find_pairs(PairSearch *search)
{
	Size n = (Size) search->documents->n + 1;

	search->parent =
		MemoryContextAllocHuge(search->documents->context, n * sizeof(uint32));
	search->left_out =
		MemoryContextAllocExtended(search->documents->context,
								   n * sizeof(uint32),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	simdup_components_init(search->parent, search->documents->n);
	search->found = simdup_tempfile_create();
	search->by_rarity = begin_list(search);
	walk_list(search, search->list, put_rarity);
	search->rarest = begin_list(search);
	keep_rarest(search);
	search->pairs =
		tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
							  maintenance_work_mem / 2, NULL, 0);
	walk_list(search, search->rarest, put_pairs);
	judge_pairs(search);
}

PG_FUNCTION_INFO_V1(simdup_shingle_pairs);
Datum
simdup_shingle_pairs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	PairSearch search = {0};
	SimdupShingling shingling;
	int32 max_documents;

	if (simdup_has_null(fcinfo, 5))
		return (Datum) 0;
	shingling = simdup_get_shingling(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(3));
	max_documents = PG_GETARG_INT32(4);
	if (max_documents < 2 || max_documents > 1000000)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_documents must be between 2 and 1000000"),
				errdetail("The number given is %d.", max_documents));
	search.min_resemblance = simdup_check_min_resemblance(PG_GETARG_FLOAT8(2));
	search.max_documents = (uint32) max_documents;
	begin_columns(&search);
	search.list = begin_list(&search);
	search.documents = simdup_read_documents(fcinfo, 5, shingling, false,
											 list_shingles, &search);
	find_pairs(&search);
	put_results(&search, result);
	simdup_tempfile_close(search.found);
	ExecDropSingleTupleTableSlot(search.slot);
	simdup_documents_end(search.documents);
	report_left_out(&search);
	return (Datum) 0;
}
