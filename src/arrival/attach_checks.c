/*
 * attach_checks.c
 *	  Checks the arguments of simdup_attach against the table. Requests that
 *	  would fail at the first INSERT fail here.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rls.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "arrival/sources.h"
#include "server/arguments.h"

static const char *const actions[] = {"flag", "log", "reject", "group"};

const char *
simdup_attach_action_name(AttachAction action)
{
	return actions[action];
}

AttachAction
simdup_attach_parse_action(const char *name)
{
	for (size_t i = 0; i < lengthof(actions); i++)
		if (strcmp(name, actions[i]) == 0)
			return (AttachAction) i;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized action: \"%s\"", name),
			errhint("Actions are flag, log, reject and group."));
}

void
simdup_attach_check_table(Attachment *a)
{
	Oid table = RelationGetRelid(a->table);
	const char *name = RelationGetRelationName(a->table);

	if (simdup_arrival_reaches_foreign(table))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("relation \"%s\" has foreign tables below it", name),
				errdetail(
					"Columns and indexes cannot be added on their servers from here."),
				errhint(
					"Add column, index and trigger by hand, on each server."));
	if (a->table->rd_rel->relispartition)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("cannot add column to a partition"),
				errhint("Attach the partitioned table."));
	if (OidIsValid(a->table->rd_rel->reloftype))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("cannot add column to typed table"));
	if (a->table->rd_rel->relkind == RELKIND_RELATION && has_subclass(table) &&
		find_inheritance_children(table, NoLock) != NIL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("relation \"%s\" has child tables", name),
				errdetail(
					"Its triggers do not fire for rows that are inserted into them."),
				errhint(
					"Create the triggers by hand on the parent and on each child, or use partitions."));
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("row-level security would hide rows of table \"%s\" from simdup_attach",
					   name),
				errhint(
					"To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY."));
}

/* A column of the table; system columns do not count. */
static Form_pg_attribute
find_column(Attachment *a, const char *name)
{
	AttrNumber attnum = get_attnum(RelationGetRelid(a->table), name);

	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   RelationGetRelationName(a->table)));
	return TupleDescAttr(RelationGetDescr(a->table), attnum - 1);
}

static void
check_source(Attachment *a, const char *name, bool is_content)
{
	SimdupFingerprinter *fingerprinter =
		simdup_make_fingerprinter(a->fingerprint);
	Form_pg_attribute att = find_column(a, name);

	simdup_check_source(RelationGetRelationName(a->table), att, is_content);
	if (strcmp(name, a->fp) == 0 ||
		(a->flag != NULL && strcmp(name, a->flag) == 0) ||
		(a->group != NULL && strcmp(name, a->group) == 0))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("column \"%s\" follows from the fingerprint and cannot be a part of it",
					   name));
	if (!is_content && simdup_set_source_option(fingerprinter, name))
		ereport(ERROR, errcode(ERRCODE_INVALID_NAME),
				errmsg("column name \"%s\" means an option of the fingerprint",
					   name),
				errhint("Rename the column."));
}

void
simdup_attach_check_sources(Attachment *a)
{
	ListCell *cell;

	check_source(a, a->content, true);
	foreach (cell, a->fields)
		check_source(a, lfirst(cell), false);
}

const char *
simdup_attach_option(const Attachment *a, const char *name)
{
	const char *found = NULL;
	ListCell *cell;

	/* of several, a trigger takes the last */
	foreach (cell, a->options)
	{
		char *option;
		const char *value = simdup_option_value(lfirst(cell), &option);

		if (strcmp(option, name) == 0)
			found = value;
	}
	return found;
}

/*
 * Verification compares the fingerprint's own shingles, so that the estimate
 * and the decision mean the same. simhash has no shingles; shingle_resemblance
 * has defaults for it.
 */
static void
set_shingles(Attachment *a)
{
	SimdupConditions *c = &a->conditions;
	const char *w = simdup_attach_option(a, "w");
	const char *unit = simdup_attach_option(a, "unit");
	bool shingles = strcmp(a->fingerprint, "minhash64") == 0;

	c->content = a->content;
	c->w = w != NULL ? pg_strtoint32(w) : 4;
	c->unit = unit != NULL ? unit : shingles ? "char" : "word";
}

void
simdup_attach_set_conditions(Attachment *a, const double *min_resemblance,
							 const List *const *within)
{
	SimdupConditions *c = &a->conditions;

	if (within != NULL)
		c->within = list_copy(*within);
	if (min_resemblance != NULL && *min_resemblance == 0)
	{
		List *kept = c->within;

		*c = (SimdupConditions){.within = kept};
	}
	else if (min_resemblance != NULL)
		c->min_resemblance = simdup_check_min_resemblance(*min_resemblance);
	if (c->min_resemblance > 0 && c->bits == NULL)
		set_shingles(a);
	simdup_conditions_find(c, a->table);
}

void
simdup_attach_set_option(Attachment *a, const char *name, const char *value)
{
	SimdupFingerprinter *fingerprinter =
		simdup_make_fingerprinter(a->fingerprint);
	char *option = psprintf("%s => %s", name, value);
	ListCell *cell;

	if (!fingerprinter->set_option(fingerprinter, name, value))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("fingerprint \"%s\" has no option \"%s\"",
					   a->fingerprint, name),
				errhint(
					"Options of minhash64 are w, unit and min_features, options of simhash are tokenizer and weighting."));
	/* a new value takes the place of the old one */
	foreach (cell, a->options)
	{
		char *old_name;

		(void) simdup_option_value(lfirst(cell), &old_name);
		if (strcmp(old_name, name) != 0)
			continue;
		lfirst(cell) = option;
		return;
	}
	a->options = lappend(a->options, option);
}

char *
simdup_attach_primary_key(Attachment *a)
{
	Oid constraint;
	Bitmapset *columns =
		get_primary_key_attnos(RelationGetRelid(a->table), true, &constraint);

	if (bms_membership(columns) != BMS_SINGLETON)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("table \"%s\" has no primary key of one column",
					   RelationGetRelationName(a->table)),
				errhint(
					"Name the column that tells its rows apart: key => 'column'."));
	return get_attname(RelationGetRelid(a->table),
					   bms_singleton_member(columns) +
						   FirstLowInvalidHeapAttributeNumber,
					   false);
}

/* Is the table partitioned by this column? */
static bool
is_partition_column(Relation table, AttrNumber attnum)
{
	PartitionKey key = RelationGetPartitionKey(table);

	for (int i = 0; key != NULL && i < key->partnatts; i++)
		if (key->partattrs[i] == attnum)
			return true;
	return false;
}

/*
 * Reject passes over rows with the row's own key, in all partitions. A member
 * of a group is known by its key alone.
 */
static bool
needs_own_index(Attachment *a)
{
	return a->action == ATTACH_REJECT || a->action == ATTACH_GROUP;
}

/*
 * Does the index make a column unique? A unique index of a partitioned table
 * must hold the columns that it is partitioned by. So a unique index on these
 * columns and the key will do for flag and log. The other actions need an index
 * on no other column. A foreign key needs such an index too, checked at once.
 */
static bool
makes_unique(Attachment *a, Relation index, AttrNumber attnum)
{
	Form_pg_index form = index->rd_index;
	bool found = false;

	if (!form->indisunique || !form->indisvalid ||
		RelationGetIndexPredicate(index) != NIL ||
		RelationGetIndexExpressions(index) != NIL)
		return false;
	if (form->indnkeyatts > 1 && (a->foreign_key || needs_own_index(a)))
		return false;
	if (a->foreign_key && !form->indimmediate)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber column = form->indkey.values[i];

		if (column == attnum)
			found = true;
		else if (!is_partition_column(a->table, column))
			return false;
	}
	return found;
}

static bool
is_unique(Attachment *a, AttrNumber attnum)
{
	bool unique = false;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(a->table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		unique |= makes_unique(a, index, attnum);
		index_close(index, AccessShareLock);
	}
	return unique;
}

/*
 * ERROR where groups cannot be made anew: simdup_regroup passes keys as arrays,
 * and unnests these to one column.
 */
static void
check_key_of_groups(Attachment *a, Oid type)
{
	Oid base = getBaseType(type);

	if (OidIsValid(get_array_type(base)) && !type_is_rowtype(base))
		return;
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"%s\" of relation \"%s\" cannot be a key", a->key,
				   RelationGetRelationName(a->table)),
			errdetail("Groups do not take keys of type %s.",
					  format_type_be(type)),
			errhint(
				"Name a unique column that is neither an array nor a row: key => 'column'."));
}

void
simdup_attach_check_key(Attachment *a)
{
	Form_pg_attribute att = find_column(a, a->key);
	const char *table = RelationGetRelationName(a->table);
	TypeCacheEntry *type =
		lookup_type_cache(att->atttypid, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);

	if (att->attgenerated != '\0' &&
		(a->action != ATTACH_LOG ||
		 att->attgenerated != ATTRIBUTE_GENERATED_STORED))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated", a->key,
					   table),
				errdetail(
					"BEFORE triggers cannot see the values of generated columns."),
				errhint("Name an ordinary column."));
	if (!OidIsValid(type->eq_opr) || !OidIsValid(type->lt_opr))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key",
					   a->key, table),
				errdetail("Its type %s has no default order.",
						  format_type_be(att->atttypid)));
	if (a->action == ATTACH_GROUP)
		check_key_of_groups(a, att->atttypid);
	/* a flag is NULL in most rows: ERROR if a domain does not allow that */
	if (a->action == ATTACH_FLAG && getBaseType(att->atttypid) != att->atttypid)
		domain_check((Datum) 0, true, att->atttypid, NULL, NULL);
	if (a->foreign_key && !is_unique(a, att->attnum))
		ereport(ERROR, errcode(ERRCODE_INVALID_FOREIGN_KEY),
				errmsg("there is no unique constraint matching given keys for referenced table \"%s\"",
					   table),
				errdetail("A foreign key to column \"%s\" needs a unique index on that column alone, which is not deferrable.",
						  a->key));
	if (!att->attnotnull || !is_unique(a, att->attnum))
		ereport(ERROR, errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				errmsg("column \"%s\" of relation \"%s\" is not unique and not null",
					   a->key, table),
				a->action == ATTACH_REJECT
					? errdetail(
						  "Reject does not compare rows of one key, so it needs a unique index on that column alone.")
				: a->action == ATTACH_GROUP
					? errdetail(
						  "Groups know a row by its key, so they need a unique index on that column alone.")
					: errdetail("Flags and logs name rows by the key."),
				errhint(
					"Name the column of a primary key, or a column with a unique index and NOT NULL."));
}

/* ERROR if a column of the log needs a value that no trigger gives. */
static void
check_other_log_columns(Oid table)
{
	Relation log = table_open(table, AccessShareLock);
	TupleDesc tupdesc = RelationGetDescr(log);

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);
		const char *name = NameStr(att->attname);

		if (!att->attnotnull || att->attisdropped || att->atthasdef ||
			att->attidentity != '\0' || strcmp(name, "new_key") == 0 ||
			strcmp(name, "old_key") == 0 || strcmp(name, "distance") == 0 ||
			strcmp(name, "logged_at") == 0)
			continue;
		ereport(ERROR, errcode(ERRCODE_NOT_NULL_VIOLATION),
				errmsg("column \"%s\" of log table \"%s\" is NOT NULL and has no default",
					   name, RelationGetRelationName(log)),
				errhint(
					"The trigger writes new_key, old_key, distance and logged_at."));
	}
	table_close(log, NoLock);
}

/*
 * A log that the caller does not name is in the schema of the table. Everybody
 * who inserts into the table writes to the log and fires its triggers. So if a
 * table of the default name exists, its owner must be trusted.
 */
void
simdup_attach_find_log(Attachment *a, const text *given)
{
	RangeVar *name;
	Oid log;
	Oid owner;

	if (given != NULL)
		name = makeRangeVarFromNameList(
			textToQualifiedNameList(unconstify(text *, given)));
	else
		name = makeRangeVar(NULL,
							makeObjectName(RelationGetRelationName(a->table),
										   NULL, "simdup_log"),
							-1);
	if (name->schemaname == NULL)
		name->schemaname = simdup_arrival_schema_of(RelationGetRelid(a->table));
	(void) LookupExplicitNamespace(name->schemaname, false);
	a->log_table = quote_qualified_identifier(name->schemaname, name->relname);
	log = simdup_arrival_find_log(name, AccessShareLock,
								  ACL_INSERT | ACL_SELECT, true);
	a->log_exists = OidIsValid(log);
	if (!a->log_exists)
		return;
	if (log == RelationGetRelid(a->table))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("table %s cannot be its own log", a->log_table));
	owner = simdup_arrival_owner(log);
	if (given == NULL &&
		owner != simdup_arrival_owner(RelationGetRelid(a->table)) &&
		owner != GetUserId())
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("relation %s exists and belongs to another role",
					   a->log_table),
				errdetail("Whoever writes to table \"%s\" would write to it and fire its triggers.",
						  RelationGetRelationName(a->table)),
				errhint(
					"If this is the log you want, name it: log_table => '...'."));
	simdup_arrival_check_log(log, find_column(a, a->key)->atttypid);
	check_other_log_columns(log);
}
