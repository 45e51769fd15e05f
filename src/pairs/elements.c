/*
 * elements.c
 *	  The near pairs of any number of fingerprints: core's join where they fit in
 *	  memory, and beyond it through files.
 *
 * A few times the memory are joined in runs, each with each. Many times the memory
 * go through the pigeonhole: cut the varying bits into k + 1 blocks, and sort the
 * fingerprints by each block in turn. Join every list of fingerprints that are equal
 * in the block: in memory if it fits, else the same way again. The path (see
 * core/join/allpairs.h) is passed down, so each pair is found once.
 *
 * Neither does alone. For 550,000 fingerprints in 2.5 times the memory, runs take .7
 * (k = 3) and .9 (k = 8) of the time of blocks. In 14 times the memory they take 1.3
 * and .5 of it, and in 117 times with k = 3 they take 13 times as long.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "core/fingerprint/hash.h"
#include "core/join/ball.h"
#include "core/join/pigeonhole.h"
#include "pairs/elements.h"

/* From this distance on the runs of a block are too long to be worth a sort. */
#define MAX_BLOCK_DISTANCE 16

/* The element, its scratch, and its place in a join by balls. */
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
		*file = simdup_tempfile_create(0);
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

/* Read n elements of a file from one on. */
static void
read_elements(SimdupTempFile *file, int64 from, int64 n,
			  SimdupElement *elements)
{
	CHECK_FOR_INTERRUPTS();
	simdup_tempfile_read(file, from * (int64) sizeof(*elements), elements,
						 (size_t) n * sizeof(*elements));
}

/* Join n elements in memory: with each other, or the two sets among them. */
static void
join_in_memory(SimdupElementJoin *join, int64 n)
{
	SimdupPairSet first;
	SimdupPairSet second;

	join->scratch = simdup_grow(join->scratch, &join->scratch_room, (Size) n,
								sizeof(SimdupElement));
	first = (SimdupPairSet){join->elements, join->scratch, (uint32) n};
	if (!join->cross)
	{
		simdup_pair_join(&join->pairs, first, NULL);
		return;
	}
	first.n = part_sets(join->elements, n);
	second = (SimdupPairSet){first.elements + first.n, first.scratch + first.n,
							 (uint32) n - first.n};
	/* the second set is the one that is met: better it fits in the cache */
	if (first.n < second.n)
		simdup_pair_join(&join->pairs, second, &first);
	else
		simdup_pair_join(&join->pairs, first, &second);
}

/*
 * Runs: parts of a file, each of one set, that are joined in pairs in two places in
 * memory. A join by balls sorts each run once by each block. If balls do not pay, or
 * helpers do more, each pair of runs is a join of its own. A run then has half a
 * place, and its scratch the other half.
 */

typedef struct Run
{
	int64 offset; /* in the file: elements, or codes, indexes, starts of buckets */
	uint32 n;
	bool is_second; /* of the second set of a cross join */
} Run;

typedef struct Runs
{
	SimdupElementJoin *join;
	uint32 most; /* elements of a run */
	SimdupBallPlan plan;
	int block; /* of the plan, by which runs are sorted; -1: none is */
	Run *runs;
	Size room;
	uint32 n;
	SimdupTempFile *file;
	SimdupElement *words[2]; /* of the places */
	SimdupSorted places[2];	 /* in them */
	uint32 *positions;		 /* of the run that is sorted */
	double share;			 /* of the join, for the runs by one block */
} Runs;

/* Return the bytes of the starts of a run's buckets. */
static Size
size_of_starts(const Runs *runs)
{
	return (((Size) 1 << runs->plan.blocks[runs->block].key_bits) + 1) *
		   sizeof(uint32);
}

/* Have a place hold a sorted run of n elements. */
static SimdupSorted *
set_place(Runs *runs, int i, uint32 n)
{
	SimdupSorted *place = &runs->places[i];

	place->n = n;
	place->codes = &runs->words[i]->fp;
	place->indexes = place->codes + n + SIMDUP_COMPARED;
	return place;
}

/* Sort elements by way of the first place, and write them. Return the offset. */
static int64
write_sorted(Runs *runs, const SimdupElement *elements, uint32 n)
{
	SimdupSorted *set = set_place(runs, 0, n);
	uint64 *indexes = set->codes + n + SIMDUP_COMPARED;
	int64 offset;

	set->elements = elements;
	set->positions = runs->positions;
	simdup_sort_by_key(&runs->plan.blocks[runs->block], set);
	for (uint32 i = 0; i < n; i++)
		indexes[i] = elements[set->positions[i]].index;
	offset = simdup_tempfile_append(runs->file, set->codes,
									(2 * (Size) n + SIMDUP_COMPARED) *
										sizeof(uint64));
	simdup_tempfile_append(runs->file, set->starts, size_of_starts(runs));
	return offset;
}

static void
write_run(Runs *runs, const SimdupElement *elements, uint32 n, bool is_second)
{
	Run run = {.n = n, .is_second = is_second};

	if (n == 0)
		return;
	run.offset = runs->block < 0 ? simdup_tempfile_append(runs->file, elements,
														  n * sizeof(*elements))
								 : write_sorted(runs, elements, n);
	runs->runs =
		simdup_grow(runs->runs, &runs->room, (Size) runs->n + 1, sizeof(Run));
	runs->runs[runs->n++] = run;
}

/* Write all elements of a file as runs. */
static void
write_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	SimdupElement *elements = runs->words[1];

	runs->n = 0;
	for (int64 i = 0; i < n; i += runs->most)
	{
		uint32 n_own = (uint32) Min(runs->most, n - i);
		uint32 n_first = n_own;

		read_elements(file, i, n_own, elements);
		if (runs->join->cross)
			n_first = part_sets(elements, n_own);
		write_run(runs, elements, n_first, false);
		write_run(runs, elements + n_first, n_own - n_first, true);
	}
}

/* Read a run to one of the two places. */
static void
read_run(Runs *runs, uint32 number, int i)
{
	const Run *run = &runs->runs[number];
	SimdupSorted *place = set_place(runs, i, run->n);
	Size size = 2 * (Size) run->n * sizeof(uint64);

	CHECK_FOR_INTERRUPTS();
	if (runs->block >= 0)
		size += SIMDUP_COMPARED * sizeof(uint64);
	simdup_tempfile_read(runs->file, run->offset, place->codes, size);
	if (runs->block >= 0)
		simdup_tempfile_read(runs->file, run->offset + (int64) size,
							 place->starts, size_of_starts(runs));
}

/* Return an unsorted run in its place. The other half of that is its scratch. */
static SimdupPairSet
unsorted(const Runs *runs, int i)
{
	return (SimdupPairSet){runs->words[i], runs->words[i] + runs->most,
						   runs->places[i].n};
}

/* Join the runs in both places, or the first one with itself. */
static void
join_places(Runs *runs, bool with_itself)
{
	SimdupPairJoin *pairs = &runs->join->pairs;
	SimdupPairSet other = unsorted(runs, 1);

	if (runs->block < 0)
		simdup_pair_join(pairs, unsorted(runs, 0), with_itself ? NULL : &other);
	else
		simdup_join_sorted(pairs, &runs->plan, runs->block, runs->places[0],
						   with_itself ? NULL : &runs->places[1]);
}

/* Part all elements in runs, and join these. */
static void
join_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	bool cross = runs->join->cross;

	runs->file = simdup_tempfile_create(0);
	write_runs(runs, file, n);
	for (uint32 i = 0; i < runs->n; i++)
	{
		read_run(runs, i, 0);
		runs->join->share = runs->share / runs->n / (runs->n - i);
		if (!cross)
			join_places(runs, true);
		runs->join->done += runs->join->share;
		for (uint32 j = i + 1; j < runs->n; j++)
		{
			if (!cross || runs->runs[i].is_second != runs->runs[j].is_second)
			{
				read_run(runs, j, 1);
				join_places(runs, false);
			}
			runs->join->done += runs->join->share;
		}
	}
	runs->join->disk += simdup_tempfile_disk(runs->file);
	simdup_tempfile_close(runs->file);
}

/* Plan by a sample that is as large as a run. Return false if balls do not pay. */
static bool
plan_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	SimdupPairSet sample = {runs->words[0], runs->words[1], runs->most};

	for (uint32 i = 0; i < sample.n; i++)
		read_elements(file, (int64) i * n / sample.n, 1, sample.elements + i);
	return simdup_plan_sorted(&runs->join->pairs, sample, &runs->plan);
}

/* Join the elements of a file that is a few times as long as the memory. */
static void
join_by_runs(SimdupElementJoin *join, SimdupTempFile *file, int64 n,
			 double share)
{
	Size most = (Size) join->capacity;
	Runs runs = {.join = join,
				 .most = (uint32) most,
				 .block = -1,
				 .share = share};

	simdup_free(join->elements);
	simdup_free(join->scratch);
	for (int i = 0; i < 2; i++)
		runs.words[i] =
			simdup_alloc((most + SIMDUP_COMPARED) * sizeof(SimdupElement));
	if (plan_runs(&runs, file, n))
	{
		for (int i = 0; i < 2; i++)
			runs.places[i].starts = simdup_alloc((most + 2) * sizeof(uint32));
		runs.share /= runs.plan.n_blocks;
		runs.positions = simdup_alloc(most * sizeof(uint32));
		for (runs.block = 0; runs.block < runs.plan.n_blocks; runs.block++)
			join_runs(&runs, file, n);
		simdup_free(runs.positions);
		for (int i = 0; i < 2; i++)
			simdup_free(runs.places[i].starts);
	}
	else
	{
		runs.most /= 2;
		join_runs(&runs, file, n);
	}
	simdup_free(runs.runs);
	join->elements = runs.words[0];
	join->scratch = runs.words[1];
	join->room = join->scratch_room = most;
}

/* Blocks */

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

static void join_run(SimdupElementJoin *join, int64 n, SimdupTempFile *file,
					 double share);

/* Sort by one block, join its runs. An element has this share of the whole join. */
static void
join_by_block(SimdupElementJoin *join, SimdupTempFile *file, int64 n,
			  uint64 block, double share)
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
			join_run(join, n_run, run, share * (double) n_run);
			run = NULL;
			n_run = 0;
		}
		run_value = element.fp & block;
		add_to_run(join, &run, &n_run, element);
	}
	join_run(join, n_run, run, share * (double) n_run);
	join->pairs.path.same = same;
	join->disk += simdup_pairsort_disk(sort);
	simdup_pairsort_end(sort);
}

/* Join by the blocks of the varying bits. Return false if there are too few. */
static bool
join_by_blocks(SimdupElementJoin *join, SimdupTempFile *file, int64 n,
			   double share)
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
		join_by_block(join, file, n, blocks[i], share / n_blocks / (double) n);
		path->skipped[path->n_skipped++] = blocks[i];
		join->pairs.progress(join->pairs.arg, 0);
	}
	path->n_skipped = n_skipped;
	join->capacity = capacity;
	return true;
}

/* Join a run, in a file if it is too long for memory: a share of the whole join. */
static void
join_run(SimdupElementJoin *join, int64 n, SimdupTempFile *file, double share)
{
	int k = join->pairs.max_distance;

	if (file == NULL)
	{
		join->share = share;
		join_in_memory(join, n);
		join->done += share;
		return;
	}
	check_stack_depth();
	/* the more memories, the more pairs of runs; the larger k, the more sorts */
	if (k > MAX_BLOCK_DISTANCE || n / join->capacity < (int64) k * k ||
		!join_by_blocks(join, file, n, share))
		join_by_runs(join, file, n, share);
	join->disk += simdup_tempfile_disk(file);
	simdup_tempfile_close(file);
}

void
simdup_elements_join(SimdupElementJoin *join)
{
	SimdupTempFile *file = join->file;

	join->file = NULL;
	join->done = 0;
	if (join->pairs.max_distance > 0)
		join_run(join, join->n, file, 1);
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
