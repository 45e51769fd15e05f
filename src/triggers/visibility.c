/*
 * visibility.c
 *	  Which of the near rows count: those that the user may be told of, which is
 *	  asked first, and that fulfil the condition.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/arguments.h"
#include "server/query.h"
#include "triggers/arrival.h"

/* Check whether the user may read the trigger's table, or at least a column. */
static bool
may_read(const ArrivalTrigger *at, const char *column)
{
	return pg_class_aclcheck(at->table, GetUserId(), ACL_SELECT) ==
			   ACLCHECK_OK ||
		   (column != NULL &&
			pg_attribute_aclcheck(at->table, get_attnum(at->table, column),
								  GetUserId(), ACL_SELECT) == ACLCHECK_OK);
}

/* Ask by SQL whether the user sees a row. */
static bool
ask_for_row(const ArrivalSearch *search, const ArrivalFound *found)
{
	ItemPointerData tid = found->tid;
	Oid types[] = {TIDOID, OIDOID};
	Datum values[] = {PointerGetDatum(&tid),
					  ObjectIdGetDatum(found->target->table)};
	bool sees;

	/* this setting could make an error of it, and the next one a scan */
	simdup_set_for_now("row_security", "on");
	simdup_set_for_now("enable_tidscan", "on");
	SPI_connect();
	PushActiveSnapshot(search->snapshot);
	SPI_execute_with_args(psprintf("SELECT FROM %s AS t WHERE t.ctid OPERATOR(pg_catalog.=) $1"
								   " AND t.tableoid OPERATOR(pg_catalog.=) $2",
								   simdup_table_name(search->at->table)),
						  lengthof(types), types, values, NULL, true, 1);
	PopActiveSnapshot();
	sees = SPI_processed > 0;
	SPI_finish();
	return sees;
}

/* Check whether an error says nothing of the row: the server is in trouble. */
static bool
is_trouble(int code)
{
	int class = ERRCODE_TO_CATEGORY(code);

	return class == ERRCODE_TRANSACTION_ROLLBACK ||
		   class == ERRCODE_INSUFFICIENT_RESOURCES ||
		   class == ERRCODE_OPERATOR_INTERVENTION ||
		   class == ERRCODE_SYSTEM_ERROR || class == ERRCODE_INTERNAL_ERROR ||
		   code == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Check whether the user sees a row. One whose policy ends in an error is not
 * seen. Raised, the error would tell that there is a near row.
 */
static bool
sees_row(const ArrivalSearch *search, const ArrivalFound *found)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool sees = false;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		sees = ask_for_row(search, found);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		/* an open subtransaction would stay aborted after the statement */
		RollbackAndReleaseCurrentSubTransaction();
		CurrentResourceOwner = owner;
		if (is_trouble(error->sqlerrcode))
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return sees;
}

/*
 * Find the condition's function, with the row type of the table twice. A name
 * without a schema means the schema of the table.
 */
static Oid
find_condition(const ArrivalTrigger *at)
{
	Oid types[2] = {at->table_desc->tdtypeid, at->table_desc->tdtypeid};
	List *names = textToQualifiedNameList(cstring_to_text(at->condition));
	char *schema_name;
	char *name;
	Oid schema;
	Oid function;

	DeconstructQualifiedName(names, &schema_name, &name);
	schema = schema_name == NULL ? get_rel_namespace(at->table)
								 : get_namespace_oid(schema_name, true);
	function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
							   CStringGetDatum(name),
							   PointerGetDatum(buildoidvector(types, 2)),
							   ObjectIdGetDatum(schema));
	if (!OidIsValid(function) || get_func_rettype(function) != BOOLOID ||
		get_func_prokind(function) != PROKIND_FUNCTION ||
		get_func_retset(function))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("condition \"%s\" is no function of two rows of relation \"%s\" that returns boolean",
					   at->condition, get_rel_name(at->table)),
				errhint("Write: CREATE FUNCTION %s(new_row %s, near_row %s) RETURNS boolean ....",
						at->condition, simdup_table_name(at->table),
						simdup_table_name(at->table)));
	if (object_aclcheck(ProcedureRelationId, function, GetUserId(),
						ACL_EXECUTE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, at->condition);
	return function;
}

/* Look the condition's function up: it may have been replaced or dropped. */
static void
prepare_condition(ArrivalTrigger *at)
{
	MemoryContext caller;
	Oid function;

	if (at->table_desc == NULL)
	{
		Relation table = table_open(at->table, AccessShareLock);

		caller = MemoryContextSwitchTo(at->context);
		at->table_desc = CreateTupleDescCopyConstr(RelationGetDescr(table));
		table_close(table, NoLock);
		at->condition_context =
			AllocSetContextCreate(at->context, "simdup condition",
								  ALLOCSET_DEFAULT_SIZES);
		MemoryContextSwitchTo(caller);
	}
	/* which is reset after each near row */
	caller = MemoryContextSwitchTo(at->condition_context);
	function = find_condition(at);
	MemoryContextSwitchTo(caller);
	if (function != at->condition_oid)
		fmgr_info_cxt(function, &at->condition_function, at->context);
	at->condition_oid = function;
}

/*
 * Return a row of the table of `target` as a value of the row type of the
 * trigger's table.
 */
static Datum
row_datum(const ArrivalTrigger *at, ArrivalTarget *target, TupleDesc tupdesc,
		  HeapTuple tuple)
{
	if (!target->has_map)
	{
		MemoryContext caller = MemoryContextSwitchTo(at->context);

		target->map = convert_tuples_by_name(CreateTupleDescCopyConstr(tupdesc),
											 at->table_desc);
		target->has_map = true;
		MemoryContextSwitchTo(caller);
	}
	if (target->map != NULL)
		tuple = execute_attr_map_tuple(tuple, target->map);
	return heap_copy_tuple_as_datum(tuple, at->table_desc);
}

/* Return a near row as the condition's second argument. */
static Datum
near_row_datum(const ArrivalSearch *search, const ArrivalFound *found)
{
	ItemPointerData tid = found->tid;
	TupleTableSlot *slot = table_slot_create(found->heap, NULL);
	Datum value;

	if (!table_tuple_fetch_row_version(found->heap, &tid, search->snapshot,
									   slot))
		elog(ERROR, "failed to fetch a near row");
	value = row_datum(search->at, found->target, RelationGetDescr(found->heap),
					  ExecFetchSlotHeapTuple(slot, false, NULL));
	ExecDropSingleTupleTableSlot(slot);
	return value;
}

/*
 * Call the condition with a search_path that the writer does not choose. A path
 * that the function sets itself goes before it.
 */
static bool
call_condition(ArrivalTrigger *at, Datum new_row, Datum near_row)
{
	LOCAL_FCINFO(call, 2);
	Oid schemas[] = {PG_CATALOG_NAMESPACE, get_func_namespace(at->function),
					 get_rel_namespace(at->table)};
	int level;
	StringInfoData path;
	Datum result;

	initStringInfo(&path);
	for (size_t i = 0; i < lengthof(schemas); i++)
	{
		char *name = get_namespace_name(schemas[i]);

		if (name != NULL)
			appendStringInfo(&path, "%s, ", quote_identifier(name));
	}
	appendStringInfoString(&path, "pg_temp");
	level = simdup_path_begin(path.data);
	InitFunctionCallInfoData(*call, &at->condition_function, 2, InvalidOid,
							 NULL, NULL);
	call->args[0] = (NullableDatum){new_row, false};
	call->args[1] = (NullableDatum){near_row, false};
	result = FunctionCallInvoke(call);
	simdup_path_end(level);
	return !call->isnull && DatumGetBool(result);
}

static bool
fulfils_condition(ArrivalSearch *search, const ArrivalFound *found)
{
	ArrivalTrigger *at = search->at;
	MemoryContext caller;
	Datum near_row;
	bool holds;

	prepare_condition(at);
	if (search->new_row == (Datum) 0)
		search->new_row =
			row_datum(at, &at->own, at->tupdesc, search->row->complete);
	caller = MemoryContextSwitchTo(at->condition_context);
	near_row = near_row_datum(search, found);
	holds = found->is_newer ? call_condition(at, near_row, search->new_row)
							: call_condition(at, search->new_row, near_row);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(at->condition_context);
	return holds;
}

/*
 * Find out what a search has to ask of near rows. Return false if it shall tell
 * the user what it finds, and may tell nothing.
 */
bool
simdup_arrival_begin_near(ArrivalSearch *search)
{
	const ArrivalTrigger *at = search->at;

	search->asks = at->usage->tells &&
				   check_enable_rls(at->table, InvalidOid, true) == RLS_ENABLED;
	return !at->usage->tells ||
		   may_read(at, search->asks ? NULL : at->key_name);
}

/* Check whether a near row counts. */
bool
simdup_arrival_counts(ArrivalSearch *search, const ArrivalFound *found)
{
	return (!search->asks || sees_row(search, found)) &&
		   (search->at->condition == NULL || fulfils_condition(search, found));
}

/*
 * Add what a refusal tells of the near row: nothing that a SELECT would not. Its
 * distance is for users who may read the table.
 */
int
simdup_arrival_detail(const ArrivalTrigger *at, const char *key, int distance)
{
	if (check_enable_rls(at->table, InvalidOid, true) == RLS_ENABLED ||
		!may_read(at, at->key_name))
		return 0;
	if (!may_read(at, NULL))
		return errdetail("It repeats the row with (%s)=(%s).", at->key_name,
						 key);
	return errdetail("The row with (%s)=(%s) is at distance %d.", at->key_name,
					 key, distance);
}
