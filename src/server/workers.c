/*
 * workers.c
 *	  Parallel workers that help with a join of fingerprints.
 *
 * The leader of a join puts the fingerprints into shared memory. It and the
 * workers take tiles of the join by a shared counter. A worker sends its pairs
 * through a queue. The leader reports them beside its own, so pairs come in any
 * order.
 *
 * Parallel mode begins after the rows were read, and ends with the join.
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

#include "core/join/ball.h"
#include "server/spill.h"

#define KEY_COUNTER UINT64CONST(0x51D0000000000001)
#define KEY_TASK UINT64CONST(0x51D0000000000002)
#define KEY_QUEUES UINT64CONST(0x51D0000000000003)

#define QUEUE_SIZE ((Size) 65536)
#define PAIRS_SENT 1024

/* Memory for a worker: its queue, and the server's own for its errors. */
#define WORKER_MEMORY (QUEUE_SIZE + 16384)

/* Parallel contexts have further memory, for the transaction's state. */
#define OTHER_MEMORY ((Size) 1048576)

typedef struct TilePair
{
	uint32 a;
	uint32 b;
} TilePair;

typedef struct JoinLeader
{
	SimdupHelpers helpers;
	ParallelContext *context;
	pg_atomic_uint32 *counter; /* the next tile to join */
	SimdupTileWorker *balls;   /* NULL: not launched yet */
	shm_mq_handle **queues;
	uint32 n_own; /* pairs of the leader's own tiles */
} JoinLeader;

/* Report the pairs that workers have sent; at the end, until all of these have left. */
static void
report_sent(const JoinLeader *leader, bool at_end)
{
	bool any;
	bool all_left;

	do
	{
		any = false;
		all_left = true;
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < leader->context->nworkers_launched; i++)
		{
			Size size;
			void *data;
			const TilePair *pairs;
			shm_mq_result result =
				shm_mq_receive(leader->queues[i], &size, &data, true);

			all_left = all_left && result == SHM_MQ_DETACHED;
			if (result != SHM_MQ_SUCCESS)
				continue;
			any = true;
			pairs = data;
			for (Size j = 0; j < size / sizeof(TilePair); j++)
				simdup_balls_report(leader->balls, pairs[j].a, pairs[j].b);
		}
		if (at_end && !any && !all_left)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
							 PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
		}
	} while (any || (at_end && !all_left));
}

/* Report a pair of the leader's, and sometimes those of workers: a SimdupPairPut. */
static void
report_own(void *arg, uint32 a, uint32 b)
{
	JoinLeader *leader = arg;

	simdup_balls_report(leader->balls, a, b);
	if (++leader->n_own % PAIRS_SENT == 0)
		report_sent(leader, false);
}

/* Pairs of a worker that are not sent yet. */
typedef struct Sender
{
	shm_mq_handle *queue;
	uint32 n;
	TilePair pairs[PAIRS_SENT];
} Sender;

/* Send the pairs, once there is room in the queue. */
static void
send_pairs(Sender *sender)
{
	if (shm_mq_send(sender->queue, sender->n * sizeof(TilePair), sender->pairs,
					false, true) != SHM_MQ_SUCCESS)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("lost connection to the leader of a parallel join"));
	sender->n = 0;
}

/* Send a pair, with others: a SimdupPairPut. */
static void
send_pair(void *arg, uint32 a, uint32 b)
{
	Sender *sender = arg;

	sender->pairs[sender->n++] = (TilePair){a, b};
	if (sender->n == PAIRS_SENT)
		send_pairs(sender);
}

/* Help a leader: started by LaunchParallelWorkers. */
extern PGDLLEXPORT void simdup_join_worker(dsm_segment *segment, shm_toc *toc);
void
simdup_join_worker(dsm_segment *segment, shm_toc *toc)
{
	char *queues = shm_toc_lookup(toc, KEY_QUEUES, false);
	shm_mq *queue = (shm_mq *) (queues + ParallelWorkerNumber * QUEUE_SIZE);
	SimdupTileWorker *balls =
		simdup_balls_help(shm_toc_lookup(toc, KEY_TASK, false));
	pg_atomic_uint32 *counter = shm_toc_lookup(toc, KEY_COUNTER, false);
	uint32 n_tiles = simdup_balls_tiles(balls);
	Sender *sender = palloc0(sizeof(Sender));
	uint32 tile;

	shm_mq_set_sender(queue, MyProc);
	sender->queue = shm_mq_attach(queue, segment, NULL);
	while ((tile = pg_atomic_fetch_add_u32(counter, 1)) < n_tiles)
	{
		simdup_balls_join(balls, tile, send_pair, sender);
		send_pairs(sender);
	}
	shm_mq_detach(sender->queue);
}

/*
 * Return how many of n workers there is room for, beside the task. The memory
 * of POSIX may be a small file system, as in containers. The server takes memory
 * that it has reserved, if that has room, or else makes a segment there.
 */
static int
workers_that_fit(int n, Size task_size)
{
#ifdef __linux__
	struct statvfs system;
	int asked = n;
	double room;

	if (dynamic_shared_memory_type != DSM_IMPL_POSIX ||
		statvfs("/dev/shm", &system) != 0)
		return n;
	room = Max((double) system.f_bavail * system.f_frsize,
			   min_dynamic_shared_memory * 1048576.0);
	while (n > 0 &&
		   room < (double) (task_size + OTHER_MEMORY + n * WORKER_MEMORY))
		n--;
	if (n < asked)
		ereport(NOTICE,
				errmsg("joining with %d of %d parallel workers", n, asked),
				errdetail("All of them need %zu MB of shared memory, and %zu MB is there.",
						  (task_size + OTHER_MEMORY + asked * WORKER_MEMORY) /
								  1048576 +
							  1,
						  (Size) (room / 1048576)),
				errhint(
					"Make /dev/shm larger, or raise min_dynamic_shared_memory."));
#endif
	return n;
}

/* Add the way out to the server's error, where the room went meanwhile. */
static void
add_shm_hint(void *arg pg_attribute_unused())
{
	if (geterrcode() == ERRCODE_DISK_FULL ||
		geterrcode() == ERRCODE_OUT_OF_MEMORY)
		errhint(
			"Make /dev/shm larger, raise min_dynamic_shared_memory, or set max_parallel_workers_per_gather to 0.");
}

/* Return memory that is shared with workers, or NULL without: of SimdupHelpers. */
static void *
begin_help(void *arg, size_t size)
{
	JoinLeader *leader = arg;
	int n_workers = Min(max_parallel_workers_per_gather, max_parallel_workers);
	ErrorContextCallback callback = {.previous = error_context_stack,
									 .callback = add_shm_hint};
	ParallelContext *context;
	void *task;

	if (IsParallelWorker())
		return NULL;
	n_workers = workers_that_fit(n_workers, size);
	if (n_workers < 1)
		return NULL;
	EnterParallelMode();
	context = CreateParallelContext("$libdir/simdup", "simdup_join_worker",
									n_workers);
	shm_toc_estimate_chunk(&context->estimator, sizeof(pg_atomic_uint32));
	shm_toc_estimate_chunk(&context->estimator, size);
	shm_toc_estimate_chunk(&context->estimator, n_workers * QUEUE_SIZE);
	shm_toc_estimate_keys(&context->estimator, 3);
	error_context_stack = &callback;
	InitializeParallelDSM(context);
	error_context_stack = callback.previous;
	if (context->seg == NULL)
	{
		/* no more segments: this memory would be private */
		DestroyParallelContext(context);
		ExitParallelMode();
		return NULL;
	}
	leader->counter = shm_toc_allocate(context->toc, sizeof(pg_atomic_uint32));
	pg_atomic_init_u32(leader->counter, 0);
	shm_toc_insert(context->toc, KEY_COUNTER, leader->counter);
	task = shm_toc_allocate(context->toc, size);
	shm_toc_insert(context->toc, KEY_TASK, task);
	shm_toc_insert(context->toc, KEY_QUEUES,
				   shm_toc_allocate(context->toc, n_workers * QUEUE_SIZE));
	leader->context = context;
	leader->balls = NULL;
	leader->queues = palloc0(n_workers * sizeof(void *));
	return task;
}

/* End parallel mode: of SimdupHelpers. */
static void
end_help(void *arg)
{
	JoinLeader *leader = arg;

	DestroyParallelContext(leader->context);
	ExitParallelMode();
	pfree(leader->queues);
}

static void
launch(JoinLeader *leader)
{
	ParallelContext *context = leader->context;
	char *queues = shm_toc_lookup(context->toc, KEY_QUEUES, false);

	if (leader->balls != NULL)
		ReinitializeParallelDSM(context);
	pg_atomic_write_u32(leader->counter, 0);
	for (int i = 0; i < context->nworkers; i++)
	{
		shm_mq *queue = shm_mq_create(queues + i * QUEUE_SIZE, QUEUE_SIZE);

		shm_mq_set_receiver(queue, MyProc);
		leader->queues[i] = shm_mq_attach(queue, context->seg, NULL);
	}
	LaunchParallelWorkers(context);
	leader->helpers.n_launched =
		Max(leader->helpers.n_launched, context->nworkers_launched);
	for (int i = 0; i < context->nworkers_launched; i++)
		shm_mq_set_handle(leader->queues[i], context->worker[i].bgwhandle);
}

/* Join all tiles with workers: of SimdupHelpers. */
static void
run_with_help(void *arg, SimdupTileWorker *balls)
{
	JoinLeader *leader = arg;
	uint32 n_tiles = simdup_balls_tiles(balls);
	uint32 tile;

	launch(leader);
	leader->balls = balls;
	while ((tile = pg_atomic_fetch_add_u32(leader->counter, 1)) < n_tiles)
	{
		simdup_balls_join(balls, tile, report_own, leader);
		report_sent(leader, false);
	}
	report_sent(leader, true);
	WaitForParallelWorkersToFinish(leader->context);
	for (int i = 0; i < leader->context->nworkers; i++)
		shm_mq_detach(leader->queues[i]);
}

SimdupHelpers *
simdup_workers(void)
{
	JoinLeader *leader = palloc0(sizeof(JoinLeader));

	leader->helpers =
		(SimdupHelpers){begin_help, run_with_help, end_help, leader, 0};
	return &leader->helpers;
}
