/*
 * ball_plan.c
 *	  Plans of joins by balls, and what they cost.
 */
#include <math.h>
#include <string.h>

#include "core/host.h"
#include "core/join/ball_parts.h"
#include "core/join/pigeonhole.h"

#define MIN_SAMPLE 64 /* more take longer than they save */
#define MAX_SAMPLE 512
#define SAMPLED 512 /* one fingerprint of this number */

/*
 * Nanoseconds: to sort an element, to look at a key, to meet a bucket and to copy
 * an element of it.
 */
#define COST_OF_SORT 20.0
#define COST_OF_KEY 2.0
#define COST_OF_MEETING 2.0
#define COST_OF_COPY 0.35
#define COST_OF_REPORT 15.0 /* of a pair, more than in the other join */

typedef struct Sample
{
	uint64_t fps[MAX_SAMPLE];
	uint32_t n;
	uint32_t ones[64];
} Sample;

static void
take_sample(SimdupPairSet set, Sample *sample)
{
	size_t most = set.n / SAMPLED < MIN_SAMPLE ? MIN_SAMPLE : set.n / SAMPLED;
	size_t step;

	most = most > MAX_SAMPLE ? MAX_SAMPLE : most;
	step = (set.n + most - 1) / most;
	memset(sample, 0, sizeof(*sample));
	for (size_t i = 0; i < set.n; i += step)
	{
		uint64_t fp = set.elements[i].fp;

		sample->fps[sample->n++] = fp;
		for (int bit = 0; bit < 64; bit++)
			sample->ones[bit] += (uint32_t) (fp >> bit & 1);
	}
}

/* A join to plan, and what is known of it. */
typedef struct Planning
{
	bool cross;
	int k;
	double rows;  /* of the first set, for each of which a ball is met */
	double all;	  /* rows of both sets, to be sorted */
	double pairs; /* of rows */
	double cost_of_compare;
	Sample a;
	Sample b;		   /* of a self join: a */
	double differ[64]; /* the chance that a pair differs in a bit */
} Planning;

/* Return the share of the samples' pairs that are within a radius in a mask. */
static double
sampled_share(const Planning *p, uint64_t mask, int radius)
{
	double near = 0;
	double pairs = 0;

	for (uint32_t i = 0; i < p->a.n; i++)
	{
		uint32_t n = p->cross ? p->b.n : i;

		for (uint32_t j = 0; j < n; j++)
			near +=
				simdup_popcount64((p->a.fps[i] ^ p->b.fps[j]) & mask) <= radius;
		pairs += n;
	}
	/* what chance alone does not explain */
	near -= 3 * sqrt(near);
	return near > 0 ? near / pairs : 0;
}

/*
 * Choose how many bits of a block are its key. Return the cost: bits are taken
 * from the one that tells most on. chance[d] is that of a pair to differ in d of
 * the bits taken.
 */
static double
plan_block(const Planning *p, SimdupBallBlock *block)
{
	double chance[SIMDUP_MAX_PAIR_DISTANCE + 2] = {1};
	double best = HUGE_VAL;
	uint64_t key = 0;
	double compares = 0;
	double met_rows = p->cross ? p->all - p->rows : p->rows;

	for (int bits = 1; bits <= SIMDUP_MAX_KEY_BITS && key != block->mask;
		 bits++)
	{
		int next = -1;
		double ball = 0;
		double ways = 1;
		double near = 0;
		double meetings;
		double cost;

		for (int bit = 0; bit < 64; bit++)
			if ((block->mask & ~key) >> bit & 1 &&
				(next < 0 || p->differ[bit] > p->differ[next]))
				next = bit;
		key |= UINT64_C(1) << next;
		for (int d = block->radius; d >= 0; d--)
			chance[d] = chance[d] * (1 - p->differ[next]) +
						(d > 0 ? chance[d - 1] * p->differ[next] : 0);
		for (int d = 0; d <= block->radius && d <= bits; d++)
		{
			near += chance[d];
			ball += ways;
			ways = ways * (bits - d) / (d + 1);
		}
		meetings = fmin(exp2(bits), p->rows) * ball / (p->cross ? 1 : 2);
		cost = meetings *
				   (COST_OF_MEETING + met_rows / exp2(bits) * COST_OF_COPY) +
			   exp2(bits) * COST_OF_KEY + p->pairs * near * p->cost_of_compare;
		if (cost < best && ball <= SIMDUP_MAX_BALL && exp2(bits) <= p->all)
		{
			best = cost;
			compares = p->pairs * near * p->cost_of_compare;
			block->key = key;
			block->key_bits = bits;
		}
	}
	if (best == HUGE_VAL)
		return best;
	return best - compares + p->all * COST_OF_SORT +
		   fmax(compares, p->pairs * p->cost_of_compare *
							  sampled_share(p, block->key, block->radius));
}

/* SimdupBallPlan n blocks. Their radii are as equal as can be. */
static void
plan_blocks(const Planning *p, uint64_t varying, int n, SimdupBallPlan *plan)
{
	uint64_t masks[SIMDUP_MAX_BALL_BLOCKS];
	uint32_t ones[64];

	for (int bit = 0; bit < 64; bit++)
		ones[bit] = p->a.ones[bit] + (p->cross ? p->b.ones[bit] : 0);
	simdup_cut_blocks(varying, ones, p->a.n + (p->cross ? p->b.n : 0), n,
					  masks);
	plan->n_blocks = n;
	plan->cost = 0;
	for (int i = 0; i < n; i++)
	{
		SimdupBallBlock *block = &plan->blocks[i];

		block->mask = masks[i];
		/* the first blocks have a bit more where the bits are not even */
		block->radius = (p->k + 1) / n - 1 + (i < (p->k + 1) % n);
		plan->cost += plan_block(p, block);
	}
}

SimdupBallPlan
simdup_plan_balls(int max_distance, bool cross, SimdupPairSet a,
				  SimdupPairSet b, uint64_t varying)
{
	SimdupBallPlan best = {.cost = HUGE_VAL};
	Planning *p = simdup_alloc(sizeof(Planning));

	p->cross = cross;
	p->k = max_distance;
	p->rows = (double) a.n;
	p->all = (double) a.n + (cross ? (double) b.n : 0);
	p->pairs = cross ? (double) a.n * b.n : (double) a.n * a.n / 2;
	p->cost_of_compare = simdup_cost_of_compare();
	take_sample(a, &p->a);
	take_sample(cross ? b : a, &p->b);
	for (int bit = 0; bit < 64; bit++)
	{
		double x = (double) p->a.ones[bit] / p->a.n;
		double y = (double) p->b.ones[bit] / p->b.n;

		p->differ[bit] = x * (1 - y) + y * (1 - x);
	}
	for (int n = 1; n <= SIMDUP_MAX_BALL_BLOCKS && n <= p->k + 1 &&
					n <= simdup_popcount64(varying);
		 n++)
	{
		SimdupBallPlan plan;

		plan_blocks(p, varying, n, &plan);
		if (plan.cost < best.cost)
			best = plan;
	}
	best.cost += p->pairs * COST_OF_REPORT * sampled_share(p, varying, p->k);
	simdup_free(p);
	return best;
}
