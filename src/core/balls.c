/*
 * balls.c
 *	  The all-pairs join by balls of buckets.
 *
 * Cut the bits that vary into blocks, and give each block a radius, so that the
 * radii plus one add up to the distance k plus one. Sort the fingerprints into
 * buckets by some bits of a block, its key. A bucket meets each bucket whose key
 * is within the block's radius of its own, and itself.
 *
 * No pair is missed. A pair that is beyond the radius in every block is at a
 * distance of at least the sum of the radii plus one each, which is above k. So
 * a pair within k is within the radius in some block, and also in the bits of
 * its key, and their buckets meet.
 *
 * No pair is found twice. Two buckets meet once in a block: the one whose key
 * has no bit at the highest place where they differ meets the other. A pair
 * counts in the first block in which it is within the radius, all bits of the
 * block counted.
 *
 * Keys are so long that a bucket has some five fingerprints. Those of all buckets
 * that a bucket meets are copied together, into a run. Vector instructions
 * compare the run with the bucket, and look again where something is near. The
 * high bits of a key name a tile. Buckets are visited tile by tile, so what they
 * meet is in the cache.
 *
 * Two buckets with very many pairs (skew) are a join of their own.
 */
#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_VECTORS 1
#include <immintrin.h>
#endif

#include "core/balls.h"
#include "core/hamming.h"
#include "core/host.h"

#define MAX_BLOCKS 6
#define MAX_KEY_BITS 28
#define LOW_BITS 10		/* of a key, within a tile */
#define CHUNK 32		/* fingerprints of a run, likewise */
#define RUN 1024		/* fingerprints that are copied together */
#define LONG_BUCKET 128 /* a longer one is compared where it is */
#define STRIPE 256		/* codes of a bucket that are compared at once */
#define MAX_BALL 16384	/* buckets that one meets */
#define MIN_SAMPLE 64	/* more take longer than they save */
#define MAX_SAMPLE 512
#define SAMPLED 512 /* one fingerprint of so many */
#define MIN_ELEMENTS 64

/* Nanoseconds of a join that is worth a plan, and of one that is worth help. */
#define WORTH_PLANNING 2e5
#define WORTH_HELP 1e8

/* Joins within joins. */
#define MAX_NESTED 2

/*
 * Nanoseconds: to sort an element, to look at a key, to meet a bucket and to copy
 * an element of it.
 */
#define COST_OF_SORT 20.0
#define COST_OF_KEY 2.0
#define COST_OF_MEETING 2.0
#define COST_OF_COPY 0.35
#define COST_OF_REPORT 15.0 /* of a pair, more than in the other join */

typedef struct Block
{
	uint64_t mask; /* its bits */
	uint64_t key;  /* those of them that name a bucket */
	int key_bits;
	int radius;
} Block;

typedef struct Plan
{
	int n_blocks;
	Block blocks[MAX_BLOCKS];
	double cost;
} Plan;

/* A set, and its fingerprints in the order of their keys. */
typedef struct Sorted
{
	uint32_t n;
	uint64_t *codes;  /* and a chunk that can be read */
	uint32_t *starts; /* of each bucket; then n */
	/* these are not there for a helper */
	const SimdupElement *elements;
	uint32_t *places; /* of the codes, in elements; in the set's scratch */
} Sorted;

/* A bucket in a run: where it begins there, and in the codes. */
typedef struct Met
{
	uint32_t at;
	uint32_t start;
} Met;

/* What all who take part know of a join. Codes and starts follow it. */
typedef struct Task
{
	Plan plan;
	int block; /* the current one */
	int max_distance;
	bool cross;
	uint32_t n[2];
} Task;

/* What one who takes part knows. */
typedef struct SimdupBalls
{
	Task *task;
	SimdupPairJoin *join;
	SimdupPairPut put;
	void *put_arg;
	Sorted a;
	Sorted b; /* of a self join: a */

	/* what differs in the keys of buckets that meet, by its highest bit */
	int ball_block;
	uint32_t ball[MAX_BALL];
	uint32_t ball_ends[MAX_KEY_BITS];

	uint32_t own; /* where the codes begin that are compared with a run */
	uint64_t run[RUN + LONG_BUCKET + CHUNK];
	Met met[RUN + 1];
	uint32_t n_met;
	uint32_t n_run;
	const Met *list; /* what a run that is compared consists of */
	uint32_t n_list;
	uint64_t unchecked; /* work since the last look at interrupts */
} Work;

static inline void
count_work(Work *work, uint64_t amount)
{
	work->unchecked += amount;
	if (work->unchecked >= 4000000)
	{
		work->unchecked = 0;
		simdup_check_interrupts();
	}
}

/* Found pairs */

#define INLINED static inline __attribute__((always_inline))

/* Check whether this block, of all blocks, reports a pair. */
INLINED bool
is_first_block(const Work *work, uint64_t x)
{
	const Block *block = work->task->plan.blocks;
	const Block *current = block + work->task->block;

	for (; block < current; block++)
		if (simdup_popcount64(x & block->mask) <= block->radius)
			return false;
	return simdup_popcount64(x & block->mask) <= block->radius;
}

/* Report two near fingerprints, by their places among the codes. */
static void
report(Work *work, uint32_t a, uint32_t b)
{
	uint64_t x = work->a.codes[a] ^ work->b.codes[b];

	if (x != 0 && simdup_on_path(&work->join->path, x))
		work->put(work->put_arg, a, b);
}

/* Found by a join of two buckets, whose indexes are places among the codes. */
static void
found_among_many(void *arg, SimdupElement a, SimdupElement b)
{
	if (is_first_block(arg, a.fp ^ b.fp))
		report(arg, (uint32_t) a.index, (uint32_t) b.index);
}

/* Report number i of the bucket's own codes and number j of a run. */
static void
report_in_run(Work *work, uint32_t i, uint32_t j)
{
	uint32_t low = 0;
	uint32_t high = work->n_list;

	while (high - low > 1)
	{
		uint32_t middle = low + (high - low) / 2;

		if (work->list[middle].at <= j)
			low = middle;
		else
			high = middle;
	}
	report(work, work->own + i, work->list[low].start + j - work->list[low].at);
}

/*
 * Comparing n codes of a bucket with a run of m, by each set of instructions. A
 * run can be read up to a whole chunk.
 */

INLINED void
compare_words(Work *work, const uint64_t *own, uint32_t n, const uint64_t *run,
			  uint32_t m)
{
	int k = work->join->max_distance;

	for (uint32_t j = 0; j < m; j += CHUNK / 2)
	{
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t any = 0;

			for (uint32_t l = 0; l < CHUNK / 2; l++)
				any |=
					(uint64_t) ((int64_t) simdup_hamming64(own[i], run[j + l]) -
								k - 1);
			if ((any >> 63) == 0)
				continue;
			for (uint32_t l = j; l < j + CHUNK / 2 && l < m; l++)
				if (simdup_hamming64(own[i], run[l]) <= k &&
					is_first_block(work, own[i] ^ run[l]))
					report_in_run(work, i, l);
		}
	}
}

/* The codes of one bucket, each with each. */
INLINED void
compare_bucket(Work *work, uint32_t start, uint32_t n)
{
	const uint64_t *codes = work->a.codes + start;
	int k = work->join->max_distance;

	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (simdup_hamming64(codes[i], codes[j]) <= k &&
				is_first_block(work, codes[i] ^ codes[j]))
				report(work, start + i, start + j);
}

static void
compare_plain(Work *work, const uint64_t *own, uint32_t n, const uint64_t *run,
			  uint32_t m)
{
	compare_words(work, own, n, run, m);
}

static void
bucket_plain(Work *work, uint32_t start, uint32_t n)
{
	compare_bucket(work, start, n);
}

#ifdef HAVE_VECTORS
#define TARGET(isa) static __attribute__((target(isa)))
#define AVX512 "popcnt,avx512f,avx512vpopcntdq"

TARGET("popcnt")
void
compare_popcnt(Work *work, const uint64_t *own, uint32_t n, const uint64_t *run,
			   uint32_t m)
{
	compare_words(work, own, n, run, m);
}

TARGET("popcnt")
void
bucket_popcnt(Work *work, uint32_t start, uint32_t n)
{
	compare_bucket(work, start, n);
}

/* Numbers of bits of four words, by a table of those of four bits. */
static inline __attribute__((always_inline, target("avx2"))) __m256i
popcount_of_four(__m256i x, __m256i table)
{
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i lower = _mm256_shuffle_epi8(table, _mm256_and_si256(x, low));
	__m256i upper =
		_mm256_shuffle_epi8(table,
							_mm256_and_si256(_mm256_srli_epi16(x, 4), low));

	return _mm256_sad_epu8(_mm256_add_epi8(lower, upper),
						   _mm256_setzero_si256());
}

TARGET("avx2,popcnt")
void
compare_avx2(Work *work, const uint64_t *own, uint32_t n, const uint64_t *run,
			 uint32_t m)
{
	int k = work->join->max_distance;
	__m256i beyond = _mm256_set1_epi64x(k + 1);
	__m256i table = _mm256_set_epi64x(0x0403030203020201, 0x0302020102010100,
									  0x0403030203020201, 0x0302020102010100);

	for (uint32_t j = 0; j < m; j += 8)
	{
		__m256i first = _mm256_loadu_si256((const __m256i *) (run + j));
		__m256i second = _mm256_loadu_si256((const __m256i *) (run + j + 4));
		__m256i least = _mm256_set1_epi64x(64);

		for (uint32_t i = 0; i < n; i++)
		{
			__m256i code = _mm256_set1_epi64x((long long) own[i]);
			__m256i x = popcount_of_four(_mm256_xor_si256(code, first), table);
			__m256i y = popcount_of_four(_mm256_xor_si256(code, second), table);

			least = _mm256_min_epu8(least, _mm256_min_epu8(x, y));
		}
		if (_mm256_movemask_epi8(_mm256_cmpgt_epi64(beyond, least)) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t l = j; l < j + 8 && l < m; l++)
				if (__builtin_popcountll(own[i] ^ run[l]) <= k &&
					is_first_block(work, own[i] ^ run[l]))
					report_in_run(work, i, l);
	}
}

static inline __attribute__((always_inline, target(AVX512))) __m512i
popcount_of_eight(__m512i code, __m512i others)
{
	return _mm512_popcnt_epi64(_mm512_xor_si512(code, others));
}

/* gcc does not unroll loops over vectors, so the four of a chunk stand here. */
TARGET(AVX512)
void
compare_avx512(Work *work, const uint64_t *own, uint32_t n, const uint64_t *run,
			   uint32_t m)
{
	__m512i k = _mm512_set1_epi64(work->join->max_distance);

	for (uint32_t j = 0; j < m; j += CHUNK)
	{
		__m512i r0 = _mm512_loadu_si512(run + j);
		__m512i r1 = _mm512_loadu_si512(run + j + 8);
		__m512i r2 = _mm512_loadu_si512(run + j + 16);
		__m512i r3 = _mm512_loadu_si512(run + j + 24);
		__m512i least0 = _mm512_set1_epi64(64);
		__m512i least1 = least0;
		__m512i least2 = least0;
		__m512i least3 = least0;

		for (uint32_t i = 0; i < n; i++)
		{
			__m512i code = _mm512_set1_epi64((long long) own[i]);

			least0 = _mm512_min_epu64(least0, popcount_of_eight(code, r0));
			least1 = _mm512_min_epu64(least1, popcount_of_eight(code, r1));
			least2 = _mm512_min_epu64(least2, popcount_of_eight(code, r2));
			least3 = _mm512_min_epu64(least3, popcount_of_eight(code, r3));
		}
		least0 = _mm512_min_epu64(_mm512_min_epu64(least0, least1),
								  _mm512_min_epu64(least2, least3));
		if (_mm512_cmple_epu64_mask(least0, k) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
		{
			__m512i code = _mm512_set1_epi64((long long) own[i]);
			uint32_t near =
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r0), k) |
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r1), k) << 8 |
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r2), k) << 16 |
				(uint32_t) _mm512_cmple_epu64_mask(popcount_of_eight(code, r3),
												   k)
					<< 24;

			if (m - j < CHUNK)
				near &= (UINT32_C(1) << (m - j)) - 1;
			for (; near != 0; near &= near - 1)
			{
				uint32_t l = j + (uint32_t) __builtin_ctz(near);

				if (is_first_block(work, own[i] ^ run[l]))
					report_in_run(work, i, l);
			}
		}
	}
}
#endif

typedef struct Comparison
{
	void (*compare)(Work *work, const uint64_t *own, uint32_t n,
					const uint64_t *run, uint32_t m);
	void (*bucket)(Work *work, uint32_t start, uint32_t n);
	double cost; /* of one, in nanoseconds */
} Comparison;

static const Comparison comparisons[] = {
	{compare_plain, bucket_plain, 1.5},
#ifdef HAVE_VECTORS
	{compare_popcnt, bucket_popcnt, 0.55},
	{compare_avx2, bucket_popcnt, 0.22},
	{compare_avx512, bucket_popcnt, 0.07},
#endif
};

#define BEST (&comparisons[simdup_instructions()])

SimdupInstructions simdup_widest_instructions = SIMDUP_AVX512;
uint64_t simdup_many_pairs = UINT64_C(1) << 28;

SimdupInstructions
simdup_instructions(void)
{
	SimdupInstructions most = SIMDUP_PLAIN;

#ifdef HAVE_VECTORS
	if (__builtin_cpu_supports("popcnt"))
		most = SIMDUP_POPCNT;
	if (__builtin_cpu_supports("avx2"))
		most = SIMDUP_AVX2;
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		most = SIMDUP_AVX512;
#endif
	return most < simdup_widest_instructions ? most
											 : simdup_widest_instructions;
}

/* Planning */

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
	Sample *a;
	Sample *b;
	double differ[64]; /* the chance that a pair differs in a bit */
} Planning;

/* Return the share of the samples' pairs that are within a radius in a mask. */
static double
sampled_share(const Planning *p, uint64_t mask, int radius)
{
	double near = 0;
	double pairs = 0;

	for (uint32_t i = 0; i < p->a->n; i++)
	{
		uint32_t n = p->cross ? p->b->n : i;

		for (uint32_t j = 0; j < n; j++)
			near += simdup_popcount64((p->a->fps[i] ^ p->b->fps[j]) & mask) <=
					radius;
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
plan_block(const Planning *p, Block *block)
{
	double chance[SIMDUP_MAX_PAIR_DISTANCE + 2] = {1};
	double best = HUGE_VAL;
	uint64_t key = 0;
	double compares = 0;
	double met_rows = p->cross ? p->all - p->rows : p->rows;

	for (int bits = 1; bits <= MAX_KEY_BITS && key != block->mask; bits++)
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
		if (cost < best && ball <= MAX_BALL && exp2(bits) <= p->all)
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
static void
plan_blocks(const Planning *p, uint64_t varying, int n, Plan *plan)
{
	uint64_t masks[MAX_BLOCKS];
	uint32_t ones[64];

	for (int bit = 0; bit < 64; bit++)
		ones[bit] = p->a->ones[bit] + (p->cross ? p->b->ones[bit] : 0);
	simdup_cut_blocks(varying, ones, p->a->n + (p->cross ? p->b->n : 0), n,
					  masks);
	plan->n_blocks = n;
	plan->cost = 0;
	for (int i = 0; i < n; i++)
	{
		Block *block = &plan->blocks[i];

		block->mask = masks[i];
		/* the first blocks have a bit more where the bits are not even */
		block->radius = (p->k + 1) / n - 1 + (i < (p->k + 1) % n);
		plan->cost += plan_block(p, block);
	}
}

/* Find the cheapest plan. */
static Plan
make_plan(Planning *p, uint64_t varying)
{
	Plan best = {.cost = HUGE_VAL};

	for (int bit = 0; bit < 64; bit++)
	{
		double x = (double) p->a->ones[bit] / p->a->n;
		double y = (double) p->b->ones[bit] / p->b->n;

		p->differ[bit] = x * (1 - y) + y * (1 - x);
	}
	for (int n = 1;
		 n <= MAX_BLOCKS && n <= p->k + 1 && n <= simdup_popcount64(varying);
		 n++)
	{
		Plan plan;

		plan_blocks(p, varying, n, &plan);
		if (plan.cost < best.cost)
			best = plan;
	}
	best.cost += p->pairs * COST_OF_REPORT * sampled_share(p, varying, p->k);
	return best;
}

/* Sorting */

/* The bucket of a fingerprint: the bits of the key, moved together. */
typedef struct Keys
{
	uint32_t parts[8][256];
} Keys;

static void
make_keys(uint64_t key, Keys *keys)
{
	int place = 0;

	memset(keys, 0, sizeof(*keys));
	for (int bit = 0; bit < 64; bit++)
	{
		if (!(key >> bit & 1))
			continue;
		for (int value = 0; value < 256; value++)
			if (value >> bit % 8 & 1)
				keys->parts[bit / 8][value] |= UINT32_C(1) << place;
		place++;
	}
}

static inline uint32_t
key_of(const Keys *keys, uint64_t fp)
{
	uint32_t key = 0;

	for (int i = 0; i < 8; i++)
		key |= keys->parts[i][fp >> 8 * i & 0xff];
	return key;
}

/* Turn counts into starts, those of a part that begins at `sum`. */
static void
sum_up(uint32_t *counts, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
}

/* Sort one tile by the low bits of its keys. starts are those of its buckets. */
static void
sort_tile(Sorted *set, const Keys *keys, uint32_t start, uint32_t end,
		  uint32_t *starts, int low_bits, uint64_t *codes, uint32_t *places)
{
	uint32_t n = end - start;
	uint32_t mask = (UINT32_C(1) << low_bits) - 1;
	uint32_t next[1 << LOW_BITS];

	memcpy(codes, set->codes + start, n * sizeof(*codes));
	memcpy(places, set->places + start, n * sizeof(*places));
	memset(starts, 0, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
		starts[key_of(keys, codes[i]) & mask]++;
	sum_up(starts, UINT32_C(1) << low_bits, start);
	memcpy(next, starts, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t to = next[key_of(keys, codes[i]) & mask]++;

		set->codes[to] = codes[i];
		set->places[to] = places[i];
	}
}

/* Sort a set by a block's key: into tiles by the high bits, then tile by tile. */
static void
sort_set(Work *work, Sorted *set)
{
	const Block *block = &work->task->plan.blocks[work->task->block];
	int low_bits = block->key_bits < LOW_BITS ? block->key_bits : LOW_BITS;
	uint32_t n_tiles = UINT32_C(1) << (block->key_bits - low_bits);
	uint32_t *tiles = simdup_alloc0((n_tiles + 1) * sizeof(uint32_t));
	Keys *keys = simdup_alloc(sizeof(Keys));
	uint32_t largest = 0;
	uint32_t start = 0;
	uint64_t *codes;
	uint32_t *places;

	make_keys(block->key, keys);
	for (uint32_t i = 0; i < set->n; i++)
		tiles[key_of(keys, set->elements[i].fp) >> low_bits]++;
	count_work(work, (uint64_t) set->n * 8);
	for (uint32_t i = 0; i < n_tiles; i++)
		largest = tiles[i] > largest ? tiles[i] : largest;
	sum_up(tiles, n_tiles, 0);
	for (uint32_t i = 0; i < set->n; i++)
	{
		uint64_t fp = set->elements[i].fp;
		uint32_t to = tiles[key_of(keys, fp) >> low_bits]++;

		set->codes[to] = fp;
		set->places[to] = i;
	}
	count_work(work, (uint64_t) set->n * 8);

	codes = simdup_alloc((size_t) largest * sizeof(*codes) + 1);
	places = simdup_alloc((size_t) largest * sizeof(*places) + 1);
	for (uint32_t i = 0; i < n_tiles; i++)
	{
		sort_tile(set, keys, start, tiles[i],
				  set->starts + ((size_t) i << low_bits), low_bits, codes,
				  places);
		count_work(work, (uint64_t) (tiles[i] - start) * 8);
		start = tiles[i];
	}
	set->starts[(size_t) n_tiles << low_bits] = set->n;
	memset(set->codes + set->n, 0, CHUNK * sizeof(uint64_t));
	simdup_free(codes);
	simdup_free(places);
	simdup_free(keys);
	simdup_free(tiles);
}

/* Meeting */

/* Compare the bucket of n codes at work->own with the run, and empty that. */
static void
compare_run(Work *work, uint32_t n)
{
	uint32_t own = work->own;

	work->list = work->met;
	work->n_list = work->n_met;
	for (uint32_t i = 0; i < n; i += STRIPE)
	{
		uint32_t m = n - i < STRIPE ? n - i : STRIPE;

		work->own = own + i;
		BEST->compare(work, work->a.codes + own + i, m, work->run, work->n_run);
		count_work(work, (uint64_t) m * work->n_run);
	}
	work->own = own;
	work->n_met = work->n_run = 0;
}

/* Join two buckets with very many pairs, or one with itself (nb is 0). */
static void
join_many(Work *work, uint32_t a, uint32_t na, uint32_t b, uint32_t nb)
{
	size_t n = (size_t) na + nb;
	SimdupElement *elements = simdup_alloc(2 * n * sizeof(SimdupElement));
	SimdupPairSet set_a = {elements, elements + n, na};
	SimdupPairSet set_b = {elements + na, elements + n + na, nb};
	SimdupPairJoin *join = simdup_alloc0(sizeof(SimdupPairJoin));

	join->max_distance = work->join->max_distance;
	join->sink = found_among_many;
	join->arg = work;
	join->n_nested = work->join->n_nested + 1;
	for (uint32_t i = 0; i < na; i++)
		elements[i] = (SimdupElement){work->a.codes[a + i], a + i};
	for (uint32_t i = 0; i < nb; i++)
		elements[na + i] = (SimdupElement){work->b.codes[b + i], b + i};
	if (nb == 0)
		simdup_pairs_self(join, set_a);
	else
		simdup_pairs_cross(join, set_a, set_b);
	simdup_free(join);
	simdup_free(elements);
}

/* Compare two buckets where they are. */
static void
compare_in_place(Work *work, uint32_t a, uint32_t na, uint32_t b, uint32_t nb)
{
	uint32_t own = work->own;

	for (uint32_t i = 0; i < na; i += STRIPE)
		for (uint32_t j = 0; j < nb; j += RUN)
		{
			uint32_t n = na - i < STRIPE ? na - i : STRIPE;
			uint32_t m = nb - j < RUN ? nb - j : RUN;
			Met met = {0, b + j};

			work->own = a + i;
			work->list = &met;
			work->n_list = 1;
			BEST->compare(work, work->a.codes + a + i, n, work->b.codes + b + j,
						  m);
			count_work(work, (uint64_t) n * m);
		}
	work->own = own;
}

/* The bucket of n codes at work->own with a long one, or with itself. */
static void
meet_long(Work *work, uint32_t n, uint32_t b, uint32_t nb)
{
	uint32_t a = work->own;
	bool is_self = !work->task->cross && a == b;

	if ((uint64_t) n * nb > simdup_many_pairs &&
		work->join->n_nested < MAX_NESTED)
		join_many(work, a, n, b, is_self ? 0 : nb);
	else if (!is_self)
		compare_in_place(work, a, n, b, nb);
	else
		for (uint32_t i = 0; i < n; i += CHUNK)
		{
			BEST->bucket(work, a + i, n - i < CHUNK ? n - i : CHUNK);
			compare_in_place(work, a + i, n - i < CHUNK ? n - i : CHUNK, a, i);
		}
}

/*
 * A bucket of n codes with those whose keys differ from its own by what a part of
 * the ball lists. Short ones are added to the run.
 */
static void
meet_part(Work *work, uint32_t own_key, uint32_t own_n, const uint32_t *ball,
		  const uint32_t *end)
{
	const uint32_t *starts = work->b.starts;
	const uint64_t *codes = work->b.codes;
	uint32_t n_run = work->n_run;
	uint32_t n_met = work->n_met;

	for (; ball < end; ball++)
	{
		uint32_t start = starts[own_key ^ *ball];
		uint32_t n = starts[(own_key ^ *ball) + 1] - start;
		const uint64_t *from = codes + start;
		uint64_t *to = work->run + n_run;

		if (n > LONG_BUCKET)
		{
			meet_long(work, own_n, start, n);
			continue;
		}
		/* what follows in the tile is met soon */
		__builtin_prefetch(from + 16);
		/* a fixed length needs no branch; most buckets have no more */
		memcpy(to, from, 8 * sizeof(uint64_t));
		for (uint32_t j = 8; j < n; j += 8)
			memcpy(to + j, from + j, 8 * sizeof(uint64_t));
		work->met[n_met++] = (Met){n_run, start};
		n_run += n;
		if (n_run >= RUN || n_met >= RUN)
		{
			work->n_run = n_run;
			work->n_met = n_met;
			compare_run(work, own_n);
			n_run = n_met = 0;
		}
	}
	work->n_run = n_run;
	work->n_met = n_met;
}

/* A bucket of n codes with those that are within the radius of its key. */
static void
meet_ball(Work *work, uint32_t key, uint32_t n)
{
	static const uint32_t none = 0;
	const Block *block = &work->task->plan.blocks[work->task->block];
	const uint32_t *ball = work->ball;

	if (work->task->cross)
		meet_part(work, key, n, &none, &none + 1);
	else
		meet_long(work, n, work->own, n);
	for (int bit = 0; bit < block->key_bits; bit++)
	{
		const uint32_t *end = work->ball + work->ball_ends[bit];

		if (work->task->cross || (key >> bit & 1) == 0)
			meet_part(work, key, n, ball, end);
		ball = end;
	}
	compare_run(work, n);
}

/* List what may differ in two keys of buckets that meet, but nothing. */
static void
make_ball(Work *work)
{
	const Block *block = &work->task->plan.blocks[work->task->block];
	uint32_t n = 0;

	for (int bit = 0; bit < block->key_bits; bit++)
	{
		uint32_t before = n;

		if (block->radius > 0)
			work->ball[n++] = UINT32_C(1) << bit;
		for (uint32_t i = 0; i < before; i++)
			if (simdup_popcount64(work->ball[i]) < block->radius)
				work->ball[n++] = work->ball[i] | UINT32_C(1) << bit;
		work->ball_ends[bit] = n;
	}
}

/* Tiles */

uint32_t
simdup_balls_tiles(const SimdupBalls *balls)
{
	int key_bits = balls->task->plan.blocks[balls->task->block].key_bits;

	return UINT32_C(1) << (key_bits < LOW_BITS ? 0 : key_bits - LOW_BITS);
}

void
simdup_balls_join(SimdupBalls *balls, uint32_t tile, SimdupPairPut put,
				  void *arg)
{
	const Plan *plan = &balls->task->plan;
	int block = balls->task->block;
	uint32_t n_tiles = simdup_balls_tiles(balls);
	uint32_t n = (UINT32_C(1) << plan->blocks[block].key_bits) / n_tiles;
	const uint32_t *starts = balls->a.starts + (size_t) tile * n;

	balls->put = put;
	balls->put_arg = arg;
	if (balls->ball_block != block)
		make_ball(balls);
	balls->ball_block = block;
	if (balls->join->progress)
		balls->join->progress(balls->join->arg,
							  (block + (double) tile / n_tiles) /
								  plan->n_blocks);
	for (uint32_t key = 0; key < n; key++)
	{
		balls->own = starts[key];
		if (starts[key + 1] > starts[key])
			meet_ball(balls, tile * n + key, starts[key + 1] - starts[key]);
	}
}

/* Give a pair to the join. */
void
simdup_balls_report(void *balls, uint32_t a, uint32_t b)
{
	const SimdupBalls *work = balls;

	work->join->sink(work->join->arg, work->a.elements[work->a.places[a]],
					 work->b.elements[work->b.places[b]]);
}

/* Return the size of a task in memory. Set the arrays in it, if there is one. */
static size_t
lay_out(const Task *task, char *memory, Work *work)
{
	size_t at = sizeof(Task);
	size_t n_keys = 0;

	for (int i = 0; i < task->plan.n_blocks; i++)
		n_keys |= (size_t) 1 << task->plan.blocks[i].key_bits;
	for (int i = 0; i <= task->cross; i++)
	{
		Sorted *set = i == 0 ? &work->a : &work->b;

		if (memory != NULL)
		{
			set->n = task->n[i];
			set->codes = (uint64_t *) (memory + at);
		}
		at += ((size_t) task->n[i] + CHUNK) * sizeof(uint64_t);
		if (memory != NULL)
			set->starts = (uint32_t *) (memory + at);
		at += (n_keys + 2) * sizeof(uint32_t);
	}
	if (!task->cross)
		work->b = work->a;
	return at;
}

SimdupBalls *
simdup_balls_help(void *memory)
{
	Work *work = simdup_alloc0(sizeof(Work));

	work->task = memory;
	work->ball_block = -1;
	work->join = simdup_alloc0(sizeof(SimdupPairJoin));
	work->join->max_distance = work->task->max_distance;
	(void) lay_out(work->task, memory, work);
	return work;
}

/* Run a planned join, with helpers where it is worth it. */
static void
run(SimdupPairJoin *join, const Task *task, SimdupPairSet a, SimdupPairSet b)
{
	Work *work = simdup_alloc0(sizeof(Work));
	const SimdupHelpers *helpers = join->helpers;
	size_t size = lay_out(task, NULL, work);
	void *memory = NULL;

	if (helpers != NULL && task->plan.cost > WORTH_HELP &&
		join->path.n_skipped == 0 && join->path.same == 0)
		memory = helpers->begin(helpers->arg, size);
	if (memory == NULL)
	{
		helpers = NULL;
		memory = simdup_alloc(size);
	}
	work->task = memcpy(memory, task, sizeof(Task));
	work->join = join;
	work->ball_block = -1;
	work->a.elements = a.elements;
	work->a.places = (uint32_t *) a.scratch;
	work->b.elements = b.elements;
	work->b.places = (uint32_t *) b.scratch;
	(void) lay_out(task, memory, work);
	for (int block = 0; block < task->plan.n_blocks; block++)
	{
		work->task->block = block;
		sort_set(work, &work->a);
		if (task->cross)
			sort_set(work, &work->b);
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

/* Join by balls, or return false if the recursion is cheaper. */
static bool
join_by_balls(SimdupPairJoin *join, bool cross, SimdupPairSet a,
			  SimdupPairSet b)
{
	Planning p = {.cross = cross, .k = join->max_distance};
	Task task = {.max_distance = p.k, .cross = cross};
	uint64_t varying;
	double other_cost;

	if (p.k == 0 || a.n < MIN_ELEMENTS || (cross && b.n < MIN_ELEMENTS) ||
		join->n_nested > MAX_NESTED)
		return false;
	other_cost = simdup_recursion_cost(join, cross, a, b, &varying);
	if (other_cost < WORTH_PLANNING)
		return false;
	task.n[0] = (uint32_t) a.n;
	task.n[1] = (uint32_t) b.n;
	p.rows = (double) a.n;
	p.all = (double) a.n + (cross ? (double) b.n : 0);
	p.pairs = cross ? (double) a.n * b.n : (double) a.n * a.n / 2;
	p.cost_of_compare = BEST->cost;
	p.a = simdup_alloc(2 * sizeof(Sample));
	p.b = cross ? p.a + 1 : p.a;
	take_sample(a, p.a);
	if (cross)
		take_sample(b, p.b);
	task.plan = make_plan(&p, varying);
	simdup_free(p.a);
	if (task.plan.cost >= other_cost)
		return false;
	run(join, &task, a, b);
	return true;
}

void
simdup_pairs_self(SimdupPairJoin *join, SimdupPairSet set)
{
	SimdupPairSet none = {set.elements, set.scratch, 0};

	if (!join_by_balls(join, false, set, none))
		simdup_join_by_recursion(join, false, set, none);
}

void
simdup_pairs_cross(SimdupPairJoin *join, SimdupPairSet a, SimdupPairSet b)
{
	if (!join_by_balls(join, true, a, b))
		simdup_join_by_recursion(join, true, a, b);
}
