/*
 * new_row.h
 *	  The row that a trigger fires for, and its locks.
 */
#ifndef SIMDUP_TRIGGERS_NEW_ROW_H
#define SIMDUP_TRIGGERS_NEW_ROW_H

#include "triggers/trigger.h"

/* The new row; an AFTER trigger sees its newest stored version. */
typedef struct NewRow
{
	HeapTuple tuple;	/* as the trigger got it or found it */
	HeapTuple complete; /* with the generated columns that are needed */
	bool has_fp;
	uint64 fp;
	bool changed; /* fingerprint, scope or condition, by this event or later */
	bool key_isnull;
	Datum key;
	Oid stored_table; /* has a version of it at stored_tid; or InvalidOid */
	ItemPointerData stored_tid;
} NewRow;

/* Set up what computes the values of rows. */
extern void simdup_trigger_prepare_row(TriggerData *trigdata,
									   TriggerState *state);

/* Return the new row, in the version that the trigger got. */
extern HeapTuple simdup_trigger_new_tuple(TriggerData *trigdata);

/*
 * Read the new row. Return false if the trigger has nothing to do: the row is
 * gone, is out of scope, or has not changed.
 */
extern bool simdup_trigger_read_row(TriggerData *trigdata, TriggerState *state,
									NewRow *row);

/*
 * locks.c: lock the blocks of fp until the transaction ends. Every row within
 * the distance by which the trigger locks needs at least one of the same locks.
 */
extern void simdup_trigger_lock(const TriggerState *state, uint64 fp);

#endif /* SIMDUP_TRIGGERS_NEW_ROW_H */
