/*
 * distinct.c
 *	  Documents with equal shingle sets, as one set.
 *
 * Documents are sorted by the size of their sets and by 32 bits of a digest.
 * Sets that agree in both are almost always equal, but only a comparison of
 * all elements counts: hashes of this kind can be forged.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "server/spill.h"
#include "shingles/distinct.h"

/* Sort key of a document, and its number. */
static void
sort_documents(SimdupDistinctSets *sets, SimdupPairSort *sort)
{
	SimdupDocuments *documents = sets->documents;

	for (uint32 i = 0; i < documents->n; i++)
		simdup_pairsort_put(sort,
							(uint64) documents->sizes[i] << 32 |
								documents->digests[i],
							i);
	simdup_pairsort_perform(sort);
}

static bool
sets_equal(SimdupDocuments *documents, uint32 a, uint32 b)
{
	const SimdupHashes *x = simdup_document_set(documents, a, 0);
	const SimdupHashes *y = simdup_document_set(documents, b, 1);

	return x->n == y->n &&
		   memcmp(x->hashes, y->hashes, x->n * sizeof(uint64)) == 0;
}

/*
 * Part documents that agree in size and digest into groups of equal sets.
 * Each round moves the documents equal to the first one to the front, in
 * order. There is almost always one round only.
 */
static void
part_documents(SimdupDistinctSets *sets, uint32 *members, uint32 n,
			   uint32 *scratch)
{
	uint32 start = 0;

	while (start < n)
	{
		uint32 first = members[start];
		uint32 end = start + 1;
		uint32 n_other = 0;

		for (uint32 i = end; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (sets_equal(sets->documents, first, members[i]))
				members[end++] = members[i];
			else
				scratch[n_other++] = members[i];
		}
		memcpy(members + end, scratch, n_other * sizeof(uint32));
		sets->sizes[sets->n] = sets->documents->sizes[first];
		sets->starts[sets->n++] = (uint32) (members - sets->members) + start;
		start = end;
	}
}

SimdupDistinctSets *
simdup_distinct_sets(SimdupDocuments *documents, int memory_kb)
{
	SimdupDistinctSets *sets = palloc0(sizeof(SimdupDistinctSets));
	MemoryContext context = CurrentMemoryContext;
	Size bytes = ((Size) documents->n + 1) * sizeof(uint32);
	SimdupPairSort *sort = simdup_pairsort_begin(memory_kb);
	uint32 *scratch = MemoryContextAllocHuge(context, bytes);
	uint64 run_key = 0;
	uint64 key;
	uint64 number;
	uint32 run = 0;
	uint32 n = 0;

	sets->documents = documents;
	sets->sizes = MemoryContextAllocHuge(context, bytes);
	sets->starts = MemoryContextAllocHuge(context, bytes);
	sets->members = MemoryContextAllocHuge(context, bytes);
	sort_documents(sets, sort);
	while (simdup_pairsort_get(sort, &key, &number))
	{
		if (key != run_key)
		{
			part_documents(sets, sets->members + run, n - run, scratch);
			run = n;
			run_key = key;
		}
		sets->members[n++] = (uint32) number;
	}
	part_documents(sets, sets->members + run, n - run, scratch);
	sets->starts[sets->n] = n;
	simdup_pairsort_end(sort);
	pfree(scratch);
	return sets;
}
