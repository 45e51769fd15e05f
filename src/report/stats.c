/*
 * stats.c
 *	  What a summary or a report says of a table, in one pass over its groups
 *	  after one join.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/clustering.h"
#include "core/blocks.h"
#include "core/host.h"
#include "report/stats.h"
#include "server/progress.h"

static void
count_pairs(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	SimdupStats *stats = arg;

	stats->pairs[distance] += (double) a->n * b->n;
}

/* The place of a cluster among the largest, -1 if it has none. */
static int
place_of(const SimdupStats *stats, uint32 first_row)
{
	for (int i = 0; i < stats->n_largest; i++)
		if (stats->largest[i].first_row == first_row)
			return i;
	return -1;
}

/* Keep the largest clusters, the larger and then the earlier first. */
static void
rank_cluster(SimdupStats *stats, uint32 first_row, uint32 size)
{
	int at = stats->n_largest;

	while (at > 0 && (stats->largest[at - 1].size < size ||
					  (stats->largest[at - 1].size == size &&
					   stats->largest[at - 1].first_row > first_row)))
		at--;
	if (at == SIMDUP_N_LARGEST)
		return;
	if (stats->n_largest < SIMDUP_N_LARGEST)
		stats->n_largest++;
	memmove(&stats->largest[at + 1], &stats->largest[at],
			(stats->n_largest - 1 - at) * sizeof(SimdupLargeCluster));
	memset(&stats->largest[at], 0, sizeof(SimdupLargeCluster));
	stats->largest[at].first_row = first_row;
	stats->largest[at].size = size;
}

static void
count_cluster(SimdupStats *stats, uint32 first_row, uint32 size)
{
	int bin = 0;

	while (((uint64) 2 << bin) < size)
		bin++;
	stats->size_bins[bin]++;
	stats->near_groups++;
	stats->near_rows += size;
	rank_cluster(stats, first_row, size);
}

static void
add_member(SimdupLargeCluster *cluster, uint32 number)
{
	int at = cluster->n_members;

	while (at > 0 && cluster->members[at - 1] > number)
		at--;
	if (at == SIMDUP_N_MEMBERS)
		return;
	if (cluster->n_members < SIMDUP_N_MEMBERS)
		cluster->n_members++;
	memmove(&cluster->members[at + 1], &cluster->members[at],
			(cluster->n_members - 1 - at) * sizeof(uint32));
	cluster->members[at] = number;
}

/* The first rows of each of the largest clusters. */
static void
find_members(const SimdupClusters *clusters, SimdupStats *stats)
{
	SimdupGroups *groups = clusters->groups;

	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		SimdupMembership cluster = simdup_cluster_of(clusters, &group);
		int place = cluster.size > 1 ? place_of(stats, cluster.first_row) : -1;

		CHECK_FOR_INTERRUPTS();
		if (place < 0)
			continue;
		for (uint32 row = 0; row < Min(group.n, SIMDUP_N_MEMBERS); row++)
			add_member(&stats->largest[place],
					   simdup_groups_row(groups, group.start + row));
	}
}

static void
count_group(const SimdupClusters *clusters, const SimdupGroup *group,
			SimdupStats *stats)
{
	SimdupMembership cluster = simdup_cluster_of(clusters, group);

	if (group->n > 1)
	{
		stats->exact_groups++;
		stats->exact_rows += group->n;
		stats->pairs[0] += (double) group->n * (group->n - 1) / 2;
	}
	/* a cluster is counted where its first row is, so once */
	if (cluster.size > 1 &&
		simdup_groups_row(clusters->groups, group->start) == cluster.first_row)
		count_cluster(stats, cluster.first_row, cluster.size);
}

/* Rows of each value of one block: 16 bits at most, so a plain table. */
static void
compute_block(SimdupGroups *groups, SimdupBlockStats *block, uint32 *counts)
{
	int width = block->last_bit - block->first_bit + 1;
	uint32 n_rows = groups->rows->n;

	memset(counts, 0, sizeof(uint32) << width);
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		counts[simdup_block_bits(group.fp, block->first_bit,
								 block->last_bit + 1)] += group.n;
	}
	for (int64 value = 0; value < INT64CONST(1) << width; value++)
	{
		double n = counts[value];

		block->n_values += counts[value] > 0;
		block->largest = Max(block->largest, (int64) counts[value]);
		block->expected += n_rows ? n * n / n_rows : 0;
	}
}

static void
compute_blocks(SimdupGroups *groups, SimdupStats *stats)
{
	uint32 *counts = palloc(sizeof(uint32) << 16);

	stats->n_blocks = Max(stats->max_distance + 1, SIMDUP_MIN_STAT_BLOCKS);
	for (int i = 0; i < stats->n_blocks; i++)
	{
		SimdupBlockStats *block = &stats->blocks[i];

		block->first_bit = simdup_block_start(i, stats->n_blocks);
		block->last_bit = simdup_block_start(i + 1, stats->n_blocks) - 1;
		compute_block(groups, block, counts);
	}
	pfree(counts);
}

double
simdup_expected_candidates(const SimdupStats *stats)
{
	double sum = 0;

	for (int i = 0; i < stats->n_blocks; i++)
		sum += stats->blocks[i].expected;
	return sum;
}

void
simdup_compute_stats(SimdupGroups *groups, int max_distance, SimdupStats *stats)
{
	SimdupRows *rows = groups->rows;
	SimdupClusters *clusters;

	memset(stats, 0, sizeof(SimdupStats));
	stats->max_distance = max_distance;
	stats->n_rows = (int64) rows->n + rows->n_null;
	stats->n_null = rows->n_null;
	stats->n_distinct = groups->n;
	clusters = simdup_find_clusters(groups, max_distance, SIMDUP_CONNECTED,
									count_pairs, stats);
	simdup_progress_phase("counting", groups->n);
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		count_group(clusters, &group, stats);
		simdup_progress_done(i);
	}
	find_members(clusters, stats);
	compute_blocks(groups, stats);
}
