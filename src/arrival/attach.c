/*
 * attach.c
 *	  simdup_attach and simdup_detach: an existing table gets, or loses,
 *	  fingerprints and an arrival trigger, by DDL that can be looked at first.
 */
#include "postgres.h"
#include "compat.h"

#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "server/catalog.h"
#include "type/simhash64.h"

/* What attach makes in the table; detach knows it by these names. */
#define FP_COLUMN "simdup_fp"
#define FLAG_COLUMN "simdup_of"
#define UPDATE_TRIGGER "simdup_1_fingerprint"
#define ACTION_TRIGGER "simdup_2_arrival"

#define DO_QUOTE "$simdup$"

/* A live table is filled so many pages a transaction. */
#define BATCH_PAGES 1000

/* Arguments of simdup_attach. */
enum
{
	ARG_TABLE,
	ARG_CONTENT,
	ARG_FIELDS,
	ARG_K,
	ARG_ACTION,
	ARG_DRY_RUN,
	ARG_KEY,
	ARG_LOG_TABLE,
	ARG_LIVE
};

/* What the statements are made of; names are quoted already. */
typedef struct Attachment
{
	Oid table;
	bool partitioned;
	bool live;
	int k;
	const char *action;
	const char *extension;
	char *table_name;
	char *key;
	char *key_type;
	char *log_table;
	bool log_exists;
	char *arguments;  /* of simhash_update_trigger */
	char *expression; /* the same by SQL */
	List *statements;
} Attachment;

static void
add_statement(Attachment *a, char *statement)
{
	a->statements = lappend(a->statements, statement);
}

static char *
text_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", name));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* A column that must exist; its name, quoted. */
static char *
column_argument(Attachment *a, char *name)
{
	AttrNumber attnum = get_attnum(a->table, name);

	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   get_rel_name(a->table)));
	return pstrdup(quote_identifier(name));
}

static void
table_argument(FunctionCallInfo fcinfo, Attachment *a)
{
	char kind;

	if (PG_ARGISNULL(ARG_TABLE))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", "target"));
	a->table = PG_GETARG_OID(ARG_TABLE);
	kind = get_rel_relkind(a->table);
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("relation with OID %u is not a table", a->table));
	a->partitioned = kind == RELKIND_PARTITIONED_TABLE;
	a->table_name = quote_qualified_identifier(get_namespace_name(
												   get_rel_namespace(a->table)),
											   get_rel_name(a->table));
	a->extension = quote_identifier(
		get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
}

/* The content and the fields, as the trigger and as SQL take them. */
static void
source_arguments(FunctionCallInfo fcinfo, Attachment *a)
{
	char *content = text_argument(fcinfo, ARG_CONTENT, "content");
	char *column = column_argument(a, content);
	StringInfoData arguments;
	StringInfoData fields;
	Datum *values = NULL;
	bool *nulls = NULL;
	int n = 0;
	int i;

	initStringInfo(&arguments);
	initStringInfo(&fields);
	appendStringInfo(&arguments, "%s, %s", quote_literal_cstr(FP_COLUMN),
					 quote_literal_cstr(content));
	if (!PG_ARGISNULL(ARG_FIELDS))
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_FIELDS), TEXTOID, -1, false,
						  TYPALIGN_INT, &values, &nulls, &n);
	for (i = 0; i < n; i++)
	{
		char *field;

		if (nulls[i])
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("%s must not be null", "a field"));
		field = TextDatumGetCString(values[i]);
		appendStringInfo(&fields, "%s%s::pg_catalog.text", i > 0 ? ", " : "",
						 column_argument(a, field));
		appendStringInfo(&arguments, ", %s", quote_literal_cstr(field));
	}
	a->arguments = arguments.data;
	a->expression =
		n > 0
			? psprintf("%s.simhash_row(%s::pg_catalog.text, ARRAY[%s])",
					   a->extension, column, fields.data)
			: psprintf("%s.simhash(%s::pg_catalog.text)", a->extension, column);
}

/* The given key, or the primary key's only column. */
static void
key_argument(FunctionCallInfo fcinfo, Attachment *a)
{
	AttrNumber attnum = InvalidAttrNumber;
	Relation rel;
	Bitmapset *columns;
	Oid type;
	int32 typmod;
	Oid collation;

	if (!PG_ARGISNULL(ARG_KEY))
	{
		a->key = text_to_cstring(PG_GETARG_TEXT_PP(ARG_KEY));
		(void) column_argument(a, a->key);
		attnum = get_attnum(a->table, a->key);
	}
	else
	{
		rel = RelationIdGetRelation(a->table);
		if (!RelationIsValid(rel))
			elog(ERROR, "could not open relation with OID %u", a->table);
		columns =
			RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);
		RelationClose(rel);
		if (bms_membership(columns) != BMS_SINGLETON)
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
					errmsg("table \"%s\" has no primary key of one column",
						   get_rel_name(a->table)),
					errhint(
						"Name the column that tells its rows apart: key => 'column'."));
		attnum =
			bms_singleton_member(columns) + FirstLowInvalidHeapAttributeNumber;
		a->key = get_attname(a->table, attnum, false);
	}
	get_atttypetypmodcoll(a->table, attnum, &type, &typmod, &collation);
	a->key_type = format_type_extended(type, typmod,
									   FORMAT_TYPE_TYPEMOD_GIVEN |
										   FORMAT_TYPE_FORCE_QUALIFY);
}

/*
 * The log table: beside the table, unless it says else. Who inserts into the
 * table writes to it, and fires what triggers it has: one that stands under
 * the name that nobody chose must be of those who are trusted already.
 */
static void
log_table_argument(FunctionCallInfo fcinfo, Attachment *a)
{
	RangeVar *name;
	Oid log;
	Oid owner;

	if (PG_ARGISNULL(ARG_LOG_TABLE))
		name =
			makeRangeVar(NULL,
						 psprintf("%s_simdup_log", get_rel_name(a->table)), -1);
	else
		name = makeRangeVarFromNameList(
			textToQualifiedNameList(PG_GETARG_TEXT_PP(ARG_LOG_TABLE)));
	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(get_rel_namespace(a->table));
	a->log_table = quote_qualified_identifier(name->schemaname, name->relname);
	log = RangeVarGetRelid(name, NoLock, true);
	a->log_exists = OidIsValid(log);
	if (!a->log_exists || !PG_ARGISNULL(ARG_LOG_TABLE))
		return;
	owner = simdup_arrival_owner(log);
	if (owner != simdup_arrival_owner(a->table) && owner != GetUserId())
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("relation %s exists and belongs to another role",
					   a->log_table),
				errdetail("Whoever writes to table \"%s\" would write to it and fire its triggers.",
						  get_rel_name(a->table)),
				errhint(
					"If this is the log you want, name it: log_table => '...'."));
}

static void
action_arguments(FunctionCallInfo fcinfo, Attachment *a)
{
	if (PG_ARGISNULL(ARG_K))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", "k"));
	a->k = PG_GETARG_INT32(ARG_K);
	if (a->k < 0 || a->k > SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("k must be between 0 and %d", SIMHASH64_BITS),
				errdetail("The value given is %d.", a->k));
	a->action = text_argument(fcinfo, ARG_ACTION, "action");
	if (strcmp(a->action, "flag") != 0 && strcmp(a->action, "log") != 0 &&
		strcmp(a->action, "reject") != 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized action: \"%s\"", a->action),
				errhint("Actions are flag, log and reject."));
	if (strcmp(a->action, "log") == 0)
		log_table_argument(fcinfo, a);
}

static void
refuse_foreign_tables(Attachment *a)
{
	if (simdup_arrival_reaches_foreign(a->table))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("relation \"%s\" has foreign tables below it",
					   get_rel_name(a->table)),
				errdetail(
					"Columns and indexes cannot be added on their servers from here."),
				errhint(
					"Add column, index and trigger by hand, on each server."));
}

static void
refuse_second_attachment(Attachment *a)
{
	if (get_attnum(a->table, FP_COLUMN) != InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("table \"%s\" has a column \"%s\" already",
					   get_rel_name(a->table), FP_COLUMN),
				errhint("simdup_detach takes off what simdup_attach made."));
}

/* A name in the body may hold whatever ends a dollar-quoted string. */
static char *
do_statement(char *body)
{
	return strstr(body, DO_QUOTE)
			   ? psprintf("DO %s", quote_literal_cstr(body))
			   : psprintf("DO %s\n%s%s", DO_QUOTE, body, DO_QUOTE);
}

static void
add_backfill(Attachment *a)
{
	char *size;

	if (!a->live)
	{
		add_statement(a, psprintf("UPDATE %s SET %s = %s", a->table_name,
								  FP_COLUMN, a->expression));
		return;
	}
	size =
		a->partitioned
			? psprintf("(SELECT pg_catalog.max(pg_catalog.pg_relation_size(relid))"
					   " FROM pg_catalog.pg_partition_tree(%s) WHERE isleaf)",
					   quote_literal_cstr(a->table_name))
			: psprintf("pg_catalog.pg_relation_size(%s)",
					   quote_literal_cstr(a->table_name));
	add_statement(a,
				  do_statement(
					  psprintf("BEGIN\n"
							   "  FOR simdup_page IN 0 .. %s OPERATOR(pg_catalog./) %d BY %d LOOP\n"
							   "    UPDATE %s SET %s = %s\n"
							   "      WHERE ctid OPERATOR(pg_catalog.>=) pg_catalog.format('(%%s,0)', simdup_page)::pg_catalog.tid\n"
							   "        AND ctid OPERATOR(pg_catalog.<) pg_catalog.format('(%%s,0)', simdup_page OPERATOR(pg_catalog.+) %d)::pg_catalog.tid\n"
							   "        AND %s IS NULL;\n"
							   "    COMMIT;\n"
							   "  END LOOP;\n"
							   "END\n",
							   size, BLCKSZ, BATCH_PAGES, a->table_name,
							   FP_COLUMN, a->expression, BATCH_PAGES,
							   FP_COLUMN)));
}

static void
add_action(Attachment *a)
{
	const char *fp = quote_literal_cstr(FP_COLUMN);
	const char *key = quote_literal_cstr(a->key);
	bool log = strcmp(a->action, "log") == 0;
	char *arguments;

	if (log)
		arguments = psprintf("%s, %s, '%d', %s", fp, key, a->k,
							 quote_literal_cstr(a->log_table));
	else if (strcmp(a->action, "flag") == 0)
		arguments = psprintf("%s, %s, %s, '%d'", fp,
							 quote_literal_cstr(FLAG_COLUMN), key, a->k);
	else
		arguments = psprintf("%s, %s, '%d'", fp, key, a->k);
	add_statement(a,
				  psprintf("CREATE TRIGGER %s %s INSERT OR UPDATE ON %s FOR EACH ROW"
						   " EXECUTE FUNCTION %s.simdup_%s_trigger(%s)",
						   ACTION_TRIGGER, log ? "AFTER" : "BEFORE",
						   a->table_name, a->extension, a->action, arguments));
}

/*
 * In an order that leaves no gap: new rows get a fingerprint before the old
 * ones do, and none is acted on before all have one.
 */
static void
list_attachment(Attachment *a)
{
	add_statement(a, psprintf("ALTER TABLE %s ADD COLUMN %s %s.simhash64",
							  a->table_name, FP_COLUMN, a->extension));
	if (strcmp(a->action, "flag") == 0)
		add_statement(a, psprintf("ALTER TABLE %s ADD COLUMN %s %s",
								  a->table_name, FLAG_COLUMN, a->key_type));
	if (strcmp(a->action, "log") == 0 && !a->log_exists)
		add_statement(a,
					  psprintf("CREATE TABLE %s (new_key %s, old_key %s,"
							   " distance integer, logged_at pg_catalog.timestamptz)",
							   a->log_table, a->key_type, a->key_type));
	add_statement(a,
				  psprintf("CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW"
						   " EXECUTE FUNCTION %s.simhash_update_trigger(%s)",
						   UPDATE_TRIGGER, a->table_name, a->extension,
						   a->arguments));
	add_backfill(a);
	add_statement(a,
				  psprintf("CREATE INDEX %sON %s USING gin (%s %s.simhash64_ops)"
						   " WITH (fastupdate = off)",
						   a->live && !a->partitioned ? "CONCURRENTLY " : "",
						   a->table_name, FP_COLUMN, a->extension));
	add_action(a);
	if (a->live)
		add_statement(a,
					  psprintf("SELECT pg_catalog.count(*) AS rows_without_their_fingerprint FROM %s"
							   " WHERE (%s OPERATOR(%s.=) %s) IS NOT TRUE"
							   " AND pg_catalog.num_nonnulls(%s, %s) > 0",
							   a->table_name, FP_COLUMN, a->extension,
							   a->expression, FP_COLUMN, a->expression));
}

/* Give the statements as the result; run them first, unless it is dry. */
static Datum
finish(FunctionCallInfo fcinfo, List *statements, bool dry_run)
{
	ReturnSetInfo *result;
	ListCell *cell;

	if (!dry_run)
	{
		SPI_connect();
		foreach (cell, statements)
		{
			int status = SPI_execute((char *) lfirst(cell), false, 0);

			if (status < 0)
				elog(ERROR, "SPI_execute failed: %s: %s",
					 SPI_result_code_string(status), (char *) lfirst(cell));
		}
		SPI_finish();
	}

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	foreach (cell, statements)
	{
		Datum value = CStringGetTextDatum((char *) lfirst(cell));
		bool isnull = false;

		tuplestore_putvalues(result->setResult, result->setDesc, &value,
							 &isnull);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_attach);
/*
 * simdup_attach(target, content, fields, k, action, dry_run, key, log_table,
 * live)
 */
Datum
simdup_attach(PG_FUNCTION_ARGS)
{
	Attachment a = {0};
	bool dry_run = !PG_ARGISNULL(ARG_DRY_RUN) && PG_GETARG_BOOL(ARG_DRY_RUN);

	table_argument(fcinfo, &a);
	refuse_foreign_tables(&a);
	source_arguments(fcinfo, &a);
	key_argument(fcinfo, &a);
	action_arguments(fcinfo, &a);
	refuse_second_attachment(&a);
	a.live = !PG_ARGISNULL(ARG_LIVE) && PG_GETARG_BOOL(ARG_LIVE);
	if (a.live && !dry_run)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg(
					"simdup_attach cannot run the statements for a live table"),
				errdetail("They need transactions of their own."),
				errhint(
					"Use dry_run => true, and run them one by one, in psql by \\gexec."));

	list_attachment(&a);
	return finish(fcinfo, a.statements, dry_run);
}

static bool
is_fingerprint_column(Attachment *a, Oid extension)
{
	AttrNumber attnum = get_attnum(a->table, FP_COLUMN);

	return attnum > 0 && getBaseType(get_atttype(a->table, attnum)) ==
							 simdup_type_in_schema(extension, "simhash64");
}

PG_FUNCTION_INFO_V1(simdup_detach);
/* simdup_detach(target, dry_run, keep_columns) */
Datum
simdup_detach(PG_FUNCTION_ARGS)
{
	Attachment a = {0};
	bool dry_run = PG_GETARG_BOOL(1);
	bool keep_columns = PG_GETARG_BOOL(2);

	table_argument(fcinfo, &a);
	if (!is_fingerprint_column(&a, get_func_namespace(fcinfo->flinfo->fn_oid)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("table \"%s\" has nothing that simdup_attach made",
					   get_rel_name(a.table)),
				errdetail("It has no fingerprint column \"%s\".", FP_COLUMN));

	add_statement(&a, psprintf("DROP TRIGGER IF EXISTS %s ON %s",
							   ACTION_TRIGGER, a.table_name));
	add_statement(&a, psprintf("DROP TRIGGER IF EXISTS %s ON %s",
							   UPDATE_TRIGGER, a.table_name));
	if (!keep_columns)
	{
		if (get_attnum(a.table, FLAG_COLUMN) > 0)
			add_statement(&a, psprintf("ALTER TABLE %s DROP COLUMN %s",
									   a.table_name, FLAG_COLUMN));
		add_statement(&a, psprintf("ALTER TABLE %s DROP COLUMN %s",
								   a.table_name, FP_COLUMN));
	}
	return finish(fcinfo, a.statements, dry_run);
}
