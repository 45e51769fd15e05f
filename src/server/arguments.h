/*
 * arguments.h
 *	  Arguments and results of SQL functions, and objects in the catalog.
 */
#ifndef SIMDUP_SERVER_ARGUMENTS_H
#define SIMDUP_SERVER_ARGUMENTS_H

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/array.h"

/* Checks of arguments that several functions share, one wording each. */

/* Return the position of the argument of this name, from 0; -1 if there is none. */
extern int simdup_named_argument(FunctionCallInfo fcinfo, const char *name);

/* Check whether any of the n arguments from this position on is NULL. */
extern bool simdup_has_null(FunctionCallInfo fcinfo, int from, int n);

/* ERROR if an argument that must have a value is NULL. */
extern void simdup_check_not_null(bool isnull, const char *name);

/* Check max_distance of a join: 0 to SIMDUP_MAX_PAIR_DISTANCE, not NULL. */
extern int simdup_check_max_distance(FunctionCallInfo fcinfo, int argument);

/* Return the argument's value; ERROR if it is not between 0 and 1. */
extern double simdup_check_share(double value, const char *name);

/* Check a value above 0 and at most 1, such as a resemblance. */
extern double simdup_check_fraction(double value, const char *name);

/*
 * Return a value that is between two others, of which the larger may be PG_INT32_MAX.
 */
extern int simdup_check_range(int value, int least, int most, const char *name);

/* Check whether the value is this word. */
extern bool simdup_text_is(const text *value, const char *word);

/* One-dimensional arrays. */

/*
 * ERROR, with the argument's name, unless an array is one-dimensional and
 * without NULLs. An empty array is.
 */
extern void simdup_check_array(ArrayType *array, const char *name);

/*
 * Return the elements of such an array, which are of one length and passed by
 * value. Raise 2202E or 22004 with the argument's name.
 */
extern const void *simdup_array_elements(ArrayType *array, const char *name,
										 int *n);

/* Return an array of these elements, of type bigint or integer. */
extern ArrayType *simdup_make_array(const void *elements, int n, Oid type);

/*
 * A result that a function made of one or two arrays. Its next call nearly always
 * has equal ones. A struct that begins with a SimdupMemo is one.
 */
typedef struct SimdupMemo
{
	MemoryContext context; /* it and all it points to live there */
	ArrayType *arrays[2];  /* its sources; NULL: none */
} SimdupMemo;

/*
 * Return the memo of the last call if its arrays were equal, else a new one of
 * `size` bytes. The bytes behind the SimdupMemo are zeroed, and `make` fills them
 * in the memo's context.
 */
extern void *simdup_memo(FmgrInfo *function, ArrayType *a, ArrayType *b,
						 Size size, void (*make)(void *memo));

/* Rows of result, into a tuplestore that spills at work_mem. */

/*
 * Begin the result of a set-returning function. A callback deep inside a join
 * can put rows there, and the executor reads them afterwards.
 */
extern ReturnSetInfo *simdup_begin_result(FunctionCallInfo fcinfo);
/* Put a row; without nulls, no value is NULL. */
extern void simdup_put_result(ReturnSetInfo *result, const Datum *values,
							  const bool *nulls);

/* Return one row, the result of a function of a row type. */
extern Datum simdup_row_result(FunctionCallInfo fcinfo, Datum *values,
							   bool *nulls);

/*
 * Objects of this extension, found from one of its functions (catalog.c).
 *
 * The extension may live in any schema, and search_path may name any other. So
 * an object is looked up in the schema of the function that runs or is planned,
 * and nowhere else.
 */

/* Return the type of this name in the function's schema, or InvalidOid. */
extern Oid simdup_sibling_type(Oid funcid, const char *name);

/*
 * Return the function of this name and of these n argument types in the
 * function's schema, or InvalidOid.
 */
extern Oid simdup_sibling_function(Oid funcid, const char *name,
								   const Oid *types, int n);

/* Return the operator of this name in the function's schema, or InvalidOid. */
extern Oid simdup_sibling_operator(Oid funcid, const char *name, Oid left,
								   Oid right);

/* Return simhash_ball(simhash64, integer) in the schema, or InvalidOid. */
extern Oid simdup_sibling_ball_constructor(Oid funcid);

/* Return schema.table, quoted. ERROR if there is no such table. */
extern char *simdup_table_name(Oid table);

/* Raise the error for the OID of a table that is gone. */
pg_noreturn extern void simdup_no_such_table(Oid table);

/*
 * ERROR, with the hint, which is a gettext_noop, if Citus distributes the table: then it
 * has no rows here.
 */
extern void simdup_refuse_distributed(Oid relid, const char *hint);

/* Check for text, varchar, char(n) and domains over them. */
extern bool simdup_is_text_type(Oid type);

#endif /* SIMDUP_SERVER_ARGUMENTS_H */
