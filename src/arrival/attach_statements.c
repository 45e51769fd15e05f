/*
 * attach_statements.c
 *	  The SQL that attaches a table, and that alters an attachment.
 *
 * The statements leave no gap. New rows get a fingerprint before old rows do.
 * The action begins once all rows have one. Every name is qualified, so that no
 * setting of the session can change what a statement means.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "arrival/sources.h"
#include "core/allpairs.h"
#include "server/catalog.h"
#include "text/textform.h"

#define DO_QUOTE "$simdup$"

/* Pages of a live table that one transaction fills. */
#define BATCH_PAGES 1000

static Form_pg_attribute
column_of(Attachment *a, const char *name)
{
	AttrNumber attnum = get_attnum(RelationGetRelid(a->table), name);

	return TupleDescAttr(RelationGetDescr(a->table), attnum - 1);
}

/* A column's text form, the same that the update trigger uses. */
static char *
text_of_column(Attachment *a, const char *name)
{
	Form_pg_attribute att = column_of(a, name);
	char *expression =
		simdup_text_expression(att->atttypid, quote_identifier(name), a->schema,
							   false);

	if (expression == NULL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("simdup_attach does not support column \"%s\" of type %s",
					   name, format_type_be(att->atttypid)),
				errdetail(
					"No expression gives its text form under all settings, for the rows that are there."),
				errhint("Leave it out, or create the triggers by hand."));
	/* varchar, and domains */
	if (strcmp(expression, quote_identifier(name)) == 0 &&
		att->atttypid != TEXTOID)
		return psprintf("%s::pg_catalog.text", expression);
	return expression;
}

/* A parameter of a fingerprint's functions, after content and fields. */
typedef struct Parameter
{
	const char *fingerprint;
	const char *name;
	const char *type;
	const char *value; /* the default, or NULL */
	bool of_rows;	   /* only of the function with fields */
} Parameter;

static const Parameter parameters[] = {
	{"minhash64", "field_share", "float8", "0.25", true},
	{"minhash64", "w", "int4", "4", false},
	{"minhash64", "unit", "text", "char", false},
	{"minhash64", "min_features", "int4", "0", false},
	{"simhash", "field_weight", "int4", "2", true},
	{"simhash", "n_features", "int4", NULL, false},
	{"simhash", "tokenizer", "text", "word", false},
	{"simhash", "weighting", "text", "log", false},
	{"simhash", "hash", "text", "city64", false},
	{"simhash", "ties", "bool", "false", false},
};

/*
 * All parameters, with their exact types: then no overload in the extension's
 * schema fits the call better.
 */
static void
append_parameters(Attachment *a, StringInfo buf)
{
	for (size_t i = 0; i < lengthof(parameters); i++)
	{
		const Parameter *p = &parameters[i];
		const char *value = simdup_attach_option(a, p->name);

		if (strcmp(p->fingerprint, a->fingerprint) != 0 ||
			(p->of_rows && a->fields == NIL))
			continue;
		if (value == NULL)
			value = p->value;
		if (value != NULL && strcmp(p->type, "int4") == 0)
			appendStringInfo(buf, ", %d", pg_strtoint32(value));
		else
			appendStringInfo(buf, ", %s::pg_catalog.%s",
							 value == NULL ? "NULL" : quote_literal_cstr(value),
							 p->type);
	}
}

/* What the update trigger computes, as an expression of the row. */
static char *
fingerprint_expression(Attachment *a)
{
	StringInfoData buf;
	ListCell *cell;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s.%s%s(%s", a->schema, a->fingerprint,
					 a->fields != NIL ? "_row" : "",
					 text_of_column(a, a->content));
	foreach (cell, a->fields)
		appendStringInfo(&buf, "%s%s",
						 foreach_current_index(cell) == 0 ? ", ARRAY[" : ", ",
						 text_of_column(a, lfirst(cell)));
	if (a->fields != NIL)
		appendStringInfoChar(&buf, ']');
	append_parameters(a, &buf);
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* Arguments of a trigger, after others. */
static void
append_arguments(StringInfo buf, const List *arguments)
{
	ListCell *cell;

	foreach (cell, arguments)
		appendStringInfo(buf, ", %s", quote_literal_cstr(lfirst(cell)));
}

static char *
update_trigger(Attachment *a, const char *create)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "%s TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW"
					 " EXECUTE FUNCTION %s.%s_update_trigger(%s, %s",
					 create, UPDATE_TRIGGER, a->table_name, a->schema,
					 a->fingerprint, quote_literal_cstr(a->fp),
					 quote_literal_cstr(a->content));
	append_arguments(&buf, a->fields);
	append_arguments(&buf, a->options);
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* The arguments of the action's triggers, after the fingerprint. */
static char *
action_arguments(Attachment *a)
{
	StringInfoData buf;

	if (a->action == ATTACH_GROUP)
		return simdup_attach_group_arguments(a);
	initStringInfo(&buf);
	if (a->action == ATTACH_FLAG)
		appendStringInfo(&buf, ", %s", quote_literal_cstr(a->flag));
	appendStringInfo(&buf, ", %s, '%d'", quote_literal_cstr(a->key),
					 a->max_distance);
	if (a->action == ATTACH_LOG)
		appendStringInfo(&buf, ", %s", quote_literal_cstr(a->log_table));
	if (a->lock)
		appendStringInfoString(&buf, ", 'lock'");
	append_arguments(&buf, simdup_conditions_arguments(&a->conditions));
	return buf.data;
}

static char *
action_trigger(Attachment *a, const char *create)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "%s TRIGGER %s %s INSERT OR UPDATE ON %s FOR EACH ROW"
					 " EXECUTE FUNCTION %s.simdup_%s_trigger(%s",
					 create, ACTION_TRIGGER,
					 a->action == ATTACH_LOG ? "AFTER" : "BEFORE",
					 a->table_name, a->schema,
					 simdup_attach_action_name(a->action),
					 quote_literal_cstr(a->fp));
	appendStringInfoString(&buf, action_arguments(a));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* All triggers of the action. */
static List *
add_action_triggers(Attachment *a, List *list, const char *create)
{
	char *arguments =
		psprintf("%s%s", quote_literal_cstr(a->fp), action_arguments(a));

	list = lappend(list, action_trigger(a, create));
	if (a->action == ATTACH_GROUP)
		list = simdup_attach_group_triggers(a, list, create, arguments);
	return list;
}

static List *
drop_trigger(Attachment *a, List *list, const char *name)
{
	return lappend(list,
				   psprintf("DROP TRIGGER %s ON %s", name, a->table_name));
}

/* Those that only groups have. */
static List *
drop_group_triggers(Attachment *a, List *list)
{
	list = drop_trigger(a, list, MEMBER_TRIGGER);
	return drop_trigger(a, list, TRUNCATE_TRIGGER);
}

static List *
drop_action_triggers(Attachment *a, List *list)
{
	list = drop_trigger(a, list, ACTION_TRIGGER);
	return a->action == ATTACH_GROUP ? drop_group_triggers(a, list) : list;
}

/* Add a column, and the comment by which detach knows it. */
static List *
add_column(Attachment *a, List *statements, const char *name, const char *type,
		   const char *what)
{
	const char *column = quote_identifier(name);

	statements = lappend(statements, psprintf("ALTER TABLE %s ADD COLUMN %s %s",
											  a->table_name, column, type));
	return lappend(statements,
				   psprintf("COMMENT ON COLUMN %s.%s IS %s", a->table_name,
							column,
							quote_literal_cstr(
								psprintf("%s%s", SIMDUP_ATTACH_MARK, what))));
}

/* The column of group ids, and the tables beside the table. */
static List *
add_groups(Attachment *a, List *statements)
{
	if (get_attnum(RelationGetRelid(a->table), a->group) <= 0)
		statements = add_column(a, statements, a->group, "pg_catalog.int8",
								"id of the row's group");
	return simdup_attach_add_groups(a, statements);
}

static List *
add_flag_column(Attachment *a, List *statements)
{
	return add_column(a, statements, a->flag, simdup_attach_key_type(a),
					  "key of the nearest other row, within max_distance");
}

static char *
create_log(Attachment *a)
{
	char *type = simdup_attach_key_type(a);

	return psprintf("CREATE TABLE %s (new_key %s, old_key %s,"
					" distance integer, logged_at pg_catalog.timestamptz)",
					a->log_table, type, type);
}

/* A name in the body may hold the end of the dollar-quoted string. */
static char *
do_statement(char *body)
{
	return strstr(body, DO_QUOTE) != NULL
			   ? psprintf("DO %s", quote_literal_cstr(body))
			   : psprintf("DO %s\n%s%s", DO_QUOTE, body, DO_QUOTE);
}

/* A variable's name that no column has: the column would hide the variable. */
static char *
free_name(Attachment *a, char *name)
{
	while (get_attnum(RelationGetRelid(a->table), name) != InvalidAttrNumber)
		name = psprintf("%s_", name);
	return name;
}

/*
 * Fill a live table in batches, so that no transaction locks many rows. A column
 * may have the name of PL/pgSQL's own variable FOUND: names mean columns.
 */
static char *
fill_in_batches(Attachment *a, const char *expression)
{
	char *page = free_name(a, "simdup_page");
	const char *fp = quote_identifier(a->fp);
	char *size =
		a->table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
			? psprintf("(SELECT pg_catalog.max(pg_catalog.pg_relation_size(relid))"
					   " FROM pg_catalog.pg_partition_tree(%s) WHERE isleaf)",
					   quote_literal_cstr(a->table_name))
			: psprintf("pg_catalog.pg_relation_size(%s)",
					   quote_literal_cstr(a->table_name));

	return do_statement(
		psprintf("#variable_conflict use_column\n"
				 "BEGIN\n"
				 "  FOR %s IN 0 .. %s OPERATOR(pg_catalog./) %d BY %d LOOP\n"
				 "    UPDATE %s SET %s = %s\n"
				 "      WHERE ctid OPERATOR(pg_catalog.>=) pg_catalog.format('(%%s,0)', %s)::pg_catalog.tid\n"
				 "        AND ctid OPERATOR(pg_catalog.<) pg_catalog.format('(%%s,0)', %s OPERATOR(pg_catalog.+) %d)::pg_catalog.tid\n"
				 "        AND (%s OPERATOR(%s.=) %s) IS NOT TRUE;\n"
				 "    COMMIT;\n"
				 "  END LOOP;\n"
				 "END\n",
				 page, size, BLCKSZ, BATCH_PAGES, a->table_name, fp, expression,
				 page, page, BATCH_PAGES, fp, a->schema, expression));
}

static char *
fill(Attachment *a)
{
	char *expression = fingerprint_expression(a);

	if (a->live)
		return fill_in_batches(a, expression);
	return psprintf("UPDATE %s SET %s = %s", a->table_name,
					quote_identifier(a->fp), expression);
}

static char *
count_wrong(Attachment *a)
{
	char *expression = fingerprint_expression(a);
	const char *fp = quote_identifier(a->fp);

	return psprintf("SELECT pg_catalog.count(*) AS rows_without_their_fingerprint FROM %s"
					" WHERE (%s OPERATOR(%s.=) %s) IS NOT TRUE"
					" AND pg_catalog.num_nonnulls(%s, %s) > 0",
					a->table_name, fp, a->schema, expression, fp, expression);
}

/* The access method hamming, unless the installed version has none. */
static bool
have_hamming(Attachment *a)
{
	Oid am = get_am_oid("hamming", true);

	return OidIsValid(am) &&
		   SearchSysCacheExists3(CLAAMNAMENSP, ObjectIdGetDatum(am),
								 CStringGetDatum("simhash64_ops"),
								 ObjectIdGetDatum(a->extension));
}

static char *
create_index(Attachment *a)
{
	bool partitioned = a->table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool hamming = have_hamming(a);

	return psprintf("CREATE INDEX %sON %s USING %s (%s %s.simhash64_ops)%s",
					a->live && !partitioned ? "CONCURRENTLY " : "",
					a->table_name, hamming ? "hamming" : "gin",
					quote_identifier(a->fp), a->schema,
					hamming ? "" : " WITH (fastupdate = off)");
}

/*
 * A query for all pairs within max_distance, with the columns new_key, old_key
 * and distance. The larger key is the new one. The argument `query` yields keys
 * and fingerprints.
 */
static char *
pairs_of(Attachment *a, const char *query)
{
	Oid base = getBaseType(column_of(a, a->key)->atttypid);
	bool is_integer = base == INT2OID || base == INT4OID || base == INT8OID;
	char *type = simdup_type_name(base);
	char *collation = simdup_attach_key_collation(a);

	return psprintf("SELECT GREATEST(a%s, b%s)::%s AS new_key, LEAST(a%s, b%s)::%s AS old_key, distance"
					" FROM %s.simdup_pairs(%s::pg_catalog.text, %d%s, '{}'::pg_catalog.text[])",
					collation, collation, type, collation, collation, type,
					a->schema, quote_literal_cstr(query), a->max_distance,
					is_integer ? "" : psprintf(", NULL::%s", type));
}

/*
 * The columns by which rows are alike for every search, after a comma each: the
 * conditions' columns. Texts are alike by their bytes.
 */
static char *
alike_columns(Attachment *a, const char *alias)
{
	SimdupConditions *c = &a->conditions;
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < c->n_columns; i++)
	{
		char *column = simdup_conditions_column(c, i, alias, 0);

		appendStringInfo(&buf,
						 i == 0 && c->content != NULL
							 ? ", %s::pg_catalog.text COLLATE pg_catalog.\"C\""
							 : ", %s",
						 column);
	}
	return buf.data;
}

/* Keys and fingerprints, if `first` only of the first of rows that are alike. */
static char *
rows_query(Attachment *a, bool first)
{
	const char *fp = quote_identifier(a->fp);
	const char *key = quote_identifier(a->key);
	char *alike = psprintf("t.%s%s", fp, alike_columns(a, "t"));
	Oid base = getBaseType(column_of(a, a->key)->atttypid);

	return psprintf("SELECT %st.%s::%s, t.%s FROM %s t WHERE t.%s IS NOT NULL%s",
					first ? psprintf("DISTINCT ON (%s) ", alike) : "", key,
					simdup_type_name(base), fp, a->table_name, fp,
					first ? psprintf(" ORDER BY %s, t.%s", alike, key) : "");
}

/* The pairs of rows_query that fulfil the conditions. */
static char *
near_pairs(Attachment *a, bool first)
{
	const SimdupConditions *c = &a->conditions;
	const char *key = quote_identifier(a->key);
	char *pairs = pairs_of(a, rows_query(a, first));
	Oid type = column_of(a, a->key)->atttypid;
	char *equal;

	if (c->n_columns == 0)
		return pairs;
	equal =
		simdup_arrival_operator_name(type,
									 lookup_type_cache(type, TYPECACHE_EQ_OPR)
										 ->eq_opr);
	return psprintf("SELECT p.new_key, p.old_key, p.distance FROM (%s) p"
					" JOIN %s n ON n.%s %s p.new_key"
					" JOIN %s o ON o.%s %s p.old_key WHERE true%s",
					pairs, a->table_name, key, equal, a->table_name, key, equal,
					simdup_conditions_text(c, a->schema, "o", "n", 0));
}

/*
 * The nearest older row of each row that has one, as if the rows had arrived in
 * the order of their keys. The smallest key wins ties.
 *
 * Only the first of rows that are alike is joined with others. The rows after
 * it are at distance 0 from it. So they have its own nearest row if that is at
 * distance 0 as well, and else the first row.
 */
static char *
nearest_older(Attachment *a)
{
	const SimdupConditions *c = &a->conditions;
	const char *fp = quote_identifier(a->fp);
	const char *key = quote_identifier(a->key);
	Oid base = getBaseType(column_of(a, a->key)->atttypid);
	char *type = simdup_type_name(base);
	char *verified = "NULL";

	if (c->min_resemblance > 0)
		verified = simdup_conditions_column(c, 0, "t", 0);
	return psprintf("WITH simdup_near AS (SELECT DISTINCT ON (new_key) new_key, old_key, distance"
					" FROM (%s) simdup_pair ORDER BY new_key, distance, old_key)"
					" SELECT new_key, old_key FROM simdup_near UNION ALL"
					" SELECT simdup_row.key, COALESCE(simdup_near.old_key, simdup_row.first)"
					" FROM (SELECT t.%s::%s AS key, pg_catalog.first_value(t.%s::%s) OVER simdup_alike AS first,"
					" pg_catalog.row_number() OVER simdup_alike AS n, %s AS verified FROM %s t WHERE t.%s IS NOT NULL"
					" WINDOW simdup_alike AS (PARTITION BY t.%s%s ORDER BY t.%s)) simdup_row"
					" LEFT JOIN simdup_near ON simdup_near.new_key %s simdup_row.first"
					" AND simdup_near.distance OPERATOR(pg_catalog.=) 0"
					" WHERE simdup_row.n OPERATOR(pg_catalog.>) 1%s",
					near_pairs(a, true), key, type, key, type, verified,
					a->table_name, fp, fp, alike_columns(a, "t"), key,
					simdup_arrival_operator_name(base,
												 lookup_type_cache(base,
																   TYPECACHE_EQ_OPR)
													 ->eq_opr),
					simdup_conditions_resemblance(c, a->schema,
												  "simdup_row.verified",
												  "simdup_row.verified"));
}

/* Set the flags of the rows that are there already. */
static char *
fill_flags(Attachment *a)
{
	const char *flag = quote_identifier(a->flag);
	const char *key = quote_identifier(a->key);
	Oid type = column_of(a, a->key)->atttypid;
	char *equal =
		simdup_arrival_operator_name(type,
									 lookup_type_cache(type, TYPECACHE_EQ_OPR)
										 ->eq_opr);
	char *live = "";

	/* a row that arrived meanwhile may have this one in its own flag */
	if (a->live)
		live =
			psprintf(" AND simdup_row.%s IS NULL AND NOT EXISTS (SELECT FROM %s simdup_old"
					 " WHERE simdup_old.%s %s simdup_near.old_key AND simdup_old.%s %s simdup_row.%s)",
					 flag, a->table_name, key, equal, flag, equal, key);
	return psprintf("UPDATE %s simdup_row SET %s = simdup_near.old_key FROM (%s) simdup_near"
					" WHERE simdup_row.%s %s simdup_near.new_key%s",
					a->table_name, flag, nearest_older(a), key, equal, live);
}

static List *
add_backfill(Attachment *a, List *statements, bool column_is_new)
{
	if (a->action == ATTACH_GROUP)
	{
		/* rows that arrive in a live table are searched for by an index */
		if (a->live)
			statements = simdup_attach_index_groups(a, statements);
		if (a->backfill)
			statements = simdup_attach_fill_groups(a, statements);
		return a->live ? statements : simdup_attach_index_groups(a, statements);
	}
	if (!a->backfill)
		return statements;
	if (a->action == ATTACH_LOG)
		return lappend(statements,
					   psprintf("INSERT INTO %s (new_key, old_key, distance, logged_at)"
								" SELECT new_key, old_key, distance, pg_catalog.now() FROM (%s) simdup_pair",
								a->log_table, near_pairs(a, false)));
	if (!column_is_new)
		statements =
			lappend(statements,
					psprintf("UPDATE %s SET %s = NULL WHERE %s IS NOT NULL",
							 a->table_name, quote_identifier(a->flag),
							 quote_identifier(a->flag)));
	return lappend(statements, fill_flags(a));
}

/*
 * The foreign key from the flag to the key, and an index by which a DELETE
 * finds the flags to set to NULL.
 */
static List *
add_foreign_key(Attachment *a, List *statements)
{
	const char *flag = quote_identifier(a->flag);
	bool by_steps = a->live && a->table->rd_rel->relkind == RELKIND_RELATION;

	statements =
		lappend(statements,
				psprintf("CREATE INDEX %sON %s (%s) WHERE %s IS NOT NULL",
						 by_steps ? "CONCURRENTLY " : "", a->table_name, flag,
						 flag));
	statements =
		lappend(statements,
				psprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s)"
						 " REFERENCES %s (%s) ON DELETE SET NULL%s",
						 a->table_name, FLAG_CONSTRAINT, flag, a->table_name,
						 quote_identifier(a->key),
						 by_steps ? " NOT VALID" : ""));
	if (by_steps)
		statements = lappend(statements,
							 psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s",
									  a->table_name, FLAG_CONSTRAINT));
	return statements;
}

/*
 * Statements that must not be torn apart: a table with columns of attach and
 * none of its triggers cannot be told from a copy.
 */
static List *
in_one_transaction(List *statements)
{
	StringInfoData body;
	ListCell *cell;

	initStringInfo(&body);
	appendStringInfoString(&body, "BEGIN\n");
	foreach (cell, statements)
		appendStringInfo(&body, "  %s;\n", (char *) lfirst(cell));
	appendStringInfoString(&body, "END\n");
	return list_make1(do_statement(body.data));
}

/* Columns of the table that this attachment did not make lose their marks. */
static List *
remove_copied_marks(Attachment *a)
{
	List *statements = NIL;
	ListCell *cell;

	foreach (cell, simdup_attach_copied_columns(a))
		statements =
			lappend(statements,
					psprintf("COMMENT ON COLUMN %s.%s IS NULL", a->table_name,
							 quote_identifier(lfirst(cell))));
	return statements;
}

List *
simdup_attach_statements(Attachment *a)
{
	List *list = add_column(a, remove_copied_marks(a), a->fp,
							psprintf("%s.simhash64", a->schema),
							"fingerprint of the row");

	if (a->action == ATTACH_FLAG)
		list = add_flag_column(a, list);
	if (a->action == ATTACH_LOG && !a->log_exists)
		list = lappend(list, create_log(a));
	if (a->action == ATTACH_GROUP)
		list = add_groups(a, list);
	list = lappend(list, update_trigger(a, "CREATE"));
	if (a->live)
		list = in_one_transaction(list);
	list = lappend(list, fill(a));
	/* in a live table, rows that arrive meanwhile need the action at once */
	if (a->live)
	{
		list = lappend(list, create_index(a));
		list = add_action_triggers(a, list, "CREATE");
	}
	/* the triggers of groups say how rows are grouped */
	else if (a->action == ATTACH_GROUP)
		list = add_action_triggers(a, list, "CREATE");
	list = add_backfill(a, list, true);
	/* else create the index last, so that the updates need not maintain it */
	if (!a->live)
		list = lappend(list, create_index(a));
	if (a->foreign_key)
		list = add_foreign_key(a, list);
	if (a->live)
		return lappend(list, count_wrong(a));
	if (a->action == ATTACH_GROUP)
		return list;
	return add_action_triggers(a, list, "CREATE");
}

/* The triggers of the action, in place of those that were there. */
static List *
replace_action_triggers(Attachment *old, Attachment *a, List *list)
{
	list = add_action_triggers(a, list, "CREATE OR REPLACE");
	if (old->action == ATTACH_GROUP && a->action != ATTACH_GROUP)
		list = drop_group_triggers(a, list);
	return list;
}

List *
simdup_alter_statements(Attachment *old, Attachment *a)
{
	bool refill = strcmp(update_trigger(old, ""), update_trigger(a, "")) != 0;
	bool new_action =
		strcmp(action_trigger(old, ""), action_trigger(a, "")) != 0;
	bool new_flag = a->action == ATTACH_FLAG &&
					get_attnum(RelationGetRelid(a->table), a->flag) <= 0;
	List *list = NIL;

	if (new_flag)
		list = add_flag_column(a, list);
	if (a->action == ATTACH_LOG && !a->log_exists)
		list = lappend(list, create_log(a));
	if (a->action == ATTACH_GROUP)
		list = add_groups(a, list);
	if (refill)
	{
		/* the trigger would act on each row that gets its new fingerprint */
		list = drop_action_triggers(old, list);
		list = lappend(list, update_trigger(a, "CREATE OR REPLACE"));
		list = lappend(list, fill(a));
		list = add_action_triggers(a, list, "CREATE");
	}
	else if (new_action)
		list = replace_action_triggers(old, a, list);
	if (old->action == ATTACH_GROUP && a->action != ATTACH_GROUP)
		list = simdup_attach_leave_groups(old, list);
	list = add_backfill(a, list, new_flag);
	if (a->foreign_key)
		list = add_foreign_key(a, list);
	if (a->live && refill)
		list = lappend(list, count_wrong(a));
	return list;
}
