/*
 * node.h
 *	  The join node: a join by nearness of fingerprints, or of sets of shingles.
 *
 * The rows of both inputs are read whole (input.c). hamming_join.c or shingle_join.c
 * finds candidates among them, and the node evaluates the other conditions.
 */
#ifndef SIMDUP_JOINS_NODE_H
#define SIMDUP_JOINS_NODE_H

#include "nodes/extensible.h"

/*
 * What the planner tells the node in custom_private: this list of integers, and
 * then, for each equality of the two sides, the columns, the operators and the
 * collations.
 */
typedef enum SimdupJoinFact
{
	SIMDUP_JOIN_KIND, /* SimdupConditionKind */
	SIMDUP_JOIN_TYPE, /* JoinType */
	/* columns of the outer and the inner side, and those of the keys */
	SIMDUP_JOIN_COLUMNS,
	SIMDUP_JOIN_KEY = SIMDUP_JOIN_COLUMNS + 2,
	SIMDUP_JOIN_TEXT = SIMDUP_JOIN_KEY + 2, /* texts to compare; 0: none */
	SIMDUP_JOIN_READS_ONCE =
		SIMDUP_JOIN_TEXT + 2,	 /* one input for both sides */
	SIMDUP_JOIN_EXCLUDES_SELF,	 /* no row matches itself */
	SIMDUP_JOIN_PARALLEL_FILTER, /* the filter may run in parallel mode */
	SIMDUP_JOIN_GIVES_INNER, /* a semi join gives columns of the inner row */
	SIMDUP_JOIN_FACTS
} SimdupJoinFact;

/* Lists in custom_private, behind the facts. */
typedef enum SimdupJoinList
{
	SIMDUP_JOIN_EQUAL_COLUMNS = 1, /* of both sides */
	SIMDUP_JOIN_EQUAL_OPERATORS = SIMDUP_JOIN_EQUAL_COLUMNS + 2,
	SIMDUP_JOIN_EQUAL_COLLATIONS
} SimdupJoinList;

/* And in custom_exprs. */
typedef enum SimdupJoinExpr
{
	SIMDUP_JOIN_LIMITS,
	SIMDUP_JOIN_CONDITION, /* the clause, to be shown, and where k is odd */
	SIMDUP_JOIN_FILTER	   /* what is evaluated for each candidate */
} SimdupJoinExpr;

extern const CustomScanMethods simdup_hamming_join_methods;
extern const CustomScanMethods simdup_shingle_join_methods;

#endif /* SIMDUP_JOINS_NODE_H */
