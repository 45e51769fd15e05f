/*
 * walk.h
 *	  The radii of a search, and the leaves of one tree that hold a block near the
 *	  center, in order.
 */
#ifndef SIMDUP_INDEX_HAMMING_WALK_H
#define SIMDUP_INDEX_HAMMING_WALK_H

#include "access/genam.h"

#include "index/hamming/page.h"

/* What radii around a center cost. A scan asks for the same ones repeatedly. */
typedef struct HammingCosts
{
	uint64 center;
	int n_radii; /* from 0 on; 0: none are known */
	SimdupPageCosts pages[SIMDUP_ROTATIONS];
} HammingCosts;

/*
 * Return the pages that each radius around the center is expected to read in
 * each rotation, up to the largest radius at least. Valid until the next call.
 */
extern const SimdupPageCosts *simdup_hamming_page_costs(Relation index,
														HammingCosts *costs,
														uint64 center,
														int largest);

/* A page to visit: the key range that its parent gave for it. */
typedef struct HammingListed
{
	BlockNumber block;
	uint64 low;		   /* the value where it begins */
	uint64 near;	   /* the first value in it that may be near */
	SimdupEntry until; /* where it ends; above all keys at the end of the level */
} HammingListed;

/* How far a walk has come on one level of the tree. */
typedef struct HammingLevel
{
	SimdupEntry
		next; /* everything below it has been read; at the end above all */
	int near; /* the first near block not below `next` */

	SimdupEntry until; /* where the range ends that was listed last */
	BlockNumber right; /* sibling of the page read last, if that is next */

	/* pages to visit: `at` comes next, those before `ahead` were asked for */
	int n;
	int at;
	int ahead;
	int size;
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

/*
 * Walk through the leaves with a block within radius of the center. 16 means all
 * leaves. The walk keeps its memory for the next one.
 */
extern void simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan,
									  int tree, uint64 center, int radius);
/* Return the next leaf, locked for reading, or InvalidBuffer after the last. */
extern Buffer simdup_hamming_next_leaf(HammingWalk *walk);

#endif /* SIMDUP_INDEX_HAMMING_WALK_H */
