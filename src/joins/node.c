/*
 * node.c
 *	  The join node: it reads both sides, searches candidates, and evaluates the
 *	  other conditions for each of them.
 *
 * Candidates are sorted by the outer row, so that rows on disk are read nearly in
 * their order. An inner or a left join returns matches as it reads the sorted
 * candidates. A semi or an anti join asks only whether a row has a match. So it
 * evaluates candidates whenever their memory is full, marks the rows that have a
 * match, and passes over later candidates of these. Its rows follow at the end. A
 * semi join under row marks gives the inner row, too, so it runs as an inner join
 * does, once for each outer row.
 *
 * The node does not use ExecScan, whose recheck for EvalPlanQual is one of scans.
 * There its inputs give the rows to recheck, and it joins those.
 */
#include "postgres.h"
#include "compat.h"

#include <float.h>

#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "core/compare/statistics.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "joins/join.h"
#include "server/arguments.h"
#include "server/progress.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

typedef struct NearJoinState
{
	CustomScanState css;
	SimdupConditionKind kind;
	JoinType type;
	bool reads_once;
	bool excludes_self;
	bool parallel_filter;
	bool gives_inner;
	SimdupJoinInput inputs[2]; /* outer and inner */
	List *limits;			   /* ExprStates */
	ExprState *condition;
	ExprState *filter;
	int64 memory; /* bytes, for all */

	/* from here on, of one scan; NULL: not begun */
	MemoryContext context;
	SimdupJoinSearch search;
	bool compares_all; /* all rows with all, where a limit is beyond the search */
	uint8 *matched;	   /* bits of outer rows; NULL: not kept */
	SimdupPairSort *candidates; /* first row and outer group, inner group */
	int64 n_candidates;			/* that were put there */
	bool at_candidates;			/* they are sorted, and read */
	bool has_pair;				/* of groups; their next rows are these */
	uint32 outer_start;
	uint32 outer_at;
	uint32 inner_at;
	uint32 next_outer; /* of the rows without a match, or those with one */

	/* for EXPLAIN, of all scans */
	int64 n_pairs;
	int64 n_filtered;
	int64 peak_memory;
	int64 disk;
	int n_workers;
} NearJoinState;

static const CustomExecMethods hamming_methods;
static const CustomExecMethods shingle_methods;

static Node *
create_state(CustomScan *plan)
{
	NearJoinState *state = palloc0(sizeof(NearJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = plan->methods == &simdup_hamming_join_methods
							 ? &hamming_methods
							 : &shingle_methods;
	return (Node *) state;
}

const CustomScanMethods simdup_hamming_join_methods = {"Hamming Join",
													   create_state};
const CustomScanMethods simdup_shingle_join_methods = {"Shingle Join",
													   create_state};

/* What the planner said */

static int
fact(const CustomScan *plan, SimdupJoinFact which)
{
	return list_nth_int(linitial(plan->custom_private), which);
}

static List *
plan_list(const CustomScan *plan, int which)
{
	return list_nth(plan->custom_private, which);
}

/* Prepare to hash the columns of a side that are equal in both. */
static void
begin_equalities(SimdupJoinInput *input, const CustomScan *plan, int side)
{
	List *columns = plan_list(plan, SIMDUP_JOIN_EQUAL_COLUMNS + side);
	List *operators = plan_list(plan, SIMDUP_JOIN_EQUAL_OPERATORS);
	List *collations = plan_list(plan, SIMDUP_JOIN_EQUAL_COLLATIONS);
	int n = list_length(columns);
	Oid *of_hash = palloc((n + 1) * sizeof(Oid));

	input->n_equal = n;
	input->equal = palloc((n + 1) * sizeof(AttrNumber));
	input->hash = palloc0((n + 1) * sizeof(FmgrInfo));
	for (int i = 0; i < n; i++)
	{
		RegProcedure functions[2];

		if (!get_op_hash_functions(list_nth_oid(operators, i), &functions[0],
								   &functions[1]))
			elog(ERROR, "could not find hash function for hash operator %u",
				 list_nth_oid(operators, i));
		input->equal[i] = (AttrNumber) list_nth_int(columns, i);
		fmgr_info(functions[side], &input->hash[i]);
		of_hash[i] = list_nth_oid(collations, i);
	}
	input->collations = of_hash;
}

static void
begin_input(NearJoinState *state, const CustomScan *plan, int side,
			EState *estate, int eflags)
{
	SimdupJoinInput *input = &state->inputs[side];
	SimdupJoinInput *outer = &state->inputs[0];

	input->first = side == 0 ? 0 : outer->n_columns;
	input->n_columns = fact(plan, SIMDUP_JOIN_COLUMNS + side);
	input->key = (AttrNumber) fact(plan, SIMDUP_JOIN_KEY + side);
	begin_equalities(input, plan, side);
	input->keeps_unmatched =
		side == 0 && (state->type == JOIN_LEFT || state->type == JOIN_ANTI);
	if (side == 0 || !state->reads_once)
	{
		input->plan =
			ExecInitNode(list_nth(plan->custom_plans, side), estate, eflags);
		state->css.custom_ps = lappend(state->css.custom_ps, input->plan);
	}
	input->slot = ExecInitExtraTupleSlot(estate,
										 ExecGetResultType(input->plan != NULL
															   ? input->plan
															   : outer->plan),
										 &TTSOpsMinimalTuple);
}

static void
begin_join(CustomScanState *css, EState *estate, int eflags)
{
	NearJoinState *state = (NearJoinState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	PlanState *parent = &css->ss.ps;

	state->kind = (SimdupConditionKind) fact(plan, SIMDUP_JOIN_KIND);
	state->type = (JoinType) fact(plan, SIMDUP_JOIN_TYPE);
	state->reads_once = fact(plan, SIMDUP_JOIN_READS_ONCE) != 0;
	state->excludes_self = fact(plan, SIMDUP_JOIN_EXCLUDES_SELF) != 0;
	state->parallel_filter = fact(plan, SIMDUP_JOIN_PARALLEL_FILTER) != 0;
	state->gives_inner = fact(plan, SIMDUP_JOIN_GIVES_INNER) != 0;
	for (int side = 0; side < 2; side++)
		begin_input(state, plan, side, estate, eflags);
	state->limits =
		ExecInitExprList(list_nth(plan->custom_exprs, SIMDUP_JOIN_LIMITS),
						 parent);
	state->condition =
		ExecInitQual(list_nth(plan->custom_exprs, SIMDUP_JOIN_CONDITION),
					 parent);
	state->filter =
		ExecInitQual(list_nth(plan->custom_exprs, SIMDUP_JOIN_FILTER), parent);
	state->memory = (int64) get_hash_memory_limit();
}

/* Memory: half of it is for the rows, and the rest has these parts. */

static int64
memory_part(const NearJoinState *state, int parts)
{
	return state->memory / parts;
}

static int
sort_kilobytes(int64 memory)
{
	return (int) Min(Max(memory / 1024, 64), INT_MAX);
}

static void
note_memory(NearJoinState *state)
{
	state->peak_memory =
		Max(state->peak_memory,
			(int64) MemoryContextMemAllocated(state->context, true));
}

/* Check whether a row's first match is its last one. */
static bool
asks_existence(const NearJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* Check whether candidates are evaluated before the first row is returned. */
static bool
settles_first(const NearJoinState *state)
{
	return state->type == JOIN_ANTI ||
		   (state->type == JOIN_SEMI && !state->gives_inner);
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

/* The scan tuple: the columns of an outer and of an inner row. */

/* Fill in the columns of a side; -1: with NULLs. */
static void
set_row(NearJoinState *state, int side, int64 row)
{
	SimdupJoinInput *input = &state->inputs[side];
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;
	Datum *values = scan->tts_values + input->first;
	bool *nulls = scan->tts_isnull + input->first;

	if (input->current == row)
		return;
	input->current = row;
	if (row < 0)
	{
		memset(nulls, true, input->n_columns * sizeof(bool));
		return;
	}
	ExecStoreMinimalTuple(simdup_rowstore_get(state
												  ->inputs[state->reads_once
															   ? 0
															   : side]
												  .rows,
											  (uint32) row, side),
						  input->slot, false);
	slot_getallattrs(input->slot);
	memcpy(values, input->slot->tts_values, input->n_columns * sizeof(Datum));
	memcpy(nulls, input->slot->tts_isnull, input->n_columns * sizeof(bool));
}

/* Begin with an empty scan tuple, which is filled in place. */
static void
begin_scan_tuple(NearJoinState *state)
{
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	for (int side = 0; side < 2; side++)
	{
		state->inputs[side].current = 0;
		set_row(state, side, -1);
	}
	ExecStoreVirtualTuple(scan);
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = scan;
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
			 (!state->compares_all || ExecQual(state->condition, context));
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
	return true;
}

/* Advance to the next two of all rows. Rows that are settled are passed over. */
static bool
next_of_all(NearJoinState *state, uint32 *outer, uint32 *inner)
{
	const SimdupJoinInput *inputs = state->inputs;
	uint32 n_inner = inputs[state->reads_once ? 0 : 1].n;

	if (state->inner_at == n_inner ||
		(asks_existence(state) && state->outer_at < inputs[0].n &&
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
 * row of the inner group, all of the outer group.
 */
static bool
next_candidate(NearJoinState *state, uint32 *outer, uint32 *inner)
{
	SimdupNumbers *numbers = state->search.numbers;
	uint32 number;

	if (state->compares_all)
		return next_of_all(state, outer, inner);
	if (!state->has_pair && !next_groups(state))
		return false;
	state->has_pair = true;
	number =
		simdup_numbers_at(&numbers[state->reads_once ? 0 : 1], state->inner_at);
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

/* Set the scan tuple to the next match; false: there are no more. */
static bool
next_match(NearJoinState *state)
{
	uint32 outer;
	uint32 inner;

	while (next_candidate(state, &outer, &inner))
	{
		CHECK_FOR_INTERRUPTS();
		if (asks_existence(state) && is_matched(state, outer))
			continue;
		if (state->excludes_self && outer == inner)
			continue;
		set_row(state, 0, outer);
		set_row(state, 1, inner);
		if (!matches(state))
			continue;
		if (state->matched != NULL)
			mark_matched(state, outer);
		return true;
	}
	return false;
}

static void
begin_candidates(NearJoinState *state)
{
	state->candidates =
		simdup_pairsort_begin(sort_kilobytes(memory_part(state, 8)));
	state->n_candidates = 0;
}

/* Evaluate the candidates of a join that asks for existence, and forget them. */
static void
settle_candidates(NearJoinState *state)
{
	simdup_pairsort_perform(state->candidates);
	while (next_match(state))
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
	if (settles_first(state) &&
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

/* Of a limit that the search does not serve: the condition tells, pair by pair. */
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
		k = simdup_agreement_distance(simdup_check_share(DatumGetFloat8(limit),
														 "min_resemblance"),
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
	if (side == 0 && (asks_existence(state) || state->type == JOIN_LEFT))
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
	SimdupPairSort *keys = simdup_pairsort_begin(
		sort_kilobytes(memory_part(state, state->reads_once ? 6 : 12)));

	read_side(state, side, simdup_hamming_add_key, keys);
	simdup_pairsort_perform(keys);
	return keys;
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
}

/*
 * The keys of a join by shingles. Their options are evaluated for the first text,
 * so without one they raise no error.
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
	/* less than that share nothing */
	if (state->kind == SIMDUP_SHINGLES_ABOVE && texts->min_resemblance >= 0)
		texts->min_resemblance = Max(texts->min_resemblance, DBL_MIN);
	if (texts->min_resemblance <= 0)
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
	if (texts.keys != NULL && has_keys(state))
	{
		begin_groups(state);
		simdup_shingle_search(&state->search, texts.keys,
							  texts.min_resemblance);
	}
	note_memory(state);
}

/* Begin a scan: read both sides, and search the candidates. */
static void
begin_scan(NearJoinState *state)
{
	const char *name = state->css.methods->CustomName;
	MemoryContext phase;

	state->context =
		AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt,
							  "simdup join", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(state->context);
	/* nested joins report in their turn, so the reports of this one end with it */
	phase = AllocSetContextCreate(state->context, "simdup join progress",
								  ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(phase);
	simdup_progress_begin(name, NULL);
	MemoryContextSwitchTo(state->context);
	for (int side = 0; side < 2; side++)
	{
		SimdupJoinInput *input = &state->inputs[side];

		input->n = input->n_keyed = 0;
		input->rows = input->plan == NULL ? NULL : simdup_rowstore_begin();
	}
	state->compares_all = false;
	state->outer_at = state->inner_at = 0;
	state->has_pair = false;
	state->next_outer = 0;
	state->matched = NULL;
	state->search =
		(SimdupJoinSearch){.kind = state->kind,
						   .reads_once = state->reads_once,
						   .excludes_self = state->excludes_self,
						   .put = put_candidate,
						   .is_settled =
							   settles_first(state) ? is_matched : NULL,
						   .arg = state};
	if (!settles_first(state) || state->parallel_filter)
		state->search.helpers = simdup_workers();
	begin_scan_tuple(state);
	begin_candidates(state);
	if (simdup_is_of_shingles(state->kind))
		search_by_shingles(state);
	else
		search_by_fingerprints(state);
	if (settles_first(state))
		settle_candidates(state);
	else
		simdup_pairsort_perform(state->candidates);
	note_memory(state);
	if (state->search.helpers != NULL)
		state->n_workers =
			Max(state->n_workers, state->search.helpers->n_launched);
	MemoryContextDelete(phase);
}

/* Return the bytes that went to files which are still open. */
static int64
open_disk(const NearJoinState *state)
{
	int64 disk = state->search.disk + simdup_pairsort_disk(state->candidates);

	for (int side = 0; side < 2; side++)
		if (state->inputs[side].rows != NULL)
			disk += simdup_rowstore_disk(state->inputs[side].rows);
	return disk;
}

static void
end_scan(NearJoinState *state)
{
	if (state->context == NULL)
		return;
	state->disk += open_disk(state);
	simdup_pairsort_end(state->candidates);
	for (int side = 0; side < 2; side++)
	{
		SimdupJoinInput *input = &state->inputs[side];

		ExecClearTuple(input->slot);
		simdup_numbers_end(&state->search.numbers[side]);
		if (input->rows != NULL)
			simdup_rowstore_end(input->rows);
	}
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	MemoryContextDelete(state->context);
	state->context = NULL;
}

/* Running */

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
		if (is_matched(state, row) != wanted)
			continue;
		set_row(state, 0, row);
		set_row(state, 1, -1);
		return true;
	}
	return false;
}

/* Set the scan tuple to the next row; false: there are no more. */
static bool
next_row(NearJoinState *state)
{
	if (settles_first(state))
		return next_outer_row(state);
	return next_match(state) ||
		   (state->type == JOIN_LEFT && next_outer_row(state));
}

static TupleTableSlot *
exec_join(CustomScanState *css)
{
	NearJoinState *state = (NearJoinState *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;
	MemoryContext old = CurrentMemoryContext;
	TupleTableSlot *result = NULL;

	if (state->context == NULL)
		begin_scan(state);
	else if (css->ss.ps.ps_ProjInfo == NULL)
		/* whoever got the scan tuple may have changed it in its place */
		begin_scan_tuple(state);
	MemoryContextSwitchTo(state->context);
	while (result == NULL && next_row(state))
	{
		ResetExprContext(context);
		if (!ExecQual(css->ss.ps.qual, context))
			InstrCountFiltered2(css, 1);
		else
			result = css->ss.ps.ps_ProjInfo != NULL
						 ? ExecProject(css->ss.ps.ps_ProjInfo)
						 : css->ss.ss_ScanTupleSlot;
	}
	MemoryContextSwitchTo(old);
	return result;
}

static void
rescan_join(CustomScanState *css)
{
	NearJoinState *state = (NearJoinState *) css;

	end_scan(state);
	for (int side = 0; side < 2; side++)
	{
		PlanState *plan = state->inputs[side].plan;

		if (plan == NULL)
			continue;
		if (css->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(plan, css->ss.ps.chgParam);
		if (plan->chgParam == NULL)
			ExecReScan(plan);
	}
}

static void
end_join(CustomScanState *css)
{
	NearJoinState *state = (NearJoinState *) css;
	ListCell *cell;

	end_scan(state);
	foreach (cell, css->custom_ps)
		ExecEndNode(lfirst(cell));
}

/* EXPLAIN */

static void
explain_clauses(const NearJoinState *state, const char *label, int which,
				List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	List *clauses = list_nth(plan->custom_exprs, which);
	List *context;

	if (clauses == NIL)
		return;
	context =
		set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(clauses),
										   context, true, false),
						es);
}

static void
explain_join(CustomScanState *css, List *ancestors, ExplainState *es)
{
	NearJoinState *state = (NearJoinState *) css;
	int64 disk = state->disk + (state->context ? open_disk(state) : 0);

	if (es->verbose || es->format != EXPLAIN_FORMAT_TEXT ||
		state->type != JOIN_INNER)
		ExplainPropertyText("Join Type",
							state->type == JOIN_INNER  ? "Inner"
							: state->type == JOIN_LEFT ? "Left"
							: state->type == JOIN_SEMI ? "Semi"
													   : "Anti",
							es);
	explain_clauses(state,
					simdup_is_of_shingles(state->kind) ? "Shingle Cond"
													   : "Hamming Cond",
					SIMDUP_JOIN_CONDITION, ancestors, es);
	explain_clauses(state, "Join Filter", SIMDUP_JOIN_FILTER, ancestors, es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Pairs", NULL, state->n_pairs, es);
	if (state->n_filtered > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Rows Removed by Join Filter", NULL,
							   state->n_filtered, es);
	ExplainPropertyInteger("Memory Usage", "kB",
						   (state->peak_memory + 1023) / 1024, es);
	if (disk > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Disk Usage", "kB", (disk + 1023) / 1024, es);
	if (state->n_workers > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Join Workers", NULL, state->n_workers, es);
}

#define EXEC_METHODS(name) \
	{ \
		.CustomName = (name), .BeginCustomScan = begin_join, \
		.ExecCustomScan = exec_join, .EndCustomScan = end_join, \
		.ReScanCustomScan = rescan_join, .ExplainCustomScan = explain_join \
	}

static const CustomExecMethods hamming_methods = EXEC_METHODS("Hamming Join");
static const CustomExecMethods shingle_methods = EXEC_METHODS("Shingle Join");
