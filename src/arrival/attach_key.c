/*
 * attach_key.c
 *	  The type and the collation of a table's key.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "arrival/attachment.h"

static Form_pg_attribute
key_column(Attachment *a)
{
	AttrNumber attnum = get_attnum(RelationGetRelid(a->table), a->key);

	return TupleDescAttr(RelationGetDescr(a->table), attnum - 1);
}

char *
simdup_attach_key_collation(Attachment *a)
{
	Form_pg_attribute att = key_column(a);
	HeapTuple tuple;
	Form_pg_collation collation;
	char *name;

	if (!OidIsValid(att->attcollation) ||
		att->attcollation == get_typcollation(att->atttypid))
		return "";
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(att->attcollation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", att->attcollation);
	collation = (Form_pg_collation) GETSTRUCT(tuple);
	name =
		quote_qualified_identifier(get_namespace_name(collation->collnamespace),
								   NameStr(collation->collname));
	ReleaseSysCache(tuple);
	return psprintf(" COLLATE %s", name);
}

char *
simdup_attach_key_type(Attachment *a)
{
	Form_pg_attribute att = key_column(a);

	return psprintf("%s%s",
					format_type_extended(att->atttypid, att->atttypmod,
										 FORMAT_TYPE_TYPEMOD_GIVEN |
											 FORMAT_TYPE_FORCE_QUALIFY),
					simdup_attach_key_collation(a));
}
