/*
 * regroup.c
 *	  simdup_regroup(target, dry_run): all groups anew, from fingerprints and
 *	  decisions.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "groups/regrouping.h"
#include "server/arguments.h"
#include "server/result.h"

/* The rows whose id changes. */
static void
put_changes(ReturnSetInfo *result, Regrouping *r)
{
	FmgrInfo output;
	Oid function;
	bool is_varlena;

	getTypeOutputInfo(simdup_grouping_bulk_key_type(r->g), &function,
					  &is_varlena);
	fmgr_info(function, &output);
	for (uint32 i = 0; i < r->n; i++)
	{
		int64 id = r->new_id[r->leader[i]];
		Datum values[3];
		bool nulls[3] = {false, r->old_id[i] == 0, false};

		CHECK_FOR_INTERRUPTS();
		if (id == r->old_id[i])
			continue;
		values[0] = CStringGetTextDatum(
			OutputFunctionCall(&output, simdup_keys_get(r->rows->keys, i, 0)));
		values[1] = Int64GetDatum(r->old_id[i]);
		values[2] = Int64GetDatum(id);
		simdup_put_result(result, values, nulls);
		pfree(DatumGetPointer(values[0]));
	}
}

static void
check_owner(Grouping *g)
{
	if (!has_privs_of_role(GetUserId(), simdup_arrival_owner(g->at->table)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   get_rel_name(g->at->table));
}

PG_FUNCTION_INFO_V1(simdup_regroup);
/* simdup_regroup(target, dry_run) */
Datum
simdup_regroup(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	bool dry_run = PG_GETARG_BOOL(1);
	Regrouping r = {0};
	GroupUser user;
	int64 newest_old_id;

	r.g = simdup_grouping_open(fcinfo->flinfo->fn_oid, PG_GETARG_OID(0));
	check_owner(r.g);
	(void) simdup_check_max_distance(r.g->at->k);
	if (!dry_run)
	{
		PreventCommandIfReadOnly("simdup_regroup()");
		simdup_arrival_lock_table(r.g->at->table);
	}
	user = simdup_grouping_become_owner(r.g);
	simdup_regroup_read(fcinfo, &r);
	newest_old_id = simdup_grouping_last_id(r.g);
	simdup_regroup_rows(&r);
	simdup_regroup_decide(&r);
	simdup_regroup_ids(&r, dry_run, newest_old_id);
	if (!dry_run)
		simdup_regroup_write(&r, newest_old_id);
	put_changes(result, &r);
	simdup_groups_end(r.equal);
	simdup_grouping_become_user(user);
	return (Datum) 0;
}
