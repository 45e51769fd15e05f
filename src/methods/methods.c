/*
 * methods.c
 *	  What the functions of this room share.
 */
#include "postgres.h"

#include "compat.h"
#include "catalog/pg_type.h"
#include "methods/methods.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

static bool
name_is(const text *name, const char *expected)
{
	size_t len = strlen(expected);

	return VARSIZE_ANY_EXHDR(name) == len &&
		   memcmp(VARDATA_ANY(name), expected, len) == 0;
}

SimdupShingling
simdup_get_shingling(int w, const text *unit)
{
	SimdupShingling shingling = {SIMDUP_SHINGLE_WORD, w};

	if (w < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("shingle width must be at least 1"),
						errdetail("The width given is %d.", w),
						errhint("A shingle is a window of so many units.")));
	if (name_is(unit, "char"))
		shingling.unit = SIMDUP_SHINGLE_CHAR;
	else if (name_is(unit, "raw"))
		shingling.unit = SIMDUP_SHINGLE_RAW;
	else if (!name_is(unit, "word"))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("unrecognized shingle unit: \"%s\"",
							   text_to_cstring(unit)),
						errhint("Units are \"word\", \"char\" and \"raw\".")));
	return shingling;
}

void
simdup_too_many_shingles(void)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("text has too many shingles"),
					errdetail("More than %zu of them are distinct.",
							  SIMDUP_MAX_SHINGLES)));
}

SimdupHashes
simdup_hashes_of(const text *content, SimdupShingling shingling)
{
	SimdupUtf8   utf8 = simdup_text_to_utf8(content);
	SimdupHashes list = {0};

	if (!simdup_shingle_hashes(shingling.unit, shingling.w, utf8.bytes,
							   utf8.len, &list))
		simdup_too_many_shingles();
	return list;
}

SimdupHashes
simdup_hash_set(const text *content, SimdupShingling shingling)
{
	SimdupHashes set = simdup_hashes_of(content, shingling);

	simdup_hashes_unique(&set);
	return set;
}

double
simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b)
{
	size_t common = simdup_hashes_common(a->hashes, a->n, b->hashes, b->n);

	return (double) common / (double) (a->n + b->n - common);
}

/* Checks the form; returns the elements, which lie side by side. */
static const void *
array_elements(ArrayType *array, const char *name, int *n)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s must be a one-dimensional array", name),
						errdetail("It has %d dimensions.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("%s must not contain nulls", name)));
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
	Size       data = (Size) n * width;
	ArrayType *array;

	if (n == 0)
		return construct_empty_array(type);
	if (data > MaxAllocSize / 2)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("array size exceeds the maximum allowed (%d)",
							   (int) (MaxAllocSize / 2))));
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
