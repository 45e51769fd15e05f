/*
 * component.c
 *	  simdup_component: which keys the pairs of a partition connect.
 *
 * Keys get numbers as they come, and union-find over the numbers forgets each
 * pair at once. So memory grows with the keys, some 40 bytes each, and by one
 * number a pair.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "batch/rows.h"

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
		   SimdupWindowCall *call, int64 n, MemoryContext row_context)
{
	MemoryContext context = MemoryContextSwitchTo(row_context);

	simdup_progress_phase("reading", 0);
	for (int64 i = 0; i < n; i++)
	{
		bool no_a;
		bool no_b;
		Datum a = simdup_window_argument(winobj, 0, i, &no_a);
		Datum b;

		CHECK_FOR_INTERRUPTS();
		if (!no_a && finding->most_waiting == 2)
			a = datumCopy(a, false, get_typlen(call->key_type));
		b = simdup_window_argument(winobj, 1, i, &no_b);
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
				WindowObject winobj, SimdupWindowCall *call)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(components));
	TypeCacheEntry *type =
		lookup_type_cache(call->key_type, TYPECACHE_CMP_PROC_FINFO);
	int64 n = simdup_window_rows(winobj);
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
		find_components(components, fcinfo, winobj,
						simdup_window_call(fcinfo, sizeof(SimdupWindowCall)));
	key = components->row_key[WinGetCurrentPosition(winobj)];
	if (key == SIMDUP_NO_NUMBER)
		PG_RETURN_NULL();
	return simdup_keys_get(components->keys, key, 0);
}
