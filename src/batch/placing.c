/*
 * placing.c
 *	  simdup_place: the rows whose group changes, from the rows of a query, the
 *	  groups and ids that were, and people's decisions. And simdup_review_rows: the
 *	  rows of groups that a review compares.
 *
 * The functions in sql/60-groups.sql and 62-review.sql call these, with queries of
 * their own beside the caller's.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "batch/cells.h"
#include "core/entries.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/* Contradictions that are told with their chains, each of which costs a search. */
#define MOST_CHAINS 1000

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

typedef struct Decided
{
	SimdupDecisions decisions; /* those that hold */
	SimdupDecisions passed;	   /* those that contradict earlier ones */
	SimdupBlocks blocks;
	SimdupKeys *keys;
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
}

/*
 * Return what a decision that was passed over contradicts: the chain of equal
 * rows between its two, or two chains and where they are not the same.
 */
static char *
contradicted(const Decided *d, const SimdupDecision *passed)
{
	const uint32 *block = d->blocks.block;
	StringInfoData text;

	initStringInfo(&text);
	if (!passed->same)
		append_chain(&text, d, passed->a, passed->b);
	for (size_t i = 0; passed->same && i < d->decisions.n && text.len == 0; i++)
	{
		const SimdupDecision *other = &d->decisions.items[i];
		bool as_is = block[other->a] == block[passed->a];

		if (other->same || (!as_is && block[other->a] != block[passed->b]) ||
			block[as_is ? other->b : other->a] != block[passed->b] ||
			block[as_is ? other->a : other->b] != block[passed->a])
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

typedef struct DecisionRows
{
	Decided *d;
	SimdupKeyNumbers *numbers;
} DecisionRows;

static void
take_decision(void *arg, Datum *keys, Datum *values)
{
	DecisionRows *r = arg;
	MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(r->numbers));
	uint32 rows[2];

	simdup_keynumbers_get(r->numbers, keys, 2, rows);
	simdup_decisions_add(&r->d->decisions, rows[0], rows[1],
						 DatumGetBool(values[0]));
	MemoryContextSwitchTo(old);
}

/*
 * Leave out what keeps blocks apart of which one has no row. Rows have the
 * smallest numbers, so the number of such a block is none of theirs.
 */
static void
forget_gone(Decided *d, uint32 n_rows)
{
	size_t n_left = 0;

	for (size_t i = 0; i < d->decisions.n; i++)
	{
		SimdupDecision item = d->decisions.items[i];

		if (item.same || (d->blocks.block[item.a] < n_rows &&
						  d->blocks.block[item.b] < n_rows))
			d->decisions.items[n_left++] = item;
	}
	if (n_left == d->decisions.n)
		return;
	d->decisions.n = n_left;
	simdup_blocks_free(&d->blocks);
	(void) simdup_blocks_find(&d->blocks, d->n, &d->decisions);
}

/*
 * Read an argument's decisions, in the order in which they hold. Keys that are no
 * row's get numbers after those of the rows: what was decided about them counts.
 */
static Decided
read_decisions(FunctionCallInfo fcinfo, SimdupKeys *keys,
			   SimdupKeyNumbers *numbers)
{
	Decided d = {.keys = keys, .key_type = simdup_key_type_argument(fcinfo)};
	DecisionRows rows = {.d = &d, .numbers = numbers};
	Reader reader = {
		.fcinfo = fcinfo,
		.argument = "decisions",
		.keys = keys,
		.n_keys = 2,
		.types = {BOOLOID, InvalidOid},
		.columns = "two keys, and a boolean",
		.example = "a, b, same",
		.take = take_decision,
		.arg = &rows,
	};

	read_rows(reader);
	d.n = simdup_keynumbers_count(numbers);
	simdup_decisions_settle(&d.decisions, d.n, &d.passed);
	(void) simdup_blocks_find(&d.blocks, d.n, &d.decisions);
	return d;
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
find_row(Placing *p, Datum *key)
{
	uint32 row;

	simdup_keynumbers_find(p->rows->numbers, key, 1, &row);
	return row < p->rows->n ? row : SIMDUP_NO_NUMBER;
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
	Decided decided = read_decisions(fcinfo, rows->keys, rows->numbers);
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

	tell_passed(&decided);
	forget_gone(&decided, rows->n);
	p->group = simdup_cells_place(simdup_cells_begin(groups, options),
								  &decided.blocks, options->method);
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

PG_FUNCTION_INFO_V1(simdup_place);
/*
 * simdup_place(query, keys_of, path, decisions, members, events, max_distance,
 * method, min_resemblance, w, unit, next_id): the query runs under the path, the
 * others under that of the caller
 */
Datum
simdup_place(PG_FUNCTION_ARGS)
{
	Placing p = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupGroups *groups;
	MemoryContext old;
	int level;

	if (simdup_has_null(fcinfo, 0, 3) || PG_ARGISNULL(11))
		elog(ERROR, "simdup_place called with a null argument");
	p.rows = simdup_rows_begin(fcinfo, 1, &options);
	simdup_rows_by_key(p.rows);
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_rows_read(p.rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_path_end(level);
	old = MemoryContextSwitchTo(p.rows->context);
	groups = simdup_rows_group(p.rows);
	level = simdup_exact_texts_begin();
	place_rows(&p, fcinfo, groups, &options, PG_GETARG_INT64(11));
	simdup_path_end(level);
	MemoryContextSwitchTo(old);
	simdup_groups_end(groups);
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

/*
 * Reviewing
 */

typedef struct Reviewed
{
	SimdupRows *rows;
	uint64 *fp;	   /* by row */
	uint32 *scope; /* by row */
	int64 *id;	   /* by row; SIMDUP_NO_ID: in no group */
	SimdupEntry *order;
	Size n;
} Reviewed;

/* Take a member. One that the query no longer has is not reviewed. */
static void
take_reviewed(void *arg, Datum *keys, Datum *values)
{
	Reviewed *r = arg;
	uint32 row;

	simdup_keynumbers_find(r->rows->numbers, keys, 1, &row);
	if (row != SIMDUP_NO_NUMBER)
		r->id[row] = DatumGetInt64(values[0]);
}

/* List the fingerprint and the scope of each row. */
static void
list_rows(Reviewed *r, SimdupGroups *groups)
{
	for (uint32 scope = 0; scope < groups->n_scopes; scope++)
		for (int64 i = groups->scope_starts[scope];
			 i < groups->scope_starts[scope + 1]; i++)
		{
			SimdupGroup group = simdup_groups_get(groups, i);

			CHECK_FOR_INTERRUPTS();
			for (uint32 j = 0; j < group.n; j++)
			{
				uint32 row = simdup_groups_row(groups, group.start + j);

				r->fp[row] = group.fp;
				r->scope[row] = scope;
			}
		}
}

/*
 * Return the rows of one group and one scope, which are n in a row: the first,
 * and those that are at least that far from it.
 */
static void
put_part(const Reviewed *r, const SimdupEntry *part, Size n, int least_distance,
		 ReturnSetInfo *result)
{
	uint32 first = (uint32) part->row;
	bool nulls[7] = {false};

	for (Size i = 0; i < n; i++)
	{
		uint32 row = (uint32) part[i].row;
		Datum values[7];

		CHECK_FOR_INTERRUPTS();
		if (i > 0 &&
			simdup_popcount64(r->fp[first] ^ r->fp[row]) < least_distance)
			continue;
		values[0] = CStringGetTextDatum(
			simdup_key_text(r->rows->key_type,
							simdup_keys_get(r->rows->keys, row, 0)));
		values[1] = Simhash64GetDatum(r->fp[row]);
		values[2] = Int64GetDatum(r->scope[row]);
		values[3] = Int64GetDatum(r->id[row]);
		values[4] = Int64GetDatum(row);
		values[5] = Int64GetDatum(first);
		values[6] = Int64GetDatum((int64) n);
		simdup_put_result(result, values, nulls);
	}
}

static void
put_parts(Reviewed *r, int least_distance, ReturnSetInfo *result)
{
	r->order = simdup_alloc((r->rows->n + (Size) 1) * sizeof(SimdupEntry));
	for (uint32 row = 0; row < r->rows->n; row++)
		if (r->id[row] != SIMDUP_NO_ID)
			r->order[r->n++] =
				(SimdupEntry){(uint64) r->id[row],
							  (uint64) r->scope[row] << 32 | row};
	simdup_sort_pairs(r->order, r->n);
	for (Size from = 0, to; from < r->n; from = to)
	{
		for (to = from + 1;
			 to < r->n && r->order[to].value == r->order[from].value &&
			 r->order[to].row >> 32 == r->order[from].row >> 32;
			 to++)
			;
		put_part(r, r->order + from, to - from, least_distance, result);
	}
}

PG_FUNCTION_INFO_V1(simdup_review_rows);
/* simdup_review_rows(query, keys_of, path, members, least_distance) */
Datum
simdup_review_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Reviewed r = {.rows = simdup_rows_begin(fcinfo, 1, NULL)};
	Reader reader = {
		.fcinfo = fcinfo,
		.argument = "members",
		.keys = r.rows->keys,
		.n_keys = 1,
		.types = {INT8OID},
		.columns = "a key, and an id",
		.example = "key, id",
		.take = take_reviewed,
		.arg = &r,
	};
	SimdupGroups *groups;
	MemoryContext old;
	Size n;
	int level;

	simdup_rows_by_key(r.rows);
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_rows_read(r.rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_path_end(level);
	old = MemoryContextSwitchTo(r.rows->context);
	groups = simdup_rows_group(r.rows);
	n = (Size) r.rows->n + 1;
	r.fp = simdup_alloc(n * sizeof(uint64));
	r.scope = simdup_alloc(n * sizeof(uint32));
	r.id = simdup_alloc0(n * sizeof(int64));
	list_rows(&r, groups);
	reader.keys = r.rows->keys;
	read_rows(reader);
	level = simdup_exact_texts_begin();
	put_parts(&r, PG_GETARG_INT32(4), result);
	simdup_path_end(level);
	MemoryContextSwitchTo(old);
	simdup_groups_end(groups);
	return (Datum) 0;
}

typedef struct ContentRows
{
	ReturnSetInfo *result;
	SimdupKeyNumbers *numbers; /* of the keys whose contents are wanted */
	Oid key_type;
	int content; /* the column; -1: none */
	Oid content_type;
	MemoryContext context; /* reset after each row */
} ContentRows;

/* Find the column content: a SimdupColumnCheck. */
static bool
find_content(void *arg, TupleDesc columns,
			 const char *argument pg_attribute_unused())
{
	ContentRows *c = arg;

	c->content = -1;
	for (int i = 1; i < columns->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(columns, i)->attname), "content") == 0)
			c->content = i;
	if (c->content >= 0)
		c->content_type = TupleDescAttr(columns, c->content)->atttypid;
	return columns->natts > 0 &&
		   getBaseType(TupleDescAttr(columns, 0)->atttypid) ==
			   getBaseType(c->key_type);
}

static void
take_content(void *arg, TupleTableSlot *slot)
{
	ContentRows *c = arg;
	MemoryContext old = MemoryContextSwitchTo(c->context);
	uint32 number = SIMDUP_NO_NUMBER;
	Datum values[3];
	bool nulls[3] = {false};

	slot_getallattrs(slot);
	if (!slot->tts_isnull[0])
		simdup_keynumbers_find(c->numbers, slot->tts_values, 1, &number);
	if (number != SIMDUP_NO_NUMBER && c->content >= 0)
	{
		values[0] = CStringGetTextDatum(
			simdup_key_text(c->key_type, slot->tts_values[0]));
		nulls[1] = slot->tts_isnull[c->content];
		if (!nulls[1])
			values[1] = CStringGetTextDatum(
				simdup_key_text(c->content_type, slot->tts_values[c->content]));
		values[2] = BoolGetDatum(c->content_type == VARBITOID);
		simdup_put_result(c->result, values, nulls);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(c->context);
}

PG_FUNCTION_INFO_V1(simdup_review_contents);
/* Return simdup_review_contents(query, keys_of, path, keys). */
Datum
simdup_review_contents(PG_FUNCTION_ARGS)
{
	ContentRows c = {.result = simdup_begin_result(fcinfo),
					 .key_type = simdup_key_type_argument(fcinfo)};
	SimdupKeys *keys = simdup_keys_begin(c.key_type);
	SimdupQuery query = {text_to_cstring(PG_GETARG_TEXT_PP(0)), "query",
						 SIMDUP_KEY_AND_FP};
	Oid array_type = get_array_type(c.key_type);
	Oid input;
	Oid io_parameter;
	ArrayType *array;
	int16 len;
	bool byval;
	char align;
	Datum *wanted;
	int n;
	int level;

	getTypeInputInfo(array_type, &input, &io_parameter);
	array = DatumGetArrayTypeP(
		OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(3)),
							 io_parameter, -1));
	c.numbers = simdup_keynumbers_begin(keys, c.key_type);
	get_typlenbyvalalign(c.key_type, &len, &byval, &align);
	deconstruct_array(array, c.key_type, len, byval, align, &wanted, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		uint32 number;

		simdup_keynumbers_get(c.numbers, &wanted[i], 1, &number);
	}
	c.context = AllocSetContextCreate(CurrentMemoryContext, "simdup row",
									  ALLOCSET_SMALL_SIZES);
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), find_content,
					 take_content, &c);
	simdup_path_end(level);
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
