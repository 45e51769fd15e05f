/*
 * catalog.c
 *	  Objects of this extension, found from one of its functions.
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
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/catalog.h"

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

/* Return the table that has a trigger; *parent is what it is a clone of. */
static Oid
table_of_trigger(Relation pg_trigger, Oid trigger, Oid *parent)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	Oid table = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(trigger));
	scan =
		systable_beginscan(pg_trigger, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		*parent = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
	}
	systable_endscan(scan);
	return table;
}

Oid
simdup_table_of_trigger(Oid trigger)
{
	Relation pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	Oid table = InvalidOid;

	do
	{
		table = table_of_trigger(pg_trigger, trigger, &trigger);
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
