/*
 * removal.h
 *	  A removal of duplicates: the table, the map of keys, and the references
 *	  that move.
 */
#ifndef SIMDUP_GROUPS_REMOVAL_H
#define SIMDUP_GROUPS_REMOVAL_H

#include "nodes/pg_list.h"
#include "utils/rel.h"

/* A foreign key to the table. Names are quoted unless they say otherwise. */
typedef struct RemovalReference
{
	char *constraint; /* not quoted */
	Oid table;		  /* the table that refers */
	char *table_name; /* schema.table */
	bool only;		  /* rows of its child tables are not under the key */
	bool self;		  /* the table refers to itself */
	int n;
	AttrNumber attnums[INDEX_MAX_KEYS]; /* of the columns that refer */
	char *columns[INDEX_MAX_KEYS];
	char *types[INDEX_MAX_KEYS];
	bool clears[INDEX_MAX_KEYS]; /* becomes NULL in a row of its own kept row */
	char *referenced[INDEX_MAX_KEYS];
	bool nullable[INDEX_MAX_KEYS]; /* the referenced columns */
	char *equals[INDEX_MAX_KEYS];  /* referenced = column */
	char *row_key;				   /* jsonb that names a row, of alias r */
} RemovalReference;

typedef struct Removal
{
	Relation table;
	char *table_name;
	char *key; /* quoted */
	Oid key_type;
	char *key_type_name;
	char *equals; /* of keys */
	char *archive;
	Oid archive_table; /* InvalidOid if it is to be made */
	char *moved;	   /* the table that notes moved references */
	Oid moved_table;   /* the same */
	List *references;  /* of RemovalReference */
	Datum map[2];	   /* arrays: keys, and the kept key of each */
	Oid map_type;
} Removal;

/* A statement, and the query that counts its rows beforehand. */
typedef struct RemovalStatement
{
	char *sql;
	char *count; /* NULL: the statement has no rows */
	bool all;	 /* it must reach each row of the map */
} RemovalStatement;

/* remove_references.c: the foreign keys to the table, in order of name */
extern List *simdup_removal_references(Removal *r);

/* remove_checks.c: ERROR where the map or the references forbid it */
extern void simdup_removal_check_table(Removal *r);
extern void simdup_removal_check_written(Removal *r);
extern void simdup_removal_check_map(Removal *r);
extern void simdup_removal_check_reference(Removal *r, RemovalReference *ref);

/* remove_statements.c: SQL text; $1 and $2 are the arrays of the map */
extern char *simdup_removal_rows(Removal *r);
extern char *simdup_removal_match(Removal *r, RemovalReference *ref,
								  bool to_itself);
extern char *simdup_removal_count(Removal *r, RemovalReference *ref,
								  bool to_itself);
extern char *simdup_removal_lock(Removal *r);
extern List *simdup_removal_moves(Removal *r);
extern List *simdup_removal_delete(Removal *r);
/* Run SQL with the map as $1 and $2, for so many rows, 0: all; their number. */
extern uint64 simdup_removal_execute(Removal *r, const char *sql, long limit);

#endif /* SIMDUP_GROUPS_REMOVAL_H */
