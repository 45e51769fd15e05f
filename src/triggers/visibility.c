/*
 * visibility.c
 *	  Which of the near rows count: those that the user may be told of, which is
 *	  asked first, and that fulfil the condition.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/arguments.h"
#include "server/progress.h"
#include "triggers/trigger.h"

/* Check whether the user may read the trigger's table, or else these columns. */
static bool
may_read(const TriggerState *state, const List *columns)
{
	const ListCell *cell;

	if (pg_class_aclcheck(state->table, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	foreach (cell, columns)
		if (pg_attribute_aclcheck(state->table,
								  get_attnum(state->table, lfirst(cell)),
								  GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	return columns != NIL;
}

/*
 * Ask by SQL whether the user sees a row, under any search_path. A policy may read
 * the path, as current_schema() does, so it stays the user's.
 */
static bool
ask_for_row(TriggerState *state, const NearRow *near)
{
	ItemPointerData tid = near->tid;
	Oid types[] = {TIDOID, OIDOID};
	Datum values[] = {PointerGetDatum(&tid),
					  ObjectIdGetDatum(near->target->table)};
	bool sees;

	SPI_connect();
	PushActiveSnapshot(state->search.snapshot);
	SPI_execute_with_args(psprintf("SELECT FROM %s AS t WHERE t.ctid OPERATOR(pg_catalog.=) $1"
								   " AND t.tableoid OPERATOR(pg_catalog.=) $2",
								   simdup_table_name(state->table)),
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

/* The settings under which the user is asked for. */
static const char *const asking[][2] = {
	/* an error in place of an answer, and a scan in place of a look */
	{"row_security", "on"},
	{"enable_tidscan", "on"},
	/* no messages of the server, or of a policy, about the statement */
	{"client_min_messages", "error"},
};

/*
 * Check whether the user sees a row. One whose policy ends in an error is not
 * seen. Raised, the error would tell that there is a near row.
 */
static bool
sees_row(TriggerState *state, const NearRow *near)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int level = NewGUCNestLevel();
	volatile bool sees = false;

	for (size_t i = 0; i < lengthof(asking); i++)
		simdup_set_local_guc(asking[i][0], asking[i][1]);
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		sees = ask_for_row(state, near);
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
	AtEOXact_GUC(true, level);
	return sees;
}

Oid
simdup_trigger_condition(Oid table, const char *condition)
{
	Oid type = get_rel_type_id(table);
	Oid types[2] = {type, type};
	List *names = textToQualifiedNameList(cstring_to_text(condition));
	char *schema_name;
	char *name;
	Oid schema;

	DeconstructQualifiedName(names, &schema_name, &name);
	schema = schema_name == NULL ? get_rel_namespace(table)
								 : get_namespace_oid(schema_name, true);
	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(name),
						   PointerGetDatum(buildoidvector(types, 2)),
						   ObjectIdGetDatum(schema));
}

Oid
simdup_trigger_find_condition(const TriggerState *state)
{
	const char *condition = state->options.condition;
	Oid function = simdup_trigger_condition(state->table, condition);

	if (!OidIsValid(function) || get_func_rettype(function) != BOOLOID ||
		get_func_prokind(function) != PROKIND_FUNCTION ||
		get_func_retset(function))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("condition \"%s\" is no function of two rows of relation \"%s\" that returns boolean",
					   condition, get_rel_name(state->table)),
				errhint("Write: CREATE FUNCTION %s(new_row %s, near_row %s) RETURNS boolean ....",
						condition, simdup_table_name(state->table),
						simdup_table_name(state->table)));
	return function;
}

/*
 * Prepare to take rows of a target as rows of the trigger's table, whose expressions
 * compute virtual columns.
 */
static void
begin_rows(TriggerState *state, TriggerTarget *target)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);
	Relation table;

	target->map = convert_tuples_by_name(CreateTupleDescCopyConstr(
											 RelationGetDescr(target->heap)),
										 state->table_desc);
	target->has_map = true;
	if (state->row_slot == NULL)
	{
		table = table_open(state->table, NoLock);
		simdup_trigger_find_generated(state, table,
									  bms_add_range(NULL, 1,
													state->table_desc->natts),
									  ATTRIBUTE_GENERATED_VIRTUAL,
									  &state->virtual_columns);
		table_close(table, NoLock);
		state->row_slot =
			MakeSingleTupleTableSlot(state->table_desc, &TTSOpsHeapTuple);
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Return a row of the table of `target`, which is in a slot, as a value of the row
 * type of the trigger's table. Virtual columns get their values, which a partition
 * may compute otherwise for those who read it alone.
 */
static Datum
row_datum(TriggerState *state, TriggerTarget *target, TupleTableSlot *slot)
{
	HeapTuple tuple = ExecFetchSlotHeapTuple(slot, false, NULL);

	if (!target->has_map)
		begin_rows(state, target);
	if (target->map != NULL)
		tuple = execute_attr_map_tuple(tuple, target->map);
	if (state->virtual_columns.n > 0)
	{
		ExecStoreHeapTuple(tuple, state->row_slot, false);
		state->row_slot->tts_tableOid = target->table;
		tuple = simdup_trigger_generate(state, &state->virtual_columns,
										state->row_slot, tuple);
		ExecClearTuple(state->row_slot);
	}
	return heap_copy_tuple_as_datum(tuple, state->table_desc);
}

/*
 * Call the condition with a search_path that the writer does not choose. A path
 * that the function sets itself goes before it.
 */
static bool
call_condition(TriggerState *state, Datum new_row, Datum near_row)
{
	LOCAL_FCINFO(call, 2);
	Oid own_schema = get_func_namespace(state->function);
	Oid schema = get_rel_namespace(state->table);
	int level = NewGUCNestLevel();
	Datum result;

	simdup_set_local_guc("search_path",
						 psprintf("pg_catalog, %s, %s, pg_temp",
								  quote_identifier(
									  get_namespace_name(own_schema)),
								  quote_identifier(get_namespace_name(schema))));
	InitFunctionCallInfoData(*call, &state->condition_function, 2, InvalidOid,
							 NULL, NULL);
	call->args[0] = (NullableDatum){new_row, false};
	call->args[1] = (NullableDatum){near_row, false};
	result = FunctionCallInvoke(call);
	AtEOXact_GUC(true, level);
	return !call->isnull && DatumGetBool(result);
}

/*
 * Check whether a near row fulfils the condition. The function is looked up each
 * time: it may have been replaced or dropped.
 */
static bool
fulfils_condition(TriggerState *state, const NearRow *near)
{
	MemoryContext caller;
	Oid function;
	Datum near_row;
	bool holds;

	if (state->search.new_row == (Datum) 0)
	{
		ExecStoreHeapTuple(state->row.complete, state->slot, false);
		state->slot->tts_tableOid = state->written;
		state->search.new_row = row_datum(state, state->own, state->slot);
	}
	caller = MemoryContextSwitchTo(GetPerTupleMemoryContext(state->estate));
	function = simdup_trigger_find_condition(state);
	if (object_aclcheck(ProcedureRelationId, function, GetUserId(),
						ACL_EXECUTE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION,
					   state->options.condition);
	if (function != state->condition_oid)
		fmgr_info_cxt(function, &state->condition_function, state->context);
	state->condition_oid = function;
	simdup_trigger_fetch(state, near);
	near_row = row_datum(state, near->target, near->target->slot);
	holds = near->is_newer
				? call_condition(state, near_row, state->search.new_row)
				: call_condition(state, state->search.new_row, near_row);
	MemoryContextSwitchTo(caller);
	ResetPerTupleExprContext(state->estate);
	return holds;
}

bool
simdup_trigger_may_search(TriggerState *state)
{
	if (state->kind == TRIGGER_REJECT)
		return true;
	state->search.asks =
		check_enable_rls(state->table, InvalidOid, true) == RLS_ENABLED;
	return may_read(state, state->search.asks ? NIL : state->options.key);
}

bool
simdup_trigger_counts(TriggerState *state, const NearRow *near)
{
	return (!state->search.asks || sees_row(state, near)) &&
		   (state->options.condition == NULL || fulfils_condition(state, near));
}

int
simdup_trigger_detail(const TriggerState *state, const char *key, int distance)
{
	if (check_enable_rls(state->table, InvalidOid, true) == RLS_ENABLED ||
		!may_read(state, state->options.key))
		return 0;
	if (!may_read(state, NIL))
		return errdetail("It repeats the row with %s.", key);
	return errdetail("The row with %s is at distance %d.", key, distance);
}
