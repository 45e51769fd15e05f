/*
 * scan.h
 *	  Scans of a hamming index: the matches of conditions, and rows in the order of
 *	  their distance.
 */
#ifndef SIMDUP_INDEX_HAMMING_SCAN_H
#define SIMDUP_INDEX_HAMMING_SCAN_H

#include "index/hamming/walk.h"
#include "server/spill.h"
#include "type/simhash64.h"

/*
 * As many operands of ORDER BY fp <~> a, fp <~> b, ... decide the order here.
 * The executor orders by the others.
 */
#define HAMMING_MAX_ORDERS 8

/* nearest.c: rows in the order of their distance, stage by stage */
typedef struct HammingOrder
{
	int n;
	uint64 centers[HAMMING_MAX_ORDERS];
	bool is_null[HAMMING_MAX_ORDERS];

	bool grows;	  /* around the center; else one stage finds all */
	int limit;	  /* no row farther away is wanted */
	int complete; /* rows so near have been returned or are candidates */
	double batch; /* rows that a stage over a whole rotation keeps */
	bool wants_nulls;
	bool nulls; /* rows without a fingerprint are being returned */

	/* distances and TIDs of this stage's candidates; NULL between stages */
	SimdupPairSort *sort;
} HammingOrder;

typedef struct HammingScan
{
	/* what can fulfil the conditions: rows with a fingerprint, and without */
	bool reads_values;
	bool reads_nulls;
	/* a condition that the index cannot decide, for all rows or those without */
	bool recheck;
	bool recheck_nulls;
	int n_balls;
	SimhashBall *balls; /* the one with the least radius first */

	bool started;
	bool searches;			  /* else the trees are read as a whole */
	SimhashBall search;		  /* what is walked through */
	int tree;				  /* being walked through; -1 before the first */
	int radii[HAMMING_TREES]; /* -1: the tree is not read */
	HammingCosts costs;
	HammingWalk walk;

	/* the matches of a leaf, and the next to be returned */
	Buffer pin;
	int at;
	int n_matches;
	ItemPointerData matches[HAMMING_LEAF_CAPACITY];
	uint64 values[HAMMING_LEAF_CAPACITY]; /* as in the rotation */

	BlockNumber heap_blocks; /* of the table, at least */
	HammingOrder order;		 /* that is asked for, if any */
	TupleTableSlot *slot;	 /* for rows looked up on a standby */
} HammingScan;

/* scan.c: walk from the start, for `search` if there is one. */
extern void simdup_hamming_begin_search(IndexScanDesc scan);
/* Go on to the next leaf with matches; false at the end. */
extern bool simdup_hamming_next_matches(IndexScanDesc scan);

/* nearest.c */
extern void simdup_hamming_begin_order(IndexScanDesc scan);
extern bool simdup_hamming_next_nearest(IndexScanDesc scan);
/* Forget the candidates. */
extern void simdup_hamming_end_stage(HammingOrder *order);

#endif /* SIMDUP_INDEX_HAMMING_SCAN_H */
