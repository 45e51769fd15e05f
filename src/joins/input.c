/*
 * input.c
 *	  The rows of a join's two sides: read, and kept by number, in memory or in
 *	  temporary files.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "joins/input.h"

/*
 * Rows by number
 *
 * Rows of one length stand at multiples of it, and others have their offsets in a
 * second file.
 */

struct SimdupRowStore
{
	uint32 n;
	uint32 length; /* of all rows; 0: they differ */
	SimdupTempFile *rows;
	SimdupTempFile *offsets; /* by number; empty while rows are of one length */
	MinimalTuple buffers[SIMDUP_ROW_BUFFERS];
	Size buffer_sizes[SIMDUP_ROW_BUFFERS];
};

SimdupRowStore *
simdup_rowstore_begin(int64 memory)
{
	SimdupRowStore *store = palloc0(sizeof(SimdupRowStore));

	store->rows = simdup_tempfile_create();
	store->offsets = simdup_tempfile_create();
	/* a row takes 24 bytes or more, and its offset 8 */
	simdup_tempfile_limit(store->rows, (Size) memory / 4 * 3);
	simdup_tempfile_limit(store->offsets, (Size) memory / 4);
	return store;
}

void
simdup_rowstore_end(SimdupRowStore *store)
{
	if (store == NULL)
		return;
	simdup_tempfile_close(store->offsets);
	simdup_tempfile_close(store->rows);
}

int64
simdup_rowstore_memory(const SimdupRowStore *store)
{
	return (int64) (simdup_tempfile_memory(store->rows) +
					simdup_tempfile_memory(store->offsets));
}

int64
simdup_rowstore_disk(const SimdupRowStore *store)
{
	return store == NULL ? 0
						 : simdup_tempfile_disk(store->rows) +
							   simdup_tempfile_disk(store->offsets);
}

/* Note the length of the next row. With the first other length, write the offsets. */
static void
note_length(SimdupRowStore *store, uint32 length)
{
	int64 stride = (int64) MAXALIGN(store->length);

	if (store->n == 0)
		store->length = length;
	if (store->length == length || store->length == 0)
		return;
	store->length = 0;
	for (int64 i = 0; i < store->n; i++)
	{
		int64 offset = i * stride;

		CHECK_FOR_INTERRUPTS();
		simdup_tempfile_append(store->offsets, &offset, sizeof(offset));
	}
}

static void
add_row(SimdupRowStore *store, TupleTableSlot *slot)
{
	static const char zeros[MAXIMUM_ALIGNOF] = {0};
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(store));
	bool is_copy;
	MinimalTuple row = ExecFetchSlotMinimalTuple(slot, &is_copy);
	int64 offset;

	note_length(store, row->t_len);
	offset = simdup_tempfile_append(store->rows, row, row->t_len);
	simdup_tempfile_append(store->rows, zeros,
						   MAXALIGN(row->t_len) - row->t_len);
	if (store->length == 0)
		simdup_tempfile_append(store->offsets, &offset, sizeof(offset));
	store->n++;
	if (is_copy)
		pfree(row);
	MemoryContextSwitchTo(old);
}

MinimalTuple
simdup_rowstore_get(SimdupRowStore *store, uint32 number, int buffer)
{
	const char *bytes = store->rows->bytes;
	int64 offset = (int64) number * (int64) MAXALIGN(store->length);
	uint32 len = store->length;
	MemoryContext old;

	if (len == 0)
		simdup_tempfile_read(store->offsets,
							 (int64) number * (int64) sizeof(offset), &offset,
							 sizeof(offset));
	if (bytes != NULL)
		return (MinimalTuple) (bytes + offset);
	if (len == 0)
		simdup_tempfile_read(store->rows, offset, &len, sizeof(len));
	old = MemoryContextSwitchTo(GetMemoryChunkContext(store));
	store->buffers[buffer] = simdup_grow(store->buffers[buffer],
										 &store->buffer_sizes[buffer], len, 1);
	MemoryContextSwitchTo(old);
	simdup_tempfile_read(store->rows, offset, store->buffers[buffer], len);
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
simdup_read_input(SimdupJoinInput *input, SimdupKeyTake take, void *arg)
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
		}
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(context);
	MemoryContextDelete(row_context);
}
