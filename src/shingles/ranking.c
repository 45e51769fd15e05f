/*
 * ranking.c
 *	  Shingle sets as ranks of rarity, on disk.
 *
 * 1. All pairs of shingle and set, sorted, bring the sets of each shingle
 *	  together. They go to a file, and a histogram counts how many shingles
 *	  have how many sets.
 * 2. The histogram gives the first rank of each number of sets. Read again,
 *	  the file gives pairs of set and rank, which are sorted.
 *
 * A document then takes 4 bytes a shingle where its hash took 8, and two sets
 * are compared in the order that lets their comparison end early.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/allpairs.h"
#include "server/session.h"
#include "server/spill.h"
#include "shingles/ranking.h"

#define NO_SET PG_UINT32_MAX

/* The sets of each shingle that two sets or more have. */
typedef struct ShingleLists
{
	SimdupTempFile *file; /* for each shingle: number of sets, sets */
	int64 size;			  /* of the file */
	uint64 n_entries;	  /* sets in it */
	uint32 *sets;		  /* of one shingle */
	uint32 n;
	uint64 *counts; /* shingles by number of sets */
} ShingleLists;

static void *
alloc_array(uint32 n, Size width)
{
	return MemoryContextAllocExtended(CurrentMemoryContext,
									  ((Size) n + 1) * width,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Pairs of shingle and set; sets are read in the order of the file. */
static SimdupPairSort *
sort_shingles(const SimdupDistinctSets *sets, int memory_kb)
{
	SimdupPairSort *sort = simdup_pairsort_begin(memory_kb);
	SimdupDocuments *documents = sets->documents;
	uint32 *set_of = alloc_array(documents->n, sizeof(uint32));

	simdup_progress_phase("sorting shingles", documents->n);
	for (uint32 i = 0; i < documents->n; i++)
		set_of[i] = NO_SET;
	for (uint32 i = 0; i < sets->n; i++)
		set_of[sets->members[sets->starts[i]]] = i;
	for (uint32 i = 0; i < documents->n; i++)
	{
		const SimdupHashes *set;

		if (set_of[i] == NO_SET)
			continue;
		set = simdup_document_set(documents, i, 0);
		for (size_t j = 0; j < set->n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, set->hashes[j], set_of[i]);
		}
		simdup_progress_done(i);
	}
	pfree(set_of);
	simdup_pairsort_perform(sort);
	return sort;
}

/* The sets of one shingle are complete. */
static void
end_list(ShingleLists *lists)
{
	if (lists->n > 1)
	{
		simdup_tempfile_append(lists->file, &lists->n, sizeof(uint32));
		simdup_tempfile_append(lists->file, lists->sets,
							   lists->n * sizeof(uint32));
		lists->size += ((int64) lists->n + 1) * (int64) sizeof(uint32);
		lists->n_entries += lists->n;
		lists->counts[lists->n]++;
	}
	lists->n = 0;
}

static void
write_lists(ShingleLists *lists, SimdupPairSort *sort)
{
	uint64 last = 0;
	uint64 shingle;
	uint64 set;

	while (simdup_pairsort_get(sort, &shingle, &set))
	{
		if (shingle != last)
			end_list(lists);
		last = shingle;
		lists->sets[lists->n++] = (uint32) set;
	}
	end_list(lists);
}

/* Turn numbers of shingles into first ranks. */
static void
count_ranks(SimdupRanking *ranking, ShingleLists *lists, uint32 common_sets)
{
	uint64 sum = 0;

	ranking->common_from = PG_UINT32_MAX;
	for (uint32 i = 0; i <= ranking->n_sets; i++)
	{
		uint64 count = lists->counts[i];

		if (i == common_sets)
			ranking->common_from = (uint32) Min(sum, PG_UINT32_MAX);
		lists->counts[i] = sum;
		sum += count;
	}
	if (sum > SIMDUP_MAX_RANKS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many distinct shingles for one call"),
				errdetail("At most %u shingles can occur in two documents or more.",
						  SIMDUP_MAX_RANKS));
	ranking->n_ranks = (uint32) sum;
	ranking->common_from = Min(ranking->common_from, ranking->n_ranks);
}

/* Pairs of set and rank. */
static SimdupPairSort *
sort_ranks(ShingleLists *lists, int memory_kb)
{
	SimdupPairSort *sort = simdup_pairsort_begin(memory_kb);

	simdup_progress_phase("ranking shingles", (int64) lists->n_entries);
	for (int64 offset = 0; offset < lists->size;)
	{
		uint64 rank;

		simdup_tempfile_read(lists->file, offset, &lists->n, sizeof(uint32));
		offset += (int64) sizeof(uint32);
		simdup_tempfile_read(lists->file, offset, lists->sets,
							 lists->n * sizeof(uint32));
		offset += (int64) lists->n * (int64) sizeof(uint32);
		rank = lists->counts[lists->n]++;
		for (uint32 i = 0; i < lists->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, lists->sets[i], rank);
		}
		simdup_progress_done(offset / (int64) sizeof(uint32));
	}
	simdup_pairsort_perform(sort);
	return sort;
}

static void
write_ranks(SimdupRanking *ranking, SimdupPairSort *sort)
{
	uint32 set = 0;
	int64 offset = 0;
	uint64 of_set;
	uint64 value;

	while (simdup_pairsort_get(sort, &of_set, &value))
	{
		uint32 rank = (uint32) value;

		while (set < of_set)
			ranking->offsets[++set] = offset;
		simdup_tempfile_append(ranking->file, &rank, sizeof(rank));
		offset += (int64) sizeof(rank);
		ranking->lengths[set]++;
	}
}

SimdupRanking *
simdup_rank_shingles(const SimdupDistinctSets *sets, uint32 common_sets,
					 int memory_kb)
{
	SimdupRanking *ranking = palloc0(sizeof(SimdupRanking));
	ShingleLists lists = {0};
	SimdupPairSort *shingles = sort_shingles(sets, memory_kb);
	SimdupPairSort *ranks;

	ranking->n_sets = sets->n;
	ranking->lengths = alloc_array(sets->n, sizeof(uint32));
	ranking->offsets = alloc_array(sets->n, sizeof(int64));
	ranking->file = simdup_tempfile_create();
	lists.file = simdup_tempfile_create();
	lists.sets = alloc_array(sets->n, sizeof(uint32));
	lists.counts = alloc_array(sets->n, sizeof(uint64));
	write_lists(&lists, shingles);
	simdup_pairsort_end(shingles);
	count_ranks(ranking, &lists, common_sets);
	ranks = sort_ranks(&lists, memory_kb);
	simdup_tempfile_close(lists.file);
	pfree(lists.sets);
	pfree(lists.counts);
	write_ranks(ranking, ranks);
	simdup_pairsort_end(ranks);
	return ranking;
}

void
simdup_ranking_read(const SimdupRanking *ranking, uint32 set, uint32 *ranks)
{
	simdup_tempfile_read(ranking->file, ranking->offsets[set], ranks,
						 ranking->lengths[set] * sizeof(uint32));
}
