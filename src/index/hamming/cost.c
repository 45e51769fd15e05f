/*
 * cost.c
 *	  The cost of a scan of a hamming index, for the planner.
 *
 * The index file is not opened: the planner also asks about indexes that do
 * not exist. So values are taken as evenly distributed here; how a search
 * splits its radius is decided when it runs.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "index/hamming/am.h"
#include "index/planner.h"
#include "type/simhash64.h"

/*
 * The radii of a search, by how the index's values are distributed.
 *
 * The inner pages of a tree are an equi-depth histogram of its values (Qin et
 * al. 2018 choose radii by histograms). The backend keeps a coarse copy of the
 * histogram, and renews the copy when the file has grown by a half. Radii
 * decide what is read, not what is found, so the copy may be old.
 */

/* A level with this many children is fine enough to make the histogram. */
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

/* Check whether the file has grown by half since the histograms were made. */
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

/* Cost */

/*
 * Comparing a value on a page, in cpu_operator_cost: measured 0.1 to 0.5 ns,
 * where the server's own operators take some 10 ns.
 */
#define COMPARISON 0.04

/* To find, lock and leave a leaf: measured 0.1 to 0.3 us. */
#define LEAF_VISIT 10

/* Return the radius of a ball, as far as it is known. */
static int
radius_of_ball(PlannerInfo *root, Node *ball)
{
	ball = estimate_expression_value(root, ball);
	if (IsA(ball, Const))
		return ((Const *) ball)->constisnull
				   ? 0
				   : (int) DatumGetSimhashBallP(((Const *) ball)->constvalue)
						 ->radius;
	/* simhash_ball(center, radius) */
	if (!IsA(ball, FuncExpr) || list_length(((FuncExpr *) ball)->args) != 2)
		return SIMHASH_DEFAULT_RADIUS;
	return Max(simdup_plan_time_radius(root,
									   lsecond(((FuncExpr *) ball)->args)),
			   0);
}

/* Return the radius of a condition; -1 for IS NULL and the like. */
static int
radius_of_clause(PlannerInfo *root, IndexOptInfo *index, Node *clause)
{
	OpExpr *expression = (OpExpr *) clause;
	int strategy;

	if (IsA(clause, NullTest))
		return -1;
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

		strategy = get_op_opfamily_strategy(array->opno, index->opfamily[0]);
		return strategy == SIMHASH_EQUAL_STRATEGY ? 0 : SIMHASH_DEFAULT_RADIUS;
	}
	if (!IsA(clause, OpExpr))
		return SIMDUP_BLOCK_BITS * SIMDUP_ROTATIONS;
	strategy = get_op_opfamily_strategy(expression->opno, index->opfamily[0]);
	if (strategy == SIMHASH_EQUAL_STRATEGY)
		return 0;
	return radius_of_ball(root, lsecond(expression->args));
}

/*
 * Leaves that a scan with these conditions reads. Sets *entries to how many
 * entries are compared there, out of `n_entries` in each rotation.
 */
static double
leaves_read(PlannerInfo *root, IndexOptInfo *index, List *quals, double leaves,
			double n_entries, double *entries)
{
	SimdupPageCosts costs[SIMDUP_ROTATIONS];
	int radii[SIMDUP_ROTATIONS];
	int k = SIMHASH64_BITS;
	double n_leaves;
	ListCell *cell;

	foreach (cell, quals)
	{
		Node *clause = lfirst(cell);
		int radius;

		if (IsA(clause, RestrictInfo))
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		radius = radius_of_clause(root, index, clause);
		if (radius >= 0)
			k = Min(k, radius);
	}
	simdup_uniform_page_costs(leaves, costs[0]);
	for (int i = 1; i < SIMDUP_ROTATIONS; i++)
		memcpy(costs[i], costs[0], sizeof(costs[0]));
	n_leaves = simdup_choose_radii(k, costs, radii);
	*entries = 0;
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		if (radii[i] >= 0)
			*entries += n_entries * simdup_count_near(radii[i]) / SIMDUP_BLOCKS;
	return n_leaves;
}

/*
 * Return a leaf's cost, which lies between a random and a sequential read. The
 * more of a rotation is read, the more often the next leaf is the next block.
 * The planner computes the same for the pages of a bitmap.
 */
static double
cost_of_leaf(IndexOptInfo *index, double n_leaves, double leaves)
{
	double random_cost;
	double sequential_cost;

	get_tablespace_page_costs(index->reltablespace, &random_cost,
							  &sequential_cost);
	return random_cost -
		   (random_cost - sequential_cost) * sqrt(Min(n_leaves / leaves, 1.0));
}

/* Return how often a ScalarArrayOpExpr repeats the scan. */
static double
array_scans(PlannerInfo *root, List *quals)
{
	double n = 1;
	ListCell *cell;

	foreach (cell, quals)
	{
		Node *clause = lfirst(cell);

		if (IsA(clause, RestrictInfo))
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		if (IsA(clause, ScalarArrayOpExpr))
			n *= Max(SIMDUP_ARRAY_LENGTH(root,
										 lsecond(((ScalarArrayOpExpr *) clause)
													 ->args)),
					 1);
	}
	return n;
}

/*
 * On a standby an index-only scan looks up each row (scan.c). The planner has
 * left out the pages of the table that the visibility map covers.
 */
static Cost
cost_of_lookups(PlannerInfo *root, IndexPath *path, double rows,
				double loop_count)
{
	IndexOptInfo *index = path->indexinfo;
	double pages;
	double random_cost;

	if (path->path.pathtype != T_IndexOnlyScan || !RecoveryInProgress())
		return 0;
	get_tablespace_page_costs(index->rel->reltablespace, &random_cost, NULL);
	pages = index_pages_fetched(rows * loop_count, index->rel->pages,
								(double) index->pages, root);
	return pages / loop_count * index->rel->allvisfrac * random_cost;
}

/*
 * Check whether a bitmap scan of these rows is faster than a plain one, but
 * looks more expensive. The planner lets it pay for the condition on each row,
 * although a bitmap is exact. That hides what it saves on a table most of whose
 * pages are read. Against a scan of the table it still has to win.
 */
static bool
wants_bitmap(PlannerInfo *root, const IndexPath *path, double rows, Cost total)
{
	const RelOptInfo *table = path->indexinfo->rel;

	return enable_bitmapscan && path->indexorderbys == NIL &&
		   root->tuple_fraction <= 0 && rows * 2 > table->pages &&
		   (table->tuples - rows) * table->baserestrictcost.per_tuple >
			   2 * total;
}

void
simdup_hamming_cost(PlannerInfo *root, IndexPath *path, double loop_count,
					Cost *startup, Cost *total, Selectivity *selectivity,
					double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List *quals = get_quals_from_indexclauses(path->indexclauses);
	List *selective = add_predicate_to_index_quals(index, quals);
	double leaves = Max(index->pages / (double) SIMDUP_ROTATIONS, 1);
	double entries;
	double n_leaves = leaves_read(root, index, quals, leaves,
								  Max(index->tuples, 1), &entries);
	double n_scans = array_scans(root, quals);
	double fetches = n_leaves * n_scans * loop_count;
	double leaf_cost = cost_of_leaf(index, n_leaves, leaves);
	Cost cpu;

	/* repeated scans find pages in the cache, as in genericcostestimate */
	if (n_scans * loop_count > 1)
		fetches = index_pages_fetched(fetches, index->pages,
									  (double) index->pages, root);
	*selectivity = clauselist_selectivity(root, selective, index->rel->relid,
										  JOIN_INNER, NULL);
	cpu = n_scans * (n_leaves * LEAF_VISIT + entries * COMPARISON) *
			  cpu_operator_cost +
		  *selectivity * index->tuples * cpu_index_tuple_cost;
	*startup = index_other_operands_eval_cost(root, quals) +
			   SIMDUP_ROTATIONS * n_scans * cpu_operator_cost * 10;
	/* the first row of an order by distance may need all of a rotation */
	if (path->indexorderbys != NIL)
		*startup += fetches * leaf_cost / loop_count + cpu;
	*total =
		index_other_operands_eval_cost(root, quals) +
		fetches * leaf_cost / loop_count + cpu +
		SIMDUP_ROTATIONS * n_scans * cpu_operator_cost * 10 +
		cost_of_lookups(root, path, *selectivity * index->tuples, loop_count);
	*correlation = 0;
	*pages = n_leaves * n_scans;
	/* the planner keeps the path for bitmaps */
	if (wants_bitmap(root, path, *selectivity * index->tuples, *total))
		index->amhasgettuple = false;
}
