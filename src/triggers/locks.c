/*
 * locks.c
 *	  Locks that make the triggers race-free.
 *
 * README says why they suffice. PREPARE TRANSACTION keeps them. pg_advisory_lock
 * fills the tag's last field (objsubid) with 1 or 2. Here it is never below
 * TABLE_TAG. The other fields are database, table and a hash of the block's
 * value, or of two. Its key is a secret of the cluster: pg_locks shows tags to
 * everybody, and must not show fingerprints. Equal hashes of different values
 * only wait.
 *
 * Order. A row takes its blocks in ascending order and then, shared, the table's
 * tag. So transactions of one row cannot deadlock over these locks alone.
 * Together with row locks they can. A BEFORE INSERT trigger locks blocks before
 * ON CONFLICT locks a row, a BEFORE UPDATE trigger after the row, and an AFTER
 * trigger always last.
 */
#include "postgres.h"
#include "compat.h"

#include "access/twophase.h"
#include "catalog/pg_control.h"
#include "common/hmac.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "core/join/pigeonhole.h"
#include "server/arguments.h"
#include "triggers/trigger.h"

/* The last field of the tags of locks. */
#define TABLE_TAG 0x4000
#define TURN_TAG (TABLE_TAG | 1) /* to take the table's */
#define SLOT_TAG (TABLE_TAG | 2) /* for room in the lock table */

/* objsubid holds distance and block, seven bits each. */
#define BLOCK_TAG(k, block) (TABLE_TAG | ((k) + 1) << 7 | (block))

/*
 * Room in the server's lock table, shared out among all sessions that take
 * advisory locks of ours.
 *
 * The lock table has max_locks_per_transaction entries for each session and
 * prepared transaction, in common. Each transaction may fill a quarter of its
 * own entries. For more it takes slots of a reserve, which is five eighths of
 * the lock table. A slot is a lock itself, so no two transactions have the same
 * one. One transaction gets a fifth of the reserve at most. So all locks of ours
 * in all sessions together never fill more than seven eighths of the lock table.
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

static LOCKTAG
lock_tag(Oid database, Oid table, uint32 value, uint16 kind)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, database, table, value, kind);
	return tag;
}

/* The lock table serves all databases, so the slots belong to none. */
static LOCKTAG
slot_tag(int slot)
{
	return lock_tag(InvalidOid, InvalidOid, slot, SLOT_TAG);
}

/*
 * Forget locks that are gone. A new transaction has none. The rollback of a
 * savepoint gives back the slots that were taken last. The count of locks
 * stays: the transaction asks for the reserve earlier then.
 */
static void
forget_gone_locks(void)
{
	FullTransactionId current = GetTopFullTransactionId();

	if (!FullTransactionIdEquals(transaction, current))
	{
		transaction = current;
		locks_taken = 0;
		n_held = 0;
	}
	while (n_held > 0)
	{
		LOCKTAG tag = slot_tag(held[n_held - 1]);

		if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
			break;
		n_held--;
	}
}

/*
 * Take a lock for as long as the (sub)transaction lives. The current resource
 * owner may be a cursor's. When a later FETCH fails, that owner goes with its
 * locks, but the rows of an earlier FETCH stay.
 */
static LockAcquireResult
take_lock(const LOCKTAG *tag, LOCKMODE mode, bool dont_wait)
{
	ResourceOwner owner = CurrentResourceOwner;
	LockAcquireResult result;

	CurrentResourceOwner = CurTransactionResourceOwner;
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
		LOCKTAG tag = slot_tag(slot);

		if (!SIMDUP_LOCK_HELD(&tag, ExclusiveLock) &&
			take_lock(&tag, ExclusiveLock, true) == LOCKACQUIRE_OK)
		{
			held[n_held++] = slot;
			return true;
		}
	}
	return false;
}

/* Check whether the transaction may take n more locks; reserve room for them. */
static bool
reserve_locks(int n)
{
	int room;

	forget_gone_locks();
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

/*
 * Take the table's tag exclusively. A transaction that holds it shared takes
 * the turn first. If another one has the turn, the two would wait for each other
 * for ever. The second one gets an error at once, which says what to raise.
 */
static void
lock_table(Oid table)
{
	LOCKTAG tag = lock_tag(MyDatabaseId, table, 0, TABLE_TAG);
	LOCKTAG turn = lock_tag(MyDatabaseId, table, 0, TURN_TAG);

	if (SIMDUP_LOCK_HELD(&tag, RowExclusiveLock) &&
		take_lock(&turn, ExclusiveLock, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR, errcode(ERRCODE_T_R_DEADLOCK_DETECTED),
				errmsg("could not lock relation \"%s\" against arrivals",
					   get_rel_name(table)),
				errdetail(
					"Another transaction that has arrivals wants the same lock, and waits for this transaction to end."),
				errhint(
					"Retry the transaction. You might need to increase max_locks_per_transaction, or to begin transactions of many rows with simdup_lock_arrivals()."));
	(void) take_lock(&tag, ExclusiveLock, false);
}

/* Hash the values of blocks, with a key that no SQL function shows. */
static void
hash_values(Oid table, int k, const uint64 *values, int n, uint32 *hashes)
{
	pg_hmac_ctx *context = pg_hmac_create(PG_SHA256);

	for (int i = 0; i < n; i++)
	{
		uint64 message[] = {MyDatabaseId, table, k, i, values[i]};
		uint8 hash[PG_SHA256_DIGEST_LENGTH];

		if (pg_hmac_init(context, (uint8 *) GetMockAuthenticationNonce(),
						 MOCK_AUTH_NONCE_LEN) < 0 ||
			pg_hmac_update(context, (uint8 *) message, sizeof(message)) < 0 ||
			pg_hmac_final(context, hash, sizeof(hash)) < 0)
			elog(ERROR, "could not hash a lock: %s", pg_hmac_error(context));
		memcpy(&hashes[i], hash, sizeof(uint32));
	}
	pg_hmac_free(context);
}

void
simdup_trigger_lock(Oid table, int k, uint64 fp)
{
	uint64 values[SIMDUP_MAX_LOCK_BLOCKS];
	uint32 hashes[SIMDUP_MAX_LOCK_BLOCKS];
	uint32 locks[SIMDUP_MAX_LOCK_BLOCKS];
	LOCKTAG tag = lock_tag(MyDatabaseId, table, 0, TABLE_TAG);
	int n;

	if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
		return;
	hash_values(table, k, values, simdup_lock_values(fp, k, values), hashes);
	n = simdup_lock_blocks(k, hashes, locks);
	/* one more for the tag */
	if (!reserve_locks(n + 1))
	{
		lock_table(table);
		return;
	}
	for (int i = 0; i <= n; i++)
	{
		LOCKTAG next =
			i == n ? tag
				   : lock_tag(MyDatabaseId, table, locks[i], BLOCK_TAG(k, i));

		if (take_lock(&next, i == n ? RowExclusiveLock : ExclusiveLock,
					  false) == LOCKACQUIRE_OK)
			locks_taken++;
	}
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
	List *tables = NIL;
	ListCell *cell;

	PreventCommandDuringRecovery("simdup_lock_arrivals()");
	if (name == NULL)
		simdup_no_such_table(table);
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT | ACL_UPDATE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(table)), name);
	simdup_refuse_distributed(table,
							  gettext_noop(
								  "Write: LOCK TABLE ... IN SHARE ROW EXCLUSIVE MODE. It holds off all writers."));
	foreach (cell, simdup_trigger_list(table, fcinfo->flinfo->fn_oid))
	{
		const OwnTrigger *own = lfirst(cell);
		/* a partition's trigger locks the table of the one that the user made */
		Oid locked = simdup_trigger_table(own->trigger->tgoid);

		if (own->options.lock && OidIsValid(locked))
			tables = list_append_unique_oid(tables, locked);
	}
	if (tables == NIL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("relation \"%s\" has no trigger that locks arrivals",
					   name));
	/* all sessions lock the tables of several ancestors in one order */
	list_sort(tables, list_oid_cmp);
	foreach (cell, tables)
		lock_table(lfirst_oid(cell));
	PG_RETURN_VOID();
}
