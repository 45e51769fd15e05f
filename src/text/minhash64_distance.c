/*
 * minhash64_distance.c
 *	  Distances of minhash64 fingerprints as resemblances, and back.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"

#include "core/agreement.h"

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

static float8
checked_share(float8 value, const char *name)
{
	if (!(value >= 0 && value <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("%s must be between 0 and 1", name),
				errdetail("The value given is %g.", value));
	return value;
}

PG_FUNCTION_INFO_V1(simdup_minhash64_distance);
/* minhash64_distance(resemblance, recall) */
Datum
simdup_minhash64_distance(PG_FUNCTION_ARGS)
{
	float8 resemblance = checked_share(PG_GETARG_FLOAT8(0), "resemblance");
	float8 recall = checked_share(PG_GETARG_FLOAT8(1), "recall");

	PG_RETURN_INT32(simdup_agreement_distance(resemblance, recall));
}
