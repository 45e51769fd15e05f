/*
 * decisions.c
 *	  The tables of a grouping, and people's decisions about its keys: those that
 *	  hold, and the contradictions of the others.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/decisions.h"
#include "core/host.h"
#include "server/arguments.h"

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
	simdup_decisions_settle(&d.decisions, n_keys, &d.passed);
	(void) simdup_constraints_find(&d.constraints, n_keys, &d.decisions);
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

/*
 * Rows have the smallest numbers. So a component without a row has a number that
 * is none of theirs.
 */
void
simdup_decisions_apply(SimdupDecisionSet *d)
{
	uint32 n_rows = d->rows->n;
	size_t n_left = 0;

	tell_passed(d);
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
