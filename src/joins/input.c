/*
 * input.c
 *	  The rows of a join's two sides: read, and kept by number, in memory or in
 *	  temporary files.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "joins/state.h"
#include "server/progress.h"

/*
 * Rows by number
 *
 * Rows of one length stand at multiples of it, and others have their offsets in a
 * second file.
 */

/* Rows that can be looked at at one time. */
#define ROW_BUFFERS 3

/* Rows are numbered from 0. */
#define MAX_ROWS ((uint32) PG_INT32_MAX)

struct SimdupRowStore
{
	uint32 n;
	uint32 length; /* of all rows; 0: they differ */
	SimdupTempFile *rows;
	SimdupTempFile *offsets; /* by number; empty while rows are of one length */
	MinimalTuple buffers[ROW_BUFFERS];
	Size buffer_sizes[ROW_BUFFERS];
};

/* Return a new store in the current context, which goes to disk beyond this memory. */
static SimdupRowStore *
begin_rows(int64 memory)
{
	SimdupRowStore *store = palloc0(sizeof(SimdupRowStore));

	/* a row takes 24 bytes or more, and its offset 8 */
	store->rows = simdup_tempfile_create((Size) memory / 4 * 3);
	store->offsets = simdup_tempfile_create((Size) memory / 4);
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

/*
 * Read the limits, for the first key. Without a key they raise no error. If one is
 * NULL, there is no pair.
 */
static void
read_limits(NearJoinState *state)
{
	Datum limits[SIMDUP_MAX_LIMITS];
	int n = 0;
	ListCell *cell;

	state->admitted = SIMDUP_NO_PAIRS;
	foreach (cell, state->limits)
	{
		bool isnull;

		limits[n++] =
			ExecEvalExprSwitchContext(lfirst(cell),
									  state->css.ss.ps.ps_ExprContext, &isnull);
		if (isnull)
			return;
	}
	state->admitted = state->predicate->read_limits(state->predicate, limits,
													&state->search.limits);
}

/* Add the key of a side's next row to the search. The first one begins the keys. */
static void
add_key(NearJoinState *state, int side, Datum key, uint32 hash)
{
	const SimdupSearchMethod *method = state->predicate->method;
	SimdupJoinInput *input = &state->inputs[side];

	simdup_progress_done((int64) state->inputs[0].n + state->inputs[1].n);
	if (input->n_keyed++ == 0)
	{
		MemoryContext old = MemoryContextSwitchTo(state->search.context);

		if (state->admitted == SIMDUP_LIMITS_NOT_READ)
			read_limits(state);
		if (state->admitted == SIMDUP_NEAR_PAIRS)
			method->begin(&state->search, side);
		MemoryContextSwitchTo(old);
	}
	if (state->admitted == SIMDUP_NEAR_PAIRS)
		method->add(&state->search, side, input->n, key, hash);
}

static void
read_rows(NearJoinState *state, int side)
{
	SimdupJoinInput *input = &state->inputs[side];
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
			if (input->n == MAX_ROWS)
				ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many rows for one join"),
						errdetail("A side of the join has more than %u rows.",
								  MAX_ROWS),
						errhint("Turn simdup.enable_join off."));
			if (!isnull)
				add_key(state, side, key, hash);
			MemoryContextSwitchTo(context);
			add_row(input->rows, row);
			input->n++;
		}
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(context);
	MemoryContextDelete(row_context);
}

void
simdup_read_side(NearJoinState *state, int side)
{
	SimdupKeySearch *search = &state->search;
	SimdupJoinInput *input = &state->inputs[side];
	const SimdupRowStore *other = state->inputs[1 - side].rows;
	/* of the rows of both sides */
	int64 memory = search->memory / 2 -
				   (other != NULL ? simdup_rowstore_memory(other) : 0);

	input->rows = begin_rows(Max(memory, 0));
	if (search->reads_once)
		state->inputs[1].rows = input->rows;
	read_rows(state, side);
	simdup_note_memory(search);
	if (side == 0 && (simdup_asks_existence(state) || state->type == JOIN_LEFT))
		/* a number beyond all rows makes room for them */
		search->matched = bms_make_singleton((int) state->inputs[0].n);
}
