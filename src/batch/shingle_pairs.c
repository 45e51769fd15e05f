/*
 * shingle_pairs.c
 *	  shingle_pairs: all pairs of documents of a resemblance.
 *
 * 1. Read the documents: their shingle sets go to disk.
 * 2. Collapse equal sets into one.
 * 3. Rank the shingles by rarity.
 * 4. Join the sets exactly (core/join/setjoin.c), and expand each pair of sets to
 * the pairs of their documents.
 * 5. Sort these pairs, and write them with their connected component.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/rows.h"
#include "core/cluster/components.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/join/setjoin.h"
#include "server/arguments.h"
#include "server/query.h"

typedef struct PairSearch
{
	SimdupRows *rows;	/* the documents */
	uint32 *document_n; /* sizes of their sets; 0: the document is left out */

	/* Distinct sets are numbered from 0 in ascending order of size. */
	uint32 n_sets;
	uint32 *sizes;	 /* by set */
	uint32 *starts;	 /* n_sets + 1 of them */
	uint32 *members; /* set i: documents [starts[i], starts[i + 1]) */

	/*
	 * Each shingle of two sets or more has a rank, from 0; the fewer sets have
	 * it, the lower. A shingle of one set has none.
	 */
	uint32 *n_ranks;	   /* of each set */
	int64 *offsets;		   /* of each set in the file */
	SimdupTempFile *ranks; /* ascending in each set */
	uint32 all_ranks;	   /* number of ranks */
	uint32 common_from;	   /* the first of a shingle that many sets have */

	SimdupPairSort *pairs; /* (a << 32 | b, common shingles), documents a < b */
	int64 n_pairs;
	uint32 *parent; /* of documents: components */
} PairSearch;

static const SimdupHashes *
set_of(const PairSearch *search, uint32 document, int buffer)
{
	return simdup_stored_texts_set(search->rows->contents, document, buffer);
}

static uint32 *
alloc_numbers(Size n)
{
	return simdup_alloc0((n + 1) * sizeof(uint32));
}

/*
 * Documents with equal shingle sets, as one set.
 *
 * Documents are sorted by the size of their sets and by 32 bits of a digest.
 * Sets that agree in both are almost always equal, but only a comparison of
 * all elements counts: hashes of this kind can be forged. A set that differs from
 * the one before begins a new one. Two numbers of one set do no harm: the join finds
 * their pairs.
 */

/* Check whether a document has the last set. */
static bool
has_last_set(const PairSearch *search, uint32 document)
{
	uint32 last = search->members[search->starts[search->n_sets - 1]];
	const SimdupHashes *x = set_of(search, last, 0);
	const SimdupHashes *y = set_of(search, document, 1);

	return x->n == y->n &&
		   memcmp(x->hashes, y->hashes, x->n * sizeof(uint64)) == 0;
}

/* Find the distinct sets. They take 16 bytes for each document. */
static void
find_distinct_sets(PairSearch *search)
{
	uint32 n_documents = search->rows->n;
	SimdupPairSort *sort = simdup_pairsort_begin(maintenance_work_mem);
	uint64 last_key = 0;
	uint64 key;
	uint64 number;
	uint32 n = 0;

	search->document_n = alloc_numbers(n_documents);
	search->sizes = alloc_numbers(n_documents);
	search->starts = alloc_numbers(n_documents);
	search->members = alloc_numbers(n_documents);
	simdup_progress_phase("making shingles", n_documents);
	for (uint32 i = 0; i < n_documents; i++)
	{
		const SimdupHashes *set = set_of(search, i, 0);
		uint64 digest = 0;

		CHECK_FOR_INTERRUPTS();
		search->document_n[i] = (uint32) set->n;
		for (size_t j = 0; j < set->n; j++)
			digest = simdup_mix64(digest ^ set->hashes[j]);
		if (set->n > 0)
			simdup_pairsort_put(sort, (uint64) set->n << 32 | (uint32) digest,
								i);
		simdup_progress_done(i);
	}
	simdup_pairsort_perform(sort);
	while (simdup_pairsort_get(sort, &key, &number))
	{
		CHECK_FOR_INTERRUPTS();
		if (key != last_key || !has_last_set(search, (uint32) number))
		{
			search->sizes[search->n_sets] = (uint32) (key >> 32);
			search->starts[search->n_sets++] = n;
		}
		last_key = key;
		search->members[n++] = (uint32) number;
	}
	search->starts[search->n_sets] = n;
	simdup_pairsort_end(sort);
}

/*
 * Shingle sets as ranks of rarity, on disk.
 *
 * 1. All pairs of shingle and set, sorted, bring the sets of each shingle
 * together. They go to a file, and a histogram counts how many shingles
 * have how many sets.
 * 2. The histogram gives the first rank of each number of sets. Read again,
 * the file gives pairs of set and rank, which are sorted.
 *
 * A document then takes 4 bytes a shingle where its hash took 8, and two sets
 * are compared in the order that lets their comparison end early.
 */

/* The sets of each shingle that two sets or more have. */
typedef struct ShingleSets
{
	SimdupTempFile *file; /* for each shingle: number of sets, sets */
	int64 size;			  /* of the file */
	uint32 *sets;		  /* of one shingle */
	uint32 n;
	uint64 *counts; /* shingles by number of sets, then their next rank */
} ShingleSets;

/* End the list of sets of one shingle. */
static void
end_list(ShingleSets *lists)
{
	if (lists->n > 1)
	{
		simdup_tempfile_append(lists->file, &lists->n, sizeof(uint32));
		simdup_tempfile_append(lists->file, lists->sets,
							   lists->n * sizeof(uint32));
		lists->size += ((int64) lists->n + 1) * (int64) sizeof(uint32);
		lists->counts[lists->n]++;
	}
	lists->n = 0;
}

/*
 * List the sets of each shingle in the file, from sorted pairs of shingle and set.
 * Sets are read in the order of documents.
 */
static void
write_lists(const PairSearch *search, ShingleSets *lists)
{
	SimdupPairSort *sort = simdup_pairsort_begin(maintenance_work_mem);
	uint32 n = search->rows->n;
	uint32 *set_at = alloc_numbers(n); /* 0: none, or one number higher */
	uint64 last = 0;
	uint64 shingle;
	uint64 set;

	simdup_progress_phase("sorting shingles", n);
	for (uint32 i = 0; i < search->n_sets; i++)
		set_at[search->members[search->starts[i]]] = i + 1;
	for (uint32 i = 0; i < n; i++)
	{
		const SimdupHashes *shingles =
			set_at[i] == 0 ? NULL : set_of(search, i, 0);

		for (size_t j = 0; shingles != NULL && j < shingles->n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, shingles->hashes[j], set_at[i] - 1);
		}
		simdup_progress_done(i);
	}
	simdup_free(set_at);
	simdup_pairsort_perform(sort);
	while (simdup_pairsort_get(sort, &shingle, &set))
	{
		if (shingle != last)
			end_list(lists);
		last = shingle;
		lists->sets[lists->n++] = (uint32) set;
	}
	end_list(lists);
	simdup_pairsort_end(sort);
}

/* Turn numbers of shingles into first ranks. */
static void
count_ranks(PairSearch *search, uint64 *counts)
{
	uint32 common_sets = simdup_set_join_common(search->n_sets);
	uint64 sum = 0;

	search->common_from = PG_UINT32_MAX;
	for (uint32 i = 0; i <= search->n_sets; i++)
	{
		uint64 count = counts[i];

		if (i == common_sets)
			search->common_from = (uint32) Min(sum, PG_UINT32_MAX);
		counts[i] = sum;
		sum += count;
	}
	if (sum > SIMDUP_MAX_RANKS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many distinct shingles for one call"),
				errdetail("At most %u shingles can occur in two documents or more.",
						  SIMDUP_MAX_RANKS));
	search->all_ranks = (uint32) sum;
	search->common_from = Min(search->common_from, search->all_ranks);
}

/* Sort pairs of set and rank. */
static SimdupPairSort *
sort_ranks(ShingleSets *lists)
{
	SimdupPairSort *sort = simdup_pairsort_begin(maintenance_work_mem);
	const int64 width = sizeof(uint32);

	simdup_progress_phase("ranking shingles", lists->size / width);
	for (int64 offset = 0; offset < lists->size;)
	{
		uint64 rank;

		simdup_tempfile_read(lists->file, offset, &lists->n, sizeof(uint32));
		simdup_tempfile_read(lists->file, offset + width, lists->sets,
							 lists->n * sizeof(uint32));
		offset += (1 + (int64) lists->n) * width;
		rank = lists->counts[lists->n]++;
		for (uint32 i = 0; i < lists->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, lists->sets[i], rank);
		}
		simdup_progress_done(offset / width);
	}
	simdup_pairsort_perform(sort);
	return sort;
}

/* Rank the shingles of the sets. */
static void
rank_shingles(PairSearch *search)
{
	uint32 n = search->n_sets;
	ShingleSets lists = {.file = simdup_tempfile_create(),
						 .sets = alloc_numbers(n)};
	SimdupPairSort *sort;
	uint64 set;
	uint64 value;

	lists.counts = simdup_alloc0(((Size) n + 1) * sizeof(uint64));
	write_lists(search, &lists);
	count_ranks(search, lists.counts);
	sort = sort_ranks(&lists);
	simdup_tempfile_close(lists.file);
	simdup_free(lists.sets);
	simdup_free(lists.counts);

	search->n_ranks = alloc_numbers(n);
	search->offsets = simdup_alloc0(((Size) n + 1) * sizeof(int64));
	search->ranks = simdup_tempfile_create();
	while (simdup_pairsort_get(sort, &set, &value))
	{
		uint32 rank = (uint32) value;
		int64 offset =
			simdup_tempfile_append(search->ranks, &rank, sizeof(rank));

		if (search->n_ranks[set]++ == 0)
			search->offsets[set] = offset;
	}
	simdup_pairsort_end(sort);
}

/*
 * The join
 */

/*
 * Put all documents of one set with those of the other, or of one set with each
 * other: a SimdupSetPairSink.
 */
static void
put_sets(void *arg, uint32_t x, uint32_t y, uint32_t common)
{
	PairSearch *search = arg;
	const uint32 *starts = search->starts;
	const uint32 *members = search->members;

	for (uint32 i = starts[x]; i < starts[x + 1]; i++)
	{
		for (uint32 j = x == y ? i + 1 : starts[y]; j < starts[y + 1]; j++)
		{
			uint64 a = Min(members[i], members[j]);
			uint64 b = Max(members[i], members[j]);

			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(search->pairs, a << 32 | b, common);
			search->n_pairs++;
		}
		simdup_components_join(search->parent, members[i], members[starts[y]]);
	}
}

/* Read ranks: a SimdupSetReader. */
static void
read_ranks(void *arg, uint32_t set, uint32_t *ranks)
{
	PairSearch *search = arg;

	simdup_tempfile_read(search->ranks, search->offsets[set], ranks,
						 search->n_ranks[set] * sizeof(uint32));
}

/* Show the progress: a SimdupSetProgress. */
static void
show_progress(void *arg pg_attribute_unused(), uint32_t done, uint32_t total)
{
	if (done == 1)
		simdup_progress_phase("joining", total);
	simdup_progress_look(done);
}

/* Find the pairs. The join and the sort of its result share the memory. */
static void
find_pairs(PairSearch *search)
{
	int half_kb = maintenance_work_mem / 2;
	SimdupSetJoin join = {.n = search->n_sets,
						  .sizes = search->sizes,
						  .n_ranks = search->n_ranks,
						  .all_ranks = search->all_ranks,
						  .common_from = search->common_from,
						  .read = read_ranks,
						  .sink = put_sets,
						  .progress = show_progress,
						  .arg = search};

	search->parent = alloc_numbers(search->rows->n);
	simdup_components_init(search->parent, search->rows->n);
	search->pairs = simdup_pairsort_begin(half_kb);
	for (uint32 i = 0; i < search->n_sets; i++)
		put_sets(search, i, i, search->sizes[i]);
	simdup_set_join(&join, search->rows->options.min_resemblance,
					(Size) half_kb * 1024);
	simdup_tempfile_close(search->ranks);
}

static void
put_results(PairSearch *search, ReturnSetInfo *result)
{
	const uint32 *sizes = search->document_n;
	SimdupKeys *keys = search->rows->keys;
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
		uint64 sum = (uint64) sizes[a] + sizes[b];
		Datum values[] = {simdup_keys_get(keys, a, 0),
						  simdup_keys_get(keys, b, 1),
						  Int32GetDatum((int32) common),
						  Float8GetDatum((double) common /
										 (double) (sum - common)),
						  simdup_keys_get(keys, root, 2)};

		simdup_put_result(result, values, NULL);
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
	int option = simdup_named_argument(fcinfo, "w");
	int w = simdup_integer_argument(fcinfo, option, "w");
	SimdupOptions options = {0};
	PairSearch search = {0};
	SimdupRows *rows;

	simdup_check_not_null(PG_ARGISNULL(option + 1), "min_resemblance");
	simdup_check_not_null(PG_ARGISNULL(option + 2), "unit");
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	options.shingling =
		simdup_get_resemblance(w, PG_GETARG_TEXT_PP(option + 2));
	options.min_resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(option + 1), "min_resemblance");
	rows = simdup_rows_begin(fcinfo, 1, SIMDUP_TEXTS, &options);
	simdup_rows_read(rows, fcinfo);
	simdup_stored_texts_finish(rows->contents, 0);
	search.rows = rows;
	find_distinct_sets(&search);
	rank_shingles(&search);
	find_pairs(&search);
	put_results(&search, result);
	simdup_rows_end(rows);
	return (Datum) 0;
}
