/*
 * pairs.c
 *	  simdup_pairs and simdup_new_pairs: every near pair of a query's rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/join.h"
#include "batch/rows.h"
#include "server/progress.h"
#include "server/result.h"

typedef struct PairOutput
{
	SimdupRows *rows;
	ReturnSetInfo *result;
} PairOutput;

/* One result row; of two rows the one that comes first in query order is a. */
static void
put_pair(PairOutput *output, uint32 x, uint32 y, int distance)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};

	values[0] = simdup_row_key(output->rows, Min(x, y), 0);
	values[1] = simdup_row_key(output->rows, Max(x, y), 1);
	values[2] = Int32GetDatum(distance);
	simdup_put_result(output->result, values, nulls);
}

/* The rows [from, to) of a group with those of another. */
static void
put_product(PairOutput *output, const SimdupGroup *a, uint32 a_from,
			uint32 a_to, const SimdupGroup *b, uint32 b_from, uint32 b_to,
			int distance)
{
	uint32 i;
	uint32 j;

	for (i = a_from; i < a_to; i++)
	{
		uint32 x = simdup_row_number(output->rows, a->start + i);

		CHECK_FOR_INTERRUPTS();
		for (j = b_from; j < b_to; j++)
			put_pair(output, x, simdup_row_number(output->rows, b->start + j),
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

/* The same within one group, at distance 0. */
static void
put_equal_rows(PairOutput *output, const SimdupGroup *group)
{
	uint32 i;
	uint32 j;

	for (i = 0; i < group->n_first; i++)
	{
		uint32 x = simdup_row_number(output->rows, group->start + i);

		CHECK_FOR_INTERRUPTS();
		simdup_progress_done((int64) group->start + i);
		for (j = i + 1; j < group->n; j++)
			put_pair(output, x,
					 simdup_row_number(output->rows, group->start + j), 0);
	}
}

static void
put_all_pairs(PairOutput *output, int max_distance)
{
	SimdupRows *rows = output->rows;
	int64 i;

	simdup_rows_group(rows);
	simdup_progress_phase("writing equal rows", rows->n);
	for (i = 0; i < rows->n_groups; i++)
	{
		SimdupGroup group = simdup_rows_get_group(rows, i).group;

		if (group.n > 1)
			put_equal_rows(output, &group);
	}
	simdup_join_groups(rows, max_distance, put_near_groups, output);
	simdup_rows_end(rows);
}

PG_FUNCTION_INFO_V1(simdup_pairs);
Datum
simdup_pairs(PG_FUNCTION_ARGS)
{
	PairOutput output;
	int max_distance;

	output.result = simdup_begin_result(fcinfo);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(1));
	output.rows = simdup_rows_begin(fcinfo, 2);
	simdup_rows_read(output.rows, text_to_cstring(PG_GETARG_TEXT_PP(0)),
					 "query");
	put_all_pairs(&output, max_distance);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_new_pairs);
Datum
simdup_new_pairs(PG_FUNCTION_ARGS)
{
	PairOutput output;
	int max_distance;

	output.result = simdup_begin_result(fcinfo);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(2));
	output.rows = simdup_rows_begin(fcinfo, 3);
	simdup_rows_read(output.rows, text_to_cstring(PG_GETARG_TEXT_PP(0)),
					 "new_query");
	simdup_rows_read(output.rows, text_to_cstring(PG_GETARG_TEXT_PP(1)),
					 "old_query");
	put_all_pairs(&output, max_distance);
	return (Datum) 0;
}
