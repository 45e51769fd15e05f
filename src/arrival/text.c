/*
 * text.c
 *	  SQL text of the searches. Every name in it is qualified, so no setting of
 *	  the session changes its meaning.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "arrival/arrival.h"

/* The names that a search is made of, quoted, and its condition. */
typedef struct SearchNames
{
	const char *extension;
	char *table;
	const char *fp;
	const char *key;
	char *equal; /* operators of the key's type */
	char *less;
	char *within;
} SearchNames;

/* The nearest row, or all of them, within k of $1. */
static char *
row_search_text(const SearchNames *n, ArrivalPlan kind)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "SELECT t.%s, t.%s OPERATOR(%s.<~>) $1, t.tableoid, t.ctid FROM %s t"
					 " WHERE %s AND (t.%s %s $2) IS NOT TRUE"
					 " AND (t.ctid OPERATOR(pg_catalog.=) $3"
					 " AND t.tableoid OPERATOR(pg_catalog.=) $4) IS NOT TRUE",
					 n->key, n->fp, n->extension, n->table, n->within, n->key,
					 n->equal);

	/*
	 * Two rows of one transaction can find each other when they fire AFTER.
	 * The row of the later command repeats the other, and of two rows of one
	 * command, the row with the larger key. A cid has no order but as text.
	 */
	if (kind == ARRIVAL_ALL)
		appendStringInfo(&buf,
						 " AND (t.xmin OPERATOR(pg_catalog.=) $5"
						 " AND (t.cmin::pg_catalog.text::pg_catalog.int8 OPERATOR(pg_catalog.>) $6"
						 " OR t.cmin::pg_catalog.text::pg_catalog.int8 OPERATOR(pg_catalog.=) $6"
						 " AND $2 %s t.%s)) IS NOT TRUE",
						 n->less, n->key);
	appendStringInfoString(&buf, " ORDER BY 2, 1");
	return buf.data;
}

/*
 * All pairs of a statement's new rows with older rows and with each other,
 * each pair once. Rows that an UPDATE left at their key and their fingerprint
 * have not arrived.
 */
static char *
statement_search_text(TriggerData *trigdata, const SearchNames *n)
{
	Trigger *trigger = trigdata->tg_trigger;
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf,
					 "WITH simdup_new AS MATERIALIZED (SELECT n.%s AS key, n.%s AS fp FROM %s n"
					 " WHERE n.%s IS NOT NULL",
					 n->key, n->fp, quote_identifier(trigger->tgnewtable),
					 n->key);
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		appendStringInfo(&buf,
						 " AND NOT EXISTS (SELECT 1 FROM %s o WHERE o.%s %s n.%s"
						 " AND o.%s OPERATOR(%s.=) n.%s)",
						 quote_identifier(trigger->tgoldtable), n->key,
						 n->equal, n->key, n->fp, n->extension, n->fp);
	/* each OFFSET is a fence: the planner joins only after the searches */
	appendStringInfo(&buf,
					 ") SELECT p.old_key, p.distance, p.tableoid, p.ctid, p.new_key"
					 " FROM (SELECT t.*, n.key AS new_key FROM simdup_new n CROSS JOIN LATERAL"
					 " (SELECT t.%s AS old_key, t.%s OPERATOR(%s.<~>) n.fp AS distance,"
					 " t.tableoid, t.ctid FROM %s t"
					 " WHERE %s AND (t.%s %s n.key) IS NOT TRUE OFFSET 0) t OFFSET 0) p"
					 " LEFT JOIN simdup_new m ON m.key %s p.old_key"
					 " WHERE m.key IS NULL OR p.old_key %s p.new_key",
					 n->key, n->fp, n->extension, n->table, n->within, n->key,
					 n->equal, n->equal, n->less);
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
	ArrivalCondition condition =
		simdup_arrival_condition(at, fp,
								 kind == ARRIVAL_STATEMENT ? "n.fp" : "$1");
	SearchNames names;

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
