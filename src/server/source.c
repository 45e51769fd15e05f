/*
 * source.c
 *	  Reads a source: a table or a view whose columns are known by name.
 *
 * The statement is one that the server itself could print. SPI plans it, with the
 * rights and the row-level security of the caller, and the executor passes each
 * row to a receiver of ours. Its names have schemas wherever the search_path could
 * mean others.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "server/arguments.h"
#include "server/source.h"

/* Running a SELECT */

/* Passes rows to a sink. It begins and ends as the server's None_Receiver. */
typedef struct RowReceiver
{
	DestReceiver pub;
	const SimdupSource *source; /* NULL: another statement */
	SimdupRowSink sink;
	void *arg;
	MemoryContext context;
} RowReceiver;

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	const SimdupSource *source = receiver->source;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	slot_getallattrs(slot);
	if (source != NULL && source->key != NULL &&
		slot->tts_isnull[source->place[SIMDUP_SOURCE_KEY]])
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("key must not be null"),
				errdetail("Source %s has a row without a key.", source->name));
	receiver->sink(receiver->arg, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->context);
	return true;
}

/* Run a SELECT. Without an order, a parallel plan gives another one each time. */
static void
run_select(const char *statement, const SimdupSource *source,
		   SimdupRowSink sink, void *arg)
{
	RowReceiver receiver = {.pub = *None_Receiver,
							.source = source,
							.sink = sink,
							.arg = arg};
	SPIExecuteOptions options = {.read_only = true, .dest = &receiver.pub};
	bool in_order = source != NULL && source->key != NULL;
	SPIPlanPtr plan;
	int result;

	SPI_connect();
	plan = SPI_prepare_cursor(statement, 0, NULL,
							  in_order ? CURSOR_OPT_PARALLEL_OK : 0);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s",
			 SPI_result_code_string(SPI_result));
	receiver.pub.receiveSlot = receive_row;
	receiver.pub.mydest = DestTuplestore;
	receiver.context = AllocSetContextCreate(CurrentMemoryContext, "simdup row",
											 ALLOCSET_SMALL_SIZES);
	result = SPI_execute_plan_extended(plan, &options);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s",
			 SPI_result_code_string(result));
	SPI_finish();
}

void
simdup_run_select(const char *statement, SimdupRowSink sink, void *arg)
{
	run_select(statement, NULL, sink, arg);
}

void
simdup_source_read(const SimdupSource *source, SimdupRowSink sink, void *arg)
{
	run_select(source->statement, source, sink, arg);
}

/* The columns of a source */

typedef struct Columns
{
	Relation relation;
	Oid fp_type;
	char *schema; /* of this extension, quoted */
	Form_pg_attribute found[SIMDUP_SOURCE_COLUMNS]; /* NULL: none */
} Columns;

static Form_pg_attribute
column_named(Relation relation, const char *name)
{
	AttrNumber number = get_attnum(RelationGetRelid(relation), name);

	return number > 0 ? TupleDescAttr(RelationGetDescr(relation), number - 1)
					  : NULL;
}

/* Return the first column of a date or a time that has no other use, or NULL. */
static Form_pg_attribute
day_column(const Columns *c)
{
	TupleDesc columns = RelationGetDescr(c->relation);

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool is_day = column->atttypid == DATEOID ||
					  column->atttypid == TIMESTAMPOID ||
					  column->atttypid == TIMESTAMPTZOID;

		for (int j = 0; j < SIMDUP_SOURCE_DAY; j++)
			is_day = is_day && column != c->found[j];
		if (is_day && !column->attisdropped)
			return column;
	}
	return NULL;
}

/* Return the only column of the primary key, or NULL. */
static Form_pg_attribute
primary_key(Relation relation)
{
	Oid constraint;
	Bitmapset *columns =
		get_primary_key_attnos(RelationGetRelid(relation), false, &constraint);

	if (bms_membership(columns) != BMS_SINGLETON)
		return NULL;
	return TupleDescAttr(RelationGetDescr(relation),
						 bms_singleton_member(columns) +
							 FirstLowInvalidHeapAttributeNumber - 1);
}

static bool
is_fingerprint(const Columns *c)
{
	Form_pg_attribute fp = c->found[SIMDUP_SOURCE_FP];

	return fp != NULL && getBaseType(fp->atttypid) == c->fp_type;
}

static bool
is_content(Form_pg_attribute column)
{
	return column != NULL && (simdup_is_text_type(column->atttypid) ||
							  getBaseType(column->atttypid) == VARBITOID);
}

/* Append a column of a view to be written. */
static void
put_as(StringInfo text, Form_pg_attribute column, const char *type,
	   const char *name)
{
	const char *own = column == NULL ? "..." : NameStr(column->attname);

	appendStringInfo(text, "%s%s", column == NULL ? own : quote_identifier(own),
					 type);
	if (strcmp(own, name) != 0 || type[0] != '\0')
		appendStringInfo(text, " AS %s", name);
}

/*
 * Return the statement that makes a view with the columns of a source. Columns
 * that are not known by name are guessed: the first one, and the first text.
 */
static char *
view_to_write(const Columns *c)
{
	TupleDesc columns = RelationGetDescr(c->relation);
	Form_pg_attribute key = c->found[SIMDUP_SOURCE_KEY];
	Form_pg_attribute content = c->found[SIMDUP_SOURCE_CONTENT];
	Form_pg_attribute fp = c->found[SIMDUP_SOURCE_FP];
	char *name = psprintf("%s_source", RelationGetRelationName(c->relation));
	StringInfoData text;

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped)
			continue;
		if (key == NULL && column != content)
			key = column;
		else if (content == NULL && column != key &&
				 simdup_is_text_type(column->atttypid))
			content = column;
	}
	initStringInfo(&text);
	appendStringInfo(&text, "CREATE VIEW %s AS SELECT ",
					 quote_identifier(name));
	put_as(&text, key, "", "key");
	appendStringInfoString(&text, ", ");
	if (is_fingerprint(c))
		appendStringInfoString(&text, "fp, ");
	if (content == NULL && fp != NULL && !is_fingerprint(c))
		put_as(&text, fp, "::simhash64", "fp");
	else
		put_as(&text, content,
			   content == NULL || is_content(content) ? "" : "::text",
			   "content");
	appendStringInfo(&text, " FROM %s;",
					 simdup_table_name(RelationGetRelid(c->relation)));
	return text.data;
}

pg_noreturn static void
no_column(const Columns *c, const char *name, const char *detail)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("column \"%s\" of relation \"%s\" does not exist", name,
				   RelationGetRelationName(c->relation)),
			detail != NULL ? errdetail_internal("%s", detail) : 0,
			errhint("Write a view that has the columns, such as: %s",
					view_to_write(c)));
}

static void
check_type(const Columns *c, Form_pg_attribute column, bool fits,
		   const char *expected)
{
	if (fits)
		return;
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
				   NameStr(column->attname),
				   RelationGetRelationName(c->relation),
				   format_type_be(column->atttypid), expected),
			errhint("Write a view that has the columns, such as: %s",
					view_to_write(c)));
}

/* ERROR unless the wanted columns are there, of types that fit. */
static void
check_columns(const Columns *c, int wanted)
{
	Form_pg_attribute fp = c->found[SIMDUP_SOURCE_FP];
	Form_pg_attribute content = c->found[SIMDUP_SOURCE_CONTENT];
	bool wants_fp = wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_FP);
	bool wants_content = wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	bool to_fingerprint = wants_fp && fp == NULL;

	if ((wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_KEY)) &&
		c->found[SIMDUP_SOURCE_KEY] == NULL)
		no_column(c, "key", _("There is no primary key of one column either."));
	if (fp != NULL && wants_fp)
		check_type(c, fp, is_fingerprint(c), "simhash64");
	if (content == NULL && (wants_content || to_fingerprint))
		no_column(c, "content",
				  to_fingerprint ? _("There is no column \"fp\" either.")
								 : NULL);
	if (content != NULL && (wants_content || to_fingerprint))
		check_type(c, content,
				   to_fingerprint || (wanted & SIMDUP_SOURCE_TEXTS)
					   ? simdup_is_text_type(content->atttypid)
					   : is_content(content),
				   "text");
}

/* Append a column to the SELECT of a source. */
static void
put_column(SimdupSource *source, StringInfo text, SimdupSourceColumn which,
		   int *n, const Columns *c)
{
	Form_pg_attribute column = c->found[which];
	const char *text_type = format_type_be(TEXTOID);

	appendStringInfoString(text, *n == 0 ? "SELECT " : ", ");
	source->place[which] = (*n)++;
	source->type[which] = column != NULL ? column->atttypid : c->fp_type;
	/* no other function of the schema fits better */
	if (column == NULL)
		appendStringInfo(text, "%s.minhash64(s.content::%s, 4, 'char'::%s, 0)",
						 c->schema, text_type, text_type);
	else
		appendStringInfo(text, "s.%s",
						 quote_identifier(NameStr(column->attname)));
	if (which == SIMDUP_SOURCE_DAY)
	{
		source->type[which] = DATEOID;
		source->day = pstrdup(NameStr(column->attname));
		appendStringInfo(text, "::%s", format_type_be(DATEOID));
	}
}

SimdupSource
simdup_source_open(FunctionCallInfo fcinfo, Oid relation, int wanted)
{
	static const char *const names[SIMDUP_SOURCE_DAY] = {"key", "fp", "content",
														 "scope"};
	Oid function = fcinfo->flinfo->fn_oid;
	Columns c = {.relation = try_relation_open(relation, AccessShareLock)};
	SimdupSource source = {0};
	StringInfoData text;
	int n = 0;

	if (c.relation == NULL)
		simdup_no_such_table(relation);
	if (!strchr("rpvmf", c.relation->rd_rel->relkind))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("cannot open relation \"%s\"",
					   RelationGetRelationName(c.relation)),
				errdetail_relkind_not_supported(c.relation->rd_rel->relkind));
	source.name = simdup_table_name(relation);
	c.fp_type = simdup_sibling_type(function, "simhash64");
	c.schema = pstrdup(
		quote_identifier(get_namespace_name(get_func_namespace(function))));
	for (int i = 0; i < SIMDUP_SOURCE_DAY; i++)
		c.found[i] = column_named(c.relation, names[i]);
	if (c.found[SIMDUP_SOURCE_KEY] == NULL)
		c.found[SIMDUP_SOURCE_KEY] = primary_key(c.relation);
	c.found[SIMDUP_SOURCE_DAY] = day_column(&c);
	check_columns(&c, wanted);
	if (is_content(c.found[SIMDUP_SOURCE_CONTENT]))
		source.content_type =
			getBaseType(c.found[SIMDUP_SOURCE_CONTENT]->atttypid);
	initStringInfo(&text);
	for (int i = 0; i < SIMDUP_SOURCE_COLUMNS; i++)
	{
		source.place[i] = -1;
		if ((wanted & SIMDUP_SOURCE_HAS(i)) != 0 &&
			(c.found[i] != NULL || i == SIMDUP_SOURCE_FP))
			put_column(&source, &text, i, &n, &c);
	}
	appendStringInfo(&text, " FROM %s AS s", source.name);
	if (source.place[SIMDUP_SOURCE_KEY] >= 0)
	{
		source.key = pstrdup(
			quote_identifier(NameStr(c.found[SIMDUP_SOURCE_KEY]->attname)));
		source.key_collation = c.found[SIMDUP_SOURCE_KEY]->attcollation;
		appendStringInfo(&text, " ORDER BY s.%s", source.key);
	}
	if (source.place[SIMDUP_SOURCE_SCOPE] >= 0)
		source.scope_collation = c.found[SIMDUP_SOURCE_SCOPE]->attcollation;
	source.statement = text.data;
	relation_close(c.relation, NoLock);
	return source;
}
