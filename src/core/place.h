/*
 * place.h
 *	  Rows into groups, by either method, with people's decisions.
 *
 * Rows are numbered in their order. A group is known by its first row. Rows that
 * nothing tells from each other (one fingerprint, one scope, one content) form a
 * cell, which is known by its first row, too. Being near is a matter of cells:
 * each cell is near itself, at distance 0. Blocks may be NULL, without decisions.
 *
 * leader: a row whose block has a group joins it. Any other row joins the group
 * of the nearest leader near it, the earliest of equally near ones. Groups with a
 * block that is not the same as its own are passed over. Without one it opens a
 * group. A row that found no leader leads, also where its block has a group.
 *
 * connected: each block is a group. Then the near pairs of rows unite their
 * groups, in order of distance, earlier row and later row. A pair is skipped if
 * it would bring together two blocks that are not the same.
 *
 * Neither is quadratic in the size of a group or of a cell, nor in the number of
 * decisions.
 */
#ifndef SIMDUP_CORE_PLACE_H
#define SIMDUP_CORE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decisions: core/decisions.c. Elements decided the same form a block, closed
 * over chains. "Not the same" then holds between two blocks. Within a block it is
 * a contradiction.
 */

typedef struct SimdupDecision
{
	uint32_t a;
	uint32_t b;
	bool same;
} SimdupDecision;

typedef struct SimdupDecisions
{
	SimdupDecision *items;
	size_t n;
	size_t capacity;
} SimdupDecisions;

typedef struct SimdupBlocks
{
	uint32_t n;
	uint32_t *block; /* of each element: the smallest one of its block */
	size_t *start;	 /* by block: its part of apart; n + 1 */
	uint32_t *apart; /* the blocks that it is not the same as */
	size_t n_apart;	 /* length of apart */
} SimdupBlocks;

extern void simdup_decisions_add(SimdupDecisions *decisions, uint32_t a,
								 uint32_t b, bool same);

/*
 * Find the blocks of elements 0 to n - 1. Return the first decision that
 * contradicts others, or NULL and the blocks.
 */
extern const SimdupDecision *simdup_blocks_find(
	SimdupBlocks *blocks, uint32_t n, const SimdupDecisions *decisions);
extern void simdup_blocks_free(SimdupBlocks *blocks);

/*
 * Find the shortest chain of elements decided the same that leads from a to b.
 * Return its length, a and b included, and the chain, to be freed; 0 without.
 */
extern uint32_t simdup_decisions_chain(const SimdupDecisions *decisions,
									   uint32_t n, uint32_t a, uint32_t b,
									   uint32_t **chain);

static inline uint32_t
simdup_block_of(const SimdupBlocks *blocks, uint32_t element)
{
	return blocks == NULL ? element : blocks->block[element];
}

/* Return the number of elements of a block's list. */
static inline size_t
simdup_n_apart(const SimdupBlocks *blocks, uint32_t block)
{
	return blocks == NULL || blocks->n_apart == 0
			   ? 0
			   : blocks->start[block + 1] - blocks->start[block];
}

static inline const uint32_t *
simdup_apart(const SimdupBlocks *blocks, uint32_t block)
{
	return blocks->apart + blocks->start[block];
}

/* Groups: core/place.c */

#define SIMDUP_NO_CELL UINT32_MAX

typedef struct SimdupNearCell
{
	uint32_t cell;
	uint32_t distance;
} SimdupNearCell;

typedef struct SimdupCells
{
	uint32_t n_rows;
	uint32_t *cell;		/* of each row: the first row of its cell */
	uint32_t *last_row; /* of each cell; for leader */
	uint32_t max_distance;

	/*
	 * For leader: the near cells of a cell in which a row leads, itself left
	 * out, in any order; valid until the next call. Cells are asked for in
	 * ascending order, but for those with a row that must stay apart from
	 * others. Cells whose rows all come before that row may be missing.
	 */
	const SimdupNearCell *(*near)(void *arg, uint32_t cell, size_t *n);

	/*
	 * The resemblance of two cells, the later one first; below 0: they are not
	 * near. NULL: all are.
	 */
	double (*verify)(void *arg, uint32_t cell, uint32_t other);
	void *arg;

	/* For leader: gets each row's resemblance to its leader; NULL: not wanted. */
	double *resemblance;

	/*
	 * For connected: the cells of one spot are at distance 0, and verify tells
	 * them apart. NULL: each cell is a spot.
	 */
	uint32_t *spot; /* of each cell: the first cell of its spot */
} SimdupCells;

/*
 * Return which cells may have a row that leads, one byte a cell. This is for
 * leader without verify. first_near holds the first cell before each one that
 * is near it, or SIMDUP_NO_CELL.
 */
extern uint8_t *simdup_may_lead(const SimdupCells *cells,
								const SimdupBlocks *blocks,
								const uint32_t *first_near);

/*
 * Return the groups by leaders: the first row of each row's group, to be freed.
 */
extern uint32_t *simdup_place_by_leaders(const SimdupCells *cells,
										 const SimdupBlocks *blocks);

/*
 * The groups of connected rows, in steps. Distance 0 is done at first. Without
 * blocks and spots, the cells of rows are overwritten.
 */
typedef struct SimdupConnected SimdupConnected;

extern SimdupConnected *simdup_connected_begin(const SimdupCells *cells,
											   const SimdupBlocks *blocks);

/*
 * Return the first of a cell's parts: the first row of each group in the cell.
 * The near pairs of these rows are enough. SIMDUP_NO_CELL ends them.
 */
extern uint32_t simdup_connected_part(const SimdupConnected *c, uint32_t cell);
extern uint32_t simdup_connected_next_part(const SimdupConnected *c,
										   uint32_t row);

/* Check whether two rows are in different groups that may be united. */
extern bool simdup_connected_may_join(SimdupConnected *c, uint32_t a,
									  uint32_t b);

/* Unite the groups of two near rows of which that is so. */
extern void simdup_connected_join(SimdupConnected *c, uint32_t a, uint32_t b);

/* Return the first row of each row's group, to be freed. Free the rest. */
extern uint32_t *simdup_connected_finish(SimdupConnected *c);

/*
 * Ids: core/decisions.c.
 * Each new group takes the id of the old group with which it shares most rows.
 * Of several such pairs the one with most rows goes first, then the older id,
 * then the group with the earlier first row. Each id is taken once. A group left
 * without takes back the id that its first row last had before, if it is free,
 * else a new one.
 */

/* No id: ids are above 0. */
#define SIMDUP_NO_ID 0

/*
 * Find ids by shared rows. group holds the first row of each row's group, old
 * the id that each row has. Return the ids under the first rows, to be freed.
 */
extern int64_t *simdup_groupids_keep(uint32_t n, const uint32_t *group,
									 const int64_t *old);

/*
 * Give the other ids, in the order of first rows. last holds under them the id
 * that each had last. Return the first id that was never given.
 */
extern int64_t simdup_groupids_give(uint32_t n, const uint32_t *group,
									const int64_t *last, int64_t next_id,
									int64_t *ids);

#endif /* SIMDUP_CORE_PLACE_H */
