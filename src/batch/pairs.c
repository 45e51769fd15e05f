/*
 * pairs.c
 *	  simdup_pairs, simdup_new_pairs and simdup_piece_pairs: every near pair of
 *	  a query's rows, or those that a piece reports.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/join.h"
#include "batch/piece_pairs.h"
#include "server/arguments.h"
#include "server/session.h"

typedef struct PairOutput
{
	SimdupGroups *groups;
	SimdupKeys *keys;
	ReturnSetInfo *result;
	const SimdupPieces *pieces; /* NULL: of the whole table */
	uint32 piece;
} PairOutput;

/* Is it for another piece to return the pairs of these fingerprints? */
static bool
is_elsewhere(const PairOutput *output, uint64 a, uint64 b)
{
	return output->pieces != NULL &&
		   simdup_piece_of_pair(output->pieces, a, b) != output->piece;
}

/* Return one pair: first the row that comes first in the query's order. */
static void
put_pair(PairOutput *output, uint32 x, uint32 y, int distance)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};

	CHECK_FOR_INTERRUPTS();
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
	if (is_elsewhere(arg, a->fp, b->fp))
		return;
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

		simdup_progress_done((int64) group->start + i);
		for (uint32 j = i + 1; j < group->n; j++)
			put_pair(output, x,
					 simdup_groups_row(output->groups, group->start + j), 0);
	}
}

/* All pairs of the rows, and the end of the rows. */
static void
put_all_pairs(PairOutput *output, SimdupRows *rows, int max_distance)
{
	output->groups = simdup_rows_group(rows);
	output->keys = rows->keys;
	simdup_progress_phase("writing equal rows", rows->n);
	for (int64 i = 0; i < output->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(output->groups, i);

		if (group.n > 1 && !is_elsewhere(output, group.fp, group.fp))
			put_equal_rows(output, &group);
	}
	simdup_join_groups(output->groups, max_distance, "comparing",
					   put_near_groups, output);
	simdup_groups_end(output->groups);
}

/* Both functions; the arguments are the queries, key_type, max_distance and params. */
static Datum
pairs_of(FunctionCallInfo fcinfo, int n_queries, const char *const *names)
{
	PairOutput output = {.result = simdup_begin_result(fcinfo)};
	int max_distance =
		simdup_check_max_distance(fcinfo,
								  simdup_first_option(fcinfo, n_queries));
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, 0, n_queries))
		return (Datum) 0;
	rows = simdup_rows_begin(fcinfo, n_queries);
	for (int i = 0; i < n_queries; i++)
		simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(i)), names[i]);
	put_all_pairs(&output, rows, max_distance);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_pairs);
/* simdup_pairs(query [, key_type], max_distance, params) */
Datum
simdup_pairs(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"query"};

	return pairs_of(fcinfo, lengthof(names), names);
}

PG_FUNCTION_INFO_V1(simdup_new_pairs);
/* simdup_new_pairs(new_query, old_query [, key_type], max_distance, params) */
Datum
simdup_new_pairs(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"new_query", "old_query"};

	return pairs_of(fcinfo, lengthof(names), names);
}

PG_FUNCTION_INFO_V1(simdup_piece_pairs);
/* simdup_piece_pairs(query [, key_type], max_distance, piece, pieces, params) */
Datum
simdup_piece_pairs(PG_FUNCTION_ARGS)
{
	PairOutput output = {.result = simdup_begin_result(fcinfo)};
	int option = simdup_first_option(fcinfo, 1);
	int max_distance = simdup_check_max_distance(fcinfo, option);
	SimdupPieces pieces;
	SimdupRows *rows;

	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option + 1, 2))
		return (Datum) 0;
	simdup_check_pieces(&pieces, max_distance, PG_GETARG_INT32(option + 2));
	output.pieces = &pieces;
	output.piece = simdup_check_piece(&pieces, PG_GETARG_INT32(option + 1));
	rows = simdup_rows_begin(fcinfo, 1);
	simdup_rows_read_packed(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)),
							"query");
	put_all_pairs(&output, rows, max_distance);
	return (Datum) 0;
}
