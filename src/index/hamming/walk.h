/*
 * walk.h
 *	  Scans of a hamming index: their state, searches, and rows in the order of
 *	  their distance.
 */
#ifndef SIMDUP_INDEX_HAMMING_WALK_H
#define SIMDUP_INDEX_HAMMING_WALK_H

#include "access/genam.h"
#include "executor/tuptable.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"
#include "server/spill.h"
#include "type/simhash64.h"

/* A page to visit: the key range that its parent gave for it. */
typedef struct HammingListed
{
	BlockNumber block;
	uint64 low;	 /* the value where it begins */
	uint64 near; /* the first value in it that may be near */
	SimdupSortItem
		until; /* where it ends; above all keys at the end of the level */
} HammingListed;

/* How far a walk has come on one level of the tree. */
typedef struct HammingLevel
{
	SimdupSortItem
		next; /* everything below it has been read; at the end above all */
	int near; /* the first near block not below `next` */

	SimdupSortItem until; /* where the range ends that was listed last */
	BlockNumber right;	  /* sibling of the page read last, if that is next */

	/* pages to visit: `at` comes next, those before `ahead` were asked for */
	int n;
	int at;
	int ahead;
	Size size;
	HammingListed *listed;
} HammingLevel;

typedef struct HammingWalk
{
	IndexScanDesc scan;
	int tree;
	bool is_whole; /* every leaf is read */

	/* the blocks near the center, ascending */
	int n_near;
	int near_size;
	uint16 *near;

	/* the near blocks that the leaf read last may hold */
	int leaf_near;
	int n_leaf_near;

	bool started;
	Buffer root; /* locked, between the start and the first visit */
	int root_level;
	int distance; /* pages that the server reads ahead */
	HammingLevel level[HAMMING_MAX_LEVELS];
} HammingWalk;

/* What radii around a center cost. A scan asks for the same ones repeatedly. */
typedef struct HammingCosts
{
	uint64 center;
	int n_radii; /* from 0 on; 0: none are known */
	SimdupPageCosts pages[SIMDUP_ROTATIONS];
} HammingCosts;

/*
 * The index orders by this number of operands of ORDER BY fp <~> a, fp <~> b, ... at
 * most. The executor orders by the others. Its comparison of two rows ends where both
 * have NULL. The rows that it holds back stay in memory.
 */
#define HAMMING_MAX_ORDERS 8

/* Rows in the order of their distance, stage by stage (scan.c). */
typedef struct HammingOrder
{
	int n; /* operands, without those that are NULL */
	uint64 centers[HAMMING_MAX_ORDERS]; /* of the first ones */
	bool grows;	  /* around the center; else one stage finds all */
	int limit;	  /* no row farther away is wanted */
	int complete; /* rows so near have been returned or are candidates */
	double batch; /* rows that a stage over a whole rotation keeps */
	bool wants_nulls;
	bool nulls; /* rows without a fingerprint are being returned */

	/* distances and TID of each of this stage's candidates; NULL between stages */
	SimdupPairSort *sort;
} HammingOrder;

typedef struct HammingScan
{
	/* whether rows with a fingerprint, and without, can fulfil the conditions */
	bool reads_values;
	bool reads_nulls;
	/* a condition that the index cannot decide, for all rows or those without */
	bool recheck;
	bool recheck_nulls;
	int n_balls;
	SimhashBall *balls; /* the one with the least radius first */

	bool started;
	bool searches;			  /* else the trees are read as a whole */
	SimhashBall search;		  /* the ball that is walked */
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

	HammingKnowsLeaf knows; /* NULL: all leaves are read */
	void *knows_arg;
} HammingScan;

/*
 * Return the pages that each radius around the center is expected to read in
 * each rotation, up to the largest radius at least. Valid until the next call.
 */
extern const SimdupPageCosts *simdup_hamming_page_costs(Relation index,
														HammingCosts *costs,
														uint64 center,
														int largest);

/*
 * Walk through the leaves with a block within radius of the center. 16 means all
 * leaves. The walk keeps its memory for the next one.
 */
extern void simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan,
									  int tree, uint64 center, int radius);
/* Return the next leaf, locked for reading, or InvalidBuffer after the last. */
extern Buffer simdup_hamming_next_leaf(HammingWalk *walk);

/* Walk from the start, for `search` if there is one. */
extern void simdup_hamming_begin_search(IndexScanDesc scan);
/* Go on to the next leaf with matches; false at the end. */
extern bool simdup_hamming_next_matches(IndexScanDesc scan);
/* Let go of the leaf whose matches were returned. */
extern void simdup_hamming_release_pin(HammingScan *state);

#endif /* SIMDUP_INDEX_HAMMING_WALK_H */
