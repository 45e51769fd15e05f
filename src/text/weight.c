/*
 * weight.c
 *	  Converts real weights to the integers that the exact sums count in.
 */
#include "postgres.h"

#include <math.h>

#include "text/weight.h"

/* Weights are counted in units of 2^-16. In units they must fit 63 bits. */
#define WEIGHT_UNIT 65536.0
#define WEIGHT_LIMIT 140737488355328.0 /* 2^47 */

uint64
simdup_fixed_weight(float8 weight, int position)
{
	if (isnan(weight) || isinf(weight) || weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must be a finite number that is not negative"),
				position ? errdetail("The weight at position %d is %g.",
									 position, weight)
						 : errdetail("The weight given is %g.", weight));
	if (weight >= WEIGHT_LIMIT)
		ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("weight out of range"),
				position
					? errdetail("The weight at position %d is %g; it must be less than 2^47.",
								position, weight)
					: errdetail("The weight given is %g; it must be less than 2^47.",
								weight));
	return (uint64) rint(weight * WEIGHT_UNIT);
}
