/*
 * sum.c
 *	  The bit-sliced counters against 64 plain ones of 128 bits: features added
 *	  one by one, in batches and taken back, counters merged, in any order.
 */
#include "core/fingerprint/token_counts.h"
#include "input.h"

#define MAX_ONES 128

static void
plain_add(__int128 *plain, uint64_t hash, __int128 weight)
{
	for (int i = 0; i < 64; i++)
		plain[i] += hash >> i & 1 ? weight : -weight;
}

static void
check_signs(const SimdupCounters *counts, const __int128 *plain)
{
	for (int ties = 0; ties < 2; ties++)
	{
		uint64_t signs = simdup_counters_signs(counts, ties);

		for (int i = 0; i < 64; i++)
			must((signs >> i & 1) == (plain[i] > 0 || (ties && plain[i] == 0)));
	}
}

/* Weights of any size, small ones more often. */
static uint64_t
take_weight(Input *in)
{
	uint8_t kind = take_byte(in);

	return kind < 128 ? kind & 15 : take_word(in) >> (kind & 63);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	SimdupCounters counts = {0};
	SimdupCounters others = {0};
	__int128 plain[64] = {0};
	unsigned __int128 total = 0;
	uint64_t hash = 0;

	while (input_left(&in) > 0)
	{
		uint8_t what = take_byte(&in);
		uint64_t weight = take_weight(&in);
		uint64_t ones[MAX_ONES];
		int n;

		hash = what & 8 ? ~hash : what & 16 ? take_word(&in) : hash;
		switch (what % 4)
		{
			case 0:
				simdup_counters_add(&others, hash, weight);
				break;
			case 1:
				simdup_counters_add(&counts, hash, weight);
				break;
			case 2:
				n = (int) take_between(&in, 0, MAX_ONES);
				for (int i = 0; i < n; i++)
					ones[i] = hash + (uint64_t) i * weight;
				for (int i = 0; i < n; i++)
					plain_add(plain, ones[i], 1);
				total += (unsigned) n;
				simdup_counters_add_ones(&others, ones, n);
				continue;
			default:
				simdup_counters_merge(&counts, &others);
				others = (SimdupCounters){0};
				continue;
		}
		plain_add(plain, hash, (__int128) weight);
		total += weight;
	}
	simdup_counters_merge(&counts, &others);
	must(counts.total_low == (uint64_t) total &&
		 counts.total_high == (uint64_t) (total >> 64));
	must(simdup_counters_empty(&counts) == (total == 0));
	check_signs(&counts, plain);
	return 0;
}
