/*
 * text_paths.c
 *	  Paths by an index on texts, of conditions on their minhash64.
 *
 * Where simhash_within(minhash64(content), x, k) is true, content <~@
 * simhash_ball(x, k) is true. The planner asks no support function for it, since no
 * argument is the indexed column. The two are not equivalent: for a text without a
 * shingle the first is NULL, the second false. So the planner makes the paths of
 * the indexes once more, with the derived conditions. The plan filters by the first.
 */
#include "postgres.h"
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "index/hamming/am.h"
#include "index/selectivity.h"
#include "joins/condition.h"
#include "server/arguments.h"
#include "type/simhash64.h"

static set_rel_pathlist_hook_type earlier_hook;

/* Return an index of texts, of these texts unless they are NULL; or NULL. */
static IndexOptInfo *
find_index(const RelOptInfo *rel, Node *content)
{
	ListCell *cell;

	foreach (cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(cell);

		if (index->amcostestimate == simdup_hamming_cost &&
			OidIsValid(index->indexcollations[0]) &&
			(content == NULL || match_index_to_operand(content, 0, index)))
			return index;
	}
	return NULL;
}

/* Return LEAST(k, limit) or GREATEST(k, limit). */
static Node *
limit_to(MinMaxOp op, Node *k, int limit)
{
	MinMaxExpr *expr = makeNode(MinMaxExpr);

	expr->minmaxtype = INT4OID;
	expr->op = op;
	expr->args = list_make2(k, simdup_make_integer(limit));
	return (Node *) expr;
}

/*
 * Return a ball with all fingerprints that fulfil the condition, NULL if its radius is
 * invalid. A distance may be compared with any number.
 */
static Node *
make_ball(const SimdupCondition *condition, Node *other)
{
	Oid function = simdup_sibling_ball_constructor(condition->function);
	Node *k;

	if (condition->predicate == NULL)
		return other;
	k = linitial(condition->limits);
	if ((condition->predicate->traits & SIMDUP_MEASURED) != 0)
		k = limit_to(IS_LEAST, limit_to(IS_GREATEST, k, 0), SIMHASH64_BITS);
	else if (!simdup_may_be_radius(k))
		return NULL;
	return (Node *) makeFuncExpr(function, get_func_rettype(function),
								 list_make2(other, k), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* Replace conditions on minhash64 as an index has it by the index's, also in AND and OR. */
static Node *
derive(Node *node, void *rel)
{
	SimdupCondition condition;

	if (IsA(node, List) || is_andclause(node) || is_orclause(node))
		return expression_tree_mutator(node, derive, rel);
	if (!simdup_recognize_form(node, &condition) ||
		(condition.predicate != NULL &&
		 (simdup_is_by_shingles(condition.predicate) ||
		  simdup_compares_texts(condition.predicate))))
		return node;
	for (int i = 0; i < 2; i++)
	{
		Oid function = condition.function;
		FuncExpr *fp = (FuncExpr *) condition.keys[i];
		Node *ball = make_ball(&condition, condition.keys[1 - i]);
		IndexOptInfo *index = NULL;

		if (IsA(fp, FuncExpr) && fp->args != NIL && ball != NULL)
			index = find_index(rel, linitial(fp->args));
		if (index != NULL &&
			equal(fp, simdup_make_minhash64(function, linitial(fp->args),
											fp->inputcollid)))
			return (Node *)
				make_opclause(simdup_sibling_operator(function, "<~@", TEXTOID,
													  exprType(ball)),
							  BOOLOID, false, linitial(fp->args), (Expr *) ball,
							  InvalidOid, index->indexcollations[0]);
	}
	return node;
}

static List *
derive_list(PlannerInfo *root, RelOptInfo *rel, const List *clauses)
{
	List *derived = NIL;
	ListCell *cell;

	foreach (cell, clauses)
	{
		RestrictInfo *clause = lfirst(cell);
		Node *expr = derive((Node *) clause->clause, rel);

		if (equal(expr, clause->clause))
			continue;
		expr = eval_const_expressions(root, expr);
		derived = lappend(derived, SIMDUP_MAKE_RESTRICTINFO(root, (Expr *) expr,
															clause));
	}
	return derived;
}

/* Add clauses to those of a table and its indexes, or remove them. */
static void
change_clauses(RelOptInfo *rel, List *(*by)(const List *, const List *),
			   List *conditions, List *joins)
{
	ListCell *cell;

	rel->baserestrictinfo = by(rel->baserestrictinfo, conditions);
	rel->joininfo = by(rel->joininfo, joins);
	foreach (cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(cell);

		index->indrestrictinfo = by(index->indrestrictinfo, conditions);
	}
}

/* Make the paths of the indexes with added clauses, which no other path has. */
static void
make_paths(PlannerInfo *root, RelOptInfo *rel, List *conditions, List *joins)
{
	ListCell *cell;

	/* so that a scan's rows are estimated once */
	foreach (cell, joins)
	{
		Relids relids = lfirst_node(RestrictInfo, cell)->clause_relids;

		relids = bms_union(relids, rel->lateral_relids);
		get_baserel_parampathinfo(root, rel,
								  bms_difference(relids, rel->relids));
	}
	change_clauses(rel, list_concat_copy, conditions, joins);
	create_index_paths(root, rel);
	change_clauses(rel, list_difference_ptr, conditions, joins);
	foreach (cell, rel->ppilist)
	{
		ParamPathInfo *info = lfirst(cell);

		info->ppi_clauses = list_difference_ptr(info->ppi_clauses, joins);
	}
}

/* The hook. Only a table is scanned by an index: no parent, and no sample. */
static void
add_text_paths(PlannerInfo *root, RelOptInfo *rel, Index relid,
			   RangeTblEntry *table)
{
	List *conditions;
	List *joins;

	if (earlier_hook != NULL)
		earlier_hook(root, rel, relid, table);
	if (find_index(rel, NULL) == NULL || table->inh ||
		table->tablesample != NULL || IS_DUMMY_REL(rel))
		return;
	conditions = derive_list(root, rel, rel->baserestrictinfo);
	joins = derive_list(root, rel, rel->joininfo);
	if (conditions != NIL || joins != NIL)
		make_paths(root, rel, conditions, joins);
}

void
simdup_text_paths_init(void)
{
	earlier_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_text_paths;
}
