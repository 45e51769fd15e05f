/*
 * moves.h
 *	  Rows come into groups, leave them, and go from one to another.
 */
#ifndef SIMDUP_GROUPS_MOVES_H
#define SIMDUP_GROUPS_MOVES_H

#include "groups/grouping.h"

/* A row of the table, as far as groups care. */
typedef struct GroupRow
{
	Datum key;
	uint64 fp;
	bool same; /* neither fingerprint nor conditions have changed */
} GroupRow;

/* A row's place among the groups. */
typedef struct GroupMember
{
	int64 id;
	int64 age;
	bool leads;		/* it is the representative */
	bool has_others;
	uint64 led_fp; /* the representative's fingerprint */
} GroupMember;

/* False if the row is in no group. */
extern bool simdup_group_member(Grouping *g, Datum key, GroupMember *member);

/* A row that is in no group comes; the id of the group that it is in then. */
extern int64 simdup_group_arrive(Grouping *g, const GroupRow *row,
								 const char *cause);

/* A member has another fingerprint, or is to be looked at again; its id then. */
extern int64 simdup_group_change(Grouping *g, const GroupRow *row,
								 const char *cause);

/* A member goes; no member, no effect. */
extern void simdup_group_leave(Grouping *g, Datum key, const char *cause);

/* Write the id into the row; 0 is NULL. */
extern void simdup_group_set_column(Grouping *g, Datum key, int64 id);

#endif /* SIMDUP_GROUPS_MOVES_H */
