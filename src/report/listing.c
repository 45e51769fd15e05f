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

/* Collect every cluster of two rows and more, in no order. */
static void
collect_groups(const SimdupStats *stats, SimdupListing *listing)
{
	const SimdupClusters *clusters = stats->clusters;

	listing->groups = simdup_alloc(Max((Size) stats->near_groups, 1) *
								   sizeof(SimdupListedGroup));
	for (uint32 row = 0; row < clusters->rows->n; row++)
		if (clusters->cluster[row] == row && clusters->size[row] > 1)
			listing->groups[listing->n_groups++] =
				(SimdupListedGroup){.first_row = row,
									.size = clusters->size[row]};
	qsort(listing->groups, (size_t) listing->n_groups,
		  sizeof(SimdupListedGroup), compare_groups);
}

/* Add a row to its group. Rows come in their order. */
static void
add_row(SimdupListing *listing, uint32 place, uint32 number, int distance)
{
	SimdupListedGroup *group = &listing->groups[place];

	group->reach = Max(group->reach, distance);
	if (group->rows != NULL && group->n_rows < SIMDUP_COMPARED_ROWS)
		group->rows[group->n_rows++] = (SimdupListedRow){number, distance};
	simdup_smallest_add(&listing->rows,
						(SimdupTriple){place, number, (uint32) distance});
}

void
simdup_list_groups(const SimdupStats *stats, int64 n_shown,
				   SimdupListing *listing)
{
	const SimdupClusters *clusters = stats->clusters;
	uint32 n = clusters->rows->n;
	uint32 *places = simdup_alloc(((Size) n + 1) * sizeof(uint32));

	memset(listing, 0, sizeof(SimdupListing));
	memset(places, 0xFF, (Size) n * sizeof(uint32));
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
	for (uint32 row = 0; row < n; row++)
	{
		uint32 place = places[clusters->cluster[row]];

		CHECK_FOR_INTERRUPTS();
		if (place != NO_PLACE)
			add_row(listing, place, row,
					simdup_cluster_distance(clusters, row));
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

void
simdup_list_pair(SimdupPairList *list, const SimdupGroup *a,
				 const SimdupGroup *b, int distance, const uint32 *cells,
				 uint32 x, uint32 y)
{
	bool sampled = false;

	/* rows of a group ascend, so after one that can't matter none does */
	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 row = simdup_groups_row(list->groups, a->start + i);
		bool is_first = true;

		CHECK_FOR_INTERRUPTS();
		if (cells != NULL && cells[row] != x)
			continue;
		for (uint32 j = a == b && x == y ? i + 1 : 0; j < b->n; j++)
		{
			uint32 other = simdup_groups_row(list->groups, b->start + j);

			if (cells != NULL && cells[other] != y)
				continue;
			/* the join names the two in any order */
			if (!sampled)
				sample_pair(list, Min(row, other), Max(row, other), distance);
			sampled = true;
			if (simdup_smallest_add(&list->exported,
									(SimdupTriple){(uint32) distance,
												   Min(row, other),
												   Max(row, other)}))
				is_first = false;
			else if (is_first)
				return;
			else
				break;
		}
	}
}

void
simdup_pair_list_finish(SimdupPairList *list)
{
	simdup_smallest_finish(&list->exported);
	for (int d = 0; d <= SIMDUP_MAX_PAIR_DISTANCE; d++)
		simdup_smallest_finish(&list->shown[d]);
}
