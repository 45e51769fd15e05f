/*
 * catalog.c
 *	  Objects of this extension, found from one of its functions.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "server/catalog.h"

Oid
simdup_type_in_schema(Oid schema, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name),
						   ObjectIdGetDatum(schema));
}

Oid
simdup_sibling_type(Oid funcid, const char *name)
{
	return simdup_type_in_schema(get_func_namespace(funcid), name);
}

char *
simdup_type_name(Oid type)
{
	return format_type_extended(type, -1,
								FORMAT_TYPE_TYPEMOD_GIVEN |
									FORMAT_TYPE_FORCE_QUALIFY);
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
simdup_sibling_ball_constructor(Oid funcid)
{
	Oid types[2];

	types[0] = simdup_sibling_type(funcid, "simhash64");
	types[1] = INT4OID;
	return simdup_sibling_function(funcid, "simhash_ball", types,
								   lengthof(types));
}

void
simdup_no_such_table(Oid table)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
			errmsg("relation with OID %u does not exist", table));
}
