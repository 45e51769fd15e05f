/*
 * locks.c
 *	  Locks that make arrival race-free.
 *
 * Cut into k + 1 blocks, two fingerprints within distance k agree in one of
 * them. A transaction that locks its row's blocks until it ends, and only
 * then looks with a fresh snapshot, therefore either sees a twin or makes it
 * wait until it can be seen.
 *
 * The locks are heavyweight ones of the advisory kind: seen in pg_locks,
 * subject to lock_timeout and deadlock detection, kept by PREPARE
 * TRANSACTION. pg_advisory_lock and its kin fill the tag's last field
 * (objsubid) with 1 or 2; ours is never below ARRIVAL_TAG, so they cannot
 * meet. The other fields are database, table and the block's value.
 *
 * Order. One row locks its blocks from the lowest to the highest and then,
 * shared, the table's tag; as each row has one value in each block, single
 * rows cannot deadlock. A transaction with many rows stops locking blocks at
 * a limit and locks the table's tag alone, exclusively: that waits for
 * transactions that have arrivals, and holds up those that come later, until
 * it ends. That the shared lock comes last is what lets a single row wait for
 * a block of a bulk load that is about to take the exclusive one.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "arrival/arrival.h"
#include "compat.h"
#include "core/blocks.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "type/simhash64.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

/*
 * objsubid: the number of blocks and the block's number, seven bits each, so
 * that triggers with another k on one table lock in spaces of their own.
 */
#define ARRIVAL_TAG 0x4000
#define BLOCK_TAG(n_blocks, block) (ARRIVAL_TAG | (n_blocks) << 7 | (block))

/* A transaction may fill this part of the lock table with blocks. */
#define LOCK_TABLE_SHARE 8

static void
set_arrival_tag(LOCKTAG *tag, Oid table, uint32 value, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, table, value, kind);
}

/* Blocks of up to 32 bits are their own value, only k = 0 has a wider one. */
static uint32
block_value(uint64 fp, int block, int n_blocks)
{
	int    start = simdup_block_start(block, n_blocks);
	int    end = simdup_block_start(block + 1, n_blocks);
	uint64 bits;

	if (start == end)
		return 0;
	bits = simdup_block_bits(fp, start, end);
	return (uint32) (bits ^ (bits >> 32));
}

/*
 * How many block locks this transaction took, on all tables. Not reduced when
 * a subtransaction's locks go with it, which only escalates earlier.
 */
static int *
block_locks_taken(void)
{
	static FullTransactionId transaction;
	static int               taken;
	FullTransactionId        current = GetTopFullTransactionId();

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

/* Lock what a twin of fp within k would lock too, until the transaction ends. */
void
simdup_arrival_lock(Oid table, uint64 fp, int k)
{
	int     n_blocks = k + 1;
	int    *taken = block_locks_taken();
	LOCKTAG tag;
	int     i;

	set_arrival_tag(&tag, table, 0, ARRIVAL_TAG);
	if (LockHeldByMe(&tag, ExclusiveLock))
		return;
	if (*taken + n_blocks > block_lock_limit())
	{
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
		return;
	}
	for (i = 0; i < n_blocks; i++)
	{
		LOCKTAG block;

		set_arrival_tag(&block, table, block_value(fp, i, n_blocks),
						BLOCK_TAG(n_blocks, i));
		if (LockAcquire(&block, ExclusiveLock, false, false) == LOCKACQUIRE_OK)
			(*taken)++;
	}
	(void) LockAcquire(&tag, RowExclusiveLock, false, false);
}

PG_FUNCTION_INFO_V1(simdup_lock_arrivals);
/*
 * The exclusive lock from the start: bulk loads that begin with it cannot
 * deadlock with each other.
 */
Datum
simdup_lock_arrivals(PG_FUNCTION_ARGS)
{
	Oid     table = PG_GETARG_OID(0);
	LOCKTAG tag;

	if (get_rel_name(table) == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", table)));
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT | ACL_UPDATE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(table)),
					   get_rel_name(table));

	set_arrival_tag(&tag, table, 0, ARRIVAL_TAG);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	PG_RETURN_VOID();
}
