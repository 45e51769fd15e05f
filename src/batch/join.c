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
#include "server/query.h"

/* The index of an element is that of its fingerprint. */
typedef struct FingerprintJoin
{
	SimdupFingerprints *fingerprints;
	SimdupFingerprintSink sink;
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
	SimdupFingerprint fingerprint_a =
		simdup_fingerprint_at(join->fingerprints, (int64) a.index);
	SimdupFingerprint fingerprint_b =
		simdup_fingerprint_at(join->fingerprints, (int64) b.index);

	join->sink(join->arg, &fingerprint_a, &fingerprint_b,
			   simdup_hamming64(a.fp, b.fp));
}

static void
show_share(void *arg, double done)
{
	FingerprintJoin *join = arg;

	simdup_progress_look(join->n_done +
						 (int64) ((double) join->n_scope * done));
}

/* Join the fingerprints of one scope. */
static void
join_scope(FingerprintJoin *join, uint32 scope)
{
	SimdupFingerprints *fingerprints = join->fingerprints;
	int64 from = fingerprints->scope_starts[scope];
	int64 end = fingerprints->scope_starts[scope + 1];

	CHECK_FOR_INTERRUPTS();
	join->n_scope = end - from;
	if (end - from < 2)
		return;
	if (fingerprints->fingerprint_file == NULL)
		simdup_elements_join_these(&join->elements,
								   fingerprints->in_memory.elements + from,
								   end - from);
	else
	{
		for (int64 i = from; i < end; i++)
			simdup_elements_add(&join->elements,
								simdup_fingerprint_at(fingerprints, i).fp,
								(uint64) i);
		simdup_elements_join(&join->elements);
	}
	join->n_done += join->n_scope;
}

void
simdup_join_fingerprints(SimdupFingerprints *fingerprints, int max_distance,
						 SimdupFingerprintSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.sink = sink,
							.arg = arg};

	simdup_progress_phase("comparing", fingerprints->n);
	if (max_distance == 0 || fingerprints->n < 2)
		return;
	join.elements.capacity = simdup_elements_in(fingerprints->rows->budget / 2);
	join.elements.pairs = (SimdupPairJoin){.max_distance = max_distance,
										   .sink = receive_pair,
										   .progress = show_share,
										   .arg = &join,
										   .helpers = simdup_workers()};
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
		join_scope(&join, scope);
	simdup_elements_end(&join.elements);
}
