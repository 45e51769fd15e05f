/*
 * review.c
 *	  simdup_review_pairs: the undecided pairs of a grouping that are worth a
 *	  person's look, in the order in which an answer moves most rows.
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
#include "utils/lsyscache.h"

#include "batch/groups.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "server/arguments.h"
#include "server/settings.h"

/* Pairs of a group that are shown. */
#define MOST_OF_GROUP 3

/* Pairs within groups, and between groups, for each one that is wanted. */
#define CHOICE 10

/* The most pairs that are wanted. */
#define MOST_WANTED 1000000

typedef struct ReviewBlock
{
	uint32 first; /* row */
	uint32 size;
	uint32 group; /* by ascending ids */
} ReviewBlock;

typedef struct OpenPair
{
	double moves;
	int64 decides;
	uint32 group; /* that of the smaller id */
	uint32 other;
	uint32 a; /* rows */
	uint32 b;
	int distance;
} OpenPair;

typedef struct Review
{
	SimdupGrouping grouping;
	SimdupOptions options;
	SimdupDecided decided;
	uint64 *fp;	   /* by row */
	uint32 *scope; /* by row */

	ReviewBlock *blocks;
	Size n_blocks, blocks_size;
	int64 *ids; /* by group, ascending */
	uint32 n_groups;
	Size ids_size;
	SimdupWordSet cannot_link; /* pairs of groups */

	/* distances in question: within a group from the first on, else up to the last */
	int least_distance;
	int most_distance;
	int twice_limit;

	uint32 *best;	 /* by group: where its pairs are, from 1; 0: none */
	OpenPair *pairs; /* MOST_OF_GROUP for each group that has any */
	Size n_pairs, pairs_size;
} Review;

/*
 * Distances. With min_resemblance, contents decide at any distance.
 */
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

/* Return the group of an id, which is there. */
static uint32
group_of(const Review *r, int64 id)
{
	uint32 from = 0;
	uint32 to = r->n_groups;

	while (to - from > 1)
	{
		uint32 middle = from + (to - from) / 2;

		if (r->ids[middle] <= id)
			from = middle;
		else
			to = middle;
	}
	return from;
}

static uint64
pair_of_groups(uint32 a, uint32 b)
{
	/* 0 is no element of a set */
	return ((uint64) Min(a, b) << 32 | Max(a, b)) + 1;
}

/* Keep the pairs of groups of which rows are decided not to be the same. */
static void
find_cannot_links(Review *r)
{
	const SimdupDecisions *decisions = &r->decided.decisions;
	const int64 *ids = r->grouping.ids;
	uint32 n_rows = r->grouping.rows->n;

	for (size_t i = 0; i < decisions->n; i++)
	{
		const SimdupDecision *d = &decisions->items[i];

		CHECK_FOR_INTERRUPTS();
		if (!d->same && d->a < n_rows && d->b < n_rows &&
			ids[d->a] != SIMDUP_NO_ID && ids[d->b] != SIMDUP_NO_ID &&
			ids[d->a] != ids[d->b])
			simdup_wordset_add(&r->cannot_link,
							   pair_of_groups(group_of(r, ids[d->a]),
											  group_of(r, ids[d->b])));
	}
}

/* Compare two pairs of a group: those with the lower rows come first. */
static bool
is_before(const OpenPair *a, const OpenPair *b)
{
	if (a->moves != b->moves)
		return a->moves > b->moves;
	return a->b != b->b ? a->b < b->b : a->a < b->a;
}

/* Keep a pair if it is one of the first of its group. */
static void
keep_pair(Review *r, OpenPair pair)
{
	uint32 *best = &r->best[pair.group];
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
		if (pairs[i].decides == 0 || is_before(&pair, &pairs[i]))
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
take_pair(Review *r, const ReviewBlock *a, const ReviewBlock *b, uint32 row,
		  int distance, int64 decides)
{
	OpenPair pair = {.decides = decides,
					 .group = a->group,
					 .other = b->group,
					 .a = a->first,
					 .b = row,
					 .distance = distance};
	bool is_inside = a->group == b->group;
	int halvings = (abs(2 * distance - r->twice_limit) + 1) / 2;

	/* a chain holds its ends together, however far they are apart */
	if (is_inside && r->options.method == SIMDUP_CONNECTED &&
		distance > r->options.max_distance)
		halvings = 1;
	pair.moves = ldexp((double) decides, -halvings);
	if (!simdup_constraints_may_join(&r->decided.constraints, pair.a, pair.b))
		return;
	if (!is_inside &&
		simdup_wordset_has(&r->cannot_link,
						   pair_of_groups(pair.group, pair.other)))
		return;
	keep_pair(r, pair);
}

/*
 * Take the pairs within a block: its first row with the first row of each other
 * fingerprint that is far enough. The array far has room for the rows.
 */
static void
take_inside(Review *r, const ReviewBlock *block, const SimdupEntry *rows,
			SimdupEntry *far)
{
	uint32 n_far = 0;

	for (uint32 i = 1; i < block->size; i++)
	{
		uint32 row = (uint32) rows[i].row;

		if (simdup_hamming64(r->fp[block->first], r->fp[row]) >=
			r->least_distance)
			far[n_far++] = (SimdupEntry){r->fp[row], row};
	}
	simdup_sort_pairs(far, n_far);
	for (uint32 i = 0, next; i < n_far; i = next)
	{
		int64 n;

		CHECK_FOR_INTERRUPTS();
		for (next = i + 1; next < n_far && far[next].value == far[i].value;)
			next++;
		n = next - i;
		take_pair(r, block, block, (uint32) far[i].row,
				  simdup_hamming64(r->fp[block->first], far[i].value),
				  n * (block->size - n));
	}
}

/* Add a block, and its group if it is a new one. */
static void
add_block(Review *r, uint32 first, uint32 size)
{
	int64 id = r->grouping.ids[first];

	if (r->n_groups == 0 || r->ids[r->n_groups - 1] != id)
	{
		r->ids = simdup_grow(r->ids, &r->ids_size, (Size) r->n_groups + 1,
							 sizeof(int64));
		r->ids[r->n_groups++] = id;
	}
	r->blocks = simdup_grow(r->blocks, &r->blocks_size, r->n_blocks + 1,
							sizeof(ReviewBlock));
	r->blocks[r->n_blocks++] = (ReviewBlock){first, size, r->n_groups - 1};
}

/* Return the rows of groups, by id, scope and row. */
static SimdupEntry *
sort_rows(const Review *r, Size *n)
{
	const int64 *ids = r->grouping.ids;
	uint32 n_rows = r->grouping.rows->n;
	SimdupEntry *rows = simdup_alloc(((Size) n_rows + 1) * sizeof(SimdupEntry));

	*n = 0;
	for (uint32 row = 0; row < n_rows; row++)
		if (ids[row] != SIMDUP_NO_ID)
			rows[(*n)++] = (SimdupEntry){(uint64) ids[row],
										 (uint64) r->scope[row] << 32 | row};
	simdup_sort_pairs(rows, *n);
	return rows;
}

/* Find the blocks, and take the pairs within them. */
static void
review_blocks(Review *r)
{
	Size n;
	SimdupEntry *rows = sort_rows(r, &n);
	SimdupEntry *far = simdup_alloc((n + 1) * sizeof(SimdupEntry));

	for (Size from = 0, to; from < n; from = to)
	{
		for (to = from + 1; to < n && rows[to].value == rows[from].value &&
							rows[to].row >> 32 == rows[from].row >> 32;)
			to++;
		add_block(r, (uint32) rows[from].row, (uint32) (to - from));
	}
	find_cannot_links(r);
	r->best = simdup_alloc0(((Size) r->n_groups + 1) * sizeof(uint32));
	/* here, since the batch of the blocks has a memory context of its own */
	r->pairs =
		simdup_grow(NULL, &r->pairs_size, MOST_OF_GROUP, sizeof(OpenPair));
	for (Size i = 0, from = 0; i < r->n_blocks; from += r->blocks[i++].size)
		take_inside(r, &r->blocks[i], rows + from, far);
	simdup_free(rows);
	simdup_free(far);
}

static void
take_blocks(Review *r, uint32 a, uint32 b, int distance)
{
	const ReviewBlock *first = &r->blocks[Min(a, b)];
	const ReviewBlock *second = &r->blocks[Max(a, b)];

	/* the blocks of a group are of different scopes */
	take_pair(r, first, second, second->first, distance,
			  (int64) first->size * second->size);
}

typedef struct BlockPairs
{
	Review *review;
	uint32 *next; /* by block: the next one of its fingerprint */
} BlockPairs;

/* Take the pairs of two fingerprints' blocks: a SimdupRowPairSink. */
static void
take_fingerprints(void *arg, uint32 a, uint32 b, uint32 distance)
{
	const BlockPairs *p = arg;

	for (uint32 x = a; x != SIMDUP_NO_ROW; x = p->next[x])
		for (uint32 y = b; y != SIMDUP_NO_ROW; y = p->next[y])
			take_blocks(p->review, x, y, (int) distance);
}

/* Take the pairs of blocks whose first rows are near. */
static void
review_between(Review *r)
{
	SimdupFeed feed = {.function = "simdup_review",
					   .budget = r->grouping.rows->budget,
					   .scope_type = INT8OID};
	SimdupRows *rows = simdup_rows_feed(&feed, NULL);
	Size bytes = (r->n_blocks + 1) * sizeof(uint32);
	BlockPairs p = {r, memset(simdup_alloc(bytes), 0xff, bytes)};
	SimdupFingerprints *fingerprints;
	SimdupFingerprint equal;

	for (Size i = 0; i < r->n_blocks; i++)
	{
		uint32 first = r->blocks[i].first;

		(void) simdup_rows_add(rows, &(SimdupRow){.fp = r->fp[first],
												  .scope = Int64GetDatum(
													  r->scope[first])});
	}
	fingerprints = simdup_rows_distinct(rows);
	for (int64 i = 0; simdup_fingerprints_next_equal(fingerprints, &i, &equal);)
		for (uint32 j = equal.n - 1; j-- > 0;)
		{
			uint32 block = simdup_row_at(fingerprints, equal.start + j);

			p.next[block] = simdup_row_at(fingerprints, equal.start + j + 1);
			for (uint32 x = p.next[block]; x != SIMDUP_NO_ROW; x = p.next[x])
			{
				CHECK_FOR_INTERRUPTS();
				take_blocks(r, block, x, 0);
			}
		}
	simdup_join_fingerprints(fingerprints, r->most_distance, take_fingerprints,
							 &p);
	simdup_rows_end(rows);
}

static int
compare_pairs(const void *a, const void *b)
{
	const OpenPair *x = a;
	const OpenPair *y = b;

	if (x->moves != y->moves)
		return x->moves > y->moves ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (x->a > y->a) - (x->a < y->a);
}

static void
put_pair(const Review *r, const OpenPair *pair, ReturnSetInfo *result)
{
	const SimdupRows *rows = r->grouping.rows;
	Datum values[7] =
		{Int64GetDatum(r->ids[pair->group]),
		 Int64GetDatum(r->ids[pair->other]),
		 CStringGetTextDatum(
			 simdup_key_text(rows->key_type,
							 simdup_keys_get(rows->keys, pair->a, 0))),
		 CStringGetTextDatum(
			 simdup_key_text(rows->key_type,
							 simdup_keys_get(rows->keys, pair->b, 0))),
		 Int32GetDatum(pair->distance),
		 Int64GetDatum(pair->decides),
		 Float8GetDatum(pair->moves)};

	simdup_put_result(result, values, NULL);
}

PG_FUNCTION_INFO_V1(simdup_review_pairs);
/*
 * Return simdup_review_pairs(source, members, decisions, max_distance, method,
 * min_resemblance, n): more pairs than n, for contents to choose from.
 */
Datum
simdup_review_pairs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Review r = {.options = simdup_options(fcinfo)};
	int n_left[2]; /* between groups, within groups */
	SimdupRows *rows;
	Size n;

	if (simdup_has_null(fcinfo, 0, 3) || PG_ARGISNULL(6))
		elog(ERROR, "simdup_review_pairs called with a null argument");
	n_left[0] = n_left[1] = Min(PG_GETARG_INT32(6), MOST_WANTED) * CHOICE;
	set_limits(&r);
	r.grouping = simdup_grouping_read(fcinfo, NULL, false);
	rows = r.grouping.rows;
	n = (Size) rows->n + 1;
	r.fp = simdup_alloc(n * sizeof(uint64));
	r.scope = simdup_alloc(n * sizeof(uint32));
	simdup_fingerprints_by_row(r.grouping.fingerprints, r.fp, r.scope);
	r.decided = simdup_decisions_read(rows, PG_GETARG_OID(2));
	simdup_members_read(&r.grouping, PG_GETARG_OID(1), NULL, NULL);
	review_blocks(&r);
	review_between(&r);
	qsort(r.pairs, r.n_pairs, sizeof(OpenPair), compare_pairs);
	for (Size i = 0; i < r.n_pairs && r.pairs[i].decides > 0; i++)
		if (n_left[r.pairs[i].group == r.pairs[i].other]-- > 0)
			put_pair(&r, &r.pairs[i], result);
	simdup_rows_end(rows);
	return (Datum) 0;
}
