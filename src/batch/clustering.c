/*
 * clustering.c
 *	  simdup_clusters: which rows of a query belong together, by either method.
 *
 * Equal rows are in one cluster by both methods, so clusters consist of groups.
 * A group is known by the number of its first row. Then the smallest number in
 * a cluster is its first row in query order.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/clustering.h"
#include "core/group.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/session.h"
#include "server/spill.h"

/* Groups ahead whose memory is prefetched. */
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

/*
 * Find the first row of a group with a near one. Return false without, or on
 * disk.
 */
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
 * Prefetch clusters. Groups are in the order of fingerprints, so rows and
 * clusters come at random: each look-up misses the cache. The first row is
 * asked for before its cluster.
 */
static void
prefetch_clusters(const SimdupClusters *clusters, int64 index)
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
		prefetch_clusters(clusters, i);
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

/*
 * simdup_clusters: which rows of a query belong together.
 *
 * Rows that are alone are left out by default. Nearly all rows of a large table
 * are, and writing them would cost more than finding the clusters.
 */

/*
 * Clusters with a row farther than twice max_distance from their first row. No
 * row at all can be near both, so only a chain connects them.
 */
typedef struct FarClusters
{
	int beyond;	 /* distance from the first row */
	uint8 *seen; /* one bit a row: the first row of such a cluster */
	int64 n;
	int64 n_rows;
	uint32 largest;	  /* its rows */
	int max_distance; /* from a first row */
} FarClusters;

static void
note_far_cluster(FarClusters *far, SimdupMembership cluster)
{
	if (cluster.distance <= far->beyond)
		return;
	far->max_distance = Max(far->max_distance, cluster.distance);
	if (simdup_get_bit(far->seen, cluster.first_row))
		return;
	simdup_set_bit(far->seen, cluster.first_row);
	far->n++;
	far->n_rows += cluster.size;
	far->largest = Max(far->largest, cluster.size);
}

static void
warn_of_far_clusters(const FarClusters *far)
{
	if (far->n == 0)
		return;
	ereport(WARNING,
			errmsg_plural("%lld cluster reaches beyond twice max_distance",
						  "%lld clusters reach beyond twice max_distance",
						  (unsigned long) far->n, (long long) far->n),
			errdetail("%lld rows are in such clusters, %u in the largest; rows are up to %d bits from the first row of their cluster.",
					  (long long) far->n_rows, far->largest, far->max_distance),
			errhint(
				"The method \"leader\" keeps each row within max_distance of its cluster's first row; simdup_verified_clusters compares texts."));
}

static void
put_group(ReturnSetInfo *result, SimdupGroups *groups, const SimdupGroup *group,
		  SimdupMembership cluster)
{
	SimdupKeys *keys = groups->rows->keys;
	Datum values[4];
	bool nulls[4] = {false, false, false, false};

	values[1] = simdup_keys_get(keys, cluster.first_row, 1);
	values[2] = Int64GetDatum((int64) cluster.size);
	values[3] = Int32GetDatum(cluster.distance);
	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 number = simdup_groups_row(groups, group->start + i);

		CHECK_FOR_INTERRUPTS();
		values[0] = simdup_keys_get(keys, number, 0);
		simdup_put_result(result, values, nulls);
	}
}

static void
put_clusters(ReturnSetInfo *result, const SimdupClusters *clusters,
			 int max_distance, int min_size)
{
	SimdupGroups *groups = clusters->groups;
	FarClusters far = {.beyond = 2 * max_distance};

	far.seen = simdup_alloc0(groups->rows->n / 8 + 1);
	simdup_progress_phase("writing", groups->n);
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		SimdupMembership cluster = simdup_cluster_of(clusters, &group);

		CHECK_FOR_INTERRUPTS();
		prefetch_clusters(clusters, i);
		if ((int64) cluster.size >= min_size)
		{
			put_group(result, groups, &group, cluster);
			note_far_cluster(&far, cluster);
		}
		simdup_progress_done(i);
	}
	warn_of_far_clusters(&far);
	simdup_free(far.seen);
}

PG_FUNCTION_INFO_V1(simdup_clusters);
/* simdup_clusters(query [, key_type], max_distance, method, min_size, params) */
Datum
simdup_clusters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	int option = simdup_first_option(fcinfo, 1);
	int max_distance = simdup_check_max_distance(fcinfo, option);
	SimdupRows *rows;
	SimdupGroups *groups;
	SimdupClusterMethod method;
	SimdupClusters *clusters;

	simdup_check_not_null(PG_ARGISNULL(option + 2), "min_size");
	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option + 1, 2))
		return (Datum) 0;
	method =
		simdup_cluster_method(text_to_cstring(PG_GETARG_TEXT_PP(option + 1)));
	rows = simdup_rows_begin(fcinfo, 1);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	groups = simdup_rows_group(rows);
	clusters = simdup_find_clusters(groups, max_distance, method, NULL, NULL);
	put_clusters(result, clusters, max_distance, PG_GETARG_INT32(option + 2));
	simdup_groups_end(groups);
	return (Datum) 0;
}
