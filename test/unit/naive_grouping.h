/*
 * naive_grouping.h
 *	  Rows into groups the slow way, for unit tests and fuzz targets.
 *
 * Written from the rules, without units, components or lists: each
 * question is asked of all rows. Content i resembles content j as resembles
 * says.
 */
#ifndef SIMDUP_UNIT_NAIVE_GROUPING_H
#define SIMDUP_UNIT_NAIVE_GROUPING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster/grouping.h"

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
naive_components(const NaiveRows *rows, uint32_t *component)
{
	bool changed = true;

	for (uint32_t i = 0; i < rows->n; i++)
		component[i] = i;
	while (changed)
	{
		changed = false;
		for (size_t i = 0; i < rows->decisions.n; i++)
		{
			SimdupDecision d = rows->decisions.items[i];
			uint32_t low = component[d.a] < component[d.b] ? component[d.a]
														   : component[d.b];

			if (!d.same || component[d.a] == component[d.b])
				continue;
			component[d.a] = component[d.b] = low;
			changed = true;
		}
	}
}

/* Check whether a cannot-link is between rows of two marked sets. */
static bool
naive_cannot_link(const NaiveRows *rows, const bool *left, const bool *right)
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

/* May the component of a row join a group that has these components so far? */
static bool
naive_may_join(const NaiveRows *rows, const uint32_t *component,
			   const uint32_t *group, uint32_t row, uint32_t wanted)
{
	bool own[NAIVE_ROWS];
	bool theirs[NAIVE_ROWS];

	naive_mark(component, rows->n, component[row], own);
	for (uint32_t i = 0; i < rows->n; i++)
	{
		theirs[i] = false;
		for (uint32_t j = 0; j < row; j++)
			theirs[i] |= group[j] == wanted && component[j] == component[i];
	}
	return !naive_cannot_link(rows, own, theirs);
}

static void
naive_leaders(const NaiveRows *rows, uint32_t *group, bool *leads)
{
	uint32_t component[NAIVE_ROWS];

	naive_components(rows, component);
	for (uint32_t row = 0; row < rows->n; row++)
	{
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < row; i++)
			if (leads[i] && naive_near(rows, row, i) &&
				naive_may_join(rows, component, group, row, group[i]) &&
				(best == UINT32_MAX || naive_distance(rows, row, i) <
										   naive_distance(rows, row, best)))
				best = i;
		leads[row] = best == UINT32_MAX;
		group[row] = leads[row] ? row : group[best];
		for (uint32_t i = 0; i < row; i++)
			if (component[i] == component[row])
				group[row] = group[i];
	}
}

static void
naive_connected(const NaiveRows *rows, uint32_t *group)
{
	naive_components(rows, group);
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
				if (low == high || naive_cannot_link(rows, left, right))
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
static void
naive_ids(uint32_t n, const uint32_t *group, const int64_t *old, int64_t *ids)
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
}

/*
 * The same rows as units
 */

typedef struct NaiveUnits
{
	const NaiveRows *rows;
	uint32_t unit[NAIVE_ROWS];
	SimdupNear near[NAIVE_ROWS];
	uint32_t same_fp[NAIVE_ROWS];
	SimdupUnits units;
	const SimdupLeading *leading;
	uint32_t from; /* the range of rows that are grouped */
	uint32_t end;
	bool may_lead[NAIVE_ROWS];
} NaiveUnits;

/* Check whether two units seem near, whether or not they resemble each other. */
static bool
naive_seems_near(const NaiveUnits *c, uint32_t a, uint32_t b)
{
	return a != b && c->unit[a] == a && c->unit[b] == b &&
		   naive_distance(c->rows, a, b) <= c->rows->max_distance &&
		   c->rows->scope[a] == c->rows->scope[b];
}

/* The units near one in which a row of the range may lead, or all that lead. */
static const SimdupNear *
naive_near_rows(void *arg, uint32_t unit, size_t *n)
{
	NaiveUnits *c = arg;

	*n = 0;
	for (uint32_t i = c->rows->n; i-- > 0;)
	{
		bool is_wanted = false;

		for (uint32_t row = c->from; row < c->end; row++)
			is_wanted |= (c->unit[row] == i && c->may_lead[row]) ||
						 (c->unit[row] == unit &&
						  simdup_needs_all_leaders(c->leading, row) &&
						  c->leading->first_leader[i] != SIMDUP_NO_ROW);
		if (is_wanted && naive_seems_near(c, unit, i))
			c->near[(*n)++] =
				(SimdupNear){i, (uint64_t) naive_distance(c->rows, unit, i)};
	}
	return c->near;
}

static bool
naive_verify(void *arg, uint32_t unit, uint32_t other)
{
	NaiveUnits *c = arg;

	return unit > other && naive_near(c->rows, unit, other);
}

static void
naive_make_units(NaiveUnits *c, const NaiveRows *rows)
{
	memset(c, 0, sizeof(*c));
	c->rows = rows;
	for (uint32_t i = 0; i < rows->n; i++)
	{
		uint32_t unit = 0;

		while (rows->fp[unit] != rows->fp[i] ||
			   rows->scope[unit] != rows->scope[i] ||
			   (rows->verifies && rows->content[unit] != rows->content[i]))
			unit++;
		c->unit[i] = unit;
	}
	c->units.n_rows = rows->n;
	c->units.unit = c->unit;
	c->units.verify = rows->verifies ? naive_verify : NULL;
	c->units.arg = c;
}

/* The groups by leaders, in ranges of that number of rows. */
static uint32_t *
naive_lead(NaiveUnits *c, const SimdupConstraints *constraints, uint32_t most)
{
	SimdupLeading *l = simdup_leading_begin(&c->units, constraints);
	uint32_t n = c->rows->n;

	c->leading = l;
	for (c->from = 0; c->from < n; c->from = c->end)
	{
		c->end = c->from + most < n ? c->from + most : n;
		for (uint32_t row = c->from; row < c->end; row++)
			c->may_lead[row] = simdup_may_lead(l, row);
		simdup_leading_range(l, c->from, c->end, naive_near_rows, c);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = n; j-- > 0;)
				if (naive_seems_near(c, i, j) &&
					l->first_leader[j] >= c->from &&
					l->first_leader[j] < c->end)
					simdup_leading_offer(l, i, j,
										 (uint32_t) naive_distance(c->rows, i,
																   j));
	}
	return simdup_leading_finish(l);
}

/* The pairs of parts in their order, as a caller offers them. */
static uint32_t *
naive_connect(NaiveUnits *c, const SimdupConstraints *constraints)
{
	SimdupConnected *connected;
	uint32_t unit[NAIVE_ROWS];

	memcpy(unit, c->unit, sizeof(unit)); /* which may be overwritten */
	for (uint32_t i = 0; i < c->rows->n; i++)
		for (uint32_t j = i + 1; j-- > 0;)
			if (c->rows->fp[i] == c->rows->fp[j] &&
				c->rows->scope[i] == c->rows->scope[j])
				c->same_fp[i] = j;
	if (c->rows->verifies)
		c->units.same_fp = c->same_fp;
	connected = simdup_connected_begin(&c->units, constraints);
	for (int distance = 1; distance <= c->rows->max_distance; distance++)
		for (uint32_t i = 0; i < c->rows->n; i++)
			for (uint32_t j = i + 1; j < c->rows->n; j++)
			{
				bool are_parts[2] = {false, false};
				uint32_t pair[2] = {i, j};

				for (int x = 0; x < 2; x++)
				{
					uint32_t part =
						simdup_connected_first(connected, unit[pair[x]]);

					for (; part != SIMDUP_NO_ROW;
						 part = simdup_connected_next(connected, part))
						are_parts[x] |= part == pair[x];
				}
				if (are_parts[0] && are_parts[1] &&
					naive_distance(c->rows, i, j) == distance &&
					naive_near(c->rows, i, j))
					simdup_connected_join(connected, i, j);
			}
	return simdup_connected_finish(connected);
}

#endif /* SIMDUP_UNIT_NAIVE_GROUPING_H */
