/*
 * options.c
 *	  How a trigger was written: when it fires, its options, and the
 *	  columns that they name. Errors say how to write it.
 */
#include "postgres.h"
#include "compat.h"

#include <ctype.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "triggers/trigger.h"
#include "type/simhash64.h"

#define DEFAULT_MAX_DISTANCE 8

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

void
simdup_trigger_check_fired(FunctionCallInfo fcinfo, TriggerKind kind)
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
			errmsg("trigger \"%s\" on table \"%s\" fires at an event that function \"%s\" does not support",
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

/*
 * Set an option, written "name => value". Return false if there is no such
 * option, or not of this value.
 */
static bool
set_option(TriggerOptions *options, TriggerKind kind, const char *argument)
{
	const char *arrow = strstr(argument, " => ");
	char *name;
	char *value;

	if (arrow == NULL)
		return false;
	name = pnstrdup(argument, arrow - argument);
	value = pstrdup(arrow + strlen(" => "));
	if (strcmp(name, "max_distance") == 0)
		return (options->max_distance = parse_distance(value)) >= 0;
	if (strcmp(name, "lock") == 0)
		return kind != TRIGGER_REJECT && parse_bool(value, &options->lock);
	if (strcmp(name, "key") == 0)
		options->key = value;
	else if (strcmp(name, "index") == 0)
		options->index = value;
	else if (strcmp(name, "condition") == 0)
		options->condition = value;
	else
		return false;
	return true;
}

/* Return how many arguments come before the options. */
static int
n_fixed(TriggerKind kind)
{
	return kind == TRIGGER_REJECT ? 0 : 1;
}

/* Read the options. Return an argument that is none, or NULL. */
static const char *
read_options(const Trigger *trigger, TriggerKind kind, TriggerOptions *options)
{
	const char *wrong = NULL;

	*options = (TriggerOptions){.max_distance = DEFAULT_MAX_DISTANCE,
								.lock = kind == TRIGGER_REJECT};
	for (int i = n_fixed(kind); i < trigger->tgnargs; i++)
		if (!set_option(options, kind, trigger->tgargs[i]) && wrong == NULL)
			wrong = trigger->tgargs[i];
	return wrong;
}

/*
 * Return the column of this name. A BEFORE trigger can compute stored generated
 * columns, but not set them.
 */
static AttrNumber
find_column(TriggerData *trigdata, TriggerKind kind, const char *name,
			bool is_set)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	const char *table = RelationGetRelationName(trigdata->tg_relation);
	AttrNumber attnum = SPI_fnumber(tupdesc, name);
	char generated;

	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   table),
				add_hint(trigdata, kind));
	generated = TupleDescAttr(tupdesc, attnum - 1)->attgenerated;
	if (generated != '\0' &&
		(is_set || generated != ATTRIBUTE_GENERATED_STORED))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated", name,
					   table),
				add_hint(trigdata, kind));
	return attnum;
}

/* Return the only column of the table's primary key. */
static char *
primary_key(Oid relid)
{
	Relation table = table_open(relid, AccessShareLock);
	AttrNumber column = InvalidAttrNumber;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisprimary && index->rd_index->indisvalid &&
			index->rd_index->indnkeyatts == 1)
			column = index->rd_index->indkey.values[0];
		index_close(index, NoLock);
	}
	table_close(table, NoLock);
	if (column == InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("relation \"%s\" has no primary key of one column",
					   get_rel_name(relid)),
				errhint("Name a unique column: '%s'.", "key => column"));
	return get_attname(relid, column, false);
}

/* Find the flag, which takes the key of another row. */
static void
find_flag(TriggerData *trigdata, TriggerState *state)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	const char *name = trigdata->tg_trigger->tgargs[0];
	Form_pg_attribute key = TupleDescAttr(tupdesc, state->key - 1);
	Form_pg_attribute flag;

	state->flag = find_column(trigdata, state->kind, name, true);
	flag = TupleDescAttr(tupdesc, state->flag - 1);
	if (flag->atttypid != key->atttypid || state->flag == state->key ||
		(flag->atttypmod != key->atttypmod && flag->atttypmod != -1))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot take values of column \"%s\"",
					   name, RelationGetRelationName(trigdata->tg_relation),
					   state->options.key),
				errhint("Give the flag the type of the key, %s, and a column of its own.",
						format_type_with_typemod(key->atttypid,
												 key->atttypmod)));
}

/* Return the kind of a trigger, by its function's symbol; -1 for another one. */
static int
kind_of(const Trigger *trigger)
{
	HeapTuple function =
		SearchSysCache1(PROCOID, ObjectIdGetDatum(trigger->tgfoid));
	int kind = -1;

	if (!HeapTupleIsValid(function))
		return -1;
	if (((Form_pg_proc) GETSTRUCT(function))->prolang == ClanguageId)
	{
		bool is_null;
		char *symbol = TextDatumGetCString(
			SysCacheGetAttr(PROCOID, function, Anum_pg_proc_prosrc, &is_null));

		for (int i = 0; i < (int) lengthof(functions); i++)
			if (strcmp(symbol, functions[i]) == 0)
				kind = i;
	}
	ReleaseSysCache(function);
	return kind;
}

/* Find the columns that flag triggers of the written table set. */
static void
find_flags(Relation rel, TriggerState *state)
{
	/* a copy, since a look-up may rebuild the relation's */
	TriggerDesc *desc = CopyTriggerDesc(rel->trigdesc);

	for (int i = 0; i < desc->numtriggers; i++)
	{
		const Trigger *trigger = &desc->triggers[i];
		int column = -1;

		if (trigger->tgnargs > 0 && kind_of(trigger) == TRIGGER_FLAG)
			column = SPI_fnumber(RelationGetDescr(rel), trigger->tgargs[0]);
		if (column > 0)
			state->flags = bms_add_member(state->flags, column);
	}
	FreeTriggerDesc(desc);
}

/* Find the key, and the flags. */
static void
find_columns(TriggerData *trigdata, TriggerState *state)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	TypeCacheEntry *type;

	if (state->options.key == NULL)
		state->options.key = primary_key(state->table);
	state->key = find_column(trigdata, state->kind, state->options.key, false);
	state->key_type = SPI_gettypeid(tupdesc, state->key);
	state->key_collation = TupleDescAttr(tupdesc, state->key - 1)->attcollation;
	type = lookup_type_cache(state->key_type,
							 TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO);
	state->key_functions = type;
	if (!OidIsValid(type->eq_opr_finfo.fn_oid) ||
		!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key",
					   state->options.key,
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("Its type %s has no default order.",
						  format_type_be(state->key_type)));
	if (state->kind == TRIGGER_FLAG)
		find_flag(trigdata, state);
	find_flags(trigdata->tg_relation, state);
}

/*
 * Return the largest distance of the table's triggers that lock, enabled or not.
 * All lock by it, so that they meet. Rows within a smaller one agree there too.
 */
static int
find_lock_distance(const TriggerState *state)
{
	Relation table = table_open(state->table, AccessShareLock);
	TriggerDesc *desc = CopyTriggerDesc(table->trigdesc);
	int distance = state->options.max_distance;

	table_close(table, NoLock);
	for (int i = 0; desc != NULL && i < desc->numtriggers; i++)
	{
		int kind = kind_of(&desc->triggers[i]);
		TriggerOptions options;

		if (kind < 0)
			continue;
		(void) read_options(&desc->triggers[i], kind, &options);
		if (options.lock)
			distance = Max(distance, options.max_distance);
	}
	FreeTriggerDesc(desc);
	return distance;
}

void
simdup_trigger_read_options(TriggerData *trigdata, TriggerState *state)
{
	const Trigger *trigger = trigdata->tg_trigger;
	TriggerKind kind = state->kind;
	const char *wrong;

	if (trigger->tgnargs < n_fixed(kind))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("wrong number of arguments for function \"%s\"",
					   functions[kind]),
				add_hint(trigdata, kind));
	wrong = read_options(trigger, kind, &state->options);
	if (wrong != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized option of function \"%s\": \"%s\"",
					   functions[kind], wrong),
				errdetail("The options are max_distance (0 to %d), key, index, condition, and for flag and log, lock (true or false).",
						  SIMHASH64_BITS),
				add_hint(trigdata, kind));
	find_columns(trigdata, state);
	if (state->options.lock)
		state->lock_distance = find_lock_distance(state);
}
