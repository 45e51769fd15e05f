/*
 * groups.c
 *	  simdup_group_changes: the rows whose group changes, from the rows of a
 *	  source, the groups and ids that were, and people's decisions. And decisions
 *	  that contradict others.
 *
 * The functions in sql/60-groups.sql call these.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "batch/distinct_rows.h"
#include "batch/groups.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/settings.h"
#include "server/source.h"
#include "type/simhash64.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/*
 * The source
 */

/* Find the columns of a grouping's source. Contents are read where they decide. */
static SimdupSource
open_source(FunctionCallInfo fcinfo, const SimdupOptions *options,
			bool with_days)
{
	int wanted = SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_KEY) |
				 SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_FP) |
				 SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_SCOPE);

	if (with_days)
		wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_DAY);
	if (options != NULL && options->min_resemblance > 0)
		wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	return simdup_source_open(fcinfo, PG_GETARG_OID(0), wanted);
}

/*
 * Return = and < of a type's default btree class. ERROR if the type has no such
 * class, or none for hashing, or is a domain over a type whose operators are not
 * the catalogs'.
 */
static TypeCacheEntry *
key_class(Oid type)
{
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR |
									TYPECACHE_HASH_PROC);
	RegProcedure equal = get_opcode(entry->eq_opr);

	if (!OidIsValid(entry->eq_opr) || !OidIsValid(entry->lt_opr) ||
		!OidIsValid(entry->hash_proc) ||
		OidIsValid(get_base_element_type(type)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail(
					"It is an array, or has no default operator class for btree or hash."));
	/* a domain's own operator there would fit a statement better */
	if (get_func_namespace(equal) != PG_CATALOG_NAMESPACE &&
		getBaseType(type) != type)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail("It is a domain over type %s of an extension.",
						  format_type_be(getBaseType(type))),
				errhint("Cast the key to the domain's type in a view."));
	return entry;
}

PG_FUNCTION_INFO_V1(simdup_grouping_source);
/*
 * Return the key of a source, which is the first argument, the type of the
 * contents, the column of days, whether there are scopes, and the statement that
 * reads it. The other arguments are the options of a grouping.
 */
Datum
simdup_grouping_source(PG_FUNCTION_ARGS)
{
	SimdupOptions options = simdup_options(fcinfo);
	SimdupSource source = open_source(fcinfo, &options, true);
	Oid scope = source.type[SIMDUP_SOURCE_SCOPE];
	bool has_day = source.day != NULL;
	Datum values[5] = {CStringGetTextDatum(source.key),
					   ObjectIdGetDatum(source.content_type),
					   has_day ? CStringGetTextDatum(source.day) : (Datum) 0,
					   BoolGetDatum(OidIsValid(scope)),
					   CStringGetTextDatum(source.statement)};
	bool nulls[5] = {false, !OidIsValid(source.content_type), !has_day};

	(void) key_class(source.type[SIMDUP_SOURCE_KEY]);
	if (OidIsValid(scope))
		(void) simdup_keynumbers_begin(simdup_keys_begin(scope), scope);
	/* the caller's rights */
	simdup_run_select(psprintf("%s LIMIT 0", source.statement), NULL, NULL);
	return simdup_row_result(fcinfo, values, nulls);
}

/* Find the type and the collation of a table's column of keys. */
static Oid
key_column(Oid table, const char *column, Oid *collation)
{
	char *name = simdup_table_name(table);
	AttrNumber number = get_attnum(table, column);
	Oid type;
	int32 typmod;

	if (number == InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist",
					   column, name));
	get_atttypetypmodcoll(table, number, &type, &typmod, collation);
	return type;
}

/*
 * Return no rows yet. Keys are compared as a grouping's table does, and come in
 * order. Without a table they are not compared.
 */
static SimdupRows *
begin_rows(FunctionCallInfo fcinfo, SimdupFeed *feed,
		   const SimdupOptions *options, Oid table, const char *column)
{
	SimdupRows *rows;
	Oid collation;

	feed->function = get_func_name(fcinfo->flinfo->fn_oid);
	feed->budget = (int64) maintenance_work_mem * 1024;
	if (OidIsValid(table))
		feed->key_type = key_column(table, column, &collation);
	rows = simdup_rows_feed(feed, options);
	if (OidIsValid(table))
		simdup_keynumbers_expect_order(rows->numbers, collation);
	return rows;
}

/* Return an operator with its schema, to stand in a statement. */
static Datum
operator_text(Oid id)
{
	HeapTuple found = SearchSysCache1(OPEROID, ObjectIdGetDatum(id));
	Form_pg_operator form;
	char *text;

	if (!HeapTupleIsValid(found))
		elog(ERROR, "cache lookup failed for operator %u", id);
	form = (Form_pg_operator) GETSTRUCT(found);
	text = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(found);
	return CStringGetTextDatum(text);
}

/* Return what gives an expression a collation in a statement; without one, "". */
static Datum
collate_text(Oid collation)
{
	return CStringGetTextDatum(
		OidIsValid(collation)
			? psprintf(" COLLATE %s", generate_collation_name(collation))
			: "");
}

PG_FUNCTION_INFO_V1(simdup_key_operators);
/*
 * Return the type of a column of keys, its operators = and <, its collation unless
 * it is the type's, and the collation that < is to have. That is "C", so that the
 * order is the same in each database, unless other keys are equal then.
 */
Datum
simdup_key_operators(PG_FUNCTION_ARGS)
{
	Oid collation;
	Oid type =
		key_column(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), &collation);
	TypeCacheEntry *entry = key_class(type);
	Oid ordering =
		OidIsValid(collation) && get_collation_isdeterministic(collation)
			? C_COLLATION_OID
			: collation;
	char *keys_of = format_type_extended(type, -1,
										 FORMAT_TYPE_TYPEMOD_GIVEN |
											 FORMAT_TYPE_FORCE_QUALIFY);
	Datum values[5] = {CStringGetTextDatum(keys_of),
					   operator_text(entry->eq_opr),
					   operator_text(entry->lt_opr),
					   collate_text(collation == get_typcollation(type)
										? InvalidOid
										: collation),
					   collate_text(ordering)};
	bool nulls[5] = {false, false, false, false, false};

	return simdup_row_result(fcinfo, values, nulls);
}

/* Add a row: a SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	SimdupGrouping *grouping = arg;
	SimdupRows *rows = grouping->rows;
	const int *place = grouping->source.place;
	const bool *isnull = slot->tts_isnull;
	int content = place[SIMDUP_SOURCE_CONTENT];
	int scope = place[SIMDUP_SOURCE_SCOPE];
	int day = place[SIMDUP_SOURCE_DAY];
	SimdupRow row = {.key = slot->tts_values[place[SIMDUP_SOURCE_KEY]],
					 .no_fp = isnull[place[SIMDUP_SOURCE_FP]],
					 .no_content = content < 0 || isnull[content],
					 .no_scope = scope < 0 || isnull[scope]};

	if (!row.no_fp)
		row.fp = DatumGetSimhash64(slot->tts_values[place[SIMDUP_SOURCE_FP]]);
	if (!row.no_content)
		row.content = slot->tts_values[content];
	if (!row.no_scope)
		row.scope = slot->tts_values[scope];
	if (simdup_rows_add(rows, &row) == SIMDUP_NO_ROW)
	{
		grouping->n_skipped++;
		return;
	}
	if (grouping->keys != rows->keys)
	{
		simdup_keys_add(grouping->keys, row.key, false);
		if (simdup_pairsort_disk(rows->sort) > 0)
			simdup_keys_spill(grouping->keys);
	}
	if (day < 0)
		return;
	grouping->days = simdup_grow(grouping->days, &grouping->n_days, rows->n,
								 sizeof(DateADT));
	grouping->days[rows->n - 1] =
		isnull[day] ? DATEVAL_NOBEGIN : DatumGetDateADT(slot->tts_values[day]);
}

SimdupGrouping
simdup_grouping_read(FunctionCallInfo fcinfo, const SimdupOptions *options,
					 bool with_days)
{
	SimdupSource source = open_source(fcinfo, options, with_days);
	Oid key_type = source.type[SIMDUP_SOURCE_KEY];
	SimdupFeed feed = {.scope_type = source.type[SIMDUP_SOURCE_SCOPE],
					   .content_type = source.type[SIMDUP_SOURCE_CONTENT]};
	Oid members = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	SimdupGrouping grouping = {.source = source};

	grouping.rows = begin_rows(fcinfo, &feed, options, members, "key");
	if (OidIsValid(members) && key_type != feed.key_type)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
					   source.key, get_rel_name(PG_GETARG_OID(0)),
					   format_type_be(key_type), format_type_be(feed.key_type)),
				errdetail("The grouping has keys of the latter type."),
				errhint("Cast the key to %s in a view, and name it in the settings.",
						format_type_be(feed.key_type)));
	grouping.keys =
		OidIsValid(members) ? grouping.rows->keys : simdup_keys_begin(key_type);
	if (source.day != NULL)
		grouping.days =
			simdup_grow(NULL, &grouping.n_days, 16, sizeof(DateADT));
	simdup_source_read(&source, add_row, &grouping);
	grouping.fingerprints = simdup_rows_distinct(grouping.rows);
	grouping.ids = simdup_alloc0(((Size) grouping.rows->n + 1) * sizeof(int64));
	return grouping;
}

/*
 * The tables
 */

typedef void (*StoredSink)(void *arg, Datum *keys, Datum *values);

typedef struct StoredReader
{
	SimdupRows *rows;
	Oid table;
	int n_keys;
	const Oid *types;
	StoredSink sink;
	void *arg;
	bool is_checked;
} StoredReader;

/* Check the types of the columns. */
static void
check_columns(StoredReader *reader, TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Oid type = TupleDescAttr(columns, i)->atttypid;
		Oid expected = i < reader->n_keys ? reader->rows->key_type
										  : reader->types[i - reader->n_keys];

		if (type != expected)
			ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
						   NameStr(TupleDescAttr(columns, i)->attname),
						   get_rel_name(reader->table), format_type_be(type),
						   format_type_be(expected)));
	}
	reader->is_checked = true;
}

/* Take a row: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	StoredReader *reader = arg;
	TupleDesc columns = slot->tts_tupleDescriptor;
	Datum keys[2];

	if (!reader->is_checked)
		check_columns(reader, columns);
	for (int i = 0; i < reader->n_keys; i++)
		keys[i] = simdup_keys_take(reader->rows->keys, slot->tts_values[i],
								   slot->tts_isnull[i]);
	for (int i = reader->n_keys; i < columns->natts; i++)
		simdup_check_not_null(slot->tts_isnull[i],
							  NameStr(TupleDescAttr(columns, i)->attname));
	reader->sink(reader->arg, keys, slot->tts_values + reader->n_keys);
}

/*
 * Read rows of a grouping's table: n_keys keys, then columns of other types, which
 * are not null. The query says which, and the table is t.
 */
static void
read_stored(SimdupRows *rows, Oid table, const char *columns, const char *query,
			int n_keys, const Oid *types, StoredSink sink, void *arg)
{
	StoredReader reader = {.rows = rows,
						   .table = table,
						   .n_keys = n_keys,
						   .types = types,
						   .sink = sink,
						   .arg = arg};

	simdup_run_select(psprintf("SELECT %s FROM %s AS t %s", columns,
							   simdup_table_name(table), query),
					  take_row, &reader);
}

/* Return the row of a key; SIMDUP_NO_NUMBER: none. */
static uint32
row_of_key(const SimdupGrouping *grouping, Datum key)
{
	uint32 row = simdup_keynumbers_find(grouping->rows->numbers, key);

	/* keys of decisions alone are no rows' */
	return row < grouping->rows->n ? row : SIMDUP_NO_NUMBER;
}

typedef struct MemberReader
{
	SimdupGrouping *grouping;
	void (*gone)(void *arg, Datum key, int64 id);
	void *arg;
} MemberReader;

static void
take_member(void *arg, Datum *keys, Datum *values)
{
	MemberReader *reader = arg;
	uint32 row = row_of_key(reader->grouping, keys[0]);

	if (row != SIMDUP_NO_NUMBER)
		reader->grouping->ids[row] = DatumGetInt64(values[0]);
	else if (reader->gone != NULL)
		reader->gone(reader->arg, keys[0], DatumGetInt64(values[0]));
}

void
simdup_members_read(SimdupGrouping *grouping, Oid table,
					void (*gone)(void *arg, Datum key, int64 id), void *arg)
{
	static const Oid types[] = {INT8OID};
	MemberReader reader = {grouping, gone, arg};

	read_stored(grouping->rows, table, "t.key, t.id", "", 1, types, take_member,
				&reader);
}

/*
 * Decisions
 */

static char *
decided_key(const SimdupDecided *d, uint32 number)
{
	return simdup_key_text(d->rows->key_type,
						   simdup_keys_get(d->rows->keys, number, 0));
}

/* Append the chain of equal rows from a to b. */
static void
append_chain(StringInfo text, const SimdupDecided *d, uint32 a, uint32 b)
{
	uint32 *chain;
	uint32 length =
		simdup_decisions_chain(&d->decisions, d->constraints.n, a, b, &chain);

	for (uint32 i = 0; i < length; i++)
	{
		if (i == MOST_SHOWN - 1 && length > MOST_SHOWN)
		{
			appendStringInfoString(text, " = ...");
			i = length - 1;
		}
		appendStringInfo(text, "%s%s", i > 0 ? " = " : "",
						 decided_key(d, chain[i]));
	}
	simdup_free(chain);
}

/*
 * Return what a decision that was passed over contradicts: the chain of equal
 * rows between its two, or two chains and where they are not the same.
 */
static char *
contradicted(const SimdupDecided *d, const SimdupDecision *passed)
{
	const uint32 *component = d->constraints.component;
	StringInfoData text;

	initStringInfo(&text);
	if (!passed->same)
		append_chain(&text, d, passed->a, passed->b);
	for (size_t i = 0; passed->same && i < d->decisions.n && text.len == 0; i++)
	{
		const SimdupDecision *other = &d->decisions.items[i];
		bool as_is = component[other->a] == component[passed->a];
		uint32 a = as_is ? other->a : other->b;
		uint32 b = as_is ? other->b : other->a;

		if (other->same || component[a] != component[passed->a] ||
			component[b] != component[passed->b])
			continue;
		append_chain(&text, d, passed->a, a);
		appendStringInfoString(&text, " <> ");
		append_chain(&text, d, b, passed->b);
	}
	return text.data;
}

/* Tell of decisions that are passed over, and of the first with its reason. */
static void
tell_passed(const SimdupDecided *d)
{
	const SimdupDecision *first = d->passed.items;

	if (d->passed.n == 0)
		return;
	ereport(WARNING, errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			errmsg_plural("%lld decision contradicts earlier ones and is passed over",
						  "%lld decisions contradict earlier ones and are passed over",
						  (unsigned long) d->passed.n, (long long) d->passed.n),
			first->same
				? errdetail("Rows %s and %s are not the same: %s.",
							decided_key(d, first->a), decided_key(d, first->b),
							contradicted(d, first))
				: errdetail("Rows %s and %s are the same: %s.",
							decided_key(d, first->a), decided_key(d, first->b),
							contradicted(d, first)),
			errhint("Take decisions back with simdup_undecide."));
}

static void
take_decision(void *arg, Datum *keys, Datum *values)
{
	SimdupDecided *d = arg;
	MemoryContext old = MemoryContextSwitchTo(d->rows->context);
	uint32 rows[2];

	simdup_keynumbers_get(d->rows->numbers, keys, 2, rows);
	simdup_decisions_add(&d->decisions, rows[0], rows[1],
						 DatumGetBool(values[0]));
	MemoryContextSwitchTo(old);
}

/*
 * Leave out the cannot-links of a component without a row. Rows have the
 * smallest numbers, so the number of such a component is none of theirs.
 */
static void
forget_gone(SimdupDecided *d, uint32 n_rows)
{
	size_t n_left = 0;

	for (size_t i = 0; i < d->decisions.n; i++)
	{
		SimdupDecision item = d->decisions.items[i];

		if (item.same || (d->constraints.component[item.a] < n_rows &&
						  d->constraints.component[item.b] < n_rows))
			d->decisions.items[n_left++] = item;
	}
	if (n_left == d->decisions.n)
		return;
	d->decisions.n = n_left;
	simdup_constraints_free(&d->constraints);
	(void) simdup_constraints_find(&d->constraints, d->constraints.n,
								   &d->decisions);
}

SimdupDecided
simdup_decisions_read(SimdupRows *rows, Oid table)
{
	static const Oid types[] = {BOOLOID};
	SimdupDecided d = {.rows = rows};
	uint32 n; /* keys */

	read_stored(rows, table, "t.a, t.b, t.same", "ORDER BY t.at, t.a, t.b", 2,
				types, take_decision, &d);
	n = simdup_keynumbers_count(rows->numbers);
	simdup_decisions_settle(&d.decisions, n, &d.passed);
	(void) simdup_constraints_find(&d.constraints, n, &d.decisions);
	return d;
}

PG_FUNCTION_INFO_V1(simdup_contradictions);
/*
 * Return simdup_contradictions(decisions, chains_from, n_chains). A chain costs a
 * search, so only these n have it, from this number on. Numbers begin with 1.
 */
Datum
simdup_contradictions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Oid table = PG_GETARG_OID(0);
	int64 first = PG_GETARG_INT64(1);
	SimdupFeed feed = {0};
	SimdupRows *rows = begin_rows(fcinfo, &feed, NULL, table, "a");
	SimdupDecided d = simdup_decisions_read(rows, table);

	for (int64 i = 0; i < (int64) d.passed.n; i++)
	{
		const SimdupDecision *item = &d.passed.items[i];
		bool is_shown = i + 1 >= first && i + 1 - first < PG_GETARG_INT32(2);
		Datum values[4] = {CStringGetTextDatum(decided_key(&d, item->a)),
						   CStringGetTextDatum(decided_key(&d, item->b)),
						   BoolGetDatum(item->same),
						   CStringGetTextDatum(is_shown ? contradicted(&d, item)
														: "")};
		bool nulls[4] = {false, false, false, !is_shown};

		CHECK_FOR_INTERRUPTS();
		simdup_put_result(result, values, nulls);
	}
	simdup_rows_end(rows);
	return (Datum) 0;
}

/*
 * Changes
 */

typedef struct Changes
{
	SimdupGrouping grouping;
	ReturnSetInfo *result;
	uint32 *group; /* by row: the first one of its group */
	int64 *ids;	   /* by first row */

	/* by row: the last id that ended with it as its first row, and when */
	int64 *ended;
	int64 *ended_at;
	SimdupWordSet known; /* ids that members have, or whose first row is known */
} Changes;

static void
put_change(const Changes *c, Datum key, int64 was, int64 id)
{
	char *text = simdup_key_text(c->grouping.rows->key_type, key);
	Datum values[3] = {CStringGetTextDatum(text), Int64GetDatum(was),
					   Int64GetDatum(id)};
	bool nulls[3] = {false, was == SIMDUP_NO_ID, id == SIMDUP_NO_ID};

	simdup_put_result(c->result, values, nulls);
	pfree(DatumGetPointer(values[0]));
	pfree(text);
}

/* Add an id to those that are known. Return false if it was known. */
static bool
know_id(Changes *c, int64 id)
{
	MemoryContext old = MemoryContextSwitchTo(c->grouping.rows->context);
	bool is_new = simdup_wordset_add(&c->known, (uint64) id);

	MemoryContextSwitchTo(old);
	return is_new;
}

/* A row that the source no longer has is in no group. */
static void
put_gone(void *arg, Datum key, int64 id)
{
	(void) know_id(arg, id);
	put_change(arg, key, id, SIMDUP_NO_ID);
}

/* Take the first row of an id that ended, unless a later one is known. */
static void
take_ended(void *arg, Datum *keys, Datum *values)
{
	Changes *c = arg;
	uint32 row = row_of_key(&c->grouping, keys[0]);
	int64 id = DatumGetInt64(values[0]);
	int64 refresh = DatumGetInt64(values[1]);

	if (id == SIMDUP_NO_ID || !know_id(c, id) || row == SIMDUP_NO_NUMBER ||
		c->ended_at[row] >= refresh)
		return;
	c->ended[row] = id;
	c->ended_at[row] = refresh;
}

/*
 * Find the first rows of ids that ended: of the rows that had the id last, those
 * that left it in one refresh, the first one.
 */
static void
read_ended(Changes *c, Oid events)
{
	static const Oid types[] = {INT8OID, INT8OID};
	SimdupRows *rows = c->grouping.rows;

	/* the groups are lost: their rows have an id still */
	if (c->known.n == 0)
		read_stored(rows, events,
					"DISTINCT ON (t.key) t.key, coalesce(t.id, 0), t.refresh",
					"ORDER BY t.key, t.refresh DESC", 1, types, take_ended, c);
	read_stored(rows, events, "DISTINCT ON (t.was) t.key, t.was, t.refresh",
				"WHERE t.was IS NOT NULL"
				" ORDER BY t.was, t.refresh DESC, t.key",
				1, types, take_ended, c);
}

/*
 * Give each group an id. The events are only read if one is left without, and if
 * an id ended.
 */
static void
give_ids(Changes *c, Oid events, int64 next_id)
{
	Size n = c->grouping.rows->n;
	bool any_left = false;

	c->ids = simdup_group_ids_keep((uint32) n, c->group, c->grouping.ids);
	for (Size row = 0; row < n && !any_left; row++)
		any_left = c->group[row] == row && c->ids[row] == SIMDUP_NO_ID;
	if (!any_left)
		return;
	for (Size row = 0; row < n; row++)
		if (c->grouping.ids[row] != SIMDUP_NO_ID)
			(void) know_id(c, c->grouping.ids[row]);
	c->ended = simdup_alloc0((n + 1) * sizeof(int64));
	c->ended_at = simdup_alloc0((n + 1) * sizeof(int64));
	if ((int64) c->known.n < next_id - 1)
		read_ended(c, events);
	for (Size row = 0; row < n; row++)
		if (c->group[row] == row && c->ids[row] == SIMDUP_NO_ID)
			c->ids[row] =
				c->ended[row] != SIMDUP_NO_ID ? c->ended[row] : next_id++;
}

PG_FUNCTION_INFO_V1(simdup_group_changes);
/*
 * Return simdup_group_changes(source, members, decisions, events, max_distance,
 * method, min_resemblance, w, unit, next_id).
 */
Datum
simdup_group_changes(PG_FUNCTION_ARGS)
{
	Changes c = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupDecided decided;
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, 0, 4) || PG_ARGISNULL(9))
		elog(ERROR, "simdup_group_changes called with a null argument");
	c.grouping = simdup_grouping_read(fcinfo, &options, false);
	rows = c.grouping.rows;
	decided = simdup_decisions_read(rows, PG_GETARG_OID(2));
	tell_passed(&decided);
	forget_gone(&decided, rows->n);
	c.group = simdup_find_groups(c.grouping.fingerprints, &decided.constraints,
								 NULL, NULL, NULL);
	simdup_members_read(&c.grouping, PG_GETARG_OID(1), put_gone, &c);
	give_ids(&c, PG_GETARG_OID(3), PG_GETARG_INT64(9));
	for (uint32 row = 0; row < rows->n; row++)
	{
		int64 was = c.grouping.ids[row];
		int64 id = c.ids[c.group[row]];

		CHECK_FOR_INTERRUPTS();
		if (id != was)
			put_change(&c, simdup_keys_get(rows->keys, row, 0), was, id);
	}
	simdup_rows_end(rows);
	return (Datum) 0;
}
