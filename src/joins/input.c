/*
 * input.c
 *	  The rows of a join's two sides: read, and kept by number, in memory or in
 *	  temporary files.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "joins/state.h"
#include "server/progress.h"
#include "server/source.h"

/* Rows are numbered from 0. */
#define MAX_ROWS ((uint32) PG_INT32_MAX)

static void
add_row(SimdupJoinInput *input, TupleTableSlot *slot)
{
	bool is_copy;
	MinimalTuple row = ExecFetchSlotMinimalTuple(slot, &is_copy);

	simdup_keys_add_bytes(input->rows, row, row->t_len);
	input->n++;
	if (is_copy)
		pfree(row);
}

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
			add_row(input, row);
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
	const SimdupKeys *other = state->inputs[1 - side].rows;
	/* of the rows of both sides */
	int64 memory =
		search->memory / 2 - (other != NULL ? simdup_keys_memory(other) : 0);

	/* a row takes 24 bytes or more, and its offset 8 */
	input->rows = simdup_keys_begin(RECORDOID, (Size) Max(memory, 0) / 4 * 3);
	if (search->reads_once)
		state->inputs[1].rows = input->rows;
	read_rows(state, side);
	simdup_note_memory(search);
	if (side == 0 && (simdup_asks_existence(state) || state->type == JOIN_LEFT))
		/* a number beyond all rows makes room for them */
		search->matched = bms_make_singleton((int) state->inputs[0].n);
}
