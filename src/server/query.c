/*
 * query.c
 *	  Runs the query that is an argument of a batch function, and tells the caller
 *	  how far the batch is.
 *
 * SPI plans the query, with the rights, the row-level security and the
 * search_path of the caller. The executor passes each row to a receiver of
 * ours. A cursor would copy each row twice, which costs more than the rest of a
 * batch.
 */
#include "postgres.h"
#include "compat.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "common/keywords.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "parser/parse_param.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "server/query.h"

/* Values for the parameters $1, $2 ... of a caller's query. */

struct SimdupParameters
{
	int n_queries; /* that are still to come */
	int n_needed;  /* by the queries so far */
	int n;
	Datum *values; /* text */
	bool *nulls;

	/* of the query that was parsed last; InvalidOid: not in it */
	Oid *types;
	int n_types;
};

SimdupParameters *
simdup_parameters(FunctionCallInfo fcinfo, int n_queries)
{
	SimdupParameters *parameters = palloc0(sizeof(SimdupParameters));
	int argument = simdup_named_argument(fcinfo, "params");

	parameters->n_queries = n_queries;
	/* a null of an array type may be meant as key_type: say so */
	if (argument >= 0 && PG_ARGISNULL(argument))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("params must not be null"),
				errhint(
					"For a query without parameters, leave the argument out. For keys of type text[], name the argument: key_type => NULL::text[]."));
	if (argument >= 0)
	{
		ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);

		if (ARR_NDIM(array) > 1)
			ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("%s must be one-dimensional", "params"),
					errdetail("The array given has %d dimensions.",
							  ARR_NDIM(array)));
		deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
						  &parameters->values, &parameters->nulls,
						  &parameters->n);
	}
	/* never empty: the parser enlarges an array in its own memory context */
	parameters->n_types = Max(parameters->n, 1);
	parameters->types = palloc0((Size) parameters->n_types * sizeof(Oid));
	return parameters;
}

/* Set up the parser: a ParserSetupHook, whose argument is the parameters. */
static void
parameters_setup(ParseState *pstate, void *parameters)
{
	SimdupParameters *p = parameters;

	setup_parse_variable_parameters(pstate, &p->types, &p->n_types);
}

pg_noreturn static void
wrong_number(const SimdupParameters *parameters, const char *argument)
{
	ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
			argument != NULL
				? errmsg("wrong number of parameters for the query in argument \"%s\"",
						 argument)
				: errmsg("wrong number of parameters for the queries"),
			errdetail("Expected %d parameters but got %d.",
					  parameters->n_needed, parameters->n),
			errhint(
				"Give a text for each of the parameters $1, $2 and so on: params => ARRAY['first', 'second']."));
}

/*
 * Check the parameters after the query is parsed: ERROR if a type was not
 * found, or if there are too few values for this query or too many for all.
 */
static void
parameters_check(SimdupParameters *parameters, Query *query,
				 const char *argument)
{
	ParseState *pstate = make_parsestate(NULL);
	int n_needed = parameters->n_types;
	bool is_only = parameters->n_needed == 0 && parameters->n_queries == 1;

	parameters_setup(pstate, parameters);
	check_variable_parameters(pstate, query);
	free_parsestate(pstate);
	for (int i = 0; i < parameters->n_types; i++)
		if (parameters->types[i] == UNKNOWNOID)
			ereport(ERROR, errcode(ERRCODE_INDETERMINATE_DATATYPE),
					errmsg("could not determine data type of parameter $%d",
						   i + 1),
					errhint("Write the type into the query: $%d::text.",
							i + 1));
	while (n_needed > 0 && !OidIsValid(parameters->types[n_needed - 1]))
		n_needed--;
	parameters->n_needed = Max(parameters->n_needed, n_needed);
	parameters->n_queries--;
	if (n_needed > parameters->n)
		wrong_number(parameters, argument);
	if (parameters->n_queries == 0 && parameters->n_needed < parameters->n)
		wrong_number(parameters, is_only ? argument : NULL);
}

/* Name the parameter: an ErrorContextCallback. */
static void
name_parameter(void *arg)
{
	errcontext("value of parameter $%d", *(int *) arg);
}

/* Return the values, or NULL without parameters. ERROR for bad input. */
static ParamListInfo
parameters_bind(const SimdupParameters *parameters)
{
	int number;
	ErrorContextCallback context = {error_context_stack, name_parameter,
									&number};
	ParamListInfo list;

	if (parameters->n == 0)
		return NULL;
	list = makeParamList(parameters->n);
	for (int i = 0; i < parameters->n; i++)
	{
		ParamExternData *param = &list->params[i];
		char *value = NULL;
		Oid input;
		Oid io_parameter;

		*param = (ParamExternData){.ptype = parameters->types[i],
								   .isnull = parameters->nulls[i],
								   .pflags = PARAM_FLAG_CONST};
		if (!OidIsValid(param->ptype))
			continue;
		if (!param->isnull)
			value = TextDatumGetCString(parameters->values[i]);
		getTypeInputInfo(param->ptype, &input, &io_parameter);
		number = i + 1;
		error_context_stack = &context;
		/* NULL too: a domain may refuse it */
		param->value = OidInputFunctionCall(input, value, io_parameter, -1);
		error_context_stack = context.previous;
	}
	return list;
}

/* Settings around a caller's query */

void
simdup_set_for_now(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

int
simdup_path_begin(const char *path)
{
	int level = NewGUCNestLevel();

	simdup_set_for_now("search_path", path);
	return level;
}

int
simdup_exact_texts_begin(void)
{
	int level = NewGUCNestLevel();

	simdup_set_for_now("datestyle", "ISO");
	simdup_set_for_now("intervalstyle", "postgres");
	simdup_set_for_now("extra_float_digits", "1");
	return level;
}

void
simdup_path_end(int level)
{
	AtEOXact_GUC(true, level);
}

/* Queries */

/* Passes rows to a sink. It begins and ends as the server's None_Receiver. */
typedef struct RowReceiver
{
	DestReceiver pub;
	SimdupRowSink sink;
	void *arg;
	MemoryContext context;
} RowReceiver;

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	slot_getallattrs(slot);
	receiver->sink(receiver->arg, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->context);
	return true;
}

void
simdup_receive_rows(SPIPlanPtr plan, ParamListInfo params, SimdupRowSink sink,
					void *arg)
{
	RowReceiver receiver = {.pub = *None_Receiver, .sink = sink, .arg = arg};
	SPIExecuteOptions options = {.params = params,
								 .read_only = true,
								 .dest = &receiver.pub};
	int result;

	receiver.pub.receiveSlot = receive_row;
	receiver.pub.mydest = DestTuplestore;
	receiver.context = AllocSetContextCreate(CurrentMemoryContext, "simdup row",
											 ALLOCSET_SMALL_SIZES);
	result = SPI_execute_plan_extended(plan, &options);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s",
			 SPI_result_code_string(result));
}

/* ERROR: the query has not the columns it should have. */
pg_noreturn static void
wrong_columns(const SimdupQuery *query, TupleDesc columns)
{
	StringInfoData types;

	initStringInfo(&types);
	for (int i = 0; i < columns->natts; i++)
		appendStringInfo(&types, "%s%s", i ? ", " : "",
						 format_type_be(TupleDescAttr(columns, i)->atttypid));
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("columns of the query in argument \"%s\" do not fit",
				   query->argument),
			columns->natts == 0
				? errdetail("It has no columns.")
				: errdetail("It has columns of type (%s).", types.data),
			errhint("It should yield %s, as in: SELECT %s FROM ...",
					query->columns, query->example));
}

/* Check whether a text is the name of a table, and no statement. */
static bool
is_name(const char *text)
{
	const char *start = text + strspn(text, " \t\r\n");
	const char *at = start;

	while (*at != '\0' && strchr("( \t\r\n", *at) == NULL)
		if (*at++ == '"')
			at = strchr(at, '"') == NULL ? at : strchr(at, '"') + 1;
	return at > start && at[strspn(at, " \t\r\n")] == '\0' &&
		   ScanKeywordLookup(pnstrdup(start, (Size) (at - start)),
							 &ScanKeywords) < 0;
}

/* ERROR: the argument is no query. */
pg_noreturn static void
not_a_query(const SimdupQuery *query)
{
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("argument \"%s\" must be a single SELECT that "
				   "changes and locks nothing",
				   query->argument),
			errdetail("The query is: %s", query->text),
			is_name(query->text)
				? errhint("For the rows of a table, write: SELECT %s FROM %s",
						  query->example, query->text)
				: 0);
}

/* Parse a statement, and find the types of its parameters. */
static SPIPlanPtr
parse(const char *statement, SimdupParameters *parameters)
{
	SPIPrepareOptions options = {.parserSetup = parameters_setup,
								 .parserSetupArg = parameters};
	SPIPlanPtr plan;

	/* forget the types that an earlier query had */
	memset(parameters->types, 0, (Size) parameters->n_types * sizeof(Oid));
	plan = SPI_prepare_extended(statement, &options);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_extended failed: %s",
			 SPI_result_code_string(SPI_result));
	return plan;
}

/* Parse and check: a single SELECT that changes and locks nothing. */
static SPIPlanPtr
prepare(const SimdupQuery *query, SimdupParameters *parameters,
		SimdupColumnCheck check, void *arg)
{
	SPIPlanPtr plan;
	List *sources;
	CachedPlanSource *source;
	Query *select;

	if (is_name(query->text))
		not_a_query(query);
	plan = parse(query->text, parameters);
	sources = SPI_plan_get_plan_sources(plan);
	source = sources == NIL ? NULL : linitial(sources);
	if (list_length(sources) != 1 || list_length(source->query_list) != 1)
		not_a_query(query);
	select = linitial_node(Query, source->query_list);
	if (select->commandType != CMD_SELECT || select->hasModifyingCTE ||
		select->rowMarks != NIL)
		not_a_query(query);
	/* without an order of its own a parallel plan gives another one each time */
	if (select->sortClause != NIL)
		source->cursor_options |= CURSOR_OPT_PARALLEL_OK;
	parameters_check(parameters, select, query->argument);
	if (!check(arg, source->resultDesc, query->argument))
		wrong_columns(query, source->resultDesc);
	return plan;
}

void
simdup_run_query(const SimdupQuery *query, SimdupParameters *parameters,
				 SimdupColumnCheck check, SimdupRowSink sink, void *arg)
{
	SPIPlanPtr plan;

	SPI_connect();
	plan = prepare(query, parameters, check, arg);
	simdup_receive_rows(plan, parameters_bind(parameters), sink, arg);
	SPI_finish();
}

/*
 * Progress
 *
 * Other sessions see that the statement runs, in pg_stat_activity, and no
 * more. The server's progress views know only its own commands, and shared
 * memory would need a preloaded library.
 */

/* Calls between two looks at the clock. */
#define CALLS_PER_LOOK 256

static int progress_interval_ms = 5000;

typedef struct Progress
{
	const char *function;
	const char *phase;
	int64 done;
	int64 total;
	TimestampTz told;
} Progress;

/* Of the innermost batch: a batch's query may run another. */
static Progress progress;
static int progress_calls;

typedef struct ProgressEnd
{
	MemoryContextCallback callback;
	Progress outer;
	TimestampTz *told;
} ProgressEnd;

void
simdup_progress_init(void)
{
	DefineCustomIntVariable("simdup.progress_interval",
							"Least time between two progress messages of a batch function.",
							"0 turns them off.", &progress_interval_ms, 5000, 0,
							INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL,
							NULL);
}

/* End the reports when the batch's memory context goes. */
static void
progress_end(void *arg)
{
	ProgressEnd *end = arg;

	if (end->told != NULL)
		*end->told = progress.told;
	progress = end->outer;
}

void
simdup_progress_begin(const char *function, TimestampTz *told)
{
	ProgressEnd *end = palloc(sizeof(ProgressEnd));

	end->outer = progress;
	end->told = told;
	end->callback.func = progress_end;
	end->callback.arg = end;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &end->callback);
	memset(&progress, 0, sizeof(progress));
	progress.function = function;
	progress.told = told != NULL && *told != 0 ? *told : GetCurrentTimestamp();
	simdup_progress_phase("starting", 0);
}

void
simdup_progress_phase(const char *phase, int64 total)
{
	progress.phase = phase;
	progress.done = 0;
	progress.total = total;
}

void
simdup_progress_done(int64 done)
{
	if (++progress_calls % CALLS_PER_LOOK == 0)
		simdup_progress_look(done);
}

void
simdup_progress_look(int64 done)
{
	TimestampTz now;

	if (progress.function == NULL || progress_interval_ms == 0)
		return;
	progress.done = Max(progress.done, done);
	now = GetCurrentTimestamp();
	if (!TimestampDifferenceExceeds(progress.told, now, progress_interval_ms))
		return;
	progress.told = now;
	if (progress.total > 0)
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT " of " INT64_FORMAT,
							   progress.function, progress.phase, progress.done,
							   progress.total));
	else
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT, progress.function,
							   progress.phase, progress.done));
}

void
simdup_tell_skipped(int64 n_no_fp, int64 n_no_content, int64 n)
{
	if (n_no_fp > 0)
		ereport(NOTICE,
				errmsg_plural("skipped %lld row without a fingerprint",
							  "skipped %lld rows without a fingerprint",
							  (unsigned long) n_no_fp, (long long) n_no_fp),
				n + n_no_content > 0
					? 0
					: errhint(
						  "No row has one. Fill the column first: SET fp = minhash64(content)."));
	if (n_no_content > 0)
		ereport(NOTICE, errmsg_plural("skipped %lld row without a text",
									  "skipped %lld rows without a text",
									  (unsigned long) n_no_content,
									  (long long) n_no_content));
}
