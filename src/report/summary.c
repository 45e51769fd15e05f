/*
 * summary.c
 *	  simdup_summary: a table's duplicates in rows for psql.
 */
#include "postgres.h"

#include "compat.h"

#include <math.h>

#include "utils/builtins.h"

#include "report/listing.h"
#include "server/arguments.h"

#define N_LARGEST 10

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

/* The numbers of one section. */
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
	put_facts(result, stats, "near groups");
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
	SimdupListing listing;

	simdup_list_groups(stats, 0, &listing);
	for (int i = 0; i < Min(listing.n_groups, N_LARGEST); i++)
	{
		const SimdupListedGroup *group = &listing.groups[i];
		Datum key = simdup_keys_get(keys, group->first_row, 0);

		put(result, "largest near groups", text_to_cstring(DatumGetTextPP(key)),
			group->size);
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
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupRows *rows;
	SimdupGroups *groups;
	SimdupStats stats;
	int max_distance;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(fcinfo, 1);
	rows = simdup_rows_begin(fcinfo, 1);
	simdup_rows_as_text(rows, false);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	groups = simdup_rows_group(rows);
	simdup_compute_stats(groups, max_distance, NULL, NULL, &stats);
	put(result, "headline",
		simdup_headline(&stats, "row", "rows", "group", "groups"),
		(double) simdup_repeats(&stats));
	put_facts(result, &stats, "rows");
	put_facts(result, &stats, "equal fingerprints");
	put_sizes(result, &stats);
	put_largest(result, rows->keys, &stats);
	for (int d = 0; d <= max_distance; d++)
		put(result, "pairs", psprintf("at distance %d", d), stats.pairs[d]);
	for (int d = 0; d <= max_distance; d++)
		put(result, "pairs by chance", psprintf("at distance %d", d),
			stats.by_chance[d]);
	put_blocks(result, &stats);
	simdup_groups_end(groups);
	return (Datum) 0;
}
