/*
 * arrival.h
 *	  Shared by the arrival triggers: a trigger, the row that arrives, locks and
 *	  the search. README has the rules.
 */
#ifndef SIMDUP_TRIGGERS_ARRIVAL_H
#define SIMDUP_TRIGGERS_ARRIVAL_H

#include "access/tupconvert.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/typcache.h"

/* How a trigger function is fired, and how its user writes it. */
typedef struct ArrivalUsage
{
	const char *function;
	const char *arguments; /* as written between its parentheses */
	int n_fixed;		   /* arguments before the options */
	bool before;		   /* BEFORE ... FOR EACH ROW */
	bool after;			   /* AFTER ... FOR EACH ROW */
	bool deferred;		   /* also as a constraint trigger */
	bool flags;			   /* its first argument is the flag's column */
	bool tells;			   /* of rows; else it refuses them, and always locks */
} ArrivalUsage;

/* A table that a search reads, and the index by which it does. */
typedef struct ArrivalTarget
{
	Oid table;
	Oid index;
	AttrNumber key;
	bool has_map;			 /* is map known? */
	TupleConversionMap *map; /* to the trigger's table, NULL if alike */
} ArrivalTarget;

/* A trigger as one statement sees it; setup.c keeps it in fn_extra. */
typedef struct ArrivalTrigger
{
	MemoryContext context;	   /* it and all it points to live there */
	MemoryContext row_context; /* reset for each row */
	uint64 relation_changes;
	const ArrivalUsage *usage;
	Oid function; /* its schema is where the extension's objects are */
	Oid table;	  /* the table that has the trigger, or what it is a clone of */

	/* the options */
	int max_distance;
	bool lock;
	int lock_distance; /* the distance by which it locks */
	char *key_name;	   /* NULL: the primary key */
	char *index_name;  /* NULL: the only one */
	char *condition;   /* NULL: every near row counts */

	/* the tables to search */
	Oid index; /* on `table` */
	uint64 targets_changes;
	int n_targets;
	ArrivalTarget *targets;

	/* the table that is written to: columns, and how its index makes values */
	TupleDesc tupdesc;
	AttrNumber key;
	AttrNumber flag;  /* InvalidAttrNumber if there is none */
	Bitmapset *flags; /* all columns that triggers of the table set */
	Oid key_type;
	Oid key_collation;
	TypeCacheEntry *key_functions;
	ArrivalTarget own;
	IndexInfo *index_info;
	Bitmapset *index_columns; /* as pull_varattnos counts them */
	EState *estate;
	ExprState *predicate;
	int n_generated; /* stored generated columns that BEFORE triggers compute */
	int *generated;
	ExprState **generations;
	TupleTableSlot *slot; /* for a version of the row */

	/* visibility.c */
	TupleDesc table_desc; /* of `table`, if there is a condition */
	MemoryContext condition_context;
	Oid condition_oid;
	FmgrInfo condition_function;

	Oid log_table;
} ArrivalTrigger;

/* The row that arrives; an AFTER trigger sees its newest stored version. */
typedef struct ArrivalRow
{
	HeapTuple tuple;	/* as the trigger got it or found it */
	HeapTuple complete; /* with the generated columns that are needed */
	bool in_scope;		/* does it fulfil the index's predicate? */
	bool has_fp;
	uint64 fp;
	bool changed; /* fingerprint, scope or condition, by this event or later */
	bool key_changed;
	bool key_isnull;
	Datum key;
	CommandId command; /* that wrote it, if that decides which row is newer */
	bool is_stored;	   /* is a version of it in the table, at stored_tid? */
	Oid stored_table;
	ItemPointerData stored_tid;
} ArrivalRow;

/* A near row that a search found. */
typedef struct ArrivalFound
{
	int distance;
	Datum key;
	bool key_isnull;
	ArrivalTarget *target;
	Relation heap; /* open while the search lasts */
	ItemPointerData tid;
	bool is_newer; /* of one command, and of a larger key */
} ArrivalFound;

typedef struct ArrivalSearch ArrivalSearch;
typedef bool (*ArrivalReceiver)(ArrivalSearch *search,
								const ArrivalFound *found);

/* A search for the rows near one that arrives. */
struct ArrivalSearch
{
	ArrivalTrigger *at;
	const ArrivalRow *row;
	ArrivalReceiver receive; /* takes a row that counts; is that enough? */
	void *arg;
	Snapshot snapshot;
	bool asks;	   /* for each row: does the user see it? */
	Datum new_row; /* for the condition; 0 if not made yet */
};

/* options.c */
extern void simdup_arrival_check_fired(FunctionCallInfo fcinfo,
									   const ArrivalUsage *usage);
extern void simdup_arrival_read_options(TriggerData *trigdata,
										ArrivalTrigger *at);
extern void simdup_arrival_find_columns(TriggerData *trigdata,
										ArrivalTrigger *at);
extern int simdup_arrival_lock_distance(ArrivalTrigger *at);

/* setup.c */
extern ArrivalTrigger *simdup_arrival_setup(FunctionCallInfo fcinfo,
											const ArrivalUsage *usage);
extern bool simdup_arrival_find_targets(ArrivalTrigger *at);
pg_noreturn extern void simdup_arrival_no_index(Oid table, const char *name);

/* new_row.c */
extern void simdup_arrival_prepare_row(TriggerData *trigdata,
									   ArrivalTrigger *at);
extern HeapTuple simdup_arrival_new_tuple(TriggerData *trigdata);
extern bool simdup_arrival_row(TriggerData *trigdata, ArrivalTrigger *at,
							   ArrivalRow *row);

/* locks.c */
extern void simdup_arrival_lock(const ArrivalTrigger *at, uint64 fp);

/* search.c */
extern void simdup_arrival_search(ArrivalTrigger *at, const ArrivalRow *row,
								  ArrivalReceiver receive, void *arg);
/*
 * Return the command of this transaction that wrote a version of a row, or
 * InvalidCommandId if another transaction did.
 */
extern CommandId simdup_arrival_command(HeapTupleHeader header);

/* visibility.c */
extern bool simdup_arrival_begin_near(ArrivalSearch *search);
extern bool simdup_arrival_counts(ArrivalSearch *search,
								  const ArrivalFound *found);
extern int simdup_arrival_detail(const ArrivalTrigger *at, const char *key,
								 int distance);

#endif /* SIMDUP_TRIGGERS_ARRIVAL_H */
