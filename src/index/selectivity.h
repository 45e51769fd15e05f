/*
 * selectivity.h
 *	  Estimates of the rows within a Hamming distance.
 */
#ifndef SIMDUP_INDEX_SELECTIVITY_H
#define SIMDUP_INDEX_SELECTIVITY_H

#include "nodes/pathnodes.h"

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

/*
 * Set the values of the arguments after the operands, as far as they are known at
 * plan time: the radius, or of texts min_resemblance and recall.
 */
extern void simdup_set_limits(PlannerInfo *root, SimdupNearClause *clause,
							  List *limits);

/*
 * Check whether an expression may be the radius of a ball made at plan time. Out of
 * range, it is an error only if the function is called.
 */
extern bool simdup_may_be_radius(Node *radius);

extern Node *simdup_make_integer(int value);

/*
 * Return minhash64(content) as an expression. The function is one of this
 * extension's.
 */
extern Node *simdup_make_minhash64(Oid funcid, Node *content, Oid collation);

/* Return the part of a relation's rows that fulfils the clause. */
extern Selectivity simdup_restriction_selectivity(
	PlannerInfo *root, const SimdupNearClause *clause, int varRelid);

/*
 * Return the part of the pairs of two relations' rows that fulfils it; of a semi or anti
 * join, the part of the outer rows.
 */
extern Selectivity simdup_join_selectivity(PlannerInfo *root,
										   const SimdupNearClause *clause,
										   JoinType jointype,
										   SpecialJoinInfo *sjinfo);

/* Return w and unit of the shingles that resemblance means by default, as constants. */
extern List *simdup_default_shingles(void);

#endif /* SIMDUP_INDEX_SELECTIVITY_H */
