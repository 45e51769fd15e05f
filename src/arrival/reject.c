/*
 * reject.c
 *	  simdup_reject_trigger(['option => value' ...]): refuses a row near
 *	  another, as a unique constraint does; also as a constraint trigger.
 */
#include "postgres.h"

#include "arrival/arrival.h"
#include "server/keys.h"

static const ArrivalUsage usage = {
	.function = "simdup_reject_trigger",
	.arguments = "['option => value' ...]",
	.before = true,
	.after = true,
	.deferred = true,
};

/* Report the error for a row that repeats another. */
static bool
refuse(ArrivalSearch *search, const ArrivalFound *found)
{
	const ArrivalTrigger *at = search->at;
	TriggerData *trigdata = search->arg;
	char *key =
		found->key_isnull ? "null" : simdup_key_text(at->key_type, found->key);

	ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
			errmsg("new row for relation \"%s\" repeats a row within distance %d, refused by \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation),
				   at->max_distance, trigdata->tg_trigger->tgname),
			simdup_arrival_detail(at, key, found->distance),
			errtableconstraint(trigdata->tg_relation,
							   trigdata->tg_trigger->tgname));
	return true;
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	ArrivalRow row;

	if (simdup_arrival_row(trigdata, at, &row) && row.has_fp)
	{
		simdup_arrival_lock(at, row.fp);
		simdup_arrival_search(at, &row, refuse, trigdata);
	}
	return PointerGetDatum(simdup_arrival_new_tuple(trigdata));
}
