/*
 * attachment.h
 *	  What simdup_attach gives a table: as it is asked for, and as it is there.
 */
#ifndef SIMDUP_ARRIVAL_ATTACHMENT_H
#define SIMDUP_ARRIVAL_ATTACHMENT_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "text/kinds.h"
#include "utils/rel.h"

#include "arrival/conditions.h"

/* Names that attach gives. */
#define FP_COLUMN "simdup_fp"
#define FLAG_COLUMN "simdup_of"
#define GROUP_COLUMN "simdup_group"
#define FLAG_CONSTRAINT "simdup_of_fkey"
#define UPDATE_TRIGGER "simdup_1_fingerprint"
#define ACTION_TRIGGER "simdup_2_arrival"
#define MEMBER_TRIGGER "simdup_3_members"
#define TRUNCATE_TRIGGER "simdup_4_truncate"

/* How the comment of a column begins that attach made. */
#define SIMDUP_ATTACH_MARK "simdup_attach: "

typedef enum AttachAction
{
	ATTACH_FLAG,
	ATTACH_LOG,
	ATTACH_REJECT,
	ATTACH_GROUP
} AttachAction;

/* A table and what it has, or shall have. Names are not quoted. */
typedef struct Attachment
{
	Relation table;		/* open, and locked to the transaction's end */
	Oid extension;		/* the schema of the extension's objects */
	const char *schema; /* its name, quoted */
	char *table_name;	/* schema.table, quoted */

	char *fp; /* the columns that attach makes */
	char *flag;
	char *fingerprint; /* "simhash" or "minhash64" */
	List *options;	   /* of it: strings "option => value" */
	char *content;
	List *fields; /* names */

	AttachAction action;
	int max_distance;
	SimdupConditions conditions;
	bool lock;
	char *key;
	char *log_table; /* as a trigger's argument: schema.table, quoted */
	bool log_exists;
	char *group;	/* the column of ids */
	char *tables;	/* the names of the tables of groups begin with it */
	bool connected; /* the method; else leader */

	bool live;
	bool backfill;
	bool foreign_key;
} Attachment;

/* attached.c: what is there */

/*
 * Open and lock the table. A change of it needs its owner and a strong lock,
 * a look at it needs SELECT.
 */
extern void simdup_attach_open(Attachment *a, Oid function, Oid table,
							   bool change);

/* Read the triggers that attach made; false if there are none. */
extern bool simdup_attach_read(Attachment *a);

/* Names of the columns that attach made; none without a trigger of attach. */
extern List *simdup_attach_columns(Attachment *a);

/* Names of those among them that a comment marks. */
extern List *simdup_attach_marked_columns(Attachment *a);

/*
 * Names of the columns with a mark in a table that is not attached: CREATE
 * TABLE ... LIKE copies comments.
 */
extern List *simdup_attach_copied_columns(Attachment *a);

/* Names of the triggers that attach made. */
extern List *simdup_attach_triggers(Attachment *a);

/* attach_checks.c: what is asked for, against the table */

extern const char *simdup_attach_action_name(AttachAction action);
extern AttachAction simdup_attach_parse_action(const char *name);

/* ERROR where a table, or a table below it, cannot be attached. */
extern void simdup_attach_check_table(Attachment *a);

/* ERROR unless the columns can be content and fields. */
extern void simdup_attach_check_sources(Attachment *a);

/* Set an option, or ERROR. */
extern void simdup_attach_set_option(Attachment *a, const char *name,
									 const char *value);

/* The value of an option, or NULL if it has the default. */
extern const char *simdup_attach_option(const Attachment *a, const char *name);

/*
 * Set what near rows must fulfil. A min_resemblance of 0 and an empty scope
 * take the condition off; NULL leaves it as it is. ERROR where it does not fit
 * the table.
 */
extern void simdup_attach_set_conditions(Attachment *a,
										 const double *min_resemblance,
										 const List *const *within);

/* The only column of the primary key. */
extern char *simdup_attach_primary_key(Attachment *a);

/* ERROR unless the key tells rows apart, for what the triggers need. */
extern void simdup_attach_check_key(Attachment *a);

/* Find the log table; name is NULL where the caller does not name one. */
extern void simdup_attach_find_log(Attachment *a, const text *name);

/* attach_key.c */

/* COLLATE of the key if it differs from its type's; else an empty string. */
extern char *simdup_attach_key_collation(Attachment *a);

/* The key's type, as a column definition names it, with its collation. */
extern char *simdup_attach_key_type(Attachment *a);

/* attach_statements.c: lists of SQL */

/* All statements of a new attachment. */
extern List *simdup_attach_statements(Attachment *a);

/* The statements that lead from one attachment to another. */
extern List *simdup_alter_statements(Attachment *old, Attachment *a);

/* attach_tables.c: whose the tables of groups are */

/*
 * What the names of a table's own tables of groups begin with. These are the
 * ones that it left before, or new ones.
 */
extern char *simdup_attach_choose_tables(Attachment *a);

/* Add the statement that says whose they are, unless it is said already. */
extern List *simdup_attach_claim_groups(Attachment *a, List *list);

/* The same where the table leaves them, if they are there. */
extern List *simdup_attach_leave_groups(Attachment *a, List *list);

/* attach_groups.c: the action "group" */

/* ERROR where a table of that name is there and does not fit. */
extern void simdup_attach_check_groups(Attachment *a);

/* Is the table of groups there, and its fingerprints gone with the extension? */
extern bool simdup_attach_lost_fingerprints(Attachment *a);

/* Add statements: the tables; the triggers but the first; the fill; indexes. */
extern List *simdup_attach_add_groups(Attachment *a, List *list);
extern List *simdup_attach_group_triggers(Attachment *a, List *list,
										  const char *create,
										  const char *arguments);
extern List *simdup_attach_fill_groups(Attachment *a, List *list);
extern List *simdup_attach_index_groups(Attachment *a, List *list);

/* Arguments of the triggers, after the fingerprint. */
extern char *simdup_attach_group_arguments(Attachment *a);

#endif /* SIMDUP_ARRIVAL_ATTACHMENT_H */
