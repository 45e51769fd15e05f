/*
 * recompute.h
 *	  Groups whose rows come again, among themselves.
 */
#ifndef SIMDUP_GROUPS_RECOMPUTE_H
#define SIMDUP_GROUPS_RECOMPUTE_H

#include "groups/members.h"

/*
 * All rows of these groups come again, among themselves. Each id stays with the
 * oldest row that had it. The table is locked.
 */
extern void simdup_group_recompute(Grouping *g, const int64 *ids, int n,
								   const char *cause);

#endif /* SIMDUP_GROUPS_RECOMPUTE_H */
