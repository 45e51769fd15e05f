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
 *
 * Half of the memory is for the rows. Parts of the rest are for sorted keys, groups
 * and candidates, and the search has the remainder.
 */
#include "postgres.h"
#include "compat.h"

#include <float.h>

#include "executor/executor.h"
#include "utils/memutils.h"

#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "joins/state.h"
#include "server/progress.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/* Limits */

static Datum
limit_of(NearJoinState *state, int which, bool *isnull)
{
	return ExecEvalExprSwitchContext(list_nth(state->limits, which),
									 state->css.ss.ps.ps_ExprContext, isnull);
}

/* A distance beyond the search: the condition is evaluated for all pairs. */
#define BEYOND_SEARCH (SIMDUP_MAX_PAIR_DISTANCE + 1)

/* Check whether simdup_resembles takes these limits. */
static bool
are_shares(Datum min_resemblance, Datum recall)
{
	double m = DatumGetFloat8(min_resemblance);
	double r = DatumGetFloat8(recall);

	return m >= 0 && m <= 1 && r >= 0 && r <= 1;
}

/*
 * Return the largest distance of a pair; -1: there is no pair. A limit out of range
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
		if (!are_shares(limit, recall))
			return BEYOND_SEARCH;
		state->min_resemblance = DatumGetFloat8(limit);
		k = simdup_agreement_distance(state->min_resemblance,
									  DatumGetFloat8(recall));
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
	simdup_read_input(&state->inputs[side],
					  state->reads_once ? NULL : state->inputs[1 - side].rows,
					  state->memory / 2, take, arg);
	simdup_note_memory(state);
	if (side == 0 && (simdup_asks_existence(state) || state->type == JOIN_LEFT))
		/* a number beyond all rows makes room for them */
		state->matched = bms_make_singleton((int) state->inputs[0].n);
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
	int64 used = state->memory / 8;

	for (int side = 0; side < 2; side++)
	{
		const SimdupJoinInput *input = &state->inputs[side];

		if (input->plan != NULL)
			used += simdup_rowstore_memory(input->rows);
		used += (int64) input->n_keyed *
				(int64) (sizeof(SimdupEntry) + sizeof(uint32));
	}
	return Max(state->memory - used, state->memory / 5);
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
		simdup_numbers_begin(&state->numbers[side], inputs[side].n_keyed,
							 state->memory / 48);
	state->search_memory = free_memory(state);
}

/* Sort the keys of a side as they are read. */
static SimdupPairSort *
read_fingerprints(NearJoinState *state, int side)
{
	SimdupPairSort *keys =
		simdup_pairsort_begin(state->memory / (state->reads_once ? 6 : 12));

	read_side(state, side, simdup_hamming_add_key, keys);
	simdup_pairsort_perform(keys);
	return keys;
}

/*
 * Prepare to compare texts. While candidates are searched, most of the memory is not
 * for texts.
 */
static void
begin_texts_compared(NearJoinState *state)
{
	simdup_keep_texts(state, simdup_settles_first(state) ? state->memory / 16
														 : free_memory(state));
}

static void
search_by_fingerprints(NearJoinState *state)
{
	SimdupPairSort *keys[2] = {NULL, NULL};
	int max_distance = -1;

	if (!state->reads_once)
		keys[1] = read_fingerprints(state, 1);
	if (needs_outer(state))
		keys[0] = read_fingerprints(state, 0);
	if (has_keys(state))
		max_distance = largest_distance(state);
	state->compares_all = max_distance == BEYOND_SEARCH;
	if (max_distance >= 0 && !state->compares_all)
	{
		begin_groups(state);
		if (state->kind == SIMDUP_RESEMBLES && simdup_settles_first(state))
			begin_texts_compared(state);
		simdup_progress_phase("comparing", state->inputs[0].n_keyed +
											   state->inputs[1].n_keyed);
		simdup_hamming_search(state, keys, max_distance);
	}
	for (int side = 0; side < 2; side++)
		if (keys[side] != NULL)
		{
			state->disk += simdup_pairsort_disk(keys[side]);
			simdup_pairsort_end(keys[side]);
		}
	if (state->search_memory > 0 && state->kind == SIMDUP_RESEMBLES &&
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
	Datum limits[4]; /* min_resemblance, w, unit; of simdup_resembles also recall */
	int n = state->kind == SIMDUP_RESEMBLES_BY_SHINGLES ? 4 : 3;

	for (int i = 0; i < n; i++)
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
	/* invalid options are an error of the condition, once it is evaluated */
	if (texts->min_resemblance <= 0 ||
		(n == lengthof(limits) && !are_shares(limits[0], limits[3])) ||
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
								  state->memory / 6);
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
	simdup_shingle_add_key(texts->keys, texts->side, number, key, hash);
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
			simdup_shingle_search(state, texts.keys, texts.min_resemblance);
		}
		simdup_shingle_keys_end(texts.keys);
	}
	simdup_note_memory(state);
}

void
simdup_find_candidates(NearJoinState *state)
{
	if (!simdup_settles_first(state) || state->parallel_filter)
		state->helpers = simdup_workers();
	simdup_begin_scan_tuple(state);
	simdup_begin_candidates(state);
	if (simdup_is_of_shingles(state->kind))
		search_by_shingles(state);
	else
		search_by_fingerprints(state);
	if (simdup_settles_first(state))
		simdup_settle_candidates(state);
	else
		simdup_pairsort_perform(state->candidates);
	simdup_note_memory(state);
}
