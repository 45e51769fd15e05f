/*
 * selectivity.c
 *	  How many rows lie within a Hamming distance: estimates for the planner.
 *
 * An estimate has two sources. Strangers are unrelated rows: the part of random
 * fingerprints that is near any center depends on the radius alone. Relatives
 * are copies and edits: the column's statistics hold the most common values and
 * the number of different values. The histogram is a sample, which shows
 * clusters of more than about a hundredth of the table.
 *
 * These functions do not trust the types of the operator. A user may attach the
 * estimators to another operator, and must not make them read other types.
 *
 * Core applies a leakproof operator to the statistics of rows that the user may
 * not see. Estimates of a ball would tell the bits of such a value, one after
 * another. So only values that the user may read take part.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "core/search/search.h"
#include "index/selectivity.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/* Values of a statistics array that take part where pairs are compared. */
#define MAX_COMPARED 100

/* Fingerprints of the values of a statistics slot, as far as there are any. */
typedef struct SampledValues
{
	int n;
	uint64 *fps;
	float4 *numbers; /* frequencies; 0 in a histogram */
} SampledValues;

/* Return the part of unrelated rows that fulfils the clause. */
static double
strangers_near(const SimdupNearClause *clause)
{
	return clause->excludes_strangers
			   ? 0.0
			   : simdup_ball_fraction(SIMHASH64_BITS, clause->radius);
}

/* Statistics of a column of fingerprints, or of texts that have them. */
typedef struct ColumnStats
{
	double rows;		  /* of its table, at least 1 */
	double not_null;	  /* part of the rows: those with a fingerprint */
	double distinct;	  /* different values, at least 1 */
	SampledValues common; /* most common values, with frequencies */
	double common_sum;
	SampledValues histogram;
} ColumnStats;

static bool
has_fingerprints(const SimdupNearClause *clause, Oid type)
{
	type = getBaseType(type);
	return type == simdup_sibling_type(clause->funcid, "simhash64") ||
		   (clause->of_texts && (type == TEXTOID || type == VARCHAROID));
}

/* Set *fp to the fingerprint of a value of such a type; false if it has none. */
static bool
get_fingerprint(Oid type, Datum value, uint64 *fp)
{
	type = getBaseType(type);
	if (type == TEXTOID || type == VARCHAROID)
		return simdup_text_minhash64(DatumGetTextPP(value), fp);
	*fp = DatumGetSimhash64(value);
	return true;
}

/* Return the sum of the frequencies of values without a fingerprint. */
static double
load_values(VariableStatData *vardata, const SimdupNearClause *clause, int kind,
			int flags, SampledValues *values)
{
	AttStatsSlot slot;
	double without = 0;
	bool is_known;

	if (!get_attstatsslot(&slot, vardata->statsTuple, kind, InvalidOid, flags))
		return 0;
	is_known = has_fingerprints(clause, slot.valuetype);
	values->fps = palloc(sizeof(uint64) * Max(slot.nvalues, 1));
	values->numbers = palloc(sizeof(float4) * Max(slot.nvalues, 1));
	for (int i = 0; i < slot.nvalues; i++)
	{
		float4 number = i < slot.nnumbers ? slot.numbers[i] : 0;

		if (is_known && get_fingerprint(slot.valuetype, slot.values[i],
										&values->fps[values->n]))
			values->numbers[values->n++] = number;
		else
			without += number;
	}
	free_attstatsslot(&slot);
	return without;
}

/*
 * Check whether the user may read all values of a column, without row security
 * and not by a view of another role, which may hide rows.
 */
static bool
may_read(const VariableStatData *vardata)
{
	return vardata->acl_ok &&
		   (vardata->rel == NULL || !OidIsValid(vardata->rel->userid) ||
			vardata->rel->userid == GetUserId());
}

/*
 * The histogram of a column of texts is not used: to fingerprint its texts takes
 * as long as a search.
 */
static void
load_stats(VariableStatData *vardata, const SimdupNearClause *clause,
		   ColumnStats *stats)
{
	const RelOptInfo *rel = vardata->rel;
	bool is_default;

	*stats = (ColumnStats){.not_null = 1.0};
	stats->rows = rel ? Max(rel->tuples, 1.0) : 1000.0;
	/* other modules may correct the rows of a path, not those of its relation */
	if (rel && rel->rows > 0 && rel->cheapest_total_path != NULL &&
		rel->cheapest_total_path->param_info == NULL)
		stats->rows *= rel->cheapest_total_path->rows / rel->rows;
	stats->distinct = get_variable_numdistinct(vardata, &is_default);
	if (is_default)
		stats->distinct = stats->rows; /* fingerprints seldom repeat */
	stats->distinct = Max(stats->distinct, 1.0);

	if (!HeapTupleIsValid(vardata->statsTuple) || !may_read(vardata))
		return;
	stats->not_null -=
		((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;
	stats->not_null -=
		load_values(vardata, clause, STATISTIC_KIND_MCV,
					ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, &stats->common);
	for (int i = 0; i < stats->common.n; i++)
		stats->common_sum += stats->common.numbers[i];
	if (!clause->of_texts)
		(void) load_values(vardata, clause, STATISTIC_KIND_HISTOGRAM,
						   ATTSTATSSLOT_VALUES, &stats->histogram);
}

/* Return the part of the uncommon rows that share one uncommon value. */
static double
uncommon_copies(const ColumnStats *stats)
{
	return 1.0 / Max(stats->distinct - stats->common.n, 1.0);
}

/*
 * Return a part that was counted in a sample, where strangers alone make up a
 * known part. One hit more may be mere chance, such as the query itself, or
 * represent many rows. The geometric mean with the least possible part is never
 * far from either.
 */
static double
sampled_part(int hits, double sample_size, double strangers, double least)
{
	double by_chance = sample_size * strangers;

	if (hits <= 1 + by_chance + 3 * sqrt(by_chance))
		return sqrt(hits / sample_size * Max(strangers, least));
	return hits / sample_size;
}

/*
 * Return the part of a column's histogram that is near a center. The outermost
 * bounds are no random sample: minimum and maximum are left out.
 */
static double
histogram_part_near(const ColumnStats *stats, uint64 center,
					const SimdupNearClause *clause)
{
	int n = stats->histogram.n - 2;
	int hits = 0;

	if (n < 1)
		return 0.0;
	for (int i = 1; i <= n; i++)
		hits +=
			simdup_hamming64(stats->histogram.fps[i], center) <= clause->radius;
	return sampled_part(hits, n, strangers_near(clause), 1.0 / stats->rows);
}

/* Return the selectivity for a known center. */
static double
part_near(const ColumnStats *stats, uint64 center,
		  const SimdupNearClause *clause)
{
	double near = 0.0;
	double uncommon =
		Max(strangers_near(clause), histogram_part_near(stats, center, clause));
	bool center_is_common = false;

	for (int i = 0; i < stats->common.n; i++)
	{
		int distance = simdup_hamming64(stats->common.fps[i], center);

		if (distance <= clause->radius)
			near += stats->common.numbers[i];
		center_is_common = center_is_common || distance == 0;
	}
	if (!center_is_common)
		uncommon = Max(uncommon, uncommon_copies(stats));
	return near + uncommon * Max(stats->not_null - stats->common_sum, 0.0);
}

/* Return the part of pairs of two histograms that are near but not equal. */
static double
histogram_pairs_near(const ColumnStats *a, const ColumnStats *b,
					 const SimdupNearClause *clause)
{
	int n = Min(a->histogram.n, MAX_COMPARED);
	int m = Min(b->histogram.n, MAX_COMPARED);
	int hits = 0;

	if (n == 0 || m == 0)
		return 0.0;
	for (int i = 0; i < n; i++)
	{
		/* evenly spread over the values */
		int at = (int) ((int64) i * a->histogram.n / n);
		uint64 value = a->histogram.fps[at];

		for (int j = 0; j < m; j++)
		{
			int distance;

			at = (int) ((int64) j * b->histogram.n / m);
			distance = simdup_hamming64(b->histogram.fps[at], value);
			hits += distance > 0 && distance <= clause->radius;
		}
	}
	return sampled_part(hits, (double) n * m, strangers_near(clause),
						1.0 / a->rows / b->rows);
}

/* Return the part of pairs of two columns' rows that are near common values. */
static double
common_pairs_near(const SampledValues *a, const SampledValues *b, int radius)
{
	int n = Min(a->n, MAX_COMPARED);
	int m = Min(b->n, MAX_COMPARED);
	double near = 0.0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			if (simdup_hamming64(a->fps[i], b->fps[j]) <= radius)
				near += (double) a->numbers[i] * b->numbers[j];
	return near;
}

/*
 * Return the part of pairs of two columns' rows that are near. The same column
 * twice: the selectivity for an unknown center that is like the column's values.
 */
static double
pairs_near(const ColumnStats *a, const ColumnStats *b,
		   const SimdupNearClause *clause)
{
	double rest = a->not_null * b->not_null - a->common_sum * b->common_sum;
	double uncommon = Min(uncommon_copies(a), uncommon_copies(b));

	uncommon = Max(uncommon, strangers_near(clause));
	uncommon = Max(uncommon, histogram_pairs_near(a, b, clause));
	return common_pairs_near(&a->common, &b->common, clause->radius) +
		   uncommon * Max(rest, 0.0);
}

int
simdup_plan_time_radius(PlannerInfo *root, Node *radius)
{
	Const *value = (Const *) estimate_expression_value(root, radius);

	if (!IsA(value, Const) || value->consttype != INT4OID)
		return SIMHASH_DEFAULT_RADIUS;
	if (value->constisnull)
		return -1;
	/* out of range is an error when it is evaluated, if it is */
	return Max(Min(DatumGetInt32(value->constvalue), SIMHASH64_BITS), 0);
}

Selectivity
simdup_restriction_selectivity(PlannerInfo *root,
							   const SimdupNearClause *clause, int varRelid)
{
	VariableStatData vardata;
	ColumnStats stats;
	Node *other;
	Const *value;
	uint64 center;
	bool column_is_first;
	double selectivity = 0.0;

	if (clause->radius < 0)
		return 0.0;
	if (!get_restriction_variable(root, list_make2(clause->a, clause->b),
								  varRelid, &vardata, &other, &column_is_first))
		return strangers_near(clause);

	load_stats(&vardata, clause, &stats);
	ReleaseVariableStats(vardata);
	value = (Const *) other;
	if (!IsA(other, Const) ||
		(!value->constisnull && !has_fingerprints(clause, value->consttype)))
		selectivity = pairs_near(&stats, &stats, clause);
	else if (!value->constisnull &&
			 get_fingerprint(value->consttype, value->constvalue, &center))
		selectivity = part_near(&stats, center, clause);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

Selectivity
simdup_join_selectivity(PlannerInfo *root, const SimdupNearClause *clause,
						JoinType jointype, SpecialJoinInfo *sjinfo)
{
	VariableStatData vardata[2];
	ColumnStats stats[2];
	RelOptInfo *inner;
	bool reversed;
	double selectivity;

	if (clause->radius < 0)
		return 0.0;
	get_join_variables(root, list_make2(clause->a, clause->b), sjinfo,
					   &vardata[0], &vardata[1], &reversed);
	load_stats(&vardata[0], clause, &stats[0]);
	load_stats(&vardata[1], clause, &stats[1]);

	ReleaseVariableStats(vardata[0]);
	ReleaseVariableStats(vardata[1]);

	selectivity = pairs_near(&stats[0], &stats[1], clause);
	/* outer rows with a near row, not near pairs */
	inner = vardata[reversed ? 0 : 1].rel;
	if (inner != NULL && (jointype == JOIN_SEMI || jointype == JOIN_ANTI))
		selectivity *= Max(inner->rows, 1.0);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * Return the clause of an operator with a ball, which may be either argument. An
 * unknown center is the ball itself: no column, and not a constant fingerprint.
 */
static SimdupNearClause
open_ball_clause(FunctionCallInfo fcinfo)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *args = (List *) PG_GETARG_POINTER(2);
	Oid funcid = fcinfo->flinfo->fn_oid;
	Oid ball_type = simdup_sibling_type(funcid, "simhash_ball");
	int ball_at = exprType(linitial(args)) == ball_type ? 0 : 1;
	Node *ball = estimate_expression_value(root, list_nth(args, ball_at));
	Const *value = (Const *) ball;
	FuncExpr *call = (FuncExpr *) ball;
	SimdupNearClause clause = {.funcid = funcid,
							   .of_texts = exprType(linitial(args)) == TEXTOID,
							   .radius = SIMHASH_DEFAULT_RADIUS,
							   .a = list_nth(args, 1 - ball_at),
							   .b = ball};

	if (IsA(ball, Const) && value->consttype == ball_type)
	{
		SimhashBall known = {.radius = -1};

		if (!value->constisnull)
			known = *DatumGetSimhashBallP(value->constvalue);
		clause.b = (Node *) makeConst(simdup_sibling_type(funcid, "simhash64"),
									  -1, InvalidOid, sizeof(uint64),
									  Simhash64GetDatum(known.center),
									  value->constisnull, FLOAT8PASSBYVAL);
		clause.radius = (int) known.radius;
	}
	else if (IsA(ball, FuncExpr) &&
			 call->funcid == simdup_sibling_ball_constructor(funcid))
	{
		clause.b = linitial(call->args);
		clause.radius = simdup_plan_time_radius(root, lsecond(call->args));
	}
	return clause;
}

PG_FUNCTION_INFO_V1(simdup_ballsel);
Datum
simdup_ballsel(PG_FUNCTION_ARGS)
{
	SimdupNearClause clause;

	/* of another operator, which has one operand */
	if (list_length((List *) PG_GETARG_POINTER(2)) != 2)
		PG_RETURN_FLOAT8(DEFAULT_MATCHING_SEL);
	clause = open_ball_clause(fcinfo);
	PG_RETURN_FLOAT8(
		simdup_restriction_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
									   &clause, PG_GETARG_INT32(3)));
}

PG_FUNCTION_INFO_V1(simdup_balljoinsel);
Datum
simdup_balljoinsel(PG_FUNCTION_ARGS)
{
	SimdupNearClause clause = open_ball_clause(fcinfo);

	PG_RETURN_FLOAT8(
		simdup_join_selectivity((PlannerInfo *) PG_GETARG_POINTER(0), &clause,
								(JoinType) PG_GETARG_INT16(3),
								(SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}
