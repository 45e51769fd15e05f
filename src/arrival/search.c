/*
 * search.c
 *	  Who is within k of the row that arrives?
 *
 * Rows are told apart by their key: one with the new row's key is the row
 * itself (or the row that an upsert is about to update) and no duplicate of
 * it. Versions of the row that have no key yet are told by their place.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"
#include "type/simhash64.h"

/* Parameters of the row-level searches. */
enum
{
	PARAM_FP,	/* $1: fingerprint of the new row */
	PARAM_KEY,	/* $2: its key */
	PARAM_CTID, /* $3, $4: the version of it that is stored */
	PARAM_TABLEOID,
	PARAM_XMIN, /* $5, $6: who stored that; AFTER only */
	PARAM_CMIN,
	N_PARAMS
};

/*
 * The index is worth probing whatever the table's size was when the plan was
 * made: it may have been empty then, and hold a million rows at the end of
 * the same COPY. Above this radius a scan is cheaper and the planner is left
 * alone.
 */
#define MAX_INDEX_RADIUS 12

static void
set_for_search(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Settings under which searches are planned: they hold until
 * AtEOXact_GUC(true, ...) with the result. JIT would compile for a plan that
 * looks expensive only because the scan in it was discouraged.
 */
static int
begin_search_settings(ArrivalTrigger *at)
{
	int nestlevel = NewGUCNestLevel();

	set_for_search("jit", "off");
	if (at->k <= MAX_INDEX_RADIUS)
	{
		/* the second is a scan too, where no index fits the condition */
		set_for_search("enable_seqscan", "off");
		set_for_search("enable_indexscan", "off");
	}
	return nestlevel;
}

/* OPERATOR(schema.name), for one that the type cache found. */
static char *
operator_name(Oid opno)
{
	char *name = get_opname(opno);
	Oid nspoid;
	HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(opno));

	if (name == NULL || !HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", opno);
	nspoid = ((Form_pg_operator) GETSTRUCT(tuple))->oprnamespace;
	ReleaseSysCache(tuple);
	return psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(nspoid)), name);
}

/* The names that a search's text is made of, quoted. */
typedef struct SearchNames
{
	const char *extension;
	char *table;
	const char *fp;
	const char *key;
	char *equal; /* operators of the key's type */
	char *less;
	char *within;	  /* condition of the row-level searches */
	char *within_new; /* and of the statement-level one */
} SearchNames;

static SearchNames
search_names(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	SearchNames names;

	names.extension = quote_identifier(get_namespace_name(at->extension));
	names.table = quote_qualified_identifier(get_namespace_name(
												 get_rel_namespace(at->table)),
											 get_rel_name(at->table));
	names.fp = quote_identifier(SPI_fname(tupdesc, at->fp));
	names.key = quote_identifier(SPI_fname(tupdesc, at->key));
	names.equal = operator_name(
		lookup_type_cache(at->key_type, TYPECACHE_EQ_OPR)->eq_opr);
	names.less = operator_name(
		lookup_type_cache(at->key_type, TYPECACHE_LT_OPR)->lt_opr);
	names.within = simdup_arrival_condition(trigdata, at, "$1");
	names.within_new = simdup_arrival_condition(trigdata, at, "n.fp");
	return names;
}

/* Text of the nearest row, or of all of them, within k of $1. */
static char *
row_search_text(SearchNames *n, ArrivalPlan kind)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "SELECT t.%s, t.%s OPERATOR(%s.<~>) $1, t.tableoid, t.ctid FROM %s t"
					 " WHERE %s AND (t.%s %s $2) IS NOT TRUE"
					 " AND (t.ctid OPERATOR(pg_catalog.=) $3"
					 " AND t.tableoid OPERATOR(pg_catalog.=) $4) IS NOT TRUE",
					 n->key, n->fp, n->extension, n->table, n->within, n->key,
					 n->equal);

	/*
	 * Two rows of one statement that fire AFTER it see each other. The one
	 * with the larger key is the one that repeats.
	 */
	if (kind == ARRIVAL_ALL)
		appendStringInfo(&buf,
						 " AND (t.xmin OPERATOR(pg_catalog.=) $5"
						 " AND t.cmin OPERATOR(pg_catalog.=) $6"
						 " AND $2 %s t.%s) IS NOT TRUE",
						 n->less, n->key);
	appendStringInfoString(&buf, " ORDER BY 2, 1");
	return buf.data;
}

/*
 * Text of all pairs of a statement's new rows with older rows and with each
 * other, each pair once. Rows that an UPDATE left at their key and their
 * fingerprint have not arrived.
 */
static char *
statement_search_text(TriggerData *trigdata, SearchNames *n)
{
	Trigger *trigger = trigdata->tg_trigger;
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "WITH simdup_new AS MATERIALIZED (SELECT n.%s AS key, "
					 "n.%s AS fp FROM %s n",
					 n->key, n->fp, quote_identifier(trigger->tgnewtable));
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		appendStringInfo(&buf,
						 " WHERE NOT EXISTS (SELECT 1 FROM %s o WHERE o.%s %s n.%s"
						 " AND o.%s OPERATOR(%s.=) n.%s)",
						 quote_identifier(trigger->tgoldtable), n->key,
						 n->equal, n->key, n->fp, n->extension, n->fp);
	/* each OFFSET is a fence: first a search for each new row, then the rest */
	appendStringInfo(&buf,
					 ") SELECT p.old_key, p.distance, p.tableoid, p.ctid, p.new_key"
					 " FROM (SELECT t.*, n.key AS new_key FROM simdup_new n CROSS JOIN LATERAL"
					 " (SELECT t.%s AS old_key, t.%s OPERATOR(%s.<~>) n.fp AS distance,"
					 " t.tableoid, t.ctid FROM %s t"
					 " WHERE %s AND (t.%s %s n.key) IS NOT TRUE OFFSET 0) t OFFSET 0) p"
					 " LEFT JOIN simdup_new m ON m.key %s p.old_key"
					 " WHERE m.key IS NULL OR p.old_key %s p.new_key",
					 n->key, n->fp, n->extension, n->table, n->within_new,
					 n->key, n->equal, n->equal, n->less);
	return buf.data;
}

static SPIPlanPtr
search_plan(TriggerData *trigdata, ArrivalTrigger *at, ArrivalPlan kind)
{
	SPIPlanPtr plan = simdup_arrival_plan(at, kind);
	Oid types[N_PARAMS];
	SearchNames names;
	char *text;

	if (plan != NULL)
		return plan;

	types[PARAM_FP] = at->fp_type;
	types[PARAM_KEY] = at->key_type;
	types[PARAM_CTID] = TIDOID;
	types[PARAM_TABLEOID] = OIDOID;
	types[PARAM_XMIN] = XIDOID;
	types[PARAM_CMIN] = CIDOID;

	names = search_names(trigdata, at);
	text = kind == ARRIVAL_STATEMENT ? statement_search_text(trigdata, &names)
									 : row_search_text(&names, kind);
	plan = SPI_prepare_cursor(text, kind == ARRIVAL_STATEMENT ? 0 : N_PARAMS,
							  types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), text);
	simdup_arrival_keep_plan(at, kind, plan);
	return plan;
}

/*
 * What the searches see. One that has locked must see what committed while
 * it waited, whatever the isolation level: a snapshot taken now. Others see
 * what their transaction sees.
 */
static Snapshot
search_snapshot(ArrivalTrigger *at)
{
	return at->lock ? GetLatestSnapshot() : InvalidSnapshot;
}

/*
 * The version of the new row that is in the table already, if one is. What a
 * foreign table stores has neither place nor transaction that is known here.
 */
static void
set_stored_version(TriggerData *trigdata, Datum *values, char *nulls)
{
	bool after = TRIGGER_FIRED_AFTER(trigdata->tg_event);
	HeapTuple stored = trigdata->tg_trigtuple;

	if (after && TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		stored = trigdata->tg_newtuple;
	else if (!after && TRIGGER_FIRED_BY_INSERT(trigdata->tg_event))
		return;
	if (trigdata->tg_relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return;

	values[PARAM_CTID] = PointerGetDatum(&stored->t_self);
	values[PARAM_TABLEOID] =
		ObjectIdGetDatum(RelationGetRelid(trigdata->tg_relation));
	nulls[PARAM_CTID] = nulls[PARAM_TABLEOID] = ' ';
	if (after)
	{
		values[PARAM_XMIN] =
			TransactionIdGetDatum(HeapTupleHeaderGetRawXmin(stored->t_data));
		values[PARAM_CMIN] =
			CommandIdGetDatum(HeapTupleHeaderGetRawCommandId(stored->t_data));
		nulls[PARAM_XMIN] = nulls[PARAM_CMIN] = ' ';
	}
}

Oid
simdup_arrival_owner(Oid table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", table);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Become the owner of the searched table, past its row security. */
static void
become_owner(ArrivalTrigger *at, Oid *user, int *context)
{
	Oid owner = simdup_arrival_owner(at->table);

	GetUserIdAndSecContext(user, context);
	SetUserIdAndSecContext(owner, *context | SECURITY_LOCAL_USERID_CHANGE |
									  SECURITY_NOFORCE_RLS);
}

/*
 * Search for rows within k of fp, inside an SPI connection; results are in
 * SPI_tuptable, their number is returned. as_owner: a constraint must hold
 * for rows that the user may not see, too.
 */
uint64
simdup_arrival_search(TriggerData *trigdata, ArrivalTrigger *at,
					  ArrivalPlan kind, uint64 fp, bool as_owner)
{
	Datum values[N_PARAMS];
	char nulls[N_PARAMS];
	bool key_isnull;
	SPIPlanPtr plan;
	Oid user = InvalidOid;
	int context = 0;
	int nestlevel;

	memset(nulls, 'n', sizeof(nulls));
	values[PARAM_FP] = Simhash64GetDatum(fp);
	nulls[PARAM_FP] = ' ';
	values[PARAM_KEY] = simdup_arrival_value(trigdata, at->key, &key_isnull);
	if (!key_isnull)
		nulls[PARAM_KEY] = ' ';
	set_stored_version(trigdata, values, nulls);

	if (as_owner)
		become_owner(at, &user, &context);
	nestlevel = begin_search_settings(at);
	plan = search_plan(trigdata, at, kind);
	simdup_arrival_execute(plan, values, nulls, search_snapshot(at),
						   kind == ARRIVAL_NEAREST ? 1 : 0);
	AtEOXact_GUC(true, nestlevel);
	if (as_owner)
		SetUserIdAndSecContext(user, context);
	return SPI_processed;
}

/*
 * All pairs of a statement's new rows, as a portal: there may be many. The
 * caller has registered the transition tables.
 */
Portal
simdup_arrival_search_statement(TriggerData *trigdata, ArrivalTrigger *at)
{
	int nestlevel = begin_search_settings(at);
	SPIPlanPtr plan = search_plan(trigdata, at, ARRIVAL_STATEMENT);
	Portal portal;

	CommandCounterIncrement();
	PushActiveSnapshot(at->lock ? GetLatestSnapshot()
								: GetTransactionSnapshot());
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	PopActiveSnapshot();
	AtEOXact_GUC(true, nestlevel);
	return portal;
}

/*
 * Under REPEATABLE READ and SERIALIZABLE a row found may have been committed
 * after this transaction's snapshot: then the two cannot be ordered, and the
 * way out is to run the transaction again.
 */
void
simdup_arrival_require_visible(ArrivalTrigger *at, HeapTuple found,
							   TupleDesc tupdesc)
{
	bool isnull;
	bool visible = true;
	Oid tableoid;
	Relation rel;

	if (!at->lock || !IsolationUsesXactSnapshot())
		return;

	tableoid = DatumGetObjectId(
		SPI_getbinval(found, tupdesc, ARRIVAL_TABLEOID, &isnull));
	rel = table_open(tableoid, AccessShareLock);
	if (rel->rd_tableam != NULL)
	{
		TupleTableSlot *slot = table_slot_create(rel, NULL);
		ItemPointer tid = (ItemPointer) DatumGetPointer(
			SPI_getbinval(found, tupdesc, ARRIVAL_CTID, &isnull));
		Snapshot snapshot = RegisterSnapshot(GetTransactionSnapshot());

		visible = table_tuple_fetch_row_version(rel, tid, snapshot, slot);
		UnregisterSnapshot(snapshot);
		ExecDropSingleTupleTableSlot(slot);
	}
	table_close(rel, NoLock);
	if (!visible)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("could not serialize access due to concurrent "
					   "arrival of a near-duplicate"),
				errhint("The transaction might succeed if retried."));
}
