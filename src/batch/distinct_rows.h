/*
 * distinct_rows.h
 *	  The rows of a query as core/cluster/grouping.h takes them: distinct, with
 *	  those that are near.
 */
#ifndef SIMDUP_BATCH_DISTINCT_ROWS_H
#define SIMDUP_BATCH_DISTINCT_ROWS_H

#include "batch/rows.h"
#include "core/cluster/grouping.h"
#include "core/search/index_entries.h"

typedef struct SimdupGroupingRows
{
	SimdupDistinctRows distinct_rows;
	SimdupFingerprints *fingerprints; /* its rows' context holds all of this */
	SimdupStoredTexts *contents;	  /* NULL: each fingerprint is one */
	uint8 *alone;					  /* bits by row: resembles no other */
	/*
	 * by position: the distinct rows of a fingerprint, from its first position on
	 */
	uint32 *distinct_at;

	/* Where not NULL: gets each near pair of fingerprints, once. */
	SimdupFingerprintSink also;
	void *also_arg;

	/* while distinct rows are joined: gets each near pair of distinct rows */
	void (*sink)(struct SimdupGroupingRows *g, uint32 a, uint32 b,
				 uint32 distance);
	SimdupPairSort *sort;

	/* leader */
	uint32 *first_near;	 /* by distinct row */
	uint8 *may_lead;	 /* by distinct row; NULL: all may */
	uint8 *leads_again;	 /* bits: asked for in no order; NULL: none */
	int64 n_sorted;		 /* near pairs in the sort */
	int64 most_sorted;	 /* beyond this number, a second join finds them */
	SimdupNearRow *near; /* of the distinct row that leads */
	Size n_near, near_capacity;
	uint32 next_row; /* next from the sort; SIMDUP_NO_ROW: none */
	SimdupNearRow next_near;
	SimdupEntry *kept; /* row, distance and near row: of those that lead again */
	Size n_kept, kept_capacity;

	/* connected */
	SimdupConnected *connected;
	uint32 distance; /* 0: pairs of any distance are united as they come */
} SimdupGroupingRows;

/*
 * Make distinct rows of the rows of a query. simdup_fingerprints_end ends them.
 */
extern SimdupGroupingRows *simdup_distinct_rows_begin(
	SimdupFingerprints *fingerprints, const SimdupOptions *options);

/*
 * Return the first row of each row's group. Constraints may be NULL. The
 * distinct rows are of no use afterwards.
 */
extern uint32 *simdup_find_groups(SimdupGroupingRows *g,
								  const SimdupConstraints *constraints,
								  SimdupClusterMethod method);

#endif /* SIMDUP_BATCH_DISTINCT_ROWS_H */
