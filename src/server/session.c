/*
 * session.c
 *	  What a function shares with its session and its server: memory and
 *	  interrupts for core/, NOTICEs about progress, room in the lock table.
 */
#include "postgres.h"
#include "compat.h"

#include <limits.h>
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "core/host.h"
#include "server/session.h"

/*
 * The server as core/ sees it: palloc in the current memory context, and
 * interrupts. Allocations may exceed 1 GB; running out is an ERROR.
 */

void *
simdup_alloc(size_t size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE);
}

void *
simdup_alloc0(size_t size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void *
simdup_realloc(void *p, size_t size)
{
	return repalloc_huge(p, size);
}

void
simdup_free(void *p)
{
	pfree(p);
}

void
simdup_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * How far a batch is, told to the caller by NOTICEs.
 *
 * Other sessions see that the statement runs, in pg_stat_activity, and no
 * more. The server's progress views know only its own commands, and shared
 * memory would need a preloaded library.
 */

/* Calls between two looks at the clock. */
#define CALLS_PER_LOOK 256

static int progress_interval_ms = 5000;

typedef struct Progress
{
	const char *function;
	const char *phase;
	int64 done;
	int64 total;
	int calls;
	TimestampTz told;
} Progress;

/* Of the innermost batch: a batch's query may run another. */
static Progress progress;

typedef struct ProgressEnd
{
	MemoryContextCallback callback;
	Progress outer;
} ProgressEnd;

void
simdup_progress_init(void)
{
	DefineCustomIntVariable("simdup.progress_interval",
							"Least time between two progress messages of a batch function.",
							"0 turns them off.", &progress_interval_ms, 5000, 0,
							INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL,
							NULL);
}

/* End the reports when the batch's memory context goes. */
static void
progress_end(void *arg)
{
	progress = ((ProgressEnd *) arg)->outer;
}

void
simdup_progress_begin(const char *function)
{
	ProgressEnd *end = palloc(sizeof(ProgressEnd));

	end->outer = progress;
	end->callback.func = progress_end;
	end->callback.arg = end;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &end->callback);
	memset(&progress, 0, sizeof(progress));
	progress.function = function;
	progress.told = GetCurrentTimestamp();
	simdup_progress_phase("starting", 0);
}

static void
tell_progress(void)
{
	if (progress.total > 0)
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT " of " INT64_FORMAT,
							   progress.function, progress.phase, progress.done,
							   progress.total));
	else
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT, progress.function,
							   progress.phase, progress.done));
}

void
simdup_progress_phase(const char *phase, int64 total)
{
	progress.phase = phase;
	progress.done = 0;
	progress.total = total;
	progress.calls = 0;
}

void
simdup_progress_done(int64 done)
{
	if (++progress.calls % CALLS_PER_LOOK == 0)
		simdup_progress_look(done);
}

void
simdup_progress_look(int64 done)
{
	TimestampTz now;

	if (progress.function == NULL || progress_interval_ms == 0)
		return;
	progress.done = Max(progress.done, done);
	now = GetCurrentTimestamp();
	if (!TimestampDifferenceExceeds(progress.told, now, progress_interval_ms))
		return;
	progress.told = now;
	tell_progress();
}

/*
 * Room in the server's lock table, shared out among all sessions that take
 * advisory locks of ours.
 *
 * The lock table has max_locks_per_transaction entries for each session and
 * prepared transaction, in common. Each transaction may fill a quarter of its
 * own entries. For more it takes slots of a reserve, which is five eighths
 * of the lock table. A slot is a lock itself, so no two transactions have
 * the same one. One transaction gets a fifth of the reserve at most. So all
 * locks of ours in all sessions together never fill more than seven eighths of
 * the lock table.
 */

#define MAX_SLOTS 128
#define MAX_SLOTS_HELD (MAX_SLOTS / 5)

/* What this transaction has: numbers of slots, in the order of taking. */
static FullTransactionId transaction;
static int locks_taken;
static int n_held;
static int held[MAX_SLOTS_HELD];

static int64
reserve_size(void)
{
	return (int64) max_locks_per_xact * (MaxBackends + max_prepared_xacts) * 5 /
		   8;
}

static int
slot_size(void)
{
	return (int) Max(max_locks_per_xact / 2, reserve_size() / MAX_SLOTS);
}

static void
set_slot_tag(LOCKTAG *tag, int slot)
{
	/* the lock table serves all databases, so the slots belong to none */
	SET_LOCKTAG_ADVISORY(*tag, InvalidOid, InvalidOid, slot, SIMDUP_SLOT_TAG);
}

/*
 * Forget what is gone. A new transaction has nothing. The rollback of a
 * savepoint gives back the slots that were taken last. The count of locks
 * stays: the transaction asks for the reserve earlier then.
 */
static void
forget_what_is_gone(void)
{
	FullTransactionId current = GetTopFullTransactionId();
	LOCKTAG tag;

	if (!FullTransactionIdEquals(transaction, current))
	{
		transaction = current;
		locks_taken = 0;
		n_held = 0;
	}
	while (n_held > 0)
	{
		set_slot_tag(&tag, held[n_held - 1]);
		if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
			break;
		n_held--;
	}
}

/*
 * Take a lock for as long as `holder` lives, a (sub)transaction's resource
 * owner. The current one may be a cursor's. When a later FETCH fails, that
 * owner goes with its locks, but the rows of an earlier FETCH stay.
 */
LockAcquireResult
simdup_lock_tag(const LOCKTAG *tag, LOCKMODE mode, bool dont_wait,
				ResourceOwner holder)
{
	ResourceOwner owner = CurrentResourceOwner;
	LockAcquireResult result;

	CurrentResourceOwner = holder;
	result = LockAcquire(tag, mode, false, dont_wait);
	CurrentResourceOwner = owner;
	return result;
}

/* Take a slot that is free, until the transaction ends; false if none is. */
static bool
take_slot(void)
{
	int n = (int) Min(reserve_size() / slot_size(), MAX_SLOTS);

	if (n_held >= Min(Max(n / 5, 1), MAX_SLOTS_HELD))
		return false;
	/* sessions begin at different places, so that most find one at once */
	for (int i = 0; i < n; i++)
	{
		int slot = (int) (((uint32) MyProcPid * 37 + n_held + i) % n);
		LOCKTAG tag;

		set_slot_tag(&tag, slot);
		if (!SIMDUP_LOCK_HELD(&tag, ExclusiveLock) &&
			simdup_lock_tag(&tag, ExclusiveLock, true,
							CurTransactionResourceOwner) == LOCKACQUIRE_OK)
		{
			held[n_held++] = slot;
			return true;
		}
	}
	return false;
}

bool
simdup_reserve_locks(int n)
{
	int room;

	forget_what_is_gone();
	/* a slot costs an entry of its own */
	room = max_locks_per_xact / 4 + n_held * (slot_size() - 1);
	while (room < locks_taken + n)
	{
		if (!take_slot())
			return false;
		room += slot_size() - 1;
	}
	return true;
}

void
simdup_take_reserved(const LOCKTAG *tag, LOCKMODE mode)
{
	if (simdup_lock_tag(tag, mode, false, CurTransactionResourceOwner) ==
		LOCKACQUIRE_OK)
		locks_taken++;
}
