/*
 * rows.c
 *	  The rows of a batch, in memory or, beyond maintenance_work_mem, on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "batch/rows.h"
#include "core/allpairs.h"
#include "core/group.h"
#include "core/host.h"
#include "server/progress.h"
#include "server/query.h"
#include "type/simhash64.h"

#define KEY_CHUNK_SIZE (256 * 1024)
#define MAX_ROWS (PG_UINT32_MAX - 1)
/* flipped, so that a signed sort of fingerprints is their unsigned order */
#define SIGN_BIT (UINT64CONST(1) << 63)

int
simdup_check_max_distance(int max_distance)
{
	if (max_distance < 0 || max_distance > SIMDUP_MAX_PAIR_DISTANCE)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_distance must be between 0 and %d",
					   SIMDUP_MAX_PAIR_DISTANCE),
				errdetail("The distance given is %d.", max_distance),
				errhint("Unrelated fingerprints are about 32 apart; 3 "
						"finds copies, 8 near-duplicates."));
	return max_distance;
}

SimdupRows *
simdup_rows_begin(FunctionCallInfo fcinfo, int key_type_at)
{
	Oid key_type = simdup_key_type_argument(fcinfo, key_type_at);
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SimdupRows *rows = palloc0(sizeof(SimdupRows));
	Oid function = fcinfo->flinfo->fn_oid;

	rows->context = context;
	rows->row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	rows->budget = (int64) maintenance_work_mem * 1024;
	rows->fp_type =
		GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
						CStringGetDatum("simhash64"),
						ObjectIdGetDatum(get_func_namespace(function)));
	rows->key_type = key_type;
	get_typlenbyval(key_type, &rows->key_len, &rows->key_byval);
	initStringInfo(&rows->key_buffer[0]);
	initStringInfo(&rows->key_buffer[1]);
	simdup_progress_begin(get_func_name(function));
	MemoryContextSwitchTo(old);
	return rows;
}

void
simdup_rows_end(SimdupRows *rows)
{
	if (rows->sort)
		tuplesort_end(rows->sort);
	if (rows->sort_slot)
		ExecDropSingleTupleTableSlot(rows->sort_slot);
	if (rows->key_words)
		simdup_tempfile_close(rows->key_words);
	if (rows->key_heap)
		simdup_tempfile_close(rows->key_heap);
	if (rows->number_file)
		simdup_tempfile_close(rows->number_file);
	if (rows->group_file)
		simdup_tempfile_close(rows->group_file);
	MemoryContextDelete(rows->context);
}

void
simdup_rows_as_text(SimdupRows *rows, int max_chars)
{
	rows->key_type = TEXTOID;
	rows->key_len = -1;
	rows->key_byval = false;
	rows->sample_chars = max_chars;
	rows->key_output = MemoryContextAlloc(rows->context, sizeof(FmgrInfo));
}

/*
 * Reading
 */

static void
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;
	Oid key_type;
	Oid output;
	bool is_varlena;

	if (columns->natts != 2 && !(rows->key_output && columns->natts == 3))
		simdup_wrong_columns(argument, columns,
							 rows->key_output
								 ? "a key, a simhash64 and at most a sample text"
								 : "a key and a simhash64");
	key_type = TupleDescAttr(columns, 0)->atttypid;
	if (TupleDescAttr(columns, 1)->atttypid != rows->fp_type)
		simdup_wrong_columns(argument, columns,
							 "a key and, second, a simhash64");
	rows->query_key_type = key_type;
	if (rows->key_output)
	{
		getTypeOutputInfo(key_type, &output, &is_varlena);
		fmgr_info_cxt(output, rows->key_output, rows->context);
		if (columns->natts == 3 &&
			TupleDescAttr(columns, 2)->atttypid != TEXTOID)
			simdup_wrong_columns(argument, columns,
								 "a key, a simhash64 and a sample of type text");
	}
	else
		simdup_check_key_type(argument, key_type, rows->key_type);
}

/* Room for len bytes beside other keys; aligned for any type. */
static char *
key_room(SimdupRows *rows, size_t len)
{
	char *room;

	len = MAXALIGN(len);
	rows->key_bytes += (int64) len;
	if (len > KEY_CHUNK_SIZE / 8)
		return palloc(len);
	if (rows->key_chunk_left < len)
	{
		rows->key_chunk = palloc(KEY_CHUNK_SIZE);
		rows->key_chunk_left = KEY_CHUNK_SIZE;
	}
	room = rows->key_chunk;
	rows->key_chunk += len;
	rows->key_chunk_left -= len;
	return room;
}

static Size
key_size(const SimdupRows *rows, Datum key)
{
	return datumGetSize(key, rows->key_byval, rows->key_len);
}

/* Write a key by reference to its file; where it is. */
static uint64
spill_key(SimdupRows *rows, Datum key)
{
	uint32 len = (uint32) key_size(rows, key);
	int64 offset = simdup_tempfile_append(rows->key_heap, &len, sizeof(len));

	simdup_tempfile_append(rows->key_heap, DatumGetPointer(key), len);
	return (uint64) offset;
}

/* One row into the tuplesort, its key word to the file. */
static void
spill_row(SimdupRows *rows, uint32 number, uint64 fp, Datum key)
{
	uint64 word = rows->key_byval ? (uint64) key : spill_key(rows, key);
	TupleTableSlot *slot = rows->sort_slot;

	simdup_tempfile_append(rows->key_words, &word, sizeof(word));
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) (fp ^ SIGN_BIT));
	slot->tts_values[1] = Int64GetDatum((int64) number);
	slot->tts_isnull[0] = false;
	slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(rows->sort, slot);
}

/* From memory to disk, in the middle of reading. */
static void
start_spilling(SimdupRows *rows)
{
	TupleDesc columns = CreateTemplateTupleDesc(2);
	AttrNumber attributes[2] = {1, 2};
	Oid operators[2] = {Int8LessOperator, Int8LessOperator};
	Oid collations[2] = {InvalidOid, InvalidOid};
	bool nulls_first[2] = {false, false};
	uint32 i;

	TupleDescInitEntry(columns, 1, "fp", INT8OID, -1, 0);
	TupleDescInitEntry(columns, 2, "number", INT8OID, -1, 0);
	SIMDUP_TUPLEDESC_DONE(columns);
	rows->sort_slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
	rows->sort =
		tuplesort_begin_heap(columns, 2, attributes, operators, collations,
							 nulls_first, maintenance_work_mem, NULL, 0);
	rows->key_words = simdup_tempfile_create();
	if (!rows->key_byval)
		rows->key_heap = simdup_tempfile_create();
	for (i = 0; i < rows->n; i++)
		spill_row(rows, i, rows->fps[i], (Datum) rows->keys[i]);
	/*
	 * The keys' chunks stay until the end: they are within the budget, and
	 * a batch spills once.
	 */
	if (rows->fps)
	{
		pfree(rows->fps);
		pfree(rows->keys);
	}
	rows->fps = NULL;
	rows->keys = NULL;
}

static void
grow(SimdupRows *rows)
{
	if (rows->capacity == 0)
	{
		rows->capacity = 1024;
		rows->fps = palloc(rows->capacity * sizeof(uint64));
		rows->keys = palloc(rows->capacity * sizeof(uint64));
		return;
	}
	rows->capacity =
		rows->capacity > MAX_ROWS / 2 ? MAX_ROWS : rows->capacity * 2;
	rows->fps =
		repalloc_huge(rows->fps, (Size) rows->capacity * sizeof(uint64));
	rows->keys =
		repalloc_huge(rows->keys, (Size) rows->capacity * sizeof(uint64));
}

static void
add_row(SimdupRows *rows, Datum key, uint64 fp)
{
	if (rows->n == MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one batch"),
				errdetail("A batch takes at most %u rows with a fingerprint.",
						  MAX_ROWS));
	if (rows->sort == NULL &&
		(int64) rows->n * SIMDUP_ROW_BYTES + rows->key_bytes > rows->budget)
		start_spilling(rows);
	if (rows->sort)
		spill_row(rows, rows->n++, fp, key);
	else
	{
		if (rows->n == rows->capacity)
			grow(rows);
		if (!rows->key_byval)
		{
			Size size = key_size(rows, key);

			key = PointerGetDatum(
				memcpy(key_room(rows, size), DatumGetPointer(key), size));
		}
		rows->fps[rows->n] = fp;
		rows->keys[rows->n++] = (uint64) key;
	}
}

/* Key and sample as one text: see simdup_rows_as_text. */
static Datum
key_with_sample(SimdupRows *rows, TupleTableSlot *slot)
{
	StringInfo buffer = &rows->key_buffer[0];
	int i;

	resetStringInfo(buffer);
	if (slot->tts_isnull[0])
		appendStringInfoString(buffer, "NULL");
	else
	{
		char *key = OutputFunctionCall(rows->key_output, slot->tts_values[0]);

		appendBinaryStringInfo(buffer, key,
							   pg_mbcliplen(key, (int) strlen(key), 200));
	}
	/* the first tab is the one after the key */
	for (i = 0; i < buffer->len; i++)
		if (buffer->data[i] == '\t')
			buffer->data[i] = ' ';
	appendStringInfoChar(buffer, '\t');
	if (slot->tts_tupleDescriptor->natts == 3 && !slot->tts_isnull[2])
	{
		/* four bytes a character at most: no need to detoast the rest */
		text *sample =
			DatumGetTextPSlice(slot->tts_values[2], 0, 4 * rows->sample_chars);
		char *start = VARDATA_ANY(sample);

		appendBinaryStringInfo(buffer, start,
							   pg_mbcharcliplen(start,
												(int) VARSIZE_ANY_EXHDR(sample),
												rows->sample_chars));
	}
	return PointerGetDatum(cstring_to_text_with_len(buffer->data, buffer->len));
}

/* The key as the batch keeps it: never NULL, never toasted. */
static Datum
take_key(SimdupRows *rows, TupleTableSlot *slot)
{
	if (rows->key_output)
		return key_with_sample(rows, slot);
	if (slot->tts_isnull[0])
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("key is null"),
				errdetail("Row %u of the query has a fingerprint and no key.",
						  rows->n + 1));
	if (rows->query_key_type == rows->key_type)
	{
		if (rows->key_len == -1)
			return PointerGetDatum(PG_DETOAST_DATUM(slot->tts_values[0]));
		return slot->tts_values[0];
	}
	return simdup_widen_key(slot->tts_values[0], rows->query_key_type);
}

static void
receive(void *arg, TupleTableSlot *slot)
{
	SimdupRows *rows = arg;
	MemoryContext old;
	Datum key;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1])
	{
		rows->n_null++;
		return;
	}
	old = MemoryContextSwitchTo(rows->row_context);
	key = take_key(rows, slot);
	MemoryContextSwitchTo(rows->context);
	add_row(rows, key, DatumGetSimhash64(slot->tts_values[1]));
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->row_context);
	simdup_progress_done((int64) rows->n + rows->n_null);
}

void
simdup_rows_read(SimdupRows *rows, const char *query, const char *argument)
{
	simdup_progress_phase("reading", 0);
	rows->n_queries++;
	simdup_run_query(query, argument, check_columns, receive, rows);
	if (rows->n_queries == 1)
		rows->n_first = rows->n;
}

/*
 * Grouping
 */

/* In memory: sort, then one entry for each run of equal fingerprints. */
static void
group_in_memory(SimdupRows *rows)
{
	uint32 n = rows->n;
	uint64 *fps = rows->fps;
	uint64 *fp_scratch = simdup_alloc((Size) n * sizeof(uint64));
	uint32 *scratch = simdup_alloc((Size) n * sizeof(uint32));
	int64 n_groups = 0;
	int64 g = -1;
	uint32 i;

	rows->numbers = simdup_alloc((Size) n * sizeof(uint32));
	for (i = 0; i < n; i++)
		rows->numbers[i] = i;
	simdup_sort_rows(fps, rows->numbers, fp_scratch, scratch, n);
	pfree(fp_scratch);
	pfree(scratch);

	for (i = 0; i < n; i++)
		n_groups += i == 0 || fps[i] != fps[i - 1];
	rows->groups = simdup_alloc0((Size) n_groups * sizeof(SimdupGroup));
	for (i = 0; i < n; i++)
	{
		if (g < 0 || fps[i] != fps[g])
		{
			fps[++g] = fps[i];
			rows->groups[g].start = i;
		}
		rows->groups[g].n++;
		rows->groups[g].n_first += rows->numbers[i] < rows->n_first;
	}
	rows->n_groups = n_groups;
	rows->group_fps = fps;
	rows->fps = NULL;
}

static void
append_group(SimdupRows *rows, const SimdupGroupRecord *record)
{
	simdup_tempfile_append(rows->group_file, record, sizeof(*record));
	rows->n_groups++;
}

/* From the tuplesort to files of numbers and of groups. */
static void
group_on_disk(SimdupRows *rows)
{
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(rows->sort_slot->tts_tupleDescriptor,
								 &TTSOpsMinimalTuple);
	SimdupGroupRecord record;
	uint32 position = 0;

	memset(&record, 0, sizeof(record));
	tuplesort_performsort(rows->sort);
	rows->number_file = simdup_tempfile_create();
	rows->group_file = simdup_tempfile_create();
	while (tuplesort_gettupleslot(rows->sort, true, false, slot, NULL))
	{
		uint64 fp;
		uint32 number;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		fp = (uint64) DatumGetInt64(slot->tts_values[0]) ^ SIGN_BIT;
		number = (uint32) DatumGetInt64(slot->tts_values[1]);
		simdup_tempfile_append(rows->number_file, &number, sizeof(number));
		if (record.group.n == 0 || record.fp != fp)
		{
			if (record.group.n)
				append_group(rows, &record);
			memset(&record, 0, sizeof(record));
			record.fp = fp;
			record.group.start = position;
		}
		record.group.n++;
		record.group.n_first += number < rows->n_first;
		simdup_progress_done(++position);
	}
	if (record.group.n)
		append_group(rows, &record);
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(rows->sort);
	rows->sort = NULL;
}

/* Groups that fit after all, since many rows are equal. */
static void
load_groups(SimdupRows *rows)
{
	int64 i;

	if (rows->n_groups * SIMDUP_GROUP_BYTES > rows->budget)
		return;
	rows->groups = simdup_alloc((Size) rows->n_groups * sizeof(SimdupGroup));
	rows->group_fps = simdup_alloc((Size) rows->n_groups * sizeof(uint64));
	for (i = 0; i < rows->n_groups; i++)
	{
		SimdupGroupRecord record;

		simdup_tempfile_read(rows->group_file, i * (int64) sizeof(record),
							 &record, sizeof(record));
		rows->groups[i] = record.group;
		rows->group_fps[i] = record.fp;
	}
	simdup_tempfile_close(rows->group_file);
	rows->group_file = NULL;
}

void
simdup_rows_group(SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	if (rows->n_null > 0)
		ereport(NOTICE,
				errmsg_plural("skipped " INT64_FORMAT
							  " row without a fingerprint",
							  "skipped " INT64_FORMAT
							  " rows without a fingerprint",
							  (unsigned long) rows->n_null, rows->n_null));
	simdup_progress_phase("grouping", rows->n);
	if (rows->sort)
	{
		group_on_disk(rows);
		load_groups(rows);
	}
	else if (rows->n > 0)
		group_in_memory(rows);
	MemoryContextSwitchTo(old);
}

SimdupGroupRecord
simdup_rows_get_group(SimdupRows *rows, int64 index)
{
	SimdupGroupRecord record;

	if (rows->groups)
	{
		record.fp = rows->group_fps[index];
		record.group = rows->groups[index];
	}
	else
		simdup_tempfile_read(rows->group_file, index * (int64) sizeof(record),
							 &record, sizeof(record));
	return record;
}

uint32
simdup_row_number(SimdupRows *rows, uint32 position)
{
	uint32 number;

	if (rows->numbers)
		return rows->numbers[position];
	simdup_tempfile_read(rows->number_file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}

Datum
simdup_row_key(SimdupRows *rows, uint32 number, int buffer)
{
	StringInfo to = &rows->key_buffer[buffer];
	uint64 word;
	uint32 len;

	if (rows->keys)
		return (Datum) rows->keys[number];
	simdup_tempfile_read(rows->key_words, (int64) number * (int64) sizeof(word),
						 &word, sizeof(word));
	if (rows->key_byval)
		return (Datum) word;
	simdup_tempfile_read(rows->key_heap, (int64) word, &len, sizeof(len));
	resetStringInfo(to);
	enlargeStringInfo(to, (int) len);
	simdup_tempfile_read(rows->key_heap, (int64) word + (int64) sizeof(len),
						 to->data, len);
	return PointerGetDatum(to->data);
}
