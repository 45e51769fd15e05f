/*
 * setup.c
 *	  A trigger as one statement sees it: its event, table, options and columns.
 *	  Errors say how to write the trigger. OIDs and column numbers are kept, never
 *	  names.
 */
#include "postgres.h"
#include "compat.h"

#include <ctype.h>

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "commands/dbcommands.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/scansup.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "server/arguments.h"
#include "triggers/trigger.h"
#include "type/simhash64.h"

#define DEFAULT_MAX_DISTANCE 8

/* What stands between an option's name and its value, with any blanks. */
#define ARROW "=>"

/* The functions, in SQL and in C, and the arguments between their parentheses. */
static const char *const functions[] = {"simdup_flag_trigger",
										"simdup_log_trigger",
										"simdup_reject_trigger"};
static const char *const arguments[] = {"column [, 'option => value' ...]",
										"log_table [, 'option => value' ...]",
										"['option => value' ...]"};

/* Add the whole CREATE TRIGGER statement as errhint, by the table's name. */
static int
add_hint(TriggerData *trigdata, TriggerKind kind)
{
	return errhint("Write: CREATE TRIGGER ... %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s).",
				   kind == TRIGGER_LOG ? "AFTER" : "BEFORE",
				   quote_identifier(
					   RelationGetRelationName(trigdata->tg_relation)),
				   functions[kind], arguments[kind]);
}

/*
 * ERROR unless a trigger calls the function of this kind, at a time that it
 * supports.
 */
static void
check_fired(FunctionCallInfo fcinfo, TriggerKind kind)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" was not called by trigger manager",
					   functions[kind]));

	event = trigdata->tg_event;
	if ((TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)) &&
		TRIGGER_FIRED_FOR_ROW(event) &&
		((TRIGGER_FIRED_BEFORE(event) && kind != TRIGGER_LOG) ||
		 (TRIGGER_FIRED_AFTER(event) && kind != TRIGGER_FLAG &&
		  (kind == TRIGGER_REJECT || !trigdata->tg_trigger->tgdeferrable))))
		return;
	ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			errmsg("trigger \"%s\" for table \"%s\" fires at an event that function \"%s\" does not support",
				   trigdata->tg_trigger->tgname,
				   RelationGetRelationName(trigdata->tg_relation),
				   functions[kind]),
			add_hint(trigdata, kind));
}

/* Return the distance that a value names, or -1 if it names none. */
static int
parse_distance(const char *value)
{
	char *end;
	long distance = strtol(value, &end, 10);

	/* strtol would also take leading blanks and a sign */
	return isdigit((unsigned char) *value) && *end == '\0' &&
				   distance <= SIMHASH64_BITS
			   ? (int) distance
			   : -1;
}

/* Return a copy of some bytes without the blanks around them. */
static char *
trimmed(const char *bytes, size_t len)
{
	while (len > 0 && scanner_isspace(bytes[len - 1]))
		len--;
	for (; len > 0 && scanner_isspace(*bytes); len--)
		bytes++;
	return pnstrdup(bytes, len);
}

/*
 * Set an option, written "name => value". Return false if there is no such option,
 * or not of this value. Note one that was set before.
 */
static bool
set_option(TriggerOptions *options, TriggerKind kind, const char *argument)
{
	const char *arrow = strstr(argument, ARROW);
	List *index;
	char *name;
	char *value;

	if (arrow == NULL)
		return false;
	name = trimmed(argument, arrow - argument);
	value = trimmed(arrow + strlen(ARROW), strlen(arrow + strlen(ARROW)));
	if (list_member(options->given, makeString(name)))
		options->repeated = name;
	options->given = lappend(options->given, makeString(name));
	if (strcmp(name, "max_distance") == 0)
		return (options->max_distance = parse_distance(value)) >= 0;
	if (strcmp(name, "lock") == 0)
		return kind != TRIGGER_REJECT && parse_bool(value, &options->lock);
	if (strcmp(name, "key") == 0)
		return SplitIdentifierString(value, ',', &options->key) &&
			   (kind == TRIGGER_REJECT ? options->key != NIL
									   : list_length(options->key) == 1);
	if (strcmp(name, "columns") == 0)
		return SplitIdentifierString(value, ',', &options->columns);
	if (strcmp(name, "condition") == 0)
		options->condition = value;
	else if (strcmp(name, "index") == 0 &&
			 SplitIdentifierString(value, ',', &index) &&
			 list_length(index) == 1)
		options->index = linitial(index);
	else
		return false;
	return true;
}

/*
 * Read the options, which follow the first argument of flag and log. Return an
 * argument that is none, or NULL.
 */
static const char *
read_options(const Trigger *trigger, TriggerKind kind, TriggerOptions *options)
{
	const char *wrong = NULL;

	*options = (TriggerOptions){.max_distance = DEFAULT_MAX_DISTANCE,
								.lock = kind == TRIGGER_REJECT};
	for (int i = kind == TRIGGER_REJECT ? 0 : 1; i < trigger->tgnargs; i++)
		if (!set_option(options, kind, trigger->tgargs[i]) && wrong == NULL)
			wrong = trigger->tgargs[i];
	return wrong;
}

/*
 * Return the column of this name. A BEFORE trigger can compute stored generated
 * columns, but not set them.
 */
static AttrNumber
find_column(TriggerData *trigdata, const TriggerState *state, const char *name,
			bool is_set)
{
	const char *table = RelationGetRelationName(trigdata->tg_relation);
	AttrNumber attnum = SPI_fnumber(state->tupdesc, name);
	char generated;

	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   table));
	generated = TupleDescAttr(state->tupdesc, attnum - 1)->attgenerated;
	if (generated != '\0' &&
		(is_set || generated != ATTRIBUTE_GENERATED_STORED))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated", name,
					   table),
				is_set
					? 0
					: errhint(
						  "A virtual column is not stored, and cannot be compared: name the columns that it is computed from."));
	return attnum;
}

/* Return the names of the primary key's columns: for reject, any number. */
static List *
primary_key(Oid relid, TriggerKind kind)
{
	Oid constraint;
	List *names = NIL;

	(void) get_primary_key_attnos(relid, true, &constraint);
	if (OidIsValid(constraint))
	{
		Relation index =
			index_open(get_constraint_index(constraint), AccessShareLock);

		for (int i = 0; i < index->rd_index->indnkeyatts; i++)
			names =
				lappend(names,
						get_attname(relid, index->rd_index->indkey.values[i],
									false));
		index_close(index, NoLock);
	}
	if (names == NIL || (kind != TRIGGER_REJECT && list_length(names) > 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				kind == TRIGGER_REJECT
					? errmsg("relation \"%s\" has no primary key",
							 get_rel_name(relid))
					: errmsg("relation \"%s\" has no primary key of one column",
							 get_rel_name(relid)),
				errhint("Name a unique column: '%s'.", "key => column"));
	return names;
}

/* Find the flag, which takes the key of another row. */
static void
find_flag(TriggerData *trigdata, TriggerState *state)
{
	const char *name = trigdata->tg_trigger->tgargs[0];
	Form_pg_attribute key = state->key_att;
	Form_pg_attribute flag;

	state->flag = find_column(trigdata, state, name, true);
	flag = TupleDescAttr(state->tupdesc, state->flag - 1);
	if (flag->atttypid != key->atttypid || state->flag == state->key ||
		(flag->atttypmod != key->atttypmod && flag->atttypmod != -1))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot take values of column \"%s\"",
					   name, RelationGetRelationName(trigdata->tg_relation),
					   NameStr(key->attname)));
}

List *
simdup_trigger_list(Oid relid, Oid sibling)
{
	Oid schema = get_func_namespace(sibling);
	Relation rel = table_open(relid, AccessShareLock);
	/* a copy, since a look-up may rebuild the relation's */
	TriggerDesc *desc = CopyTriggerDesc(rel->trigdesc);
	List *triggers = NIL;

	table_close(rel, NoLock);
	for (int i = 0; desc != NULL && i < desc->numtriggers; i++)
	{
		OwnTrigger own = {.trigger = &desc->triggers[i]};
		char *name = get_func_name(own.trigger->tgfoid);

		if (name == NULL || get_func_namespace(own.trigger->tgfoid) != schema)
			continue;
		for (; own.kind < lengthof(functions); own.kind++)
			if (strcmp(name, functions[own.kind]) == 0)
			{
				(void) read_options(own.trigger, own.kind, &own.options);
				triggers = lappend(triggers, memcpy(palloc(sizeof(own)), &own,
													sizeof(own)));
			}
	}
	return triggers;
}

/* Check whether an argument can name something in this database. */
static bool
is_name(const char *argument)
{
	List *parts;

	return SplitIdentifierString(pstrdup(argument), '.', &parts) &&
		   (list_length(parts) == 1 || list_length(parts) == 2 ||
			(list_length(parts) == 3 &&
			 strcmp(linitial(parts), get_database_name(MyDatabaseId)) == 0));
}

/* Return the log that an argument names, or InvalidOid, without a check of rights. */
static Oid
find_log_table(Oid table, const char *argument)
{
	const RangeVar *log = simdup_trigger_log_name(table, argument);

	return log->schemaname == NULL
			   ? InvalidOid
			   : get_relname_relid(log->relname,
								   get_namespace_oid(log->schemaname, true));
}

PG_FUNCTION_INFO_V1(simdup_trigger_names);
/*
 * List a table's triggers of ours, each with its flag, the option `key`, its condition,
 * and its log, if it has them. A clone has its names from the table of the trigger that
 * the user made. Names of nothing are no error: the trigger may be disabled.
 */
Datum
simdup_trigger_names(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Oid table = PG_GETARG_OID(0);
	char relkind = get_rel_relkind(table);
	List *triggers = NIL;
	ListCell *cell;

	if (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE)
		triggers = simdup_trigger_list(table, fcinfo->flinfo->fn_oid);
	foreach (cell, triggers)
	{
		const OwnTrigger *own = lfirst(cell);
		const Trigger *trigger = own->trigger;
		const TriggerOptions *options = &own->options;
		bool has_target = trigger->tgnargs > 0; /* a flag, or a log */
		Oid named_by =
			trigger->tgisclone ? simdup_trigger_table(trigger->tgoid) : table;
		Oid condition = InvalidOid;
		Oid log = InvalidOid;
		Datum values[5] = {0};
		bool nulls[5] = {false, true, options->key == NIL};

		values[0] =
			DirectFunctionCall1(namein, CStringGetDatum(trigger->tgname));
		if (has_target && own->kind == TRIGGER_FLAG)
		{
			values[1] = CStringGetTextDatum(trigger->tgargs[0]);
			nulls[1] = false;
		}
		if (options->key != NIL)
			values[2] = CStringGetTextDatum(linitial(options->key));
		if (options->condition != NULL && is_name(options->condition))
			condition = simdup_trigger_condition(named_by, options->condition);
		if (has_target && own->kind == TRIGGER_LOG &&
			is_name(trigger->tgargs[0]))
			log = find_log_table(named_by, trigger->tgargs[0]);
		values[3] = ObjectIdGetDatum(condition);
		nulls[3] = !OidIsValid(condition);
		values[4] = ObjectIdGetDatum(log);
		nulls[4] = !OidIsValid(log);
		simdup_put_result(result, values, nulls);
	}
	return (Datum) 0;
}

/*
 * Find the key, and the flag. Reject needs no key but to name the other row, so
 * that one need not be unique.
 */
static void
find_columns(TriggerData *trigdata, TriggerState *state)
{
	ListCell *cell;

	if (state->options.key == NIL)
		state->options.key = primary_key(state->table, state->kind);
	foreach (cell, state->options.key)
		state->key = find_column(trigdata, state, lfirst(cell), false);
	state->key_index = simdup_trigger_key_index(state->table, state);
	if (state->kind == TRIGGER_REJECT)
		return;
	state->key_att = TupleDescAttr(state->tupdesc, state->key - 1);
	state->key_functions =
		lookup_type_cache(state->key_att->atttypid,
						  TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO);
	if (state->kind == TRIGGER_FLAG)
		find_flag(trigdata, state);
}

/*
 * Find the columns that flag triggers of a table set. Find also the largest
 * distance of the triggers that lock, enabled or not, if the table is the one that
 * is searched. All lock by it, so that they meet. Rows within a smaller one agree
 * there too.
 */
static void
read_triggers(Oid relid, TriggerState *state)
{
	ListCell *cell;

	foreach (cell, simdup_trigger_list(relid, state->function))
	{
		const OwnTrigger *own = lfirst(cell);
		int column = own->kind == TRIGGER_FLAG && own->trigger->tgnargs > 0
						 ? SPI_fnumber(state->tupdesc, own->trigger->tgargs[0])
						 : -1;

		if (column > 0)
			state->flags = bms_add_member(state->flags, column);
		if (own->options.lock && relid == state->table)
			state->lock_distance =
				Max(state->lock_distance, own->options.max_distance);
	}
}

static void
read_own_options(TriggerData *trigdata, TriggerState *state)
{
	const Trigger *trigger = trigdata->tg_trigger;
	TriggerKind kind = state->kind;
	const char *wrong;

	if (kind != TRIGGER_REJECT && trigger->tgnargs == 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("wrong number of arguments for function \"%s\"",
					   functions[kind]),
				add_hint(trigdata, kind));
	wrong = read_options(trigger, kind, &state->options);
	if (wrong != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized option of function \"%s\": \"%s\"",
					   functions[kind], wrong),
				errdetail("Options \"name => value\" are max_distance (0 to %d), key (for flag and log, one column), columns, index, condition, and for flag and log, lock (true or false).",
						  SIMHASH64_BITS));
	if (state->options.repeated != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("conflicting or redundant options"),
				errdetail("Option \"%s\" is given more than once.",
						  state->options.repeated));
}

Oid
simdup_trigger_table(Oid trigger)
{
	Relation pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	Oid table;

	do
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(pg_trigger, TriggerOidIndexId, true, NULL, 1,
								  &key);
		tuple = systable_getnext(scan);
		table = InvalidOid;
		if (HeapTupleIsValid(tuple))
		{
			table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
			trigger = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
		}
		systable_endscan(scan);
	} while (OidIsValid(trigger) && OidIsValid(table));
	table_close(pg_trigger, AccessShareLock);
	return table;
}

/*
 * Find the table that is searched: the one with the trigger that the user made.
 * The triggers of partitions are clones of it.
 */
static void
find_table(TriggerData *trigdata, TriggerState *state)
{
	state->table = state->written = RelationGetRelid(trigdata->tg_relation);
	if (!trigdata->tg_trigger->tgisclone)
		return;
	state->table = simdup_trigger_table(trigdata->tg_trigger->tgoid);

	/*
	 * The writer has locked only the partition. Lock the parent too, so that
	 * no other session renames or drops it before the search.
	 */
	if (OidIsValid(state->table))
		LockRelationOid(state->table, AccessShareLock);
	if (!OidIsValid(state->table) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(state->table)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("trigger \"%s\" for table \"%s\" does not exist",
					   trigdata->tg_trigger->tgname,
					   RelationGetRelationName(trigdata->tg_relation)));
}

/* Return the columns that an index and its predicate are of. */
static Bitmapset *
index_columns(TupleDesc tupdesc, const IndexInfo *info)
{
	const int whole_row = -FirstLowInvalidHeapAttributeNumber;
	Bitmapset *columns = NULL;
	Bitmapset *bits = NULL;

	pull_varattnos((Node *) info->ii_Expressions, 1, &bits);
	pull_varattnos((Node *) info->ii_Predicate, 1, &bits);
	for (int i = 0; i < info->ii_NumIndexKeyAttrs; i++)
		if (info->ii_IndexAttrNumbers[i] != 0)
			columns = bms_add_member(columns, info->ii_IndexAttrNumbers[i]);
	for (int i = 1; i <= tupdesc->natts; i++)
		if (!TupleDescAttr(tupdesc, i - 1)->attisdropped &&
			(bms_is_member(whole_row, bits) ||
			 bms_is_member(whole_row + i, bits)))
			columns = bms_add_member(columns, i);
	return columns;
}

/*
 * Find the columns whose change makes the trigger act or lock, by the rules of the
 * README, and the generated ones to compute. A later trigger may still change the
 * columns that those are computed from.
 */
static void
find_deciding(TriggerData *trigdata, TriggerState *state)
{
	TupleDesc tupdesc = state->tupdesc;
	Bitmapset *unique = NULL;
	Bitmapset *needed;
	ListCell *cell;

	state->partition_key =
		simdup_trigger_partition_columns(state->table, state->written);
	state->locking = bms_copy(state->partition_key);
	for (int i = 0; i < state->n_uniques; i++)
	{
		const IndexInfo *info = state->uniques[i].info;
		Bitmapset *columns = index_columns(tupdesc, info);
		Bitmapset *others = bms_difference(columns, state->partition_key);

		if (info->ii_ExclusionProcs != NULL)
			state->locking = bms_add_members(state->locking, columns);
		else
			unique = bms_add_members(unique,
									 bms_is_empty(others) ? columns : others);
	}
	foreach (cell, state->options.columns)
		state->acting =
			bms_add_member(state->acting,
						   find_column(trigdata, state, lfirst(cell), false));
	if (state->kind != TRIGGER_FLAG)
		state->acting = bms_add_members(state->acting, unique);
	needed = index_columns(tupdesc, state->index_info);
	state->deciding = bms_difference(needed, state->flags);
	needed = bms_union(bms_union(needed, unique), state->acting);
	needed = bms_add_members(needed, state->locking);
	if (state->options.condition != NULL)
		needed = bms_add_range(needed, 1, tupdesc->natts);
	if (TRIGGER_FIRED_BEFORE(trigdata->tg_event))
		simdup_trigger_find_generated(state, trigdata->tg_relation, needed,
									  ATTRIBUTE_GENERATED_STORED,
									  &state->stored_columns);
}

static TriggerState *
set_up(FunctionCallInfo fcinfo, TriggerKind kind)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context =
		AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup trigger",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	TriggerState *state = palloc0(sizeof(*state));
	Relation index;

	state->context = context;
	state->search_context =
		AllocSetContextCreate(context, "simdup trigger search",
							  ALLOCSET_DEFAULT_SIZES);
	state->kind = kind;
	state->function = fcinfo->flinfo->fn_oid;
	/* a change from here on, while locks are waited for, counts too */
	state->relation_changes = simdup_trigger_relation_changes();
	find_table(trigdata, state);
	/* copies, which no resource owner counts */
	state->tupdesc =
		CreateTupleDescCopyConstr(RelationGetDescr(trigdata->tg_relation));
	state->table_desc =
		state->table == state->written
			? state->tupdesc
			: lookup_rowtype_tupdesc_copy(get_rel_type_id(state->table), -1);
	state->estate = CreateExecutorState();
	read_own_options(trigdata, state);
	find_columns(trigdata, state);
	simdup_trigger_find_uniques(trigdata->tg_relation, state);
	state->lock_distance = state->options.max_distance;
	read_triggers(state->written, state);
	if (state->options.lock && state->table != state->written)
		read_triggers(state->table, state);
	simdup_trigger_find_targets(state);
	index = index_open(state->own->index, AccessShareLock);
	state->index_info = BuildIndexInfo(index);
	index_close(index, NoLock);
	state->slot = MakeSingleTupleTableSlot(state->tupdesc, &TTSOpsHeapTuple);
	state->index_info->ii_PredicateState =
		ExecPrepareQual(state->index_info->ii_Predicate, state->estate);
	find_deciding(trigdata, state);
	/* a wrong name is an error now, and not at the first near row */
	if (state->options.condition != NULL)
		simdup_trigger_find_condition(state);
	if (kind == TRIGGER_LOG)
		simdup_trigger_find_log(trigdata, state);
	MemoryContextSwitchTo(caller);
	return state;
}

/* The writer need not know that there is a trigger. */
static void
name_trigger(void *arg)
{
	const TriggerData *trigdata = arg;

	errcontext("trigger \"%s\" for table \"%s\"", trigdata->tg_trigger->tgname,
			   RelationGetRelationName(trigdata->tg_relation));
}

TriggerState *
simdup_trigger_setup(FunctionCallInfo fcinfo, TriggerKind kind)
{
	TriggerState *state = fcinfo->flinfo->fn_extra;

	check_fired(fcinfo, kind);
	if (state == NULL ||
		state->relation_changes != simdup_trigger_relation_changes())
	{
		ErrorContextCallback context = {error_context_stack, name_trigger,
										fcinfo->context};

		fcinfo->flinfo->fn_extra = NULL;
		if (state != NULL)
			MemoryContextDelete(state->context);
		error_context_stack = &context;
		state = set_up(fcinfo, kind);
		error_context_stack = context.previous;
		fcinfo->flinfo->fn_extra = state;
	}
	return state;
}
