/*
 * condition.c
 *	  The conditions that the join node and indexes of texts serve.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "index/condition.h"
#include "index/selectivity.h"

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

/* Recognize fp <@ simhash_ball(y, k), or else fp <@ ball. */
static bool
recognize_ball(SimdupCondition *condition, Oid function, Node *fp, Node *ball)
{
	List *args = call_of(ball, &condition->function);
	bool is_call =
		args != NIL && is_own(condition->function, "simhash_ball", 2);

	condition->kind = is_call ? SIMDUP_WITHIN : SIMDUP_IN_BALL;
	condition->keys[0] = fp;
	condition->keys[1] = is_call ? linitial(args) : ball;
	condition->limits = is_call ? list_make1(lsecond(args)) : NIL;
	if (!is_call)
		condition->function = function;
	return true;
}

/* Recognize x <~> y, compared with k, or a shingle_resemblance compared with r. */
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

	if (measured == NIL ||
		!(of_distance ? is_own(function, "simhash_distance", 2)
					  : is_own(function, "shingle_resemblance", 4)))
		return false;
	if (of_distance)
		condition->kind = is_strict ? SIMDUP_BELOW : SIMDUP_AT_MOST;
	else
		condition->kind =
			is_strict ? SIMDUP_SHINGLES_ABOVE : SIMDUP_SHINGLES_AT_LEAST;
	condition->function = function;
	condition->keys[0] = linitial(measured);
	condition->keys[1] = lsecond(measured);
	condition->limits = lcons(limit, list_copy_tail(measured, 2));
	return true;
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
	if (is_own(function, "simhash_within", 3))
		condition->kind = SIMDUP_WITHIN;
	else if (is_own(function, "simdup_resembles", 4))
		condition->kind = SIMDUP_RESEMBLES;
	else
		return false;
	condition->function = function;
	condition->keys[0] = linitial(args);
	condition->keys[1] = lsecond(args);
	condition->limits = list_copy_tail(args, 2);
	return true;
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
		condition->kind == SIMDUP_IN_BALL)
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

void
simdup_resemble_by_shingles(SimdupCondition *condition)
{
	List *limits = condition->limits;

	condition->kind = SIMDUP_RESEMBLES_BY_SHINGLES;
	condition->limits =
		lappend(lcons(linitial(limits), simdup_default_shingles()),
				lsecond(limits));
}
