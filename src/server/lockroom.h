/*
 * lockroom.h
 *	  Room in the server's lock table, shared out among all sessions that take
 *	  advisory locks of ours.
 */
#ifndef SIMDUP_SERVER_LOCKROOM_H
#define SIMDUP_SERVER_LOCKROOM_H

#include "storage/lock.h"
#include "utils/resowner.h"

/* The last field of the tags of portions; no other lock of ours has it. */
#define SIMDUP_PORTION_TAG 0x4002

/* Check whether the transaction may take n more locks; reserves room for them. */
extern bool simdup_reserve_locks(int n);

/* Take a lock for which there is room, until the transaction ends. */
extern void simdup_take_reserved(const LOCKTAG *tag, LOCKMODE mode);

/* Take a lock for as long as `holder` lives, a (sub)transaction's owner. */
extern LockAcquireResult simdup_lock_tag(const LOCKTAG *tag, LOCKMODE mode,
										 bool dont_wait, ResourceOwner holder);

#endif /* SIMDUP_SERVER_LOCKROOM_H */
