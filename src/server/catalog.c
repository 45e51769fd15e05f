/*
 * catalog.c
 *	  Objects in the catalog: this extension's own, and tables.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "server/arguments.h"

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

void
simdup_no_such_table(Oid table)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
			errmsg("relation with OID %u does not exist", table));
}

/* Citus is no dependency: its catalog is looked up by name. */
void
simdup_refuse_distributed(Oid relid, const char *hint)
{
	Oid catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	Relation partitions;
	SysScanDesc scan;
	ScanKeyData key;

	if (!OidIsValid(catalog))
		return;
	partitions = table_open(catalog, AccessShareLock);
	ScanKeyInit(&key, get_attnum(catalog, "logicalrelid"),
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(partitions, InvalidOid, false, NULL, 1, &key);
	if (HeapTupleIsValid(systable_getnext(scan)))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a distributed table", get_rel_name(relid)),
				errdetail("The rows of a distributed table are in its shards."),
				errhint("%s", _(hint)));
	systable_endscan(scan);
	table_close(partitions, AccessShareLock);
}

bool
simdup_is_text_type(Oid type)
{
	type = getBaseType(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}
