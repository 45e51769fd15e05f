/*
 * handler.c
 *	  The access method hamming: what it can do, and its callbacks.
 */
#include "postgres.h"
#include "compat.h"

#include "access/amapi.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"

#include "index/hamming/building.h"
#include "index/hamming/am.h"

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
	/* a column of INCLUDE has no operator class */
	*is_null = !OidIsValid(opclass) ||
			   !get_opclass_opfamily_and_input_type(opclass, &family, &type);
	*result =
		!*is_null && OidIsValid(get_opfamily_member(family, type, type,
													HAMMING_DISTANCE_STRATEGY));
	return true;
}

static void
set_abilities(IndexAmRoutine *am)
{
	am->amstrategies = HAMMING_N_STRATEGIES;
	am->amsupport = HAMMING_N_PROCS;
	am->amcanorderbyop = true;
	am->amoptionalkey = true;
	am->amsearchnulls = true;
	am->amstorage = true;
	am->amkeytype = InvalidOid;
	am->amusemaintenanceworkmem = false;
	am->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL;
	SIMDUP_CAN_BUILD_PARALLEL(am);
}

PG_FUNCTION_INFO_V1(simdup_hamming_handler);
Datum
simdup_hamming_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = makeNode(IndexAmRoutine);

	(void) fcinfo;
	set_abilities(am);
	am->ambuild = simdup_hamming_build;
	am->ambuildempty = simdup_hamming_build_empty;
	am->aminsert = simdup_hamming_insert;
	am->ambulkdelete = simdup_hamming_bulk_delete;
	am->amvacuumcleanup = simdup_hamming_cleanup;
	am->amcostestimate = simdup_hamming_cost;
	am->amoptions = simdup_hamming_options;
	am->amproperty = property;
	am->ambuildphasename = phase_name;
	am->amvalidate = simdup_hamming_validate;
	am->ambeginscan = simdup_hamming_begin_scan;
	am->amrescan = simdup_hamming_rescan;
	am->amgettuple = simdup_hamming_get_tuple;
	am->amgetbitmap = simdup_hamming_get_bitmap;
	am->amendscan = simdup_hamming_end_scan;
	PG_RETURN_POINTER(am);
}
