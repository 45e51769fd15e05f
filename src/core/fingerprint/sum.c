/*
 * sum.c
 *	  The weighted sum of feature hashes, bit-sliced, with carry-save adders.
 */
#include <string.h>

#include "core/fingerprint/sum.h"

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
	simdup_counters_add_total(counts, weight);
	for (; weight != 0; weight &= weight - 1)
		ripple(counts->planes, hash, __builtin_ctzll(weight));
}

void
simdup_counters_merge(SimdupCounters *counts, const SimdupCounters *other)
{
	for (int plane = 0; plane < SIMDUP_SUM_PLANES; plane++)
		ripple(counts->planes, other->planes[plane], plane);
	simdup_counters_add_total(counts, other->total_low);
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
 * Add sixteen words of weight 2^digit to the counters. Harley and Seal's tree
 * updates four planes and leaves one carry to ripple.
 */
static inline void
add_sixteen(uint64_t *planes, const uint64_t *x, int digit)
{
	uint64_t *p = &planes[digit];
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
	ripple(planes, add3(&p[3], eights[0], eights[1]), digit + 4);
}

void
simdup_sum_init(SimdupSum *sum)
{
	/* what lies in batch beyond waiting is never read */
	memset(sum, 0, offsetof(SimdupSum, batch));
}

void
simdup_sum_flush_digit(SimdupSum *sum, int digit)
{
	add_sixteen(sum->counts.planes, sum->batch[digit], digit);
	sum->waiting[digit] = 0;
}

void
simdup_sum_add_ones(SimdupSum *sum, const uint64_t *hashes, int n)
{
	int i = 0;

	simdup_counters_add_total(&sum->counts, (uint64_t) n);
	for (; i + SIMDUP_SUM_BATCH <= n; i += SIMDUP_SUM_BATCH)
		add_sixteen(sum->counts.planes, hashes + i, 0);
	for (; i < n; i++)
		simdup_sum_add_digit(sum, hashes[i], 0);
}

SimdupCounters *
simdup_sum_finish(SimdupSum *sum)
{
	for (int digit = 0; digit < SIMDUP_SUM_DIGITS; digit++)
	{
		if (sum->waiting[digit] == 0)
			continue;
		/* words of zeros fill the batch: they count nowhere */
		memset(&sum->batch[digit][sum->waiting[digit]], 0,
			   (SIMDUP_SUM_BATCH - sum->waiting[digit]) * sizeof(uint64_t));
		simdup_sum_flush_digit(sum, digit);
	}
	return &sum->counts;
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
