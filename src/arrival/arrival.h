/*
 * arrival.h
 *	  What the arrival triggers share: arguments, rows, locks, search, plans.
 *
 * A firing goes: setup (arguments, checked once a statement), the new row's
 * fingerprint, locks where asked for, search, and then what the trigger is
 * for: flag, log or refuse.
 */
#ifndef SIMDUP_ARRIVAL_ARRIVAL_H
#define SIMDUP_ARRIVAL_ARRIVAL_H

#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/* Argument positions; 0 is always the fingerprint, NO_ARGUMENT is not there. */
#define NO_ARGUMENT (-1)

/* How a trigger function must be fired, and how its user should write it. */
typedef struct ArrivalUsage
{
	const char *function;
	const char *arguments; /* as written between its parentheses */
	int min_args;
	int max_args;
	bool before;	/* BEFORE ... FOR EACH ROW */
	bool after;		/* AFTER ... FOR EACH ROW */
	bool statement; /* AFTER ... FOR EACH STATEMENT */
	int flag_arg;
	int key_arg;
	int k_arg;
	int log_arg;
	int lock_arg;
} ArrivalUsage;

/* A trigger as one statement sees it; lives in fn_extra. */
typedef struct ArrivalTrigger
{
	const ArrivalUsage *usage;
	Oid extension; /* namespace of the extension's objects */
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
	bool remote;		   /* locks, and searches foreign tables too */
	ExprState *generation; /* of a generated fp that is not stored yet */
	ExprContext *econtext;
} ArrivalTrigger;

/* The kinds of prepared plan; with the trigger, the key of the plan cache. */
typedef enum ArrivalPlan
{
	ARRIVAL_NEAREST,   /* one row: nearest, then smallest key */
	ARRIVAL_ALL,	   /* every row within k */
	ARRIVAL_STATEMENT, /* every pair of a statement's new rows */
	ARRIVAL_LOG		   /* writes one row of the log */
} ArrivalPlan;

/* Columns of the searches' results. */
enum
{
	ARRIVAL_OLD_KEY = 1,
	ARRIVAL_DISTANCE,
	ARRIVAL_TABLEOID,
	ARRIVAL_CTID,
	ARRIVAL_NEW_KEY /* ARRIVAL_STATEMENT only */
};

/* arguments.c */
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
extern bool simdup_arrival_reaches_foreign(Oid table);
extern ArrivalTrigger *simdup_arrival_setup(FunctionCallInfo fcinfo,
											const ArrivalUsage *usage);

/* row.c */
extern void simdup_arrival_prepare_row(TriggerData *trigdata,
									   ArrivalTrigger *at,
									   MemoryContext context);
extern bool simdup_arrival_fingerprint(TriggerData *trigdata,
									   ArrivalTrigger *at, uint64 *fp,
									   bool *changed);
extern Datum simdup_arrival_value(TriggerData *trigdata, AttrNumber attnum,
								  bool *isnull);

/* locks.c */
extern void simdup_arrival_lock(ArrivalTrigger *at, uint64 fp);

/* indexes.c */
extern char *simdup_arrival_condition(TriggerData *trigdata, ArrivalTrigger *at,
									  const char *center);

/* plans.c */
extern SPIPlanPtr simdup_arrival_plan(ArrivalTrigger *at, ArrivalPlan kind);
extern void simdup_arrival_keep_plan(ArrivalTrigger *at, ArrivalPlan kind,
									 SPIPlanPtr plan);
extern void simdup_arrival_execute(SPIPlanPtr plan, Datum *values,
								   const char *nulls, Snapshot snapshot,
								   long limit);

/* search.c */
extern Oid simdup_arrival_owner(Oid table);
extern uint64 simdup_arrival_search(TriggerData *trigdata, ArrivalTrigger *at,
									ArrivalPlan kind, uint64 fp, bool as_owner);
extern Portal simdup_arrival_search_statement(TriggerData *trigdata,
											  ArrivalTrigger *at);
extern void simdup_arrival_require_visible(ArrivalTrigger *at, HeapTuple found,
										   TupleDesc tupdesc);

#endif /* SIMDUP_ARRIVAL_ARRIVAL_H */
