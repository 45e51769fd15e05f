/*
 * node.c
 *	  The join node: the executor's callbacks.
 *
 * The node does not use ExecScan, which rechecks rows of scans alone for EvalPlanQual.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include SIMDUP_EXPLAIN_FORMAT
#include SIMDUP_EXPLAIN_STATE /* NOLINT(readability-duplicate-include): one file before 18 */

#include "joins/state.h"
#include "pairs/stored_texts.h"
#include "server/progress.h"
#include "server/source.h"

static const CustomExecMethods exec_methods;

static Node *
create_state(CustomScan *plan pg_attribute_unused())
{
	NearJoinState *state = palloc0(sizeof(NearJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods simdup_join_methods[2] =
	{{"Hamming Join", create_state}, {"Shingle Join", create_state}};

/* Prepare to hash the columns of a side that are equal in both. */
static void
begin_equalities(SimdupJoinInput *input, const CustomScan *plan,
				 const List *columns, int side)
{
	List *operators = list_nth(plan->custom_private, SIMDUP_JOIN_OPERATORS);
	List *collations = list_nth(plan->custom_private, SIMDUP_JOIN_COLLATIONS);
	int n = list_length(operators);

	input->n_equal = n;
	input->equal = palloc((n + 1) * sizeof(AttrNumber));
	input->hash = palloc0((n + 1) * sizeof(FmgrInfo));
	input->collations = palloc((n + 1) * sizeof(Oid));
	for (int i = 0; i < n; i++)
	{
		RegProcedure functions[2];

		if (!get_op_hash_functions(list_nth_oid(operators, i), &functions[0],
								   &functions[1]))
			elog(ERROR, "could not find hash function for hash operator %u",
				 list_nth_oid(operators, i));
		input->equal[i] =
			(AttrNumber) list_nth_int(columns, SIMDUP_JOIN_EQUAL + i);
		fmgr_info(functions[side], &input->hash[i]);
		input->collations[i] = list_nth_oid(collations, i);
	}
}

static void
begin_input(NearJoinState *state, const CustomScan *plan, int side,
			EState *estate, int eflags)
{
	SimdupJoinInput *input = &state->inputs[side];
	SimdupJoinInput *outer = &state->inputs[0];
	const List *numbers =
		list_nth(plan->custom_private, SIMDUP_JOIN_SIDES + side);
	TupleDesc columns;

	input->first = side == 0 ? 0 : outer->n_columns;
	input->n_columns = list_nth_int(numbers, SIMDUP_JOIN_COLUMNS);
	input->key = (AttrNumber) list_nth_int(numbers, SIMDUP_JOIN_KEY);
	input->text = (AttrNumber) list_nth_int(numbers, SIMDUP_JOIN_TEXT);
	begin_equalities(input, plan, numbers, side);
	input->keeps_unmatched =
		side == 0 && (state->type == JOIN_LEFT || state->type == JOIN_ANTI);
	if (side == 0 || !state->search.reads_once)
	{
		input->plan =
			ExecInitNode(list_nth(plan->custom_plans, side), estate, eflags);
		state->css.custom_ps = lappend(state->css.custom_ps, input->plan);
	}
	columns =
		ExecGetResultType(input->plan != NULL ? input->plan : outer->plan);
	input->slot = ExecInitExtraTupleSlot(estate, columns, &TTSOpsMinimalTuple);
	input->text_slot =
		ExecInitExtraTupleSlot(estate, columns, &TTSOpsMinimalTuple);
}

static void
begin_join(CustomScanState *css, EState *estate, int eflags)
{
	NearJoinState *state = (NearJoinState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	PlanState *parent = &css->ss.ps;
	const List *facts = linitial(plan->custom_private);
	bool gives_inner;

	state->predicate =
		&simdup_predicates[list_nth_int(facts, SIMDUP_JOIN_PREDICATE)];
	state->type = (JoinType) list_nth_int(facts, SIMDUP_JOIN_TYPE);
	state->parallel_filter =
		list_nth_int(facts, SIMDUP_JOIN_PARALLEL_FILTER) != 0;
	gives_inner = list_nth_int(facts, SIMDUP_JOIN_GIVES_INNER) != 0;
	state->search =
		(SimdupKeySearch){.reads_once =
							  list_nth_int(facts, SIMDUP_JOIN_READS_ONCE) != 0,
						  .excludes_self =
							  list_nth_int(facts, SIMDUP_JOIN_EXCLUDES_SELF) !=
							  0,
						  .marks_first =
							  state->type == JOIN_ANTI ||
							  (state->type == JOIN_SEMI && !gives_inner),
						  .memory = (int64) get_hash_memory_limit()};
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
}

/* Begin a scan: read both sides, and search the candidates. */
static void
begin_scan(NearJoinState *state)
{
	const CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	MemoryContext phase;

	state->search.context =
		AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt,
							  "simdup join", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(state->search.context);
	/* nested joins report in their turn, so the reports of this one end with it */
	phase = AllocSetContextCreate(state->search.context, "simdup join progress",
								  ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(phase);
	simdup_progress_begin(plan->methods->CustomName, false);
	MemoryContextSwitchTo(state->search.context);
	for (int side = 0; side < 2; side++)
	{
		SimdupJoinInput *input = &state->inputs[side];

		input->n = input->n_keyed = 0;
		input->rows = NULL; /* until the side is read */
	}
	simdup_find_candidates(state);
	if (state->search.helpers != NULL)
		state->n_workers =
			Max(state->n_workers, state->search.helpers->n_launched);
	MemoryContextDelete(phase);
}

static int64
scan_disk(const NearJoinState *state)
{
	int64 disk = state->search.disk + simdup_pairsort_disk(state->candidates);

	for (int side = 0; side < 2; side++)
		if (state->inputs[side].plan != NULL &&
			state->inputs[side].rows != NULL)
			disk += simdup_keys_disk(state->inputs[side].rows);
	return disk;
}

static void
end_scan(NearJoinState *state)
{
	if (state->search.context == NULL)
		return;
	state->disk += scan_disk(state);
	state->peak_memory = Max(state->peak_memory, state->search.peak_memory);
	simdup_pairsort_end(state->candidates);
	if (state->texts != NULL)
		simdup_stored_texts_end(state->texts);
	for (int side = 0; side < 2; side++)
	{
		SimdupJoinInput *input = &state->inputs[side];

		ExecClearTuple(input->slot);
		ExecClearTuple(input->text_slot);
		if (input->plan != NULL)
		{
			if (input->rows != NULL)
				simdup_keys_end(input->rows);
			simdup_tempfile_close(state->search.groups[side]);
		}
	}
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	MemoryContextDelete(state->search.context);
	memset(&state->search.context, 0,
		   offsetof(NearJoinState, n_pairs) -
			   offsetof(NearJoinState, search.context));
}

/* Running */

static TupleTableSlot *
exec_join(CustomScanState *css)
{
	NearJoinState *state = (NearJoinState *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;
	MemoryContext old = CurrentMemoryContext;
	TupleTableSlot *result = NULL;

	if (state->search.context == NULL)
		begin_scan(state);
	else if (css->ss.ps.ps_ProjInfo == NULL)
		/* the parent may have changed the scan tuple in its place */
		simdup_begin_scan_tuple(state);
	MemoryContextSwitchTo(state->search.context);
	while (result == NULL && simdup_next_row(state))
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
	int64 disk = state->disk + (state->search.context ? scan_disk(state) : 0);

	if (es->verbose || es->format != EXPLAIN_FORMAT_TEXT ||
		state->type != JOIN_INNER)
		ExplainPropertyText("Join Type",
							state->type == JOIN_INNER  ? "Inner"
							: state->type == JOIN_LEFT ? "Left"
							: state->type == JOIN_SEMI ? "Semi"
													   : "Anti",
							es);
	explain_clauses(state, state->predicate->method->label,
					SIMDUP_JOIN_CONDITION, ancestors, es);
	explain_clauses(state, "Join Filter", SIMDUP_JOIN_FILTER, ancestors, es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Pairs", NULL, state->n_pairs, es);
	if (state->n_filtered > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Rows Removed by Join Filter", NULL,
							   state->n_filtered, es);
	ExplainPropertyInteger("Memory Usage", "kB",
						   (Max(state->peak_memory, state->search.peak_memory) +
							1023) /
							   1024,
						   es);
	if (disk > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Disk Usage", "kB", (disk + 1023) / 1024, es);
	if (state->n_workers > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Join Workers", NULL, state->n_workers, es);
}

static const CustomExecMethods exec_methods = {.CustomName = "simdup join",
											   .BeginCustomScan = begin_join,
											   .ExecCustomScan = exec_join,
											   .EndCustomScan = end_join,
											   .ReScanCustomScan = rescan_join,
											   .ExplainCustomScan =
												   explain_join};
