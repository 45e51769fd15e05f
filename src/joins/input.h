/*
 * input.h
 *	  The rows of a join's two sides: read whole, and kept by number.
 */
#ifndef SIMDUP_JOINS_INPUT_H
#define SIMDUP_JOINS_INPUT_H

#include "nodes/execnodes.h"

#include "server/spill.h"

/* Rows of an input by number, in memory and on disk. */

typedef struct SimdupRowStore SimdupRowStore;

/* Return a new store in the current context, which goes to disk beyond this memory. */
extern SimdupRowStore *simdup_rowstore_begin(int64 memory);
/* A store that is NULL has no rows. */
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
 * number, its key and the hash of its equal columns, 0 without any.
 */
typedef void (*SimdupKeyTake)(void *arg, uint32 number, Datum key, uint32 hash);

extern void simdup_read_input(SimdupJoinInput *input, SimdupKeyTake take,
							  void *arg);

#endif /* SIMDUP_JOINS_INPUT_H */
