/*
 * fingerprints.c
 *	  The distinct fingerprints of a batch, by scope, each with its rows, in memory
 *	  or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/rows.h"
#include "core/host.h"

/* Write the sorted rows to two files: row numbers, and fingerprints. */
static void
distinct_on_disk(SimdupFingerprints *fingerprints)
{
	SimdupRows *rows = fingerprints->rows;
	Size n_scopes = fingerprints->n_scopes;
	uint32 *scope_starts = simdup_alloc0((n_scopes + 1) * sizeof(uint32));
	SimdupFingerprint fingerprint = {0};
	uint64 last = 0; /* the first word before */
	uint32 position = 0;
	uint64 high;
	uint64 low;

	fingerprints->number_file = simdup_tempfile_create();
	fingerprints->fingerprint_file = simdup_tempfile_create();
	simdup_pairsort_perform(rows->sort);
	while (simdup_pairsort_get(rows->sort, &high, &low))
	{
		uint32 number = (uint32) low;
		uint64 fp = high << 32 | low >> 32;

		simdup_tempfile_append(fingerprints->number_file, &number,
							   sizeof(number));
		if (position == 0 || high != last || fp != fingerprint.fp)
		{
			if (position > 0)
				simdup_tempfile_append(fingerprints->fingerprint_file,
									   &fingerprint, sizeof(fingerprint));
			fingerprint = (SimdupFingerprint){.fp = fp, .start = position};
			scope_starts[(high >> 32) + 1]++;
		}
		last = high;
		fingerprint.n++;
		simdup_progress_done(++position);
	}
	if (position > 0)
		simdup_tempfile_append(fingerprints->fingerprint_file, &fingerprint,
							   sizeof(fingerprint));
	for (uint32 scope = 0; scope < n_scopes; scope++)
		scope_starts[scope + 1] += scope_starts[scope];
	fingerprints->n = scope_starts[n_scopes];
	fingerprints->scope_starts = scope_starts;
	simdup_pairsort_end(rows->sort);
	rows->sort = NULL;
}

/* Load the fingerprints if they fit in memory, because many rows are equal. */
static void
load_fingerprints(SimdupFingerprints *fingerprints)
{
	SimdupDistinctFingerprints *in_memory = &fingerprints->in_memory;
	Size n = (Size) fingerprints->n;

	if (fingerprints->n * SIMDUP_FINGERPRINT_BYTES >
		fingerprints->rows->row_budget)
		return;
	in_memory->n = (uint32) n;
	in_memory->fps = simdup_alloc((n + 1) * sizeof(uint64));
	in_memory->starts = simdup_alloc((n + 1) * sizeof(uint32));
	in_memory->elements = simdup_alloc((n + 1) * sizeof(SimdupElement));
	for (Size i = 0; i < n; i++)
	{
		SimdupFingerprint fingerprint =
			simdup_fingerprint_at(fingerprints, (int64) i);

		CHECK_FOR_INTERRUPTS();
		in_memory->fps[i] = fingerprint.fp;
		in_memory->starts[i] = fingerprint.start;
		in_memory->elements[i] = (SimdupElement){fingerprint.fp, i};
	}
	in_memory->starts[n] = fingerprints->rows->n;
	simdup_tempfile_close(fingerprints->fingerprint_file);
	fingerprints->fingerprint_file = NULL;
}

SimdupFingerprints *
simdup_rows_distinct(SimdupRows *rows)
{
	SimdupFingerprints *fingerprints = palloc0(sizeof(SimdupFingerprints));

	simdup_progress_phase("finding equal fingerprints", rows->n);
	fingerprints->rows = rows;
	rows->distinct = fingerprints;
	fingerprints->n_scopes =
		rows->scopes ? simdup_keynumbers_count(rows->scopes) + 1 : 1;
	if (rows->contents != NULL)
		simdup_stored_texts_finish(rows->contents, (Size) rows->budget / 4);
	if (rows->sort)
	{
		distinct_on_disk(fingerprints);
		load_fingerprints(fingerprints);
	}
	else
	{
		fingerprints->in_memory =
			simdup_distinct_fingerprints(rows->fps, rows->scope,
										 fingerprints->n_scopes, rows->n);
		fingerprints->n = fingerprints->in_memory.n;
		fingerprints->scope_starts = fingerprints->in_memory.scope_starts;
		rows->fps = NULL;
		simdup_free(rows->scope);
		rows->scope = NULL;
	}
	return fingerprints;
}

SimdupFingerprint
simdup_fingerprint_at(SimdupFingerprints *fingerprints, int64 index)
{
	const SimdupDistinctFingerprints *in_memory = &fingerprints->in_memory;
	SimdupFingerprint fingerprint;
	uint32 start;

	if (fingerprints->fingerprint_file)
	{
		simdup_tempfile_read(fingerprints->fingerprint_file,
							 index * (int64) sizeof(fingerprint), &fingerprint,
							 sizeof(fingerprint));
		return fingerprint;
	}
	start = in_memory->starts[index];
	/* a copy would wait until what was written before is in the cache */
	return (SimdupFingerprint){.fp = in_memory->fps[index],
							   .start = start,
							   .n = in_memory->starts[index + 1] - start};
}

bool
simdup_fingerprints_next_equal(SimdupFingerprints *fingerprints, int64 *next,
							   SimdupFingerprint *fingerprint)
{
	const uint32 *starts = fingerprints->in_memory.starts;

	while (*next < fingerprints->n)
	{
		int64 i = (*next)++;

		CHECK_FOR_INTERRUPTS();
		if (fingerprints->fingerprint_file == NULL &&
			starts[i + 1] - starts[i] == 1)
			continue;
		*fingerprint = simdup_fingerprint_at(fingerprints, i);
		if (fingerprint->n > 1)
			return true;
	}
	return false;
}

void
simdup_fingerprints_by_row(SimdupFingerprints *fingerprints,
						   const uint8 *wanted, uint64 *fps, uint32 *scopes)
{
	const uint32 *numbers = fingerprints->in_memory.numbers; /* NULL: on disk */
	uint32 n_rows = fingerprints->rows->n;

	for (int64 i = 0, scope = 0; i < fingerprints->n; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		uint32 end = fingerprint.start + fingerprint.n;

		CHECK_FOR_INTERRUPTS();
		while (i >= fingerprints->scope_starts[scope + 1])
			scope++;
		for (uint32 j = fingerprint.start; j < end; j++)
		{
			uint32 row = simdup_row_at(fingerprints, j);

			if (wanted != NULL)
			{
				if (numbers != NULL && j + SIMDUP_AHEAD < n_rows)
					__builtin_prefetch(&wanted[numbers[j + SIMDUP_AHEAD] / 8]);
				if (!simdup_get_bit(wanted, row))
					continue;
			}
			fps[row] = fingerprint.fp;
			if (scopes != NULL)
				scopes[row] = (uint32) scope;
		}
	}
}

uint32
simdup_row_at(SimdupFingerprints *fingerprints, uint32 position)
{
	uint32 number;

	if (fingerprints->in_memory.numbers)
		return fingerprints->in_memory.numbers[position];
	simdup_tempfile_read(fingerprints->number_file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}
