/*
 * summary.c
 *	  simdup_summary: a table's duplicates in rows for psql.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "utils/builtins.h"

#include "report/stats.h"
#include "server/arguments.h"
#include "server/result.h"

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

static void
put_totals(ReturnSetInfo *result, const SimdupStats *stats)
{
	put(result, "rows", "all", (double) stats->n_rows);
	put(result, "rows", "with a fingerprint",
		(double) (stats->n_rows - stats->n_null));
	put(result, "rows", "without a fingerprint", (double) stats->n_null);
	put(result, "rows", "distinct fingerprints", (double) stats->n_distinct);
	put(result, "equal fingerprints", "groups", (double) stats->exact_groups);
	put(result, "equal fingerprints", "rows in them",
		(double) stats->exact_rows);
}

static void
put_sizes(ReturnSetInfo *result, const SimdupStats *stats)
{
	put(result, "near groups", "groups", (double) stats->near_groups);
	put(result, "near groups", "rows in them", (double) stats->near_rows);
	for (int bin = 0; bin < SIMDUP_N_SIZE_BINS; bin++)
	{
		uint64 last = (uint64) 2 << bin;

		if (stats->size_bins[bin] == 0)
			continue;
		put(result, "near groups",
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
	for (int i = 0; i < stats->n_largest; i++)
	{
		const SimdupLargeCluster *cluster = &stats->largest[i];
		Datum key = simdup_keys_get(keys, cluster->first_row, 0);

		put(result, "largest near groups", text_to_cstring(DatumGetTextPP(key)),
			cluster->size);
	}
}

static void
put_blocks(ReturnSetInfo *result, const SimdupStats *stats)
{
	const char *section = "candidates per search";

	for (int i = 0; i < stats->n_blocks; i++)
	{
		const SimdupBlockStats *block = &stats->blocks[i];

		put(result, section,
			psprintf("block %d of %d, bits %d to %d, with " INT64_FORMAT
					 " values, the largest of " INT64_FORMAT " rows",
					 i + 1, stats->n_blocks, block->first_bit, block->last_bit,
					 block->n_values, block->largest),
			block->expected);
	}
	put(result, section, "all blocks", simdup_expected_candidates(stats));
}

PG_FUNCTION_INFO_V1(simdup_summary);
Datum
simdup_summary(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int max_distance = simdup_check_max_distance(PG_GETARG_INT32(1));
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1);
	SimdupGroups *groups;
	SimdupStats stats;

	simdup_rows_as_text(rows, 0);
	simdup_rows_read(rows, query, "query");
	groups = simdup_rows_group(rows);
	simdup_compute_stats(groups, max_distance, &stats);
	put_totals(result, &stats);
	put_sizes(result, &stats);
	put_largest(result, rows->keys, &stats);
	for (int d = 0; d <= max_distance; d++)
		put(result, "pairs", psprintf("at distance %d", d), stats.pairs[d]);
	put_blocks(result, &stats);
	simdup_groups_end(groups);
	return (Datum) 0;
}
