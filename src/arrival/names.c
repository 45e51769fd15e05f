/*
 * names.c
 *	  Names for the SQL text of the triggers, quoted.
 *
 * A trigger may know the OID of an object that is gone by now. These functions
 * raise an error then, so no caller sees a null pointer.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "server/catalog.h"

/* The name of the schema that a table is in, not quoted. */
char *
simdup_arrival_schema_of(Oid table)
{
	char *name = get_namespace_name(get_rel_namespace(table));

	if (name == NULL)
		simdup_no_such_table(table);
	return name;
}

/* schema.table */
char *
simdup_arrival_table_name(Oid table)
{
	char *schema = simdup_arrival_schema_of(table);
	char *name = get_rel_name(table);

	if (name == NULL)
		simdup_no_such_table(table);
	return quote_qualified_identifier(schema, name);
}

/* The schema of the extension's objects: that of the trigger's function. */
Oid
simdup_arrival_extension(const ArrivalTrigger *at)
{
	Oid schema = get_func_namespace(at->function);

	if (!OidIsValid(schema))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("function with OID %u does not exist", at->function));
	return schema;
}

/* The name of that schema. */
const char *
simdup_arrival_extension_name(const ArrivalTrigger *at)
{
	Oid schema = simdup_arrival_extension(at);
	char *name = get_namespace_name(schema);

	if (name == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_SCHEMA),
				errmsg("schema with OID %u does not exist", schema));
	return quote_identifier(name);
}
