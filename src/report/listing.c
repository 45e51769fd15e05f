/*
 * listing.c
 *	  Groups and pairs to show on a page, and to save from it.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/hash.h"
#include "core/host.h"
#include "report/listing.h"

#define NO_PLACE PG_UINT32_MAX

static int
compare_triples(const void *a, const void *b)
{
	const SimdupTriple *s = a;
	const SimdupTriple *t = b;

	if (s->x != t->x)
		return s->x < t->x ? -1 : 1;
	if (s->y != t->y)
		return s->y < t->y ? -1 : 1;
	return (s->z > t->z) - (s->z < t->z);
}

void
simdup_smallest_init(SimdupSmallest *list, uint32 limit)
{
	list->limit = limit;
	list->n = 0;
	list->full = false;
	list->triples = palloc(2 * (Size) limit * sizeof(SimdupTriple));
}

bool
simdup_smallest_add(SimdupSmallest *list, SimdupTriple triple)
{
	if (list->full &&
		compare_triples(&list->triples[list->limit - 1], &triple) <= 0)
		return false;
	list->triples[list->n++] = triple;
	if (list->n == 2 * list->limit)
	{
		simdup_smallest_finish(list);
		list->full = true;
	}
	return true;
}

void
simdup_smallest_finish(SimdupSmallest *list)
{
	qsort(list->triples, list->n, sizeof(SimdupTriple), compare_triples);
	list->n = Min(list->n, list->limit);
}

static int
compare_groups(const void *a, const void *b)
{
	const SimdupListedGroup *x = a;
	const SimdupListedGroup *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

/* Collect every group of two rows and more, in no order. */
static void
collect_groups(const SimdupStats *stats, SimdupListing *listing)
{
	SimdupGroups *groups = stats->clusters->groups;

	listing->groups = simdup_alloc(Max((Size) stats->near_groups, 1) *
								   sizeof(SimdupListedGroup));
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		SimdupMembership place = simdup_cluster_of(stats->clusters, &group);

		CHECK_FOR_INTERRUPTS();
		if (place.size > 1 &&
			simdup_groups_row(groups, group.start) == place.first_row)
			listing->groups[listing->n_groups++] =
				(SimdupListedGroup){.first_row = place.first_row,
									.size = place.size};
	}
	qsort(listing->groups, (size_t) listing->n_groups,
		  sizeof(SimdupListedGroup), compare_groups);
}

/* Keep the first rows of a group. */
static void
add_row(SimdupListedGroup *group, SimdupListedRow row)
{
	uint32 at = group->n_rows;

	while (at > 0 && group->rows[at - 1].number > row.number)
		at--;
	if (at == SIMDUP_COMPARED_ROWS)
		return;
	if (group->n_rows < SIMDUP_COMPARED_ROWS)
		group->n_rows++;
	memmove(&group->rows[at + 1], &group->rows[at],
			(group->n_rows - 1 - at) * sizeof(SimdupListedRow));
	group->rows[at] = row;
}

/* The rows of one fingerprint, which ascend. */
static void
add_rows(SimdupListing *listing, SimdupGroups *groups, const SimdupGroup *equal,
		 uint32 place, int distance)
{
	SimdupListedGroup *group = &listing->groups[place];
	bool wanted = true;

	group->reach = Max(group->reach, distance);
	for (uint32 i = 0; i < equal->n; i++)
	{
		bool shown = group->rows != NULL && i < SIMDUP_COMPARED_ROWS;
		uint32 number;

		if (!shown && !wanted)
			break;
		number = simdup_groups_row(groups, equal->start + i);
		if (shown)
			add_row(group, (SimdupListedRow){number, distance});
		wanted =
			wanted && simdup_smallest_add(&listing->rows,
										  (SimdupTriple){place, number,
														 (uint32) distance});
	}
}

void
simdup_list_groups(const SimdupStats *stats, int64 n_shown,
				   SimdupListing *listing)
{
	SimdupGroups *groups = stats->clusters->groups;
	uint32 *places =
		simdup_alloc(((Size) groups->rows->n + 1) * sizeof(uint32));

	memset(listing, 0, sizeof(SimdupListing));
	memset(places, 0xFF, (Size) groups->rows->n * sizeof(uint32));
	simdup_smallest_init(&listing->rows, SIMDUP_EXPORTED_ROWS);
	collect_groups(stats, listing);
	listing->n_shown = Min(n_shown, listing->n_groups);
	listing->n_rows = stats->near_rows;
	for (int64 i = 0; i < listing->n_groups; i++)
	{
		SimdupListedGroup *group = &listing->groups[i];

		group->id = i + 1;
		places[group->first_row] = (uint32) i;
		if (i < listing->n_shown)
			group->rows = palloc(Min(group->size, SIMDUP_COMPARED_ROWS) *
								 sizeof(SimdupListedRow));
	}
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		SimdupMembership place = simdup_cluster_of(stats->clusters, &group);

		CHECK_FOR_INTERRUPTS();
		if (places[place.first_row] != NO_PLACE)
			add_rows(listing, groups, &group, places[place.first_row],
					 place.distance);
	}
	simdup_smallest_finish(&listing->rows);
	simdup_free(places);
}

void
simdup_pair_list_init(SimdupPairList *list, SimdupGroups *groups)
{
	list->groups = groups;
	simdup_smallest_init(&list->exported, SIMDUP_EXPORTED_PAIRS);
	for (int d = 0; d <= SIMDUP_MAX_PAIR_DISTANCE; d++)
		simdup_smallest_init(&list->shown[d], SIMDUP_SHOWN_PAIRS);
}

/* Sample a pair. Any order is fine if it is always the same. */
static void
sample_pair(SimdupPairList *list, uint32 a, uint32 b, int distance)
{
	uint64 hash = simdup_mix64((uint64) a << 32 | b);

	simdup_smallest_add(&list->shown[distance],
						(SimdupTriple){(uint32) (hash >> 32), a, b});
}

/*
 * Export all pairs of two groups, or of one with itself. Rows of a group ascend,
 * so after one that can't matter none does.
 */
static void
export_pairs(SimdupPairList *list, const SimdupGroup *a, const SimdupGroup *b,
			 int distance)
{
	bool same = a->start == b->start;

	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 x = simdup_groups_row(list->groups, a->start + i);
		uint32 first = same ? i + 1 : 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 j = first; j < b->n; j++)
		{
			uint32 y = simdup_groups_row(list->groups, b->start + j);

			if (simdup_smallest_add(&list->exported,
									(SimdupTriple){(uint32) distance, x, y}))
				continue;
			if (j == first)
				return;
			break;
		}
	}
}

void
simdup_list_pair(void *arg, const SimdupGroup *a, const SimdupGroup *b,
				 int distance)
{
	SimdupPairList *list = arg;
	uint32 x = simdup_groups_row(list->groups, a->start);
	uint32 y = simdup_groups_row(list->groups, b->start);

	/* the join names the two in any order */
	if (x < y)
	{
		sample_pair(list, x, y, distance);
		export_pairs(list, a, b, distance);
	}
	else
	{
		sample_pair(list, y, x, distance);
		export_pairs(list, b, a, distance);
	}
}

void
simdup_pair_list_finish(SimdupPairList *list)
{
	SimdupGroups *groups = list->groups;

	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		if (group.n < 2)
			continue;
		sample_pair(list, simdup_groups_row(groups, group.start),
					simdup_groups_row(groups, group.start + 1), 0);
		export_pairs(list, &group, &group, 0);
	}
	simdup_smallest_finish(&list->exported);
	for (int d = 0; d <= SIMDUP_MAX_PAIR_DISTANCE; d++)
		simdup_smallest_finish(&list->shown[d]);
}
