/*
 * scores.c
 *	  Precision, recall and F1 of found pairs.
 */
#include "postgres.h"
#include "compat.h"

#include "batch/scores.h"

void
simdup_scores(int64 found, int64 truth, int64 both, Datum *values, bool *nulls)
{
	double hits = (double) both;

	values[0] = Int64GetDatum(found);
	values[1] = Int64GetDatum(truth);
	values[2] = Int64GetDatum(both);
	values[3] = Float8GetDatum(found ? hits / (double) found : 0);
	values[4] = Float8GetDatum(truth ? hits / (double) truth : 0);
	values[5] =
		Float8GetDatum(found + truth ? 2 * hits / (double) (found + truth) : 0);
	memset(nulls, 0, SIMDUP_N_SCORES * sizeof(bool));
	nulls[3] = found == 0;
	nulls[4] = truth == 0;
	nulls[5] = found + truth == 0;
}
