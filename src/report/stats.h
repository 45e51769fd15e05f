/*
 * stats.h
 *	  What a summary or a report says of a table.
 */
#ifndef SIMDUP_REPORT_STATS_H
#define SIMDUP_REPORT_STATS_H

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
	int max_distance;
	int64 n_rows;
	int64 n_null;
	int64 n_distinct;
	int64 exact_groups; /* of two and more equal rows */
	int64 exact_rows;
	int64 near_groups; /* connected, of two rows and more */
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

/*
 * Of rows that are read and grouped. also gets each near pair of groups, where
 * it is not NULL.
 */
extern void simdup_compute_stats(SimdupGroups *groups, int max_distance,
								 SimdupGroupSink also, void *arg,
								 SimdupStats *stats);

/* Count groups of another kind instead, of two rows and more each. */
extern void simdup_count_no_clusters(SimdupStats *stats);
extern void simdup_count_cluster(SimdupStats *stats, uint32 size);

/* Most to expect to look at in one search: all blocks together. */
extern double simdup_expected_candidates(const SimdupStats *stats);

/* Rows that repeat another: all of each group but its first. */
extern int64 simdup_repeats(const SimdupStats *stats);

/* The answer in one line: how many rows repeat another, and what a group is. */
extern char *simdup_headline(const SimdupStats *stats, const char *row,
							 const char *rows, const char *group,
							 const char *groups);

/* A number of the statistics and its name, as simdup_summary has it. */
typedef struct SimdupFact
{
	const char *section;
	const char *item;
	int64 value;
} SimdupFact;

#define SIMDUP_N_FACTS 10

extern void simdup_stat_facts(const SimdupStats *stats, SimdupFact *facts);

#endif /* SIMDUP_REPORT_STATS_H */
