/*
 * groups.h
 *	  The rows, the tables and the decisions of a grouping, for a refresh, a review
 *	  and a report: groups.c, grouping_tables.c, decisions.c.
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
	SimdupKeys *keys; /* by row */
	DateADT *days;	  /* by row, DATEVAL_NOBEGIN for none; NULL: not read */
	Size n_days;	  /* that there is room for */
	int64 n_skipped;  /* rows that take no part */
	SimdupFingerprints *fingerprints;
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
 * Read rows of a grouping's table, which the query calls t: keys first, then
 * columns of one type. The keys are as simdup_keys_take gives them. ERROR if a
 * value is NULL. The sink is called in the batch's memory context.
 */
extern void simdup_grouping_table(SimdupRows *rows, Oid table,
								  const char *columns, const char *query,
								  int n_keys, Oid type,
								  void (*sink)(void *arg, Datum *values),
								  void *arg);

/*
 * Read the ids of the members. The sink, where not NULL, gets members that are no
 * rows.
 */
extern void simdup_members_read(SimdupGrouping *grouping, Oid table,
								void (*gone)(void *arg, Datum key, int64 id),
								void *arg);

/* People's decisions about keys. Those that are no row's have larger numbers. */
typedef struct SimdupDecided
{
	SimdupRows *rows;
	SimdupDecisions decisions;	   /* those that hold */
	SimdupDecisions passed;		   /* those that contradict earlier ones */
	SimdupConstraints constraints; /* of the keys of rows and of decisions */
} SimdupDecided;

/* Read the decisions in the order in which they hold. */
extern SimdupDecided simdup_decisions_read(SimdupRows *rows, Oid table);

/* Return a key as text. */
extern char *simdup_decided_key(const SimdupDecided *decided, uint32 number);

/*
 * Return what a decision that was passed over contradicts: the chain of equal
 * rows between its two, or two chains and where they are not the same.
 */
extern char *simdup_contradicted(const SimdupDecided *decided,
								 const SimdupDecision *passed);

/*
 * Prepare decisions for grouping the rows: a WARNING tells of those passed over,
 * and cannot-links of components without a row are left out.
 */
extern void simdup_decisions_apply(SimdupDecided *decided);

#endif /* SIMDUP_BATCH_GROUPS_H */
