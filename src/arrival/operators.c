/*
 * operators.c
 *	  Operators of a type, as SQL text names them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "arrival/operators.h"

char *
simdup_arrival_operator_name(Oid type, Oid opno)
{
	HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(opno));
	Form_pg_operator form;
	char *schema = NULL;
	char *name;

	if (HeapTupleIsValid(tuple))
	{
		form = (Form_pg_operator) GETSTRUCT(tuple);
		schema = get_namespace_name(form->oprnamespace);
	}
	if (schema == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				errmsg("could not identify an ordering operator for type %s",
					   format_type_be(type)));
	name = psprintf("OPERATOR(%s.%s)", quote_identifier(schema),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}
