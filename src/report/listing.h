/*
 * listing.h
 *	  Groups and pairs to show on a page, and to save from it.
 */
#ifndef SIMDUP_REPORT_LISTING_H
#define SIMDUP_REPORT_LISTING_H

#include "report/smallest.h"
#include "report/stats.h"

/* Rows that are shown of a group. */
#define SIMDUP_SHOWN_ROWS 20
/* Pairs that are shown at each distance. */
#define SIMDUP_SHOWN_PAIRS 5
/* What goes into the files that the page offers. */
#define SIMDUP_EXPORTED_ROWS 50000
#define SIMDUP_EXPORTED_PAIRS 10000

typedef struct SimdupListedRow
{
	uint32 number;
	int distance; /* to the group's first row */
} SimdupListedRow;

typedef struct SimdupListedGroup
{
	int64 id;	  /* of a case, else its place from 1 */
	uint32 start; /* of a case, while it is listed */
	uint32 first_row;
	uint32 size;
	uint32 n_members; /* of a case, also outside the query */
	int reach;		  /* the longest distance from the first row */
	uint32 n_rows;
	SimdupListedRow *rows; /* the first in query order; NULL: not shown */
} SimdupListedGroup;

typedef struct SimdupListing
{
	int64 n_groups;
	SimdupListedGroup *groups; /* largest first */
	int64 n_shown;
	int64 n_rows;		 /* of all that rows may hold */
	SimdupSmallest rows; /* (place of the group, row number, distance) */
} SimdupListing;

/* List the groups; rows are collected for so many of them. */
extern void simdup_list_groups(const SimdupStats *stats, int64 n_shown,
							   SimdupListing *listing);

typedef struct SimdupPairList
{
	SimdupGroups *groups;
	SimdupSmallest exported; /* (distance, row, row) */
	/* at each distance a sample: (hash, row, row) */
	SimdupSmallest shown[SIMDUP_MAX_PAIR_DISTANCE + 1];
} SimdupPairList;

extern void simdup_pair_list_init(SimdupPairList *list, SimdupGroups *groups);

/* A SimdupGroupSink: pairs of different fingerprints. */
extern void simdup_list_pair(void *list, const SimdupGroup *a,
							 const SimdupGroup *b, int distance);

/* After the last of these: the pairs of equal fingerprints, and the order. */
extern void simdup_pair_list_finish(SimdupPairList *list);

#endif /* SIMDUP_REPORT_LISTING_H */
