/*
 * reject.c
 *	  simdup_reject_trigger(fp, key, k): a row within k of another is refused,
 *	  like one that violates a unique constraint; also as a constraint trigger.
 */
#include "postgres.h"
#include "compat.h"

#include "access/tableam.h"
#include "catalog/objectaddress.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simdup_reject_trigger",
	.arguments = "fp, key, k",
	.min_args = 3,
	.max_args = 3,
	.before = true,
	.after = true,
	.flag_arg = NO_ARGUMENT,
	.key_arg = 1,
	.k_arg = 2,
	.log_arg = NO_ARGUMENT,
	.lock_arg = NO_ARGUMENT,
};

/*
 * A deferred trigger may fire for a version of the row that has since been
 * updated (then it fires for the new version too) or deleted.
 */
static bool
row_is_gone(TriggerData *trigdata)
{
	TupleTableSlot *slot = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
							   ? trigdata->tg_newslot
							   : trigdata->tg_trigslot;

	/* constraint triggers alone are deferred, and foreign tables have none */
	return TRIGGER_FIRED_AFTER(trigdata->tg_event) &&
		   trigdata->tg_relation->rd_tableam != NULL &&
		   !table_tuple_satisfies_snapshot(trigdata->tg_relation, slot,
										   SnapshotSelf);
}

/* Does an error message tell this user nothing that a SELECT would not? */
static bool
may_see_keys(ArrivalTrigger *at, const char *key)
{
	Oid user = GetUserId();

	if (check_enable_rls(at->table, InvalidOid, true) == RLS_ENABLED)
		return false;
	return pg_class_aclcheck(at->table, user, ACL_SELECT) == ACLCHECK_OK ||
		   pg_attribute_aclcheck(at->table, get_attnum(at->table, key), user,
								 ACL_SELECT) == ACLCHECK_OK;
}

static void
refuse(TriggerData *trigdata, ArrivalTrigger *at)
{
	HeapTuple found = SPI_tuptable->vals[0];
	TupleDesc tupdesc = SPI_tuptable->tupdesc;
	char *key = SPI_fname(RelationGetDescr(trigdata->tg_relation), at->key);
	char *value = SPI_getvalue(found, tupdesc, ARRIVAL_OLD_KEY);

	ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
			errmsg("new row for relation \"%s\" repeats a row within distance "
				   "%d, refused by \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation), at->k,
				   trigdata->tg_trigger->tgname),
			may_see_keys(at, key)
				? errdetail("The row with (%s)=(%s) is at distance %s.", key,
							value != NULL ? value : "null",
							SPI_getvalue(found, tupdesc, ARRIVAL_DISTANCE))
				: 0,
			errtableconstraint(trigdata->tg_relation,
							   trigdata->tg_trigger->tgname));
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	HeapTuple row = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
						? trigdata->tg_newtuple
						: trigdata->tg_trigtuple;
	bool changed;
	uint64 fp;

	if (!simdup_arrival_fingerprint(trigdata, at, &fp, &changed) || !changed ||
		row_is_gone(trigdata))
		return PointerGetDatum(row);

	simdup_arrival_lock(at, fp);
	SPI_connect();
	if (simdup_arrival_search(trigdata, at, ARRIVAL_NEAREST, fp, true) > 0)
	{
		simdup_arrival_require_visible(at, SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc);
		refuse(trigdata, at);
	}
	SPI_finish();
	return PointerGetDatum(row);
}
