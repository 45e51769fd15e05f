/*
 * remove_references.c
 *	  The foreign keys that refer to a table, as the catalog has them.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "groups/removal.h"

/* An expression for the row's primary key, or for the whole row. */
static char *
row_key_expression(Relation table)
{
	StringInfoData buf;
	Relation index;

	/* this also finds rd_pkindex */
	list_free(RelationGetIndexList(table));
	if (!OidIsValid(table->rd_pkindex))
		return "pg_catalog.to_jsonb(r.*)";
	initStringInfo(&buf);
	appendStringInfoString(&buf, "pg_catalog.jsonb_build_object(");
	index = index_open(table->rd_pkindex, AccessShareLock);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		char *name = get_attname(RelationGetRelid(table),
								 index->rd_index->indkey.values[i], false);

		appendStringInfo(&buf, "%s%s, r.%s", i == 0 ? "" : ", ",
						 quote_literal_cstr(name), quote_identifier(name));
	}
	index_close(index, AccessShareLock);
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

static char *
column_name(Oid table, AttrNumber attnum)
{
	return pstrdup(quote_identifier(get_attname(table, attnum, false)));
}

static void
read_columns(RemovalReference *ref, HeapTuple tuple, Removal *r, Relation table)
{
	AttrNumber referenced[INDEX_MAX_KEYS];
	Oid pf_equals[INDEX_MAX_KEYS];

	DeconstructFkConstraintRow(tuple, &ref->n, ref->attnums, referenced,
							   pf_equals, NULL, NULL, NULL, NULL);
	for (int i = 0; i < ref->n; i++)
	{
		Form_pg_attribute att =
			TupleDescAttr(RelationGetDescr(table), ref->attnums[i] - 1);
		Form_pg_attribute target =
			TupleDescAttr(RelationGetDescr(r->table), referenced[i] - 1);

		ref->columns[i] = column_name(ref->table, ref->attnums[i]);
		ref->types[i] = format_type_extended(att->atttypid, att->atttypmod,
											 FORMAT_TYPE_TYPEMOD_GIVEN |
												 FORMAT_TYPE_FORCE_QUALIFY);
		ref->referenced[i] =
			column_name(RelationGetRelid(r->table), referenced[i]);
		ref->nullable[i] = !target->attnotnull;
		ref->equals[i] =
			simdup_arrival_operator_name(target->atttypid, pf_equals[i]);
		/* a column that is both is a part of the row's own name */
		ref->clears[i] =
			ref->self && !att->attnotnull && ref->attnums[i] != referenced[i];
	}
}

static RemovalReference *
read_reference(Removal *r, HeapTuple tuple)
{
	Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
	RemovalReference *ref = palloc0(sizeof(RemovalReference));
	Relation table = table_open(form->conrelid, AccessShareLock);

	ref->constraint = pstrdup(NameStr(form->conname));
	ref->table = form->conrelid;
	ref->table_name = simdup_arrival_table_name(form->conrelid);
	ref->only = table->rd_rel->relkind == RELKIND_RELATION;
	ref->self = form->conrelid == RelationGetRelid(r->table);
	read_columns(ref, tuple, r, table);
	ref->row_key = row_key_expression(table);
	table_close(table, AccessShareLock);
	return ref;
}

/* ERROR where a foreign key does not refer to rows by equal columns. */
static void
check_kind(Form_pg_constraint form, Oid table)
{
	if (SIMDUP_HAS_PERIOD(form))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("simdup_remove does not support foreign key \"%s\" with PERIOD",
					   NameStr(form->conname)));
	if (form->confrelid != table)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("foreign key \"%s\" refers to partition \"%s\"",
					   NameStr(form->conname), get_rel_name(form->confrelid)),
				errdetail("The kept row may be in another partition."),
				errhint("Let it refer to the partitioned table, or drop it."));
}

static int
compare_references(const ListCell *a, const ListCell *b)
{
	const RemovalReference *x = lfirst(a);
	const RemovalReference *y = lfirst(b);
	int order = strcmp(x->table_name, y->table_name);

	return order != 0 ? order : strcmp(x->constraint, y->constraint);
}

/*
 * A partitioned table's foreign key has a constraint for each partition too, on
 * either side. Those have a parent and are left out.
 */
List *
simdup_removal_references(Removal *r)
{
	Oid table = RelationGetRelid(r->table);
	List *tables = find_all_inheritors(table, AccessShareLock, NULL);
	Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
	SysScanDesc scan =
		systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List *references = NIL;
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);

		if (form->contype != CONSTRAINT_FOREIGN ||
			OidIsValid(form->conparentid) ||
			!list_member_oid(tables, form->confrelid))
			continue;
		check_kind(form, table);
		references = lappend(references, read_reference(r, tuple));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(references, compare_references);
	return references;
}
