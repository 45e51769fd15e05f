/*
 * verified.c
 *	  simdup_verified_pairs: candidates by fingerprint, verified by
 *	  resemblance.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/allpairs.h"
#include "core/group.h"
#include "core/hamming.h"
#include "server/arguments.h"
#include "server/result.h"
#include "shingles/documents.h"

/* Documents by fingerprint: group i is numbers[starts[i], starts[i + 1]). */
typedef struct Verifier
{
	SimdupDocuments *documents;
	double min_resemblance;
	ReturnSetInfo *result;
	uint32 *numbers;
	uint64 *group_fps; /* ascending */
	uint32 *starts;
	uint32 n_groups;
} Verifier;

static void *
alloc_words(const Verifier *verifier, Size width)
{
	return MemoryContextAllocHuge(verifier->documents->context,
								  ((Size) verifier->documents->n + 1) * width);
}

static void
group_documents(Verifier *verifier)
{
	uint32 n = verifier->documents->n;
	uint64 *fps = alloc_words(verifier, sizeof(uint64));
	uint64 *fp_scratch = alloc_words(verifier, sizeof(uint64));
	uint32 *scratch = alloc_words(verifier, sizeof(uint32));

	verifier->numbers = alloc_words(verifier, sizeof(uint32));
	verifier->starts = alloc_words(verifier, sizeof(uint32));
	memcpy(fps, verifier->documents->fps, (Size) n * sizeof(uint64));
	for (uint32 i = 0; i < n; i++)
		verifier->numbers[i] = i;
	simdup_sort_rows(fps, verifier->numbers, fp_scratch, scratch, n);
	for (uint32 i = 0; i < n; i++)
		if (i == 0 || fps[i] != fps[i - 1])
		{
			fp_scratch[verifier->n_groups] = fps[i];
			verifier->starts[verifier->n_groups++] = i;
		}
	verifier->starts[verifier->n_groups] = n;
	verifier->group_fps = fp_scratch;
	pfree(fps);
	pfree(scratch);
}

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

/* All pairs of two groups, or of one with itself. */
static void
verify_groups(Verifier *verifier, uint32 x, uint32 y, int distance)
{
	for (uint32 i = verifier->starts[x]; i < verifier->starts[x + 1]; i++)
	{
		uint32 first = x == y ? i + 1 : verifier->starts[y];

		for (uint32 j = first; j < verifier->starts[y + 1]; j++)
		{
			CHECK_FOR_INTERRUPTS();
			verify(verifier, verifier->numbers[i], verifier->numbers[j],
				   distance);
		}
	}
}

/* The join's sink: two groups of near fingerprints. */
static void
verify_near(void *arg, SimdupElement a, SimdupElement b)
{
	verify_groups(arg, (uint32) a.index, (uint32) b.index,
				  simdup_hamming64(a.fp, b.fp));
}

static void
verify_all(Verifier *verifier, int max_distance)
{
	SimdupPairJoin *join = palloc0(sizeof(SimdupPairJoin));
	SimdupPairSet set;

	for (uint32 i = 0; i < verifier->n_groups; i++)
		verify_groups(verifier, i, i, 0);
	set.elements = alloc_words(verifier, sizeof(SimdupElement));
	set.scratch = alloc_words(verifier, sizeof(SimdupElement));
	set.n = verifier->n_groups;
	for (uint32 i = 0; i < verifier->n_groups; i++)
		set.elements[i] = (SimdupElement){verifier->group_fps[i], i};
	join->max_distance = max_distance;
	join->sink = verify_near;
	join->arg = verifier;
	simdup_pairs_self(join, set);
}

PG_FUNCTION_INFO_V1(simdup_verified_pairs);
Datum
simdup_verified_pairs(PG_FUNCTION_ARGS)
{
	Verifier verifier = {0};
	int max_distance;
	SimdupShingling shingling;

	verifier.result = simdup_begin_result(fcinfo);
	if (simdup_has_null(fcinfo, 5))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(1));
	verifier.min_resemblance =
		simdup_check_min_resemblance(PG_GETARG_FLOAT8(2));
	shingling = simdup_get_shingling(PG_GETARG_INT32(3), PG_GETARG_TEXT_PP(4));
	verifier.documents = simdup_read_documents(fcinfo, 5, shingling, true);
	if (verifier.documents->n > 0)
	{
		group_documents(&verifier);
		verify_all(&verifier, max_distance);
	}
	simdup_documents_end(verifier.documents);
	return (Datum) 0;
}
