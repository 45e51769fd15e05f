/*
 * arguments.h
 *	  Checks of arguments that several functions share, one wording each.
 */
#ifndef SIMDUP_SERVER_ARGUMENTS_H
#define SIMDUP_SERVER_ARGUMENTS_H

#include "fmgr.h"

/* The place of the argument of this name, from 0; -1 if there is none. */
extern int simdup_named_argument(FunctionCallInfo fcinfo, const char *name);

/* Is any of the first n arguments NULL? */
extern bool simdup_has_null(FunctionCallInfo fcinfo, int n);

/* ERROR if an argument that must have a value is NULL. */
extern void simdup_check_not_null(bool isnull, const char *name);

/* max_distance of a join of all rows: 0 to SIMDUP_MAX_PAIR_DISTANCE. */
extern int simdup_check_max_distance(int max_distance);

/* Return the argument's value; ERROR if it is not between 0 and 1. */
extern double simdup_check_share(double value, const char *name);

/* A resemblance: above 0, at most 1. */
extern double simdup_check_min_resemblance(double value);

/* Is it this word? */
extern bool simdup_text_is(const text *value, const char *word);

/* text, varchar, char(n) and domains over them. */
extern bool simdup_is_text_type(Oid type);

#endif /* SIMDUP_SERVER_ARGUMENTS_H */
