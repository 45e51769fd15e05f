/*
 * offer.h
 *	  A join that the planner is offered: its clauses and its inputs.
 */
#ifndef SIMDUP_JOINS_OFFER_H
#define SIMDUP_JOINS_OFFER_H

#include "index/selectivity.h"
#include "joins/condition.h"

/* A join to offer. */
typedef struct JoinOffer
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *sides[2]; /* outer and inner */
	JoinType type;
	JoinPathExtraData *extra;
	SimdupCondition condition;
	RestrictInfo *served;  /* the clause that this is */
	SimdupNearClause near; /* of fingerprints */
	List *filter;		   /* clauses to be evaluated for each candidate */
	List *above;		   /* and above the join */
	List *equalities;	   /* RestrictInfos that part the rows */
	bool reads_once;
	bool excludes_self;
	PathTarget *targets[2]; /* the columns of both sides */
	Path *inputs[2];		/* the second is NULL if one is read */
	Node *keys[2];			/* fingerprints, or texts */
} JoinOffer;

/* Check whether a clause is evaluated above the join, not as a part of it. */
extern bool simdup_offer_is_above(const JoinOffer *offer,
								  const RestrictInfo *restrictinfo);

/* Return the expression of a side of an equality. */
extern Node *simdup_offer_side_of(const JoinOffer *offer,
								  const RestrictInfo *equality, int side);

/*
 * Find the clauses, the equalities and the inputs with their columns. Return false
 * if the join cannot be offered.
 */
extern bool simdup_offer_inputs(JoinOffer *offer);

/* Install the planner's hooks and the node, once, when the module loads. */
extern void simdup_joins_init(void);

#endif /* SIMDUP_JOINS_OFFER_H */
