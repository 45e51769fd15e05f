/*
 * clustering.c
 *	  Which rows of a batch belong together, by either method.
 *
 * Equal rows are in one cluster by both methods, so clusters consist of groups.
 * A group is known by the number of its first row. Then the smallest number in
 * a cluster is its first row in query order.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/clustering.h"
#include "core/group.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/spill.h"

/* So many groups ahead, memory that will be needed is asked for. */
#define AHEAD 16

SimdupClusterMethod
simdup_cluster_method(const char *name)
{
	if (strcmp(name, "connected") == 0)
		return SIMDUP_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return SIMDUP_LEADER;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized clustering method: \"%s\"", name),
			errhint(
				"Methods are \"connected\" (connected components) and \"leader\" (single pass in query order)."));
}

typedef struct Clustering
{
	SimdupGroups *groups;
	uint8 *has_near;
	uint32 *parent;		   /* connected */
	SimdupLeaders leaders; /* leader */
	SimdupPairSort *offers;
	SimdupGroupSink also;
	void *arg;
} Clustering;

static uint32
first_row(Clustering *c, const SimdupGroup *group)
{
	return simdup_groups_row(c->groups, group->start);
}

/* Note that two groups are near, and tell the caller. */
static void
note_pair(Clustering *c, const SimdupGroup *a, const SimdupGroup *b,
		  int distance)
{
	simdup_set_bit(c->has_near, a->start);
	simdup_set_bit(c->has_near, b->start);
	if (c->also)
		c->also(c->arg, a, b, distance);
}

static void
connect_groups(void *arg, const SimdupGroup *a, const SimdupGroup *b,
			   int distance)
{
	Clustering *c = arg;

	simdup_components_join(c->parent, first_row(c, a), first_row(c, b));
	note_pair(c, a, b, distance);
}

static uint32 *
connected_clusters(Clustering *c, int max_distance)
{
	uint32 n = c->groups->rows->n;

	c->parent = simdup_alloc((Size) n * sizeof(uint32));
	simdup_components_init(c->parent, n);
	simdup_join_groups(c->groups, max_distance, "comparing", connect_groups, c);
	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32 i = 0; i < n; i++)
		c->parent[i] = c->parent[c->parent[i]];
	return c->parent;
}

static void
note_near(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	Clustering *c = arg;

	simdup_leader_near(&c->leaders, first_row(c, a), first_row(c, b));
	note_pair(c, a, b, distance);
}

static void
sort_offer(void *arg, const SimdupGroup *a, const SimdupGroup *b,
		   int distance pg_attribute_unused())
{
	Clustering *c = arg;
	uint32 element;
	uint32 predecessor;

	if (simdup_leader_wants(&c->leaders, first_row(c, a), first_row(c, b),
							&element, &predecessor))
		simdup_pairsort_put(c->offers, element, predecessor);
}

/* Round 2 of core/group.h: offer the pairs that matter, in order. */
static void
lead_the_rest(Clustering *c, int max_distance)
{
	uint64 element;
	uint64 predecessor;

	c->offers = simdup_pairsort_begin(maintenance_work_mem);
	simdup_join_groups(c->groups, max_distance, "comparing chains", sort_offer,
					   c);
	simdup_pairsort_perform(c->offers);
	while (simdup_pairsort_get(c->offers, &element, &predecessor))
		simdup_leader_offer(&c->leaders, (uint32) element,
							(uint32) predecessor);
	simdup_pairsort_end(c->offers);
}

static uint32 *
leader_clusters(Clustering *c, int max_distance)
{
	simdup_leaders_init(&c->leaders, c->groups->rows->n);
	simdup_join_groups(c->groups, max_distance, "comparing", note_near, c);
	if (simdup_leaders_settle(&c->leaders) > 0)
		lead_the_rest(c, max_distance);
	simdup_leaders_finish(&c->leaders);
	return c->leaders.leader;
}

/* The first row of a group that has a near one; false without, or on disk. */
static bool
near_row(const SimdupClusters *clusters, int64 index, uint32 *number)
{
	const SimdupRowGroups *groups = &clusters->groups->in_memory;
	uint32 start;

	if (groups->numbers == NULL || groups->starts == NULL ||
		index >= clusters->groups->n)
		return false;
	start = groups->starts[index];
	*number = groups->numbers[start];
	return simdup_get_bit(clusters->has_near, start);
}

/*
 * Groups are in the order of fingerprints, so rows and clusters come at random:
 * each look-up misses the cache. The first row is asked for before its cluster.
 */
void
simdup_clusters_prefetch(const SimdupClusters *clusters, int64 index)
{
	uint32 number;

	if (near_row(clusters, index + 2 * AHEAD, &number))
	{
		__builtin_prefetch(&clusters->cluster[number]);
		simdup_keys_prefetch(clusters->groups->rows->keys, number);
	}
	if (near_row(clusters, index + AHEAD, &number))
	{
		uint32 first_row = clusters->cluster[number];

		__builtin_prefetch(&clusters->size[first_row]);
		__builtin_prefetch(&clusters->fp[first_row]);
		simdup_keys_prefetch(clusters->groups->rows->keys, first_row);
	}
}

/* Fill the arrays of each cluster, at the number of its first row. */
static void
describe_clusters(SimdupClusters *clusters)
{
	SimdupGroups *groups = clusters->groups;

	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		uint32 number;
		uint32 first_row;

		CHECK_FOR_INTERRUPTS();
		simdup_clusters_prefetch(clusters, i);
		if (!simdup_get_bit(clusters->has_near, group.start))
			continue;
		number = simdup_groups_row(groups, group.start);
		first_row = clusters->cluster[number];
		clusters->size[first_row] += group.n;
		if (first_row == number)
			clusters->fp[number] = group.fp;
	}
}

SimdupClusters *
simdup_find_clusters(SimdupGroups *groups, int max_distance,
					 SimdupClusterMethod method, SimdupGroupSink also,
					 void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(groups->rows->context);
	SimdupClusters *clusters = palloc(sizeof(SimdupClusters));
	uint32 n = groups->rows->n;
	Clustering c = {0};

	c.groups = groups;
	c.has_near = simdup_alloc0(n / 8 + 1);
	c.also = also;
	c.arg = arg;
	clusters->groups = groups;
	clusters->has_near = c.has_near;
	clusters->cluster = method == SIMDUP_CONNECTED
							? connected_clusters(&c, max_distance)
							: leader_clusters(&c, max_distance);
	clusters->size = simdup_alloc0((Size) n * sizeof(uint32));
	clusters->fp = simdup_alloc((Size) n * sizeof(uint64));
	describe_clusters(clusters);
	MemoryContextSwitchTo(old);
	return clusters;
}

SimdupMembership
simdup_cluster_of(const SimdupClusters *clusters, const SimdupGroup *group)
{
	SimdupGroups *groups = clusters->groups;
	uint32 number = simdup_groups_row(groups, group->start);
	SimdupMembership membership = {number, group->n, 0};

	if (simdup_get_bit(clusters->has_near, group->start))
	{
		uint32 first_row = clusters->cluster[number];

		membership.first_row = first_row;
		membership.size = clusters->size[first_row];
		membership.distance =
			simdup_hamming64(group->fp, clusters->fp[first_row]);
	}
	return membership;
}
