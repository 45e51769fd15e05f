/*
 * flag.c
 *	  simdup_flag_trigger(column [, 'option => value' ...]): sets a column to the
 *	  key of the nearest other row.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simdup_flag_trigger",
	.arguments = "column [, 'option => value' ...]",
	.n_fixed = 1,
	.before = true,
	.flags = true,
	.tells = true,
};

/* Keep the key of the nearest row. */
static bool
take_key(ArrivalSearch *search, const ArrivalFound *found)
{
	ArrivalTrigger *at = search->at;
	Form_pg_attribute att = TupleDescAttr(at->tupdesc, at->key - 1);
	NullableDatum *nearest = search->arg;
	MemoryContext caller = MemoryContextSwitchTo(at->row_context);

	nearest->isnull = found->key_isnull;
	if (!found->key_isnull)
		nearest->value = datumCopy(found->key, att->attbyval, att->attlen);
	MemoryContextSwitchTo(caller);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	NullableDatum nearest = {.isnull = true};
	ArrivalRow row;
	bool was_null;
	int flag = at->flag;

	if (!simdup_arrival_row(trigdata, at, &row) || !row.changed)
		return PointerGetDatum(simdup_arrival_new_tuple(trigdata));
	if (row.has_fp)
	{
		if (at->lock)
			simdup_arrival_lock(at, row.fp);
		simdup_arrival_search(at, &row, take_key, &nearest);
	}
	(void) heap_getattr(row.tuple, at->flag, at->tupdesc, &was_null);
	if (nearest.isnull && was_null)
		return PointerGetDatum(row.tuple);
	/* a key fits the flag; NULL may not */
	if (nearest.isnull && get_typtype(at->key_type) == TYPTYPE_DOMAIN)
		domain_check((Datum) 0, true, at->key_type, NULL, NULL);
	return PointerGetDatum(heap_modify_tuple_by_cols(row.tuple, at->tupdesc, 1,
													 &flag, &nearest.value,
													 &nearest.isnull));
}
