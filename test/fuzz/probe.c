/*
 * probe.c
 *	  The index's search around any fingerprint, for every radius. A probe
 *	  reaches every fingerprint within the radius, by a key that says near, and
 *	  each key once. The keys of fingerprints a little farther away never say
 *	  near. Also the pigeonhole of blocks: neighbours share one.
 */
#include "core/blocks.h"
#include "core/hamming.h"
#include "core/probe.h"
#include "input.h"

/* Nothing farther than this from a center can pass for near: see probe.h. */
#define LEAST_APART 31

static uint8_t probed[SIMDUP_KEYS][1 << 16];

static uint32_t
block_of_key(uint64_t key)
{
	return (uint32_t) (key >> SIMDUP_REST_BITS) & 0xffff;
}

static void
mark_probes(const uint64_t *starts, int n, bool mark)
{
	for (int i = 0; i < n; i++)
	{
		uint8_t *at =
			&probed[simdup_key_number(starts[i])][block_of_key(starts[i])];

		must(starts[i] << (64 - SIMDUP_REST_BITS) == 0);
		must(*at == !mark); /* no probe twice */
		*at = mark;
	}
}

static int
distance(uint64_t a, uint64_t b)
{
	int n = 0;

	for (uint64_t x = a ^ b; x != 0; x &= x - 1)
		n++;
	return n;
}

/* Is the fingerprint found by the search around the center? */
static bool
is_found(uint64_t center, uint64_t fp, int k)
{
	bool found = false;

	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		uint64_t key = simdup_key(fp, i);
		bool near = simdup_keys_near(key, simdup_key(center, i), k);

		must(simdup_key_number(key) == i);
		if (distance(center, fp) <= k)
			must(near); /* by every probe that reads it */
		found = found || (near && probed[i][block_of_key(key)]);
	}
	return found;
}

static void
check_fingerprint(uint64_t center, uint64_t fp, int k)
{
	int d = distance(center, fp);

	must(simdup_hamming64(center, fp) == d);
	if (d <= k)
		must(is_found(center, fp, k));
	else if (d + k < LEAST_APART)
		must(!is_found(center, fp, k));
}

/* Everything within `depth` bits of fp, highest bit first. */
static void
check_around(uint64_t center, uint64_t fp, int k, int top, int depth)
{
	check_fingerprint(center, fp, k);
	if (depth == 0)
		return;
	for (int bit = 0; bit < top; bit++)
		check_around(center, fp ^ UINT64_C(1) << bit, k, bit, depth - 1);
}

/* Of k + 1 blocks neighbours share one; all of them make the fingerprint. */
static void
check_blocks(uint64_t a, uint64_t b)
{
	int n = distance(a, b) + 1;
	uint64_t joined = 0;
	bool shared = false;

	if (n > 64)
		return;
	for (int i = 0; i < n; i++)
	{
		int start = simdup_block_start(i, n);
		int end = simdup_block_start(i + 1, n);
		uint64_t value = simdup_block_bits(a, start, end);

		must(end > start);
		shared = shared || value == simdup_block_bits(b, start, end);
		joined |= value << start;
	}
	must(shared && joined == a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t starts[4096];
	Input in = input_of(data, size);
	int k = (int) take_between(&in, 0, SIMDUP_PROBE_MAX_RADIUS);
	int depth = (int) take_between(&in, 0, 2);
	uint64_t center = take_word(&in);
	int n = simdup_probe_count(k);

	must(n > 0 && n <= 4096);
	simdup_probes(center, k, starts);
	mark_probes(starts, n, true);
	check_around(center, center, k, 64, depth);
	while (input_left(&in) > 0)
	{
		uint64_t fp = center;
		int flips = (int) take_between(&in, 0, 40);

		/* bits one by one, or all of them at once */
		if (flips == 40)
			fp = take_word(&in);
		while (flips-- > 0 && input_left(&in) > 0)
			fp ^= UINT64_C(1) << (take_byte(&in) & 63);
		check_fingerprint(center, fp, k);
		check_around(center, fp, k, 64, depth > 0);
		check_blocks(center, fp);
	}
	mark_probes(starts, n, false);
	return 0;
}
