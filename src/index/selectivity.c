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
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "core/hamming.h"
#include "core/probe.h"
#include "index/ball.h"
#include "index/selectivity.h"
#include "server/catalog.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Values of a statistics array that take part where pairs are compared. */
#define MAX_COMPARED 100

/* What is known of a column of fingerprints. */
typedef struct ColumnStats
{
	double rows;		 /* of its table, at least 1 */
	double not_null;	 /* part of the rows */
	double distinct;	 /* different values, at least 1 */
	AttStatsSlot common; /* most common values, with frequencies */
	double common_sum;
	AttStatsSlot histogram;
} ColumnStats;

static bool
load_slot(VariableStatData *vardata, Oid fp_type, int kind, int flags,
		  AttStatsSlot *slot)
{
	if (!get_attstatsslot(slot, vardata->statsTuple, kind, InvalidOid, flags))
		return false;
	if (getBaseType(slot->valuetype) == fp_type)
		return true;
	free_attstatsslot(slot);
	memset(slot, 0, sizeof(*slot));
	return false;
}

static void
load_stats(VariableStatData *vardata, Oid funcid, ColumnStats *stats)
{
	Oid fp_type = simdup_sibling_type(funcid, "simhash64");
	bool is_default;

	memset(stats, 0, sizeof(*stats));
	stats->rows = vardata->rel ? Max(vardata->rel->tuples, 1.0) : 1000.0;
	stats->not_null = 1.0;
	stats->distinct = get_variable_numdistinct(vardata, &is_default);
	if (is_default)
		stats->distinct = stats->rows; /* fingerprints seldom repeat */
	stats->distinct = Max(stats->distinct, 1.0);

	if (!HeapTupleIsValid(vardata->statsTuple) ||
		!statistic_proc_security_check(vardata, funcid))
		return;
	stats->not_null -=
		((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;
	if (load_slot(vardata, fp_type, STATISTIC_KIND_MCV,
				  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, &stats->common))
		for (int i = 0; i < stats->common.nvalues; i++)
			stats->common_sum += stats->common.numbers[i];
	(void) load_slot(vardata, fp_type, STATISTIC_KIND_HISTOGRAM,
					 ATTSTATSSLOT_VALUES, &stats->histogram);
}

static void
free_stats(ColumnStats *stats)
{
	free_attstatsslot(&stats->common);
	free_attstatsslot(&stats->histogram);
}

/* The part of the rows whose value is not among the most common ones. */
static double
uncommon_part(const ColumnStats *stats)
{
	return Max(stats->not_null - stats->common_sum, 0.0);
}

/* The part of the uncommon rows that share one uncommon value. */
static double
uncommon_copies(const ColumnStats *stats)
{
	return 1.0 / Max(stats->distinct - stats->common.nvalues, 1.0);
}

static bool
slot_value_near(const AttStatsSlot *slot, int i, uint64 center, int radius)
{
	return simdup_hamming64(DatumGetSimhash64(slot->values[i]), center) <=
		   radius;
}

/*
 * A part that was counted in a sample, where strangers alone make up a known
 * part. One hit more may be mere chance, such as the query itself, or represent
 * many rows. The geometric mean with the least possible part is never far from
 * either.
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
 * The part of a column's histogram that is near a center. The outermost
 * bounds are no random sample: minimum and maximum are left out.
 */
static double
histogram_part_near(const ColumnStats *stats, uint64 center, int radius)
{
	int n = stats->histogram.nvalues - 2;
	int hits = 0;

	if (n < 1)
		return 0.0;
	for (int i = 1; i <= n; i++)
		hits += slot_value_near(&stats->histogram, i, center, radius);
	return sampled_part(hits, n, simdup_ball_fraction(radius),
						1.0 / stats->rows);
}

/* Selectivity for a known center. */
static double
part_near(const ColumnStats *stats, uint64 center, int radius)
{
	double near = 0.0;
	double uncommon = Max(simdup_ball_fraction(radius),
						  histogram_part_near(stats, center, radius));
	bool center_is_common = false;

	for (int i = 0; i < stats->common.nvalues; i++)
	{
		if (slot_value_near(&stats->common, i, center, radius))
			near += stats->common.numbers[i];
		if (slot_value_near(&stats->common, i, center, 0))
			center_is_common = true;
	}
	if (!center_is_common)
		uncommon = Max(uncommon, uncommon_copies(stats));
	return near + uncommon * uncommon_part(stats);
}

/* The part of pairs of two columns' histograms that are near but not equal. */
static double
histogram_pairs_near(const ColumnStats *a, const ColumnStats *b, int radius)
{
	int n = Min(a->histogram.nvalues, MAX_COMPARED);
	int m = Min(b->histogram.nvalues, MAX_COMPARED);
	int hits = 0;

	if (n == 0 || m == 0)
		return 0.0;
	for (int i = 0; i < n; i++)
	{
		/* evenly spread over what may be more values */
		int at = (int) ((int64) i * a->histogram.nvalues / n);
		uint64 value = DatumGetSimhash64(a->histogram.values[at]);

		for (int j = 0; j < m; j++)
		{
			at = (int) ((int64) j * b->histogram.nvalues / m);
			hits += slot_value_near(&b->histogram, at, value, radius) &&
					!slot_value_near(&b->histogram, at, value, 0);
		}
	}
	return sampled_part(hits, (double) n * m, simdup_ball_fraction(radius),
						1.0 / a->rows / b->rows);
}

/* The part of pairs of two columns' rows that are near, both common values. */
static double
common_pairs_near(const AttStatsSlot *a, const AttStatsSlot *b, int radius)
{
	int n = Min(a->nvalues, MAX_COMPARED);
	int m = Min(b->nvalues, MAX_COMPARED);
	double near = 0.0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			if (slot_value_near(b, j, DatumGetSimhash64(a->values[i]), radius))
				near += (double) a->numbers[i] * b->numbers[j];
	return near;
}

/*
 * The part of pairs of two columns' rows that are near. The same column twice:
 * the selectivity for a center of which nothing is known but that it is like
 * the column's values.
 */
static double
pairs_near(const ColumnStats *a, const ColumnStats *b, int radius)
{
	double rest = a->not_null * b->not_null - a->common_sum * b->common_sum;
	double uncommon = Min(uncommon_copies(a), uncommon_copies(b));

	uncommon = Max(uncommon, simdup_ball_fraction(radius));
	uncommon = Max(uncommon, histogram_pairs_near(a, b, radius));
	return common_pairs_near(&a->common, &b->common, radius) +
		   uncommon * Max(rest, 0.0);
}

/* The radius if it can be known now; -1 if it is NULL. */
static int
plan_time_radius(PlannerInfo *root, Node *radius)
{
	Const *value;

	if (radius == NULL)
		return SIMHASH_DEFAULT_RADIUS;
	value = (Const *) estimate_expression_value(root, radius);
	if (!IsA(value, Const) || value->consttype != INT4OID)
		return SIMHASH_DEFAULT_RADIUS;
	if (value->constisnull)
		return -1;
	/* out of range is an error when it is evaluated, if it is */
	return Max(Min(DatumGetInt32(value->constvalue), SIMHASH64_BITS), 0);
}

Selectivity
simdup_restriction_selectivity(PlannerInfo *root, Oid funcid, Node *a, Node *b,
							   Node *radius, int varRelid)
{
	int k = plan_time_radius(root, radius);
	VariableStatData vardata;
	ColumnStats stats;
	Node *center;
	bool column_is_first;
	double selectivity;

	if (k < 0)
		return 0.0;
	if (!get_restriction_variable(root, list_make2(a, b), varRelid, &vardata,
								  &center, &column_is_first))
		return simdup_ball_fraction(k);

	load_stats(&vardata, funcid, &stats);
	if (!IsA(center, Const) || ((Const *) center)->consttype !=
								   simdup_sibling_type(funcid, "simhash64"))
		selectivity = pairs_near(&stats, &stats, k);
	else if (((Const *) center)->constisnull)
		selectivity = 0.0;
	else
		selectivity =
			part_near(&stats, DatumGetSimhash64(((Const *) center)->constvalue),
					  k);
	free_stats(&stats);
	ReleaseVariableStats(vardata);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* Turn the part of near pairs into that of outer rows with a near row. */
static double
semijoin_selectivity(double near, const VariableStatData *inner)
{
	double rows = inner->rel ? inner->rel->rows : 1.0;

	return near * Max(rows, 1.0);
}

Selectivity
simdup_join_selectivity(PlannerInfo *root, Oid funcid, Node *a, Node *b,
						Node *radius, JoinType jointype,
						SpecialJoinInfo *sjinfo)
{
	int k = plan_time_radius(root, radius);
	VariableStatData vardata[2];
	ColumnStats stats[2];
	bool reversed;
	double selectivity;

	if (k < 0)
		return 0.0;
	get_join_variables(root, list_make2(a, b), sjinfo, &vardata[0], &vardata[1],
					   &reversed);
	load_stats(&vardata[0], funcid, &stats[0]);
	load_stats(&vardata[1], funcid, &stats[1]);

	selectivity = pairs_near(&stats[0], &stats[1], k);
	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		selectivity =
			semijoin_selectivity(selectivity, &vardata[reversed ? 0 : 1]);

	free_stats(&stats[0]);
	free_stats(&stats[1]);
	ReleaseVariableStats(vardata[0]);
	ReleaseVariableStats(vardata[1]);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * Operators <@ and @>: which argument is the ball, and what is known of its
 * center and radius. An unknown center is the ball itself: no column, and not
 * a constant fingerprint.
 */
typedef struct BallClause
{
	Node *fp;
	Node *center;
	Node *radius; /* NULL if unknown */
} BallClause;

static BallClause
open_ball_clause(PlannerInfo *root, Oid funcid, List *args)
{
	Oid ball_type = simdup_sibling_type(funcid, "simhash_ball");
	bool ball_is_first = exprType(linitial(args)) == ball_type;
	Node *ball = estimate_expression_value(root, ball_is_first ? linitial(args)
															   : lsecond(args));
	BallClause clause = {0};

	clause.fp = ball_is_first ? lsecond(args) : linitial(args);
	clause.center = ball;
	if (IsA(ball, Const) && ((Const *) ball)->consttype == ball_type)
	{
		Const *value = (Const *) ball;
		SimhashBall unknown = {0};
		SimhashBall *known = value->constisnull
								 ? &unknown
								 : DatumGetSimhashBallP(value->constvalue);

		clause.center =
			(Node *) makeConst(simdup_sibling_type(funcid, "simhash64"), -1,
							   InvalidOid, sizeof(uint64),
							   Simhash64GetDatum(known->center),
							   value->constisnull, FLOAT8PASSBYVAL);
		clause.radius =
			(Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
							   Int32GetDatum((int32) known->radius),
							   value->constisnull, true);
	}
	else if (IsA(ball, FuncExpr) && ((FuncExpr *) ball)->funcid ==
										simdup_sibling_ball_constructor(funcid))
	{
		clause.center = linitial(((FuncExpr *) ball)->args);
		clause.radius = lsecond(((FuncExpr *) ball)->args);
	}
	return clause;
}

PG_FUNCTION_INFO_V1(simhash_ballsel);
Datum
simhash_ballsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid funcid = get_opcode(PG_GETARG_OID(1));
	List *args = (List *) PG_GETARG_POINTER(2);
	BallClause clause = open_ball_clause(root, fcinfo->flinfo->fn_oid, args);

	PG_RETURN_FLOAT8(
		simdup_restriction_selectivity(root, funcid, clause.fp, clause.center,
									   clause.radius, PG_GETARG_INT32(3)));
}

/* Repeats simhash_ballsel: joins pass other arguments. */
PG_FUNCTION_INFO_V1(simhash_balljoinsel);
Datum
simhash_balljoinsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid funcid = get_opcode(PG_GETARG_OID(1));
	List *args = (List *) PG_GETARG_POINTER(2);
	BallClause clause = open_ball_clause(root, fcinfo->flinfo->fn_oid, args);

	PG_RETURN_FLOAT8(
		simdup_join_selectivity(root, funcid, clause.fp, clause.center,
								clause.radius, (JoinType) PG_GETARG_INT16(3),
								(SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}
