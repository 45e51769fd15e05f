/*
 * planner.c
 *	  The join node as a path of the planner, with its cost, and its plan.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "core/fingerprint/hamming.h"
#include "core/join/allpairs.h"
#include "joins/state.h"
#include "joins/offer.h"

static bool enable_join = true;
static set_join_pathlist_hook_type earlier_hook;

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *plans);

static const CustomPathMethods path_methods = {.CustomName = "simdup join",
											   .PlanCustomPath = plan_join};

/* Costs */

/* Convert nanoseconds to planner units: 10 ns are one cpu_operator_cost. */
#define COST_OF_NANOSECOND (cpu_operator_cost / 10)
/* Measured: to keep and sort a row, and to evaluate a candidate. */
#define ROW_NANOSECONDS 150
#define CANDIDATE_NANOSECONDS 150
/* To compare two texts whose shingles are made. */
#define RESEMBLANCE_NANOSECONDS 2500
/* To make the shingles of a text of TEXT_WIDTH: half the COST of simdup_resembles. */
#define TEXT_NANOSECONDS 5000
/* To make a shingle, rank it and compare it. */
#define SHINGLE_NANOSECONDS 500
/*
 * The COST of minhash64 and of simdup_resembles is that of texts of some 1,000
 * characters. Other plans pay the second for short texts, too, so the first is not
 * taken back as a whole.
 */
#define TEXT_WIDTH 400.0
/* To sort a fingerprint once more, on disk. */
#define DISK_SORT_NANOSECONDS 100

/*
 * Set the statistics of a condition by fingerprints. The largest distance is the
 * radius. The server's own estimate of a comparison with <~> is a third of all pairs.
 */
static void
set_near(JoinOffer *offer)
{
	const SimdupCondition *condition = &offer->condition;

	offer->near = (SimdupNearClause){.funcid = condition->function,
									 .a = condition->keys[0],
									 .b = condition->keys[1]};
	simdup_set_limits(offer->root, &offer->near, condition->limits);
	offer->near.radius -= (condition->predicate->traits & SIMDUP_STRICT) != 0;
}

/* Return the join of which pairs are estimated: an inner one. */
static SpecialJoinInfo
inner_join(const JoinOffer *offer)
{
	Relids outer = offer->sides[0]->relids;
	Relids inner = offer->sides[1]->relids;

	return (SpecialJoinInfo){.type = T_SpecialJoinInfo,
							 .min_lefthand = outer,
							 .min_righthand = inner,
							 .syn_lefthand = outer,
							 .syn_righthand = inner,
							 .jointype = JOIN_INNER};
}

/* Return the rows of a side: those of its path, which other modules may correct. */
static double
count_rows(const JoinOffer *offer, int side)
{
	return offer->sides[side]->cheapest_total_path->rows;
}

/*
 * Return how many candidates the condition and the equalities leave. Candidates are
 * near by fingerprint, and their texts may differ. For shingles, assume that each
 * text resembles one other.
 */
static double
count_candidates(const JoinOffer *offer)
{
	double n = count_rows(offer, 0);
	double m = count_rows(offer, 1);
	SpecialJoinInfo join = inner_join(offer);
	SimdupNearClause near = offer->near;

	near.excludes_strangers = false;
	if (simdup_is_by_shingles(offer->condition.predicate))
		return Max(n, m);
	return n * m *
		   simdup_join_selectivity(offer->root, &near, JOIN_INNER, &join) *
		   clauselist_selectivity(offer->root, offer->equalities, 0, JOIN_INNER,
								  &join);
}

/*
 * Return the cost of the filter for `candidates`, and set that to those it leaves.
 * Candidates are near already, so another condition of this kind excludes none.
 */
static Cost
cost_of_filter(const JoinOffer *offer, double *candidates)
{
	SpecialJoinInfo join = inner_join(offer);
	/* all candidates fulfil these */
	List *equalities = get_actual_clauses(offer->equalities);
	Cost cost = 0;
	ListCell *cell;

	foreach (cell, offer->filter)
	{
		SimdupCondition other;
		QualCost clause;

		cost_qual_eval_node(&clause, lfirst(cell), offer->root);
		cost += clause.startup + *candidates * clause.per_tuple;
		if (!list_member_ptr(equalities, lfirst(cell)) &&
			!simdup_recognize_condition(offer->root, lfirst(cell),
										join.min_lefthand, join.min_righthand,
										&other))
			*candidates *= clause_selectivity(offer->root, lfirst(cell), 0,
											  JOIN_INNER, &join);
	}
	return cost;
}

/* Return into how many parts the equalities part the rows. */
static double
count_parts(const JoinOffer *offer)
{
	double n = Max(count_rows(offer, 0), 1);

	if (offer->equalities == NIL)
		return 1;
	for (int side = 0; side < 2; side++)
	{
		List *exprs = NIL;
		ListCell *cell;

		foreach (cell, offer->equalities)
			exprs =
				lappend(exprs, simdup_offer_side_of(offer, lfirst(cell), side));
		n = Min(n, estimate_num_groups(offer->root, exprs,
									   Max(count_rows(offer, side), 1), NULL,
									   NULL));
	}
	return Max(n, 1);
}

static double
hamming_nanoseconds(const JoinOffer *offer)
{
	int k = offer->near.radius;
	double parts = count_parts(offer);
	double n = Max(count_rows(offer, 0) / parts, 1);
	double m = offer->reads_once ? 0 : Max(count_rows(offer, 1) / parts, 1);
	double memory = (double) get_hash_memory_limit() / 5;
	double cost = parts * simdup_pair_join_cost(k, n, m);

	if ((n + m) * 44 > memory)
		cost += parts * (n + m) * (k + 1) * DISK_SORT_NANOSECONDS;
	return cost;
}

static double
width_of_key(const JoinOffer *offer, int side)
{
	PathTarget *key = create_empty_pathtarget();

	add_column_to_pathtarget(key, (Expr *) offer->condition.keys[side], 0);
	return set_pathtarget_cost_width(offer->root, key)->width;
}

/* Return the cost to compare the texts of candidates, each of which is kept. */
static Cost
cost_of_texts(const JoinOffer *offer, double candidates)
{
	double nanoseconds = candidates * RESEMBLANCE_NANOSECONDS;

	for (int side = 0; side < 2; side++)
		nanoseconds += Min(candidates, count_rows(offer, side)) *
					   width_of_key(offer, side) / TEXT_WIDTH *
					   TEXT_NANOSECONDS;
	return nanoseconds * COST_OF_NANOSECOND;
}

/* Return the nanoseconds of a search by shingles: most of it is to sort them. */
static double
shingle_nanoseconds(const JoinOffer *offer)
{
	double shingles = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
		shingles += count_rows(offer, side) * width_of_key(offer, side);
	return shingles * SHINGLE_NANOSECONDS;
}

/* Check whether a path that is there is cheaper than any of this join can be. */
static bool
is_dominated(const JoinOffer *offer)
{
	Cost least = 0; /* of one input: the other may be the same */

	for (int side = 0; side < 2; side++)
	{
		const Path *path = offer->sides[side]->cheapest_total_path;

		least = Max(least, path->total_cost + path->rows * ROW_NANOSECONDS *
												  COST_OF_NANOSECOND);
	}
	return !SIMDUP_PRECHECK_PATH(offer->joinrel, least);
}

/* Return the cost to read a side. The shorter its texts, the less minhash64 takes. */
static Cost
cost_of_input(const JoinOffer *offer, int side)
{
	Cost cost = offer->inputs[side]->total_cost;
	Cost keys = cost - offer->sides[side]->cheapest_total_path->total_cost;

	if (!simdup_compares_texts(offer->condition.predicate) || keys <= 0)
		return cost;
	return cost + keys * (width_of_key(offer, side) / TEXT_WIDTH - 1);
}

/* Set the cost of a path whose rows are set. */
static void
set_cost(const JoinOffer *offer, Path *path)
{
	double rows = 0;
	double bytes = 0;
	double candidates = count_candidates(offer);
	Cost cost = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
	{
		cost += cost_of_input(offer, side);
		SIMDUP_COUNT_DISABLED(path, offer->inputs[side]);
		rows += count_rows(offer, side);
		bytes += count_rows(offer, side) *
				 (offer->targets[side]->width + SizeofMinimalTupleHeader + 24);
	}
	SIMDUP_COUNT_RULED_OUT(path, offer->extra);
	if (bytes > (double) get_hash_memory_limit() / 2)
		cost += 2 * bytes / BLCKSZ * seq_page_cost;
	cost += (rows * ROW_NANOSECONDS +
			 (simdup_is_by_shingles(offer->condition.predicate)
				  ? shingle_nanoseconds(offer)
				  : hamming_nanoseconds(offer))) *
			COST_OF_NANOSECOND;
	path->startup_cost = cost;
	cost = candidates * CANDIDATE_NANOSECONDS * COST_OF_NANOSECOND +
		   cost_of_filter(offer, &candidates);
	if (simdup_compares_texts(offer->condition.predicate))
		cost += cost_of_texts(offer, candidates);
	if (offer->type == JOIN_SEMI || offer->type == JOIN_ANTI)
		path->startup_cost += cost;
	/* of a comparison, the server's estimate is a third of all pairs */
	if (offer->type == JOIN_INNER)
		path->rows = Min(path->rows, clamp_row_est(candidates));
	path->total_cost = path->startup_cost + cost + path->rows * cpu_tuple_cost;
}

/* Paths and plans */

/* Return the position of an expression among a side's columns, from 1. */
static int
column_of(const JoinOffer *offer, int side, Node *expr)
{
	int n = 0;
	ListCell *cell;

	foreach (cell, offer->targets[side]->exprs)
	{
		n++;
		if (equal(lfirst(cell), expr))
			return n;
	}
	elog(ERROR, "could not find a column of a join's input");
}

/* Return the columns that the node reads of a side: see SimdupJoinSide. */
static List *
list_side(const JoinOffer *offer, int side)
{
	List *columns =
		list_make3_int(list_length(offer->targets[side]->exprs),
					   column_of(offer, side, offer->keys[side]),
					   simdup_compares_texts(offer->condition.predicate)
						   ? column_of(offer, side, offer->condition.keys[side])
						   : 0);
	ListCell *cell;

	foreach (cell, offer->equalities)
		columns =
			lappend_int(columns,
						column_of(offer, side,
								  simdup_offer_side_of(offer, lfirst(cell),
													   side)));
	return columns;
}

/* Return the lists of the node: see SimdupJoinList. */
static List *
list_private(const JoinOffer *offer)
{
	bool parallel = is_parallel_safe(offer->root, (Node *) offer->filter);
	List *facts =
		list_make5_int((int) (offer->condition.predicate - simdup_predicates),
					   (int) offer->type, offer->reads_once,
					   offer->excludes_self, parallel);
	List *operators = NIL;
	List *collations = NIL;
	ListCell *cell;

	/* a row mark, too, makes the join return inner columns */
	facts = lappend_int(facts, bms_overlap(pull_varnos(offer->root,
													   (Node *) offer->joinrel
														   ->reltarget->exprs),
										   offer->sides[1]->relids));
	foreach (cell, offer->equalities)
	{
		RestrictInfo *equality = lfirst(cell);
		OpExpr *clause = (OpExpr *) equality->clause;
		bool left_is_outer =
			bms_is_subset(equality->left_relids, offer->sides[0]->relids);

		/* so that its left operand is the outer one */
		operators = lappend_oid(operators, left_is_outer
											   ? clause->opno
											   : get_commutator(clause->opno));
		collations = lappend_oid(collations, clause->inputcollid);
	}
	return list_make5(facts, list_side(offer, 0), list_side(offer, 1),
					  operators, collations);
}

#ifdef SIMDUP_HAVE_NULLING_RELIDS
/*
 * Mark the columns of the nullable side as those of the join's result, where they
 * may be NULL. The plan names them so everywhere.
 */
static Node *
mark_nullable(const JoinOffer *offer, Node *node)
{
	Relids join = bms_difference(offer->joinrel->relids,
								 bms_union(offer->sides[0]->relids,
										   offer->sides[1]->relids));

	return bms_is_empty(join)
			   ? node
			   : add_nulling_relids(node, offer->sides[1]->relids, join);
}

/* Check whether the join makes NULLs of no other join's columns. */
static bool
has_plain_nulls(const JoinOffer *offer)
{
	const SpecialJoinInfo *join = offer->extra->sjinfo;
	Relids relids = bms_union(offer->sides[0]->relids, offer->sides[1]->relids);

	if (join->ojrelid != 0)
		relids = bms_add_member(relids, (int) join->ojrelid);
	/* of outer joins that changed places, the upper one nulls columns here, too */
	return bms_equal(relids, offer->joinrel->relids) &&
		   !bms_overlap(join->commute_above_l, offer->joinrel->relids) &&
		   !bms_overlap(join->commute_above_r, offer->joinrel->relids);
}
#else
#define mark_nullable(offer, node) (node)
#define has_plain_nulls(offer) true
#endif

/*
 * Offer the path. Its custom_private has the plan's parts: the expressions of
 * the node, those above it, its columns, and the plan's custom_private.
 */
static void
add_join_path(JoinOffer *offer)
{
	CustomPath *path = makeNode(CustomPath);
	List *exprs = list_make3(offer->condition.limits,
							 list_make1(offer->served->clause), offer->filter);
	List *columns = list_copy(offer->targets[0]->exprs);

	columns =
		list_concat(columns,
					(List *) mark_nullable(offer,
										   (Node *) offer->targets[1]->exprs));
	path->path.pathtype = T_CustomScan;
	path->path.parent = offer->joinrel;
	path->path.pathtarget = offer->joinrel->reltarget;
	path->path.rows = offer->joinrel->rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(offer->inputs[0]);
	if (!offer->reads_once)
		path->custom_paths = lappend(path->custom_paths, offer->inputs[1]);
	path->custom_private =
		list_make4(mark_nullable(offer, (Node *) exprs), offer->above, columns,
				   list_private(offer));
	path->methods = &path_methods;
	SIMDUP_SET_GATES(path, offer->extra->restrictlist);
	set_cost(offer, &path->path);
	add_path(offer->joinrel, &path->path);
}

static Plan *
plan_join(PlannerInfo *root pg_attribute_unused(),
		  RelOptInfo *rel pg_attribute_unused(), CustomPath *path, List *tlist,
		  List *clauses pg_attribute_unused(), List *plans)
{
	CustomScan *plan = makeNode(CustomScan);
	List *facts = linitial(lfourth(path->custom_private));

	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = copyObject(lsecond(path->custom_private));
	plan->flags = path->flags;
	plan->custom_plans = plans;
	plan->custom_exprs = copyObject(linitial(path->custom_private));
	plan->custom_scan_tlist =
		add_to_flat_tlist(NIL, lthird(path->custom_private));
	plan->custom_private = copyObject(lfourth(path->custom_private));
	plan->methods = &simdup_join_methods[simdup_is_by_shingles(
		&simdup_predicates[linitial_int(facts)])];
	return &plan->scan.plan;
}

static void
offer_join(JoinOffer *offer)
{
	if (!simdup_is_by_shingles(offer->condition.predicate))
	{
		set_near(offer);
		/* NULL has no near pair; beyond the largest distance nearly all are near */
		if (offer->near.radius < 0 ||
			offer->near.radius > SIMDUP_MAX_PAIR_DISTANCE)
			return;
	}
	if (!is_dominated(offer) && simdup_offer_inputs(offer))
		add_join_path(offer);
}

/* Check whether a relation's rows can be read as they are. */
static bool
is_plain_input(RelOptInfo *rel)
{
	return rel->cheapest_total_path != NULL &&
		   PATH_REQ_OUTER(rel->cheapest_total_path) == NULL &&
		   !IS_DUMMY_REL(rel);
}

/* Offer joins: the hook. */
static void
offer_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
			RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	JoinOffer offer = {.root = root,
					   .joinrel = joinrel,
					   .sides = {outer, inner},
					   .type = type,
					   .extra = extra};
	ListCell *cell;

	if (earlier_hook != NULL)
		earlier_hook(root, joinrel, outer, inner, type, extra);
	if (!enable_join ||
		(type != JOIN_INNER && type != JOIN_LEFT && type != JOIN_SEMI &&
		 type != JOIN_ANTI) ||
		!bms_is_empty(joinrel->lateral_relids) || !is_plain_input(outer) ||
		!is_plain_input(inner) || !has_plain_nulls(&offer))
		return;
	/* with aggregation below the join, its columns are not all Vars of its sides */
	if (IS_GROUPED_REL(joinrel))
		return;
	/* clauses without columns gate the join */
	if (!SIMDUP_GATES_JOINS &&
		extract_actual_clauses(extra->restrictlist, true) != NIL)
		return;
	foreach (cell, extra->restrictlist)
	{
		offer.served = lfirst_node(RestrictInfo, cell);
		if (!simdup_offer_is_above(&offer, offer.served) &&
			simdup_recognize_condition(root, (Node *) offer.served->clause,
									   outer->relids, inner->relids,
									   &offer.condition))
		{
			offer_join(&offer);
			if (simdup_use_alternative(&offer.condition))
				offer_join(&offer);
		}
	}
}

void
simdup_joins_init(void)
{
	simdup_text_paths_init();
	DefineCustomBoolVariable("simdup.enable_join",
							 "Enables the planner's use of joins by Hamming distance and by shingles.",
							 NULL, &enable_join, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	for (Size i = 0; i < lengthof(simdup_join_methods); i++)
		RegisterCustomScanMethods(&simdup_join_methods[i]);
	earlier_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = offer_joins;
}
