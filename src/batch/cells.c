/*
 * cells.c
 *	  The rows of a query as core/place.h takes them: cells, and near cells.
 *
 * A group of rows of one scope and one fingerprint is a cell. Where contents
 * count it has several, one for each content. The join gives near groups, and so
 * near cells. The pairs of cells that may lead are sorted by cell, on disk where
 * they are many, and read again as rows are placed.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/cells.h"
#include "batch/rows.h"
#include "core/host.h"
#include "server/session.h"
#include "server/spill.h"

static void *
alloc_numbers(Size n)
{
	return simdup_alloc((n + 1) * sizeof(uint32));
}

/*
 * Cells
 */

/* Each group is a cell. */
static void
take_groups(SimdupCellRows *c)
{
	c->cells.cell = alloc_numbers(c->cells.n_rows);
	for (int64 i = 0; i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);
		uint32 first = simdup_groups_row(c->groups, group.start);

		CHECK_FOR_INTERRUPTS();
		simdup_groups_prefetch(c->groups, c->cells.cell, sizeof(uint32),
							   group.start);
		c->cells.cell[first] = first;
		for (uint32 j = 1; j < group.n; j++)
			c->cells.cell[simdup_groups_row(c->groups, group.start + j)] =
				first;
	}
}

/*
 * Find the first row of each row's cell, for the rows of one group. Sorted by
 * digest, the rows of a cell stand together. A row whose digest collides is a
 * cell of its own. So is one that repeats a content without a shingle, which
 * resembles no other.
 */
static void
find_first_rows(SimdupCellRows *c, const SimdupGroup *group, SimdupEntry *pairs)
{
	uint32 first = simdup_groups_row(c->groups, group->start);

	c->cells.cell[first] = first;
	if (group->n == 1)
		return;
	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = simdup_groups_row(c->groups, group->start + i);

		pairs[i] = (SimdupEntry){simdup_contents_digest(c->contents, row), row};
	}
	simdup_sort_pairs(pairs, group->n);
	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = (uint32) pairs[i].row;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || pairs[i].value != pairs[i - 1].value)
			first = row;
		c->cells.cell[row] = first;
		if (first == row)
			continue;
		if (!simdup_contents_equal(c->contents, first, row))
			c->cells.cell[row] = row;
		else if (!simdup_contents_has_shingle(c->contents, first))
		{
			c->cells.cell[row] = row;
			simdup_set_bit(c->alone, row);
		}
	}
}

/* List the cells of a group that may resemble others. */
static void
list_cells(SimdupCellRows *c, const SimdupGroup *group)
{
	uint32 end = group->start;

	for (uint32 i = group->start; i < group->start + group->n; i++)
	{
		uint32 row = simdup_groups_row(c->groups, i);

		c->cell_at[i] = SIMDUP_NO_CELL;
		if (c->cells.cell[row] == row && !simdup_get_bit(c->alone, row))
			c->cell_at[end++] = row;
	}
}

/* Cut the groups into cells by their contents. */
static void
cut_groups(SimdupCellRows *c)
{
	Size n = c->cells.n_rows;
	Size largest = 0;
	SimdupEntry *pairs;

	for (int64 i = 0; i < c->groups->n; i++)
		largest = Max(largest, simdup_groups_get(c->groups, i).n);
	pairs = simdup_alloc((largest + 1) * sizeof(SimdupEntry));
	c->cells.cell = alloc_numbers(n);
	c->cell_at = alloc_numbers(n);
	c->alone = simdup_alloc0(n / 8 + 1);
	simdup_progress_phase("finding equal texts", (int64) n);
	for (int64 i = 0; i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		find_first_rows(c, &group, pairs);
		list_cells(c, &group);
		simdup_progress_done(group.start);
	}
	simdup_free(pairs);
}

/* Return the resemblance of two cells, or -1: the cells' verify. */
static double
resemble(void *arg, uint32 cell, uint32 other)
{
	SimdupCellRows *c = arg;

	CHECK_FOR_INTERRUPTS();
	return simdup_contents_resemblance(c->contents, cell, other,
									   c->groups->rows->min_resemblance);
}

SimdupCellRows *
simdup_cells_begin(SimdupGroups *groups, const SimdupOptions *options)
{
	MemoryContext old = MemoryContextSwitchTo(groups->rows->context);
	SimdupCellRows *c = palloc0(sizeof(SimdupCellRows));

	c->groups = groups;
	c->contents = groups->rows->contents;
	c->cells.n_rows = groups->rows->n;
	c->cells.max_distance = (uint32) options->max_distance;
	c->cells.arg = c;
	if (c->contents == NULL)
		take_groups(c);
	else
	{
		c->cells.verify = resemble;
		cut_groups(c);
	}
	MemoryContextSwitchTo(old);
	return c;
}

/*
 * Near cells
 */

/* Take a near pair of cells of two groups, or of one: a SimdupGroupSink. */
static void
join_cells(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	SimdupCellRows *c = arg;

	if (c->also != NULL && a != b)
		c->also(c->also_arg, a, b, distance);
	if (c->contents == NULL)
	{
		c->sink(c, simdup_groups_row(c->groups, a->start),
				simdup_groups_row(c->groups, b->start), (uint32) distance);
		return;
	}
	for (uint32 i = a->start;
		 i < a->start + a->n && c->cell_at[i] != SIMDUP_NO_CELL; i++)
		for (uint32 j = a == b ? i + 1 : b->start;
			 j < b->start + b->n && c->cell_at[j] != SIMDUP_NO_CELL; j++)
		{
			CHECK_FOR_INTERRUPTS();
			c->sink(c, c->cell_at[i], c->cell_at[j], (uint32) distance);
		}
}

/* Report each pair of near cells once. */
static void
join_all(SimdupCellRows *c, uint32 max_distance)
{
	simdup_join_groups(c->groups, (int) max_distance, "comparing", join_cells,
					   c);
	c->also = NULL;
}

/* Report the pairs of cells of one fingerprint. */
static void
join_equal(SimdupCellRows *c)
{
	for (int64 i = 0; c->contents != NULL && i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		join_cells(c, &group, &group, 0);
	}
}

/*
 * leader
 *
 * Without contents, the first near cell before a cell mostly tells that it does
 * not lead. Its pairs are not needed. So the first join finds these cells, and
 * keeps the pairs while they are few. If they are many, a second join keeps those
 * of the cells that may lead. A group of n rows within the distance of each other
 * then costs n pairs, and not n².
 */

/* Sort a pair by a cell, unless no row of the near one can follow its leader. */
static void
sort_one(SimdupCellRows *c, uint32 cell, uint32 near, uint32 distance)
{
	if (c->cells.last_row[near] <= cell ||
		(c->may_lead != NULL && c->may_lead[cell] == 0))
		return;
	simdup_pairsort_put(c->sort, cell, (uint64) distance << 32 | near);
	c->n_sorted++;
}

static void
sort_near(SimdupCellRows *c, uint32 a, uint32 b, uint32 distance)
{
	sort_one(c, a, b, distance);
	sort_one(c, b, a, distance);
}

static void
note_near(SimdupCellRows *c, uint32 a, uint32 b, uint32 distance)
{
	c->first_near[Max(a, b)] = Min(c->first_near[Max(a, b)], Min(a, b));
	if (c->sort == NULL)
		return;
	sort_near(c, a, b, distance);
	if (c->n_sorted > c->most_sorted)
	{
		simdup_pairsort_end(c->sort);
		c->sort = NULL;
	}
}

/* Find the last row of each cell. */
static void
find_last_rows(SimdupCellRows *c)
{
	c->cells.last_row = alloc_numbers(c->cells.n_rows);
	for (uint32 row = 0; row < c->cells.n_rows; row++)
		c->cells.last_row[c->cells.cell[row]] = row;
}

/* Sort the near pairs, by the cells that may lead. */
static void
sort_all(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	Size n = c->cells.n_rows;
	int share = Max(maintenance_work_mem / 4, 64);

	if (c->contents != NULL)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		c->sink = sort_near;
		join_equal(c);
		join_all(c, c->cells.max_distance);
		simdup_free(c->cell_at);
		return;
	}
	c->first_near = alloc_numbers(n);
	memset(c->first_near, 0xff, n * sizeof(uint32));
	c->most_sorted = (int64) share * 1024 / (int64) sizeof(SimdupEntry);
	c->sort = simdup_pairsort_begin(share);
	c->sink = note_near;
	join_all(c, c->cells.max_distance);
	c->may_lead = simdup_may_lead(&c->cells, blocks, c->first_near);
	simdup_free(c->first_near);
	if (c->sort == NULL)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		c->sink = sort_near;
		join_all(c, c->cells.max_distance);
	}
	simdup_free(c->may_lead);
}

/* Note the cells with a row that must stay apart from others. */
static void
note_apart(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	if (blocks == NULL || blocks->n_apart == 0)
		return;
	c->leads_again = simdup_alloc0((Size) c->cells.n_rows / 8 + 1);
	for (uint32 row = 0; row < c->cells.n_rows; row++)
		if (simdup_n_apart(blocks, blocks->block[row]) > 0)
			simdup_set_bit(c->leads_again, c->cells.cell[row]);
}

static bool
leads_again(const SimdupCellRows *c, uint32 cell)
{
	return c->leads_again != NULL && simdup_get_bit(c->leads_again, cell);
}

/* Read the next near cell from the sort. */
static void
read_near(SimdupCellRows *c)
{
	uint64 cell = SIMDUP_NO_CELL;
	uint64 near = 0;

	if (!simdup_pairsort_get(c->sort, &cell, &near))
		cell = SIMDUP_NO_CELL;
	c->next_cell = (uint32) cell;
	c->next_near = (SimdupNearCell){(uint32) near, (uint32) (near >> 32)};
}

/* Return the array with room for one more element. */
static void *
with_room(void *array, Size n, Size *capacity, Size width)
{
	if (n < *capacity)
		return array;
	*capacity = *capacity * 2 + 64;
	return simdup_realloc(array, *capacity * width);
}

static void
add_near(SimdupCellRows *c, SimdupNearCell near)
{
	c->near = with_room(c->near, c->n_near, &c->near_capacity, sizeof(near));
	c->near[c->n_near++] = near;
}

static void
keep_near(SimdupCellRows *c)
{
	c->kept =
		with_room(c->kept, c->n_kept, &c->kept_capacity, sizeof(SimdupEntry));
	c->kept[c->n_kept++] =
		(SimdupEntry){c->next_cell,
					  (uint64) c->next_near.distance << 32 | c->next_near.cell};
}

/* Take the near cells of a cell from those that were kept. */
static void
take_kept(SimdupCellRows *c, uint32 cell)
{
	Size low = 0;
	Size high = c->n_kept;

	while (low < high)
	{
		Size middle = low + (high - low) / 2;

		if (c->kept[middle].value < cell)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->n_kept && c->kept[low].value == cell; low++)
		add_near(c, (SimdupNearCell){(uint32) c->kept[low].row,
									 (uint32) (c->kept[low].row >> 32)});
}

/* The cells' near. */
static const SimdupNearCell *
near_cells(void *arg, uint32_t cell, size_t *n)
{
	SimdupCellRows *c = arg;

	c->n_near = 0;
	for (; c->next_cell <= cell; read_near(c))
	{
		CHECK_FOR_INTERRUPTS();
		if (leads_again(c, c->next_cell))
			keep_near(c);
		else if (c->next_cell == cell)
			add_near(c, c->next_near);
	}
	if (leads_again(c, cell))
		take_kept(c, cell);
	*n = c->n_near;
	return c->near;
}

static uint32 *
lead(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	uint32 *group;

	find_last_rows(c);
	sort_all(c, blocks);
	note_apart(c, blocks);
	simdup_pairsort_perform(c->sort);
	c->near = simdup_alloc(1);
	c->kept = simdup_alloc(1);
	c->cells.near = near_cells;
	read_near(c);
	group = simdup_place_by_leaders(&c->cells, blocks);
	simdup_pairsort_end(c->sort);
	simdup_free(c->near);
	simdup_free(c->kept);
	simdup_free(c->cells.last_row);
	return group;
}

/*
 * connected
 */

static void
unite(SimdupCellRows *c, uint32 a, uint32 b)
{
	if (!simdup_connected_may_join(c->connected, a, b))
		return;
	if (c->contents != NULL)
	{
		uint32 cell = c->cells.cell[a];
		uint32 other = c->cells.cell[b];

		if (resemble(c, Max(cell, other), Min(cell, other)) < 0)
			return;
	}
	simdup_connected_join(c->connected, a, b);
}

static void
unite_parts(SimdupCellRows *c, uint32 a, uint32 b, uint32 distance)
{
	SimdupConnected *u = c->connected;

	if (c->distance > 0 && distance != c->distance)
		return;
	for (uint32 x = simdup_connected_part(u, a); x != SIMDUP_NO_CELL;
		 x = simdup_connected_next_part(u, x))
		for (uint32 y = simdup_connected_part(u, b); y != SIMDUP_NO_CELL;
			 y = simdup_connected_next_part(u, y))
		{
			if (c->distance == 0)
				unite(c, x, y);
			else if (simdup_connected_may_join(u, x, y))
				simdup_pairsort_put(c->sort, Min(x, y), Max(x, y));
		}
}

/*
 * Unite groups in the order of pairs, which matters if rows are kept apart. So
 * each distance has a join of its own, whose pairs are sorted. Most of them are
 * passed over, because their rows are in one group by then.
 */
static void
unite_in_order(SimdupCellRows *c)
{
	uint64 a;
	uint64 b;

	for (c->distance = 1; c->distance <= c->cells.max_distance; c->distance++)
	{
		c->sort = simdup_pairsort_begin(maintenance_work_mem);
		join_all(c, c->distance);
		simdup_pairsort_perform(c->sort);
		while (simdup_pairsort_get(c->sort, &a, &b))
		{
			CHECK_FOR_INTERRUPTS();
			unite(c, (uint32) a, (uint32) b);
		}
		simdup_pairsort_end(c->sort);
	}
}

/* The cells of a group, which are at distance 0, are a spot. */
static void
find_spots(SimdupCellRows *c)
{
	uint32 *spot = alloc_numbers(c->cells.n_rows);

	for (uint32 row = 0; row < c->cells.n_rows; row++)
		spot[row] = row;
	for (int64 i = 0; i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		for (uint32 j = group.start;
			 j < group.start + group.n && c->cell_at[j] != SIMDUP_NO_CELL; j++)
			spot[c->cell_at[j]] = c->cell_at[group.start];
	}
	c->cells.spot = spot;
}

static uint32 *
connect(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	if (c->contents != NULL)
		find_spots(c);
	c->connected = simdup_connected_begin(&c->cells, blocks);
	c->sink = unite_parts;
	if (blocks == NULL || blocks->n_apart == 0)
		join_all(c, c->cells.max_distance);
	else
		unite_in_order(c);
	return simdup_connected_finish(c->connected);
}

uint32 *
simdup_cells_place(SimdupCellRows *c, const SimdupBlocks *blocks,
				   SimdupClusterMethod method)
{
	MemoryContext old = MemoryContextSwitchTo(c->groups->rows->context);
	uint32 *group =
		method == SIMDUP_LEADER ? lead(c, blocks) : connect(c, blocks);

	simdup_free(c->cells.cell);
	MemoryContextSwitchTo(old);
	return group;
}
