/*
 * minhash.c
 *	  Signatures of any set against their definition, bin by bin; order and
 *	  repetitions must not matter. Also bands, and the choice of bands.
 */
#include "core/fingerprint/hash.h"
#include "core/fingerprint/sketch.h"
#include "input.h"
#include "random.h"

#define MAX_HASHES 96
#define MAX_ELEMENTS 150
#define ROUND_SEED UINT64_C(0x9e3779b97f4a7c15)

/*
 * Bin i: in the first round that throws anything into it, the smallest value
 * thrown. From round n_hashes on, round r throws everything into bin
 * r - n_hashes.
 */
static uint32_t
naive_bin(const uint64_t *set, size_t n, uint64_t bin, uint64_t n_bins)
{
	for (uint64_t round = 0;; round++)
	{
		bool any = false;
		uint32_t least = UINT32_MAX;

		for (size_t i = 0; i < n; i++)
		{
			uint64_t v = simdup_mix64(set[i] ^ round * ROUND_SEED);
			uint64_t to =
				round < n_bins ? (v >> 32) * n_bins >> 32 : round - n_bins;

			if (to != bin)
				continue;
			any = true;
			least = (uint32_t) v < least ? (uint32_t) v : least;
		}
		if (any)
			return least;
	}
}

static size_t
take_set(Input *in, uint64_t *set)
{
	size_t n = take_between(in, 1, MAX_ELEMENTS);
	uint64_t state = take_byte(in);
	uint64_t mask = take_byte(in) & 1 ? take_word(in) : ~UINT64_C(0);

	for (size_t i = 0; i < n; i++)
		set[i] =
			input_left(in) > 8 ? take_word(in) : next_random_of(&state) & mask;
	return n;
}

static void
check_signature(const uint64_t *set, size_t n, int n_hashes,
				uint32_t *signature)
{
	simdup_minhash(set, n, signature, n_hashes);
	for (int i = 0; i < n_hashes; i++)
		must(signature[i] ==
			 naive_bin(set, n, (uint64_t) i, (uint64_t) n_hashes));
}

/* A set backwards, with an element twice, is the same set. */
static void
check_same_set(const uint64_t *set, size_t n, int n_hashes,
			   const uint32_t *signature)
{
	uint64_t again[MAX_ELEMENTS + 1];
	uint32_t other[MAX_HASHES];

	for (size_t i = 0; i < n; i++)
		again[i] = set[n - 1 - i];
	again[n] = set[n / 2];
	simdup_minhash(again, n + 1, other, n_hashes);
	must(simdup_minhash_equal(other, signature, n_hashes) == n_hashes);
}

/* Bands are equal where their rows are, and hardly elsewhere. */
static void
check_bands(const uint32_t *a, const uint32_t *b, int n_hashes, int n_bands)
{
	uint64_t bands[2][MAX_HASHES];
	int n_rows = n_hashes / n_bands;

	simdup_band_hashes(a, n_hashes, bands[0], n_bands);
	simdup_band_hashes(b, n_hashes, bands[1], n_bands);
	for (int band = 0; band < n_bands; band++)
		must((bands[0][band] == bands[1][band]) ==
			 (memcmp(a + band * n_rows, b + band * n_rows,
					 (size_t) n_rows * sizeof(uint32_t)) == 0));
}

/* No fewer bands reach the recall, and these do if any can. */
static void
check_choice(double threshold, int n_hashes, double min_recall)
{
	int chosen = simdup_choose_bands(threshold, n_hashes, min_recall);

	must(chosen >= 1 && chosen <= n_hashes);
	for (int n = 1; n <= n_hashes; n++)
	{
		double recall = simdup_band_recall(threshold, n, n_hashes / n);

		must(recall >= 0 && recall <= 1);
		/* the most bands of that many rows; all else finds less */
		if (n < chosen && n_hashes / (n + 1) < n_hashes / n)
			must(recall < min_recall);
		if (n == chosen && n < n_hashes)
			must(recall >= min_recall);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	int n_hashes = (int) take_between(&in, 1, MAX_HASHES);
	int n_bands = (int) take_between(&in, 1, (uint64_t) n_hashes);
	double threshold = (double) take_between(&in, 0, 255) / 255;
	double min_recall = (double) take_between(&in, 0, 255) / 255;
	uint64_t sets[2][MAX_ELEMENTS];
	uint32_t signatures[2][MAX_HASHES];
	int equal = 0;

	for (int i = 0; i < 2; i++)
	{
		size_t n = take_set(&in, sets[i]);

		check_signature(sets[i], n, n_hashes, signatures[i]);
		check_same_set(sets[i], n, n_hashes, signatures[i]);
	}
	for (int i = 0; i < n_hashes; i++)
		equal += signatures[0][i] == signatures[1][i];
	must(simdup_minhash_equal(signatures[0], signatures[1], n_hashes) == equal);
	check_bands(signatures[0], signatures[1], n_hashes, n_bands);
	check_choice(threshold, n_hashes, min_recall);
	return 0;
}
