/*
 * placing.c
 *	  simdup_place: the rows whose group changes, from the rows of a query, the
 *	  groups and ids that were, and people's decisions.
 *
 * The functions in sql/60-groups.sql call it, with queries of their own beside
 * the caller's, and store what comes out.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "batch/cells.h"
#include "core/host.h"
#include "server/arguments.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/* A query of keys and other columns, which are not null. */
typedef struct Reader
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
	MemoryContext context; /* reset after each row */
} Reader;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	Reader *reader = arg;
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
	Reader *reader = arg;
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	Datum keys[2];

	slot_getallattrs(slot);
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
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->context);
}

/* Run the query of an argument; NULL is no rows. */
static void
read_rows(Reader reader)
{
	int argument = simdup_named_argument(reader.fcinfo, reader.argument);
	FunctionCallInfo fcinfo = reader.fcinfo;
	SimdupQuery query = {NULL, reader.argument, reader.columns, reader.example};

	if (PG_ARGISNULL(argument))
		return;
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	reader.context = AllocSetContextCreate(CurrentMemoryContext, "simdup row",
										   ALLOCSET_SMALL_SIZES);
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 take_row, &reader);
	MemoryContextDelete(reader.context);
}

/*
 * Decisions
 */

static void
refuse_decisions(const SimdupDecisions *decisions,
				 const SimdupDecision *against, SimdupKeys *keys, uint32 n,
				 Oid key_type)
{
	uint32 *chain;
	uint32 length =
		simdup_decisions_chain(decisions, n, against->a, against->b, &chain);
	char *a = simdup_key_text(key_type, simdup_keys_get(keys, against->a, 0));
	char *b = simdup_key_text(key_type, simdup_keys_get(keys, against->b, 0));
	StringInfoData text;

	initStringInfo(&text);
	for (uint32 i = 0; i < length; i++)
	{
		if (i == MOST_SHOWN - 1 && length > MOST_SHOWN)
		{
			appendStringInfoString(&text, " = ...");
			i = length - 1;
		}
		appendStringInfo(&text, "%s%s", i > 0 ? " = " : "",
						 simdup_key_text(key_type,
										 simdup_keys_get(keys, chain[i], 0)));
	}
	ereport(ERROR, errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			errmsg("decision that rows %s and %s are not the same contradicts others",
				   a, b),
			errdetail("It was decided that %s.", text.data),
			errhint("Take a decision back with simdup_undecide."));
}

typedef struct DecisionRows
{
	SimdupDecisions decisions;
	SimdupKeyNumbers *numbers;
	bool is_known; /* keys without a number are passed over */
} DecisionRows;

static void
take_decision(void *arg, Datum *keys, Datum *values)
{
	DecisionRows *d = arg;
	uint32 rows[2];

	if (d->is_known)
		simdup_keynumbers_find(d->numbers, keys, 2, rows);
	else
		simdup_keynumbers_get(d->numbers, keys, 2, rows);
	if (rows[0] != SIMDUP_NO_NUMBER && rows[1] != SIMDUP_NO_NUMBER)
	{
		MemoryContext old =
			MemoryContextSwitchTo(GetMemoryChunkContext(d->numbers));

		simdup_decisions_add(&d->decisions, rows[0], rows[1],
							 DatumGetBool(values[0]));
		MemoryContextSwitchTo(old);
	}
}

/* The blocks of an argument's decisions, or an ERROR. */
static SimdupBlocks
read_blocks(FunctionCallInfo fcinfo, SimdupKeys *keys,
			SimdupKeyNumbers *numbers, bool is_known)
{
	DecisionRows d = {.numbers = numbers, .is_known = is_known};
	Reader reader = {
		.fcinfo = fcinfo,
		.argument = "decisions",
		.keys = keys,
		.n_keys = 2,
		.types = {BOOLOID, InvalidOid},
		.columns = "two keys, and a boolean",
		.example = "a, b, same",
		.take = take_decision,
		.arg = &d,
	};
	SimdupBlocks blocks;
	const SimdupDecision *against;
	uint32 n;

	read_rows(reader);
	n = simdup_keynumbers_count(numbers);
	against = simdup_blocks_find(&blocks, n, &d.decisions);
	if (against != NULL)
		refuse_decisions(&d.decisions, against, keys, n,
						 simdup_key_type_argument(fcinfo));
	return blocks;
}

/*
 * Groups
 */

typedef struct Placing
{
	SimdupRows *rows;
	ReturnSetInfo *result;
	uint32 *group;
	int64 *old; /* by row */
	int64 *ids; /* by first row */
	/* by first row of a group without an id: the last one that it had */
	int64 *last;
	int64 *last_refresh;
} Placing;

static void
put_change(Placing *p, Datum key, int64 was, int64 id)
{
	Datum values[3] = {key, Int64GetDatum(was), Int64GetDatum(id)};
	bool nulls[3] = {false, was == SIMDUP_NO_ID, id == SIMDUP_NO_ID};

	simdup_put_result(p->result, values, nulls);
}

static uint32
find_row(Placing *p, Datum *key)
{
	uint32 row;

	simdup_keynumbers_find(p->rows->numbers, key, 1, &row);
	return row;
}

/* Take a member. A row that the query no longer has is in no group. */
static void
take_member(void *arg, Datum *keys, Datum *values)
{
	Placing *p = arg;
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
	Placing *p = arg;
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
give_ids(Placing *p, Reader reader, int64 next_id)
{
	Size n = p->rows->n;
	bool any_left = false;

	p->ids = simdup_groupids_keep((uint32) n, p->group, p->old);
	for (Size row = 0; row < n && !any_left; row++)
		any_left = p->group[row] == row && p->ids[row] == SIMDUP_NO_ID;
	if (!any_left)
		return;
	p->last = simdup_alloc0((n + 1) * sizeof(int64));
	p->last_refresh = simdup_alloc0((n + 1) * sizeof(int64));
	reader.argument = "events";
	reader.types[1] = INT8OID;
	reader.columns = "a key, an id, and the number of a refresh";
	reader.example = "key, id, refresh";
	reader.take = take_event;
	read_rows(reader);
	(void) simdup_groupids_give((uint32) n, p->group, p->last, next_id, p->ids);
}

static void
place_rows(Placing *p, FunctionCallInfo fcinfo, SimdupGroups *groups,
		   const SimdupOptions *options, int64 next_id)
{
	SimdupRows *rows = p->rows;
	SimdupBlocks blocks = read_blocks(fcinfo, rows->keys, rows->numbers, true);
	Reader reader = {
		.fcinfo = fcinfo,
		.argument = "members",
		.keys = rows->keys,
		.n_keys = 1,
		.types = {INT8OID},
		.columns = "a key, and an id",
		.example = "key, id",
		.take = take_member,
		.arg = p,
	};

	p->group = simdup_cells_place(simdup_cells_begin(groups, options), &blocks,
								  options->method);
	p->old = simdup_alloc0(((Size) rows->n + 1) * sizeof(int64));
	read_rows(reader);
	give_ids(p, reader, next_id);
	for (uint32 row = 0; row < rows->n; row++)
	{
		int64 id = p->ids[p->group[row]];

		CHECK_FOR_INTERRUPTS();
		if (id != p->old[row])
			put_change(p, simdup_keys_get(rows->keys, row, 0), p->old[row], id);
	}
}

/* Check whether the decisions agree with each other. */
static void
check_decisions(FunctionCallInfo fcinfo)
{
	Oid key_type = simdup_key_type_argument(fcinfo);
	SimdupKeys *keys = simdup_keys_begin(key_type);

	(void) read_blocks(fcinfo, keys, simdup_keynumbers_begin(keys, key_type),
					   false);
}

PG_FUNCTION_INFO_V1(simdup_place);
/*
 * simdup_place(key_type, decisions, query, members, events, max_distance,
 * method, min_resemblance, w, unit, next_id); without a query, only decisions
 * are checked
 */
Datum
simdup_place(PG_FUNCTION_ARGS)
{
	Placing p = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupGroups *groups;
	MemoryContext old;

	if (PG_ARGISNULL(2))
	{
		check_decisions(fcinfo);
		return (Datum) 0;
	}
	simdup_check_not_null(PG_ARGISNULL(10), "next_id");
	p.rows = simdup_rows_begin(fcinfo, 1, &options);
	simdup_rows_by_key(p.rows);
	simdup_rows_read(p.rows, text_to_cstring(PG_GETARG_TEXT_PP(2)), "query");
	old = MemoryContextSwitchTo(p.rows->context);
	groups = simdup_rows_group(p.rows);
	place_rows(&p, fcinfo, groups, &options, PG_GETARG_INT64(10));
	MemoryContextSwitchTo(old);
	simdup_groups_end(groups);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_key_equality);
/*
 * Return the equality of a type's default btree class, to stand in a statement.
 * ERROR if the type has no such class, or none for hashing.
 */
Datum
simdup_key_equality(PG_FUNCTION_ARGS)
{
	Oid type = PG_GETARG_OID(0);
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR |
									TYPECACHE_HASH_PROC);

	if (!OidIsValid(entry->btree_opf) || !OidIsValid(entry->eq_opr) ||
		!OidIsValid(entry->hash_proc) ||
		OidIsValid(get_base_element_type(type)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail(
					"It is an array, or has no default operator class for btree or hash."));
	PG_RETURN_TEXT_P(cstring_to_text(
		psprintf("OPERATOR(%s.%s)",
				 quote_identifier(get_namespace_name(
					 get_func_namespace(get_opcode(entry->eq_opr)))),
				 get_opname(entry->eq_opr))));
}
