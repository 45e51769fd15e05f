/*
 * sketch.c
 *	  Sketches of sets that come in any parts, with repetitions, and are merged,
 *	  against their definition: bin by bin over the whole set.
 */
#include "core/fingerprint/hash.h"
#include "core/fingerprint/sketch.h"
#include "core/fingerprint/vectors.h"
#include "input.h"
#include "random.h"

#define MAX_BINS 100
#define MAX_ELEMENTS 6000
#define ROUND_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Each bin: of the first round that throws anything into it, the least key. */
static void
naive_keys(const uint64_t *set, size_t n, uint64_t *keys, uint64_t n_bins)
{
	uint64_t filled = 0;

	memset(keys, 0xFF, n_bins * sizeof(uint64_t));
	for (uint64_t round = 0; filled < n_bins; round++)
		for (size_t i = 0; i < n; i++)
		{
			uint64_t v = simdup_mix64(set[i] ^ round * ROUND_SEED);
			uint64_t to =
				round < n_bins ? (v >> 32) * n_bins >> 32 : round - n_bins;
			uint64_t key = round << 32 | (uint32_t) v;

			filled += keys[to] == UINT64_MAX;
			if (key < keys[to])
				keys[to] = key;
		}
}

/* Few distinct elements, or many: the rounds that they need differ. */
static size_t
make_set(Input *in, uint64_t *set)
{
	size_t n = take_between(in, 0, MAX_ELEMENTS);
	size_t distinct = take_between(in, 1, MAX_ELEMENTS) >> take_byte(in) % 13;
	uint64_t seed = take_byte(in) % 4;
	bool mixed = take_byte(in) & 1;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t state = seed + i % (distinct + 1);

		/* equal low digits meet in the same place of any table */
		set[i] = mixed ? next_random_of(&state) : state << 20;
	}
	return n;
}

static void
add_in_parts(Input *in, SimdupSketch *sketch, const uint64_t *set, size_t n)
{
	while (n > 0)
	{
		size_t part = take_between(in, 1, 2000);

		if (part > n || input_left(in) == 0)
			part = n;
		simdup_sketch_add(sketch, set, part);
		/* to ask for the keys in between changes nothing */
		if (take_byte(in) % 4 == 3)
			must(simdup_sketch_keys(sketch) != NULL);
		set += part;
		n -= part;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	int n_bins = (int) take_between(&in, 1, MAX_BINS);
	static uint64_t set[2 * MAX_ELEMENTS];
	size_t n_first;
	size_t n;
	SimdupSketch sketches[2];
	const uint64_t *keys;

	simdup_vectors =
		(SimdupVectors) (1 + size % (size_t) simdup_find_vectors());
	if (take_byte(&in) & 1)
		n_bins = SIMDUP_MINHASH64_BINS;
	n_first = make_set(&in, set);
	n = n_first + make_set(&in, set + n_first);
	for (int i = 0; i < 2; i++)
		simdup_sketch_begin(&sketches[i], n_bins);
	add_in_parts(&in, &sketches[0], set, n_first);
	add_in_parts(&in, &sketches[1], set + n_first, n - n_first);
	keys = simdup_sketch_keys(&sketches[1]);
	if (keys != NULL)
		simdup_sketch_merge(&sketches[0], keys);
	keys = simdup_sketch_keys(&sketches[0]);
	must((keys == NULL) == (n == 0));
	if (keys != NULL)
	{
		uint64_t expected[MAX_BINS];

		naive_keys(set, n, expected, (uint64_t) n_bins);
		must(memcmp(keys, expected, sizeof(uint64_t) * (size_t) n_bins) == 0);
	}
	for (int i = 0; i < 2; i++)
		simdup_sketch_free(&sketches[i]);
	return 0;
}
