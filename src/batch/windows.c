/*
 * windows.c
 *	  simdup_cluster, simdup_campaign, simdup_template and simdup_component: which
 *	  rows of a partition belong together.
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
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "windowapi.h"

#include "batch/rows.h"
#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The recall of simdup_resembles, as in the install script. */
#define RESEMBLES_RECALL 0.99

/* The shingles of which simdup_campaign counts those in both of two texts. */
static const SimdupShingling campaign_shingling = {SIMDUP_SHINGLE_WORD, 3};

/* Windows */

/* A call of a window function, from one partition of a statement to the next. */
typedef struct WindowCall
{
	const char *function;
	Oid key_type;
	int64 n_read; /* rows of the partitions before */
	/* arguments; -1: this form of the function has none, 0: not looked for yet */
	int fp;
	int content;
	int min_containment; /* of simdup_campaign and simdup_template alone */
	SimdupOptions options;
	bool options_known; /* they are constant */
} WindowCall;

/* Return the call of a function with a key as its first argument. */
static WindowCall *
window_call(FunctionCallInfo fcinfo)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	WindowCall *call = flinfo->fn_extra;

	if (call != NULL)
		return call;
	call = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(WindowCall));
	call->function =
		MemoryContextStrdup(flinfo->fn_mcxt, get_func_name(flinfo->fn_oid));
	call->key_type = get_fn_expr_argtype(flinfo, 0);
	if (!OidIsValid(call->key_type))
		elog(ERROR, "could not determine the type of the keys");
	return flinfo->fn_extra = call;
}

/*
 * Return the rows of the partition. The window functions of the server count rows by
 * 32 bits when they seek.
 */
static int64
window_rows(WindowObject winobj)
{
	int64 n = WinGetPartitionRowCount(winobj);

	if (n > PG_INT32_MAX)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one partition"),
				errdetail("A partition has at most %d rows.", PG_INT32_MAX));
	return n;
}

/* Return an argument at a row of the partition, which are read in their order. */
static Datum
window_argument(WindowObject winobj, int argument, int64 row, bool *isnull)
{
	bool isout;

	return WinGetFuncArgInPartition(winobj, argument, (int) row,
									WINDOW_SEEK_HEAD, false, isnull, &isout);
}

/* Clusters */

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

static WindowCall *
cluster_call(FunctionCallInfo fcinfo)
{
	WindowCall *call = window_call(fcinfo);

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
find_options(FunctionCallInfo fcinfo, WindowObject winobj, WindowCall *call,
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

/* Read a row. Its values last until the memory of rows is reset. */
static SimdupRow
read_row(WindowObject winobj, const WindowCall *call, bool has_content,
		 int64 number)
{
	SimdupRow row = {0};

	if (call->fp > 0)
	{
		Datum fp = window_argument(winobj, call->fp, number, &row.no_fp);

		if (row.no_fp)
			return row;
		row.fp = DatumGetSimhash64(fp);
	}
	if (!has_content)
		return row;
	row.content =
		window_argument(winobj, call->content, number, &row.no_content);
	if (call->fp > 0 || row.no_content)
		return row;
	row.content = PointerGetDatum(PG_DETOAST_DATUM_PACKED(row.content));
	row.no_fp = !simdup_text_minhash64(DatumGetTextPP(row.content), &row.fp);
	return row;
}

/* Read the partition. List the rows that take part. */
static void
read_rows(WindowObject winobj, const WindowCall *call, SimdupRows *rows,
		  int64 n, uint32 *taken)
{
	MemoryContextSwitchTo(rows->row_context);
	for (int64 i = 0; i < n; i++)
	{
		SimdupRow row;
		uint32 number;

		CHECK_FOR_INTERRUPTS();
		row = read_row(winobj, call, rows->contents != NULL, i);
		number = simdup_rows_add(rows, &row);
		if (number != SIMDUP_NO_ROW)
			taken[number] = (uint32) i;
		MemoryContextReset(rows->row_context);
	}
	MemoryContextSwitchTo(rows->context);
}

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
		key = window_argument(winobj, 0, row, &isnull);
		if (!isnull)
			name_cluster(clusters, row, key);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old);
}

/* Find the clusters of a partition, and leave nothing else behind. */
static void
find_clusters(Clusters *clusters, WindowObject winobj, WindowCall *call)
{
	int64 n = window_rows(winobj);
	SimdupFeed feed = {.function = call->function,
					   .budget = (int64) get_hash_memory_limit(),
					   .content_type = TEXTOID,
					   .n_before = call->n_read};
	MemoryContext old;
	SimdupRows *rows;
	uint32 *group;

	clusters->known = true;
	if (n < 2)
		return;
	call->n_read += n;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(clusters));
	clusters->cluster = simdup_alloc((Size) n * sizeof(uint32));
	clusters->keys = simdup_keys_begin(call->key_type, SIMDUP_KEYS_IN_MEMORY);
	rows = simdup_rows_feed(&feed, &call->options);
	read_rows(winobj, call, rows, n, clusters->cluster);
	simdup_rows_distinct(rows);
	group = simdup_find_groups(rows, NULL, NULL, NULL);
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
		WindowCall *call = cluster_call(fcinfo);

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

/*
 * Components
 *
 * Keys get numbers as they come, and union-find over the numbers forgets each
 * pair at once. So memory grows with the keys, some 40 bytes each, and by one
 * number a pair.
 */

/* In the memory of a partition. */
typedef struct Components
{
	SimdupKeys *keys; /* by number; NULL: not yet */
	/* by row: the number of one of its keys; later, of its component's smallest key */
	uint32 *row_key;
} Components;

/* While they are found. */
typedef struct Finding
{
	SimdupKeyIds *numbers; /* of the keys */
	uint32 *parent;		   /* by number of a key */
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

	simdup_keyids_get(finding->numbers, finding->waiting, n, numbers);
	finding->parent =
		simdup_grow(finding->parent, &finding->capacity,
					simdup_keyids_count(finding->numbers), sizeof(uint32));
	for (; finding->n < simdup_keyids_count(finding->numbers); finding->n++)
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
		Datum a = window_argument(winobj, 0, i, &no_a);
		Datum b;

		CHECK_FOR_INTERRUPTS();
		if (!no_a && finding->most_waiting == 2)
			a = datumCopy(a, false, get_typlen(call->key_type));
		b = window_argument(winobj, 1, i, &no_b);
		components->row_key[i] = SIMDUP_NO_NUMBER;
		if (no_a && no_b)
			continue;
		finding->rows[finding->n_waiting / 2] = (uint32) i;
		finding->waiting[finding->n_waiting++] =
			simdup_keys_take(components->keys, no_a ? b : a);
		finding->waiting[finding->n_waiting++] =
			simdup_keys_take(components->keys, no_b ? a : b);
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
	int64 n = window_rows(winobj);
	MemoryContext context;
	Finding *finding;

	if (!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("could not identify a comparison function for type %s",
					   format_type_be(call->key_type)));
	components->keys = simdup_keys_begin(call->key_type, SIMDUP_KEYS_IN_MEMORY);
	components->row_key = simdup_alloc((Size) n * sizeof(uint32));
	context = AllocSetContextCreate(CurrentMemoryContext, "simdup components",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	simdup_progress_begin(call->function, call->n_read > 0);
	finding = palloc0(sizeof(Finding));
	finding->numbers = simdup_keyids_begin(components->keys, call->key_type,
										   PG_GET_COLLATION());
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

	SIMDUP_REFUSE_NULL_TREATMENT(winobj, fcinfo);
	if (components->keys == NULL)
		find_components(components, fcinfo, winobj, window_call(fcinfo));
	key = components->row_key[WinGetCurrentPosition(winobj)];
	if (key == SIMDUP_NO_NUMBER)
		PG_RETURN_NULL();
	return simdup_keys_get(components->keys, key, 0);
}
