/*
 * groups.c
 *	  The source and the tables of a grouping, people's decisions about its keys, and
 *	  simdup_group_changes: the rows whose group changes.
 *
 * The functions in sql/60-groups.sql call these.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "batch/groups.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* The source */

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
	if (options != NULL && options->method == SIMDUP_GIVEN)
		wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CLUSTER);
	if (options != NULL && options->min_resemblance > 0)
		wanted |= SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT);
	return simdup_source_open(fcinfo, PG_GETARG_OID(0), wanted);
}

/*
 * Return = and < of a type's default btree class. ERROR if the type has no such
 * class, or none for hashing. A domain's own operator would fit a statement better
 * than one that is not the catalogs'.
 */
static TypeCacheEntry *
key_class(Oid type)
{
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR |
									TYPECACHE_HASH_PROC);

	if (!OidIsValid(entry->eq_opr) || !OidIsValid(entry->lt_opr) ||
		!OidIsValid(entry->hash_proc) ||
		OidIsValid(get_base_element_type(type)) ||
		(getBaseType(type) != type &&
		 (type_is_enum(getBaseType(type)) ||
		  get_func_namespace(get_opcode(entry->eq_opr)) !=
			  PG_CATALOG_NAMESPACE)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("type %s cannot be the key of a source",
					   format_type_be(type)),
				errdetail(
					"It is an array, a domain over an enum or a type of an extension, or has no default operator class for btree or hash."));
	return entry;
}

/* Return an operator with its schema, to stand in a statement. */
static Datum
operator_text(Oid id)
{
	StringInfoData text;
	Oid left;
	Oid right;

	op_input_types(id, &left, &right);
	initStringInfo(&text);
	generate_operator_clause(&text, "", left, id, "", right);
	/* without the blanks around it */
	return PointerGetDatum(
		cstring_to_text_with_len(text.data + 1, text.len - 2));
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

PG_FUNCTION_INFO_V1(simdup_grouping_source);
/*
 * Return simdup_grouping_source(source, max_distance, method, min_resemblance, w,
 * unit, columns). Without max_distance, only the key's part, of any table.
 *
 * Keys are ordered by collation "C", so that the order is the same in each
 * database, unless other keys are equal then.
 */
Datum
simdup_grouping_source(PG_FUNCTION_ARGS)
{
	bool only_key = PG_ARGISNULL(1);
	SimdupOptions options = {0};
	SimdupSource source;
	Oid type;
	Oid scope;
	TypeCacheEntry *entry;
	Datum values[8];
	bool nulls[8] = {false};
	int n = 0;

	if (!only_key)
		options = simdup_options(fcinfo);
	source = only_key ? simdup_source_open(fcinfo, PG_GETARG_OID(0),
										   SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_KEY))
					  : open_source(fcinfo, &options, true);
	type = source.type[SIMDUP_SOURCE_KEY];
	scope = source.type[SIMDUP_SOURCE_SCOPE];
	entry = key_class(type);
	if (OidIsValid(scope))
		(void) simdup_keyids_begin(simdup_keys_begin(scope,
													 SIMDUP_KEYS_IN_MEMORY),
								   scope, source.scope_collation);
	/* the caller's rights; only a report reads the day, and checks all columns */
	if (!only_key)
	{
		SimdupSource all = open_source(fcinfo, &options, false);

		all.statement = psprintf("%s LIMIT 0", all.statement);
		simdup_source_read(&all, NULL, NULL);
	}

	values[n++] = source.columns;
	values[n++] = CStringGetTextDatum(
		format_type_extended(type, -1,
							 FORMAT_TYPE_TYPEMOD_GIVEN |
								 FORMAT_TYPE_FORCE_QUALIFY));
	values[n++] = operator_text(entry->eq_opr);
	values[n++] = operator_text(entry->lt_opr);
	values[n++] = collate_text(source.key_collation == get_typcollation(type)
								   ? InvalidOid
								   : source.key_collation);
	values[n++] =
		collate_text(OidIsValid(source.key_collation) &&
							 get_collation_isdeterministic(source.key_collation)
						 ? C_COLLATION_OID
						 : source.key_collation);
	nulls[n] = !OidIsValid(source.content_type);
	values[n++] = ObjectIdGetDatum(source.content_type);
	values[n++] = CStringGetTextDatum(source.statement);
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
	int cluster = place[SIMDUP_SOURCE_CLUSTER];
	int day = place[SIMDUP_SOURCE_DAY];
	DateADT date;
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
	if (cluster >= 0)
	{
		grouping->ids = simdup_grow(grouping->ids, &grouping->n_ids, rows->n,
									sizeof(int64));
		grouping->ids[rows->n - 1] =
			isnull[cluster] ? SIMDUP_NO_ID
							: DatumGetInt64(slot->tts_values[cluster]);
	}
	if (day < 0)
		return;
	grouping->days = simdup_grow(grouping->days, &grouping->n_days, rows->n,
								 sizeof(DateADT));
	date =
		isnull[day] ? DATEVAL_NOBEGIN : DatumGetDateADT(slot->tts_values[day]);
	/* infinity, and dates that no timestamp reaches, count as none */
	if (date >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		date = DATEVAL_NOBEGIN;
	grouping->days[rows->n - 1] = date;
}

SimdupRows *
simdup_grouping_begin(FunctionCallInfo fcinfo, SimdupFeed feed,
					  const SimdupOptions *options, Oid table,
					  const char *column)
{
	int32 typmod;

	feed.function = get_func_name(fcinfo->flinfo->fn_oid);
	feed.budget = (int64) maintenance_work_mem * 1024;
	if (column != NULL)
	{
		char *name = get_rel_name(table);
		AttrNumber number = get_attnum(table, column);

		if (name == NULL)
			simdup_no_such_table(table);
		if (number == InvalidAttrNumber)
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
					errmsg("column \"%s\" of relation \"%s\" does not exist",
						   column, name));
		get_atttypetypmodcoll(table, number, &feed.key_type, &typmod,
							  &feed.key_collation);
		feed.finds_keys = true;
	}
	return simdup_rows_feed(&feed, options);
}

SimdupGrouping
simdup_grouping_read(FunctionCallInfo fcinfo, const SimdupOptions *options,
					 bool with_days)
{
	SimdupSource source = open_source(fcinfo, options, with_days);
	Oid key_type = source.type[SIMDUP_SOURCE_KEY];
	SimdupFeed feed = {.key_type = key_type,
					   .scope_type = source.type[SIMDUP_SOURCE_SCOPE],
					   .scope_collation = source.scope_collation,
					   .content_type = source.type[SIMDUP_SOURCE_CONTENT]};
	SimdupGrouping grouping = {.source = source};
	SimdupRows *rows =
		simdup_grouping_begin(fcinfo, feed, options, PG_GETARG_OID(1),
							  PG_ARGISNULL(1) ? NULL : "key");

	if (key_type != rows->key_type)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
					   source.key, get_rel_name(PG_GETARG_OID(0)),
					   format_type_be(key_type),
					   format_type_be(rows->key_type)),
				errhint("Cast the key to %s in a view, and name it in the settings.",
						format_type_be(rows->key_type)));
	grouping.rows = rows;
	if (source.place[SIMDUP_SOURCE_DAY] >= 0)
		grouping.days =
			simdup_grow(NULL, &grouping.n_days, 16, sizeof(DateADT));
	if (source.place[SIMDUP_SOURCE_CLUSTER] >= 0)
		grouping.ids = simdup_grow(NULL, &grouping.n_ids, 16, sizeof(int64));
	simdup_source_read(&source, add_row, &grouping);
	simdup_rows_distinct(rows);
	if (grouping.ids == NULL)
		grouping.ids = simdup_alloc0(((Size) rows->n + 1) * sizeof(int64));
	return grouping;
}

uint32
simdup_grouping_member(SimdupGrouping *grouping, const Datum *values)
{
	uint32 row = simdup_keyids_find(grouping->rows->numbers, values[0]);

	/* keys of decisions alone are no rows' */
	if (row >= grouping->rows->n)
		return SIMDUP_NO_ROW;
	grouping->ids[row] = DatumGetInt64(values[1]);
	return row;
}

/* Tables and decisions */

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/* The most columns that are read of one. */
#define MOST_COLUMNS 4

typedef struct TableReader
{
	SimdupRows *rows;
	Oid table;
	int n_keys;
	Oid type; /* of the other columns */
	void (*sink)(void *arg, Datum *values);
	void *arg;
} TableReader;

/* Take a row: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	const TableReader *reader = arg;
	TupleDesc columns = slot->tts_tupleDescriptor;
	Datum values[MOST_COLUMNS];
	MemoryContext old;

	for (int i = 0; i < Min(columns->natts, MOST_COLUMNS); i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool is_key = i < reader->n_keys;
		Oid type = is_key ? reader->rows->key_type : reader->type;

		if (column->atttypid != type)
			ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
						   NameStr(column->attname),
						   get_rel_name(reader->table),
						   format_type_be(column->atttypid),
						   format_type_be(type)));
		simdup_check_not_null(slot->tts_isnull[i], NameStr(column->attname));
		values[i] =
			is_key ? simdup_keys_take(reader->rows->keys, slot->tts_values[i])
				   : slot->tts_values[i];
	}
	old = MemoryContextSwitchTo(reader->rows->context);
	reader->sink(reader->arg, values);
	MemoryContextSwitchTo(old);
}

void
simdup_grouping_table(SimdupRows *rows, Oid table, const char *columns,
					  const char *query, int n_keys, Oid type,
					  void (*sink)(void *arg, Datum *values), void *arg)
{
	TableReader reader = {rows, table, n_keys, type, sink, arg};
	SimdupSource source = {.statement =
							   psprintf("SELECT %s FROM %s AS t %s", columns,
										simdup_table_name(table), query)};

	simdup_source_read(&source, take_row, &reader);
}

static void
take_decision(void *arg, Datum *values)
{
	SimdupDecisionSet *d = arg;
	uint32 keys[2];

	simdup_keyids_get(d->rows->numbers, values, 2, keys);
	simdup_decisions_add(&d->decisions, keys[0], keys[1],
						 DatumGetBool(values[2]));
}

SimdupDecisionSet
simdup_decisions_read(SimdupRows *rows, Oid table)
{
	SimdupDecisionSet d = {.rows = rows};
	uint32 n_keys;

	simdup_grouping_table(rows, table, "t.a, t.b, t.same",
						  "ORDER BY t.at, t.a, t.b", 2, BOOLOID, take_decision,
						  &d);
	n_keys = simdup_keyids_count(rows->numbers);
	simdup_decisions_resolve(&d.decisions, n_keys, &d.passed);
	(void) simdup_constraints_find(&d.constraints, n_keys, rows->n,
								   &d.decisions);
	return d;
}

/* Append the chain of equal rows from a to b. */
static void
append_chain(StringInfo text, const SimdupDecisionSet *d, uint32 a, uint32 b)
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
						 simdup_keys_text(d->rows->keys, chain[i]));
	}
	simdup_free(chain);
}

char *
simdup_contradicted(const SimdupDecisionSet *d, const SimdupDecision *passed)
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
tell_passed(const SimdupDecisionSet *d)
{
	const SimdupDecision *first = d->passed.items;

	if (d->passed.n == 0)
		return;
	ereport(WARNING, errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			errmsg_plural("%lld decision contradicts earlier ones and is passed over",
						  "%lld decisions contradict earlier ones and are passed over",
						  (unsigned long) d->passed.n, (long long) d->passed.n),
			errdetail(first->same ? "Rows %s and %s are not the same: %s."
								  : "Rows %s and %s are the same: %s.",
					  simdup_keys_text(d->rows->keys, first->a),
					  simdup_keys_text(d->rows->keys, first->b),
					  simdup_contradicted(d, first)),
			errhint("Take decisions back with simdup_undecide."));
}

/* Changes */

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

/* Take a member. A row that the source no longer has is in no group. */
static void
take_member(void *arg, Datum *values)
{
	Changes *c = arg;

	if (simdup_grouping_member(&c->grouping, values) != SIMDUP_NO_ROW)
		return;
	(void) simdup_wordset_add(&c->known, (uint64) DatumGetInt64(values[1]));
	put_change(c, values[0], DatumGetInt64(values[1]), SIMDUP_NO_ID);
}

/* Take the first row of an id that ended, unless a later one is known. */
static void
take_ended(void *arg, Datum *values)
{
	Changes *c = arg;
	uint32 row = simdup_keyids_find(c->grouping.rows->numbers, values[0]);
	int64 id = DatumGetInt64(values[1]);
	int64 refresh = DatumGetInt64(values[2]);

	if (id == SIMDUP_NO_ID || !simdup_wordset_add(&c->known, (uint64) id) ||
		row >= c->grouping.rows->n || c->ended_at[row] >= refresh)
		return;
	c->ended[row] = id;
	c->ended_at[row] = refresh;
}

/*
 * Find the first rows of ids that ended. The rows that had an id last left it in one
 * refresh.
 */
static void
read_ended(Changes *c, Oid events)
{
	SimdupRows *rows = c->grouping.rows;

	/* the groups are lost: their rows have an id still */
	if (c->known.n == 0)
		simdup_grouping_table(rows, events,
							  "DISTINCT ON (t.key) t.key, coalesce(t.id, 0), t.refresh",
							  "ORDER BY t.key, t.refresh DESC", 1, INT8OID,
							  take_ended, c);
	simdup_grouping_table(rows, events,
						  "DISTINCT ON (t.was) t.key, t.was, t.refresh",
						  "WHERE t.was IS NOT NULL"
						  " ORDER BY t.was, t.refresh DESC, t.key",
						  1, INT8OID, take_ended, c);
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
			(void) simdup_wordset_add(&c->known, (uint64) c->grouping.ids[row]);
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
 * method, min_resemblance, w, unit, next_id, columns).
 */
Datum
simdup_group_changes(PG_FUNCTION_ARGS)
{
	Changes c = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupDecisionSet decided;
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, 0, 4) || PG_ARGISNULL(9))
		elog(ERROR, "simdup_group_changes called with a null argument");
	c.grouping = simdup_grouping_read(fcinfo, &options, false);
	rows = c.grouping.rows;
	decided = simdup_decisions_read(rows, PG_GETARG_OID(2));
	tell_passed(&decided);
	c.group = simdup_find_groups(rows, &decided.constraints, NULL, NULL);
	simdup_grouping_table(rows, PG_GETARG_OID(1), "t.key, t.id", "", 1, INT8OID,
						  take_member, &c);
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
