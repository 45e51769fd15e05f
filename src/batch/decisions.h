/*
 * decisions.h
 *	  The tables of a grouping, and people's decisions about its keys.
 */
#ifndef SIMDUP_BATCH_DECISIONS_H
#define SIMDUP_BATCH_DECISIONS_H

#include "batch/rows.h"
#include "core/cluster/components.h"

/*
 * Read rows of a grouping's table, which the query calls t: keys first, then
 * columns of one type. The keys are as simdup_keys_take gives them. ERROR if a
 * value is NULL. The sink is called in the batch's memory context.
 */
extern void simdup_grouping_table(SimdupRows *rows, Oid table,
								  const char *columns, const char *query,
								  int n_keys, Oid type,
								  void (*sink)(void *arg, Datum *values),
								  void *arg);

/* People's decisions about keys. Those that are no row's have larger numbers. */
typedef struct SimdupDecisionSet
{
	SimdupRows *rows;
	SimdupDecisions decisions;	   /* those that hold */
	SimdupDecisions passed;		   /* those that contradict earlier ones */
	SimdupConstraints constraints; /* of the keys of rows and of decisions */
} SimdupDecisionSet;

/* Read the decisions in the order in which they hold. */
extern SimdupDecisionSet simdup_decisions_read(SimdupRows *rows, Oid table);

/*
 * Return why a decision was passed over: the chain of equal rows between its two, or
 * two chains and the place where they are not the same.
 */
extern char *simdup_contradicted(const SimdupDecisionSet *decided,
								 const SimdupDecision *passed);

/*
 * Prepare decisions for grouping the rows: a WARNING tells of those passed over,
 * and cannot-links of components without a row are left out.
 */
extern void simdup_decisions_apply(SimdupDecisionSet *decided);

#endif /* SIMDUP_BATCH_DECISIONS_H */
