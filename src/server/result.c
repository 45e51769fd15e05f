/*
 * result.c
 *	  Puts result rows into a tuplestore that spills at work_mem.
 */
#include "postgres.h"
#include "compat.h"

#include "funcapi.h"
#include "utils/tuplestore.h"

#include "server/result.h"

ReturnSetInfo *
simdup_begin_result(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, 0);
	return (ReturnSetInfo *) fcinfo->resultinfo;
}

void
simdup_put_result(ReturnSetInfo *result, const Datum *values, const bool *nulls)
{
	/* the casts are for servers before 18 */
	tuplestore_putvalues(result->setResult, result->setDesc, (Datum *) values,
						 (bool *) nulls);
}
