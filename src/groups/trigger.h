/*
 * trigger.h
 *	  What simdup_regroup tells the trigger that keeps groups.
 */
#ifndef SIMDUP_GROUPS_TRIGGER_H
#define SIMDUP_GROUPS_TRIGGER_H

/* The triggers of this table do nothing, until it is InvalidOid again. */
extern void simdup_group_pause_triggers(Oid table);

#endif /* SIMDUP_GROUPS_TRIGGER_H */
