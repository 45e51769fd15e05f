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
#include "server/arguments.h"
#include "server/progress.h"
#include "server/result.h"

static void
put_group(ReturnSetInfo *result, SimdupGroups *groups, const SimdupGroup *group,
		  uint32 cluster, uint32 size)
{
	SimdupKeys *keys = groups->rows->keys;
	Datum values[3];
	bool nulls[3] = {false, false, false};

	values[1] = simdup_keys_get(keys, cluster, 1);
	values[2] = Int64GetDatum((int64) size);
	for (uint32 i = 0; i < group->n; i++)
	{
		uint32 number = simdup_groups_row(groups, group->start + i);

		values[0] = simdup_keys_get(keys, number, 0);
		simdup_put_result(result, values, nulls);
	}
}

static void
put_clusters(ReturnSetInfo *result, const SimdupClusters *clusters,
			 int min_size)
{
	SimdupGroups *groups = clusters->groups;

	simdup_progress_phase("writing", groups->n);
	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);
		uint32 first_row;
		uint32 size;

		CHECK_FOR_INTERRUPTS();
		simdup_cluster_of(clusters, &group, &first_row, &size);
		if ((int64) size >= min_size)
			put_group(result, groups, &group, first_row, size);
		simdup_progress_done(i);
	}
}

/*
 * (query, max_distance, method, min_size), or with a null of the key's type
 * before min_size.
 */
PG_FUNCTION_INFO_V1(simdup_clusters);
Datum
simdup_clusters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	int min_size_at = PG_NARGS() - 1;
	SimdupRows *rows;
	SimdupGroups *groups;
	SimdupClusterMethod method;
	int max_distance;
	SimdupClusters *clusters;

	/* where key_type is meant but is taken for min_size, say so */
	if (PG_ARGISNULL(min_size_at))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("min_size must not be null"),
				errhint(
					"For keys of type integer, name the argument: key_type => NULL::integer."));
	if (simdup_has_null(fcinfo, 3))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(1));
	method = simdup_cluster_method(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	rows = simdup_rows_begin(fcinfo, min_size_at > 3 ? 3 : min_size_at + 1);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	groups = simdup_rows_group(rows);
	clusters = simdup_find_clusters(groups, max_distance, method, NULL, NULL);
	put_clusters(result, clusters, PG_GETARG_INT32(min_size_at));
	simdup_groups_end(groups);
	return (Datum) 0;
}
