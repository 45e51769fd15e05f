/*
 * fingerprints.c
 *	  The distinct fingerprints of a batch, by scope, each with its rows, and the
 *	  near pairs of them.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/rows.h"
#include "core/fingerprint/hamming.h"
#include "pairs/elements.h"

/* Distinct fingerprints */

/* Create a file of at most an item of this size for each row. */
static SimdupTempFile *
create_file(const SimdupRows *rows, Size size)
{
	SimdupTempFile *file = simdup_tempfile_create();

	/* 64 bytes a row are enough for all: 20 for both files, 44 for the join */
	simdup_tempfile_cache(file, (Size) rows->budget / 64 * size,
						  (Size) rows->n * size);
	return file;
}

/* Store a fingerprint after its last row, if it has any. */
static void
end_fingerprint(SimdupFingerprints *fingerprints,
				const SimdupFingerprint *fingerprint)
{
	if (fingerprint->n == 0)
		return;
	simdup_tempfile_append(fingerprints->fingerprint_file, fingerprint,
						   sizeof(*fingerprint));
	fingerprints->n++;
}

/* Store the sorted rows: their numbers, and the fingerprints. */
static void
store_sorted(SimdupFingerprints *fingerprints, SimdupPairSort *sort)
{
	SimdupFingerprint fingerprint = {0};
	uint32 position = 0;
	uint32 n_begun = 0; /* scopes */
	SimdupSortItem sorted[512];
	uint32 numbers[lengthof(sorted)];
	Size n;

	while ((n = simdup_pairsort_get_list(sort, sorted, lengthof(sorted))) > 0)
	{
		for (Size i = 0; i < n; i++, position++)
		{
			uint64 scope = sorted[i].value >> 32;
			uint64 fp = sorted[i].value << 32 | sorted[i].row >> 32;

			numbers[i] = (uint32) sorted[i].row;
			if (scope >= n_begun || fp != fingerprint.fp)
			{
				end_fingerprint(fingerprints, &fingerprint);
				fingerprint = (SimdupFingerprint){.fp = fp, .start = position};
			}
			while (n_begun <= scope)
				fingerprints->scope_starts[n_begun++] =
					(uint32) fingerprints->n;
			fingerprint.n++;
		}
		simdup_tempfile_append(fingerprints->number_file, numbers,
							   n * sizeof(uint32));
		simdup_progress_done(position);
	}
	end_fingerprint(fingerprints, &fingerprint);
	while (n_begun <= fingerprints->n_scopes)
		fingerprints->scope_starts[n_begun++] = (uint32) fingerprints->n;
}

SimdupFingerprints *
simdup_rows_distinct(SimdupRows *rows)
{
	SimdupFingerprints *fingerprints = palloc0(sizeof(SimdupFingerprints));

	simdup_progress_phase("finding equal fingerprints", rows->n);
	fingerprints->rows = rows;
	rows->distinct = fingerprints;
	fingerprints->n_scopes =
		rows->scopes ? simdup_keyids_count(rows->scopes) + 1 : 1;
	fingerprints->scope_starts =
		simdup_alloc(((Size) fingerprints->n_scopes + 1) * sizeof(uint32));
	if (rows->contents != NULL)
		simdup_stored_texts_finish(rows->contents, (Size) rows->budget * 3 / 8);
	fingerprints->number_file = create_file(rows, sizeof(uint32));
	fingerprints->fingerprint_file =
		create_file(rows, sizeof(SimdupFingerprint));
	simdup_pairsort_perform(rows->sort);
	store_sorted(fingerprints, rows->sort);
	simdup_pairsort_end(rows->sort);
	rows->sort = NULL;
	fingerprints->numbers = simdup_tempfile_bytes(fingerprints->number_file);
	fingerprints->in_memory =
		simdup_tempfile_bytes(fingerprints->fingerprint_file);
	return fingerprints;
}

SimdupFingerprint
simdup_fingerprint_at(SimdupFingerprints *fingerprints, int64 index)
{
	SimdupFingerprint fingerprint;

	if (fingerprints->in_memory != NULL)
		return fingerprints->in_memory[index];
	simdup_tempfile_read(fingerprints->fingerprint_file,
						 index * (int64) sizeof(fingerprint), &fingerprint,
						 sizeof(fingerprint));
	return fingerprint;
}

bool
simdup_fingerprints_next_equal(SimdupFingerprints *fingerprints, int64 *next,
							   SimdupFingerprint *fingerprint)
{
	/* often no two rows are equal */
	if (fingerprints->n == fingerprints->rows->n)
		return false;
	while (*next < fingerprints->n)
	{
		CHECK_FOR_INTERRUPTS();
		*fingerprint = simdup_fingerprint_at(fingerprints, (*next)++);
		if (fingerprint->n > 1)
			return true;
	}
	return false;
}

void
simdup_fingerprints_by_row(SimdupFingerprints *fingerprints, uint64 *fps,
						   uint32 *scopes)
{
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

	if (fingerprints->numbers != NULL)
		return fingerprints->numbers[position];
	simdup_tempfile_read(fingerprints->number_file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}

/* Near pairs */

typedef struct FingerprintJoin
{
	SimdupFingerprints *fingerprints;
	SimdupSideOf side_of; /* NULL: a join of all with all */
	SimdupRowPairSink sink;
	void *arg;
	SimdupElementJoin elements; /* an element's index is its first row */
	int64 n_done;				/* fingerprints of the scopes before */
	int64 n_scope;
} FingerprintJoin;

static void
receive_pair(void *arg, SimdupElement a, SimdupElement b)
{
	FingerprintJoin *join = arg;

	/* of a cross join, either may be of the first side */
	if ((a.index & SIMDUP_SECOND_SET) != 0)
	{
		SimdupElement swap = a;

		a = b;
		b = swap;
	}
	join->sink(join->arg, (uint32) a.index, (uint32) b.index,
			   (uint32) simdup_hamming64(a.fp, b.fp));
}

static void
show_share(void *arg, double done)
{
	const FingerprintJoin *join = arg;
	const SimdupFingerprints *f = join->fingerprints;
	double part = simdup_elements_share(&join->elements, done);
	double share =
		((double) join->n_done + (double) join->n_scope * part) / (double) f->n;

	simdup_progress_poll((int64) (f->shown + share * (f->show - f->shown)));
}

void
simdup_show_join(SimdupFingerprints *fingerprints, double share)
{
	if (fingerprints->show == 0)
		simdup_progress_phase("comparing", fingerprints->rows->n);
	fingerprints->shown = fingerprints->show;
	fingerprints->show = share * fingerprints->rows->n;
}

/* Join the fingerprints of one scope. */
static void
join_scope(FingerprintJoin *join, uint32 scope)
{
	SimdupFingerprints *fingerprints = join->fingerprints;
	int64 from = fingerprints->scope_starts[scope];
	int64 end = fingerprints->scope_starts[scope + 1];

	join->n_scope = end - from;
	for (int64 i = from; i < end; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(fingerprints, i);
		uint32 row = simdup_row_at(fingerprints, fingerprint.start);
		int sides = join->side_of == NULL ? SIMDUP_FIRST_SIDE
										  : join->side_of(join->arg, row);

		CHECK_FOR_INTERRUPTS();
		if ((sides & SIMDUP_FIRST_SIDE) != 0)
			simdup_elements_add(&join->elements, fingerprint.fp, row);
		if ((sides & SIMDUP_SECOND_SIDE) != 0)
			simdup_elements_add(&join->elements, fingerprint.fp,
								row | SIMDUP_SECOND_SET);
	}
	simdup_elements_join(&join->elements);
	join->n_done += join->n_scope;
}

void
simdup_join_fingerprints(SimdupFingerprints *fingerprints, int max_distance,
						 SimdupSideOf side_of, SimdupRowPairSink sink,
						 void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.side_of = side_of,
							.sink = sink,
							.arg = arg,
							.elements = {.cross = side_of != NULL}};
	const uint32 *starts = fingerprints->scope_starts;
	uint32 n_scopes = fingerprints->n_scopes;
	Size most = 0; /* fingerprints of a scope */

	if (fingerprints->show == 0)
		simdup_show_join(fingerprints, 1);
	if (max_distance == 0 || fingerprints->n < 2)
		return;
	join.elements.capacity = simdup_elements_in(fingerprints->rows->budget);
	join.elements.pairs = (SimdupPairJoin){.max_distance = max_distance,
										   .sink = receive_pair,
										   .progress = show_share,
										   .arg = &join,
										   .helpers = simdup_workers()};
	for (uint32 scope = 0; scope < n_scopes; scope++)
		most = Max(most, starts[scope + 1] - starts[scope]);
	if (side_of != NULL) /* some are on both sides */
		most *= 2;
	join.elements.room = Min(most, (Size) join.elements.capacity);
	join.elements.elements =
		simdup_alloc(join.elements.room * sizeof(SimdupElement));
	for (uint32 scope = 0; scope < n_scopes; scope++)
		join_scope(&join, scope);
	simdup_elements_end(&join.elements);
}
