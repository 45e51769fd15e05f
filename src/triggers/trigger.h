/*
 * trigger.h
 *	  A trigger as one statement sees it, its locks, and its search for near rows.
 *	  README has the rules.
 */
#ifndef SIMDUP_TRIGGERS_TRIGGER_H
#define SIMDUP_TRIGGERS_TRIGGER_H

#include "access/genam.h"
#include "access/tupconvert.h"
#include "executor/spi.h"
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
	List *given;	 /* names of options */
	char *repeated;	 /* one that was given more than once, or NULL */
} TriggerOptions;

/* Generated columns of a table, and how to compute them. */
typedef struct GeneratedColumns
{
	int n;
	int *columns;
	ExprState **values;
} GeneratedColumns;

/* A table that a search reads, and the index by which it does. */
typedef struct TriggerTarget
{
	Oid table;
	Oid index;
	AttrNumber key; /* of flag and log */
	AttrNumber flag;
	Oid key_index; /* the unique one on the key; of a partition, once it is used */
	bool has_map;			 /* is the next one known? */
	TupleConversionMap *map; /* to the trigger's table, NULL if alike */

	/* open while a search lasts; the last two once they are needed */
	Relation heap;
	Relation index_rel;
	TupleTableSlot *slot;
	struct IndexFetchTableData *fetch;
} TriggerTarget;

/* A unique index, or one of an exclusion, of the table that is written to. */
typedef struct UniqueIndex
{
	IndexInfo *info;
	Oid *procs; /* of a stored and the new row: both cannot be stored */
	Oid collations[INDEX_MAX_KEYS];
} UniqueIndex;

/* The new row; an AFTER trigger sees its newest stored version. */
typedef struct NewRow
{
	HeapTuple tuple;	/* as the trigger got it or found it */
	HeapTuple complete; /* with the generated columns that are needed */
	bool has_fp;
	uint64 fp;
	NullableDatum key; /* of flag and log; NULL where a later trigger sets it */
	ItemPointerData stored_tid; /* of its version in the table, if there is one */
} NewRow;

/* A near row. The index gives its distance and TID, the table its key. */
typedef struct NearRow
{
	Datum key; /* for flag and log */
	TriggerTarget *target;
	int distance;
	ItemPointerData tid;   /* of the visible version, once it is read */
	ItemPointerData entry; /* TID of the index's entry */
	bool is_newer;		   /* of one command, and of a larger key */
	bool is_least;		   /* known to have the smallest key */
	BlockNumber leaf;	   /* of an equal row, and the leaf's LSN */
	XLogRecPtr lsn;
} NearRow;

/* The search for the rows near the new one. */
typedef struct NearSearch
{
	Snapshot snapshot;		/* NULL: nothing may be found */
	bool asks;				/* for each row: does the user see it? */
	Datum new_row;			/* for the condition; 0 if not made yet */
	struct NearRows *found; /* near_rows.c */
} NearSearch;

/* A trigger as one statement sees it; setup.c keeps it in fn_extra. */
typedef struct TriggerState
{
	MemoryContext context;		  /* it and all it points to live there */
	MemoryContext search_context; /* reset after each search */
	HTAB *known;				  /* rows that a flag has seen: near_rows.c */
	uint64 relation_changes;
	TriggerOptions options;
	TriggerKind kind;
	int lock_distance; /* the distance by which it locks */
	Oid function;	   /* its schema is where the extension's objects are */

	/* the table that has the trigger, or the one that it is a clone of */
	Oid table;
	TupleDesc table_desc;
	Oid index;
	Oid key_index; /* the unique one on the key; reject may have none */
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
	Bitmapset *locking;	 /* columns whose change makes log and reject lock */
	Bitmapset *partition_key;
	TriggerTarget *own;
	IndexInfo *index_info;
	EState *estate;
	TupleTableSlot *slot;			 /* for a version of the row */
	GeneratedColumns stored_columns; /* that BEFORE triggers compute */

	/* for rows as the condition takes them, of the trigger's table; NULL: none yet */
	TupleTableSlot *row_slot;
	GeneratedColumns virtual_columns;

	Oid condition_oid;
	Oid log_table;
	Oid log_types[4]; /* of the columns written there */
	FmgrInfo condition_function;

	/* the row that it fires for */
	NewRow row;
	NearSearch search;
} TriggerState;

/* Return the trigger that fires. A change of any relation sets it up again. */
extern TriggerState *simdup_trigger_setup(FunctionCallInfo fcinfo,
										  TriggerKind kind);

/* generated.c */

/* Find the generated columns of a kind among the columns of a table. */
extern void simdup_trigger_find_generated(TriggerState *state, Relation table,
										  Bitmapset *columns, char kind,
										  GeneratedColumns *found);

/* Return a row, which is in a slot, with generated columns computed. */
extern HeapTuple simdup_trigger_generate(TriggerState *state,
										 const GeneratedColumns *generated,
										 TupleTableSlot *slot, HeapTuple tuple);

/* A trigger of this extension. */
typedef struct OwnTrigger
{
	const Trigger *trigger;
	TriggerKind kind;
	TriggerOptions options;
} OwnTrigger;

/* Return the OwnTriggers of a table. `sibling` is a function of this extension. */
extern List *simdup_trigger_list(Oid relid, Oid sibling);

/*
 * Return the table of a trigger, or of the trigger that it is a clone of. Return
 * InvalidOid if one of them is gone.
 */
extern Oid simdup_trigger_table(Oid trigger);

/* locks.c */

/*
 * Lock the blocks of fp in a table until the transaction ends. Every row within
 * the distance k needs at least one of the same locks.
 */
extern void simdup_trigger_lock(Oid table, int k, uint64 fp);

/* targets.c */

/* Check whether an index, invalid or not, is of this access method. */
extern bool simdup_trigger_is_hamming(Relation index);

/* Check whether an index has all rows. */
extern bool simdup_trigger_is_complete(Relation index);

/* Check whether an index stores the same as one of the same table or a parent. */
extern bool simdup_trigger_is_like(Relation index, Oid model);

/* Return how often this session has heard that some relation changed. */
extern uint64 simdup_trigger_relation_changes(void);

/*
 * Find the tables to search and their indexes, and lock them until the
 * transaction ends. An ERROR names the statement to run.
 */
extern void simdup_trigger_find_targets(TriggerState *state);

/*
 * Open the tables to search and their indexes, or those that have taken their
 * place since.
 */
extern void simdup_trigger_open_targets(TriggerState *state);

/*
 * Close tables and indexes; locks stay until the transaction ends. After an ERROR the
 * server closes them, and the state ends with the statement.
 */
extern void simdup_trigger_close_targets(TriggerState *state);

/* Fetch a near row into the slot of its target. */
extern void simdup_trigger_fetch(TriggerState *state, const NearRow *near);

/*
 * Return an index that makes the columns of the option `key` a key of a table. If
 * there is none, the key is an ERROR that tells its lack, or for reject
 * InvalidOid is returned.
 */
extern Oid simdup_trigger_key_index(Oid relid, const TriggerState *state);

/*
 * Return the columns that a table and its partitions are partitioned by, by
 * their numbers in the table or partition `numbered`.
 */
extern Bitmapset *simdup_trigger_partition_columns(Oid relid, Oid numbered);

/* Return the name of a log table with its schema, by default the table's. */
extern RangeVar *simdup_trigger_log_name(Oid table, const char *name);

/* Find the log table, when the key is known. */
extern void simdup_trigger_find_log(TriggerData *trigdata, TriggerState *state);

/* Find the unique indexes of the table that is written to. */
extern void simdup_trigger_find_uniques(Relation table, TriggerState *state);

/* near_rows.c */

/*
 * Search for the rows near the new one, which has a fingerprint, and return the first one
 * that counts; NULL if there is none. A trigger that locks does so before the
 * search takes its snapshot.
 */
extern const NearRow *simdup_trigger_first_near(TriggerState *state);

/*
 * Return the next row that counts, nearest first, of equal distance by their
 * keys, or for reject by their places; NULL after the last. It is valid until the
 * search ends.
 */
extern const NearRow *simdup_trigger_next_near(TriggerState *state);

/* End a search, also one that found nothing. */
extern void simdup_trigger_end_search(TriggerState *state);

/* identity.c */

/*
 * Check whether a stored row is an earlier version of the new one. For flag and
 * log, its key names the new one, too, also in another partition.
 */
extern bool simdup_trigger_is_this_row(TriggerState *state,
									   const TriggerTarget *target,
									   TupleTableSlot *slot);

/*
 * Return the earlier version of the new row, if its INSERT is the second half of an
 * UPDATE that moved it to another partition, else NULL. An AFTER trigger gets the
 * version that the transaction found: later ones may not have been judged.
 */
extern HeapTuple simdup_trigger_moved_version(TriggerState *state,
											  const TriggerData *trigdata);

/* Copy a value of the key's type, so that it lasts as long as the search. */
extern NullableDatum simdup_trigger_key(const TriggerState *state,
										TupleTableSlot *slot,
										AttrNumber attnum);

/*
 * Check whether the new row, as an upsert, meets a near row, or the flags of that
 * one lead to it.
 */
extern bool simdup_trigger_passes_over(TriggerState *state,
									   const NearRow *near);

/* visibility.c */

/* Return the function of a condition of the table's triggers, or InvalidOid. */
extern Oid simdup_trigger_condition(Oid table, const char *condition);

/*
 * Find the condition's function, with the row type of the table twice. A name
 * without a schema means the schema of the table.
 */
extern Oid simdup_trigger_find_condition(const TriggerState *state);

/*
 * Find out whether a search asks if the user sees a near row. Return false if the
 * trigger tells the user of rows, and the user may read none.
 */
extern bool simdup_trigger_may_search(TriggerState *state);

/* Check whether a near row counts. */
extern bool simdup_trigger_counts(TriggerState *state, const NearRow *near);

/*
 * Add the DETAIL of a refusal about the near row, by its key "(names)=(values)":
 * nothing that a SELECT would not show. Its distance is for users who may read the
 * table.
 */
extern int simdup_trigger_detail(const TriggerState *state, const char *key,
								 int distance);

/* new_index.c */

/* Watch the creation of indexes, once, when the module is loaded. */
extern void simdup_triggers_init(void);

#endif /* SIMDUP_TRIGGERS_TRIGGER_H */
