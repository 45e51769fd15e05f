/*
 * grouped.c
 *	  Finds a grouped table's trigger, its arguments and the tables beside it.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/sources.h"
#include "groups/grouping.h"
#include "server/catalog.h"

#define TRIGGER_FUNCTION "simdup_group_trigger"

/* Arguments of the trigger. */
enum
{
	ARG_FP,
	ARG_GROUP,
	ARG_KEY,
	ARG_K,
	N_FIXED_ARGS
};

/* The options that groups have of their own. */
static bool
set_option(ArrivalTrigger *at, const char *argument)
{
	Grouping *g = at->own;
	char *name;
	const char *value = simdup_option_value(argument, &name);

	if (g == NULL)
		g = at->own = palloc0(sizeof(Grouping));
	if (value != NULL && strcmp(name, "tables") == 0)
	{
		g->tables = pstrdup(value);
		return true;
	}
	if (value == NULL || strcmp(name, "method") != 0)
		return false;
	if (strcmp(value, "leader") != 0 && strcmp(value, "connected") != 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized method of groups: \"%s\"", value),
				errhint("Methods are leader and connected."));
	g->connected = strcmp(value, "connected") == 0;
	return true;
}

static const ArrivalUsage usage = {
	.function = TRIGGER_FUNCTION,
	.arguments = "fp, group, key, k [, 'option => value' ...]",
	.min_args = N_FIXED_ARGS,
	.max_args = MAX_ARRIVAL_ARGS,
	.before = true,
	.after = true,
	.remove = true,
	.flag_arg = NO_ARGUMENT,
	.key_arg = ARG_KEY,
	.k_arg = ARG_K,
	.log_arg = NO_ARGUMENT,
	.set_option = set_option,
};

/*
 * A table beside the grouped one. The owner alone can have made it, so nobody
 * is led to write into a table of another role.
 */
static Oid
table_beside(Grouping *g, const char *what)
{
	Oid table = g->at->table;
	char *name =
		makeObjectName(g->tables != NULL ? g->tables : get_rel_name(table),
					   NULL, what);
	Oid found = get_relname_relid(name, get_rel_namespace(table));

	if (!OidIsValid(found))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation \"%s.%s\" does not exist",
					   simdup_arrival_schema_of(table), name),
				errdetail("It belongs to the groups of table \"%s\".",
						  get_rel_name(table)),
				errhint(
					"simdup_attach with the action \"group\" makes the tables."));
	if (simdup_arrival_owner(found) != simdup_arrival_owner(table))
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("relation \"%s.%s\" belongs to another role than table \"%s\"",
					   simdup_arrival_schema_of(table), name,
					   get_rel_name(table)));
	return found;
}

static void
find_tables(Grouping *g)
{
	List *sequences;

	g->groups = table_beside(g, "simdup_groups");
	g->members = table_beside(g, "simdup_members");
	g->events = table_beside(g, "simdup_events");
	g->redirects = table_beside(g, "simdup_redirects");
	g->decisions = table_beside(g, "simdup_decisions");
	sequences = getOwnedSequences(g->groups);
	if (sequences == NIL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("column \"%s\" of relation \"%s\" has no sequence", "id",
					   get_rel_name(g->groups)));
	g->sequence = linitial_oid(sequences);
}

/* Partitions may number their columns in another order; names are equal. */
static void
read_columns(Grouping *g, char **arguments)
{
	g->fp = pstrdup(arguments[ARG_FP]);
	g->column = pstrdup(arguments[ARG_GROUP]);
	g->key = pstrdup(arguments[ARG_KEY]);
}

static Oid
collation_of(Relation rel, AttrNumber attnum)
{
	return TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attcollation;
}

Grouping *
simdup_grouping_setup(FunctionCallInfo fcinfo)
{
	ArrivalTrigger *at = simdup_arrival_setup(fcinfo, &usage);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext caller;
	Grouping *g = at->own;

	if (g != NULL && OidIsValid(g->sequence))
		return g;
	caller = MemoryContextSwitchTo(at->context);
	if (g == NULL)
		g = at->own = palloc0(sizeof(Grouping));
	g->at = at;
	g->collation = collation_of(trigdata->tg_relation, at->key);
	g->attnum = simdup_arrival_column(trigdata, &usage, ARG_GROUP, "group");
	if (SPI_gettypeid(RelationGetDescr(trigdata->tg_relation), g->attnum) !=
		INT8OID)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is not of type %s",
					   trigdata->tg_trigger->tgargs[ARG_GROUP],
					   RelationGetRelationName(trigdata->tg_relation),
					   "bigint"),
				simdup_arrival_hint(trigdata, &usage));
	read_columns(g, trigdata->tg_trigger->tgargs);
	find_tables(g);
	MemoryContextSwitchTo(caller);
	return g;
}

/* The trigger that keeps groups, of those that a relation has. */
static Trigger *
find_trigger(Relation rel, Oid extension)
{
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger *trigger = &triggers->triggers[i];
		char *function;

		if (trigger->tgisclone || trigger->tgnargs < N_FIXED_ARGS ||
			!TRIGGER_FOR_BEFORE(trigger->tgtype) ||
			get_func_namespace(trigger->tgfoid) != extension)
			continue;
		function = get_func_name(trigger->tgfoid);
		if (function != NULL && strcmp(function, TRIGGER_FUNCTION) == 0)
			return trigger;
	}
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
			errmsg("rows of table \"%s\" are not kept in groups",
				   RelationGetRelationName(rel)),
			rel->rd_rel->relispartition
				? errhint("Name the partitioned table.")
				: errhint(
					  "simdup_attach with the action \"group\" groups them."));
}

/* The trigger's arguments, as the trigger itself would read them. */
static void
read_trigger(Grouping *g, Relation rel, Trigger *trigger)
{
	ArrivalTrigger *at = g->at;
	TupleDesc tupdesc = RelationGetDescr(rel);

	read_columns(g, trigger->tgargs);
	at->trigger = trigger->tgoid;
	at->fp = SPI_fnumber(tupdesc, g->fp);
	at->key = SPI_fnumber(tupdesc, g->key);
	g->attnum = SPI_fnumber(tupdesc, g->column);
	if (at->fp <= 0 || at->key <= 0 || g->attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("trigger \"%s\" of table \"%s\" names a column that does not exist",
					   trigger->tgname, RelationGetRelationName(rel)));
	g->collation = collation_of(rel, at->key);
	at->fp_type = getBaseType(SPI_gettypeid(tupdesc, at->fp));
	at->key_type = SPI_gettypeid(tupdesc, at->key);
	at->k = pg_strtoint32(trigger->tgargs[ARG_K]);
	for (int i = N_FIXED_ARGS; i < trigger->tgnargs; i++)
		if (!simdup_conditions_set(&at->conditions, trigger->tgargs[i]))
			(void) set_option(at, trigger->tgargs[i]);
	simdup_conditions_find(&at->conditions, rel);
}

Grouping *
simdup_grouping_open(Oid function, Oid table)
{
	ArrivalTrigger *at = palloc0(sizeof(ArrivalTrigger));
	Grouping *g = palloc0(sizeof(Grouping));
	char *name = get_rel_name(table);
	char kind = get_rel_relkind(table);
	Relation rel;

	if (name == NULL)
		simdup_no_such_table(table);
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", name));
	rel = try_relation_open(table, AccessShareLock);
	if (rel == NULL)
		simdup_no_such_table(table);
	g->at = at;
	at->own = g;
	at->context = CurrentMemoryContext;
	at->usage = &usage;
	at->function = function;
	at->table = table;
	at->lock = true;
	read_trigger(g, rel, find_trigger(rel, get_func_namespace(function)));
	at->remote = simdup_arrival_reaches_foreign(table);
	find_tables(g);
	relation_close(rel, NoLock);
	return g;
}

GroupUser
simdup_grouping_become_owner(Grouping *g)
{
	GroupUser user;

	simdup_arrival_become_owner(g->at, &user.user, &user.context);
	return user;
}

void
simdup_grouping_become_user(GroupUser user)
{
	SetUserIdAndSecContext(user.user, user.context);
}

int64
simdup_grouping_new_id(Grouping *g)
{
	return nextval_internal(g->sequence, false);
}

int64
simdup_grouping_last_id(Grouping *g)
{
	ArrivalFound found;
	int64 id;

	SPI_connect();
	found = simdup_grouping_run(g, GROUP_LAST_ID, NULL, NULL);
	id = DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
	SPI_finish();
	return id;
}
