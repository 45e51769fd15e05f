/*
 * walk.h
 *	  The leaves of one tree that hold a block near the center, in order.
 */
#ifndef SIMDUP_INDEX_HAMMING_WALK_H
#define SIMDUP_INDEX_HAMMING_WALK_H

#include "index/hamming/am.h"

/* A leaf to visit: its range ends at the low key of the next one. */
typedef struct HammingLeaf
{
	BlockNumber block;
	bool is_last;
	SimdupEntry until;
} HammingLeaf;

typedef struct HammingWalk
{
	IndexScanDesc scan;
	int tree;
	uint32 center; /* a block */
	int radius;	   /* 16: all leaves */

	SimdupEntry next;  /* everything below it has been read */
	bool finished;	   /* so has everything else */
	HammingLeaf leaf;  /* of the leaf read last */
	BlockNumber right; /* its right sibling then, if that is next */

	/* the leaves to visit below one inner page */
	int n_leaves;
	int at;
	HammingLeaf leaves[HAMMING_INNER_CAPACITY];
} HammingWalk;

extern void simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan,
									  int tree, uint32 center, int radius);
/* The next leaf, locked for reading; InvalidBuffer after the last. */
extern Buffer simdup_hamming_next_leaf(HammingWalk *walk);

#endif /* SIMDUP_INDEX_HAMMING_WALK_H */
