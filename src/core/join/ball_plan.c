/*
 * ball_plan.c
 *	  Plans of joins by balls: the blocks, their keys, and the cost; and fingerprints in
 *	  the order of a key.
 */
#include <math.h>
#include <string.h>

#include "core/join/ball.h"
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
#define COST_OF_PLAIN_COMPARE 1.0

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

/* A join to plan, and its statistics. */
typedef struct Planning
{
	bool cross;
	int k;
	double rows;	 /* of the first set, for each of which a ball is met */
	double met_rows; /* of the set that is met */
	double all;		 /* rows of both sets, to be sorted */
	double pairs;	 /* of rows */
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
	/* those that chance alone does not explain */
	near -= 3 * sqrt(near);
	return near > 0 ? near / pairs : 0;
}

/*
 * Choose the bits of a block's key, and return the cost. Bits are added to the key
 * in descending order of selectivity. chance[d] is that of a pair to differ in d of
 * the bits taken.
 */
static double
plan_block(const Planning *p, SimdupBallBlock *block)
{
	double chance[SIMDUP_MAX_PAIR_DISTANCE + 2] = {1};
	double best = HUGE_VAL;
	uint64_t key = 0;
	double compares = 0;

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
				   (COST_OF_MEETING + p->met_rows / exp2(bits) * COST_OF_COPY) +
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

/* Plan n blocks. Their radii are as equal as can be. */
static SimdupBallPlan
plan_blocks(const Planning *p, uint64_t varying, int n)
{
	SimdupBallPlan plan = {.n_blocks = n};
	uint64_t masks[SIMDUP_MAX_BALL_BLOCKS];
	uint32_t ones[64];

	for (int bit = 0; bit < 64; bit++)
		ones[bit] = p->a.ones[bit] + p->b.ones[bit];
	simdup_cut_blocks(varying, ones, p->a.n + p->b.n, n, masks);
	for (int i = 0; i < n; i++)
	{
		SimdupBallBlock *block = &plan.blocks[i];

		block->mask = masks[i];
		/* the first blocks have a bit more where the bits are not even */
		block->radius = (p->k + 1) / n - 1 + (i < (p->k + 1) % n);
		plan.cost += plan_block(p, block);
	}
	return plan;
}

/* Set the numbers of rows. A self join has no second number: 0. */
static void
plan_rows(Planning *p, int max_distance, double n, double m)
{
	p->cross = m > 0;
	p->k = max_distance;
	p->rows = n;
	p->met_rows = p->cross ? m : n;
	p->all = n + m;
	p->pairs = p->rows * p->met_rows / (p->cross ? 1 : 2);
	p->cost_of_compare = simdup_comparer()->cost;
}

static SimdupBallPlan
cheapest_plan(const Planning *p, uint64_t varying)
{
	SimdupBallPlan best = {.cost = HUGE_VAL};

	for (int n = 1; n <= SIMDUP_MAX_BALL_BLOCKS && n <= p->k + 1 &&
					n <= simdup_popcount64(varying);
		 n++)
	{
		SimdupBallPlan plan = plan_blocks(p, varying, n);

		if (plan.cost < best.cost)
			best = plan;
	}
	return best;
}

SimdupBallPlan
simdup_plan_balls(int max_distance, SimdupPairSet a, const SimdupPairSet *b,
				  uint64_t varying)
{
	SimdupBallPlan best;
	Planning *p = simdup_alloc(sizeof(Planning));

	plan_rows(p, max_distance, a.n, b != NULL ? b->n : 0);
	take_sample(a, &p->a);
	take_sample(b != NULL ? *b : a, &p->b);
	for (int bit = 0; bit < 64; bit++)
	{
		double x = (double) p->a.ones[bit] / p->a.n;
		double y = (double) p->b.ones[bit] / p->b.n;

		p->differ[bit] = x * (1 - y) + y * (1 - x);
	}
	best = cheapest_plan(p, varying);
	best.cost += p->pairs * COST_OF_REPORT * sampled_share(p, varying, p->k);
	simdup_free(p);
	return best;
}

double
simdup_pair_join_cost(int max_distance, double n, double m)
{
	Planning *p = simdup_alloc0(sizeof(Planning));
	double cost;

	plan_rows(p, max_distance, n, m);
	/* fair coins: as many ones as zeros, and nothing is sampled */
	p->b.n = 2;
	for (int bit = 0; bit < 64; bit++)
	{
		p->b.ones[bit] = 1;
		p->differ[bit] = 0.5;
	}
	cost = fmin(cheapest_plan(p, ~UINT64_C(0)).cost,
				p->pairs * COST_OF_PLAIN_COMPARE);
	simdup_free(p);
	return cost;
}

/* Sorting */

/* The bucket of a fingerprint: the bits of the key, moved together. */
typedef struct Keys
{
	uint32_t of_byte[8][256];
} Keys;

static void
make_keys(uint64_t key, Keys *keys)
{
	int key_bit = 0;

	memset(keys, 0, sizeof(*keys));
	for (int bit = 0; bit < 64; bit++)
	{
		if (!(key >> bit & 1))
			continue;
		for (int value = 0; value < 256; value++)
			if (value >> bit % 8 & 1)
				keys->of_byte[bit / 8][value] |= UINT32_C(1) << key_bit;
		key_bit++;
	}
}

static inline uint32_t
key_of(const Keys *keys, uint64_t fp)
{
	uint32_t key = 0;

	for (int i = 0; i < 8; i++)
		key |= keys->of_byte[i][fp >> 8 * i & 0xff];
	return key;
}

/* Sort one tile by the low bits of its keys. starts are those of its buckets. */
static void
sort_tile(SimdupSorted *set, const Keys *keys, uint32_t start, uint32_t end,
		  uint32_t *starts, int low_bits, uint64_t *codes, uint32_t *positions)
{
	uint32_t n = end - start;
	uint32_t mask = (UINT32_C(1) << low_bits) - 1;
	uint32_t next[1 << SIMDUP_TILE_BITS];

	memcpy(codes, set->codes + start, n * sizeof(*codes));
	memcpy(positions, set->positions + start, n * sizeof(*positions));
	memset(starts, 0, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
		starts[key_of(keys, codes[i]) & mask]++;
	simdup_sum_up(starts, UINT32_C(1) << low_bits, start);
	memcpy(next, starts, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t to = next[key_of(keys, codes[i]) & mask]++;

		set->codes[to] = codes[i];
		set->positions[to] = positions[i];
	}
}

void
simdup_sort_by_key(const SimdupBallBlock *block, SimdupSorted *set)
{
	int low_bits =
		block->key_bits < SIMDUP_TILE_BITS ? block->key_bits : SIMDUP_TILE_BITS;
	uint32_t n_tiles = UINT32_C(1) << (block->key_bits - low_bits);
	uint32_t *tiles = simdup_alloc0((n_tiles + 1) * sizeof(uint32_t));
	Keys *keys = simdup_alloc(sizeof(Keys));
	uint32_t largest = 0;
	uint32_t start = 0;
	uint64_t *codes;
	uint32_t *positions;

	make_keys(block->key, keys);
	for (uint32_t i = 0; i < set->n; i++)
		tiles[key_of(keys, set->elements[i].fp) >> low_bits]++;
	for (uint32_t i = 0; i < n_tiles; i++)
		largest = tiles[i] > largest ? tiles[i] : largest;
	simdup_sum_up(tiles, n_tiles, 0);
	for (uint32_t i = 0; i < set->n; i++)
	{
		uint64_t fp = set->elements[i].fp;
		uint32_t to = tiles[key_of(keys, fp) >> low_bits]++;

		set->codes[to] = fp;
		set->positions[to] = i;
		simdup_check_interrupts_at(i);
	}

	codes = simdup_alloc((size_t) largest * sizeof(*codes) + 1);
	positions = simdup_alloc((size_t) largest * sizeof(*positions) + 1);
	for (uint32_t i = 0; i < n_tiles; i++)
	{
		sort_tile(set, keys, start, tiles[i],
				  set->starts + ((size_t) i << low_bits), low_bits, codes,
				  positions);
		simdup_check_interrupts();
		start = tiles[i];
	}
	set->starts[(size_t) n_tiles << low_bits] = set->n;
	memset(set->codes + set->n, 0, SIMDUP_COMPARED * sizeof(uint64_t));
	simdup_free(codes);
	simdup_free(positions);
	simdup_free(keys);
	simdup_free(tiles);
}
