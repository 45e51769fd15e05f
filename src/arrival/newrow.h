/*
 * newrow.h
 *	  The new row of a trigger, as the server hands it over.
 */
#ifndef SIMDUP_ARRIVAL_NEWROW_H
#define SIMDUP_ARRIVAL_NEWROW_H

#include "commands/trigger.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/* The new row, in the version that the trigger got; the same in a slot. */
extern HeapTuple simdup_arrival_new_tuple(TriggerData *trigdata);
extern TupleTableSlot *simdup_arrival_new_slot(TriggerData *trigdata);

/* A column of it. */
extern Datum simdup_arrival_value(TriggerData *trigdata, AttrNumber attnum,
								  bool *isnull);

/* The expression of a generated column, ready for a BEFORE trigger. */
extern ExprState *simdup_arrival_generation(Relation rel, AttrNumber attnum);

#endif /* SIMDUP_ARRIVAL_NEWROW_H */
