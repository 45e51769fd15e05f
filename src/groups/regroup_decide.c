/*
 * regroup_decide.c
 *	  Decisions outrank the groups that fingerprints make.
 *
 * Rows that are the same have one group. If two rows in one group were told
 * apart, the younger one leaves with its bundle, the rows that are the same. The
 * group that stays has what it needs, and then the bundle comes again. So the
 * groups are those that the same decisions would make one by one.
 *
 * Decisions are few, so each looks at all rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/host.h"
#include "groups/decisions.h"
#include "groups/regroup_moves.h"

/* The younger of two rows goes, with those that are tied to it. */
static void
separate(Decisions *d, uint32 younger)
{
	Regrouping *r = d->r;
	uint32 leader = r->leader[younger];

	for (uint32 i = 0; i < d->n_decided; i++)
		if (simdup_regroup_tied(d, younger, d->decided[i].row))
			r->leader[d->decided[i].row] = SENT_AWAY;
	simdup_regroup_leave(d, leader);
	simdup_regroup_come_again(d, SENT_AWAY);
}

static void
apply(Decisions *d)
{
	Regrouping *r = d->r;

	for (int i = 0; i < d->n; i++)
	{
		uint32 a = r->leader[d->list[i].a];
		uint32 b = r->leader[d->list[i].b];

		CHECK_FOR_INTERRUPTS();
		if (d->list[i].same && a != b)
			simdup_regroup_merge(d, a, b);
	}
	for (int i = 0; i < d->n; i++)
	{
		const Decision *one = &d->list[i];

		CHECK_FOR_INTERRUPTS();
		if (!one->same && r->leader[one->a] == r->leader[one->b])
			separate(d, Max(one->a, one->b));
	}
}

void
simdup_regroup_decide(Regrouping *r)
{
	Decisions d = {.r = r, .n_ranks = r->n, .capacity = 16};

	if (!simdup_group_any_decision(r->g))
		return;
	SPI_connect();
	simdup_regroup_read_decisions(&d);
	d.rank = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	d.brought = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	d.near = simdup_alloc(d.capacity * sizeof(uint32));
	for (uint32 i = 0; i < r->n; i++)
	{
		d.rank[i] = i;
		d.brought[i] = NONE;
	}
	apply(&d);
	simdup_free(d.near);
	simdup_free(d.brought);
	simdup_free(d.rank);
	SPI_finish();
}
