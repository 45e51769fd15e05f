/*
 * candidates.h
 *	  The state of a join node, and how it comes to its rows.
 */
#ifndef SIMDUP_JOINS_CANDIDATES_H
#define SIMDUP_JOINS_CANDIDATES_H

#include "nodes/execnodes.h"

#include "joins/search.h"

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
	struct SimdupStoredTexts *texts; /* of both sides, to compare; or NULL */
	double min_resemblance;			 /* of these */
	bool compares_all; /* all rows with all, where a limit is beyond the search */
	uint8 *matched;	   /* bits of outer rows; NULL: not kept */
	SimdupPairSort *candidates; /* first row and outer group, inner group */
	int64 n_candidates;			/* that were put there */
	uint32 candidate[2];		/* rows, the outer one first */
	bool turns;					/* the groups' rows come in both orders */
	bool is_turned;				/* the candidate is one in the other order */
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

/* Check whether candidates are evaluated before the first row is returned. */
static inline bool
simdup_settles_first(const NearJoinState *state)
{
	return state->type == JOIN_ANTI ||
		   (state->type == JOIN_SEMI && !state->gives_inner);
}

/* Read both sides, and search the candidates. */
extern void simdup_find_candidates(NearJoinState *state);

/* Begin with an empty scan tuple, which is filled in place. */
extern void simdup_begin_scan_tuple(NearJoinState *state);

/* Set the scan tuple to the next match; false: there are no more. */
extern bool simdup_next_match(NearJoinState *state);

/*
 * Set the scan tuple to the next outer row without a match, or with one for a semi
 * join; false: there are no more.
 */
extern bool simdup_next_outer_row(NearJoinState *state);

#endif /* SIMDUP_JOINS_CANDIDATES_H */
