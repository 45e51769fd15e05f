/*
 * group_of.c
 *	  simdup_group_of(target, id): where an old id leads.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"

#include "groups/grouping.h"

PG_FUNCTION_INFO_V1(simdup_group_of);
/*
 * Runs with the caller's rights on the tables of groups and redirects. Only
 * ids are told. Ids form no circle: an id that comes back loses its redirect.
 */
Datum
simdup_group_of(PG_FUNCTION_ARGS)
{
	Grouping *g =
		simdup_grouping_open(fcinfo->flinfo->fn_oid, PG_GETARG_OID(0));
	char *text =
		simdup_grouping_text(g,
							 "WITH RECURSIVE way (id) AS (SELECT $1 UNION"
							 " SELECT r.into_id FROM {R} r JOIN way w ON r.id {=} w.id)"
							 " SELECT g.id FROM way w JOIN {G} g ON g.id {=} w.id");
	Oid type = INT8OID;
	Datum id = PG_GETARG_DATUM(1);
	bool isnull = true;

	SPI_connect();
	if (SPI_execute_with_args(text, 1, &type, &id, NULL, true, 1) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s", text);
	if (SPI_processed > 0)
		id = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						   &isnull);
	id = isnull ? (Datum) 0 : Int64GetDatum(DatumGetInt64(id));
	SPI_finish();
	if (isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(id);
}
