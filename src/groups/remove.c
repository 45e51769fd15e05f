/*
 * remove.c
 *	  simdup_remove: duplicates go to an archive, and what refers to them
 *	  refers to the kept rows.
 *
 * All statements run with the rights of the caller, in one transaction. Locks
 * come first, so that no row changes and no reference comes between the map
 * and the DELETE.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "groups/removal.h"
#include "server/arguments.h"
#include "server/catalog.h"
#include "server/parameters.h"
#include "server/query.h"
#include "server/result.h"

/* Arguments of simdup_remove. */
enum
{
	ARG_TARGET,
	ARG_MAP,
	ARG_ARCHIVE,
	ARG_KEY,
	ARG_DRY_RUN
};

/* Does a unique index on this column alone hold at any time? */
static bool
is_unique(Relation table, AttrNumber attnum)
{
	bool unique = false;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		unique |= form->indisunique && form->indisvalid &&
				  form->indnkeyatts == 1 && form->indkey.values[0] == attnum &&
				  RelationGetIndexPredicate(index) == NIL;
		index_close(index, AccessShareLock);
	}
	return unique;
}

/* The column that the map names rows by. */
static void
find_key(Removal *r, char *name)
{
	AttrNumber attnum = get_attnum(RelationGetRelid(r->table), name);
	Form_pg_attribute att;
	TypeCacheEntry *type;

	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   RelationGetRelationName(r->table)));
	att = TupleDescAttr(RelationGetDescr(r->table), attnum - 1);
	r->key = pstrdup(quote_identifier(name));
	r->key_type = getBaseType(att->atttypid);
	r->key_type_name = simdup_type_name(r->key_type);
	r->map_type = get_array_type(r->key_type);
	type = lookup_type_cache(r->key_type, TYPECACHE_EQ_OPR);
	if (!att->attnotnull || !is_unique(r->table, attnum))
		ereport(ERROR, errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				errmsg("column \"%s\" of relation \"%s\" is not unique and not null",
					   name, RelationGetRelationName(r->table)),
				errhint(
					"Name a column with a unique index on it alone and NOT NULL."));
	if (!OidIsValid(r->map_type) || !OidIsValid(type->eq_opr))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key", name,
					   RelationGetRelationName(r->table)),
				errdetail("Its type is %s.", r->key_type_name));
	r->equals = simdup_arrival_operator_name(r->key_type, type->eq_opr);
}

/*
 * A table to write removed rows or moved references to. One that the caller
 * does not name is beside the target. If it exists, its owner must be trusted,
 * because its triggers run with the caller's rights.
 */
static char *
find_table(Removal *r, const char *given, const char *suffix, Oid *table)
{
	Oid target = RelationGetRelid(r->table);
	RangeVar *name;
	Oid owner;

	if (given != NULL)
		name = makeRangeVarFromNameList(
			textToQualifiedNameList(cstring_to_text(given)));
	else
		name = makeRangeVar(NULL,
							makeObjectName(RelationGetRelationName(r->table),
										   NULL, suffix),
							-1);
	if (name->schemaname == NULL)
		name->schemaname = simdup_arrival_schema_of(target);
	*table = RangeVarGetRelid(name, AccessShareLock, true);
	if (OidIsValid(*table) && given == NULL)
	{
		owner = simdup_arrival_owner(*table);
		if (owner != simdup_arrival_owner(target) && owner != GetUserId())
			ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					errmsg("relation %s exists and belongs to another role",
						   quote_qualified_identifier(name->schemaname,
													  name->relname)));
	}
	if (*table == target)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("table \"%s\" cannot be its own archive",
					   RelationGetRelationName(r->table)));
	return quote_qualified_identifier(name->schemaname, name->relname);
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Integers of any width go together, as in the other functions. */
static void
check_map_columns(void *arg, TupleDesc columns, const char *argument)
{
	Removal *r = arg;

	for (int i = 0; i < 2; i++)
	{
		Oid type = i < columns->natts
					   ? getBaseType(TupleDescAttr(columns, i)->atttypid)
					   : InvalidOid;

		if (type != r->key_type &&
			!(is_integer(type) && is_integer(r->key_type)))
			simdup_wrong_columns(argument, columns,
								 psprintf("a key and the kept key, of type %s, and anything after them",
										  r->key_type_name));
	}
}

/*
 * Run the map with a snapshot that is younger than the locks. A row that is
 * mapped to itself stays.
 */
static void
read_map(Removal *r, const char *map, SimdupParameters *parameters)
{
	char *query = simdup_subquery(map, "map", parameters, check_map_columns, r);

	PushActiveSnapshot(GetLatestSnapshot());
	simdup_execute_statement(psprintf("SELECT pg_catalog.array_agg(s.key), pg_catalog.array_agg(s.kept)"
									  " FROM (SELECT q.key::%s, q.kept::%s FROM %s AS q (key, kept)) AS s (key, kept)"
									  " WHERE s.key IS NULL OR s.kept IS NULL OR NOT s.key %s s.kept",
									  r->key_type_name, r->key_type_name, query,
									  r->equals),
							 parameters);
	PopActiveSnapshot();
	if (SPI_processed != 1)
		elog(ERROR, "the map did not yield one row");
	for (int i = 0; i < 2; i++)
	{
		bool isnull;

		r->map[i] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
								  i + 1, &isnull);
		if (isnull)
			r->map[i] = PointerGetDatum(construct_empty_array(r->key_type));
		simdup_check_not_null(array_contains_nulls(
								  DatumGetArrayTypeP(r->map[i])),
							  i == 0 ? "key" : "kept key");
	}
}

static void
put_statement(ReturnSetInfo *result, const char *sql, bool has_rows, int64 n)
{
	Datum values[2];
	bool nulls[2] = {false, !has_rows};

	values[0] = CStringGetTextDatum(sql);
	values[1] = Int64GetDatum(n);
	simdup_put_result(result, values, nulls);
}

static int64
count_rows(Removal *r, const char *query)
{
	bool isnull;

	simdup_removal_execute(r, query, 0);
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc, 1, &isnull));
}

/* Run or count each statement, and tell the caller. */
static void
run_statements(Removal *r, ReturnSetInfo *result, List *statements,
			   bool dry_run)
{
	int64 n_keys = ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(r->map[0])),
								  ARR_DIMS(DatumGetArrayTypeP(r->map[0])));
	ListCell *cell;

	foreach (cell, statements)
	{
		RemovalStatement *statement = lfirst(cell);
		int64 n = 0;

		if (!dry_run)
			n = (int64) simdup_removal_execute(r, statement->sql, 0);
		else if (statement->count != NULL)
			n = count_rows(r, statement->count);
		if (statement->all && n != n_keys)
			ereport(ERROR, errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					errmsg("a statement reached " INT64_FORMAT
						   " of " INT64_FORMAT " rows to remove",
						   n, n_keys),
					errdetail("The statement is: %s", statement->sql),
					errhint("A trigger or a rule may have kept the others."));
		put_statement(result, statement->sql, statement->count != NULL, n);
	}
}

/* ERROR where a row refers to a removed row still: DELETE could take it along. */
static void
check_moved(Removal *r)
{
	ListCell *cell;

	foreach (cell, r->references)
	{
		RemovalReference *ref = lfirst(cell);
		int64 n = count_rows(r, simdup_removal_count(r, ref, false));

		if (n > 0)
			ereport(ERROR, errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					errmsg("rows of table %s refer to removed rows still",
						   ref->table_name),
					errdetail("There are " INT64_FORMAT
							  " of them under foreign key \"%s\".",
							  n, ref->constraint),
					errhint("A trigger or a rule may have kept them."));
	}
}

/* Lock first, unless it is dry; then read the map and act on it. */
static void
remove_rows(Removal *r, ReturnSetInfo *result, const char *map,
			SimdupParameters *parameters, bool dry_run)
{
	ListCell *cell;

	/* none is added once the table is locked */
	if (!dry_run)
		SPI_execute(simdup_removal_lock(r), false, 0);
	r->references = simdup_removal_references(r);
	if (!dry_run)
		SPI_execute(simdup_removal_lock(r), false, 0);
	put_statement(result, simdup_removal_lock(r), false, 0);
	simdup_removal_check_written(r);
	read_map(r, map, parameters);
	simdup_removal_check_map(r);
	foreach (cell, r->references)
		simdup_removal_check_reference(r, lfirst(cell));
	run_statements(r, result, simdup_removal_moves(r), dry_run);
	if (!dry_run)
		check_moved(r);
	run_statements(r, result, simdup_removal_delete(r), dry_run);
}

static void
open_target(FunctionCallInfo fcinfo, Removal *r, Attachment *a, bool dry_run)
{
	/* as a look: each statement asks for the rights that it needs */
	simdup_attach_open(a, fcinfo->flinfo->fn_oid, PG_GETARG_OID(ARG_TARGET),
					   false);
	r->table = a->table;
	r->table_name = a->table_name;
	if (dry_run)
		return;
	PreventCommandIfReadOnly("simdup_remove()");
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("simdup_remove() cannot run in a transaction with isolation level %s",
					   XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE"
														 : "REPEATABLE READ"),
				errdetail("Its snapshot may not see all rows of the table."),
				errhint("Use READ COMMITTED."));
}

PG_FUNCTION_INFO_V1(simdup_remove);
/* simdup_remove(target, map, archive, key, dry_run, params) */
Datum
simdup_remove(PG_FUNCTION_ARGS)
{
	Attachment a = {0};
	Removal r = {0};
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupParameters *parameters = simdup_parameters(fcinfo, 1);
	char *archive = NULL;
	bool dry_run;

	simdup_check_not_null(PG_ARGISNULL(ARG_TARGET), "target");
	simdup_check_not_null(PG_ARGISNULL(ARG_MAP), "map");
	simdup_check_not_null(PG_ARGISNULL(ARG_DRY_RUN), "dry_run");
	dry_run = PG_GETARG_BOOL(ARG_DRY_RUN);
	open_target(fcinfo, &r, &a, dry_run);
	simdup_removal_check_table(&r);
	find_key(&r, PG_ARGISNULL(ARG_KEY)
					 ? simdup_attach_primary_key(&a)
					 : text_to_cstring(PG_GETARG_TEXT_PP(ARG_KEY)));
	if (!PG_ARGISNULL(ARG_ARCHIVE))
		archive = text_to_cstring(PG_GETARG_TEXT_PP(ARG_ARCHIVE));
	r.archive = find_table(&r, archive, "simdup_removed", &r.archive_table);
	r.moved = find_table(&r, NULL, "simdup_moved", &r.moved_table);
	SPI_connect();
	remove_rows(&r, result, text_to_cstring(PG_GETARG_TEXT_PP(ARG_MAP)),
				parameters, dry_run);
	SPI_finish();
	table_close(r.table, NoLock);
	return (Datum) 0;
}
