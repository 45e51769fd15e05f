/*
 * grouping.c
 *	  Rows and decisions of any kind: components, chains, groups by both methods,
 *	  and ids, as the rules give them row by row.
 */
#include "core/cluster/grouping.h"
#include "core/host.h"
#include "input.h"
#include "naive_grouping.h"

/* On a line, n bits from its beginning: rows n and m are |n - m| apart. */
static uint64_t
take_fp(Input *in)
{
	uint64_t line = take_between(in, 0, 2);
	uint64_t n = take_between(in, 0, 9);

	return line << 60 ^ ((UINT64_C(1) << n) - 1);
}

static void
take_rows(Input *in, NaiveRows *rows)
{
	uint32_t n_decisions;

	memset(rows, 0, sizeof(*rows));
	rows->n = (uint32_t) take_between(in, 1, NAIVE_ROWS);
	rows->verifies = take_between(in, 0, 1);
	rows->max_distance = (int) take_between(in, 0, 4);
	n_decisions = (uint32_t) take_between(in, 0, 40);
	for (int i = 0; i < NAIVE_CONTENTS; i++)
		for (int j = 0; j < i; j++)
			rows->resembles[i][j] = rows->resembles[j][i] =
				take_between(in, 0, 1);
	for (uint32_t i = 0; i < n_decisions; i++)
	{
		uint32_t a = (uint32_t) take_between(in, 0, rows->n - 1);
		uint32_t b = (uint32_t) take_between(in, 0, rows->n - 1);

		if (a != b)
			simdup_decisions_add(&rows->decisions, a, b,
								 take_between(in, 0, 1));
	}
	for (uint32_t i = 0; i < rows->n; i++)
	{
		rows->fp[i] = take_fp(in);
		rows->scope[i] = (uint32_t) take_between(in, 0, 7) / 6;
		rows->content[i] = (uint32_t) take_between(in, 0, NAIVE_CONTENTS - 1);
	}
}

/* Each step of a chain is a decision, and its ends are the two rows. */
static void
check_chain(const NaiveRows *rows, const SimdupDecision *against)
{
	uint32_t *chain;
	uint32_t n = simdup_decisions_chain(&rows->decisions, rows->n, against->a,
										against->b, &chain);

	must(n >= 2 && chain[0] == against->a && chain[n - 1] == against->b);
	for (uint32_t i = 1; i < n; i++)
	{
		bool found = false;

		for (size_t j = 0; j < rows->decisions.n; j++)
		{
			SimdupDecision d = rows->decisions.items[j];

			found |= d.same && ((d.a == chain[i] && d.b == chain[i - 1]) ||
								(d.b == chain[i] && d.a == chain[i - 1]));
		}
		must(found);
	}
	simdup_free(chain);
}

/*
 * The first decision against the components, or none; without it components are
 * right.
 */
static bool
check_components(const NaiveRows *rows, SimdupConstraints *constraints)
{
	const SimdupDecision *against =
		simdup_constraints_find(constraints, rows->n, rows->n,
								&rows->decisions);
	const SimdupDecision *expected = NULL;
	uint32_t component[NAIVE_ROWS];

	naive_components(rows, component);
	for (size_t i = rows->decisions.n; i-- > 0;)
	{
		const SimdupDecision *d = &rows->decisions.items[i];

		if (!d->same && component[d->a] == component[d->b])
			expected = d;
	}
	must(against == expected);
	must(memcmp(component, constraints->component,
				rows->n * sizeof(uint32_t)) == 0);
	if (against != NULL)
	{
		check_chain(rows, against);
		simdup_constraints_free(constraints);
	}
	return against == NULL;
}

static void
check_ids(Input *in, uint32_t n, const uint32_t *group)
{
	int64_t old[NAIVE_ROWS];
	int64_t expected[NAIVE_ROWS];
	int64_t *ids;

	for (uint32_t i = 0; i < n; i++)
		old[i] = (int64_t) take_between(in, 0, 7);
	naive_ids(n, group, old, expected);
	ids = simdup_group_ids_keep(n, group, old);
	must(memcmp(ids, expected, n * sizeof(int64_t)) == 0);
	simdup_free(ids);
}

static void
check_groups(Input *in, const NaiveRows *rows,
			 const SimdupConstraints *constraints)
{
	NaiveUnits units;
	uint32_t expected[NAIVE_ROWS];
	bool leads[NAIVE_ROWS];
	uint32_t *group;

	naive_make_units(&units, rows);
	naive_leaders(rows, expected, leads);
	group = naive_lead(&units, constraints,
					   (uint32_t) take_between(in, 1, NAIVE_ROWS));
	must(memcmp(group, expected, rows->n * sizeof(uint32_t)) == 0);
	check_ids(in, rows->n, group);
	simdup_free(group);

	naive_make_units(&units, rows);
	naive_connected(rows, expected);
	group = naive_connect(&units, constraints);
	must(memcmp(group, expected, rows->n * sizeof(uint32_t)) == 0);
	simdup_free(group);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	NaiveRows rows;
	SimdupConstraints constraints;

	take_rows(&in, &rows);
	if (check_components(&rows, &constraints))
	{
		check_groups(&in, &rows, &constraints);
		simdup_constraints_free(&constraints);
	}
	simdup_free(rows.decisions.items);
	return 0;
}
