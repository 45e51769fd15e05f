/*
 * validate.c
 *	  amvalidate: is an operator class of hamming complete and well formed?
 */
#include "postgres.h"
#include "compat.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "index/hamming/am.h"

/* All messages are INFO, as of the server's own amvalidate functions. */
static bool
check_function(Form_pg_amproc function, const char *family, Oid key_type)
{
	if (function->amproclefttype == function->amprocrighttype &&
		function->amprocnum == HAMMING_FINGERPRINT_PROC &&
		check_amproc_signature(function->amproc, key_type, true, 1, 1,
							   function->amproclefttype))
		return true;
	ereport(INFO, errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			errmsg("operator family \"%s\" of access method %s contains function %s with wrong signature for support number %d",
				   family, "hamming", format_procedure(function->amproc),
				   function->amprocnum));
	return false;
}

static bool
check_operator(Form_pg_amop operator, const char * family)
{
	bool is_order = operator->amopstrategy == HAMMING_DISTANCE_STRATEGY;
	Oid result = is_order ? INT4OID : BOOLOID;

	if (operator->amopstrategy >= 1 && operator->amopstrategy <=
			HAMMING_N_STRATEGIES &&(operator->amoppurpose == AMOP_ORDER) ==
			is_order &&
		check_amop_signature(operator->amopopr,
							 result, operator->amoplefttype,
									 operator->amoprighttype))
		return true;
	ereport(INFO, errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			errmsg("operator family \"%s\" of access method %s contains operator %s with wrong signature",
				   family, "hamming", format_operator(operator->amopopr)));
	return false;
}

/* A stored type that is not the column's needs the function that makes it. */
static bool
check_completeness(Form_pg_opclass opclass, Oid key_type)
{
	Oid function =
		get_opfamily_proc(opclass->opcfamily, opclass->opcintype,
						  opclass->opcintype, HAMMING_FINGERPRINT_PROC);

	if (OidIsValid(function) || key_type == opclass->opcintype)
		return true;
	ereport(INFO, errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			errmsg("operator class \"%s\" of access method %s is missing support function %d",
				   NameStr(opclass->opcname), "hamming",
				   HAMMING_FINGERPRINT_PROC));
	return false;
}

static char *
family_name(Oid family)
{
	HeapTuple tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family));
	char *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family);
	name = pstrdup(NameStr(((Form_pg_opfamily) GETSTRUCT(tuple))->opfname));
	ReleaseSysCache(tuple);
	return name;
}

bool
simdup_hamming_validate(Oid opclass_oid)
{
	HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
	Form_pg_opclass opclass;
	char *family;
	Oid key_type;
	CatCList *list;
	bool valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
	opclass = (Form_pg_opclass) GETSTRUCT(tuple);
	family = family_name(opclass->opcfamily);
	key_type = OidIsValid(opclass->opckeytype) ? opclass->opckeytype
											   : opclass->opcintype;
	valid = check_completeness(opclass, key_type);

	list =
		SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(opclass->opcfamily));
	for (int i = 0; i < list->n_members; i++)
		valid =
			check_operator((Form_pg_amop) GETSTRUCT(&list->members[i]->tuple),
						   family) &&
			valid;
	ReleaseCatCacheList(list);
	list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(opclass->opcfamily));
	for (int i = 0; i < list->n_members; i++)
		valid =
			check_function((Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple),
						   family, key_type) &&
			valid;
	ReleaseCatCacheList(list);
	ReleaseSysCache(tuple);
	return valid;
}
