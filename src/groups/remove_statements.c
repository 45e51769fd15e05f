/*
 * remove_statements.c
 *	  The SQL that archives duplicates, moves references and deletes; and how
 *	  it is run.
 *
 * $1 is the array of removed keys, $2 that of their kept keys. A multi-argument
 * unnest in FROM always means that of pg_catalog, and is not qualified. All
 * other names are.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "groups/removal.h"

uint64
simdup_removal_execute(Removal *r, const char *sql, long limit)
{
	Oid types[] = {r->map_type, r->map_type};
	int status = SPI_execute_with_args(sql, lengthof(types), types, r->map,
									   NULL, false, limit);

	if (status < 0)
		elog(ERROR, "SPI_execute_with_args failed: %s: %s",
			 SPI_result_code_string(status), sql);
	return SPI_processed;
}

/* The map with the removed row and the kept row of each pair. */
char *
simdup_removal_rows(Removal *r)
{
	return psprintf("unnest($1, $2) AS m (key, kept)"
					" JOIN %s AS gone ON gone.%s %s m.key"
					" JOIN %s AS kept ON kept.%s %s m.kept",
					r->table_name, r->key, r->equals, r->table_name, r->key,
					r->equals);
}

/* The referring table, as alias r. */
static char *
referrer(RemovalReference *ref)
{
	return psprintf("%s%s AS r", ref->only ? "ONLY " : "", ref->table_name);
}

/*
 * Row r refers to a removed row. Rows that go themselves keep what they refer
 * to. to_itself: r is the very row that the reference would move to.
 */
char *
simdup_removal_match(Removal *r, RemovalReference *ref, bool to_itself)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < ref->n; i++)
		appendStringInfo(&buf, "%sgone.%s %s r.%s", i == 0 ? "" : " AND ",
						 ref->referenced[i], ref->equals[i], ref->columns[i]);
	if (to_itself)
		appendStringInfo(&buf, " AND r.%s %s m.kept", r->key, r->equals);
	else if (ref->self)
		appendStringInfo(&buf,
						 " AND NOT EXISTS (SELECT FROM pg_catalog.unnest($1) AS g (key) WHERE r.%s %s g.key)",
						 r->key, r->equals);
	return buf.data;
}

char *
simdup_removal_count(Removal *r, RemovalReference *ref, bool to_itself)
{
	return psprintf("SELECT pg_catalog.count(*) FROM %s JOIN %s ON %s",
					simdup_removal_rows(r), referrer(ref),
					simdup_removal_match(r, ref, to_itself));
}

static List *
add(List *statements, char *sql, char *count)
{
	RemovalStatement *statement = palloc0(sizeof(RemovalStatement));

	statement->sql = sql;
	statement->count = count;
	return lappend(statements, statement);
}

/* The same for a statement that must reach each row of the map. */
static List *
add_for_all(List *statements, char *sql)
{
	statements = add(statements, sql,
					 "SELECT pg_catalog.count(*) FROM pg_catalog.unnest($1)");
	((RemovalStatement *) llast(statements))->all = true;
	return statements;
}

char *
simdup_removal_lock(Removal *r)
{
	StringInfoData buf;
	ListCell *cell;

	initStringInfo(&buf);
	appendStringInfo(&buf, "LOCK TABLE %s", r->table_name);
	foreach (cell, r->references)
	{
		RemovalReference *ref = lfirst(cell);

		if (!ref->self)
			appendStringInfo(&buf, ", %s%s", ref->only ? "ONLY " : "",
							 ref->table_name);
	}
	appendStringInfoString(&buf, " IN SHARE ROW EXCLUSIVE MODE");
	return buf.data;
}

static List *
make_tables(Removal *r, List *statements)
{
	if (!OidIsValid(r->archive_table))
		statements =
			add(statements,
				psprintf("CREATE TABLE %s AS SELECT gone.*, gone.%s AS simdup_kept,"
						 " pg_catalog.now() AS simdup_removed_at FROM %s AS gone WITH NO DATA",
						 r->archive, r->key, r->table_name),
				NULL);
	if (r->references != NIL && !OidIsValid(r->moved_table))
		statements =
			add(statements,
				psprintf("CREATE TABLE %s (removed %s, kept %s,"
						 " referrer pg_catalog.text, constraint_name pg_catalog.name,"
						 " row_key pg_catalog.jsonb, moved_at pg_catalog.timestamptz)",
						 r->moved, r->key_type_name, r->key_type_name),
				NULL);
	return statements;
}

static char *
archive_rows(Removal *r)
{
	TupleDesc columns = RelationGetDescr(r->table);
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(columns, i);
		const char *name = quote_identifier(NameStr(att->attname));

		if (att->attisdropped)
			continue;
		appendStringInfo(&names, "%s, ", name);
		appendStringInfo(&values, "gone.%s, ", name);
	}
	return psprintf("INSERT INTO %s (%ssimdup_kept, simdup_removed_at)"
					" SELECT %sm.kept, pg_catalog.now() FROM unnest($1, $2) AS m (key, kept)"
					" JOIN %s AS gone ON gone.%s %s m.key",
					r->archive, names.data, values.data, r->table_name, r->key,
					r->equals);
}

/* Change the rows that match, and note each of them. */
static char *
move(Removal *r, RemovalReference *ref, const char *set, bool to_itself)
{
	return psprintf("WITH moved AS (UPDATE %s SET %s FROM %s WHERE %s"
					" RETURNING m.key, m.kept, %s AS row_key)"
					" INSERT INTO %s (removed, kept, referrer, constraint_name, row_key, moved_at)"
					" SELECT moved.key, %s, %s, %s, moved.row_key, pg_catalog.now() FROM moved",
					referrer(ref), set, simdup_removal_rows(r),
					simdup_removal_match(r, ref, to_itself), ref->row_key,
					r->moved, to_itself ? "NULL" : "moved.kept",
					quote_literal_cstr(ref->table_name),
					quote_literal_cstr(ref->constraint));
}

/* A kept row that refers to its own duplicate refers to nothing afterwards. */
static List *
clear_reference(Removal *r, RemovalReference *ref, List *statements)
{
	StringInfoData set;

	initStringInfo(&set);
	for (int i = 0; i < ref->n; i++)
		if (ref->clears[i])
			appendStringInfo(&set, "%s%s = NULL", set.len == 0 ? "" : ", ",
							 ref->columns[i]);
	if (set.len == 0)
		return statements;
	return add(statements, move(r, ref, set.data, true),
			   simdup_removal_count(r, ref, true));
}

static List *
move_reference(Removal *r, RemovalReference *ref, List *statements)
{
	StringInfoData set;

	initStringInfo(&set);
	for (int i = 0; i < ref->n; i++)
		appendStringInfo(&set, "%s%s = kept.%s", i == 0 ? "" : ", ",
						 ref->columns[i], ref->referenced[i]);
	return add(statements, move(r, ref, set.data, false),
			   simdup_removal_count(r, ref, false));
}

List *
simdup_removal_moves(Removal *r)
{
	List *statements = add_for_all(make_tables(r, NIL), archive_rows(r));
	ListCell *cell;

	foreach (cell, r->references)
	{
		statements = clear_reference(r, lfirst(cell), statements);
		statements = move_reference(r, lfirst(cell), statements);
	}
	return statements;
}

List *
simdup_removal_delete(Removal *r)
{
	return add_for_all(NIL,
					   psprintf("DELETE FROM %s AS gone USING pg_catalog.unnest($1) AS m (key) WHERE gone.%s %s m.key",
								r->table_name, r->key, r->equals));
}
