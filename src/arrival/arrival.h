/*
 * arrival.h
 *	  Shared by the arrival triggers: arguments, rows, locks, search, plans.
 *
 * A trigger that fires reads its arguments (once a statement) and the new
 * row's fingerprint, takes locks if it shall, and searches. Then it does its
 * own work: flag, log or refuse.
 */
#ifndef SIMDUP_ARRIVAL_ARRIVAL_H
#define SIMDUP_ARRIVAL_ARRIVAL_H

#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "storage/lock.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "arrival/conditions.h"
#include "arrival/newrow.h"
#include "arrival/operators.h"

/* Argument positions; 0 is always the fingerprint, NO_ARGUMENT is not there. */
#define NO_ARGUMENT (-1)

/* No trigger has so many options. */
#define MAX_ARRIVAL_ARGS 64

/* The last field of the tags of locks; what else it holds, locks.c says. */
#define ARRIVAL_TAG 0x4000
#define ARRIVAL_TURN_TAG (ARRIVAL_TAG | 1)	  /* to take the table's */
#define ARRIVAL_PORTION_TAG (ARRIVAL_TAG | 2) /* of the reserve */

typedef struct ArrivalTrigger ArrivalTrigger;

/* How a trigger function must be fired, and how its user should write it. */
typedef struct ArrivalUsage
{
	const char *function;
	const char *arguments; /* as written between its parentheses */
	int min_args;		   /* without the options */
	int max_args;
	bool before;	/* BEFORE ... FOR EACH ROW */
	bool after;		/* AFTER ... FOR EACH ROW */
	bool statement; /* AFTER ... FOR EACH STATEMENT */
	int flag_arg;
	int key_arg;
	int k_arg;
	int log_arg;
	bool may_lock; /* takes 'lock' among the options; else always locks */
} ArrivalUsage;

/* A trigger as one statement sees it; setup.c keeps it in fn_extra. */
struct ArrivalTrigger
{
	MemoryContext context; /* it and all it points to live there */
	uint64 relation_changes;
	const ArrivalUsage *usage;
	Oid function;  /* its schema is where the extension's objects are */
	Oid trigger;   /* the trigger, or what it is a clone of */
	Oid table;	   /* the table that has it: searched and locked */
	AttrNumber fp; /* columns of the table that is written to */
	AttrNumber key;
	AttrNumber flag;
	Oid fp_type;
	Oid key_type;
	Oid log_table;
	int k;
	bool lock;
	int lock_k; /* the distance by which it locks */
	SimdupConditions conditions;
	bool remote;		   /* locks, and searches foreign tables too */
	ExprState *generation; /* of a generated fp that is not stored yet */
	ExprState *assignment; /* of a key to a flag of another type modifier */
	ExprContext *econtext; /* for both */
};

/*
 * The row that arrives. BEFORE triggers see the row as it would be stored,
 * AFTER triggers see the newest version that the transaction has stored.
 */
typedef struct ArrivalRow
{
	HeapTuple tuple;
	bool has_fp;
	uint64 fp;
	bool changed; /* fingerprint or conditions, by this event or a later */
	bool key_changed;
	bool overtaken; /* a later event changed them again */
	bool key_isnull;
	Datum key;
	ConditionValues conditions;
} ArrivalRow;

/* What a search found. Lives as long as the SPI connection. */
typedef struct ArrivalFound
{
	uint64 n;
	SPITupleTable *rows;
} ArrivalFound;

/* The kinds of prepared plan; with the trigger, the key of the plan cache. */
typedef enum ArrivalPlan
{
	ARRIVAL_NEAREST,   /* one row: nearest, then smallest key */
	ARRIVAL_ALL,	   /* every row within k */
	ARRIVAL_STATEMENT, /* every pair of a statement's new rows */
	ARRIVAL_LOG		   /* writes one row of the log */
} ArrivalPlan;

/* The condition that a search has for near rows. */
typedef struct ArrivalCondition
{
	char *text;
	bool indexed; /* is an index always made to serve it? */
} ArrivalCondition;

/* Columns of the searches' results. */
enum
{
	ARRIVAL_OLD_KEY = 1,
	ARRIVAL_DISTANCE,
	ARRIVAL_TABLEOID,
	ARRIVAL_CTID,
	ARRIVAL_NEW_KEY, /* ARRIVAL_STATEMENT only */
	/* ARRIVAL_ALL only: what stored the row, and if its key is the larger */
	ARRIVAL_XMIN = ARRIVAL_NEW_KEY,
	ARRIVAL_CMIN,
	ARRIVAL_LARGER
};

/* The first parameter of the row-level searches that is a condition's. */
#define ARRIVAL_FIRST_CONDITION 5

/* setup.c */
extern bool simdup_arrival_reaches_foreign(Oid table);
extern ArrivalTrigger *simdup_arrival_setup(FunctionCallInfo fcinfo,
											const ArrivalUsage *usage);

/* trigger_arguments.c */
extern void simdup_arrival_check_fired(FunctionCallInfo fcinfo,
									   const ArrivalUsage *usage);
extern void simdup_arrival_check_arguments(TriggerData *trigdata,
										   const ArrivalUsage *usage);
extern int simdup_arrival_hint(TriggerData *trigdata,
							   const ArrivalUsage *usage);
extern AttrNumber simdup_arrival_column(TriggerData *trigdata,
										const ArrivalUsage *usage, int n,
										const char *role);
extern AttrNumber simdup_arrival_fp_column(TriggerData *trigdata,
										   const ArrivalUsage *usage,
										   Oid extension);
extern void simdup_arrival_check_written(TriggerData *trigdata,
										 const ArrivalUsage *usage,
										 AttrNumber attnum);
extern Oid simdup_arrival_find_log(RangeVar *name, LOCKMODE mode,
								   AclMode rights, bool must);
extern void simdup_arrival_check_log(Oid log, Oid key_type);
extern void simdup_arrival_read_arguments(TriggerData *trigdata,
										  ArrivalTrigger *at);

/* row.c */
extern void simdup_arrival_prepare_row(TriggerData *trigdata,
									   ArrivalTrigger *at);
extern bool simdup_arrival_row(TriggerData *trigdata, ArrivalTrigger *at,
							   ArrivalRow *row);

/* reserve.c */
extern LockAcquireResult simdup_arrival_lock_tag(const LOCKTAG *tag,
												 LOCKMODE mode, bool dont_wait,
												 ResourceOwner holder);
extern bool simdup_arrival_reserve(int n);
extern void simdup_arrival_acquire(const LOCKTAG *tag, LOCKMODE mode);

/* locks.c */
extern int simdup_arrival_lock_distance(const ArrivalTrigger *at,
										const char *fp);
extern void simdup_arrival_lock(ArrivalTrigger *at, uint64 fp);
extern void simdup_arrival_share(ArrivalTrigger *at);
extern void simdup_arrival_lock_table(Oid table);

/* names.c */
extern char *simdup_arrival_schema_of(Oid table);
extern char *simdup_arrival_table_name(Oid table);
extern Oid simdup_arrival_extension(const ArrivalTrigger *at);
extern const char *simdup_arrival_extension_name(const ArrivalTrigger *at);

/* indexes.c */
extern ArrivalCondition simdup_arrival_condition(const ArrivalTrigger *at,
												 const char *fp,
												 const char *center);

/* text.c */
extern char *simdup_arrival_text(TriggerData *trigdata, ArrivalTrigger *at,
								 ArrivalPlan kind, bool *indexed);

/* plans.c */
extern SPIPlanPtr simdup_arrival_plan(ArrivalTrigger *at, ArrivalPlan kind);
extern void simdup_arrival_keep_plan(ArrivalTrigger *at, ArrivalPlan kind,
									 SPIPlanPtr plan);
extern void simdup_arrival_execute(SPIPlanPtr plan, Datum *values,
								   const char *nulls, Snapshot snapshot,
								   long limit);
extern Portal simdup_arrival_open(SPIPlanPtr plan, Snapshot snapshot);

/* search.c */
extern void simdup_arrival_set(const char *name, const char *value);
extern int simdup_arrival_hold_settings(void);
extern void simdup_arrival_release_settings(int nestlevel);
extern void simdup_arrival_become_owner(ArrivalTrigger *at, Oid *user,
										int *context);
extern Oid simdup_arrival_owner(Oid table);
extern ArrivalFound simdup_arrival_search(TriggerData *trigdata,
										  ArrivalTrigger *at, ArrivalPlan kind,
										  const ArrivalRow *row, bool as_owner);
extern Portal simdup_arrival_search_statement(TriggerData *trigdata,
											  ArrivalTrigger *at);
extern ArrivalFound simdup_arrival_fetch(Portal portal, long n);
extern bool simdup_arrival_is_later(ArrivalFound found, uint64 i,
									const ArrivalRow *row);
extern void simdup_arrival_require_visible(ArrivalTrigger *at,
										   ArrivalFound found, uint64 i);

#endif /* SIMDUP_ARRIVAL_ARRIVAL_H */
