/*
 * workers.c
 *	  Parallel workers that help with a join of fingerprints.
 *
 * The leader of a join puts the fingerprints into shared memory. It and the
 * workers take tiles of the join, in order, by a shared counter. A worker sends
 * its pairs through a queue, and ends each tile by a message. The leader's
 * own messages wait in memory, up to a limit. The leader takes messages in the
 * order of tiles, so pairs come in the same order for any number of workers.
 * Queues are full soon, so workers do not run far ahead.
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
/* The leader keeps 8 MB at most. */
#define OWN_MESSAGES 1000

/* Memory for a worker: its queue, and the server's own for its errors. */
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
	uint32 n;
	bool is_last;
	TilePair pairs[PAIRS_SENT];
} Message;

/* A queue of the leader, and the message at its head. */
typedef struct Queue
{
	shm_mq_handle *handle;
	const Message *head; /* NULL: none yet */
	bool is_closed;
} Queue;

typedef struct JoinLeader
{
	SimdupHelpers helpers;
	ParallelContext *context;
	pg_atomic_uint32 *counter; /* the next tile to join */
	SimdupTileWorker *balls;   /* NULL: not launched yet */
	Queue *queues;
	List *own;	 /* messages of the leader's own tiles, not reported yet */
	uint32 next; /* tile to report */
} JoinLeader;

/* Poll a queue. Return whether it has a message, or has closed now. */
static bool
poll_queue(Queue *queue)
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
		queue->head = data;
	return true;
}

/* Report the pairs of a message, if it is of the next tile. */
static bool
report_message(JoinLeader *leader, const Message *message)
{
	if (message->tile != leader->next)
		return false;
	for (uint32 i = 0; i < message->n; i++)
		simdup_balls_report(leader->balls, message->pairs[i].a,
							message->pairs[i].b);
	leader->next += message->is_last;
	return true;
}

/* Report the pairs that are due. Wait until this tile is the next one. */
static void
report_until(JoinLeader *leader, uint32 tile)
{
	for (;;)
	{
		bool any = false;
		bool all_closed = true;

		if (leader->own != NIL && report_message(leader, linitial(leader->own)))
		{
			pfree(linitial(leader->own));
			leader->own = list_delete_first(leader->own);
			any = true;
		}
		for (int i = 0; i < leader->context->nworkers_launched; i++)
		{
			Queue *queue = &leader->queues[i];

			any = poll_queue(queue) || any;
			all_closed = all_closed && queue->is_closed;
			if (queue->head != NULL && report_message(leader, queue->head))
			{
				queue->head = NULL;
				any = true;
			}
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

/* What the leader or a worker finds, and where it goes. */
typedef struct Sender
{
	JoinLeader *leader;	  /* NULL: a worker */
	shm_mq_handle *queue; /* of a worker */
	Message message;
} Sender;

/*
 * Send the pairs so far. A worker waits for room in its queue. The leader keeps
 * them, reports those that are due, and waits for its turn if it keeps many.
 */
static void
send_pairs(Sender *sender, bool is_last)
{
	JoinLeader *leader = sender->leader;
	Message *message = &sender->message;
	Size size = offsetof(Message, pairs) + message->n * sizeof(TilePair);

	message->is_last = is_last;
	if (leader != NULL)
	{
		leader->own = lappend(leader->own, memcpy(palloc(size), message, size));
		report_until(leader, list_length(leader->own) < OWN_MESSAGES
								 ? 0
								 : message->tile);
	}
	else if (shm_mq_send(sender->queue, size, message, false, true) !=
			 SHM_MQ_SUCCESS)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("lost connection to the leader of a parallel join"));
	message->n = 0;
}

/* Send a pair: a SimdupPairPut. */
static void
send_pair(void *arg, uint32 a, uint32 b)
{
	Sender *sender = arg;

	sender->message.pairs[sender->message.n++] = (TilePair){a, b};
	if (sender->message.n == PAIRS_SENT)
		send_pairs(sender, false);
}

/* Join tiles, as long as the counter has more. */
static void
join_tiles(Sender *sender, SimdupTileWorker *balls, pg_atomic_uint32 *counter)
{
	uint32 n_tiles = simdup_balls_tiles(balls);

	while ((sender->message.tile = pg_atomic_fetch_add_u32(counter, 1)) <
		   n_tiles)
	{
		simdup_balls_join(balls, sender->message.tile, send_pair, sender);
		send_pairs(sender, true);
	}
}

/* Help a leader: started by LaunchParallelWorkers. */
extern PGDLLEXPORT void simdup_join_worker(dsm_segment *segment, shm_toc *toc);
void
simdup_join_worker(dsm_segment *segment, shm_toc *toc)
{
	char *queues = shm_toc_lookup(toc, KEY_QUEUES, false);
	shm_mq *queue = (shm_mq *) (queues + ParallelWorkerNumber * QUEUE_SIZE);
	Sender *sender = palloc0(sizeof(Sender));

	shm_mq_set_sender(queue, MyProc);
	sender->queue = shm_mq_attach(queue, segment, NULL);
	join_tiles(sender, simdup_balls_help(shm_toc_lookup(toc, KEY_TASK, false)),
			   shm_toc_lookup(toc, KEY_COUNTER, false));
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
	context = CreateParallelContext("simdup", "simdup_join_worker", n_workers);
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
	leader->queues = palloc0(n_workers * sizeof(Queue));
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
		leader->queues[i] =
			(Queue){.handle = shm_mq_attach(queue, context->seg, NULL)};
	}
	LaunchParallelWorkers(context);
	leader->helpers.n_launched =
		Max(leader->helpers.n_launched, context->nworkers_launched);
	for (int i = 0; i < context->nworkers_launched; i++)
		shm_mq_set_handle(leader->queues[i].handle,
						  context->worker[i].bgwhandle);
}

/* Join all tiles with workers: of SimdupHelpers. */
static void
run_with_help(void *arg, SimdupTileWorker *balls)
{
	JoinLeader *leader = arg;
	Sender *sender = palloc0(sizeof(Sender));

	sender->leader = leader;
	launch(leader);
	leader->balls = balls;
	leader->next = 0;
	join_tiles(sender, balls, leader->counter);
	report_until(leader, simdup_balls_tiles(balls));
	pfree(sender);
	WaitForParallelWorkersToFinish(leader->context);
	for (int i = 0; i < leader->context->nworkers; i++)
		shm_mq_detach(leader->queues[i].handle);
}

SimdupHelpers *
simdup_workers(void)
{
	JoinLeader *leader = palloc0(sizeof(JoinLeader));

	leader->helpers =
		(SimdupHelpers){begin_help, run_with_help, end_help, leader, 0};
	return &leader->helpers;
}
