/*
 * source.c
 *	  Reads a source: a table or a view whose columns have known names or an index.
 *
 * The statement is one that the server itself could print. SPI plans it, with the
 * rights and the row-level security of the caller, and the executor passes each
 * row to a receiver of ours. Its names have schemas wherever the search_path could
 * mean others.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/pg_constraint.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "server/arguments.h"
#include "server/source.h"

/* Running a SELECT */

/* Passes rows to a sink. It begins and ends as the server's None_Receiver. */
typedef struct RowReceiver
{
	DestReceiver pub;
	const SimdupSource *source;
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
	if (source->key != NULL &&
		slot->tts_isnull[source->place[SIMDUP_SOURCE_KEY]])
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("key must not be null"),
				errdetail("Source %s has a row without a key.", source->name));
	receiver->sink(receiver->arg, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->context);
	return true;
}

void
simdup_source_read(const SimdupSource *source, SimdupRowSink sink, void *arg)
{
	RowReceiver receiver = {.pub = *None_Receiver,
							.source = source,
							.sink = sink,
							.arg = arg};
	SPIExecuteOptions options = {.read_only = true, .dest = &receiver.pub};
	SPIPlanPtr plan;
	int result;

	SPI_connect();
	/* without the order of the key, a parallel plan gives another order each time */
	plan = SPI_prepare_cursor(source->statement, 0, NULL,
							  source->key != NULL ? CURSOR_OPT_PARALLEL_OK : 0);
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

/* The columns of a source */

typedef struct Columns
{
	Relation relation;
	Oid fp_type;
	char *schema; /* of this extension, quoted */
	Form_pg_attribute found[SIMDUP_SOURCE_COLUMNS]; /* NULL: none */
} Columns;

static const char *const column_names[SIMDUP_SOURCE_DAY] = {"key", "fp",
															"content", "scope",
															"cluster"};

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

/*
 * Return the text, or the fingerprint, of which a whole column is in a valid hamming
 * index of all rows. NULL: there is none. ERROR if there are several.
 */
static Form_pg_attribute
indexed_column(const Columns *c, SimdupSourceColumn which)
{
	Oid method = get_am_oid("hamming", false);
	Form_pg_attribute column = NULL;
	Bitmapset *found = NULL;
	StringInfoData names;
	ListCell *cell;

	initStringInfo(&names);
	foreach (cell, RelationGetIndexList(c->relation))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		int number = index->rd_index->indkey.values[0];
		bool fits = index->rd_rel->relam == method && number > 0 &&
					index->rd_index->indisvalid &&
					RelationGetIndexPredicate(index) == NIL &&
					!bms_is_member(number, found);
		Oid type =
			get_atttype(RelationGetRelid(c->relation), (AttrNumber) number);

		index_close(index, AccessShareLock);
		if (!fits ||
			(which == SIMDUP_SOURCE_FP ? getBaseType(type) != c->fp_type
									   : !simdup_is_text_type(type)))
			continue;
		found = bms_add_member(found, number);
		column = TupleDescAttr(RelationGetDescr(c->relation), number - 1);
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "",
						 NameStr(column->attname));
	}
	if (bms_membership(found) == BMS_MULTIPLE)
		ereport(ERROR, errcode(ERRCODE_AMBIGUOUS_COLUMN),
				errmsg("column reference \"%s\" is ambiguous",
					   column_names[which]),
				errdetail("Columns of relation \"%s\" with a hamming index are %s.",
						  RelationGetRelationName(c->relation), names.data),
				errhint("Name one of them \"%s\" in a view.",
						column_names[which]));
	return column;
}

static bool
is_content(Form_pg_attribute column)
{
	return column != NULL && (simdup_is_text_type(column->atttypid) ||
							  getBaseType(column->atttypid) == VARBITOID);
}

pg_noreturn static void
no_column(const Columns *c, const char *name)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("column \"%s\" of relation \"%s\" does not exist", name,
				   RelationGetRelationName(c->relation)),
			errhint(
				"Columns of a source are \"key\", \"fp\", \"content\" and \"scope\", or else the primary key and a column with a hamming index. A view can name them so."));
}

static void
check_type(const Columns *c, Form_pg_attribute column, bool fits,
		   const char *expected)
{
	bool is_cluster = column == c->found[SIMDUP_SOURCE_CLUSTER];

	if (fits)
		return;
	ereport(ERROR,
			errcode(is_cluster ? ERRCODE_INVALID_PARAMETER_VALUE
							   : ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
				   NameStr(column->attname),
				   RelationGetRelationName(c->relation),
				   format_type_be(column->atttypid), expected),
			errhint("Cast it, or give it another name, in a view."));
}

/* ERROR unless the wanted columns are there, of types that fit. */
static void
check_columns(const Columns *c, int wanted)
{
	Form_pg_attribute fp = c->found[SIMDUP_SOURCE_FP];
	Form_pg_attribute content = c->found[SIMDUP_SOURCE_CONTENT];
	Form_pg_attribute cluster = c->found[SIMDUP_SOURCE_CLUSTER];
	bool wants_fp = wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_FP);
	bool wants_content = wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	bool to_fingerprint = wants_fp && fp == NULL;
	Oid key_type;

	if ((wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_KEY)) &&
		c->found[SIMDUP_SOURCE_KEY] == NULL)
		no_column(c, "key");
	if (fp != NULL && wants_fp)
		check_type(c, fp, getBaseType(fp->atttypid) == c->fp_type, "simhash64");
	if (content == NULL && (wants_content || to_fingerprint))
		no_column(c, "content");
	if (content != NULL && (wants_content || to_fingerprint))
		check_type(c, content,
				   to_fingerprint || (wanted & SIMDUP_SOURCE_TEXTS)
					   ? simdup_is_text_type(content->atttypid)
					   : is_content(content),
				   "text");
	if ((wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CLUSTER)) == 0)
		return;
	if (cluster == NULL)
		no_column(c, "cluster");
	key_type = c->found[SIMDUP_SOURCE_KEY]->atttypid;
	check_type(c, cluster, cluster->atttypid == key_type,
			   format_type_be(key_type));
}

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
		appendStringInfo(text, "%s.minhash64(s.%s::%s, 4, 'char'::%s, 0)",
						 c->schema,
						 quote_identifier(
							 NameStr(c->found[SIMDUP_SOURCE_CONTENT]->attname)),
						 text_type, text_type);
	else if (which == SIMDUP_SOURCE_CLUSTER)
		appendStringInfoString(text,
							   "CASE WHEN NOT s.cluster IS NULL THEN dense_rank() OVER (ORDER BY s.cluster) END");
	else
		appendStringInfo(text, "s.%s",
						 quote_identifier(NameStr(column->attname)));
	if (which == SIMDUP_SOURCE_DAY)
	{
		source->type[which] = DATEOID;
		appendStringInfo(text, "::%s", format_type_be(DATEOID));
	}
}

/*
 * Find the columns: by the names of an argument "columns", else by their own names,
 * else by indexes. A column that is NULL there is not used, except a content that was
 * added since. A refresh takes no other column than before, except for keys, whose type
 * it compares.
 */
static void
find_columns(Columns *c, FunctionCallInfo fcinfo, int wanted)
{
	int argument = simdup_named_argument(fcinfo, "columns");
	bool is_given = argument >= 0 && !PG_ARGISNULL(argument);
	bool is_refresh = simdup_named_argument(fcinfo, "members") >= 0;

	/* a report, which reads the day, shows contents */
	if ((wanted & SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_DAY)) != 0)
		wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	for (int i = 0; i < SIMDUP_SOURCE_DAY; i++)
	{
		int subscript = i + 1;
		bool is_wanted = (wanted & SIMDUP_SOURCE_HAS(i)) != 0;
		bool is_away = i == SIMDUP_SOURCE_CLUSTER && !is_wanted;
		Datum name = CStringGetDatum(column_names[i]);

		if (is_given)
			name =
				array_get_element(PG_GETARG_DATUM(argument), 1, &subscript, -1,
								  NAMEDATALEN, false, TYPALIGN_CHAR, &is_away);
		if (!is_away)
			c->found[i] = column_named(c->relation, DatumGetCString(name));
		if (!is_away && c->found[i] == NULL && is_given && is_refresh &&
			i != SIMDUP_SOURCE_KEY)
			no_column(c, DatumGetCString(name));
		if (c->found[i] == NULL && (!is_away || i == SIMDUP_SOURCE_CONTENT))
			c->found[i] = column_named(c->relation, column_names[i]);
		if (c->found[i] != NULL || is_away)
			continue;
		if (i == SIMDUP_SOURCE_KEY)
			c->found[i] = primary_key(c->relation);
		else if (is_wanted && i <= SIMDUP_SOURCE_CONTENT)
			c->found[i] = indexed_column(c, i);
		if (i == SIMDUP_SOURCE_FP && is_wanted && c->found[i] == NULL)
			wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	}
}

SimdupSource
simdup_source_open(FunctionCallInfo fcinfo, Oid relation, int wanted)
{
	Oid function = fcinfo->flinfo->fn_oid;
	Columns c = {.relation = try_relation_open(relation, AccessShareLock)};
	SimdupSource source = {0};
	ArrayBuildState *names = NULL;
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
	find_columns(&c, fcinfo, wanted);
	c.found[SIMDUP_SOURCE_DAY] = day_column(&c);
	check_columns(&c, wanted);
	if (is_content(c.found[SIMDUP_SOURCE_CONTENT]))
		source.content_type =
			getBaseType(c.found[SIMDUP_SOURCE_CONTENT]->atttypid);
	initStringInfo(&text);
	for (int i = 0; i < SIMDUP_SOURCE_COLUMNS; i++)
	{
		source.place[i] = -1;
		names =
			accumArrayResult(names,
							 c.found[i] == NULL
								 ? (Datum) 0
								 : NameGetDatum(&c.found[i]->attname),
							 c.found[i] == NULL, NAMEOID, CurrentMemoryContext);
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
	if (c.found[SIMDUP_SOURCE_SCOPE] != NULL)
		source.scope_collation = c.found[SIMDUP_SOURCE_SCOPE]->attcollation;
	source.statement = text.data;
	source.columns = makeArrayResult(names, CurrentMemoryContext);
	relation_close(c.relation, NoLock);
	return source;
}
