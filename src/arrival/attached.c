/*
 * attached.c
 *	  Finds what simdup_attach made in a table, and with which arguments.
 *
 * Each column that attach makes has a comment that begins with a mark. Comments
 * follow a column through renames, dumps and restores. So detach drops a column
 * with the mark and no other, in a table with one of attach's triggers. The
 * arguments of the two triggers hold the rest. Attachments of 0.2.0 have no
 * marks; there the triggers tell which columns attach made, because it made each
 * column that a trigger of its own writes.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "arrival/sources.h"
#include "server/catalog.h"

/*
 * ERROR where a role that is not the owner may not lock the table. A change
 * locks out all its users, a look holds up its owner's DDL.
 */
static void
check_other_role(Oid table, const char *name, bool change)
{
	AclResult result = change
						   ? ACLCHECK_NOT_OWNER
						   : pg_class_aclcheck(table, GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, name);
}

void
simdup_attach_open(Attachment *a, Oid function, Oid table, bool change)
{
	char kind = get_rel_relkind(table);
	char *name = get_rel_name(table);
	char *schema;

	if (name == NULL)
		simdup_no_such_table(table);
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", name));
	if (!has_privs_of_role(GetUserId(), simdup_arrival_owner(table)))
		check_other_role(table, name, change);
	a->table = try_relation_open(table, change ? AccessExclusiveLock
											   : AccessShareLock);
	if (a->table == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation \"%s\" does not exist", name));
	a->table_name = simdup_arrival_table_name(table);
	a->extension = get_func_namespace(function);
	schema = get_namespace_name(a->extension);
	if (schema == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_SCHEMA),
				errmsg("schema with OID %u does not exist", a->extension));
	a->schema = quote_identifier(schema);
}

/* The extension's function that a trigger of this name calls, or NULL. */
static char *
find_trigger(Attachment *a, const char *name, Trigger **trigger)
{
	/* a look-up may rebuild the relation's own list */
	TriggerDesc *triggers = CopyTriggerDesc(a->table->trigdesc);

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		*trigger = &triggers->triggers[i];
		if (strcmp((*trigger)->tgname, name) == 0 && !(*trigger)->tgisclone &&
			get_func_namespace((*trigger)->tgfoid) == a->extension)
			return get_func_name((*trigger)->tgfoid);
	}
	return NULL;
}

/* Cut the suffix off the name; false if the name does not end in it. */
static bool
cut_suffix(char *name, const char *suffix)
{
	size_t len = strlen(name);
	size_t suffix_len = strlen(suffix);

	if (len <= suffix_len || strcmp(name + len - suffix_len, suffix) != 0)
		return false;
	name[len - suffix_len] = '\0';
	return true;
}

/* fp, content, fields and options, from the update trigger. */
static bool
read_update_trigger(Attachment *a)
{
	Trigger *trigger;
	char *function = find_trigger(a, UPDATE_TRIGGER, &trigger);
	SimdupFingerprinter *fingerprinter;

	if (function == NULL || !cut_suffix(function, "_update_trigger") ||
		trigger->tgnargs < 2)
		return false;
	fingerprinter = simdup_make_fingerprinter(function);
	if (fingerprinter == NULL)
		return false;
	a->fingerprint = function;
	a->fp = pstrdup(trigger->tgargs[0]);
	a->content = pstrdup(trigger->tgargs[1]);
	for (int i = 2; i < trigger->tgnargs; i++)
	{
		char *argument = pstrdup(trigger->tgargs[i]);

		if (simdup_set_source_option(fingerprinter, argument))
			a->options = lappend(a->options, argument);
		else
			a->fields = lappend(a->fields, argument);
	}
	return true;
}

/* What follows the distance in a trigger of groups. */
static void
read_group_options(Attachment *a, Trigger *trigger, int n)
{
	a->tables = pstrdup(RelationGetRelationName(a->table));
	for (; n < trigger->tgnargs; n++)
	{
		char *name;
		const char *value = simdup_option_value(trigger->tgargs[n], &name);

		if (value != NULL && strcmp(name, "tables") == 0)
			a->tables = pstrdup(value);
		if (value != NULL && strcmp(name, "method") == 0)
			a->connected = strcmp(value, "connected") == 0;
	}
}

/* Action, key, distance, and flag or log, from the other trigger. */
static bool
read_action_trigger(Attachment *a)
{
	Trigger *trigger;
	char *function = find_trigger(a, ACTION_TRIGGER, &trigger);
	int n = 1; /* the argument that comes next */
	int n_args;

	if (function == NULL || strncmp(function, "simdup_", 7) != 0 ||
		!cut_suffix(function, "_trigger"))
		return false;
	a->action = simdup_attach_parse_action(function + 7);
	n_args = a->action == ATTACH_REJECT ? 3 : 4;
	if (trigger->tgnargs < n_args)
		return false;
	if (a->action == ATTACH_GROUP)
		a->group = pstrdup(trigger->tgargs[n++]);
	if (a->action == ATTACH_FLAG)
		a->flag = pstrdup(trigger->tgargs[n++]);
	a->key = pstrdup(trigger->tgargs[n++]);
	a->max_distance = pg_strtoint32(trigger->tgargs[n++]);
	if (a->action == ATTACH_LOG)
	{
		a->log_table = pstrdup(trigger->tgargs[n++]);
		a->log_exists = true;
	}
	if (a->action == ATTACH_GROUP)
		read_group_options(a, trigger, n);
	for (; n < trigger->tgnargs; n++)
		if (!simdup_conditions_set(&a->conditions, trigger->tgargs[n]))
			a->lock |= strcmp(trigger->tgargs[n], "lock") == 0;
	return true;
}

bool
simdup_attach_read(Attachment *a)
{
	return read_update_trigger(a) && read_action_trigger(a);
}

List *
simdup_attach_triggers(Attachment *a)
{
	static const char *const names[] = {TRUNCATE_TRIGGER, MEMBER_TRIGGER,
										ACTION_TRIGGER, UPDATE_TRIGGER};
	List *found = NIL;
	Trigger *trigger;

	for (size_t i = 0; i < lengthof(names); i++)
		if (find_trigger(a, names[i], &trigger) != NULL)
			found = lappend(found, pstrdup(names[i]));
	return found;
}

/* The columns that the triggers of 0.2.0 write: attach made them. */
static List *
columns_of_triggers(Attachment *a)
{
	Attachment there = {.table = a->table, .extension = a->extension};
	Oid type = simdup_type_in_schema(a->extension, "simhash64");
	AttrNumber fp;

	if (!read_update_trigger(&there))
		return NIL;
	fp = get_attnum(RelationGetRelid(a->table), FP_COLUMN);
	if (strcmp(there.fp, FP_COLUMN) != 0 || fp <= 0 ||
		get_atttype(RelationGetRelid(a->table), fp) != type)
		return NIL;
	if (read_action_trigger(&there) && there.action == ATTACH_FLAG &&
		strcmp(there.flag, FLAG_COLUMN) == 0 &&
		get_attnum(RelationGetRelid(a->table), FLAG_COLUMN) > 0)
		return list_make2(FLAG_COLUMN, FP_COLUMN);
	return list_make1(FP_COLUMN);
}

static char *
comment_of(Attachment *a, AttrNumber attnum)
{
	return GetComment(RelationGetRelid(a->table), RelationRelationId, attnum);
}

static bool
is_mark(const char *comment)
{
	return comment != NULL && strncmp(comment, SIMDUP_ATTACH_MARK,
									  strlen(SIMDUP_ATTACH_MARK)) == 0;
}

static List *
columns_with_mark(Attachment *a)
{
	TupleDesc tupdesc = RelationGetDescr(a->table);
	List *columns = NIL;

	/* the last column first, so that the flag goes before the fingerprint */
	for (int i = tupdesc->natts; i > 0; i--)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i - 1);

		if (!att->attisdropped && is_mark(comment_of(a, i)))
			columns = lappend(columns, pstrdup(NameStr(att->attname)));
	}
	return columns;
}

List *
simdup_attach_marked_columns(Attachment *a)
{
	return simdup_attach_triggers(a) != NIL ? columns_with_mark(a) : NIL;
}

List *
simdup_attach_copied_columns(Attachment *a)
{
	return simdup_attach_triggers(a) == NIL ? columns_with_mark(a) : NIL;
}

/*
 * An attachment of 0.2.0 that simdup_alter gave a flag has a mark on the flag
 * alone. So the triggers tell of the rest unless a fingerprint has a mark. A
 * column with a comment of the user's own is left alone then.
 */
List *
simdup_attach_columns(Attachment *a)
{
	Oid table = RelationGetRelid(a->table);
	Oid type = simdup_type_in_schema(a->extension, "simhash64");
	List *columns = simdup_attach_marked_columns(a);
	bool marked = columns != NIL;
	ListCell *cell;

	foreach (cell, columns)
		if (get_atttype(table, get_attnum(table, lfirst(cell))) == type)
			return columns;
	foreach (cell, columns_of_triggers(a))
		if (!marked || comment_of(a, get_attnum(table, lfirst(cell))) == NULL)
			columns = lappend(columns, lfirst(cell));
	return columns;
}
