/*
 * sum.c
 *	  The bit-sliced sum against 64 plain counters.
 */
#include "core/fingerprint/token_counts.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 42;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* A number of 128 bits, as a two's complement. */
typedef struct Counter
{
	uint64_t low;
	uint64_t high;
} Counter;

static void
plain_add(Counter counters[64], uint64_t hash, uint64_t weight)
{
	for (int i = 0; i < 64; i++)
	{
		Counter *counter = &counters[i];

		if (hash >> i & 1)
		{
			counter->low += weight;
			counter->high += counter->low < weight;
		}
		else
		{
			counter->high -= counter->low < weight;
			counter->low -= weight;
		}
	}
}

static uint64_t
plain_signs(const Counter counters[64], bool ties)
{
	uint64_t signs = 0;

	for (int i = 0; i < 64; i++)
	{
		bool zero = counters[i].low == 0 && counters[i].high == 0;
		bool positive = !zero && counters[i].high >> 63 == 0;

		signs |= (uint64_t) (positive || (ties && zero)) << i;
	}
	return signs;
}

/*
 * n random features with weights up to 2^bits. Three sets of counters and plain ones
 * take them, and are merged at the end. Some features come and go.
 */
static bool
check(int n, int bits, bool few_hashes)
{
	SimdupCounters counts[3] = {0};
	Counter plain[64] = {0};
	uint64_t pool[4] = {next_random(), next_random(), next_random(), 0};

	pool[3] = ~pool[0];
	for (int i = 0; i < n; i++)
	{
		uint64_t hash = few_hashes ? pool[next_random() % 4] : next_random();
		uint64_t weight = bits == 0 ? 1 : next_random() >> (64 - bits);

		plain_add(plain, hash, weight);
		simdup_counters_add(&counts[next_random() % 3], hash, weight);
	}
	simdup_counters_merge(&counts[0], &counts[1]);
	simdup_counters_merge(&counts[0], &counts[2]);
	return simdup_counters_signs(counts, false) == plain_signs(plain, false) &&
		   simdup_counters_signs(counts, true) == plain_signs(plain, true);
}

/* Published vectors with ready-made hashes, weight 1 each. */
static uint64_t
signs_of(int n, const uint64_t *hashes)
{
	SimdupCounters sum = {0};

	simdup_counters_add_ones(&sum, hashes, n);
	return simdup_counters_signs(&sum, false);
}

int
main(void)
{
	static uint64_t beef[100];

	for (int bits = 0; bits <= 64; bits++)
	{
		bool equal = true;

		for (int n = 0; n < 70; n++)
			equal = equal && check(n, bits, n % 2 == 0);
		equal = equal && check(5000, bits, false);
		ok(equal, "weights below 2^%d", bits);
	}

	for (int i = 0; i < 100; i++)
		beef[i] = 0xDEADBEEF;
	is_u64(signs_of(0, beef), 0, "no feature");
	is_u64(signs_of(100, beef), 0xDEADBEEF, "one feature a hundred times");
	is_u64(signs_of(2,
					(uint64_t[]){0xDEADBEEF, (uint32_t) ~UINT32_C(0xDEADBEEF)}),
		   0, "a feature and its complement tie to 0");
	is_u64(signs_of(3, (uint64_t[]){0xABCD, 0xBCDE, 0xCDEF}), 0xADCF,
		   "majority of three");
	is_u64(signs_of(2, (uint64_t[]){UINT64_C(13352372148217134600),
									UINT64_C(5020219685658847592)}),
		   UINT64_C(74633958390507528), "two features leave what they share");
	return done_testing();
}
