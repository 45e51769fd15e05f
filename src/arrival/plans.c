/*
 * plans.c
 *	  Prepared once per trigger and session, and again when what they name has
 *	  changed. Partitions share the plans of the trigger they are clones of;
 *	  triggers with the same log share the plan that writes to it, so that it
 *	  does not stay behind when one of them is dropped.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/hsearch.h"

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
} PlanEntry;

static HTAB *plans = NULL;

/*
 * How many of the plans are being executed. What they execute may be anybody's
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

/*
 * The plan, or NULL if there is none or if it must be built anew. The plan
 * cache replans by itself; but its query is text, and after any change of
 * what that text names only we can write it again, by the new names.
 */
SPIPlanPtr
simdup_arrival_plan(ArrivalTrigger *at, ArrivalPlan kind)
{
	PlanKey key = plan_key(at, kind);
	PlanEntry *entry;

	if (plans == NULL)
		return NULL;
	entry = hash_search(plans, &key, HASH_FIND, NULL);
	return entry != NULL && SPI_plan_is_valid(entry->plan) ? entry->plan : NULL;
}

/* Also rids the cache of what has become invalid: dropped triggers, say. */
static void
drop_invalid_plans(void)
{
	HASH_SEQ_STATUS status;
	PlanEntry *entry;

	if (executing > 0)
		return;
	hash_seq_init(&status, plans);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		SPIPlanPtr plan = entry->plan;

		if (SPI_plan_is_valid(plan))
			continue;
		hash_search(plans, &entry->key, HASH_REMOVE, NULL);
		SPI_freeplan(plan);
	}
}

/* Keep a plan just prepared. */
void
simdup_arrival_keep_plan(ArrivalTrigger *at, ArrivalPlan kind, SPIPlanPtr plan)
{
	PlanKey key = plan_key(at, kind);
	PlanEntry *entry;

	if (plans == NULL)
	{
		HASHCTL control = {0};

		control.keysize = sizeof(PlanKey);
		control.entrysize = sizeof(PlanEntry);
		plans = hash_create("simdup arrival plans", 16, &control,
							HASH_ELEM | HASH_BLOBS);
	}
	drop_invalid_plans();
	entry = hash_search(plans, &key, HASH_ENTER, NULL);
	/* nothing may fail from here on: the plan lives as long as its entry */
	SPI_keepplan(plan);
	entry->plan = plan;
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
