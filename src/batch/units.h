/*
 * units.h
 *	  The units of a batch, as units.c, methods.c and campaigns.c share them.
 */
#ifndef SIMDUP_BATCH_UNITS_H
#define SIMDUP_BATCH_UNITS_H

#include "batch/rows.h"

typedef struct SimdupBatchUnits
{
	SimdupUnits core;
	SimdupRows *rows; /* without contents, each fingerprint is one unit */
	/*
	 * by unit: the next one of its fingerprint that may resemble others, or
	 * SIMDUP_NO_ROW; NULL without contents
	 */
	uint32 *next;
	SimdupRowPairSink sink; /* of fingerprints, until these were joined once */
	void *sink_arg;
} SimdupBatchUnits;

/* Find the units of a batch. Free core.unit. */
extern void simdup_units_begin(SimdupBatchUnits *units, SimdupRows *rows);

/*
 * Take each pair of near units once. With sides, a unit of the first side comes with
 * another one of the second. Pairs of one fingerprint are left out if core.same_fp is
 * set.
 */
extern void simdup_join_units(SimdupBatchUnits *units, int max_distance,
							  SimdupSideOf side_of, SimdupRowPairSink take,
							  void *arg);

/* Lists of near rows, by row. They are in a file, which stays in memory if it fits. */
typedef struct SimdupNearLists
{
	SimdupTempFile *file;
	uint64 *starts;		 /* by row, and one more */
	SimdupBuffer buffer; /* of one row */
} SimdupNearLists;

/* List sorted pairs: two rows, and the weight of the second for the first. */
extern SimdupNearLists *simdup_near_lists(SimdupPairSort *sort, uint32 n_rows,
										  Size memory);

/* Return the list of a row, until the next call: a SimdupNearOf. */
extern const SimdupNear *simdup_near_list(void *lists, uint32 row, size_t *n);
extern void simdup_near_lists_end(SimdupNearLists *lists);

/* Put two rows and a weight into a sort for that. */
static inline void
simdup_put_near(SimdupPairSort *sort, uint32 row, uint32 near, uint64 weight)
{
	simdup_pairsort_put(sort, (uint64) row << 32 | near, weight);
}

/* Return the center of each row's campaign: a unit. */
extern uint32 *simdup_find_campaigns(const SimdupBatchUnits *units);

#endif /* SIMDUP_BATCH_UNITS_H */
