/*
 * plans.c
 *	  Keeps a plan per trigger and session, and prepares it again when a
 *	  relation that it names has changed.
 *
 * Partitions share the plans of the trigger they are clones of. Triggers with
 * the same log share the plan that writes to it, so that the plan does not
 * stay behind when one of them is dropped.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "arrival/arrival.h"

typedef struct PlanKey
{
	Oid object; /* the trigger, or the log's table */
	Oid key_type;
	int kind;
} PlanKey;

typedef struct PlanEntry
{
	PlanKey key;
	SPIPlanPtr plan;
	int generation; /* of a search, as it was planned here */
} PlanEntry;

static HTAB *plans = NULL;

/* Replaced while plans were being executed; to be freed. */
static List *replaced = NIL;

/*
 * How many of the plans are being made or executed. That may run anybody's
 * code (policies, triggers on the log), which may fire arrival triggers and
 * invalidate plans: none is freed meanwhile.
 */
static int executing = 0;

static PlanKey
plan_key(ArrivalTrigger *at, ArrivalPlan kind)
{
	PlanKey key;

	key.object = kind == ARRIVAL_LOG ? at->log_table : at->trigger;
	key.key_type = at->key_type;
	key.kind = kind;
	return key;
}

static CachedPlanSource *
plan_source(SPIPlanPtr plan)
{
	return linitial(SPI_plan_get_plan_sources(plan));
}

/*
 * The plan cache replans by itself, but under the session's settings and from
 * the old text. A search is planned here, under settings of its own. After a
 * rename, its text is written again, with the new name.
 */
static bool
is_usable(const PlanEntry *entry)
{
	return SPI_plan_is_valid(entry->plan) &&
		   (entry->key.kind == ARRIVAL_LOG ||
			plan_source(entry->plan)->generation == entry->generation);
}

/* The plan, or NULL if there is none or if it must be built anew. */
SPIPlanPtr
simdup_arrival_plan(ArrivalTrigger *at, ArrivalPlan kind)
{
	PlanKey key = plan_key(at, kind);
	PlanEntry *entry;

	if (plans == NULL)
		return NULL;
	entry = hash_search(plans, &key, HASH_FIND, NULL);
	return entry != NULL && is_usable(entry) ? entry->plan : NULL;
}

/* Frees replaced plans, and the plans of dropped triggers. */
static void
free_unusable_plans(void)
{
	HASH_SEQ_STATUS status;
	PlanEntry *entry;

	if (executing > 0)
		return;
	while (replaced != NIL)
	{
		SPIPlanPtr plan = linitial(replaced);

		replaced = list_delete_first(replaced);
		SPI_freeplan(plan);
	}
	hash_seq_init(&status, plans);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		SPIPlanPtr plan = entry->plan;

		if (is_usable(entry))
			continue;
		hash_search(plans, &entry->key, HASH_REMOVE, NULL);
		SPI_freeplan(plan);
	}
}

static void
create_cache(void)
{
	HASHCTL control = {0};

	control.keysize = sizeof(PlanKey);
	control.entrysize = sizeof(PlanEntry);
	plans = hash_create("simdup arrival plans", 16, &control,
						HASH_ELEM | HASH_BLOBS);
}

/* Enter a plan into the table; no step may fail once the plan is kept. */
static PlanEntry *
enter_plan(PlanKey key, SPIPlanPtr plan)
{
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
	PlanEntry *entry = hash_search(plans, &key, HASH_FIND, NULL);

	if (entry != NULL)
		replaced = lappend(replaced, entry->plan);
	else
		entry = hash_search(plans, &key, HASH_ENTER, NULL);
	MemoryContextSwitchTo(caller);
	SPI_keepplan(plan);
	entry->plan = plan;
	return entry;
}

/* Plan now rather than at the first execution. */
static void
plan_now(SPIPlanPtr plan)
{
	executing++;
	PG_TRY();
	{
		ReleaseCachedPlan(SPI_plan_get_cached_plan(plan), CurrentResourceOwner);
	}
	PG_FINALLY();
	{
		executing--;
	}
	PG_END_TRY();
}

/* Keep a plan just prepared. A search is planned at once. */
void
simdup_arrival_keep_plan(ArrivalTrigger *at, ArrivalPlan kind, SPIPlanPtr plan)
{
	PlanKey key = plan_key(at, kind);
	PlanEntry *entry;

	if (plans == NULL)
		create_cache();
	free_unusable_plans();
	entry = enter_plan(key, plan);
	/* not usable if planning fails */
	entry->generation = -1;
	if (kind == ARRIVAL_LOG)
		return;
	plan_now(plan);
	entry = hash_search(plans, &key, HASH_FIND, NULL);
	if (entry != NULL && entry->plan == plan)
		entry->generation = plan_source(plan)->generation;
}

/* Execute a kept plan; SPI_processed and SPI_tuptable have the result. */
void
simdup_arrival_execute(SPIPlanPtr plan, Datum *values, const char *nulls,
					   Snapshot snapshot, long limit)
{
	int result;

	executing++;
	PG_TRY();
	{
		result = SPI_execute_snapshot(plan, values, nulls, snapshot,
									  InvalidSnapshot, false, true, limit);
	}
	PG_FINALLY();
	{
		executing--;
	}
	PG_END_TRY();
	if (result < 0)
		elog(ERROR, "SPI_execute_snapshot failed: %s",
			 SPI_result_code_string(result));
}

/* Open a portal for a kept plan without parameters. */
Portal
simdup_arrival_open(SPIPlanPtr plan, Snapshot snapshot)
{
	Portal portal;

	executing++;
	PG_TRY();
	{
		PushActiveSnapshot(snapshot);
		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
		PopActiveSnapshot();
	}
	PG_FINALLY();
	{
		executing--;
	}
	PG_END_TRY();
	return portal;
}
