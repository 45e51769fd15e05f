/*
 * verified.c
 *	  simdup_verified_pairs: candidates by fingerprint, verified by resemblance.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/allpairs.h"
#include "core/group.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/session.h"
#include "shingles/documents.h"

typedef struct Verifier
{
	SimdupDocuments *documents;
	double min_resemblance;
	ReturnSetInfo *result;
	SimdupRowGroups groups; /* of documents, by fingerprint */
	int64 n_compared;		/* pairs of documents */
} Verifier;

/* Verify two documents whose fingerprints are near. */
static void
verify(Verifier *verifier, uint32 x, uint32 y, int distance)
{
	SimdupDocuments *documents = verifier->documents;
	uint32 a = Min(x, y);
	uint32 b = Max(x, y);
	double resemblance =
		simdup_document_resemblance(documents, a, b, verifier->min_resemblance);
	Datum values[4];
	bool nulls[4] = {false, false, false, false};

	if (resemblance < 0)
		return;
	values[0] = simdup_keys_get(documents->keys, a, 0);
	values[1] = simdup_keys_get(documents->keys, b, 1);
	values[2] = Int32GetDatum(distance);
	values[3] = Float8GetDatum(resemblance);
	simdup_put_result(verifier->result, values, nulls);
}

/* Verify all pairs of two groups, or of one with itself. */
static void
verify_groups(Verifier *verifier, uint32 x, uint32 y, int distance)
{
	const SimdupRowGroups *groups = &verifier->groups;

	for (uint32 i = groups->starts[x]; i < groups->starts[x + 1]; i++)
	{
		uint32 first = x == y ? i + 1 : groups->starts[y];

		for (uint32 j = first; j < groups->starts[y + 1]; j++)
		{
			CHECK_FOR_INTERRUPTS();
			verify(verifier, groups->numbers[i], groups->numbers[j], distance);
			simdup_progress_done(++verifier->n_compared);
		}
	}
}

/* Verify two groups of near fingerprints: the join's sink. */
static void
verify_near(void *arg, SimdupElement a, SimdupElement b)
{
	verify_groups(arg, (uint32) a.index, (uint32) b.index,
				  simdup_hamming64(a.fp, b.fp));
}

/* Group the documents, then verify the pairs of each near pair of groups. */
static void
verify_all(Verifier *verifier, int max_distance)
{
	SimdupDocuments *documents = verifier->documents;
	SimdupPairJoin *join = palloc0(sizeof(SimdupPairJoin));
	SimdupRowGroups groups = simdup_group_rows(documents->fps, documents->n);
	SimdupPairSet set;

	verifier->groups = groups;
	simdup_progress_phase("comparing texts", 0);
	for (uint32 i = 0; i < groups.n; i++)
		verify_groups(verifier, i, i, 0);
	set.n = groups.n;
	set.elements = simdup_alloc(set.n * sizeof(SimdupElement));
	set.scratch = simdup_alloc(set.n * sizeof(SimdupElement));
	for (uint32 i = 0; i < groups.n; i++)
		set.elements[i] = (SimdupElement){groups.fps[i], i};
	join->max_distance = max_distance;
	join->sink = verify_near;
	join->arg = verifier;
	simdup_pairs_self(join, set);
}

PG_FUNCTION_INFO_V1(simdup_verified_pairs);
/*
 * simdup_verified_pairs(query [, key_type], max_distance, min_resemblance, w,
 * unit, params)
 */
Datum
simdup_verified_pairs(PG_FUNCTION_ARGS)
{
	Verifier verifier = {.result = simdup_begin_result(fcinfo)};
	MemoryContext context;
	MemoryContext old;
	SimdupFoldedShingling shingling;
	int option = simdup_first_option(fcinfo, 1);
	int max_distance = simdup_check_max_distance(fcinfo, option);

	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option + 1, 3))
		return (Datum) 0;
	verifier.min_resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(option + 1), "min_resemblance");
	shingling = simdup_get_resemblance(PG_GETARG_INT32(option + 2),
									   PG_GETARG_TEXT_PP(option + 3));
	context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup verified pairs",
							  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	simdup_progress_begin("simdup_verified_pairs");
	verifier.documents = simdup_read_documents(fcinfo, shingling, true);
	if (verifier.documents->n > 0)
		verify_all(&verifier, max_distance);
	simdup_documents_end(verifier.documents);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return (Datum) 0;
}
