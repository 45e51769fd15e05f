/*
 * key_search.h
 *	  The search for candidates: pairs of groups of rows whose keys are near.
 *
 * The rows of a group have one key, and equal columns with one hash. Their numbers
 * are consecutive in a file of their side, the last one with a mark. A group is
 * known by its position there.
 */
#ifndef SIMDUP_JOINS_KEY_SEARCH_H
#define SIMDUP_JOINS_KEY_SEARCH_H

#include "nodes/bitmapset.h"
#include "utils/memutils.h"

#include "core/fingerprint/shingle.h"
#include "server/spill.h"

#define SIMDUP_LAST_OF_GROUP (UINT32_C(1) << 31)

/* The limits of a search, read from those of its condition. */
typedef struct SimdupLimits
{
	int max_distance;		/* of fingerprints */
	double min_resemblance; /* of texts, above 0 */
	SimdupShingling shingling;
} SimdupLimits;

/* What a search needs of the join. */
typedef struct SimdupKeySearch
{
	bool reads_once;	/* a self-join, whose sides are one set of rows */
	bool excludes_self; /* no row matches itself */
	bool marks_first;	/* candidates are evaluated while others are searched */
	int64 memory;		/* bytes, for all of the join */
	/*
	 * Receives a candidate: the number of the outer group's first row, and the
	 * positions of both groups. In a self-join, each pair of groups comes once.
	 */
	void (*put)(void *arg, uint32 first_row, uint32 outer, uint32 inner);
	void *arg;

	/* from here on, of one scan */
	MemoryContext context; /* NULL: not begun */
	SimdupLimits limits;
	void *keys[2];			   /* of each side, or the first of both */
	SimdupTempFile *groups[2]; /* of a self-join: both are the same */
	int64 n_keys;			   /* of both sides */
	int64 free_memory;		   /* bytes, beside rows, keys and groups */
	SimdupHelpers *helpers;	   /* NULL: none */
	Bitmapset *matched;		   /* outer rows with a match; NULL: not kept */
	int64 disk;				   /* bytes of files that are closed */
	int64 peak_memory;
} SimdupKeySearch;

/* A way to search. */
typedef struct SimdupSearchMethod
{
	const char *label; /* of the condition, in EXPLAIN */
	/* Begin the keys of a side, which has one, once the limits are known. */
	void (*begin)(SimdupKeySearch *search, int side);
	/* Add the key of a row, with the hash of its equal columns. */
	void (*add)(SimdupKeySearch *search, int side, uint32 number, Datum key,
				uint32 hash);
	/* Put all candidates. Both sides have keys. */
	void (*find)(SimdupKeySearch *search);
	/* End the keys of each side that has any. */
	void (*end)(SimdupKeySearch *search);
} SimdupSearchMethod;

extern const SimdupSearchMethod simdup_hamming_search;
extern const SimdupSearchMethod simdup_shingle_search;

/* Append a row to a group, and return its position. */
static inline uint32
simdup_group_append(SimdupTempFile *groups, uint32 number)
{
	return (uint32) (simdup_tempfile_append(groups, &number, sizeof(number)) /
					 (int64) sizeof(number));
}

/* Return the number at a position. */
static inline uint32
simdup_group_at(SimdupTempFile *groups, uint32 position)
{
	uint32 number;

	simdup_tempfile_read(groups, (int64) position * (int64) sizeof(number),
						 &number, sizeof(number));
	return number;
}

/* Check whether an outer row has a match. */
static inline bool
simdup_is_matched(const SimdupKeySearch *search, uint32 row)
{
	return bms_is_member((int) row, search->matched);
}

/* Note how much memory is used, where that is most. */
static inline void
simdup_note_memory(SimdupKeySearch *search)
{
	search->peak_memory =
		Max(search->peak_memory,
			(int64) MemoryContextMemAllocated(search->context, true));
}

#endif /* SIMDUP_JOINS_KEY_SEARCH_H */
