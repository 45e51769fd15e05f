/*
 * indexes.c
 *	  The condition that finds near rows by the indexes of a table.
 *
 * An index on fp whose operator class has the operator fp <@ ball serves that
 * operator, at any distance. A compact index, gin (simhash_blocks(fp, n)) with
 * n > k, serves if there is no other: rows within k share a block. The
 * condition then asks for a common block, and for the ball.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "nodes/primnodes.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "server/catalog.h"

/*
 * Up to this radius, a search always uses a GIN index. Above it, a scan is
 * cheaper, and the planner chooses. Indexes of other access methods are used at
 * every radius.
 */
#define MAX_GIN_RADIUS 12

/* How the indexes of a table serve a search. */
typedef struct IndexUse
{
	bool direct;	 /* fp <@ ball */
	bool direct_gin; /* by nothing better than gin */
	int n_blocks;	 /* the fewest blocks above k that an index is on; or 0 */
} IndexUse;

/* n, if the expression is simhash_blocks(fp, n) of this extension; else 0. */
static int
blocks_in_expression(Node *node, Oid extension, AttrNumber fp)
{
	FuncExpr *call = (FuncExpr *) node;
	Var *column;
	Const *n;
	char *name;

	if (!IsA(node, FuncExpr) || list_length(call->args) != 2 ||
		get_func_namespace(call->funcid) != extension)
		return 0;
	column = linitial(call->args);
	n = lsecond(call->args);
	name = get_func_name(call->funcid);
	if (name == NULL || strcmp(name, "simhash_blocks") != 0 ||
		!IsA(column, Var) || column->varattno != fp || !IsA(n, Const) ||
		n->constisnull)
		return 0;
	return DatumGetInt32(n->constvalue);
}

/* The operator fp <@ ball of this extension. */
static Oid
in_ball_operator(const ArrivalTrigger *at, Oid extension)
{
	Oid ball = simdup_sibling_type(at->function, "simhash_ball");
	char *schema = get_namespace_name(extension);

	if (schema == NULL || !OidIsValid(ball))
		return InvalidOid;
	return OpernameGetOprid(list_make2(makeString(schema), makeString("<@")),
							at->fp_type, ball);
}

/* Note which condition an index serves; it is valid, without a predicate. */
static void
add_index(Relation index, const ArrivalTrigger *at, Oid extension,
		  AttrNumber fp, Oid in_ball, IndexUse *use)
{
	bool is_gin = index->rd_rel->relam == GIN_AM_OID;
	ListCell *cell;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (index->rd_index->indkey.values[i] != fp ||
			!op_in_opfamily(in_ball, index->rd_opfamily[i]))
			continue;
		use->direct_gin = is_gin && (!use->direct || use->direct_gin);
		use->direct = true;
	}
	if (!is_gin)
		return;
	foreach (cell, RelationGetIndexExpressions(index))
	{
		int n = blocks_in_expression(lfirst(cell), extension, fp);

		if (n > at->k && (use->n_blocks == 0 || n < use->n_blocks))
			use->n_blocks = n;
	}
}

static IndexUse
find_indexes(const ArrivalTrigger *at, const char *fp_name)
{
	Oid extension = simdup_arrival_extension(at);
	Oid in_ball = in_ball_operator(at, extension);
	Relation table = table_open(at->table, AccessShareLock);
	AttrNumber fp = get_attnum(at->table, fp_name);
	IndexUse use = {0};
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisvalid &&
			RelationGetIndexPredicate(index) == NIL)
			add_index(index, at, extension, fp, in_ball, &use);
		index_close(index, AccessShareLock);
	}
	table_close(table, AccessShareLock);
	return use;
}

/* "Column fp of t lies within k of center", for the indexes there are. */
ArrivalCondition
simdup_arrival_condition(const ArrivalTrigger *at, const char *fp,
						 const char *center)
{
	const char *column = quote_identifier(fp);
	const char *schema = simdup_arrival_extension_name(at);
	IndexUse use = find_indexes(at, fp);
	ArrivalCondition condition;

	condition.indexed =
		at->k <= MAX_GIN_RADIUS || (use.direct && !use.direct_gin);
	condition.text =
		psprintf("t.%s::%s.simhash64 OPERATOR(%s.<@) %s.simhash_ball(%s::%s.simhash64, %d)",
				 column, schema, schema, schema, center, schema, at->k);
	if (!use.direct && use.n_blocks > 0)
		condition.text =
			psprintf("%s.simhash_blocks(t.%s::%s.simhash64, %d) OPERATOR(pg_catalog.&&)"
					 " %s.simhash_blocks(%s::%s.simhash64, %d) AND %s",
					 schema, column, schema, use.n_blocks, schema, center,
					 schema, use.n_blocks, condition.text);
	return condition;
}
