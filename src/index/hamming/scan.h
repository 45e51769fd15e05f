/*
 * scan.h
 *	  The state of a scan of a hamming index.
 */
#ifndef SIMDUP_INDEX_HAMMING_SCAN_H
#define SIMDUP_INDEX_HAMMING_SCAN_H

#include "index/ball.h"
#include "index/hamming/walk.h"

typedef struct HammingScan
{
	/* the conditions; both wishes together mean that no row fulfils them */
	bool wants_null;
	bool wants_value;
	bool recheck; /* a condition that the index cannot decide */
	int n_balls;
	SimhashBall *balls; /* the one with the least radius first */

	bool started;
	bool walking;
	int tree;
	int radii[HAMMING_TREES]; /* -1: the tree is not read */
	HammingWalk walk;

	/* the matches of a leaf, and the next to be returned */
	Buffer pin;
	int at;
	int n_matches;
	ItemPointerData matches[HAMMING_LEAF_CAPACITY];
} HammingScan;

/* choose.c: radii of a search, by how the values are distributed */
extern void simdup_hamming_choose_radii(Relation index, uint64 center, int k,
										int *radii);

#endif /* SIMDUP_INDEX_HAMMING_SCAN_H */
