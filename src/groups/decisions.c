/*
 * decisions.c
 *	  What people decided, as far as it touches where a row may be.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/typcache.h"

#include "groups/decisions.h"
#include "type/simhash64.h"

/* Most tables have no decision at all: then the table has no page. */
bool
simdup_group_any_decision(Grouping *g)
{
	Relation rel = relation_open(g->decisions, AccessShareLock);
	bool any = RelationGetNumberOfBlocks(rel) > 0;

	relation_close(rel, NoLock);
	return any;
}

bool
simdup_group_is_decided(Grouping *g, Datum key)
{
	return simdup_group_any_decision(g) &&
		   simdup_grouping_run(g, GROUP_IS_DECIDED, &key, NULL).n > 0;
}

bool
simdup_group_tied_has(Grouping *g, const GroupTied *tied, Datum key)
{
	TypeCacheEntry *type =
		lookup_type_cache(g->at->key_type, TYPECACHE_EQ_OPR_FINFO);

	for (int i = 0; i < tied->n; i++)
		if (DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, g->collation,
										   tied->rows[i].key, key)))
			return true;
	return false;
}

static void
add(GroupTied *tied, GroupRow row, int64 id, int64 age)
{
	if (tied->n % 16 == 0)
	{
		int n = tied->n + 16;

		tied->rows = tied->n == 0 ? palloc(n * sizeof(GroupRow))
								  : repalloc(tied->rows, n * sizeof(GroupRow));
		tied->ids = tied->n == 0 ? palloc(n * sizeof(int64))
								 : repalloc(tied->ids, n * sizeof(int64));
		tied->ages = tied->n == 0 ? palloc(n * sizeof(int64))
								  : repalloc(tied->ages, n * sizeof(int64));
	}
	tied->rows[tied->n] = row;
	tied->ids[tied->n] = id;
	tied->ages[tied->n++] = age;
}

GroupTied
simdup_group_tied(Grouping *g, const GroupRow *row)
{
	GroupTied tied = {0};
	GroupMember member;

	(void) simdup_group_member(g, row->key, &member);
	add(&tied, *row, member.id, member.age);
	if (!simdup_group_any_decision(g))
		return tied;
	for (int i = 0; i < tied.n; i++)
	{
		ArrivalFound found =
			simdup_grouping_run(g, GROUP_TIED, &tied.rows[i].key, NULL);

		for (uint64 j = 0; j < found.n; j++)
		{
			GroupRow other = {0};
			bool isnull;
			Datum fp;

			/* a row that is being deleted still ties the others */
			other.key = simdup_grouping_value(found, j, 1, NULL);
			fp = simdup_grouping_value(found, j, 2, &isnull);
			other.fp = isnull ? 0 : DatumGetSimhash64(fp);
			if (!simdup_group_tied_has(g, &tied, other.key))
				add(&tied, other,
					DatumGetInt64(simdup_grouping_value(found, j, 4, NULL)),
					DatumGetInt64(simdup_grouping_value(found, j, 3, NULL)));
		}
	}
	return tied;
}

/*
 * A row that is out of its group now will follow the rows that it is tied to.
 * So their groups are no place for a row that was told apart from it.
 */
static ArrayBuildState *
add_group_of(Grouping *g, ArrivalFound found, uint64 i, ArrayBuildState *ids)
{
	int64 id = DatumGetInt64(simdup_grouping_value(found, i, 1, NULL));
	GroupRow row = {.key = simdup_grouping_value(found, i, 2, NULL)};
	GroupTied tied;

	if (id != 0)
		return accumArrayResult(ids, Int64GetDatum(id), false, INT8OID,
								CurrentMemoryContext);
	tied = simdup_group_tied(g, &row);
	for (int j = 1; j < tied.n; j++)
		if (tied.ids[j] != 0)
			ids = accumArrayResult(ids, Int64GetDatum(tied.ids[j]), false,
								   INT8OID, CurrentMemoryContext);
	return ids;
}

Datum
simdup_group_apart(Grouping *g, const GroupTied *tied)
{
	ArrayBuildState *ids =
		initArrayResult(INT8OID, CurrentMemoryContext, false);

	for (int i = 0; i < tied->n && simdup_group_any_decision(g); i++)
	{
		ArrivalFound found =
			simdup_grouping_run(g, GROUP_APART, &tied->rows[i].key, NULL);

		for (uint64 j = 0; j < found.n; j++)
			ids = add_group_of(g, found, j, ids);
	}
	return makeArrayResult(ids, CurrentMemoryContext);
}

bool
simdup_group_has_apart(Grouping *g, const GroupTied *tied)
{
	ArrayType *ids = DatumGetArrayTypeP(simdup_group_apart(g, tied));

	return ARR_NDIM(ids) > 0;
}

bool
simdup_groups_are_apart(Grouping *g, int64 a, int64 b)
{
	Datum values[] = {Int64GetDatum(a), Int64GetDatum(b)};

	return simdup_group_any_decision(g) &&
		   simdup_grouping_run(g, GROUP_GROUPS_APART, values, NULL).n > 0;
}
