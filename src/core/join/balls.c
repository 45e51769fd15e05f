/*
 * balls.c
 *	  The all-pairs join by balls of buckets.
 *
 * Cut the bits that vary into blocks, and give each block a radius, so that the
 * radii plus one add up to the distance k plus one. Sort the fingerprints into
 * buckets by some bits of a block, its key. A bucket meets each bucket whose key
 * is within the block's radius of its own, and itself.
 *
 * No pair is missed. A pair that is beyond the radius in every block differs in
 * at least radius + 1 bits of each. These add up to k + 1. So a pair within k
 * is within the radius in some block, and also in the bits of its key. Its two
 * buckets meet.
 *
 * No pair is found twice. Two buckets meet once in a block: the one whose key
 * has no bit at the highest place where they differ meets the other. A pair
 * counts in the first block in which it is within the radius, all bits of the
 * block counted.
 *
 * Keys are so long that a bucket has some five fingerprints. Those of all buckets
 * that a bucket meets are copied together, into a run. Vector instructions
 * compare the run with the bucket, and look again where something is near. The
 * high bits of a key name a tile. Buckets are visited tile by tile, so the
 * buckets that they meet are in the cache.
 *
 * Two buckets with very many pairs (skew) are a join of their own.
 */
#include <string.h>

#include "core/join/ball.h"

#define RUN 1024		/* fingerprints that are copied together */
#define LONG_BUCKET 128 /* a longer one is compared where it is */
#define STRIPE 256		/* codes of a bucket that are compared at once */
#define MIN_ELEMENTS 64

/* Nanoseconds of a join that is worth a plan, and of one that is worth help. */
#define WORTH_PLANNING 2e5
#define WORTH_HELP 1e8

/* Joins within joins. */
#define MAX_NESTED 2

/* A bucket in a run: where it begins there, and in the codes. */
typedef struct RunBucket
{
	uint32_t at;
	uint32_t start;
} RunBucket;

/* What all who take part know of a join. Codes and starts follow it. */
typedef struct JoinTask
{
	SimdupBallPlan plan;
	int block; /* the current one */
	int max_distance;
	bool cross;
	uint32_t n[2];
} JoinTask;

/* What one who takes part knows. */
struct SimdupTileWorker
{
	JoinTask *task;
	SimdupPairJoin *join;
	SimdupPairPut put;
	void *put_arg;
	SimdupSorted a;
	SimdupSorted b; /* of a self join: a */

	SimdupComparison comparison;
	const SimdupComparer *comparer;

	/* the differences of the keys of buckets that meet, by their highest bit */
	uint32_t ball[SIMDUP_MAX_BALL];
	uint32_t ball_ends[SIMDUP_MAX_KEY_BITS];

	/* the buckets that were met, copied; or one that is compared where it is */
	uint64_t run[RUN + LONG_BUCKET + SIMDUP_COMPARED];
	RunBucket met[RUN];
	uint32_t n_met;
	uint32_t n_run;

	uint32_t own;		/* the codes from here on are compared now */
	uint64_t unchecked; /* work since the last check for interrupts */
};

uint64_t simdup_many_pairs = UINT64_C(1) << 28;

/* Found pairs */

/* Report two near fingerprints, by their positions among the codes. */
static void
report(SimdupTileWorker *work, uint32_t a, uint32_t b)
{
	uint64_t x = work->a.codes[a] ^ work->b.codes[b];

	if (x != 0 && simdup_pair_counts(&work->join->path, x))
		work->put(work->put_arg, a, b);
}

/* Found by a join of two buckets, whose indexes are positions among the codes. */
static void
found_among_many(void *arg, SimdupElement a, SimdupElement b)
{
	SimdupTileWorker *work = arg;

	if (simdup_is_first_block(&work->comparison, a.fp ^ b.fp))
		report(work, (uint32_t) a.index, (uint32_t) b.index);
}

/* Found by a comparison: number i of the bucket's own codes, and j of a run. */
static void
found_in_run(void *arg, uint32_t i, uint32_t j)
{
	SimdupTileWorker *work = arg;
	uint32_t low = 0;
	uint32_t high = work->n_met;

	while (high - low > 1)
	{
		uint32_t middle = low + (high - low) / 2;

		if (work->met[middle].at <= j)
			low = middle;
		else
			high = middle;
	}
	report(work, work->own + i, work->met[low].start + j - work->met[low].at);
}

/* Meeting */

/* Compare n codes with m others, of the buckets that were met. */
static void
compare_stripe(SimdupTileWorker *work, uint32_t own, uint32_t n,
			   const uint64_t *others, uint32_t m)
{
	work->own = own;
	work->comparer->compare(&work->comparison, work->a.codes + own, n, others,
							m);
	simdup_count_work(&work->unchecked, (uint64_t) n * m);
}

static inline uint32_t
bucket_size(const SimdupSorted *set, uint32_t key)
{
	return set->starts[key + 1] - set->starts[key];
}

/* Compare the bucket of a key with the run, and empty that. */
static void
compare_run(SimdupTileWorker *work, uint32_t key)
{
	uint32_t end = work->a.starts[key + 1];

	for (uint32_t i = work->a.starts[key]; i < end; i += STRIPE)
		compare_stripe(work, i, end - i < STRIPE ? end - i : STRIPE, work->run,
					   work->n_run);
	work->n_met = work->n_run = 0;
}

/* Join two buckets with very many pairs, or one with itself (nb is 0). */
static void
join_many(SimdupTileWorker *work, uint32_t a, uint32_t na, uint32_t b,
		  uint32_t nb)
{
	size_t n = (size_t) na + nb;
	SimdupElement *elements = simdup_alloc(2 * n * sizeof(SimdupElement));
	SimdupPairSet set_a = {elements, elements + n, na};
	SimdupPairSet set_b = {elements + na, elements + n + na, nb};
	SimdupPairJoin *join = simdup_alloc0(sizeof(SimdupPairJoin));

	join->max_distance = work->task->max_distance;
	join->sink = found_among_many;
	join->arg = work;
	join->n_nested = work->join->n_nested + 1;
	for (uint32_t i = 0; i < na; i++)
		elements[i] = (SimdupElement){work->a.codes[a + i], a + i};
	for (uint32_t i = 0; i < nb; i++)
		elements[na + i] = (SimdupElement){work->b.codes[b + i], b + i};
	simdup_pair_join(join, set_a, nb == 0 ? NULL : &set_b);
	simdup_free(join);
	simdup_free(elements);
}

/* Compare two buckets where they are. No others wait to be compared. */
static void
compare_in_place(SimdupTileWorker *work, uint32_t a, uint32_t na, uint32_t b,
				 uint32_t nb)
{
	for (uint32_t i = 0; i < na; i += STRIPE)
		for (uint32_t j = 0; j < nb; j += RUN)
		{
			work->met[0] = (RunBucket){0, b + j};
			work->n_met = 1;
			compare_stripe(work, a + i, na - i < STRIPE ? na - i : STRIPE,
						   work->b.codes + b + j, nb - j < RUN ? nb - j : RUN);
		}
	work->n_met = 0;
}

/* The bucket of a key with a long one, or with itself. */
static void
meet_long(SimdupTileWorker *work, uint32_t key, uint32_t other)
{
	uint32_t a = work->a.starts[key];
	uint32_t na = bucket_size(&work->a, key);
	uint32_t b = work->b.starts[other];
	uint32_t nb = bucket_size(&work->b, other);
	bool is_self = !work->task->cross && key == other;

	if ((uint64_t) na * nb > simdup_many_pairs &&
		work->join->n_nested < MAX_NESTED)
		join_many(work, a, na, b, is_self ? 0 : nb);
	else if (!is_self)
		compare_in_place(work, a, na, b, nb);
	else
		for (uint32_t i = 0; i < na; i += SIMDUP_COMPARED)
		{
			uint32_t n = na - i < SIMDUP_COMPARED ? na - i : SIMDUP_COMPARED;

			work->own = a + i;
			work->met[0] = (RunBucket){0, a + i};
			work->n_met = 1;
			simdup_compare_within(&work->comparison, work->a.codes + a + i, n);
			compare_in_place(work, a + i, n, a, i);
		}
}

/*
 * The bucket of a key with those whose keys differ from it by the list of a part of
 * the ball. Short ones are added to the run.
 */
static void
meet_part(SimdupTileWorker *work, uint32_t key, const uint32_t *ball,
		  const uint32_t *end)
{
	const uint32_t *starts = work->b.starts;
	const uint64_t *codes = work->b.codes;
	uint32_t n_run = work->n_run;
	uint32_t n_met = work->n_met;

	for (; ball < end; ball++)
	{
		uint32_t start = starts[key ^ *ball];
		uint32_t n = starts[(key ^ *ball) + 1] - start;
		const uint64_t *from = codes + start;
		uint64_t *to;

		if (n > LONG_BUCKET || n_run >= RUN || n_met >= RUN)
		{
			work->n_run = n_run;
			work->n_met = n_met;
			compare_run(work, key);
			n_run = n_met = 0;
		}
		if (n > LONG_BUCKET)
		{
			meet_long(work, key, key ^ *ball);
			continue;
		}
		/* the bytes that follow in the tile are met soon */
		__builtin_prefetch(from + 16);
		to = work->run + n_run;
		/* a fixed length needs no branch; most buckets have no more */
		memcpy(to, from, 8 * sizeof(uint64_t));
		for (uint32_t j = 8; j < n; j += 8)
			memcpy(to + j, from + j, 8 * sizeof(uint64_t));
		work->met[n_met++] = (RunBucket){n_run, start};
		n_run += n;
	}
	work->n_run = n_run;
	work->n_met = n_met;
}

/* The bucket of a key with those that are within the radius of it. */
static void
meet_ball(SimdupTileWorker *work, uint32_t key)
{
	const SimdupBallBlock *block = &work->task->plan.blocks[work->task->block];
	const uint32_t *ball = work->ball;

	if (!work->task->cross)
	{
		meet_long(work, key, key);
		ball++;
	}
	for (int bit = 0; bit < block->key_bits; bit++)
	{
		const uint32_t *end = work->ball + work->ball_ends[bit];

		if (work->task->cross || (key >> bit & 1) == 0)
			meet_part(work, key, ball, end);
		ball = end;
	}
	compare_run(work, key);
}

/* List the differences of two keys of buckets that meet, 0 first. */
static void
make_ball(SimdupTileWorker *work)
{
	const SimdupBallBlock *block = &work->task->plan.blocks[work->task->block];
	uint32_t n = 1;

	work->ball[0] = 0;
	for (int bit = 0; bit < block->key_bits; bit++)
	{
		uint32_t before = n;

		for (uint32_t i = 0; i < before; i++)
			if (simdup_popcount64(work->ball[i]) < block->radius)
				work->ball[n++] = work->ball[i] | UINT32_C(1) << bit;
		work->ball_ends[bit] = n;
	}
}

/* Tiles */

uint32_t
simdup_balls_tiles(const SimdupTileWorker *balls)
{
	int high_bits = balls->task->plan.blocks[balls->task->block].key_bits -
					SIMDUP_TILE_BITS;

	return UINT32_C(1) << (high_bits > 0 ? high_bits : 0);
}

void
simdup_balls_join(SimdupTileWorker *balls, uint32_t tile, SimdupPairPut put,
				  void *arg)
{
	const SimdupBallPlan *plan = &balls->task->plan;
	int block = balls->task->block;
	uint32_t n_tiles = simdup_balls_tiles(balls);
	uint32_t n = (UINT32_C(1) << plan->blocks[block].key_bits) / n_tiles;

	balls->put = put;
	balls->put_arg = arg;
	if (balls->comparison.block != block)
	{
		balls->comparison.block = block;
		make_ball(balls);
	}
	if (balls->join->progress)
		balls->join->progress(balls->join->arg,
							  (block + (double) tile / n_tiles) /
								  plan->n_blocks);
	for (uint32_t key = tile * n; key < (tile + 1) * n; key++)
		if (bucket_size(&balls->a, key) > 0)
			meet_ball(balls, key);
}

void
simdup_balls_report(void *balls, uint32_t a, uint32_t b)
{
	const SimdupTileWorker *work = balls;

	work->join->sink(work->join->arg, simdup_element_at(&work->a, a),
					 simdup_element_at(&work->b, b));
}

/* Return the bytes of a set's codes, and of the starts of its buckets. */
static size_t
set_size(const JoinTask *task, int i)
{
	size_t n_keys = 0;

	for (int block = 0; block < task->plan.n_blocks; block++)
		n_keys |= (size_t) 1 << task->plan.blocks[block].key_bits;
	return ((size_t) task->n[i] + SIMDUP_COMPARED) * sizeof(uint64_t) +
		   (n_keys + 2) * sizeof(uint32_t);
}

static SimdupSorted
set_in(char *memory, uint32_t n)
{
	uint64_t *codes = (uint64_t *) memory;

	return (SimdupSorted){.n = n,
						  .codes = codes,
						  .starts = (uint32_t *) (codes + n + SIMDUP_COMPARED)};
}

/* Begin to take part in a task, without sets. */
static SimdupTileWorker *
begin_task(JoinTask *task, SimdupPairJoin *join)
{
	SimdupTileWorker *work = simdup_alloc0(sizeof(SimdupTileWorker));

	work->task = task;
	work->join = join;
	work->comparison = (SimdupComparison){&task->plan, -1, task->max_distance,
										  found_in_run, work};
	work->comparer = simdup_comparer();
	return work;
}

/* Begin to take part in the task that this memory holds. */
static SimdupTileWorker *
begin_work(JoinTask *task, SimdupPairJoin *join)
{
	SimdupTileWorker *work = begin_task(task, join);
	char *sets = (char *) (task + 1);

	work->a = set_in(sets, task->n[0]);
	work->b =
		task->cross ? set_in(sets + set_size(task, 0), task->n[1]) : work->a;
	return work;
}

SimdupTileWorker *
simdup_balls_help(void *memory)
{
	return begin_work(memory, simdup_alloc0(sizeof(SimdupPairJoin)));
}

/* Run a planned join, with helpers where it is worth it. */
static void
run(SimdupPairJoin *join, const JoinTask *task, SimdupPairSet a,
	SimdupPairSet b)
{
	SimdupTileWorker *work;
	const SimdupHelpers *helpers = join->helpers;
	size_t size = sizeof(JoinTask) + set_size(task, 0) +
				  (task->cross ? set_size(task, 1) : 0);
	void *memory = NULL;

	if (helpers != NULL && task->plan.cost > WORTH_HELP &&
		join->path.n_skipped == 0 && join->path.same == 0)
		memory = helpers->begin(helpers->arg, size);
	if (memory == NULL)
	{
		helpers = NULL;
		memory = simdup_alloc(size);
	}
	work = begin_work(memcpy(memory, task, sizeof(JoinTask)), join);
	work->a.elements = a.elements;
	work->a.positions = (uint32_t *) a.scratch;
	work->b.elements = b.elements;
	work->b.positions = (uint32_t *) b.scratch;
	for (int block = 0; block < task->plan.n_blocks; block++)
	{
		work->task->block = block;
		simdup_sort_by_key(&task->plan.blocks[block], &work->a);
		if (task->cross)
			simdup_sort_by_key(&task->plan.blocks[block], &work->b);
		if (helpers != NULL)
			helpers->run(helpers->arg, work);
		else
			for (uint32_t i = 0; i < simdup_balls_tiles(work); i++)
				simdup_balls_join(work, i, simdup_balls_report, work);
	}
	if (helpers != NULL)
		helpers->end(helpers->arg);
	else
		simdup_free(memory);
	simdup_free(work);
}

/* Plan a join by balls, or return false if the recursion is cheaper. */
static bool
plan_join(const SimdupPairJoin *join, SimdupPairSet a, const SimdupPairSet *b,
		  SimdupBallPlan *plan)
{
	uint64_t varying;
	double recursion_cost;

	if (join->max_distance == 0 || a.n < MIN_ELEMENTS ||
		(b != NULL && b->n < MIN_ELEMENTS) || join->n_nested > MAX_NESTED)
		return false;
	recursion_cost = simdup_recursion_cost(join, a, b, &varying);
	if (recursion_cost < WORTH_PLANNING)
		return false;
	*plan = simdup_plan_balls(join->max_distance, a, b, varying);
	return plan->cost < recursion_cost;
}

void
simdup_pair_join(SimdupPairJoin *join, SimdupPairSet a, const SimdupPairSet *b)
{
	JoinTask task = {.max_distance = join->max_distance,
					 .cross = b != NULL,
					 .n = {a.n, b != NULL ? b->n : 0}};

	if (plan_join(join, a, b, &task.plan))
		run(join, &task, a, b != NULL ? *b : a);
	else
		simdup_join_by_recursion(join, a, b);
}

bool
simdup_plan_sorted(const SimdupPairJoin *join, SimdupPairSet sample,
				   SimdupBallPlan *plan)
{
	return plan_join(join, sample, NULL, plan) &&
		   (join->helpers == NULL || plan->cost < WORTH_HELP);
}

void
simdup_join_sorted(SimdupPairJoin *join, const SimdupBallPlan *plan, int block,
				   SimdupSorted a, const SimdupSorted *b)
{
	JoinTask task = {.plan = *plan,
					 .block = block,
					 .max_distance = join->max_distance,
					 .cross = b != NULL};
	SimdupTileWorker *work = begin_task(&task, join);

	work->a = a;
	work->b = b != NULL ? *b : a;
	for (uint32_t i = 0; i < simdup_balls_tiles(work); i++)
		simdup_balls_join(work, i, simdup_balls_report, work);
	simdup_free(work);
}
