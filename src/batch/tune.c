/*
 * tune.c
 *	  simdup_tune: which distance to choose, by labels or without.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "batch/scores.h"
#include "core/hamming.h"
#include "core/statistics.h"
#include "server/arguments.h"
#include "server/catalog.h"
#include "server/query.h"
#include "type/simhash64.h"

typedef struct Tuning
{
	Oid fp_type;
	bool labelled;
	int64 n_pairs[2][SIMHASH64_BITS + 1]; /* false and true, by distance */
	int64 n_rows;
	int64 n_null; /* rows with a NULL */
	uint64 random;
	uint64 *sample; /* SIMDUP_SAMPLE_SIZE */
} Tuning;

static bool
column_is(TupleDesc columns, int i, Oid type)
{
	return TupleDescAttr(columns, i)->atttypid == type;
}

static bool
check_columns(void *arg, TupleDesc columns,
			  const char *argument pg_attribute_unused())
{
	Tuning *tuning = arg;

	tuning->labelled = columns->natts == 3;
	if (columns->natts == 2)
		return column_is(columns, 1, tuning->fp_type);
	return tuning->labelled && column_is(columns, 0, tuning->fp_type) &&
		   column_is(columns, 1, tuning->fp_type) &&
		   column_is(columns, 2, BOOLOID);
}

/* splitmix64: the same sample each time. */
static uint64
next_random(uint64 *state)
{
	uint64 z = (*state += UINT64CONST(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Every row has the same chance to stay in the sample (algorithm R). */
static void
sample_row(Tuning *tuning, uint64 fp)
{
	uint64 place = (uint64) tuning->n_rows++;

	if (place >= SIMDUP_SAMPLE_SIZE)
		place = next_random(&tuning->random) % (place + 1);
	if (place < SIMDUP_SAMPLE_SIZE)
		tuning->sample[place] = fp;
}

static void
receive(void *arg, TupleTableSlot *slot)
{
	Tuning *tuning = arg;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1] ||
		(tuning->labelled && (slot->tts_isnull[0] || slot->tts_isnull[2])))
	{
		tuning->n_null++;
		return;
	}
	if (tuning->labelled)
		tuning->n_pairs[DatumGetBool(slot->tts_values[2])]
					   [simdup_hamming64(DatumGetSimhash64(slot->tts_values[0]),
										 DatumGetSimhash64(
											 slot->tts_values[1]))]++;
	else
		sample_row(tuning, DatumGetSimhash64(slot->tts_values[1]));
}

static void
put_labelled(ReturnSetInfo *result, const Tuning *tuning, int max_distance)
{
	Datum values[SIMDUP_N_SCORES + 2];
	bool nulls[SIMDUP_N_SCORES + 2] = {false};
	int64 truth = 0;
	int64 found = 0;
	int64 both = 0;

	for (int d = 0; d <= SIMHASH64_BITS; d++)
		truth += tuning->n_pairs[1][d];
	nulls[SIMDUP_N_SCORES + 1] = true;
	for (int d = 0; d <= max_distance; d++)
	{
		found += tuning->n_pairs[0][d] + tuning->n_pairs[1][d];
		both += tuning->n_pairs[1][d];
		values[0] = Int32GetDatum(d);
		simdup_scores(found, truth, both, values + 1, nulls + 1);
		simdup_put_result(result, values, nulls);
	}
}

static void
put_unlabelled(ReturnSetInfo *result, const Tuning *tuning, int max_distance)
{
	Datum values[SIMDUP_N_SCORES + 2] = {0};
	bool nulls[SIMDUP_N_SCORES + 2];
	double chance[SIMHASH64_BITS + 1];
	double pairs = (double) tuning->n_rows * Max(tuning->n_rows - 1, 0) / 2;

	simdup_false_pair_chances(tuning->sample,
							  (size_t) Min(tuning->n_rows, SIMDUP_SAMPLE_SIZE),
							  chance);
	memset(nulls, true, sizeof(nulls));
	nulls[0] = nulls[SIMDUP_N_SCORES + 1] = false;
	for (int d = 0; d <= max_distance; d++)
	{
		values[0] = Int32GetDatum(d);
		values[SIMDUP_N_SCORES + 1] = Float8GetDatum(pairs * chance[d]);
		simdup_put_result(result, values, nulls);
	}
}

PG_FUNCTION_INFO_V1(simdup_tune);
Datum
simdup_tune(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupQuery query =
		{NULL, "query",
		 "two simhash64 and a boolean (labelled pairs), or a key and a simhash64",
		 "id, minhash64(content)"};
	int max_distance;
	Tuning *tuning;

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	max_distance = PG_GETARG_INT32(1);
	if (max_distance < 0 || max_distance > SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_distance must be between 0 and %d", SIMHASH64_BITS),
				errdetail("The distance given is %d.", max_distance));
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	tuning = palloc0(sizeof(Tuning));
	tuning->sample = palloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	tuning->fp_type = simdup_sibling_type(fcinfo->flinfo->fn_oid, "simhash64");
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 receive, tuning);
	if (tuning->labelled)
		put_labelled(result, tuning, max_distance);
	else
	{
		simdup_tell_skipped(tuning->n_null, 0, tuning->n_rows);
		put_unlabelled(result, tuning, max_distance);
	}
	return (Datum) 0;
}
