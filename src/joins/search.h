/*
 * search.h
 *	  The search for the candidates of a join.
 */
#ifndef SIMDUP_JOINS_SEARCH_H
#define SIMDUP_JOINS_SEARCH_H

#include "core/fingerprint/shingle.h"
#include "core/join/allpairs.h"
#include "joins/condition.h"
#include "joins/input.h"

/* What is searched, and where the candidates go. */
typedef struct SimdupJoinSearch
{
	bool reads_once;			  /* one set of rows for both sides */
	bool excludes_self;			  /* of that set, no row matches itself */
	int64 memory;				  /* bytes for all but the stores of rows */
	SimdupNumbers numbers[2];	  /* of groups; of one set: both the first */
	const SimdupHelpers *helpers; /* NULL: none */
	/*
	 * Receives candidates: the number of the outer group's first row, and the
	 * positions of both groups. Of one set of rows, each pair of groups comes once.
	 */
	void (*put)(void *arg, uint32 first_row, uint32 outer, uint32 inner);
	/* Returns whether no more candidates of an outer row are asked for. */
	bool (*is_settled)(void *arg, uint32 row);
	/* Notes how much memory is used, where that is most. */
	void (*note_memory)(void *arg);
	void *arg;
	int64 disk; /* bytes that went to files which are closed */
} SimdupJoinSearch;

/*
 * By fingerprints (hamming_join.c). Keys of a side are put into a sort, by a
 * SimdupKeyTake.
 */
extern void simdup_hamming_add_key(void *sort, uint32 number, Datum key,
								   uint32 hash);
/*
 * Put the pairs within a distance that joins serve. The sorts are performed. Of
 * one set of rows the second sort is NULL.
 */
extern void simdup_hamming_search(SimdupJoinSearch *search,
								  SimdupPairSort *keys[2], int max_distance);

/*
 * By sets of shingles (shingle_join.c). The keys are texts of both sides, one after
 * the other; the call tells which side is read.
 */
typedef struct SimdupShingleKeys SimdupShingleKeys;

extern SimdupShingleKeys *simdup_shingle_keys_begin(SimdupShingling shingling,
													int64 memory);
extern void simdup_shingle_keys_side(SimdupShingleKeys *keys, int side);
extern void simdup_shingle_add_key(void *keys, uint32 number, Datum key,
								   uint32 hash);
/* Put the pairs of at least this resemblance, above 0, once. */
extern void simdup_shingle_search(SimdupJoinSearch *search,
								  SimdupShingleKeys *keys,
								  double min_resemblance);

extern void simdup_shingle_keys_end(SimdupShingleKeys *keys);

#endif /* SIMDUP_JOINS_SEARCH_H */
