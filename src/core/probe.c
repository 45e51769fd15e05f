/*
 * probe.c
 *	  Keys and probes for exact Hamming search: see probe.h.
 */
#include "core/hamming.h"
#include "core/probe.h"

#define BLOCK_BITS 16

/*
 * The rest of a fingerprint is 48 bits, and a key has room for 46. The other 46
 * bits are three lanes of 14, 16 and 16 bits. Each of the upper two bits, if it
 * is 1, complements two of the lanes; then both bits are dropped. So
 * fingerprints that share a key differ by 1 + 30, 1 + 30 or 2 + 32 bits.
 */
#define LOW_LANE UINT64_C(0x000000003fff)
#define MIDDLE_LANE UINT64_C(0x00003fffc000)
#define HIGH_LANE UINT64_C(0x3fffc0000000)
#define REST_MASK (LOW_LANE | MIDDLE_LANE | HIGH_LANE)

static uint64_t
block_value(uint64_t fp, int i)
{
	return fp >> (BLOCK_BITS * i) & 0xffff;
}

/* All bits but block i; the blocks above it move down into its place. */
static uint64_t
rest_value(uint64_t fp, int i)
{
	int start = BLOCK_BITS * i;
	int end = start + BLOCK_BITS;
	uint64_t above = end == 64 ? 0 : fp >> end;

	return above << start | (fp & ((UINT64_C(1) << start) - 1));
}

static uint64_t
fold(uint64_t rest)
{
	uint64_t folded = rest & REST_MASK;

	if (rest >> SIMDUP_REST_BITS & 1)
		folded ^= LOW_LANE | MIDDLE_LANE;
	if (rest >> (SIMDUP_REST_BITS + 1) & 1)
		folded ^= LOW_LANE | HIGH_LANE;
	return folded;
}

/* Number and block of a key, the rest being 0. */
static uint64_t
range_start(int i, uint64_t block)
{
	return (uint64_t) i << 62 | block << SIMDUP_REST_BITS;
}

uint64_t
simdup_key(uint64_t fp, int i)
{
	return range_start(i, block_value(fp, i)) | fold(rest_value(fp, i));
}

/*
 * The fold is linear: the difference of two keys is the folded difference of
 * their fingerprints. Four differences fold to the same one. Complementing a
 * lane of n bits with c ones changes the weight by n - 2c, and each upper bit
 * that is set adds 1.
 */
bool
simdup_keys_near(uint64_t a, uint64_t b, int k)
{
	uint64_t x = (a ^ b) << 2; /* lanes now begin at bits 0, 16, 32 */
	int all;
	int low;
	int middle;
	int high;

	/* number of ones in each 16 bits */
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) +
		((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);

	all = (int) ((x * UINT64_C(0x0001000100010001)) >> 48);
	low = 14 - 2 * (int) (x & 0xff);
	middle = 16 - 2 * (int) (x >> 16 & 0xff);
	high = 16 - 2 * (int) (x >> 32 & 0xff);

	return all <= k || all + 1 + low + middle <= k ||
		   all + 1 + low + high <= k || all + 2 + middle + high <= k;
}

/*
 * Blocks have one width, and each step of a radius costs more probes than the
 * step before. So radii as equal as can be need the fewest probes.
 */
void
simdup_probe_radii(int k, int radii[SIMDUP_KEYS])
{
	for (int i = 0; i < SIMDUP_KEYS; i++)
		radii[i] = (k + 1 + i) / SIMDUP_KEYS - 1;
}

/* How many block values lie within a radius of a given one. */
static int
blocks_within(int radius)
{
	int at_distance = 1;
	int n = 0;

	for (int d = 0; d <= radius; d++)
	{
		n += at_distance;
		at_distance = at_distance * (BLOCK_BITS - d) / (d + 1);
	}
	return n;
}

int
simdup_probe_count(int k)
{
	int radii[SIMDUP_KEYS];
	int n = 0;

	simdup_probe_radii(k, radii);
	for (int i = 0; i < SIMDUP_KEYS; i++)
		n += blocks_within(radii[i]);
	return n;
}

/*
 * The next larger number with at most n ones; x has at most n. The skipped
 * numbers are x with more bits set, below its lowest one.
 */
static uint32_t
next_sparse(uint32_t x, int n)
{
	if (simdup_popcount64(x) < n)
		return x + 1;
	return x + (x & -x);
}

/*
 * Neighbours in the list share long prefixes, and therefore most inner pages of
 * the index.
 */
void
simdup_probes(uint64_t fp, int k, uint64_t *starts)
{
	int radii[SIMDUP_KEYS];
	uint32_t flips;

	simdup_probe_radii(k, radii);
	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		flips = 0;
		for (int n = blocks_within(radii[i]); n > 0; n--)
		{
			*starts++ = range_start(i, block_value(fp, i) ^ flips);
			flips = next_sparse(flips, radii[i]);
		}
	}
}

double
simdup_ball_fraction(int k)
{
	double at_distance = 1.0 / 18446744073709551616.0;
	double sum = 0;

	for (int d = 0; d <= k; d++)
	{
		sum += at_distance;
		at_distance = at_distance * (64 - d) / (d + 1);
	}
	/* rounding: a fraction above 1 would be an error in the planner */
	return sum < 1 ? sum : 1;
}
