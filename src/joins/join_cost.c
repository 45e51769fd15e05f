/*
 * join_cost.c
 *	  The cost of a join, for the planner.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "joins/offer.h"

/* Convert nanoseconds to planner units: 10 ns are one cpu_operator_cost. */
#define COST_OF_NANOSECOND (cpu_operator_cost / 10)
/* Measured: to keep and sort a row, and to evaluate a candidate. */
#define ROW_NANOSECONDS 150
#define CANDIDATE_NANOSECONDS 150
/* To compare two texts whose shingles are made. */
#define RESEMBLANCE_NANOSECONDS 2500
/* To make the shingles of a text of TEXT_WIDTH: half the COST of simdup_resembles. */
#define TEXT_NANOSECONDS 5000
/* To make a shingle, rank it and compare it. */
#define SHINGLE_NANOSECONDS 500
/*
 * The COST of minhash64 and of simdup_resembles is that of texts of some 1,000
 * characters. Other plans pay the second for short texts, too, so the first is not
 * taken back as a whole.
 */
#define TEXT_WIDTH 400.0
/* To sort a fingerprint once more, on disk. */
#define DISK_SORT_NANOSECONDS 100

/*
 * The largest distance is the radius. The server's own estimate of a comparison with
 * <~> is a third of all pairs.
 */
void
simdup_offer_near(JoinOffer *offer)
{
	const SimdupCondition *condition = &offer->condition;

	offer->near = (SimdupNearClause){.funcid = condition->function,
									 .a = condition->keys[0],
									 .b = condition->keys[1]};
	simdup_set_limits(offer->root, &offer->near, condition->limits);
	offer->near.radius -= (condition->predicate->traits & SIMDUP_STRICT) != 0;
}

/* Return the join of which pairs are estimated: an inner one. */
static SpecialJoinInfo
inner_join(const JoinOffer *offer)
{
	Relids outer = offer->sides[0]->relids;
	Relids inner = offer->sides[1]->relids;

	return (SpecialJoinInfo){.type = T_SpecialJoinInfo,
							 .min_lefthand = outer,
							 .min_righthand = inner,
							 .syn_lefthand = outer,
							 .syn_righthand = inner,
							 .jointype = JOIN_INNER};
}

/* Return the rows of a side: those of its path, which other modules may correct. */
static double
count_rows(const JoinOffer *offer, int side)
{
	return offer->sides[side]->cheapest_total_path->rows;
}

/*
 * Return how many candidates the condition and the equalities leave. Candidates are
 * near by fingerprint, and their texts may differ. For shingles, assume that each
 * text resembles one other.
 */
static double
count_candidates(const JoinOffer *offer)
{
	double n = count_rows(offer, 0);
	double m = count_rows(offer, 1);
	SpecialJoinInfo join = inner_join(offer);
	SimdupNearClause near = offer->near;

	near.excludes_strangers = false;
	if (simdup_is_by_shingles(offer->condition.predicate))
		return Max(n, m);
	return n * m *
		   simdup_join_selectivity(offer->root, &near, JOIN_INNER, &join) *
		   clauselist_selectivity(offer->root, offer->equalities, 0, JOIN_INNER,
								  &join);
}

/*
 * Return the cost of the filter for `candidates`, and set that to those it leaves.
 * Candidates are near already, so another condition of this kind excludes none.
 */
static Cost
cost_of_filter(const JoinOffer *offer, double *candidates)
{
	SpecialJoinInfo join = inner_join(offer);
	Cost cost = 0;
	ListCell *cell;

	foreach (cell, offer->filter)
	{
		SimdupCondition other;
		QualCost clause;

		cost_qual_eval_node(&clause, lfirst(cell), offer->root);
		cost += clause.startup + *candidates * clause.per_tuple;
		if (!simdup_recognize_condition(offer->root, lfirst(cell),
										join.min_lefthand, join.min_righthand,
										&other))
			*candidates *= clause_selectivity(offer->root, lfirst(cell), 0,
											  JOIN_INNER, &join);
	}
	return cost;
}

/* Return into how many parts the equalities part the rows. */
static double
count_parts(const JoinOffer *offer)
{
	double n = Max(count_rows(offer, 0), 1);

	if (offer->equalities == NIL)
		return 1;
	for (int side = 0; side < 2; side++)
	{
		List *exprs = NIL;
		ListCell *cell;

		foreach (cell, offer->equalities)
			exprs =
				lappend(exprs, simdup_offer_side_of(offer, lfirst(cell), side));
		n = Min(n, estimate_num_groups(offer->root, exprs,
									   Max(count_rows(offer, side), 1), NULL,
									   NULL));
	}
	return Max(n, 1);
}

static double
hamming_nanoseconds(const JoinOffer *offer)
{
	int k = offer->near.radius;
	double parts = count_parts(offer);
	double n = Max(count_rows(offer, 0) / parts, 1);
	double m = offer->reads_once ? 0 : Max(count_rows(offer, 1) / parts, 1);
	double memory = (double) get_hash_memory_limit() / 5;
	double cost = parts * simdup_pair_join_cost(k, n, m);

	if ((n + m) * 44 > memory)
		cost += parts * (n + m) * (k + 1) * DISK_SORT_NANOSECONDS;
	return cost;
}

static double
width_of_key(const JoinOffer *offer, int side)
{
	PathTarget *key = create_empty_pathtarget();

	add_column_to_pathtarget(key, (Expr *) offer->condition.keys[side], 0);
	return set_pathtarget_cost_width(offer->root, key)->width;
}

/* Return the cost to compare the texts of candidates, each of which is kept. */
static Cost
cost_of_texts(const JoinOffer *offer, double candidates)
{
	double nanoseconds = candidates * RESEMBLANCE_NANOSECONDS;

	for (int side = 0; side < 2; side++)
		nanoseconds += Min(candidates, count_rows(offer, side)) *
					   width_of_key(offer, side) / TEXT_WIDTH *
					   TEXT_NANOSECONDS;
	return nanoseconds * COST_OF_NANOSECOND;
}

/* Return the nanoseconds of a search by shingles: most of it is to sort them. */
static double
shingle_nanoseconds(const JoinOffer *offer)
{
	double shingles = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
		shingles += count_rows(offer, side) * width_of_key(offer, side);
	return shingles * SHINGLE_NANOSECONDS;
}

bool
simdup_offer_is_dominated(const JoinOffer *offer)
{
	Cost least = 0; /* of one input: the other may be the same */
	ListCell *cell;

	for (int side = 0; side < 2; side++)
	{
		const Path *path = offer->sides[side]->cheapest_total_path;

		least = Max(least, path->total_cost + path->rows * ROW_NANOSECONDS *
												  COST_OF_NANOSECOND);
	}
	foreach (cell, offer->joinrel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->total_cost <= least && path->param_info == NULL &&
			!SIMDUP_IS_DISABLED(path))
			return true;
	}
	return false;
}

/* Return the cost to read a side. The shorter its texts, the less minhash64 takes. */
static Cost
cost_of_input(const JoinOffer *offer, int side)
{
	Cost cost = offer->inputs[side]->total_cost;
	Cost keys = cost - offer->sides[side]->cheapest_total_path->total_cost;

	if (!simdup_compares_texts(offer->condition.predicate) || keys <= 0)
		return cost;
	return cost + keys * (width_of_key(offer, side) / TEXT_WIDTH - 1);
}

void
simdup_offer_cost(const JoinOffer *offer, Path *path)
{
	double rows = 0;
	double bytes = 0;
	double candidates = count_candidates(offer);
	Cost cost = 0;

	for (int side = 0; side < (offer->reads_once ? 1 : 2); side++)
	{
		cost += cost_of_input(offer, side);
		SIMDUP_COUNT_DISABLED(path, offer->inputs[side]);
		rows += count_rows(offer, side);
		bytes += count_rows(offer, side) *
				 (offer->targets[side]->width + SizeofMinimalTupleHeader + 24);
	}
	SIMDUP_COUNT_RULED_OUT(path, offer->extra);
	if (bytes > (double) get_hash_memory_limit() / 2)
		cost += 2 * bytes / BLCKSZ * seq_page_cost;
	cost += (rows * ROW_NANOSECONDS +
			 (simdup_is_by_shingles(offer->condition.predicate)
				  ? shingle_nanoseconds(offer)
				  : hamming_nanoseconds(offer))) *
			COST_OF_NANOSECOND;
	path->startup_cost = cost;
	cost = candidates * CANDIDATE_NANOSECONDS * COST_OF_NANOSECOND +
		   cost_of_filter(offer, &candidates);
	if (simdup_compares_texts(offer->condition.predicate))
		cost += cost_of_texts(offer, candidates);
	if (offer->type == JOIN_SEMI || offer->type == JOIN_ANTI)
		path->startup_cost += cost;
	path->total_cost = path->startup_cost + cost + path->rows * cpu_tuple_cost;
}
