/*
 * planner.h
 *	  Estimates of the rows within a Hamming distance.
 */
#ifndef SIMDUP_INDEX_PLANNER_H
#define SIMDUP_INDEX_PLANNER_H

#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"

/* A radius that is not known at plan time is taken for the usual one. */
#define SIMHASH_DEFAULT_RADIUS 8

/* A condition that two operands are near each other. */
typedef struct SimdupNearClause
{
	Oid funcid; /* any function of this extension */
	/* the operands, of type simhash64, or text where texts have fingerprints */
	Node *a;
	Node *b;
	bool of_texts; /* texts have fingerprints: minhash64(content) */
	int radius;	   /* -1: NULL, so no row is near */
	/* no unrelated row fulfils the condition, however large the radius */
	bool excludes_strangers;
} SimdupNearClause;

/* Return the radius if it is known at plan time; -1 if it is NULL. */
extern int simdup_plan_time_radius(PlannerInfo *root, Node *radius);

/* Answer a support function's request with the estimate for the clause. */
extern void simdup_answer_selectivity(SupportRequestSelectivity *request,
									  const SimdupNearClause *clause);

#endif /* SIMDUP_INDEX_PLANNER_H */
