/*
 * sum.c
 *	  The weighted sum of feature hashes, bit-sliced, with carry-save adders.
 */
#include <string.h>

#include "core/fingerprint/sum.h"

/* Hashes that go through the adders together. */
#define BATCH 16

static inline void
add_total(SimdupCounters *counts, uint64_t weight)
{
	counts->total_low += weight;
	counts->total_high += counts->total_low < weight;
}

/* Add the word of weight 2^plane to the counters: ripple until no carry is left. */
static inline void
ripple(uint64_t *planes, uint64_t carry, int plane)
{
	for (; carry != 0 && plane < SIMDUP_SUM_PLANES; plane++)
	{
		uint64_t next = planes[plane] & carry;

		planes[plane] ^= carry;
		carry = next;
	}
}

void
simdup_counters_add(SimdupCounters *counts, uint64_t hash, uint64_t weight)
{
	add_total(counts, weight);
	for (; weight != 0; weight &= weight - 1)
		ripple(counts->planes, hash, __builtin_ctzll(weight));
}

void
simdup_counters_merge(SimdupCounters *counts, const SimdupCounters *other)
{
	for (int plane = 0; plane < SIMDUP_SUM_PLANES; plane++)
		ripple(counts->planes, other->planes[plane], plane);
	add_total(counts, other->total_low);
	counts->total_high += other->total_high;
}

/* Add three words: *sum takes the ones. Return the carries. */
static inline uint64_t
add3(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t u = *sum ^ a;
	uint64_t carry = (*sum & a) | (u & b);

	*sum = u ^ b;
	return carry;
}

/*
 * Add sixteen words of weight 1 to the counters. Harley and Seal's tree updates four
 * planes and leaves one carry to ripple.
 */
static inline void
add_sixteen(uint64_t *p, const uint64_t *x)
{
	uint64_t twos[2];
	uint64_t fours[2];
	uint64_t eights[2];

	for (int i = 0; i < 2; i++, x += 8)
	{
		twos[0] = add3(&p[0], x[0], x[1]);
		twos[1] = add3(&p[0], x[2], x[3]);
		fours[0] = add3(&p[1], twos[0], twos[1]);
		twos[0] = add3(&p[0], x[4], x[5]);
		twos[1] = add3(&p[0], x[6], x[7]);
		fours[1] = add3(&p[1], twos[0], twos[1]);
		eights[i] = add3(&p[2], fours[0], fours[1]);
	}
	ripple(p, add3(&p[3], eights[0], eights[1]), 4);
}

void
simdup_counters_add_ones(SimdupCounters *counts, const uint64_t *hashes, int n)
{
	uint64_t last[BATCH] = {0}; /* words of zeros count nowhere */
	int i = 0;

	add_total(counts, (uint64_t) n);
	for (; i + BATCH <= n; i += BATCH)
		add_sixteen(counts->planes, hashes + i);
	if (i == n)
		return;
	memcpy(last, hashes + i, (size_t) (n - i) * sizeof(uint64_t));
	add_sixteen(counts->planes, last);
}

uint64_t
simdup_counters_signs(const SimdupCounters *counts, bool ties)
{
	uint64_t half[2] = {counts->total_low >> 1 | counts->total_high << 63,
						counts->total_high >> 1};
	bool odd = counts->total_low & 1;
	uint64_t greater = 0;
	uint64_t equal = ~UINT64_C(0);
	int digits = 0;

	if (counts->total_high != 0)
		digits = 128 - __builtin_clzll(counts->total_high);
	else if (counts->total_low != 0)
		digits = 64 - __builtin_clzll(counts->total_low);

	/*
	 * A counter is positive where the weight of its ones exceeds half the
	 * total, rounded down. It is zero where both are equal and the total is
	 * even. All 64 comparisons run at once, from the total's highest digit.
	 */
	for (int plane = digits - 1; plane >= 0; plane--)
	{
		if (half[plane / 64] >> plane % 64 & 1)
			equal &= counts->planes[plane];
		else
		{
			greater |= equal & counts->planes[plane];
			equal &= ~counts->planes[plane];
		}
	}
	return ties && !odd ? greater | equal : greater;
}
