/*
 * join.h
 *	  All near pairs of a batch's groups.
 */
#ifndef SIMDUP_BATCH_JOIN_H
#define SIMDUP_BATCH_JOIN_H

#include "batch/rows.h"

typedef void (*SimdupGroupSink)(void *arg, const SimdupGroup *a,
								const SimdupGroup *b, int distance);

/*
 * Each pair of different groups within the distance, once, in no order; but
 * none of two groups that hold rows of the second query only. Memory stays
 * within the batch's budget.
 */
extern void simdup_join_groups(SimdupRows *rows, int max_distance,
							   SimdupGroupSink sink, void *arg);

#endif /* SIMDUP_BATCH_JOIN_H */
