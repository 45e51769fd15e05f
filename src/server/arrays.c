/*
 * arrays.c
 *	  One-dimensional arrays of integers, read and made.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "server/arrays.h"

void
simdup_check_array(ArrayType *array, const char *name)
{
	const uint8 *not_null = ARR_NULLBITMAP(array);
	int n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("%s must be one-dimensional", name),
				errdetail("The array has %d dimensions.", ARR_NDIM(array)));
	for (int i = 0; not_null != NULL && i < n; i++)
	{
		if ((not_null[i / 8] >> i % 8 & 1) == 0)
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("%s must not contain nulls", name),
					errdetail("The element at position %d is null.", i + 1));
	}
}

/* Checks the form; returns the elements, which lie side by side. */
static const void *
array_elements(ArrayType *array, const char *name, int *n)
{
	simdup_check_array(array, name);
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
