/*
 * statements.c
 *	  The SQL that reads and writes a grouped table and the tables beside it.
 *
 * Every name in it is qualified, so no setting of the session changes its
 * meaning. Plans are kept per trigger, in the cache of the arrival triggers.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "groups/grouping.h"
#include "server/catalog.h"

/*
 * A statement and the types of its parameters: k a key, i an id, I an array of
 * ids, f a fingerprint, t a text. * means the columns of the conditions. K is a
 * key as a batch stores it; A, F and S are arrays of such keys, fingerprints and
 * texts.
 *
 * In braces: T is the table; G, M, E, R and D are groups, members, events,
 * redirects and decisions, S the sequence of ids. An operator in braces is
 * qualified. The key's = and < are keq and klt. r is the row of a
 * representative, a the row that arrives.
 */
typedef struct Statement
{
	const char *types;
	const char *text;
	bool by_fingerprint; /* searches by an index on fingerprints */
} Statement;

#define BALL(center) "{<@} {x}.simhash_ball(" center ", {k})"
/* Arrays as rows, in their order. */
#define ROWS(arrays) "ROWS FROM (" arrays ") WITH ORDINALITY"
#define UNNEST(n) "pg_catalog.unnest($" #n ")"
#define EVENT "INSERT INTO {E} (at, kind, id, key, other, cause) "

/* Is there a decision about the row $1 and a key, or is it that row's key? */
#define MEETS(key) \
	"(" key " {keq} $1 OR EXISTS (SELECT FROM {D} o WHERE o.a {keq} $1" \
	" AND o.b {keq} " key " OR o.a {keq} " key " AND o.b {keq} $1))"

static const Statement statements[N_GROUP_STATEMENTS] = {
	[GROUP_GUESS] = {"f*",
					 "SELECT g.id, g.simdup_fp {<~>} $1 FROM {G} g {with r}"
					 " WHERE g.simdup_fp " BALL("$1") "{conditions $2}"
													  " ORDER BY 2, 1 LIMIT 1",
					 true},
	[GROUP_NEAREST] =
		{"fkI",
		 "SELECT g.id, g.simdup_fp {<~>} $1 FROM {G} g {with r} {with a}"
		 " WHERE g.simdup_fp " BALL(
			 "$1") "{conditions}"
				   " AND (g.id {=} ANY ($3)) IS NOT TRUE ORDER BY 2, 1 LIMIT 1",
		 true},
	[GROUP_IS_NEAR] = {"fki",
					   "SELECT 1 FROM {G} g {with r} {with a} WHERE g.id {=} $3"
					   " AND g.simdup_fp " BALL("$1") "{conditions}",
					   false},
	[GROUP_JOIN] = {"kit",
					"WITH m AS (INSERT INTO {M} (key, id) VALUES ($1, $2)"
					" ON CONFLICT DO NOTHING RETURNING key, id)" EVENT
					"SELECT {now}, 'joined', m.id, m.key, NULL, $3 FROM m",
					false},
	[GROUP_OPEN] = {"kitf",
					"WITH m AS (INSERT INTO {M} (key, id) VALUES ($1, $2)"
					" ON CONFLICT DO NOTHING RETURNING key, id),"
					" g AS (INSERT INTO {G} (id, representative, simdup_fp)"
					" SELECT m.id, m.key, $4 FROM m)" EVENT
					"SELECT {now}, 'opened', m.id, m.key, NULL, $3 FROM m",
					false},
	[GROUP_MEMBER] =
		{"k",
		 "SELECT m.id, m.age, g.representative {keq} m.key, g.simdup_fp,"
		 " EXISTS (SELECT FROM {M} o WHERE o.id {=} m.id AND o.age {<>} m.age)"
		 " FROM {M} m LEFT JOIN {G} g ON g.id {=} m.id WHERE m.key {keq} $1",
		 false},
	[GROUP_LEAVE] =
		{"kti",
		 "WITH m AS (DELETE FROM {M} WHERE key {keq} $1 RETURNING key)" EVENT
		 "SELECT {now}, 'left', $3, m.key, NULL, $2 FROM m",
		 false},
	[GROUP_END] = {"i", "DELETE FROM {G} WHERE id {=} $1", false},
	[GROUP_SET_COLUMN] =
		{"ki",
		 "UPDATE {T} SET {group} = $2"
		 " WHERE {key} {keq} $1 AND ({group} {=} $2) IS NOT TRUE",
		 false},
	[GROUP_HAS_ROW] = {"k", "SELECT 1 FROM {T} WHERE {key} {keq} $1", false},
	[GROUP_ENTER] =
		{"k", "INSERT INTO {M} (key, id) VALUES ($1, 0) ON CONFLICT DO NOTHING",
		 false},
	[GROUP_NEAR_GROUPS] =
		{"fk",
		 "SELECT DISTINCT m.id FROM {T} r JOIN {M} m ON m.key {keq} r.{key}"
		 " {with a} WHERE r.{fp} " BALL(
			 "$1") "{conditions}"
				   " AND (r.{key} {keq} $2) IS NOT TRUE AND m.id {<>} 0 ORDER BY 1",
		 true},
	[GROUP_GUESS_CONNECTED] =
		{"f*",
		 "SELECT DISTINCT m.id FROM {T} r JOIN {M} m ON m.key {keq} r.{key}"
		 " WHERE r.{fp} " BALL(
			 "$1") "{conditions $2} AND m.id {<>} 0 ORDER BY 1 LIMIT 2",
		 true},
	[GROUP_ARE_NEAR] = {"kk",
						"SELECT 1 FROM {T} r, {T} a WHERE r.{key} {keq} $1"
						" AND a.{key} {keq} $2{conditions}",
						false},
	[GROUP_IS_THERE] = {"i", "SELECT 1 FROM {G} WHERE id {=} $1", false},
	[GROUP_BROUGHT] =
		{"k",
		 "SELECT m.brought FROM {M} m WHERE m.key {keq} $1"
		 " AND NOT EXISTS (SELECT FROM {G} g WHERE g.id {=} m.brought)",
		 false},
	[GROUP_BRING] = {"ki", "UPDATE {M} SET brought = $2 WHERE key {keq} $1",
					 false},
	[GROUP_TAKE_OUT] = {"k", "UPDATE {M} SET id = 0 WHERE key {keq} $1", false},
	[GROUP_ROWS] =
		{"I",
		 "SELECT m.key, a.{fp}, m.age, m.id, m.brought FROM {M} m"
		 " JOIN {T} a ON a.{key} {keq} m.key"
		 " WHERE m.id {=} ANY ($1) AND a.{fp} IS NOT NULL ORDER BY m.age",
		 false},
	[GROUP_DECISIONS_WITHIN] =
		{"I",
		 "SELECT p.age, q.age, d.same FROM {M} p"
		 " JOIN {D} d ON d.a {keq} p.key JOIN {M} q ON q.key {keq} d.b"
		 " WHERE p.id {=} ANY ($1) AND q.id {=} ANY ($1)",
		 false},
	[GROUP_TIED] =
		{"k",
		 "SELECT m.key, a.{fp}, m.age, m.id FROM"
		 " (SELECT b FROM {D} WHERE a {keq} $1 AND same"
		 " UNION ALL SELECT a FROM {D} WHERE b {keq} $1 AND same) d (key)"
		 " JOIN {M} m ON m.key {keq} d.key"
		 " LEFT JOIN {T} a ON a.{key} {keq} m.key",
		 false},
	[GROUP_APART] =
		{"k",
		 "SELECT m.id, m.key FROM (SELECT b FROM {D} WHERE a {keq} $1 AND NOT same"
		 " UNION ALL SELECT a FROM {D} WHERE b {keq} $1 AND NOT same) d (key)"
		 " JOIN {M} m ON m.key {keq} d.key",
		 false},
	[GROUP_GROUPS_APART] =
		{"ii",
		 "SELECT 1 FROM {D} d JOIN {M} p ON p.key {keq} d.a"
		 " JOIN {M} q ON q.key {keq} d.b WHERE NOT d.same"
		 " AND (p.id {=} $1 AND q.id {=} $2 OR p.id {=} $2 AND q.id {=} $1)"
		 " LIMIT 1",
		 false},
	[GROUP_PLACE] = {"kiitit",
					 "WITH m AS (UPDATE {M} SET id = $2, brought = $3"
					 " WHERE key {keq} $1 RETURNING key, id)" EVENT
					 "SELECT {now}, $4, m.id, m.key, $5, $6 FROM m",
					 false},
	[GROUP_PUT] =
		{"ikf",
		 "INSERT INTO {G} (id, representative, simdup_fp) VALUES ($1, $2, $3)"
		 " ON CONFLICT (id) DO UPDATE SET"
		 " representative = excluded.representative,"
		 " simdup_fp = excluded.simdup_fp",
		 false},
	[GROUP_REDIRECT] =
		{"ii",
		 "INSERT INTO {R} (id, into_id) VALUES ($1, $2)"
		 " ON CONFLICT (id) DO UPDATE SET into_id = excluded.into_id",
		 false},
	[GROUP_DROP_REDIRECT] = {"i", "DELETE FROM {R} WHERE id {=} $1", false},
	[GROUP_FOLLOW] =
		{"iii",
		 "WITH RECURSIVE way (id) AS (SELECT $1"
		 " UNION SELECT r.into_id FROM way w JOIN {R} r ON r.id {=} w.id)"
		 " UPDATE {R} SET into_id = $3 WHERE id {=} $1"
		 " AND EXISTS (SELECT FROM way w WHERE w.id {=} $2)"
		 " AND NOT EXISTS (SELECT FROM {M} m WHERE m.id {=} $2 AND m.brought {=} $1)",
		 false},
	[GROUP_FOLLOW_PARTS] =
		{"I",
		 "WITH RECURSIVE b (id, into_id) AS (SELECT DISTINCT ON (m.brought)"
		 " m.brought, m.id FROM {M} m WHERE m.id {=} ANY ($1)"
		 " AND m.brought IS NOT NULL ORDER BY m.brought, m.age),"
		 " way (id, at) AS (SELECT b.id, b.id FROM b"
		 " UNION SELECT w.id, r.into_id FROM way w JOIN {R} r ON r.id {=} w.at)"
		 " UPDATE {R} r SET into_id = b.into_id FROM b WHERE r.id {=} b.id"
		 " AND r.into_id {<>} b.into_id AND EXISTS (SELECT FROM way w"
		 " WHERE w.id {=} b.id AND w.at {=} ANY ($1))",
		 false},
	[GROUP_LEFT] =
		{"k",
		 "WITH RECURSIVE way (id) AS ((SELECT e.id FROM {E} e"
		 " WHERE e.key {keq} $1 AND e.kind {=} 'left' ORDER BY e.event DESC LIMIT 1)"
		 " UNION SELECT r.into_id FROM way w JOIN {R} r ON r.id {=} w.id)"
		 " SELECT g.id FROM way w JOIN {G} g ON g.id {=} w.id",
		 false},
	[GROUP_MERGE_MEMBERS] =
		{"iit",
		 "WITH m AS (UPDATE {M} SET id = $2, brought = COALESCE(brought, id)"
		 " WHERE id {=} $1)" EVENT "SELECT {now}, 'merged', $1, NULL, $2, $3",
		 false},
	[GROUP_MERGE_COLUMN] = {"ii",
							"UPDATE {T} SET {group} = $2 WHERE {group} {=} $1",
							false},
	[GROUP_EVENT] = {"tkt", EVENT "VALUES ({now}, $1, NULL, $2, NULL, $3)",
					 false},
	[GROUP_DECISION] = {"kk",
						"SELECT same FROM {D} WHERE a {keq} $1 AND b {keq} $2",
						false},
	[GROUP_IS_DECIDED] = {"k",
						  "SELECT 1 FROM {D} WHERE a {keq} $1"
						  " UNION ALL SELECT 1 FROM {D} WHERE b {keq} $1"
						  " LIMIT 1",
						  false},
	[GROUP_SAME_AS] = {"k",
					   "SELECT b FROM {D} WHERE a {keq} $1 AND same"
					   " UNION ALL SELECT a FROM {D} WHERE b {keq} $1 AND same",
					   false},
	[GROUP_NOT_SAME_AS] =
		{"k",
		 "SELECT b FROM {D} WHERE a {keq} $1 AND NOT same"
		 " UNION ALL SELECT a FROM {D} WHERE b {keq} $1 AND NOT same",
		 false},
	[GROUP_APART_FROM_OLDER] =
		{"ki",
		 "SELECT o.key FROM (SELECT b FROM {D} WHERE a {keq} $1 AND NOT same"
		 " UNION ALL SELECT a FROM {D} WHERE b {keq} $1 AND NOT same) d (key)"
		 " JOIN {M} o ON o.key {keq} d.key JOIN {M} m ON m.key {keq} $1"
		 " WHERE m.id {=} $2 AND o.id {=} $2 AND o.age {<} m.age",
		 false},
	[GROUP_HEIR] =
		{"ik",
		 "SELECT a.{key}, a.{fp} FROM {M} m JOIN {T} a ON a.{key} {keq} m.key"
		 " WHERE m.id {=} $1 AND (m.key {keq} $2) IS NOT TRUE"
		 " AND a.{fp} IS NOT NULL ORDER BY m.age LIMIT 1",
		 false},
	[GROUP_LEAD] =
		{"ikft",
		 "WITH g AS (UPDATE {G} SET representative = $2, simdup_fp = $3"
		 " WHERE id {=} $1 RETURNING id)" EVENT
		 "SELECT {now}, 'represented', g.id, $2, NULL, $4 FROM g",
		 false},
	[GROUP_STRAYS] = {"ikkf",
					  "SELECT a.{key}, a.{fp} FROM {M} m"
					  " JOIN {T} a ON a.{key} {keq} m.key {with r $3}"
					  " WHERE m.id {=} $1 AND (m.key {keq} $2) IS NOT TRUE"
					  " AND (m.key {keq} $3) IS NOT TRUE AND a.{fp} IS NOT NULL"
					  " AND (a.{fp} " BALL("$4") "{conditions}) IS NOT TRUE"
												 " ORDER BY m.age",
					  false},
	[GROUP_MOVE] =
		{"kitit",
		 "WITH m AS (UPDATE {M} SET id = $2, brought = NULL"
		 " WHERE key {keq} $1 RETURNING key, id)" EVENT
		 "SELECT {now}, $3, m.id, m.key, CASE WHEN $4 {<>} 0 THEN $4 END, $5 FROM m",
		 false},
	[GROUP_ADD] =
		{"ikf",
		 "INSERT INTO {G} (id, representative, simdup_fp) VALUES ($1, $2, $3)",
		 false},
	[GROUP_RENAME_MEMBER] =
		{"kkt",
		 "WITH m AS (UPDATE {M} SET key = $2 WHERE key {keq} $1 RETURNING id),"
		 " e AS (" EVENT
		 "SELECT {now}, 'left', m.id, $1, NULL, $3 FROM m)" EVENT
		 "SELECT {now}, 'joined', m.id, $2, NULL, $3 FROM m",
		 false},
	[GROUP_RENAME_LEADER] = {"kki",
							 "UPDATE {G} SET representative = $2"
							 " WHERE id {=} $3 AND representative {keq} $1",
							 false},
	[GROUP_REPLACE_DECISIONS] =
		{"kk",
		 "DELETE FROM {D} d WHERE d.a {keq} $2 AND " MEETS(
			 "d.b") " OR d.b {keq} $2 AND " MEETS("d.a"),
		 false},
	[GROUP_RENAME_DECISIONS] =
		{"kk",
		 "UPDATE {D} SET a = LEAST(CASE WHEN a {keq} $1 THEN $2 ELSE a END,"
		 " CASE WHEN b {keq} $1 THEN $2 ELSE b END),"
		 " b = GREATEST(CASE WHEN a {keq} $1 THEN $2 ELSE a END,"
		 " CASE WHEN b {keq} $1 THEN $2 ELSE b END)"
		 " WHERE a {keq} $1 OR b {keq} $1",
		 false},
	[GROUP_TRUNCATE] = {"",
						"INSERT INTO {E} (at, kind, cause)"
						" VALUES ({now}, 'truncated', 'truncate')",
						false},
	[GROUP_BULK_ENTER] = {"AI",
						  "INSERT INTO {M} (key, id) SELECT u.key::{type}, u.id"
						  " FROM " ROWS(UNNEST(1) ", " UNNEST(
							  2)) " u (key, id, n) ORDER BY u.n",
						  false},
	[GROUP_BULK_MOVE] = {"AI",
						 "UPDATE {M} m SET id = u.id, brought = NULL"
						 " FROM " ROWS(UNNEST(1) ", " UNNEST(
							 2)) " u (key, id, n)"
								 " WHERE m.key {keq} u.key::{type}",
						 false},
	[GROUP_BULK_SET_COLUMN] = {"AI",
							   "UPDATE {T} t SET {group} = u.id"
							   " FROM " ROWS(UNNEST(1) ", " UNNEST(
								   2)) " u (key, id, n)"
									   " WHERE t.{key} {keq} u.key::{type}",
							   false},
	[GROUP_BULK_LEAD] = {"AIF",
						 "INSERT INTO {G} (id, representative, simdup_fp)"
						 " SELECT u.id, u.key::{type}, u.fp"
						 " FROM " ROWS(UNNEST(1) ", " UNNEST(2) ", " UNNEST(
							 3)) " u (key, id, fp, n) ORDER BY u.n"
								 " ON CONFLICT (id) DO UPDATE SET"
								 " representative = excluded.representative,"
								 " simdup_fp = excluded.simdup_fp",
						 false},
	[GROUP_BULK_EVENTS] =
		{"AISI",
		 EVENT
		 "SELECT {now}, u.kind, u.id, u.key::{type}, u.other, 'regroup'"
		 " FROM " ROWS(UNNEST(1) ", " UNNEST(2) ", " UNNEST(3) ", " UNNEST(
			 4)) " u (key, id, kind, other, n) ORDER BY u.n",
		 false},
	[GROUP_BULK_REDIRECT] =
		{"II",
		 "INSERT INTO {R} (id, into_id) SELECT u.id, u.into_id"
		 " FROM " ROWS(UNNEST(1) ", " UNNEST(
			 2)) " u (id, into_id, n)"
				 " ON CONFLICT (id) DO UPDATE SET into_id = excluded.into_id",
		 false},
	[GROUP_BULK_ARE_NEAR] = {"KK",
							 "SELECT 1 FROM {T} r, {T} a"
							 " WHERE r.{key} {keq} $1::{type}"
							 " AND a.{key} {keq} $2::{type}{conditions}",
							 false},
	[GROUP_COUNT_MEMBERS] = {"", "SELECT pg_catalog.count(*) FROM {M}", false},
	[GROUP_COUNT_GROUPS] = {"", "SELECT pg_catalog.count(*) FROM {G}", false},
	[GROUP_DROP_MEMBERS] =
		{"",
		 "WITH m AS (DELETE FROM {M} m WHERE NOT EXISTS (SELECT FROM {T} t"
		 " WHERE t.{key} {keq} m.key AND t.{fp} IS NOT NULL) RETURNING id, key)" EVENT
		 "SELECT {now}, 'left', m.id, m.key, NULL, 'regroup' FROM m",
		 false},
	[GROUP_DROP_GROUPS] = {"",
						   "DELETE FROM {G} g WHERE NOT EXISTS (SELECT FROM {M} m"
						   " WHERE m.id {=} g.id)",
						   false},
	[GROUP_LAST_ID] =
		{"",
		 "SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END FROM {S} s",
		 false},
};

Oid
simdup_grouping_bulk_key_type(Grouping *g)
{
	Oid base = getBaseType(g->at->key_type);

	return base == INT2OID || base == INT4OID ? INT8OID : base;
}

/* The parameters' types; how many there are. */
static int
parameter_types(Grouping *g, const char *types, Oid *oids)
{
	int n = 0;

	for (const char *c = types; *c != '\0'; c++)
		switch (*c)
		{
			case 'k':
				oids[n++] = g->at->key_type;
				break;
			case 'i':
				oids[n++] = INT8OID;
				break;
			case 'I':
				oids[n++] = INT8ARRAYOID;
				break;
			case 'f':
				oids[n++] = g->at->fp_type;
				break;
			case 't':
				oids[n++] = TEXTOID;
				break;
			case 'K':
				oids[n++] = simdup_grouping_bulk_key_type(g);
				break;
			case 'A':
				oids[n++] = get_array_type(simdup_grouping_bulk_key_type(g));
				break;
			case 'F':
				oids[n++] = get_array_type(g->at->fp_type);
				break;
			case 'S':
				oids[n++] = TEXTARRAYOID;
				break;
			case '*':
				for (int i = 0; i < g->at->conditions.n_columns; i++)
					oids[n++] = g->at->conditions.columns[i].type;
				break;
		}
	return n;
}

static char *
key_operator(Grouping *g, bool equal)
{
	TypeCacheEntry *type =
		lookup_type_cache(g->at->key_type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);

	return simdup_arrival_operator_name(g->at->key_type,
										equal ? type->eq_opr : type->lt_opr);
}

static char *
relation_of(Grouping *g, char letter)
{
	Oid oids[] =
		{['T'] = g->at->table, ['G'] = g->groups,	 ['M'] = g->members,
		 ['E'] = g->events,	   ['R'] = g->redirects, ['D'] = g->decisions,
		 ['S'] = g->sequence};

	return simdup_arrival_table_name(oids[(unsigned char) letter]);
}

/* JOIN of the row that a condition compares; nothing without conditions. */
static char *
join_row(Grouping *g, const char *alias, const char *key)
{
	if (g->at->conditions.n_columns == 0)
		return "";
	return psprintf("JOIN %s %s ON %s.%s %s %s",
					simdup_arrival_table_name(g->at->table), alias, alias,
					quote_identifier(g->key), key_operator(g, true), key);
}

static char *
conditions_text(Grouping *g, const char *arriving, int first_param)
{
	return simdup_conditions_text(&g->at->conditions,
								  simdup_arrival_extension_name(g->at), "r",
								  arriving, first_param);
}

/* The SQL that replaces a name in braces. */
static const char *
expand(Grouping *g, const char *name)
{
	if (strlen(name) == 1 && strchr("TGMERDS", name[0]) != NULL)
		return relation_of(g, name[0]);
	if (strcmp(name, "key") == 0)
		return quote_identifier(g->key);
	if (strcmp(name, "fp") == 0)
		return quote_identifier(g->fp);
	if (strcmp(name, "group") == 0)
		return quote_identifier(g->column);
	if (strcmp(name, "x") == 0)
		return simdup_arrival_extension_name(g->at);
	if (strcmp(name, "k") == 0)
		return psprintf("%d", g->at->k);
	if (strcmp(name, "type") == 0)
		return simdup_type_name(g->at->key_type);
	if (strcmp(name, "now") == 0)
		return "pg_catalog.now()";
	if (strcmp(name, "keq") == 0 || strcmp(name, "klt") == 0)
		return key_operator(g, name[1] == 'e');
	if (strcmp(name, "with r") == 0)
		return join_row(g, "r", "g.representative");
	if (strcmp(name, "with r $3") == 0)
		return join_row(g, "r", "$3");
	if (strcmp(name, "with a") == 0)
		return join_row(g, "a", "$2");
	if (strcmp(name, "conditions") == 0)
		return conditions_text(g, "a", 0);
	if (strcmp(name, "conditions $2") == 0)
		return conditions_text(g, NULL, 2);
	if (strcmp(name, "<~>") == 0 || strcmp(name, "<@") == 0)
		return psprintf("OPERATOR(%s.%s)", simdup_arrival_extension_name(g->at),
						name);
	return psprintf("OPERATOR(pg_catalog.%s)", name);
}

char *
simdup_grouping_text(Grouping *g, const char *text)
{
	StringInfoData buf;
	const char *brace;

	initStringInfo(&buf);
	while ((brace = strchr(text, '{')) != NULL)
	{
		const char *end = strchr(brace, '}');

		appendBinaryStringInfo(&buf, text, (int) (brace - text));
		appendStringInfoString(&buf,
							   expand(g, pnstrdup(brace + 1, end - brace - 1)));
		text = end + 1;
	}
	appendStringInfoString(&buf, text);
	return buf.data;
}

/*
 * Tables may be empty when a plan is made, and hold a million rows at the end
 * of the same transaction. So indexes are used wherever they can be.
 */
static int
hold_planner_settings(bool by_fingerprint)
{
	int nestlevel = NewGUCNestLevel();

	simdup_arrival_set("jit", "off");
	simdup_arrival_set("enable_seqscan", "off");
	simdup_arrival_set("enable_bitmapscan", "on");
	simdup_arrival_set("enable_nestloop", "on");
	simdup_arrival_set("enable_indexscan", "on");
	if (by_fingerprint)
		return nestlevel;
	simdup_arrival_set("enable_hashjoin", "off");
	simdup_arrival_set("enable_mergejoin", "off");
	return nestlevel;
}

static SPIPlanPtr
statement_plan(Grouping *g, GroupStatement statement)
{
	/* the cache knows the arrival triggers' own plans by smaller numbers */
	ArrivalPlan kind = (ArrivalPlan) (ARRIVAL_LOG + 1 + statement);
	SPIPlanPtr plan = simdup_arrival_plan(g->at, kind);
	Oid types[SIMDUP_MAX_CONDITION_COLUMNS + 8];
	char *text;
	int n;
	int nestlevel;

	if (plan != NULL)
		return plan;
	n = parameter_types(g, statements[statement].types, types);
	text = simdup_grouping_text(g, statements[statement].text);
	nestlevel = hold_planner_settings(statements[statement].by_fingerprint);
	plan = SPI_prepare_cursor(text, n, types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), text);
	simdup_arrival_keep_plan(g->at, kind, plan);
	AtEOXact_GUC(true, nestlevel);
	return plan;
}

ArrivalFound
simdup_grouping_run(Grouping *g, GroupStatement statement, Datum *values,
					const bool *isnull)
{
	char nulls[SIMDUP_MAX_CONDITION_COLUMNS + 8];
	Oid types[SIMDUP_MAX_CONDITION_COLUMNS + 8];
	SPIPlanPtr plan = statement_plan(g, statement);
	int n = parameter_types(g, statements[statement].types, types);
	int nestlevel = simdup_arrival_hold_settings();
	ArrivalFound found;

	for (int i = 0; i < n; i++)
		nulls[i] = isnull != NULL && isnull[i] ? 'n' : ' ';
	simdup_arrival_execute(plan, values, nulls, GetLatestSnapshot(), 0);
	found.n = SPI_processed;
	found.rows = SPI_tuptable;
	simdup_arrival_release_settings(nestlevel);
	return found;
}

Datum
simdup_grouping_value(ArrivalFound found, uint64 i, int column, bool *isnull)
{
	bool null;
	Datum value =
		SPI_getbinval(found.rows->vals[i], found.rows->tupdesc, column, &null);

	if (isnull != NULL)
		*isnull = null;
	return value;
}
