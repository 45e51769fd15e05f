/*
 * support.c
 *	  Tells the planner about simhash_within and simdup_resembles: an operator
 *	  that says the same, an index condition, and how many rows to expect.
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
#include "server/catalog.h"
#include "type/simhash64.h"

/* The defaults, as in the install script; for parameters not known yet. */
#define DEFAULT_MIN_RESEMBLANCE 0.8
#define DEFAULT_RECALL 0.99

/*
 * Unrelated texts of one language share a few shingles. From this resemblance on,
 * the planner expects none of them.
 */
#define RELATED 0.05

/*
 * Check whether the function is simdup_resembles(a, b, min_resemblance, recall),
 * of texts. The other one is simhash_within(a, b, radius), of fingerprints.
 */
static bool
is_of_texts(Oid funcid)
{
	return get_func_nargs(funcid) == 4;
}

/*
 * Return simhash_ball(center, radius), as a constant if both operands are; NULL
 * if the function is missing.
 */
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

/* Check for a constant from 0 to 1. */
static bool
is_share(Node *node)
{
	Const *value = (Const *) node;

	return IsA(node, Const) && value->consttype == FLOAT8OID &&
		   !value->constisnull && DatumGetFloat8(value->constvalue) >= 0 &&
		   DatumGetFloat8(value->constvalue) <= 1;
}

/*
 * Return the largest distance of texts as an expression, or NULL if a constant
 * is out of range: simdup_resembles raises the error if it is called.
 */
static Node *
make_distance_expr(Oid funcid, Node *min_resemblance, Node *recall)
{
	Oid types[] = {FLOAT8OID, FLOAT8OID};
	Oid function;

	if (is_share(min_resemblance) && is_share(recall))
	{
		int distance =
			simdup_largest_distance(DatumGetFloat8(
										((Const *) min_resemblance)->constvalue),
									DatumGetFloat8(
										((Const *) recall)->constvalue));

		return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								  Int32GetDatum(distance), false, true);
	}
	if ((IsA(min_resemblance, Const) && !is_share(min_resemblance)) ||
		(IsA(recall, Const) && !is_share(recall)))
		return NULL;
	function = simdup_sibling_function(funcid, "minhash64_distance", types,
									   lengthof(types));
	if (!OidIsValid(function))
		return NULL;
	return (Node *) makeFuncExpr(function, INT4OID,
								 list_make2(copyObject(min_resemblance),
											copyObject(recall)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * Replace a text as the center of a ball by its fingerprint, as the operator
 * class of the index makes it. Return NULL unless the operator is the one of this
 * extension: another class may make other fingerprints of texts.
 */
static Node *
make_center_expr(SupportRequestIndexCondition *req, Oid opno, Oid ball_type,
				 Node *content, Oid collation)
{
	Oid fingerprint = get_opfamily_proc(req->opfamily, TEXTOID, TEXTOID,
										HAMMING_FINGERPRINT_PROC);
	Node *center;

	if (!OidIsValid(fingerprint) ||
		opno != simdup_sibling_operator(req->funcid, "<~@", TEXTOID, ball_type))
		return NULL;
	center =
		(Node *) makeFuncExpr(fingerprint,
							  simdup_sibling_type(req->funcid, "simhash64"),
							  list_make1(copyObject(content)), InvalidOid,
							  collation, COERCE_EXPLICIT_CALL);
	return IsA(content, Const) ? eval_const_expressions(req->root, center)
							   : center;
}

/*
 * Return the index condition of a call that has the column as its first or second
 * argument, if the index has the operator: column <@ simhash_ball(center, radius)
 * is the same as simhash_within(column, center, radius). Every row for which
 * simdup_resembles(column, query, m, r) is true fulfils column <~@
 * simhash_ball(fingerprint of query, largest distance).
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	FuncExpr *call = (FuncExpr *) req->node;
	Oid ball_type = simdup_sibling_type(req->funcid, "simhash_ball");
	bool of_texts = is_of_texts(req->funcid);
	Node *center;
	Node *radius;
	Expr *ball;
	Oid type;
	Oid opno;

	if (!is_funcclause(req->node) || req->indexarg > 1)
		return NIL;
	for (int i = 0; i < list_length(call->args); i++)
		if (i != req->indexarg &&
			!is_pseudo_constant_for_index(req->root, list_nth(call->args, i),
										  req->index))
			return NIL;

	type = of_texts ? TEXTOID : simdup_sibling_type(req->funcid, "simhash64");
	opno = get_opfamily_member(req->opfamily, type, ball_type,
							   SIMHASH_IN_BALL_STRATEGY);
	if (!OidIsValid(opno))
		return NIL;
	center = list_nth(call->args, 1 - req->indexarg);
	radius = lthird(call->args);
	if (of_texts)
	{
		center =
			make_center_expr(req, opno, ball_type, center, call->inputcollid);
		radius = make_distance_expr(req->funcid, radius, lfourth(call->args));
	}
	if (center == NULL || radius == NULL)
		return NIL;
	ball = make_ball_expr(req->root, req->funcid, center, radius);
	if (ball == NULL)
		return NIL;
	req->lossy = of_texts;
	return list_make1(make_opclause(opno, BOOLOID, false,
									list_nth(call->args, req->indexarg), ball,
									InvalidOid, call->inputcollid));
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
	if (is_of_texts(funcid) || !can_be_operator(fp, center, radius))
		return NULL;
	ball = make_ball_expr(req->root, funcid, center, radius);
	if (ball == NULL)
		return NULL;
	opno = simdup_sibling_operator(funcid, "<@", exprType(fp),
								   exprType((Node *) ball));
	if (!OidIsValid(opno))
		return NULL;
	return (Node *) make_opclause(opno, BOOLOID, false, (Expr *) fp, ball,
								  InvalidOid, InvalidOid);
}

/* Return the value of an argument at plan time, or its default; -1 for NULL. */
static double
plan_time_share(PlannerInfo *root, Node *node, double otherwise)
{
	Const *value = (Const *) estimate_expression_value(root, node);

	if (is_share((Node *) value))
		return DatumGetFloat8(value->constvalue);
	return IsA(value, Const) && value->constisnull ? -1 : otherwise;
}

static void
estimate_selectivity(SupportRequestSelectivity *req)
{
	SimdupNearClause clause = {.funcid = req->funcid,
							   .a = linitial(req->args),
							   .b = lsecond(req->args),
							   .of_texts = is_of_texts(req->funcid),
							   .radius = -1};

	if (clause.of_texts)
	{
		double min_resemblance = plan_time_share(req->root, lthird(req->args),
												 DEFAULT_MIN_RESEMBLANCE);
		double recall =
			plan_time_share(req->root, lfourth(req->args), DEFAULT_RECALL);

		clause.excludes_strangers = min_resemblance >= RELATED;
		if (min_resemblance >= 0 && recall >= 0)
			clause.radius = simdup_largest_distance(min_resemblance, recall);
	}
	else
		clause.radius = simdup_plan_time_radius(req->root, lthird(req->args));
	simdup_answer_selectivity(req, &clause);
}

PG_FUNCTION_INFO_V1(simdup_support);
Datum
simdup_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	Node *answer = NULL;

	if (IsA(request, SupportRequestSimplify))
		answer = simplify_to_operator((SupportRequestSimplify *) request);
	else if (IsA(request, SupportRequestIndexCondition))
		answer =
			(Node *) index_condition((SupportRequestIndexCondition *) request);
	else if (IsA(request, SupportRequestSelectivity))
	{
		estimate_selectivity((SupportRequestSelectivity *) request);
		answer = request;
	}
	PG_RETURN_POINTER(answer);
}
