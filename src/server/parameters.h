/*
 * parameters.h
 *	  Values for the parameters $1, $2 ... of a caller's query.
 *
 * The values come as text, in the SQL argument params. The query's parser finds
 * the types, as it does for a prepared statement; each type's input function
 * reads the text.
 */
#ifndef SIMDUP_SERVER_PARAMETERS_H
#define SIMDUP_SERVER_PARAMETERS_H

#include "fmgr.h"
#include "nodes/params.h"
#include "parser/parse_node.h"

typedef struct SimdupParameters SimdupParameters;

/*
 * The values of the argument params, in the current memory context; none where
 * the function has no such argument. ERROR if the argument is NULL. So many queries of the function share them.
 */
extern SimdupParameters *simdup_parameters(FunctionCallInfo fcinfo,
										   int n_queries);

/* Forget the types that an earlier query had. */
extern void simdup_parameters_reset(SimdupParameters *parameters);

/* A ParserSetupHook, whose argument is the parameters. */
extern void simdup_parameters_setup(ParseState *pstate, void *parameters);

/*
 * After the query is parsed: ERROR if a type was not found, or if there are
 * values too few for this query, or too many for all of them.
 */
extern void simdup_parameters_check(SimdupParameters *parameters, List *queries,
									const char *argument);

/* The values of those types; NULL without parameters. ERROR for bad input. */
extern ParamListInfo simdup_parameters_bind(const SimdupParameters *parameters);

#endif /* SIMDUP_SERVER_PARAMETERS_H */
