/*
 * text_ops.c
 *	  Texts in a hamming index: the operators of text_ops, and simdup_resembles
 *	  with its planner support.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/compare/resemblance.h"
#include "core/compare/statistics.h"
#include "index/hamming/am.h"
#include "index/planner.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/*
 * What is known of a text that a function is called with again and again.
 *
 * A query compares one text with many rows, and fingerprints it once. A copy of
 * its bytes tells whether it is still the same.
 */

/* Begins as {0}. */
typedef struct KnownText
{
	char *bytes; /* a copy of the text, unless it is too long to remember */
	size_t len;
	size_t size; /* of bytes */
	bool is_known;
	bool has_fp;
	uint64 fp; /* minhash64(content) */
	bool has_set;
	SimdupHashes set;
} KnownText;

/* Longer texts are not copied: to compare them is rare, and slow in any case. */
#define MAX_REMEMBERED (16 * 1024 * 1024)

static bool
is_same(const KnownText *known, const char *bytes, size_t len)
{
	return known->is_known && known->len == len &&
		   memcmp(known->bytes, bytes, len) == 0;
}

static void
remember(KnownText *known, MemoryContext context, const char *bytes, size_t len)
{
	if (len > known->size)
	{
		if (known->bytes != NULL)
			pfree(known->bytes);
		known->bytes = NULL;
		known->size = 0;
		known->bytes = MemoryContextAlloc(context, 2 * len);
		known->size = 2 * len;
	}
	if (len > 0)
		memcpy(known->bytes, bytes, len);
	known->len = len;
	known->is_known = true;
}

/*
 * Fill in the fingerprint of a text, unless it is the text of the last call.
 * The context holds what is remembered.
 */
static void
know_text(KnownText *known, MemoryContext context, const text *content)
{
	const char *bytes = VARDATA_ANY(content);
	size_t len = VARSIZE_ANY_EXHDR(content);

	if (is_same(known, bytes, len))
		return;
	known->is_known = false;
	if (known->has_set)
		simdup_hashes_free(&known->set);
	known->set = (SimdupHashes){0};
	known->has_set = false;
	known->has_fp = simdup_text_minhash64(content, &known->fp);
	if (len <= MAX_REMEMBERED)
		remember(known, context, bytes, len);
}

/* The elements of that text, ascending. Raises 54000 for too many. */
static const SimdupHashes *
known_set(KnownText *known, MemoryContext context, const text *content)
{
	if (!known->has_set)
	{
		SimdupUtf8 utf8 = simdup_text_to_utf8(content);
		MemoryContext caller = MemoryContextSwitchTo(context);

		known->set = simdup_element_set(simdup_default_shingling, utf8);
		known->has_set = true;
		MemoryContextSwitchTo(caller);
	}
	return &known->set;
}

/*
 * The operator class text_ops of hamming indexes: the fingerprint that the
 * index stores of a text, and the operators that the index answers.
 */

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
	FmgrInfo *function = fcinfo->flinfo;
	KnownText *known = function->fn_extra;

	if (known == NULL)
		known = function->fn_extra =
			MemoryContextAllocZero(function->fn_mcxt, 2 * sizeof(*known));
	for (int i = 0; i < 2; i++)
	{
		know_text(&known[i], function->fn_mcxt, PG_GETARG_TEXT_PP(i));
		if (!known[i].has_fp)
			PG_RETURN_NULL();
	}
	PG_RETURN_INT32(simdup_hamming64(known[0].fp, known[1].fp));
}

/*
 * simdup_resembles: whether two texts share enough of their shingles, and its
 * planner support.
 *
 * The fingerprints decide first, and the shingles are compared only if they are
 * near. So a hamming index on a column of texts finds all candidates, and the
 * executor verifies them. The answer is the same without the index.
 */

/* The defaults, as in the install script; for parameters not known yet. */
#define DEFAULT_MIN_RESEMBLANCE 0.8
#define DEFAULT_RECALL 0.99

/*
 * Unrelated texts of one language share a few shingles. From this resemblance on,
 * the planner expects none of them.
 */
#define RELATED 0.05

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
/* Return simdup_resembles(content, query, min_resemblance, recall). */
Datum
simdup_resembles(PG_FUNCTION_ARGS)
{
	FmgrInfo *function = fcinfo->flinfo;
	KnownText *known = function->fn_extra;
	double min_resemblance =
		simdup_check_share(PG_GETARG_FLOAT8(2), "min_resemblance");
	double recall = simdup_check_share(PG_GETARG_FLOAT8(3), "recall");
	text *content[2];

	if (known == NULL)
		known = function->fn_extra =
			MemoryContextAllocZero(function->fn_mcxt, 2 * sizeof(*known));
	for (int i = 0; i < 2; i++)
	{
		content[i] = PG_GETARG_TEXT_PP(i);
		know_text(&known[i], function->fn_mcxt, content[i]);
		if (!known[i].has_fp)
			PG_RETURN_BOOL(false);
	}
	if (simdup_hamming64(known[0].fp, known[1].fp) >
		largest_distance(min_resemblance, recall))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(
		simdup_resemblance_from(known_set(&known[0], function->fn_mcxt,
										  content[0]),
								known_set(&known[1], function->fn_mcxt,
										  content[1]),
								min_resemblance) >= 0);
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
 * Return the largest distance as an expression, or NULL if a constant is out of
 * range: simdup_resembles raises the error if it is called.
 */
static Node *
make_distance_expr(Oid funcid, Node *min_resemblance, Node *recall)
{
	Oid types[] = {FLOAT8OID, FLOAT8OID};
	Oid function;

	if (is_share(min_resemblance) && is_share(recall))
		return (Node *)
			makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
					  Int32GetDatum(
						  largest_distance(DatumGetFloat8(
											   ((Const *) min_resemblance)
												   ->constvalue),
										   DatumGetFloat8(
											   ((Const *) recall)->constvalue))),
					  false, true);
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
 * Return the index condition of simdup_resembles(column, query, m, r), the
 * column first or second. It is true for no other rows than column <~@
 * simhash_ball(fingerprint of query, largest distance). That operator must be
 * the one of this extension: another class may make other fingerprints of
 * texts.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	Oid fp_type = simdup_sibling_type(req->funcid, "simhash64");
	Oid ball_type = simdup_sibling_type(req->funcid, "simhash_ball");
	List *args;
	FuncExpr *call;
	Node *query;
	Node *center;
	Node *distance;
	Expr *ball;
	Oid fingerprint;
	Oid opno;

	if (!is_funcclause(req->node) || req->indexarg > 1)
		return NIL;
	call = (FuncExpr *) req->node;
	args = call->args;
	query = list_nth(args, 1 - req->indexarg);
	if (!is_pseudo_constant_for_index(req->root, query, req->index) ||
		!is_pseudo_constant_for_index(req->root, lthird(args), req->index) ||
		!is_pseudo_constant_for_index(req->root, lfourth(args), req->index))
		return NIL;

	opno = get_opfamily_member(req->opfamily, TEXTOID, ball_type,
							   SIMHASH_IN_BALL_STRATEGY);
	fingerprint = get_opfamily_proc(req->opfamily, TEXTOID, TEXTOID,
									HAMMING_FINGERPRINT_PROC);
	if (!OidIsValid(opno) || !OidIsValid(fingerprint) ||
		opno != simdup_sibling_operator(req->funcid, "<~@", TEXTOID, ball_type))
		return NIL;

	center = (Node *) makeFuncExpr(fingerprint, fp_type,
								   list_make1(copyObject(query)), InvalidOid,
								   call->inputcollid, COERCE_EXPLICIT_CALL);
	if (IsA(query, Const))
		center = eval_const_expressions(req->root, center);
	distance = make_distance_expr(req->funcid, lthird(args), lfourth(args));
	if (distance == NULL)
		return NIL;
	ball = simdup_make_ball_expr(req->root, req->funcid, center, distance);
	if (ball == NULL)
		return NIL;
	req->lossy = true;
	return list_make1(make_opclause(opno, BOOLOID, false,
									list_nth(args, req->indexarg), ball,
									InvalidOid, call->inputcollid));
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
	double min_resemblance =
		plan_time_share(req->root, lthird(req->args), DEFAULT_MIN_RESEMBLANCE);
	double recall =
		plan_time_share(req->root, lfourth(req->args), DEFAULT_RECALL);
	SimdupNearClause clause = {.funcid = req->funcid,
							   .a = linitial(req->args),
							   .b = lsecond(req->args),
							   .of_texts = true,
							   .radius = -1,
							   .excludes_strangers =
								   min_resemblance >= RELATED};

	if (min_resemblance >= 0 && recall >= 0)
		clause.radius = largest_distance(min_resemblance, recall);
	simdup_answer_selectivity(req, &clause);
}

/* Return the function that a request is about; InvalidOid for another request. */
static Oid
requested_function(Node *request)
{
	if (IsA(request, SupportRequestSimplify))
		return ((SupportRequestSimplify *) request)->fcall->funcid;
	if (IsA(request, SupportRequestIndexCondition))
		return ((SupportRequestIndexCondition *) request)->funcid;
	if (IsA(request, SupportRequestSelectivity))
		return ((SupportRequestSelectivity *) request)->funcid;
	return InvalidOid;
}

PG_FUNCTION_INFO_V1(simdup_support);
/*
 * The support function of simhash_within, of three arguments, and
 * simdup_resembles.
 */
Datum
simdup_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	Oid function = requested_function(request);

	if (!OidIsValid(function))
		PG_RETURN_POINTER(NULL);
	if (get_func_nargs(function) == 3)
		PG_RETURN_POINTER(simdup_support_within(request));
	PG_RETURN_POINTER(
		simdup_answer_request(request, index_condition, estimate_selectivity));
}
