/*
 * pairs.c
 *	  simdup_pairs and simdup_new_pairs: every near pair of a query's rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/join.h"
#include "server/arguments.h"

typedef struct PairOutput
{
	SimdupFingerprints *fingerprints;
	ReturnSetInfo *result;
} PairOutput;

/*
 * Return one pair, if the contents resemble each other: first the row that comes
 * first in the query's order.
 */
static void
put_pair(PairOutput *output, uint32 x, uint32 y, int distance)
{
	SimdupRows *rows = output->fingerprints->rows;
	Datum values[4];
	bool nulls[4] = {false, false, false, rows->contents == NULL};

	CHECK_FOR_INTERRUPTS();
	if (rows->contents != NULL)
	{
		double resemblance =
			simdup_stored_texts_resemblance(rows->contents, x, y,
											rows->options.min_resemblance);

		if (resemblance < 0)
			return;
		values[3] = Float8GetDatum(resemblance);
	}
	values[0] = simdup_keys_get(rows->keys, Min(x, y), 0);
	values[1] = simdup_keys_get(rows->keys, Max(x, y), 1);
	values[2] = Int32GetDatum(distance);
	simdup_put_result(output->result, values, nulls);
}

/*
 * Put the pairs of two near fingerprints, or of one, but not those of old rows
 * with old rows: a SimdupFingerprintSink.
 */
static void
put_rows(void *arg, const SimdupFingerprint *a, const SimdupFingerprint *b,
		 int distance)
{
	PairOutput *output = arg;
	SimdupFingerprints *fingerprints = output->fingerprints;
	uint32 n_first = fingerprints->rows->n_first;

	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 x = simdup_row_at(fingerprints, a->start + i);

		for (uint32 j = a == b ? i + 1 : 0; j < b->n; j++)
		{
			uint32 y = simdup_row_at(fingerprints, b->start + j);

			if (x >= n_first && y >= n_first)
				break;
			put_pair(output, x, y, distance);
		}
	}
}

/* Put all pairs of the rows, and end the rows. */
static void
put_all_pairs(PairOutput *output, SimdupRows *rows)
{
	SimdupFingerprint fingerprint;
	int64 next = 0;

	output->fingerprints = simdup_rows_distinct(rows);
	simdup_progress_phase("writing equal rows", rows->n);
	while (simdup_fingerprints_next_equal(output->fingerprints, &next,
										  &fingerprint))
	{
		put_rows(output, &fingerprint, &fingerprint, 0);
		simdup_progress_done(fingerprint.start);
	}
	simdup_join_fingerprints(output->fingerprints, rows->options.max_distance,
							 put_rows, output);
	simdup_rows_end(rows);
}

/* Return the pairs of one query, or of new and old rows. */
static Datum
pairs_of(FunctionCallInfo fcinfo, int n_queries)
{
	PairOutput output = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, 0, n_queries))
		return (Datum) 0;
	rows = simdup_rows_begin(fcinfo, n_queries, SIMDUP_ROWS, &options);
	simdup_rows_read(rows, fcinfo);
	put_all_pairs(&output, rows);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_pairs);
/*
 * simdup_pairs(query [, key_type], max_distance, min_resemblance, w, unit,
 * params)
 */
Datum
simdup_pairs(PG_FUNCTION_ARGS)
{
	return pairs_of(fcinfo, 1);
}

PG_FUNCTION_INFO_V1(simdup_new_pairs);
/*
 * simdup_new_pairs(new_query, old_query [, key_type], max_distance,
 * min_resemblance, w, unit, params)
 */
Datum
simdup_new_pairs(PG_FUNCTION_ARGS)
{
	return pairs_of(fcinfo, 2);
}
