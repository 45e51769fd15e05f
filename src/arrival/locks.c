/*
 * locks.c
 *	  Locks that make arrival race-free.
 *
 * Cut into k + 1 blocks, two fingerprints within distance k agree in one of
 * them. A transaction locks its row's blocks until it ends, and only then
 * looks, with a fresh snapshot. So it either sees a near row, or makes that
 * row's transaction wait until it can be seen. For the middle distances k + 1
 * blocks are short, and unrelated rows agree in one too often (k = 8: one pair
 * of rows in 15). Locks are then taken on pairs of k + 2 blocks. Near rows
 * agree in two of the blocks (k = 8: one pair of unrelated rows in 160 does).
 *
 * The locks are heavyweight advisory locks. They appear in pg_locks,
 * lock_timeout and deadlock detection apply, and PREPARE TRANSACTION keeps
 * them. The SQL function pg_advisory_lock fills the tag's last field (objsubid)
 * with 1 or 2. Here it is never below ARRIVAL_TAG, so the two kinds do not
 * meet. The other fields are database, table and the values of the blocks.
 *
 * Order. One row takes its locks in a fixed order of blocks and then, shared,
 * the table's tag. Each row has one value in each block, so transactions of
 * one row cannot deadlock over these locks alone. Together with row locks they
 * can. A BEFORE INSERT trigger locks blocks before ON CONFLICT locks a row. A
 * BEFORE UPDATE trigger locks them after the row. An AFTER trigger always
 * locks blocks last.
 *
 * The whole table. A transaction may find no room in the lock table for the
 * locks of a row (reserve.c). The transaction then locks the table's tag
 * exclusively: it waits for transactions that have arrivals, and blocks later
 * ones until its end. Single rows take the shared lock last, so they can wait
 * for a block of a bulk load that is about to take the exclusive one. Two
 * transactions that both have arrivals and both want the exclusive lock would
 * wait for each other for ever. The second one gets an error at once, which
 * says what to raise.
 *
 * Foreign tables. A snapshot of this server does not reach another one:
 * postgres_fdw reads there as of its first query in the transaction. A row
 * that was committed there while a lock was waited for would stay unseen. So
 * if a search reaches a foreign table, the first arrival takes the table's tag
 * exclusively at once. The rollback of a savepoint keeps it, since the
 * snapshots on the other servers stay as they are.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "arrival/arrival.h"
#include "core/blocks.h"
#include "server/catalog.h"
#include "type/simhash64.h"

/*
 * objsubid holds distance and block, seven bits each. All triggers of one
 * fingerprint lock by the largest distance among them, so that they meet.
 */
#define BLOCK_TAG(k, block) (ARRIVAL_TAG | ((k) + 1) << 7 | (block))

/* Where pairs of blocks are locked: at most 55, few enough for any session. */
#define FIRST_PAIRED_K 5
#define LAST_PAIRED_K 9

#define MAX_ROW_LOCKS (SIMHASH64_BITS + 1)

static void
set_arrival_tag(LOCKTAG *tag, Oid table, uint32 value, uint16 kind)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, table, value, kind);
}

/* The last two fields of each lock tag that one row needs. */
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

/* Pairs of blocks. A block has ten bits at most; the pair's number is above. */
static void
list_pairs(RowLocks *locks, uint64 fp, int k)
{
	int n_blocks = k + 2;

	for (int i = 0; i < n_blocks; i++)
		for (int j = i + 1; j < n_blocks; j++)
			add_lock(locks,
					 (uint32) (locks->n << 20 |
							   block_value(fp, i, n_blocks) << 10 |
							   block_value(fp, j, n_blocks)),
					 BLOCK_TAG(k, 0));
}

/* Single blocks, of 32 bits at most; the one of k = 0 is folded to 32. */
static void
list_blocks(RowLocks *locks, uint64 fp, int k)
{
	for (int i = 0; i <= k; i++)
	{
		uint64 value = block_value(fp, i, k + 1);

		add_lock(locks, (uint32) (value ^ value >> 32), BLOCK_TAG(k, i));
	}
}

static void
list_locks(RowLocks *locks, uint64 fp, int k)
{
	locks->n = 0;
	if (k >= FIRST_PAIRED_K && k <= LAST_PAIRED_K)
		list_pairs(locks, fp, k);
	else
		list_blocks(locks, fp, k);
}

/* The functions that lock, and where they have the distance. */
static const struct
{
	const char *name;
	int k_arg;
	bool always; /* else with an argument 'lock' */
} lockers[] = {
	{"simdup_flag_trigger", 3, false},
	{"simdup_log_trigger", 2, false},
	{"simdup_reject_trigger", 2, true},
};

/* The distance by which a trigger locks; -1 if it does not lock. */
static int
distance_of(const Trigger *trigger, Oid extension)
{
	char *function = get_func_name(trigger->tgfoid);

	if (function == NULL || get_func_namespace(trigger->tgfoid) != extension)
		return -1;
	for (size_t i = 0; i < lengthof(lockers); i++)
	{
		bool locks = lockers[i].always;
		int k = lockers[i].k_arg;

		if (strcmp(function, lockers[i].name) != 0 || trigger->tgnargs <= k)
			continue;
		for (int j = k + 1; j < trigger->tgnargs; j++)
			locks |= strcmp(trigger->tgargs[j], "lock") == 0;
		return locks ? Min(atoi(trigger->tgargs[k]), SIMHASH64_BITS) : -1;
	}
	return -1;
}

/*
 * The distance by which this trigger locks: the largest of all triggers that
 * lock for its fingerprint, enabled or not. Rows that are near for a smaller
 * distance agree in the blocks for a larger one too.
 */
int
simdup_arrival_lock_distance(const ArrivalTrigger *at, const char *fp)
{
	Relation table = table_open(at->table, AccessShareLock);
	TriggerDesc *desc = CopyTriggerDesc(table->trigdesc);
	Oid extension = simdup_arrival_extension(at);
	int k = at->k;

	table_close(table, NoLock);
	for (int i = 0; desc != NULL && i < desc->numtriggers; i++)
	{
		const Trigger *trigger = &desc->triggers[i];

		if (trigger->tgnargs > 0 && strcmp(trigger->tgargs[0], fp) == 0)
			k = Max(k, distance_of(trigger, extension));
	}
	FreeTriggerDesc(desc);
	return k;
}

/*
 * Take the table's tag exclusively. A transaction that holds it shared takes
 * the turn first. If another one has the turn, the two would deadlock.
 */
void
simdup_arrival_lock_table(Oid table)
{
	LOCKTAG tag;
	LOCKTAG turn;

	set_arrival_tag(&tag, table, 0, ARRIVAL_TAG);
	set_arrival_tag(&turn, table, 0, ARRIVAL_TURN_TAG);
	if (SIMDUP_LOCK_HELD(&tag, RowExclusiveLock) &&
		simdup_arrival_lock_tag(&turn, ExclusiveLock, true,
								CurTransactionResourceOwner) ==
			LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR, errcode(ERRCODE_T_R_DEADLOCK_DETECTED),
				errmsg("could not lock relation \"%s\" against arrivals",
					   get_rel_name(table)),
				errdetail(
					"Another transaction that has arrivals wants the same lock, and waits for this transaction to end."),
				errhint(
					"Retry the transaction. You might need to increase max_locks_per_transaction, or to begin transactions of many rows with simdup_lock_arrivals()."));
	(void) simdup_arrival_lock_tag(&tag, ExclusiveLock, false,
								   CurTransactionResourceOwner);
}

/*
 * Lock the blocks of fp until the transaction ends. Every row within k of fp
 * needs at least one of the same locks.
 */
void
simdup_arrival_lock(ArrivalTrigger *at, uint64 fp)
{
	RowLocks locks;
	LOCKTAG tag;

	set_arrival_tag(&tag, at->table, 0, ARRIVAL_TAG);
	if (at->remote)
	{
		(void) simdup_arrival_lock_tag(&tag, ExclusiveLock, false,
									   TopTransactionResourceOwner);
		return;
	}
	if (SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
		return;
	list_locks(&locks, fp, at->lock_k);
	/* one more for the tag */
	if (!simdup_arrival_reserve(locks.n + 1))
	{
		simdup_arrival_lock_table(at->table);
		return;
	}
	for (int i = 0; i < locks.n; i++)
	{
		LOCKTAG block;

		set_arrival_tag(&block, at->table, locks.values[i], locks.kinds[i]);
		simdup_arrival_acquire(&block, ExclusiveLock);
	}
	simdup_arrival_acquire(&tag, RowExclusiveLock);
}

/* Lock the table's tag alone, shared: no exclusive lock, no blocks. */
void
simdup_arrival_share(ArrivalTrigger *at)
{
	LOCKTAG tag;

	set_arrival_tag(&tag, at->table, 0, ARRIVAL_TAG);
	if (SIMDUP_LOCK_HELD(&tag, RowExclusiveLock) ||
		SIMDUP_LOCK_HELD(&tag, ExclusiveLock))
		return;
	if (simdup_arrival_reserve(1))
		simdup_arrival_acquire(&tag, RowExclusiveLock);
	else
		simdup_arrival_lock_table(at->table);
}

PG_FUNCTION_INFO_V1(simdup_lock_arrivals);
/*
 * Takes the exclusive lock. Bulk loads that begin with it cannot deadlock with
 * each other. A standby would grant advisory locks, but no row arrives there,
 * so the function is refused as LOCK TABLE is.
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
	simdup_arrival_lock_table(table);
	PG_RETURN_VOID();
}
