/*
 * decisions.h
 *	  What people decided, as far as it touches where a row may be.
 */
#ifndef SIMDUP_GROUPS_DECISIONS_H
#define SIMDUP_GROUPS_DECISIONS_H

#include "groups/members.h"

/* A row with those that decisions tie to it, itself first. */
typedef struct GroupTied
{
	int n;
	GroupRow *rows;
	int64 *ids; /* of their groups; 0: none now */
	int64 *ages;
} GroupTied;

/* May there be decisions about the table's rows? */
extern bool simdup_group_any_decision(Grouping *g);

/* May there be decisions about this row? */
extern bool simdup_group_is_decided(Grouping *g, Datum key);

/* Rows that are there and tied to this one, by one decision or several. */
extern GroupTied simdup_group_tied(Grouping *g, const GroupRow *row);

extern bool simdup_group_tied_has(Grouping *g, const GroupTied *tied,
								  Datum key);

/* The groups that hold a row which one of these was told apart from. */
extern Datum simdup_group_apart(Grouping *g, const GroupTied *tied);

/* Are there any such groups? */
extern bool simdup_group_has_apart(Grouping *g, const GroupTied *tied);

/* Do two groups hold rows that were told apart? */
extern bool simdup_groups_are_apart(Grouping *g, int64 a, int64 b);

#endif /* SIMDUP_GROUPS_DECISIONS_H */
