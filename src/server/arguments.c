/*
 * arguments.c
 *	  Checks of arguments that several functions share, one wording each.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "core/allpairs.h"
#include "server/arguments.h"

/*
 * By the catalog's names: places differ between the forms of a function, and
 * between versions of the extension.
 */
int
simdup_named_argument(FunctionCallInfo fcinfo, const char *name)
{
	Oid function = fcinfo->flinfo->fn_oid;
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	int argument = -1;
	int n;
	Datum arg_names;
	Datum modes;
	bool no_names;
	bool no_modes;
	char **names = NULL;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	arg_names =
		SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargnames, &no_names);
	modes =
		SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargmodes, &no_modes);
	n = no_names
			? 0
			: get_func_input_arg_names(arg_names, no_modes ? (Datum) 0 : modes,
									   &names);
	for (int i = 0; i < n && i < PG_NARGS() && argument < 0; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			argument = i;
	ReleaseSysCache(tuple);
	return argument;
}

bool
simdup_has_null(FunctionCallInfo fcinfo, int n)
{
	while (n > 0 && !PG_ARGISNULL(n - 1))
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
simdup_check_max_distance(int max_distance)
{
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
				errdetail("The value given is %g.", value));
	return value;
}

double
simdup_check_min_resemblance(double value)
{
	if (!(value > 0 && value <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_resemblance must be greater than 0 and at most 1"),
				errdetail("The value given is %g.", value));
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
