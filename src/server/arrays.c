/*
 * arrays.c
 *	  One-dimensional arrays of integers, read and made.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "server/arrays.h"

/* Checks the form; returns the elements, which lie side by side. */
static const void *
array_elements(ArrayType *array, const char *name, int *n)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("%s must be a one-dimensional array", name),
				errdetail("It has %d dimensions.", ARR_NDIM(array)));
	if (array_contains_nulls(array))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not contain nulls", name));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return ARR_DATA_PTR(array);
}

const int64 *
simdup_int8_elements(ArrayType *array, const char *name, int *n)
{
	return array_elements(array, name, n);
}

const int32 *
simdup_int4_elements(ArrayType *array, const char *name, int *n)
{
	return array_elements(array, name, n);
}

static ArrayType *
make_array(const void *elements, int n, int width, Oid type)
{
	Size data = (Size) n * width;
	ArrayType *array;

	if (n == 0)
		return construct_empty_array(type);
	if (data > MaxAllocSize / 2)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("array size exceeds the maximum allowed (%d)",
					   (int) (MaxAllocSize / 2)));
	array = palloc0(ARR_OVERHEAD_NONULLS(1) + data);
	SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1) + data);
	array->ndim = 1;
	array->elemtype = type;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), elements, data);
	return array;
}

ArrayType *
simdup_int8_array(const uint64 *elements, int n)
{
	return make_array(elements, n, sizeof(uint64), INT8OID);
}

ArrayType *
simdup_int4_array(const uint32 *elements, int n)
{
	return make_array(elements, n, sizeof(uint32), INT4OID);
}
