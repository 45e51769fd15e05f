/*
 * conditions.h
 *	  What a near row must fulfil besides its distance: the options of the
 *	  arrival triggers for verification and scope.
 *
 * The options are 'content => column' or 'bits => column', both with
 * 'min_resemblance => 0.8'. A content also has 'w => 4' and 'unit => word'. The
 * scope is 'within => column, column'. The options become SQL that compares a
 * stored row with the row that arrives. The arriving row's values are
 * parameters, or columns of another alias.
 */
#ifndef SIMDUP_ARRIVAL_CONDITIONS_H
#define SIMDUP_ARRIVAL_CONDITIONS_H

#include "commands/trigger.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#define SIMDUP_MAX_CONDITION_COLUMNS 33

/* A column that the conditions compare. */
typedef struct ConditionColumn
{
	const char *name; /* not quoted */
	AttrNumber attnum;
	Oid type; /* of its parameter */
	int16 typlen;
	bool typbyval;
	ExprState *generation; /* BEFORE triggers compute generated columns */
} ConditionColumn;

typedef struct SimdupConditions
{
	const char *content;	/* or NULL; as the options name them */
	const char *bits;		/* or NULL */
	double min_resemblance; /* 0: no verification */
	int w;					/* 0: not given */
	const char *unit;		/* NULL: not given */
	List *within;			/* of names */

	/* found in the table: what is verified comes first, then the scope */
	int n_columns;
	ConditionColumn columns[SIMDUP_MAX_CONDITION_COLUMNS];
	ExprContext *econtext;
} SimdupConditions;

/* The values that a row has in these columns. */
typedef struct ConditionValues
{
	Datum values[SIMDUP_MAX_CONDITION_COLUMNS];
	bool isnull[SIMDUP_MAX_CONDITION_COLUMNS];
} ConditionValues;

/*
 * Set an option that a trigger's argument "option => value" names. False if
 * the argument names none of these options. Values are copied into the current
 * memory context, which must live as long as the conditions.
 */
extern bool simdup_conditions_set(SimdupConditions *c, const char *argument);

/* ERROR unless the options fit each other and the table's columns. */
extern void simdup_conditions_find(SimdupConditions *c, Relation table);

/*
 * Prepare for rows of a trigger, FOR EACH ROW, in the current memory context:
 * BEFORE triggers compute generated columns themselves.
 */
extern void simdup_conditions_prepare(SimdupConditions *c,
									  TriggerData *trigdata);

/*
 * The values of a version of the row that the trigger fires for. A BEFORE
 * trigger computes the generated columns of the new version alone.
 */
extern void simdup_conditions_values(SimdupConditions *c, TriggerData *trigdata,
									 HeapTuple tuple, ConditionValues *values);

/*
 * Do two versions of a row have the same values? Equal bytes are equal values.
 * Different bytes may be equal too, which costs a search at most.
 */
extern bool simdup_conditions_equal(const SimdupConditions *c,
									const ConditionValues *a,
									const ConditionValues *b);

/*
 * Column i in SQL: of the row "alias", or, if alias is NULL, the parameter
 * $(first_param + i).
 */
extern char *simdup_conditions_column(const SimdupConditions *c, int i,
									  const char *alias, int first_param);

/* SQL, "" or " AND ...": are two rows in one scope? */
extern char *simdup_conditions_scope(const SimdupConditions *c,
									 const char *stored, const char *arriving,
									 int first_param);

/*
 * SQL, "" or " AND ...": do two rows resemble each other enough? Both are
 * expressions of column 0. schema is the extension's, quoted.
 */
extern char *simdup_conditions_resemblance(const SimdupConditions *c,
										   const char *schema,
										   const char *stored,
										   const char *arriving);

/* SQL, "" or " AND ...": scope and resemblance, of two aliases or parameters. */
extern char *simdup_conditions_text(const SimdupConditions *c,
									const char *schema, const char *stored,
									const char *arriving, int first_param);

/*
 * SQL, "" or " AND ...": do two versions of a row have the same values? Texts
 * are compared by their bytes.
 */
extern char *simdup_conditions_unchanged(const SimdupConditions *c,
										 const char *a, const char *b);

#endif /* SIMDUP_ARRIVAL_CONDITIONS_H */
