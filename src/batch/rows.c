/*
 * rows.c
 *	  The rows of a batch as they are read, in memory or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/rows.h"
#include "server/catalog.h"
#include "server/query.h"
#include "server/session.h"
#include "type/simhash64.h"

#define MAX_ROWS (PG_UINT32_MAX - 1)

SimdupRows *
simdup_rows_begin_without_keys(void)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
							  ALLOCSET_DEFAULT_SIZES);
	SimdupRows *rows = MemoryContextAllocZero(context, sizeof(SimdupRows));

	rows->context = context;
	rows->row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	rows->budget = (int64) maintenance_work_mem * 1024;
	return rows;
}

SimdupRows *
simdup_rows_begin(FunctionCallInfo fcinfo, int n_queries)
{
	Oid function = fcinfo->flinfo->fn_oid;
	SimdupRows *rows = simdup_rows_begin_without_keys();
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->fp_type = simdup_sibling_type(function, "simhash64");
	rows->keys = simdup_keys_of_function(fcinfo);
	rows->parameters = simdup_parameters(fcinfo, n_queries);
	simdup_progress_begin(get_func_name(function));
	MemoryContextSwitchTo(old);
	return rows;
}

void
simdup_rows_end(SimdupRows *rows)
{
	if (rows->sort)
		simdup_pairsort_end(rows->sort);
	if (rows->keys)
		simdup_keys_end(rows->keys);
	if (rows->samples)
		simdup_keys_end(rows->samples);
	MemoryContextDelete(rows->context);
}

void
simdup_rows_as_text(SimdupRows *rows, bool samples)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	simdup_keys_end(rows->keys);
	rows->keys = simdup_keys_begin(TEXTOID);
	rows->key_output = palloc(sizeof(FmgrInfo));
	if (samples)
		rows->samples = simdup_keys_begin(TEXTOID);
	MemoryContextSwitchTo(old);
}

SimdupContents *
simdup_rows_with_contents(SimdupRows *rows, SimdupFoldedShingling shingling)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->contents = simdup_contents_begin(shingling);
	MemoryContextSwitchTo(old);
	return rows->contents;
}

/* A SimdupColumnCheck for keys that keep their type, with contents. */
static bool
check_content_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;

	if (columns->natts != 3 ||
		TupleDescAttr(columns, 1)->atttypid != rows->fp_type ||
		!simdup_contents_expect(rows->contents,
								TupleDescAttr(columns, 2)->atttypid))
		return false;
	simdup_keys_expect(rows->keys, TupleDescAttr(columns, 0)->atttypid,
					   argument);
	return true;
}

/* The same without. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;

	if (columns->natts < 2 || (columns->natts > 2 && rows->also == NULL) ||
		TupleDescAttr(columns, 1)->atttypid != rows->fp_type)
		return false;
	simdup_keys_expect(rows->keys, TupleDescAttr(columns, 0)->atttypid,
					   argument);
	return true;
}

/* A SimdupColumnCheck for keys as text. */
static bool
check_text_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;
	Oid output;
	bool is_varlena;

	if (columns->natts < 2 || columns->natts > 3 ||
		TupleDescAttr(columns, 1)->atttypid != rows->fp_type ||
		(columns->natts == 3 && TupleDescAttr(columns, 2)->atttypid != TEXTOID))
		return false;
	getTypeOutputInfo(TupleDescAttr(columns, 0)->atttypid, &output,
					  &is_varlena);
	fmgr_info_cxt(output, rows->key_output, rows->context);
	simdup_keys_expect(rows->keys, TEXTOID, argument);
	rows->has_samples = columns->natts == 3;
	if (rows->samples)
		simdup_keys_expect(rows->samples, TEXTOID, argument);
	return true;
}

/* Fingerprints and keys go from memory to disk, in the middle of reading. */
static void
start_spilling(SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->sort = simdup_pairsort_begin(maintenance_work_mem);
	for (uint32 i = 0; i < rows->n; i++)
		simdup_pairsort_put(rows->sort, rows->fps[i], i);
	if (rows->fps)
		pfree(rows->fps);
	rows->fps = NULL;
	if (rows->keys)
		simdup_keys_spill(rows->keys);
	if (rows->samples)
		simdup_keys_spill(rows->samples);
	MemoryContextSwitchTo(old);
}

static void
grow(SimdupRows *rows)
{
	Size n = rows->capacity == 0 ? 1024 : (Size) rows->capacity * 2;

	n = Min(n, MAX_ROWS);
	rows->fps = rows->fps == NULL
					? MemoryContextAlloc(rows->context, n * sizeof(uint64))
					: repalloc_huge(rows->fps, n * sizeof(uint64));
	rows->capacity = (uint32) n;
}

static int64
memory_of(const SimdupRows *rows)
{
	return (int64) rows->n * SIMDUP_ROW_BYTES +
		   (rows->keys ? simdup_keys_memory(rows->keys) : 0) +
		   (rows->samples ? simdup_keys_memory(rows->samples) : 0);
}

void
simdup_rows_add_fingerprint(SimdupRows *rows, uint64 fp)
{
	if (rows->n == MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one batch"),
				errdetail("A batch takes at most %u rows with a fingerprint.",
						  MAX_ROWS));
	if (rows->sort)
		simdup_pairsort_put(rows->sort, fp, rows->n);
	else
	{
		if (rows->n == rows->capacity)
			grow(rows);
		rows->fps[rows->n] = fp;
	}
	rows->n++;
	if (rows->sort == NULL && memory_of(rows) > rows->budget)
		start_spilling(rows);
}

/* The key as text, cut short. */
static void
add_key_text(SimdupRows *rows, TupleTableSlot *slot)
{
	const char *key =
		slot->tts_isnull[0]
			? "NULL"
			: OutputFunctionCall(rows->key_output, slot->tts_values[0]);
	int len = (int) strlen(key);

	if (len > SIMDUP_MAX_KEY_TEXT)
	{
		len = pg_mbcliplen(key, len, SIMDUP_MAX_KEY_TEXT);
		key = psprintf("%.*s ...", len, key);
		len = (int) strlen(key);
	}
	simdup_keys_add(rows->keys,
					PointerGetDatum(cstring_to_text_with_len(key, len)), false);
}

/*
 * The third column as it is stored, if there is one. Most texts are not shown:
 * they take 18 bytes here, and are not read from their TOAST table. The snapshot
 * of the calling statement keeps them there.
 */
static void
add_sample(SimdupRows *rows, TupleTableSlot *slot)
{
	text *sample = cstring_to_text("");

	if (slot->tts_tupleDescriptor->natts == 3 && !slot->tts_isnull[2])
	{
		struct varlena *value =
			(struct varlena *) DatumGetPointer(slot->tts_values[2]);

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

void
simdup_rows_add(SimdupRows *rows, Datum key, bool null_key, Datum fp,
				bool null_fp)
{
	if (null_fp)
	{
		rows->n_null++;
		return;
	}
	simdup_keys_add(rows->keys, key, null_key);
	simdup_rows_add_fingerprint(rows, DatumGetSimhash64(fp));
	simdup_progress_done((int64) rows->n + rows->n_null);
}

/* A SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	SimdupRows *rows = arg;
	MemoryContext old;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1])
	{
		rows->n_null++;
		return;
	}
	if (rows->contents != NULL && slot->tts_isnull[2])
	{
		rows->n_no_content++;
		return;
	}
	old = MemoryContextSwitchTo(rows->row_context);
	if (rows->contents != NULL)
		simdup_contents_add(rows->contents, slot->tts_values[2]);
	if (rows->key_output)
		add_key_text(rows, slot);
	else
		simdup_keys_add(rows->keys, slot->tts_values[0], slot->tts_isnull[0]);
	if (rows->samples)
		add_sample(rows, slot);
	if (rows->also != NULL)
		rows->also(rows->also_arg, slot);
	simdup_rows_add_fingerprint(rows, DatumGetSimhash64(slot->tts_values[1]));
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->row_context);
	simdup_progress_done((int64) rows->n + rows->n_null);
}

void
simdup_rows_read(SimdupRows *rows, const char *text, const char *argument)
{
	SimdupQuery query = {text, argument, SIMDUP_KEY_AND_FP};
	SimdupColumnCheck check = check_columns;

	if (rows->contents != NULL)
	{
		query = (SimdupQuery){text, argument, SIMDUP_KEY_FP_AND_CONTENT};
		check = check_content_columns;
	}
	else if (rows->key_output != NULL)
	{
		query.columns = "a key, a simhash64 and at most a text";
		query.example = "id, minhash64(content), content";
		check = check_text_columns;
	}
	simdup_progress_phase("reading", 0);
	rows->n_queries++;
	simdup_run_query(&query, rows->parameters, check, add_row, rows);
	if (rows->n_queries == 1)
		rows->n_first = rows->n;
}
