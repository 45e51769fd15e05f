/*
 * support.c
 *	  Tells the planner about simhash_within: an operator that says the same, an
 *	  index condition, and how many rows to expect.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "index/hamming/am.h"
#include "index/planner.h"
#include "server/arguments.h"
#include "type/simhash64.h"

Expr *
simdup_make_ball_expr(PlannerInfo *root, Oid funcid, Node *center, Node *radius)
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

/*
 * Return the index condition of simhash_within(column, center, k), the column
 * first or second, is the same as column <@ simhash_ball(center, k), if the
 * index has that operator.
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
		!is_pseudo_constant_for_index(req->root, radius, req->index))
		return NIL;

	ball = simdup_make_ball_expr(req->root, req->funcid, center, radius);
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

/* Check whether an operand has one value in a scan of this query's tables. */
static bool
is_constant_in_scan(Node *node)
{
	return !contain_vars_of_level(node, 0) && !contain_volatile_functions(node);
}

/*
 * Check whether the function may become the operator. A radius out of range is
 * an error only if the function is called, and a constant ball would be made at
 * once.
 */
static bool
can_be_operator(Node *fp, Node *center, Node *radius)
{
	Const *value = (Const *) radius;

	if (!contain_vars_of_level(fp, 0) || contain_volatile_functions(fp) ||
		!is_constant_in_scan(center) || !is_constant_in_scan(radius))
		return false;
	return !IsA(radius, Const) ||
		   (!value->constisnull &&
			simhash_radius_is_valid(DatumGetInt32(value->constvalue)));
}

/*
 * Return x <@ simhash_ball(center, k) for simhash_within(x, center, k), where x
 * alone holds columns of this query. The planner then sees that an index
 * condition is the whole condition, where it would filter the rows of a bitmap
 * again. A condition between two columns stays a function. As an operator it
 * would name one of them as the indexed one, and the join order decides which
 * that is.
 */
static Node *
simplify_to_operator(SupportRequestSimplify *req)
{
	Oid funcid = req->fcall->funcid;
	Node *fp = linitial(req->fcall->args);
	Node *center = lsecond(req->fcall->args);
	Node *radius = lthird(req->fcall->args);
	Expr *ball;
	Oid opno;

	if (!contain_vars_of_level(fp, 0))
	{
		fp = center;
		center = linitial(req->fcall->args);
	}
	if (!can_be_operator(fp, center, radius))
		return NULL;
	ball = simdup_make_ball_expr(req->root, funcid, center, radius);
	if (ball == NULL)
		return NULL;
	opno = simdup_sibling_operator(funcid, "<@", exprType(fp),
								   exprType((Node *) ball));
	if (!OidIsValid(opno))
		return NULL;
	return (Node *) make_opclause(opno, BOOLOID, false, (Expr *) fp, ball,
								  InvalidOid, InvalidOid);
}

static void
estimate_selectivity(SupportRequestSelectivity *req)
{
	SimdupNearClause clause = {.funcid = req->funcid,
							   .a = linitial(req->args),
							   .b = lsecond(req->args),
							   .radius =
								   simdup_plan_time_radius(req->root,
														   lthird(req->args))};

	simdup_answer_selectivity(req, &clause);
}

Node *
simdup_answer_request(Node *request,
					  List *(*condition)(SupportRequestIndexCondition *),
					  void (*estimate)(SupportRequestSelectivity *))
{
	if (IsA(request, SupportRequestIndexCondition))
		return (Node *) condition((SupportRequestIndexCondition *) request);
	if (!IsA(request, SupportRequestSelectivity))
		return NULL;
	estimate((SupportRequestSelectivity *) request);
	return request;
}

Node *
simdup_support_within(Node *request)
{
	if (IsA(request, SupportRequestSimplify))
		return simplify_to_operator((SupportRequestSimplify *) request);
	return simdup_answer_request(request, index_condition,
								 estimate_selectivity);
}
