/*
 * identity.h
 *	  Which row a key names, and which stored row is no other row than the new one.
 */
#ifndef SIMDUP_TRIGGERS_IDENTITY_H
#define SIMDUP_TRIGGERS_IDENTITY_H

#include "triggers/trigger.h"

/*
 * Return an index that makes a table's column of this name a key. An ERROR says
 * what it lacks.
 */
extern Oid simdup_trigger_key_index(Oid relid, const char *name);

/* Find the unique indexes of the table that is written to. */
extern void simdup_trigger_find_uniques(Relation table, TriggerState *state);

/*
 * Check whether a stored row is an earlier version of the new one. For flag and
 * log, its key names the new one, too, also in another partition.
 */
extern bool simdup_trigger_is_this_row(const NearSearch *search,
									   const TriggerTarget *target,
									   TupleTableSlot *slot);

/* Copy a value of the key's type, so that it lasts as long as the search. */
extern NullableDatum simdup_trigger_copy_key(const TriggerState *state,
											 TupleTableSlot *slot,
											 AttrNumber attnum);

/* Fetch a near row into the slot of its target. */
extern void simdup_trigger_fetch(const NearSearch *search, const NearRow *near);

/* Check whether a near row is the one that an upsert meets, or leads to this. */
extern bool simdup_trigger_passes_over(const NearSearch *search,
									   const NearRow *near);

#endif /* SIMDUP_TRIGGERS_IDENTITY_H */
