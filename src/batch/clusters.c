/*
 * clusters.c
 *	  simdup_clusters: which rows of a query belong together.
 *
 * Rows that are alone are left out by default. Nearly all rows of a large table
 * are, and writing them would cost more than finding the clusters.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/clustering.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/session.h"

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
	uint8 *byte = &far->seen[cluster.first_row / 8];
	uint8 bit = (uint8) (1 << cluster.first_row % 8);

	if (cluster.distance <= far->beyond)
		return;
	far->max_distance = Max(far->max_distance, cluster.distance);
	if (*byte & bit)
		return;
	*byte |= bit;
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
		simdup_clusters_prefetch(clusters, i);
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
