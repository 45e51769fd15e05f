/*
 * regroup_moves.h
 *	  Rows that decisions send away, while all groups are made anew.
 */
#ifndef SIMDUP_GROUPS_REGROUP_MOVES_H
#define SIMDUP_GROUPS_REGROUP_MOVES_H

#include "groups/regroup_decisions.h"

/* Two groups become one; the one that was opened earlier stays. */
extern void simdup_regroup_merge(Decisions *d, uint32 a, uint32 b);

/* Rows have left a group, which has what it needs then. */
extern void simdup_regroup_leave(Decisions *d, uint32 leader);

/* Rows that are in no group come, in order of age. */
extern void simdup_regroup_come_again(Decisions *d, uint32 mark);

#endif /* SIMDUP_GROUPS_REGROUP_MOVES_H */
