/*
 * sketch.c
 *	  One-permutation MinHash sketches, and the signatures made of them.
 *
 * The algorithm is fast similarity sketching (Dahlgaard, Knudsen and Thorup
 * 2017). Frozen: fingerprints and signatures are made of these keys.
 *
 * Round 0 throws each element into one bin, and each bin keeps its smallest
 * key. While a bin is empty, the next round throws all elements again, with
 * another hash; round r >= n_bins throws them into bin r - n_bins. The round
 * stands in the high bits of a key, so an earlier round's key is smaller.
 *
 * Sets need not be in memory at once. An element matters only in rounds up to
 * R, the highest round of any bin's key. R never grows. So a batch is thrown in
 * rounds 0 to R, and the sketch of a union has the smaller of the two keys in
 * each bin. After a few hundred distinct elements, R is mostly 0.
 *
 * A signature is a sketch of n_hashes bins. Agreement of two bins is unbiased,
 * and its variance is at most that of n_hashes independent permutations.
 */
#include <math.h>

#include "core/fingerprint/hash.h"
#include "core/fingerprint/sketch.h"
#include "core/fingerprint/vectors.h"

#ifdef SIMDUP_HAS_VECTORS
#include <immintrin.h>
#endif

/* Sketches */

/* Elements for each bin in a batch: few batches then need a second round. */
#define BATCH_LOAD 16
#define MIN_BATCH 1024

/* A batch of more elements for each bin is freed of repetitions. */
#define CROWDED_LOAD 4

/* From this round on, repetitions are removed, unless the elements are few. */
#define LATE_ROUND 48
#define FEW_ELEMENTS 16

/* Rounds between two checks for interrupts. */
#define LOOK_ROUNDS 16

void
simdup_sketch_begin(SimdupSketch *sketch, int n_bins)
{
	*sketch = (SimdupSketch){.n_bins = n_bins, .batch = MIN_BATCH};
	while (sketch->batch < (size_t) n_bins * BATCH_LOAD)
		sketch->batch *= 2;
	sketch->keys = simdup_alloc((size_t) n_bins * sizeof(uint64_t));
	memset(sketch->keys, 0xFF, (size_t) n_bins * sizeof(uint64_t));
}

/* Elements that are drawn for in one loop, of which compilers make vectors. */
#define DRAWN 128

/* Mix n elements, at most DRAWN, for this round. */
static inline __attribute__((always_inline)) void
draw_inline(const uint64_t *hashes, size_t n, uint64_t round, uint64_t *drawn)
{
	for (size_t i = 0; i < n; i++)
		drawn[i] = simdup_mix64(hashes[i] ^ round * SIMDUP_GOLDEN);
}

SIMDUP_VECTOR_FUNCTION(draw,
					   (const uint64_t *hashes, size_t n, uint64_t round,
						uint64_t *drawn),
					   (hashes, n, round, drawn))

#ifdef SIMDUP_HAS_VECTORS
/*
 * Drop, of n elements that were drawn for 64 bins, those that can't lower a key. The
 * keys, less the round, are looked up in registers. Return how many are left.
 */
SIMDUP_AVX512 static size_t
drop_high(const uint64_t *keys, uint64_t round, uint64_t *drawn, size_t n)
{
	uint32_t bounds[SIMDUP_MINHASH64_BINS];
	__m512i b[4];
	size_t left = 0;

	for (int i = 0; i < SIMDUP_MINHASH64_BINS; i++)
	{
		uint64_t first = round << 32;
		uint64_t bound = keys[i] > first ? keys[i] - first : 0;

		bounds[i] = bound < UINT32_MAX ? (uint32_t) bound : UINT32_MAX;
	}
	for (int i = 0; i < 4; i++)
		b[i] = _mm512_loadu_si512(bounds + 16 * i);
	for (size_t i = 0; i < n; i += 8)
	{
		__m512i v = _mm512_loadu_si512(drawn + i);
		__m512i bin = _mm512_srli_epi64(v, 58);
		__m512i bound = _mm512_permutex2var_epi32(b[0], bin, b[1]);
		__m512i second = _mm512_permutex2var_epi32(b[2], bin, b[3]);
		__mmask8 low;

		bound =
			_mm512_mask_mov_epi64(bound,
								  _mm512_test_epi64_mask(bin,
														 _mm512_set1_epi64(32)),
								  second);
		low = _mm512_cmple_epu64_mask(_mm512_slli_epi64(v, 32),
									  _mm512_slli_epi64(bound, 32));
		if (n - i < 8)
			low &= (__mmask8) ((1 << (n - i)) - 1);
		_mm512_storeu_si512(drawn + left, _mm512_maskz_compress_epi64(low, v));
		left += (size_t) __builtin_popcount(low);
	}
	return left;
}
#endif

/*
 * Throw the drawn keys of a round, before which `later` bins had only keys of later
 * rounds. Return the number of such bins that are left.
 */
static inline __attribute__((always_inline)) int
throw_drawn(uint64_t *keys, uint64_t n_bins, uint64_t round,
			const uint64_t *drawn, size_t n, int later)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t *bin = &keys[(drawn[i] >> 32) * n_bins >> 32];
		uint64_t key = round << 32 | (drawn[i] & UINT32_MAX);
		uint64_t old = *bin;

		/* no branch: it can't be foreseen */
		later -= old >= (round + 1) << 32;
		*bin = key < old ? key : old;
	}
	return later;
}

/* Throw elements in one round likewise. */
static int
throw_round(uint64_t *keys, int n_bins, uint64_t round, const uint64_t *hashes,
			size_t n, int later)
{
	uint64_t drawn[DRAWN + 8]; /* vectors read and write beyond */

	for (size_t m; n > 0; hashes += m, n -= m)
	{
		size_t left = m = n < DRAWN ? n : DRAWN;

		draw(hashes, m, round, drawn);
#ifdef SIMDUP_HAS_VECTORS
		if (simdup_vectors == SIMDUP_VECTORS_AVX512 &&
			n_bins == SIMDUP_MINHASH64_BINS)
			left = drop_high(keys, round, drawn, m);
#endif
		later = n_bins == SIMDUP_MINHASH64_BINS
					? throw_drawn(keys, SIMDUP_MINHASH64_BINS, round, drawn,
								  left, later)
					: throw_drawn(keys, (uint64_t) n_bins, round, drawn, left,
								  later);
	}
	return later;
}

/*
 * Throw elements in the last n_bins rounds. Each of these rounds has one bin, which
 * takes the round's least key unless it has a key of an earlier round.
 */
static void
throw_last_rounds(uint64_t *keys, uint64_t n_bins, const uint64_t *hashes,
				  size_t n)
{
	for (uint64_t round = n_bins; round < 2 * n_bins; round++)
	{
		uint64_t *key = &keys[round - n_bins];

		for (size_t i = 0; *key >= round << 32 && i < n; i++)
		{
			uint64_t mixed = simdup_mix64(hashes[i] ^ round * SIMDUP_GOLDEN);
			uint64_t drawn = round << 32 | (mixed & UINT32_MAX);

			*key = drawn < *key ? drawn : *key;
		}
		simdup_check_interrupts();
	}
}

/* Count the bins whose key is of a round after this one. */
static int
count_later(const uint64_t *keys, int n_bins, uint64_t round)
{
	int later = 0;

	for (int i = 0; i < n_bins; i++)
		later += keys[i] >> 32 > round; /* the key's round */
	return later;
}

/*
 * Copy the elements that are not known to have been thrown to pending, which
 * may be where they are. An element thrown earlier took part in as many rounds
 * as this batch will, or more. Returns how many are left.
 */
static size_t
drop_thrown(SimdupSketch *sketch, const uint64_t *hashes, size_t n)
{
	size_t mask = sketch->batch - 1;
	size_t left = 0;

	if (sketch->thrown == NULL)
	{
		sketch->thrown = simdup_alloc0(sketch->batch * sizeof(uint64_t));
		sketch->thrown[0] = 1; /* no element is in the wrong slot */
	}
	sketch->pending =
		simdup_grow(sketch->pending, &sketch->room, n, sizeof(uint64_t));
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = hashes[i];
		uint64_t *slot = &sketch->thrown[hash & mask];

		if (*slot == hash)
			continue;
		*slot = hash;
		sketch->pending[left++] = hash;
	}
	return left;
}

/* Throw one batch. pending is free, unless it is the batch. */
static void
throw_batch(SimdupSketch *sketch, const uint64_t *hashes, size_t n)
{
	uint64_t *keys = sketch->keys;
	int n_bins = sketch->n_bins;
	bool first = keys[0] == UINT64_MAX;
	bool distinct = false;
	int later = first ? n_bins : count_later(keys, n_bins, 0);

	simdup_check_interrupts();
	later = throw_round(keys, n_bins, 0, hashes, n, later);
	if (later > 0 && n > (size_t) n_bins * CROWDED_LOAD)
	{
		n = drop_thrown(sketch, hashes, n);
		hashes = sketch->pending;
		distinct = true;
	}
	for (uint64_t round = 1; later > 0 && n > 0 && round < (uint64_t) n_bins;
		 round++)
	{
		/* only few distinct elements leave bins empty for so long */
		if (round == LATE_ROUND && n > FEW_ELEMENTS && !distinct)
		{
			n = drop_thrown(sketch, hashes, n);
			hashes = sketch->pending;
		}
		/* the first batch finds empty bins: later than any round */
		if (!first)
			later = count_later(keys, n_bins, round);
		later = throw_round(keys, n_bins, round, hashes, n, later);
		if (round % LOOK_ROUNDS == 0)
			simdup_check_interrupts();
	}
	if (later > 0)
		throw_last_rounds(keys, (uint64_t) n_bins, hashes, n);
}

static void
throw_pending(SimdupSketch *sketch)
{
	size_t n = sketch->n_pending;

	sketch->n_pending = 0;
	if (n > 0)
		throw_batch(sketch, sketch->pending, n);
}

void
simdup_sketch_add(SimdupSketch *sketch, const uint64_t *hashes, size_t n)
{
	while (n > 0)
	{
		size_t left = sketch->batch - sketch->n_pending;
		size_t taken = n < left ? n : left;

		if (taken == sketch->batch)
			throw_batch(sketch, hashes, taken);
		else
		{
			sketch->pending =
				simdup_grow(sketch->pending, &sketch->room,
							sketch->n_pending + taken, sizeof(uint64_t));
			memcpy(sketch->pending + sketch->n_pending, hashes,
				   taken * sizeof(uint64_t));
			sketch->n_pending += taken;
			if (taken == left)
				throw_pending(sketch);
		}
		hashes += taken;
		n -= taken;
	}
}

void
simdup_sketch_merge(SimdupSketch *sketch, const uint64_t *keys)
{
	for (int i = 0; i < sketch->n_bins; i++)
		if (keys[i] < sketch->keys[i])
			sketch->keys[i] = keys[i];
}

const uint64_t *
simdup_sketch_keys(SimdupSketch *sketch)
{
	throw_pending(sketch);
	return sketch->keys[0] == UINT64_MAX ? NULL : sketch->keys;
}

void
simdup_sketch_free(SimdupSketch *sketch)
{
	simdup_free(sketch->keys);
	simdup_free(sketch->pending);
	simdup_free(sketch->thrown);
}

uint64_t
simdup_sketch_fingerprint(const uint64_t *keys)
{
	uint64_t fingerprint = 0;

	for (int i = 0; i < SIMDUP_MINHASH64_BINS; i++)
		fingerprint |= (keys[i] & 1) << i;
	return fingerprint;
}

/* Signatures */

void
simdup_minhash(const uint64_t *hashes, size_t n, uint32_t *signature,
			   int n_hashes)
{
	SimdupSketch sketch;
	const uint64_t *keys;

	simdup_sketch_begin(&sketch, n_hashes);
	simdup_sketch_add(&sketch, hashes, n);
	keys = simdup_sketch_keys(&sketch);
	for (int i = 0; i < n_hashes; i++)
		signature[i] = (uint32_t) keys[i];
	simdup_sketch_free(&sketch);
}

int
simdup_minhash_equal(const uint32_t *a, const uint32_t *b, int n_hashes)
{
	int equal = 0;

	for (int i = 0; i < n_hashes; i++)
		equal += a[i] == b[i];
	return equal;
}

void
simdup_band_hashes(const uint32_t *signature, int n_hashes, uint64_t *bands,
				   int n_bands)
{
	int n_rows = n_hashes / n_bands;

	for (int band = 0; band < n_bands; band++)
	{
		uint64_t hash = (uint64_t) band;

		for (int row = 0; row < n_rows; row++)
			hash = simdup_mix64((hash + 1) * SIMDUP_GOLDEN ^
								signature[band * n_rows + row]);
		bands[band] = hash;
	}
}

double
simdup_band_recall(double similarity, int n_bands, int n_rows)
{
	return 1 - pow(1 - pow(similarity, n_rows), n_bands);
}

int
simdup_choose_bands(double threshold, int n_hashes, double min_recall)
{
	/* fewer bands are longer, with fewer candidates and less recall */
	for (int n_bands = 1; n_bands < n_hashes; n_bands++)
	{
		int n_rows = n_hashes / n_bands;

		/* of all numbers of bands with n_rows, the largest finds most */
		if (n_hashes / (n_bands + 1) != n_rows &&
			simdup_band_recall(threshold, n_bands, n_rows) >= min_recall)
			return n_bands;
	}
	return n_hashes;
}
