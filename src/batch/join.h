/*
 * join.h
 *	  All near pairs of a batch's groups.
 */
#ifndef SIMDUP_BATCH_JOIN_H
#define SIMDUP_BATCH_JOIN_H

#include "batch/groups.h"

typedef void (*SimdupGroupSink)(void *arg, const SimdupGroup *a,
								const SimdupGroup *b, int distance);

/*
 * Each pair of different groups within the distance, once, in no order; but
 * none of two groups that hold rows of the second query only. Memory stays
 * within the batch's budget. The phase is what progress messages call it.
 */
extern void simdup_join_groups(SimdupGroups *groups, int max_distance,
							   const char *phase, SimdupGroupSink sink,
							   void *arg);

#endif /* SIMDUP_BATCH_JOIN_H */
