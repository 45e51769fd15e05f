/*
 * find.c
 *	  Hamming indexes found and opened by functions: the one by which a table is
 *	  searched without the planner, and one that its owner checks.
 */
#include "postgres.h"
#include "compat.h"

#include "access/attmap.h"
#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "index/hamming/am.h"
#include "server/arguments.h"
#include "server/catalog.h"

/* Search */

/*
 * Return the column that an index to be made is most likely to be on: one of
 * fingerprints, or else a text.
 */
static const char *
column_to_index(TupleDesc tupdesc)
{
	Oid am = get_am_oid("hamming", true);
	Form_pg_attribute found = NULL;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);

		if (!att->attisdropped &&
			OidIsValid(GetDefaultOpClass(att->atttypid, am)) &&
			(found == NULL || (simdup_is_text_type(found->atttypid) &&
							   !simdup_is_text_type(att->atttypid))))
			found = att;
	}
	return found == NULL ? "column" : quote_identifier(NameStr(found->attname));
}

void
simdup_hamming_missing(Oid table, const char *name)
{
	Relation rel = try_table_open(table, AccessShareLock);

	if (rel == NULL)
		simdup_no_such_table(table);
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
			name != NULL
				? errmsg("index \"%s\" of relation \"%s\" does not exist", name,
						 RelationGetRelationName(rel))
				: errmsg("relation \"%s\" has no index of access method %s",
						 RelationGetRelationName(rel), "hamming"),
			errdetail("The search goes by an index, never through the table."),
			errhint("Write: CREATE INDEX %s%sON %s USING hamming (%s).",
					name != NULL ? quote_identifier(name) : "",
					name != NULL ? " " : "", simdup_table_name(table),
					column_to_index(RelationGetDescr(rel))));
}

/* ERROR because an index cannot be searched. */
static void
refuse_invalid(Oid index)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("index \"%s\" is not valid", get_rel_name(index)),
			errdetail("The search goes by an index, never through the table."),
			errhint("Write: DROP INDEX %s; %s.", simdup_table_name(index),
					pg_get_indexdef_string(index)));
}

/* Check whether an index stores the same as one of the same table or a parent. */
static bool
are_alike(Relation parent, Relation parent_index, Relation table,
		  Relation index)
{
	AttrMap *map = SIMDUP_ATTRMAP_BY_NAME(RelationGetDescr(table),
										  RelationGetDescr(parent));
	bool alike =
		CompareIndexInfo(BuildIndexInfo(index), BuildIndexInfo(parent_index),
						 index->rd_indcollation, parent_index->rd_indcollation,
						 index->rd_opfamily, parent_index->rd_opfamily, map);

	free_attrmap(map);
	return alike;
}

Oid
simdup_hamming_choose(Relation table, const char *name, Relation parent,
					  Relation parent_index)
{
	Oid chosen = InvalidOid;
	Oid invalid = InvalidOid;
	Relation first = NULL; /* without a parent, others are like this one */
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_indam->aminsert != simdup_hamming_insert ||
			(name != NULL && strcmp(RelationGetRelationName(index), name) != 0))
			;
		else if (!index->rd_index->indisvalid || !index->rd_index->indisready ||
				 !index->rd_index->indislive)
			invalid = RelationGetRelid(index);
		else if (parent_index == NULL)
		{
			chosen = RelationGetRelid(index);
			first = index;
			parent = table;
			parent_index = index;
			continue;
		}
		else if (are_alike(parent, parent_index, table, index))
			chosen = RelationGetRelid(index);
		else if (first != NULL)
			ereport(ERROR, errcode(ERRCODE_AMBIGUOUS_PARAMETER),
					errmsg("relation \"%s\" has several indexes of access method %s that differ",
						   RelationGetRelationName(table), "hamming"),
					errdetail("Two of them are \"%s\" and \"%s\".",
							  RelationGetRelationName(first),
							  RelationGetRelationName(index)),
					errhint("Name one of them: '%s'.", "index => name"));
		index_close(index, NoLock);
	}
	if (first != NULL)
		index_close(first, NoLock);
	if (!OidIsValid(chosen) && OidIsValid(invalid))
		refuse_invalid(invalid);
	if (!OidIsValid(chosen))
		simdup_hamming_missing(RelationGetRelid(table), name);
	return chosen;
}

/* Inspection */

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
	/* the table is locked before the index, as everywhere */
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
