/*
 * condition.h
 *	  The conditions that the join node and indexes of texts serve.
 */
#ifndef SIMDUP_JOINS_CONDITION_H
#define SIMDUP_JOINS_CONDITION_H

#include "nodes/pathnodes.h"

#include "joins/key_search.h"

/* Which pairs can match, by the limits of a condition. */
typedef enum SimdupAdmitted
{
	SIMDUP_LIMITS_NOT_READ,
	SIMDUP_NO_PAIRS,
	SIMDUP_NEAR_PAIRS, /* those within the limits of a search */
	SIMDUP_ALL_PAIRS /* for which the condition is evaluated: it may raise errors */
} SimdupAdmitted;

/* Properties of a predicate. */
typedef enum SimdupTrait
{
	SIMDUP_MEASURED = 1, /* its result is compared with the first limit */
	SIMDUP_STRICT = 2,	 /* and a result at the limit does not match */
	SIMDUP_EXACT = 4,	 /* the node evaluates it, and not again as a clause */
	SIMDUP_COMPARES_TEXTS = 8 /* keys are minhash64 of texts, compared later */
} SimdupTrait;

/* A form of condition, and how it is joined. */
typedef struct SimdupPredicate
{
	const char *function; /* of this extension: it measures or compares keys */
	int n_arguments;
	int traits;
	const SimdupSearchMethod *method;
	/* Read the limits, none of which is NULL. */
	SimdupAdmitted (*read_limits)(const struct SimdupPredicate *predicate,
								  const Datum *limits, SimdupLimits *read);
	int alternative; /* number of a predicate that may serve it better; 0: none */
} SimdupPredicate;

/* By number, which the plan has. */
extern const SimdupPredicate simdup_predicates[];

static inline bool
simdup_compares_texts(const SimdupPredicate *predicate)
{
	return (predicate->traits & SIMDUP_COMPARES_TEXTS) != 0;
}

static inline bool
simdup_is_by_shingles(const SimdupPredicate *predicate)
{
	return predicate->method == &simdup_shingle_search;
}

#define SIMDUP_MAX_LIMITS 4

typedef struct SimdupCondition
{
	const SimdupPredicate
		*predicate; /* NULL: in the ball that the second key is */
	Oid function;	/* of the predicate, or simhash_ball */
	Node *keys[2]; /* of the outer and the inner side: fingerprints, or texts */
	List *limits;  /* that a result is compared with, then more arguments */
} SimdupCondition;

/*
 * Recognize a clause, with any arguments. Functions and operators are those of this
 * extension, not look-alikes of other schemas.
 */
extern bool simdup_recognize_form(Node *clause, SimdupCondition *condition);

/* Recognize a clause of a join of these two sides. */
extern bool simdup_recognize_condition(PlannerInfo *root, Node *clause,
									   Relids outer, Relids inner,
									   SimdupCondition *condition);

/* Install the planner's hook for paths by indexes of texts (text_paths.c). */
extern void simdup_text_paths_init(void);

/* Make a condition one of the alternative. Return false if there is none. */
extern bool simdup_use_alternative(SimdupCondition *condition);

#endif /* SIMDUP_JOINS_CONDITION_H */
