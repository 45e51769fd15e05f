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
 * call leaves in its slice's `cur` the set that it found there, in any order,
 * and anything in `other`.
 */
#include <math.h>
#include <string.h>

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "core/join/allpairs.h"
#include "core/join/pigeonhole.h"

#define MAX_BLOCKS 32 /* of one plan */
#define MAX_DEPTH 96  /* of nested partitions */
#define MAX_BUCKET_BITS 16
#define SMALL 32 /* so few are compared, not partitioned */
#define MAX_SAMPLE 512

/* Nanoseconds, roughly; only their ratio matters. */
#define COST_OF_MOVE 4.0
#define COST_OF_COMPARE 1.0

typedef struct Slice
{
	SimdupElement *cur;
	SimdupElement *other;
	uint32_t n;
} Slice;

typedef struct RecursionPlan
{
	int n_blocks;
	int n_equal; /* blocks a pair must agree in: r */
	uint64_t blocks[MAX_BLOCKS];
	double cost;
} RecursionPlan;

typedef struct RecursionWork
{
	SimdupPairJoin *join;
	bool cross;
	int depth;
	/* bucket ends of the sets, by depth; kept from one use to the next */
	uint32_t *ends[2][MAX_DEPTH];
	int ends_bits[2][MAX_DEPTH];
	uint64_t unchecked; /* work since the last look at interrupts */
} RecursionWork;

static void join_slices(RecursionWork *work, Slice a, Slice b);

static inline void
count_work(RecursionWork *work, uint64_t amount)
{
	work->unchecked += amount;
	if (work->unchecked >= 1000000)
	{
		work->unchecked = 0;
		simdup_check_interrupts();
	}
}

/* Comparing */

static inline void
consider(const SimdupPairJoin *join, SimdupElement a, SimdupElement b)
{
	if (simdup_on_path(&join->path, a.fp ^ b.fp))
		join->sink(join->arg, a, b);
}

static inline void
compare_within(const SimdupPairJoin *join, const SimdupElement *set, uint32_t n)
{
	int k = join->max_distance;

	for (uint32_t i = 1; i < n; i++)
	{
		SimdupElement element = set[i];

		for (uint32_t j = 0; j < i; j++)
			if (simdup_hamming64(element.fp, set[j].fp) <= k)
				consider(join, set[j], element);
	}
}

static inline void
compare_across(const SimdupPairJoin *join, const SimdupElement *a, uint32_t na,
			   const SimdupElement *b, uint32_t nb)
{
	int k = join->max_distance;

	for (uint32_t i = 0; i < na; i++)
	{
		SimdupElement element = a[i];

		for (uint32_t j = 0; j < nb; j++)
			if (simdup_hamming64(element.fp, b[j].fp) <= k &&
				element.fp != b[j].fp)
				consider(join, element, b[j]);
	}
}

/*
 * Buckets of one partition, those that are small enough to compare. The first
 * of them begins at `start`; returns where the last one ends.
 */
SIMDUP_POPCNT_CLONES static uint32_t
compare_small_within(const SimdupPairJoin *join, const SimdupElement *set,
					 uint32_t start, const uint32_t *ends, uint32_t n_buckets)
{
	for (uint32_t i = 0; i < n_buckets; i++)
	{
		uint32_t n = ends[i] - start;

		if (n > 1 && n <= SMALL)
			compare_within(join, set + start, n);
		start = ends[i];
	}
	return start;
}

/*
 * Compare a partition's small buckets, some at a time, to stay interruptible.
 * If nearly all pairs are near and were found on an earlier path, the buckets
 * together take long and call no sink.
 */
static void
compare_small(RecursionWork *work, Slice s, const uint32_t *ends,
			  uint32_t n_buckets)
{
	const uint32_t stride = 1024;
	uint32_t start = 0;

	for (uint32_t i = 0; i < n_buckets; i += stride)
	{
		uint32_t n = n_buckets - i < stride ? n_buckets - i : stride;
		uint32_t end =
			compare_small_within(work->join, s.cur, start, ends + i, n);

		count_work(work, (uint64_t) (end - start) * SMALL);
		start = end;
	}
}

/* A long comparison, one stripe of rows at a time to stay interruptible. */
SIMDUP_POPCNT_CLONES static void
compare_stripe(const SimdupPairJoin *join, const SimdupElement *a, uint32_t na,
			   const SimdupElement *b, uint32_t nb)
{
	compare_across(join, a, na, b, nb);
}

SIMDUP_POPCNT_CLONES static void
compare_triangle(const SimdupPairJoin *join, const SimdupElement *set,
				 uint32_t n)
{
	compare_within(join, set, n);
}

/* Compare everything with everything, in squares that fit the L1 cache. */
static void
compare_all(RecursionWork *work, Slice a, Slice b)
{
	const uint32_t side = 1024;

	for (uint32_t i = 0; i < a.n; i += side)
	{
		uint32_t rows = a.n - i < side ? a.n - i : side;
		Slice against = work->cross ? b : a;
		uint32_t end = work->cross ? b.n : i;

		if (work->depth == 0 && work->join->progress)
			work->join->progress(work->join->arg, (double) i / a.n);
		for (uint32_t j = 0; j < end; j += side)
		{
			uint32_t columns = end - j < side ? end - j : side;

			compare_stripe(work->join, a.cur + i, rows, against.cur + j,
						   columns);
			count_work(work, (uint64_t) rows * columns);
		}
		if (!work->cross)
		{
			compare_triangle(work->join, a.cur + i, rows);
			count_work(work, (uint64_t) rows * rows / 2);
		}
	}
}

/* Planning */

/* Return the bits in which the fingerprints of both slices differ. */
static uint64_t
varying_bits(Slice a, Slice b)
{
	uint64_t any = 0;
	uint64_t all = ~UINT64_C(0);

	for (uint32_t i = 0; i < a.n; i++)
	{
		any |= a.cur[i].fp;
		all &= a.cur[i].fp;
	}
	for (uint32_t i = 0; i < b.n; i++)
	{
		any |= b.cur[i].fp;
		all &= b.cur[i].fp;
	}
	return any ^ all;
}

/* Check whether all agree in a block that the path skipped. */
static bool
path_is_closed(const SimdupPairPath *path, uint64_t varying)
{
	for (int i = path->n_skipped - 1; i >= 0; i--)
		if (!(path->skipped[i] & varying))
			return true;
	return false;
}

/* Add up the bits of at most MAX_SAMPLE fingerprints; how many they were. */
static uint32_t
sample_bits(Slice s, uint32_t *ones)
{
	uint32_t step = s.n / MAX_SAMPLE + 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.n; i += step, n++)
		for (int bit = 0; bit < 64; bit++)
			ones[bit] += (uint32_t) (s.cur[i].fp >> bit & 1);
	return n;
}

/*
 * Choose r by its cost: C(k + l, l) partitions at each level l up to r, then
 * the comparisons of pairs that are equal in r of k + r blocks. With r = 0, all
 * pairs are compared.
 */
static int
choose_equal_blocks(int k, int n_bits, double entropy, double rows,
					double pairs, double *least_cost)
{
	double best_cost = pairs * COST_OF_COMPARE;
	double moves = 0;
	double ways = 1; /* C(k + r, r) */
	int best = 0;
	int r;

	for (r = 1; k + r <= n_bits && k + r <= MAX_BLOCKS; r++)
	{
		double cost;

		ways = ways * (k + r) / r;
		moves += ways * rows;
		cost = moves * COST_OF_MOVE +
			   ways * pairs * exp2(-r * entropy / (k + r)) * COST_OF_COMPARE;
		if (cost < best_cost)
		{
			best_cost = cost;
			best = r;
		}
		if (moves * COST_OF_MOVE > best_cost)
			break;
	}
	*least_cost = best_cost;
	return best;
}

static void
make_plan(const RecursionWork *work, Slice a, Slice b, uint64_t varying,
		  RecursionPlan *plan)
{
	int k = work->join->max_distance;
	uint32_t ones[64] = {0};
	uint32_t n_sampled = sample_bits(a, ones) + sample_bits(b, ones);
	double pairs = work->cross ? (double) a.n * b.n : (double) a.n * a.n / 2;

	plan->n_equal =
		choose_equal_blocks(k, simdup_popcount64(varying),
							simdup_total_entropy(varying, ones, n_sampled),
							(double) a.n + b.n, pairs, &plan->cost);
	plan->n_blocks = k + plan->n_equal;
	if (plan->n_equal > 0)
		simdup_cut_blocks(varying, ones, n_sampled, plan->n_blocks,
						  plan->blocks);
}

/* Partitioning */

/* Return room for the bucket ends of one side at this depth. */
static uint32_t *
bucket_ends(RecursionWork *work, int side, int bits)
{
	uint32_t **ends = &work->ends[side][work->depth];
	int *have = &work->ends_bits[side][work->depth];

	if (*ends == NULL || *have < bits)
	{
		simdup_free(*ends);
		*ends = simdup_alloc(((size_t) 1 << bits) * sizeof(uint32_t));
		*have = bits;
	}
	return *ends;
}

/*
 * The bucket of a fingerprint: its block, moved to the top, times an odd number;
 * of the product the highest bits. A block without gaps has one bucket a value.
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

static Bucketing
bucketing_by(uint64_t block, int bits, int depth)
{
	Bucketing h;

	h.block = block;
	h.factor = UINT64_C(0x9e3779b97f4a7c15) +
			   2 * (uint64_t) depth * UINT64_C(0xbf58476d1ce4e5b9);
	h.left_shift = block ? __builtin_clzll(block) : 0;
	h.right_shift = 64 - bits;
	return h;
}

/*
 * Return the binary digits of the number of buckets: the block's number of
 * values, or about a tenth of the set.
 */
static int
bucket_bits(uint64_t block, uint32_t n)
{
	int bits = 29 - __builtin_clz(n | 16);
	int width = simdup_popcount64(block);

	if (bits > MAX_BUCKET_BITS)
		bits = MAX_BUCKET_BITS;
	if (bits > width)
		bits = width;
	return bits > 0 ? bits : 1;
}

/* Move the slice's set to its other buffer, bucket by bucket. */
static void
partition(Slice *s, Bucketing h, uint32_t *ends, uint32_t n_buckets)
{
	SimdupElement *from = s->cur;
	SimdupElement *to = s->other;
	uint32_t sum = 0;

	memset(ends, 0, n_buckets * sizeof(uint32_t));
	for (uint32_t i = 0; i < s->n; i++)
		ends[bucket_of(h, from[i].fp)]++;
	for (uint32_t i = 0; i < n_buckets; i++)
	{
		uint32_t count = ends[i];

		ends[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < s->n; i++)
		to[ends[bucket_of(h, from[i].fp)]++] = from[i];
	s->cur = to;
	s->other = from;
}

static inline Slice
part_of(Slice s, uint32_t start, uint32_t end)
{
	Slice part = {s.cur + start, s.other + start, end - start};

	return part;
}

/* Keep the invariant: the set is back where the caller had it. */
static void
restore(Slice s, SimdupElement *home)
{
	if (s.cur != home)
		memcpy(home, s.cur, s.n * sizeof(SimdupElement));
}

static void visit(RecursionWork *work, const RecursionPlan *plan, int first,
				  int n_equal, Slice a, Slice b);

/* What is together in one bucket: compare it, or go on. */
static void
visit_bucket(RecursionWork *work, const RecursionPlan *plan, int next,
			 int n_equal, Slice a, Slice b)
{
	if (work->cross)
	{
		if (a.n == 0 || b.n == 0)
			return;
		if (a.n <= SMALL && b.n <= SMALL)
		{
			compare_stripe(work->join, a.cur, a.n, b.cur, b.n);
			count_work(work, (uint64_t) a.n * b.n);
			return;
		}
	}
	else if (a.n <= SMALL)
		return; /* compare_small_within had it */

	work->depth++;
	if (n_equal > 0)
		visit(work, plan, next, n_equal, a, b);
	else
		join_slices(work, a, b);
	work->depth--;
}

/* Partition by one block and visit each bucket. */
static void
visit_block(RecursionWork *work, const RecursionPlan *plan, int block,
			int n_equal, Slice *a, Slice *b)
{
	SimdupPairJoin *join = work->join;
	uint64_t mask = plan->blocks[block];
	uint64_t same = join->path.same;
	int bits = bucket_bits(mask, a->n > b->n ? a->n : b->n);
	Bucketing h = bucketing_by(mask, bits, work->depth);
	uint32_t n_buckets = UINT32_C(1) << bits;
	uint32_t *a_ends = bucket_ends(work, 0, bits);
	uint32_t *b_ends = work->cross ? bucket_ends(work, 1, bits) : NULL;
	uint32_t a_start = 0;
	uint32_t b_start = 0;

	join->path.same |= mask;
	partition(a, h, a_ends, n_buckets);
	count_work(work, (uint64_t) a->n * 4);
	if (b_ends)
	{
		partition(b, h, b_ends, n_buckets);
		count_work(work, (uint64_t) b->n * 4);
	}
	else
		compare_small(work, *a, a_ends, n_buckets);

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
	  Slice a, Slice b)
{
	SimdupPairPath *path = &work->join->path;
	SimdupElement *a_home = a.cur;
	SimdupElement *b_home = b.cur;
	int n_skipped = path->n_skipped;

	if (n_skipped && path_is_closed(path, varying_bits(a, b)))
		return;
	for (int block = first; block <= plan->n_blocks - n_equal; block++)
	{
		visit_block(work, plan, block, n_equal, &a, &b);
		path->skipped[path->n_skipped++] = plan->blocks[block];
	}
	path->n_skipped = n_skipped;
	restore(a, a_home);
	if (work->cross)
		restore(b, b_home);
}

/* Join a set as if it were new: its own varying bits, its own plan. */
static void
join_slices(RecursionWork *work, Slice a, Slice b)
{
	SimdupPairPath *path = &work->join->path;
	uint64_t varying = varying_bits(a, b);
	RecursionPlan plan;

	if (path_is_closed(path, varying))
		return;
	memset(&plan, 0, sizeof(plan));
	/* too deep only for a set made to collide: then compare */
	if (simdup_popcount64(varying) > work->join->max_distance &&
		work->depth + MAX_BLOCKS < MAX_DEPTH &&
		path->n_skipped + MAX_BLOCKS <= SIMDUP_MAX_SKIPPED)
		make_plan(work, a, b, varying, &plan);
	if (plan.n_equal == 0)
		compare_all(work, a, b);
	else
		visit(work, &plan, 0, plan.n_equal, a, b);
}

double
simdup_recursion_cost(SimdupPairJoin *join, bool cross, SimdupPairSet a,
					  SimdupPairSet b, uint64_t *varying)
{
	RecursionWork work = {.join = join, .cross = cross};
	Slice sa = {a.elements, a.scratch, (uint32_t) a.n};
	Slice sb = {b.elements, b.scratch, (uint32_t) b.n};
	RecursionPlan plan = {.cost = (double) a.n * (double) (cross ? b.n : a.n)};

	*varying = varying_bits(sa, sb);
	if (simdup_popcount64(*varying) > join->max_distance)
		make_plan(&work, sa, sb, *varying, &plan);
	return plan.cost;
}

void
simdup_join_by_recursion(SimdupPairJoin *join, bool cross, SimdupPairSet a,
						 SimdupPairSet b)
{
	RecursionWork *work;
	Slice sa = {a.elements, a.scratch, (uint32_t) a.n};
	Slice sb = {b.elements, b.scratch, (uint32_t) b.n};

	if (join->max_distance == 0 || a.n < (cross ? 1 : 2) || (cross && b.n < 1))
		return;
	/* so few need no plan: a caller may have a hundred thousand such sets */
	if (!cross && a.n <= SMALL)
	{
		compare_triangle(join, a.elements, (uint32_t) a.n);
		return;
	}
	work = simdup_alloc0(sizeof(RecursionWork));
	work->join = join;
	work->cross = cross;
	join_slices(work, sa, sb);
	for (int side = 0; side < 2; side++)
		for (int depth = 0; depth < MAX_DEPTH; depth++)
			if (work->ends[side][depth])
				simdup_free(work->ends[side][depth]);
	simdup_free(work);
}
