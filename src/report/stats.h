/*
 * stats.h
 *	  What a summary or a report says of a table.
 */
#ifndef SIMDUP_REPORT_STATS_H
#define SIMDUP_REPORT_STATS_H

#include "batch/groups.h"
#include "core/allpairs.h"

#define SIMDUP_N_LARGEST 10
#define SIMDUP_N_MEMBERS 5
/* Sizes 2, 3-4, 5-8, 9-16 …: bin i ends at 2 << i. */
#define SIMDUP_N_SIZE_BINS 32
#define SIMDUP_MIN_STAT_BLOCKS 4

typedef struct SimdupLargeCluster
{
	uint32 first_row;
	uint32 size;
	int n_members;
	uint32 members[SIMDUP_N_MEMBERS]; /* its first rows, ascending */
} SimdupLargeCluster;

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
	int64 size_bins[SIMDUP_N_SIZE_BINS];
	double pairs[SIMDUP_MAX_PAIR_DISTANCE + 1]; /* by distance */
	int n_largest;
	SimdupLargeCluster largest[SIMDUP_N_LARGEST];
	int n_blocks;
	SimdupBlockStats blocks[SIMDUP_MAX_PAIR_DISTANCE + 1];
} SimdupStats;

/* Of rows that are read and grouped. */
extern void simdup_compute_stats(SimdupGroups *groups, int max_distance,
								 SimdupStats *stats);

/* Most to expect to look at in one search: all blocks together. */
extern double simdup_expected_candidates(const SimdupStats *stats);

#endif /* SIMDUP_REPORT_STATS_H */
