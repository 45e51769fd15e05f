/*
 * arguments.c
 *	  Arguments and results of SQL functions, and objects in the catalog.
 *
 * A check that several functions share has one wording. Result rows go into a
 * tuplestore that spills at work_mem.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
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
	int max_distance = PG_GETARG_INT32(argument);

	simdup_check_not_null(PG_ARGISNULL(argument), "max_distance");
	if (max_distance < 0 || max_distance > SIMDUP_MAX_PAIR_DISTANCE)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_distance must be between 0 and %d",
					   SIMDUP_MAX_PAIR_DISTANCE),
				errdetail("The distance given is %d.", max_distance),
				errhint(
					"Unrelated fingerprints are about 32 apart; 3 finds copies, 8 near-duplicates."));
	return max_distance;
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
simdup_check_range(int value, int least, int most, const char *name,
				   const char *detail)
{
	if (value < least || value > most)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				most == PG_INT32_MAX
					? errmsg("%s must be at least %d", name, least)
					: errmsg("%s must be between %d and %d", name, least, most),
				errdetail(detail, value));
	return value;
}

bool
simdup_text_is(const text *value, const char *word)
{
	size_t len = strlen(word);

	return VARSIZE_ANY_EXHDR(value) == len &&
		   memcmp(VARDATA_ANY(value), word, len) == 0;
}

bool
simdup_is_text_type(Oid type)
{
	type = getBaseType(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* Arrays */

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
	Size data = (Size) n * (type == INT8OID ? sizeof(int64) : sizeof(int32));
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

/* Objects */

Oid
simdup_sibling_type(Oid funcid, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name),
						   ObjectIdGetDatum(get_func_namespace(funcid)));
}

Oid
simdup_sibling_function(Oid funcid, const char *name, const Oid *types, int n)
{
	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   PointerGetDatum(name),
						   PointerGetDatum(buildoidvector(types, n)),
						   ObjectIdGetDatum(get_func_namespace(funcid)));
}

Oid
simdup_sibling_operator(Oid funcid, const char *name, Oid left, Oid right)
{
	return GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
						   PointerGetDatum(name), ObjectIdGetDatum(left),
						   ObjectIdGetDatum(right),
						   ObjectIdGetDatum(get_func_namespace(funcid)));
}

Oid
simdup_sibling_ball_constructor(Oid funcid)
{
	Oid types[2];

	types[0] = simdup_sibling_type(funcid, "simhash64");
	types[1] = INT4OID;
	return simdup_sibling_function(funcid, "simhash_ball", types,
								   lengthof(types));
}

char *
simdup_table_name(Oid table)
{
	char *schema = get_namespace_name(get_rel_namespace(table));
	char *name = get_rel_name(table);

	if (schema == NULL || name == NULL)
		simdup_no_such_table(table);
	return quote_qualified_identifier(schema, name);
}

Oid
simdup_table_of_trigger(Oid trigger)
{
	Relation pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	Oid table;

	do
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(pg_trigger, TriggerOidIndexId, true, NULL, 1,
								  &key);
		tuple = systable_getnext(scan);
		table = InvalidOid;
		if (HeapTupleIsValid(tuple))
		{
			table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
			trigger = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
		}
		systable_endscan(scan);
	} while (OidIsValid(trigger) && OidIsValid(table));
	table_close(pg_trigger, AccessShareLock);
	return table;
}

void
simdup_no_such_table(Oid table)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
			errmsg("relation with OID %u does not exist", table));
}
