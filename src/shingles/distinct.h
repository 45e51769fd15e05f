/*
 * distinct.h
 *	  Documents with equal shingle sets, as one set.
 */
#ifndef SIMDUP_SHINGLES_DISTINCT_H
#define SIMDUP_SHINGLES_DISTINCT_H

#include "shingles/documents.h"

/* Sets are numbered from 0 in ascending order of size. */
typedef struct SimdupDistinctSets
{
	SimdupDocuments *documents;
	uint32 n;
	uint32 *sizes;	 /* by set */
	uint32 *starts;	 /* n + 1 of them */
	uint32 *members; /* set i: documents [starts[i], starts[i + 1]), ascending */
} SimdupDistinctSets;

/*
 * Find the distinct sets, in the current memory context. Uses so many
 * kilobytes for a sort, and 16 bytes for each document.
 */
extern SimdupDistinctSets *simdup_distinct_sets(SimdupDocuments *documents,
												int memory_kb);

#endif /* SIMDUP_SHINGLES_DISTINCT_H */
