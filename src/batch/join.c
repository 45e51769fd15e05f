/*
 * join.c
 *	  All near pairs of a batch's groups: core's join where they fit in memory,
 *	  and the same pigeonhole through tuplesorts where they do not.
 *
 * On disk: cut the varying bits into k + 1 blocks, sort the groups by each of
 * them in turn, and join every run that is equal in the block: in memory if it
 * fits, else the same way again. The path (see core/pairs.c) goes along, so
 * each pair comes once.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"

#include "batch/join.h"
#include "core/allpairs.h"
#include "core/group.h"
#include "core/hamming.h"
#include "core/host.h"
#include "server/progress.h"

typedef struct GroupJoin
{
	SimdupRows *rows;
	SimdupGroupSink sink;
	void *arg;
	SimdupPairJoin pairs;

	/* the groups in memory now; on disk, one run after the other */
	uint64 *fps; /* ascending */
	SimdupGroup *groups;
	int64 n;
	int64 capacity;
	SimdupGroupIndex index;

	/* progress: this much of n_groups is done, the run is so much of it */
	double done;
	double run;
} GroupJoin;

static void
receive_pair(void *arg, uint64 a, uint64 b)
{
	GroupJoin *join = arg;

	join->sink(join->arg, &join->groups[simdup_group_find(&join->index, a)],
			   &join->groups[simdup_group_find(&join->index, b)],
			   simdup_hamming64(a, b));
}

static void
show_share(void *arg, double done)
{
	GroupJoin *join = arg;

	simdup_progress_look((int64) (join->done + join->run * done));
}

/*
 * Join the groups in memory: those with rows of the first query among each
 * other, and those with the rest.
 */
static void
join_in_memory(GroupJoin *join)
{
	SimdupPairSet with;
	SimdupPairSet without;
	uint64 *fps;
	uint64 *scratch;
	int64 i;

	if (join->n < 2)
		return;
	fps = simdup_alloc((Size) join->n * sizeof(uint64));
	scratch = simdup_alloc((Size) join->n * sizeof(uint64));
	with.fps = fps;
	with.scratch = scratch;
	with.n = 0;
	for (i = 0; i < join->n; i++)
		if (join->groups[i].n_first)
			with.fps[with.n++] = join->fps[i];
	without.fps = fps + with.n;
	without.scratch = scratch + with.n;
	without.n = 0;
	for (i = 0; i < join->n; i++)
		if (!join->groups[i].n_first)
			without.fps[without.n++] = join->fps[i];

	simdup_group_index_init(&join->index, join->fps, (uint32) join->n);
	simdup_pairs_self(&join->pairs, with);
	simdup_pairs_cross(&join->pairs, with, without);
	simdup_group_index_free(&join->index);
	pfree(fps);
	pfree(scratch);
}

/*
 * On disk
 */

/* What a file of groups varies in, and how often each bit is 1. */
static uint64
varying_bits(SimdupTempFile *file, int64 n, uint32 *ones, uint32 *n_sampled)
{
	uint64 any = 0;
	uint64 all = ~UINT64CONST(0);
	int64 step = n / 4096 + 1;
	int64 i;
	int bit;

	*n_sampled = 0;
	for (i = 0; i < n; i++)
	{
		SimdupGroupRecord record;

		CHECK_FOR_INTERRUPTS();
		simdup_tempfile_read(file, i * (int64) sizeof(record), &record,
							 sizeof(record));
		any |= record.fp;
		all &= record.fp;
		if (i % step != 0)
			continue;
		for (bit = 0; bit < 64; bit++)
			ones[bit] += (uint32) (record.fp >> bit & 1);
		(*n_sampled)++;
	}
	return any ^ all;
}

#define N_COLUMNS 5

/* (block, fingerprint, group), to be sorted by the first two. */
static TupleDesc
group_columns(void)
{
	TupleDesc columns = CreateTemplateTupleDesc(N_COLUMNS);
	int i;

	for (i = 1; i <= N_COLUMNS; i++)
		TupleDescInitEntry(columns, (AttrNumber) i, "", INT8OID, -1, 0);
	SIMDUP_TUPLEDESC_DONE(columns);
	return columns;
}

static Tuplesortstate *
sort_by_block(SimdupTempFile *file, int64 n, uint64 block, TupleDesc columns)
{
	AttrNumber attributes[2] = {1, 2};
	Oid operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid collations[2] = {InvalidOid, InvalidOid};
	bool nulls_first[2] = {false, false};
	TupleTableSlot *slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
	/* the other half is for the groups that are joined */
	Tuplesortstate *sort =
		tuplesort_begin_heap(columns, 2, attributes, operators, collations,
							 nulls_first, Max(maintenance_work_mem / 2, 64),
							 NULL, 0);
	int64 i;

	for (i = 0; i < n; i++)
	{
		SimdupGroupRecord record;

		simdup_tempfile_read(file, i * (int64) sizeof(record), &record,
							 sizeof(record));
		ExecClearTuple(slot);
		slot->tts_values[0] = Int64GetDatum((int64) (record.fp & block));
		/* sorted as signed: flip the first bit to sort as unsigned */
		slot->tts_values[1] =
			Int64GetDatum((int64) (record.fp ^ (UINT64CONST(1) << 63)));
		slot->tts_values[2] = Int64GetDatum((int64) record.group.start);
		slot->tts_values[3] = Int64GetDatum((int64) record.group.n_first);
		slot->tts_values[4] = Int64GetDatum((int64) record.group.n);
		memset(slot->tts_isnull, 0, N_COLUMNS * sizeof(bool));
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(sort, slot);
		CHECK_FOR_INTERRUPTS();
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_performsort(sort);
	return sort;
}

static bool
next_sorted(Tuplesortstate *sort, TupleTableSlot *slot, uint64 *value,
			SimdupGroupRecord *record)
{
	if (!tuplesort_gettupleslot(sort, true, false, slot, NULL))
		return false;
	slot_getallattrs(slot);
	*value = (uint64) DatumGetInt64(slot->tts_values[0]);
	memset(record, 0, sizeof(*record));
	record->fp =
		(uint64) DatumGetInt64(slot->tts_values[1]) ^ (UINT64CONST(1) << 63);
	record->group.start = (uint32) DatumGetInt64(slot->tts_values[2]);
	record->group.n_first = (uint32) DatumGetInt64(slot->tts_values[3]);
	record->group.n = (uint32) DatumGetInt64(slot->tts_values[4]);
	return true;
}

static void join_on_disk(GroupJoin *join, SimdupTempFile *file, int64 n,
						 double weight);

/* A run of groups that are equal in a block, as it comes. */
typedef struct Run
{
	int64 n;
	SimdupTempFile *overflow; /* all of the run, once it is too long */
} Run;

static void
add_to_run(GroupJoin *join, Run *run, const SimdupGroupRecord *record)
{
	int64 i;

	if (run->n == join->capacity && run->overflow == NULL)
	{
		run->overflow = simdup_tempfile_create();
		for (i = 0; i < run->n; i++)
		{
			SimdupGroupRecord earlier;

			memset(&earlier, 0, sizeof(earlier));
			earlier.fp = join->fps[i];
			earlier.group = join->groups[i];
			simdup_tempfile_append(run->overflow, &earlier, sizeof(earlier));
		}
	}
	if (run->overflow)
		simdup_tempfile_append(run->overflow, record, sizeof(*record));
	else
	{
		join->fps[run->n] = record->fp;
		join->groups[run->n] = record->group;
	}
	run->n++;
}

static void
finish_run(GroupJoin *join, Run *run, double weight)
{
	if (run->overflow)
	{
		join_on_disk(join, run->overflow, run->n, weight);
		simdup_tempfile_close(run->overflow);
		run->overflow = NULL;
	}
	else
	{
		join->n = run->n;
		join->run = weight * (double) run->n;
		join_in_memory(join);
		join->done += join->run;
	}
	run->n = 0;
}

/* Sort by one block, join its runs. */
static void
join_by_block(GroupJoin *join, SimdupTempFile *file, int64 n, uint64 block,
			  double weight)
{
	TupleDesc columns = group_columns();
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = sort_by_block(file, n, block, columns);
	uint64 same = join->pairs.path.same;
	Run run = {0};
	uint64 run_value = 0;
	uint64 value;
	SimdupGroupRecord record;

	join->pairs.path.same |= block;
	while (next_sorted(sort, slot, &value, &record))
	{
		CHECK_FOR_INTERRUPTS();
		if (run.n && value != run_value)
			finish_run(join, &run, weight);
		run_value = value;
		add_to_run(join, &run, &record);
	}
	finish_run(join, &run, weight);
	join->pairs.path.same = same;
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(slot);
}

/* Everything of a file at once; for what no block can tell apart. */
static void
join_whole_file(GroupJoin *join, SimdupTempFile *file, int64 n, double weight)
{
	uint64 *outer_fps = join->fps;
	SimdupGroup *outer_groups = join->groups;
	int64 i;

	join->fps = simdup_alloc((Size) n * sizeof(uint64));
	join->groups = simdup_alloc((Size) n * sizeof(SimdupGroup));
	for (i = 0; i < n; i++)
	{
		SimdupGroupRecord record;

		simdup_tempfile_read(file, i * (int64) sizeof(record), &record,
							 sizeof(record));
		join->fps[i] = record.fp;
		join->groups[i] = record.group;
	}
	join->n = n;
	join->run = weight * (double) n;
	join_in_memory(join);
	join->done += join->run;
	pfree(join->fps);
	pfree(join->groups);
	join->fps = outer_fps;
	join->groups = outer_groups;
}

/*
 * Groups that do not fit in memory. weight: the part of the whole join that
 * one group stands for here.
 */
static void
join_on_disk(GroupJoin *join, SimdupTempFile *file, int64 n, double weight)
{
	SimdupPairPath *path = &join->pairs.path;
	int n_blocks = join->pairs.max_distance + 1;
	int n_skipped = path->n_skipped;
	uint64 blocks[SIMDUP_MAX_PAIR_DISTANCE + 1];
	uint32 ones[64] = {0};
	uint32 n_sampled;
	uint64 varying = varying_bits(file, n, ones, &n_sampled);
	int i;

	check_stack_depth();
	/* so few bits vary that there are 2^16 groups at most */
	if (simdup_popcount64(varying) < n_blocks)
		join_whole_file(join, file, n, weight);
	else
	{
		simdup_cut_blocks(varying, ones, n_sampled, n_blocks, blocks);
		for (i = 0; i < n_blocks; i++)
		{
			join_by_block(join, file, n, blocks[i], weight / n_blocks);
			path->skipped[path->n_skipped++] = blocks[i];
		}
	}
	path->n_skipped = n_skipped;
}

void
simdup_join_groups(SimdupRows *rows, int max_distance, SimdupGroupSink sink,
				   void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	GroupJoin *join;

	simdup_progress_phase("comparing", rows->n_groups);
	if (max_distance > 0 && rows->n_groups > 1)
	{
		join = palloc0(sizeof(GroupJoin));
		join->rows = rows;
		join->sink = sink;
		join->arg = arg;
		join->pairs.max_distance = max_distance;
		join->pairs.sink = receive_pair;
		join->pairs.progress = show_share;
		join->pairs.arg = join;
		join->run = (double) rows->n_groups;
		if (rows->groups)
		{
			join->fps = rows->group_fps;
			join->groups = rows->groups;
			join->n = rows->n_groups;
			join_in_memory(join);
		}
		else
		{
			join->capacity = Max(rows->budget / 2 / SIMDUP_GROUP_BYTES, 64);
			join->fps = simdup_alloc((Size) join->capacity * sizeof(uint64));
			join->groups =
				simdup_alloc((Size) join->capacity * sizeof(SimdupGroup));
			join_on_disk(join, rows->group_file, rows->n_groups, 1.0);
			pfree(join->fps);
			pfree(join->groups);
		}
		pfree(join);
	}
	MemoryContextSwitchTo(old);
}
