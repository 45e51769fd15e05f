/*
 * stats.c
 *	  What a summary or a report says of a table, in one pass over its groups
 *	  after one join.
 *
 * simdup_summary returns it in rows for psql.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/hamming.h"
#include "core/host.h"
#include "core/statistics.h"
#include "report/page.h"
#include "server/arguments.h"
#include "server/session.h"
#include "type/simhash64.h"

/* The largest groups that a summary names. */
#define N_LARGEST 10

/* Counts pairs, and hands them on. */
typedef struct PairCounter
{
	SimdupStats *stats;
	SimdupCellRows *cells;
	uint32 *n_rows; /* of each cell; NULL: contents do not count */
	SimdupPairList *list;
} PairCounter;

/* Count the pairs of rows of two groups' cells that resemble each other. */
static void
count_cells(PairCounter *counter, const SimdupGroup *a, const SimdupGroup *b,
			int distance)
{
	const SimdupCellRows *c = counter->cells;
	const uint32 *n_rows = counter->n_rows;

	for (uint32 i = a->start;
		 i < a->start + a->n && c->cell_at[i] != SIMDUP_NO_CELL; i++)
		for (uint32 j = a == b ? i : b->start;
			 j < b->start + b->n && c->cell_at[j] != SIMDUP_NO_CELL; j++)
		{
			uint32 x = c->cell_at[i];
			uint32 y = c->cell_at[j];

			if (x == y ? n_rows[x] < 2
					   : c->cells.verify((void *) c, Max(x, y), Min(x, y)) < 0)
				continue;
			counter->stats->pairs[distance] +=
				x == y ? (double) n_rows[x] * (n_rows[x] - 1) / 2
					   : (double) n_rows[x] * n_rows[y];
			if (counter->list)
				simdup_list_pair(counter->list, a, b, distance, c->cells.cell,
								 x, y);
		}
}

/* Count the pairs of two near groups, or of one: a SimdupGroupSink. */
static void
count_pairs(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	PairCounter *counter = arg;

	if (counter->cells->contents != NULL)
	{
		count_cells(counter, a, b, distance);
		return;
	}
	counter->stats->pairs[distance] +=
		a == b ? (double) a->n * (a->n - 1) / 2 : (double) a->n * b->n;
	if (counter->list)
		simdup_list_pair(counter->list, a, b, distance, NULL, 0, 0);
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

/* Count the pairs of equal fingerprints, after which come the other pairs. */
static void
count_equal(PairCounter *counter)
{
	SimdupCellRows *c = counter->cells;
	SimdupGroups *groups = c->groups;
	SimdupStats *stats = counter->stats;

	if (c->contents != NULL)
	{
		counter->n_rows =
			simdup_alloc0(((Size) groups->rows->n + 1) * sizeof(uint32));
		for (uint32 row = 0; row < groups->rows->n; row++)
			counter->n_rows[c->cells.cell[row]]++;
	}
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		if (group.n < 2)
			continue;
		stats->exact_groups++;
		stats->exact_rows += group.n;
		count_pairs(counter, &group, &group, 0);
	}
}

/* Count clusters where their first rows are, so once. */
static void
count_clusters(SimdupStats *stats)
{
	const SimdupClusters *clusters = stats->clusters;

	for (uint32 row = 0; row < clusters->rows->n; row++)
		if (clusters->cluster[row] == row && clusters->size[row] > 1)
			simdup_count_cluster(stats, clusters->size[row]);
}

/* Count the rows of each value of one block, of 16 bits at most. */
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

	stats->n_blocks =
		Max(stats->options.max_distance + 1, SIMDUP_MIN_STAT_BLOCKS);
	for (int i = 0; i < stats->n_blocks; i++)
	{
		SimdupBlockStats *block = &stats->blocks[i];

		block->first_bit = simdup_block_start(i, stats->n_blocks);
		block->last_bit = simdup_block_start(i + 1, stats->n_blocks) - 1;
		compute_block(groups, block, counts);
	}
	pfree(counts);
}

/*
 * Estimate the pairs that chance alone makes from the fingerprints of rows at
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

double
simdup_repeat_share(const SimdupStats *stats)
{
	return stats->n_rows > 0
			   ? (double) simdup_repeats(stats) / (double) stats->n_rows
			   : 0;
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
		{"equal fingerprints", "clusters", stats->exact_groups},
		{"equal fingerprints", "rows in them", stats->exact_rows},
		{"clusters", "all", stats->near_groups},
		{"clusters", "rows in them", stats->near_rows},
		{"clusters", "rows of the largest", stats->largest},
	};

	memcpy(facts, all, sizeof(all));
}

void
simdup_compute_stats(SimdupGroups *groups, const SimdupOptions *options,
					 SimdupPairList *list, SimdupStats *stats)
{
	SimdupRows *rows = groups->rows;
	PairCounter counter = {stats, simdup_cells_begin(groups, options), NULL,
						   list};

	memset(stats, 0, sizeof(SimdupStats));
	stats->options = *options;
	stats->n_rows = (int64) rows->n + rows->n_null + rows->n_no_content;
	stats->n_null = rows->n_null;
	stats->n_no_content = rows->n_no_content;
	stats->n_distinct = groups->n;
	count_equal(&counter);
	counter.cells->also = count_pairs;
	counter.cells->also_arg = &counter;
	stats->clusters = simdup_find_clusters(counter.cells, options);
	if (counter.n_rows != NULL)
		simdup_free(counter.n_rows);
	count_clusters(stats);
	compute_blocks(groups, stats);
	expect_pairs(groups, stats);
}

static void
put(ReturnSetInfo *result, const char *section, const char *item, double value)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};

	values[0] = CStringGetTextDatum(section);
	values[1] = CStringGetTextDatum(item);
	values[2] = Float8GetDatum(rint(value * 100) / 100);
	simdup_put_result(result, values, nulls);
}

/* Put the numbers of one section. */
static void
put_facts(ReturnSetInfo *result, const SimdupStats *stats, const char *section)
{
	SimdupFact facts[SIMDUP_N_FACTS];

	simdup_stat_facts(stats, facts);
	for (int i = 0; i < SIMDUP_N_FACTS; i++)
		if (strcmp(facts[i].section, section) == 0)
			put(result, section, facts[i].item, (double) facts[i].value);
}

static void
put_sizes(ReturnSetInfo *result, const SimdupStats *stats)
{
	put_facts(result, stats, "clusters");
	for (int bin = 0; bin < SIMDUP_N_SIZE_BINS; bin++)
	{
		uint64 last = (uint64) 2 << bin;

		if (stats->size_bins[bin] == 0)
			continue;
		put(result, "clusters",
			bin == 0
				? "of 2 rows"
				: psprintf("of " UINT64_FORMAT " to " UINT64_FORMAT " rows",
						   last / 2 + 1, last),
			(double) stats->size_bins[bin]);
	}
}

static void
put_largest(ReturnSetInfo *result, SimdupKeys *keys, const SimdupStats *stats)
{
	SimdupListing listing;

	simdup_list_groups(stats, 0, &listing);
	for (int i = 0; i < Min(listing.n_groups, N_LARGEST); i++)
	{
		const SimdupListedGroup *group = &listing.groups[i];
		Datum key = simdup_keys_get(keys, group->first_row, 0);

		put(result, "largest clusters", text_to_cstring(DatumGetTextPP(key)),
			group->size);
	}
}

static void
put_blocks(ReturnSetInfo *result, const SimdupStats *stats)
{
	const char *section = "candidates per search";
	double sum = 0;

	for (int i = 0; i < stats->n_blocks; i++)
	{
		const SimdupBlockStats *block = &stats->blocks[i];

		put(result, section,
			psprintf("block %d of %d, bits %d to %d, with " INT64_FORMAT
					 " values, the largest of " INT64_FORMAT " rows",
					 i + 1, stats->n_blocks, block->first_bit, block->last_bit,
					 block->n_values, block->largest),
			block->expected);
		sum += block->expected;
	}
	put(result, section, "all blocks", sum);
}

/* Put the answer in one line: how many rows repeat another. */
static void
put_headline(ReturnSetInfo *result, const SimdupStats *stats)
{
	int64 repeats = simdup_repeats(stats);

	put(result, "headline",
		psprintf("%s of %s %s (%.1f %%) %s another; %s %s; largest %s",
				 simdup_grouped((double) repeats),
				 simdup_grouped((double) stats->n_rows),
				 stats->n_rows == 1 ? "row" : "rows",
				 100 * simdup_repeat_share(stats),
				 repeats == 1 ? "repeats" : "repeat",
				 simdup_grouped((double) stats->near_groups),
				 stats->near_groups == 1 ? "cluster" : "clusters",
				 simdup_grouped((double) stats->largest)),
		(double) repeats);
}

PG_FUNCTION_INFO_V1(simdup_summary);
Datum
simdup_summary(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupOptions options = simdup_options(fcinfo);
	SimdupRows *rows;
	SimdupGroups *groups;
	SimdupStats stats;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	rows = simdup_rows_begin(fcinfo, 1, &options);
	simdup_rows_as_text(rows, false);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_rows_tell_skipped(rows);
	groups = simdup_rows_group(rows);
	simdup_compute_stats(groups, &options, NULL, &stats);
	put_headline(result, &stats);
	put_facts(result, &stats, "rows");
	put_facts(result, &stats, "equal fingerprints");
	put_sizes(result, &stats);
	put_largest(result, rows->keys, &stats);
	for (int d = 0; d <= options.max_distance; d++)
		put(result, "pairs", psprintf("at distance %d", d), stats.pairs[d]);
	for (int d = 0; d <= options.max_distance; d++)
		put(result, "pairs by chance", psprintf("at distance %d", d),
			stats.by_chance[d]);
	put_blocks(result, &stats);
	simdup_groups_end(groups);
	return (Datum) 0;
}
