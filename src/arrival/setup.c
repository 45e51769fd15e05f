/*
 * setup.c
 *	  The trigger that fires, as one statement sees it.
 *
 * The state is kept in fn_extra, which the executor gives to each trigger for
 * the length of a statement. It holds OIDs and column numbers, never names.
 * Locks keep other sessions from changing the relations behind the OIDs. A
 * change by this session makes the next row set the trigger up again.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "arrival/arrival.h"

/* How often this session has heard that some relation changed. */
static uint64 relation_changes = 0;

static void
count_relation_change(Datum arg pg_attribute_unused(),
					  Oid relid pg_attribute_unused())
{
	relation_changes++;
}

static void
watch_relations(void)
{
	static bool watching = false;

	if (watching)
		return;
	CacheRegisterRelcacheCallback(count_relation_change, (Datum) 0);
	watching = true;
}

/* The table that has a trigger; *parent is the trigger it is a clone of. */
static Oid
table_of_trigger(Relation pg_trigger, Oid trigger, Oid *parent)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	Oid table = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(trigger));
	scan =
		systable_beginscan(pg_trigger, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		*parent = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
	}
	systable_endscan(scan);
	return table;
}

/*
 * The triggers of partitions are clones of their parent's. The trigger that
 * the user made says which table is searched: the one that has it.
 */
static void
find_origin(TriggerData *trigdata, ArrivalTrigger *at)
{
	Relation pg_trigger;
	Oid parent = trigdata->tg_trigger->tgoid;

	at->trigger = parent;
	at->table = RelationGetRelid(trigdata->tg_relation);
	if (!trigdata->tg_trigger->tgisclone)
		return;

	pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	while (OidIsValid(parent) && OidIsValid(at->table))
	{
		at->trigger = parent;
		at->table = table_of_trigger(pg_trigger, at->trigger, &parent);
	}
	table_close(pg_trigger, AccessShareLock);

	/*
	 * The writer has locked only the partition. Lock the parent too, so that
	 * no other session renames or drops it before the search.
	 */
	if (OidIsValid(at->table))
		LockRelationOid(at->table, AccessShareLock);
	if (!OidIsValid(at->table) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(at->table)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("trigger \"%s\" for table \"%s\" does not exist",
					   trigdata->tg_trigger->tgname,
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail(
					"The partitioned table that had it was changed or dropped while a statement wrote to its partition."));
}

/* Is the table, one of its partitions or one of its children foreign? */
bool
simdup_arrival_reaches_foreign(Oid table)
{
	ListCell *cell;

	if (get_rel_relkind(table) == RELKIND_FOREIGN_TABLE)
		return true;
	if (!has_subclass(table))
		return false;
	foreach (cell, find_all_inheritors(table, NoLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	return false;
}

static ArrivalTrigger *
set_up(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context =
		AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup arrival trigger",
							  ALLOCSET_SMALL_SIZES);
	ArrivalTrigger *at = MemoryContextAllocZero(context, sizeof(*at));

	at->context = context;
	at->usage = usage;
	at->function = fcinfo->flinfo->fn_oid;
	/* a change from here on, while locks are waited for, counts too */
	at->relation_changes = relation_changes;
	find_origin(trigdata, at);
	simdup_arrival_read_arguments(trigdata, at);
	if (at->lock)
		at->lock_k =
			simdup_arrival_lock_distance(at, trigdata->tg_trigger->tgargs[0]);
	at->remote = at->lock && simdup_arrival_reaches_foreign(at->table);
	if (TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
		simdup_arrival_prepare_row(trigdata, at);
	return at;
}

/*
 * The trigger that fires, its arguments checked. A change of any relation
 * sets it up again: that is rarer than rows, and cheap.
 */
ArrivalTrigger *
simdup_arrival_setup(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	ArrivalTrigger *at = fcinfo->flinfo->fn_extra;

	simdup_arrival_check_fired(fcinfo, usage);
	if (at != NULL && at->relation_changes == relation_changes)
		return at;

	watch_relations();
	if (at != NULL)
	{
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(at->context);
	}
	simdup_arrival_check_arguments(trigdata, usage);
	at = set_up(fcinfo, usage);
	fcinfo->flinfo->fn_extra = at;
	return at;
}
