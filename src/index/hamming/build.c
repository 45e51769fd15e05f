/*
 * build.c
 *	  CREATE INDEX, with parallel workers or without. Rows beyond
 *	  maintenance_work_mem go to temporary files (tree.c).
 */
#include "postgres.h"
#include "compat.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "index/hamming/am.h"

/*
 * With parallel workers: README has the parts of each participant. Workers write
 * WAL. The leader's commit record comes after it, and so covers it.
 */

#define KEY_SHARED UINT64CONST(0x6861000000000001)
#define KEY_WAL_USAGE UINT64CONST(0x6861000000000002)
#define KEY_BUFFER_USAGE UINT64CONST(0x6861000000000003)
#define KEY_QUERY UINT64CONST(0x6861000000000004)

#define ENTRIES_PER_KB (1024 / sizeof(SimdupEntry))

#define FILE_NAME_LENGTH 32

/* How long the leader waits between two reports of progress. */
#define REPORT_MS 500

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
	int64 n_rows;
	int64 n_nulls;
	bool broken_hot_chain;
	int has_layout; /* 0 or 1 */
	int next_tree;
	int n_trees_written;

	TreeLayout layout; /* does not change once has_layout is 1 */
	pg_atomic_uint64 n_written;
	/* the parallel scan's state follows */
} SharedBuild;

#define SHARED_BUILD_SIZE BUFFERALIGN(sizeof(SharedBuild))

static ParallelTableScanDesc
scan_of(SharedBuild *shared)
{
	return (ParallelTableScanDesc) ((char *) shared + SHARED_BUILD_SIZE);
}

/* What each participant does */

/* The rows of a table, or of the part that a parallel scan gives. */
typedef struct CollectedRows
{
	EntryStore rows;
	EntryStore nulls;
	double heap_tuples;
} CollectedRows;

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	CollectedRows *collected = arg;
	uint64 row = hamming_row_of_tid(tid);
	uint64 fp;

	if (simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
		simdup_entry_store_add(&collected->rows, fp, row);
	else
		simdup_entry_store_add(&collected->nulls, 0, row);
}

static void
collect_rows(Relation heap, Relation index, IndexInfo *info, TableScanDesc scan,
			 bool progress, CollectedRows *collected)
{
	collected->heap_tuples =
		table_index_build_scan(heap, index, info, true, progress, add_row,
							   collected, scan);
}

/* Return the number of entries that a full leaf is filled with. */
static int
entries_per_leaf(Relation index)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;
	int fillfactor =
		options == NULL ? HAMMING_DEFAULT_FILLFACTOR : options->fillfactor;

	return Max(HAMMING_LEAF_CAPACITY * fillfactor / 100, 2);
}

static void
name_file(char *name, const char *kind, int participant)
{
	snprintf(name, FILE_NAME_LENGTH, "%s.%d", kind, participant);
}

static void
share_store(EntryStore *store, SharedBuild *shared, const char *kind,
			int participant, size_t *budget)
{
	char name[FILE_NAME_LENGTH];

	name_file(name, kind, participant);
	simdup_entry_store_init(store, budget);
	simdup_entry_store_share(store, &shared->files.fs, name);
}

/* Write this participant's part of the rows to its files. */
static void
scan_part(SharedBuild *shared, Relation heap, Relation index, int participant,
		  bool reports)
{
	IndexInfo *info = BuildIndexInfo(index);
	CollectedRows collected = {.heap_tuples = 0};
	size_t budget = 0; /* the entries go to files */
	int64 n_rows;
	int64 n_nulls;

	info->ii_Concurrent = shared->is_concurrent;
	share_store(&collected.rows, shared, "rows", participant, &budget);
	share_store(&collected.nulls, shared, "nulls", participant, &budget);
	collect_rows(heap, index, info,
				 SIMDUP_BEGINSCAN_PARALLEL(heap, scan_of(shared)), reports,
				 &collected);
	n_rows = simdup_entry_store_finish(&collected.rows);
	n_nulls = simdup_entry_store_finish(&collected.nulls);

	SpinLockAcquire(&shared->mutex);
	shared->n_scanned++;
	shared->heap_tuples += collected.heap_tuples;
	shared->n_rows += n_rows;
	shared->n_nulls += n_nulls;
	if (info->ii_BrokenHotChain)
		shared->broken_hot_chain = true;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
}

/* Open the files that all participants wrote. */
static EntryStore
open_files(SharedBuild *shared, const char *kind)
{
	EntryStore store = {.n_files = shared->n_participants};

	store.files = palloc(sizeof(BufFile *) * store.n_files);
	for (int i = 0; i < store.n_files; i++)
	{
		char name[FILE_NAME_LENGTH];

		name_file(name, kind, i);
		store.files[i] =
			BufFileOpenFileSet(&shared->files.fs, name, O_RDONLY, false);
	}
	return store;
}

/* Return what a participant has last set there. */
static int
shared_value(SharedBuild *shared, const int *value)
{
	int result;

	SpinLockAcquire(&shared->mutex);
	result = *value;
	SpinLockRelease(&shared->mutex);
	return result;
}

/* Take a tree that no participant has taken, HAMMING_TREES after the last. */
static int
take_tree(SharedBuild *shared)
{
	int tree;

	SpinLockAcquire(&shared->mutex);
	tree = shared->next_tree;
	if (tree < HAMMING_TREES)
		shared->next_tree++;
	SpinLockRelease(&shared->mutex);
	return tree;
}

/* Write trees as long as there are any. */
static void
write_trees(SharedBuild *shared, Relation index, bool reports)
{
	const TreeLayout *layout = &shared->layout;
	/* no more participants than trees are at work */
	int memory_kb =
		maintenance_work_mem / Min(shared->n_participants, HAMMING_TREES);
	BuildProgress progress = {.n_written = &shared->n_written,
							  .reports = reports};
	int tree;

	while ((tree = take_tree(shared)) < HAMMING_TREES)
	{
		EntryStore store =
			open_files(shared, tree == HAMMING_NULL_TREE ? "nulls" : "rows");

		simdup_write_tree(index, layout, tree, &store, memory_kb, &progress);
		simdup_entry_store_end(&store);
		SpinLockAcquire(&shared->mutex);
		shared->n_trees_written++;
		SpinLockRelease(&shared->mutex);
		ConditionVariableBroadcast(&shared->changed);
	}
}

/* Workers */

/* Run as a worker, called by name: see CreateParallelContext. */
extern PGDLLEXPORT void simdup_hamming_build_worker(dsm_segment *seg,
													shm_toc *toc);

void
simdup_hamming_build_worker(dsm_segment *seg, shm_toc *toc)
{
	SharedBuild *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	WalUsage *wal = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffers = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	/* the locks that the server's catalog/index.c holds in the leader */
	LOCKMODE heap_lock =
		shared->is_concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE index_lock =
		shared->is_concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation heap;
	Relation index;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	SharedFileSetAttach(&shared->files, seg);
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);
	InstrStartParallelQuery();
	scan_part(shared, heap, index, ParallelWorkerNumber, false);
	while (shared_value(shared, &shared->has_layout) == 0)
		ConditionVariableSleep(&shared->changed,
							   WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	ConditionVariableCancelSleep();
	write_trees(shared, index, false);
	InstrEndParallelQuery(&buffers[ParallelWorkerNumber],
						  &wal[ParallelWorkerNumber]);
	index_close(index, index_lock);
	table_close(heap, heap_lock);
}

/* The leader */

typedef struct BuildLeader
{
	ParallelContext *context;
	Snapshot snapshot; /* SnapshotAny, or registered */
	SharedBuild *shared;
	WalUsage *wal;
	BufferUsage *buffers;
} BuildLeader;

static void
estimate_shared(BuildLeader *leader, Relation heap)
{
	shm_toc_estimator *estimator = &leader->context->estimator;
	Size n = (Size) leader->context->nworkers;

	shm_toc_estimate_chunk(estimator,
						   add_size(SHARED_BUILD_SIZE,
									table_parallelscan_estimate(heap,
																leader
																	->snapshot)));
	shm_toc_estimate_chunk(estimator, mul_size(sizeof(WalUsage), n));
	shm_toc_estimate_chunk(estimator, mul_size(sizeof(BufferUsage), n));
	shm_toc_estimate_keys(estimator, 3);
	if (debug_query_string != NULL)
	{
		shm_toc_estimate_chunk(estimator, strlen(debug_query_string) + 1);
		shm_toc_estimate_keys(estimator, 1);
	}
}

/* Allocate room in the segment, found by its key. */
static void *
allocate(ParallelContext *context, uint64 key, Size size)
{
	void *room = shm_toc_allocate(context->toc, size);

	memset(room, 0, size);
	shm_toc_insert(context->toc, key, room);
	return room;
}

static void
fill_shared(BuildLeader *leader, Relation heap, Relation index,
			const IndexInfo *info)
{
	ParallelContext *context = leader->context;
	Size n = (Size) context->nworkers;
	SharedBuild *shared;

	shared =
		allocate(context, KEY_SHARED,
				 add_size(SHARED_BUILD_SIZE,
						  table_parallelscan_estimate(heap, leader->snapshot)));
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->is_concurrent = info->ii_Concurrent;
	SharedFileSetInit(&shared->files, context->seg);
	ConditionVariableInit(&shared->changed);
	SpinLockInit(&shared->mutex);
	pg_atomic_init_u64(&shared->n_written, 0);
	table_parallelscan_initialize(heap, scan_of(shared), leader->snapshot);
	leader->shared = shared;
	leader->wal =
		allocate(context, KEY_WAL_USAGE, mul_size(sizeof(WalUsage), n));
	leader->buffers =
		allocate(context, KEY_BUFFER_USAGE, mul_size(sizeof(BufferUsage), n));
	if (debug_query_string != NULL)
	{
		size_t size = strlen(debug_query_string) + 1;

		memcpy(allocate(context, KEY_QUERY, size), debug_query_string, size);
	}
}

/* Leave parallel mode; all workers have ended or there were none. */
static void
end_parallel(BuildLeader *leader)
{
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
	DestroyParallelContext(leader->context);
	ExitParallelMode();
}

/* False if no worker could be had; parallel mode is left then. */
static bool
begin_parallel(BuildLeader *leader, Relation heap, Relation index,
			   const IndexInfo *info, int n_workers)
{
	EnterParallelMode();
	leader->context =
		CreateParallelContext("$libdir/simdup", "simdup_hamming_build_worker",
							  n_workers);
	leader->snapshot = info->ii_Concurrent
						   ? RegisterSnapshot(GetTransactionSnapshot())
						   : SnapshotAny;
	estimate_shared(leader, heap);
	InitializeParallelDSM(leader->context);
	/* without a segment there is no place for workers */
	if (leader->context->seg == NULL)
	{
		end_parallel(leader);
		return false;
	}
	fill_shared(leader, heap, index, info);
	LaunchParallelWorkers(leader->context);
	if (leader->context->nworkers_launched == 0)
	{
		WaitForParallelWorkersToFinish(leader->context);
		end_parallel(leader);
		return false;
	}
	return true;
}

/* Scan as a participant, and wait for the others. */
static void
lead_scan(BuildLeader *leader, Relation heap, Relation index)
{
	SharedBuild *shared = leader->shared;
	int n_workers = leader->context->nworkers_launched;

	/* workers read it after the layout is there */
	shared->n_participants = n_workers + 1;
	scan_part(shared, heap, index, n_workers, true);
	/* a worker that never started is an error here */
	WaitForParallelWorkersToAttach(leader->context);
	while (shared_value(shared, &shared->n_scanned) < shared->n_participants)
		ConditionVariableSleep(&shared->changed,
							   WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	ConditionVariableCancelSleep();
}

/* Decide where the trees stand, write trees, and wait for the others. */
static void
lead_writing(BuildLeader *leader, Relation index)
{
	SharedBuild *shared = leader->shared;

	simdup_lay_out_trees(&shared->layout, entries_per_leaf(index),
						 shared->n_rows, shared->n_nulls);
	simdup_begin_trees(index, &shared->layout);
	SpinLockAcquire(&shared->mutex);
	shared->has_layout = 1;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
	write_trees(shared, index, true);
	while (shared_value(shared, &shared->n_trees_written) < HAMMING_TREES)
	{
		(void)
			ConditionVariableTimedSleep(&shared->changed, REPORT_MS,
										WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 (int64) pg_atomic_read_u64(
										 &shared->n_written));
	}
	ConditionVariableCancelSleep();
}

/*
 * Scan the table and write the trees with the help of workers. Return false if
 * there were none; nothing has been done then.
 */
static bool
build_in_parallel(Relation heap, Relation index, IndexInfo *info,
				  IndexBuildResult *result)
{
	int n_workers = SIMDUP_INDEX_WORKERS(heap, index, info);
	BuildLeader leader;

	if (n_workers == 0 ||
		!begin_parallel(&leader, heap, index, info, n_workers))
		return false;
	ereport(DEBUG1, errmsg_internal("using %d parallel workers",
									leader.context->nworkers_launched));
	lead_scan(&leader, heap, index);
	lead_writing(&leader, index);
	WaitForParallelWorkersToFinish(leader.context);
	for (int i = 0; i < leader.context->nworkers_launched; i++)
		InstrAccumParallelQuery(&leader.buffers[i], &leader.wal[i]);
	simdup_end_trees(index, &leader.shared->layout);
	result->heap_tuples = leader.shared->heap_tuples;
	result->index_tuples = simdup_laid_out_rows(&leader.shared->layout);
	if (leader.shared->broken_hot_chain)
		info->ii_BrokenHotChain = true;
	end_parallel(&leader);
	return true;
}

/* Without workers. */
static void
build_alone(Relation heap, Relation index, IndexInfo *info,
			IndexBuildResult *result)
{
	size_t budget = (size_t) maintenance_work_mem * ENTRIES_PER_KB;
	CollectedRows collected = {.heap_tuples = 0};
	TreeLayout layout;
	pg_atomic_uint64 n_written;
	BuildProgress progress = {.n_written = &n_written, .reports = true};

	simdup_entry_store_init(&collected.rows, &budget);
	simdup_entry_store_init(&collected.nulls, &budget);
	collect_rows(heap, index, info, NULL, true, &collected);
	simdup_lay_out_trees(&layout, entries_per_leaf(index),
						 simdup_entry_store_finish(&collected.rows),
						 simdup_entry_store_finish(&collected.nulls));
	pg_atomic_init_u64(&n_written, 0);
	simdup_begin_trees(index, &layout);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		EntryStore *store =
			tree == HAMMING_NULL_TREE ? &collected.nulls : &collected.rows;

		/* rows that went to files have given their memory back */
		simdup_write_tree(index, &layout, tree, store,
						  (int) (budget / ENTRIES_PER_KB), &progress);
	}
	simdup_end_trees(index, &layout);
	simdup_entry_store_end(&collected.rows);
	simdup_entry_store_end(&collected.nulls);
	result->heap_tuples = collected.heap_tuples;
	result->index_tuples = simdup_laid_out_rows(&layout);
}

IndexBuildResult *
simdup_hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	if (!build_in_parallel(heap, index, info, result))
		build_alone(heap, index, info, result);
	return result;
}

/* Write the init fork of an unlogged index, its copy after a crash. */
static void
write_empty_page(Relation index, Page image)
{
	Buffer buffer = simdup_hamming_extend(index, INIT_FORKNUM);

	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), image, BLCKSZ);
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

void
simdup_hamming_build_empty(Relation index)
{
	BlockNumber roots[HAMMING_TREES];
	int levels[HAMMING_TREES] = {0};
	PGAlignedBlock page;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
		roots[tree] = HAMMING_META_BLOCK + 1 + tree;
	simdup_hamming_init_meta(page.data, roots, levels);
	write_empty_page(index, page.data);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		simdup_hamming_init_page(page.data, tree, 0);
		write_empty_page(index, page.data);
	}
}
