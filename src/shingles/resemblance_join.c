/*
 * resemblance_join.c
 *	  shingle_pairs: all pairs of documents that resemble each other.
 *
 * 1. Read the documents: their shingle sets go to disk.
 * 2. Collapse equal sets into one (shingles/distinct.c).
 * 3. Rank the shingles by rarity (shingles/ranking.c).
 * 4. Join the sets exactly (core/setjoin.c), and expand each pair of sets to
 *	  the pairs of their documents.
 * 5. Sort these pairs, and write them with their connected component.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/allpairs.h"
#include "core/group.h"
#include "server/arguments.h"
#include "server/session.h"
#include "server/spill.h"
#include "shingles/distinct.h"
#include "shingles/documents.h"
#include "shingles/ranking.h"

typedef struct PairSearch
{
	SimdupDocuments *documents;
	SimdupDistinctSets *sets;
	SimdupRanking *ranking;
	SimdupPairSort *pairs; /* (a << 32 | b, common shingles), documents a < b */
	int64 n_pairs;
	uint32 *parent; /* of documents: components */
} PairSearch;

static void
put_pair(PairSearch *search, uint32 x, uint32 y, uint32 common)
{
	uint64 a = Min(x, y);
	uint64 b = Max(x, y);

	CHECK_FOR_INTERRUPTS();
	simdup_pairsort_put(search->pairs, a << 32 | b, common);
	search->n_pairs++;
}

/* A SimdupSetPairSink: all documents of one set with all of the other. */
static void
put_sets(void *arg, uint32_t x, uint32_t y, uint32_t common)
{
	PairSearch *search = arg;
	const SimdupDistinctSets *sets = search->sets;

	for (uint32 i = sets->starts[x]; i < sets->starts[x + 1]; i++)
		for (uint32 j = sets->starts[y]; j < sets->starts[y + 1]; j++)
			put_pair(search, sets->members[i], sets->members[j], common);
	simdup_components_join(search->parent, sets->members[sets->starts[x]],
						   sets->members[sets->starts[y]]);
}

/* The documents of one set with each other. */
static void
put_equal_documents(PairSearch *search, uint32 set)
{
	const SimdupDistinctSets *sets = search->sets;
	uint32 end = sets->starts[set + 1];

	for (uint32 i = sets->starts[set]; i < end; i++)
	{
		for (uint32 j = i + 1; j < end; j++)
			put_pair(search, sets->members[i], sets->members[j],
					 sets->sizes[set]);
		simdup_components_join(search->parent, sets->members[i],
							   sets->members[sets->starts[set]]);
	}
}

/* A SimdupSetReader. */
static void
read_ranks(void *arg, uint32_t set, uint32_t *ranks)
{
	PairSearch *search = arg;

	simdup_ranking_read(search->ranking, set, ranks);
}

/* A SimdupSetProgress. */
static void
show_progress(void *arg pg_attribute_unused(), uint32_t done, uint32_t total)
{
	if (done == 1)
		simdup_progress_phase("joining", total);
	simdup_progress_look(done);
}

/* The join and the sort of its result have half of the memory each. */
static void
find_pairs(PairSearch *search, double min_resemblance)
{
	int half_kb = maintenance_work_mem / 2;
	SimdupSetJoin join = {.read = read_ranks,
						  .sink = put_sets,
						  .progress = show_progress};

	search->sets =
		simdup_distinct_sets(search->documents, maintenance_work_mem);
	search->ranking =
		simdup_rank_shingles(search->sets,
							 simdup_set_join_common(search->sets->n),
							 maintenance_work_mem);
	search->parent = MemoryContextAllocHuge(CurrentMemoryContext,
											((Size) search->documents->n + 1) *
												sizeof(uint32));
	simdup_components_init(search->parent, search->documents->n);
	search->pairs = simdup_pairsort_begin(half_kb);
	for (uint32 i = 0; i < search->sets->n; i++)
		put_equal_documents(search, i);
	join.n = search->sets->n;
	join.sizes = search->sets->sizes;
	join.n_ranks = search->ranking->lengths;
	join.all_ranks = search->ranking->n_ranks;
	join.common_from = search->ranking->common_from;
	join.arg = search;
	simdup_set_join(&join, min_resemblance, (Size) half_kb * 1024);
	simdup_tempfile_close(search->ranking->file);
}

static void
put_results(PairSearch *search, ReturnSetInfo *result)
{
	SimdupDocuments *documents = search->documents;
	uint64 pair;
	uint64 common;
	int64 n = 0;

	simdup_pairsort_perform(search->pairs);
	simdup_progress_phase("writing", search->n_pairs);
	while (simdup_pairsort_get(search->pairs, &pair, &common))
	{
		uint32 a = (uint32) (pair >> 32);
		uint32 b = (uint32) pair;
		uint32 root = simdup_component_root(search->parent, a);
		uint64 sum = (uint64) documents->sizes[a] + documents->sizes[b];
		Datum values[5];
		bool nulls[5] = {false, false, false, false, false};

		values[0] = simdup_keys_get(documents->keys, a, 0);
		values[1] = simdup_keys_get(documents->keys, b, 1);
		values[2] = Int32GetDatum((int32) common);
		values[3] = Float8GetDatum((double) common / (double) (sum - common));
		values[4] = simdup_keys_get(documents->keys, root, 2);
		simdup_put_result(result, values, nulls);
		simdup_progress_done(++n);
	}
	simdup_pairsort_end(search->pairs);
}

PG_FUNCTION_INFO_V1(simdup_shingle_pairs);
/* shingle_pairs(query [, key_type], w, min_resemblance, unit, params) */
Datum
simdup_shingle_pairs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	MemoryContext context;
	MemoryContext old;
	PairSearch search = {0};
	SimdupFoldedShingling shingling;
	double min_resemblance;
	int option = simdup_first_option(fcinfo, 1);

	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option, 3))
		return (Datum) 0;
	shingling = simdup_get_resemblance(PG_GETARG_INT32(option),
									   PG_GETARG_TEXT_PP(option + 2));
	min_resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(option + 1), "min_resemblance");
	context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup shingle pairs",
							  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	simdup_progress_begin("shingle_pairs");
	search.documents = simdup_read_documents(fcinfo, shingling, false);
	find_pairs(&search, min_resemblance);
	put_results(&search, result);
	simdup_documents_end(search.documents);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return (Datum) 0;
}
