/*
 * collect.h
 *	  What simdup_report is made of: collect.c finds it, report.c returns it.
 */
#ifndef SIMDUP_REPORT_COLLECT_H
#define SIMDUP_REPORT_COLLECT_H

#include "batch/rows.h"
#include "core/fingerprint/hamming.h"
#include "server/arguments.h"

/* Pairs that are shown at each distance, and pairs that are listed. */
#define SHOWN_PAIRS 5
#define LISTED_PAIRS 10000

#define NO_DAY PG_INT32_MIN

/*
 * The first of many pairs by a number and their rows, in bounded memory. The
 * order in which they come does not matter, so a report is the same in memory
 * and on disk.
 */
typedef struct Smallest
{
	uint32 limit;
	uint32 n;
	SimdupEntry *entries; /* twice the limit: number and row, row */
} Smallest;

typedef struct Case
{
	uint32 start; /* in the items */
	uint32 size;
} Case;

/* A column beside key, fingerprint, content and scope. */
typedef struct Column
{
	int position; /* from 0 */
	NameData name;
	Oid type;
	FmgrInfo output;
} Column;

typedef struct Report
{
	SimdupOptions options;
	SimdupRows *rows;
	SimdupFingerprints *fingerprints;
	ReturnSetInfo *result;

	/* of the query; NULL and 0 without rows */
	int id_column; /* 0: none */
	int n_further;
	Column *further;
	Column *day;		/* the first with dates; NULL: none */
	SimdupKeys *values; /* by row: the further columns as a JSON array */

	/* by row */
	int64 *ids;	 /* of a grouping, 0 without one; NULL: no grouping */
	int32 *days; /* NULL: no dates */
	Size ids_size, days_size;
	uint64 *fps;
	uint32 *scope;	/* 0: none */
	uint8 *repeats; /* bits: not the first row of its case */

	Case *cases; /* largest first */
	uint32 n_cases;
	uint32 n_items;		/* their rows */
	SimdupEntry *items; /* the rows of each case, in order */
	int64 equal_sets;	/* of fingerprints */
	double pairs[SIMDUP_MAX_PAIR_DISTANCE + 1];	  /* by distance */
	Smallest shown[SIMDUP_MAX_PAIR_DISTANCE + 1]; /* by a hash of the rows */
	Smallest listed;							  /* by distance */
} Report;

/* Read the query of simdup_report_rows, and find its cases and pairs. */
extern void simdup_report_collect(Report *report, FunctionCallInfo fcinfo);

#endif /* SIMDUP_REPORT_COLLECT_H */
