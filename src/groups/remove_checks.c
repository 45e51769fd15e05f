/*
 * remove_checks.c
 *	  Checks of simdup_remove. Nothing is written before all of them have passed.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "arrival/arrival.h"
#include "groups/removal.h"

static void
check_row_security(Oid table)
{
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("row-level security would hide rows of table \"%s\" from simdup_remove",
					   get_rel_name(table)),
				errhint(
					"Run simdup_remove as a role that sees all rows, such as the table's owner."));
}

void
simdup_removal_check_table(Removal *r)
{
	Oid table = RelationGetRelid(r->table);
	const char *name = RelationGetRelationName(r->table);

	if (r->table->rd_rel->relispartition)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partition", name),
				errhint("Name the partitioned table."));
	if (r->table->rd_rel->relkind == RELKIND_RELATION && has_subclass(table) &&
		find_inheritance_children(table, NoLock) != NIL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("relation \"%s\" has child tables", name),
				errdetail("A key may occur in several of them."));
	check_row_security(table);
}

static void
refuse_archive(Removal *r, const char *table, const char *missing,
			   const char *type)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("table %s does not fit what simdup_remove writes to it",
				   table),
			errdetail("It has no column %s for values of type %s.", missing,
					  type),
			table == r->archive
				? errhint(
					  "Name another archive, or give this one such a column by ALTER TABLE.")
				: errhint("Rename table %s; a new one is made then.", table));
}

/* Can a column of the table take these values? */
static void
check_column(Removal *r, Oid table, const char *table_name, const char *column,
			 Oid type, int32 typmod)
{
	AttrNumber attnum = get_attnum(table, column);
	Oid into = attnum > 0 ? get_atttype(table, attnum) : InvalidOid;

	if (OidIsValid(into) &&
		can_coerce_type(1, &type, &into, COERCION_ASSIGNMENT))
		return;
	refuse_archive(r, table_name, quote_identifier(column),
				   format_type_with_typemod(type, typmod));
}

/* The archive has two columns of its own after those of the table. */
static void
check_archive(Removal *r)
{
	TupleDesc columns = RelationGetDescr(r->table);

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(columns, i);
		const char *name = NameStr(att->attname);

		if (att->attisdropped)
			continue;
		if (strcmp(name, "simdup_kept") == 0 ||
			strcmp(name, "simdup_removed_at") == 0)
			ereport(ERROR, errcode(ERRCODE_DUPLICATE_COLUMN),
					errmsg("simdup_remove does not support table \"%s\" with column \"%s\"",
						   RelationGetRelationName(r->table), name),
					errdetail(
						"The archive has a column of its own of that name."),
					errhint("Rename the column."));
		if (OidIsValid(r->archive_table))
			check_column(r, r->archive_table, r->archive, name, att->atttypid,
						 att->atttypmod);
	}
	if (!OidIsValid(r->archive_table))
		return;
	check_column(r, r->archive_table, r->archive, "simdup_kept", r->key_type,
				 -1);
	check_column(r, r->archive_table, r->archive, "simdup_removed_at",
				 TIMESTAMPTZOID, -1);
}

void
simdup_removal_check_written(Removal *r)
{
	static const struct
	{
		const char *name;
		Oid type;
	} columns[] = {{"referrer", TEXTOID},
				   {"constraint_name", NAMEOID},
				   {"row_key", JSONBOID},
				   {"moved_at", TIMESTAMPTZOID}};

	check_archive(r);
	if (r->references == NIL || !OidIsValid(r->moved_table))
		return;
	check_column(r, r->moved_table, r->moved, "removed", r->key_type, -1);
	check_column(r, r->moved_table, r->moved, "kept", r->key_type, -1);
	for (size_t i = 0; i < lengthof(columns); i++)
		check_column(r, r->moved_table, r->moved, columns[i].name,
					 columns[i].type, -1);
}

/*
 * The first value that a query yields, or NULL. Not by LIMIT: the planner would
 * then expect a row early, and try all pairs where there is none.
 */
static char *
first_value(Removal *r, const char *query)
{
	if (simdup_removal_execute(r, query, 1) == 0)
		return NULL;
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

static void
check_once(Removal *r)
{
	char *key =
		first_value(r,
					"SELECT m.key FROM pg_catalog.unnest($1) AS m (key) GROUP BY m.key"
					" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1");

	if (key != NULL)
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg("a key occurs more than once in the map"),
				errdetail("The key is (%s).", key));
}

static void
check_kept(Removal *r)
{
	char *key =
		first_value(r,
					psprintf("SELECT m.kept FROM pg_catalog.unnest($2) AS m (kept)"
							 " JOIN pg_catalog.unnest($1) AS g (key) ON g.key %s m.kept",
							 r->equals));

	if (key != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("the map removes a row that it keeps for another"),
				errdetail("The key is (%s).", key),
				errhint(
					"Map each row to a row that stays, as simdup_clusters does."));
}

static void
check_present(Removal *r)
{
	char *key =
		first_value(r,
					psprintf("SELECT m.key FROM (SELECT pg_catalog.unnest($1) UNION ALL SELECT pg_catalog.unnest($2)) AS m (key)"
							 " WHERE NOT EXISTS (SELECT FROM %s AS t WHERE t.%s %s m.key)",
							 r->table_name, r->key, r->equals));

	if (key != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("table \"%s\" has no row with a key of the map",
					   RelationGetRelationName(r->table)),
				errdetail("The key is (%s).", key));
}

void
simdup_removal_check_map(Removal *r)
{
	check_once(r);
	check_kept(r);
	check_present(r);
}

/* A reference must not become NULL because the kept row has no value there. */
static void
check_values(Removal *r, RemovalReference *ref)
{
	for (int i = 0; i < ref->n; i++)
	{
		char *key;

		if (!ref->nullable[i])
			continue;
		key =
			first_value(r,
						psprintf("SELECT m.kept FROM %s JOIN %s%s AS r ON %s WHERE kept.%s IS NULL",
								 simdup_removal_rows(r),
								 ref->only ? "ONLY " : "", ref->table_name,
								 simdup_removal_match(r, ref, false),
								 ref->referenced[i]));
		if (key != NULL)
			ereport(ERROR, errcode(ERRCODE_NOT_NULL_VIOLATION),
					errmsg("kept row has no value in column %s, to which foreign key \"%s\" refers",
						   ref->referenced[i], ref->constraint),
					errdetail("The kept row's key is (%s).", key));
	}
}

/* Which of the reference's columns this is, or -1. */
static int
find_column(RemovalReference *ref, AttrNumber attnum)
{
	for (int i = 0; i < ref->n; i++)
		if (ref->attnums[i] == attnum)
			return i;
	return -1;
}

/* The column's value after the references have moved. */
static char *
value_afterwards(RemovalReference *ref, AttrNumber attnum)
{
	int n = find_column(ref, attnum);

	if (n < 0)
		return psprintf("r.%s", quote_identifier(
									get_attname(ref->table, attnum, false)));
	return psprintf("CASE WHEN m.key IS NULL THEN r.%s ELSE kept.%s::%s END",
					ref->columns[n], ref->referenced[n], ref->types[n]);
}

/* Rows of the referring table itself that go, or whose reference is cleared. */
static char *
rows_left_out(Removal *r, RemovalReference *ref)
{
	if (!ref->self)
		return "";
	return psprintf(" WHERE NOT EXISTS (SELECT FROM pg_catalog.unnest($1) AS g (key) WHERE r.%s %s g.key)"
					" AND (m.key IS NULL OR NOT r.%s %s m.kept)",
					r->key, r->equals, r->key, r->equals);
}

/* A group of rows that would have equal values in the columns of an index. */
static char *
collision_query(Removal *r, RemovalReference *ref, Form_pg_index index)
{
	StringInfoData values;
	StringInfoData names;
	StringInfoData not_null;

	initStringInfo(&values);
	initStringInfo(&names);
	initStringInfo(&not_null);
	for (int i = 0; i < index->indnkeyatts; i++)
	{
		appendStringInfo(&values, ", %s AS c%d",
						 value_afterwards(ref, index->indkey.values[i]), i);
		appendStringInfo(&names, "%sx.c%d", i == 0 ? "" : ", ", i);
		if (!index->indnullsnotdistinct)
			appendStringInfo(&not_null, "%s x.c%d IS NOT NULL",
							 i == 0 ? " WHERE" : " AND", i);
	}
	return psprintf("SELECT ROW(%s)::pg_catalog.text FROM (SELECT m.key IS NOT NULL AS moves%s"
					" FROM %s%s AS r LEFT JOIN (%s) ON %s%s) AS x%s GROUP BY %s"
					" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 AND pg_catalog.bool_or(x.moves)",
					names.data, values.data, ref->only ? "ONLY " : "",
					ref->table_name, simdup_removal_rows(r),
					simdup_removal_match(r, ref, false), rows_left_out(r, ref),
					not_null.data, names.data);
}

/* Indexes with a predicate or expressions are left to the UPDATE. */
static bool
is_touched(RemovalReference *ref, Relation index)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisunique || RelationGetIndexPredicate(index) != NIL ||
		RelationGetIndexExpressions(index) != NIL)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
		if (find_column(ref, form->indkey.values[i]) >= 0)
			return true;
	return false;
}

static void
check_collisions(Removal *r, RemovalReference *ref, Relation index)
{
	char *row = first_value(r, collision_query(r, ref, index->rd_index));

	if (row != NULL)
		ereport(ERROR, errcode(ERRCODE_UNIQUE_VIOLATION),
				errmsg("rows of table %s would repeat values of unique index \"%s\" once they refer to the kept row",
					   ref->table_name, RelationGetRelationName(index)),
				errdetail("The values are %s.", row),
				errhint("Delete or change all but one of these rows first."));
}

/*
 * The caller does not name the tables that refer. Triggers of a role that was
 * only given REFERENCES must not run with the caller's rights.
 */
static void
check_owner(Removal *r, RemovalReference *ref)
{
	Oid owner = simdup_arrival_owner(ref->table);

	if (owner != GetUserId() &&
		owner != simdup_arrival_owner(RelationGetRelid(r->table)))
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("table %s refers to \"%s\" and belongs to another role",
					   ref->table_name, RelationGetRelationName(r->table)),
				errdetail("Its triggers would run with your rights."),
				errhint(
					"Run simdup_remove as its owner, or move its references by hand."));
}

void
simdup_removal_check_reference(Removal *r, RemovalReference *ref)
{
	Relation table = table_open(ref->table, AccessShareLock);
	ListCell *cell;

	check_owner(r, ref);
	check_row_security(ref->table);
	check_values(r, ref);
	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (is_touched(ref, index))
			check_collisions(r, ref, index);
		index_close(index, AccessShareLock);
	}
	table_close(table, NoLock);
}
