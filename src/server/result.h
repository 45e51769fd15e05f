/*
 * result.h
 *	  Rows of result, into a tuplestore that spills at work_mem.
 */
#ifndef SIMDUP_SERVER_RESULT_H
#define SIMDUP_SERVER_RESULT_H

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

/*
 * A set-returning function's result, materialized: a callback deep inside a
 * join can put rows there and the executor reads them afterwards. Its memory
 * is bounded by work_mem whatever the number of rows.
 */
static inline ReturnSetInfo *
simdup_begin_result(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, 0);
	return (ReturnSetInfo *) fcinfo->resultinfo;
}

static inline void
simdup_put_result(ReturnSetInfo *result, Datum *values, bool *nulls)
{
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

#endif /* SIMDUP_SERVER_RESULT_H */
