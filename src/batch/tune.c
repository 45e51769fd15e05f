/*
 * tune.c
 *	  simdup_tune: which distance to choose for a source, without labels.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "miscadmin.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "server/source.h"
#include "server/spill.h"
#include "type/simhash64.h"

/* Comparisons that estimate how many pairs are near: two seconds. */
#define MAX_COMPARED ((int64) 1 << 31)

/* The share of the pairs found that may be unrelated. */
#define FALSE_SHARE 0.02

typedef struct Tuning
{
	int fp; /* column */
	SimdupTempFile *fps;
	int64 n_rows;
	int64 n_null;	/* rows without a fingerprint */
	uint64 *sample; /* SIMDUP_SAMPLE_SIZE */
} Tuning;

/*
 * Sample a row: a SimdupRowSink. Every row has the same chance to stay (algorithm
 * R). The sample is the same each time.
 */
static void
sample_row(void *arg, TupleTableSlot *slot)
{
	Tuning *tuning = arg;
	uint64 fp;
	uint64 place;

	if (slot->tts_isnull[tuning->fp])
	{
		tuning->n_null++;
		return;
	}
	fp = DatumGetSimhash64(slot->tts_values[tuning->fp]);
	place = (uint64) tuning->n_rows++;
	simdup_tempfile_append(tuning->fps, &fp, sizeof(fp));
	if (place >= SIMDUP_SAMPLE_SIZE)
		place = simdup_mix64(place) % (place + 1);
	if (place < SIMDUP_SAMPLE_SIZE)
		tuning->sample[place] = fp;
}

/* Estimate the pairs within each distance from those of some rows with all rows. */
static void
estimate_pairs(const Tuning *tuning, double *pairs)
{
	int64 n = Min(tuning->n_rows, SIMDUP_SAMPLE_SIZE);
	uint64 fps[BLCKSZ / sizeof(uint64)];
	int64 counts[SIMHASH64_BITS + 1] = {0};

	n = Min(n, Max(MAX_COMPARED / Max(tuning->n_rows, 1), 1));
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
put_distances(ReturnSetInfo *result, const Tuning *tuning, int max_distance)
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
		if (rint(near[d]) > 0 && pairs * chance[d] <= FALSE_SHARE * near[d])
			recommended = d;
	for (int d = 0; d <= max_distance; d++)
	{
		Datum values[4] = {Int32GetDatum(d),
						   Int64GetDatum((int64) rint(near[d])),
						   Float8GetDatum(pairs * chance[d]),
						   BoolGetDatum(d == recommended)};

		simdup_put_result(result, values, NULL);
	}
}

PG_FUNCTION_INFO_V1(simdup_tune);
/* Return simdup_tune(source, max_distance). */
Datum
simdup_tune(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Tuning tuning = {0};
	SimdupSource source;
	int max_distance;

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	max_distance = simdup_check_range(PG_GETARG_INT32(1), 0, SIMHASH64_BITS,
									  "max_distance");
	source = simdup_source_open(fcinfo, PG_GETARG_OID(0),
								SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_KEY) |
									SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_FP));
	tuning.fp = source.place[SIMDUP_SOURCE_FP];
	tuning.fps = simdup_tempfile_create(0);
	tuning.sample = palloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	simdup_source_read(&source, sample_row, &tuning);
	if (tuning.n_null > 0)
		ereport(NOTICE, errmsg_plural("skipped %lld row without a fingerprint",
									  "skipped %lld rows without a fingerprint",
									  (unsigned long) tuning.n_null,
									  (long long) tuning.n_null));
	put_distances(result, &tuning, max_distance);
	simdup_tempfile_close(tuning.fps);
	return (Datum) 0;
}
