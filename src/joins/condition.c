/*
 * condition.c
 *	  The conditions that the join node and indexes of texts serve.
 */
#include "postgres.h"
#include "compat.h"

#include <float.h>

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "core/compare/resemblance.h"
#include "index/selectivity.h"
#include "joins/condition.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/* Limits. One out of range is an error of the condition, once that is evaluated. */

/* Check whether simdup_resembles takes these limits. */
static bool
are_shares(Datum min_resemblance, Datum recall)
{
	double m = DatumGetFloat8(min_resemblance);
	double r = DatumGetFloat8(recall);

	return m >= 0 && m <= 1 && r >= 0 && r <= 1;
}

static SimdupAdmitted
admit_distance(int64 k, SimdupLimits *read)
{
	read->max_distance = (int) Min(k, SIMDUP_MAX_PAIR_DISTANCE);
	return k < 0						  ? SIMDUP_NO_PAIRS
		   : k > SIMDUP_MAX_PAIR_DISTANCE ? SIMDUP_ALL_PAIRS
										  : SIMDUP_NEAR_PAIRS;
}

static SimdupAdmitted
read_distance(const SimdupPredicate *predicate, const Datum *limits,
			  SimdupLimits *read)
{
	int64 k = (int64) DatumGetInt32(limits[0]) -
			  ((predicate->traits & SIMDUP_STRICT) != 0);

	if ((predicate->traits & SIMDUP_MEASURED) == 0 &&
		!simhash_radius_is_valid(k))
		return SIMDUP_ALL_PAIRS;
	return admit_distance(k, read);
}

/* Read min_resemblance and recall. */
static SimdupAdmitted
read_recall(const SimdupPredicate *predicate pg_attribute_unused(),
			const Datum *limits, SimdupLimits *read)
{
	if (!are_shares(limits[0], limits[1]))
		return SIMDUP_ALL_PAIRS;
	read->min_resemblance = DatumGetFloat8(limits[0]);
	read->shingling = simdup_default_shingling;
	return admit_distance(simdup_agreement_distance(read->min_resemblance,
													DatumGetFloat8(limits[1])),
						  read);
}

/* Read min_resemblance, w, unit, and recall if the function has it. */
static SimdupAdmitted
read_shingles(const SimdupPredicate *predicate, const Datum *limits,
			  SimdupLimits *read)
{
	read->min_resemblance = DatumGetFloat8(limits[0]);
	/* less than this share nothing */
	if ((predicate->traits & SIMDUP_STRICT) != 0 && read->min_resemblance >= 0)
		read->min_resemblance = Max(read->min_resemblance, DBL_MIN);
	if (read->min_resemblance <= 0 ||
		((predicate->traits & SIMDUP_MEASURED) == 0 &&
		 !are_shares(limits[0], limits[3])) ||
		!simdup_is_resemblance(DatumGetInt32(limits[1]),
							   DatumGetTextPP(limits[2])))
		return SIMDUP_ALL_PAIRS;
	read->shingling = simdup_get_resemblance(DatumGetInt32(limits[1]),
											 DatumGetTextPP(limits[2]));
	return SIMDUP_NEAR_PAIRS;
}

enum
{
	WITHIN,
	AT_MOST,
	BELOW,
	RESEMBLES,
	SHINGLES_AT_LEAST,
	SHINGLES_ABOVE,
	RESEMBLES_BY_SHINGLES,
	N_PREDICATES
};

const SimdupPredicate simdup_predicates[] = {
	/* simhash_within(x, y, k), or a ball */
	[WITHIN] = {"simhash_within", 3, SIMDUP_EXACT, &simdup_hamming_search,
				read_distance, 0},
	/* x <~> y <= k, and with < */
	[AT_MOST] = {"simhash_distance", 2, SIMDUP_EXACT | SIMDUP_MEASURED,
				 &simdup_hamming_search, read_distance, 0},
	[BELOW] = {"simhash_distance", 2,
			   SIMDUP_EXACT | SIMDUP_MEASURED | SIMDUP_STRICT,
			   &simdup_hamming_search, read_distance, 0},
	/* simdup_resembles(x, y, min_resemblance, recall) */
	[RESEMBLES] = {"simdup_resembles", 4, SIMDUP_EXACT | SIMDUP_COMPARES_TEXTS,
				   &simdup_hamming_search, read_recall, RESEMBLES_BY_SHINGLES},
	/* shingle_resemblance(x, y, w, unit) >= min_resemblance, and with > */
	[SHINGLES_AT_LEAST] = {"shingle_resemblance", 4,
						   SIMDUP_EXACT | SIMDUP_MEASURED,
						   &simdup_shingle_search, read_shingles, 0},
	[SHINGLES_ABOVE] = {"shingle_resemblance", 4,
						SIMDUP_MEASURED | SIMDUP_STRICT, &simdup_shingle_search,
						read_shingles, 0},
	/* simdup_resembles, as a shingle_resemblance of at least min_resemblance */
	[RESEMBLES_BY_SHINGLES] = {"simdup_resembles", 4, 0, &simdup_shingle_search,
							   read_shingles, 0}};

/*
 * Check whether a function is this extension's one of the name. In an extension
 * no other function of these names has as many arguments.
 */
static bool
is_own(Oid function, const char *name, int n_arguments)
{
	char *its_name = get_func_name(function);
	Oid extension;

	if (its_name == NULL || strcmp(its_name, name) != 0 ||
		get_func_nargs(function) != n_arguments)
		return false;
	/* the library may be loaded where the extension is not created */
	extension = get_extension_oid("simdup", true);
	return OidIsValid(extension) &&
		   getExtensionOfObject(ProcedureRelationId, function) == extension;
}

/* Return the arguments of a call of a function or an operator; NIL for neither. */
static List *
call_of(Node *node, Oid *function)
{
	if (IsA(node, FuncExpr))
	{
		*function = ((FuncExpr *) node)->funcid;
		return ((FuncExpr *) node)->args;
	}
	if (IsA(node, OpExpr))
	{
		*function = get_opcode(((OpExpr *) node)->opno);
		return ((OpExpr *) node)->args;
	}
	return NIL;
}

/*
 * Make a condition of a call, whose result is compared if there is a limit. Return
 * false if no predicate has it.
 */
static bool
recognize_call(SimdupCondition *condition, Oid function, List *args,
			   Node *limit, bool is_strict)
{
	int traits =
		(limit != NULL ? SIMDUP_MEASURED : 0) | (is_strict ? SIMDUP_STRICT : 0);

	for (int i = 0; i < N_PREDICATES; i++)
	{
		const SimdupPredicate *predicate = &simdup_predicates[i];

		if ((predicate->traits & (SIMDUP_MEASURED | SIMDUP_STRICT)) != traits ||
			!is_own(function, predicate->function, predicate->n_arguments))
			continue;
		condition->predicate = predicate;
		condition->function = function;
		condition->keys[0] = linitial(args);
		condition->keys[1] = lsecond(args);
		condition->limits = list_copy_tail(args, 2);
		if (limit != NULL)
			condition->limits = lcons(limit, condition->limits);
		return true;
	}
	return false;
}

/* Recognize fp <@ simhash_ball(y, k), or else fp <@ ball. */
static bool
recognize_ball(SimdupCondition *condition, Oid function, Node *fp, Node *ball)
{
	Oid constructor;
	List *args = call_of(ball, &constructor);

	if (args != NIL && is_own(constructor, "simhash_ball", 2))
		*condition = (SimdupCondition){.predicate = &simdup_predicates[WITHIN],
									   .function = constructor,
									   .keys = {fp, linitial(args)},
									   .limits = list_make1(lsecond(args))};
	else
		*condition =
			(SimdupCondition){.function = function, .keys = {fp, ball}};
	return true;
}

/* Recognize a distance <= k, a resemblance >= r, and the like. */
static bool
recognize_comparison(SimdupCondition *condition, Oid comparison, List *args)
{
	bool of_distance = comparison == F_INT4LE || comparison == F_INT4LT ||
					   comparison == F_INT4GE || comparison == F_INT4GT;
	bool limit_first = comparison == F_INT4GE || comparison == F_INT4GT ||
					   comparison == F_FLOAT8LE || comparison == F_FLOAT8LT;
	bool is_strict = comparison == F_INT4LT || comparison == F_INT4GT ||
					 comparison == F_FLOAT8LT || comparison == F_FLOAT8GT;
	Node *limit = limit_first ? linitial(args) : lsecond(args);
	Oid function;
	List *measured =
		call_of(limit_first ? lsecond(args) : linitial(args), &function);

	/* the type of the result says which side of the limit is near */
	return measured != NIL &&
		   get_func_rettype(function) == (of_distance ? INT4OID : FLOAT8OID) &&
		   recognize_call(condition, function, measured, limit, is_strict);
}

bool
simdup_recognize_form(Node *clause, SimdupCondition *condition)
{
	Oid function;
	List *args = call_of(clause, &function);

	if (args == NIL)
		return false;
	switch (function)
	{
		case F_INT4LE:
		case F_INT4LT:
		case F_INT4GE:
		case F_INT4GT:
		case F_FLOAT8LE:
		case F_FLOAT8LT:
		case F_FLOAT8GE:
		case F_FLOAT8GT:
			return recognize_comparison(condition, function, args);
	}
	if (is_own(function, "simhash_in_ball", 2))
		return recognize_ball(condition, function, linitial(args),
							  lsecond(args));
	if (is_own(function, "simhash_ball_contains", 2))
		return recognize_ball(condition, function, lsecond(args),
							  linitial(args));
	return recognize_call(condition, function, args, NULL, false);
}

/* Check whether an expression has columns of this side and no other columns. */
static bool
is_of_side(PlannerInfo *root, Node *node, Relids side)
{
	Relids columns = pull_varnos(root, node);

	return !bms_is_empty(columns) && bms_is_subset(columns, side);
}

bool
simdup_recognize_condition(PlannerInfo *root, Node *clause, Relids outer,
						   Relids inner, SimdupCondition *condition)
{
	Node **keys = condition->keys;

	if (!simdup_recognize_form(clause, condition) ||
		condition->predicate == NULL)
		return false;
	if (is_of_side(root, keys[0], inner))
	{
		Node *first = keys[0];

		keys[0] = keys[1];
		keys[1] = first;
	}
	return is_of_side(root, keys[0], outer) &&
		   is_of_side(root, keys[1], inner) &&
		   !contain_var_clause((Node *) condition->limits) &&
		   !contain_volatile_functions(clause) && !contain_subplans(clause);
}

bool
simdup_use_alternative(SimdupCondition *condition)
{
	List *limits = condition->limits;

	if (condition->predicate->alternative == 0)
		return false;
	condition->predicate =
		&simdup_predicates[condition->predicate->alternative];
	/* with a low min_resemblance, many unrelated texts have near fingerprints */
	condition->limits =
		lappend(lcons(linitial(limits), simdup_default_shingles()),
				lsecond(limits));
	return true;
}
