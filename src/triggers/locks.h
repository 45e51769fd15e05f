/*
 * locks.h
 *	  Locks that make the triggers race-free.
 */
#ifndef SIMDUP_TRIGGERS_LOCKS_H
#define SIMDUP_TRIGGERS_LOCKS_H

/*
 * Lock the blocks of fp in a table until the transaction ends. Every row within
 * the distance k needs at least one of the same locks.
 */
extern void simdup_trigger_lock(Oid table, int k, uint64 fp);

#endif /* SIMDUP_TRIGGERS_LOCKS_H */
