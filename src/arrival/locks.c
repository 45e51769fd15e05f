/*
 * locks.c
 *	  Locks that make arrival race-free.
 *
 * Cut into k + 1 blocks, two fingerprints within distance k agree in one of
 * them. A transaction that locks its row's blocks until it ends, and only
 * then looks with a fresh snapshot, therefore either sees a twin or makes it
 * wait until it can be seen. For the middle distances k + 1 blocks are short,
 * and unrelated rows agree in one too often (k = 8: one pair of rows in 15);
 * there each pair of k + 2 blocks is a lock, as twins agree in two of them
 * (one in 160).
 *
 * The locks are heavyweight ones of the advisory kind: seen in pg_locks,
 * subject to lock_timeout and deadlock detection, kept by PREPARE
 * TRANSACTION. pg_advisory_lock and its kin fill the tag's last field
 * (objsubid) with 1 or 2; ours is never below ARRIVAL_TAG, so they cannot
 * meet. The other fields are database, table and what the blocks hold.
 *
 * Order. One row takes its locks in a fixed order of blocks and then, shared,
 * the table's tag; as each row holds one value in each block, single rows
 * cannot deadlock. A transaction with many rows stops locking blocks at a
 * limit and locks the table's tag alone, exclusively: that waits for
 * transactions that have arrivals, and holds up those that come later, until
 * it ends. That the shared lock comes last is what lets a single row wait for
 * a block of a bulk load that is about to take the exclusive one.
 *
 * Foreign tables. No snapshot of ours reaches another server: postgres_fdw
 * reads there as of its first query in the transaction, so what a lock was
 * waited for in the middle of a transaction would stay unseen. Where a search
 * reaches a foreign table, the first arrival takes the table's tag exclusively
 * at once; whatever comes in then comes with this transaction. The rollback of
 * a savepoint does not give it back, as it does not renew the snapshots there.
 */
#include "postgres.h"
#include "compat.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "arrival/arrival.h"
#include "core/blocks.h"
#include "type/simhash64.h"

/*
 * objsubid: distance and block, seven bits each, so that triggers with another
 * k on one table lock in spaces of their own, and the table's tag is apart.
 */
#define ARRIVAL_TAG 0x4000
#define BLOCK_TAG(k, block) (ARRIVAL_TAG | ((k) + 1) << 7 | (block))

/* Where pairs of blocks are locked: at most 55, few enough for any session. */
#define FIRST_PAIRED_K 5
#define LAST_PAIRED_K 9

#define MAX_ROW_LOCKS (SIMHASH64_BITS + 1)

/* A transaction may fill this part of the lock table with blocks. */
#define LOCK_TABLE_SHARE 8

static void
set_arrival_tag(LOCKTAG *tag, Oid table, uint32 value, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, table, value, kind);
}

/* What the locks of one row are on. */
typedef struct RowLocks
{
	int n;
	uint32 values[MAX_ROW_LOCKS];
	uint16 kinds[MAX_ROW_LOCKS];
} RowLocks;

static uint64
block_value(uint64 fp, int block, int n_blocks)
{
	int start = simdup_block_start(block, n_blocks);
	int end = simdup_block_start(block + 1, n_blocks);

	return start >= end ? 0 : simdup_block_bits(fp, start, end);
}

static void
add_lock(RowLocks *locks, uint32 value, uint16 kind)
{
	locks->values[locks->n] = value;
	locks->kinds[locks->n++] = kind;
}

/* Pairs of blocks: of ten bits at most, and the pair's number above them. */
static void
list_pairs(RowLocks *locks, uint64 fp, int k)
{
	int n_blocks = k + 2;
	int i;
	int j;

	for (i = 0; i < n_blocks; i++)
		for (j = i + 1; j < n_blocks; j++)
			add_lock(locks,
					 (uint32) (locks->n << 20 |
							   block_value(fp, i, n_blocks) << 10 |
							   block_value(fp, j, n_blocks)),
					 BLOCK_TAG(k, 0));
}

/* Single blocks: of 32 bits at most, but for k = 0. */
static void
list_blocks(RowLocks *locks, uint64 fp, int k)
{
	int i;

	for (i = 0; i <= k; i++)
	{
		uint64 value = block_value(fp, i, k + 1);

		add_lock(locks, (uint32) (value ^ value >> 32), BLOCK_TAG(k, i));
	}
}

/*
 * How many block locks this transaction took, on all tables. Not reduced when
 * a subtransaction's locks go with it, which only escalates earlier.
 */
static int *
block_locks_taken(void)
{
	static FullTransactionId transaction;
	static int taken;
	FullTransactionId current = GetTopFullTransactionId();

	if (!FullTransactionIdEquals(transaction, current))
	{
		transaction = current;
		taken = 0;
	}
	return &taken;
}

static int
block_lock_limit(void)
{
	return max_locks_per_xact * (MaxBackends + max_prepared_xacts) /
		   LOCK_TABLE_SHARE;
}

/* The table's tag, exclusively, until the top transaction ends. */
static void
lock_for_remote_search(const LOCKTAG *tag)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	(void) LockAcquire(tag, ExclusiveLock, false, false);
	CurrentResourceOwner = owner;
}

/* Lock what a twin of fp within k would lock too, until the transaction ends. */
void
simdup_arrival_lock(ArrivalTrigger *at, uint64 fp)
{
	int *taken = block_locks_taken();
	int k = at->k;
	RowLocks locks = {0};
	LOCKTAG tag;
	int i;

	set_arrival_tag(&tag, at->table, 0, ARRIVAL_TAG);
	if (at->remote)
	{
		lock_for_remote_search(&tag);
		return;
	}
	if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
		return;
	if (k >= FIRST_PAIRED_K && k <= LAST_PAIRED_K)
		list_pairs(&locks, fp, k);
	else
		list_blocks(&locks, fp, k);
	if (*taken + locks.n > block_lock_limit())
	{
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
		return;
	}
	for (i = 0; i < locks.n; i++)
	{
		LOCKTAG block;

		set_arrival_tag(&block, at->table, locks.values[i], locks.kinds[i]);
		if (LockAcquire(&block, ExclusiveLock, false, false) == LOCKACQUIRE_OK)
			(*taken)++;
	}
	(void) LockAcquire(&tag, RowExclusiveLock, false, false);
}

PG_FUNCTION_INFO_V1(simdup_lock_arrivals);
/*
 * The exclusive lock from the start: bulk loads that begin with it cannot
 * deadlock with each other. On a standby, where advisory locks can be had but
 * nothing arrives, it is refused as LOCK TABLE is.
 */
Datum
simdup_lock_arrivals(PG_FUNCTION_ARGS)
{
	Oid table = PG_GETARG_OID(0);
	LOCKTAG tag;

	PreventCommandDuringRecovery("simdup_lock_arrivals()");
	if (get_rel_name(table) == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", table));
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT | ACL_UPDATE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(table)),
					   get_rel_name(table));

	set_arrival_tag(&tag, table, 0, ARRIVAL_TAG);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	PG_RETURN_VOID();
}
