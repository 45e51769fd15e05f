/*
 * regroup_moves.c
 *	  Rows that decisions send away leave a group and come again, while all
 *	  groups are made anew.
 *
 * These are the rules of moves.c and recompute.c, on numbers of rows in memory.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/hamming.h"
#include "core/host.h"
#include "groups/regroup_moves.h"

static bool
are_near(const Decisions *d, uint32 stored, uint32 arriving)
{
	Regrouping *r = d->r;

	return simdup_hamming64(r->fp[stored], r->fp[arriving]) <= r->g->at->k &&
		   simdup_regroup_conditions_hold(r, stored, arriving);
}

static uint32
merge(Decisions *d, uint32 a, uint32 b)
{
	uint32 into = d->rank[a] < d->rank[b] ? a : b;
	uint32 from = into == a ? b : a;

	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == from)
		{
			d->r->leader[i] = into;
			if (d->brought[i] == NONE)
				d->brought[i] = d->rank[from];
		}
	return into;
}

static bool
is_taken(const Decisions *d, uint32 rank)
{
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == i && d->rank[i] == rank)
			return true;
	return false;
}

static uint32
join_group(Decisions *d, uint32 row, uint32 group)
{
	d->r->leader[row] = group;
	d->brought[row] = NONE;
	return group;
}

/* A row opens a group, or comes back with the rank of the one it brought. */
static void
open_group(Decisions *d, uint32 row)
{
	uint32 rank = d->brought[row];

	d->rank[row] = rank != NONE && !is_taken(d, rank) ? rank : d->n_ranks++;
	(void) join_group(d, row, row);
}

/* The nearest group that a row may join; of equally near ones the oldest. */
static uint32
nearest_group(const Decisions *d, uint32 row)
{
	Regrouping *r = d->r;
	uint32 best = NONE;
	int best_distance = r->g->at->k + 1;

	for (uint32 i = 0; i < r->n; i++)
	{
		int distance = simdup_hamming64(r->fp[i], r->fp[row]);

		if (r->leader[i] != i || distance > best_distance ||
			(distance == best_distance &&
			 (best == NONE || d->rank[i] >= d->rank[best])) ||
			simdup_regroup_apart(d, row, NONE, i) ||
			!simdup_regroup_conditions_hold(r, i, row))
			continue;
		best = i;
		best_distance = distance;
	}
	return best;
}

static void
note_near(Decisions *d, uint32 stored, uint32 row)
{
	uint32 group = d->r->leader[stored];

	if (group >= STRAY ||
		simdup_hamming64(d->r->fp[stored], d->r->fp[row]) > d->r->g->at->k)
		return;
	for (uint32 i = 0; i < d->n_near; i++)
		if (d->near[i] == group)
			return;
	if (!are_near(d, stored, row))
		return;
	if (d->n_near == d->capacity)
		d->near =
			simdup_realloc(d->near, (Size) (d->capacity *= 2) * sizeof(uint32));
	d->near[d->n_near++] = group;
}

/* The place of the group that was opened first, among those from here on. */
static uint32
oldest_near(const Decisions *d, uint32 from)
{
	uint32 oldest = from;

	for (uint32 i = from + 1; i < d->n_near; i++)
		if (d->rank[d->near[i]] < d->rank[d->near[oldest]])
			oldest = i;
	return oldest;
}

/* The groups near a row become one, unless people say otherwise. */
static void
connect_groups(Decisions *d, uint32 row)
{
	uint32 group = simdup_regroup_tied_group(d, row);

	if (group != NONE)
		(void) join_group(d, row, group);
	for (uint32 i = 0; i < d->n_near; i++)
	{
		uint32 oldest = oldest_near(d, i);
		uint32 other = d->near[oldest];

		d->near[oldest] = d->near[i];
		if (other == group || simdup_regroup_apart(d, row, group, other))
			continue;
		group =
			group == NONE ? join_group(d, row, other) : merge(d, group, other);
	}
	if (group == NONE)
		open_group(d, row);
}

static void
arrive(Decisions *d, uint32 row)
{
	uint32 group;

	if (d->r->g->connected)
	{
		d->n_near = 0;
		for (uint32 i = 0; i < d->r->n; i++)
			note_near(d, i, row);
		connect_groups(d, row);
		return;
	}
	group = simdup_regroup_tied_group(d, row);
	if (group == NONE)
		group = nearest_group(d, row);
	if (group == NONE)
		open_group(d, row);
	else
		(void) join_group(d, row, group);
}

void
simdup_regroup_come_again(Decisions *d, uint32 mark)
{
	for (uint32 i = 0; i < d->r->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (d->r->leader[i] == mark)
			arrive(d, i);
	}
}

/*
 * The oldest row that is left in a group whose leader has gone leads it. Rows
 * that are neither near it nor tied to it come again.
 */
static void
hand_over(Decisions *d, uint32 leader)
{
	Regrouping *r = d->r;
	uint32 heir = 0;

	while (heir < r->n && r->leader[heir] != leader)
		heir++;
	if (heir == r->n)
		return;
	d->rank[heir] = d->rank[leader];
	for (uint32 i = heir; i < r->n; i++)
		if (r->leader[i] == leader)
			r->leader[i] =
				simdup_regroup_tied(d, heir, i) || are_near(d, heir, i) ? heir
																		: STRAY;
	simdup_regroup_come_again(d, STRAY);
}

/*
 * The rank of a part but the first one: one that a row of it brought, and that
 * no group has now, or the next.
 */
static uint32
rank_of_part(Decisions *d, const uint32 *rows, uint32 n, uint32 part)
{
	for (uint32 i = 0; i < n; i++)
		if (d->r->leader[rows[i]] == part && d->brought[rows[i]] != NONE &&
			!is_taken(d, d->brought[rows[i]]))
			return d->brought[rows[i]];
	return d->n_ranks++;
}

/* The rows of a group, by age; how many there are. */
static uint32 *
rows_of(const Decisions *d, uint32 leader, uint32 *n)
{
	uint32 *rows;

	*n = 0;
	for (uint32 i = 0; i < d->r->n; i++)
		*n += d->r->leader[i] == leader;
	rows = simdup_alloc((Size) *n * sizeof(uint32) + 1);
	*n = 0;
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == leader)
			rows[(*n)++] = i;
	return rows;
}

/*
 * Rows have left a component: the others come again among themselves. The part
 * with the oldest row keeps the rank of the group. Each row is compared with
 * all that came before it.
 */
static void
recompute(Decisions *d, uint32 leader)
{
	uint32 rank = d->rank[leader];
	uint32 n;
	uint32 *rows = rows_of(d, leader, &n);
	uint32 *brought = simdup_alloc((Size) n * sizeof(uint32) + 1);

	for (uint32 i = 0; i < n; i++)
	{
		brought[i] = d->brought[rows[i]];
		d->brought[rows[i]] = NONE;
		d->r->leader[rows[i]] = STRAY;
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		d->n_near = 0;
		for (uint32 j = 0; j < i; j++)
			note_near(d, rows[j], rows[i]);
		connect_groups(d, rows[i]);
	}
	for (uint32 i = 0; i < n; i++)
		d->brought[rows[i]] = brought[i];
	for (uint32 i = 0; i < n; i++)
		if (d->r->leader[rows[i]] == rows[i])
			d->rank[rows[i]] =
				i == 0 ? rank : rank_of_part(d, rows, n, rows[i]);
	for (uint32 i = 0; i < n; i++)
		if (d->brought[rows[i]] == d->rank[d->r->leader[rows[i]]])
			d->brought[rows[i]] = NONE;
	simdup_free(rows);
	simdup_free(brought);
}

void
simdup_regroup_merge(Decisions *d, uint32 a, uint32 b)
{
	(void) merge(d, a, b);
}

void
simdup_regroup_leave(Decisions *d, uint32 leader)
{
	if (d->r->g->connected)
		recompute(d, leader);
	else if (d->r->leader[leader] != leader)
		hand_over(d, leader);
}
