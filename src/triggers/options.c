/*
 * options.c
 *	  How an arrival trigger was written: when it fires, its options, and the
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

#include "triggers/arrival.h"
#include "type/simhash64.h"

#define DEFAULT_MAX_DISTANCE 8

/* Add the whole CREATE TRIGGER statement as errhint, by the table's name. */
static int
add_hint(TriggerData *trigdata, const ArrivalUsage *usage)
{
	return errhint("Write: CREATE TRIGGER ... %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s).",
				   usage->before ? "BEFORE" : "AFTER",
				   quote_identifier(
					   RelationGetRelationName(trigdata->tg_relation)),
				   usage->function, usage->arguments);
}

/* ERROR unless a trigger calls the function, at a time that it supports. */
void
simdup_arrival_check_fired(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" was not called by trigger manager",
					   usage->function));

	event = trigdata->tg_event;
	if ((TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)) &&
		((usage->before && TRIGGER_FIRED_BEFORE(event) &&
		  TRIGGER_FIRED_FOR_ROW(event)) ||
		 (usage->after && TRIGGER_FIRED_AFTER(event) &&
		  TRIGGER_FIRED_FOR_ROW(event) &&
		  (usage->deferred || !trigdata->tg_trigger->tgdeferrable))))
		return;
	ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			errmsg("trigger \"%s\" on table \"%s\" fires at an event that function \"%s\" does not support",
				   trigdata->tg_trigger->tgname,
				   RelationGetRelationName(trigdata->tg_relation),
				   usage->function),
			add_hint(trigdata, usage));
}

/*
 * Split an option "name => value" into copies of its name and its value. Return
 * false if the argument has another form.
 */
static bool
part_option(const char *argument, char **name, char **value)
{
	const char *arrow = strstr(argument, " => ");

	if (arrow == NULL)
		return false;
	*name = pnstrdup(argument, arrow - argument);
	*value = pstrdup(arrow + strlen(" => "));
	return true;
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

/* Set one option; false if there is no such option, or not of this value. */
static bool
set_option(ArrivalTrigger *at, const char *name, char *value)
{
	if (strcmp(name, "max_distance") == 0)
		return (at->max_distance = parse_distance(value)) >= 0;
	if (strcmp(name, "lock") == 0)
		return at->usage->tells && parse_bool(value, &at->lock);
	if (strcmp(name, "key") == 0)
		at->key_name = value;
	else if (strcmp(name, "index") == 0)
		at->index_name = value;
	else if (strcmp(name, "condition") == 0)
		at->condition = value;
	else
		return false;
	return true;
}

/* Read the arguments behind the fixed ones. */
void
simdup_arrival_read_options(TriggerData *trigdata, ArrivalTrigger *at)
{
	const Trigger *trigger = trigdata->tg_trigger;
	MemoryContext caller = MemoryContextSwitchTo(at->context);

	if (trigger->tgnargs < at->usage->n_fixed)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("wrong number of arguments for function \"%s\"",
					   at->usage->function),
				add_hint(trigdata, at->usage));
	at->max_distance = DEFAULT_MAX_DISTANCE;
	at->lock = !at->usage->tells;
	for (int i = at->usage->n_fixed; i < trigger->tgnargs; i++)
	{
		char *name;
		char *value;

		if (!part_option(trigger->tgargs[i], &name, &value) ||
			!set_option(at, name, value))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized option of function \"%s\": \"%s\"",
						   at->usage->function, trigger->tgargs[i]),
					errdetail("The options are max_distance (0 to %d), key, index, condition, and for flag and log, lock (true or false).",
							  SIMHASH64_BITS),
					add_hint(trigdata, at->usage));
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Return the column of this name. A BEFORE trigger can compute stored generated
 * columns, but not set them.
 */
static AttrNumber
find_column(TriggerData *trigdata, const ArrivalTrigger *at, const char *name,
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
				add_hint(trigdata, at->usage));
	generated = TupleDescAttr(tupdesc, attnum - 1)->attgenerated;
	if (generated != '\0' &&
		(is_set || generated != ATTRIBUTE_GENERATED_STORED))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated", name,
					   table),
				add_hint(trigdata, at->usage));
	return attnum;
}

/* Return the only column of the table's primary key. */
static char *
primary_key(const ArrivalTrigger *at)
{
	Relation table = table_open(at->table, AccessShareLock);
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
					   get_rel_name(at->table)),
				errhint("Name a unique column: '%s'.", "key => column"));
	return get_attname(at->table, column, false);
}

/* Find the flag, which takes the key of another row. */
static void
find_flag(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	const char *name = trigdata->tg_trigger->tgargs[0];
	Form_pg_attribute key = TupleDescAttr(tupdesc, at->key - 1);
	Form_pg_attribute flag;

	at->flag = find_column(trigdata, at, name, true);
	flag = TupleDescAttr(tupdesc, at->flag - 1);
	if (flag->atttypid != key->atttypid || at->flag == at->key ||
		(flag->atttypmod != key->atttypmod && flag->atttypmod != -1))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot take values of column \"%s\"",
					   name, RelationGetRelationName(trigdata->tg_relation),
					   at->key_name),
				errhint("Give the flag the type of the key, %s, and a column of its own.",
						format_type_with_typemod(key->atttypid,
												 key->atttypmod)));
}

/* Return the symbol of a trigger's function, if that is in C, or else "". */
static const char *
symbol_of(const Trigger *trigger)
{
	HeapTuple function =
		SearchSysCache1(PROCOID, ObjectIdGetDatum(trigger->tgfoid));
	const char *symbol = "";
	bool is_null;

	if (!HeapTupleIsValid(function))
		return symbol;
	if (((Form_pg_proc) GETSTRUCT(function))->prolang == ClanguageId)
		symbol = TextDatumGetCString(
			SysCacheGetAttr(PROCOID, function, Anum_pg_proc_prosrc, &is_null));
	ReleaseSysCache(function);
	return symbol;
}

/* Find the columns that flag triggers of the written table set. */
static void
find_flags(TriggerData *trigdata, ArrivalTrigger *at)
{
	/* a copy, since a look-up may rebuild the relation's */
	TriggerDesc *desc = CopyTriggerDesc(trigdata->tg_relation->trigdesc);

	for (int i = 0; i < desc->numtriggers; i++)
	{
		const Trigger *trigger = &desc->triggers[i];
		int column = -1;

		if (trigger->tgnargs > 0 &&
			strcmp(symbol_of(trigger), "simdup_flag_trigger") == 0)
			column = SPI_fnumber(RelationGetDescr(trigdata->tg_relation),
								 trigger->tgargs[0]);
		if (column > 0)
			at->flags = bms_add_member(at->flags, column);
	}
	FreeTriggerDesc(desc);
}

/* Find the key, and the flags. */
void
simdup_arrival_find_columns(TriggerData *trigdata, ArrivalTrigger *at)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	MemoryContext caller = MemoryContextSwitchTo(at->context);

	if (at->key_name == NULL)
		at->key_name = primary_key(at);
	at->key = find_column(trigdata, at, at->key_name, false);
	at->key_type = SPI_gettypeid(tupdesc, at->key);
	at->key_collation = TupleDescAttr(tupdesc, at->key - 1)->attcollation;
	at->key_functions =
		lookup_type_cache(at->key_type,
						  TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO);
	if (!OidIsValid(at->key_functions->eq_opr_finfo.fn_oid) ||
		!OidIsValid(at->key_functions->cmp_proc_finfo.fn_oid))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key",
					   at->key_name,
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("Its type %s has no default order.",
						  format_type_be(at->key_type)));
	if (at->usage->flags)
		find_flag(trigdata, at);
	find_flags(trigdata, at);
	MemoryContextSwitchTo(caller);
}

/* Return the distance by which a trigger locks, or -1 if it locks nothing. */
static int
distance_of(const Trigger *trigger)
{
	const char *symbol = symbol_of(trigger);
	bool rejects = strcmp(symbol, "simdup_reject_trigger") == 0;
	ArrivalUsage usage = {.tells = !rejects};
	ArrivalTrigger options = {.usage = &usage,
							  .max_distance = DEFAULT_MAX_DISTANCE,
							  .lock = rejects};

	if (!rejects && strcmp(symbol, "simdup_flag_trigger") != 0 &&
		strcmp(symbol, "simdup_log_trigger") != 0)
		return -1;
	for (int i = 0; i < trigger->tgnargs; i++)
	{
		char *name;
		char *value;

		if (part_option(trigger->tgargs[i], &name, &value))
			(void) set_option(&options, name, value);
	}
	return options.lock ? options.max_distance : -1;
}

/*
 * Return the largest distance of the table's triggers that lock, enabled or not.
 * All lock by it, so that they meet. Rows within a smaller one agree there too.
 */
int
simdup_arrival_lock_distance(ArrivalTrigger *at)
{
	Relation table = table_open(at->table, AccessShareLock);
	TriggerDesc *desc = CopyTriggerDesc(table->trigdesc);
	int distance = at->max_distance;

	table_close(table, NoLock);
	for (int i = 0; desc != NULL && i < desc->numtriggers; i++)
		distance = Max(distance, distance_of(&desc->triggers[i]));
	FreeTriggerDesc(desc);
	return distance;
}
