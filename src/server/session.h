/*
 * session.h
 *	  What a function shares with its session and its server.
 */
#ifndef SIMDUP_SERVER_SESSION_H
#define SIMDUP_SERVER_SESSION_H

#include "storage/lock.h"
#include "utils/resowner.h"

/* How far a batch is, told to the caller by NOTICEs. */

/* Define simdup.progress_interval, once, when the module loads. */
extern void simdup_progress_init(void);

/*
 * Begin to report for the named function, until the current memory context is
 * reset or deleted, on every way out. Without it the calls below do nothing.
 */
extern void simdup_progress_begin(const char *function);

/* Begin a phase of total units, 0 if unknown. phase stays a pointer. */
extern void simdup_progress_phase(const char *phase, int64 total);

/*
 * Note that `done` units of the phase are done. Look at the clock, and report
 * if it is time. The number never goes back within a phase.
 */
extern void simdup_progress_look(int64 done);

/* Note the same in a tight loop. Look at the clock once in many calls. */
extern void simdup_progress_done(int64 done);

/*
 * Room in the server's lock table, shared out among all sessions that take
 * advisory locks of ours.
 */

/* The last field of the tags of slots; no other lock of ours has it. */
#define SIMDUP_SLOT_TAG 0x4002

/* Check whether the transaction may take n more locks; reserves room for them. */
extern bool simdup_reserve_locks(int n);

/* Take a lock for which there is room, until the transaction ends. */
extern void simdup_take_reserved(const LOCKTAG *tag, LOCKMODE mode);

/* Take a lock for as long as `holder` lives, a (sub)transaction's owner. */
extern LockAcquireResult simdup_lock_tag(const LOCKTAG *tag, LOCKMODE mode,
										 bool dont_wait, ResourceOwner holder);

#endif /* SIMDUP_SERVER_SESSION_H */
