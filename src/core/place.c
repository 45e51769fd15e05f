/*
 * place.c
 *	  Rows into groups, by either method, with people's decisions.
 */
#include <string.h>

#include "core/hash.h"
#include "core/host.h"
#include "core/place.h"

#define NONE UINT32_MAX

/* Add a pair to a set of pairs of numbers: blocks that may not join groups. */
static void
add_pair(SimdupWordSet *set, uint32_t a, uint32_t b)
{
	(void) simdup_wordset_add(set, ((uint64_t) a << 32 | b) + 1);
}

static bool
has_pair(const SimdupWordSet *set, uint32_t a, uint32_t b)
{
	return simdup_wordset_has(set, ((uint64_t) a << 32 | b) + 1);
}

/* leader */

uint8_t *
simdup_may_lead(const SimdupCells *cells, const SimdupBlocks *blocks,
				const uint32_t *first_near)
{
	enum
	{
		NEVER,
		PERHAPS,
		SURELY
	};
	uint8_t *leads = simdup_alloc0((size_t) cells->n_rows + 1);

	/* a row that may pass over a leader may lead */
	for (uint32_t row = 0; row < cells->n_rows; row++)
		if (simdup_n_apart(blocks, simdup_block_of(blocks, row)) > 0)
			leads[cells->cell[row]] = PERHAPS;
	for (uint32_t cell = 0; cell < cells->n_rows; cell++)
	{
		if (cells->cell[cell] != cell)
			continue;
		if (first_near[cell] == SIMDUP_NO_CELL)
			leads[cell] = SURELY;
		else if (leads[first_near[cell]] != SURELY)
			leads[cell] = PERHAPS;
	}
	return leads;
}

/* A leader near a cell, in the list of its distance. */
typedef struct Leader
{
	uint32_t row;
	uint32_t next;
	double resemblance; /* below 0: not yet verified */
} Leader;

/* The leaders of one cell at one distance, the earliest first. */
typedef struct LeaderList
{
	uint32_t first;
	uint32_t last;
	uint32_t next; /* list of the cell, at the next distance */
	uint32_t distance;
} LeaderList;

typedef struct Leading
{
	const SimdupCells *cells;
	const SimdupBlocks *blocks;
	uint32_t *group;	   /* of each row: its first row */
	uint32_t *block_group; /* of each block; without blocks it is group */
	SimdupWordSet apart;   /* (block, group) */
	uint32_t *lists;	   /* of each cell: its first list in list_pool */
	LeaderList *list_pool;
	uint32_t n_lists;
	size_t lists_capacity;
	Leader *leaders;
	uint32_t n_leaders;
	size_t leaders_capacity;
} Leading;

/* Return the list of a cell at a distance. */
static LeaderList *
list_at(Leading *l, uint32_t cell, uint32_t distance)
{
	uint32_t *at = &l->lists[cell];

	if (l->n_lists == l->lists_capacity)
	{
		l->lists_capacity = l->lists_capacity * 2 + 64;
		l->list_pool = simdup_realloc(l->list_pool,
									  l->lists_capacity * sizeof(LeaderList));
	}
	while (*at != NONE && l->list_pool[*at].distance < distance)
		at = &l->list_pool[*at].next;
	if (*at == NONE || l->list_pool[*at].distance > distance)
	{
		l->list_pool[l->n_lists] = (LeaderList){NONE, NONE, *at, distance};
		*at = l->n_lists++;
	}
	return &l->list_pool[*at];
}

static void
add_leader(Leading *l, uint32_t row, uint32_t cell, uint32_t distance)
{
	LeaderList *list;

	if (l->cells->last_row[cell] <= row)
		return;
	if (l->n_leaders == l->leaders_capacity)
	{
		l->leaders_capacity = l->leaders_capacity * 2 + 64;
		l->leaders =
			simdup_realloc(l->leaders, l->leaders_capacity * sizeof(Leader));
	}
	list = list_at(l, cell, distance);
	if (list->first == NONE)
		list->first = l->n_leaders;
	else
		l->leaders[list->last].next = l->n_leaders;
	list->last = l->n_leaders;
	l->leaders[l->n_leaders++] = (Leader){row, NONE, -1};
}

/* Make a row lead: later rows of its cell and of near cells find it. */
static void
lead(Leading *l, uint32_t row)
{
	uint32_t cell = l->cells->cell[row];
	size_t n;
	const SimdupNearCell *near = l->cells->near(l->cells->arg, cell, &n);

	add_leader(l, row, cell, 0);
	for (size_t i = 0; i < n; i++)
		add_leader(l, row, near[i].cell, near[i].distance);
}

/* Return the resemblance of two cells that seem near; below 0: they are not. */
static double
verify(const SimdupCells *cells, uint32_t a, uint32_t b)
{
	if (a == b || cells->verify == NULL)
		return 1;
	return cells->verify(cells->arg, a > b ? a : b, a > b ? b : a);
}

/* Return the nearest leader whose group a row may join, or NONE. */
static uint32_t
find_leader(Leading *l, uint32_t row)
{
	uint32_t cell = l->cells->cell[row];
	uint32_t block = simdup_block_of(l->blocks, row);

	for (uint32_t d = l->lists[cell]; d != NONE; d = l->list_pool[d].next)
	{
		LeaderList *list = &l->list_pool[d];
		uint32_t before = NONE;

		for (uint32_t i = list->first; i != NONE; i = l->leaders[i].next)
		{
			Leader *leader = &l->leaders[i];

			if (has_pair(&l->apart, block, l->group[leader->row]))
			{
				before = i;
				continue;
			}
			if (leader->resemblance < 0)
				leader->resemblance =
					verify(l->cells, cell, l->cells->cell[leader->row]);
			if (leader->resemblance >= 0)
			{
				if (l->cells->resemblance != NULL)
					l->cells->resemblance[row] = leader->resemblance;
				return leader->row;
			}
			/* it leaves the list */
			if (before == NONE)
				list->first = leader->next;
			else
				l->leaders[before].next = leader->next;
			if (list->last == i)
				list->last = before;
		}
	}
	return NONE;
}

static void
place_row(Leading *l, uint32_t row)
{
	uint32_t block = simdup_block_of(l->blocks, row);
	uint32_t leader = find_leader(l, row);

	if (l->block_group[block] == NONE)
	{
		size_t n = simdup_n_apart(l->blocks, block);
		uint32_t group = leader == NONE ? row : l->group[leader];

		l->block_group[block] = group;
		for (size_t i = 0; i < n; i++)
			add_pair(&l->apart, simdup_apart(l->blocks, block)[i], group);
	}
	l->group[row] = l->block_group[block];
	if (leader == NONE)
		lead(l, row);
}

static uint32_t *
make_numbers(size_t n)
{
	return memset(simdup_alloc((n + 1) * sizeof(uint32_t)), 0xff,
				  (n + 1) * sizeof(uint32_t));
}

uint32_t *
simdup_place_by_leaders(const SimdupCells *cells, const SimdupBlocks *blocks)
{
	Leading l = {.cells = cells, .blocks = blocks};

	l.group = make_numbers(cells->n_rows);
	l.block_group = blocks == NULL ? l.group : make_numbers(cells->n_rows);
	l.lists = make_numbers(cells->n_rows);
	l.list_pool = simdup_alloc(1);
	l.leaders = simdup_alloc(1);
	for (uint32_t row = 0; row < cells->n_rows; row++)
	{
		if (row % 1024 == 0)
			simdup_check_interrupts();
		place_row(&l, row);
	}
	if (blocks != NULL)
		simdup_free(l.block_group);
	simdup_free(l.lists);
	simdup_free(l.list_pool);
	simdup_free(l.leaders);
	simdup_wordset_free(&l.apart);
	return l.group;
}

/*
 * connected
 *
 * Groups are the roots of a union-find over rows. Those that must stay apart are
 * in a set of pairs of roots. Each root has a list of the rows that it must stay
 * apart from. The root with the shorter list becomes the child of the other. Its
 * list is walked, to add pairs of the other root. So an entry of a list is
 * walked as often as its list at least doubles.
 */

#define NO_ENTRY SIZE_MAX

/* The rows that a root must stay apart from: entries, linked by next. */
typedef struct ApartList
{
	size_t first;
	size_t last;
	size_t n;
} ApartList;

struct SimdupConnected
{
	const SimdupCells *cells;
	uint32_t *parent;
	const uint32_t *entries; /* rows; NULL: nothing is kept apart */
	size_t *next;			 /* by entry */
	ApartList *lists;		 /* by root */
	SimdupWordSet apart;	 /* (smaller root, larger root) */

	/* the parts of each cell, linked; NULL: each cell is in one group */
	uint32_t *first_part; /* by cell */
	uint32_t *next_part;  /* by row */
};

static uint32_t
root_of(SimdupConnected *c, uint32_t row)
{
	while (c->parent[row] != row)
		row = c->parent[row] = c->parent[c->parent[row]];
	return row;
}

static void
keep_apart(SimdupConnected *c, uint32_t a, uint32_t b)
{
	add_pair(&c->apart, a < b ? a : b, a < b ? b : a);
}

bool
simdup_connected_may_join(SimdupConnected *c, uint32_t a, uint32_t b)
{
	a = root_of(c, a);
	b = root_of(c, b);
	return a != b && !has_pair(&c->apart, a < b ? a : b, a < b ? b : a);
}

void
simdup_connected_join(SimdupConnected *c, uint32_t a, uint32_t b)
{
	uint32_t root = root_of(c, a);
	uint32_t child = root_of(c, b);
	ApartList *to;
	const ApartList *from;

	if (c->entries == NULL ? child < root
						   : c->lists[root].n < c->lists[child].n)
	{
		root = child;
		child = root_of(c, a);
	}
	c->parent[child] = root;
	if (c->entries == NULL || c->lists[child].n == 0)
		return;
	to = &c->lists[root];
	from = &c->lists[child];
	for (size_t i = from->first; i != NO_ENTRY; i = c->next[i])
		keep_apart(c, root, root_of(c, c->entries[i]));
	c->next[to->last] = from->first;
	to->last = from->last;
	to->n += from->n;
}

/* Note the lists of blocks, which are roots by now. */
static void
note_apart(SimdupConnected *c, const SimdupBlocks *blocks)
{
	c->entries = blocks->apart;
	c->next = simdup_alloc(blocks->n_apart * sizeof(size_t));
	c->lists = simdup_alloc0((size_t) blocks->n * sizeof(ApartList));
	for (uint32_t block = 0; block < blocks->n; block++)
	{
		size_t start = blocks->start[block];
		size_t n = simdup_n_apart(blocks, block);

		for (size_t i = start; i < start + n; i++)
		{
			c->next[i] = i + 1 < start + n ? i + 1 : NO_ENTRY;
			keep_apart(c, block, c->entries[i]);
		}
		c->lists[block] = (ApartList){start, start + n - 1, n};
	}
}

/*
 * Check whether no earlier row of a row's cell is in its group; then the row is
 * a part. Only parts have near pairs that matter. An earlier row of the cell and
 * the group has tried the same partners, and a refused pair stays refused.
 * The parts of a cell all stay apart from each other, so n decisions make fewer
 * than 2 sqrt(n) of them.
 */
static bool
is_part(SimdupConnected *c, uint32_t row)
{
	uint32_t *end = &c->first_part[c->cells->cell[row]];

	for (; *end != NONE; end = &c->next_part[*end])
		if (root_of(c, *end) == root_of(c, row))
			return false;
	*end = row;
	return true;
}

/* Join the near pairs at distance 0, by earlier and later row. */
static void
join_at_distance_0(SimdupConnected *c)
{
	const SimdupCells *cells = c->cells;
	uint32_t *next = make_numbers(cells->n_rows);  /* row of the spot */
	uint32_t *first = make_numbers(cells->n_rows); /* by spot */

	for (uint32_t row = cells->n_rows; row-- > 0;)
	{
		uint32_t spot = cells->cell[row];

		if (cells->spot != NULL)
			spot = cells->spot[spot];
		next[row] = first[spot];
		first[spot] = row;
	}
	for (uint32_t row = 0; row < cells->n_rows; row++)
	{
		if (c->first_part == NULL ? cells->cell[row] != row : !is_part(c, row))
			continue;
		simdup_check_interrupts();
		for (uint32_t i = next[row]; i != NONE; i = next[i])
		{
			/* where cells are in one group each, their first rows are enough */
			if (c->first_part == NULL && cells->cell[i] != row &&
				cells->cell[i] != i)
				continue;
			if (simdup_connected_may_join(c, row, i) &&
				verify(cells, cells->cell[row], cells->cell[i]) >= 0)
				simdup_connected_join(c, row, i);
		}
	}
	simdup_free(next);
	simdup_free(first);
}

SimdupConnected *
simdup_connected_begin(const SimdupCells *cells, const SimdupBlocks *blocks)
{
	SimdupConnected *c = simdup_alloc0(sizeof(SimdupConnected));

	c->cells = cells;
	c->parent = cells->cell;
	if (blocks != NULL || cells->spot != NULL)
	{
		c->parent = make_numbers(cells->n_rows);
		memcpy(c->parent, blocks == NULL ? cells->cell : blocks->block,
			   cells->n_rows * sizeof(uint32_t));
	}
	if (blocks != NULL && blocks->n_apart > 0)
	{
		note_apart(c, blocks);
		c->first_part = make_numbers(cells->n_rows);
		c->next_part = make_numbers(cells->n_rows);
	}
	if (blocks != NULL || cells->spot != NULL)
		join_at_distance_0(c);
	return c;
}

uint32_t
simdup_connected_part(const SimdupConnected *c, uint32_t cell)
{
	return c->first_part == NULL ? cell : c->first_part[cell];
}

uint32_t
simdup_connected_next_part(const SimdupConnected *c, uint32_t row)
{
	return c->next_part == NULL ? NONE : c->next_part[row];
}

uint32_t *
simdup_connected_finish(SimdupConnected *c)
{
	uint32_t n = c->cells->n_rows;
	uint32_t *group = make_numbers(n);
	uint32_t *first = make_numbers(n); /* by root */

	for (uint32_t row = 0; row < n; row++)
	{
		uint32_t root = root_of(c, row);

		if (first[root] == NONE)
			first[root] = row;
		group[row] = first[root];
	}
	if (c->entries != NULL)
	{
		simdup_free(c->next);
		simdup_free(c->lists);
		simdup_free(c->first_part);
		simdup_free(c->next_part);
	}
	if (c->parent != c->cells->cell)
		simdup_free(c->parent);
	simdup_free(first);
	simdup_wordset_free(&c->apart);
	simdup_free(c);
	return group;
}
