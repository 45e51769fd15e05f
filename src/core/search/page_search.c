/*
 * page_search.c
 *	  Search in a page of a Hamming index.
 */
#include "core/fingerprint/vectors.h"
#include "core/search/search.h"

/*
 * With AVX-512 eight popcounts are one instruction. gcc does not find it for the search
 * by itself, so that loop is written out.
 */
#ifdef SIMDUP_HAS_VECTORS
#include <immintrin.h>
#define AVX512 "popcnt,avx512f,avx512vl,avx512bw,avx512vpopcntdq"
#endif

/* Values whose distances are computed together. */
#define COMPARED 32

/*
 * Few values are near. So those compared together are first asked whether any is,
 * which a compiler can do without a branch for each value.
 */
SIMDUP_POPCNT_CLONES static int
find_near(const uint64_t *values, int n, uint64_t center, int radius,
		  uint16_t *found)
{
	int n_found = 0;
	int start = 0;

	for (; start + COMPARED <= n; start += COMPARED)
	{
		uint64_t any = 0;

		for (int i = 0; i < COMPARED; i++)
		{
			uint64_t x = values[start + i] ^ center;

			any |= (uint64_t) ((int64_t) simdup_popcount64(x) - radius - 1);
		}
		if ((any >> 63) == 0)
			continue;
		for (int i = start; i < start + COMPARED; i++)
		{
			found[n_found] = (uint16_t) i;
			n_found += simdup_popcount64(values[i] ^ center) <= radius;
		}
	}
	for (int i = start; i < n; i++)
	{
		found[n_found] = (uint16_t) i;
		n_found += simdup_popcount64(values[i] ^ center) <= radius;
	}
	return n_found;
}

SIMDUP_POPCNT_CLONES static void
compute_distances(const uint64_t *values, int n, uint64_t center,
				  uint8_t *distances)
{
	for (int i = 0; i < n; i++)
		distances[i] = (uint8_t) simdup_popcount64(values[i] ^ center);
}

#ifdef SIMDUP_HAS_VECTORS
/* Return which of the values of `mask` are near, as bits. */
static inline __attribute__((always_inline, target(AVX512))) uint32_t
near_of_chunk(const uint64_t *values, uint32_t mask, __m512i center,
			  __m512i radius)
{
	uint32_t near = 0;

	for (int i = 0; i < COMPARED; i += 8)
	{
		__mmask8 eight = (__mmask8) (mask >> i);
		__m512i x = _mm512_maskz_loadu_epi64(eight, values + i);

		x = _mm512_popcnt_epi64(_mm512_xor_si512(x, center));
		near |= (uint32_t) _mm512_mask_cmple_epu64_mask(eight, x, radius) << i;
	}
	return near;
}

static __attribute__((target(AVX512))) int
find_near_avx512(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
	__m512i all_center = _mm512_set1_epi64((long long) center);
	__m512i all_radius = _mm512_set1_epi64(radius);
	int n_found = 0;

	for (int start = 0; start < n; start += COMPARED)
	{
		int left = n - start;
		/* all values of a whole chunk are looked at without a mask */
		uint32_t near =
			left >= COMPARED
				? near_of_chunk(values + start, UINT32_MAX, all_center,
								all_radius)
				: near_of_chunk(values + start, (UINT32_C(1) << left) - 1,
								all_center, all_radius);

		for (; near != 0; near &= near - 1)
			found[n_found++] = (uint16_t) (start + __builtin_ctz(near));
	}
	return n_found;
}

static __attribute__((target(AVX512))) void
distances_avx512(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
	for (int i = 0; i < n; i++)
		distances[i] = (uint8_t) simdup_popcount64(values[i] ^ center);
}
#endif

int
simdup_find_near(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
#ifdef SIMDUP_HAS_VECTORS
	if (simdup_vectors == SIMDUP_VECTORS_AVX512)
		return find_near_avx512(values, n, center, radius, found);
#endif
	return find_near(values, n, center, radius, found);
}

void
simdup_distances(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
#ifdef SIMDUP_HAS_VECTORS
	if (simdup_vectors == SIMDUP_VECTORS_AVX512)
		distances_avx512(values, n, center, distances);
	else
#endif
		compute_distances(values, n, center, distances);
}

/*
 * The search begins at the guess and goes on in steps that double. Static, since
 * a search of a leaf needs it inline: no step is more frequent.
 */
static inline int
first_not_below(const uint64_t *values, int from, int n, uint64_t value,
				int guess)
{
	int low = from; /* no value before is a candidate */
	int high = n;	/* the value there is not below, or there is none */
	int step = 1;

	if (guess < from)
		guess = from;
	if (guess < n && values[guess] < value)
	{
		low = guess + 1;
		while (low + step < n && values[low + step] < value)
		{
			low += step + 1;
			step *= 2;
		}
		if (low + step < n)
			high = low + step;
	}
	else
	{
		high = guess < n ? guess : n;
		while (high - step >= from && values[high - step] >= value)
		{
			high -= step;
			step *= 2;
		}
		if (high - step >= from)
			low = high - step + 1;
	}
	while (low < high)
	{
		int middle = (low + high) / 2;

		if (values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
simdup_first_not_below(const uint64_t *values, int from, int n, uint64_t value,
					   int guess)
{
	return first_not_below(values, from, n, value, guess);
}

/* All values of a page are compared as fast as this number of ranges is found. */
#define MANY_BLOCKS 12

int
simdup_find_in_blocks(const uint64_t *values, int n, uint64_t high,
					  const uint16_t *blocks, int n_blocks, uint64_t center,
					  int radius, uint16_t *found)
{
	int n_found = 0;
	int at = 0;

	if (n_blocks > MANY_BLOCKS)
		return simdup_find_near(values, n, center, radius, found);
	for (int i = 0; i < n_blocks && at < n; i++)
	{
		uint64_t first = (uint64_t) blocks[i] << 48;
		uint64_t last;
		int start;
		int found_here;

		/* neighbouring blocks are one range */
		while (i + 1 < n_blocks && blocks[i + 1] == blocks[i] + 1)
			i++;
		last = (uint64_t) blocks[i] << 48 | (UINT64_MAX >> 16);
		start = first_not_below(values, at, n, first,
								at + simdup_guess_position(first, values[at],
														   high, n - at));
		at = start;
		if (start == n || values[start] > last)
			continue;
		at =
			last == UINT64_MAX
				? n
				: first_not_below(values, start, n, last + 1,
								  start +
									  simdup_guess_position(last, values[start],
															high, n - start));
		found_here = simdup_find_near(values + start, at - start, center,
									  radius, found + n_found);
		for (; found_here > 0; found_here--)
			found[n_found++] += (uint16_t) start;
	}
	return n_found;
}
