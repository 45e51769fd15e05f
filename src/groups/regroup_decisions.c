/*
 * regroup_decisions.c
 *	  The decisions of a table, by numbers of its rows: who is tied to whom, and
 *	  who is kept apart.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/snapmgr.h"

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

void
simdup_regroup_read_decisions(Decisions *d)
{
	read_decisions(d);
	find_bundles(d);
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
