/*
 * decide.c
 *	  simdup_decide and simdup_undecide: people say which rows are the same.
 *
 * The decision itself is written with the caller's rights, so GRANT on the
 * table of decisions says who may decide. Callers decide only about rows that
 * they see. The groups are then changed as the table's owner.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "groups/chain.h"
#include "groups/decisions.h"
#include "groups/guesses.h"
#include "groups/moves.h"
#include "groups/recompute.h"
#include "server/arguments.h"
#include "server/keys.h"
#include "type/simhash64.h"

/* Two rows, the one with the smaller key first. */
typedef struct Pair
{
	Grouping *g;
	Datum keys[2];
} Pair;

/* An argument as a key: of the key's type, or its text form. */
static Datum
key_argument(FunctionCallInfo fcinfo, Grouping *g, int n)
{
	Oid given = get_fn_expr_argtype(fcinfo->flinfo, n);
	Oid function;
	Oid parameter;

	if (getBaseType(given) == getBaseType(g->at->key_type))
		return PG_GETARG_DATUM(n);
	getTypeInputInfo(g->at->key_type, &function, &parameter);
	return OidInputFunctionCall(function,
								simdup_key_text(given, PG_GETARG_DATUM(n)),
								parameter, -1);
}

/* The grouping and the keys; rows are not compared with themselves. */
static Pair
pair_arguments(FunctionCallInfo fcinfo)
{
	static const char *const names[] = {"target", "a", "b"};
	Pair p;
	TypeCacheEntry *type;
	int order;

	for (int i = 0; i < 3; i++)
		simdup_check_not_null(PG_ARGISNULL(i), names[i]);
	p.g = simdup_grouping_open(fcinfo->flinfo->fn_oid, PG_GETARG_OID(0));
	p.keys[0] = key_argument(fcinfo, p.g, 1);
	p.keys[1] = key_argument(fcinfo, p.g, 2);
	type = lookup_type_cache(p.g->at->key_type, TYPECACHE_CMP_PROC_FINFO);
	order =
		DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, p.g->collation,
										p.keys[0], p.keys[1]));
	if (order == 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("a decision is about two rows"),
				errdetail("Both are (%s)=(%s).", p.g->key,
						  simdup_key_text(p.g->at->key_type, p.keys[0])));
	if (order > 0)
	{
		Datum first = p.keys[1];

		p.keys[1] = p.keys[0];
		p.keys[0] = first;
	}
	return p;
}

/* Run SQL of ours with the caller's rights, as of now. */
static uint64
run_as_caller(Pair *p, const char *text, int n, const Oid *types, Datum *values,
			  const char *nulls)
{
	SPIPlanPtr plan = SPI_prepare(simdup_grouping_text(p->g, text), n,
								  unconstify(Oid *, types));

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	simdup_arrival_execute(plan, values, nulls, GetLatestSnapshot(), 0);
	return SPI_processed;
}

/* ERROR unless the caller sees both rows. */
static void
check_rows(Pair *p)
{
	Oid type = p->g->at->key_type;

	for (int i = 0; i < 2; i++)
		if (run_as_caller(p, "SELECT 1 FROM {T} WHERE {key} {keq} $1", 1, &type,
						  &p->keys[i], NULL) == 0)
			ereport(ERROR, errcode(ERRCODE_NO_DATA_FOUND),
					errmsg("row (%s)=(%s) of table \"%s\" does not exist",
						   p->g->key,
						   simdup_key_text(p->g->at->key_type, p->keys[i]),
						   get_rel_name(p->g->at->table)));
}

/* ERROR unless the caller may write decisions, before anybody has to wait. */
static void
check_right(Grouping *g, AclMode right)
{
	if (pg_class_aclcheck(g->decisions, GetUserId(), right) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE,
					   get_rel_name(g->decisions));
}

/* A decision and what it says: the value in *same; false if there is none. */
static bool
find_decision(Pair *p, bool *same)
{
	ArrivalFound found =
		simdup_grouping_run(p->g, GROUP_DECISION, p->keys, NULL);

	if (found.n > 0)
		*same = DatumGetBool(simdup_grouping_value(found, 0, 1, NULL));
	return found.n > 0;
}

static void
write_decision(Pair *p, bool same, FunctionCallInfo fcinfo)
{
	bool no_note = PG_NARGS() < 5 || PG_ARGISNULL(4);
	Oid types[] = {p->g->at->key_type, p->g->at->key_type, BOOLOID, TEXTOID,
				   NAMEOID};
	NameData name = {.data = ""};
	Datum values[] = {p->keys[0], p->keys[1], BoolGetDatum(same),
					  no_note ? (Datum) 0 : PG_GETARG_DATUM(4),
					  NameGetDatum(&name)};
	const char nulls[] = {' ', ' ', ' ', no_note ? 'n' : ' ', ' '};

	namestrcpy(&name, GetUserNameFromId(GetUserId(), false));
	(void)
		run_as_caller(p,
					  "INSERT INTO {D} (a, b, same, note, decided_at, decided_by)"
					  " VALUES ($1, $2, $3, $4, {now}, $5)",
					  5, types, values, nulls);
}

static bool
drop_decision(Pair *p)
{
	Oid types[] = {p->g->at->key_type, p->g->at->key_type};

	return run_as_caller(p, "DELETE FROM {D} WHERE a {keq} $1 AND b {keq} $2",
						 2, types, p->keys, NULL) > 0;
}

static void
write_event(Pair *p, const char *kind, const char *format)
{
	Datum values[] = {CStringGetTextDatum(kind), p->keys[0],
					  CStringGetTextDatum(
						  psprintf(format, simdup_key_text(p->g->at->key_type,
														   p->keys[1])))};

	(void) simdup_grouping_run(p->g, GROUP_EVENT, values, NULL);
}

/* Both rows' groups; false if one of them is in none. */
static bool
find_members(Pair *p, GroupMember *members)
{
	return simdup_group_member(p->g, p->keys[0], &members[0]) &&
		   simdup_group_member(p->g, p->keys[1], &members[1]);
}

/* What follows from a decision. The table is locked. */
static void
apply(Pair *p, bool same)
{
	GroupMember members[2];
	int64 id;

	if (!find_members(p, members))
		return;
	id = members[0].id;
	if (same && id != members[1].id)
		id = simdup_group_merge(p->g, id, members[1].id, "decision");
	if (same == (members[0].id != members[1].id))
		simdup_group_separate(p->g, id, "decision");
}

/*
 * The group of a row, or 0. For a deleted row this is the group that the row
 * left, by way of the redirects.
 */
static int64
touched_group(Pair *p, Datum key)
{
	GroupMember member;
	ArrivalFound found;

	if (simdup_group_member(p->g, key, &member))
		return member.id;
	found = simdup_grouping_run(p->g, GROUP_LEFT, &key, NULL);
	return found.n == 0
			   ? 0
			   : DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
}

/*
 * What follows when a decision is taken back. Deleting a row that it names has
 * not undone the merge, so deleted rows count here too.
 */
static void
undo(Pair *p)
{
	int64 ids[2];
	int n = 0;

	for (int i = 0; i < 2; i++)
	{
		int64 id = touched_group(p, p->keys[i]);

		if (id != 0 && (n == 0 || ids[0] != id))
			ids[n++] = id;
	}
	if (n > 0)
		simdup_group_recompute(p->g, ids, n, "decision");
}

static GroupUser
begin(Pair *p)
{
	simdup_arrival_lock_table(p->g->at->table);
	simdup_guesses_surprise();
	return simdup_grouping_become_owner(p->g);
}

PG_FUNCTION_INFO_V1(simdup_decide);
/* simdup_decide(target, a, b, same, note) */
Datum
simdup_decide(PG_FUNCTION_ARGS)
{
	Pair p = pair_arguments(fcinfo);
	bool same;
	bool old;
	bool there;
	bool hides;
	GroupUser user;

	simdup_check_not_null(PG_ARGISNULL(3), "same");
	same = PG_GETARG_BOOL(3);
	PreventCommandIfReadOnly("simdup_decide()");
	check_right(p.g, ACL_INSERT);
	SPI_connect();
	check_rows(&p);
	hides = check_enable_rls(p.g->at->table, GetUserId(), true) == RLS_ENABLED;
	user = begin(&p);
	there = find_decision(&p, &old);
	simdup_group_check_chain(p.g, p.keys, same, there && old != same, hides);
	simdup_grouping_become_user(user);
	if (there && (old == same || drop_decision(&p)) && old != same)
	{
		user = simdup_grouping_become_owner(p.g);
		undo(&p);
		simdup_grouping_become_user(user);
	}
	if (!there || old != same)
	{
		write_decision(&p, same, fcinfo);
		user = simdup_grouping_become_owner(p.g);
		write_event(&p, "decided", same ? "same as %s" : "not the same as %s");
		apply(&p, same);
		simdup_grouping_become_user(user);
	}
	SPI_finish();
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(simdup_undecide);
/* simdup_undecide(target, a, b) */
Datum
simdup_undecide(PG_FUNCTION_ARGS)
{
	Pair p = pair_arguments(fcinfo);
	GroupUser user;

	PreventCommandIfReadOnly("simdup_undecide()");
	check_right(p.g, ACL_DELETE);
	SPI_connect();
	simdup_arrival_lock_table(p.g->at->table);
	if (!drop_decision(&p))
		ereport(ERROR, errcode(ERRCODE_NO_DATA_FOUND),
				errmsg("there is no decision about rows (%s)=(%s) and (%s)=(%s) of table \"%s\"",
					   p.g->key, simdup_key_text(p.g->at->key_type, p.keys[0]),
					   p.g->key, simdup_key_text(p.g->at->key_type, p.keys[1]),
					   get_rel_name(p.g->at->table)));
	user = begin(&p);
	write_event(&p, "undecided", "about %s");
	undo(&p);
	simdup_grouping_become_user(user);
	SPI_finish();
	PG_RETURN_VOID();
}
