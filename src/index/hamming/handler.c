/*
 * handler.c
 *	  The access method hamming: its operator classes, its options, and its
 *	  properties.
 */
#include "postgres.h"
#include "compat.h"

#include "access/amvalidate.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"

/* amvalidate: is an operator class of hamming complete and well formed? */

/* Check a support function. Messages are INFO, as of the server's amvalidate. */
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
check_operator(Form_pg_amop amop, const char *family)
{
	bool is_order = amop->amopstrategy == HAMMING_DISTANCE_STRATEGY;
	Oid result = is_order ? INT4OID : BOOLOID;

	if (amop->amopstrategy >= 1 && amop->amopstrategy <= HAMMING_N_STRATEGIES &&
		(amop->amoppurpose == AMOP_ORDER) == is_order &&
		check_amop_signature(amop->amopopr, result, amop->amoplefttype,
							 amop->amoprighttype))
		return true;
	ereport(INFO, errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			errmsg("operator family \"%s\" of access method %s contains operator %s with wrong signature",
				   family, "hamming", format_operator(amop->amopopr)));
	return false;
}

/* Check that a stored type other than the column's has its function. */
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

static bool
validate(Oid opclass_oid)
{
	HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
	Form_pg_opclass opclass;
	HeapTuple family_tuple;
	const char *family;
	Datum family_oid;
	Oid key_type;
	CatCList *list;
	bool valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
	opclass = (Form_pg_opclass) GETSTRUCT(tuple);
	family_oid = ObjectIdGetDatum(opclass->opcfamily);
	family_tuple = SearchSysCache1(OPFAMILYOID, family_oid);
	if (!HeapTupleIsValid(family_tuple))
		elog(ERROR, "cache lookup failed for operator family %u",
			 opclass->opcfamily);
	family = NameStr(((Form_pg_opfamily) GETSTRUCT(family_tuple))->opfname);
	key_type = OidIsValid(opclass->opckeytype) ? opclass->opckeytype
											   : opclass->opcintype;
	valid = check_completeness(opclass, key_type);

	list = SearchSysCacheList1(AMOPSTRATEGY, family_oid);
	for (int i = 0; i < list->n_members; i++)
		valid &=
			check_operator((Form_pg_amop) GETSTRUCT(&list->members[i]->tuple),
						   family);
	ReleaseCatCacheList(list);
	list = SearchSysCacheList1(AMPROCNUM, family_oid);
	for (int i = 0; i < list->n_members; i++)
		valid &=
			check_function((Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple),
						   family, key_type);
	ReleaseCatCacheList(list);
	ReleaseSysCache(family_tuple);
	ReleaseSysCache(tuple);
	return valid;
}

/* Options */

/* Kinds of reloptions get their numbers when the module is loaded. */
static relopt_kind option_kind;

void
simdup_hamming_init(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "How full leaves are made when the index is built, in "
					  "percent",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
}

static bytea *
parse_options(Datum options, bool validate)
{
	return default_reloptions(options, validate, option_kind);
}

/* Callbacks */

static char *
phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case HAMMING_PHASE_SCAN:
			return "scanning table";
		case HAMMING_PHASE_WRITE:
			return "sorting and writing rotations";
		default:
			return NULL;
	}
}

/*
 * pg_index_column_has_property: a column is orderable by distance where its
 * operator class has such an operator. The server answers all other questions.
 */
static bool
property(Oid index, int column, IndexAMProperty asked,
		 const char *name pg_attribute_unused(), bool *result, bool *is_null)
{
	Oid opclass;
	Oid family;
	Oid type;

	if (column == 0 || asked != AMPROP_DISTANCE_ORDERABLE)
		return false;
	opclass = get_index_column_opclass(index, column);
	/* the index may be gone by now */
	*is_null = !OidIsValid(opclass) ||
			   !get_opclass_opfamily_and_input_type(opclass, &family, &type);
	*result =
		!*is_null && OidIsValid(get_opfamily_member(family, type, type,
													HAMMING_DISTANCE_STRATEGY));
	return true;
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = HAMMING_N_STRATEGIES,
	.amsupport = HAMMING_N_PROCS,
	.amcanorderbyop = true,
	.amoptionalkey = true,
	.amsearchnulls = true,
	.amstorage = true,
	.amkeytype = InvalidOid,
	.amusemaintenanceworkmem = false,
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
	SIMDUP_CAN_BUILD_PARALLEL,
	.ambuild = simdup_hamming_build,
	.ambuildempty = simdup_hamming_build_empty,
	.aminsert = simdup_hamming_insert,
	.ambulkdelete = simdup_hamming_bulk_delete,
	.amvacuumcleanup = simdup_hamming_cleanup,
	.amcostestimate = simdup_hamming_cost,
	.amoptions = parse_options,
	.amproperty = property,
	.ambuildphasename = phase_name,
	.amvalidate = validate,
	.ambeginscan = simdup_hamming_begin_scan,
	.amrescan = simdup_hamming_rescan,
	.amgettuple = simdup_hamming_get_tuple,
	.amgetbitmap = simdup_hamming_get_bitmap,
	.amendscan = simdup_hamming_end_scan,
};

PG_FUNCTION_INFO_V1(simdup_hamming_handler);
Datum
simdup_hamming_handler(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_POINTER(SIMDUP_AM_ROUTINE(routine));
}
