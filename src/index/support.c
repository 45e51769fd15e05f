/*
 * support.c
 *	  Tells the planner about simhash_within: an operator that says the same, an
 *	  index condition, and how many rows to expect.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "core/probe.h"
#include "index/ball.h"
#include "index/selectivity.h"
#include "index/strategy.h"
#include "server/catalog.h"

/* simhash_ball(center, radius), as a constant if it is one. */
static Expr *
make_ball_expr(PlannerInfo *root, Oid funcid, Node *center, Node *radius)
{
	Oid constructor = simdup_sibling_ball_constructor(funcid);
	Node *ball;

	if (!OidIsValid(constructor))
		return NULL;
	ball = (Node *) makeFuncExpr(constructor, get_func_rettype(constructor),
								 list_make2(copyObject(center),
											copyObject(radius)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if (IsA(center, Const) && IsA(radius, Const))
		ball = eval_const_expressions(root, ball);
	return (Expr *) ball;
}

/* A constant radius for which a gin index would be read from end to end. */
static bool
radius_is_hopeless(IndexOptInfo *index, Node *radius)
{
	Const *value = (Const *) radius;

	return index->relam == GIN_AM_OID && IsA(radius, Const) &&
		   !value->constisnull &&
		   DatumGetInt32(value->constvalue) > SIMDUP_PROBE_MAX_RADIUS;
}

/*
 * simhash_within(column, center, k), the column first or second, is the same
 * as column <@ simhash_ball(center, k), if the index has that operator.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	List *args;
	Node *column;
	Node *center;
	Node *radius;
	Expr *ball;
	Oid opno;

	if (!is_funcclause(req->node) || req->indexarg > 1)
		return NIL;
	args = ((FuncExpr *) req->node)->args;
	column = list_nth(args, req->indexarg);
	center = list_nth(args, 1 - req->indexarg);
	radius = lthird(args);

	if (!is_pseudo_constant_for_index(req->root, center, req->index) ||
		!is_pseudo_constant_for_index(req->root, radius, req->index) ||
		radius_is_hopeless(req->index, radius))
		return NIL;

	ball = make_ball_expr(req->root, req->funcid, center, radius);
	if (ball == NULL)
		return NIL;
	opno =
		get_opfamily_member(req->opfamily,
							simdup_sibling_type(req->funcid, "simhash64"),
							exprType((Node *) ball), SIMHASH_IN_BALL_STRATEGY);
	if (!OidIsValid(opno))
		return NIL;

	req->lossy = false;
	return list_make1(make_opclause(opno, BOOLOID, false, (Expr *) column, ball,
									InvalidOid, InvalidOid));
}

static bool
is_known(Node *node)
{
	return IsA(node, Const) && !((Const *) node)->constisnull;
}

/*
 * simhash_within(x, center, k) with a known center and radius is x <@ ball. The
 * planner then sees that an index condition is the whole condition, where it
 * would filter the rows of a bitmap again. A ball that is not known would be made
 * for each row, which takes as long as the comparison.
 */
static Node *
simplify_to_operator(SupportRequestSimplify *req)
{
	Oid funcid = req->fcall->funcid;
	char *schema = get_namespace_name(get_func_namespace(funcid));
	Node *fp = linitial(req->fcall->args);
	Node *center = lsecond(req->fcall->args);
	Node *radius = lthird(req->fcall->args);
	Expr *ball;
	Oid opno;

	if (is_known(fp))
	{
		fp = center;
		center = linitial(req->fcall->args);
	}
	/* a radius out of range is an error if the function is called, and only then */
	if (!is_known(center) || !is_known(radius) || schema == NULL ||
		!simhash_radius_is_valid(DatumGetInt32(((Const *) radius)->constvalue)))
		return NULL;
	ball = make_ball_expr(req->root, funcid, center, radius);
	if (ball == NULL || !is_known((Node *) ball))
		return NULL;
	opno = OpernameGetOprid(list_make2(makeString(schema), makeString("<@")),
							exprType(center), exprType((Node *) ball));
	if (!OidIsValid(opno))
		return NULL;
	return (Node *) make_opclause(opno, BOOLOID, false, (Expr *) fp, ball,
								  InvalidOid, InvalidOid);
}

static void
estimate_selectivity(SupportRequestSelectivity *req)
{
	Node *a = linitial(req->args);
	Node *b = lsecond(req->args);
	Node *radius = lthird(req->args);

	if (req->is_join)
		req->selectivity =
			simdup_join_selectivity(req->root, req->funcid, a, b, radius,
									req->jointype, req->sjinfo);
	else
		req->selectivity =
			simdup_restriction_selectivity(req->root, req->funcid, a, b, radius,
										   req->varRelid);
}

PG_FUNCTION_INFO_V1(simhash_within_support);
Datum
simhash_within_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(
			simplify_to_operator((SupportRequestSimplify *) request));
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(
			index_condition((SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
	{
		estimate_selectivity((SupportRequestSelectivity *) request);
		PG_RETURN_POINTER(request);
	}
	PG_RETURN_POINTER(NULL);
}
