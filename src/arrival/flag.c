/*
 * flag.c
 *	  simdup_flag_trigger(fp, flag, key, k [, 'lock']): marks a row with the
 *	  key of the nearest row that was there before.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simdup_flag_trigger",
	.arguments = "fp, flag, key, k [, 'lock']",
	.min_args = 4,
	.max_args = 5,
	.before = true,
	.flag_arg = 1,
	.key_arg = 2,
	.k_arg = 3,
	.log_arg = NO_ARGUMENT,
	.lock_arg = 4,
};

/* The nearest row's key, in the current context, or null. */
static Datum
nearest_key(TriggerData *trigdata, ArrivalTrigger *at, uint64 fp, bool *isnull)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum key = (Datum) 0;

	*isnull = true;
	if (at->lock)
		simdup_arrival_lock(at, fp);
	SPI_connect();
	if (simdup_arrival_search(trigdata, at, ARRIVAL_NEAREST, fp, false) > 0)
	{
		HeapTuple found = SPI_tuptable->vals[0];

		simdup_arrival_require_visible(at, found, SPI_tuptable->tupdesc);
		key = SPI_getbinval(found, SPI_tuptable->tupdesc, ARRIVAL_OLD_KEY,
							isnull);
		if (!*isnull)
		{
			MemoryContext spi = MemoryContextSwitchTo(caller);
			int16 typlen;
			bool typbyval;

			get_typlenbyval(at->key_type, &typlen, &typbyval);
			key = datumCopy(key, typbyval, typlen);
			MemoryContextSwitchTo(spi);
		}
	}
	SPI_finish();
	return key;
}

PG_FUNCTION_INFO_V1(simdup_flag_trigger);
Datum
simdup_flag_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	HeapTuple row = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
						? trigdata->tg_newtuple
						: trigdata->tg_trigtuple;
	Datum key = (Datum) 0;
	bool isnull = true;
	bool was_null;
	bool changed;
	uint64 fp;
	int flag;

	if (simdup_arrival_fingerprint(trigdata, at, &fp, &changed) && changed)
		key = nearest_key(trigdata, at, fp, &isnull);
	(void) simdup_arrival_value(trigdata, at->flag, &was_null);
	if (!changed || (isnull && was_null))
		return PointerGetDatum(row);

	flag = at->flag;
	return PointerGetDatum(
		heap_modify_tuple_by_cols(row, RelationGetDescr(trigdata->tg_relation),
								  1, &flag, &key, &isnull));
}
