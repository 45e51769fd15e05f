/*
 * decisions.c
 *	  People's decisions about the keys of a grouping: those that hold, and the
 *	  contradictions of the others.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

#include "batch/groups.h"
#include "core/host.h"

/* Keys of a chain that a message shows. */
#define MOST_SHOWN 20

static void
take_decision(void *arg, Datum *values)
{
	SimdupDecided *d = arg;
	uint32 keys[2];

	simdup_keynumbers_get(d->rows->numbers, values, 2, keys);
	simdup_decisions_add(&d->decisions, keys[0], keys[1],
						 DatumGetBool(values[2]));
}

SimdupDecided
simdup_decisions_read(SimdupRows *rows, Oid table)
{
	SimdupDecided d = {.rows = rows};
	uint32 n_keys;

	simdup_grouping_table(rows, table, "t.a, t.b, t.same",
						  "ORDER BY t.at, t.a, t.b", 2, BOOLOID, take_decision,
						  &d);
	n_keys = simdup_keynumbers_count(rows->numbers);
	simdup_decisions_settle(&d.decisions, n_keys, &d.passed);
	(void) simdup_constraints_find(&d.constraints, n_keys, &d.decisions);
	return d;
}

char *
simdup_decided_key(const SimdupDecided *d, uint32 number)
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
						 simdup_decided_key(d, chain[i]));
	}
	simdup_free(chain);
}

char *
simdup_contradicted(const SimdupDecided *d, const SimdupDecision *passed)
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
			errdetail(first->same ? "Rows %s and %s are not the same: %s."
								  : "Rows %s and %s are the same: %s.",
					  simdup_decided_key(d, first->a),
					  simdup_decided_key(d, first->b),
					  simdup_contradicted(d, first)),
			errhint("Take decisions back with simdup_undecide."));
}

/*
 * Rows have the smallest numbers. So a component without a row has a number that
 * is none of theirs.
 */
void
simdup_decisions_apply(SimdupDecided *d)
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
