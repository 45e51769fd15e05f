/*
 * candidates.c
 *	  The candidates of a join: searched, sorted, and evaluated.
 *
 * Candidates are sorted by the outer row, so that rows on disk are read nearly in
 * their order. An inner or a left join returns matches as it reads the sorted
 * candidates. A semi or an anti join asks only whether a row has a match. So it
 * evaluates candidates whenever their memory is full, marks the rows that have a
 * match, and passes over later candidates of these. Its rows follow at the end. A
 * semi join under row marks gives the inner row, too, so it runs as an inner join
 * does, once for each outer row.
 */
#include "postgres.h"
#include "compat.h"

#include <float.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "joins/candidates.h"
#include "joins/stored_texts.h"
#include "server/arguments.h"
#include "server/progress.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/* Memory: half of it is for the rows, and the rest has these parts. */

static int64
memory_part(const NearJoinState *state, int parts)
{
	return state->memory / parts;
}

static void
note_memory(void *arg)
{
	NearJoinState *state = arg;

	state->peak_memory =
		Max(state->peak_memory,
			(int64) MemoryContextMemAllocated(state->context, true));
}

/* Outer rows that have a match */

static bool
is_matched(void *arg, uint32 row)
{
	NearJoinState *state = arg;

	return (state->matched[row / 8] >> row % 8 & 1) != 0;
}

static void
mark_matched(NearJoinState *state, uint32 row)
{
	state->matched[row / 8] |= (uint8) (1 << row % 8);
}

/* Return the side whose rows serve a side: of a table read once, the outer one. */
static int
read_side_of(const NearJoinState *state, int side)
{
	return state->reads_once ? 0 : side;
}

/* The scan tuple: the columns of an outer and of an inner row. */

/* Fill in the columns of a side from its slot. */
static void
fill_in(NearJoinState *state, int side)
{
	const SimdupJoinInput *input = &state->inputs[side];
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;

	memcpy(scan->tts_values + input->first, input->slot->tts_values,
		   input->n_columns * sizeof(Datum));
	memcpy(scan->tts_isnull + input->first, input->slot->tts_isnull,
		   input->n_columns * sizeof(bool));
}

/* Fill in the columns of a side; -1: with NULLs. */
static void
set_row(NearJoinState *state, int side, int64 row)
{
	SimdupJoinInput *input = &state->inputs[side];
	SimdupRowStore *rows = state->inputs[read_side_of(state, side)].rows;

	if (input->current == row)
		return;
	input->current = row;
	if (row < 0)
	{
		memset(state->css.ss.ss_ScanTupleSlot->tts_isnull + input->first, true,
			   input->n_columns * sizeof(bool));
		return;
	}
	ExecStoreMinimalTuple(simdup_rowstore_get(rows, (uint32) row,
											  input->buffer),
						  input->slot, false);
	slot_getallattrs(input->slot);
	fill_in(state, side);
}

/* Let two rows change sides. */
static void
turn_rows(NearJoinState *state)
{
	SimdupJoinInput *a = &state->inputs[0];
	SimdupJoinInput *b = &state->inputs[1];
	TupleTableSlot *slot = a->slot;
	int64 current = a->current;
	int buffer = a->buffer;

	a->slot = b->slot;
	a->current = b->current;
	a->buffer = b->buffer;
	b->slot = slot;
	b->current = current;
	b->buffer = buffer;
	fill_in(state, 0);
	fill_in(state, 1);
}

void
simdup_begin_scan_tuple(NearJoinState *state)
{
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	for (int side = 0; side < 2; side++)
	{
		state->inputs[side].current = 0;
		state->inputs[side].buffer = side;
		set_row(state, side, -1);
	}
	ExecStoreVirtualTuple(scan);
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = scan;
}

/*
 * Return the text of a row, valid until the next call: of the outer rows, and
 * numbered behind them, of the inner ones.
 */
static Datum
text_of(void *arg, uint32 number)
{
	NearJoinState *state = arg;
	SimdupJoinInput *input = &state->inputs[0];
	bool isnull;

	if (number >= input->n)
	{
		number -= input->n;
		input = &state->inputs[1];
	}
	ExecStoreMinimalTuple(simdup_rowstore_get(input->rows, number, 2),
						  input->text_slot, false);
	return slot_getattr(input->text_slot, input->text, &isnull);
}

/* Check whether the texts of the current rows resemble each other, if they must. */
static bool
are_alike(NearJoinState *state)
{
	const SimdupJoinInput *inputs = state->inputs;
	uint32 outer = (uint32) inputs[0].current;
	uint32 inner = (uint32) inputs[1].current;

	if (state->texts == NULL)
		return true;
	if (!state->reads_once)
		inner += inputs[0].n;
	/* the row of the outer group first: more pairs of it follow */
	return simdup_stored_texts_resemblance(state->texts,
										   state->is_turned ? inner : outer,
										   state->is_turned ? outer : inner,
										   state->min_resemblance) >= 0;
}

/* Check whether the rows of the scan tuple match. */
static bool
matches(NearJoinState *state)
{
	ExprContext *context = state->css.ss.ps.ps_ExprContext;
	bool result;

	ResetExprContext(context);
	state->n_pairs++;
	result = ExecQual(state->filter, context) &&
			 (!state->compares_all || ExecQual(state->condition, context)) &&
			 are_alike(state);
	if (!result)
		state->n_filtered++;
	return result;
}

/* Candidates */

/* Read the next pair of groups; false: there are no more. */
static bool
next_groups(NearJoinState *state)
{
	uint64 outer;
	uint64 inner;

	if (!simdup_pairsort_get(state->candidates, &outer, &inner))
		return false;
	state->outer_start = state->outer_at = (uint32) outer;
	state->inner_at = (uint32) inner;
	state->turns = state->reads_once && (uint32) outer != (uint32) inner;
	return true;
}

/* Advance to the next two of all rows. Rows that are settled are passed over. */
static bool
next_of_all(NearJoinState *state, uint32 *outer, uint32 *inner)
{
	const SimdupJoinInput *inputs = state->inputs;
	uint32 n_inner = inputs[read_side_of(state, 1)].n;

	if (state->inner_at == n_inner ||
		(simdup_asks_existence(state) && state->outer_at < inputs[0].n &&
		 is_matched(state, state->outer_at)))
	{
		state->outer_at++;
		state->inner_at = 0;
	}
	*outer = state->outer_at;
	*inner = state->inner_at++;
	return *outer < inputs[0].n && n_inner > 0;
}

/*
 * Advance to the next candidate rows, and return whether there are any: for each
 * row of the inner group, all of the outer group. Of one set of rows, two groups are
 * a pair once, so two rows are candidates in both orders.
 */
static bool
next_candidate(NearJoinState *state)
{
	uint32 *outer = &state->candidate[0];
	uint32 *inner = &state->candidate[1];
	SimdupNumbers *numbers = state->search.numbers;
	uint32 number;

	if (state->compares_all)
		return next_of_all(state, outer, inner);
	if (state->turns && !state->is_turned)
	{
		number = *outer;
		*outer = *inner;
		*inner = number;
		state->is_turned = true;
		return true;
	}
	if (!state->has_pair && !next_groups(state))
		return false;
	state->has_pair = true;
	state->is_turned = false;
	number =
		simdup_numbers_at(&numbers[read_side_of(state, 1)], state->inner_at);
	*inner = number & ~SIMDUP_LAST_OF_GROUP;
	*outer = simdup_numbers_at(&numbers[0], state->outer_at++);
	if ((*outer & SIMDUP_LAST_OF_GROUP) != 0)
	{
		*outer &= ~SIMDUP_LAST_OF_GROUP;
		state->outer_at = state->outer_start;
		state->inner_at++;
		state->has_pair = (number & SIMDUP_LAST_OF_GROUP) == 0;
	}
	return true;
}

bool
simdup_next_match(NearJoinState *state)
{
	while (next_candidate(state))
	{
		uint32 outer = state->candidate[0];
		uint32 inner = state->candidate[1];

		CHECK_FOR_INTERRUPTS();
		if (simdup_asks_existence(state) && is_matched(state, outer))
			continue;
		if (state->excludes_self && outer == inner)
			continue;
		if (state->reads_once && state->inputs[0].current != outer &&
			state->inputs[1].current == outer)
			turn_rows(state);
		set_row(state, 0, outer);
		set_row(state, 1, inner);
		if (!matches(state))
			continue;
		if (state->matched != NULL)
			mark_matched(state, outer);
		return true;
	}
	note_memory(state);
	return false;
}

static void
begin_candidates(NearJoinState *state)
{
	state->candidates = simdup_pairsort_begin(memory_part(state, 8));
	state->n_candidates = 0;
}

/* Evaluate the candidates of a join that asks for existence, and forget them. */
static void
settle_candidates(NearJoinState *state)
{
	simdup_pairsort_perform(state->candidates);
	while (simdup_next_match(state))
		;
	state->disk += simdup_pairsort_disk(state->candidates);
	simdup_pairsort_end(state->candidates);
	begin_candidates(state);
}

/* Put candidates: of SimdupJoinSearch. */
static void
put_candidate(void *arg, uint32 first_row, uint32 outer, uint32 inner)
{
	NearJoinState *state = arg;

	simdup_pairsort_put(state->candidates, (uint64) first_row << 32 | outer,
						inner);
	state->n_candidates++;
	if (simdup_settles_first(state) &&
		state->n_candidates >=
			Max(memory_part(state, 8) / (int64) sizeof(SimdupEntry), 4096))
		settle_candidates(state);
}

/* Limits */

static Datum
limit_of(NearJoinState *state, int which, bool *isnull)
{
	return ExecEvalExprSwitchContext(list_nth(state->limits, which),
									 state->css.ss.ps.ps_ExprContext, isnull);
}

/* A distance beyond the search: the condition is evaluated for all pairs. */
#define BEYOND_SEARCH (SIMDUP_MAX_PAIR_DISTANCE + 1)

/*
 * Return the largest distance of a pair; -1: there is no pair. A radius out of range
 * is an error of the condition, once that is evaluated.
 */
static int
largest_distance(NearJoinState *state)
{
	bool isnull;
	Datum limit = limit_of(state, 0, &isnull);
	int64 k;

	if (isnull)
		return -1;
	if (state->kind == SIMDUP_RESEMBLES)
	{
		Datum recall = limit_of(state, 1, &isnull);

		if (isnull)
			return -1;
		state->min_resemblance =
			simdup_check_share(DatumGetFloat8(limit), "min_resemblance");
		k = simdup_agreement_distance(state->min_resemblance,
									  simdup_check_share(DatumGetFloat8(recall),
														 "recall"));
	}
	else
		k = (int64) DatumGetInt32(limit) - (state->kind == SIMDUP_BELOW);
	if (state->kind == SIMDUP_WITHIN && !simhash_radius_is_valid(k))
		return BEYOND_SEARCH;
	return (int) Max(Min(k, BEYOND_SEARCH), -1);
}

/* Reading and searching */

/* Read a side. Its keys may take this part of the memory. */
static void
read_side(NearJoinState *state, int side, SimdupKeyTake take, void *arg)
{
	simdup_progress_phase("reading", 0);
	simdup_read_input(&state->inputs[side], state->inputs[1 - side].rows,
					  memory_part(state, 2), take, arg);
	note_memory(state);
	if (side == 0 && (simdup_asks_existence(state) || state->type == JOIN_LEFT))
		state->matched = simdup_alloc0(state->inputs[0].n / 8 + 1);
}

/* Check whether the outer side must be read, after the inner one. */
static bool
needs_outer(const NearJoinState *state)
{
	return state->reads_once || state->inputs[1].n_keyed > 0 ||
		   state->type == JOIN_LEFT || state->type == JOIN_ANTI;
}

/*
 * Return the memory that is left for the search, beside the rows, the sorted keys,
 * the groups and the candidates.
 */
static int64
free_memory(const NearJoinState *state)
{
	int64 used = memory_part(state, 8);

	for (int side = 0; side < 2; side++)
	{
		const SimdupJoinInput *input = &state->inputs[side];

		if (input->rows != NULL)
			used += simdup_rowstore_memory(input->rows);
		used += (int64) input->n_keyed *
				(int64) (sizeof(SimdupEntry) + sizeof(uint32));
	}
	return Max(state->memory - used, memory_part(state, 5));
}

/* Check whether both sides have keys. */
static bool
has_keys(const NearJoinState *state)
{
	return state->inputs[0].n_keyed > 0 &&
		   (state->reads_once || state->inputs[1].n_keyed > 0);
}

/* Make room for the groups of both sides. */
static void
begin_groups(NearJoinState *state)
{
	const SimdupJoinInput *inputs = state->inputs;

	for (int side = 0; side < 2; side++)
		simdup_numbers_begin(&state->search.numbers[side], inputs[side].n_keyed,
							 memory_part(state, 48));
	state->search.memory = free_memory(state);
}

/* Sort the keys of a side as they are read. */
static SimdupPairSort *
read_fingerprints(NearJoinState *state, int side)
{
	SimdupPairSort *keys =
		simdup_pairsort_begin(memory_part(state, state->reads_once ? 6 : 12));

	read_side(state, side, simdup_hamming_add_key, keys);
	simdup_pairsort_perform(keys);
	return keys;
}

/*
 * Prepare to compare texts, whose shingles are made once. While candidates are
 * searched, most of the memory is not for texts.
 */
static void
begin_texts_compared(NearJoinState *state)
{
	const SimdupJoinInput *inputs = state->inputs;
	int64 memory = simdup_settles_first(state) ? memory_part(state, 16)
											   : free_memory(state);

	state->texts =
		simdup_kept_texts_begin(simdup_default_shingling,
								inputs[0].n +
									(state->reads_once ? 0 : inputs[1].n),
								text_of, state, (Size) memory);
}

static void
search_by_fingerprints(NearJoinState *state)
{
	SimdupPairSort *keys[2] = {NULL, NULL};
	int max_distance;

	if (!state->reads_once)
		keys[1] = read_fingerprints(state, 1);
	if (needs_outer(state))
		keys[0] = read_fingerprints(state, 0);
	if (!has_keys(state) || (max_distance = largest_distance(state)) < 0)
		state->compares_all = false;
	else if (max_distance == BEYOND_SEARCH)
		state->compares_all = true;
	else
	{
		begin_groups(state);
		if (state->kind == SIMDUP_RESEMBLES && simdup_settles_first(state))
			begin_texts_compared(state);
		simdup_progress_phase("comparing", state->inputs[0].n_keyed +
											   state->inputs[1].n_keyed);
		simdup_hamming_search(&state->search, keys, max_distance);
		note_memory(state);
	}
	for (int side = 0; side < 2; side++)
		if (keys[side] != NULL)
		{
			state->disk += simdup_pairsort_disk(keys[side]);
			simdup_pairsort_end(keys[side]);
		}
	if (state->search.memory > 0 && state->kind == SIMDUP_RESEMBLES &&
		state->texts == NULL)
		begin_texts_compared(state);
}

/*
 * The keys of a join by shingles. Their options are evaluated for the first text,
 * so without a text they raise no error.
 */
typedef struct ShingleTexts
{
	NearJoinState *state;
	int side;
	bool is_vain; /* an option is NULL, or nothing is too little resemblance */
	double min_resemblance;
	SimdupShingleKeys *keys; /* NULL: none yet */
} ShingleTexts;

static void
begin_texts(ShingleTexts *texts)
{
	NearJoinState *state = texts->state;
	Datum limits[3]; /* min_resemblance, w, unit */

	for (int i = 0; i < 3; i++)
	{
		bool isnull;

		limits[i] = limit_of(state, i, &isnull);
		texts->is_vain = texts->is_vain || isnull;
	}
	if (texts->is_vain)
		return;
	texts->min_resemblance = DatumGetFloat8(limits[0]);
	/* less than this share nothing */
	if (state->kind == SIMDUP_SHINGLES_ABOVE && texts->min_resemblance >= 0)
		texts->min_resemblance = Max(texts->min_resemblance, DBL_MIN);
	/* odd options are an error of the condition, once it is evaluated */
	if (texts->min_resemblance <= 0 ||
		!simdup_is_resemblance(DatumGetInt32(limits[1]),
							   DatumGetTextPP(limits[2])))
	{
		texts->is_vain = state->compares_all = true;
		return;
	}
	texts->keys =
		simdup_shingle_keys_begin(simdup_get_resemblance(DatumGetInt32(
															 limits[1]),
														 DatumGetTextPP(
															 limits[2])),
								  memory_part(state, 6));
}

/* Add a text: a SimdupKeyTake. */
static void
add_text(void *arg, uint32 number, Datum key, uint32 hash)
{
	ShingleTexts *texts = arg;

	if (texts->keys == NULL && !texts->is_vain)
	{
		MemoryContext old = MemoryContextSwitchTo(texts->state->context);

		begin_texts(texts);
		MemoryContextSwitchTo(old);
	}
	if (texts->is_vain)
		return;
	simdup_shingle_keys_side(texts->keys, texts->side);
	simdup_shingle_add_key(texts->keys, number, key, hash);
}

static void
search_by_shingles(NearJoinState *state)
{
	ShingleTexts texts = {.state = state, .side = 1};

	if (!state->reads_once)
		read_side(state, 1, add_text, &texts);
	texts.side = 0;
	if (needs_outer(state))
		read_side(state, 0, add_text, &texts);
	if (texts.keys != NULL)
	{
		if (has_keys(state))
		{
			begin_groups(state);
			simdup_shingle_search(&state->search, texts.keys,
								  texts.min_resemblance);
		}
		simdup_shingle_keys_end(texts.keys);
	}
	note_memory(state);
}

bool
simdup_next_outer_row(NearJoinState *state)
{
	bool wanted = state->type == JOIN_SEMI;

	while (state->next_outer < state->inputs[0].n)
	{
		uint32 row = state->next_outer++;

		CHECK_FOR_INTERRUPTS();
		if (is_matched(state, row) != wanted)
			continue;
		set_row(state, 0, row);
		set_row(state, 1, -1);
		return true;
	}
	return false;
}

void
simdup_find_candidates(NearJoinState *state)
{
	state->compares_all = false;
	state->outer_at = state->inner_at = 0;
	state->has_pair = state->turns = false;
	state->next_outer = 0;
	state->matched = NULL;
	state->texts = NULL;
	state->search =
		(SimdupJoinSearch){.reads_once = state->reads_once,
						   .excludes_self = state->excludes_self,
						   .put = put_candidate,
						   .note_memory = note_memory,
						   .is_settled =
							   simdup_settles_first(state) ? is_matched : NULL,
						   .arg = state};
	if (!simdup_settles_first(state) || state->parallel_filter)
		state->search.helpers = simdup_workers();
	simdup_begin_scan_tuple(state);
	begin_candidates(state);
	if (simdup_is_of_shingles(state->kind))
		search_by_shingles(state);
	else
		search_by_fingerprints(state);
	if (simdup_settles_first(state))
		settle_candidates(state);
	else
		simdup_pairsort_perform(state->candidates);
	note_memory(state);
}
