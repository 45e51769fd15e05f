/*
 * probe.c
 *	  Keys and probes for exact Hamming search: see probe.h.
 */
#include "core/blocks.h"
#include "core/hamming.h"
#include "core/probe.h"

#define NUMBER_BITS 2

/*
 * A block radius of 2 or more looks at so many block values that it pays to
 * leave the lowest bits of the block open: fewer probes, longer ranges. 18
 * bits is best for ten million rows, and within 1.5 times the best for one
 * million and for fifty.
 */
#define WIDE_RADIUS 2
#define WIDE_BITS 18

/*
 * Of a rest, the upper two bits go, and each that was 1 complements the lanes
 * of its pattern: three lanes of 16, 16 and 8 bits. Fingerprints that share a
 * key so differ by 1 + 24, 1 + 24 or 2 + 32 bits.
 */
#define LOW_LANE UINT64_C(0x000000ffff)
#define MIDDLE_LANE UINT64_C(0x00ffff0000)
#define HIGH_LANE UINT64_C(0xff00000000)

static int
block_width(int i)
{
	return simdup_block_start(i + 1, SIMDUP_KEYS) -
		   simdup_block_start(i, SIMDUP_KEYS);
}

static uint64_t
block_value(uint64_t fp, int i)
{
	return simdup_block_bits(fp, simdup_block_start(i, SIMDUP_KEYS),
							 simdup_block_start(i + 1, SIMDUP_KEYS));
}

/* Everything but block i: the blocks below it move up into its place. */
static uint64_t
rest_value(uint64_t fp, int i)
{
	int      start = simdup_block_start(i, SIMDUP_KEYS);
	int      end = simdup_block_start(i + 1, SIMDUP_KEYS);
	uint64_t above = end == 64 ? 0 : fp >> end;

	return above << start | simdup_block_bits(fp, 0, start);
}

/* A rest without its upper two bits, which leave their mark on the others. */
static uint64_t
fold(uint64_t rest, int kept_bits)
{
	uint64_t folded = simdup_block_bits(rest, 0, kept_bits);

	if (rest >> kept_bits & 1)
		folded ^= LOW_LANE | HIGH_LANE;
	if (rest >> (kept_bits + 1) & 1)
		folded ^= MIDDLE_LANE | HIGH_LANE;
	return folded;
}

/* Key number and block, the rest being 0. */
static uint64_t
key_head(int i, uint64_t block)
{
	return (uint64_t) i << (64 - NUMBER_BITS) |
		   block << (64 - NUMBER_BITS - block_width(i));
}

uint64_t
simdup_key(uint64_t fp, int i)
{
	return key_head(i, block_value(fp, i)) |
		   fold(rest_value(fp, i), 64 - NUMBER_BITS - block_width(i));
}

/*
 * The fold is linear: the difference of two keys is the folded difference of
 * their fingerprints. Four differences fold to it; to complement a lane of n
 * bits with c ones changes the weight by n - 2c, and each folded bit that is
 * set adds 1.
 */
bool
simdup_keys_near(uint64_t a, uint64_t b, int k)
{
	uint64_t x = a ^ b;
	int      all;
	int      low;
	int      middle;
	int      high;

	/* number of ones in each byte */
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) +
		((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);

	all = (int) ((x * UINT64_C(0x0101010101010101)) >> 56);
	low = 16 - 2 * (int) ((x + (x >> 8)) & 0xff);
	middle = 16 - 2 * (int) (((x >> 16) + (x >> 24)) & 0xff);
	high = 8 - 2 * (int) ((x >> 32) & 0xff);

	return all <= k || all + 1 + low + high <= k ||
		   all + 1 + middle + high <= k || all + 2 + low + middle <= k;
}

/*
 * A step of a radius costs more than the step before it, so the fewest probes
 * come from radii as equal as can be, the odd steps on the narrow blocks.
 */
void
simdup_probe_radii(int k, int radii[SIMDUP_KEYS])
{
	int i;

	for (i = 0; i < SIMDUP_KEYS; i++)
		radii[i] = (k + 1 + i) / SIMDUP_KEYS - 1;
}

/* Upper bits of block i by which to probe it. */
static int
probed_bits(int i, int radius)
{
	return radius >= WIDE_RADIUS ? WIDE_BITS : block_width(i);
}

/* Values of so many bits that are within a radius of one of them. */
static int
values_within(int bits, int radius)
{
	int at_distance = 1;
	int n = 0;
	int d;

	for (d = 0; d <= radius; d++)
	{
		n += at_distance;
		at_distance = at_distance * (bits - d) / (d + 1);
	}
	return n;
}

int
simdup_probe_count(int k)
{
	int radii[SIMDUP_KEYS];
	int n = 0;
	int i;

	simdup_probe_radii(k, radii);
	for (i = 0; i < SIMDUP_KEYS; i++)
		n += values_within(probed_bits(i, radii[i]), radii[i]);
	return n;
}

/*
 * The next larger number with at most n ones; x has no more, and n is not 0.
 * Those it skips differ from x in nothing but further ones.
 */
static uint32_t
next_sparse(uint32_t x, int n)
{
	if (simdup_popcount64(x) < n)
		return x + 1;
	return x + (x & -x);
}

/*
 * The probes of one block; returns where the next block's go. Neighbours in
 * the list have long prefixes in common, and so the pages above them.
 */
static SimdupProbe *
block_probes(uint64_t fp, int i, int radius, SimdupProbe *probes)
{
	int      bits = probed_bits(i, radius);
	int      open_bits = block_width(i) - bits;
	uint64_t value = block_value(fp, i) >> open_bits;
	int      n = values_within(bits, radius);
	uint32_t flips = 0;
	int      j;

	for (j = 0; j < n; j++)
	{
		probes[j].first = key_head(i, (value ^ flips) << open_bits);
		probes[j].bits = NUMBER_BITS + bits;
		flips = next_sparse(flips, radius);
	}
	return probes + n;
}

void
simdup_probes(uint64_t fp, int k, SimdupProbe *probes)
{
	int radii[SIMDUP_KEYS];
	int i;

	simdup_probe_radii(k, radii);
	for (i = 0; i < SIMDUP_KEYS; i++)
		probes = block_probes(fp, i, radii[i], probes);
}

double
simdup_ball_fraction(int k)
{
	double at_distance = 1.0 / 18446744073709551616.0;
	double sum = 0;
	int    d;

	for (d = 0; d <= k; d++)
	{
		sum += at_distance;
		at_distance = at_distance * (64 - d) / (d + 1);
	}
	return sum;
}
