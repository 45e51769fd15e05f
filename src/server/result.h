/*
 * result.h
 *	  Rows of result, into a tuplestore that spills at work_mem.
 */
#ifndef SIMDUP_SERVER_RESULT_H
#define SIMDUP_SERVER_RESULT_H

#include "fmgr.h"
#include "nodes/execnodes.h"

/*
 * Begin the result of a set-returning function. A callback deep inside a join
 * can put rows there, and the executor reads them afterwards.
 */
extern ReturnSetInfo *simdup_begin_result(FunctionCallInfo fcinfo);
extern void simdup_put_result(ReturnSetInfo *result, const Datum *values,
							  const bool *nulls);

#endif /* SIMDUP_SERVER_RESULT_H */
