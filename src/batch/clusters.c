/*
 * clusters.c
 *	  simdup_clusters: which rows of a query belong together.
 *
 * Rows that are alone are left out unless asked for: of a large table they
 * are nearly all, and writing them would cost more than finding the rest.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/clustering.h"
#include "server/progress.h"
#include "server/result.h"

static void
put_group(ReturnSetInfo *result, SimdupRows *rows, const SimdupGroup *group,
		  uint32 cluster, uint32 size)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};
	uint32 i;

	values[1] = simdup_row_key(rows, cluster, 1);
	values[2] = Int64GetDatum((int64) size);
	for (i = 0; i < group->n; i++)
	{
		values[0] =
			simdup_row_key(rows, simdup_row_number(rows, group->start + i), 0);
		simdup_put_result(result, values, nulls);
	}
}

static void
put_clusters(ReturnSetInfo *result, const SimdupClusters *clusters,
			 int min_size)
{
	SimdupRows *rows = clusters->rows;
	int64 i;

	simdup_progress_phase("writing", rows->n_groups);
	for (i = 0; i < rows->n_groups; i++)
	{
		SimdupGroup group = simdup_rows_get_group(rows, i).group;
		uint32 first_row;
		uint32 size;

		CHECK_FOR_INTERRUPTS();
		simdup_cluster_of(clusters, &group, &first_row, &size);
		if ((int64) size >= min_size)
			put_group(result, rows, &group, first_row, size);
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
	SimdupClusterMethod method;
	int max_distance;
	SimdupClusters *clusters;

	/* where key_type is meant but is taken for min_size, say so */
	if (PG_ARGISNULL(min_size_at))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("min_size must not be null"),
				errhint(
					"For keys of type integer, name the argument: key_type => NULL::integer."));
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return (Datum) 0;
	max_distance = simdup_check_max_distance(PG_GETARG_INT32(1));
	method = simdup_cluster_method(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	rows = simdup_rows_begin(fcinfo, min_size_at > 3 ? 3 : min_size_at + 1);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_rows_group(rows);
	clusters = simdup_find_clusters(rows, max_distance, method, NULL, NULL);
	put_clusters(result, clusters, PG_GETARG_INT32(min_size_at));
	simdup_rows_end(rows);
	return (Datum) 0;
}
