/*
 * sum.c
 *	  Bit-sliced counters with carry-save adders.
 */
#include <stddef.h>
#include <string.h>

#include "core/sum.h"

void
simdup_sum_init(SimdupSum *sum)
{
	/* what lies in batch beyond waiting is never read */
	memset(sum, 0, offsetof(SimdupSum, batch));
}

/* Add the word of weight 2^plane to the counters: ripple until no carry. */
static inline void
ripple(uint64_t *planes, uint64_t carry, int plane)
{
	for (; carry != 0 && plane < SIMDUP_SUM_PLANES; plane++)
	{
		uint64_t	both = planes[plane] & carry;

		planes[plane] ^= carry;
		carry = both;
	}
}

/* Full adder of three words: *sum takes the ones, the carries are returned. */
static inline uint64_t
add3(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t	u = *sum ^ a;
	uint64_t	carry = (*sum & a) | (u & b);

	*sum = u ^ b;
	return carry;
}

/*
 * Sixteen words of weight 2^digit into the counters: Harley and Seal's tree
 * updates four planes and leaves one carry to ripple.
 */
static inline void
add_sixteen(uint64_t *planes, const uint64_t *x, int digit)
{
	uint64_t   *p = &planes[digit];
	uint64_t	twos[2];
	uint64_t	fours[2];
	uint64_t	eights[2];

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
simdup_sum_flush_digit(SimdupSum *sum, int digit)
{
	add_sixteen(sum->planes, sum->batch[digit], digit);
	sum->waiting[digit] = 0;
}

void
simdup_sum_add_ones(SimdupSum *sum, const uint64_t *hashes, int n)
{
	int			i = 0;

	sum->features += n;
	sum->total_low += n;
	sum->total_high += sum->total_low < (uint64_t) n;
	for (; i + SIMDUP_SUM_BATCH <= n; i += SIMDUP_SUM_BATCH)
		add_sixteen(sum->planes, hashes + i, 0);
	for (; i < n; i++)
		simdup_sum_add_digit(sum, hashes[i], 0);
}

void
simdup_sum_flush(SimdupSum *sum)
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
}

void
simdup_sum_merge(SimdupSum *sum, SimdupSum *other)
{
	simdup_sum_flush(other);
	for (int plane = 0; plane < SIMDUP_SUM_PLANES; plane++)
		ripple(sum->planes, other->planes[plane], plane);
	sum->features += other->features;
	sum->total_low += other->total_low;
	sum->total_high += other->total_high + (sum->total_low < other->total_low);
}

uint64_t
simdup_sum_signs(SimdupSum *sum, bool ties)
{
	uint64_t	half_low = sum->total_low >> 1 | sum->total_high << 63;
	uint64_t	half_high = sum->total_high >> 1;
	bool		odd = sum->total_low & 1;
	uint64_t	greater = 0;
	uint64_t	equal = ~UINT64_C(0);

	simdup_sum_flush(sum);

	/*
	 * A counter is positive where the weight of its ones exceeds half the
	 * total, rounded down; it is zero where they are equal and the total is
	 * even. All 64 comparisons at once, from the highest digit down.
	 */
	for (int plane = SIMDUP_SUM_PLANES - 1; plane >= 0; plane--)
	{
		uint64_t	half = plane < 64 ? half_low >> plane :
			half_high >> (plane - 64);

		if (half & 1)
			equal &= sum->planes[plane];
		else
		{
			greater |= equal & sum->planes[plane];
			equal &= ~sum->planes[plane];
		}
	}
	return ties && !odd ? greater | equal : greater;
}
