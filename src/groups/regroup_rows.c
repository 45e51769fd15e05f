/*
 * regroup_rows.c
 *	  Which group each row is in, when all rows come in order of their age.
 *
 * The batch join knows the leaders: a row leads if no earlier leader is near
 * it. The pairs of that join, or a second join where they are too many, give the
 * nearest of the earlier leaders for each other row. Rows of equal fingerprint may be in different groups, since a leader
 * that came between them may be nearer to the later ones.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/host.h"
#include "groups/regrouping.h"

/* Farther than every leader. */
#define NO_DISTANCE 65

typedef struct NearPair
{
	SimdupGroup a;
	SimdupGroup b;
	int distance;
} NearPair;

typedef struct Nearest
{
	Regrouping *r;
	SimdupClusters *clusters;
	uint8 *distance; /* of each row to its leader so far */

	/* the near pairs of the first join */
	NearPair *pairs;
	uint32 n_pairs;
	uint32 capacity;
	bool too_many; /* they take more than an eighth of the memory */
} Nearest;

static uint32
first_row(Regrouping *r, const SimdupGroup *group)
{
	return simdup_groups_row(r->equal, group->start);
}

/* Only the first of rows with equal fingerprints can lead. */
static bool
leads(Nearest *nearest, uint32 first)
{
	return nearest->clusters->cluster[first] == first;
}

/* Rows of a group may join a leader that came before them. */
static void
offer_leader(Nearest *nearest, uint32 leader, const SimdupGroup *group,
			 int distance)
{
	Regrouping *r = nearest->r;

	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 row = simdup_groups_row(r->equal, group->start + i);

		if (row > leader &&
			(distance < nearest->distance[row] ||
			 (distance == nearest->distance[row] && leader < r->leader[row])))
		{
			r->leader[row] = leader;
			nearest->distance[row] = (uint8) distance;
		}
	}
}

static void
offer_both(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	Nearest *nearest = arg;
	uint32 first_a = first_row(nearest->r, a);
	uint32 first_b = first_row(nearest->r, b);
	bool a_leads = leads(nearest, first_a);
	bool b_leads = leads(nearest, first_b);

	/* rows equal to a leader are at distance 0 from it */
	if (a_leads && !b_leads)
		offer_leader(nearest, first_a, b, distance);
	if (b_leads && !a_leads)
		offer_leader(nearest, first_b, a, distance);
}

/* A SimdupGroupSink: keep a pair, if there are not too many. */
static void
keep_pair(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	Nearest *nearest = arg;

	if (nearest->n_pairs == nearest->capacity)
	{
		uint32 capacity = nearest->capacity * 2;

		nearest->too_many =
			capacity * sizeof(NearPair) > (Size) maintenance_work_mem * 128;
		if (nearest->too_many)
			return;
		nearest->pairs =
			simdup_realloc(nearest->pairs, capacity * sizeof(NearPair));
		nearest->capacity = capacity;
	}
	nearest->pairs[nearest->n_pairs++] = (NearPair){*a, *b, distance};
}

/* All near pairs, once more where they were not kept. */
static void
join_nearest_leaders(Nearest *nearest)
{
	Regrouping *r = nearest->r;

	nearest->distance = simdup_alloc((Size) r->n + 1);
	memset(nearest->distance, NO_DISTANCE, r->n);
	if (nearest->too_many)
		simdup_join_groups(r->equal, r->g->at->k, "joining", offer_both,
						   nearest);
	else
		for (uint32 i = 0; i < nearest->n_pairs; i++)
		{
			const NearPair *pair = &nearest->pairs[i];

			CHECK_FOR_INTERRUPTS();
			offer_both(nearest, &pair->a, &pair->b, pair->distance);
		}
	simdup_free(nearest->distance);
}

/* Rows of equal fingerprint go with their first. */
static void
join_clusters(Regrouping *r, const SimdupClusters *clusters)
{
	memcpy(r->leader, clusters->cluster, (Size) r->n * sizeof(uint32));
	for (int64 i = 0; i < r->equal->n; i++)
	{
		SimdupGroup group = simdup_groups_get(r->equal, i);
		uint32 leader;

		CHECK_FOR_INTERRUPTS();
		if (group.n == 1)
			continue;
		leader = clusters->cluster[first_row(r, &group)];
		for (uint32 j = 1; j < group.n; j++)
			r->leader[simdup_groups_row(r->equal, group.start + j)] = leader;
	}
}

static void
join_by_fingerprints(Regrouping *r)
{
	Nearest nearest = {.r = r, .capacity = 1024};

	nearest.pairs = simdup_alloc(nearest.capacity * sizeof(NearPair));
	nearest.clusters =
		simdup_find_clusters(r->equal, r->g->at->k,
							 r->g->connected ? SIMDUP_CONNECTED : SIMDUP_LEADER,
							 r->g->connected ? NULL : keep_pair, &nearest);
	join_clusters(r, nearest.clusters);
	if (!r->g->connected)
		join_nearest_leaders(&nearest);
	simdup_free(nearest.pairs);
}

void
simdup_regroup_rows(Regrouping *r)
{
	r->leader = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	if (r->scope != NULL)
		simdup_regroup_verified(r);
	else
		join_by_fingerprints(r);
}
