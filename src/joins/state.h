/*
 * state.h
 *	  The join node: a join by nearness of fingerprints, or of sets of shingles.
 *
 * The rows of both inputs are read whole (input.c). hamming_join.c or shingle_join.c
 * finds candidates among them, and the node evaluates the other conditions.
 */
#ifndef SIMDUP_JOINS_STATE_H
#define SIMDUP_JOINS_STATE_H

#include "nodes/extensible.h"

#include "joins/condition.h"

/* The lists in custom_private, of which the last two are of the equalities. */
typedef enum SimdupJoinList
{
	SIMDUP_JOIN_FACTS,
	SIMDUP_JOIN_SIDES, /* one of the outer side, one of the inner side */
	SIMDUP_JOIN_OPERATORS = SIMDUP_JOIN_SIDES + 2,
	SIMDUP_JOIN_COLLATIONS
} SimdupJoinList;

/* Numbers among the facts. */
typedef enum SimdupJoinFact
{
	SIMDUP_JOIN_PREDICATE,		 /* a number in simdup_predicates */
	SIMDUP_JOIN_TYPE,			 /* JoinType */
	SIMDUP_JOIN_READS_ONCE,		 /* one input for both sides */
	SIMDUP_JOIN_EXCLUDES_SELF,	 /* no row matches itself */
	SIMDUP_JOIN_PARALLEL_FILTER, /* the filter may run in parallel mode */
	SIMDUP_JOIN_GIVES_INNER /* a semi join gives columns of the inner row */
} SimdupJoinFact;

/* Numbers of a side. */
typedef enum SimdupJoinSide
{
	SIMDUP_JOIN_COLUMNS, /* how many it has */
	SIMDUP_JOIN_KEY,	 /* a column */
	SIMDUP_JOIN_TEXT,	 /* a column to compare; 0: none */
	SIMDUP_JOIN_EQUAL	 /* from here on, the column of each equality */
} SimdupJoinSide;

/* And in custom_exprs. */
typedef enum SimdupJoinExpr
{
	SIMDUP_JOIN_LIMITS,
	SIMDUP_JOIN_CONDITION, /* shown by EXPLAIN, evaluated if a limit is out of range */
	SIMDUP_JOIN_FILTER /* the clauses evaluated for each candidate */
} SimdupJoinExpr;

/* By method: that of fingerprints, then that of shingles. */
extern const CustomScanMethods simdup_join_methods[2];

/* One of the two sides of a join. */
typedef struct SimdupJoinInput
{
	PlanState *plan; /* NULL: the rows are those of the other side */
	int first;		 /* column of the scan tuple */
	int n_columns;
	AttrNumber key;
	AttrNumber text;	  /* 0: none is compared */
	int n_equal;		  /* equalities between the sides */
	AttrNumber *equal;	  /* their columns */
	FmgrInfo *hash;		  /* their hash functions */
	Oid *collations;	  /* for these */
	bool keeps_unmatched; /* also rows that can match no other */

	struct SimdupKeys *rows;   /* NULL: not read yet */
	uint32 n;				   /* rows that are kept */
	uint32 n_keyed;			   /* rows that may match another */
	TupleTableSlot *text_slot; /* to take the text of a row */
	TupleTableSlot *slot;	   /* to take rows of the store apart */
	int64 current;			   /* the row in the scan tuple; -1: none, NULLs */
	int buffer;				   /* of the store, where that row is */
} SimdupJoinInput;

typedef struct NearJoinState
{
	CustomScanState css;
	const SimdupPredicate *predicate;
	JoinType type;
	bool parallel_filter;
	SimdupJoinInput inputs[2]; /* outer and inner */
	List *limits;			   /* ExprStates */
	ExprState *condition;
	ExprState *filter;
	SimdupKeySearch search;

	/* of one scan, and zeroed with that part of the search between two */
	SimdupAdmitted admitted;
	struct SimdupStoredTexts *texts; /* of both sides, to compare; or NULL */
	SimdupPairSort *candidates; /* first row and outer group, inner group */
	int64 n_candidates;			/* that were put there */
	int64 n_evaluated;			/* that were read back */
	bool shows_evaluated;		/* their number is the progress */
	uint32 candidate[2];		/* rows, the outer one first */
	bool both_orders;			/* the groups' rows come in both */
	bool is_swapped;			/* the candidate is one in the other order */
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

/* Check whether a row's first match is its last one. */
static inline bool
simdup_asks_existence(const NearJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* input.c */

/* Read a side: keep its rows, and add the keys of those that may match. */
extern void simdup_read_side(NearJoinState *state, int side);

/* candidates.c */

/* Read both sides, and search the candidates. */
extern void simdup_find_candidates(NearJoinState *state);

/* Begin with an empty scan tuple, which is filled in place. */
extern void simdup_begin_scan_tuple(NearJoinState *state);

/* Set the scan tuple to the next row of the join; false: there are no more. */
extern bool simdup_next_row(NearJoinState *state);

#endif /* SIMDUP_JOINS_STATE_H */
