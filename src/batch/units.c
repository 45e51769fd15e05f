/*
 * units.c
 *	  The rows of a batch as core/cluster/grouping.h takes them: units, with
 *	  those that are near.
 *
 * The rows of one scope and one fingerprint are one unit. If contents count, a
 * fingerprint has a unit for each content. The join gives near fingerprints, and so
 * near units.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/units.h"

/* Cut a fingerprint into units by the numbers of contents. */
static void
cut_fingerprint(SimdupBatchUnits *u, const SimdupFingerprint *fingerprint,
				SimdupSortItem *pairs)
{
	uint32 *unit = u->core.unit;
	uint32 first = simdup_row_at(u->rows, fingerprint->start);
	uint32 last = first; /* of the list of units */

	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = simdup_row_at(u->rows, fingerprint->start + i);

		pairs[i] =
			(SimdupSortItem){simdup_stored_texts_number(u->rows->contents, row),
							 row};
	}
	simdup_sort_pairs(pairs, fingerprint->n);
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (i > 0 && pairs[i].value == pairs[i - 1].value)
			unit[row] = unit[pairs[i - 1].row];
		if (unit[row] != row)
			continue;
		if (u->core.same_fp != NULL)
			u->core.same_fp[row] = first;
		if (row != first)
			last = u->next[last] = row;
	}
	/* a content without a shingle resembles no other, not even an equal one */
	for (uint32 i = 0; i < fingerprint->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (unit[row] != row &&
			!simdup_stored_texts_has_shingle(u->rows->contents, unit[row]))
			unit[row] = row;
	}
}

/* Find the units: the fingerprints, cut where contents count. */
static void
find_units(SimdupBatchUnits *u)
{
	Size n = u->core.n_rows;
	Size bytes = (n + 1) * sizeof(uint32);
	uint32 *unit = simdup_alloc(bytes);
	SimdupSortItem *pairs = NULL;
	Size room = 0; /* for pairs */
	SimdupFingerprint fingerprint;
	int64 next = 0;

	u->core.unit = unit;
	for (uint32 row = 0; row < n; row++)
		unit[row] = row;
	if (u->rows->contents != NULL)
	{
		simdup_progress_phase("finding equal texts", (int64) n);
		u->next = memset(simdup_alloc(bytes), 0xff, bytes);
		if (u->rows->options.method == SIMDUP_CONNECTED)
			u->core.same_fp =
				memcpy(simdup_alloc(bytes), unit, n * sizeof(uint32));
	}
	while (simdup_fingerprints_next_equal(u->rows, &next, &fingerprint))
	{
		if (u->rows->contents != NULL)
		{
			pairs = simdup_grow(pairs, &room, fingerprint.n, sizeof(*pairs));
			cut_fingerprint(u, &fingerprint, pairs);
			simdup_progress_done(fingerprint.start);
			continue;
		}
		for (uint32 i = 0, first = simdup_row_at(u->rows, fingerprint.start);
			 i < fingerprint.n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			unit[simdup_row_at(u->rows, fingerprint.start + i)] = first;
		}
	}
	simdup_free(pairs);
}

/* Check whether two units resemble each other: SimdupUnits.verify. */
static bool
resemble(void *arg, uint32 unit, uint32 other)
{
	SimdupBatchUnits *u = arg;

	CHECK_FOR_INTERRUPTS();
	return simdup_stored_texts_resemblance(u->rows->contents, unit, other,
										   u->rows->options.min_resemblance) >=
		   0;
}

/*
 * Near units
 */

typedef struct UnitJoin
{
	const SimdupBatchUnits *units;
	SimdupSideOf side_of; /* NULL: each is on both sides, and a pair comes once */
	SimdupRowPairSink take;
	void *arg;
} UnitJoin;

static uint32
next_of(const SimdupBatchUnits *u, uint32 row)
{
	return u->next == NULL ? SIMDUP_NO_ROW : u->next[row];
}

/* Take the pairs of units of two fingerprints, or of one with itself. */
static void
take_units(const UnitJoin *join, uint32 a, uint32 b, uint32 distance)
{
	const SimdupBatchUnits *u = join->units;
	SimdupSideOf side_of = join->side_of;

	for (uint32 x = a; x != SIMDUP_NO_ROW; x = next_of(u, x))
	{
		CHECK_FOR_INTERRUPTS();
		if (side_of != NULL && (side_of(join->arg, x) & SIMDUP_FIRST_SIDE) == 0)
			continue;
		for (uint32 y = side_of == NULL && a == b ? next_of(u, x) : b;
			 y != SIMDUP_NO_ROW; y = next_of(u, y))
			if (side_of == NULL ||
				(x != y && (side_of(join->arg, y) & SIMDUP_SECOND_SIDE) != 0))
				join->take(join->arg, x, y, distance);
	}
}

/* Take the pairs of two near fingerprints: a SimdupRowPairSink. */
static void
take_fingerprints(void *arg, uint32 a, uint32 b, uint32 distance)
{
	const UnitJoin *join = arg;
	const SimdupBatchUnits *u = join->units;

	if (u->sink != NULL && join->side_of == NULL)
		u->sink(u->sink_arg, a, b, distance);
	take_units(join, a, b, distance);
}

/* Return the sides of the units of a fingerprint: a SimdupSideOf. */
static int
sides_of(void *arg, uint32 first)
{
	const UnitJoin *join = arg;
	int sides = 0;

	for (uint32 x = first; x != SIMDUP_NO_ROW; x = next_of(join->units, x))
		sides |= join->side_of(join->arg, x);
	return sides;
}

void
simdup_join_units(SimdupBatchUnits *units, int max_distance,
				  SimdupSideOf side_of, SimdupRowPairSink take, void *arg)
{
	UnitJoin join = {units, side_of, take, arg};
	bool direct = side_of == NULL && units->next == NULL && units->sink == NULL;
	SimdupFingerprint fingerprint;

	for (int64 next = 0;
		 units->next != NULL && units->core.same_fp == NULL &&
		 simdup_fingerprints_next_equal(units->rows, &next, &fingerprint);)
	{
		uint32 first = simdup_row_at(units->rows, fingerprint.start);

		take_units(&join, first, first, 0);
	}
	simdup_join_fingerprints(units->rows, max_distance,
							 side_of == NULL ? NULL : sides_of,
							 direct ? take : take_fingerprints,
							 direct ? arg : &join);
	if (side_of == NULL)
		units->sink = NULL;
}

/*
 * Lists of near rows
 */

SimdupNearLists *
simdup_near_lists(SimdupPairSort *sort, uint32 n_rows, Size memory)
{
	SimdupNearLists *lists = palloc0(sizeof(SimdupNearLists));
	uint64 pair;
	uint64 weight;

	lists->file = simdup_tempfile_create_cached(memory, 0);
	lists->starts = simdup_alloc0(((Size) n_rows + 1) * sizeof(uint64));
	simdup_pairsort_perform(sort);
	while (simdup_pairsort_get(sort, &pair, &weight))
	{
		SimdupNear near = {(uint32) pair, weight};

		CHECK_FOR_INTERRUPTS();
		simdup_tempfile_append(lists->file, &near, sizeof(near));
		lists->starts[(pair >> 32) + 1]++;
	}
	for (uint32 row = 0; row < n_rows; row++)
		lists->starts[row + 1] += lists->starts[row];
	simdup_pairsort_end(sort);
	return lists;
}

const SimdupNear *
simdup_near_list(void *arg, uint32 row, size_t *n)
{
	SimdupNearLists *lists = arg;
	uint64 start = lists->starts[row];

	*n = lists->starts[row + 1] - start;
	return simdup_tempfile_get(lists->file,
							   (int64) (start * sizeof(SimdupNear)),
							   *n * sizeof(SimdupNear), &lists->buffer);
}

void
simdup_near_lists_end(SimdupNearLists *lists)
{
	simdup_tempfile_close(lists->file);
	simdup_free(lists->starts);
	simdup_free(lists->buffer.bytes);
	pfree(lists);
}

void
simdup_units_begin(SimdupBatchUnits *units, SimdupRows *rows)
{
	*units =
		(SimdupBatchUnits){.rows = rows,
						   .core = {.n_rows = rows->n,
									.verify = rows->contents == NULL ? NULL
																	 : resemble,
									.arg = units}};
	find_units(units);
}
