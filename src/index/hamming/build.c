/*
 * build.c
 *	  CREATE INDEX, with parallel workers or without. Rows beyond
 *	  maintenance_work_mem go to temporary files (tree.c).
 *
 * README has the parts of each participant. Workers write WAL. The leader's
 * commit record comes after it, and so covers it. A build without workers has
 * one participant. It alone keeps rows in memory.
 */
#include "postgres.h"
#include "compat.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/sharedfileset.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"

#define KEY_SHARED UINT64CONST(0x6861000000000001)
#define KEY_USAGE UINT64CONST(0x6861000000000002)
#define KEY_QUERY UINT64CONST(0x6861000000000003)

#define ENTRIES_PER_KB (1024 / sizeof(SimdupSortItem))

/* Texts that each participant looks at, and digits of a fingerprint at least. */
#define FIRST_TEXTS 100
#define MIN_HASH_DIGITS 13

/* How long a participant waits between two reports of progress. */
#define REPORT_MS 500

/* Rows with a fingerprint and without. */
typedef enum RowKind
{
	ROWS,
	NULLS,
	N_KINDS
} RowKind;

typedef struct SharedBuild
{
	/* does not change */
	Oid heap;
	Oid index;
	bool is_concurrent;
	SharedFileSet files;

	/* a participant finished a scan or a tree, or the layout is there */
	ConditionVariable changed;
	slock_t mutex; /* for what follows */
	int n_participants;
	int n_scanned;
	double heap_tuples;
	int64 n_rows[N_KINDS];
	int n_texts;  /* that were looked at */
	int n_hashes; /* those that are fingerprints in text form */
	bool broken_hot_chain;
	int has_layout; /* 0 or 1 */
	int n_trees_written;

	TreeLayout layout; /* does not change once has_layout is 1 */
	pg_atomic_uint32 next_tree;
	pg_atomic_uint64 n_written;
	/* the parallel scan's state follows */
} SharedBuild;

#define SHARED_BUILD_SIZE BUFFERALIGN(sizeof(SharedBuild))

/* The buffers and WAL that a worker used, for the leader's sums. */
typedef struct WorkerUsage
{
	BufferUsage buffers;
	WalUsage wal;
} WorkerUsage;

/* A participant. */
typedef struct Build
{
	Relation heap;
	Relation index;
	IndexInfo *info;
	SharedBuild *shared;
	int number;		  /* workers come first, the leader last */
	bool is_parallel; /* there are other participants */
	size_t budget;
	EntryStore stores[N_KINDS];
	bool reads_prose; /* by text_ops */
	int n_texts;
	int n_hashes;

	/* of the leader of workers */
	ParallelContext *context;
	Snapshot snapshot; /* SnapshotAny, or registered */
	WorkerUsage *usage;
} Build;

static ParallelTableScanDesc
scan_of(SharedBuild *shared)
{
	return (ParallelTableScanDesc) ((char *) shared + SHARED_BUILD_SIZE);
}

static void
init_shared(SharedBuild *shared, const Build *build)
{
	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->is_concurrent = build->info->ii_Concurrent;
	ConditionVariableInit(&shared->changed);
	SpinLockInit(&shared->mutex);
	pg_atomic_init_u32(&shared->next_tree, 0);
	pg_atomic_init_u64(&shared->n_written, 0);
}

/* What each participant does */

/*
 * Look whether one of the first texts is a fingerprint in text form, which is not
 * prose. Digits may lack leading zeros.
 */
static void
look_at_text(Build *build, struct varlena *value)
{
	Size len;

	build->n_texts++;
	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
		return;
	len = VARSIZE_ANY_EXHDR(value);
	build->n_hashes +=
		len >= MIN_HASH_DIGITS &&
		simdup_hash_form(VARDATA_ANY(value), len) != SIMDUP_NO_HASH;
}

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	Build *build = arg;
	uint64 row = hamming_row_of_tid(tid);
	uint64 fp;

	if (build->reads_prose && !isnull[0] && build->n_texts < FIRST_TEXTS)
		look_at_text(build, (struct varlena *) DatumGetPointer(values[0]));
	if (simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
		simdup_entry_store_add(&build->stores[ROWS], fp, row);
	else
		simdup_entry_store_add(&build->stores[NULLS], 0, row);
}

/* Collect the rows of the table, or of this participant's part of it. */
static void
collect_rows(Build *build, bool reports)
{
	static const char *const names[] = {"rows", "nulls"};
	SharedBuild *shared = build->shared;
	TableScanDesc scan = NULL;
	double heap_tuples;
	int64 n_rows[N_KINDS];

	/* the entries of a parallel build go to files */
	if (!build->is_parallel)
		build->budget = (size_t) maintenance_work_mem * ENTRIES_PER_KB;
	for (int kind = 0; kind < N_KINDS; kind++)
		simdup_entry_store_init(&build->stores[kind], &build->budget,
								build->is_parallel ? &shared->files.fs : NULL,
								names[kind], build->number);
	if (build->is_parallel)
		scan = SIMDUP_BEGINSCAN_PARALLEL(build->heap, scan_of(shared));
	build->reads_prose = simdup_hamming_reads_prose(build->index);
	heap_tuples = table_index_build_scan(build->heap, build->index, build->info,
										 true, reports, add_row, build, scan);
	for (int kind = 0; kind < N_KINDS; kind++)
		n_rows[kind] = simdup_entry_store_finish(&build->stores[kind]);

	SpinLockAcquire(&shared->mutex);
	shared->n_scanned++;
	shared->heap_tuples += heap_tuples;
	for (int kind = 0; kind < N_KINDS; kind++)
		shared->n_rows[kind] += n_rows[kind];
	shared->n_texts += build->n_texts;
	shared->n_hashes += build->n_hashes;
	if (build->info->ii_BrokenHotChain)
		shared->broken_hot_chain = true;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
}

/* Wait until participants have raised a value to this number. */
static void
wait_for(SharedBuild *shared, const int *value, int wanted)
{
	for (;;)
	{
		int now;

		SpinLockAcquire(&shared->mutex);
		now = *value;
		SpinLockRelease(&shared->mutex);
		if (now >= wanted)
			break;
		(void)
			ConditionVariableTimedSleep(&shared->changed, REPORT_MS,
										WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 (int64) pg_atomic_read_u64(
										 &shared->n_written));
	}
	ConditionVariableCancelSleep();
}

static void
write_trees(Build *build)
{
	SharedBuild *shared = build->shared;
	/* rows that went to files have given their memory back */
	int memory_kb = (int) (build->budget / ENTRIES_PER_KB);
	int tree;

	if (build->is_parallel)
	{
		/* no more participants than trees are at work */
		memory_kb =
			maintenance_work_mem / Min(shared->n_participants, HAMMING_TREES);
		for (int kind = 0; kind < N_KINDS; kind++)
			simdup_entry_store_open(&build->stores[kind],
									shared->n_participants);
	}
	while ((tree = (int) pg_atomic_fetch_add_u32(&shared->next_tree, 1)) <
		   HAMMING_TREES)
	{
		simdup_write_tree(build->index, &shared->layout, tree,
						  &build->stores[tree == HAMMING_NULL_TREE ? NULLS
																   : ROWS],
						  memory_kb, &shared->n_written);
		SpinLockAcquire(&shared->mutex);
		shared->n_trees_written++;
		SpinLockRelease(&shared->mutex);
		ConditionVariableBroadcast(&shared->changed);
	}
	for (int kind = 0; kind < N_KINDS; kind++)
		simdup_entry_store_end(&build->stores[kind]);
}

/* Workers */

/* Run as a worker, called by name: see CreateParallelContext. */
extern PGDLLEXPORT void simdup_hamming_build_worker(dsm_segment *seg,
													shm_toc *toc);

void
simdup_hamming_build_worker(dsm_segment *seg, shm_toc *toc)
{
	SharedBuild *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	WorkerUsage *usage = shm_toc_lookup(toc, KEY_USAGE, false);
	/* the locks that the server's catalog/index.c holds in the leader */
	LOCKMODE heap_lock =
		shared->is_concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE index_lock =
		shared->is_concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Build build = {.shared = shared,
				   .number = ParallelWorkerNumber,
				   .is_parallel = true};

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	SharedFileSetAttach(&shared->files, seg);
	build.heap = table_open(shared->heap, heap_lock);
	build.index = index_open(shared->index, index_lock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->is_concurrent;
	InstrStartParallelQuery();
	collect_rows(&build, false);
	wait_for(shared, &shared->has_layout, 1);
	write_trees(&build);
	InstrEndParallelQuery(&usage[ParallelWorkerNumber].buffers,
						  &usage[ParallelWorkerNumber].wal);
	index_close(build.index, index_lock);
	table_close(build.heap, heap_lock);
}

/* The leader */

static void *
allocate(ParallelContext *context, uint64 key, Size size)
{
	void *room = shm_toc_allocate(context->toc, size);

	memset(room, 0, size);
	shm_toc_insert(context->toc, key, room);
	return room;
}

/* Leave parallel mode; all workers have ended or there were none. */
static void
end_parallel(Build *build)
{
	if (IsMVCCSnapshot(build->snapshot))
		UnregisterSnapshot(build->snapshot);
	DestroyParallelContext(build->context);
	ExitParallelMode();
}

/* Launch workers. Return false if none could be had; nothing is left then. */
static bool
begin_parallel(Build *build, int n_workers)
{
	ParallelContext *context;
	Size shared_size;
	Size usage_size = mul_size(sizeof(WorkerUsage), n_workers);
	Size query_size =
		debug_query_string == NULL ? 0 : strlen(debug_query_string) + 1;

	EnterParallelMode();
	context = CreateParallelContext("$libdir/simdup",
									"simdup_hamming_build_worker", n_workers);
	build->context = context;
	build->snapshot = build->info->ii_Concurrent
						  ? RegisterSnapshot(GetTransactionSnapshot())
						  : SnapshotAny;
	shared_size =
		add_size(SHARED_BUILD_SIZE,
				 table_parallelscan_estimate(build->heap, build->snapshot));
	shm_toc_estimate_chunk(&context->estimator, shared_size);
	shm_toc_estimate_chunk(&context->estimator, usage_size);
	shm_toc_estimate_chunk(&context->estimator, query_size);
	shm_toc_estimate_keys(&context->estimator, 3);
	InitializeParallelDSM(context);
	/* without a segment there is no place for workers */
	if (context->seg == NULL)
	{
		end_parallel(build);
		return false;
	}
	build->shared = allocate(context, KEY_SHARED, shared_size);
	init_shared(build->shared, build);
	SharedFileSetInit(&build->shared->files, context->seg);
	table_parallelscan_initialize(build->heap, scan_of(build->shared),
								  build->snapshot);
	build->usage = allocate(context, KEY_USAGE, usage_size);
	if (query_size > 0)
		memcpy(allocate(context, KEY_QUERY, query_size), debug_query_string,
			   query_size);
	LaunchParallelWorkers(context);
	if (context->nworkers_launched == 0)
	{
		WaitForParallelWorkersToFinish(context);
		end_parallel(build);
		return false;
	}
	ereport(DEBUG1, errmsg_internal("using %d parallel workers",
									context->nworkers_launched));
	return true;
}

/* Scan and write trees as the last participant, and wait for the others. */
static void
lead(Build *build)
{
	SharedBuild *shared = build->shared;
	int fillfactor =
		RelationGetFillFactor(build->index, HAMMING_DEFAULT_FILLFACTOR);

	/* workers read it after the layout is there */
	shared->n_participants = build->number + 1;
	collect_rows(build, true);
	/* a worker that never started is an error here */
	if (build->is_parallel)
		WaitForParallelWorkersToAttach(build->context);
	wait_for(shared, &shared->n_scanned, shared->n_participants);
	if (shared->n_hashes > 0 && shared->n_hashes == shared->n_texts)
		ereport(WARNING,
				errmsg("index \"%s\" treats hexadecimal fingerprints as text",
					   RelationGetRelationName(build->index)),
				errdetail("Each of the %d values that were looked at is such a number.",
						  shared->n_hashes),
				errhint(
					"Give the column the type simhash64, or index its values cast to simhash64."));
	simdup_lay_out_trees(&shared->layout,
						 Max(HAMMING_LEAF_CAPACITY * fillfactor / 100, 2),
						 shared->n_rows[ROWS], shared->n_rows[NULLS]);
	simdup_begin_trees(build->index, &shared->layout);
	SpinLockAcquire(&shared->mutex);
	shared->has_layout = 1;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
	write_trees(build);
	wait_for(shared, &shared->n_trees_written, HAMMING_TREES);
	if (build->is_parallel)
		WaitForParallelWorkersToFinish(build->context);
	simdup_end_trees(build->index, &shared->layout);
}

void (*simdup_hamming_check_late)(Relation index);

IndexBuildResult *
simdup_hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	Build build = {.heap = heap, .index = index, .info = info};
	/* not palloc'ed, which need not align for an atomic of 64 bits */
	SharedBuild alone = {.n_participants = 0};
	int n_workers;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	if (!index->rd_index->indisready)
		simdup_hamming_check_late(index);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	n_workers = SIMDUP_INDEX_WORKERS(heap, index, info);
	build.is_parallel = n_workers > 0 && begin_parallel(&build, n_workers);
	if (build.is_parallel)
		build.number = build.context->nworkers_launched;
	else
	{
		build.shared = &alone;
		init_shared(build.shared, &build);
	}
	lead(&build);
	result->heap_tuples = build.shared->heap_tuples;
	result->index_tuples =
		(double) (build.shared->n_rows[ROWS] + build.shared->n_rows[NULLS]);
	if (build.shared->broken_hot_chain)
		info->ii_BrokenHotChain = true;
	if (build.is_parallel)
	{
		for (int i = 0; i < build.number; i++)
			InstrAccumParallelQuery(&build.usage[i].buffers,
									&build.usage[i].wal);
		end_parallel(&build);
	}
	return result;
}

/* Write the init fork of an unlogged index, its copy after a crash. */
void
simdup_hamming_build_empty(Relation index)
{
	TreeLayout layout;

	simdup_lay_out_trees(&layout, HAMMING_LEAF_CAPACITY, 0, 0);
	for (BlockNumber block = 0; block < layout.n_blocks; block++)
	{
		Buffer buffer = simdup_hamming_extend(index, INIT_FORKNUM);
		Page page = BufferGetPage(buffer);

		START_CRIT_SECTION();
		if (block == HAMMING_META_BLOCK)
			simdup_hamming_init_meta(page, layout.root, layout.level);
		else
			simdup_hamming_init_page(page, (int) block - 1, 0);
		MarkBufferDirty(buffer);
		log_newpage_buffer(buffer, true);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buffer);
	}
}
