/*
 * join.h
 *	  The join node: a join by nearness of fingerprints, or of sets of shingles.
 *
 * planner.c offers the node as a path of the planner, node.c runs it. The rows of
 * both inputs are read whole (input.c); hamming_join.c or shingle_join.c finds the
 * candidates among them; and the node evaluates the join's other conditions.
 */
#ifndef SIMDUP_JOINS_JOIN_H
#define SIMDUP_JOINS_JOIN_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "core/fingerprint/shingle.h"
#include "server/spill.h"

/* Install the planner's hook and the node, once, when the module loads. */
extern void simdup_joins_init(void);

/* Conditions that the node serves (condition.c). */

typedef enum SimdupConditionKind
{
	SIMDUP_WITHIN,	  /* simhash_within(x, y, k), or a ball: k */
	SIMDUP_AT_MOST,	  /* x <~> y <= k */
	SIMDUP_BELOW,	  /* x <~> y < k */
	SIMDUP_RESEMBLES, /* simdup_resembles(x, y, min_resemblance, recall) */
	SIMDUP_SHINGLES_AT_LEAST, /* shingle_resemblance(x, y, w, unit) >= r */
	SIMDUP_SHINGLES_ABOVE	  /* shingle_resemblance(x, y, w, unit) > r */
} SimdupConditionKind;

static inline bool
simdup_is_of_shingles(SimdupConditionKind kind)
{
	return kind >= SIMDUP_SHINGLES_AT_LEAST;
}

/*
 * Check whether candidates fulfil the condition, so that it need not be evaluated
 * again.
 */
static inline bool
simdup_is_exact(SimdupConditionKind kind)
{
	return kind != SIMDUP_RESEMBLES && kind != SIMDUP_SHINGLES_ABOVE;
}

typedef struct SimdupCondition
{
	RestrictInfo *restrictinfo;
	SimdupConditionKind kind;
	Oid function;  /* that measures or compares: one of this extension's */
	Node *keys[2]; /* of the outer and the inner side: fingerprints, or texts */
	/* k; min_resemblance and recall; or r, w and unit */
	List *limits;
} SimdupCondition;

/*
 * Recognize a clause of a join of these two sides. Functions and operators are
 * those of this extension, whatever their names' look-alikes do.
 */
extern bool simdup_recognize_condition(PlannerInfo *root,
									   RestrictInfo *restrictinfo, Relids outer,
									   Relids inner,
									   SimdupCondition *condition);

/*
 * What the planner tells the node in custom_private: this list of integers, and
 * then, for each equality of the two sides, the columns, the operators and the
 * collations.
 */
typedef enum SimdupJoinFact
{
	SIMDUP_JOIN_KIND, /* SimdupConditionKind */
	SIMDUP_JOIN_TYPE, /* JoinType */
	/* columns of the outer and the inner side, and those of the keys */
	SIMDUP_JOIN_COLUMNS,
	SIMDUP_JOIN_KEY = SIMDUP_JOIN_COLUMNS + 2,
	SIMDUP_JOIN_READS_ONCE = SIMDUP_JOIN_KEY + 2, /* one input for both sides */
	SIMDUP_JOIN_EXCLUDES_SELF,					  /* no row matches itself */
	SIMDUP_JOIN_PARALLEL_FILTER, /* the filter may run in parallel mode */
	SIMDUP_JOIN_GIVES_INNER, /* a semi join gives columns of the inner row */
	SIMDUP_JOIN_FACTS
} SimdupJoinFact;

/* Lists in custom_private, behind the facts. */
typedef enum SimdupJoinList
{
	SIMDUP_JOIN_EQUAL_COLUMNS = 1, /* of both sides */
	SIMDUP_JOIN_EQUAL_OPERATORS = SIMDUP_JOIN_EQUAL_COLUMNS + 2,
	SIMDUP_JOIN_EQUAL_COLLATIONS
} SimdupJoinList;

/* And in custom_exprs. */
typedef enum SimdupJoinExpr
{
	SIMDUP_JOIN_LIMITS,
	SIMDUP_JOIN_CONDITION, /* the clause, to be shown, and where k is odd */
	SIMDUP_JOIN_FILTER	   /* what is evaluated for each candidate */
} SimdupJoinExpr;

extern const CustomScanMethods simdup_hamming_join_methods;
extern const CustomScanMethods simdup_shingle_join_methods;

/* Rows of an input by number, in memory and on disk (input.c). */

typedef struct SimdupRowStore SimdupRowStore;

/* Return a new store in the current memory context. */
extern SimdupRowStore *simdup_rowstore_begin(void);
extern void simdup_rowstore_end(SimdupRowStore *store);
extern void simdup_rowstore_add(SimdupRowStore *store, TupleTableSlot *row);
extern int64 simdup_rowstore_memory(const SimdupRowStore *store);
extern int64 simdup_rowstore_disk(const SimdupRowStore *store);
/* Move the rows to temporary files; later ones go there, too. */
extern void simdup_rowstore_spill(SimdupRowStore *store);
extern bool simdup_rowstore_is_on_disk(const SimdupRowStore *store);
/* Return a row, valid until the next call with the same buffer, 0 or 1. */
extern MinimalTuple simdup_rowstore_get(SimdupRowStore *store, uint32 number,
										int buffer);

/* Rows are numbered from 0. */
#define SIMDUP_MAX_JOIN_ROWS ((uint32) PG_INT32_MAX)

/* One of the two sides of a join. */
typedef struct SimdupJoinInput
{
	PlanState *plan; /* NULL: the rows are those of the other side */
	int first;		 /* column of the scan tuple */
	int n_columns;
	AttrNumber key;
	int n_equal;		   /* equalities between the sides */
	AttrNumber *equal;	   /* their columns */
	FmgrInfo *hash;		   /* their hash functions */
	const Oid *collations; /* for these */
	bool keeps_unmatched;  /* also rows that can match no other */

	SimdupRowStore *rows;
	uint32 n;			  /* rows that are kept */
	uint32 n_keyed;		  /* rows that may match another */
	TupleTableSlot *slot; /* to take rows of the store apart */
	int64 current;		  /* the row in the scan tuple; -1: none, NULLs */
} SimdupJoinInput;

/*
 * Read a side: keep its rows, and give each that may match to `take`, with its
 * number, its key and the hash of its equal columns, 0 without any. Memory is what
 * the stores of `others` and this one may take together.
 */
typedef void (*SimdupKeyTake)(void *arg, uint32 number, Datum key, uint32 hash);

extern void simdup_read_input(SimdupJoinInput *input, SimdupRowStore *other,
							  int64 memory, SimdupKeyTake take, void *arg);

/*
 * Candidates: pairs of groups of rows. The rows of a group nothing tells from each
 * other but their other columns. They are at consecutive positions. A row's number
 * is read at its position, with a mark on the last row of a group.
 */

#define SIMDUP_LAST_OF_GROUP (UINT32_C(1) << 31)

typedef struct SimdupNumbers
{
	uint32 n;
	Size room;			  /* of the array */
	uint32 *numbers;	  /* NULL: in the file */
	SimdupTempFile *file; /* NULL: in memory */
} SimdupNumbers;

extern void simdup_numbers_begin(SimdupNumbers *numbers, Size n, int64 memory);
extern void simdup_numbers_end(SimdupNumbers *numbers);
/* Append a number, and return its position. */
extern uint32 simdup_numbers_append(SimdupNumbers *numbers, uint32 number);
extern uint32 simdup_numbers_at(SimdupNumbers *numbers, uint32 position);

/* Finding the candidates, which are put into the search by the two calls below. */
typedef struct SimdupJoinSearch
{
	SimdupConditionKind kind;
	bool reads_once;			  /* one set of rows for both sides */
	bool excludes_self;			  /* of that set, no row matches itself */
	int64 memory;				  /* bytes for all but the stores of rows */
	SimdupNumbers numbers[2];	  /* of groups; of one set: both the first */
	const SimdupHelpers *helpers; /* NULL: none */
	/*
	 * Receives candidates: the number of the outer group's first row, and the
	 * positions of both groups.
	 */
	void (*put)(void *arg, uint32 first_row, uint32 outer, uint32 inner);
	/* Returns whether no more candidates of an outer row are asked for. */
	bool (*is_settled)(void *arg, uint32 row);
	void *arg;
	int64 disk; /* bytes that went to files which are closed */
} SimdupJoinSearch;

/*
 * By fingerprints (hamming_join.c). Keys of a side are put into a sort, by a
 * SimdupKeyTake.
 */
extern void simdup_hamming_add_key(void *sort, uint32 number, Datum key,
								   uint32 hash);
/*
 * Put the pairs within a distance that joins serve. The sorts are performed. Of
 * one set of rows the second sort is NULL.
 */
extern void simdup_hamming_search(SimdupJoinSearch *search,
								  SimdupPairSort *keys[2], int max_distance);

/*
 * By sets of shingles (shingle_join.c). The keys are texts of both sides, one after
 * the other; the call tells which side is read.
 */
typedef struct SimdupShingleKeys SimdupShingleKeys;

extern SimdupShingleKeys *simdup_shingle_keys_begin(SimdupShingling shingling,
													int64 memory);
extern void simdup_shingle_keys_side(SimdupShingleKeys *keys, int side);
extern void simdup_shingle_add_key(void *keys, uint32 number, Datum key,
								   uint32 hash);
/* Put the pairs of at least this resemblance, above 0, and end the keys. */
extern void simdup_shingle_search(SimdupJoinSearch *search,
								  SimdupShingleKeys *keys,
								  double min_resemblance);

#endif /* SIMDUP_JOINS_JOIN_H */
