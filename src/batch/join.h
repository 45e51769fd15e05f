/*
 * join.h
 *	  The near pairs of a batch's fingerprints, and the groups that they make.
 */
#ifndef SIMDUP_BATCH_JOIN_H
#define SIMDUP_BATCH_JOIN_H

#include "batch/rows.h"
#include "core/cluster/components.h"

typedef void (*SimdupFingerprintSink)(void *arg, const SimdupFingerprint *a,
									  const SimdupFingerprint *b, int distance);

/*
 * Find each pair of different fingerprints of one scope within the distance,
 * once, in no order.
 * The scopes are joined one after the other. Memory stays within the batch's
 * budget.
 */
extern void simdup_join_fingerprints(SimdupFingerprints *fingerprints,
									 int max_distance,
									 SimdupFingerprintSink sink, void *arg);

typedef void (*SimdupRowPairSink)(void *arg, uint32 a, uint32 b,
								  uint32 distance);

/* Find the same pairs as the first rows of the two fingerprints. */
extern void simdup_join_first_rows(SimdupFingerprints *fingerprints,
								   int max_distance, SimdupRowPairSink sink,
								   void *arg);

/*
 * Group the rows (distinct_rows.c): return the first row of each row's group, or
 * the center of its campaign.
 * The sink gets each near pair of fingerprints once. For leader with contents,
 * resemblance gets that of each row to its leader. The constraints, the sink and
 * resemblance may be NULL.
 */
extern uint32 *simdup_find_groups(SimdupFingerprints *fingerprints,
								  const SimdupConstraints *constraints,
								  SimdupFingerprintSink sink, void *sink_arg,
								  double *resemblance);

#endif /* SIMDUP_BATCH_JOIN_H */
