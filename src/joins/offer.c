/*
 * offer.c
 *	  The clauses of a join that is offered, and its inputs.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "joins/offer.h"

/* Clauses */

bool
simdup_offer_is_above(const JoinOffer *offer, const RestrictInfo *restrictinfo)
{
	return IS_OUTER_JOIN(offer->type) &&
		   RINFO_IS_PUSHED_DOWN(restrictinfo, offer->joinrel->relids);
}

Node *
simdup_offer_side_of(const JoinOffer *offer, const RestrictInfo *restrictinfo,
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
			(bms_is_subset(left, inner) && bms_is_subset(right, outer) &&
			 /* the node puts the outer operand first */
			 OidIsValid(get_commutator(restrictinfo->hashjoinoperator)))) &&
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

		if (!simdup_offer_is_above(offer, restrictinfo) &&
			is_equality(offer, restrictinfo))
			offer->equalities = lappend(offer->equalities, restrictinfo);
	}
}

/* Check whether a clause comes later: of a higher security level, or costlier. */
static bool
is_later(const RestrictInfo *clause, const RestrictInfo *other)
{
	if (clause->security_level != other->security_level)
		return clause->security_level > other->security_level;
	return clause->eval_cost.per_tuple > other->eval_cost.per_tuple;
}

/*
 * List the clauses to be evaluated for each candidate, or above the join, in their
 * order. The node itself may evaluate the condition that it serves.
 */
static List *
list_clauses(const JoinOffer *offer, bool above)
{
	List *clauses = NIL;
	ListCell *cell;

	foreach (cell, offer->extra->restrictlist)
	{
		RestrictInfo *restrictinfo = lfirst(cell);
		QualCost cost; /* which the RestrictInfo keeps */
		int at;

		if (restrictinfo->pseudoconstant ||
			simdup_offer_is_above(offer, restrictinfo) != above ||
			(restrictinfo == offer->served &&
			 (offer->condition.predicate->traits & SIMDUP_EXACT) != 0))
			continue;
		cost_qual_eval_node(&cost, (Node *) restrictinfo, offer->root);
		/* among equals the order stays, since one may guard the next */
		for (at = list_length(clauses); at > 0; at--)
			if (!is_later(list_nth(clauses, at - 1), restrictinfo))
				break;
		clauses = list_insert_nth(clauses, at, restrictinfo);
	}
	return extract_actual_clauses(clauses, false);
}

/* Reading once */

/* Replace the columns of the inner side by those of the outer one. */
static Node *
as_outer(const JoinOffer *offer, Node *node)
{
	node = copyObject(node);
	ChangeVarNodes(node, (int) offer->sides[1]->relid,
				   (int) offer->sides[0]->relid, 0);
	return node;
}

static Node *
conditions_of(const JoinOffer *offer, int side)
{
	Node *clauses =
		(Node *) extract_actual_clauses(offer->sides[side]->baserestrictinfo,
										false);

	return side == 0 ? clauses : as_outer(offer, clauses);
}

/* Check whether both sides read the same rows: see README. An INSERT has no row marks. */
static bool
can_read_once(const JoinOffer *offer)
{
	PlannerInfo *root = offer->root;
	const RangeTblEntry *entries[2];
	ListCell *cell;

	if (root->rowMarks != NIL)
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
		if (!equal(simdup_offer_side_of(offer, lfirst(cell), 0),
				   as_outer(offer,
							simdup_offer_side_of(offer, lfirst(cell), 1))))
			return false;
	return !contain_volatile_functions(conditions_of(offer, 0)) &&
		   !contain_subplans(conditions_of(offer, 0)) &&
		   equal(conditions_of(offer, 0), conditions_of(offer, 1)) &&
		   equal(offer->condition.keys[0],
				 as_outer(offer, offer->condition.keys[1]));
}

/*
 * Check whether a clause excludes that a row matches itself. It is a < b, a > b or
 * a <> b, of one expression of both sides.
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

/* Inputs */

/* Check whether a column is needed above the join, or by a clause. */
static bool
is_needed(const List *needed, const Expr *column)
{
	const Var *var = (const Var *) column;
	ListCell *cell;

	/* a placeholder may be needed as a part of an expression */
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

/*
 * Make the columns of a side: the needed ones of its relation, the key, and the
 * values that must be equal.
 */
static PathTarget *
make_target(const JoinOffer *offer, int side, const List *needed)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell *cell;

	foreach (cell, offer->sides[side]->reltarget->exprs)
		if (is_needed(needed, lfirst(cell)))
			add_new_column_to_pathtarget(target, lfirst(cell));
	foreach (cell, offer->equalities)
		add_new_column_to_pathtarget(target,
									 (Expr *) simdup_offer_side_of(offer,
																   lfirst(cell),
																   side));
	add_new_column_to_pathtarget(target, (Expr *) offer->keys[side]);
	if (simdup_compares_texts(offer->condition.predicate))
		add_new_column_to_pathtarget(target,
									 (Expr *) offer->condition.keys[side]);
	return set_pathtarget_cost_width(offer->root, target);
}

static void
make_targets(JoinOffer *offer)
{
	List *exprs =
		list_concat_copy(offer->joinrel->reltarget->exprs, offer->filter);
	List *needed;

	exprs = list_concat(exprs, offer->above);
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

	add_new_columns_to_pathtarget(outer,
								  (List *) as_outer(offer,
													(Node *) offer->targets[1]
														->exprs));
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
 * Return the cheapest path of a side with its columns; NULL if there is none. Workers
 * make the columns if they can. A Gather of the planner would send whole texts to the
 * leader, which then computes their fingerprints alone.
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
 * Check whether the columns of a side have placeholders, or else the identity of a row
 * in an inherited table that changes.
 */
static bool
have_special(const JoinOffer *offer, bool placeholders)
{
	for (int side = 0; side < 2; side++)
	{
		List *columns =
			pull_var_clause((Node *) offer->targets[side]->exprs,
							placeholders ? PVC_INCLUDE_PLACEHOLDERS
										 : PVC_RECURSE_PLACEHOLDERS);
		ListCell *cell;

		foreach (cell, columns)
			if (placeholders ? IsA(lfirst(cell), PlaceHolderVar)
							 : ((Var *) lfirst(cell))->varno == ROWID_VAR)
				return true;
	}
	return false;
}

static void
make_inputs(JoinOffer *offer)
{
	make_targets(offer);
	/* placeholders of the two sides would compare equal */
	if (have_special(offer, true))
		offer->reads_once = offer->excludes_self = false;
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
 * Return the key of a side: a fingerprint, or the text of shingles. Texts of
 * simdup_resembles are compared by their fingerprints first.
 */
static Node *
make_key(const JoinOffer *offer, int side)
{
	const SimdupCondition *condition = &offer->condition;
	Node *key = condition->keys[side];

	if (!simdup_compares_texts(condition->predicate))
		return key;
	return simdup_make_minhash64(condition->function, key,
								 exprInputCollation(
									 (Node *) offer->served->clause));
}

bool
simdup_offer_inputs(JoinOffer *offer)
{
	ListCell *cell;

	offer->filter = list_clauses(offer, false);
	offer->above = list_clauses(offer, true);
	find_equalities(offer);
	offer->reads_once = can_read_once(offer);
	offer->excludes_self = false;
	foreach (cell, offer->filter)
		offer->excludes_self |=
			offer->reads_once && excludes_self(offer, lfirst(cell));
	for (int side = 0; side < 2; side++)
		if ((offer->keys[side] = make_key(offer, side)) == NULL)
			return false;
	make_inputs(offer);
	/* the plan cannot show a row's identity */
	return !have_special(offer, false);
}
