/*
 * rows.c
 *	  The rows of a batch, kept in memory or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include <limits.h>

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "batch/rows.h"
#include "server/arguments.h"

#define MAX_ROWS (PG_UINT32_MAX - 1)

/* Options */

static SimdupClusterMethod
method_of(FunctionCallInfo fcinfo, const char *name)
{
	/* the functions of a report */
	if (strcmp(name, "given") == 0 &&
		simdup_named_argument(fcinfo, "columns") >= 0 &&
		simdup_named_argument(fcinfo, "members") < 0)
		return SIMDUP_GIVEN;
	if (strcmp(name, "connected") == 0)
		return SIMDUP_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return SIMDUP_LEADER;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized clustering method: \"%s\"", name),
			errhint(
				"Methods are \"leader\" (the nearest earlier leader) and \"connected\" (connected components)."));
}

/* Return the position of an argument that must have a value; -1: no such one. */
static int
position_of(FunctionCallInfo fcinfo, const char *name)
{
	int argument = simdup_named_argument(fcinfo, name);

	if (argument >= 0)
		simdup_check_not_null(PG_ARGISNULL(argument), name);
	return argument;
}

SimdupOptions
simdup_options(FunctionCallInfo fcinfo)
{
	SimdupOptions options = {.method = SIMDUP_LEADER};
	int argument = simdup_named_argument(fcinfo, "max_distance");

	if (argument >= 0)
		options.max_distance = simdup_check_max_distance(fcinfo, argument);
	argument = position_of(fcinfo, "method");
	if (argument >= 0)
		options.method =
			method_of(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(argument)));
	argument = simdup_named_argument(fcinfo, "min_resemblance");
	if (argument >= 0 && !PG_ARGISNULL(argument))
		options.min_resemblance =
			simdup_check_fraction(PG_GETARG_FLOAT8(argument),
								  "min_resemblance");
	argument = position_of(fcinfo, "min_containment");
	if (argument >= 0)
		options.min_containment =
			simdup_check_share(PG_GETARG_FLOAT8(argument), "min_containment");
	argument = position_of(fcinfo, "w");
	if (argument >= 0)
		options.shingling =
			simdup_get_resemblance(PG_GETARG_INT32(argument),
								   PG_GETARG_TEXT_PP(
									   position_of(fcinfo, "unit")));
	return options;
}

SimdupRows *
simdup_rows_feed(const SimdupFeed *feed, const SimdupOptions *options)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
							  ALLOCSET_DEFAULT_SIZES);
	SimdupRows *rows = MemoryContextAllocZero(context, sizeof(SimdupRows));

	MemoryContextSwitchTo(context);
	rows->context = context;
	rows->row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	rows->budget = feed->budget;
	rows->n_before = feed->n_before;
	rows->sort = simdup_pairsort_begin(feed->budget / 2);
	rows->key_type = feed->key_type;
	if (OidIsValid(feed->key_type))
		rows->keys = simdup_keys_begin(feed->key_type);
	if (feed->finds_keys)
	{
		rows->numbers = simdup_keyids_begin(rows->keys, feed->key_type,
											feed->key_collation);
		simdup_keyids_expect_order(rows->numbers);
	}
	if (OidIsValid(feed->scope_type))
	{
		rows->scope_keys = simdup_keys_begin(feed->scope_type);
		rows->scopes = simdup_keyids_begin(rows->scope_keys, feed->scope_type,
										   feed->scope_collation);
	}
	if (options != NULL)
		rows->options = *options;
	if (rows->options.min_resemblance > 0)
	{
		rows->contents = simdup_stored_texts_begin(rows->options.shingling,
												   (Size) rows->budget / 4);
		if (!simdup_stored_texts_expect(rows->contents, feed->content_type))
			elog(ERROR, "contents are of type %s",
				 format_type_be(feed->content_type));
	}
	simdup_progress_begin(feed->function, feed->n_before > 0);
	simdup_progress_phase("reading", 0);
	return rows;
}

void
simdup_rows_end(SimdupRows *rows)
{
	if (rows->sort)
		simdup_pairsort_end(rows->sort);
	if (rows->distinct)
	{
		simdup_tempfile_close(rows->distinct->number_file);
		simdup_tempfile_close(rows->distinct->fingerprint_file);
	}
	if (rows->contents)
		simdup_stored_texts_end(rows->contents);
	if (rows->keys)
		simdup_keys_end(rows->keys);
	MemoryContextSwitchTo(MemoryContextGetParent(rows->context));
	MemoryContextDelete(rows->context);
}

void
simdup_check_room(uint32 n)
{
	if (n == MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one batch"),
				errdetail("A batch takes at most %u rows.", MAX_ROWS));
}

/* Add the key of a row. Keys that are not looked up may go to disk. */
static void
add_key(SimdupRows *rows, const SimdupRow *row)
{
	Datum key;
	uint32 number;

	if (rows->numbers == NULL)
	{
		simdup_keys_add(rows->keys, row->key);
		if (simdup_pairsort_disk(rows->sort) > 0)
			simdup_keys_spill(rows->keys);
		return;
	}
	key = simdup_keys_take(rows->keys, row->key);
	simdup_keyids_get(rows->numbers, &key, 1, &number);
	if (number < rows->n)
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg("duplicate key in the source of a grouping"),
				errdetail("The key is (%s).",
						  simdup_key_text(rows->key_type, key)));
}

/* Return the number of a row's scope. */
static uint32
scope_of(SimdupRows *rows, const SimdupRow *row)
{
	Datum scope;
	uint32 number;

	if (rows->scopes == NULL || row->no_scope)
		return 0;
	scope = simdup_keys_take(rows->scope_keys, row->scope);
	simdup_keyids_get(rows->scopes, &scope, 1, &number);
	return number + 1;
}

uint32
simdup_rows_add(SimdupRows *rows, const SimdupRow *row)
{
	if (row->no_fp)
		rows->n_null++;
	if (row->no_fp || (rows->contents != NULL && row->no_content))
		return SIMDUP_NO_ROW;
	if (rows->contents != NULL)
		simdup_stored_texts_add(rows->contents, row->content);
	if (rows->keys)
		add_key(rows, row);
	simdup_check_room(rows->n);
	simdup_pairsort_put(rows->sort,
						(uint64) scope_of(rows, row) << 32 | row->fp >> 32,
						row->fp << 32 | rows->n);
	rows->n++;
	simdup_progress_done(rows->n_before + rows->n + rows->n_null);
	return rows->n - 1;
}
