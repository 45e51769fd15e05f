/*
 * leader.c
 *	  Clusters of any graph, with edges in any order: leaders by the naive
 *	  single pass, and connected components.
 */
#include "core/host.h"
#include "core/group.h"
#include "input.h"

#define MAX_ELEMENTS 200
#define MAX_EDGES 4096

typedef struct Edge
{
	uint32_t a;
	uint32_t b;
} Edge;

static bool near[MAX_ELEMENTS][MAX_ELEMENTS];
static Edge edges[MAX_EDGES];

/* Edges in the order of the input, repeated where it repeats them. */
static size_t
take_edges(Input *in, uint32_t n)
{
	size_t n_edges = 0;

	memset(near, 0, sizeof(near));
	while (input_left(in) > 0 && n_edges < MAX_EDGES)
	{
		uint32_t a = (uint32_t) take_between(in, 0, n - 1);
		uint32_t b = (uint32_t) take_between(in, 0, n - 1);

		if (a == b)
			continue;
		edges[n_edges++] = (Edge){a, b};
		near[a][b] = near[b][a] = true;
	}
	return n_edges;
}

static int
compare_offers(const void *x, const void *y)
{
	const Edge *a = x;
	const Edge *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return (a->b > b->b) - (a->b < b->b);
}

static void
check_leaders(uint32_t n, size_t n_edges)
{
	static Edge offers[MAX_EDGES];
	uint32_t naive[MAX_ELEMENTS];
	size_t n_offers = 0;
	uint32_t left;
	SimdupLeaders leaders;

	simdup_leaders_init(&leaders, n);
	for (size_t i = 0; i < n_edges; i++)
		simdup_leader_near(&leaders, edges[i].a, edges[i].b);
	left = simdup_leaders_settle(&leaders);
	for (size_t i = 0; i < n_edges; i++)
		if (simdup_leader_wants(&leaders, edges[i].a, edges[i].b,
								&offers[n_offers].a, &offers[n_offers].b))
			n_offers++;
	must(left > 0 || n_offers == 0);
	qsort(offers, n_offers, sizeof(Edge), compare_offers);
	for (size_t i = 0; i < n_offers; i++)
		simdup_leader_offer(&leaders, offers[i].a, offers[i].b);
	simdup_leaders_finish(&leaders);

	for (uint32_t i = 0; i < n; i++)
	{
		naive[i] = i;
		for (uint32_t j = 0; j < i && naive[i] == i; j++)
			if (naive[j] == j && near[i][j])
				naive[i] = j;
		must(leaders.leader[i] == naive[i]);
	}
	simdup_free(leaders.leader);
}

static void
check_components(uint32_t n, size_t n_edges)
{
	uint32_t parent[MAX_ELEMENTS];
	uint32_t name[MAX_ELEMENTS];
	bool changed = true;

	simdup_components_init(parent, n);
	for (size_t i = 0; i < n_edges; i++)
		simdup_components_join(parent, edges[i].a, edges[i].b);
	/* the slow way: smallest names spread until nothing changes */
	for (uint32_t i = 0; i < n; i++)
		name[i] = i;
	while (changed)
	{
		changed = false;
		for (size_t i = 0; i < n_edges; i++)
		{
			uint32_t a = name[edges[i].a];
			uint32_t b = name[edges[i].b];

			changed = changed || a != b;
			name[edges[i].a] = name[edges[i].b] = a < b ? a : b;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		must(simdup_component_root(parent, i) == name[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	uint32_t n = (uint32_t) take_between(&in, 2, MAX_ELEMENTS);
	size_t n_edges = take_edges(&in, n);

	check_leaders(n, n_edges);
	check_components(n, n_edges);
	return 0;
}
