/*
 * allpairs.c
 *	  The all-pairs join by recursive pigeonhole partition.
 *
 * Cut the bits in which the set varies into k + r blocks: two fingerprints
 * within distance k agree in at least r of them. Partition by one block, each
 * part by a later block, and so on r times. Fingerprints that are still
 * together are compared one by one. If they are too many (skew), they are
 * joined again as a set of their own, with a new cut of the bits that still
 * vary. The cost of passes against the cost of comparisons decides r.
 *
 * A pair is reported on its first path only: the path whose r blocks are the
 * first r in which the pair agrees. So the pair must differ in each block that
 * the path skipped, and there is no set of results to deduplicate. A part that
 * is constant in a skipped block can hold no such pair and is left at once.
 * Otherwise dense clusters would be visited on every path.
 *
 * Parts are moved between two buffers of the size of the set. Invariant: a
 * call leaves in its set's `elements` those that it found there, in any order,
 * and anything in `scratch`.
 */
#include <math.h>

#include "core/fingerprint/hash.h"
#include "core/join/allpairs.h"
#include "core/join/pigeonhole.h"

#define MAX_BLOCKS 32 /* of one plan */
#define MAX_DEPTH 96  /* of nested partitions */
#define MAX_BUCKET_BITS 16
#define SMALL 32 /* sets up to this size are compared directly */
#define MAX_SAMPLE 512

/* Nanoseconds, roughly; only their ratio matters. */
#define COST_OF_MOVE 4.0
#define COST_OF_COMPARE 1.0

typedef struct RecursionPlan
{
	int n_blocks;
	int n_equal; /* blocks a pair must agree in: r */
	uint64_t blocks[MAX_BLOCKS];
	double cost;
} RecursionPlan;

/* Ends of the buckets of a partition, kept from one use to the next. */
typedef struct BucketEnds
{
	uint32_t *ends;
	size_t size;
} BucketEnds;

typedef struct RecursionWork
{
	SimdupPairJoin *join;
	bool cross;
	int depth;
	BucketEnds (*ends)[2]; /* of both sets, by depth */
	uint64_t unchecked;	   /* work since the last check for interrupts */
} RecursionWork;

static void join_sets(RecursionWork *work, SimdupPairSet a, SimdupPairSet b);
static void visit(RecursionWork *work, const RecursionPlan *plan, int first,
				  int n_equal, SimdupPairSet a, SimdupPairSet b);

/* Comparing */

static inline void
consider(const SimdupPairJoin *join, SimdupElement a, SimdupElement b)
{
	if (simdup_pair_counts(&join->path, a.fp ^ b.fp))
		join->sink(join->arg, a, b);
}

SIMDUP_POPCNT_CLONES static void
compare_across(RecursionWork *work, const SimdupElement *a, uint32_t na,
			   const SimdupElement *b, uint32_t nb)
{
	const SimdupPairJoin *join = work->join;
	int k = join->max_distance;

	for (uint32_t i = 0; i < na; i++)
	{
		SimdupElement element = a[i];

		for (uint32_t j = 0; j < nb; j++)
			if (simdup_hamming64(element.fp, b[j].fp) <= k &&
				element.fp != b[j].fp)
				consider(join, element, b[j]);
	}
	simdup_count_work(&work->unchecked, (uint64_t) na * nb);
}

/*
 * Compare within each bucket of a set, but those with more than `most`. Each
 * bucket counts as work: if nearly all pairs are near and were found on an earlier
 * path, the buckets together take long and call no sink.
 */
SIMDUP_POPCNT_CLONES static void
compare_within(RecursionWork *work, const SimdupElement *set,
			   const uint32_t *ends, uint32_t n_buckets, uint32_t most)
{
	const SimdupPairJoin *join = work->join;
	int k = join->max_distance;
	uint32_t start = 0;

	for (uint32_t bucket = 0; bucket < n_buckets; start = ends[bucket++])
	{
		const SimdupElement *own = set + start;
		uint32_t n = ends[bucket] - start;

		if (n > most)
			continue;
		for (uint32_t i = 1; i < n; i++)
		{
			SimdupElement element = own[i];

			for (uint32_t j = 0; j < i; j++)
				if (simdup_hamming64(element.fp, own[j].fp) <= k)
					consider(join, own[j], element);
		}
		simdup_count_work(&work->unchecked, (uint64_t) n * n);
	}
}

/* Compare everything with everything, in squares that fit the L1 cache. */
static void
compare_all(RecursionWork *work, SimdupPairSet a, SimdupPairSet b)
{
	const uint32_t side = 1024;

	for (uint32_t i = 0; i < a.n; i += side)
	{
		uint32_t rows = a.n - i < side ? a.n - i : side;
		SimdupPairSet against = work->cross ? b : a;
		uint32_t end = work->cross ? b.n : i;

		if (work->depth == 0 && work->join->progress)
			work->join->progress(work->join->arg, (double) i / a.n);
		for (uint32_t j = 0; j < end; j += side)
		{
			uint32_t columns = end - j < side ? end - j : side;

			compare_across(work, a.elements + i, rows, against.elements + j,
						   columns);
		}
		if (!work->cross)
			compare_within(work, a.elements + i, &rows, 1, side);
	}
}

/* Planning */

/* Return the bits in which the fingerprints of both sets differ. */
static uint64_t
varying_bits(SimdupPairSet a, SimdupPairSet b)
{
	uint64_t first = a.elements[0].fp;
	uint64_t varying = 0;

	for (uint32_t i = 1; i < a.n; i++)
		varying |= a.elements[i].fp ^ first;
	for (uint32_t i = 0; i < b.n; i++)
		varying |= b.elements[i].fp ^ first;
	return varying;
}

/* Add up the bits of at most MAX_SAMPLE fingerprints; how many they were. */
static uint32_t
sample_bits(SimdupPairSet s, uint32_t *ones)
{
	uint32_t step = s.n / MAX_SAMPLE + 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.n; i += step, n++)
		for (int bit = 0; bit < 64; bit++)
			ones[bit] += (uint32_t) (s.elements[i].fp >> bit & 1);
	return n;
}

/*
 * Choose r by its cost: C(k + l, l) partitions at each level l up to r, then
 * the comparisons of pairs that are equal in r of k + r blocks. With r = 0, all
 * pairs are compared.
 */
static void
choose_equal_blocks(int k, int n_bits, double entropy, double rows,
					double pairs, RecursionPlan *plan)
{
	double moves = 0;
	double ways = 1; /* C(k + r, r) */

	for (int r = 1; k + r <= n_bits && k + r <= MAX_BLOCKS; r++)
	{
		double cost;

		ways = ways * (k + r) / r;
		moves += ways * rows;
		cost = moves * COST_OF_MOVE +
			   ways * pairs * exp2(-r * entropy / (k + r)) * COST_OF_COMPARE;
		if (cost < plan->cost)
		{
			plan->cost = cost;
			plan->n_equal = r;
		}
		if (moves * COST_OF_MOVE > plan->cost)
			break;
	}
}

static RecursionPlan
make_plan(int k, bool cross, SimdupPairSet a, SimdupPairSet b, uint64_t varying)
{
	double pairs = (double) a.n * (cross ? (double) b.n : (double) a.n / 2);
	RecursionPlan plan = {.cost = pairs * COST_OF_COMPARE};
	int n_bits = simdup_popcount64(varying);
	uint32_t ones[64] = {0};
	uint32_t n_sampled;

	if (n_bits <= k)
		return plan;
	n_sampled = sample_bits(a, ones) + sample_bits(b, ones);
	choose_equal_blocks(k, n_bits,
						simdup_total_entropy(varying, ones, n_sampled),
						(double) a.n + b.n, pairs, &plan);
	plan.n_blocks = k + plan.n_equal;
	if (plan.n_equal > 0)
		simdup_cut_blocks(varying, ones, n_sampled, plan.n_blocks, plan.blocks);
	return plan;
}

/* Partitioning */

/*
 * The bucket of a fingerprint: the highest bits of its block, moved to the top, times
 * a number without a factor 2. A block without gaps has one bucket a value.
 * With gaps, values may share a bucket, and `same` tells them apart. Each depth
 * has its own number, so that values that collide once are parted later.
 */
typedef struct Bucketing
{
	uint64_t block;
	uint64_t factor;
	int left_shift;
	int right_shift;
} Bucketing;

static inline uint32_t
bucket_of(Bucketing h, uint64_t fp)
{
	return (uint32_t) ((((fp & h.block) << h.left_shift) * h.factor) >>
					   h.right_shift);
}

/*
 * Return the binary digits of the number of buckets: the block's number of
 * values, or about a tenth of the set.
 */
static int
bucket_bits(uint64_t block, uint32_t n)
{
	int bits = 29 - __builtin_clz(n | 16); /* 2 or more */
	int width = simdup_popcount64(block);

	if (bits > MAX_BUCKET_BITS)
		bits = MAX_BUCKET_BITS;
	if (bits > width)
		bits = width;
	return bits;
}

/*
 * Move a set to its other buffer, bucket by bucket. Return the buckets' ends, in
 * memory of this side of the join and this depth.
 */
static uint32_t *
partition(RecursionWork *work, int side, SimdupPairSet *s, uint64_t block,
		  int bits)
{
	Bucketing h = {.block = block,
				   .factor = SIMDUP_GOLDEN + 2 * (uint64_t) work->depth *
												 UINT64_C(0xbf58476d1ce4e5b9),
				   .left_shift = __builtin_clzll(block),
				   .right_shift = 64 - bits};
	uint32_t n_buckets = UINT32_C(1) << bits;
	BucketEnds *room = &work->ends[work->depth][side];
	uint32_t *ends =
		simdup_grow(room->ends, &room->size, n_buckets, sizeof(uint32_t));
	SimdupElement *from = s->elements;
	SimdupElement *to = s->scratch;
	uint32_t n = s->n;

	room->ends = memset(ends, 0, n_buckets * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		ends[bucket_of(h, from[i].fp)]++;
	simdup_sum_up(ends, n_buckets, 0);
	for (uint32_t i = 0; i < n; i++)
		to[ends[bucket_of(h, from[i].fp)]++] = from[i];
	s->elements = to;
	s->scratch = from;
	simdup_count_work(&work->unchecked, (uint64_t) n * 4);
	return ends;
}

static inline SimdupPairSet
part_of(SimdupPairSet s, uint32_t start, uint32_t end)
{
	return (SimdupPairSet){s.elements + start, s.scratch + start, end - start};
}

/* What is together in one bucket: compare it, or go on. */
static void
visit_bucket(RecursionWork *work, const RecursionPlan *plan, int next,
			 int n_equal, SimdupPairSet a, SimdupPairSet b)
{
	if (!work->cross && a.n <= SMALL)
		return; /* visit_block had it compared */
	if (work->cross && (a.n == 0 || b.n == 0))
		return;
	if (work->cross && a.n <= SMALL && b.n <= SMALL)
	{
		compare_across(work, a.elements, a.n, b.elements, b.n);
		return;
	}
	work->depth++;
	if (n_equal > 0)
		visit(work, plan, next, n_equal, a, b);
	else
		join_sets(work, a, b);
	work->depth--;
}

static void
visit_block(RecursionWork *work, const RecursionPlan *plan, int block,
			int n_equal, SimdupPairSet *a, SimdupPairSet *b)
{
	SimdupPairJoin *join = work->join;
	uint64_t mask = plan->blocks[block];
	uint64_t same = join->path.same;
	int bits = bucket_bits(mask, a->n > b->n ? a->n : b->n);
	uint32_t n_buckets = UINT32_C(1) << bits;
	uint32_t *a_ends = partition(work, 0, a, mask, bits);
	uint32_t *b_ends = work->cross ? partition(work, 1, b, mask, bits) : NULL;
	uint32_t a_start = 0;
	uint32_t b_start = 0;

	join->path.same |= mask;
	if (!work->cross)
		compare_within(work, a->elements, a_ends, n_buckets, SMALL);

	for (uint32_t i = 0; i < n_buckets; i++)
	{
		uint32_t b_end = b_ends ? b_ends[i] : 0;

		visit_bucket(work, plan, block + 1, n_equal - 1,
					 part_of(*a, a_start, a_ends[i]),
					 part_of(*b, b_start, b_end));
		a_start = a_ends[i];
		b_start = b_end;
		if (work->depth == 0 && join->progress && i % 64 == 0)
			join->progress(join->arg, (block + (double) i / n_buckets) /
										  (plan->n_blocks - n_equal + 1));
	}
	join->path.same = same;
}

/* Visit the pairs that agree in n_equal more blocks, from `first` on. */
static void
visit(RecursionWork *work, const RecursionPlan *plan, int first, int n_equal,
	  SimdupPairSet a, SimdupPairSet b)
{
	SimdupPairPath *path = &work->join->path;
	SimdupElement *a_home = a.elements;
	SimdupElement *b_home = b.elements;
	int n_skipped = path->n_skipped;

	if (n_skipped && !simdup_differs_in_skipped(path, varying_bits(a, b)))
		return;
	for (int block = first; block <= plan->n_blocks - n_equal; block++)
	{
		visit_block(work, plan, block, n_equal, &a, &b);
		path->skipped[path->n_skipped++] = plan->blocks[block];
	}
	path->n_skipped = n_skipped;
	/* keep the invariant: the sets are back where the caller had them */
	if (a.elements != a_home)
		memcpy(a_home, a.elements, a.n * sizeof(SimdupElement));
	if (b.elements != b_home)
		memcpy(b_home, b.elements, b.n * sizeof(SimdupElement));
}

/* Join a set as if it were new: its own varying bits, its own plan. */
static void
join_sets(RecursionWork *work, SimdupPairSet a, SimdupPairSet b)
{
	SimdupPairPath *path = &work->join->path;
	uint64_t varying = varying_bits(a, b);
	RecursionPlan plan = {0};

	if (!simdup_differs_in_skipped(path, varying))
		return;
	/* too deep only for a set made to collide: then compare */
	if (work->depth + MAX_BLOCKS < MAX_DEPTH &&
		path->n_skipped + MAX_BLOCKS <= SIMDUP_MAX_SKIPPED)
		plan = make_plan(work->join->max_distance, work->cross, a, b, varying);
	if (plan.n_equal == 0)
		compare_all(work, a, b);
	else
		visit(work, &plan, 0, plan.n_equal, a, b);
}

/* Return the second set of a join. A self join has none, and only a's place. */
static SimdupPairSet
second_set(SimdupPairSet a, const SimdupPairSet *b)
{
	return b != NULL ? *b : (SimdupPairSet){a.elements, a.scratch, 0};
}

double
simdup_recursion_cost(const SimdupPairJoin *join, SimdupPairSet a,
					  const SimdupPairSet *b, uint64_t *varying)
{
	SimdupPairSet other = second_set(a, b);

	*varying = varying_bits(a, other);
	return make_plan(join->max_distance, b != NULL, a, other, *varying).cost;
}

void
simdup_join_by_recursion(SimdupPairJoin *join, SimdupPairSet a,
						 const SimdupPairSet *b)
{
	RecursionWork work = {.join = join, .cross = b != NULL};

	if (join->max_distance == 0 || a.n == 0 || (b != NULL && b->n == 0))
		return;
	/* so few need no plan: a caller may have a hundred thousand such sets */
	if (b == NULL && a.n <= SMALL)
	{
		compare_within(&work, a.elements, &a.n, 1, SMALL);
		return;
	}
	work.ends = simdup_alloc0(MAX_DEPTH * sizeof(*work.ends));
	join_sets(&work, a, second_set(a, b));
	for (int depth = 0; depth < MAX_DEPTH; depth++)
		for (int side = 0; side < 2; side++)
			simdup_free(work.ends[depth][side].ends);
	simdup_free(work.ends);
}
