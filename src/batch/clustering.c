/*
 * clustering.c
 *	  Which rows of a batch belong together, by either method.
 *
 * Equal rows are in one cluster by both methods, so clusters are of groups,
 * and a group goes by the number of its first row: then the smallest number
 * of a cluster is its first row in query order.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "batch/clustering.h"
#include "core/host.h"
#include "core/leader.h"
#include "core/unionfind.h"

SimdupClusterMethod
simdup_cluster_method(const char *name)
{
	if (strcmp(name, "connected") == 0)
		return SIMDUP_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return SIMDUP_LEADER;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized clustering method: \"%s\"", name),
			errhint("Methods are \"connected\" (connected components) "
					"and \"leader\" (single pass in query order)."));
}

typedef struct Clustering
{
	SimdupRows *rows;
	uint8 *has_near;
	uint32 *parent;		   /* connected */
	SimdupLeaders leaders; /* leader */
	Tuplesortstate *sort;
	TupleTableSlot *slot;
	SimdupGroupSink also;
	void *arg;
} Clustering;

static inline void
set_bit(uint8 *bits, uint32 position)
{
	bits[position / 8] |= (uint8) (1 << position % 8);
}

static inline bool
get_bit(const uint8 *bits, uint32 position)
{
	return (bits[position / 8] >> position % 8) & 1;
}

static uint32
first_row(Clustering *c, const SimdupGroup *group)
{
	return simdup_row_number(c->rows, group->start);
}

/* What both methods do with a near pair. */
static void
note_pair(Clustering *c, const SimdupGroup *a, const SimdupGroup *b,
		  int distance)
{
	set_bit(c->has_near, a->start);
	set_bit(c->has_near, b->start);
	if (c->also)
		c->also(c->arg, a, b, distance);
}

static void
connect_groups(void *arg, const SimdupGroup *a, const SimdupGroup *b,
			   int distance)
{
	Clustering *c = arg;

	simdup_components_join(c->parent, first_row(c, a), first_row(c, b));
	note_pair(c, a, b, distance);
}

static uint32 *
connected_clusters(Clustering *c, int max_distance)
{
	uint32 n = c->rows->n;
	uint32 i;

	c->parent = simdup_alloc((Size) n * sizeof(uint32));
	simdup_components_init(c->parent, n);
	simdup_join_groups(c->rows, max_distance, connect_groups, c);
	/* a parent is never larger than its child, so one ascending pass does it */
	for (i = 0; i < n; i++)
		c->parent[i] = c->parent[c->parent[i]];
	return c->parent;
}

static void
note_near(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	Clustering *c = arg;

	simdup_leader_near(&c->leaders, first_row(c, a), first_row(c, b));
	note_pair(c, a, b, distance);
}

static void
sort_offer(void *arg, const SimdupGroup *a, const SimdupGroup *b,
		   int distance pg_attribute_unused())
{
	Clustering *c = arg;
	TupleTableSlot *slot = c->slot;
	uint32 element;
	uint32 predecessor;

	if (!simdup_leader_wants(&c->leaders, first_row(c, a), first_row(c, b),
							 &element, &predecessor))
		return;
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) element);
	slot->tts_values[1] = Int64GetDatum((int64) predecessor);
	slot->tts_isnull[0] = false;
	slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(c->sort, slot);
}

/* Round 2 of core/leader.h: the near pairs that matter, in their order. */
static void
lead_the_rest(Clustering *c, int max_distance)
{
	TupleDesc columns = CreateTemplateTupleDesc(2);
	AttrNumber attributes[2] = {1, 2};
	Oid operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid collations[2] = {InvalidOid, InvalidOid};
	bool nulls_first[2] = {false, false};
	TupleTableSlot *sorted;

	TupleDescInitEntry(columns, 1, "element", INT8OID, -1, 0);
	TupleDescInitEntry(columns, 2, "predecessor", INT8OID, -1, 0);
	SIMDUP_TUPLEDESC_DONE(columns);
	c->slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
	sorted = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
	c->sort =
		tuplesort_begin_heap(columns, 2, attributes, operators, collations,
							 nulls_first, maintenance_work_mem, NULL, 0);
	simdup_join_groups(c->rows, max_distance, sort_offer, c);
	tuplesort_performsort(c->sort);
	while (tuplesort_gettupleslot(c->sort, true, false, sorted, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(sorted);
		simdup_leader_offer(&c->leaders,
							(uint32) DatumGetInt64(sorted->tts_values[0]),
							(uint32) DatumGetInt64(sorted->tts_values[1]));
	}
	tuplesort_end(c->sort);
	ExecDropSingleTupleTableSlot(sorted);
	ExecDropSingleTupleTableSlot(c->slot);
}

static uint32 *
leader_clusters(Clustering *c, int max_distance)
{
	simdup_leaders_init(&c->leaders, c->rows->n);
	simdup_join_groups(c->rows, max_distance, note_near, c);
	if (simdup_leaders_settle(&c->leaders) > 0)
		lead_the_rest(c, max_distance);
	simdup_leaders_finish(&c->leaders);
	simdup_free(c->leaders.first_near);
	return c->leaders.leader;
}

/* Add up the groups of each cluster, under its first row. */
static void
add_sizes(SimdupClusters *clusters)
{
	SimdupRows *rows = clusters->rows;
	int64 i;

	for (i = 0; i < rows->n_groups; i++)
	{
		SimdupGroup group = simdup_rows_get_group(rows, i).group;
		uint32 number;

		CHECK_FOR_INTERRUPTS();
		if (!get_bit(clusters->has_near, group.start))
			continue;
		number = simdup_row_number(rows, group.start);
		clusters->size[clusters->cluster[number]] += group.n;
	}
}

SimdupClusters *
simdup_find_clusters(SimdupRows *rows, int max_distance,
					 SimdupClusterMethod method, SimdupGroupSink also,
					 void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	SimdupClusters *clusters = palloc(sizeof(SimdupClusters));
	Clustering c = {0};

	c.rows = rows;
	c.has_near = simdup_alloc0(rows->n / 8 + 1);
	c.also = also;
	c.arg = arg;
	clusters->rows = rows;
	clusters->has_near = c.has_near;
	clusters->cluster = method == SIMDUP_CONNECTED
							? connected_clusters(&c, max_distance)
							: leader_clusters(&c, max_distance);
	clusters->size = simdup_alloc0((Size) rows->n * sizeof(uint32));
	add_sizes(clusters);
	MemoryContextSwitchTo(old);
	return clusters;
}

void
simdup_cluster_of(const SimdupClusters *clusters, const SimdupGroup *group,
				  uint32 *first_row, uint32 *size)
{
	uint32 number = simdup_row_number(clusters->rows, group->start);

	if (get_bit(clusters->has_near, group->start))
	{
		*first_row = clusters->cluster[number];
		*size = clusters->size[*first_row];
	}
	else
	{
		*first_row = number;
		*size = group->n;
	}
}
