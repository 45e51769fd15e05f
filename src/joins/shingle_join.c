/*
 * shingle_join.c
 *	  Candidates of a join by resemblance: exactly the pairs of texts whose sets of
 *	  shingles resemble each other.
 *
 * 1. The set of each text goes to a file, as hashes. The hash of the columns that must
 * be equal is mixed into them, so texts with other values share none. Files stay in
 * memory if they fit.
 * 2. Rows with equal sets are a group, of either side.
 * 3. The shingles are ranked by rarity.
 * 4. The sets are joined exactly (core/join/setjoin.c).
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/join/setjoin.h"
#include "joins/key_search.h"
#include "server/progress.h"
#include "text/minhash64.h"

/* A row with a shingle. */
typedef struct Document
{
	int64 offset; /* of its set in the file */
	uint32 row;
	uint32 set; /* that it is the first document of, plus 1; or 0 */
	bool is_inner;
} Document;

/* The keys of both sides. */
typedef struct ShingleKeys
{
	uint32 n;
	Document *documents;
	Size room;
	SimdupTempFile *hashes; /* for each document: number of shingles, hashes */
	/* (size << 32 | digest, document) */
	SimdupPairSort *sort; /* NULL once it has been read */
} ShingleKeys;

/* In place of a position: the side has no row of the set. */
#define NO_GROUP PG_UINT32_MAX

typedef struct ShingleSearch
{
	SimdupKeySearch *join;
	ShingleKeys *keys;
	SimdupHashes loaded[2];

	/* Distinct sets are numbered from 0 in ascending order of size. */
	uint32 n_sets;
	uint32 *sizes;		  /* by set */
	uint32 *positions[2]; /* of the groups of both sides, or NO_GROUP */
	uint32 *first_rows;	  /* of the outer groups */

	/*
	 * Each shingle of two sets or more has a rank, from 0; the fewer sets have
	 * it, the lower. A shingle of one set has none.
	 */
	uint32 *n_ranks;	   /* of each set */
	int64 *offsets;		   /* of each set in the file */
	SimdupTempFile *ranks; /* ascending in each set */
	uint32 all_ranks;	   /* number of ranks */
	uint32 common_from;	   /* the first of a shingle that many sets have */
} ShingleSearch;

static uint32 *
alloc_numbers(Size n)
{
	return simdup_alloc0((n + 1) * sizeof(uint32));
}

/* Documents */

static SimdupPairSort *
begin_sort(const SimdupKeySearch *join)
{
	return simdup_pairsort_begin(join->memory / 6);
}

static void
begin_keys(SimdupKeySearch *join, int side pg_attribute_unused())
{
	ShingleKeys *keys;

	if (join->keys[0] != NULL)
		return;
	join->keys[0] = keys = palloc0(sizeof(ShingleKeys));
	/* it grows in this memory context */
	keys->documents = simdup_grow(NULL, &keys->room, 1, sizeof(Document));
	keys->hashes = simdup_tempfile_create((Size) join->memory / 8);
	keys->sort = begin_sort(join);
}

static void
add_key(SimdupKeySearch *join, int side, uint32 number, Datum key, uint32 hash)
{
	ShingleKeys *keys = join->keys[0];
	SimdupHashes set =
		simdup_element_set(join->limits.shingling,
						   simdup_text_to_utf8(DatumGetTextPP(key)));
	uint64 part = simdup_mix64(hash);
	uint64 digest = 0;
	uint32 n = (uint32) set.n;
	Document document = {.row = number, .is_inner = side == 1};

	if (n == 0)
		return;
	for (uint32 i = 0; i < n; i++)
	{
		set.hashes[i] ^= part;
		digest = simdup_mix64(digest ^ set.hashes[i]);
	}
	document.offset = simdup_tempfile_append(keys->hashes, &n, sizeof(n));
	simdup_tempfile_append(keys->hashes, set.hashes, n * sizeof(uint64));
	simdup_pairsort_put(keys->sort, (uint64) n << 32 | (uint32) digest,
						keys->n);
	keys->documents = simdup_grow(keys->documents, &keys->room,
								  (Size) keys->n + 1, sizeof(Document));
	keys->documents[keys->n++] = document;
	simdup_hashes_free(&set);
}

/* Read the set of a document, valid until the next call with the same buffer. */
static const SimdupHashes *
set_of(ShingleSearch *search, const Document *document, int buffer)
{
	SimdupHashes *set = &search->loaded[buffer];
	int64 offset = document->offset;
	uint32 n;

	simdup_tempfile_read(search->keys->hashes, offset, &n, sizeof(n));
	set->hashes = simdup_grow(set->hashes, &set->size, n, sizeof(uint64));
	set->n = n;
	simdup_tempfile_read(search->keys->hashes, offset + (int64) sizeof(n),
						 set->hashes, n * sizeof(uint64));
	return set;
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

/* Check whether two sets of one size are equal. */
static bool
are_equal(ShingleSearch *search, const Document *a, const Document *b)
{
	const SimdupHashes *x = set_of(search, a, 0);
	const SimdupHashes *y = set_of(search, b, 1);

	return memcmp(x->hashes, y->hashes, x->n * sizeof(uint64)) == 0;
}

static void
append_row(ShingleSearch *search, const Document *document, bool is_last)
{
	simdup_group_append(search->join->groups[document->is_inner],
						document->row | (is_last ? SIMDUP_LAST_OF_GROUP : 0));
}

/*
 * Note that the last set has a row of this side: its first one begins a group. The
 * outer rows come last, so theirs is the set's first row.
 */
static void
add_member(ShingleSearch *search, const Document *document)
{
	uint32 set = search->n_sets - 1;
	int side = document->is_inner;

	if (search->positions[side][set] == NO_GROUP)
	{
		search->positions[side][set] =
			(uint32) (search->join->groups[side]->size /
					  (int64) sizeof(uint32));
		search->first_rows[set] = document->row;
	}
}

static void
end_sort(ShingleSearch *search, SimdupPairSort *sort)
{
	search->join->disk += simdup_pairsort_disk(sort);
	simdup_pairsort_end(sort);
}

/*
 * Find the distinct sets, and the groups of rows that have them. Documents of the
 * inner side have the lower numbers, so those of a side come together.
 */
static void
find_distinct_sets(ShingleSearch *search)
{
	ShingleKeys *keys = search->keys;
	Document *last = NULL;
	uint64 last_key = 0;
	uint64 key;
	uint64 number;

	search->sizes = alloc_numbers(keys->n);
	search->first_rows = alloc_numbers(keys->n);
	for (int side = 0; side < (search->join->reads_once ? 1 : 2); side++)
	{
		search->positions[side] = alloc_numbers(keys->n);
		memset(search->positions[side], 0xFF, keys->n * sizeof(uint32));
	}
	/* of one set of rows, both sides have the same groups */
	if (search->join->reads_once)
		search->positions[1] = search->positions[0];
	simdup_pairsort_perform(keys->sort);
	while (simdup_pairsort_get(keys->sort, &key, &number))
	{
		Document *document = &keys->documents[number];
		bool is_new = last == NULL || key != last_key ||
					  !are_equal(search, last, document);

		if (last != NULL)
			append_row(search, last,
					   is_new || last->is_inner != document->is_inner);
		if (is_new)
		{
			search->sizes[search->n_sets++] = (uint32) (key >> 32);
			document->set = search->n_sets;
		}
		add_member(search, document);
		last_key = key;
		last = document;
	}
	if (last != NULL)
		append_row(search, last, true);
	end_sort(search, keys->sort);
	keys->sort = NULL;
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
	uint32 *sets;		  /* of one shingle */
	uint32 n;
	uint64 *counts; /* shingles by number of sets, then their next rank */
} ShingleSets;

static void
end_list(ShingleSets *lists)
{
	if (lists->n > 1)
	{
		simdup_tempfile_append(lists->file, &lists->n, sizeof(uint32));
		simdup_tempfile_append(lists->file, lists->sets,
							   lists->n * sizeof(uint32));
		lists->counts[lists->n]++;
	}
	lists->n = 0;
}

/*
 * List the sets of each shingle in the file, from sorted pairs of shingle and set.
 * Sets are read in the order of documents.
 */
static void
write_lists(ShingleSearch *search, ShingleSets *lists)
{
	SimdupPairSort *sort = begin_sort(search->join);
	uint64 last = 0;
	uint64 shingle;
	uint64 set;

	simdup_progress_phase("sorting shingles", search->keys->n);
	for (uint32 i = 0; i < search->keys->n; i++)
	{
		const Document *document = &search->keys->documents[i];
		const SimdupHashes *shingles;

		simdup_progress_done(i);
		if (document->set == 0)
			continue;
		shingles = set_of(search, document, 0);
		for (size_t j = 0; j < shingles->n; j++)
		{
			CHECK_FOR_INTERRUPTS();
			simdup_pairsort_put(sort, shingles->hashes[j], document->set - 1);
		}
	}
	simdup_pairsort_perform(sort);
	simdup_note_memory(search->join);
	while (simdup_pairsort_get(sort, &shingle, &set))
	{
		if (shingle != last)
			end_list(lists);
		last = shingle;
		lists->sets[lists->n++] = (uint32) set;
	}
	end_list(lists);
	end_sort(search, sort);
}

/* Turn numbers of shingles into first ranks. */
static void
count_ranks(ShingleSearch *search, uint64 *counts)
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
				errmsg("too many distinct shingles for one join"),
				errdetail("At most %u shingles can occur in two texts or more.",
						  SIMDUP_MAX_RANKS));
	search->all_ranks = (uint32) sum;
	search->common_from = Min(search->common_from, search->all_ranks);
}

static SimdupPairSort *
sort_ranks(const ShingleSearch *search, ShingleSets *lists)
{
	SimdupPairSort *sort = begin_sort(search->join);
	const int64 width = sizeof(uint32);

	simdup_progress_phase("ranking shingles", search->keys->n);
	for (int64 offset = 0; offset < lists->file->size;)
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
		simdup_progress_done(
			(int64) ((double) offset / (double) lists->file->size *
					 search->keys->n));
	}
	simdup_pairsort_perform(sort);
	return sort;
}

static void
rank_shingles(ShingleSearch *search)
{
	uint32 n = search->n_sets;
	ShingleSets lists = {.file = simdup_tempfile_create(
							 (Size) search->join->memory / 16),
						 .sets = alloc_numbers(n)};
	SimdupPairSort *sort;
	uint64 set;
	uint64 value;

	lists.counts = simdup_alloc0(((Size) n + 1) * sizeof(uint64));
	write_lists(search, &lists);
	count_ranks(search, lists.counts);
	sort = sort_ranks(search, &lists);
	simdup_note_memory(search->join);
	search->join->disk += simdup_tempfile_disk(lists.file);
	simdup_tempfile_close(lists.file);
	simdup_free(lists.sets);
	simdup_free(lists.counts);

	search->n_ranks = alloc_numbers(n);
	search->offsets = simdup_alloc0(((Size) n + 1) * sizeof(int64));
	search->ranks = simdup_tempfile_create((Size) search->join->memory / 8);
	while (simdup_pairsort_get(sort, &set, &value))
	{
		uint32 rank = (uint32) value;
		int64 offset =
			simdup_tempfile_append(search->ranks, &rank, sizeof(rank));

		if (search->n_ranks[set]++ == 0)
			search->offsets[set] = offset;
	}
	end_sort(search, sort);
}

/* The join */

/* Put the groups of two sets, the outer one of the first, if there are both. */
static void
put_groups(const ShingleSearch *search, uint32 outer, uint32 inner)
{
	uint32 a = search->positions[0][outer];
	uint32 b = search->positions[1][inner];

	if (a != NO_GROUP && b != NO_GROUP)
		search->join->put(search->join->arg, search->first_rows[outer], a, b);
}

/* Put a pair of sets: the sink of the join. */
static void
put_sets(void *arg, uint32_t x, uint32_t y)
{
	const ShingleSearch *search = arg;

	put_groups(search, x, y);
	if (!search->join->reads_once)
		put_groups(search, y, x);
}

/* Check whether two sets have rows of both sides. */
static bool
is_pair(void *arg, uint32_t x, uint32_t y)
{
	uint32 *const *positions = ((const ShingleSearch *) arg)->positions;

	for (int side = 0; side < 2; side++)
		if (positions[side][x] == NO_GROUP && positions[side][y] == NO_GROUP)
			return false;
	return true;
}

/* Read ranks: of SimdupSetJoin. */
static void
read_ranks(void *arg, uint32_t set, uint32_t *ranks)
{
	ShingleSearch *search = arg;

	simdup_tempfile_read(search->ranks, search->offsets[set], ranks,
						 search->n_ranks[set] * sizeof(uint32));
}

/* Show the progress: of SimdupSetJoin. */
static void
show_progress(void *arg, double done)
{
	const ShingleSearch *search = arg;

	simdup_progress_poll((int64) (done * search->keys->n));
}

/* Return the bytes of a file that has not gone to disk. */
static int64
in_memory(const SimdupTempFile *file)
{
	return file->size - simdup_tempfile_disk(file);
}

static void
join_sets(ShingleSearch *search)
{
	SimdupKeySearch *join = search->join;
	SimdupSetJoin sets = {.n = search->n_sets,
						  .sizes = search->sizes,
						  .read = read_ranks,
						  .is_pair = join->reads_once ? NULL : is_pair,
						  .sink = put_sets,
						  .progress = show_progress,
						  .arg = search};

	rank_shingles(search);
	simdup_progress_phase("joining", search->keys->n);
	sets.n_ranks = search->n_ranks;
	sets.all_ranks = search->all_ranks;
	sets.common_from = search->common_from;
	simdup_set_join(&sets, join->limits.min_resemblance,
					(Size) Max(join->free_memory - in_memory(search->ranks) -
								   in_memory(search->keys->hashes),
							   join->memory / 5));
	join->disk += simdup_tempfile_disk(search->ranks);
	simdup_tempfile_close(search->ranks);
}

static void
find_alike(SimdupKeySearch *join)
{
	ShingleSearch search = {.join = join, .keys = join->keys[0]};

	find_distinct_sets(&search);
	/* equal sets have a resemblance of 1, and none has more */
	if (join->limits.min_resemblance <= 1)
	{
		for (uint32 set = 0; set < search.n_sets; set++)
			put_groups(&search, set, set);
		join_sets(&search);
	}
	join->disk += simdup_tempfile_disk(search.keys->hashes);
}

static void
end_keys(SimdupKeySearch *join)
{
	ShingleKeys *keys = join->keys[0];

	if (keys == NULL)
		return;
	simdup_tempfile_close(keys->hashes);
	if (keys->sort != NULL)
		simdup_pairsort_end(keys->sort);
}

const SimdupSearchMethod simdup_shingle_search = {.label = "Shingle Cond",
												  .begin = begin_keys,
												  .add = add_key,
												  .find = find_alike,
												  .end = end_keys};
