/*
 * query.c
 *	  Runs the query that is an argument of a batch function.
 *
 * SPI plans the query, with the rights, the row-level security and the
 * search_path of the caller. The executor passes each row to a receiver of
 * ours. A cursor would copy each row twice, which costs more than the rest of a
 * batch.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/plancache.h"

#include "server/query.h"

typedef struct RowReceiver
{
	DestReceiver pub;
	SimdupRowSink sink;
	void *arg;
} RowReceiver;

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;

	receiver->sink(receiver->arg, slot);
	return true;
}

static void
receive_nothing(DestReceiver *self pg_attribute_unused(),
				int operation pg_attribute_unused(),
				TupleDesc columns pg_attribute_unused())
{
}

static void
receiver_done(DestReceiver *self pg_attribute_unused())
{
}

void
simdup_wrong_columns(const char *argument, TupleDesc columns,
					 const char *expected)
{
	StringInfoData types;

	initStringInfo(&types);
	for (int i = 0; i < columns->natts; i++)
		appendStringInfo(&types, "%s%s", i ? ", " : "",
						 format_type_be(TupleDescAttr(columns, i)->atttypid));
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("columns of the query in argument \"%s\" do not fit",
				   argument),
			columns->natts == 0
				? errdetail("It has no columns.")
				: errdetail("It has columns of type (%s).", types.data),
			errhint("It should yield %s.", expected));
}

/* Is the query a single SELECT that changes and locks nothing? */
static bool
is_plain_select(List *sources)
{
	CachedPlanSource *source;
	Query *query;

	if (list_length(sources) != 1)
		return false;
	source = linitial(sources);
	if (list_length(source->query_list) != 1)
		return false;
	query = linitial_node(Query, source->query_list);
	return query->commandType == CMD_SELECT && !query->hasModifyingCTE &&
		   query->rowMarks == NIL;
}

/* Parse a statement, and find the types of its parameters. */
static SPIPlanPtr
parse(const char *statement, SimdupParameters *parameters)
{
	SPIPrepareOptions options = {.parserSetup = simdup_parameters_setup,
								 .parserSetupArg = parameters};
	SPIPlanPtr plan;

	simdup_parameters_reset(parameters);
	plan = SPI_prepare_extended(statement, &options);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_extended failed: %s",
			 SPI_result_code_string(SPI_result));
	return plan;
}

/* Parse and check; the plan's only source is returned beside it. */
static SPIPlanPtr
prepare(const char *query, const char *argument, SimdupParameters *parameters,
		SimdupColumnCheck check, void *arg, CachedPlanSource **source)
{
	SPIPlanPtr plan = parse(query, parameters);
	List *sources = SPI_plan_get_plan_sources(plan);

	if (!is_plain_select(sources))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("argument \"%s\" must be a single SELECT that "
					   "changes and locks nothing",
					   argument),
				errdetail("The query is: %s", query));
	*source = linitial(sources);
	simdup_parameters_check(parameters, (*source)->query_list, argument);
	check(arg, (*source)->resultDesc, argument);
	return plan;
}

/* Without a receiver the rows go to SPI_tuptable. */
static void
execute(SPIPlanPtr plan, const SimdupParameters *parameters,
		DestReceiver *receiver)
{
	SPIExecuteOptions options;
	int result;

	memset(&options, 0, sizeof(options));
	options.params = simdup_parameters_bind(parameters);
	options.read_only = true;
	options.dest = receiver;
	result = SPI_execute_plan_extended(plan, &options);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s",
			 SPI_result_code_string(result));
}

void
simdup_run_query(const char *query, const char *argument,
				 SimdupParameters *parameters, SimdupColumnCheck check,
				 SimdupRowSink sink, void *arg)
{
	RowReceiver receiver;
	CachedPlanSource *source;
	SPIPlanPtr plan;

	memset(&receiver, 0, sizeof(receiver));
	receiver.pub.receiveSlot = receive_row;
	receiver.pub.rStartup = receive_nothing;
	receiver.pub.rShutdown = receiver_done;
	receiver.pub.rDestroy = receiver_done;
	receiver.pub.mydest = DestTuplestore;
	receiver.sink = sink;
	receiver.arg = arg;

	SPI_connect();
	plan = prepare(query, argument, parameters, check, arg, &source);
	execute(plan, parameters, &receiver.pub);
	SPI_finish();
}

void
simdup_execute_statement(const char *statement, SimdupParameters *parameters)
{
	execute(parse(statement, parameters), parameters, NULL);
}

char *
simdup_subquery(const char *query, const char *argument,
				SimdupParameters *parameters, SimdupColumnCheck check,
				void *arg)
{
	CachedPlanSource *source;
	RawStmt *statement;
	const char *start;
	int len;

	(void) prepare(query, argument, parameters, check, arg, &source);
	statement = source->raw_parse_tree;
	start = query + statement->stmt_location;
	len = statement->stmt_len ? statement->stmt_len : (int) strlen(start);
	/* the newline ends a comment that the text may end in */
	return psprintf("(%.*s\n)", len, start);
}
