/*
 * groups.h
 *	  The rows of a grouping and their groups, for a refresh, a review and a report; and
 *	  people's decisions about its keys.
 */
#ifndef SIMDUP_BATCH_GROUPS_H
#define SIMDUP_BATCH_GROUPS_H

#include "utils/date.h"

#include "batch/rows.h"
#include "core/cluster/components.h"
#include "server/source.h"

/* Rows of the source are numbered from 0, in the order of their keys. */
typedef struct SimdupGrouping
{
	SimdupSource source;
	SimdupRows *rows;
	DateADT *days;	 /* by row, DATEVAL_NOBEGIN for none; NULL: not read */
	Size n_days;	 /* that there is room for */
	int64 n_skipped; /* rows that take no part */
	int64 *ids; /* by row: the group or the given cluster; SIMDUP_NO_ID: none */
	Size n_ids; /* that there is room for */
} SimdupGrouping;

/*
 * Begin a batch, and read the source, the first argument of a function, for the
 * grouping whose members are the second. If there are no members, keys are not
 * looked up, so one may come twice. simdup_rows_end ends the batch.
 */
extern SimdupGrouping simdup_grouping_read(FunctionCallInfo fcinfo,
										   const SimdupOptions *options,
										   bool with_days);

/*
 * Begin a batch. Its keys come in order, and are compared as the table compares
 * those of the column. If column is NULL, they are not compared.
 */
extern SimdupRows *simdup_grouping_begin(FunctionCallInfo fcinfo,
										 SimdupFeed feed,
										 const SimdupOptions *options,
										 Oid table, const char *column);

/*
 * Take the id of a member, whose first values are its key and the id. Return its row;
 * SIMDUP_NO_ROW: the source has none.
 */
extern uint32 simdup_grouping_member(SimdupGrouping *grouping,
									 const Datum *values);

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

#endif /* SIMDUP_BATCH_GROUPS_H */
