/*
 * reject.c
 *	  simdup_reject_trigger(fp, key, k [, 'option => value' ...]): refuses a
 *	  row within k of another, as a unique constraint; also a constraint trigger.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/objectaddress.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simdup_reject_trigger",
	.arguments = "fp, key, k [, 'option => value' ...]",
	.min_args = 3,
	.max_args = MAX_ARRIVAL_ARGS,
	.before = true,
	.after = true,
	.flag_arg = NO_ARGUMENT,
	.key_arg = 1,
	.k_arg = 2,
	.log_arg = NO_ARGUMENT,
};

static bool
may_select_column(Oid table, const char *column)
{
	return pg_attribute_aclcheck(table, get_attnum(table, column), GetUserId(),
								 ACL_SELECT) == ACLCHECK_OK;
}

/*
 * The DETAIL, which tells this user nothing that a SELECT would not. The other
 * row's key is for users who may read keys. Its distance is for users who may
 * read fingerprints too.
 */
static int
detail_of(ArrivalTrigger *at, const char *key, const char *fp,
		  ArrivalFound found)
{
	HeapTuple row = found.rows->vals[0];
	TupleDesc tupdesc = found.rows->tupdesc;
	bool sees_table =
		pg_class_aclcheck(at->table, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	char *value;

	if (check_enable_rls(at->table, InvalidOid, true) == RLS_ENABLED ||
		!(sees_table || may_select_column(at->table, key)))
		return 0;
	value = SPI_getvalue(row, tupdesc, ARRIVAL_OLD_KEY);
	if (value == NULL)
		value = "null";
	if (sees_table || may_select_column(at->table, fp))
		return errdetail("The row with (%s)=(%s) is at distance %s.", key,
						 value, SPI_getvalue(row, tupdesc, ARRIVAL_DISTANCE));
	return errdetail("It repeats the row with (%s)=(%s).", key, value);
}

static void
refuse(TriggerData *trigdata, ArrivalTrigger *at, ArrivalFound found)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);

	ereport(ERROR, errcode(ERRCODE_EXCLUSION_VIOLATION),
			errmsg("new row for relation \"%s\" repeats a row within distance %d, refused by \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation), at->k,
				   trigdata->tg_trigger->tgname),
			detail_of(at, SPI_fname(tupdesc, at->key),
					  SPI_fname(tupdesc, at->fp), found),
			errtableconstraint(trigdata->tg_relation,
							   trigdata->tg_trigger->tgname));
}

PG_FUNCTION_INFO_V1(simdup_reject_trigger);
Datum
simdup_reject_trigger(PG_FUNCTION_ARGS)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	HeapTuple result = simdup_arrival_new_tuple(trigdata);
	ArrivalRow row;
	ArrivalFound found;

	/*
	 * A search skips rows of the same key. So a row that gets another key may
	 * have neighbours that it was never compared with.
	 */
	if (!simdup_arrival_row(trigdata, at, &row) || !row.has_fp ||
		!(row.changed || row.key_changed))
		return PointerGetDatum(result);

	simdup_arrival_lock(at, row.fp);
	SPI_connect();
	found = simdup_arrival_search(trigdata, at, ARRIVAL_NEAREST, &row, true);
	if (found.n > 0)
	{
		simdup_arrival_require_visible(at, found, 0);
		refuse(trigdata, at, found);
	}
	SPI_finish();
	return PointerGetDatum(result);
}
