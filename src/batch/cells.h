/*
 * cells.h
 *	  The rows of a query as core/place.h takes them: cells, and near cells.
 */
#ifndef SIMDUP_BATCH_CELLS_H
#define SIMDUP_BATCH_CELLS_H

#include "batch/rows.h"
#include "core/entries.h"
#include "core/place.h"

typedef struct SimdupCellRows
{
	SimdupCells cells;
	SimdupGroups *groups;	  /* its rows' context holds all of this */
	SimdupContents *contents; /* NULL: each group is a cell */
	uint8 *alone;			  /* bits by row: resembles no other */
	/* by position: the cells of a group, from its first position on */
	uint32 *cell_at;

	/* Where not NULL: gets each near pair of groups, once. */
	SimdupGroupSink also;
	void *also_arg;

	/* while cells are joined: gets each near pair of cells */
	void (*sink)(struct SimdupCellRows *c, uint32 a, uint32 b, uint32 distance);
	SimdupPairSort *sort;

	/* leader */
	uint32 *first_near;	  /* by cell */
	uint8 *may_lead;	  /* by cell; NULL: all may */
	uint8 *leads_again;	  /* bits by cell: asked for in no order; NULL: none */
	int64 n_sorted;		  /* near pairs in the sort */
	int64 most_sorted;	  /* after so many, a second join finds them */
	SimdupNearCell *near; /* of the cell that leads */
	Size n_near, near_capacity;
	uint32 next_cell; /* next from the sort; SIMDUP_NO_CELL: none */
	SimdupNearCell next_near;
	SimdupEntry
		*kept; /* cell, distance and near cell: of cells that lead again */
	Size n_kept, kept_capacity;

	/* connected */
	SimdupConnected *connected;
	uint32 distance; /* 0: pairs of any distance are united as they come */
} SimdupCellRows;

/* Make cells of the rows of a query. simdup_groups_end ends them. */
extern SimdupCellRows *simdup_cells_begin(SimdupGroups *groups,
										  const SimdupOptions *options);

/*
 * Return the first row of each row's group. Blocks may be NULL. The cells are
 * of no use afterwards.
 */
extern uint32 *simdup_cells_place(SimdupCellRows *c, const SimdupBlocks *blocks,
								  SimdupClusterMethod method);

#endif /* SIMDUP_BATCH_CELLS_H */
