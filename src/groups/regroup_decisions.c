/*
 * regroup_decisions.c
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
#include "utils/snapmgr.h"

#include "core/host.h"
#include "core/unionfind.h"
#include "groups/decisions.h"
#include "groups/regroup_decisions.h"

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

static int
compare_decided(const void *a, const void *b)
{
	const Decided *left = a;
	const Decided *right = b;

	return left->row < right->row ? -1 : left->row > right->row;
}

/* The row among those that were decided about, or NULL. */
static const Decided *
find_decided(const Decisions *d, uint32 row)
{
	Decided wanted = {.row = row};

	return bsearch(&wanted, d->decided, d->n_decided, sizeof(Decided),
				   compare_decided);
}

static void
find_bundles(Decisions *d)
{
	uint32 *parent = palloc((Size) d->n * 2 * sizeof(uint32) + 1);
	uint32 n = 0;

	d->decided = palloc((Size) d->n * 2 * sizeof(Decided) + 1);
	for (int i = 0; i < d->n * 2; i++)
		d->decided[i].row = i % 2 ? d->list[i / 2].b : d->list[i / 2].a;
	qsort(d->decided, (Size) d->n * 2, sizeof(Decided), compare_decided);
	for (int i = 0; i < d->n * 2; i++)
		if (n == 0 || d->decided[n - 1].row != d->decided[i].row)
			d->decided[n++].row = d->decided[i].row;
	d->n_decided = n;
	simdup_components_init(parent, n);
	for (int i = 0; i < d->n; i++)
		if (d->list[i].same)
			simdup_components_join(parent,
								   find_decided(d, d->list[i].a) - d->decided,
								   find_decided(d, d->list[i].b) - d->decided);
	for (uint32 i = 0; i < n; i++)
		d->decided[i].bundle = simdup_component_root(parent, i);
	pfree(parent);
}

uint32
simdup_regroup_tied_group(const Decisions *d, uint32 row)
{
	const Decided *decided = find_decided(d, row);

	for (uint32 i = 0; decided != NULL && i < d->n_decided; i++)
		if (d->decided[i].bundle == decided->bundle &&
			d->r->leader[d->decided[i].row] < STRAY)
			return d->r->leader[d->decided[i].row];
	return NONE;
}

bool
simdup_regroup_tied(const Decisions *d, uint32 a, uint32 b)
{
	const Decided *left = find_decided(d, a);
	const Decided *right = find_decided(d, b);

	return left != NULL && right != NULL && left->bundle == right->bundle;
}

/* Has a row of the bundle this number, or is it in this group? */
static bool
bundle_has(const Decisions *d, uint32 bundle, uint32 row, uint32 group)
{
	for (uint32 i = 0; i < d->n_decided; i++)
		if (d->decided[i].bundle == bundle &&
			(d->decided[i].row == row ||
			 (group != NONE && d->r->leader[d->decided[i].row] == group)))
			return true;
	return false;
}

bool
simdup_regroup_apart(const Decisions *d, uint32 row, uint32 group, uint32 other)
{
	if (group == NONE && find_decided(d, row) == NULL)
		return false;
	for (int i = 0; i < d->n; i++)
	{
		uint32 a;
		uint32 b;

		if (d->list[i].same)
			continue;
		a = find_decided(d, d->list[i].a)->bundle;
		b = find_decided(d, d->list[i].b)->bundle;
		if ((bundle_has(d, a, row, group) && bundle_has(d, b, NONE, other)) ||
			(bundle_has(d, b, row, group) && bundle_has(d, a, NONE, other)))
			return true;
	}
	return false;
}

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
	read_decisions(&d);
	find_bundles(&d);
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
