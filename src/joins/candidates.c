/*
 * candidates.c
 *	  The candidates of a join: its rows read, searched and sorted.
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

#include "executor/executor.h"

#include "core/search/sort.h"
#include "joins/state.h"
#include "server/progress.h"

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

/* A side that is read. */
typedef struct SideReader
{
	NearJoinState *state;
	int side;
	bool has_begun; /* its keys */
} SideReader;

/* Add the key of a row: a SimdupKeyTake. */
static void
take_key(void *arg, uint32 number, Datum key, uint32 hash)
{
	SideReader *reader = arg;
	NearJoinState *state = reader->state;
	const SimdupSearchMethod *method = state->predicate->method;

	simdup_progress_done((int64) state->inputs[0].n + state->inputs[1].n);
	if (!reader->has_begun)
	{
		MemoryContext old = MemoryContextSwitchTo(state->search.context);

		reader->has_begun = true;
		if (state->admitted == SIMDUP_LIMITS_NOT_READ)
			read_limits(state);
		if (state->admitted == SIMDUP_NEAR_PAIRS)
			method->begin(&state->search, reader->side);
		MemoryContextSwitchTo(old);
	}
	if (state->admitted == SIMDUP_NEAR_PAIRS)
		method->add(&state->search, reader->side, number, key, hash);
}

static void
read_side(NearJoinState *state, int side)
{
	SideReader reader = {.state = state, .side = side};
	SimdupKeySearch *search = &state->search;
	SimdupJoinInput *input = &state->inputs[side];
	const SimdupRowStore *other = state->inputs[1 - side].rows;
	/* of the rows of both sides */
	int64 memory = search->memory / 2 -
				   (other != NULL ? simdup_rowstore_memory(other) : 0);

	input->rows = simdup_rowstore_begin(Max(memory, 0));
	if (search->reads_once)
		state->inputs[1].rows = input->rows;
	simdup_read_input(input, take_key, &reader);
	simdup_note_memory(search);
	if (side == 0 && (simdup_asks_existence(state) || state->type == JOIN_LEFT))
		/* a number beyond all rows makes room for them */
		search->matched = bms_make_singleton((int) state->inputs[0].n);
}

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
			used += simdup_rowstore_memory(input->rows);
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
		simdup_keep_texts(state, search->memory / 16);
	state->predicate->method->find(search);
	if (compares_texts && !search->marks_first)
		simdup_keep_texts(state, free_memory(state));
}

void
simdup_find_candidates(NearJoinState *state)
{
	SimdupKeySearch *search = &state->search;
	const SimdupJoinInput *inputs = state->inputs;

	if (!search->marks_first || state->parallel_filter)
		search->helpers = simdup_workers();
	simdup_begin_scan_tuple(state);
	simdup_begin_candidates(state);
	simdup_progress_phase("reading", 0);
	if (!search->reads_once)
		read_side(state, 1);
	if (search->reads_once || inputs[1].n_keyed > 0 ||
		state->type == JOIN_LEFT || state->type == JOIN_ANTI)
		read_side(state, 0);
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
		simdup_evaluate_candidates(state);
	}
	else
		simdup_pairsort_perform(state->candidates);
	simdup_note_memory(search);
}
