/*
 * place.c
 *	  Groups of rows: random ones against the naive model, and sizes at which
 *	  anything quadratic would not end.
 */
#include "core/host.h"
#include "naive_place.h"
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
	int64_t last[NAIVE_ROWS];
	int64_t expected[NAIVE_ROWS];
	int64_t *ids;
	bool same;

	for (uint32_t i = 0; i < n; i++)
	{
		old[i] = below(9);
		last[i] = below(12);
	}
	ids = simdup_groupids_keep(n, group, old);
	same = naive_ids(n, group, old, last, 12, expected) ==
			   simdup_groupids_give(n, group, last, 12, ids) &&
		   memcmp(ids, expected, n * sizeof(int64_t)) == 0;
	simdup_free(ids);
	return same;
}

static void
test_random(bool verifies, bool with_decisions)
{
	int n_placed = 0;
	int n_wrong = 0;

	while (n_placed < 1000)
	{
		NaiveRows rows;
		NaiveCells cells;
		SimdupBlocks blocks;
		uint32_t expected[NAIVE_ROWS];
		bool leads[NAIVE_ROWS];
		const SimdupBlocks *b = with_decisions ? &blocks : NULL;

		random_rows(&rows, verifies);
		if (!with_decisions)
			rows.decisions.n = 0;
		if (simdup_blocks_find(&blocks, rows.n, &rows.decisions) == NULL)
		{
			naive_make_cells(&cells, &rows);
			naive_leaders(&rows, expected, leads);
			if (!verifies)
				cells.may_lead = naive_may_lead(&cells, b);
			n_wrong += !same_groups(simdup_place_by_leaders(&cells.cells, b),
									expected, rows.n);
			if (!verifies)
				simdup_free(cells.may_lead);
			cells.may_lead = NULL;
			n_wrong += !same_ids(expected, rows.n);
			naive_connected(&rows, expected);
			n_wrong += !same_groups(naive_connect(&cells, b), expected, rows.n);
			n_placed++;
		}
		else
			blocks.n_apart = 0;
		simdup_blocks_free(&blocks);
		simdup_free(rows.decisions.items);
	}
	ok(n_wrong == 0, "%d random sets of rows%s%s: %d wrong", n_placed,
	   verifies ? ", verified" : "", with_decisions ? ", decided" : "",
	   n_wrong);
}

/* No cell has a near one. */
static const SimdupNearCell *
no_near(void *arg __attribute__((unused)),
		uint32_t cell __attribute__((unused)), size_t *n)
{
	*n = 0;
	return NULL;
}

/* n equal rows, with the decisions; the number of groups. */
static uint32_t
place_equal(uint32_t n, const SimdupDecisions *decisions, bool connected)
{
	SimdupCells cells = {.n_rows = n, .near = no_near};
	uint32_t last_row = n - 1;
	SimdupBlocks blocks;
	uint32_t n_groups = 0;
	uint32_t *group;

	cells.cell = simdup_alloc0((size_t) n * sizeof(uint32_t));
	cells.last_row = &last_row;
	if (simdup_blocks_find(&blocks, n, decisions) != NULL)
		return 0;
	group =
		connected
			? simdup_connected_finish(simdup_connected_begin(&cells, &blocks))
			: simdup_place_by_leaders(&cells, &blocks);
	for (uint32_t i = 0; i < n; i++)
		n_groups += group[i] == i;
	simdup_free(group);
	simdup_free(cells.cell);
	simdup_blocks_free(&blocks);
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
		/* two blocks, and each row of one is not the same as one of the other */
		if (i > 1)
			simdup_decisions_add(&both, i - 2, i, true);
		simdup_decisions_add(&both, i - 1, i, false);
	}
	for (int connected = 0; connected < 2; connected++)
	{
		const char *method = connected ? "connected" : "leader";
		SimdupDecisions none = {0};

		ok(place_equal(N, &none, connected) == 1, "%s: equal rows", method);
		ok(place_equal(N, &chain, connected) == 1, "%s: a chain of the same",
		   method);
		ok(place_equal(N, &pairs, connected) == 2, "%s: pairs apart", method);
		ok(place_equal(N, &star, connected) == 2, "%s: one row apart from all",
		   method);
		ok(place_equal(N, &both, connected) == 2, "%s: two blocks apart",
		   method);
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
	SimdupBlocks blocks;
	const SimdupDecision *against;
	uint32_t *chain;

	simdup_decisions_add(&d, 0, 3, true);
	simdup_decisions_add(&d, 3, 5, true);
	simdup_decisions_add(&d, 5, 1, true);
	simdup_decisions_add(&d, 2, 4, false);
	simdup_decisions_add(&d, 1, 0, false);
	against = simdup_blocks_find(&blocks, 6, &d);
	ok(against == &d.items[4], "the decision against the others");
	blocks.n_apart = 0;
	simdup_blocks_free(&blocks);
	ok(simdup_decisions_chain(&d, 6, 1, 0, &chain) == 4 && chain[0] == 1 &&
		   chain[1] == 5 && chain[2] == 3 && chain[3] == 0,
	   "the chain between its rows");
	simdup_free(chain);
	ok(simdup_decisions_chain(&d, 6, 1, 2, &chain) == 0, "no chain");
	simdup_free(chain);
	simdup_free(d.items);
}

int
main(void)
{
	for (int i = 0; i < 4; i++)
		test_random(i % 2, i / 2);
	test_sizes();
	test_chain();
	return done_testing();
}
