/*
 * clusters.c
 *	  simdup_clusters: which rows of a query belong together, by either method.
 *	  And simdup_components: which keys the pairs of a query connect.
 *
 * The engine of clusters is that of groups, core/cluster/grouping.h, without
 * decisions and ids.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/join.h"
#include "core/cluster/components.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/query.h"

/*
 * simdup_clusters
 *
 * Rows that are alone are left out by default. Nearly all rows of a large table
 * are, and writing them would cost more than finding the clusters.
 */

/*
 * The clusters of rows. They take sixteen bytes a row, outside
 * maintenance_work_mem, and eight more where contents count.
 */
typedef struct Clusters
{
	SimdupRows *rows;
	uint32 *cluster;	 /* by row: the cluster's first row, which names it */
	uint32 *size;		 /* of a cluster, under that number */
	uint64 *fp;			 /* by row */
	double *resemblance; /* by row, to the first one; NULL: not kept */
} Clusters;

/* Find the clusters, in the context of the rows. */
static Clusters
find_clusters(SimdupFingerprints *fingerprints)
{
	SimdupRows *rows = fingerprints->rows;
	Size n = rows->n;
	uint8 *together = simdup_alloc0(n / 8 + 1); /* bits by row */
	Clusters clusters = {.rows = rows};

	if (rows->contents != NULL && rows->options.method == SIMDUP_LEADER)
	{
		clusters.resemblance = simdup_alloc((n + 1) * sizeof(double));
		for (uint32 row = 0; row < n; row++)
			clusters.resemblance[row] = 1;
	}
	clusters.cluster = simdup_find_groups(fingerprints, NULL, NULL, NULL,
										  clusters.resemblance);
	clusters.size = simdup_alloc0((n + 1) * sizeof(uint32));
	clusters.fp = simdup_alloc((n + 1) * sizeof(uint64));
	for (uint32 row = 0; row < n; row++)
		clusters.size[clusters.cluster[row]]++;
	for (uint32 row = 0; row < n; row++)
		if (clusters.size[clusters.cluster[row]] > 1)
			simdup_set_bit(together, row);
	/* most rows are alone; they would be most of what is written in no order */
	simdup_fingerprints_by_row(fingerprints, together, clusters.fp, NULL);
	simdup_free(together);
	return clusters;
}

/*
 * Chained clusters: those with a row farther than twice max_distance from their
 * first row. No row at all can be near both, so only a chain connects them.
 */
typedef struct ChainedClusters
{
	int64 n;
	int64 n_rows;
	uint32 largest;	  /* its rows */
	int max_distance; /* from a first row */
} ChainedClusters;

static void
warn_of_chained(const ChainedClusters *chained)
{
	ereport(WARNING,
			errmsg_plural("%lld cluster reaches beyond twice max_distance",
						  "%lld clusters reach beyond twice max_distance",
						  (unsigned long) chained->n, (long long) chained->n),
			errdetail("%lld rows are in such clusters, %u in the largest; rows are up to %d bits from the first row of their cluster.",
					  (long long) chained->n_rows, chained->largest,
					  chained->max_distance),
			errhint(
				"The method \"leader\" keeps each row within max_distance of its cluster's first row; min_resemblance compares contents."));
}

static void
put_clusters(ReturnSetInfo *result, const Clusters *clusters, int min_size)
{
	SimdupRows *rows = clusters->rows;
	ChainedClusters chained = {0};
	uint8 *is_chained = simdup_alloc0(rows->n / 8 + 1); /* bits by cluster */

	simdup_progress_phase("writing", rows->n);
	for (uint32 row = 0; row < rows->n; row++)
	{
		uint32 cluster = clusters->cluster[row];
		uint32 size = clusters->size[cluster];
		int distance;
		Datum values[5];
		bool nulls[5] = {false, false, false, false, rows->contents == NULL};

		CHECK_FOR_INTERRUPTS();
		simdup_progress_done(row);
		if (row + SIMDUP_AHEAD < rows->n)
			simdup_keys_prefetch(rows->keys,
								 clusters->cluster[row + SIMDUP_AHEAD]);
		if ((int64) size < min_size)
			continue;
		distance = row == cluster ? 0
								  : simdup_hamming64(clusters->fp[row],
													 clusters->fp[cluster]);
		values[0] = simdup_keys_get(rows->keys, row, 0);
		values[1] = simdup_keys_get(rows->keys, cluster, 1);
		values[2] = Int64GetDatum((int64) size);
		values[3] = Int32GetDatum(distance);
		if (clusters->resemblance != NULL)
			values[4] = Float8GetDatum(clusters->resemblance[row]);
		else if (rows->contents != NULL)
			values[4] = Float8GetDatum(
				row == cluster
					? 1
					: simdup_stored_texts_resemblance(rows->contents, cluster,
													  row, 0));
		simdup_put_result(result, values, nulls);
		if (distance <= 2 * rows->options.max_distance)
			continue;
		chained.max_distance = Max(chained.max_distance, distance);
		if (simdup_get_bit(is_chained, cluster))
			continue;
		simdup_set_bit(is_chained, cluster);
		chained.n++;
		chained.n_rows += size;
		chained.largest = Max(chained.largest, size);
	}
	if (chained.n > 0)
		warn_of_chained(&chained);
	simdup_free(is_chained);
}

PG_FUNCTION_INFO_V1(simdup_clusters);
/*
 * simdup_clusters(query [, key_type], max_distance, method, min_resemblance, w,
 * unit, min_size, params)
 */
Datum
simdup_clusters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupOptions options = simdup_options(fcinfo);
	int min_size = simdup_named_argument(fcinfo, "min_size");
	SimdupRows *rows;
	Clusters clusters;

	simdup_check_not_null(PG_ARGISNULL(min_size), "min_size");
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS, &options);
	simdup_rows_read(rows, fcinfo);
	clusters = find_clusters(simdup_rows_distinct(rows));
	put_clusters(result, &clusters, PG_GETARG_INT32(min_size));
	simdup_rows_end(rows);
	return (Datum) 0;
}

/*
 * simdup_components
 *
 * Keys get numbers as they come, and union-find over the numbers forgets each
 * pair at once. So memory grows with the keys, some 40 bytes each, and not with
 * the pairs. The smallest number of a component is its first key.
 */

typedef struct Components
{
	SimdupRows *rows; /* only keys, and their numbers */
	uint32 *parent;	  /* by number */
	uint32 n;
	Size capacity;
	int64 n_pairs;

	/* keys that wait to be looked up, two a pair */
	Datum waiting[SIMDUP_MANY_KEYS];
	int n_waiting;
	int most_waiting; /* 2 where keys live no longer than their row */
} Components;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	Components *components = arg;

	if (columns->natts < 2 || TupleDescAttr(columns, 0)->atttypid !=
								  TupleDescAttr(columns, 1)->atttypid)
		return false;
	simdup_keys_expect(components->rows->keys,
					   TupleDescAttr(columns, 0)->atttypid, argument);
	return true;
}

/*
 * Look up the keys that wait, and join the components of each pair. New keys are
 * components of their own.
 */
static void
join_waiting(Components *components)
{
	SimdupKeyNumbers *key_numbers = components->rows->numbers;
	uint32 numbers[SIMDUP_MANY_KEYS];
	int n = components->n_waiting;

	simdup_keynumbers_get(key_numbers, components->waiting, n, numbers);
	components->parent =
		simdup_grow(components->parent, &components->capacity,
					simdup_keynumbers_count(key_numbers), sizeof(uint32));
	for (; components->n < simdup_keynumbers_count(key_numbers);
		 components->n++)
		components->parent[components->n] = components->n;
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&components->parent[numbers[i]]);
	for (int i = 0; i < n; i += 2)
		simdup_components_join(components->parent, numbers[i], numbers[i + 1]);
	components->n_waiting = 0;
}

/* Add a pair: a SimdupRowSink. */
static void
add_pair(void *arg, TupleTableSlot *row)
{
	Components *components = arg;

	for (int i = 0; i < 2; i++)
		components->waiting[components->n_waiting++] =
			simdup_keys_take(components->rows->keys, row->tts_values[i],
							 row->tts_isnull[i]);
	if (components->n_waiting >= components->most_waiting)
		join_waiting(components);
	simdup_progress_done(++components->n_pairs);
}

/* Count the keys of each component, by root. Parents become roots. */
static uint32 *
count_sizes(Components *components)
{
	uint32 *parent = components->parent;
	uint32 n = components->n;
	uint32 *sizes = simdup_alloc0(((Size) n + 1) * sizeof(uint32));

	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32 i = 0; i < n; i++)
	{
		if (i + SIMDUP_AHEAD < n)
			__builtin_prefetch(&parent[parent[i + SIMDUP_AHEAD]]);
		parent[i] = parent[parent[i]];
	}
	for (uint32 i = 0; i < n; i++)
	{
		if (i + SIMDUP_AHEAD < n)
			__builtin_prefetch(&sizes[parent[i + SIMDUP_AHEAD]]);
		sizes[parent[i]]++;
	}
	return sizes;
}

static void
put_components(Components *components, ReturnSetInfo *result)
{
	const uint32 *root_of = components->parent;
	uint32 n = components->n;
	uint32 *sizes = count_sizes(components);

	simdup_progress_phase("writing", n);
	for (uint32 i = 0; i < n; i++)
	{
		uint32 root = root_of[i];
		Datum values[3];

		CHECK_FOR_INTERRUPTS();
		if (i + SIMDUP_AHEAD < n)
		{
			__builtin_prefetch(&sizes[root_of[i + SIMDUP_AHEAD]]);
			simdup_keys_prefetch(components->rows->keys,
								 root_of[i + SIMDUP_AHEAD]);
		}
		values[0] = simdup_keys_get(components->rows->keys, i, 0);
		values[1] = simdup_keys_get(components->rows->keys, root, 1);
		values[2] = Int64GetDatum((int64) sizes[root]);
		simdup_put_result(result, values, NULL);
		simdup_progress_done(i);
	}
}

PG_FUNCTION_INFO_V1(simdup_components);
/* Return simdup_components(query [, key_type], params). */
Datum
simdup_components(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Components components = {.most_waiting = 2};
	SimdupRows *rows;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	components.rows = rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS, NULL);
	rows->numbers = simdup_keynumbers_begin(rows->keys, rows->key_type);
	if (FLOAT8PASSBYVAL && rows->key_type == INT8OID)
		components.most_waiting = SIMDUP_MANY_KEYS;
	components.parent =
		simdup_grow(NULL, &components.capacity, 1024, sizeof(uint32));
	simdup_progress_phase("reading", 0);
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query",
									"the two keys of a pair, of one type, and anything after them",
									"a, b"},
					 rows->parameters, check_columns, add_pair, &components);
	join_waiting(&components);
	put_components(&components, result);
	simdup_rows_end(rows);
	return (Datum) 0;
}
