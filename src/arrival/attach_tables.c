/*
 * attach_tables.c
 *	  Which grouped table the tables of groups belong to.
 *
 * The names of these tables begin with the grouped table's name, as it was when
 * they were made. After a rename another table may have that name, and long
 * names may be cut to the same one. So a comment on the table of groups names
 * the grouped table: by OID, which lasts through renames, and by name, which
 * lasts through dump and restore. The triggers of grouped tables say it as well.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "arrival/sources.h"

#define RECORD_MARK SIMDUP_ATTACH_MARK "groups of table "
#define GROUPS_SUFFIX "_simdup_groups"

/* The longest of the names that follow. */
#define LONGEST_SUFFIX "_simdup_decisions"

/* What the comment on a table of groups says. */
typedef struct Record
{
	char *name;
	Oid table; /* InvalidOid if it was written in another database */
} Record;

static Oid
namespace_of(Attachment *a)
{
	return a->table->rd_rel->relnamespace;
}

static bool
is_table(Oid relid)
{
	char kind = get_rel_relkind(relid);

	return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE;
}

static Oid
table_of_groups(Attachment *a, const char *tables)
{
	return get_relname_relid(makeObjectName(tables, NULL, "simdup_groups"),
							 namespace_of(a));
}

/* The name, and the numbers that tell this table from all others. */
static char *
record_of(Attachment *a)
{
	return psprintf(RECORD_MARK "%s (" UINT64_FORMAT "/%u/%u)",
					RelationGetRelationName(a->table), GetSystemIdentifier(),
					MyDatabaseId, RelationGetRelid(a->table));
}

/* false if the table has no such comment */
static bool
read_record(Oid groups, Record *record)
{
	char *comment = GetComment(groups, RelationRelationId, 0);
	char *numbers;
	uint64 cluster;
	Oid database;
	Oid table;

	if (comment == NULL ||
		strncmp(comment, RECORD_MARK, strlen(RECORD_MARK)) != 0)
		return false;
	numbers = strrchr(comment, '(');
	if (numbers == NULL || numbers - comment <= (int) strlen(RECORD_MARK) ||
		sscanf(numbers, "(" UINT64_FORMAT "/%u/%u)", &cluster, &database,
			   &table) != 3)
		return false;
	record->name = pnstrdup(comment + strlen(RECORD_MARK),
							numbers - comment - strlen(RECORD_MARK) - 1);
	record->table = cluster == GetSystemIdentifier() && database == MyDatabaseId
						? table
						: InvalidOid;
	return true;
}

/* The other table that the record names, if there is such a table. */
static Oid
recorded_owner(Attachment *a, const char *tables)
{
	Oid groups = table_of_groups(a, tables);
	Oid table;
	Record record;

	if (!OidIsValid(groups) || !read_record(groups, &record))
		return InvalidOid;
	table = OidIsValid(record.table)
				? record.table
				: get_relname_relid(record.name, namespace_of(a));
	return table != RelationGetRelid(a->table) && is_table(table) ? table
																  : InvalidOid;
}

/* Where the names of a trigger's tables begin: its option, or the table's name. */
static const char *
tables_of_trigger(HeapTuple tuple, TupleDesc desc)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
	bool isnull;
	Datum value = heap_getattr(tuple, Anum_pg_trigger_tgargs, desc, &isnull);
	const char *argument = isnull ? "" : VARDATA_ANY(DatumGetByteaPP(value));

	for (int i = 0; i < form->tgnargs; i++)
	{
		char *name;
		const char *option = simdup_option_value(argument, &name);

		if (option != NULL && strcmp(name, "tables") == 0)
			return pstrdup(option);
		argument += strlen(argument) + 1;
	}
	return get_rel_name(form->tgrelid);
}

/* Would two names lead to one table? They are cut to fit. */
static bool
share_a_table(const char *a, const char *b)
{
	static const char *const suffixes[] = {"simdup_groups", "simdup_members",
										   "simdup_events", "simdup_redirects",
										   "simdup_decisions"};

	for (size_t i = 0; i < lengthof(suffixes); i++)
		if (strcmp(makeObjectName(a, NULL, suffixes[i]),
				   makeObjectName(b, NULL, suffixes[i])) == 0)
			return true;
	return false;
}

/* Another table whose triggers write to tables of this name. */
static Oid
live_owner(Attachment *a, const char *tables)
{
	Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
								   PointerGetDatum("simdup_group_trigger"),
								   PointerGetDatum(buildoidvector(NULL, 0)),
								   ObjectIdGetDatum(a->extension));
	Relation triggers = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan =
		systable_beginscan(triggers, InvalidOid, false, NULL, 0, NULL);
	Oid found = InvalidOid;
	HeapTuple tuple;

	while (!OidIsValid(found) &&
		   HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
		const char *name;

		if (form->tgfoid != function || OidIsValid(form->tgparentid) ||
			form->tgrelid == RelationGetRelid(a->table) ||
			get_rel_namespace(form->tgrelid) != namespace_of(a))
			continue;
		name = tables_of_trigger(tuple, RelationGetDescr(triggers));
		if (name != NULL && share_a_table(name, tables))
			found = form->tgrelid;
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	return found;
}

static Oid
other_owner(Attachment *a, const char *tables)
{
	Oid owner = live_owner(a, tables);

	return OidIsValid(owner) ? owner : recorded_owner(a, tables);
}

/* The tables that this table had before, under any name; NULL if none. */
static char *
tables_left(Attachment *a)
{
	Relation classes = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	char *found = NULL;

	ScanKeyInit(&key, Anum_pg_class_relnamespace, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(namespace_of(a)));
	scan = systable_beginscan(classes, InvalidOid, false, NULL, 1, &key);
	while (found == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		const char *name = NameStr(form->relname);
		int len = (int) strlen(name) - (int) strlen(GROUPS_SUFFIX);
		Record record;

		if (form->relkind == RELKIND_RELATION && len > 0 &&
			strcmp(name + len, GROUPS_SUFFIX) == 0 &&
			read_record(form->oid, &record) &&
			record.table == RelationGetRelid(a->table))
			found = pnstrdup(name, len);
	}
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	if (found != NULL && OidIsValid(live_owner(a, found)))
		return NULL;
	return found;
}

/* The table's name with a suffix, cut so that all names of tables fit. */
static char *
cut_name(Attachment *a, const char *suffix)
{
	const char *name = RelationGetRelationName(a->table);
	int room =
		NAMEDATALEN - 1 - (int) strlen(LONGEST_SUFFIX) - (int) strlen(suffix);
	int len = pg_mbcliplen(name, (int) strlen(name), room);

	return psprintf("%.*s%s", len, name, suffix);
}

char *
simdup_attach_choose_tables(Attachment *a)
{
	char *left = tables_left(a);
	char *name = cut_name(a, "");
	Oid owner;

	if (left != NULL)
		return left;
	owner = other_owner(a, name);
	if (!OidIsValid(owner))
		return name;
	for (int i = 2; OidIsValid(other_owner(a, name)); i++)
		name = cut_name(a, psprintf("_%d", i));
	ereport(NOTICE,
			errmsg("tables beside table \"%s\" have names that begin with \"%s\"",
				   RelationGetRelationName(a->table), name),
			errdetail("Those that would begin with its own name belong to table \"%s\".",
					  get_rel_name(owner)),
			errhint(
				"To go on with those, detach that table and remove the comment on its table of groups first."));
	return name;
}

List *
simdup_attach_claim_groups(Attachment *a, List *list)
{
	Oid groups = table_of_groups(a, a->tables);
	char *record = record_of(a);
	char *comment;

	if (OidIsValid(groups))
	{
		comment = GetComment(groups, RelationRelationId, 0);
		if (comment != NULL && strcmp(comment, record) == 0)
			return list;
	}
	return lappend(list,
				   psprintf("COMMENT ON TABLE %s IS %s",
							quote_qualified_identifier(get_namespace_name(
														   namespace_of(a)),
													   makeObjectName(a->tables,
																	  NULL,
																	  "simdup_groups")),
							quote_literal_cstr(record)));
}

List *
simdup_attach_leave_groups(Attachment *a, List *list)
{
	Oid groups = table_of_groups(a, a->tables);

	if (!OidIsValid(groups) || !is_table(groups) ||
		simdup_arrival_owner(groups) !=
			simdup_arrival_owner(RelationGetRelid(a->table)))
		return list;
	return simdup_attach_claim_groups(a, list);
}
