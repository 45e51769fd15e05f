/*
 * members.h
 *	  A row's place among the groups, as it is written.
 */
#ifndef SIMDUP_GROUPS_MEMBERS_H
#define SIMDUP_GROUPS_MEMBERS_H

#include "groups/grouping.h"

/* A row of the table, as far as groups care. */
typedef struct GroupRow
{
	Datum key;
	uint64 fp;
	int64 age;
	bool same; /* only the key is new */
} GroupRow;

/* A row's place among the groups. */
typedef struct GroupMember
{
	int64 id;
	int64 age;
	bool leads; /* it is the representative */
	bool has_others;
	uint64 led_fp; /* the representative's fingerprint */
} GroupMember;

/* False if the row is in no group. */
extern bool simdup_group_member(Grouping *g, Datum key, GroupMember *member);

/* Write the id into the row; 0 is NULL. */
extern void simdup_group_set_column(Grouping *g, Datum key, int64 id);

#endif /* SIMDUP_GROUPS_MEMBERS_H */
