/*
 * groups.c
 *	  simdup_group_changes: the rows whose group changes, from the rows of a
 *	  query, the groups and ids that were, and people's decisions.
 *
 * The functions in sql/60-groups.sql call these, with queries of their own beside
 * the caller's.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "batch/rows.h"
#include "core/cluster/grouping.h"
#include "core/host.h"
#include "server/arguments.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/* Contradictions that are returned with their chains. Each chain costs a search. */
#define MOST_CHAINS 1000

/* A query of keys and other columns, which are not null. */
typedef struct KeyReader
{
	FunctionCallInfo fcinfo;
	const char *argument;
	SimdupKeys *keys;
	const char *columns; /* in words */
	const char *example; /* and as a SELECT lists them */
	int n_keys;
	Oid types[3]; /* of the other columns; InvalidOid: no more */
	void (*take)(void *arg, Datum *keys, Datum *values);
	void *arg;
} KeyReader;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	KeyReader *reader = arg;
	int n = reader->n_keys;
	bool fits = true;

	for (; OidIsValid(reader->types[n - reader->n_keys]); n++)
		fits = fits && n < columns->natts &&
			   TupleDescAttr(columns, n)->atttypid ==
				   reader->types[n - reader->n_keys];
	if (!fits || columns->natts != n)
		return false;
	for (int i = 0; i < reader->n_keys; i++)
		simdup_keys_expect(reader->keys, TupleDescAttr(columns, i)->atttypid,
						   argument);
	return true;
}

/* Take a row: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	KeyReader *reader = arg;
	Datum keys[2];

	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		if (i < reader->n_keys)
			keys[i] = simdup_keys_take(reader->keys, slot->tts_values[i],
									   slot->tts_isnull[i]);
		else
			simdup_check_not_null(slot->tts_isnull[i],
								  NameStr(
									  TupleDescAttr(slot->tts_tupleDescriptor,
													i)
										  ->attname));
	}
	reader->take(reader->arg, keys, slot->tts_values + reader->n_keys);
}

/* Run the query of the reader's argument; NULL is no rows. */
static void
read_keys(KeyReader reader)
{
	int argument = simdup_named_argument(reader.fcinfo, reader.argument);
	FunctionCallInfo fcinfo = reader.fcinfo;
	SimdupQuery query = {NULL, reader.argument, reader.columns, reader.example};

	if (PG_ARGISNULL(argument))
		return;
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 take_row, &reader);
}

void
simdup_read_members(FunctionCallInfo fcinfo, SimdupKeys *keys,
					void (*take)(void *arg, Datum *keys, Datum *values),
					void *arg)
{
	read_keys((KeyReader){
		.fcinfo = fcinfo,
		.argument = "members",
		.keys = keys,
		.n_keys = 1,
		.types = {INT8OID},
		.columns = "a key, and an id",
		.example = "key, id",
		.take = take,
		.arg = arg,
	});
}

SimdupFingerprints *
simdup_read_fingerprints(FunctionCallInfo fcinfo, const SimdupOptions *options)
{
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1, options);
	int level;

	simdup_rows_by_key(rows);
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_path_end(level);
	return simdup_rows_distinct(rows);
}

/*
 * Decisions
 */

typedef struct Decided
{
	SimdupDecisions decisions; /* those that hold */
	SimdupDecisions passed;	   /* those that contradict earlier ones */
	SimdupConstraints constraints;
	SimdupKeys *keys;
	SimdupKeyNumbers *numbers;
	Oid key_type;
	uint32 n; /* keys, of rows and of decisions */
} Decided;

static char *
decided_key(const Decided *d, uint32 number)
{
	return simdup_key_text(d->key_type, simdup_keys_get(d->keys, number, 0));
}

/* Append the chain of equal rows from a to b. */
static void
append_chain(StringInfo text, const Decided *d, uint32 a, uint32 b)
{
	uint32 *chain;
	uint32 length = simdup_decisions_chain(&d->decisions, d->n, a, b, &chain);

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
contradicted(const Decided *d, const SimdupDecision *passed)
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

		if (other->same ||
			(!as_is && component[other->a] != component[passed->b]) ||
			component[as_is ? other->b : other->a] != component[passed->b] ||
			component[as_is ? other->a : other->b] != component[passed->a])
			continue;
		append_chain(&text, d, passed->a, as_is ? other->a : other->b);
		appendStringInfoString(&text, " <> ");
		append_chain(&text, d, as_is ? other->b : other->a, passed->b);
	}
	return text.data;
}

/* Tell of decisions that are passed over, and of the first with its reason. */
static void
tell_passed(const Decided *d)
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
	Decided *d = arg;
	MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(d->numbers));
	uint32 rows[2];

	simdup_keynumbers_get(d->numbers, keys, 2, rows);
	simdup_decisions_add(&d->decisions, rows[0], rows[1],
						 DatumGetBool(values[0]));
	MemoryContextSwitchTo(old);
}

/*
 * Leave out the cannot-links of a component without a row. Rows have the
 * smallest numbers, so the number of such a component is none of theirs.
 */
static void
forget_gone(Decided *d, uint32 n_rows)
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
	(void) simdup_constraints_find(&d->constraints, d->n, &d->decisions);
}

/*
 * Read an argument's decisions, in the order in which they hold. Keys that are no
 * row's get numbers after those of the rows: what was decided about them counts.
 */
static Decided
read_decisions(FunctionCallInfo fcinfo, SimdupKeys *keys,
			   SimdupKeyNumbers *numbers)
{
	Decided d = {.keys = keys,
				 .numbers = numbers,
				 .key_type = simdup_key_type_argument(fcinfo)};

	read_keys((KeyReader){
		.fcinfo = fcinfo,
		.argument = "decisions",
		.keys = keys,
		.n_keys = 2,
		.types = {BOOLOID},
		.columns = "two keys, and a boolean",
		.example = "a, b, same",
		.take = take_decision,
		.arg = &d,
	});
	d.n = simdup_keynumbers_count(numbers);
	simdup_decisions_settle(&d.decisions, d.n, &d.passed);
	(void) simdup_constraints_find(&d.constraints, d.n, &d.decisions);
	return d;
}

/*
 * Groups
 */

typedef struct GroupChanges
{
	SimdupRows *rows;
	ReturnSetInfo *result;
	uint32 *group;
	int64 *old; /* by row */
	int64 *ids; /* by first row */
	/* by first row of a group without an id: the last one that it had */
	int64 *last;
	int64 *last_refresh;
} GroupChanges;

static void
put_change(GroupChanges *p, Datum key, int64 was, int64 id)
{
	char *text = simdup_key_text(p->rows->key_type, key);
	Datum values[3] = {CStringGetTextDatum(text), Int64GetDatum(was),
					   Int64GetDatum(id)};
	bool nulls[3] = {false, was == SIMDUP_NO_ID, id == SIMDUP_NO_ID};

	simdup_put_result(p->result, values, nulls);
	pfree(DatumGetPointer(values[0]));
	pfree(text);
}

/* Find the row of a key; keys of decisions alone are no rows'. */
static uint32
find_row(GroupChanges *p, Datum *key)
{
	uint32 row = simdup_keynumbers_find(p->rows->numbers, *key);

	return row < p->rows->n ? row : SIMDUP_NO_NUMBER;
}

/* Take a member. A row that the query no longer has is in no group. */
static void
take_member(void *arg, Datum *keys, Datum *values)
{
	GroupChanges *p = arg;
	uint32 row = find_row(p, keys);

	if (row == SIMDUP_NO_NUMBER)
		put_change(p, keys[0], DatumGetInt64(values[0]), SIMDUP_NO_ID);
	else
		p->old[row] = DatumGetInt64(values[0]);
}

/* Take an event: a first row's last id is the latest but that of now. */
static void
take_event(void *arg, Datum *keys, Datum *values)
{
	GroupChanges *p = arg;
	uint32 row = find_row(p, keys);
	int64 id = DatumGetInt64(values[0]);
	int64 refresh = DatumGetInt64(values[1]);

	if (row == SIMDUP_NO_NUMBER || p->group[row] != row ||
		p->ids[row] != SIMDUP_NO_ID || p->last_refresh[row] >= refresh ||
		p->old[row] == id)
		return;
	p->last[row] = id;
	p->last_refresh[row] = refresh;
}

static void
give_ids(GroupChanges *p, FunctionCallInfo fcinfo)
{
	Size n = p->rows->n;
	bool any_left = false;

	p->ids = simdup_group_ids_keep((uint32) n, p->group, p->old);
	for (Size row = 0; row < n && !any_left; row++)
		any_left = p->group[row] == row && p->ids[row] == SIMDUP_NO_ID;
	if (!any_left)
		return;
	p->last = simdup_alloc0((n + 1) * sizeof(int64));
	p->last_refresh = simdup_alloc0((n + 1) * sizeof(int64));
	read_keys((KeyReader){
		.fcinfo = fcinfo,
		.argument = "events",
		.keys = p->rows->keys,
		.n_keys = 1,
		.types = {INT8OID, INT8OID},
		.columns = "a key, an id, and the number of a refresh",
		.example = "key, id, refresh",
		.take = take_event,
		.arg = p,
	});
	(void) simdup_group_ids_give((uint32) n, p->group, p->last,
								 PG_GETARG_INT64(11), p->ids);
}

static void
group_rows(GroupChanges *p, FunctionCallInfo fcinfo,
		   SimdupFingerprints *fingerprints, const SimdupOptions *options)
{
	SimdupRows *rows = p->rows;
	Decided decided = read_decisions(fcinfo, rows->keys, rows->numbers);

	tell_passed(&decided);
	forget_gone(&decided, rows->n);
	p->group = simdup_find_groups(fingerprints, options, &decided.constraints,
								  NULL, NULL, NULL);
	p->old = simdup_alloc0(((Size) rows->n + 1) * sizeof(int64));
	simdup_read_members(fcinfo, rows->keys, take_member, p);
	give_ids(p, fcinfo);
	for (uint32 row = 0; row < rows->n; row++)
	{
		int64 id = p->ids[p->group[row]];

		CHECK_FOR_INTERRUPTS();
		if (id != p->old[row])
			put_change(p, simdup_keys_get(rows->keys, row, 0), p->old[row], id);
	}
}

PG_FUNCTION_INFO_V1(simdup_group_changes);
/*
 * simdup_group_changes(query, keys_of, path, decisions, members, events,
 * max_distance, method, min_resemblance, w, unit, next_id): the query runs
 * under the path, the others under that of the caller
 */
Datum
simdup_group_changes(PG_FUNCTION_ARGS)
{
	GroupChanges p = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupFingerprints *fingerprints;
	int level;

	if (simdup_has_null(fcinfo, 0, 3) || PG_ARGISNULL(11))
		elog(ERROR, "simdup_group_changes called with a null argument");
	fingerprints = simdup_read_fingerprints(fcinfo, &options);
	p.rows = fingerprints->rows;
	level = simdup_exact_texts_begin();
	group_rows(&p, fcinfo, fingerprints, &options);
	simdup_path_end(level);
	simdup_fingerprints_end(fingerprints);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_contradictions);
/* Return simdup_contradictions(decisions, keys_of). */
Datum
simdup_contradictions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Oid key_type = simdup_key_type_argument(fcinfo);
	SimdupKeys *keys = simdup_keys_begin(key_type);
	int level = simdup_exact_texts_begin();
	Decided d =
		read_decisions(fcinfo, keys, simdup_keynumbers_begin(keys, key_type));

	for (size_t i = 0; i < d.passed.n; i++)
	{
		const SimdupDecision *item = &d.passed.items[i];
		bool is_shown = i < MOST_CHAINS;
		Datum values[4] = {CStringGetTextDatum(decided_key(&d, item->a)),
						   CStringGetTextDatum(decided_key(&d, item->b)),
						   BoolGetDatum(item->same),
						   CStringGetTextDatum(is_shown ? contradicted(&d, item)
														: "")};
		bool nulls[4] = {false, false, false, !is_shown};

		CHECK_FOR_INTERRUPTS();
		simdup_put_result(result, values, nulls);
	}
	simdup_path_end(level);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_table_in_path);
/* Return the table that a name means under a path, or NULL. */
Datum
simdup_table_in_path(PG_FUNCTION_ARGS)
{
	List *names = textToQualifiedNameList(PG_GETARG_TEXT_PP(0));
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Oid table = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);

	simdup_path_end(level);
	if (!OidIsValid(table))
		PG_RETURN_NULL();
	PG_RETURN_OID(table);
}

PG_FUNCTION_INFO_V1(simdup_schema_in_path);
/* Return the schema where a path creates, or NULL. */
Datum
simdup_schema_in_path(PG_FUNCTION_ARGS)
{
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	List *path = fetch_search_path(false);
	char *name = path == NIL ? NULL : get_namespace_name(linitial_oid(path));

	simdup_path_end(level);
	if (name == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(namein, CStringGetDatum(name)));
}

PG_FUNCTION_INFO_V1(simdup_first_type);
/* Return the type of a query's first column, under a path. */
Datum
simdup_first_type(PG_FUNCTION_ARGS)
{
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Oid type = simdup_query_type(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	simdup_path_end(level);
	PG_RETURN_OID(type);
}

PG_FUNCTION_INFO_V1(simdup_key_equality);
/*
 * Return the equality of a type's default btree class, to stand in a statement.
 * ERROR if the type has no such class, or none for hashing, or is a domain over
 * a type whose equality is not the catalogs'.
 */
Datum
simdup_key_equality(PG_FUNCTION_ARGS)
{
	Oid type = PG_GETARG_OID(0);
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR |
									TYPECACHE_HASH_PROC);
	HeapTuple found;
	Oid schema;

	if (!OidIsValid(entry->btree_opf) || !OidIsValid(entry->eq_opr) ||
		!OidIsValid(entry->hash_proc) ||
		OidIsValid(get_base_element_type(type)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail(
					"It is an array, or has no default operator class for btree or hash."));
	found = SearchSysCache1(OPEROID, ObjectIdGetDatum(entry->eq_opr));
	if (!HeapTupleIsValid(found))
		elog(ERROR, "cache lookup failed for operator %u", entry->eq_opr);
	schema = ((Form_pg_operator) GETSTRUCT(found))->oprnamespace;
	ReleaseSysCache(found);
	/* a domain's own operator there would fit a statement better */
	if (schema != PG_CATALOG_NAMESPACE && getBaseType(type) != type)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail("It is a domain over type %s of an extension.",
						  format_type_be(getBaseType(type))),
				errhint("Cast the key to the domain's type in the query."));
	PG_RETURN_TEXT_P(
		cstring_to_text(psprintf("OPERATOR(%s.%s)",
								 quote_identifier(get_namespace_name(schema)),
								 get_opname(entry->eq_opr))));
}
