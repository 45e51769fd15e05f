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
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "core/host.h"
#include "groups/regrouping.h"
#include "server/arguments.h"
#include "server/catalog.h"
#include "server/result.h"

/* Columns after key and fingerprint. */
enum
{
	COLUMN_ID = 2,
	COLUMN_LEADS,
	COLUMN_HAS_ID,
	COLUMN_SCOPE
};

/* A SimdupRowSink: what is known of a row before. */
static void
note_row(void *arg, TupleTableSlot *slot)
{
	Regrouping *r = arg;

	if (r->n == r->capacity)
	{
		Size n = (Size) r->capacity * 2;

		r->old_id = simdup_realloc(r->old_id, n * sizeof(int64));
		r->flags = simdup_realloc(r->flags, n);
		if (r->scope != NULL)
			r->scope = simdup_realloc(r->scope, n * sizeof(int64));
		r->capacity = (uint32) Min(n, PG_UINT32_MAX);
	}
	r->old_id[r->n] = slot->tts_isnull[COLUMN_ID]
						  ? 0
						  : DatumGetInt64(slot->tts_values[COLUMN_ID]);
	r->flags[r->n] = slot->tts_isnull[COLUMN_ID] ? 0 : ROW_IS_MEMBER;
	if (DatumGetBool(slot->tts_values[COLUMN_LEADS]))
		r->flags[r->n] |= ROW_LEADS;
	if (DatumGetBool(slot->tts_values[COLUMN_HAS_ID]))
		r->flags[r->n] |= ROW_HAS_ID;
	if (r->scope != NULL)
		r->scope[r->n] = DatumGetInt64(slot->tts_values[COLUMN_SCOPE]);
	r->n++;
}

/* All rows, in the order in which they come. */
static void
read_rows(FunctionCallInfo fcinfo, Regrouping *r)
{
	Grouping *g = r->g;
	Oid key_type = simdup_grouping_bulk_key_type(g);
	char *query =
		simdup_grouping_text(g,
							 psprintf("SELECT t.{key}::%s, t.{fp}::{x}.simhash64, m.id, g.id IS NOT NULL,"
									  " (t.{group} {=} m.id) IS TRUE, %s FROM {T} t"
									  " LEFT JOIN {M} m ON m.key {keq} t.{key}"
									  " LEFT JOIN {G} g ON g.id {=} m.id AND g.representative {keq} t.{key}"
									  " AND g.simdup_fp OPERATOR({x}.=) t.{fp}"
									  " WHERE t.{fp} IS NOT NULL ORDER BY m.age, t.{key}",
									  simdup_type_name(key_type),
									  simdup_regroup_scope(g)));

	r->capacity = 1024;
	r->old_id = simdup_alloc(r->capacity * sizeof(int64));
	r->flags = simdup_alloc(r->capacity);
	if (g->at->conditions.n_columns > 0)
		r->scope = simdup_alloc(r->capacity * sizeof(int64));
	r->rows = simdup_rows_begin(fcinfo, 1);
	simdup_keys_end(r->rows->keys);
	r->rows->keys = simdup_keys_begin(key_type);
	r->rows->also = note_row;
	r->rows->also_arg = r;
	/* what was committed while the lock was waited for counts too */
	PushActiveSnapshot(GetLatestSnapshot());
	simdup_rows_read(r->rows, query, "target");
	PopActiveSnapshot();
	r->equal = simdup_rows_group(r->rows);
}

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
	read_rows(fcinfo, &r);
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
