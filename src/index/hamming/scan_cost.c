/*
 * scan_cost.c
 *	  The cost of a scan of a hamming index, for the planner.
 *
 * The index file is not opened: the planner also asks about indexes that do
 * not exist. So values are taken as evenly distributed here; how a search
 * splits its radius is decided when it runs.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "core/search/search.h"
#include "index/hamming/am.h"
#include "index/selectivity.h"
#include "type/simhash64.h"

/*
 * Comparing a value on a page, in cpu_operator_cost: measured 0.1 to 0.5 ns,
 * where the server's own operators take some 10 ns.
 */
#define COMPARISON 0.04

/* To find, lock and leave a leaf: measured 0.1 to 0.4 us. */
#define LEAF_VISIT 25

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

/* Return the radius of a condition, the largest for IS NULL and the like. */
static int
radius_of_clause(PlannerInfo *root, IndexOptInfo *index, Node *clause)
{
	bool is_array = IsA(clause, ScalarArrayOpExpr);
	Oid opno;

	if (is_array)
		opno = ((ScalarArrayOpExpr *) clause)->opno;
	else if (IsA(clause, OpExpr))
		opno = ((OpExpr *) clause)->opno;
	else
		return SIMHASH64_BITS;
	if (get_op_opfamily_strategy(opno, index->opfamily[0]) ==
		SIMHASH_EQUAL_STRATEGY)
		return 0;
	if (is_array)
		return SIMHASH_DEFAULT_RADIUS;
	return radius_of_ball(root, lsecond(((OpExpr *) clause)->args));
}

/*
 * Set *k to the least radius of conditions. Return how often arrays among them
 * repeat the scan.
 */
static double
count_scans(PlannerInfo *root, IndexOptInfo *index, List *quals, int *k)
{
	double n = 1;
	ListCell *cell;

	*k = SIMHASH64_BITS;
	foreach (cell, quals)
	{
		Node *clause = (Node *) lfirst_node(RestrictInfo, cell)->clause;

		*k = Min(*k, radius_of_clause(root, index, clause));
		if (IsA(clause, ScalarArrayOpExpr))
			n *= Max(SIMDUP_ARRAY_LENGTH(root,
										 lsecond(((ScalarArrayOpExpr *) clause)
													 ->args)),
					 1);
	}
	return n;
}

/*
 * Return how many of a rotation's leaves a search reads. Set *entries to how
 * many entries are compared there, out of `n_entries` in each rotation.
 */
static double
leaves_read(int k, double leaves, double n_entries, double *entries)
{
	SimdupPageCosts costs[SIMDUP_ROTATIONS];
	int radii[SIMDUP_ROTATIONS];
	double n_leaves;

	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		simdup_uniform_page_costs(leaves, costs[i]);
	n_leaves = simdup_choose_radii(k, costs, radii);
	*entries = 0;
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		if (radii[i] >= 0)
			*entries += n_entries * simdup_count_near(radii[i]) / SIMDUP_BLOCKS;
	return n_leaves;
}

/*
 * Return a leaf's cost, which lies between a random and a sequential read. The
 * more of a rotation is read, the more often the next leaf is the next block. The
 * more leaves repeated scans read, the more of these are in the cache. The planner
 * computes the same for the pages of a bitmap.
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
 * although a bitmap is exact. That hides its saving on a table most of whose
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
	int k;
	double n_scans = count_scans(root, index, quals, &k);
	double entries;
	double n_leaves = leaves_read(k, leaves, Max(index->tuples, 1), &entries);
	double fetches = n_leaves * n_scans * loop_count;
	double leaf_cost;
	Cost setup = index_other_operands_eval_cost(root, quals) +
				 SIMDUP_ROTATIONS * n_scans * cpu_operator_cost * 10;
	double rows;
	Cost run;

	/* repeated scans find pages in the cache, as in genericcostestimate */
	if (n_scans * loop_count > 1)
	{
		fetches = index_pages_fetched(fetches, index->pages,
									  (double) index->pages, root);
		leaf_cost = cost_of_leaf(index, fetches, index->pages);
	}
	else
		leaf_cost = cost_of_leaf(index, n_leaves, leaves);
	*selectivity = clauselist_selectivity(root, selective, index->rel->relid,
										  JOIN_INNER, NULL);
	rows = *selectivity * index->tuples;
	run = fetches * leaf_cost / loop_count +
		  n_scans * (n_leaves * LEAF_VISIT + entries * COMPARISON) *
			  cpu_operator_cost +
		  rows * cpu_index_tuple_cost;
	/* the first row of an order by distance may need all of a rotation */
	*startup = path->indexorderbys == NIL ? setup : setup + run;
	*total = setup + run + cost_of_lookups(root, path, rows, loop_count);
	*correlation = 0;
	*pages = n_leaves * n_scans;
	/*
	 * Without amhasgettuple, the server uses this path for a bitmap alone. It reads the
	 * field right after this call, and calls again for each other path.
	 */
	index->amhasgettuple = !wants_bitmap(root, path, rows, *total);
}
