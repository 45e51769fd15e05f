/*
 * regroup_rows.c
 *	  Which group each row is in, when all rows come in order of their age.
 *
 * The batch join knows the leaders: a row leads if no earlier leader is near
 * it. A second join finds the nearest of the earlier leaders for each other
 * row. Rows of equal fingerprint may be in different groups, since a leader
 * that came between them may be nearer to the later ones.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/host.h"
#include "groups/regrouping.h"

/* Farther than every leader. */
#define NO_DISTANCE 65

typedef struct Nearest
{
	Regrouping *r;
	SimdupClusters *clusters;
	uint8 *distance; /* of each row to its leader so far */
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

static void
join_nearest_leaders(Regrouping *r, SimdupClusters *clusters)
{
	Nearest nearest = {.r = r, .clusters = clusters};

	nearest.distance = simdup_alloc(r->n);
	memset(nearest.distance, NO_DISTANCE, r->n);
	for (int64 i = 0; i < r->equal->n; i++)
	{
		SimdupGroup group = simdup_groups_get(r->equal, i);
		uint32 first = first_row(r, &group);

		CHECK_FOR_INTERRUPTS();
		if (leads(&nearest, first))
			for (uint32 j = 0; j < group.n; j++)
				r->leader[simdup_groups_row(r->equal, group.start + j)] = first;
	}
	simdup_join_groups(r->equal, r->g->at->k, "joining", offer_both, &nearest);
	simdup_free(nearest.distance);
}

static void
join_components(Regrouping *r, SimdupClusters *clusters)
{
	for (int64 i = 0; i < r->equal->n; i++)
	{
		SimdupGroup group = simdup_groups_get(r->equal, i);
		uint32 component = simdup_cluster_of(clusters, &group).first_row;

		CHECK_FOR_INTERRUPTS();
		for (uint32 j = 0; j < group.n; j++)
			r->leader[simdup_groups_row(r->equal, group.start + j)] = component;
	}
}

static void
note_fingerprints(Regrouping *r)
{
	for (int64 i = 0; i < r->equal->n; i++)
	{
		SimdupGroup group = simdup_groups_get(r->equal, i);

		for (uint32 j = 0; j < group.n; j++)
			r->fp[simdup_groups_row(r->equal, group.start + j)] = group.fp;
	}
}

static void
join_by_fingerprints(Regrouping *r)
{
	SimdupClusters *clusters =
		simdup_find_clusters(r->equal, r->g->at->k,
							 r->g->connected ? SIMDUP_CONNECTED : SIMDUP_LEADER,
							 NULL, NULL);

	if (r->g->connected)
		join_components(r, clusters);
	else
		join_nearest_leaders(r, clusters);
}

void
simdup_regroup_rows(Regrouping *r)
{
	r->leader = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	r->fp = simdup_alloc((Size) r->n * sizeof(uint64) + 1);
	note_fingerprints(r);
	if (r->scope != NULL)
		simdup_regroup_verified(r);
	else
		join_by_fingerprints(r);
}
