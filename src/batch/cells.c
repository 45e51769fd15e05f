/*
 * cells.c
 *	  The rows of a query as core/place.h takes them: cells, and near cells.
 *
 * Rows of equal fingerprints are grouped first. Such a group has several cells
 * if scopes or contents count. The join gives near groups, and so near cells.
 * Those that placing asks for again are sorted by cell, on disk where they are
 * many.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/cells.h"
#include "batch/rows.h"
#include "core/group.h"
#include "core/host.h"
#include "server/catalog.h"
#include "server/spill.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/*
 * Reading
 */

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupCellRows *c = arg;
	bool fits = columns->natts >= 2 &&
				TupleDescAttr(columns, 1)->atttypid == c->fp_type;

	for (int i = 2; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool is_scope = strcmp(NameStr(column->attname), "scope") == 0;
		int *place = is_scope ? &c->scope_column : &c->content_column;

		fits = fits && *place < 0;
		*place = i;
		if (is_scope)
		{
			c->scope_keys = simdup_keys_begin(column->atttypid);
			simdup_keys_expect(c->scope_keys, column->atttypid, argument);
			c->scopes =
				simdup_keynumbers_begin(c->scope_keys, column->atttypid);
		}
		else if (c->contents != NULL)
			fits =
				fits && simdup_contents_expect(c->contents, column->atttypid);
	}
	if (!fits || (c->contents != NULL && c->content_column < 0))
		return false;
	simdup_keys_expect(c->keys, TupleDescAttr(columns, 0)->atttypid, argument);
	return true;
}

/* Return the number of a scope. NULL is a scope, too. */
static uint32
scope_of(SimdupCellRows *c, TupleTableSlot *slot)
{
	Datum scope = slot->tts_values[c->scope_column];
	uint32 number = PG_UINT32_MAX;

	if (slot->tts_isnull[c->scope_column])
		return number;
	scope = simdup_keys_take(c->scope_keys, scope, false);
	simdup_keynumbers_get(c->scopes, &scope, 1, &number);
	return number;
}

static void
add_scope(SimdupCellRows *c, uint32 scope)
{
	if (c->rows->n == c->scope_capacity)
	{
		c->scope_capacity = c->scope_capacity * 2 + 1024;
		c->scope =
			c->scope == NULL
				? palloc(c->scope_capacity * sizeof(uint32))
				: repalloc_huge(c->scope, c->scope_capacity * sizeof(uint32));
	}
	c->scope[c->rows->n] = scope;
}

static void
add_key(SimdupCellRows *c, TupleTableSlot *slot)
{
	Datum key =
		simdup_keys_take(c->keys, slot->tts_values[0], slot->tts_isnull[0]);
	uint32 number;

	simdup_keynumbers_get(c->numbers, &key, 1, &number);
	if (number < c->rows->n)
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg("the query of a grouping yields a key twice"),
				errdetail("The key is (%s).",
						  simdup_key_text(c->key_type, key)));
}

/* Add a row: a SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	SimdupCellRows *c = arg;
	MemoryContext old;
	uint32 scope = 0;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1] ||
		(c->contents != NULL && slot->tts_isnull[c->content_column]))
		return;
	old = MemoryContextSwitchTo(c->rows->row_context);
	add_key(c, slot);
	if (c->contents != NULL)
		simdup_contents_add(c->contents, slot->tts_values[c->content_column]);
	if (c->scope_column >= 0)
		scope = scope_of(c, slot);
	MemoryContextSwitchTo(c->rows->context);
	if (c->scope_column >= 0)
		add_scope(c, scope);
	simdup_rows_add_fingerprint(c->rows,
								DatumGetSimhash64(slot->tts_values[1]));
	MemoryContextSwitchTo(old);
	MemoryContextReset(c->rows->row_context);
}

/*
 * Cells
 */

static void *
alloc_numbers(Size n)
{
	return simdup_alloc((n + 1) * sizeof(uint32));
}

/*
 * Find the first row of each row's cell, for the rows of one group. Sorted by
 * digest and scope, the rows of a cell stand together. A row whose digest
 * collides is a cell of its own. So is one that repeats a content without a
 * shingle, which is near no other.
 */
static void
find_first_rows(SimdupCellRows *c, const SimdupGroup *group, SimdupPair *pairs)
{
	uint32 first = 0;

	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = simdup_groups_row(c->groups, group->start + i);

		pairs[i].first =
			c->contents ? simdup_contents_digest(c->contents, row) : 0;
		pairs[i].second = (uint64) (c->scope ? c->scope[row] : 0) << 32 | row;
	}
	simdup_order_pairs(pairs, group->n);
	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = (uint32) pairs[i].second;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || pairs[i].first != pairs[i - 1].first ||
			pairs[i].second >> 32 != pairs[i - 1].second >> 32)
			first = row;
		c->cells.cell[row] = first;
		if (c->contents == NULL || first == row)
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

/* Number the cells in the order of their first rows. */
static void
number_cells(SimdupCellRows *c)
{
	SimdupCells *cells = &c->cells;

	for (uint32 row = 0; row < cells->n_rows; row++)
	{
		uint32 first = cells->cell[row];

		if (first == row)
			c->first_row[cells->n++] = row;
		cells->cell[row] = first == row ? cells->n - 1 : cells->cell[first];
		c->last_row[cells->cell[row]] = row;
	}
}

/* List the cells of a group by scope. Those of one scope are a spot. */
static void
list_cells(SimdupCellRows *c, const SimdupGroup *group, SimdupPair *pairs)
{
	uint32 n = 0;

	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = simdup_groups_row(c->groups, group->start + i);
		uint32 cell = c->cells.cell[row];

		c->cells.spot[cell] = cell;
		if (c->first_row[cell] == row && !simdup_get_bit(c->alone, row))
			pairs[n++] = (SimdupPair){c->scope ? c->scope[row] : 0, cell};
	}
	simdup_order_pairs(pairs, n);
	for (uint32 i = 0; i < n; i++)
	{
		uint32 cell = (uint32) pairs[i].second;
		bool same_spot = i > 0 && pairs[i].first == pairs[i - 1].first;

		c->cell_at[group->start + i] = cell;
		if (same_spot)
			c->cells.spot[cell] = c->cells.spot[(uint32) pairs[i - 1].second];
	}
	c->n_at[group->start] = n;
}

static void
make_cells(SimdupCellRows *c)
{
	Size n = c->rows->n;
	SimdupPair *pairs = simdup_alloc((n + 1) * sizeof(SimdupPair));

	c->cells.n_rows = c->rows->n;
	c->cells.cell = alloc_numbers(n);
	c->first_row = alloc_numbers(n);
	c->last_row = alloc_numbers(n);
	c->alone = simdup_alloc0(n / 8 + 1);
	c->cells.spot = alloc_numbers(n);
	c->cell_at = alloc_numbers(n);
	c->n_at = alloc_numbers(n);
	for (int64 i = 0; i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		find_first_rows(c, &group, pairs);
	}
	number_cells(c);
	for (int64 i = 0; i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		list_cells(c, &group, pairs);
	}
	simdup_free(pairs);
}

/* Check whether two cells resemble each other: the cells' verify. */
static bool
resemble(void *arg, uint32 cell, uint32 other)
{
	SimdupCellRows *c = arg;

	CHECK_FOR_INTERRUPTS();
	return simdup_contents_resemblance(c->contents, c->first_row[cell],
									   c->first_row[other],
									   c->min_resemblance) >= 0;
}

SimdupCellRows *
simdup_cells_read(FunctionCallInfo fcinfo, const char *text, int max_distance,
				  double min_resemblance)
{
	const char *columns =
		min_resemblance > 0
			? "a key, a simhash64, a text or a varbit, and at most a column called scope"
			: "a key, a simhash64, and at most a content and a column called scope";
	SimdupQuery query = {text, "query", columns,
						 "id, minhash64(content), content"};
	SimdupRows *rows = simdup_rows_begin_without_keys();
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	SimdupCellRows *c = palloc0(sizeof(SimdupCellRows));

	c->rows = rows;
	c->key_type = simdup_key_type_argument(fcinfo);
	c->fp_type = simdup_sibling_type(fcinfo->flinfo->fn_oid, "simhash64");
	c->cells.max_distance = (uint32) max_distance;
	c->min_resemblance = min_resemblance;
	c->content_column = c->scope_column = -1;
	c->keys = simdup_keys_begin(c->key_type);
	c->numbers = simdup_keynumbers_begin(c->keys, c->key_type);
	if (min_resemblance > 0)
		c->contents = simdup_contents_begin(simdup_default_shingling);
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 add_row, c);
	if (c->contents != NULL)
		simdup_contents_finish(c->contents, (Size) rows->budget / 4);
	rows->n_first = rows->n;
	c->groups = simdup_rows_group(rows);
	make_cells(c);
	c->cells.verify = c->contents == NULL ? NULL : resemble;
	c->cells.arg = c;
	MemoryContextSwitchTo(old);
	return c;
}

void
simdup_cells_end(SimdupCellRows *c)
{
	if (c->contents != NULL)
		simdup_contents_end(c->contents);
	simdup_groups_end(c->groups);
}

/*
 * Near cells
 */

static uint32
scope_at(const SimdupCellRows *c, uint32 position)
{
	return c->scope ? c->scope[c->first_row[c->cell_at[position]]] : 0;
}

/* Join the cells of one scope: a SimdupGroupSink. */
static void
join_cells(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	SimdupCellRows *c = arg;
	uint32 start = b->start;
	uint32 end = start + c->n_at[b->start];

	for (uint32 i = a->start; i < a->start + c->n_at[a->start]; i++)
	{
		uint32 scope = scope_at(c, i);

		while (start < end && scope_at(c, start) < scope)
			start++;
		for (uint32 j = start; j < end && scope_at(c, j) == scope; j++)
			if (a != b || i < j)
				c->sink(c, c->cell_at[i], c->cell_at[j], (uint32) distance);
	}
}

/*
 * Report each pair of near cells once. with_equal adds those of one
 * fingerprint.
 */
static void
join_all(SimdupCellRows *c, uint32 max_distance, bool with_equal)
{
	for (int64 i = 0; with_equal && i < c->groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(c->groups, i);

		CHECK_FOR_INTERRUPTS();
		join_cells(c, &group, &group, 0);
	}
	simdup_join_groups(c->groups, (int) max_distance, "comparing", join_cells,
					   c);
}

/* Keep the sorted near cells of each cell, in one array. */
static void
keep_near(SimdupCellRows *c)
{
	Size capacity = 1024;
	uint64 cell;
	uint64 near;
	Size end = 0;
	uint32 n = 0;

	c->near = simdup_alloc(capacity * sizeof(SimdupNearCell));
	c->near_start = simdup_alloc(((Size) c->cells.n + 1) * sizeof(Size));
	simdup_pairsort_perform(c->sort);
	while (simdup_pairsort_get(c->sort, &cell, &near))
	{
		CHECK_FOR_INTERRUPTS();
		while (n <= cell)
			c->near_start[n++] = end;
		if (end == capacity)
			c->near = simdup_realloc(c->near,
									 (capacity *= 2) * sizeof(SimdupNearCell));
		c->near[end++] = (SimdupNearCell){(uint32) near, (uint32) (near >> 32)};
	}
	while (n <= c->cells.n)
		c->near_start[n++] = end;
	simdup_pairsort_end(c->sort);
}

/* The cells' near. */
static const SimdupNearCell *
near_cells(void *arg, uint32_t cell, size_t *n)
{
	SimdupCellRows *c = arg;

	*n = c->near_start[cell + 1] - c->near_start[cell];
	return c->near + c->near_start[cell];
}

/*
 * leader
 */

static void
note_first_near(SimdupCellRows *c, uint32 a, uint32 b,
				uint32 distance pg_attribute_unused())
{
	c->first_near[Max(a, b)] = Min(c->first_near[Max(a, b)], Min(a, b));
}

static void
sort_near(SimdupCellRows *c, uint32 a, uint32 b, uint32 distance)
{
	if ((c->may_lead == NULL || c->may_lead[a] != 0) &&
		c->last_row[b] > c->first_row[a])
		simdup_pairsort_put(c->sort, a, (uint64) distance << 32 | b);
	if ((c->may_lead == NULL || c->may_lead[b] != 0) &&
		c->last_row[a] > c->first_row[b])
		simdup_pairsort_put(c->sort, b, (uint64) distance << 32 | a);
}

uint32 *
simdup_cells_lead(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	MemoryContext old = MemoryContextSwitchTo(c->rows->context);
	uint32 *group;

	if (c->contents == NULL)
	{
		c->first_near = alloc_numbers(c->cells.n);
		memset(c->first_near, 0xff, (Size) c->cells.n * sizeof(uint32));
		c->sink = note_first_near;
		join_all(c, c->cells.max_distance, false);
		c->may_lead = simdup_may_lead(&c->cells, blocks, c->first_near);
	}
	c->sort = simdup_pairsort_begin(maintenance_work_mem);
	c->sink = sort_near;
	join_all(c, c->cells.max_distance, c->contents != NULL);
	keep_near(c);
	c->cells.near = near_cells;
	group = simdup_place_by_leaders(&c->cells, blocks);
	MemoryContextSwitchTo(old);
	return group;
}

/*
 * connected
 */

static void
unite(SimdupCellRows *c, uint32 a, uint32 b)
{
	uint32 cell = c->cells.cell[a];
	uint32 other = c->cells.cell[b];

	if (simdup_connected_may_join(c->connected, a, b) &&
		(c->contents == NULL ||
		 resemble(c, Max(cell, other), Min(cell, other))))
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
		join_all(c, c->distance, false);
		simdup_pairsort_perform(c->sort);
		while (simdup_pairsort_get(c->sort, &a, &b))
		{
			CHECK_FOR_INTERRUPTS();
			unite(c, (uint32) a, (uint32) b);
		}
		simdup_pairsort_end(c->sort);
	}
}

uint32 *
simdup_cells_connect(SimdupCellRows *c, const SimdupBlocks *blocks)
{
	MemoryContext old = MemoryContextSwitchTo(c->rows->context);
	uint32 *group;

	c->connected = simdup_connected_begin(&c->cells, blocks);
	c->sink = unite_parts;
	if (blocks->n_apart == 0)
		join_all(c, c->cells.max_distance, false);
	else
		unite_in_order(c);
	group = simdup_connected_finish(c->connected);
	MemoryContextSwitchTo(old);
	return group;
}
