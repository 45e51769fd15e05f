/*
 * listing.h
 *	  What a summary or a report says of a table: its numbers, and the groups and
 *	  pairs to show.
 */
#ifndef SIMDUP_REPORT_LISTING_H
#define SIMDUP_REPORT_LISTING_H

#include "batch/clustering.h"
#include "core/allpairs.h"

/* Sizes 2, 3-4, 5-8, 9-16 …: bin i ends at 2 << i. */
#define SIMDUP_N_SIZE_BINS 32
#define SIMDUP_MIN_STAT_BLOCKS 4

typedef struct SimdupBlockStats
{
	int first_bit;
	int last_bit;
	int64 n_values;	 /* that occur */
	int64 largest;	 /* rows of the most frequent one */
	double expected; /* rows that share a random row's value */
} SimdupBlockStats;

typedef struct SimdupStats
{
	SimdupOptions options;
	int64 n_rows;
	int64 n_null;
	int64 n_no_content;
	int64 n_distinct;
	int64 exact_groups; /* of two and more equal rows */
	int64 exact_rows;
	int64 near_groups; /* clusters of two rows and more */
	int64 near_rows;
	int64 largest; /* rows of the largest of them */
	int64 size_bins[SIMDUP_N_SIZE_BINS];
	double pairs[SIMDUP_MAX_PAIR_DISTANCE + 1]; /* by distance */
	/* pairs of unrelated rows to expect at each distance */
	double by_chance[SIMDUP_MAX_PAIR_DISTANCE + 1];
	int n_blocks;
	SimdupBlockStats blocks[SIMDUP_MAX_PAIR_DISTANCE + 1];
	SimdupClusters *clusters;
} SimdupStats;

/* Count groups of another kind instead, of two rows and more each. */
extern void simdup_count_no_clusters(SimdupStats *stats);
extern void simdup_count_cluster(SimdupStats *stats, uint32 size);

/* Count the rows that repeat another: all of each group but its first. */
extern int64 simdup_repeats(const SimdupStats *stats);

/* Return their share of all rows. */
extern double simdup_repeat_share(const SimdupStats *stats);

/* A number of the statistics and its name, as simdup_summary has it. */
typedef struct SimdupFact
{
	const char *section;
	const char *item;
	int64 value;
} SimdupFact;

#define SIMDUP_N_FACTS 10

extern void simdup_stat_facts(const SimdupStats *stats, SimdupFact *facts);

/*
 * The smallest of many triples of numbers, in bounded memory. The order in which
 * triples come does not matter. So a page is the same whether a batch ran in
 * memory or on disk.
 */
typedef struct SimdupTriple
{
	uint32 x;
	uint32 y;
	uint32 z;
} SimdupTriple;

typedef struct SimdupSmallest
{
	uint32 limit;
	uint32 n;
	bool full; /* the first limit triples are the smallest of them */
	SimdupTriple *triples; /* twice the limit */
} SimdupSmallest;

extern void simdup_smallest_init(SimdupSmallest *list, uint32 limit);

/* Return false if limit smaller ones are there already. */
extern bool simdup_smallest_add(SimdupSmallest *list, SimdupTriple triple);

/* Sort what is left: n triples, ascending. */
extern void simdup_smallest_finish(SimdupSmallest *list);

/* Rows of a group that are compared, to show those that add most. */
#define SIMDUP_COMPARED_ROWS 1000
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

/* List the groups, and the rows of the first n_shown. */
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

/*
 * List the pairs of two groups, or of one. With cells, those by row, only the
 * pairs of rows of cell x with rows of cell y.
 */
extern void simdup_list_pair(SimdupPairList *list, const SimdupGroup *a,
							 const SimdupGroup *b, int distance,
							 const uint32 *cells, uint32 x, uint32 y);

/* Order the pairs after the last of these. */
extern void simdup_pair_list_finish(SimdupPairList *list);

/*
 * Of rows that are read and grouped. Pairs are listed too, where list is not
 * NULL.
 */
extern void simdup_compute_stats(SimdupGroups *groups,
								 const SimdupOptions *options,
								 SimdupPairList *list, SimdupStats *stats);

#endif /* SIMDUP_REPORT_LISTING_H */
