/*
 * regroup_decisions.c
 *	  Decisions outrank the groups that fingerprints make.
 *
 * Rows that are the same have one group. If two rows in one group were told
 * apart, the younger one leaves with those tied to it, and all of them come
 * again. Their group gets another representative if its own was among them.
 * Decisions are few, so each looks at all rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "core/hamming.h"
#include "core/host.h"
#include "groups/decisions.h"
#include "groups/regrouping.h"

/* Leaders of rows that are in no group now, and come again soon. */
#define STRAY (PG_UINT32_MAX - 1)
#define SENT_AWAY PG_UINT32_MAX

typedef struct Decision
{
	uint32 a;
	uint32 b;
	bool same;
} Decision;

typedef struct Decisions
{
	Regrouping *r;
	int n;
	Decision *list;
	bool *tied;		/* marks of rows */
	uint32 *opened; /* the order of groups, under their leaders' numbers */
	uint32 n_opened;
} Decisions;

/* Decisions about rows that are there, by the rows' numbers. */
static void
read_decisions(Decisions *d)
{
	char *text =
		simdup_grouping_text(d->r->g,
							 "WITH numbered AS (SELECT t.{key} AS key,"
							 " pg_catalog.row_number() OVER (ORDER BY m.age, t.{key}) AS n"
							 " FROM {T} t LEFT JOIN {M} m ON m.key {keq} t.{key}"
							 " WHERE t.{fp} IS NOT NULL)"
							 " SELECT x.n, y.n, d.same FROM {D} d"
							 " JOIN numbered x ON x.key {keq} d.a JOIN numbered y ON y.key {keq} d.b"
							 " ORDER BY d.decided_at, x.n, y.n");

	/* the rows that were numbered, and no others */
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_execute(text, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed: %s", text);
	PopActiveSnapshot();
	d->n = (int) SPI_processed;
	d->list = palloc(d->n * sizeof(Decision) + 1);
	for (int i = 0; i < d->n; i++)
	{
		ArrivalFound found = {.n = SPI_processed, .rows = SPI_tuptable};

		d->list[i].a =
			(uint32) DatumGetInt64(simdup_grouping_value(found, i, 1, NULL)) -
			1;
		d->list[i].b =
			(uint32) DatumGetInt64(simdup_grouping_value(found, i, 2, NULL)) -
			1;
		d->list[i].same =
			DatumGetBool(simdup_grouping_value(found, i, 3, NULL));
	}
}

/* All rows of one group get another leader. */
static void
relabel(Decisions *d, uint32 from, uint32 to)
{
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == from)
			d->r->leader[i] = to;
}

/* All marked rows get another leader. */
static void
relabel_tied(Decisions *d, uint32 to)
{
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->tied[i])
			d->r->leader[i] = to;
}

/* Mark the rows that are tied to marked ones. */
static void
spread_marks(Decisions *d)
{
	bool again = true;

	while (again)
	{
		again = false;
		for (int i = 0; i < d->n; i++)
		{
			const Decision *one = &d->list[i];

			if (!one->same || d->tied[one->a] == d->tied[one->b])
				continue;
			d->tied[one->a] = d->tied[one->b] = again = true;
		}
	}
}

static void
mark_tied(Decisions *d, uint32 row)
{
	memset(d->tied, false, d->r->n);
	d->tied[row] = true;
	spread_marks(d);
}

/* Does the group hold a row that a marked one was told apart from? */
static bool
is_refused(Decisions *d, uint32 leader)
{
	for (int i = 0; i < d->n; i++)
	{
		const Decision *one = &d->list[i];

		if (!one->same &&
			((d->tied[one->a] && d->r->leader[one->b] == leader) ||
			 (d->tied[one->b] && d->r->leader[one->a] == leader)))
			return true;
	}
	return false;
}

/* The nearest group that a marked row may join, or the row, which opens one. */
static uint32
nearest(Decisions *d, uint32 row)
{
	Regrouping *r = d->r;
	uint32 best = row;
	int best_distance = r->g->at->k + 1;

	for (uint32 i = 0; i < r->n; i++)
	{
		uint32 leader = r->leader[i];
		int distance;

		if (leader == STRAY || leader == SENT_AWAY ||
			(!r->g->connected && leader != i))
			continue;
		distance = simdup_hamming64(r->fp[i], r->fp[row]);
		if (distance > best_distance ||
			(distance == best_distance &&
			 (best == row || d->opened[leader] >= d->opened[best])) ||
			is_refused(d, leader) || !simdup_regroup_conditions_hold(r, i, row))
			continue;
		best = leader;
		best_distance = distance;
	}
	if (best == row)
		d->opened[row] = d->n_opened++;
	return best;
}

/* Rows that are in no group come, in order of age, with those tied to them. */
static void
come_again(Decisions *d, uint32 mark)
{
	for (uint32 i = 0; i < d->r->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (d->r->leader[i] != mark)
			continue;
		mark_tied(d, i);
		relabel_tied(d, nearest(d, i));
	}
}

/*
 * The oldest row that is left in a group whose leader has gone leads it. Rows
 * far from it come again, unless they are tied to a row that stays.
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
	relabel(d, leader, heir);
	d->opened[heir] = d->opened[leader];
	/* a component has no leader that its rows must be near */
	if (r->g->connected)
		return;
	for (uint32 i = 0; i < r->n; i++)
		d->tied[i] = i == heir ||
					 (r->leader[i] == heir &&
					  simdup_hamming64(r->fp[i], r->fp[heir]) <= r->g->at->k &&
					  simdup_regroup_conditions_hold(r, heir, i));
	spread_marks(d);
	for (uint32 i = 0; i < r->n; i++)
		if (r->leader[i] == heir && !d->tied[i])
			r->leader[i] = STRAY;
	come_again(d, STRAY);
}

/* The younger of two rows goes, with those that are tied to it. */
static void
separate(Decisions *d, uint32 younger)
{
	uint32 leader = d->r->leader[younger];
	bool led;

	mark_tied(d, younger);
	led = d->tied[leader];
	relabel_tied(d, SENT_AWAY);
	if (led)
		hand_over(d, leader);
	come_again(d, SENT_AWAY);
}

void
simdup_regroup_decide(Regrouping *r)
{
	Decisions d = {.r = r};

	if (!simdup_group_any_decision(r->g))
		return;
	SPI_connect();
	d.tied = palloc0(r->n + 1);
	d.opened = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	for (uint32 i = 0; i < r->n; i++)
		d.opened[i] = i;
	d.n_opened = r->n;
	read_decisions(&d);
	for (int i = 0; i < d.n; i++)
	{
		uint32 a = r->leader[d.list[i].a];
		uint32 b = r->leader[d.list[i].b];

		CHECK_FOR_INTERRUPTS();
		if (d.list[i].same && a != b)
			relabel(&d, Max(a, b), Min(a, b));
	}
	for (int i = 0; i < d.n; i++)
	{
		const Decision *one = &d.list[i];

		CHECK_FOR_INTERRUPTS();
		if (!one->same && r->leader[one->a] == r->leader[one->b])
			separate(&d, Max(one->a, one->b));
	}
	simdup_free(d.opened);
	SPI_finish();
}
