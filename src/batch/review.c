/*
 * review.c
 *	  simdup_review_pairs: decisions that contradict earlier ones, and the undecided
 *	  pairs of a grouping, in the order in which an answer moves most rows.
 *
 * Pairs are of one scope. The rows of a group that have one scope are a block, and
 * are compared by the first of them. An answer decides pairs of rows. For two
 * blocks, these are all rows of one with all of the other. Within a block, they are
 * the rows of one fingerprint with the rest.
 *
 * Pairs come in the order of this number times the chance that the answer
 * contradicts the grouping. The chance is half at the limit, and halves with each
 * bit from there. sql/62-review.sql weighs the first of them by their contents.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "batch/groups.h"
#include "core/fingerprint/hamming.h"
#include "server/arguments.h"

/* Pairs of a group that are shown. */
#define MOST_OF_GROUP 3

/* Pairs within groups, and between groups, for each one that is wanted. */
#define CHOICE 10

/* The most pairs that are wanted. */
#define MOST_WANTED 1000000

/* The first contradictions of a review that have a chain. */
#define MOST_CHAINS 1000

/* The last ones that have one for simdup_decide: its own decisions are the latest. */
#define LAST_CHAINS 10

typedef struct ReviewBlock
{
	uint32 first; /* row */
	uint32 size;
} ReviewBlock;

typedef struct OpenPair
{
	double moves;
	int64 decides;
	int64 id; /* the smaller one, of the row a */
	uint32 a;
	uint32 b;
	int distance;
} OpenPair;

typedef struct Review
{
	ReturnSetInfo *result;
	SimdupGrouping grouping;
	SimdupOptions options;
	SimdupDecisionSet decided;
	uint64 *fp;	   /* by row */
	uint32 *scope; /* by row */

	ReviewBlock *blocks; /* by id and scope */
	Size n_blocks;
	/* a component for each group: which groups are decided not to be the same */
	SimdupConstraints groups;

	/* distances in question: within a group from the first on, else up to the last */
	int least_distance;
	int most_distance;
	int twice_limit;

	uint32 *best;	 /* by first row of a group: where its pairs are, from 1 */
	OpenPair *pairs; /* MOST_OF_GROUP for each group that has any */
	Size n_pairs, pairs_size;
} Review;

/* Distances. With min_resemblance, contents decide at any distance. */
static void
set_limits(Review *r)
{
	const SimdupOptions *options = &r->options;
	bool by_content = options->min_resemblance > 0;

	r->least_distance = by_content ? 0 : Max(options->max_distance - 1, 1);
	r->most_distance = Min(options->max_distance + (by_content ? 0 : 2),
						   SIMDUP_MAX_PAIR_DISTANCE);
	r->twice_limit = by_content
						 ? (int) rint(64 * (1 - options->min_resemblance))
						 : 2 * options->max_distance + 1;
}

/* Keep groups apart of which rows are decided not to be the same. */
static void
find_cannot_links(Review *r)
{
	const SimdupDecisions *decisions = &r->decided.decisions;
	const uint32 *group = r->groups.component;
	uint32 n_rows = r->grouping.rows->n;

	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		CHECK_FOR_INTERRUPTS();
		if (!d->same && d->a < n_rows && d->b < n_rows &&
			group[d->a] != group[d->b])
			simdup_constraints_add(&r->groups, d->a, d->b);
	}
}

/* Compare two pairs. Within a group, pairs of lower rows come first. */
static int
compare_pairs(const void *a, const void *b)
{
	const OpenPair *x = a;
	const OpenPair *y = b;

	CHECK_FOR_INTERRUPTS();
	if (x->moves != y->moves)
		return x->moves > y->moves ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (x->a > y->a) - (x->a < y->a);
}

/* Keep a pair if it is one of the first of its group. */
static void
keep_pair(Review *r, OpenPair pair)
{
	uint32 *best = &r->best[r->groups.component[pair.a]];
	OpenPair *pairs;

	if (*best == 0)
	{
		r->pairs = simdup_grow(r->pairs, &r->pairs_size,
							   r->n_pairs + MOST_OF_GROUP, sizeof(OpenPair));
		memset(r->pairs + r->n_pairs, 0, MOST_OF_GROUP * sizeof(OpenPair));
		r->n_pairs += MOST_OF_GROUP;
		*best = (uint32) (r->n_pairs / MOST_OF_GROUP);
	}
	pairs = r->pairs + ((Size) *best - 1) * MOST_OF_GROUP;
	/* one that is not there decides nothing */
	for (int i = 0; i < MOST_OF_GROUP; i++)
		if (pairs[i].decides == 0 || compare_pairs(&pair, &pairs[i]) < 0)
		{
			OpenPair next = pairs[i];

			pairs[i] = pair;
			pair = next;
			if (pair.decides == 0)
				return;
		}
}

/* Take a pair of rows of two groups, or of one, unless it is decided. */
static void
take_pair(Review *r, uint32 a, uint32 b, int distance, int64 decides)
{
	OpenPair pair = {.decides = decides,
					 .id = r->grouping.ids[a],
					 .a = a,
					 .b = b,
					 .distance = distance};
	bool is_inside = pair.id == r->grouping.ids[b];
	int halvings = (abs(2 * distance - r->twice_limit) + 1) / 2;

	/* a chain holds its ends together, however far they are apart */
	if (is_inside && r->options.method == SIMDUP_CONNECTED &&
		distance > r->options.max_distance)
		halvings = 1;
	pair.moves = ldexp((double) decides, -halvings);
	if (simdup_constraints_may_join(&r->decided.constraints, a, b) &&
		(is_inside || simdup_constraints_may_join(&r->groups, a, b)))
		keep_pair(r, pair);
}

/*
 * Take the pairs within a block: its first row with the first row of each other
 * fingerprint that is far enough. The array far has room for the rows.
 */
static void
take_inside(Review *r, const ReviewBlock *block, const SimdupSortItem *rows,
			SimdupSortItem *far)
{
	uint32 n_far = 0;

	for (uint32 i = 1; i < block->size; i++)
	{
		uint32 row = (uint32) rows[i].row;

		if (simdup_hamming64(r->fp[block->first], r->fp[row]) >=
			r->least_distance)
			far[n_far++] = (SimdupSortItem){r->fp[row], row};
	}
	simdup_sort_pairs(far, n_far);
	for (uint32 i = 0, next; i < n_far; i = next)
	{
		int64 n;

		CHECK_FOR_INTERRUPTS();
		for (next = i + 1; next < n_far && far[next].value == far[i].value;)
			next++;
		n = next - i;
		take_pair(r, block->first, (uint32) far[i].row,
				  simdup_hamming64(r->fp[block->first], far[i].value),
				  n * (block->size - n));
	}
}

/* Return the rows of groups, by id, scope and row. */
static SimdupSortItem *
sort_rows(const Review *r, Size *n)
{
	const int64 *ids = r->grouping.ids;
	uint32 n_rows = r->grouping.rows->n;
	SimdupSortItem *rows =
		simdup_alloc(((Size) n_rows + 1) * sizeof(SimdupSortItem));

	*n = 0;
	for (uint32 row = 0; row < n_rows; row++)
		if (ids[row] != SIMDUP_NO_ID)
			rows[(*n)++] = (SimdupSortItem){(uint64) ids[row],
											(uint64) r->scope[row] << 32 | row};
	simdup_sort_pairs(rows, *n);
	return rows;
}

/* Find the blocks, and take the pairs within them. */
static void
review_blocks(Review *r)
{
	Size n;
	SimdupSortItem *rows = sort_rows(r, &n);
	SimdupSortItem *far = simdup_alloc((n + 1) * sizeof(SimdupSortItem));
	uint32 group = 0; /* its first row */

	r->blocks = simdup_alloc((n + 1) * sizeof(ReviewBlock));
	(void) simdup_constraints_find(&r->groups, r->grouping.rows->n,
								   r->grouping.rows->n, &(SimdupDecisions){0});
	for (Size i = 0; i < n; i++)
	{
		bool same_id = i > 0 && rows[i].value == rows[i - 1].value;

		if (!same_id || rows[i].row >> 32 != rows[i - 1].row >> 32)
			r->blocks[r->n_blocks++] = (ReviewBlock){(uint32) rows[i].row, 0};
		r->blocks[r->n_blocks - 1].size++;
		group = same_id ? group : (uint32) rows[i].row;
		r->groups.component[(uint32) rows[i].row] = group;
	}
	find_cannot_links(r);
	r->best = simdup_alloc0(((Size) r->grouping.rows->n + 1) * sizeof(uint32));
	/* here, since the batch of the blocks has a memory context of its own */
	r->pairs =
		simdup_grow(NULL, &r->pairs_size, MOST_OF_GROUP, sizeof(OpenPair));
	for (Size i = 0, from = 0; i < r->n_blocks; from += r->blocks[i++].size)
		take_inside(r, &r->blocks[i], rows + from, far);
	simdup_free(rows);
	simdup_free(far);
}

typedef struct BlockPairs
{
	Review *review;
	SimdupRows *rows;
	SimdupFingerprint *of_block; /* by its first block */
} BlockPairs;

/*
 * Take the pairs of two fingerprints' blocks, which are of one scope, so of two groups:
 * a SimdupRowPairSink.
 */
static void
take_fingerprints(void *arg, uint32 a, uint32 b, uint32 distance)
{
	const BlockPairs *p = arg;
	const SimdupFingerprint *x = &p->of_block[a];
	const SimdupFingerprint *y = &p->of_block[b];

	for (uint32 i = 0; i < x->n; i++)
		for (uint32 j = a == b ? i + 1 : 0; j < y->n; j++)
		{
			uint32 one = simdup_row_at(p->rows, x->start + i);
			uint32 other = simdup_row_at(p->rows, y->start + j);
			const ReviewBlock *first = &p->review->blocks[Min(one, other)];
			const ReviewBlock *second = &p->review->blocks[Max(one, other)];

			CHECK_FOR_INTERRUPTS();
			take_pair(p->review, first->first, second->first, (int) distance,
					  (int64) first->size * second->size);
		}
}

/* Take the pairs of blocks whose first rows are near. */
static void
review_between(Review *r)
{
	SimdupFeed feed = {.function = "simdup_review",
					   .budget = r->grouping.rows->budget,
					   .scope_type = INT8OID};
	SimdupRows *rows = simdup_rows_feed(&feed, NULL);
	BlockPairs p = {.review = r, .rows = rows};

	for (Size i = 0; i < r->n_blocks; i++)
	{
		uint32 first = r->blocks[i].first;

		(void) simdup_rows_add(rows, &(SimdupRow){.fp = r->fp[first],
												  .scope = Int64GetDatum(
													  r->scope[first])});
	}
	simdup_rows_distinct(rows);
	p.of_block = simdup_alloc((r->n_blocks + 1) * sizeof(SimdupFingerprint));
	for (int64 i = 0; i < rows->n_distinct; i++)
	{
		SimdupFingerprint of = simdup_fingerprint_at(rows, i);
		uint32 first = simdup_row_at(rows, of.start);

		p.of_block[first] = of;
		take_fingerprints(&p, first, first, 0);
	}
	simdup_join_fingerprints(rows, r->most_distance, NULL, take_fingerprints,
							 &p);
	simdup_rows_end(rows);
}

/* Put a pair, or a decision that was passed over, with its chain if it has one. */
static void
put_pair(const Review *r, const OpenPair *pair, const SimdupDecision *passed,
		 const char *chain)
{
	const SimdupDecisionSet *d = &r->decided;
	/* keys of decisions alone are no rows' */
	uint32 n = r->grouping.rows == NULL ? 0 : d->rows->n;
	int64 id = pair->a < n ? r->grouping.ids[pair->a] : SIMDUP_NO_ID;
	int64 other = pair->b < n ? r->grouping.ids[pair->b] : SIMDUP_NO_ID;
	bool is_passed = passed != NULL;
	Datum values[9] = {Int64GetDatum(id),
					   Int64GetDatum(other),
					   CStringGetTextDatum(
						   simdup_keys_text(d->rows->keys, pair->a)),
					   CStringGetTextDatum(
						   simdup_keys_text(d->rows->keys, pair->b)),
					   Int32GetDatum(pair->distance),
					   Int64GetDatum(pair->decides),
					   Float8GetDatum(pair->moves),
					   BoolGetDatum(is_passed && passed->same),
					   chain == NULL ? (Datum) 0 : CStringGetTextDatum(chain)};
	bool nulls[9] =
		{id == SIMDUP_NO_ID, other == SIMDUP_NO_ID, [4] = is_passed,
		 [6] = is_passed,	 [7] = !is_passed,		[8] = chain == NULL};

	simdup_put_result(r->result, values, nulls);
}

/*
 * Put the decisions that contradict earlier ones. A chain takes a search, so only
 * those from first on have it, n_chains of them.
 */
static void
put_contradictions(const Review *r, size_t first, size_t n_chains)
{
	const SimdupDecisionSet *d = &r->decided;

	for (size_t i = 0; i < d->passed.n; i++)
	{
		const SimdupDecision *passed = &d->passed.items[i];
		bool has_chain = i >= first && i - first < n_chains;

		CHECK_FOR_INTERRUPTS();
		put_pair(r, &(OpenPair){.a = passed->a, .b = passed->b}, passed,
				 has_chain ? simdup_contradicted(d, passed) : NULL);
	}
}

/* Put the first n pairs between groups, and the first n within groups. */
static void
put_open_pairs(Review *r, int n)
{
	Size n_rows = (Size) r->grouping.rows->n + 1;
	int n_left[2] = {n, n};

	r->fp = simdup_alloc(n_rows * sizeof(uint64));
	r->scope = simdup_alloc(n_rows * sizeof(uint32));
	simdup_fingerprints_by_row(r->grouping.rows, r->fp, r->scope);
	set_limits(r);
	review_blocks(r);
	review_between(r);
	qsort(r->pairs, r->n_pairs, sizeof(OpenPair), compare_pairs);
	for (Size i = 0; i < r->n_pairs && r->pairs[i].decides > 0; i++)
		if (n_left[r->grouping.ids[r->pairs[i].b] == r->pairs[i].id]-- > 0)
			put_pair(r, &r->pairs[i], NULL, NULL);
}

static void
take_member(void *arg, Datum *values)
{
	(void) simdup_grouping_member(arg, values);
}

PG_FUNCTION_INFO_V1(simdup_review_pairs);
/*
 * Return simdup_review_pairs(source, members, decisions, max_distance, method,
 * min_resemblance, n, columns): contradictions, and more pairs than n, for contents
 * to choose from. Without a source, return contradictions alone.
 */
Datum
simdup_review_pairs(PG_FUNCTION_ARGS)
{
	bool has_source = !PG_ARGISNULL(0);
	Oid decisions = PG_GETARG_OID(2);
	Review r = {.result = simdup_begin_result(fcinfo)};
	SimdupRows *rows;

	if (PG_ARGISNULL(2) || (has_source && (PG_ARGISNULL(1) || PG_ARGISNULL(6))))
		elog(ERROR, "simdup_review_pairs called with a null argument");
	if (has_source)
	{
		r.options = simdup_options(fcinfo);
		r.grouping = simdup_grouping_read(fcinfo, NULL, false);
		simdup_grouping_table(r.grouping.rows, PG_GETARG_OID(1), "t.key, t.id",
							  "", 1, INT8OID, take_member, &r.grouping);
	}
	rows = has_source ? r.grouping.rows
					  : simdup_grouping_begin(fcinfo, (SimdupFeed){0}, NULL,
											  decisions, "a");
	r.decided = simdup_decisions_read(rows, decisions);
	if (has_source)
	{
		int n = Min(PG_GETARG_INT32(6), MOST_WANTED);

		put_contradictions(&r, 0, (size_t) Min(n, MOST_CHAINS));
		put_open_pairs(&r, n * CHOICE);
	}
	else
		put_contradictions(&r,
						   r.decided.passed.n -
							   Min(r.decided.passed.n, LAST_CHAINS),
						   LAST_CHAINS);
	simdup_rows_end(rows);
	return (Datum) 0;
}
