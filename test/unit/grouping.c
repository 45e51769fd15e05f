/*
 * grouping.c
 *	  Groups of rows: random ones against the naive model, and sizes at which
 *	  anything quadratic would not end.
 */
#include "core/cluster/grouping.h"
#include "core/host.h"
#include "naive_grouping.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 16;

static uint32_t
below(uint32_t n)
{
	return (uint32_t) (next_random_of(&state) % n);
}

/* Rows on a few lines, n bits from their beginnings. */
static void
random_rows(NaiveRows *rows, bool verifies)
{
	uint32_t n_decisions = below(20);

	memset(rows, 0, sizeof(*rows));
	rows->n = 1 + below(NAIVE_ROWS);
	rows->verifies = verifies;
	rows->max_distance = (int) below(5);
	for (int i = 0; i < NAIVE_CONTENTS; i++)
		for (int j = 0; j < i; j++)
			rows->resembles[i][j] = rows->resembles[j][i] = below(2) == 0;
	for (uint32_t i = 0; i < rows->n; i++)
	{
		rows->fp[i] =
			(uint64_t) below(3) << 60 ^ ((UINT64_C(1) << below(12)) - 1);
		rows->scope[i] = below(8) == 0;
		rows->content[i] = below(NAIVE_CONTENTS);
	}
	for (uint32_t i = 0; i < n_decisions && rows->n > 1; i++)
	{
		uint32_t a = below(rows->n);

		simdup_decisions_add(&rows->decisions, a,
							 (a + 1 + below(rows->n - 1)) % rows->n,
							 below(3) == 0);
	}
}

static bool
same_groups(uint32_t *group, const uint32_t *expected, uint32_t n)
{
	bool same = memcmp(group, expected, n * sizeof(uint32_t)) == 0;

	simdup_free(group);
	return same;
}

static bool
same_ids(const uint32_t *group, uint32_t n)
{
	int64_t old[NAIVE_ROWS];
	int64_t expected[NAIVE_ROWS];
	int64_t *ids;
	bool same;

	for (uint32_t i = 0; i < n; i++)
		old[i] = below(9);
	ids = simdup_group_ids_keep(n, group, old);
	naive_ids(n, group, old, expected);
	same = memcmp(ids, expected, n * sizeof(int64_t)) == 0;
	simdup_free(ids);
	return same;
}

static void
test_random(bool verifies, bool with_decisions)
{
	int n_grouped = 0;
	int n_wrong = 0;

	while (n_grouped < 1000)
	{
		NaiveRows rows;
		NaiveUnits units;
		SimdupConstraints constraints;
		uint32_t expected[NAIVE_ROWS];
		bool leads[NAIVE_ROWS];
		const SimdupConstraints *b = with_decisions ? &constraints : NULL;

		random_rows(&rows, verifies);
		if (!with_decisions)
			rows.decisions.n = 0;
		if (simdup_constraints_find(&constraints, rows.n, rows.n,
									&rows.decisions) == NULL)
		{
			naive_make_units(&units, &rows);
			naive_leaders(&rows, expected, leads);
			n_wrong += !same_groups(naive_lead(&units, b, 1 + below(rows.n)),
									expected, rows.n);
			n_wrong += !same_ids(expected, rows.n);
			naive_connected(&rows, expected);
			n_wrong += !same_groups(naive_connect(&units, b), expected, rows.n);
			n_grouped++;
		}
		simdup_constraints_free(&constraints);
		simdup_free(rows.decisions.items);
	}
	ok(n_wrong == 0, "%d random sets of rows%s%s: %d wrong", n_grouped,
	   verifies ? ", verified" : "", with_decisions ? ", decided" : "",
	   n_wrong);
}

/* No unit has a near one. */
static const SimdupNear *
no_near(void *arg __attribute__((unused)),
		uint32_t unit __attribute__((unused)), size_t *n)
{
	*n = 0;
	return NULL;
}

/* The groups of equal rows, in two ranges. */
static uint32_t *
lead_equal(const SimdupUnits *units, const SimdupConstraints *constraints)
{
	SimdupLeading *l = simdup_leading_begin(units, constraints);

	simdup_leading_range(l, 0, units->n_rows / 2, no_near, NULL);
	simdup_leading_range(l, units->n_rows / 2, units->n_rows, no_near, NULL);
	return simdup_leading_finish(l);
}

/* n equal rows, with the decisions; the number of groups. */
static uint32_t
group_equal(uint32_t n, const SimdupDecisions *decisions, bool connected)
{
	SimdupUnits units = {.n_rows = n};
	SimdupConstraints constraints;
	uint32_t n_groups = 0;
	uint32_t *group;

	units.unit = simdup_alloc0((size_t) n * sizeof(uint32_t));
	if (simdup_constraints_find(&constraints, n, n, decisions) != NULL)
		return 0;
	group = connected ? simdup_connected_finish(
							simdup_connected_begin(&units, &constraints))
					  : lead_equal(&units, &constraints);
	for (uint32_t i = 0; i < n; i++)
		n_groups += group[i] == i;
	simdup_free(group);
	simdup_free(units.unit);
	simdup_constraints_free(&constraints);
	return n_groups;
}

static void
test_sizes(void)
{
	enum
	{
		N = 400000
	};
	SimdupDecisions chain = {0};
	SimdupDecisions pairs = {0};
	SimdupDecisions star = {0};
	SimdupDecisions both = {0};

	for (uint32_t i = 1; i < N; i++)
	{
		simdup_decisions_add(&chain, i - 1, i, true);
		simdup_decisions_add(&star, 0, i, false);
		if (i % 2 == 1)
			simdup_decisions_add(&pairs, i - 1, i, false);
		/*
		 * two components, and each row of one is not the same as one of the other
		 */
		if (i > 1)
			simdup_decisions_add(&both, i - 2, i, true);
		simdup_decisions_add(&both, i - 1, i, false);
	}
	for (int connected = 0; connected < 2; connected++)
	{
		const char *method = connected ? "connected" : "leader";
		SimdupDecisions none = {0};

		ok(group_equal(N, &none, connected) == 1, "%s: equal rows", method);
		ok(group_equal(N, &chain, connected) == 1, "%s: a chain of the same",
		   method);
		ok(group_equal(N, &pairs, connected) == 2,
		   "%s: pairs with cannot-links", method);
		ok(group_equal(N, &star, connected) == 2,
		   "%s: one row with a cannot-link to all", method);
		ok(group_equal(N, &both, connected) == 2,
		   "%s: two components with a cannot-link", method);
	}
	simdup_free(chain.items);
	simdup_free(pairs.items);
	simdup_free(star.items);
	simdup_free(both.items);
}

static void
test_chain(void)
{
	SimdupDecisions d = {0};
	SimdupConstraints constraints;
	const SimdupDecision *against;
	uint32_t *chain;

	simdup_decisions_add(&d, 0, 3, true);
	simdup_decisions_add(&d, 3, 5, true);
	simdup_decisions_add(&d, 5, 1, true);
	simdup_decisions_add(&d, 2, 4, false);
	simdup_decisions_add(&d, 1, 0, false);
	against = simdup_constraints_find(&constraints, 6, 6, &d);
	ok(against == &d.items[4], "the decision against the others");
	simdup_constraints_free(&constraints);
	ok(simdup_decisions_chain(&d, 6, 1, 0, &chain) == 4 && chain[0] == 1 &&
		   chain[1] == 5 && chain[2] == 3 && chain[3] == 0,
	   "the chain between its rows");
	simdup_free(chain);
	ok(simdup_decisions_chain(&d, 6, 1, 2, &chain) == 0, "no chain");
	simdup_free(chain);
	simdup_free(d.items);
}

/* Check whether two elements are decided the same, over those that hold. */
static bool
naive_is_same(const SimdupDecisions *d, uint32_t a, uint32_t b)
{
	bool seen[8] = {false};
	bool more = true;

	seen[a] = true;
	while (more)
	{
		more = false;
		for (size_t i = 0; i < d->n; i++)
			if (d->items[i].same && seen[d->items[i].a] != seen[d->items[i].b])
				more = seen[d->items[i].a] = seen[d->items[i].b] = true;
	}
	return seen[b];
}

static bool
naive_contradicts(const SimdupDecisions *d, const SimdupDecision *next)
{
	if (!next->same)
		return naive_is_same(d, next->a, next->b);
	for (size_t i = 0; i < d->n; i++)
	{
		const SimdupDecision *o = &d->items[i];

		if (!o->same && ((naive_is_same(d, next->a, o->a) &&
						  naive_is_same(d, next->b, o->b)) ||
						 (naive_is_same(d, next->a, o->b) &&
						  naive_is_same(d, next->b, o->a))))
			return true;
	}
	return false;
}

/* Decisions in random order, applied one after the other. */
static void
check_settled(void)
{
	uint64_t state = 34;
	bool is_equal = true;
	size_t n_passed = 0;

	for (int run = 0; run < 3000; run++)
	{
		SimdupDecisions d = {0};
		SimdupDecisions holds = {0};
		SimdupDecisions passed = {0};

		for (int i = 0; i < 14; i++)
		{
			SimdupDecision next;

			state = state * 6364136223846793005u + 1442695040888963407u;
			next = (SimdupDecision){state >> 33 & 7, state >> 40 & 7,
									(state >> 50 & 1) != 0};
			if (next.a == next.b)
				continue;
			simdup_decisions_add(&d, next.a, next.b, next.same);
			if (!naive_contradicts(&holds, &next))
				simdup_decisions_add(&holds, next.a, next.b, next.same);
		}
		simdup_decisions_resolve(&d, 8, &passed);
		is_equal = is_equal && d.n == holds.n;
		for (size_t i = 0; i < d.n && is_equal; i++)
			is_equal = d.items[i].a == holds.items[i].a &&
					   d.items[i].b == holds.items[i].b &&
					   d.items[i].same == holds.items[i].same;
		n_passed += passed.n;
		simdup_free(d.items);
		simdup_free(holds.items);
		if (passed.items != NULL)
			simdup_free(passed.items);
	}
	ok(is_equal && n_passed > 1000,
	   "decisions that contradict earlier ones are passed over");
}

int
main(void)
{
	check_settled();
	for (int i = 0; i < 4; i++)
		test_random(i % 2, i / 2);
	test_sizes();
	test_chain();
	return done_testing();
}
