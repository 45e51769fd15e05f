/*
 * join.c
 *	  All near pairs of a batch's fingerprints, in memory or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/join.h"
#include "core/fingerprint/hamming.h"
#include "joins/elements.h"
#include "server/progress.h"

typedef struct FingerprintJoin
{
	SimdupFingerprints *fingerprints;
	/* an element's index is that of its fingerprint, or without a sink its first row */
	SimdupFingerprintSink sink;
	SimdupRowPairSink row_sink;
	void *arg;
	SimdupElementJoin elements;
	/* progress: fingerprints of the scopes before, and of this one */
	int64 n_done;
	int64 n_scope;
} FingerprintJoin;

static void
receive_pair(void *arg, SimdupElement a, SimdupElement b)
{
	FingerprintJoin *join = arg;
	int distance = simdup_hamming64(a.fp, b.fp);
	SimdupFingerprint fingerprint_a;
	SimdupFingerprint fingerprint_b;

	if (join->sink == NULL)
	{
		join->row_sink(join->arg, (uint32) a.index, (uint32) b.index,
					   (uint32) distance);
		return;
	}
	fingerprint_a = simdup_fingerprint_at(join->fingerprints, (int64) a.index);
	fingerprint_b = simdup_fingerprint_at(join->fingerprints, (int64) b.index);
	join->sink(join->arg, &fingerprint_a, &fingerprint_b, distance);
}

static void
show_share(void *arg, double done)
{
	FingerprintJoin *join = arg;

	simdup_progress_look(join->n_done +
						 (int64) ((double) join->n_scope * done));
}

/* Return the index of a fingerprint's element. */
static uint64
element_index(const FingerprintJoin *join, int64 i)
{
	SimdupFingerprints *fingerprints = join->fingerprints;

	if (join->sink != NULL)
		return (uint64) i;
	return simdup_row_at(fingerprints,
						 simdup_fingerprint_at(fingerprints, i).start);
}

/* Join the fingerprints of one scope. */
static void
join_scope(FingerprintJoin *join, uint32 scope)
{
	SimdupFingerprints *fingerprints = join->fingerprints;
	SimdupElement *in_memory = fingerprints->in_memory.elements;
	int64 from = fingerprints->scope_starts[scope];
	int64 end = fingerprints->scope_starts[scope + 1];

	CHECK_FOR_INTERRUPTS();
	join->n_scope = end - from;
	if (end - from < 2)
		return;
	if (fingerprints->fingerprint_file == NULL)
	{
		/* these have the fingerprint's index, until a join of first rows */
		if (join->sink == NULL || fingerprints->has_first_rows)
			for (int64 i = from; i < end; i++)
				in_memory[i] = (SimdupElement){fingerprints->in_memory.fps[i],
											   element_index(join, i)};
		simdup_elements_join_these(&join->elements, in_memory + from,
								   end - from);
	}
	else
	{
		for (int64 i = from; i < end; i++)
			simdup_elements_add(&join->elements,
								simdup_fingerprint_at(fingerprints, i).fp,
								element_index(join, i));
		simdup_elements_join(&join->elements);
	}
	join->n_done += join->n_scope;
}

/* Join all scopes. */
static void
join_scopes(FingerprintJoin *join, int max_distance)
{
	SimdupFingerprints *fingerprints = join->fingerprints;

	simdup_progress_phase(fingerprints->was_joined ? "comparing again"
												   : "comparing",
						  fingerprints->n);
	fingerprints->was_joined = true;
	if (max_distance == 0 || fingerprints->n < 2)
		return;
	join->elements.capacity = simdup_elements_in(fingerprints->rows->budget);
	join->elements.pairs = (SimdupPairJoin){.max_distance = max_distance,
											.sink = receive_pair,
											.progress = show_share,
											.arg = join,
											.helpers = simdup_workers()};
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
		join_scope(join, scope);
	fingerprints->has_first_rows =
		fingerprints->fingerprint_file == NULL && join->sink == NULL;
	simdup_elements_end(&join->elements);
}

void
simdup_join_fingerprints(SimdupFingerprints *fingerprints, int max_distance,
						 SimdupFingerprintSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.sink = sink,
							.arg = arg};

	join_scopes(&join, max_distance);
}

void
simdup_join_first_rows(SimdupFingerprints *fingerprints, int max_distance,
					   SimdupRowPairSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.row_sink = sink,
							.arg = arg};

	join_scopes(&join, max_distance);
}
