/*
 * input.c
 *	  The rows of a join's two sides: read, and kept by number, in memory or in
 *	  temporary files.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "core/host.h"
#include "joins/search.h"
#include "server/progress.h"

/*
 * Rows by number
 *
 * In memory the rows are in blocks, without a header each. On disk, rows of one
 * length stand at multiples of it, and others have their offsets in a second file.
 */

#define FIRST_BLOCK_BYTES ((Size) 4096)
#define BLOCK_BYTES ((Size) 262144)

struct SimdupRowStore
{
	uint32 n;
	uint32 length; /* of all rows; 0: they differ */
	/* in memory */
	MemoryContext context; /* of the blocks */
	char *block;		   /* the last one */
	Size size;			   /* of it */
	Size left;			   /* bytes at its end */
	MinimalTuple *rows;	   /* by number */
	Size room;			   /* of the array */
	/* on disk */
	SimdupTempFile *file;	 /* NULL: in memory */
	SimdupTempFile *offsets; /* by number: where in the file; or NULL */
	MinimalTuple buffers[SIMDUP_ROW_BUFFERS];
	Size buffer_sizes[SIMDUP_ROW_BUFFERS];
};

SimdupRowStore *
simdup_rowstore_begin(void)
{
	SimdupRowStore *store = palloc0(sizeof(SimdupRowStore));

	store->context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup join rows",
							  ALLOCSET_START_SMALL_SIZES);
	return store;
}

void
simdup_rowstore_end(SimdupRowStore *store)
{
	simdup_tempfile_close(store->offsets);
	simdup_tempfile_close(store->file);
}

/* Write a row, and its offset once the rows are not of one length. */
static void
write_row(SimdupRowStore *store, MinimalTuple row)
{
	int64 offset = simdup_tempfile_append(store->file, row, row->t_len);

	if (store->length != 0)
		return;
	if (store->offsets == NULL)
		store->offsets = simdup_tempfile_create();
	simdup_tempfile_append(store->offsets, &offset, sizeof(offset));
}

/* Note that the rows in the file, which were of one length, have offsets now. */
static void
write_offsets(SimdupRowStore *store, uint32 length)
{
	store->offsets = simdup_tempfile_create();
	for (uint32 i = 0; i < store->n; i++)
	{
		int64 offset = (int64) i * length;

		simdup_tempfile_append(store->offsets, &offset, sizeof(offset));
	}
}

static void
note_length(SimdupRowStore *store, uint32 length)
{
	uint32 before = store->length;

	if (store->n == 0)
		store->length = length;
	else if (before != length && before != 0)
	{
		store->length = 0;
		if (store->file != NULL)
			write_offsets(store, before);
	}
}

/* Return room for a row in the last block, or in a new one. */
static void *
room_for(SimdupRowStore *store, Size length)
{
	char *room;

	length = MAXALIGN(length);
	if (length > BLOCK_BYTES / 8)
		return MemoryContextAlloc(store->context, length);
	if (length > store->left)
	{
		store->size = Min(Max(store->size * 2, FIRST_BLOCK_BYTES), BLOCK_BYTES);
		store->size = Max(store->size, length);
		store->block = MemoryContextAlloc(store->context, store->size);
		store->left = store->size;
	}
	room = store->block + (store->size - store->left);
	store->left -= length;
	return room;
}

static void
add_row(SimdupRowStore *store, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(store));
	bool is_copy;
	MinimalTuple row = ExecFetchSlotMinimalTuple(slot, &is_copy);

	note_length(store, row->t_len);
	if (store->file != NULL)
		write_row(store, row);
	else
	{
		store->rows = simdup_grow(store->rows, &store->room,
								  (Size) store->n + 1, sizeof(MinimalTuple));
		store->rows[store->n] =
			memcpy(room_for(store, row->t_len), row, row->t_len);
	}
	store->n++;
	if (is_copy)
		pfree(row);
	MemoryContextSwitchTo(old);
}

int64
simdup_rowstore_memory(const SimdupRowStore *store)
{
	return (int64) (MemoryContextMemAllocated(store->context, false) +
					store->room * sizeof(MinimalTuple));
}

int64
simdup_rowstore_disk(const SimdupRowStore *store)
{
	return (store->file ? simdup_tempfile_size(store->file) : 0) +
		   (store->offsets ? simdup_tempfile_size(store->offsets) : 0);
}

/* Move the rows to temporary files; later ones go there, too. */
static void
spill_rows(SimdupRowStore *store)
{
	store->file = simdup_tempfile_create();
	for (uint32 i = 0; i < store->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_row(store, store->rows[i]);
	}
	simdup_free(store->rows);
	store->rows = NULL;
	store->room = 0;
	MemoryContextReset(store->context);
	store->size = store->left = 0;
}

MinimalTuple
simdup_rowstore_get(SimdupRowStore *store, uint32 number, int buffer)
{
	int64 offset = (int64) number * store->length;
	uint32 len = store->length;
	MemoryContext old;

	if (store->file == NULL)
		return store->rows[number];
	if (len == 0)
	{
		simdup_tempfile_read(store->offsets,
							 (int64) number * (int64) sizeof(offset), &offset,
							 sizeof(offset));
		simdup_tempfile_read(store->file, offset, &len, sizeof(len));
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(store));
	store->buffers[buffer] = simdup_grow(store->buffers[buffer],
										 &store->buffer_sizes[buffer], len, 1);
	MemoryContextSwitchTo(old);
	simdup_tempfile_read(store->file, offset, store->buffers[buffer], len);
	return store->buffers[buffer];
}

/* Reading */

/*
 * Set *hash to that of the columns which must be equal. Return false if one of
 * them is NULL, so that the row has no equal one.
 */
static bool
hash_of(const SimdupJoinInput *input, TupleTableSlot *row, uint32 *hash)
{
	*hash = 0;
	for (int i = 0; i < input->n_equal; i++)
	{
		bool isnull;
		Datum value = slot_getattr(row, input->equal[i], &isnull);

		if (isnull)
			return false;
		*hash = pg_rotate_left32(*hash, 1) ^
				DatumGetUInt32(FunctionCall1Coll(&input->hash[i],
												 input->collations[i], value));
	}
	return true;
}

void
simdup_read_input(SimdupJoinInput *input, SimdupRowStore *other, int64 memory,
				  SimdupKeyTake take, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext row_context =
		AllocSetContextCreate(context, "simdup join key", ALLOCSET_SMALL_SIZES);

	for (;;)
	{
		TupleTableSlot *row;
		Datum key;
		bool isnull;
		uint32 hash = 0;

		CHECK_FOR_INTERRUPTS();
		/* a plan allocates for the whole statement */
		MemoryContextSwitchTo(input->plan->state->es_query_cxt);
		row = ExecProcNode(input->plan);
		MemoryContextSwitchTo(row_context);
		if (TupIsNull(row))
			break;
		key = slot_getattr(row, input->key, &isnull);
		isnull = isnull || !hash_of(input, row, &hash);
		if (!isnull || input->keeps_unmatched)
		{
			if (input->n == SIMDUP_MAX_JOIN_ROWS)
				ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many rows for one join"),
						errdetail("A side of the join has more than %u rows.",
								  SIMDUP_MAX_JOIN_ROWS),
						errhint("Turn simdup.enable_join off."));
			if (!isnull)
			{
				take(arg, input->n, key, hash);
				input->n_keyed++;
			}
			MemoryContextSwitchTo(context);
			add_row(input->rows, row);
			input->n++;
			if (input->n % 64 == 0 && input->rows->file == NULL &&
				simdup_rowstore_memory(input->rows) +
						(other ? simdup_rowstore_memory(other) : 0) >
					memory)
				spill_rows(input->rows);
			simdup_progress_done(input->n);
		}
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(context);
	MemoryContextDelete(row_context);
}

/* Numbers of rows, by position */

void
simdup_numbers_begin(SimdupNumbers *numbers, Size n, int64 memory)
{
	if ((int64) (n * sizeof(uint32)) > memory)
		numbers->file = simdup_tempfile_create();
	else
		numbers->numbers = simdup_alloc((n + 1) * sizeof(uint32));
}

void
simdup_numbers_end(SimdupNumbers *numbers)
{
	simdup_tempfile_close(numbers->file);
	simdup_free(numbers->numbers);
}

uint32
simdup_numbers_append(SimdupNumbers *numbers, uint32 number)
{
	if (numbers->file != NULL)
		simdup_tempfile_append(numbers->file, &number, sizeof(number));
	else
		numbers->numbers[numbers->n] = number;
	return numbers->n++;
}

uint32
simdup_numbers_at(SimdupNumbers *numbers, uint32 position)
{
	uint32 number;

	if (numbers->file == NULL)
		return numbers->numbers[position];
	simdup_tempfile_read(numbers->file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}
