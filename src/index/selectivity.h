/*
 * selectivity.h
 *	  How many rows lie within a Hamming distance.
 */
#ifndef SIMDUP_INDEX_SELECTIVITY_H
#define SIMDUP_INDEX_SELECTIVITY_H

#include "nodes/pathnodes.h"

/* A radius that is not known at plan time is taken for the documents' 3. */
#define SIMHASH_DEFAULT_RADIUS 3

/*
 * Estimates for simhash_within, whose arguments these are: as a restriction,
 * and as a join. funcid is any function of this extension. A radius that is
 * not known yet is NULL.
 */
extern Selectivity simdup_restriction_selectivity(PlannerInfo *root, Oid funcid,
												  Node *a, Node *b,
												  Node *radius, int varRelid);
extern Selectivity simdup_join_selectivity(PlannerInfo *root, Oid funcid,
										   Node *a, Node *b, Node *radius,
										   JoinType jointype,
										   SpecialJoinInfo *sjinfo);

#endif /* SIMDUP_INDEX_SELECTIVITY_H */
