/*
 * moves.h
 *	  Rows come into groups, leave them, and go from one to another.
 */
#ifndef SIMDUP_GROUPS_MOVES_H
#define SIMDUP_GROUPS_MOVES_H

#include "groups/members.h"

/* A row that is in no group comes; the id of the group that it is in then. */
extern int64 simdup_group_arrive(Grouping *g, const GroupRow *row,
								 const char *cause);

/* A member has another fingerprint, or is to be looked at again; its id then. */
extern int64 simdup_group_change(Grouping *g, const GroupRow *row,
								 const char *cause);

/* A member goes; no member, no effect. */
extern void simdup_group_leave(Grouping *g, Datum key, const char *cause);

/* Two groups become one; the older id, which stays. The table is locked. */
extern int64 simdup_group_merge(Grouping *g, int64 a, int64 b,
								const char *cause);

/*
 * If two rows of the group were told apart, the younger one leaves. The rows
 * tied to it leave too, and all of them come again. The table is locked.
 */
extern void simdup_group_separate(Grouping *g, int64 id, const char *cause);

#endif /* SIMDUP_GROUPS_MOVES_H */
