/*
 * text.c
 *	  SQL text of the searches. Every name in it is qualified, so no setting of
 *	  the session changes its meaning.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"

/* The names that a search is made of, quoted, and its conditions. */
typedef struct SearchNames
{
	const SimdupConditions *conditions;
	const char *extension;
	char *table;
	const char *fp;
	const char *key;
	char *equal; /* operators of the key's type */
	char *less;
	char *within;
} SearchNames;

/* Columns that tell log which of two rows of a transaction is the later. */
#define LATER_COLUMNS ", t.xmin, t.cmin, $2 %s t.%s"

/*
 * The rows within k of $1 and in its scope, nearest first. `verified` is a
 * column more, or an empty string.
 */
static char *
candidates_text(const SearchNames *n, ArrivalPlan kind, const char *verified)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "SELECT t.%s, t.%s::%s.simhash64 OPERATOR(%s.<~>) $1, t.tableoid, t.ctid",
					 n->key, n->fp, n->extension, n->extension);
	if (kind == ARRIVAL_ALL)
		appendStringInfo(&buf, LATER_COLUMNS, n->less, n->key);
	appendStringInfo(&buf,
					 "%s FROM %s t WHERE %s%s AND (t.%s %s $2) IS NOT TRUE"
					 " AND (t.ctid OPERATOR(pg_catalog.=) $3"
					 " AND t.tableoid OPERATOR(pg_catalog.=) $4) IS NOT TRUE"
					 " ORDER BY 2, 1",
					 verified, n->table, n->within,
					 simdup_conditions_scope(n->conditions, "t", NULL,
											 ARRIVAL_FIRST_CONDITION),
					 n->key, n->equal);
	return buf.data;
}

/*
 * The nearest row, or all of them. Texts are compared after the sort, behind a
 * fence (OFFSET 0). So a search for one row stops at the first that passes.
 */
static char *
row_search_text(const SearchNames *n, ArrivalPlan kind)
{
	const SimdupConditions *c = n->conditions;
	char *verified;

	if (c->min_resemblance == 0)
		return candidates_text(n, kind, "");
	verified = psprintf(", %s", simdup_conditions_column(c, 0, "t", 0));
	return psprintf("SELECT key, distance, t, c%s FROM (%s OFFSET 0) s(key, distance, t, c%s, verified)"
					" WHERE true%s ORDER BY 2, 1",
					kind == ARRIVAL_ALL ? ", x, y, later" : "",
					candidates_text(n, kind, verified),
					kind == ARRIVAL_ALL ? ", x, y, later" : "",
					simdup_conditions_resemblance(
						c, n->extension, "s.verified",
						simdup_conditions_column(c, 0, NULL,
												 ARRIVAL_FIRST_CONDITION)));
}

/* The columns that a search needs of the new rows, each once. */
static char *
new_columns(const SearchNames *n)
{
	StringInfoData buf;
	List *names = list_make1(makeString(pstrdup(n->key)));
	ListCell *cell;

	initStringInfo(&buf);
	names = list_append_unique(names, makeString(pstrdup(n->fp)));
	for (int i = 0; i < n->conditions->n_columns; i++)
		names =
			list_append_unique(names, makeString(pstrdup(quote_identifier(
										  n->conditions->columns[i].name))));
	foreach (cell, names)
		appendStringInfo(&buf, "%sn.%s",
						 foreach_current_index(cell) == 0 ? "" : ", ",
						 strVal(lfirst(cell)));
	return buf.data;
}

/*
 * All pairs of a statement's new rows with older rows and with each other,
 * each pair once. Rows have not arrived if an UPDATE left them at their key,
 * their fingerprint and their conditions.
 */
static char *
statement_search_text(TriggerData *trigdata, const SearchNames *n)
{
	Trigger *trigger = trigdata->tg_trigger;
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "WITH simdup_new AS MATERIALIZED (SELECT %s FROM %s n"
					 " WHERE n.%s IS NOT NULL",
					 new_columns(n), quote_identifier(trigger->tgnewtable),
					 n->key);
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		appendStringInfo(&buf,
						 " AND NOT EXISTS (SELECT 1 FROM %s o WHERE o.%s %s n.%s"
						 " AND o.%s::%s.simhash64 OPERATOR(%s.=) n.%s::%s.simhash64%s)",
						 quote_identifier(trigger->tgoldtable), n->key,
						 n->equal, n->key, n->fp, n->extension, n->extension,
						 n->fp, n->extension,
						 simdup_conditions_unchanged(n->conditions, "o", "n"));
	/* each OFFSET is a fence: the planner joins only after the searches */
	appendStringInfo(&buf,
					 ") SELECT p.old_key, p.distance, p.tableoid, p.ctid, p.new_key"
					 " FROM (SELECT t.*, n.%s AS new_key FROM simdup_new n CROSS JOIN LATERAL"
					 " (SELECT t.%s AS old_key,"
					 " t.%s::%s.simhash64 OPERATOR(%s.<~>) n.%s::%s.simhash64 AS distance,"
					 " t.tableoid, t.ctid FROM %s t"
					 " WHERE %s%s AND (t.%s %s n.%s) IS NOT TRUE OFFSET 0) t OFFSET 0) p"
					 " LEFT JOIN simdup_new m ON m.%s %s p.old_key"
					 " WHERE m.%s IS NULL OR p.old_key %s p.new_key",
					 n->key, n->key, n->fp, n->extension, n->extension, n->fp,
					 n->extension, n->table, n->within,
					 simdup_conditions_text(n->conditions, n->extension, "t",
											"n", 0),
					 n->key, n->equal, n->key, n->key, n->equal, n->key,
					 n->less);
	return buf.data;
}

/* The text of a search. *indexed: is its plan made to use an index? */
char *
simdup_arrival_text(TriggerData *trigdata, ArrivalTrigger *at, ArrivalPlan kind,
					bool *indexed)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	TypeCacheEntry *type =
		lookup_type_cache(at->key_type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	char *fp = SPI_fname(tupdesc, at->fp);
	ArrivalCondition condition;
	SearchNames names;

	condition =
		simdup_arrival_condition(at, fp,
								 kind == ARRIVAL_STATEMENT
									 ? psprintf("n.%s", quote_identifier(fp))
									 : "$1");
	names.conditions = &at->conditions;
	names.extension = simdup_arrival_extension_name(at);
	names.table = simdup_arrival_table_name(at->table);
	names.fp = quote_identifier(fp);
	names.key = quote_identifier(SPI_fname(tupdesc, at->key));
	names.equal = simdup_arrival_operator_name(at->key_type, type->eq_opr);
	names.less = simdup_arrival_operator_name(at->key_type, type->lt_opr);
	names.within = condition.text;
	*indexed = condition.indexed;
	return kind == ARRIVAL_STATEMENT ? statement_search_text(trigdata, &names)
									 : row_search_text(&names, kind);
}
