/*
 * grouping.h
 *	  A table whose rows are kept in groups, and the tables beside it.
 *
 * doc/simdup-groups.md says what a group is, doc/simdup-reference.md what the
 * tables hold. All work on them runs as the table's owner, as a foreign key's
 * cascade does: a group also has rows that the user may not see.
 */
#ifndef SIMDUP_GROUPS_GROUPING_H
#define SIMDUP_GROUPS_GROUPING_H

#include "arrival/arrival.h"

typedef struct Grouping
{
	ArrivalTrigger *at; /* table, types, distance, conditions; key of plans */
	bool connected;
	const char *tables; /* their names begin with it; NULL: the table's name */
	char *fp;			/* columns of the table, not quoted */
	char *column;
	char *key;
	AttrNumber attnum; /* of the group's column where the trigger fires */
	Oid collation;	   /* of the key */
	Oid groups;
	Oid members;
	Oid events;
	Oid redirects;
	Oid decisions;
	Oid sequence; /* of ids */
} Grouping;

/* Who one was before becoming the owner of a grouped table. */
typedef struct GroupUser
{
	Oid user;
	int context;
} GroupUser;

/* grouped.c */

/* The trigger that fires, checked. */
extern Grouping *simdup_grouping_setup(FunctionCallInfo fcinfo);

/* The grouping of a table, for the extension's function; or an ERROR. */
extern Grouping *simdup_grouping_open(Oid function, Oid table);

extern GroupUser simdup_grouping_become_owner(Grouping *g);
extern void simdup_grouping_become_user(GroupUser user);

/* A new id; never given before. */
extern int64 simdup_grouping_new_id(Grouping *g);

/* The newest id; 0 before the first. */
extern int64 simdup_grouping_last_id(Grouping *g);

/* The statements on a grouped table; statements.c has their texts. */
typedef enum GroupStatement
{
	GROUP_GUESS,
	GROUP_NEAREST,
	GROUP_IS_NEAR,
	GROUP_JOIN,
	GROUP_OPEN,
	GROUP_MEMBER,
	GROUP_LEAVE,
	GROUP_END,
	GROUP_SET_COLUMN,
	GROUP_HAS_ROW,
	GROUP_ENTER,
	GROUP_NEAR_GROUPS,
	GROUP_GUESS_CONNECTED,
	GROUP_ARE_NEAR,
	GROUP_IS_THERE,
	GROUP_BROUGHT,
	GROUP_BRING,
	GROUP_TAKE_OUT,
	GROUP_ROWS,
	GROUP_DECISIONS_WITHIN,
	GROUP_TIED,
	GROUP_APART,
	GROUP_GROUPS_APART,
	GROUP_PLACE,
	GROUP_PUT,
	GROUP_REDIRECT,
	GROUP_DROP_REDIRECT,
	GROUP_FOLLOW,
	GROUP_FOLLOW_PARTS,
	GROUP_LEFT,
	GROUP_MERGE_MEMBERS,
	GROUP_MERGE_COLUMN,
	GROUP_EVENT,
	GROUP_DECISION,
	GROUP_IS_DECIDED,
	GROUP_SAME_AS,
	GROUP_NOT_SAME_AS,
	GROUP_APART_FROM_OLDER,
	GROUP_HEIR,
	GROUP_LEAD,
	GROUP_STRAYS,
	GROUP_MOVE,
	GROUP_ADD,
	GROUP_RENAME_MEMBER,
	GROUP_RENAME_LEADER,
	GROUP_REPLACE_DECISIONS,
	GROUP_RENAME_DECISIONS,
	GROUP_TRUNCATE,
	GROUP_BULK_ENTER,
	GROUP_BULK_MOVE,
	GROUP_BULK_SET_COLUMN,
	GROUP_BULK_LEAD,
	GROUP_BULK_EVENTS,
	GROUP_BULK_REDIRECT,
	GROUP_BULK_ARE_NEAR,
	GROUP_COUNT_MEMBERS,
	GROUP_COUNT_GROUPS,
	GROUP_DROP_MEMBERS,
	GROUP_DROP_GROUPS,
	GROUP_LAST_ID,
	N_GROUP_STATEMENTS
} GroupStatement;

/*
 * Run a statement inside an SPI connection. It sees what is committed by now.
 * isnull may be NULL where no parameter is.
 */
extern ArrivalFound simdup_grouping_run(Grouping *g, GroupStatement statement,
										Datum *values, const bool *isnull);

/* A column of a result's row. */
extern Datum simdup_grouping_value(ArrivalFound found, uint64 i, int column,
								   bool *isnull);

/* A statement's text, for those that are run once. */
extern char *simdup_grouping_text(Grouping *g, const char *text);

/* The type of keys as a batch stores them. */
extern Oid simdup_grouping_bulk_key_type(Grouping *g);

#endif /* SIMDUP_GROUPS_GROUPING_H */
