/*
 * groups.c
 *	  simdup_group_changes: the rows whose group changes, from the rows of a
 *	  query, the groups and ids that were, and people's decisions. And the rows of
 *	  groups that a review compares.
 *
 * The functions in sql/60-groups.sql and sql/62-review.sql call these, with
 * queries of their own beside the caller's.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/join.h"
#include "core/cluster/grouping.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

/* Contradictions that are returned with their chains. Each chain costs a search. */
#define MOST_CHAINS 1000

/*
 * Reading
 */

/* What an argument's query yields: keys and other columns, which are not null. */
typedef struct StoredRows
{
	const char *argument;
	const char *columns; /* in words */
	const char *example; /* and as a SELECT lists them */
	int n_keys;
	int n_values; /* the other columns */
	Oid types[2]; /* of these */
} StoredRows;

static const StoredRows stored_rows[] = {
	{"members", "a key, and an id", "key, id", 1, 1, {INT8OID}},
	{"decisions", "two keys, and a boolean", "a, b, same", 2, 1, {BOOLOID}},
	{"events",
	 "a key, an id, and the number of a refresh",
	 "key, id, refresh",
	 1,
	 2,
	 {INT8OID, INT8OID}},
};

typedef void (*StoredRowSink)(void *arg, Datum *keys, Datum *values);

typedef struct StoredReader
{
	const StoredRows *stored;
	SimdupKeys *keys;
	StoredRowSink take;
	void *arg;
} StoredReader;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	StoredReader *reader = arg;
	const StoredRows *stored = reader->stored;
	int n_keys = stored->n_keys;

	if (columns->natts != n_keys + stored->n_values)
		return false;
	for (int i = 0; i < stored->n_values; i++)
		if (TupleDescAttr(columns, n_keys + i)->atttypid != stored->types[i])
			return false;
	for (int i = 0; i < n_keys; i++)
		simdup_keys_expect(reader->keys, TupleDescAttr(columns, i)->atttypid,
						   argument);
	return true;
}

/* Take a row: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	StoredReader *reader = arg;
	int n_keys = reader->stored->n_keys;
	TupleDesc columns = slot->tts_tupleDescriptor;
	Datum keys[2];

	for (int i = 0; i < n_keys; i++)
		keys[i] = simdup_keys_take(reader->keys, slot->tts_values[i],
								   slot->tts_isnull[i]);
	for (int i = n_keys; i < columns->natts; i++)
		simdup_check_not_null(slot->tts_isnull[i],
							  NameStr(TupleDescAttr(columns, i)->attname));
	reader->take(reader->arg, keys, slot->tts_values + n_keys);
}

/* Read the rows of the argument's query; NULL is no rows. */
static void
read_stored(FunctionCallInfo fcinfo, const char *name, SimdupRows *rows,
			StoredRowSink take, void *arg)
{
	int argument = simdup_named_argument(fcinfo, name);
	StoredReader reader = {stored_rows, rows->keys, take, arg};
	SimdupQuery query = {.argument = name};

	if (PG_ARGISNULL(argument))
		return;
	while (strcmp(reader.stored->argument, name) != 0)
		reader.stored++;
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	query.columns = reader.stored->columns;
	query.example = reader.stored->example;
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 take_row, &reader);
}

/*
 * Read the rows of the query, which is the first argument, under the path, which
 * is the third.
 */
static SimdupFingerprints *
read_rows(FunctionCallInfo fcinfo, const SimdupOptions *options)
{
	SimdupRows *rows =
		simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS_BY_KEY, options);
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));

	simdup_rows_read(rows, fcinfo);
	simdup_path_end(level);
	return simdup_rows_distinct(rows);
}

/*
 * Decisions
 */

typedef struct Decided
{
	SimdupDecisions decisions;	   /* those that hold */
	SimdupDecisions passed;		   /* those that contradict earlier ones */
	SimdupConstraints constraints; /* of the keys of rows and of decisions */
	SimdupRows *rows;
} Decided;

static char *
decided_key(const Decided *d, uint32 number)
{
	return simdup_key_text(d->rows->key_type,
						   simdup_keys_get(d->rows->keys, number, 0));
}

/* Append the chain of equal rows from a to b. */
static void
append_chain(StringInfo text, const Decided *d, uint32 a, uint32 b)
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
	(void) simdup_constraints_find(&d->constraints, d->constraints.n,
								   &d->decisions);
}

/*
 * Read an argument's decisions, in the order in which they hold. Keys that are no
 * row's get numbers after those of the rows: what was decided about them counts.
 */
static Decided
read_decisions(FunctionCallInfo fcinfo, SimdupRows *rows)
{
	Decided d = {.rows = rows};
	uint32 n; /* keys */

	read_stored(fcinfo, "decisions", rows, take_decision, &d);
	n = simdup_keynumbers_count(rows->numbers);
	simdup_decisions_settle(&d.decisions, n, &d.passed);
	(void) simdup_constraints_find(&d.constraints, n, &d.decisions);
	return d;
}

PG_FUNCTION_INFO_V1(simdup_contradictions);
/* Return simdup_contradictions(decisions, keys_of). */
Datum
simdup_contradictions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS_BY_KEY, NULL);
	int level = simdup_exact_texts_begin();
	Decided d = read_decisions(fcinfo, rows);

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
	simdup_rows_end(rows);
	return (Datum) 0;
}

/*
 * Groups
 */

typedef struct StoredGroups
{
	SimdupRows *rows;
	ReturnSetInfo *result;
	int64 *old; /* by row: the id that it has; SIMDUP_NO_ID: in no group */

	/* changes */
	uint32 *group; /* by row; NULL: a review */
	int64 *ids;	   /* by first row */
	/* by first row of a group without an id: the last one that it had */
	int64 *last;
	int64 *last_refresh;

	/* review */
	uint64 *fp;	   /* by row */
	uint32 *scope; /* by row */
} StoredGroups;

/* Put a row of the result, whose first column is a key. */
static void
put_key(const StoredGroups *p, Datum key, Datum *values, const bool *nulls)
{
	char *text = simdup_key_text(p->rows->key_type, key);

	values[0] = CStringGetTextDatum(text);
	simdup_put_result(p->result, values, nulls);
	pfree(DatumGetPointer(values[0]));
	pfree(text);
}

static void
put_change(const StoredGroups *p, Datum key, int64 was, int64 id)
{
	Datum values[3] = {0, Int64GetDatum(was), Int64GetDatum(id)};
	bool nulls[3] = {false, was == SIMDUP_NO_ID, id == SIMDUP_NO_ID};

	put_key(p, key, values, nulls);
}

/* Find the row of a key; keys of decisions alone are no rows'. */
static uint32
find_row(const StoredGroups *p, Datum *key)
{
	uint32 row = simdup_keynumbers_find(p->rows->numbers, *key);

	return row < p->rows->n ? row : SIMDUP_NO_NUMBER;
}

/* Take a member. A row that the query no longer has is in no group. */
static void
take_member(void *arg, Datum *keys, Datum *values)
{
	StoredGroups *p = arg;
	uint32 row = find_row(p, keys);

	if (row != SIMDUP_NO_NUMBER)
		p->old[row] = DatumGetInt64(values[0]);
	else if (p->group != NULL)
		put_change(p, keys[0], DatumGetInt64(values[0]), SIMDUP_NO_ID);
}

/* Take an event: a first row's last id is the latest but that of now. */
static void
take_event(void *arg, Datum *keys, Datum *values)
{
	StoredGroups *p = arg;
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
give_ids(StoredGroups *p, FunctionCallInfo fcinfo)
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
	read_stored(fcinfo, "events", p->rows, take_event, p);
	(void) simdup_group_ids_give((uint32) n, p->group, p->last,
								 PG_GETARG_INT64(11), p->ids);
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
	StoredGroups p = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupFingerprints *fingerprints;
	Decided decided;
	int level;

	if (simdup_has_null(fcinfo, 0, 3) || PG_ARGISNULL(11))
		elog(ERROR, "simdup_group_changes called with a null argument");
	fingerprints = read_rows(fcinfo, &options);
	p.rows = fingerprints->rows;
	level = simdup_exact_texts_begin();
	decided = read_decisions(fcinfo, p.rows);
	tell_passed(&decided);
	forget_gone(&decided, p.rows->n);
	p.group = simdup_find_groups(fingerprints, &decided.constraints, NULL, NULL,
								 NULL);
	p.old = simdup_alloc0(((Size) p.rows->n + 1) * sizeof(int64));
	read_stored(fcinfo, "members", p.rows, take_member, &p);
	give_ids(&p, fcinfo);
	for (uint32 row = 0; row < p.rows->n; row++)
	{
		int64 id = p.ids[p.group[row]];

		CHECK_FOR_INTERRUPTS();
		if (id != p.old[row])
			put_change(&p, simdup_keys_get(p.rows->keys, row, 0), p.old[row],
					   id);
	}
	simdup_path_end(level);
	simdup_rows_end(p.rows);
	return (Datum) 0;
}

/*
 * Put the rows of each group and scope: the first, and those at a distance of at
 * least least_distance from the first.
 */
static void
put_reviewed(const StoredGroups *p, int least_distance)
{
	SimdupEntry *order =
		simdup_alloc((p->rows->n + (Size) 1) * sizeof(SimdupEntry));
	Size n = 0;
	uint32 first = 0;

	for (uint32 row = 0; row < p->rows->n; row++)
		if (p->old[row] != SIMDUP_NO_ID)
			order[n++] = (SimdupEntry){(uint64) p->old[row],
									   (uint64) p->scope[row] << 32 | row};
	simdup_sort_pairs(order, n);
	for (Size i = 0, from = 0, to = 0; i < n; i++)
	{
		uint32 row = (uint32) order[i].row;
		Datum values[7];

		CHECK_FOR_INTERRUPTS();
		if (i == to)
		{
			first = row;
			from = to++;
			while (to < n && order[to].value == order[from].value &&
				   order[to].row >> 32 == order[from].row >> 32)
				to++;
		}
		else if (simdup_hamming64(p->fp[first], p->fp[row]) < least_distance)
			continue;
		values[1] = Simhash64GetDatum(p->fp[row]);
		values[2] = Int64GetDatum(p->scope[row]);
		values[3] = Int64GetDatum(p->old[row]);
		values[4] = Int64GetDatum(row);
		values[5] = Int64GetDatum(first);
		values[6] = Int64GetDatum((int64) (to - from));
		put_key(p, simdup_keys_get(p->rows->keys, row, 0), values, NULL);
	}
}

PG_FUNCTION_INFO_V1(simdup_review_rows);
/* simdup_review_rows(query, keys_of, path, members, least_distance) */
Datum
simdup_review_rows(PG_FUNCTION_ARGS)
{
	StoredGroups p = {.result = simdup_begin_result(fcinfo)};
	SimdupFingerprints *fingerprints = read_rows(fcinfo, NULL);
	Size n = (Size) fingerprints->rows->n + 1;
	int level;

	p.rows = fingerprints->rows;
	p.fp = simdup_alloc(n * sizeof(uint64));
	p.scope = simdup_alloc(n * sizeof(uint32));
	p.old = simdup_alloc0(n * sizeof(int64));
	simdup_fingerprints_by_row(fingerprints, NULL, p.fp, p.scope);
	read_stored(fcinfo, "members", p.rows, take_member, &p);
	level = simdup_exact_texts_begin();
	put_reviewed(&p, PG_GETARG_INT32(4));
	simdup_path_end(level);
	simdup_rows_end(p.rows);
	return (Datum) 0;
}
