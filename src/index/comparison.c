/*
 * comparison.c
 *	  What one comparison of fingerprints costs: the functions behind
 *	  simhash_within, <@ and @>.
 *
 * A comparison takes a few nanoseconds, as the functions' COST says. The
 * planner charges each probe of a gin index as random page reads, some 20 times
 * the measured time, and an extension cannot change that. So a comparison is
 * charged too much as well where only a gin index could be searched. Index and
 * scan then compare as they do in memory. The scan is chosen from k = 8 on at
 * 10,000 rows, 12 at 100,000, 16 at a million.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_am.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "index/comparison.h"
#include "index/strategy.h"
#include "server/catalog.h"

/* A comparison in cpu_operator_cost, where it competes with a gin index. */
#define COST_BESIDE_GIN 50

/* Does a column of the index answer fp <@ ball? */
static bool
searches_balls(const IndexOptInfo *index, Oid fp_type, Oid ball_type)
{
	for (int i = 0; i < index->nkeycolumns; i++)
		if (OidIsValid(get_opfamily_member(index->opfamily[i], fp_type,
										   ball_type,
										   SIMHASH_IN_BALL_STRATEGY)))
			return true;
	return false;
}

/* Have the compared tables a gin index to search by, and no other? */
static bool
competes_with_gin(PlannerInfo *root, Oid funcid, Node *call)
{
	Oid fp_type = simdup_sibling_type(funcid, "simhash64");
	Oid ball_type = simdup_sibling_type(funcid, "simhash_ball");
	Relids tables = pull_varnos(root, call);
	bool has_gin = false;
	int table = -1;

	while ((table = bms_next_member(tables, table)) >= 0)
	{
		RelOptInfo *rel = table < root->simple_rel_array_size
							  ? root->simple_rel_array[table]
							  : NULL;
		ListCell *cell;

		if (rel == NULL)
			continue;
		foreach (cell, rel->indexlist)
		{
			IndexOptInfo *index = lfirst(cell);

			if (!searches_balls(index, fp_type, ball_type))
				continue;
			if (index->relam != GIN_AM_OID)
				return false;
			has_gin = true;
		}
	}
	return has_gin;
}

Node *
simdup_comparison_cost(SupportRequestCost *req)
{
	if (req->root == NULL || req->node == NULL ||
		req->root->simple_rel_array == NULL ||
		!competes_with_gin(req->root, req->funcid, req->node))
		return NULL;
	req->startup = 0;
	req->per_tuple = COST_BESIDE_GIN * cpu_operator_cost;
	return (Node *) req;
}

PG_FUNCTION_INFO_V1(simdup_ball_support);
/* Planner support for <@ and @>. */
Datum
simdup_ball_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(
			simdup_comparison_cost((SupportRequestCost *) request));
	PG_RETURN_POINTER(NULL);
}
