/*
 * rows.c
 *	  The rows of a batch: read, kept in memory or on disk, and grouped by equal
 *	  fingerprint.
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
#include "core/host.h"
#include "server/arguments.h"
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

static void
end_rows(SimdupRows *rows)
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

/* Check the columns of keys of any type with contents: a SimdupColumnCheck. */
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

/* Check the columns of keys of any type: a SimdupColumnCheck. */
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

/* Check the columns of keys as text: a SimdupColumnCheck. */
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

/* Move fingerprints and keys from memory to disk, in the middle of reading. */
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

/* Add the key as text, cut short. */
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
 * Add the third column as it is stored, if there is one. Most texts are not
 * shown: they take 18 bytes here, and are not read from their TOAST table. The
 * snapshot of the calling statement keeps them there.
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

/* Add a row: a SimdupRowSink. */
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

SimdupRows *
simdup_rows_read_verified(FunctionCallInfo fcinfo, int option,
						  double *min_resemblance)
{
	SimdupFoldedShingling shingling;
	SimdupRows *rows;
	MemoryContext old;

	simdup_check_not_null(PG_ARGISNULL(option), "min_resemblance");
	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option + 1, 2))
		return NULL;
	*min_resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(option), "min_resemblance");
	shingling = simdup_get_resemblance(PG_GETARG_INT32(option + 1),
									   PG_GETARG_TEXT_PP(option + 2));
	rows = simdup_rows_begin(fcinfo, 1);
	old = MemoryContextSwitchTo(rows->context);
	rows->contents = simdup_contents_begin(shingling);
	MemoryContextSwitchTo(old);
	simdup_rows_read(rows, text_to_cstring(PG_GETARG_TEXT_PP(0)), "query");
	simdup_contents_finish(rows->contents, (Size) rows->budget / 4);
	return rows;
}

/*
 * The rows of a batch, grouped by equal fingerprint, in memory or on disk.
 */

static void
append_group(SimdupGroups *groups, const SimdupGroup *group)
{
	if (group->n == 0)
		return;
	simdup_tempfile_append(groups->group_file, group, sizeof(*group));
	groups->n++;
}

/* Write the sorted rows to two files: row numbers, and groups. */
static void
group_on_disk(SimdupGroups *groups)
{
	SimdupRows *rows = groups->rows;
	SimdupGroup group;
	uint32 position = 0;
	uint64 fp;
	uint64 word;

	memset(&group, 0, sizeof(group));
	groups->number_file = simdup_tempfile_create();
	groups->group_file = simdup_tempfile_create();
	simdup_pairsort_perform(rows->sort);
	while (simdup_pairsort_get(rows->sort, &fp, &word))
	{
		uint32 number = (uint32) word;

		simdup_tempfile_append(groups->number_file, &number, sizeof(number));
		if (fp != group.fp || group.n == 0)
		{
			append_group(groups, &group);
			group.fp = fp;
			group.start = position;
			group.n = group.n_first = 0;
		}
		group.n++;
		group.n_first += number < rows->n_first;
		simdup_progress_done(++position);
	}
	append_group(groups, &group);
	simdup_pairsort_end(rows->sort);
	rows->sort = NULL;
}

/* Load the groups if they fit in memory, because many rows are equal. */
static void
load_groups(SimdupGroups *groups)
{
	SimdupRowGroups *in_memory = &groups->in_memory;
	Size n = (Size) groups->n;

	if (groups->n * SIMDUP_GROUP_BYTES > groups->rows->budget)
		return;
	in_memory->n = (uint32) n;
	in_memory->fps = simdup_alloc((n + 1) * sizeof(uint64));
	in_memory->starts = simdup_alloc((n + 1) * sizeof(uint32));
	for (Size i = 0; i < n; i++)
	{
		SimdupGroup group;

		simdup_tempfile_read(groups->group_file, (int64) (i * sizeof(group)),
							 &group, sizeof(group));
		in_memory->fps[i] = group.fp;
		in_memory->starts[i] = group.start;
	}
	in_memory->starts[n] = groups->rows->n;
	simdup_tempfile_close(groups->group_file);
	groups->group_file = NULL;
}

SimdupGroups *
simdup_rows_group(SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	SimdupGroups *groups = palloc0(sizeof(SimdupGroups));

	simdup_tell_skipped(rows->n_null, rows->n_no_content, rows->n);
	simdup_progress_phase("grouping", rows->n);
	groups->rows = rows;
	if (rows->sort)
	{
		group_on_disk(groups);
		load_groups(groups);
	}
	else
	{
		groups->in_memory = simdup_group_rows(rows->fps, rows->n);
		groups->n = groups->in_memory.n;
		rows->fps = NULL;
	}
	MemoryContextSwitchTo(old);
	return groups;
}

void
simdup_groups_end(SimdupGroups *groups)
{
	simdup_tempfile_close(groups->number_file);
	simdup_tempfile_close(groups->group_file);
	end_rows(groups->rows);
}

/* Count a group's rows of the first query. Their numbers ascend. */
static uint32
count_first(SimdupGroups *groups, uint32 start, uint32 n)
{
	uint32 n_first = groups->rows->n_first;
	uint32 low = 0;
	uint32 high = n;

	if (n_first == groups->rows->n)
		return n;
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (simdup_groups_row(groups, start + middle) < n_first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

SimdupGroup
simdup_groups_get(SimdupGroups *groups, int64 index)
{
	const SimdupRowGroups *in_memory = &groups->in_memory;
	SimdupGroup group;

	if (groups->group_file)
	{
		simdup_tempfile_read(groups->group_file, index * (int64) sizeof(group),
							 &group, sizeof(group));
		return group;
	}
	group.fp = in_memory->fps[index];
	group.start = in_memory->starts[index];
	group.n = in_memory->starts[index + 1] - group.start;
	group.n_first = count_first(groups, group.start, group.n);
	return group;
}

uint32
simdup_groups_row(SimdupGroups *groups, uint32 position)
{
	uint32 number;

	if (groups->in_memory.numbers)
		return groups->in_memory.numbers[position];
	simdup_tempfile_read(groups->number_file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}
