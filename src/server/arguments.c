/*
 * arguments.c
 *	  Arguments and results of SQL functions.
 *
 * A check that several functions share has one wording. Result rows go into a
 * tuplestore that spills at work_mem.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "core/fingerprint/hamming.h"
#include "server/arguments.h"

/* Checks */

/*
 * Look through the catalog's names, since positions differ between the forms of a
 * function, and between versions of the extension.
 */
int
simdup_named_argument(FunctionCallInfo fcinfo, const char *name)
{
	Oid function = fcinfo->flinfo->fn_oid;
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	int argument = -1;
	Oid *types;
	char **names;
	char *modes;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	/* simdup's functions have their input arguments first */
	(void) get_func_arg_info(tuple, &types, &names, &modes);
	for (int i = 0; names != NULL && i < PG_NARGS() && argument < 0; i++)
		if (strcmp(names[i], name) == 0)
			argument = i;
	ReleaseSysCache(tuple);
	return argument;
}

bool
simdup_has_null(FunctionCallInfo fcinfo, int from, int n)
{
	while (n > 0 && !PG_ARGISNULL(from + n - 1))
		n--;
	return n > 0;
}

void
simdup_check_not_null(bool isnull, const char *name)
{
	if (isnull)
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", name));
}

int
simdup_check_max_distance(FunctionCallInfo fcinfo, int argument)
{
	simdup_check_not_null(PG_ARGISNULL(argument), "max_distance");
	return simdup_check_range(PG_GETARG_INT32(argument), 0,
							  SIMDUP_MAX_PAIR_DISTANCE, "max_distance");
}

double
simdup_check_share(double value, const char *name)
{
	if (!(value >= 0 && value <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("%s must be between 0 and 1", name),
				errdetail("The value given is %s.", float8out_internal(value)));
	return value;
}

double
simdup_check_fraction(double value, const char *name)
{
	if (!(value > 0 && value <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("%s must be greater than 0 and at most 1", name),
				errdetail("The value given is %s.", float8out_internal(value)));
	return value;
}

int
simdup_check_range(int value, int least, int most, const char *name)
{
	if (value < least || value > most)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				most == PG_INT32_MAX
					? errmsg("%s must be at least %d", name, least)
					: errmsg("%s must be between %d and %d", name, least, most),
				errdetail("The value given is %d.", value));
	return value;
}

bool
simdup_text_is(const text *value, const char *word)
{
	size_t len = strlen(word);

	return VARSIZE_ANY_EXHDR(value) == len &&
		   memcmp(VARDATA_ANY(value), word, len) == 0;
}

/* Arrays */

void
simdup_check_array(ArrayType *array, const char *name)
{
	int n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("%s must be one-dimensional", name),
				errdetail("The array has %d dimensions.", ARR_NDIM(array)));
	for (int i = 0; ARR_HASNULL(array) && i < n; i++)
		if (att_isnull(i, ARR_NULLBITMAP(array)))
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("%s must not contain nulls", name),
					errdetail("The element at position %d is null.", i + 1));
}

const void *
simdup_array_elements(ArrayType *array, const char *name, int *n)
{
	simdup_check_array(array, name);
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return ARR_DATA_PTR(array);
}

ArrayType *
simdup_make_array(const void *elements, int n, Oid type)
{
	/* more than an array can have are an error of construct_array */
	Datum *values =
		MemoryContextAllocHuge(CurrentMemoryContext, (Size) n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		values[i] = type == INT8OID
						? Int64GetDatum(((const int64 *) elements)[i])
						: Int32GetDatum(((const int32 *) elements)[i]);
	return type == INT8OID ? construct_array(values, n, type, sizeof(int64),
											 FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)
						   : construct_array(values, n, type, sizeof(int32),
											 true, TYPALIGN_INT);
}

static bool
is_same_array(ArrayType *a, ArrayType *b)
{
	return a == NULL || b == NULL ? a == b
								  : datumIsEqual(PointerGetDatum(a),
												 PointerGetDatum(b), false, -1);
}

void *
simdup_memo(FmgrInfo *function, ArrayType *a, ArrayType *b, Size size,
			void (*make)(void *memo))
{
	SimdupMemo *memo = function->fn_extra;
	ArrayType *arrays[] = {a, b};
	MemoryContext context;
	MemoryContext old;

	if (memo != NULL && is_same_array(memo->arrays[0], a) &&
		is_same_array(memo->arrays[1], b))
		return memo;
	function->fn_extra = NULL;
	if (memo != NULL)
		MemoryContextDelete(memo->context);
	context = AllocSetContextCreate(function->fn_mcxt, "simdup memo",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	memo = palloc0(size);
	memo->context = context;
	for (int i = 0; i < 2; i++)
		if (arrays[i] != NULL)
			memo->arrays[i] = memcpy(palloc(VARSIZE(arrays[i])), arrays[i],
									 VARSIZE(arrays[i]));
	make(memo);
	MemoryContextSwitchTo(old);
	function->fn_extra = memo;
	return memo;
}

/* Result rows */

ReturnSetInfo *
simdup_begin_result(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, 0);
	return (ReturnSetInfo *) fcinfo->resultinfo;
}

void
simdup_put_result(ReturnSetInfo *result, const Datum *values, const bool *nulls)
{
	static const bool no_nulls[MaxTupleAttributeNumber] = {false};

	/* the casts are for servers before 18 */
	tuplestore_putvalues(result->setResult, result->setDesc, (Datum *) values,
						 (bool *) (nulls != NULL ? nulls : no_nulls));
}

Datum
simdup_row_result(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(
		heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
