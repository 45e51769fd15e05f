/*
 * inspect.c
 *	  A hamming index opened by its owner, to be checked or described.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/hamming/inspect.h"
#include "server/catalog.h"

static void
check_kind(Relation index)
{
	if (index->rd_indam->ambuild != simdup_hamming_build)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a hamming index",
					   RelationGetRelationName(index)));
	if (index->rd_rel->relkind != RELKIND_INDEX)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partitioned index",
					   RelationGetRelationName(index)),
				errhint(
					"Name the index of a partition. pg_partition_tree lists them."));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	if (!index->rd_index->indisvalid)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("index \"%s\" is not valid",
					   RelationGetRelationName(index)));
}

InspectedIndex
simdup_inspect_index(Oid index_oid, LOCKMODE mode)
{
	InspectedIndex opened = {.mode = mode};
	/* the table is locked before the index, as everybody does */
	Oid heap_oid = IndexGetRelation(index_oid, true);
	char *name = get_rel_name(index_oid);

	if (name == NULL)
		simdup_no_such_table(index_oid);
	if (!OidIsValid(heap_oid))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a hamming index", name));
	if (!SIMDUP_OWNS_TABLE(heap_oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, name);
	opened.heap = table_open(heap_oid, mode);
	opened.index = index_open(index_oid, mode);
	check_kind(opened.index);
	GetUserIdAndSecContext(&opened.user, &opened.security);
	SetUserIdAndSecContext(opened.heap->rd_rel->relowner,
						   opened.security | SECURITY_RESTRICTED_OPERATION);
	opened.guc_level = NewGUCNestLevel();
	SIMDUP_RESTRICT_SEARCH_PATH();
	return opened;
}

void
simdup_inspect_end(InspectedIndex *opened)
{
	AtEOXact_GUC(false, opened->guc_level);
	SetUserIdAndSecContext(opened->user, opened->security);
	index_close(opened->index, opened->mode);
	table_close(opened->heap, opened->mode);
}
