/*
 * naive_place.h
 *	  Rows placed into groups the slow way, for unit tests and fuzz targets.
 *
 * Written from the rules, without cells, blocks or lists: each question is asked
 * of all rows. Content i resembles content j as resembles says.
 */
#ifndef SIMDUP_UNIT_NAIVE_PLACE_H
#define SIMDUP_UNIT_NAIVE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/place.h"

#define NAIVE_ROWS 40
#define NAIVE_CONTENTS 4

typedef struct NaiveRows
{
	uint32_t n;
	uint64_t fp[NAIVE_ROWS];
	uint32_t scope[NAIVE_ROWS];
	uint32_t content[NAIVE_ROWS];
	bool resembles[NAIVE_CONTENTS][NAIVE_CONTENTS];
	bool verifies;
	int max_distance;
	SimdupDecisions decisions;
} NaiveRows;

static int
naive_distance(const NaiveRows *rows, uint32_t a, uint32_t b)
{
	return __builtin_popcountll(rows->fp[a] ^ rows->fp[b]);
}

static bool
naive_near(const NaiveRows *rows, uint32_t a, uint32_t b)
{
	return naive_distance(rows, a, b) <= rows->max_distance &&
		   rows->scope[a] == rows->scope[b] &&
		   (!rows->verifies || rows->content[a] == rows->content[b] ||
			rows->resembles[rows->content[a]][rows->content[b]]);
}

/* Decisions closed over chains: the smallest row that each is the same as. */
static void
naive_blocks(const NaiveRows *rows, uint32_t *block)
{
	bool changed = true;

	for (uint32_t i = 0; i < rows->n; i++)
		block[i] = i;
	while (changed)
	{
		changed = false;
		for (size_t i = 0; i < rows->decisions.n; i++)
		{
			SimdupDecision d = rows->decisions.items[i];
			uint32_t low = block[d.a] < block[d.b] ? block[d.a] : block[d.b];

			if (!d.same || block[d.a] == block[d.b])
				continue;
			block[d.a] = block[d.b] = low;
			changed = true;
		}
	}
}

/* Check whether a decision keeps apart rows of two marked sets. */
static bool
naive_apart(const NaiveRows *rows, const bool *left, const bool *right)
{
	for (size_t i = 0; i < rows->decisions.n; i++)
	{
		SimdupDecision d = rows->decisions.items[i];

		if (!d.same && ((left[d.a] && right[d.b]) || (left[d.b] && right[d.a])))
			return true;
	}
	return false;
}

static void
naive_mark(const uint32_t *group, uint32_t n, uint32_t wanted, bool *marked)
{
	for (uint32_t i = 0; i < n; i++)
		marked[i] = group[i] == wanted;
}

/* May the block of a row join a group that has these blocks so far? */
static bool
naive_may_join(const NaiveRows *rows, const uint32_t *block,
			   const uint32_t *group, uint32_t row, uint32_t wanted)
{
	bool own[NAIVE_ROWS];
	bool theirs[NAIVE_ROWS];

	naive_mark(block, rows->n, block[row], own);
	for (uint32_t i = 0; i < rows->n; i++)
	{
		theirs[i] = false;
		for (uint32_t j = 0; j < row; j++)
			theirs[i] |= group[j] == wanted && block[j] == block[i];
	}
	return !naive_apart(rows, own, theirs);
}

static void
naive_leaders(const NaiveRows *rows, uint32_t *group, bool *leads)
{
	uint32_t block[NAIVE_ROWS];

	naive_blocks(rows, block);
	for (uint32_t row = 0; row < rows->n; row++)
	{
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < row; i++)
			if (leads[i] && naive_near(rows, row, i) &&
				naive_may_join(rows, block, group, row, group[i]) &&
				(best == UINT32_MAX || naive_distance(rows, row, i) <
										   naive_distance(rows, row, best)))
				best = i;
		leads[row] = best == UINT32_MAX;
		group[row] = leads[row] ? row : group[best];
		for (uint32_t i = 0; i < row; i++)
			if (block[i] == block[row])
				group[row] = group[i];
	}
}

static void
naive_connected(const NaiveRows *rows, uint32_t *group)
{
	naive_blocks(rows, group);
	for (int distance = 0; distance <= rows->max_distance; distance++)
		for (uint32_t i = 0; i < rows->n; i++)
			for (uint32_t j = i + 1; j < rows->n; j++)
			{
				uint32_t low = group[i] < group[j] ? group[i] : group[j];
				uint32_t high = group[i] < group[j] ? group[j] : group[i];
				bool left[NAIVE_ROWS];
				bool right[NAIVE_ROWS];

				if (naive_distance(rows, i, j) != distance ||
					!naive_near(rows, i, j))
					continue;
				naive_mark(group, rows->n, low, left);
				naive_mark(group, rows->n, high, right);
				if (low == high || naive_apart(rows, left, right))
					continue;
				for (uint32_t x = 0; x < rows->n; x++)
					if (group[x] == high)
						group[x] = low;
			}
}

/* Check whether a group has an id. */
static bool
naive_is_taken(uint32_t n, const int64_t *ids, int64_t id)
{
	bool is_taken = id == SIMDUP_NO_ID;

	for (uint32_t i = 0; i < n; i++)
		is_taken |= ids[i] == id;
	return is_taken;
}

/* Ids by the rule, one pair of groups after the other. */
static int64_t
naive_ids(uint32_t n, const uint32_t *group, const int64_t *old,
		  const int64_t *last, int64_t next_id, int64_t *ids)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < n; i++)
		ids[i] = SIMDUP_NO_ID;
	while (most > 0)
	{
		uint32_t best = 0;
		int64_t id = 0;

		most = 0;
		for (uint32_t j = 0; j < n; j++)
			for (uint32_t i = 0; i < n && !naive_is_taken(n, ids, old[j]); i++)
			{
				uint32_t shared = 0;

				for (uint32_t x = 0; x < n && ids[i] == SIMDUP_NO_ID; x++)
					shared += group[x] == i && old[x] == old[j];
				if (shared < most || shared == 0 ||
					(shared == most &&
					 (old[j] > id || (old[j] == id && i >= best))))
					continue;
				most = shared;
				best = i;
				id = old[j];
			}
		if (most > 0)
			ids[best] = id;
	}
	for (uint32_t i = 0; i < n; i++)
		if (group[i] == i && ids[i] == SIMDUP_NO_ID)
			ids[i] = naive_is_taken(n, ids, last[i]) ? next_id++ : last[i];
	return next_id;
}

/*
 * The same rows as cells
 */

typedef struct NaiveCells
{
	const NaiveRows *rows;
	uint32_t cell[NAIVE_ROWS];
	uint32_t last_row[NAIVE_ROWS];
	SimdupNearCell near[NAIVE_ROWS];
	uint8_t *may_lead; /* NULL: all */
	uint32_t spot[NAIVE_ROWS];
	double resemblance[NAIVE_ROWS];
	SimdupCells cells;
} NaiveCells;

static const SimdupNearCell *
naive_near_cells(void *arg, uint32_t cell, size_t *n)
{
	NaiveCells *c = arg;
	const NaiveRows *rows = c->rows;

	*n = 0;
	for (uint32_t i = rows->n; i-- > 0;)
	{
		int distance = naive_distance(rows, cell, i);

		if (i == cell || c->cell[i] != i || distance > rows->max_distance ||
			rows->scope[cell] != rows->scope[i] ||
			(c->may_lead != NULL && c->may_lead[cell] == 0))
			continue;
		c->near[(*n)++] = (SimdupNearCell){i, (uint32_t) distance};
	}
	return c->near;
}

static double
naive_verify(void *arg, uint32_t cell, uint32_t other)
{
	NaiveCells *c = arg;

	return cell > other && naive_near(c->rows, cell, other) ? 0.5 : -1;
}

static void
naive_make_cells(NaiveCells *c, const NaiveRows *rows)
{
	memset(c, 0, sizeof(*c));
	c->rows = rows;
	for (uint32_t i = 0; i < rows->n; i++)
	{
		uint32_t cell = 0;

		while (rows->fp[cell] != rows->fp[i] ||
			   rows->scope[cell] != rows->scope[i] ||
			   (rows->verifies && rows->content[cell] != rows->content[i]))
			cell++;
		c->cell[i] = cell;
		c->last_row[cell] = i;
	}
	c->cells.n_rows = rows->n;
	c->cells.cell = c->cell;
	c->cells.last_row = c->last_row;
	c->cells.max_distance = (uint32_t) rows->max_distance;
	c->cells.near = naive_near_cells;
	c->cells.verify = rows->verifies ? naive_verify : NULL;
	c->cells.resemblance = c->resemblance;
	c->cells.arg = c;
}

/* The cells whose pairs count for leader, as its first pass finds them. */
static uint8_t *
naive_may_lead(const NaiveCells *c, const SimdupBlocks *blocks)
{
	uint32_t first_near[NAIVE_ROWS];

	for (uint32_t i = 0; i < c->rows->n; i++)
	{
		first_near[i] = SIMDUP_NO_CELL;
		for (uint32_t j = i; j-- > 0;)
			if (c->cell[i] == i && c->cell[j] == j && naive_near(c->rows, i, j))
				first_near[i] = j;
	}
	return simdup_may_lead(&c->cells, blocks, first_near);
}

/* The pairs of parts in their order, as a caller offers them. */
static uint32_t *
naive_connect(NaiveCells *c, const SimdupBlocks *blocks)
{
	SimdupConnected *connected;
	uint32_t cell[NAIVE_ROWS];

	memcpy(cell, c->cell, sizeof(cell)); /* which may be overwritten */
	for (uint32_t i = 0; i < c->rows->n; i++)
		for (uint32_t j = i + 1; j-- > 0;)
			if (c->rows->fp[i] == c->rows->fp[j] &&
				c->rows->scope[i] == c->rows->scope[j])
				c->spot[i] = j;
	if (c->rows->verifies)
		c->cells.spot = c->spot;
	connected = simdup_connected_begin(&c->cells, blocks);
	for (int distance = 1; distance <= c->rows->max_distance; distance++)
		for (uint32_t i = 0; i < c->rows->n; i++)
			for (uint32_t j = i + 1; j < c->rows->n; j++)
			{
				bool are_parts[2] = {false, false};
				uint32_t pair[2] = {i, j};

				for (int x = 0; x < 2; x++)
				{
					uint32_t part =
						simdup_connected_part(connected, cell[pair[x]]);

					for (; part != SIMDUP_NO_CELL;
						 part = simdup_connected_next_part(connected, part))
						are_parts[x] |= part == pair[x];
				}
				if (are_parts[0] && are_parts[1] &&
					naive_distance(c->rows, i, j) == distance &&
					naive_near(c->rows, i, j) &&
					simdup_connected_may_join(connected, i, j))
					simdup_connected_join(connected, i, j);
			}
	return simdup_connected_finish(connected);
}

#endif /* SIMDUP_UNIT_NAIVE_PLACE_H */
