/*
 * ranking.h
 *	  Shingle sets as ranks of rarity, on disk.
 */
#ifndef SIMDUP_SHINGLES_RANKING_H
#define SIMDUP_SHINGLES_RANKING_H

#include "server/spill.h"
#include "shingles/distinct.h"

/*
 * Each shingle of two sets or more has a rank, from 0; the fewer sets have it,
 * the lower. A shingle of one set has none.
 */
typedef struct SimdupRanking
{
	uint32 n_sets;
	uint32 n_ranks;		  /* in all */
	uint32 common_from;	  /* the first rank of a shingle that many sets have */
	uint32 *lengths;	  /* ranks of each set */
	int64 *offsets;		  /* of each set in the file */
	SimdupTempFile *file; /* ranks, ascending in each set */
} SimdupRanking;

/*
 * Rank the shingles of the sets, in the current memory context, with so many
 * kilobytes for sorts. A shingle is common if common_sets sets have it.
 */
extern SimdupRanking *simdup_rank_shingles(const SimdupDistinctSets *sets,
										   uint32 common_sets, int memory_kb);

/* The ranks of a set. */
extern void simdup_ranking_read(const SimdupRanking *ranking, uint32 set,
								uint32 *ranks);

#endif /* SIMDUP_SHINGLES_RANKING_H */
