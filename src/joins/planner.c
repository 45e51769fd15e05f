/*
 * planner.c
 *	  The join node as a path of the planner: its inputs, its cost, its plan.
 */
#include "postgres.h"
#include "compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "core/fingerprint/hamming.h"
#include "core/join/allpairs.h"
#include "index/planner.h"
#include "joins/join.h"
#include "server/arguments.h"

static bool enable_join = true;
static set_join_pathlist_hook_type earlier_hook;

/* Nanoseconds, as the server's costs have them: an operator takes some 10. */
#define COST_OF_NANOSECOND (cpu_operator_cost / 10)
/* Of the node, measured: to keep and sort a row, and to look at a candidate. */
#define ROW_NANOSECONDS 150
#define CANDIDATE_NANOSECONDS 150
/* To make a shingle, rank it and compare it. */
#define SHINGLE_NANOSECONDS 500
/* To sort a fingerprint once more, on disk. */
#define DISK_SORT_NANOSECONDS 100

/* A join to offer. */
typedef struct JoinOffer
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *sides[2]; /* outer and inner */
	JoinType type;
	JoinPathExtraData *extra;
	SimdupCondition condition;
	SimdupNearClause near; /* of fingerprints */
	List *equalities;	   /* RestrictInfos that part the rows */
	bool reads_once;
	bool excludes_self;
	PathTarget *targets[2]; /* the columns of both sides */
	Path *inputs[2];		/* the second is NULL if one is read */
	Node *keys[2];			/* fingerprints, or texts */
} JoinOffer;

/*
 * Clauses
 */

/* Check whether a clause is evaluated above the join, not as a part of it. */
static bool
is_above(const JoinOffer *offer, const RestrictInfo *restrictinfo)
{
	return IS_OUTER_JOIN(offer->type) &&
		   RINFO_IS_PUSHED_DOWN(restrictinfo, offer->joinrel->relids);
}

/* Return the expression of a side of an equality. */
static Node *
side_of_equality(const JoinOffer *offer, const RestrictInfo *restrictinfo,
				 int side)
{
	bool left_is_outer =
		bms_is_subset(restrictinfo->left_relids, offer->sides[0]->relids);
	Expr *clause = restrictinfo->clause;

	return left_is_outer == (side == 0) ? get_leftop(clause)
										: get_rightop(clause);
}

/* Check whether a clause makes the values of two expressions equal. */
static bool
is_equality(const JoinOffer *offer, RestrictInfo *restrictinfo)
{
	Relids left = restrictinfo->left_relids;
	Relids right = restrictinfo->right_relids;
	Relids outer = offer->sides[0]->relids;
	Relids inner = offer->sides[1]->relids;

	return restrictinfo->can_join &&
		   OidIsValid(restrictinfo->hashjoinoperator) &&
		   op_strict(restrictinfo->hashjoinoperator) &&
		   ((bms_is_subset(left, outer) && bms_is_subset(right, inner)) ||
			(bms_is_subset(left, inner) && bms_is_subset(right, outer))) &&
		   !contain_volatile_functions((Node *) restrictinfo->clause) &&
		   !contain_subplans((Node *) restrictinfo->clause);
}

static void
find_equalities(JoinOffer *offer)
{
	ListCell *cell;

	offer->equalities = NIL;
	foreach (cell, offer->extra->restrictlist)
	{
		RestrictInfo *restrictinfo = lfirst(cell);

		if (!is_above(offer, restrictinfo) && is_equality(offer, restrictinfo))
			offer->equalities = lappend(offer->equalities, restrictinfo);
	}
}

/* Check whether the node itself evaluates a clause. */
static bool
is_done_by_search(const JoinOffer *offer, const RestrictInfo *restrictinfo)
{
	return restrictinfo == offer->condition.restrictinfo &&
		   simdup_is_exact(offer->condition.kind);
}

/*
 * List the clauses to be evaluated for each candidate, or above the join: those of
 * a lower security level first, then the cheaper ones.
 */
static List *
ordered_clauses(const JoinOffer *offer, bool above)
{
	List *clauses = NIL;
	List *levels = NIL; /* of the clauses */
	List *costs = NIL;
	ListCell *cell;

	foreach (cell, offer->extra->restrictlist)
	{
		RestrictInfo *restrictinfo = lfirst(cell);
		int level = (int) restrictinfo->security_level;
		QualCost cost;
		int order;
		int at;

		if (restrictinfo->pseudoconstant ||
			is_above(offer, restrictinfo) != above ||
			is_done_by_search(offer, restrictinfo))
			continue;
		cost_qual_eval_node(&cost, (Node *) restrictinfo->clause, offer->root);
		order = (int) Min(cost.per_tuple / cpu_operator_cost, 1e9);
		for (at = list_length(clauses); at > 0; at--)
			if (list_nth_int(levels, at - 1) < level ||
				(list_nth_int(levels, at - 1) == level &&
				 list_nth_int(costs, at - 1) <= order))
				break;
		clauses = list_insert_nth(clauses, at, restrictinfo->clause);
		levels = list_insert_nth_int(levels, at, level);
		costs = list_insert_nth_int(costs, at, order);
	}
	return clauses;
}

/*
 * Reading once
 */

/* Replace the columns of the inner side by those of the outer one. */
static Node *
as_outer(const JoinOffer *offer, Node *node)
{
	node = copyObject(node);
	ChangeVarNodes(node, (int) offer->sides[1]->relid,
				   (int) offer->sides[0]->relid, 0);
	return node;
}

/* Return the conditions on the rows of a side. */
static Node *
conditions_of(const JoinOffer *offer, int side)
{
	Node *clauses =
		(Node *) extract_actual_clauses(offer->sides[side]->baserestrictinfo,
										false);

	return side == 0 ? clauses : as_outer(offer, clauses);
}

/*
 * Check whether both sides read the same rows. For EvalPlanQual each side has a row
 * of its own, so there must be no row marks and no target.
 */
static bool
can_read_once(const JoinOffer *offer)
{
	PlannerInfo *root = offer->root;
	const RangeTblEntry *entries[2];
	ListCell *cell;

	if (root->rowMarks != NIL || root->parse->resultRelation != 0)
		return false;
	for (int side = 0; side < 2; side++)
	{
		if (offer->sides[side]->reloptkind != RELOPT_BASEREL)
			return false;
		entries[side] = planner_rt_fetch(offer->sides[side]->relid, root);
	}
	if (entries[0]->rtekind != entries[1]->rtekind)
		return false;
	if (entries[0]->rtekind == RTE_CTE)
	{
		if (strcmp(entries[0]->ctename, entries[1]->ctename) != 0 ||
			entries[0]->ctelevelsup != entries[1]->ctelevelsup ||
			entries[0]->self_reference)
			return false;
	}
	else if (entries[0]->rtekind != RTE_RELATION ||
			 entries[0]->relid != entries[1]->relid ||
			 entries[0]->inh != entries[1]->inh ||
			 entries[0]->tablesample != NULL || entries[1]->tablesample != NULL)
		return false;
	/* an equality must give a row one value, on either side */
	foreach (cell, offer->equalities)
		if (!equal(side_of_equality(offer, lfirst(cell), 0),
				   as_outer(offer, side_of_equality(offer, lfirst(cell), 1))))
			return false;
	return !contain_volatile_functions(conditions_of(offer, 0)) &&
		   !contain_subplans(conditions_of(offer, 0)) &&
		   equal(conditions_of(offer, 0), conditions_of(offer, 1)) &&
		   equal(offer->condition.keys[0],
				 as_outer(offer, offer->condition.keys[1]));
}

/*
 * Check whether a clause excludes that a row matches itself: it is a < b, a > b or
 * a <> b of one expression of both sides.
 */
static bool
excludes_self(const JoinOffer *offer, Node *clause)
{
	OpExpr *comparison = (OpExpr *) clause;
	TypeCacheEntry *type;
	Node *left;
	Node *right;

	if (!IsA(clause, OpExpr) || list_length(comparison->args) != 2)
		return false;
	left = linitial(comparison->args);
	right = lsecond(comparison->args);
	if (contain_volatile_functions(clause) ||
		bms_equal(pull_varnos(offer->root, left),
				  pull_varnos(offer->root, right)) ||
		!equal(as_outer(offer, left), as_outer(offer, right)))
		return false;
	type =
		lookup_type_cache(exprType(left), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR |
											  TYPECACHE_EQ_OPR);
	return comparison->opno == type->lt_opr ||
		   comparison->opno == type->gt_opr ||
		   (OidIsValid(type->eq_opr) &&
			get_negator(comparison->opno) == type->eq_opr);
}

static bool
any_excludes_self(const JoinOffer *offer)
{
	List *clauses = ordered_clauses(offer, false);
	ListCell *cell;

	foreach (cell, clauses)
		if (excludes_self(offer, lfirst(cell)))
			return true;
	return false;
}

/*
 * Inputs
 */

/* Check whether a column is needed above the join, or by a clause. */
static bool
is_needed(const List *needed, const Expr *column)
{
	const Var *var = (const Var *) column;
	ListCell *cell;

	/* what is not a plain column may be needed as a part of something */
	if (!IsA(column, Var))
		return true;
	foreach (cell, needed)
	{
		const Var *other = lfirst(cell);

		if (other->varno == var->varno && other->varattno == var->varattno)
			return true;
	}
	return false;
}

static void
add_columns(PathTarget *target, List *exprs)
{
	ListCell *cell;

	foreach (cell, exprs)
		if (!list_member(target->exprs, lfirst(cell)))
			add_column_to_pathtarget(target, lfirst(cell), 0);
}

/*
 * Make the columns of a side: what is needed of those that its relation has, the
 * key, and the values that must be equal.
 */
static PathTarget *
make_target(const JoinOffer *offer, int side, const List *needed)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell *cell;

	foreach (cell, offer->sides[side]->reltarget->exprs)
		if (is_needed(needed, lfirst(cell)))
			add_columns(target, list_make1(lfirst(cell)));
	foreach (cell, offer->equalities)
		add_columns(target,
					list_make1(side_of_equality(offer, lfirst(cell), side)));
	add_columns(target, list_make1(offer->keys[side]));
	return set_pathtarget_cost_width(offer->root, target);
}

static void
make_targets(JoinOffer *offer)
{
	List *exprs = list_concat_copy(offer->joinrel->reltarget->exprs,
								   ordered_clauses(offer, false));
	List *needed;

	exprs = list_concat(exprs, ordered_clauses(offer, true));
	needed = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES |
												 PVC_RECURSE_WINDOWFUNCS |
												 PVC_RECURSE_PLACEHOLDERS);
	for (int side = 0; side < 2; side++)
		offer->targets[side] = make_target(offer, side, needed);
}

/* Give both sides the columns of either, since one input is read for both. */
static void
unite_targets(JoinOffer *offer)
{
	PathTarget *outer = offer->targets[0];
	PathTarget *inner = create_empty_pathtarget();
	ListCell *cell;

	add_columns(outer,
				(List *) as_outer(offer, (Node *) offer->targets[1]->exprs));
	set_pathtarget_cost_width(offer->root, outer);
	foreach (cell, outer->exprs)
	{
		Node *column = copyObject(lfirst(cell));

		ChangeVarNodes(column, (int) offer->sides[0]->relid,
					   (int) offer->sides[1]->relid, 0);
		add_column_to_pathtarget(inner, (Expr *) column, 0);
	}
	offer->targets[1] = inner;
}

/*
 * Check whether a path can give the columns. A scan of a table can give each of
 * the table's, another path those that the planner asked it for.
 */
static bool
can_give(const Path *path, const PathTarget *target)
{
	List *columns =
		pull_var_clause((Node *) target->exprs, PVC_INCLUDE_PLACEHOLDERS);
	ListCell *cell;

	if (path->pathtype == T_SeqScan || path->pathtype == T_IndexScan ||
		path->pathtype == T_BitmapHeapScan || path->pathtype == T_CteScan)
		return true;
	foreach (cell, columns)
		if (!list_member(path->parent->reltarget->exprs, lfirst(cell)))
			return false;
	return true;
}

/* Return a path with the columns that workers make; NULL if they cannot. */
static Path *
gather_input(const JoinOffer *offer, int side)
{
	RelOptInfo *rel = offer->sides[side];
	PathTarget *target = offer->targets[side];
	Path *partial;

	if (rel->partial_pathlist == NIL || !rel->consider_parallel ||
		!is_parallel_safe(offer->root, (Node *) target->exprs) ||
		!can_give(linitial(rel->partial_pathlist), target))
		return NULL;
	partial = (Path *) create_projection_path(offer->root, rel,
											  linitial(rel->partial_pathlist),
											  target);
	return (Path *) create_gather_path(offer->root, rel, partial, target, NULL,
									   NULL);
}

/*
 * Return the cheapest path of a side with its columns; NULL if there is none. Where
 * workers can make the columns, they do: a Gather of the planner would send whole
 * texts to the leader, which then computes their fingerprints alone.
 */
static Path *
make_input(const JoinOffer *offer, int side)
{
	RelOptInfo *rel = offer->sides[side];
	PathTarget *target = offer->targets[side];
	Path *gathered = gather_input(offer, side);
	Path *path;

	if (offer->reads_once && !can_give(rel->cheapest_total_path, target))
		return gathered;
	path = (Path *) create_projection_path(offer->root, rel,
										   rel->cheapest_total_path, target);
	return gathered != NULL && gathered->total_cost < path->total_cost
			   ? gathered
			   : path;
}

/*
 * Check whether the columns have a row's identity in an inherited table that the
 * statement changes. The plan cannot show such a column.
 */
static bool
has_row_identity(const JoinOffer *offer)
{
	for (int side = 0; side < 2; side++)
	{
		List *columns = pull_var_clause((Node *) offer->targets[side]->exprs,
										PVC_RECURSE_PLACEHOLDERS);
		ListCell *cell;

		foreach (cell, columns)
			if (lfirst_node(Var, cell)->varno == ROWID_VAR)
				return true;
	}
	return false;
}

/* Make the columns and the inputs. */
static void
make_inputs(JoinOffer *offer)
{
	make_targets(offer);
	if (offer->reads_once)
	{
		unite_targets(offer);
		offer->inputs[0] = make_input(offer, 0);
		if (offer->inputs[0] != NULL)
			return;
		offer->reads_once = offer->excludes_self = false;
		make_targets(offer);
	}
	for (int side = 0; side < 2; side++)
		offer->inputs[side] = make_input(offer, side);
}

/*
 * Return what the node compares: fingerprints, or the texts of shingles. Texts of
 * simdup_resembles are compared by their fingerprints first.
 */
static Node *
make_key(const SimdupCondition *condition, int side)
{
	Node *key = condition->keys[side];

	if (condition->kind != SIMDUP_RESEMBLES)
		return key;
	return simdup_make_minhash64(condition->function, key,
								 exprInputCollation(
									 (Node *) condition->restrictinfo->clause));
}

/*
 * Cost
 */

/*
 * Set what is known of the condition for estimates: of fingerprints, the largest
 * distance is the radius. The server's own estimate of a comparison with <~> is a
 * third of all pairs.
 */
static void
set_near(JoinOffer *offer)
{
	const SimdupCondition *condition = &offer->condition;

	offer->near = (SimdupNearClause){.funcid = condition->function,
									 .a = condition->keys[0],
									 .b = condition->keys[1]};
	simdup_set_limits(offer->root, &offer->near, condition->limits);
	offer->near.radius -= condition->kind == SIMDUP_BELOW;
}

/*
 * Return how many candidates the condition and the equalities leave. Of shingles
 * nothing is known but that texts resemble few others.
 */
static double
count_candidates(const JoinOffer *offer)
{
	RelOptInfo *outer = offer->sides[0];
	RelOptInfo *inner = offer->sides[1];
	SpecialJoinInfo join = {.type = T_SpecialJoinInfo,
							.min_lefthand = outer->relids,
							.min_righthand = inner->relids,
							.syn_lefthand = outer->relids,
							.syn_righthand = inner->relids,
							.jointype = JOIN_INNER};

	if (simdup_is_of_shingles(offer->condition.kind))
		return Max(outer->rows, inner->rows);
	return outer->rows * inner->rows *
		   simdup_pair_selectivity(offer->root, &offer->near, &join) *
		   clauselist_selectivity(offer->root, offer->equalities, 0, JOIN_INNER,
								  &join);
}

/* Return into how many parts the equalities part the rows. */
static double
count_parts(const JoinOffer *offer)
{
	double n = Max(offer->sides[0]->rows, 1);

	if (offer->equalities == NIL)
		return 1;
	for (int side = 0; side < 2; side++)
	{
		List *exprs = NIL;
		ListCell *cell;

		foreach (cell, offer->equalities)
			exprs = lappend(exprs, side_of_equality(offer, lfirst(cell), side));
		n = Min(n, estimate_num_groups(offer->root, exprs,
									   Max(offer->sides[side]->rows, 1), NULL,
									   NULL));
	}
	return Max(n, 1);
}

/* Return the nanoseconds of a search by fingerprints. */
static double
hamming_nanoseconds(const JoinOffer *offer)
{
	int k = offer->near.radius;
	double parts = count_parts(offer);
	double n = Max(offer->sides[0]->rows / parts, 1);
	double m = offer->reads_once ? 0 : Max(offer->sides[1]->rows / parts, 1);
	double memory = (double) get_hash_memory_limit() / 5;
	double cost = parts * simdup_pair_join_cost(k, n, m);

	if ((n + m) * 44 > memory)
		cost += parts * (n + m) * (k + 1) * DISK_SORT_NANOSECONDS;
	return cost;
}

/* Return the nanoseconds of a search by shingles: most of it is to sort them. */
static double
shingle_nanoseconds(const JoinOffer *offer)
{
	double shingles = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
	{
		PathTarget *text = create_empty_pathtarget();

		add_column_to_pathtarget(text, (Expr *) offer->keys[side], 0);
		shingles += offer->sides[side]->rows *
					set_pathtarget_cost_width(offer->root, text)->width;
	}
	return shingles * SHINGLE_NANOSECONDS;
}

static void
set_cost(JoinOffer *offer, Path *path)
{
	double rows = 0;
	double bytes = 0;
	double candidates = count_candidates(offer);
	QualCost filter;
	Cost cost = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
	{
		cost += offer->inputs[side]->total_cost;
		rows += offer->sides[side]->rows;
		bytes += offer->sides[side]->rows *
				 (offer->targets[side]->width + SizeofMinimalTupleHeader + 24);
	}
	if (bytes > (double) get_hash_memory_limit() / 2)
		cost += 2 * bytes / BLCKSZ * seq_page_cost;
	cost +=
		(rows * ROW_NANOSECONDS + (simdup_is_of_shingles(offer->condition.kind)
									   ? shingle_nanoseconds(offer)
									   : hamming_nanoseconds(offer))) *
		COST_OF_NANOSECOND;
	cost_qual_eval(&filter, ordered_clauses(offer, false), offer->root);
	path->startup_cost = cost + filter.startup;
	cost = candidates *
		   (CANDIDATE_NANOSECONDS * COST_OF_NANOSECOND + filter.per_tuple);
	if (offer->type == JOIN_SEMI || offer->type == JOIN_ANTI)
		path->startup_cost += cost;
	path->total_cost = path->startup_cost + cost + path->rows * cpu_tuple_cost;
}

/*
 * The path and the plan
 */

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *plans);

static const CustomPathMethods path_methods = {.CustomName = "simdup join",
											   .PlanCustomPath = plan_join};

/* Return the positions of expressions among a side's columns, from 1. */
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

/* What the node is told: see SimdupJoinFact. */
static List *
list_facts(const JoinOffer *offer, List *filter)
{
	List *facts =
		list_make2_int((int) offer->condition.kind, (int) offer->type);

	for (int side = 0; side < 2; side++)
		facts = lappend_int(facts, list_length(offer->targets[side]->exprs));
	for (int side = 0; side < 2; side++)
		facts = lappend_int(facts, column_of(offer, side, offer->keys[side]));
	facts = lappend_int(facts, offer->reads_once);
	facts = lappend_int(facts, offer->excludes_self);
	facts = lappend_int(facts, is_parallel_safe(offer->root, (Node *) filter));
	/* a row mark is one */
	return lappend_int(facts, bms_overlap(pull_varnos(offer->root,
													  (Node *) offer->joinrel
														  ->reltarget->exprs),
										  offer->sides[1]->relids));
}

/* And of the equalities: see SimdupJoinList. */
static List *
add_equalities(const JoinOffer *offer, List *lists)
{
	List *columns[2] = {NIL, NIL};
	List *operators = NIL;
	List *collations = NIL;
	ListCell *cell;

	foreach (cell, offer->equalities)
	{
		RestrictInfo *restrictinfo = lfirst(cell);
		OpExpr *clause = (OpExpr *) restrictinfo->clause;
		bool left_is_outer =
			bms_is_subset(restrictinfo->left_relids, offer->sides[0]->relids);

		for (int side = 0; side < 2; side++)
			columns[side] =
				lappend_int(columns[side],
							column_of(offer, side,
									  side_of_equality(offer, restrictinfo,
													   side)));
		/* so that its left operand is the outer one */
		operators = lappend_oid(operators, left_is_outer
											   ? clause->opno
											   : get_commutator(clause->opno));
		collations = lappend_oid(collations, clause->inputcollid);
	}
	lists = lappend(lists, columns[0]);
	lists = lappend(lists, columns[1]);
	lists = lappend(lists, operators);
	return lappend(lists, collations);
}

#if PG_VERSION_NUM >= 160000
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
	return bms_equal(relids, offer->joinrel->relids);
}
#else
#define mark_nullable(offer, node) (node)
#define has_plain_nulls(offer) true
#endif

/*
 * Offer the path. Its custom_private has what the plan needs: the expressions of
 * the node, those above it, its columns, and what the node is told.
 */
static void
add_join_path(JoinOffer *offer)
{
	CustomPath *path = makeNode(CustomPath);
	List *filter = ordered_clauses(offer, false);
	List *exprs =
		list_make3(offer->condition.limits,
				   list_make1(offer->condition.restrictinfo->clause), filter);
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
		list_make4(mark_nullable(offer, (Node *) exprs),
				   ordered_clauses(offer, true), columns,
				   add_equalities(offer,
								  list_make1(list_facts(offer, filter))));
	path->methods = &path_methods;
#if PG_VERSION_NUM >= 170000
	path->custom_restrictinfo = offer->extra->restrictlist;
#endif
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
	ListCell *cell;

	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = copyObject(lsecond(path->custom_private));
	plan->flags = path->flags;
	plan->custom_plans = plans;
	plan->custom_exprs = copyObject(linitial(path->custom_private));
	foreach (cell, (List *) lthird(path->custom_private))
		plan->custom_scan_tlist =
			lappend(plan->custom_scan_tlist,
					makeTargetEntry(copyObject(lfirst(cell)),
									(AttrNumber) foreach_current_index(cell) +
										1,
									NULL, false));
	plan->custom_private = copyObject(lfourth(path->custom_private));
	plan->methods =
		simdup_is_of_shingles((SimdupConditionKind) linitial_int(facts))
			? &simdup_shingle_join_methods
			: &simdup_hamming_join_methods;
	return &plan->scan.plan;
}

/* Offer a join by this condition. */
static void
offer_join(JoinOffer *offer)
{
	if (!simdup_is_of_shingles(offer->condition.kind))
	{
		set_near(offer);
		/* of NULL no pair is near; beyond, nearly all are */
		if (offer->near.radius < 0 ||
			offer->near.radius > SIMDUP_MAX_PAIR_DISTANCE)
			return;
	}
	find_equalities(offer);
	offer->reads_once = can_read_once(offer);
	offer->excludes_self = offer->reads_once && any_excludes_self(offer);
	for (int side = 0; side < 2; side++)
		if ((offer->keys[side] = make_key(&offer->condition, side)) == NULL)
			return;
	make_inputs(offer);
	if (!has_row_identity(offer))
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

/* Check whether the join has a clause without columns, which gates it. */
static bool
is_gated(const List *restrictlist)
{
	ListCell *cell;

	foreach (cell, restrictlist)
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	return false;
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
	/* the server adds the gate since 17 */
	if (PG_VERSION_NUM < 170000 && is_gated(extra->restrictlist))
		return;
	foreach (cell, extra->restrictlist)
		if (!is_above(&offer, lfirst(cell)) &&
			simdup_recognize_condition(root, lfirst(cell), outer->relids,
									   inner->relids, &offer.condition))
			offer_join(&offer);
}

void
simdup_joins_init(void)
{
	DefineCustomBoolVariable("simdup.enable_join",
							 "Enables the planner's use of joins by Hamming distance and by shingles.",
							 NULL, &enable_join, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	RegisterCustomScanMethods(&simdup_hamming_join_methods);
	RegisterCustomScanMethods(&simdup_shingle_join_methods);
	earlier_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = offer_joins;
}
