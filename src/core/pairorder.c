/*
 * pairorder.c
 *	  Pairs of numbers put in order, in place.
 *
 * A radix sort from the highest byte on (American flag sort: McIlroy, Bostic
 * and McIlroy 1993). It needs no second array, and reads the pairs about three
 * times where a comparison sort reads them once a binary digit of their number.
 */
#include "core/pairorder.h"

#include "core/host.h"

/* So few pairs are sorted by insertion. */
#define FEW_PAIRS 40

#define N_BYTES 256

static void
insertion_sort(SimdupPair *pairs, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		SimdupPair pair = pairs[i];
		size_t at = i;

		while (at > 0 && simdup_pair_less(&pair, &pairs[at - 1]))
		{
			pairs[at] = pairs[at - 1];
			at--;
		}
		pairs[at] = pair;
	}
}

/* Byte 0 is the highest of the first number, byte 15 the lowest of the second. */
static inline unsigned
byte_of(const SimdupPair *pair, int byte)
{
	uint64_t word = byte < 8 ? pair->first : pair->second;

	return (unsigned) (word >> (56 - byte % 8 * 8)) & 0xff;
}

/* The highest byte in which the pairs differ; 16 if all are equal. */
static int
first_difference(const SimdupPair *pairs, size_t n)
{
	uint64_t first = 0;
	uint64_t second = 0;
	int byte = 0;

	for (size_t i = 1; i < n; i++)
	{
		first |= pairs[i].first ^ pairs[0].first;
		second |= pairs[i].second ^ pairs[0].second;
	}
	if (first == 0)
	{
		byte = 8;
		first = second;
	}
	if (first == 0)
		return 16;
	while (first >> 56 == 0)
	{
		first <<= 8;
		byte++;
	}
	return byte;
}

/* Part the pairs by a byte; ends[b] becomes the end of those with byte b. */
static void
part_by_byte(SimdupPair *pairs, size_t n, int byte, size_t *ends)
{
	size_t next[N_BYTES];
	size_t start = 0;

	for (int b = 0; b < N_BYTES; b++)
		ends[b] = 0;
	for (size_t i = 0; i < n; i++)
		ends[byte_of(&pairs[i], byte)]++;
	for (int b = 0; b < N_BYTES; b++)
	{
		next[b] = start;
		start = ends[b] += start;
	}
	/* a pair out of place goes to its place, and what was there goes on */
	for (int b = 0; b < N_BYTES; b++)
		while (next[b] < ends[b])
		{
			SimdupPair pair = pairs[next[b]];
			unsigned own;

			while ((own = byte_of(&pair, byte)) != (unsigned) b)
			{
				SimdupPair other = pairs[next[own]];

				pairs[next[own]++] = pair;
				pair = other;
			}
			pairs[next[b]++] = pair;
		}
}

void
simdup_order_pairs(SimdupPair *pairs, size_t n)
{
	size_t ends[N_BYTES];
	size_t start = 0;
	int byte;

	if (n <= FEW_PAIRS)
	{
		insertion_sort(pairs, n);
		return;
	}
	simdup_check_interrupts();
	byte = first_difference(pairs, n);
	if (byte == 16)
		return;
	part_by_byte(pairs, n, byte, ends);
	/* at most 16 deep, since each level settles a byte */
	for (int b = 0; b < N_BYTES; b++)
	{
		simdup_order_pairs(pairs + start, ends[b] - start);
		start = ends[b];
	}
}
