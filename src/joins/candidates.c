/*
 * candidates.c
 *	  The candidates of a join: its rows read, searched and sorted, and its matches
 *	  among them.
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

#include "executor/executor.h"
#include "miscadmin.h"

#include "core/search/sort.h"
#include "joins/state.h"
#include "pairs/stored_texts.h"
#include "server/progress.h"
#include "server/source.h"

/* The scan tuple: the columns of an outer and of an inner row. */

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

/* Return a row, valid until the next call with the same buffer, 0 to 2. */
static MinimalTuple
get_row(const SimdupJoinInput *input, uint32 number, int buffer)
{
	return (MinimalTuple) DatumGetPointer(
		simdup_keys_get(input->rows, number, buffer));
}

/* Fill in the columns of a side; -1: with NULLs. */
static void
set_row(NearJoinState *state, int side, int64 row)
{
	SimdupJoinInput *input = &state->inputs[side];

	if (input->current == row)
		return;
	input->current = row;
	if (row < 0)
	{
		memset(state->css.ss.ss_ScanTupleSlot->tts_isnull + input->first, true,
			   input->n_columns * sizeof(bool));
		return;
	}
	ExecStoreMinimalTuple(get_row(input, (uint32) row, input->buffer),
						  input->slot, false);
	slot_getallattrs(input->slot);
	fill_in(state, side);
}

static void
swap_rows(NearJoinState *state)
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
 * Return a text, valid until the next call. The outer rows have the first numbers, the
 * inner rows those behind them.
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
	ExecStoreMinimalTuple(get_row(input, number, 2), input->text_slot, false);
	return slot_getattr(input->text_slot, input->text, &isnull);
}

/* Prepare to compare texts, whose shingles are made once and kept in this memory. */
static void
keep_texts(NearJoinState *state, int64 memory)
{
	const SimdupJoinInput *inputs = state->inputs;
	uint32 n = inputs[0].n + (state->search.reads_once ? 0 : inputs[1].n);

	state->texts = simdup_text_cache_begin(state->search.limits.shingling, n,
										   text_of, state, (Size) memory);
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
	if (!state->search.reads_once)
		inner += inputs[0].n;
	/* the row of the outer group first: more pairs of it follow */
	return simdup_stored_texts_resemblance(state->texts,
										   state->is_swapped ? inner : outer,
										   state->is_swapped ? outer : inner,
										   state->search.limits
											   .min_resemblance) >= 0;
}

static bool
matches(NearJoinState *state)
{
	ExprContext *context = state->css.ss.ps.ps_ExprContext;
	bool result;

	ResetExprContext(context);
	state->n_pairs++;
	result = ExecQual(state->filter, context) &&
			 (state->admitted != SIMDUP_ALL_PAIRS ||
			  ExecQual(state->condition, context)) &&
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
	state->n_evaluated++;
	if (state->shows_evaluated)
		simdup_progress_done(state->n_evaluated * state->search.n_keys /
							 state->n_candidates);
	state->outer_start = state->outer_at = (uint32) outer;
	state->inner_at = (uint32) inner;
	state->both_orders =
		state->search.reads_once && (uint32) outer != (uint32) inner;
	return true;
}

/* Advance to the next two of all rows. Rows that are evaluated are passed over. */
static bool
next_of_all(NearJoinState *state, uint32 *outer, uint32 *inner)
{
	const SimdupJoinInput *inputs = state->inputs;
	uint32 n_inner = inputs[state->search.reads_once ? 0 : 1].n;

	if (state->inner_at == n_inner ||
		(simdup_asks_existence(state) && state->outer_at < inputs[0].n &&
		 simdup_is_matched(&state->search, state->outer_at)))
	{
		state->outer_at++;
		state->inner_at = 0;
		if (state->shows_evaluated)
			simdup_progress_done(state->outer_at);
	}
	*outer = state->outer_at;
	*inner = state->inner_at++;
	return *outer < inputs[0].n && n_inner > 0;
}

/*
 * Advance to the next candidate rows, and return whether there are any: for each
 * row of the inner group, all of the outer group. In a self-join, two groups are
 * a pair once, so two rows are candidates in both orders.
 */
static bool
next_candidate(NearJoinState *state)
{
	uint32 *outer = &state->candidate[0];
	uint32 *inner = &state->candidate[1];
	SimdupTempFile *const *groups = state->search.groups;
	uint32 number;

	if (state->admitted == SIMDUP_ALL_PAIRS)
		return next_of_all(state, outer, inner);
	if (state->both_orders && !state->is_swapped)
	{
		number = *outer;
		*outer = *inner;
		*inner = number;
		state->is_swapped = true;
		return true;
	}
	if (!state->has_pair && !next_groups(state))
		return false;
	state->has_pair = true;
	state->is_swapped = false;
	number = simdup_group_at(groups[1], state->inner_at);
	*inner = number & ~SIMDUP_LAST_OF_GROUP;
	*outer = simdup_group_at(groups[0], state->outer_at++);
	if ((*outer & SIMDUP_LAST_OF_GROUP) != 0)
	{
		*outer &= ~SIMDUP_LAST_OF_GROUP;
		state->outer_at = state->outer_start;
		state->inner_at++;
		state->has_pair = (number & SIMDUP_LAST_OF_GROUP) == 0;
	}
	return true;
}

/* Set the scan tuple to the next match; false: there are no more. */
static bool
next_match(NearJoinState *state)
{
	while (next_candidate(state))
	{
		uint32 outer = state->candidate[0];
		uint32 inner = state->candidate[1];

		CHECK_FOR_INTERRUPTS();
		if (simdup_asks_existence(state) &&
			simdup_is_matched(&state->search, outer))
			continue;
		if (state->search.excludes_self && outer == inner)
			continue;
		if (state->search.reads_once && state->inputs[0].current != outer &&
			state->inputs[1].current == outer)
			swap_rows(state);
		set_row(state, 0, outer);
		set_row(state, 1, inner);
		if (!matches(state))
			continue;
		if (state->search.matched != NULL)
			state->search.matched =
				bms_add_member(state->search.matched, (int) outer);
		return true;
	}
	return false;
}

/*
 * Set the scan tuple to the next outer row without a match, or with one for a semi
 * join; false: there are no more.
 */
static bool
next_outer_row(NearJoinState *state)
{
	bool wanted = state->type == JOIN_SEMI;

	while (state->next_outer < state->inputs[0].n)
	{
		uint32 row = state->next_outer++;

		CHECK_FOR_INTERRUPTS();
		if (simdup_is_matched(&state->search, row) != wanted)
			continue;
		set_row(state, 0, row);
		set_row(state, 1, -1);
		return true;
	}
	return false;
}

bool
simdup_next_row(NearJoinState *state)
{
	if (state->search.marks_first)
		return next_outer_row(state);
	return next_match(state) ||
		   (state->type == JOIN_LEFT && next_outer_row(state));
}

/* The candidates that wait */

static void
begin_candidates(NearJoinState *state)
{
	state->candidates = simdup_pairsort_begin(state->search.memory / 8);
	state->n_candidates = 0;
	state->n_evaluated = 0;
}

/* Evaluate the candidates of a join that asks for existence, and forget them. */
static void
evaluate_candidates(NearJoinState *state)
{
	simdup_pairsort_perform(state->candidates);
	while (next_match(state))
		;
	state->search.disk += simdup_pairsort_disk(state->candidates);
	simdup_pairsort_end(state->candidates);
	begin_candidates(state);
}

/* Put a candidate: of a SimdupKeySearch. */
static void
put_candidate(void *arg, uint32 first_row, uint32 outer, uint32 inner)
{
	NearJoinState *state = arg;

	simdup_pairsort_put(state->candidates, (uint64) first_row << 32 | outer,
						inner);
	state->n_candidates++;
	if (state->search.marks_first &&
		state->n_candidates >=
			Max(state->search.memory / 8 / (int64) sizeof(SimdupSortItem),
				4096))
		evaluate_candidates(state);
}

/* Searching */

/*
 * Return the memory that is left for the search, beside the rows, the sorted keys,
 * the groups and the candidates.
 */
static int64
free_memory(const NearJoinState *state)
{
	int64 memory = state->search.memory;
	int64 used = memory / 8;

	for (int side = 0; side < 2; side++)
	{
		const SimdupJoinInput *input = &state->inputs[side];

		if (input->plan != NULL)
			used += simdup_keys_memory(input->rows);
		used += (int64) input->n_keyed *
				(int64) (sizeof(SimdupSortItem) + sizeof(uint32));
	}
	return Max(memory - used, memory / 5);
}

/* Make room for the groups of both sides. */
static void
begin_groups(NearJoinState *state)
{
	SimdupKeySearch *search = &state->search;

	for (int side = 0; side < (search->reads_once ? 1 : 2); side++)
		search->groups[side] =
			simdup_tempfile_create_cached(search->memory / 48,
										  state->inputs[side].n_keyed *
											  sizeof(uint32));
	if (search->reads_once)
		search->groups[1] = search->groups[0];
	search->n_keys =
		(int64) state->inputs[0].n_keyed + state->inputs[1].n_keyed;
	search->free_memory = free_memory(state);
}

/*
 * Search. Texts are compared as their candidates are evaluated. While candidates are
 * searched, most of the memory is not for texts.
 */
static void
search_keys(NearJoinState *state)
{
	SimdupKeySearch *search = &state->search;
	bool compares_texts = simdup_compares_texts(state->predicate);

	begin_groups(state);
	if (compares_texts && search->marks_first)
		keep_texts(state, search->memory / 16);
	state->predicate->method->find(search);
	if (compares_texts && !search->marks_first)
		keep_texts(state, free_memory(state));
}

void
simdup_find_candidates(NearJoinState *state)
{
	SimdupKeySearch *search = &state->search;
	const SimdupJoinInput *inputs = state->inputs;

	search->put = put_candidate;
	search->arg = state;
	if (!search->marks_first || state->parallel_filter)
		search->helpers = simdup_workers();
	simdup_begin_scan_tuple(state);
	begin_candidates(state);
	simdup_progress_phase("reading", 0);
	if (!search->reads_once)
		simdup_read_side(state, 1);
	if (search->reads_once || inputs[1].n_keyed > 0 ||
		state->type == JOIN_LEFT || state->type == JOIN_ANTI)
		simdup_read_side(state, 0);
	if (inputs[0].n_keyed == 0 ||
		(!search->reads_once && inputs[1].n_keyed == 0))
		state->admitted = SIMDUP_NO_PAIRS;
	if (state->admitted == SIMDUP_NEAR_PAIRS)
		search_keys(state);
	state->predicate->method->end(search);
	simdup_note_memory(search);
	if (search->marks_first)
	{
		/* counted in the keys of the search, so the total does not fall */
		simdup_progress_phase("evaluating", state->admitted == SIMDUP_ALL_PAIRS
												? inputs[0].n
												: search->n_keys);
		state->shows_evaluated = true;
		evaluate_candidates(state);
	}
	else
		simdup_pairsort_perform(state->candidates);
	simdup_note_memory(search);
}
