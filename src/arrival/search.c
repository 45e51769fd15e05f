/*
 * search.c
 *	  Finds the rows within k of the row that arrives.
 *
 * Rows are told apart by their key. A row with the new row's key is the row
 * itself, or the row that an upsert is about to update, and no duplicate. A
 * row whose key is NULL is told by its place.
 */
#include "postgres.h"
#include "compat.h"

#include "access/gin.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "arrival/arrival.h"
#include "server/catalog.h"
#include "type/simhash64.h"

/* Parameters of the row-level searches. */
enum
{
	PARAM_FP,	/* $1: fingerprint of the new row */
	PARAM_KEY,	/* $2: its key */
	PARAM_CTID, /* $3, $4: the version of it that is stored */
	PARAM_TABLEOID,
	PARAM_CONDITIONS, /* $5 and following: its values for the conditions */
	MAX_PARAMS = PARAM_CONDITIONS + SIMDUP_MAX_CONDITION_COLUMNS
};

StaticAssertDecl(ARRIVAL_FIRST_CONDITION == PARAM_CONDITIONS + 1,
				 "parameters are counted from 1");

/*
 * A search ignores settings that any user may change.
 *
 * gin_fuzzy_search_limit is the only one that changes what a search finds: GIN
 * leaves rows out at random. Settings of the planner change how rows are found.
 * The plan_cache_mode force_custom_plan would plan anew for each row, under the
 * settings of the session. The settings search_path and transform_null_equals
 * do not act on the text, which qualifies every name. As for row_security, it
 * raises an error or does nothing.
 */
void
simdup_arrival_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Settings for the time of execution. Sessions seldom change them, so a row
 * costs two comparisons. Returns the argument of simdup_arrival_release_settings.
 */
int
simdup_arrival_hold_settings(void)
{
	int nestlevel;

	if (GinFuzzySearchLimit == 0 &&
		plan_cache_mode != PLAN_CACHE_MODE_FORCE_CUSTOM_PLAN)
		return 0;
	nestlevel = NewGUCNestLevel();
	simdup_arrival_set("gin_fuzzy_search_limit", "0");
	simdup_arrival_set("plan_cache_mode", "auto");
	return nestlevel;
}

void
simdup_arrival_release_settings(int nestlevel)
{
	if (nestlevel != 0)
		AtEOXact_GUC(true, nestlevel);
}

/*
 * Settings for the time of planning. The table may be empty now, and hold a
 * million rows at the end of the same COPY. So a search that an index serves
 * well is made to use it, by a bitmap scan. Plain index scans are discouraged
 * too: on an index that does not fit the condition they read all of it. JIT
 * would compile for a plan that looks expensive only because of this.
 */
static int
hold_planner_settings(bool indexed)
{
	int nestlevel = NewGUCNestLevel();

	simdup_arrival_set("jit", "off");
	if (indexed)
	{
		simdup_arrival_set("enable_bitmapscan", "on");
		simdup_arrival_set("enable_seqscan", "off");
		simdup_arrival_set("enable_indexscan", "off");
	}
	return nestlevel;
}

/* The plan of a search, from the cache or prepared now. */
static SPIPlanPtr
search_plan(TriggerData *trigdata, ArrivalTrigger *at, ArrivalPlan kind)
{
	SPIPlanPtr plan = simdup_arrival_plan(at, kind);
	const SimdupConditions *conditions = &at->conditions;
	Oid types[MAX_PARAMS];
	int n_params = PARAM_CONDITIONS + conditions->n_columns;
	bool indexed;
	char *text;
	int nestlevel;

	if (plan != NULL)
		return plan;

	types[PARAM_FP] = at->fp_type;
	types[PARAM_KEY] = at->key_type;
	types[PARAM_CTID] = TIDOID;
	types[PARAM_TABLEOID] = OIDOID;
	for (int i = 0; i < conditions->n_columns; i++)
		types[PARAM_CONDITIONS + i] = conditions->columns[i].type;

	text = simdup_arrival_text(trigdata, at, kind, &indexed);
	nestlevel = hold_planner_settings(indexed);
	plan = SPI_prepare_cursor(text, kind == ARRIVAL_STATEMENT ? 0 : n_params,
							  types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), text);
	simdup_arrival_keep_plan(at, kind, plan);
	AtEOXact_GUC(true, nestlevel);
	return plan;
}

/*
 * The snapshot of a search. A search that has locked must see what committed
 * while it waited, at every isolation level, so it takes a snapshot now. Other
 * searches see what their transaction sees.
 */
static Snapshot
search_snapshot(ArrivalTrigger *at)
{
	return at->lock ? GetLatestSnapshot() : InvalidSnapshot;
}

/*
 * The version of the new row that is in the table already, if one is. A row of
 * a foreign table has neither place nor transaction that is known here.
 */
static void
set_stored_version(TriggerData *trigdata, HeapTuple stored, Datum *values,
				   char *nulls)
{
	bool after = TRIGGER_FIRED_AFTER(trigdata->tg_event);

	if (!after && TRIGGER_FIRED_BY_INSERT(trigdata->tg_event))
		return;
	if (trigdata->tg_relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return;
	if (!after)
		stored = trigdata->tg_trigtuple;

	values[PARAM_CTID] = PointerGetDatum(&stored->t_self);
	values[PARAM_TABLEOID] =
		ObjectIdGetDatum(RelationGetRelid(trigdata->tg_relation));
	nulls[PARAM_CTID] = nulls[PARAM_TABLEOID] = ' ';
}

Oid
simdup_arrival_owner(Oid table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		simdup_no_such_table(table);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Become the owner of the searched table, past its row security. */
void
simdup_arrival_become_owner(ArrivalTrigger *at, Oid *user, int *context)
{
	Oid owner = simdup_arrival_owner(at->table);

	GetUserIdAndSecContext(user, context);
	SetUserIdAndSecContext(owner, *context | SECURITY_LOCAL_USERID_CHANGE |
									  SECURITY_NOFORCE_RLS);
}

/*
 * Search for rows within k of the new one, inside an SPI connection.
 * as_owner: a constraint must hold for rows that the user may not see, too.
 */
ArrivalFound
simdup_arrival_search(TriggerData *trigdata, ArrivalTrigger *at,
					  ArrivalPlan kind, const ArrivalRow *row, bool as_owner)
{
	Datum values[MAX_PARAMS];
	char nulls[MAX_PARAMS];
	SPIPlanPtr plan;
	Oid user = InvalidOid;
	int context = 0;
	int nestlevel;
	ArrivalFound found;

	memset(nulls, 'n', sizeof(nulls));
	values[PARAM_FP] = Simhash64GetDatum(row->fp);
	nulls[PARAM_FP] = ' ';
	values[PARAM_KEY] = row->key;
	if (!row->key_isnull)
		nulls[PARAM_KEY] = ' ';
	set_stored_version(trigdata, row->tuple, values, nulls);
	for (int i = 0; i < at->conditions.n_columns; i++)
	{
		values[PARAM_CONDITIONS + i] = row->conditions.values[i];
		if (!row->conditions.isnull[i])
			nulls[PARAM_CONDITIONS + i] = ' ';
	}

	if (as_owner)
		simdup_arrival_become_owner(at, &user, &context);
	nestlevel = simdup_arrival_hold_settings();
	plan = search_plan(trigdata, at, kind);
	simdup_arrival_execute(plan, values, nulls, search_snapshot(at),
						   kind == ARRIVAL_NEAREST ? 1 : 0);
	found.n = SPI_processed;
	found.rows = SPI_tuptable;
	simdup_arrival_release_settings(nestlevel);
	if (as_owner)
		SetUserIdAndSecContext(user, context);
	return found;
}

/*
 * All pairs of a statement's new rows, as a portal: there may be many. The
 * caller has registered the transition tables.
 */
Portal
simdup_arrival_search_statement(TriggerData *trigdata, ArrivalTrigger *at)
{
	int nestlevel = simdup_arrival_hold_settings();
	SPIPlanPtr plan = search_plan(trigdata, at, ARRIVAL_STATEMENT);
	Portal portal;

	CommandCounterIncrement();
	portal = simdup_arrival_open(plan, at->lock ? GetLatestSnapshot()
												: GetTransactionSnapshot());
	simdup_arrival_release_settings(nestlevel);
	return portal;
}

/* The next rows of a portal, at most n. */
ArrivalFound
simdup_arrival_fetch(Portal portal, long n)
{
	int nestlevel = simdup_arrival_hold_settings();
	ArrivalFound found;

	SPI_cursor_fetch(portal, true, n);
	simdup_arrival_release_settings(nestlevel);
	found.n = SPI_processed;
	found.rows = SPI_tuptable;
	return found;
}

/*
 * Is a row found the later of two rows that one transaction wrote? Rows of one
 * transaction can find each other when their triggers fire AFTER. The row of
 * the later command repeats the other, and of two rows of one command, the row
 * with the larger key. Commands are counted across savepoints. A row of a
 * foreign table has no transaction here, so it is never the earlier one.
 */
bool
simdup_arrival_is_later(ArrivalFound found, uint64 i, const ArrivalRow *row)
{
	TupleDesc tupdesc = found.rows->tupdesc;
	HeapTuple other = found.rows->vals[i];
	HeapTupleHeader header = row->tuple->t_data;
	CommandId mine = HeapTupleHeaderGetRawCommandId(header);
	CommandId its;
	bool isnull;
	bool larger;

	if (!TransactionIdIsCurrentTransactionId(
			HeapTupleHeaderGetRawXmin(header)) ||
		!TransactionIdIsCurrentTransactionId(DatumGetTransactionId(
			SPI_getbinval(other, tupdesc, ARRIVAL_XMIN, &isnull))))
		return false;
	its =
		DatumGetCommandId(SPI_getbinval(other, tupdesc, ARRIVAL_CMIN, &isnull));
	larger =
		DatumGetBool(SPI_getbinval(other, tupdesc, ARRIVAL_LARGER, &isnull));
	return its > mine || (its == mine && larger && !isnull);
}

/*
 * Under REPEATABLE READ and SERIALIZABLE, a row found may have been committed
 * after this transaction's snapshot. Then the two transactions cannot be
 * ordered, and this one has to run again.
 */
void
simdup_arrival_require_visible(ArrivalTrigger *at, ArrivalFound found, uint64 i)
{
	TupleDesc tupdesc = found.rows->tupdesc;
	HeapTuple row = found.rows->vals[i];
	bool isnull;
	bool visible = true;
	Relation rel;

	if (!at->lock || !IsolationUsesXactSnapshot())
		return;

	rel = table_open(DatumGetObjectId(SPI_getbinval(row, tupdesc,
													ARRIVAL_TABLEOID, &isnull)),
					 AccessShareLock);
	if (rel->rd_tableam != NULL)
	{
		TupleTableSlot *slot = table_slot_create(rel, NULL);
		ItemPointer tid = (ItemPointer) DatumGetPointer(
			SPI_getbinval(row, tupdesc, ARRIVAL_CTID, &isnull));
		Snapshot snapshot = RegisterSnapshot(GetTransactionSnapshot());

		visible = table_tuple_fetch_row_version(rel, tid, snapshot, slot);
		UnregisterSnapshot(snapshot);
		ExecDropSingleTupleTableSlot(slot);
	}
	table_close(rel, NoLock);
	if (!visible)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg(
					"could not serialize access due to concurrent arrival of a near-duplicate"),
				errhint("The transaction might succeed if retried."));
}
