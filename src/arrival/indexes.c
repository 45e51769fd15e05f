/*
 * indexes.c
 *	  Which condition finds near rows by the indexes that the table has.
 *
 * gin (fp) serves fp <@ ball, at any distance. Where there is none but one of
 * the compact kind, gin (simhash_blocks(fp, n)) with n > k, rows within k
 * share a block: that is searched first, and the ball decides.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"

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

/*
 * How a gin index serves: *direct if its key is the fingerprint, else the
 * number of blocks, if that is what it is on.
 */
static int
blocks_of_index(Oid index_oid, Oid extension, AttrNumber fp, bool *direct)
{
	Relation index = index_open(index_oid, AccessShareLock);
	List *expressions = RelationGetIndexExpressions(index);
	ListCell *cell;
	int n_blocks = 0;
	int i;

	if (index->rd_rel->relam == GIN_AM_OID && index->rd_index->indisvalid &&
		RelationGetIndexPredicate(index) == NIL)
	{
		for (i = 0; i < index->rd_index->indnkeyatts; i++)
			if (index->rd_index->indkey.values[i] == fp)
				*direct = true;
		foreach (cell, expressions)
		{
			int n = blocks_in_expression(lfirst(cell), extension, fp);

			if (n > 0)
				n_blocks = n;
		}
	}
	index_close(index, AccessShareLock);
	return n_blocks;
}

/* The fewest blocks above k that an index is on, if it is to be used; or 0. */
static int
blocks_to_search(ArrivalTrigger *at, const char *fp_name)
{
	Relation table = table_open(at->table, AccessShareLock);
	AttrNumber fp = get_attnum(at->table, fp_name);
	List *indexes = RelationGetIndexList(table);
	ListCell *cell;
	bool direct = false;
	int best = 0;

	foreach (cell, indexes)
	{
		int n = blocks_of_index(lfirst_oid(cell), at->extension, fp, &direct);

		if (n > at->k && (best == 0 || n < best))
			best = n;
	}
	table_close(table, AccessShareLock);
	return direct ? 0 : best;
}

/* "Column fp of t lies within k of center", for the indexes there are. */
char *
simdup_arrival_condition(TriggerData *trigdata, ArrivalTrigger *at,
						 const char *center)
{
	char *fp = SPI_fname(RelationGetDescr(trigdata->tg_relation), at->fp);
	const char *column = quote_identifier(fp);
	const char *schema = quote_identifier(get_namespace_name(at->extension));
	int n_blocks = blocks_to_search(at, fp);
	char *ball = psprintf("t.%s OPERATOR(%s.<@) %s.simhash_ball(%s, %d)",
						  column, schema, schema, center, at->k);

	if (n_blocks == 0)
		return ball;
	return psprintf("%s.simhash_blocks(t.%s, %d) OPERATOR(pg_catalog.&&)"
					" %s.simhash_blocks(%s, %d) AND %s",
					schema, column, n_blocks, schema, center, n_blocks, ball);
}
