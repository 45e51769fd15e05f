/*
 * components.c
 *	  simdup_components: which keys the pairs of a query connect.
 *
 * Keys get numbers as they come, and union-find over the numbers forgets each
 * pair at once. So memory grows with the keys, some 40 bytes each, and not with
 * the pairs. The smallest number of a component is its first key.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/cluster/components.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/keys.h"
#include "server/progress.h"
#include "server/query.h"

typedef struct Components
{
	MemoryContext context;
	MemoryContext row_context;
	SimdupKeys *keys;
	SimdupKeyNumbers *numbers;
	uint32 *parent; /* by number */
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
	Oid type;

	if (columns->natts < 2 || TupleDescAttr(columns, 0)->atttypid !=
								  TupleDescAttr(columns, 1)->atttypid)
		return false;
	type = TupleDescAttr(columns, 0)->atttypid;
	simdup_keys_expect(components->keys, type, argument);
	return true;
}

/* Begin new keys as components of their own. */
static void
begin_components(Components *components)
{
	uint32 n = simdup_keynumbers_count(components->numbers);

	components->parent = simdup_grow(components->parent, &components->capacity,
									 n, sizeof(uint32));
	for (; components->n < n; components->n++)
		components->parent[components->n] = components->n;
}

/* Look up the keys that wait, and join the components of each pair. */
static void
join_waiting(Components *components)
{
	uint32 numbers[SIMDUP_MANY_KEYS];
	int n = components->n_waiting;

	simdup_keynumbers_get(components->numbers, components->waiting, n, numbers);
	begin_components(components);
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
	MemoryContext old = MemoryContextSwitchTo(components->row_context);

	slot_getallattrs(row);
	for (int i = 0; i < 2; i++)
		components->waiting[components->n_waiting++] =
			simdup_keys_take(components->keys, row->tts_values[i],
							 row->tts_isnull[i]);
	if (components->n_waiting >= components->most_waiting)
	{
		join_waiting(components);
		MemoryContextReset(components->row_context);
	}
	MemoryContextSwitchTo(old);
	simdup_progress_done(++components->n_pairs);
}

/* Count the keys of each component, by root. Parents become roots. */
static uint32 *
count_sizes(Components *components)
{
	uint32 *parent = components->parent;
	uint32 n = components->n;
	uint32 *sizes =
		MemoryContextAllocExtended(components->context,
								   ((Size) n + 1) * sizeof(uint32),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

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
		bool nulls[3] = {false, false, false};

		CHECK_FOR_INTERRUPTS();
		if (i + SIMDUP_AHEAD < n)
		{
			__builtin_prefetch(&sizes[root_of[i + SIMDUP_AHEAD]]);
			simdup_keys_prefetch(components->keys, root_of[i + SIMDUP_AHEAD]);
		}
		values[0] = simdup_keys_get(components->keys, i, 0);
		values[1] = simdup_keys_get(components->keys, root, 1);
		values[2] = Int64GetDatum((int64) sizes[root]);
		simdup_put_result(result, values, nulls);
		simdup_progress_done(i);
	}
}

PG_FUNCTION_INFO_V1(simdup_components);
/* Return simdup_components(query [, key_type], params). */
Datum
simdup_components(PG_FUNCTION_ARGS)
{
	SimdupQuery query =
		{NULL, "query",
		 "the two keys of a pair, of one type, and anything after them",
		 "a, b"};
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Oid key_type = simdup_key_type_argument(fcinfo);
	Components components = {.capacity = 1024};
	MemoryContext old;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	components.context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup components",
							  ALLOCSET_DEFAULT_SIZES);
	components.row_context =
		AllocSetContextCreate(components.context, "simdup row",
							  ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(components.context);
	simdup_progress_begin(get_func_name(fcinfo->flinfo->fn_oid));
	components.keys = simdup_keys_of_function(fcinfo);
	components.most_waiting =
		FLOAT8PASSBYVAL && key_type == INT8OID ? SIMDUP_MANY_KEYS : 2;
	components.numbers = simdup_keynumbers_begin(components.keys, key_type);
	components.parent = palloc(components.capacity * sizeof(uint32));
	simdup_progress_phase("reading", 0);
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 add_pair, &components);
	join_waiting(&components);
	put_components(&components, result);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(components.context);
	return (Datum) 0;
}
