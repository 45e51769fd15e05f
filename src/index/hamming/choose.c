/*
 * choose.c
 *	  The radii of a search, by how the index's values are distributed.
 *
 * The inner pages of a tree are an equi-depth histogram of its values (Qin et
 * al. 2018 choose radii by histograms). The backend keeps a coarse copy of the
 * histogram, and renews the copy when the file has grown by a half. Radii
 * decide what is read, not what is found, so the copy may be old.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "index/hamming/scanning.h"

/* A level with so many children is fine enough to make the histogram. */
#define ENOUGH_CHILDREN 256

/* The first blocks of low keys on a level, from left to right. */
typedef struct LevelSample
{
	int n;
	int size;
	uint16 *blocks;
} LevelSample;

static void
add_page(LevelSample *sample, Page page)
{
	int n = hamming_count(page);

	if (sample->n + n > sample->size)
	{
		sample->size = 2 * (sample->n + n);
		sample->blocks =
			repalloc(sample->blocks, sizeof(uint16) * sample->size);
	}
	for (int i = 0; i < n; i++)
		sample->blocks[sample->n++] =
			(uint16) simdup_first_block(hamming_values(page)[i]);
}

static void
read_level(Relation index, int tree, int level, LevelSample *sample)
{
	SimdupEntry lowest = {0, 0};
	Buffer buffer =
		simdup_hamming_descend(index, tree, &lowest, level, BUFFER_LOCK_SHARE);

	sample->n = 0;
	for (;;)
	{
		Page page = BufferGetPage(buffer);

		add_page(sample, page);
		if (hamming_is_last(page))
			break;
		buffer = simdup_hamming_step_right(index, buffer, BUFFER_LOCK_SHARE,
										   tree, level);
	}
	UnlockReleaseBuffer(buffer);
}

static void
fill_histogram(SimdupHistogram *histogram, const LevelSample *sample,
			   double pages)
{
	int n = Min(sample->n, SIMDUP_BUCKETS);

	histogram->n_buckets = n;
	histogram->pages = pages / n;
	for (int i = 0; i < n; i++)
		histogram->bounds[i] = sample->blocks[(int64) i * sample->n / n];
	histogram->bounds[0] = 0;
	simdup_finish_histogram(histogram);
}

/* Make the histograms of all rotations; the trees have inner pages. */
static void
make_histograms(Relation index)
{
	HammingRoots roots = simdup_hamming_roots(index, true);
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	SimdupHistogram *made = palloc(sizeof(SimdupHistogram) * SIMDUP_ROTATIONS);
	LevelSample sample = {0, 1024, palloc(sizeof(uint16) * 1024)};
	HammingCache *cache;

	for (int tree = 0; tree < SIMDUP_ROTATIONS; tree++)
	{
		int level = (int) roots.level[tree];
		double pages = (double) blocks / SIMDUP_ROTATIONS;

		sample.n = 0;
		for (; level > 0 && sample.n < ENOUGH_CHILDREN; level--)
			read_level(index, tree, level, &sample);
		if (level == 0)
			pages = Max(sample.n, 1);
		if (sample.n == 0)
			sample.blocks[sample.n++] = 0;
		fill_histogram(&made[tree], &sample, pages);
	}
	cache = simdup_hamming_cache(index);
	memcpy(cache->histogram, made, sizeof(cache->histogram));
	cache->histogram_blocks = blocks;
	cache->histograms_known = true;
	pfree(sample.blocks);
	pfree(made);
}

/* Has the file grown by a half since the histograms were made? */
static bool
is_out_of_date(Relation index, const HammingCache *cache)
{
	BlockNumber blocks = RelationGetTargetBlock(index);

	return !cache->histograms_known ||
		   (blocks != InvalidBlockNumber &&
			blocks / 3 > cache->histogram_blocks / 2);
}

const SimdupPageCosts *
simdup_hamming_page_costs(IndexScanDesc scan, uint64 center, int largest)
{
	HammingScan *state = scan->opaque;
	Relation index = scan->indexRelation;
	HammingCache *cache = simdup_hamming_cache(index);

	largest = Min(largest, SIMDUP_BLOCK_BITS);
	if (state->costs_known && state->costs_center == center &&
		state->costs_largest >= largest)
		return (const SimdupPageCosts *) state->costs;
	if (is_out_of_date(index, cache))
		make_histograms(index);
	cache = simdup_hamming_cache(index);
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		simdup_page_costs(&cache->histogram[i],
						  simdup_first_block(simdup_rotate(center, i)), largest,
						  state->costs[i]);
	state->costs_known = true;
	state->costs_center = center;
	state->costs_largest = largest;
	return (const SimdupPageCosts *) state->costs;
}
