/*
 * search.h
 *	  The rows of a join's two sides, and the search for candidates among them.
 */
#ifndef SIMDUP_JOINS_SEARCH_H
#define SIMDUP_JOINS_SEARCH_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "core/fingerprint/shingle.h"
#include "server/spill.h"

/* Rows of an input by number, in memory and on disk. */

typedef struct SimdupRowStore SimdupRowStore;

/* Return a new store in the current memory context. */
extern SimdupRowStore *simdup_rowstore_begin(void);
extern void simdup_rowstore_end(SimdupRowStore *store);
extern int64 simdup_rowstore_memory(const SimdupRowStore *store);
extern int64 simdup_rowstore_disk(const SimdupRowStore *store);
/* Rows that can be looked at at one time. */
#define SIMDUP_ROW_BUFFERS 3

/* Return a row, valid until the next call with the same buffer. */
extern MinimalTuple simdup_rowstore_get(SimdupRowStore *store, uint32 number,
										int buffer);

/* Rows are numbered from 0. */
#define SIMDUP_MAX_JOIN_ROWS ((uint32) PG_INT32_MAX)

/* One of the two sides of a join. */
typedef struct SimdupJoinInput
{
	PlanState *plan; /* NULL: the rows are those of the other side */
	int first;		 /* column of the scan tuple */
	int n_columns;
	AttrNumber key;
	AttrNumber text;	  /* 0: none is compared */
	int n_equal;		  /* equalities between the sides */
	AttrNumber *equal;	  /* their columns */
	FmgrInfo *hash;		  /* their hash functions */
	Oid *collations;	  /* for these */
	bool keeps_unmatched; /* also rows that can match no other */

	SimdupRowStore *rows;
	uint32 n;				   /* rows that are kept */
	uint32 n_keyed;			   /* rows that may match another */
	TupleTableSlot *text_slot; /* to take the text of a row */
	TupleTableSlot *slot;	   /* to take rows of the store apart */
	int64 current;			   /* the row in the scan tuple; -1: none, NULLs */
	int buffer;				   /* of the store, where that row is */
} SimdupJoinInput;

/*
 * Read a side, and keep its rows. Those that may match go to `take`, each with its
 * number, its key and the hash of its equal columns, 0 without any. The rows of
 * this side and of `other` go to disk beyond `memory` bytes.
 */
typedef void (*SimdupKeyTake)(void *arg, uint32 number, Datum key, uint32 hash);

extern void simdup_read_input(SimdupJoinInput *input, SimdupRowStore *other,
							  int64 memory, SimdupKeyTake take, void *arg);

/*
 * Candidates: pairs of groups of rows. The rows of a group have one key, and equal
 * columns with one hash. They are at consecutive positions. A row's number
 * is read at its position, with a mark on the last row of a group.
 */

#define SIMDUP_LAST_OF_GROUP (UINT32_C(1) << 31)

typedef struct SimdupNumbers
{
	uint32 n;
	uint32 *numbers;	  /* NULL: in the file */
	SimdupTempFile *file; /* NULL: in memory */
} SimdupNumbers;

extern void simdup_numbers_begin(SimdupNumbers *numbers, Size n, int64 memory);
extern void simdup_numbers_end(SimdupNumbers *numbers);
/* Append a number, and return its position. */
extern uint32 simdup_numbers_append(SimdupNumbers *numbers, uint32 number);
extern uint32 simdup_numbers_at(SimdupNumbers *numbers, uint32 position);

struct NearJoinState; /* see node.h */

/*
 * By fingerprints (hamming_join.c). Keys of a side are put into a sort, by a
 * SimdupKeyTake.
 */
extern void simdup_hamming_add_key(void *sort, uint32 number, Datum key,
								   uint32 hash);
/*
 * Put the pairs within a distance that joins serve. The sorts are performed. In a
 * self-join the second sort is NULL.
 */
extern void simdup_hamming_search(struct NearJoinState *state,
								  SimdupPairSort *keys[2], int max_distance);

/*
 * By sets of shingles (shingle_join.c). The keys are texts of both sides, one after
 * the other.
 */
typedef struct SimdupShingleKeys SimdupShingleKeys;

extern SimdupShingleKeys *simdup_shingle_keys_begin(SimdupShingling shingling,
													int64 memory);
extern void simdup_shingle_add_key(SimdupShingleKeys *keys, int side,
								   uint32 number, Datum key, uint32 hash);
/* Put the pairs of at least this resemblance, above 0, once. */
extern void simdup_shingle_search(struct NearJoinState *state,
								  SimdupShingleKeys *keys,
								  double min_resemblance);

extern void simdup_shingle_keys_end(SimdupShingleKeys *keys);

#endif /* SIMDUP_JOINS_SEARCH_H */
