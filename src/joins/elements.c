/*
 * elements.c
 *	  The near pairs of any number of fingerprints: core's join where they fit in
 *	  memory, and beyond it through files.
 *
 * On disk there are three ways. A few times the memory are parted into runs, each of
 * which is sorted once by each block of a join by balls; runs are joined in pairs.
 * Where balls do not pay, or helpers do more, the parts are chunks that are joined
 * anew. Many times the memory go through the pigeonhole: cut the varying bits into
 * k + 1 blocks, and sort the fingerprints by each block in turn. Join every run of
 * fingerprints that are equal in the block: in memory if it fits, else the same way
 * again. The path (see core/join/allpairs.c) is passed down, so each pair is found
 * once.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/join/balls.h"
#include "core/join/pigeonhole.h"
#include "joins/elements.h"

/* From this distance on the runs of a block are too long to be worth a sort. */
#define MAX_BLOCK_DISTANCE 16

/* Of an element: it, its scratch, and its place in a join by balls. */
#define ELEMENT_BYTES (2 * (int64) sizeof(SimdupElement) + 12)

int64
simdup_elements_in(int64 memory)
{
	return Max(memory / ELEMENT_BYTES, 64);
}

/* Add an element to those in memory, or to a file of them once it is too long. */
static void
add_to_run(SimdupElementJoin *join, SimdupTempFile **file, int64 *n,
		   SimdupElement element)
{
	if (*n == join->capacity && *file == NULL)
	{
		*file = simdup_tempfile_create();
		simdup_tempfile_append(*file, join->elements,
							   (size_t) *n * sizeof(SimdupElement));
	}
	if (*file != NULL)
		simdup_tempfile_append(*file, &element, sizeof(element));
	else
	{
		join->elements = simdup_grow(join->elements, &join->room, (Size) *n + 1,
									 sizeof(SimdupElement));
		join->elements[*n] = element;
	}
	(*n)++;
}

void
simdup_elements_add(SimdupElementJoin *join, uint64 fp, uint64 index)
{
	add_to_run(join, &join->file, &join->n, (SimdupElement){fp, index});
}

/* Move the elements of the second set behind the others. Return how many these are. */
static uint32
part_sets(SimdupElement *elements, int64 n)
{
	uint32 n_first = 0;

	for (int64 i = 0; i < n; i++)
	{
		SimdupElement element = elements[i];

		if ((element.index & SIMDUP_SECOND_SET) != 0)
			continue;
		elements[i] = elements[n_first];
		elements[n_first++] = element;
	}
	return n_first;
}

/* A set of elements in memory, from one on. */
static SimdupPairSet
set_from(const SimdupElementJoin *join, int64 from, uint32 n)
{
	return (SimdupPairSet){join->elements + from, join->scratch + from, n};
}

static void
join_two_sets(SimdupElementJoin *join, SimdupPairSet a, SimdupPairSet b)
{
	if (a.n == 0 || b.n == 0)
		return;
	/* the second set is the one that is met: better it fits in the cache */
	if (a.n < b.n)
		simdup_pair_join(&join->pairs, b, &a);
	else
		simdup_pair_join(&join->pairs, a, &b);
}

/* Join n elements in memory: with each other, or the two sets among them. */
static void
join_in_memory(SimdupElementJoin *join, int64 n)
{
	join->scratch = simdup_grow(join->scratch, &join->scratch_room, (Size) n,
								sizeof(SimdupElement));
	if (join->cross)
	{
		uint32 n_first = part_sets(join->elements, n);

		join_two_sets(join, set_from(join, 0, n_first),
					  set_from(join, n_first, (uint32) n - n_first));
	}
	else if (n > 1)
		simdup_pair_join(&join->pairs, set_from(join, 0, (uint32) n), NULL);
}

/* Files of elements */

static void
read_elements(SimdupTempFile *file, int64 from, int64 n,
			  SimdupElement *elements)
{
	CHECK_FOR_INTERRUPTS();
	simdup_tempfile_read(file, from * (int64) sizeof(*elements), elements,
						 (size_t) n * sizeof(*elements));
}

/*
 * Find the bits that vary in a file of fingerprints, and count the ones of each.
 */
static uint64
varying_bits(SimdupTempFile *file, int64 n, uint32 *ones, uint32 *n_sampled)
{
	uint64 any = 0;
	uint64 all = ~UINT64CONST(0);
	int64 step = n / 4096 + 1;

	*n_sampled = 0;
	for (int64 i = 0; i < n; i++)
	{
		SimdupElement element;

		read_elements(file, i, 1, &element);
		any |= element.fp;
		all &= element.fp;
		if (i % step != 0)
			continue;
		for (int bit = 0; bit < 64; bit++)
			ones[bit] += (uint32) (element.fp >> bit & 1);
		(*n_sampled)++;
	}
	return any ^ all;
}

/*
 * Sort the fingerprints, rotated until the block's highest bit stands in front.
 * The bits between those of the block do not vary. So the fingerprints of one
 * block value come together.
 */
static SimdupPairSort *
sort_by_block(const SimdupElementJoin *join, SimdupTempFile *file, int64 n,
			  int rotation)
{
	SimdupPairSort *sort =
		simdup_pairsort_begin(join->capacity * ELEMENT_BYTES);

	for (int64 i = 0; i < n; i++)
	{
		SimdupElement element;

		read_elements(file, i, 1, &element);
		simdup_pairsort_put(sort, simdup_rotate64(element.fp, rotation),
							element.index);
	}
	simdup_pairsort_perform(sort);
	return sort;
}

static void join_on_disk(SimdupElementJoin *join, SimdupTempFile *file,
						 int64 n);

/* Join a run of elements, in a file if it is too long for memory. */
static void
join_run(SimdupElementJoin *join, int64 n, SimdupTempFile *file)
{
	if (file == NULL)
		join_in_memory(join, n);
	else
	{
		join_on_disk(join, file, n);
		join->disk += simdup_tempfile_size(file);
		simdup_tempfile_close(file);
	}
}

/* Sort by one block, join its runs. */
static void
join_by_block(SimdupElementJoin *join, SimdupTempFile *file, int64 n,
			  uint64 block)
{
	int rotation = (pg_leftmost_one_pos64(block) + 1) % 64;
	SimdupPairSort *sort = sort_by_block(join, file, n, rotation);
	uint64 same = join->pairs.path.same;
	SimdupTempFile *run = NULL;
	int64 n_run = 0;
	uint64 run_value = 0;
	uint64 word;
	SimdupElement element;

	join->pairs.path.same |= block;
	while (simdup_pairsort_get(sort, &word, &element.index))
	{
		element.fp = simdup_rotate64(word, (64 - rotation) % 64);
		if (n_run > 0 && (element.fp & block) != run_value)
		{
			join_run(join, n_run, run);
			run = NULL;
			n_run = 0;
		}
		run_value = element.fp & block;
		add_to_run(join, &run, &n_run, element);
	}
	join_run(join, n_run, run);
	join->pairs.path.same = same;
	join->disk += simdup_pairsort_disk(sort);
	simdup_pairsort_end(sort);
}

/* Join by the blocks of the varying bits. Return false if there are too few. */
static bool
join_by_blocks(SimdupElementJoin *join, SimdupTempFile *file, int64 n)
{
	SimdupPairPath *path = &join->pairs.path;
	int n_blocks = join->pairs.max_distance + 1;
	int n_skipped = path->n_skipped;
	int64 capacity = join->capacity;
	uint64 blocks[MAX_BLOCK_DISTANCE + 1];
	uint32 ones[64] = {0};
	uint32 n_sampled;
	uint64 varying = varying_bits(file, n, ones, &n_sampled);

	if (simdup_popcount64(varying) < n_blocks ||
		n_skipped + n_blocks > SIMDUP_MAX_SKIPPED)
		return false;
	simdup_cut_blocks(varying, ones, n_sampled, n_blocks, blocks);
	/* the sort has the other half of the memory */
	join->capacity = Max(join->capacity / 2, 64);
	for (int i = 0; i < n_blocks; i++)
	{
		join_by_block(join, file, n, blocks[i]);
		path->skipped[path->n_skipped++] = blocks[i];
	}
	path->n_skipped = n_skipped;
	join->capacity = capacity;
	return true;
}

/*
 * Sorted runs: parts of the elements in a file, each sorted once by a block. Runs
 * are joined in pairs, in two places in memory.
 */

typedef struct Run
{
	int64 offset; /* in the file: codes, indexes, starts of buckets */
	uint32 n;
	bool is_second; /* of the second set of a cross join */
} Run;

typedef struct SortedRuns
{
	SimdupElementJoin *join;
	SimdupBallPlan plan;
	const SimdupBallBlock *block; /* of the plan */
	Run *runs;
	Size room;
	uint32 n;
	SimdupTempFile *file;
	uint32 *positions; /* of the run that is sorted */
	SimdupSorted places[2];
	SimdupElement *words[2]; /* codes and indexes of the places, or elements */
} SortedRuns;

/* Return the bytes of the starts of a run's buckets. */
static Size
size_of_starts(const SortedRuns *runs)
{
	return (((Size) 1 << runs->block->key_bits) + 1) * sizeof(uint32);
}

/* Have a place hold n elements. */
static SimdupSorted *
set_place(SortedRuns *runs, int i, uint32 n)
{
	SimdupSorted *place = &runs->places[i];

	place->n = n;
	place->codes = &runs->words[i]->fp;
	place->indexes = place->codes + n + SIMDUP_COMPARED;
	return place;
}

/* Sort elements by way of the first place, and write them as a run. */
static void
write_run(SortedRuns *runs, const SimdupElement *elements, uint32 n,
		  bool is_second)
{
	SimdupSorted *set = set_place(runs, 0, n);
	uint64 *indexes = set->codes + n + SIMDUP_COMPARED;
	Run run = {.n = n, .is_second = is_second};

	if (n == 0)
		return;
	set->elements = elements;
	set->positions = runs->positions;
	simdup_sort_by_key(runs->block, set);
	for (uint32 i = 0; i < n; i++)
		indexes[i] = elements[set->positions[i]].index;
	run.offset = simdup_tempfile_append(runs->file, set->codes,
										(2 * (Size) n + SIMDUP_COMPARED) *
											sizeof(uint64));
	simdup_tempfile_append(runs->file, set->starts, size_of_starts(runs));
	runs->runs =
		simdup_grow(runs->runs, &runs->room, (Size) runs->n + 1, sizeof(Run));
	runs->runs[runs->n++] = run;
}

/* Read a run to one of the two places. */
static const SimdupSorted *
read_run(SortedRuns *runs, const Run *run, int i)
{
	SimdupSorted *place = set_place(runs, i, run->n);
	Size size = (2 * (Size) run->n + SIMDUP_COMPARED) * sizeof(uint64);

	CHECK_FOR_INTERRUPTS();
	simdup_tempfile_read(runs->file, run->offset, place->codes, size);
	simdup_tempfile_read(runs->file, run->offset + (int64) size, place->starts,
						 size_of_starts(runs));
	return place;
}

/* Sort all elements by one block, in runs, and join these. */
static void
join_runs(SortedRuns *runs, SimdupTempFile *file, int64 n)
{
	SimdupElementJoin *join = runs->join;
	int block = (int) (runs->block - runs->plan.blocks);
	SimdupElement *elements = runs->words[1];

	runs->n = 0;
	runs->file = simdup_tempfile_create();
	for (int64 i = 0; i < n; i += join->capacity)
	{
		uint32 n_own = (uint32) Min(join->capacity, n - i);
		uint32 n_first = n_own;

		read_elements(file, i, n_own, elements);
		if (join->cross)
			n_first = part_sets(elements, n_own);
		write_run(runs, elements, n_first, false);
		write_run(runs, elements + n_first, n_own - n_first, true);
	}
	for (uint32 i = 0; i < runs->n; i++)
	{
		const SimdupSorted *a = read_run(runs, &runs->runs[i], 0);

		if (!join->cross)
			simdup_join_sorted(&join->pairs, &runs->plan, block, *a, NULL);
		for (uint32 j = i + 1; j < runs->n; j++)
			if (!join->cross ||
				runs->runs[i].is_second != runs->runs[j].is_second)
				simdup_join_sorted(&join->pairs, &runs->plan, block, *a,
								   read_run(runs, &runs->runs[j], 1));
	}
	join->disk += simdup_tempfile_size(runs->file);
	simdup_tempfile_close(runs->file);
}

/*
 * Join by sorted runs, or return false if these are no gain. Leave room for as many
 * elements as fit in memory.
 */
static bool
join_by_runs(SimdupElementJoin *join, SimdupTempFile *file, int64 n)
{
	Size most = (Size) join->capacity;
	SortedRuns runs = {.join = join};
	bool planned;

	simdup_free(join->elements);
	simdup_free(join->scratch);
	for (int i = 0; i < 2; i++)
		runs.words[i] =
			simdup_alloc((most + SIMDUP_COMPARED) * sizeof(SimdupElement));
	for (Size i = 0; i < most; i++)
		read_elements(file, (int64) i * n / (int64) most, 1, runs.words[0] + i);
	planned = simdup_plan_sorted(&join->pairs,
								 (SimdupPairSet){runs.words[0], runs.words[1],
												 (uint32) most},
								 &runs.plan);
	if (planned)
	{
		for (int i = 0; i < 2; i++)
			runs.places[i].starts = simdup_alloc((most + 2) * sizeof(uint32));
		runs.positions = simdup_alloc(most * sizeof(uint32));
		for (int i = 0; i < runs.plan.n_blocks; i++)
		{
			runs.block = &runs.plan.blocks[i];
			join_runs(&runs, file, n);
		}
		simdup_free(runs.runs);
		simdup_free(runs.positions);
	}
	for (int i = 0; i < 2; i++)
		simdup_free(runs.places[i].starts);
	join->elements = runs.words[0];
	join->scratch = runs.words[1];
	join->room = join->scratch_room = most;
	return planned;
}

/* Join n elements in memory with m behind them. */
static void
join_chunks(SimdupElementJoin *join, int64 n, int64 m)
{
	uint32 n_first = join->cross ? part_sets(join->elements, n) : (uint32) n;
	uint32 m_first = join->cross ? part_sets(join->elements + n, m) : 0;

	join_two_sets(join, set_from(join, 0, n_first),
				  set_from(join, n + m_first, (uint32) m - m_first));
	join_two_sets(join, set_from(join, n, m_first),
				  set_from(join, n_first, (uint32) n - n_first));
}

/* Join half a memory of elements with each other, and with each later half. */
static void
join_by_chunks(SimdupElementJoin *join, SimdupTempFile *file, int64 n)
{
	int64 half = join->capacity / 2;

	for (int64 i = 0; i < n; i += half)
	{
		int64 n_own = Min(half, n - i);

		read_elements(file, i, n_own, join->elements);
		join_in_memory(join, n_own);
		for (int64 j = i + half; j < n; j += half)
		{
			int64 n_other = Min(half, n - j);

			read_elements(file, j, n_other, join->elements + n_own);
			join_chunks(join, n_own, n_other);
		}
	}
}

/* Join elements that do not fit in memory. */
static void
join_on_disk(SimdupElementJoin *join, SimdupTempFile *file, int64 n)
{
	int k = join->pairs.max_distance;

	check_stack_depth();
	/* the more memories, the more pairs of runs; the larger k, the more sorts */
	if (k <= MAX_BLOCK_DISTANCE && n / join->capacity >= (int64) k * k &&
		join_by_blocks(join, file, n))
		return;
	if (!join_by_runs(join, file, n))
		join_by_chunks(join, file, n);
}

void
simdup_elements_join(SimdupElementJoin *join)
{
	SimdupTempFile *file = join->file;

	join->file = NULL;
	if (join->pairs.max_distance > 0)
		join_run(join, join->n, file);
	else
		simdup_tempfile_close(file);
	join->n = 0;
}

void
simdup_elements_end(SimdupElementJoin *join)
{
	simdup_free(join->elements);
	simdup_free(join->scratch);
}
