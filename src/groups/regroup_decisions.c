/*
 * regroup_decisions.c
 *	  Decisions outrank the groups that fingerprints make.
 *
 * Rows that are the same have one group. Of two rows in one group that were
 * told apart, the younger one leaves with those that are tied to it, and each
 * comes again. Decisions are few, so each looks at all rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "core/hamming.h"
#include "groups/decisions.h"
#include "groups/regrouping.h"

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
	bool *tied; /* marks of rows */
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

/* All rows of one group get another leader, but those that are marked. */
static void
relabel(Decisions *d, uint32 from, uint32 to)
{
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == from && !d->tied[i])
			d->r->leader[i] = to;
}

static void
mark_tied(Decisions *d, uint32 row)
{
	bool again = true;

	memset(d->tied, false, d->r->n);
	d->tied[row] = true;
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

/* The nearest group that a marked row may join, or the row itself. */
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

		if (d->tied[i] || (!r->g->connected && leader != i))
			continue;
		distance = simdup_hamming64(r->fp[i], r->fp[row]);
		if (distance < best_distance && !is_refused(d, leader) &&
			simdup_regroup_conditions_hold(r, i, row))
		{
			best = leader;
			best_distance = distance;
		}
	}
	return best;
}

/* The oldest row that is left in a group whose leader has gone leads it. */
static void
hand_over(Decisions *d, uint32 leader)
{
	for (uint32 i = 0; i < d->r->n; i++)
		if (d->r->leader[i] == leader && !d->tied[i])
		{
			relabel(d, leader, i);
			return;
		}
}

/* The younger of two rows goes, with those that are tied to it. */
static void
separate(Decisions *d, uint32 younger)
{
	Regrouping *r = d->r;
	uint32 leader = r->leader[younger];
	uint32 to;

	mark_tied(d, younger);
	if (d->tied[leader])
		hand_over(d, leader);
	for (uint32 i = 0; i < r->n; i++)
		if (d->tied[i])
		{
			to = nearest(d, i);
			for (uint32 j = i; j < r->n; j++)
				if (d->tied[j])
					r->leader[j] = to;
			return;
		}
}

void
simdup_regroup_decide(Regrouping *r)
{
	Decisions d = {.r = r};

	if (!simdup_group_any_decision(r->g))
		return;
	SPI_connect();
	d.tied = palloc0(r->n + 1);
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
	SPI_finish();
}
