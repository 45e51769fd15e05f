/*
 * parameters.c
 *	  Values for the parameters $1, $2 ... of a caller's query.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "parser/parse_param.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/arguments.h"
#include "server/parameters.h"

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

static void
take_values(SimdupParameters *parameters, ArrayType *array)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("%s must be one-dimensional", "params"),
				errdetail("The array given has %d dimensions.",
						  ARR_NDIM(array)));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &parameters->values, &parameters->nulls, &parameters->n);
}

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
		take_values(parameters, PG_GETARG_ARRAYTYPE_P(argument));
	/* never empty: the parser enlarges an array in its own memory context */
	parameters->n_types = Max(parameters->n, 1);
	parameters->types = palloc0((Size) parameters->n_types * sizeof(Oid));
	return parameters;
}

void
simdup_parameters_reset(SimdupParameters *parameters)
{
	memset(parameters->types, 0, (Size) parameters->n_types * sizeof(Oid));
}

void
simdup_parameters_setup(ParseState *pstate, void *parameters)
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

/* As for a prepared statement. */
static void
check_types(const SimdupParameters *parameters)
{
	for (int i = 0; i < parameters->n_types; i++)
		if (parameters->types[i] == UNKNOWNOID)
			ereport(ERROR, errcode(ERRCODE_INDETERMINATE_DATATYPE),
					errmsg("could not determine data type of parameter $%d",
						   i + 1),
					errhint("Write the type into the query: $%d::text.",
							i + 1));
}

void
simdup_parameters_check(SimdupParameters *parameters, List *queries,
						const char *argument)
{
	ParseState *pstate = make_parsestate(NULL);
	int n_needed = parameters->n_types;
	bool is_only = parameters->n_needed == 0 && parameters->n_queries == 1;
	ListCell *cell;

	simdup_parameters_setup(pstate, parameters);
	foreach (cell, queries)
		check_variable_parameters(pstate, lfirst_node(Query, cell));
	free_parsestate(pstate);
	check_types(parameters);
	while (n_needed > 0 && !OidIsValid(parameters->types[n_needed - 1]))
		n_needed--;
	parameters->n_needed = Max(parameters->n_needed, n_needed);
	parameters->n_queries--;
	if (n_needed > parameters->n)
		wrong_number(parameters, argument);
	if (parameters->n_queries == 0 && parameters->n_needed < parameters->n)
		wrong_number(parameters, is_only ? argument : NULL);
}

/* An ErrorContextCallback. */
static void
name_parameter(void *arg)
{
	errcontext("value of parameter $%d", *(int *) arg);
}

static void
read_value(const SimdupParameters *parameters, int i, ParamExternData *result)
{
	Oid type = parameters->types[i];
	int number = i + 1;
	ErrorContextCallback context = {error_context_stack, name_parameter,
									&number};
	char *value = NULL;
	Oid input;
	Oid io_parameter;

	result->ptype = type;
	result->isnull = parameters->nulls[i];
	result->pflags = PARAM_FLAG_CONST;
	result->value = (Datum) 0;
	if (!OidIsValid(type))
		return;
	if (!parameters->nulls[i])
		value = TextDatumGetCString(parameters->values[i]);
	getTypeInputInfo(type, &input, &io_parameter);
	error_context_stack = &context;
	/* NULL too: a domain may refuse it */
	result->value = OidInputFunctionCall(input, value, io_parameter, -1);
	error_context_stack = context.previous;
}

ParamListInfo
simdup_parameters_bind(const SimdupParameters *parameters)
{
	ParamListInfo list;

	if (parameters->n == 0)
		return NULL;
	list = makeParamList(parameters->n);
	for (int i = 0; i < parameters->n; i++)
		read_value(parameters, i, &list->params[i]);
	return list;
}
