/*
 * arrays.h
 *	  One-dimensional arrays of integers, read and made.
 */
#ifndef SIMDUP_SERVER_ARRAYS_H
#define SIMDUP_SERVER_ARRAYS_H

#include "fmgr.h"
#include "utils/array.h"

/*
 * ERROR, with the argument's name, unless an array is one-dimensional and
 * without NULLs. An empty array is.
 */
extern void simdup_check_array(ArrayType *array, const char *name);

/*
 * The elements of a one-dimensional array without NULLs; of an empty one none.
 * Raises 2202E or 22004 with the argument's name.
 */
extern const int64 *simdup_int8_elements(ArrayType *array, const char *name,
										 int *n);
extern const int32 *simdup_int4_elements(ArrayType *array, const char *name,
										 int *n);

/* Their way back. */
extern ArrayType *simdup_int8_array(const uint64 *elements, int n);
extern ArrayType *simdup_int4_array(const uint32 *elements, int n);

#endif /* SIMDUP_SERVER_ARRAYS_H */
