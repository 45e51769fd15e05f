/*
 * stats.c
 *	  What a summary or a report says of a table, in one pass over its groups
 *	  after one join.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/hamming.h"
#include "core/host.h"
#include "core/statistics.h"
#include "report/escape.h"
#include "report/stats.h"
#include "server/session.h"
#include "type/simhash64.h"

/* Counts pairs, and hands them on. */
typedef struct PairCounter
{
	SimdupStats *stats;
	SimdupGroupSink also;
	void *arg;
} PairCounter;

static void
count_pairs(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	PairCounter *counter = arg;

	counter->stats->pairs[distance] += (double) a->n * b->n;
	if (counter->also)
		counter->also(counter->arg, a, b, distance);
}

void
simdup_count_no_clusters(SimdupStats *stats)
{
	stats->near_groups = stats->near_rows = stats->largest = 0;
	memset(stats->size_bins, 0, sizeof(stats->size_bins));
}

void
simdup_count_cluster(SimdupStats *stats, uint32 size)
{
	int bin = 0;

	while (((uint64) 2 << bin) < size)
		bin++;
	stats->size_bins[bin]++;
	stats->near_groups++;
	stats->near_rows += size;
	stats->largest = Max(stats->largest, (int64) size);
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
		simdup_count_cluster(stats, cluster.size);
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

/*
 * What chance alone makes of pairs, estimated from the fingerprints of rows at
 * equal steps in the order of fingerprints.
 */
static void
expect_pairs(SimdupGroups *groups, SimdupStats *stats)
{
	uint32 n = groups->rows->n;
	size_t wanted = Min(n, SIMDUP_SAMPLE_SIZE);
	size_t taken = 0;
	uint64 *sample = palloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	double chance[SIMHASH64_BITS + 1];
	double pairs = n > 0 ? (double) n * ((double) n - 1) / 2 : 0;

	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		while (taken < wanted &&
			   (uint64) taken * n / wanted < (uint64) group.start + group.n)
			sample[taken++] = group.fp;
	}
	simdup_false_pair_chances(sample, taken, chance);
	for (int d = 0; d <= SIMDUP_MAX_PAIR_DISTANCE; d++)
		stats->by_chance[d] = pairs * (chance[d] - (d > 0 ? chance[d - 1] : 0));
	pfree(sample);
}

int64
simdup_repeats(const SimdupStats *stats)
{
	return stats->near_rows - stats->near_groups;
}

char *
simdup_headline(const SimdupStats *stats, const char *row, const char *rows,
				const char *group, const char *groups)
{
	int64 repeats = simdup_repeats(stats);
	double share = stats->n_rows > 0
					   ? 100.0 * (double) repeats / (double) stats->n_rows
					   : 0;

	return psprintf("%s of %s %s (%.1f %%) %s another; %s; largest %s",
					simdup_grouped((double) repeats),
					simdup_grouped((double) stats->n_rows),
					stats->n_rows == 1 ? row : rows, share,
					repeats == 1 ? "repeats" : "repeat",
					simdup_counted((double) stats->near_groups, group, groups),
					simdup_grouped((double) stats->largest));
}

void
simdup_stat_facts(const SimdupStats *stats, SimdupFact *facts)
{
	const SimdupFact all[SIMDUP_N_FACTS] = {
		{"rows", "all", stats->n_rows},
		{"rows", "with a fingerprint", stats->n_rows - stats->n_null},
		{"rows", "without a fingerprint", stats->n_null},
		{"rows", "distinct fingerprints", stats->n_distinct},
		{"rows", "that repeat another", simdup_repeats(stats)},
		{"equal fingerprints", "groups", stats->exact_groups},
		{"equal fingerprints", "rows in them", stats->exact_rows},
		{"near groups", "groups", stats->near_groups},
		{"near groups", "rows in them", stats->near_rows},
		{"near groups", "rows of the largest", stats->largest},
	};

	memcpy(facts, all, sizeof(all));
}

void
simdup_compute_stats(SimdupGroups *groups, int max_distance,
					 SimdupGroupSink also, void *arg, SimdupStats *stats)
{
	SimdupRows *rows = groups->rows;
	PairCounter counter = {stats, also, arg};

	memset(stats, 0, sizeof(SimdupStats));
	stats->max_distance = max_distance;
	stats->n_rows = (int64) rows->n + rows->n_null;
	stats->n_null = rows->n_null;
	stats->n_distinct = groups->n;
	stats->clusters =
		simdup_find_clusters(groups, max_distance, SIMDUP_CONNECTED,
							 count_pairs, &counter);
	simdup_progress_phase("counting", groups->n);
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		count_group(stats->clusters, &group, stats);
		simdup_progress_done(i);
	}
	compute_blocks(groups, stats);
	expect_pairs(groups, stats);
}
