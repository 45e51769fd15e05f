/*
 * condition.h
 *	  The conditions that the join node and indexes of texts serve.
 */
#ifndef SIMDUP_INDEX_CONDITION_H
#define SIMDUP_INDEX_CONDITION_H

#include "nodes/pathnodes.h"

typedef enum SimdupConditionKind
{
	SIMDUP_WITHIN,	  /* simhash_within(x, y, k), or a ball: k */
	SIMDUP_AT_MOST,	  /* x <~> y <= k */
	SIMDUP_BELOW,	  /* x <~> y < k */
	SIMDUP_IN_BALL,	  /* x <@ y, of any ball y: the last one of fingerprints */
	SIMDUP_RESEMBLES, /* simdup_resembles(x, y, min_resemblance, recall) */
	SIMDUP_SHINGLES_AT_LEAST, /* shingle_resemblance(x, y, w, unit) >= r */
	SIMDUP_SHINGLES_ABOVE,	  /* shingle_resemblance(x, y, w, unit) > r */
	/* simdup_resembles, as shingle_resemblance(x, y) >= min_resemblance */
	SIMDUP_RESEMBLES_BY_SHINGLES
} SimdupConditionKind;

static inline bool
simdup_is_of_shingles(SimdupConditionKind kind)
{
	return kind >= SIMDUP_SHINGLES_AT_LEAST;
}

/*
 * Check whether the node itself tells what fulfils the condition, so that it need not
 * be evaluated again.
 */
static inline bool
simdup_is_exact(SimdupConditionKind kind)
{
	return kind != SIMDUP_SHINGLES_ABOVE &&
		   kind != SIMDUP_RESEMBLES_BY_SHINGLES;
}

typedef struct SimdupCondition
{
	SimdupConditionKind kind;
	Oid function;  /* that measures or compares: one of this extension's */
	Node *keys[2]; /* of the outer and the inner side: fingerprints, or texts */
	/* k; min_resemblance and recall; or r, w, unit, and recall if it has one */
	List *limits;
} SimdupCondition;

/* Recognize the form of a clause, with any arguments. */
extern bool simdup_recognize_form(Node *clause, SimdupCondition *condition);

/*
 * Recognize a clause of a join of these two sides. Functions and operators are
 * those of this extension, not look-alikes of other schemas.
 */
extern bool simdup_recognize_condition(PlannerInfo *root, Node *clause,
									   Relids outer, Relids inner,
									   SimdupCondition *condition);

/*
 * Turn a condition by simdup_resembles into one by shingles. With a low
 * min_resemblance, many unrelated texts have near fingerprints.
 */
extern void simdup_resemble_by_shingles(SimdupCondition *condition);

#endif /* SIMDUP_INDEX_CONDITION_H */
