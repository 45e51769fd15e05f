/*
 * elements.c
 *	  The near pairs of any number of fingerprints: core's join where they fit in
 *	  memory, and beyond it through files.
 *
 * A few times the memory are joined in parts (runs.c). Many times the memory go
 * through the pigeonhole: cut the varying bits into k + 1 blocks, and sort the
 * fingerprints by each block in turn. Join every run of fingerprints that are equal
 * in the block: in memory if it fits, else the same way again. The path (see
 * core/join/allpairs.c) is passed down, so each pair is found once.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/join/ball.h"
#include "core/join/pigeonhole.h"
#include "pairs/elements.h"

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
	first.n = simdup_part_sets(join->elements, n);
	second = (SimdupPairSet){first.elements + first.n, first.scratch + first.n,
							 (uint32) n - first.n};
	/* the second set is the one that is met: better it fits in the cache */
	if (first.n < second.n)
		simdup_pair_join(&join->pairs, second, &first);
	else
		simdup_pair_join(&join->pairs, first, &second);
}

/* Files of elements */

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

		simdup_read_elements(file, i, 1, &element);
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

		simdup_read_elements(file, i, 1, &element);
		simdup_pairsort_put(sort, simdup_rotate64(element.fp, rotation),
							element.index);
	}
	simdup_pairsort_perform(sort);
	return sort;
}

static void join_run(SimdupElementJoin *join, int64 n, SimdupTempFile *file);

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

/* Join a run of elements, in a file if it is too long for memory. */
static void
join_run(SimdupElementJoin *join, int64 n, SimdupTempFile *file)
{
	int k = join->pairs.max_distance;

	if (file == NULL)
	{
		join_in_memory(join, n);
		return;
	}
	check_stack_depth();
	/* the more memories, the more pairs of runs; the larger k, the more sorts */
	if (k > MAX_BLOCK_DISTANCE || n / join->capacity < (int64) k * k ||
		!join_by_blocks(join, file, n))
		simdup_join_by_runs(join, file, n);
	join->disk += simdup_tempfile_size(file);
	simdup_tempfile_close(file);
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
