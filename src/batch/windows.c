/*
 * windows.c
 *	  simdup_cluster and simdup_campaign: which rows of a partition belong together.
 *
 * On its first row a window function reads its partition once, forwards. A
 * partition that the server keeps on disk is slow to read in any other order. The
 * engine of clusters is that of groups, core/cluster/grouping.h, without decisions
 * and ids. A number for each row stays until the partition ends. All else goes,
 * temporary files too.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/units.h"
#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The recall of simdup_resembles, as in the install script. */
#define RESEMBLES_RECALL 0.99

/* The shingles of which simdup_campaign counts those in both of two texts. */
static const SimdupShingling campaign_shingling = {SIMDUP_SHINGLE_WORD, 3};

/* What a statement's call of either function has. */
typedef struct ClusterCall
{
	SimdupWindowCall call;
	/* arguments; -1: this form of the function has none */
	int fp;
	int content;
	int min_containment; /* of simdup_campaign alone */
	SimdupOptions options;
	bool options_known; /* they are constant */
} ClusterCall;

/* No other row is in the cluster of this one. */
#define ALONE SIMDUP_NO_ROW
/* Larger than the row of any partition. */
#define FIRST ((uint32) 1 << 31)

/* In the memory of a partition. */
typedef struct Clusters
{
	bool known;
	/*
	 * by row: the first row of its cluster, or ALONE. For that row itself, FIRST plus
	 * the number of the cluster's name, from 1, or plus 0 until it has a name.
	 */
	uint32 *cluster;
	SimdupKeys *keys; /* that are names */
	uint32 n_keys;
} Clusters;

/* Windows */

void *
simdup_window_call(FunctionCallInfo fcinfo, Size size)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	SimdupWindowCall *call = flinfo->fn_extra;

	if (call != NULL)
		return call;
	call = MemoryContextAllocZero(flinfo->fn_mcxt, size);
	call->function =
		MemoryContextStrdup(flinfo->fn_mcxt, get_func_name(flinfo->fn_oid));
	call->key_type = get_fn_expr_argtype(flinfo, 0);
	if (!OidIsValid(call->key_type))
		elog(ERROR, "could not determine the type of the keys");
	return flinfo->fn_extra = call;
}

/* The window functions of the server count rows by 32 bits when they seek. */
int64
simdup_window_rows(WindowObject winobj)
{
	int64 n = WinGetPartitionRowCount(winobj);

	if (n > PG_INT32_MAX)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one partition"),
				errdetail("A partition has at most %d rows.", PG_INT32_MAX));
	return n;
}

Datum
simdup_window_argument(WindowObject winobj, int argument, int64 row,
					   bool *isnull)
{
	bool isout;

	return WinGetFuncArgInPartition(winobj, argument, (int) row,
									WINDOW_SEEK_HEAD, false, isnull, &isout);
}

/* Arguments */

static ClusterCall *
cluster_call(FunctionCallInfo fcinfo)
{
	ClusterCall *call = simdup_window_call(fcinfo, sizeof(ClusterCall));

	if (call->fp != 0)
		return call;
	call->fp = simdup_named_argument(fcinfo, "fp");
	call->content = simdup_named_argument(fcinfo, "content");
	call->min_containment = simdup_named_argument(fcinfo, "min_containment");
	/* the parser takes a literal or a parameter without a type for a text */
	if (call->content > 0 &&
		get_fn_expr_arg_stable(fcinfo->flinfo, call->content))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("content must not be a constant"),
				call->fp > 0
					? errhint("For a distance, write max_distance => 8.")
					: 0);
	return call;
}

/* Return the least resemblance, in hundredths, whose distance is possible. */
static double
least_resemblance(void)
{
	int hundredths = 0;

	while (simdup_agreement_distance(hundredths / 100.0, RESEMBLES_RECALL) >
		   SIMDUP_MAX_PAIR_DISTANCE)
		hundredths++;
	return hundredths / 100.0;
}

/*
 * Find the options of a partition, which are those of its first row. Without an
 * option max_distance the distance follows from the resemblance.
 */
static void
find_options(FunctionCallInfo fcinfo, WindowObject winobj, ClusterCall *call,
			 SimdupClusterMethod method)
{
	SimdupOptions *options = &call->options;

	if (call->options_known)
		return;
	call->options_known = true;
	for (int i = Max(call->fp, call->content) + 1; i < PG_NARGS(); i++)
	{
		fcinfo->args[i].value =
			WinGetFuncArgCurrent(winobj, i, &fcinfo->args[i].isnull);
		if (!get_fn_expr_arg_stable(fcinfo->flinfo, i))
			call->options_known = false;
	}
	*options = simdup_options(fcinfo);
	if (call->min_containment > 0)
	{
		options->method = method;
		options->min_resemblance = 1; /* contents count */
		options->shingling = campaign_shingling;
	}
	else if (call->fp < 0)
	{
		simdup_check_not_null(options->min_resemblance == 0, "min_resemblance");
		options->shingling = simdup_default_shingling;
		options->max_distance =
			simdup_agreement_distance(options->min_resemblance,
									  RESEMBLES_RECALL);
		if (options->max_distance > SIMDUP_MAX_PAIR_DISTANCE)
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("min_resemblance is too low"),
					errdetail("It needs a distance of %d, and at most %d is possible, which is enough for %.2f.",
							  options->max_distance, SIMDUP_MAX_PAIR_DISTANCE,
							  least_resemblance()),
					errhint(
						"A join by shingle_resemblance with simdup_component has no such limit."));
	}
}

/* Rows */

/* Read a row. Its values last until the memory of rows is reset. */
static SimdupRow
read_row(WindowObject winobj, const ClusterCall *call, bool has_content,
		 int64 number)
{
	SimdupRow row = {0};

	if (call->fp > 0)
	{
		Datum fp = simdup_window_argument(winobj, call->fp, number, &row.no_fp);

		if (row.no_fp)
			return row;
		row.fp = DatumGetSimhash64(fp);
	}
	if (!has_content)
		return row;
	row.content =
		simdup_window_argument(winobj, call->content, number, &row.no_content);
	if (call->fp > 0 || row.no_content)
		return row;
	row.content = PointerGetDatum(PG_DETOAST_DATUM_PACKED(row.content));
	row.no_fp = !simdup_text_minhash64(DatumGetTextPP(row.content), &row.fp);
	return row;
}

/* Read the partition. List the rows that take part. */
static void
read_rows(WindowObject winobj, const ClusterCall *call, SimdupRows *rows,
		  int64 n, uint32 *taken)
{
	MemoryContextSwitchTo(rows->row_context);
	for (int64 i = 0; i < n; i++)
	{
		SimdupRow row;
		uint32 number;

		CHECK_FOR_INTERRUPTS();
		row = read_row(winobj, call, rows->contents != NULL, i);
		MemoryContextSwitchTo(rows->context);
		number = simdup_rows_add(rows, &row);
		if (number != SIMDUP_NO_ROW)
			taken[number] = (uint32) i;
		MemoryContextSwitchTo(rows->row_context);
		MemoryContextReset(rows->row_context);
	}
	MemoryContextSwitchTo(rows->context);
}

/* Clusters */

/*
 * Find the cluster of each of n rows. At first, `cluster` lists the n_taken rows that
 * take part, and `group` their groups. The clusters replace that list from its end
 * on: so no row of the list is overwritten before it is read.
 */
static void
list_clusters(uint32 *cluster, uint32 n, uint32 *group, uint32 n_taken)
{
	for (uint32 i = 0; i < n_taken; i++)
		group[i] = cluster[group[i]];
	for (uint32 row = n, i = n_taken; row-- > 0;)
		cluster[row] = i > 0 && cluster[i - 1] == row ? group[--i] : ALONE;
	for (uint32 row = 0; row < n; row++)
		if (cluster[row] != row && cluster[row] < FIRST)
			cluster[cluster[row]] = FIRST;
	for (uint32 row = 0; row < n; row++)
		if (cluster[row] == row)
			cluster[row] = ALONE;
}

/* Name the cluster of a first row, which has no name yet, by a key. */
static void
name_cluster(Clusters *clusters, uint32 first, Datum key)
{
	clusters->cluster[first] = FIRST + ++clusters->n_keys;
	simdup_keys_add(clusters->keys, key);
}

/* Name each campaign by the key of its center, which may come after other rows. */
static void
name_campaigns(Clusters *clusters, WindowObject winobj, uint32 n,
			   MemoryContext row_context)
{
	MemoryContext old = MemoryContextSwitchTo(row_context);

	for (uint32 row = 0; row < n; row++)
	{
		bool isnull;
		Datum key;

		CHECK_FOR_INTERRUPTS();
		if (clusters->cluster[row] != FIRST)
			continue;
		key = simdup_window_argument(winobj, 0, row, &isnull);
		if (!isnull)
			name_cluster(clusters, row, key);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old);
}

/* Find the clusters of a partition, and leave nothing else behind. */
static void
find_clusters(Clusters *clusters, WindowObject winobj, ClusterCall *call)
{
	int64 n = simdup_window_rows(winobj);
	SimdupFeed feed = {.function = call->call.function,
					   .budget = (int64) get_hash_memory_limit(),
					   .content_type = TEXTOID,
					   .n_before = call->call.n_read};
	MemoryContext old;
	SimdupRows *rows;
	uint32 *group;

	clusters->known = true;
	if (n < 2)
		return;
	call->call.n_read += n;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(clusters));
	clusters->cluster = simdup_alloc((Size) n * sizeof(uint32));
	clusters->keys = simdup_keys_begin(call->call.key_type);
	rows = simdup_rows_feed(&feed, &call->options);
	read_rows(winobj, call, rows, n, clusters->cluster);
	group = simdup_find_groups(simdup_rows_distinct(rows), NULL, NULL, NULL);
	list_clusters(clusters->cluster, (uint32) n, group, rows->n);
	if (call->min_containment > 0)
		name_campaigns(clusters, winobj, (uint32) n, rows->row_context);
	simdup_rows_end(rows);
	MemoryContextSwitchTo(old);
}

/*
 * Return the key of the current row's cluster: its name, else that of its first row
 * which has a key. Rows come in their order. The method is for min_containment.
 */
static Datum
cluster_key(FunctionCallInfo fcinfo, SimdupClusterMethod method)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	Clusters *clusters = WinGetPartitionLocalMemory(winobj, sizeof(Clusters));
	uint32 row = (uint32) WinGetCurrentPosition(winobj);
	uint32 first;
	bool isnull;
	Datum key;

	if (!clusters->known)
	{
		ClusterCall *call = cluster_call(fcinfo);

		SIMDUP_REFUSE_NULL_TREATMENT(winobj, fcinfo);
		find_options(fcinfo, winobj, call, method);
		find_clusters(clusters, winobj, call);
	}
	key = WinGetFuncArgCurrent(winobj, 0, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	if (clusters->cluster == NULL || clusters->cluster[row] == ALONE)
		return key;
	first = clusters->cluster[row] < FIRST ? clusters->cluster[row] : row;
	if (clusters->cluster[first] == FIRST)
		name_cluster(clusters, first, key);
	return simdup_keys_get(clusters->keys, clusters->cluster[first] - FIRST - 1,
						   0);
}

PG_FUNCTION_INFO_V1(simdup_cluster);
/*
 * The forms:
 *
 * simdup_cluster(key, fp, max_distance, method)
 * simdup_cluster(key, fp, content, max_distance, min_resemblance, method, w, unit)
 * simdup_cluster(key, content, min_resemblance, method)
 * simdup_campaign(key, content, min_containment)
 */
Datum
simdup_cluster(PG_FUNCTION_ARGS)
{
	return cluster_key(fcinfo, SIMDUP_CAMPAIGNS);
}

PG_FUNCTION_INFO_V1(simdup_template);
/* Return simdup_template(key, content, min_containment). */
Datum
simdup_template(PG_FUNCTION_ARGS)
{
	return cluster_key(fcinfo, SIMDUP_TEMPLATES);
}
