/*
 * windows.c
 *	  simdup_cluster and simdup_campaign: which rows of a partition belong together.
 *	  And simdup_component: which keys the pairs of a partition connect.
 *
 * On its first row a window function reads its partition once, forwards: a
 * partition that the server keeps on disk is slow to read in any other order. The
 * engine of clusters is that of groups, core/cluster/grouping.h, without decisions
 * and ids. A number for each row stays until the partition ends. All else goes,
 * temporary files too.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "windowapi.h"

#include "batch/join.h"
#include "core/cluster/components.h"
#include "core/compare/resemblance.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/progress.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/* What is kept of a call in a statement from one partition to the next. */
typedef struct WindowCall
{
	const char *function;
	Oid key_type;
	SimdupOptions options;
	bool options_known; /* they are constant */
	TimestampTz told;	/* the last progress message */
	int64 n_read;		/* rows of the partitions before */
} WindowCall;

/* Return the call, a new one in the first partition. */
static WindowCall *
window_call(FunctionCallInfo fcinfo, const char *function)
{
	WindowCall *call = fcinfo->flinfo->fn_extra;

	if (call == NULL)
	{
		call =
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(WindowCall));
		call->function = function;
		call->key_type = get_fn_expr_argtype(fcinfo->flinfo, 0);
		if (!OidIsValid(call->key_type))
			elog(ERROR, "could not determine the type of the keys");
		fcinfo->flinfo->fn_extra = call;
	}
	return call;
}

/* Return an argument at a row of the partition, which are read in their order. */
static Datum
argument_at(WindowObject winobj, int argument, int64 row, bool *isnull)
{
	bool isout;

	return WinGetFuncArgInPartition(winobj, argument, (int) row,
									WINDOW_SEEK_HEAD, false, isnull, &isout);
}

/*
 * Return the rows of the partition. The window functions of the server count
 * rows by 32 bits when they seek.
 */
static int64
rows_of_partition(WindowObject winobj)
{
	int64 n = WinGetPartitionRowCount(winobj);

	if (n > PG_INT32_MAX)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one partition"),
				errdetail("A partition has at most %d rows.", PG_INT32_MAX));
	return n;
}

/*
 * simdup_cluster and simdup_campaign
 */

/* The recall of simdup_resembles, as in the install script. */
#define RESEMBLES_RECALL 0.99

/* The shingles of which simdup_campaign counts those in both of two texts. */
static const SimdupShingling campaign_shingling = {SIMDUP_SHINGLE_WORD, 3};

/* The arguments of the forms of the functions; 0: the form lacks it. */
typedef struct ClusterForm
{
	int fp;
	int content;
	int n_columns; /* options follow the columns */
	bool campaigns;
} ClusterForm;

/* In the memory of a partition. */
typedef struct Clusters
{
	bool known;
	/*
	 * by row: its cluster of several rows, or SIMDUP_NO_ROW; NULL: there is no such
	 * cluster
	 */
	uint32 *cluster;
	/* by cluster: the number of its name above 0, once it has one */
	uint32 *key;
	SimdupKeys *keys;
	uint32 n_keys;
} Clusters;

/*
 * ERROR for a content that is the same in all rows: the parser takes a literal or
 * a parameter without a type for a text.
 */
static void
check_content(FunctionCallInfo fcinfo, const ClusterForm *form)
{
	if (form->content > 0 &&
		get_fn_expr_arg_stable(fcinfo->flinfo, form->content))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("content must not be a constant"),
				form->fp > 0
					? errhint("For a distance, write max_distance => 8.")
					: 0);
}

/*
 * Return the options of a partition, which are those of its first row. Without an
 * option max_distance the distance follows from the resemblance.
 */
static SimdupOptions
options_of(FunctionCallInfo fcinfo, WindowObject winobj, WindowCall *call,
		   const ClusterForm *form)
{
	SimdupOptions options;

	if (call->options_known)
		return call->options;
	check_content(fcinfo, form);
	call->options_known = true;
	for (int i = form->n_columns; i < PG_NARGS(); i++)
	{
		fcinfo->args[i].value =
			WinGetFuncArgCurrent(winobj, i, &fcinfo->args[i].isnull);
		if (!get_fn_expr_arg_stable(fcinfo->flinfo, i))
			call->options_known = false;
	}
	options = simdup_options(fcinfo);
	if (form->campaigns)
	{
		options.method = SIMDUP_CAMPAIGNS;
		options.min_resemblance = 1; /* contents count */
		options.shingling = campaign_shingling;
	}
	else if (form->fp == 0)
	{
		simdup_check_not_null(options.min_resemblance == 0, "min_resemblance");
		options.shingling = simdup_default_shingling;
		options.max_distance =
			simdup_agreement_distance(options.min_resemblance,
									  RESEMBLES_RECALL);
		if (options.max_distance > SIMDUP_MAX_PAIR_DISTANCE)
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("min_resemblance is too low"),
					errdetail("It needs a distance of %d, and at most %d is possible.",
							  options.max_distance, SIMDUP_MAX_PAIR_DISTANCE));
	}
	call->options = options;
	return options;
}

/* Read a row. Its values last until the memory of rows is reset. */
static SimdupRow
read_row(WindowObject winobj, const ClusterForm *form, bool has_content,
		 int64 number)
{
	SimdupRow row = {0};

	if (form->fp > 0)
	{
		Datum fp = argument_at(winobj, form->fp, number, &row.no_fp);

		if (row.no_fp)
			return row;
		row.fp = DatumGetSimhash64(fp);
	}
	if (!has_content)
		return row;
	row.content = argument_at(winobj, form->content, number, &row.no_content);
	if (form->fp > 0 || row.no_content)
		return row;
	row.content = PointerGetDatum(PG_DETOAST_DATUM_PACKED(row.content));
	row.no_fp = !simdup_text_minhash64(DatumGetTextPP(row.content), &row.fp);
	return row;
}

/*
 * Read the partition. Return the bits of its rows that take no part, NULL if there
 * are none.
 */
static uint8 *
read_rows(WindowObject winobj, const ClusterForm *form, SimdupRows *rows,
		  int64 n)
{
	uint8 *skipped = NULL;

	MemoryContextSwitchTo(rows->row_context);
	for (int64 i = 0; i < n; i++)
	{
		SimdupRow row;

		CHECK_FOR_INTERRUPTS();
		row = read_row(winobj, form, rows->contents != NULL, i);
		MemoryContextSwitchTo(rows->context);
		if (simdup_rows_add(rows, &row) == SIMDUP_NO_ROW)
		{
			if (skipped == NULL)
				skipped = simdup_alloc0((Size) n / 8 + 1);
			simdup_set_bit(skipped, (uint32) i);
		}
		MemoryContextSwitchTo(rows->row_context);
		MemoryContextReset(rows->row_context);
	}
	MemoryContextSwitchTo(rows->context);
	return skipped;
}

/*
 * Turn the row that each row's cluster is known by into the number of the cluster,
 * or SIMDUP_NO_ROW for a row that is alone. Return those rows by cluster; they
 * ascend.
 */
static uint32 *
number_clusters(uint32 *known_by, uint32 n, uint32 *n_clusters)
{
	uint32 *number = simdup_alloc(((Size) n + 1) * sizeof(uint32)); /* by row */

	*n_clusters = 0;
	memset(number, 0xff, (Size) n * sizeof(uint32));
	for (uint32 row = 0; row < n; row++)
		if (known_by[row] != row)
			number[known_by[row]] = 0;
	for (uint32 row = 0; row < n; row++)
		if (number[row] != SIMDUP_NO_ROW)
			number[row] = (*n_clusters)++;
	for (uint32 row = 0; row < n; row++)
		known_by[row] = number[known_by[row]];
	for (uint32 row = 0; row < n; row++)
		if (number[row] != SIMDUP_NO_ROW)
			number[number[row]] = row; /* behind what is still to be read */
	return number;
}

/* Name a cluster that has no name yet. */
static void
name_cluster(Clusters *clusters, uint32 cluster, Datum key)
{
	clusters->key[cluster] = ++clusters->n_keys;
	simdup_keys_add(clusters->keys, key, false);
}

/* Name each campaign by the key of its center, which may come after other rows. */
static void
name_campaigns(Clusters *clusters, WindowObject winobj, const SimdupRows *rows,
			   const uint8 *skipped, const uint32 *center, uint32 n_clusters)
{
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);

	for (uint32 i = 0, row = 0, cluster = 0; cluster < n_clusters; i++)
	{
		bool isnull;
		Datum key;

		CHECK_FOR_INTERRUPTS();
		if ((skipped != NULL && simdup_get_bit(skipped, i)) ||
			row++ != center[cluster])
			continue;
		key = argument_at(winobj, 0, i, &isnull);
		if (!isnull)
			name_cluster(clusters, cluster, key);
		cluster++;
		MemoryContextReset(rows->row_context);
	}
	MemoryContextSwitchTo(old);
}

/* Find the clusters of a partition, and leave nothing else behind. */
static void
find_clusters(Clusters *clusters, WindowObject winobj, WindowCall *call,
			  const ClusterForm *form, const SimdupOptions *options)
{
	MemoryContext kept = GetMemoryChunkContext(clusters);
	int64 n = rows_of_partition(winobj);
	SimdupFeed feed = {.function = call->function,
					   .budget = (int64) get_hash_memory_limit(),
					   .row_budget = (int64) get_hash_memory_limit() / 2,
					   .content_type = TEXTOID,
					   .told = &call->told,
					   .n_before = call->n_read};
	SimdupRows *rows;
	uint8 *skipped;
	uint32 *cluster;
	uint32 *known_by;
	uint32 n_clusters;

	clusters->known = true;
	if (n < 2)
		return;
	call->n_read += n;
	rows = simdup_rows_feed(&feed, options);
	skipped = read_rows(winobj, form, rows, n);
	cluster =
		simdup_find_groups(simdup_rows_distinct(rows), NULL, NULL, NULL, NULL);
	known_by = number_clusters(cluster, rows->n, &n_clusters);
	if (n_clusters > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(kept);

		clusters->cluster = simdup_alloc((Size) n * sizeof(uint32));
		for (uint32 i = 0, row = 0; i < n; i++)
			clusters->cluster[i] = skipped != NULL && simdup_get_bit(skipped, i)
									   ? SIMDUP_NO_ROW
									   : cluster[row++];
		clusters->key = simdup_alloc0((Size) n_clusters * sizeof(uint32));
		clusters->keys = simdup_keys_begin(call->key_type);
		MemoryContextSwitchTo(old);
		if (form->campaigns)
			name_campaigns(clusters, winobj, rows, skipped, known_by,
						   n_clusters);
	}
	simdup_rows_end(rows);
}

/*
 * Return the key of the current row's cluster: its name, else that of its first row
 * which has a key. Rows come in their order.
 */
static Datum
cluster_of_current(FunctionCallInfo fcinfo, const ClusterForm *form)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	Clusters *clusters = WinGetPartitionLocalMemory(winobj, sizeof(Clusters));
	uint32 cluster = SIMDUP_NO_ROW;
	bool isnull;
	Datum key;

	if (!clusters->known)
	{
		WindowCall *call =
			window_call(fcinfo,
						form->campaigns ? "simdup_campaign" : "simdup_cluster");
		SimdupOptions options = options_of(fcinfo, winobj, call, form);

		find_clusters(clusters, winobj, call, form, &options);
	}
	key = WinGetFuncArgCurrent(winobj, 0, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	if (clusters->cluster != NULL)
		cluster = clusters->cluster[WinGetCurrentPosition(winobj)];
	if (cluster == SIMDUP_NO_ROW)
		return key;
	if (clusters->key[cluster] > 0)
		return simdup_keys_get(clusters->keys, clusters->key[cluster] - 1, 0);
	name_cluster(clusters, cluster, key);
	return key;
}

PG_FUNCTION_INFO_V1(simdup_cluster);
/* simdup_cluster(key, fp, max_distance, method) */
Datum
simdup_cluster(PG_FUNCTION_ARGS)
{
	return cluster_of_current(fcinfo, &(ClusterForm){.fp = 1, .n_columns = 2});
}

PG_FUNCTION_INFO_V1(simdup_cluster_verified);
/* simdup_cluster(key, fp, content, max_distance, min_resemblance, method, w, unit) */
Datum
simdup_cluster_verified(PG_FUNCTION_ARGS)
{
	return cluster_of_current(fcinfo, &(ClusterForm){.fp = 1,
													 .content = 2,
													 .n_columns = 3});
}

PG_FUNCTION_INFO_V1(simdup_cluster_texts);
/* simdup_cluster(key, content, min_resemblance, method) */
Datum
simdup_cluster_texts(PG_FUNCTION_ARGS)
{
	return cluster_of_current(fcinfo,
							  &(ClusterForm){.content = 1, .n_columns = 2});
}

PG_FUNCTION_INFO_V1(simdup_campaign);
/* simdup_campaign(key, content, min_containment) */
Datum
simdup_campaign(PG_FUNCTION_ARGS)
{
	return cluster_of_current(fcinfo, &(ClusterForm){.content = 1,
													 .n_columns = 2,
													 .campaigns = true});
}

/*
 * simdup_component
 *
 * Keys get numbers as they come, and union-find over the numbers forgets each
 * pair at once. So memory grows with the keys, some 40 bytes each, and by one
 * number a pair.
 */

/* In the memory of a partition. */
typedef struct Components
{
	SimdupKeys *keys; /* by number; NULL: not yet */
	/* by row: the number of a key of its, later that of its component's name */
	uint32 *row_key;
} Components;

/* While they are found. */
typedef struct Finding
{
	SimdupKeyNumbers *numbers; /* of the keys */
	uint32 *parent;			   /* by number of a key */
	uint32 n;
	Size capacity;

	/* keys that wait to be looked up, two a pair, and the rows of these */
	Datum waiting[SIMDUP_MANY_KEYS];
	uint32 rows[SIMDUP_MANY_KEYS / 2];
	int n_waiting;
	int most_waiting; /* 2 where keys live no longer than their row */
} Finding;

/*
 * Look up the keys that wait, and join the components of each pair. New keys are
 * components of their own.
 */
static void
join_waiting(Components *components, Finding *finding)
{
	uint32 numbers[SIMDUP_MANY_KEYS];
	int n = finding->n_waiting;

	simdup_keynumbers_get(finding->numbers, finding->waiting, n, numbers);
	finding->parent =
		simdup_grow(finding->parent, &finding->capacity,
					simdup_keynumbers_count(finding->numbers), sizeof(uint32));
	for (; finding->n < simdup_keynumbers_count(finding->numbers); finding->n++)
		finding->parent[finding->n] = finding->n;
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&finding->parent[numbers[i]]);
	for (int i = 0; i < n; i += 2)
	{
		simdup_components_join(finding->parent, numbers[i], numbers[i + 1]);
		components->row_key[finding->rows[i / 2]] = numbers[i];
	}
	finding->n_waiting = 0;
}

/* Read the pairs. A row with one key is a pair of it with itself. */
static void
read_pairs(Components *components, Finding *finding, WindowObject winobj,
		   WindowCall *call, int64 n, MemoryContext row_context)
{
	MemoryContext context = MemoryContextSwitchTo(row_context);

	simdup_progress_phase("reading", 0);
	for (int64 i = 0; i < n; i++)
	{
		bool no_a;
		bool no_b;
		Datum a = argument_at(winobj, 0, i, &no_a);
		Datum b;

		CHECK_FOR_INTERRUPTS();
		if (!no_a && finding->most_waiting == 2)
			a = datumCopy(a, false, get_typlen(call->key_type));
		b = argument_at(winobj, 1, i, &no_b);
		components->row_key[i] = SIMDUP_NO_NUMBER;
		if (no_a && no_b)
			continue;
		finding->rows[finding->n_waiting / 2] = (uint32) i;
		finding->waiting[finding->n_waiting++] =
			simdup_keys_take(components->keys, no_a ? b : a, false);
		finding->waiting[finding->n_waiting++] =
			simdup_keys_take(components->keys, no_b ? a : b, false);
		if (finding->n_waiting < finding->most_waiting)
			continue;
		MemoryContextSwitchTo(context);
		join_waiting(components, finding);
		MemoryContextSwitchTo(row_context);
		MemoryContextReset(row_context);
		simdup_progress_done(call->n_read + i);
	}
	MemoryContextSwitchTo(context);
	join_waiting(components, finding);
}

/*
 * Name each component by its smallest key: turn the parent of each key into that
 * key's number.
 */
static void
name_components(const Components *components, Finding *finding,
				FmgrInfo *compare, Oid collation)
{
	uint32 *parent = finding->parent;
	uint32 *smallest =
		simdup_alloc(((Size) finding->n + 1) * sizeof(uint32)); /* by root */

	/* a parent is never larger than its child, so one ascending pass does it */
	for (uint32 i = 0; i < finding->n; i++)
	{
		uint32 root = parent[i] = parent[parent[i]];

		simdup_check_interrupts_at(i);
		if (root == i ||
			DatumGetInt32(
				FunctionCall2Coll(compare, collation,
								  simdup_keys_get(components->keys, i, 0),
								  simdup_keys_get(components->keys,
												  smallest[root], 1))) < 0)
			smallest[root] = i;
	}
	for (uint32 i = 0; i < finding->n; i++)
		parent[i] = smallest[parent[i]];
	simdup_free(smallest);
}

/* Find the components of a partition, and leave nothing else behind. */
static void
find_components(Components *components, FunctionCallInfo fcinfo,
				WindowObject winobj, WindowCall *call)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(components));
	TypeCacheEntry *type =
		lookup_type_cache(call->key_type, TYPECACHE_CMP_PROC_FINFO);
	int64 n = rows_of_partition(winobj);
	MemoryContext context;
	Finding *finding;

	if (!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("could not identify a comparison function for type %s",
					   format_type_be(call->key_type)));
	components->keys = simdup_keys_begin(call->key_type);
	components->row_key = simdup_alloc((Size) n * sizeof(uint32));
	context = AllocSetContextCreate(CurrentMemoryContext, "simdup components",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	simdup_progress_begin(call->function, &call->told);
	finding = palloc0(sizeof(Finding));
	finding->numbers =
		simdup_keynumbers_begin(components->keys, call->key_type);
	finding->parent = simdup_grow(NULL, &finding->capacity, 16, sizeof(uint32));
	finding->most_waiting = get_typbyval(call->key_type) ? SIMDUP_MANY_KEYS : 2;
	read_pairs(components, finding, winobj, call, n,
			   AllocSetContextCreate(context, "simdup row",
									 ALLOCSET_SMALL_SIZES));
	name_components(components, finding, &type->cmp_proc_finfo,
					PG_GET_COLLATION());
	for (int64 i = 0; i < n; i++)
		if (components->row_key[i] != SIMDUP_NO_NUMBER)
			components->row_key[i] = finding->parent[components->row_key[i]];
	call->n_read += n;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

PG_FUNCTION_INFO_V1(simdup_component);
/* simdup_component(a, b) */
Datum
simdup_component(PG_FUNCTION_ARGS)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	Components *components =
		WinGetPartitionLocalMemory(winobj, sizeof(Components));
	uint32 key;

	if (components->keys == NULL)
		find_components(components, fcinfo, winobj,
						window_call(fcinfo, "simdup_component"));
	key = components->row_key[WinGetCurrentPosition(winobj)];
	if (key == SIMDUP_NO_NUMBER)
		PG_RETURN_NULL();
	return simdup_keys_get(components->keys, key, 0);
}
