/*
 * workers.c
 *	  Parallel workers that help with a join of fingerprints.
 *
 * The leader puts the fingerprints into shared memory. It and the workers take
 * tiles of the join, in order, by a shared counter. A worker sends what it
 * finds through a queue, and ends each tile by a message. The leader takes
 * pairs in the order of tiles: the next tile is at the head of a queue, or
 * among the leader's own. So pairs come in the same order for any number of
 * workers. Pairs that the leader finds before its turn wait in memory, up to a
 * limit. Queues are full soon, so workers do not run far ahead.
 *
 * Parallel mode begins after the caller's query was read, and ends with the join.
 */
#include "postgres.h"
#include "compat.h"

#include <sys/statvfs.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "port/atomics.h"
#include "storage/dsm_impl.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "utils/wait_event.h"

#include "core/join/allpairs.h"
#include "server/workers.h"

#define KEY_COUNTER UINT64CONST(0x51D0000000000001)
#define KEY_TASK UINT64CONST(0x51D0000000000002)
#define KEY_QUEUES UINT64CONST(0x51D0000000000003)

#define QUEUE_SIZE ((Size) 65536)
#define PAIRS_SENT 1024
#define OWN_TILES 64
#define OWN_PAIRS 1000000

/* Of a worker: its queue, and the server's own for its errors. */
#define WORKER_MEMORY (QUEUE_SIZE + 16384)

/* Parallel contexts have further memory, for the transaction's state. */
#define OTHER_MEMORY ((Size) 1048576)

typedef struct TilePair
{
	uint32 a;
	uint32 b;
} TilePair;

/* Pairs of a tile; the last message of it may have none. */
typedef struct Message
{
	uint32 tile;
	bool is_last;
	TilePair pairs[PAIRS_SENT];
} Message;

#define MESSAGE_SIZE(n) (offsetof(Message, pairs) + (n) * sizeof(TilePair))

/* A queue of the leader, and the message at its head. */
typedef struct Queue
{
	shm_mq_handle *handle;
	const Message *head; /* NULL: none yet */
	Size n;				 /* pairs of it */
	bool is_closed;
} Queue;

/* The leader's own tiles that it could not report yet. */
typedef struct OwnTile
{
	uint32 tile;
	Size end; /* of its pairs */
} OwnTile;

typedef struct JoinLeader
{
	SimdupHelpers helpers;
	ParallelContext *context;
	pg_atomic_uint32 *counter; /* the next tile to join */
	SimdupBalls *balls;
	bool is_relaunch;
	Queue *queues;
	uint32 next; /* tile to report */

	uint32 current; /* the leader's tile */
	OwnTile tiles[OWN_TILES];
	int n_tiles;
	TilePair *pairs;
	Size n_pairs;
	Size reported; /* of the own pairs */
} JoinLeader;

/* What a worker sends, and where to. */
typedef struct Sender
{
	shm_mq_handle *queue;
	Size n;
	Message message;
} Sender;

/* Workers */

/* Send the pairs so far. Without a leader the worker is killed soon. */
static void
send_pairs(Sender *sender, bool is_last)
{
	sender->message.is_last = is_last;
	if (shm_mq_send(sender->queue, MESSAGE_SIZE(sender->n), &sender->message,
					false, true) != SHM_MQ_SUCCESS)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("lost connection to the leader of a parallel join"));
	sender->n = 0;
}

/* Send a pair: a SimdupPairPut. */
static void
send_pair(void *arg, uint32 a, uint32 b)
{
	Sender *sender = arg;

	sender->message.pairs[sender->n++] = (TilePair){a, b};
	if (sender->n == PAIRS_SENT)
		send_pairs(sender, false);
}

/* Join the tiles that a worker gets: started by LaunchParallelWorkers. */
extern PGDLLEXPORT void simdup_join_worker(dsm_segment *segment, shm_toc *toc);
void
simdup_join_worker(dsm_segment *segment, shm_toc *toc)
{
	pg_atomic_uint32 *counter = shm_toc_lookup(toc, KEY_COUNTER, false);
	char *queues = shm_toc_lookup(toc, KEY_QUEUES, false);
	shm_mq *queue = (shm_mq *) (queues + ParallelWorkerNumber * QUEUE_SIZE);
	SimdupBalls *balls =
		simdup_balls_help(shm_toc_lookup(toc, KEY_TASK, false));
	uint32 n_tiles = simdup_balls_tiles(balls);
	Sender *sender = palloc0(sizeof(Sender));
	uint32 tile;

	shm_mq_set_sender(queue, MyProc);
	sender->queue = shm_mq_attach(queue, segment, NULL);
	while ((tile = pg_atomic_fetch_add_u32(counter, 1)) < n_tiles)
	{
		sender->message.tile = tile;
		simdup_balls_join(balls, tile, send_pair, sender);
		send_pairs(sender, true);
	}
	shm_mq_detach(sender->queue);
}

/* The leader */

/*
 * Return how many of n workers there is room for, beside the task. The memory
 * of POSIX may be a small file system, as in containers. The server would fail
 * there.
 */
static int
workers_that_fit(int n, Size task_size)
{
#ifdef __linux__
	struct statvfs room;
	int asked = n;

	if (dynamic_shared_memory_type != DSM_IMPL_POSIX ||
		statvfs("/dev/shm", &room) != 0)
		return n;
	while (n > 0 && (double) room.f_bavail * room.f_frsize <
						(double) (task_size + OTHER_MEMORY + n * WORKER_MEMORY))
		n--;
	if (n < asked)
		ereport(NOTICE,
				errmsg("joining with %d of %d parallel workers", n, asked),
				errdetail("All of them need %zu MB of shared memory in /dev/shm, which has %zu MB.",
						  (task_size + OTHER_MEMORY + asked * WORKER_MEMORY) /
								  1048576 +
							  1,
						  (Size) (room.f_bavail * room.f_frsize / 1048576)));
#endif
	return n;
}

/* Return memory that is shared with workers, or NULL without: of SimdupHelpers. */
static void *
begin_help(void *arg, size_t size)
{
	JoinLeader *leader = arg;
	int n_workers = Min(max_parallel_workers_per_gather, max_parallel_workers);
	ParallelContext *context;
	void *task;

	if (IsInParallelMode() || IsParallelWorker())
		return NULL;
	n_workers = workers_that_fit(n_workers, size);
	if (n_workers < 1)
		return NULL;
	EnterParallelMode();
	context = CreateParallelContext("simdup", "simdup_join_worker", n_workers);
	shm_toc_estimate_chunk(&context->estimator, sizeof(pg_atomic_uint32));
	shm_toc_estimate_chunk(&context->estimator, size);
	shm_toc_estimate_chunk(&context->estimator, n_workers * QUEUE_SIZE);
	shm_toc_estimate_keys(&context->estimator, 3);
	InitializeParallelDSM(context);
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
	leader->is_relaunch = false;
	leader->queues = palloc0(n_workers * sizeof(Queue));
	leader->pairs = MemoryContextAllocHuge(CurrentMemoryContext,
										   OWN_PAIRS * sizeof(TilePair));
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
	pfree(leader->pairs);
}

/* Look at a queue. Return whether it has a message, or has closed now. */
static bool
look_at_queue(Queue *queue)
{
	Size size;
	void *data;
	shm_mq_result result;

	if (queue->is_closed || queue->head != NULL)
		return false;
	result = shm_mq_receive(queue->handle, &size, &data, true);
	if (result == SHM_MQ_WOULD_BLOCK)
		return false;
	queue->is_closed = result == SHM_MQ_DETACHED;
	if (result == SHM_MQ_SUCCESS)
	{
		queue->head = data;
		queue->n = (size - offsetof(Message, pairs)) / sizeof(TilePair);
	}
	return true;
}

static void
report_pairs(const JoinLeader *leader, const TilePair *pairs, Size n)
{
	for (Size i = 0; i < n; i++)
		simdup_balls_report(leader->balls, pairs[i].a, pairs[i].b);
}

/* Report the next tile, or a part, if it is there. */
static bool
report_next(JoinLeader *leader)
{
	if (leader->n_tiles > 0 && leader->tiles[0].tile == leader->next)
	{
		report_pairs(leader, leader->pairs + leader->reported,
					 leader->tiles[0].end - leader->reported);
		leader->reported = leader->tiles[0].end;
		leader->n_tiles--;
		memmove(leader->tiles, leader->tiles + 1,
				leader->n_tiles * sizeof(OwnTile));
		leader->next++;
		return true;
	}
	for (int i = 0; i < leader->context->nworkers_launched; i++)
	{
		Queue *queue = &leader->queues[i];
		const Message *message = queue->head;

		if (message == NULL || message->tile != leader->next)
			continue;
		report_pairs(leader, message->pairs, queue->n);
		leader->next += message->is_last;
		queue->head = NULL;
		return true;
	}
	return false;
}

/* Report what can be reported. Wait until this tile is the next one. */
static void
report_until(JoinLeader *leader, uint32 tile)
{
	int n_workers = leader->context->nworkers_launched;

	for (;;)
	{
		bool any = report_next(leader);
		bool all_closed = true;

		for (int i = 0; i < n_workers; i++)
		{
			any = look_at_queue(&leader->queues[i]) || any;
			all_closed = all_closed && leader->queues[i].is_closed;
		}
		CHECK_FOR_INTERRUPTS();
		if (any)
			continue;
		if (leader->next >= tile)
			break;
		if (all_closed)
		{
			/* a worker that died says so here */
			WaitForParallelWorkersToFinish(leader->context);
			elog(ERROR, "lost a tile of a parallel join");
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* Keep or report a pair of the leader's own: a SimdupPairPut. */
static void
keep_pair(void *arg, uint32 a, uint32 b)
{
	JoinLeader *leader = arg;

	if (leader->n_pairs == OWN_PAIRS)
	{
		report_until(leader, leader->current);
		report_pairs(leader, leader->pairs + leader->reported,
					 leader->n_pairs - leader->reported);
		leader->n_pairs = leader->reported = 0;
	}
	leader->pairs[leader->n_pairs++] = (TilePair){a, b};
}

/* Launch workers, each with a queue. */
static void
launch(JoinLeader *leader)
{
	ParallelContext *context = leader->context;
	char *queues = shm_toc_lookup(context->toc, KEY_QUEUES, false);

	if (leader->is_relaunch)
		ReinitializeParallelDSM(context);
	leader->is_relaunch = true;
	pg_atomic_write_u32(leader->counter, 0);
	for (int i = 0; i < context->nworkers; i++)
	{
		shm_mq *queue = shm_mq_create(queues + i * QUEUE_SIZE, QUEUE_SIZE);

		shm_mq_set_receiver(queue, MyProc);
		leader->queues[i] =
			(Queue){.handle = shm_mq_attach(queue, context->seg, NULL)};
	}
	LaunchParallelWorkers(context);
	for (int i = 0; i < context->nworkers_launched; i++)
		shm_mq_set_handle(leader->queues[i].handle,
						  context->worker[i].bgwhandle);
}

/* Join all tiles with workers: of SimdupHelpers. */
static void
run_with_help(void *arg, SimdupBalls *balls)
{
	JoinLeader *leader = arg;
	uint32 n_tiles = simdup_balls_tiles(balls);

	leader->balls = balls;
	leader->next = 0;
	launch(leader);
	for (;;)
	{
		report_until(leader, 0);
		if (leader->n_tiles == OWN_TILES)
			report_until(leader, leader->tiles[0].tile + 1);
		if (leader->n_tiles == 0)
			leader->n_pairs = leader->reported = 0;
		leader->current = pg_atomic_fetch_add_u32(leader->counter, 1);
		if (leader->current >= n_tiles)
			break;
		simdup_balls_join(balls, leader->current, keep_pair, leader);
		leader->tiles[leader->n_tiles++] =
			(OwnTile){leader->current, leader->n_pairs};
	}
	report_until(leader, n_tiles);
	WaitForParallelWorkersToFinish(leader->context);
	for (int i = 0; i < leader->context->nworkers; i++)
		shm_mq_detach(leader->queues[i].handle);
}

SimdupHelpers *
simdup_workers(void)
{
	JoinLeader *leader = palloc0(sizeof(JoinLeader));

	leader->helpers =
		(SimdupHelpers){begin_help, run_with_help, end_help, leader};
	return &leader->helpers;
}
