/*
 * trigger.h
 *	  A trigger as one statement sees it, and its locks. README has the rules.
 */
#ifndef SIMDUP_TRIGGERS_TRIGGER_H
#define SIMDUP_TRIGGERS_TRIGGER_H

#include "access/genam.h"
#include "access/tupconvert.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/typcache.h"

typedef enum TriggerKind
{
	TRIGGER_FLAG,
	TRIGGER_LOG,
	TRIGGER_REJECT /* tells nothing of rows but refuses them; always locks */
} TriggerKind;

typedef struct TriggerOptions
{
	int max_distance;
	bool lock;
	List *key;		 /* names of columns; NIL: the primary key's */
	List *columns;	 /* further ones whose change makes it act */
	char *index;	 /* NULL: the only one */
	char *condition; /* NULL: every near row counts */
} TriggerOptions;

/* A table that a search reads, and the index by which it does. */
typedef struct TriggerTarget
{
	Oid table;
	Oid index;
	AttrNumber key; /* of flag and log */
	AttrNumber flag;
	Oid key_index;			 /* of a flag, once a chain was followed */
	bool has_map;			 /* is map known? */
	TupleConversionMap *map; /* to the trigger's table, NULL if alike */

	/* while a search lasts; all but the first two once they are needed */
	Relation heap;
	Relation index_rel;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	Relation key_rel;
	IndexScanDesc key_scan;
} TriggerTarget;

/* A unique index of the table that is written to. */
typedef struct UniqueIndex
{
	IndexInfo *info;
	ExprState *predicate;
	FmgrInfo *equal; /* of each column */
	Oid *collations;
} UniqueIndex;

/* A trigger as one statement sees it; setup.c keeps it in fn_extra. */
typedef struct TriggerState
{
	MemoryContext context;		  /* it and all it points to live there */
	MemoryContext search_context; /* reset after each search */
	uint64 relation_changes;
	TriggerOptions options;
	TriggerKind kind;
	int lock_distance; /* the distance by which it locks */
	Oid function;	   /* its schema is where the extension's objects are */

	/* the table that has the trigger, or what it is a clone of */
	Oid table;
	TupleDesc table_desc;
	Oid index;
	Oid key_index; /* of flag and log: unique on the key */
	int n_targets;
	TriggerTarget *targets; /* the tables to search */

	/* the table that is written to: columns, and how its index makes values */
	Oid written;
	AttrNumber key;	 /* of flag and log: one column */
	AttrNumber flag; /* InvalidAttrNumber if there is none */
	TupleDesc tupdesc;
	Form_pg_attribute key_att; /* in tupdesc */
	TypeCacheEntry *key_functions;
	int n_uniques;
	UniqueIndex *uniques;
	Bitmapset *flags;	 /* all columns that triggers of the table set */
	Bitmapset *deciding; /* columns whose change may change the index's value */
	Bitmapset *acting;	 /* columns whose change makes a trigger act */
	TriggerTarget *own;
	IndexInfo *index_info;
	EState *estate;
	ExprState *predicate;
	TupleTableSlot *slot; /* for a version of the row */
	int n_generated; /* stored generated columns that BEFORE triggers compute */
	int *generated;
	ExprState **generations;

	Oid condition_oid;
	Oid log_table;
	FmgrInfo condition_function;
} TriggerState;

/* Return the trigger that fires. A change of any relation sets it up again. */
extern TriggerState *simdup_trigger_setup(FunctionCallInfo fcinfo,
										  TriggerKind kind);

/* locks.c */

/*
 * Lock the blocks of fp in a table until the transaction ends. Every row within
 * the distance k needs at least one of the same locks.
 */
extern void simdup_trigger_lock(Oid table, int k, uint64 fp);

#endif /* SIMDUP_TRIGGERS_TRIGGER_H */
