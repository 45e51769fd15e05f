/*
 * locks.c
 *	  Locks that make arrival race-free.
 *
 * README says why they suffice. They are advisory locks, so they appear in pg_locks,
 * lock_timeout and deadlock detection apply, and PREPARE TRANSACTION keeps them.
 * pg_advisory_lock fills the tag's last field (objsubid) with 1 or 2. Here it is
 * never below ARRIVAL_TAG. The other fields are database, table and the values of
 * the blocks.
 *
 * Order. A row takes its blocks in ascending order and then, shared, the table's
 * tag. So transactions of one row cannot deadlock over these locks alone.
 * Together with row locks they can. A BEFORE INSERT trigger locks blocks before
 * ON CONFLICT locks a row, a BEFORE UPDATE trigger after the row, and an AFTER
 * trigger always last.
 *
 * If the lock table has no room, a transaction locks the table's tag exclusively.
 * Two that both have arrivals and both want that would wait for each other for
 * ever. The second one gets an error at once, which says what to raise.
 */
#include "postgres.h"
#include "compat.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "arrival/arrival.h"
#include "core/hamming.h"
#include "server/catalog.h"
#include "server/session.h"

/* The last field of the tags of locks. */
#define ARRIVAL_TAG 0x4000
#define ARRIVAL_TURN_TAG (ARRIVAL_TAG | 1) /* to take the table's */

/*
 * objsubid holds distance and block, seven bits each. All triggers of
 * a table lock by the largest distance among them, so that they meet.
 */
#define BLOCK_TAG(k, block) (ARRIVAL_TAG | ((k) + 1) << 7 | (block))

static void
set_arrival_tag(LOCKTAG *tag, Oid table, uint32 value, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, table, value, kind);
}

/*
 * Take the table's tag exclusively. A transaction that holds it shared takes
 * the turn first. If another one has the turn, the two would deadlock.
 */
static void
lock_table(Oid table)
{
	LOCKTAG tag;
	LOCKTAG turn;

	set_arrival_tag(&tag, table, 0, ARRIVAL_TAG);
	set_arrival_tag(&turn, table, 0, ARRIVAL_TURN_TAG);
	if (SIMDUP_LOCK_HELD(&tag, RowExclusiveLock) &&
		simdup_lock_tag(&turn, ExclusiveLock, true,
						CurTransactionResourceOwner) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR, errcode(ERRCODE_T_R_DEADLOCK_DETECTED),
				errmsg("could not lock relation \"%s\" against arrivals",
					   get_rel_name(table)),
				errdetail(
					"Another transaction that has arrivals wants the same lock, and waits for this transaction to end."),
				errhint(
					"Retry the transaction. You might need to increase max_locks_per_transaction, or to begin transactions of many rows with simdup_lock_arrivals()."));
	(void) simdup_lock_tag(&tag, ExclusiveLock, false,
						   CurTransactionResourceOwner);
}

/*
 * Lock the blocks of fp until the transaction ends. Every row within k of fp
 * needs at least one of the same locks.
 */
void
simdup_arrival_lock(const ArrivalTrigger *at, uint64 fp)
{
	SimdupLockBlock blocks[SIMDUP_MAX_LOCK_BLOCKS];
	int n = simdup_lock_blocks(fp, at->lock_distance, blocks);
	LOCKTAG tag;

	set_arrival_tag(&tag, at->table, 0, ARRIVAL_TAG);
	if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
		return;
	/* one more for the tag */
	if (!simdup_reserve_locks(n + 1))
	{
		lock_table(at->table);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		LOCKTAG block;

		set_arrival_tag(&block, at->table, blocks[i].value,
						BLOCK_TAG(at->lock_distance, blocks[i].number));
		simdup_take_reserved(&block, ExclusiveLock);
	}
	simdup_take_reserved(&tag, RowExclusiveLock);
}

PG_FUNCTION_INFO_V1(simdup_lock_arrivals);
/*
 * Bulk loads that begin with it cannot deadlock. A standby would grant advisory
 * locks, but no row arrives there, so it is refused as LOCK TABLE is.
 */
Datum
simdup_lock_arrivals(PG_FUNCTION_ARGS)
{
	Oid table = PG_GETARG_OID(0);
	char *name = get_rel_name(table);

	PreventCommandDuringRecovery("simdup_lock_arrivals()");
	if (name == NULL)
		simdup_no_such_table(table);
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT | ACL_UPDATE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(table)), name);
	lock_table(table);
	PG_RETURN_VOID();
}
