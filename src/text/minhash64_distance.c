/*
 * minhash64_distance.c
 *	  Distances of minhash64 fingerprints as resemblances, and back.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"

#include "core/statistics.h"
#include "server/arguments.h"

PG_FUNCTION_INFO_V1(simdup_minhash64_resemblance);
/* minhash64_resemblance(distance) */
Datum
simdup_minhash64_resemblance(PG_FUNCTION_ARGS)
{
	int32 distance = PG_GETARG_INT32(0);

	if (distance < 0 || distance > 64)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("distance must be between 0 and 64"),
				errdetail("The distance given is %d.", distance));
	PG_RETURN_FLOAT8(simdup_agreement_resemblance(distance, 64));
}

PG_FUNCTION_INFO_V1(simdup_minhash64_distance);
/* minhash64_distance(resemblance, recall) */
Datum
simdup_minhash64_distance(PG_FUNCTION_ARGS)
{
	double resemblance = simdup_check_share(PG_GETARG_FLOAT8(0), "resemblance");
	double recall = simdup_check_share(PG_GETARG_FLOAT8(1), "recall");

	PG_RETURN_INT32(simdup_agreement_distance(resemblance, recall));
}
