/*
 * rows.c
 *	  The rows of a batch: read, and kept in memory or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include <limits.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/rows.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/query.h"
#include "type/simhash64.h"

#define MAX_ROWS (PG_UINT32_MAX - 1)

/* Of a key as text, in bytes. A key that is longer ends in " ...". */
#define MAX_KEY_TEXT 200

/*
 * Options
 */

static SimdupClusterMethod
method_of(const char *name)
{
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
			method_of(text_to_cstring(PG_GETARG_TEXT_PP(argument)));
	argument = simdup_named_argument(fcinfo, "min_resemblance");
	if (argument >= 0 && !PG_ARGISNULL(argument))
		options.min_resemblance =
			simdup_check_fraction(PG_GETARG_FLOAT8(argument),
								  "min_resemblance");
	argument = position_of(fcinfo, "w");
	if (argument >= 0)
		options.shingling =
			simdup_get_resemblance(PG_GETARG_INT32(argument),
								   PG_GETARG_TEXT_PP(
									   position_of(fcinfo, "unit")));
	return options;
}

/* Prepare to number scopes of a type. */
static void
begin_scopes(SimdupRows *rows, Oid type, const char *argument)
{
	rows->scope_type = type;
	rows->scope_keys = simdup_keys_begin(type);
	rows->scopes = simdup_keynumbers_begin(rows->scope_keys, type);
	rows->scope = simdup_grow(NULL, &rows->n_scope, 16, sizeof(uint32));
	simdup_keys_expect(rows->scope_keys, type, argument);
}

/* Begin a batch, with a memory context of its own, which is then the current one. */
static SimdupRows *
begin_batch(const char *function, TimestampTz *told, int64 budget,
			const SimdupOptions *options)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
							  ALLOCSET_DEFAULT_SIZES);
	SimdupRows *rows = MemoryContextAllocZero(context, sizeof(SimdupRows));

	MemoryContextSwitchTo(context);
	rows->context = context;
	rows->row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	rows->budget = rows->row_budget = budget;
	rows->fps = simdup_grow(NULL, &rows->n_fps, 16, sizeof(uint64));
	if (options != NULL)
		rows->options = *options;
	if (rows->options.min_resemblance > 0)
		rows->contents = simdup_stored_texts_begin(rows->options.shingling);
	simdup_progress_begin(function, told);
	return rows;
}

SimdupRows *
simdup_rows_begin(FunctionCallInfo fcinfo, int n_queries, SimdupRowKind kind,
				  const SimdupOptions *options)
{
	Oid function = fcinfo->flinfo->fn_oid;
	SimdupRows *rows =
		begin_batch(get_func_name(function), NULL,
					(int64) maintenance_work_mem * 1024, options);

	rows->key_type = simdup_key_type_argument(fcinfo);
	rows->n_queries = n_queries;
	rows->parameters = simdup_parameters(fcinfo, n_queries);
	rows->has_fp = kind < SIMDUP_TEXTS;
	if (rows->has_fp)
		rows->fp_type = simdup_sibling_type(function, "simhash64");
	switch (kind)
	{
		case SIMDUP_ROWS:
		case SIMDUP_TEXTS:
			rows->keys = simdup_keys_of_function(fcinfo);
			break;
		case SIMDUP_ROWS_TO_SHOW:
			rows->keys = simdup_keys_begin(TEXTOID);
			rows->samples = simdup_keys_begin(TEXTOID);
			break;
	}
	return rows;
}

SimdupRows *
simdup_rows_feed(const SimdupFeed *feed, const SimdupOptions *options)
{
	SimdupRows *rows =
		begin_batch(feed->function, feed->told, feed->budget, options);

	if (feed->row_budget > 0)
		rows->row_budget = feed->row_budget;
	rows->n_before = feed->n_before;
	rows->has_fp = true;
	rows->key_type = feed->key_type;
	if (OidIsValid(feed->key_type))
	{
		rows->keys = simdup_keys_begin(feed->key_type);
		simdup_keys_expect(rows->keys, feed->key_type, feed->function);
	}
	if (feed->by_key)
		rows->numbers = simdup_keynumbers_begin(rows->keys, feed->key_type);
	if (OidIsValid(feed->scope_type))
		begin_scopes(rows, feed->scope_type, feed->function);
	if (rows->contents != NULL &&
		!simdup_stored_texts_expect(rows->contents, feed->content_type))
		elog(ERROR, "contents are of type %s",
			 format_type_be(feed->content_type));
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
	if (rows->samples)
		simdup_keys_end(rows->samples);
	if (rows->keys)
		simdup_keys_end(rows->keys);
	MemoryContextSwitchTo(MemoryContextGetParent(rows->context));
	MemoryContextDelete(rows->context);
}

/*
 * Reading
 */

/* Check the key's column, and prepare to store the keys. */
static void
expect_key(SimdupRows *rows, Oid type, const char *argument)
{
	Oid output;
	bool is_varlena;

	if (rows->samples == NULL)
	{
		if (rows->keys != NULL)
			simdup_keys_expect(rows->keys, type, argument);
		return;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	fmgr_info_cxt(output, &rows->key_output, rows->context);
	simdup_keys_expect(rows->keys, TEXTOID, argument);
	simdup_keys_expect(rows->samples, TEXTOID, argument);
}

/* Check the column of scopes. A second query has the first one's. */
static void
expect_scope(SimdupRows *rows, Oid type, const char *argument)
{
	if (rows->n_read == 1 && OidIsValid(type))
		begin_scopes(rows, type, argument);
	if (type != rows->scope_type)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("both queries must have a column scope, of one type"),
				errdetail("The type in argument \"%s\" is %s, and in the other %s.",
						  argument,
						  OidIsValid(type) ? format_type_be(type) : "none",
						  OidIsValid(rows->scope_type)
							  ? format_type_be(rows->scope_type)
							  : "none"));
	if (OidIsValid(type))
		simdup_keys_expect(rows->scope_keys, type, argument);
}

/* Check the column of contents; an Oid that is not valid is none. */
static bool
expect_content(SimdupRows *rows, Oid type, const char *argument)
{
	bool is_sketch;

	if (!OidIsValid(type) && rows->contents != NULL)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("min_resemblance needs a column content in the query in argument \"%s\"",
					   argument),
				errhint(
					"Add a text or a sketch, as in: SELECT id, minhash64(content), content FROM ..."));
	if (!OidIsValid(type))
		return true;
	is_sketch = getBaseType(type) == VARBITOID;
	rows->has_samples = rows->samples != NULL && !is_sketch;
	if (rows->contents != NULL)
		return simdup_stored_texts_expect(rows->contents, type);
	return is_sketch || simdup_is_text_type(type);
}

/*
 * Find the columns that may follow the key and the fingerprint. Return false for
 * one that is there twice, and for another one that nobody takes.
 */
static bool
find_columns(SimdupRows *rows, TupleDesc columns)
{
	for (int i = 2; i < columns->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(columns, i)->attname);
		int *column = strcmp(name, "content") == 0 ? &rows->content_column
					  : strcmp(name, "scope") == 0 ? &rows->scope_column
												   : NULL;

		if (column == NULL ? rows->row_sink == NULL : *column >= 0)
			return false;
		if (column != NULL)
			*column = i;
	}
	return true;
}

static Oid
type_of_column(TupleDesc columns, int i)
{
	return i < 0 ? InvalidOid : TupleDescAttr(columns, i)->atttypid;
}

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;
	MemoryContext old;
	bool fits;

	rows->content_column = rows->has_fp ? -1 : 1;
	rows->scope_column = -1;
	if (columns->natts < 2)
		return false;
	if (rows->has_fp ? type_of_column(columns, 1) != rows->fp_type ||
						   !find_columns(rows, columns)
					 : columns->natts > 2 ||
						   !simdup_is_text_type(type_of_column(columns, 1)))
		return false;
	old = MemoryContextSwitchTo(rows->context);
	expect_key(rows, type_of_column(columns, 0), argument);
	expect_scope(rows, type_of_column(columns, rows->scope_column), argument);
	fits = expect_content(rows, type_of_column(columns, rows->content_column),
						  argument);
	MemoryContextSwitchTo(old);
	return fits;
}

int
simdup_rows_kb(const SimdupRows *rows, int share)
{
	return (int) Min(Max(rows->budget / 1024 / share, 64), INT_MAX);
}

static void
sort_row(SimdupRows *rows, uint32 scope, uint64 fp, uint32 number)
{
	simdup_pairsort_put(rows->sort, (uint64) scope << 32 | fp >> 32,
						fp << 32 | number);
}

/* Move fingerprints and keys from memory to disk, in the middle of reading. */
static void
start_spilling(SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->sort = simdup_pairsort_begin(simdup_rows_kb(rows, 1));
	for (uint32 i = 0; i < rows->n; i++)
		sort_row(rows, rows->scope ? rows->scope[i] : 0, rows->fps[i], i);
	simdup_free(rows->fps);
	simdup_free(rows->scope);
	rows->fps = NULL;
	rows->scope = NULL;
	/* a look-up needs the keys in memory */
	if (rows->keys && rows->numbers == NULL)
		simdup_keys_spill(rows->keys);
	if (rows->samples)
		simdup_keys_spill(rows->samples);
	MemoryContextSwitchTo(old);
}

static int64
memory_of(const SimdupRows *rows)
{
	return (int64) rows->n *
			   (SIMDUP_ROW_BYTES + (rows->scopes ? (int) sizeof(uint32) : 0)) +
		   (rows->keys && rows->numbers == NULL ? simdup_keys_memory(rows->keys)
												: 0) +
		   (rows->samples ? simdup_keys_memory(rows->samples) : 0);
}

static void
count_row(SimdupRows *rows)
{
	if (rows->n == MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one batch"),
				errdetail("A batch takes at most %u rows.", MAX_ROWS));
	rows->n++;
}

static void
add_fingerprint(SimdupRows *rows, uint32 scope, uint64 fp)
{
	Size n = (Size) rows->n + 1;

	if (rows->sort)
		sort_row(rows, scope, fp, rows->n);
	else
	{
		rows->fps = simdup_grow(rows->fps, &rows->n_fps, n, sizeof(uint64));
		rows->fps[rows->n] = fp;
	}
	if (rows->scope)
	{
		rows->scope =
			simdup_grow(rows->scope, &rows->n_scope, n, sizeof(uint32));
		rows->scope[rows->n] = scope;
	}
	count_row(rows);
	if (rows->sort == NULL && memory_of(rows) > rows->row_budget)
		start_spilling(rows);
}

/* Add a key by which its row is looked up. */
static void
add_unique_key(SimdupRows *rows, const SimdupRow *row)
{
	Datum key = simdup_keys_take(rows->keys, row->key, row->no_key);
	uint32 number;

	simdup_keynumbers_get(rows->numbers, &key, 1, &number);
	if (number < rows->n)
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg("the source of a grouping has a key twice"),
				errdetail("The key is (%s).",
						  simdup_key_text(rows->key_type, key)));
}

/* Return a key as text, cut short. */
static Datum
key_as_text(SimdupRows *rows, Datum value, bool isnull)
{
	const char *key =
		isnull ? "NULL" : OutputFunctionCall(&rows->key_output, value);
	int len = (int) strlen(key);

	if (len > MAX_KEY_TEXT)
	{
		len = pg_mbcliplen(key, len, MAX_KEY_TEXT);
		key = psprintf("%.*s ...", len, key);
		len = (int) strlen(key);
	}
	return PointerGetDatum(cstring_to_text_with_len(key, len));
}

/*
 * Add the content as it is stored, if there is one. Most texts are not
 * shown: they take 18 bytes here, and are not read from their TOAST table. The
 * snapshot of the calling statement keeps them there.
 */
static void
add_sample(SimdupRows *rows, TupleTableSlot *slot)
{
	text *sample = cstring_to_text("");

	if (rows->has_samples && !slot->tts_isnull[rows->content_column])
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(
			slot->tts_values[rows->content_column]);

		if (VARATT_IS_EXTERNAL(value) && !VARATT_IS_EXTERNAL_ONDISK(value))
			value = detoast_external_attr(value);
		if (!VARATT_IS_EXTENDED(value) &&
			VARSIZE(value) > VARHDRSZ + SIMDUP_MAX_SAMPLE)
			value = pg_detoast_datum_slice(value, 0, SIMDUP_MAX_SAMPLE + 1);
		sample = cstring_to_text_with_len((const char *) value,
										  (int) VARSIZE_ANY(value));
	}
	simdup_keys_add(rows->samples, PointerGetDatum(sample), false);
}

text *
simdup_rows_sample(SimdupRows *rows, uint32 number, bool *cut)
{
	Datum stored = simdup_keys_get(rows->samples, number, 0);
	text *sample = DatumGetTextPP(stored);
	Size size = VARSIZE_ANY_EXHDR(sample);
	struct varlena *value;
	int len;

	*cut = false;
	if (size == 0)
		return cstring_to_text("");
	/* the bytes of a varlena, which must be aligned */
	value = memcpy(palloc(size), VARDATA_ANY(sample), size);
	*cut = toast_raw_datum_size(PointerGetDatum(value)) >
		   VARHDRSZ + SIMDUP_MAX_SAMPLE;
	value = pg_detoast_datum_slice(value, 0, SIMDUP_MAX_SAMPLE);
	/* the slice may end within a character */
	len = (int) VARSIZE(value) - VARHDRSZ;
	len = pg_mbcliplen(VARDATA(value), len, len);
	SET_VARSIZE(value, len + VARHDRSZ);
	return value;
}

/* Return the number of a row's scope. */
static uint32
scope_of(SimdupRows *rows, const SimdupRow *row)
{
	Datum scope;
	uint32 number;

	if (rows->scopes == NULL || row->no_scope)
		return 0;
	scope = simdup_keys_take(rows->scope_keys, row->scope, false);
	simdup_keynumbers_get(rows->scopes, &scope, 1, &number);
	return number + 1;
}

/* Check whether a row takes part, and count one that does not. */
static bool
takes_part(SimdupRows *rows, const SimdupRow *row)
{
	if (rows->has_fp && row->no_fp)
		rows->n_null++;
	else if (rows->contents != NULL && row->no_content)
		rows->n_no_content++;
	else
		return true;
	return false;
}

static void
store_row(SimdupRows *rows, const SimdupRow *row)
{
	if (rows->contents != NULL)
		simdup_stored_texts_add(rows->contents, row->content);
	if (rows->numbers)
		add_unique_key(rows, row);
	else if (rows->keys)
		simdup_keys_add(rows->keys, row->key, row->no_key);
	if (rows->has_fp)
		add_fingerprint(rows, scope_of(rows, row), row->fp);
	else
		count_row(rows);
	simdup_progress_done(rows->n_before + rows->n + rows->n_null);
}

uint32
simdup_rows_add(SimdupRows *rows, const SimdupRow *row)
{
	if (!takes_part(rows, row))
		return SIMDUP_NO_ROW;
	store_row(rows, row);
	rows->n_first = rows->n;
	return rows->n - 1;
}

/* Add a row of a query: a SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	SimdupRows *rows = arg;
	int content = rows->content_column;
	int scope = rows->scope_column;
	SimdupRow row = {.key = slot->tts_values[0], .no_key = slot->tts_isnull[0]};

	if (rows->has_fp)
	{
		row.no_fp = slot->tts_isnull[1];
		row.fp = row.no_fp ? 0 : DatumGetSimhash64(slot->tts_values[1]);
	}
	if (content >= 0)
	{
		row.content = slot->tts_values[content];
		row.no_content = slot->tts_isnull[content];
	}
	if (scope >= 0)
	{
		row.scope = slot->tts_values[scope];
		row.no_scope = slot->tts_isnull[scope];
	}
	if (!takes_part(rows, &row))
		return;
	if (rows->samples)
	{
		row.key = key_as_text(rows, row.key, row.no_key);
		row.no_key = false;
		add_sample(rows, slot);
	}
	if (rows->row_sink != NULL)
		rows->row_sink(rows->row_sink_arg, slot);
	store_row(rows, &row);
}

void
simdup_rows_read(SimdupRows *rows, FunctionCallInfo fcinfo)
{
	bool has_fp = rows->has_fp;
	SimdupQuery query =
		{NULL, "query",
		 has_fp
			 ? "a key, a simhash64, and at most two more columns, called content (a text or a varbit) and scope"
			 : "a key and a text",
		 has_fp ? "id, minhash64(content), content" : "id, content"};

	for (int i = 0; i < rows->n_queries; i++)
	{
		query.text = text_to_cstring(PG_GETARG_TEXT_PP(i));
		if (rows->n_queries > 1)
			query.argument = i == 0 ? "new_query" : "old_query";
		simdup_progress_phase("reading", 0);
		rows->n_read++;
		simdup_run_query(&query, rows->parameters, check_columns, add_row,
						 rows);
		if (i == 0)
			rows->n_first = rows->n;
	}
	if (rows->numbers == NULL)
		simdup_tell_skipped(rows->n_null, rows->n_no_content, rows->n);
}
