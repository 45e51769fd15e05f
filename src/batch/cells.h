/*
 * cells.h
 *	  The rows of a query as core/place.h takes them: cells, and near cells.
 */
#ifndef SIMDUP_BATCH_CELLS_H
#define SIMDUP_BATCH_CELLS_H

#include "batch/rows.h"
#include "core/place.h"
#include "server/keys.h"
#include "shingles/contents.h"

typedef struct SimdupCellRows
{
	SimdupCells cells;
	SimdupRows *rows;		   /* fingerprints; its context holds all of this */
	SimdupKeys *keys;		   /* by row */
	SimdupKeyNumbers *numbers; /* a key's number is its row */
	Oid key_type;
	Oid fp_type;

	/* optional columns */
	double min_resemblance;	  /* 0: contents do not count */
	SimdupContents *contents; /* by row; NULL: none */
	uint32 *scope;			  /* by row: a number for each scope; NULL: none */
	SimdupKeyNumbers *scopes;
	SimdupKeys *scope_keys;
	Size scope_capacity;
	int content_column; /* from 0; -1: none */
	int scope_column;

	SimdupGroups *groups; /* by fingerprint */
	uint32 *first_row;	  /* by cell */
	uint32 *last_row;
	uint8 *alone;	 /* bits by row: near no other */
	uint32 *cell_at; /* by position: the cells of each group, by scope */
	uint32 *n_at;	 /* by the first position of a group: how many */

	SimdupNearCell *near; /* by cell */
	Size *near_start;	  /* of each cell; one more */

	/* while cells are joined: gets each near pair of cells */
	void (*sink)(struct SimdupCellRows *c, uint32 a, uint32 b, uint32 distance);
	uint32 *first_near;			/* leader, by cell */
	uint8 *may_lead;			/* leader, by cell; NULL: all may */
	SimdupConnected *connected; /* connected */
	uint32 distance;			/* connected: of the pairs that count; 0: any */
	SimdupPairSort *sort;
} SimdupCellRows;

/*
 * Run the query, for keys of the type of the argument key_type. Columns after
 * the fingerprint: one called scope, and a content. Rows without a fingerprint,
 * or without a content where contents count, are left out.
 */
extern SimdupCellRows *simdup_cells_read(FunctionCallInfo fcinfo,
										 const char *text, int max_distance,
										 double min_resemblance);
extern void simdup_cells_end(SimdupCellRows *c);

/* Return the first row of each row's group. */
extern uint32 *simdup_cells_lead(SimdupCellRows *c, const SimdupBlocks *blocks);
extern uint32 *simdup_cells_connect(SimdupCellRows *c,
									const SimdupBlocks *blocks);

#endif /* SIMDUP_BATCH_CELLS_H */
