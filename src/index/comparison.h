/*
 * comparison.h
 *	  What one comparison of fingerprints costs.
 */
#ifndef SIMDUP_INDEX_COMPARISON_H
#define SIMDUP_INDEX_COMPARISON_H

#include "nodes/supportnodes.h"

/* The request with its answer; NULL leaves it to the function's COST. */
extern Node *simdup_comparison_cost(SupportRequestCost *req);

#endif /* SIMDUP_INDEX_COMPARISON_H */
