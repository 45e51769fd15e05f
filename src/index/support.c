/*
 * support.c
 *	  The operators of texts, simdup_resembles, and planner support of that and of
 *	  simhash_within.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/compare/resemblance.h"
#include "index/hamming/am.h"
#include "index/selectivity.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/*
 * A text that a function is called with again and again. A query compares one text
 * with many rows, and fingerprints it once. A copy of its bytes tells whether it is
 * still the same.
 */
typedef struct KnownText
{
	bool is_known;
	StringInfoData bytes; /* a copy of the text that is known */
	bool has_fp;
	uint64 fp;		  /* minhash64(content) */
	SimdupHashes set; /* of its elements, if they were needed */
} KnownText;

/* Longer texts are not copied: to compare them is rare, and slow in any case. */
#define MAX_REMEMBERED (16 * 1024 * 1024)

/* Fill in the fingerprint of a text, unless it is the text of the last call. */
static void
know_text(KnownText *known, const text *content)
{
	const char *bytes = VARDATA_ANY(content);
	int len = (int) VARSIZE_ANY_EXHDR(content);

	if (known->is_known && known->bytes.len == len &&
		memcmp(known->bytes.data, bytes, len) == 0)
		return;
	known->is_known = false;
	simdup_hashes_free(&known->set);
	known->has_fp = simdup_text_minhash64(content, &known->fp);
	if (len > MAX_REMEMBERED)
		return;
	resetStringInfo(&known->bytes);
	appendBinaryStringInfo(&known->bytes, bytes, len);
	known->is_known = true;
}

/*
 * Return the properties of the two texts that a function is called with, and the
 * texts. Return NULL if one of them has no fingerprint.
 */
static KnownText *
known_arguments(FunctionCallInfo fcinfo, text *content[2])
{
	FmgrInfo *function = fcinfo->flinfo;
	KnownText *known = function->fn_extra;

	if (known == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(function->fn_mcxt);

		known = palloc0(2 * sizeof(*known));
		initStringInfo(&known[0].bytes);
		initStringInfo(&known[1].bytes);
		function->fn_extra = known;
		MemoryContextSwitchTo(caller);
	}
	for (int i = 0; i < 2; i++)
	{
		content[i] = PG_GETARG_TEXT_PP(i);
		know_text(&known[i], content[i]);
		if (!known[i].has_fp)
			return NULL;
	}
	return known;
}

/* The elements of that text, ascending. Raises 54000 for too many. */
static const SimdupHashes *
known_set(KnownText *known, MemoryContext context, const text *content)
{
	if (known->set.hashes == NULL)
	{
		SimdupUtf8 utf8 = simdup_text_to_utf8(content);
		MemoryContext caller = MemoryContextSwitchTo(context);

		known->set = simdup_element_set(simdup_default_shingling, utf8);
		MemoryContextSwitchTo(caller);
	}
	return &known->set;
}

/* Operator class text_ops: the value that the index stores for a text, and its answers. */

PG_FUNCTION_INFO_V1(simdup_text_fingerprint);
/* Compute support function 1: NULL for a text without a shingle. */
Datum
simdup_text_fingerprint(PG_FUNCTION_ARGS)
{
	uint64 fp;

	if (!simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_text_in_ball);
/* Compute content <~@ ball: false for a text without a shingle. */
Datum
simdup_text_in_ball(PG_FUNCTION_ARGS)
{
	uint64 fp;

	PG_RETURN_BOOL(simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp) &&
				   simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(1), fp));
}

PG_FUNCTION_INFO_V1(simdup_text_distance);
/* Compute a <~~> b: NULL for a text without a shingle. */
Datum
simdup_text_distance(PG_FUNCTION_ARGS)
{
	text *content[2];
	KnownText *known = known_arguments(fcinfo, content);

	if (known == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT32(simdup_hamming64(known[0].fp, known[1].fp));
}

/*
 * Return the largest distance of two texts that simdup_resembles calls alike.
 * It takes longer to compute than a search, so the last one is remembered.
 */
static int
largest_distance(double min_resemblance, double recall)
{
	static double last_min_resemblance = -1;
	static double last_recall = -1;
	static int last_distance;

	if (min_resemblance != last_min_resemblance || recall != last_recall)
	{
		last_distance = simdup_agreement_distance(min_resemblance, recall);
		last_min_resemblance = min_resemblance;
		last_recall = recall;
	}
	return last_distance;
}

PG_FUNCTION_INFO_V1(simdup_resembles);
/*
 * Return simdup_resembles(a, b, min_resemblance, recall): whether two texts share
 * enough of their shingles. The fingerprints decide first, and the shingles are
 * compared only if they are near. So a hamming index on a column of texts finds all
 * candidates, and the executor verifies them. The answer is the same without the index.
 */
Datum
simdup_resembles(PG_FUNCTION_ARGS)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	double min_resemblance =
		simdup_check_share(PG_GETARG_FLOAT8(2), "min_resemblance");
	double recall = simdup_check_share(PG_GETARG_FLOAT8(3), "recall");
	text *content[2];
	KnownText *known = known_arguments(fcinfo, content);

	if (known == NULL || simdup_hamming64(known[0].fp, known[1].fp) >
							 largest_distance(min_resemblance, recall))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(
		simdup_resemblance_from(known_set(&known[0], context, content[0]),
								known_set(&known[1], context, content[1]),
								min_resemblance) >= 0);
}

/* Planner support. */

Node *
simdup_make_integer(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
							  Int32GetDatum(value), false, true);
}

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
 * Return a call of a function, computed if its arguments are constants; NULL if
 * the function or an argument is missing.
 */
static Node *
make_call(PlannerInfo *root, Oid function, List *arguments, Oid collation)
{
	Node *call;

	if (!OidIsValid(function) || list_member_ptr(arguments, NULL))
		return NULL;
	call = (Node *) makeFuncExpr(function, get_func_rettype(function),
								 copyObject(arguments), InvalidOid, collation,
								 COERCE_EXPLICIT_CALL);
	return eval_const_expressions(root, call);
}

/* Return the condition that an operand lies in a ball. */
static Node *
make_in_ball(PlannerInfo *root, Oid funcid, Oid opno, Node *operand,
			 Node *center, Node *radius, Oid collation)
{
	Node *ball = make_call(root, simdup_sibling_ball_constructor(funcid),
						   list_make2(center, radius), InvalidOid);

	if (ball == NULL || !OidIsValid(opno))
		return NULL;
	return (Node *) make_opclause(opno, BOOLOID, false, (Expr *) operand,
								  (Expr *) ball, InvalidOid, collation);
}

/* Return the value of a constant from 0 to 1, or -1. */
static double
known_share(Node *node)
{
	Const *value = (Const *) node;
	double share;

	if (!IsA(node, Const) || value->consttype != FLOAT8OID ||
		value->constisnull)
		return -1;
	share = DatumGetFloat8(value->constvalue);
	return share >= 0 && share <= 1 ? share : -1;
}

/*
 * Return the largest distance of texts as an expression, or NULL if a constant
 * is out of range: simdup_resembles raises the error if it is called.
 */
static Node *
make_distance(SupportRequestIndexCondition *req, Node *min_resemblance,
			  Node *recall)
{
	Oid types[] = {FLOAT8OID, FLOAT8OID};
	double m = known_share(min_resemblance);
	double r = known_share(recall);

	if (m >= 0 && r >= 0)
		return simdup_make_integer(largest_distance(m, r));
	if ((IsA(min_resemblance, Const) && m < 0) || (IsA(recall, Const) && r < 0))
		return NULL;
	return make_call(req->root,
					 simdup_sibling_function(req->funcid, "minhash64_distance",
											 types, lengthof(types)),
					 list_make2(min_resemblance, recall), InvalidOid);
}

/*
 * Return the index condition of a call, if the index has the operator. The column
 * is the first or second argument. simhash_within(column, center, radius) is the
 * same as column <@ simhash_ball(center, radius). A row for which
 * simdup_resembles(column, other, m, r) is true fulfils column <~@
 * simhash_ball(fingerprint of query, largest distance). That operator must be
 * the one of this extension: another class may make other fingerprints of texts.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	FuncExpr *call = (FuncExpr *) req->node;
	Oid ball_type = simdup_sibling_type(req->funcid, "simhash_ball");
	bool of_texts = is_of_texts(req->funcid);
	Node *center;
	Node *radius;
	Node *condition;
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
	center = list_nth(call->args, 1 - req->indexarg);
	radius = lthird(call->args);
	if (of_texts)
	{
		if (opno !=
			simdup_sibling_operator(req->funcid, "<~@", TEXTOID, ball_type))
			return NIL;
		center = make_call(req->root,
						   get_opfamily_proc(req->opfamily, TEXTOID, TEXTOID,
											 HAMMING_FINGERPRINT_PROC),
						   list_make1(center), call->inputcollid);
		radius = make_distance(req, radius, lfourth(call->args));
	}
	condition = make_in_ball(req->root, req->funcid, opno,
							 list_nth(call->args, req->indexarg), center,
							 radius, call->inputcollid);
	req->lossy = of_texts;
	return condition == NULL ? NIL : list_make1(condition);
}

/* Check whether an operand has one value in a scan of this query's tables. */
static bool
is_constant_in_scan(Node *node)
{
	return !contain_vars_of_level(node, 0) && !contain_volatile_functions(node);
}

bool
simdup_may_be_radius(Node *radius)
{
	Const *value = (Const *) radius;

	return !IsA(radius, Const) ||
		   (!value->constisnull &&
			simhash_radius_is_valid(DatumGetInt32(value->constvalue)));
}

static bool
can_be_operator(Node *fp, Node *center, Node *radius)
{
	return contain_vars_of_level(fp, 0) && !contain_volatile_functions(fp) &&
		   is_constant_in_scan(center) && is_constant_in_scan(radius) &&
		   simdup_may_be_radius(radius);
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
	Oid ball_type = simdup_sibling_type(funcid, "simhash_ball");
	Oid opno;

	if (!contain_vars_of_level(fp, 0))
	{
		fp = center;
		center = linitial(req->fcall->args);
	}
	if (is_of_texts(funcid) || !can_be_operator(fp, center, radius))
		return NULL;
	opno = simdup_sibling_operator(funcid, "<@", exprType(fp), ball_type);
	return make_in_ball(req->root, funcid, opno, fp, center, radius,
						InvalidOid);
}

/* Return the value of an argument at plan time, or its default; -1 for NULL. */
static double
plan_time_share(PlannerInfo *root, Node *node, double otherwise)
{
	Const *value = (Const *) estimate_expression_value(root, node);
	double share = known_share((Node *) value);

	if (share >= 0)
		return share;
	return IsA(value, Const) && value->constisnull ? -1 : otherwise;
}

List *
simdup_default_shingles(void)
{
	return list_make2(simdup_make_integer(simdup_default_shingling.w),
					  makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
								CStringGetTextDatum("char"), false, false));
}

Node *
simdup_make_minhash64(Oid funcid, Node *content, Oid collation)
{
	Oid types[] = {TEXTOID, INT4OID, TEXTOID, INT4OID};
	Oid function =
		simdup_sibling_function(funcid, "minhash64", types, lengthof(types));
	List *arguments = lcons(content, simdup_default_shingles());

	if (!OidIsValid(function))
		return NULL;
	return (Node *) makeFuncExpr(function, get_func_rettype(function),
								 lappend(arguments, simdup_make_integer(0)),
								 InvalidOid, collation, COERCE_EXPLICIT_CALL);
}

void
simdup_set_limits(PlannerInfo *root, SimdupNearClause *clause, List *limits)
{
	clause->of_texts = list_length(limits) == 2;
	if (clause->of_texts)
	{
		double m =
			plan_time_share(root, linitial(limits), DEFAULT_MIN_RESEMBLANCE);
		double r = plan_time_share(root, lsecond(limits), DEFAULT_RECALL);

		clause->excludes_strangers = m >= RELATED;
		clause->radius = m >= 0 && r >= 0 ? largest_distance(m, r) : -1;
	}
	else
		clause->radius = simdup_plan_time_radius(root, linitial(limits));
}

PG_FUNCTION_INFO_V1(simdup_support);
/*
 * Serve calls of simhash_within and simdup_resembles. For other functions, which
 * are no conditions, to plan a call loads the library, whose hook offers joins.
 */
Datum
simdup_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	Node *answer = NULL;

	if (IsA(request, SupportRequestSimplify) &&
		((SupportRequestSimplify *) request)->fcall->funcresulttype == BOOLOID)
		answer = simplify_to_operator((SupportRequestSimplify *) request);
	else if (IsA(request, SupportRequestIndexCondition))
		answer =
			(Node *) index_condition((SupportRequestIndexCondition *) request);
	else if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		SimdupNearClause clause = {.funcid = req->funcid,
								   .a = linitial(req->args),
								   .b = lsecond(req->args)};

		simdup_set_limits(req->root, &clause, list_copy_tail(req->args, 2));
		req->selectivity =
			req->is_join ? simdup_join_selectivity(req->root, &clause,
												   req->jointype, req->sjinfo)
						 : simdup_restriction_selectivity(req->root, &clause,
														  req->varRelid);
		answer = request;
	}
	PG_RETURN_POINTER(answer);
}
