/*
 * planner.c
 *	  The join node as a path of the planner, and its plan.
 */
#include "postgres.h"
#include "compat.h"

#include "nodes/extensible.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "core/fingerprint/hamming.h"
#include "joins/state.h"
#include "joins/offer.h"

static bool enable_join = true;
static set_join_pathlist_hook_type earlier_hook;

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
	simdup_offer_cost(offer, &path->path);
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
		simdup_offer_near(offer);
		/* NULL has no near pair; beyond the largest distance nearly all are near */
		if (offer->near.radius < 0 ||
			offer->near.radius > SIMDUP_MAX_PAIR_DISTANCE)
			return;
	}
	if (!simdup_offer_is_dominated(offer) && simdup_offer_inputs(offer))
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
