/*
 * probe.c
 *	  Keys and probes for exact Hamming search: see probe.h.
 */
#include "core/probe.h"

#define BLOCK_BITS 16
#define REST_MASK ((UINT64_C(1) << SIMDUP_KEY_REST_BITS) - 1)

/*
 * The rest of a fingerprint is 48 bits, 46 have room. The upper two go, and
 * each that was 1 complements the bits of its pattern: of the three lanes of
 * 16, 16 and 14 bits the first takes the outer two, the second the lower two.
 * So fingerprints of one key differ by (1 + 30), (1 + 30) or (2 + 32) bits.
 */
#define FOLD_UPPER UINT64_C(0x3fffc0003fff)
#define FOLD_LOWER UINT64_C(0x00003fffffff)

static uint64_t
fold(uint64_t rest)
{
	uint64_t folded = rest & REST_MASK;

	if (rest >> (SIMDUP_KEY_REST_BITS + 1) & 1)
		folded ^= FOLD_UPPER;
	if (rest >> SIMDUP_KEY_REST_BITS & 1)
		folded ^= FOLD_LOWER;
	return folded;
}

/* Number and block of a key whose rest is 0. */
static uint64_t
range_start(int i, uint64_t block)
{
	return (uint64_t) i << 62 | block << SIMDUP_KEY_REST_BITS;
}

/* Block i, bits 16 * i and up, low bits first. */
static uint64_t
key_block(uint64_t fp, int i)
{
	return fp >> (BLOCK_BITS * i) & 0xffff;
}

uint64_t
simdup_key(uint64_t fp, int i)
{
	int		 shift = BLOCK_BITS * i;
	uint64_t above = i == SIMDUP_KEYS - 1 ? 0 : fp >> (shift + BLOCK_BITS);
	uint64_t below = fp & ((UINT64_C(1) << shift) - 1);

	/* the blocks below move up into the place of this one */
	return range_start(i, key_block(fp, i)) | fold(above << shift | below);
}

/*
 * All blocks are of one width, and the next step of a radius costs more than
 * the last, so the fewest probes come from radii as equal as can be.
 */
void
simdup_probe_radii(int k, int radii[SIMDUP_KEYS])
{
	int i;

	for (i = 0; i < SIMDUP_KEYS; i++)
		radii[i] = (k + 1 + SIMDUP_KEYS - 1 - i) / SIMDUP_KEYS - 1;
}

/* Block values that differ in exactly this many bits. */
static int
blocks_at_distance(int distance)
{
	int n = 1;
	int i;

	for (i = 0; i < distance; i++)
		n = n * (BLOCK_BITS - i) / (i + 1);
	return n;
}

int
simdup_probe_count(int k)
{
	int radii[SIMDUP_KEYS];
	int n = 0;
	int i;
	int d;

	simdup_probe_radii(k, radii);
	for (i = 0; i < SIMDUP_KEYS; i++)
		for (d = 0; d <= radii[i]; d++)
			n += blocks_at_distance(d);
	return n;
}

/* The next larger number with as many ones (Gosper); not for 0. */
static uint32_t
next_combination(uint32_t x)
{
	uint32_t lowest = x & -x;
	uint32_t carried = x + lowest;

	return carried | ((x ^ carried) >> 2) / lowest;
}

void
simdup_probes(uint64_t fp, int k, uint64_t *starts)
{
	int radii[SIMDUP_KEYS];
	int i;
	int d;

	simdup_probe_radii(k, radii);
	for (i = 0; i < SIMDUP_KEYS; i++)
	{
		uint64_t block = key_block(fp, i);

		if (radii[i] >= 0)
			*starts++ = range_start(i, block);
		for (d = 1; d <= radii[i]; d++)
		{
			uint32_t flips = (UINT32_C(1) << d) - 1;

			for (; flips >> BLOCK_BITS == 0; flips = next_combination(flips))
				*starts++ = range_start(i, block ^ flips);
		}
	}
}

double
simdup_ball_fraction(int k)
{
	double term = 1.0 / 18446744073709551616.0;
	double sum = 0;
	int	   d;

	for (d = 0; d <= k; d++)
	{
		sum += term;
		term = term * (64 - d) / (d + 1);
	}
	return sum;
}
