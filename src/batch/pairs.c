/*
 * pairs.c
 *	  simdup_pairs and simdup_new_pairs: every near pair of a query's rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/join.h"
#include "server/arguments.h"
#include "server/progress.h"
#include "server/result.h"

typedef struct PairOutput
{
	SimdupGroups *groups;
	SimdupKeys *keys;
	ReturnSetInfo *result;
} PairOutput;

/* Return one pair: first the row that comes first in the query's order. */
static void
put_pair(PairOutput *output, uint32 x, uint32 y, int distance)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};

	values[0] = simdup_keys_get(output->keys, Min(x, y), 0);
	values[1] = simdup_keys_get(output->keys, Max(x, y), 1);
	values[2] = Int32GetDatum(distance);
	simdup_put_result(output->result, values, nulls);
}

/* Each of some rows of group a with each of some rows of group b. */
static void
put_product(PairOutput *output, const SimdupGroup *a, uint32 a_from,
			uint32 a_to, const SimdupGroup *b, uint32 b_from, uint32 b_to,
			int distance)
{
	for (uint32 i = a_from; i < a_to; i++)
	{
		uint32 x = simdup_groups_row(output->groups, a->start + i);

		CHECK_FOR_INTERRUPTS();
		for (uint32 j = b_from; j < b_to; j++)
			put_pair(output, x, simdup_groups_row(output->groups, b->start + j),
					 distance);
	}
}

/* Two near groups: all their pairs but those of old rows with old rows. */
static void
put_near_groups(void *arg, const SimdupGroup *a, const SimdupGroup *b,
				int distance)
{
	put_product(arg, a, 0, a->n_first, b, 0, b->n, distance);
	put_product(arg, a, a->n_first, a->n, b, 0, b->n_first, distance);
}

/* The same for the rows of one group, which are at distance 0. */
static void
put_equal_rows(PairOutput *output, const SimdupGroup *group)
{
	for (uint32 i = 0; i < group->n_first; i++)
	{
		uint32 x = simdup_groups_row(output->groups, group->start + i);

		CHECK_FOR_INTERRUPTS();
		simdup_progress_done((int64) group->start + i);
		for (uint32 j = i + 1; j < group->n; j++)
			put_pair(output, x,
					 simdup_groups_row(output->groups, group->start + j), 0);
	}
}

static void
put_all_pairs(ReturnSetInfo *result, SimdupRows *rows, int max_distance)
{
	PairOutput output = {simdup_rows_group(rows), rows->keys, result};

	simdup_progress_phase("writing equal rows", rows->n);
	for (int64 i = 0; i < output.groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(output.groups, i);

		if (group.n > 1)
			put_equal_rows(&output, &group);
	}
	simdup_join_groups(output.groups, max_distance, "comparing",
					   put_near_groups, &output);
	simdup_groups_end(output.groups);
}

/* Both functions; the arguments begin with the queries and max_distance. */
static Datum
pairs_of(FunctionCallInfo fcinfo, int n_queries, const char *const *names)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	int max_distance;
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, n_queries + 1))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(n_queries));
	rows = simdup_rows_begin(fcinfo, n_queries);
	for (int i = 0; i < n_queries; i++)
		simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(i)), names[i]);
	put_all_pairs(result, rows, max_distance);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_pairs);
/* simdup_pairs(query, max_distance [, key_type], params) */
Datum
simdup_pairs(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"query"};

	return pairs_of(fcinfo, lengthof(names), names);
}

PG_FUNCTION_INFO_V1(simdup_new_pairs);
/* simdup_new_pairs(new_query, old_query, max_distance [, key_type], params) */
Datum
simdup_new_pairs(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"new_query", "old_query"};

	return pairs_of(fcinfo, lengthof(names), names);
}
