/*
 * handler.c
 *	  The access method hamming: what it can do, and its options.
 */
#include "postgres.h"
#include "compat.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"

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
	.amvalidate = simdup_hamming_validate,
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
