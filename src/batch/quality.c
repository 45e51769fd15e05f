/*
 * quality.c
 *	  simdup_tune: which distance to choose, by labels or without.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/compare/statistics.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "server/arguments.h"
#include "server/query.h"
#include "server/spill.h"
#include "type/simhash64.h"

/*
 * Precision, recall and F1 of found pairs.
 */

/* found, true, both, precision, recall, F1 */
#define N_SCORES 6

/* Make a column of a result: a part of a whole, NULL of nothing. */
static void
put_share(double part, double whole, Datum *value, bool *isnull)
{
	*isnull = !(whole > 0);
	*value = Float8GetDatum(*isnull ? 0 : part / whole);
}

/* Make the scores columns of a result. */
static void
put_scores(int64 found, int64 truth, int64 both, Datum *values, bool *nulls)
{
	double hits = (double) both;

	memset(nulls, 0, N_SCORES * sizeof(bool));
	values[0] = Int64GetDatum(found);
	values[1] = Int64GetDatum(truth);
	values[2] = Int64GetDatum(both);
	put_share(hits, (double) found, &values[3], &nulls[3]);
	put_share(hits, (double) truth, &values[4], &nulls[4]);
	put_share(2 * hits, (double) (found + truth), &values[5], &nulls[5]);
}

/* The columns of a result behind the distance and the scores. */
enum
{
	WEIGHTED_PRECISION = N_SCORES + 1,
	WEIGHTED_RECALL,
	EXPECTED_FALSE,
	RECOMMENDED,
	N_TUNED
};

/* Comparisons that estimate how many pairs are near: two seconds. */
#define MAX_COMPARED ((int64) 1 << 31)

/* The share of the pairs found that may be unrelated. */
#define FALSE_SHARE 0.02

typedef struct Tuning
{
	Oid fp_type;
	bool labelled;
	int64 n_pairs[3][SIMHASH64_BITS + 1]; /* false, true, without a label */
	SimdupTempFile *fps;
	int64 n_rows;
	int64 n_null;	/* rows with a NULL */
	uint64 *sample; /* SIMDUP_SAMPLE_SIZE */
} Tuning;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns,
			  const char *argument pg_attribute_unused())
{
	Tuning *tuning = arg;
	Oid types[3] = {InvalidOid};

	for (int i = 0; i < Min(columns->natts, 3); i++)
		types[i] = TupleDescAttr(columns, i)->atttypid;
	tuning->labelled = columns->natts == 3;
	return types[1] == tuning->fp_type &&
		   (tuning->labelled
				? types[0] == tuning->fp_type && types[2] == BOOLOID
				: columns->natts == 2);
}

/*
 * Sample a row. Every row has the same chance to stay (algorithm R). The sample is
 * the same each time.
 */
static void
sample_row(Tuning *tuning, uint64 fp)
{
	uint64 slot = (uint64) tuning->n_rows++;

	simdup_tempfile_append(tuning->fps, &fp, sizeof(fp));
	if (slot >= SIMDUP_SAMPLE_SIZE)
		slot = simdup_mix64(slot) % (slot + 1);
	if (slot < SIMDUP_SAMPLE_SIZE)
		tuning->sample[slot] = fp;
}

static void
receive(void *arg, TupleTableSlot *slot)
{
	Tuning *tuning = arg;

	if (slot->tts_isnull[1] || (tuning->labelled && slot->tts_isnull[0]))
		tuning->n_null++;
	else if (tuning->labelled)
		tuning->n_pairs
			[slot->tts_isnull[2] ? 2 : DatumGetBool(slot->tts_values[2])]
			[simdup_hamming64(DatumGetSimhash64(slot->tts_values[0]),
							  DatumGetSimhash64(slot->tts_values[1]))]++;
	else
		sample_row(tuning, DatumGetSimhash64(slot->tts_values[1]));
}

/*
 * Put the scores of each distance. The weighted ones take the labels at a distance
 * for all pairs at that distance.
 */
static void
put_labelled(ReturnSetInfo *result, const Tuning *tuning, int max_distance)
{
	int64 found[SIMHASH64_BITS + 1]; /* up to each distance */
	int64 both[SIMHASH64_BITS + 1];
	double weighted_found[SIMHASH64_BITS + 1];
	double weighted_both[SIMHASH64_BITS + 1];
	double truth;
	double best = 0;
	int recommended = -1;

	for (int d = 0; d <= SIMHASH64_BITS; d++)
	{
		int64 yes = tuning->n_pairs[1][d];
		int64 judged = yes + tuning->n_pairs[0][d];
		double pairs =
			judged == 0 ? 0 : (double) (judged + tuning->n_pairs[2][d]);

		found[d] = judged + (d > 0 ? found[d - 1] : 0);
		both[d] = yes + (d > 0 ? both[d - 1] : 0);
		weighted_found[d] = pairs + (d > 0 ? weighted_found[d - 1] : 0);
		weighted_both[d] = (double) yes / (double) Max(judged, 1) * pairs +
						   (d > 0 ? weighted_both[d - 1] : 0);
	}
	truth = weighted_both[SIMHASH64_BITS];
	for (int d = 0; d <= max_distance; d++)
	{
		double f1 = weighted_both[d] > 0
						? 2 * weighted_both[d] / (weighted_found[d] + truth)
						: 0;

		recommended = f1 > best ? d : recommended;
		best = Max(best, f1);
	}
	for (int d = 0; d <= max_distance; d++)
	{
		Datum values[N_TUNED] = {Int32GetDatum(d)};
		bool nulls[N_TUNED] = {[EXPECTED_FALSE] = true};

		put_scores(found[d], both[SIMHASH64_BITS], both[d], values + 1,
				   nulls + 1);
		put_share(weighted_both[d], weighted_found[d],
				  &values[WEIGHTED_PRECISION], &nulls[WEIGHTED_PRECISION]);
		put_share(weighted_both[d], truth, &values[WEIGHTED_RECALL],
				  &nulls[WEIGHTED_RECALL]);
		values[RECOMMENDED] = BoolGetDatum(d == recommended);
		simdup_put_result(result, values, nulls);
	}
}

/* Estimate the pairs within each distance from those of some rows with all rows. */
static void
estimate_pairs(const Tuning *tuning, double *pairs)
{
	int64 n = Min(tuning->n_rows, SIMDUP_SAMPLE_SIZE);
	uint64 fps[BLCKSZ / sizeof(uint64)];
	int64 counts[SIMHASH64_BITS + 1] = {0};

	n = Min(n, MAX_COMPARED / Max(tuning->n_rows, 1));
	for (int64 i = 0; n > 0 && i < tuning->n_rows; i += lengthof(fps))
	{
		int64 n_fps = Min(tuning->n_rows - i, (int64) lengthof(fps));

		CHECK_FOR_INTERRUPTS();
		simdup_tempfile_read(tuning->fps, i * (int64) sizeof(uint64), fps,
							 (size_t) n_fps * sizeof(uint64));
		for (int64 j = 0; j < n_fps; j++)
			for (int64 k = 0; k < n; k++)
				counts[simdup_hamming64(fps[j], tuning->sample[k])]++;
	}
	/* a row is no pair with itself, and a pair has two rows */
	counts[0] -= n;
	for (int d = 0; d <= SIMHASH64_BITS; d++)
	{
		counts[d] += d > 0 ? counts[d - 1] : 0;
		pairs[d] = (double) counts[d] * (double) tuning->n_rows /
				   (double) Max(n, 1) / 2;
	}
}

static void
put_unlabelled(ReturnSetInfo *result, const Tuning *tuning, int max_distance)
{
	double chance[SIMHASH64_BITS + 1];
	double near[SIMHASH64_BITS + 1];
	double pairs = (double) tuning->n_rows * Max(tuning->n_rows - 1, 0) / 2;
	int recommended = -1;

	simdup_false_pair_chances(tuning->sample,
							  (size_t) Min(tuning->n_rows, SIMDUP_SAMPLE_SIZE),
							  chance);
	estimate_pairs(tuning, near);
	for (int d = 0; d <= max_distance; d++)
		if (near[d] > 0 && pairs * chance[d] <= FALSE_SHARE * near[d])
			recommended = d;
	for (int d = 0; d <= max_distance; d++)
	{
		Datum values[N_TUNED] = {Int32GetDatum(d),
								 Int64GetDatum((int64) rint(near[d]))};
		bool nulls[N_TUNED];

		memset(nulls, true, sizeof(nulls));
		nulls[0] = nulls[1] = nulls[EXPECTED_FALSE] = nulls[RECOMMENDED] =
			false;
		values[EXPECTED_FALSE] = Float8GetDatum(pairs * chance[d]);
		values[RECOMMENDED] = BoolGetDatum(d == recommended);
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
	Tuning tuning = {0};

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	max_distance =
		simdup_check_range(PG_GETARG_INT32(1), 0, SIMHASH64_BITS,
						   "max_distance", "The distance given is %d.");
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	tuning.fps = simdup_tempfile_create();
	tuning.sample = palloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	tuning.fp_type = simdup_sibling_type(fcinfo->flinfo->fn_oid, "simhash64");
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 receive, &tuning);
	if (tuning.labelled)
		put_labelled(result, &tuning, max_distance);
	else
	{
		simdup_tell_skipped(tuning.n_null, 0, tuning.n_rows);
		put_unlabelled(result, &tuning, max_distance);
	}
	simdup_tempfile_close(tuning.fps);
	return (Datum) 0;
}
