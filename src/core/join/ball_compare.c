/*
 * ball_compare.c
 *	  Comparing lists of fingerprints, by vector instructions that are chosen when
 *	  the program runs.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_VECTORS 1
#include <immintrin.h>
#endif

#include "core/fingerprint/vectors.h"
#include "core/join/ball.h"

/* Report own[i] with each of run that is near. */
static inline __attribute__((always_inline)) void
compare_one(const SimdupComparison *c, const uint64_t *own, uint32_t i,
			const uint64_t *run, uint32_t m)
{
	for (uint32_t j = 0; j < m; j++)
		if (simdup_hamming64(own[i], run[j]) <= c->max_distance &&
			simdup_is_first_block(c, own[i] ^ run[j]))
			c->found(c->arg, i, j);
}

/* By popcnt, or on processors other than x86-64 their own instruction. */
SIMDUP_POPCNT_CLONES static void
compare_plain(const SimdupComparison *c, const uint64_t *own, uint32_t n,
			  const uint64_t *run, uint32_t m)
{
	for (uint32_t i = 0; i < n; i++)
		compare_one(c, own, i, run, m);
}

#ifdef HAVE_VECTORS
#define TARGET(isa) static __attribute__((target(isa)))
#define AVX512 "popcnt,avx512f,avx512vpopcntdq"

/* Report own[i] with those of run[j] and after that `near` has a bit for. */
static inline __attribute__((always_inline)) void
report_near(const SimdupComparison *c, const uint64_t *own, uint32_t i,
			const uint64_t *run, uint32_t j, uint32_t m, uint32_t near)
{
	for (; near != 0; near &= near - 1)
	{
		uint32_t l = j + (uint32_t) __builtin_ctz(near);

		if (l < m && simdup_is_first_block(c, own[i] ^ run[l]))
			c->found(c->arg, i, l);
	}
}

/* Numbers of bits of four words, by a table of those of four bits. */
static inline __attribute__((always_inline, target("avx2"))) __m256i
popcount_of_four(__m256i x, __m256i table)
{
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i lower = _mm256_shuffle_epi8(table, _mm256_and_si256(x, low));
	__m256i upper =
		_mm256_shuffle_epi8(table,
							_mm256_and_si256(_mm256_srli_epi16(x, 4), low));

	return _mm256_sad_epu8(_mm256_add_epi8(lower, upper),
						   _mm256_setzero_si256());
}

TARGET("avx2,popcnt")
void
compare_avx2(const SimdupComparison *c, const uint64_t *own, uint32_t n,
			 const uint64_t *run, uint32_t m)
{
	__m256i beyond = _mm256_set1_epi64x(c->max_distance + 1);
	__m256i table = _mm256_set_epi64x(0x0403030203020201, 0x0302020102010100,
									  0x0403030203020201, 0x0302020102010100);

	for (uint32_t j = 0; j < m; j += 8)
	{
		__m256i first = _mm256_loadu_si256((const __m256i *) (run + j));
		__m256i second = _mm256_loadu_si256((const __m256i *) (run + j + 4));
		__m256i least = _mm256_set1_epi64x(64);

		for (uint32_t i = 0; i < n; i++)
		{
			__m256i code = _mm256_set1_epi64x((long long) own[i]);
			__m256i x = popcount_of_four(_mm256_xor_si256(code, first), table);
			__m256i y = popcount_of_four(_mm256_xor_si256(code, second), table);

			least = _mm256_min_epu8(least, _mm256_min_epu8(x, y));
		}
		if (_mm256_movemask_epi8(_mm256_cmpgt_epi64(beyond, least)) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
		{
			__m256i code = _mm256_set1_epi64x((long long) own[i]);
			__m256i x = popcount_of_four(_mm256_xor_si256(code, first), table);
			__m256i y = popcount_of_four(_mm256_xor_si256(code, second), table);
			int near = _mm256_movemask_pd(
						   _mm256_castsi256_pd(_mm256_cmpgt_epi64(beyond, x))) |
					   _mm256_movemask_pd(
						   _mm256_castsi256_pd(_mm256_cmpgt_epi64(beyond, y)))
						   << 4;

			report_near(c, own, i, run, j, m, (uint32_t) near);
		}
	}
}

static inline __attribute__((always_inline, target(AVX512))) __m512i
popcount_of_eight(__m512i code, __m512i others)
{
	return _mm512_popcnt_epi64(_mm512_xor_si512(code, others));
}

/* gcc does not unroll loops over vectors, so the four of a chunk stand here. */
TARGET(AVX512)
void
compare_avx512(const SimdupComparison *c, const uint64_t *own, uint32_t n,
			   const uint64_t *run, uint32_t m)
{
	__m512i k = _mm512_set1_epi64(c->max_distance);

	for (uint32_t j = 0; j < m; j += SIMDUP_COMPARED)
	{
		__m512i r0 = _mm512_loadu_si512(run + j);
		__m512i r1 = _mm512_loadu_si512(run + j + 8);
		__m512i r2 = _mm512_loadu_si512(run + j + 16);
		__m512i r3 = _mm512_loadu_si512(run + j + 24);
		__m512i least0 = _mm512_set1_epi64(64);
		__m512i least1 = least0;
		__m512i least2 = least0;
		__m512i least3 = least0;

		for (uint32_t i = 0; i < n; i++)
		{
			__m512i code = _mm512_set1_epi64((long long) own[i]);

			least0 = _mm512_min_epu64(least0, popcount_of_eight(code, r0));
			least1 = _mm512_min_epu64(least1, popcount_of_eight(code, r1));
			least2 = _mm512_min_epu64(least2, popcount_of_eight(code, r2));
			least3 = _mm512_min_epu64(least3, popcount_of_eight(code, r3));
		}
		least0 = _mm512_min_epu64(_mm512_min_epu64(least0, least1),
								  _mm512_min_epu64(least2, least3));
		if (_mm512_cmple_epu64_mask(least0, k) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
		{
			__m512i code = _mm512_set1_epi64((long long) own[i]);
			uint32_t near =
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r0), k) |
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r1), k) << 8 |
				_mm512_cmple_epu64_mask(popcount_of_eight(code, r2), k) << 16 |
				(uint32_t) _mm512_cmple_epu64_mask(popcount_of_eight(code, r3),
												   k)
					<< 24;

			report_near(c, own, i, run, j, m, near);
		}
	}
}
#endif

const SimdupComparer *
simdup_comparer(void)
{
#ifdef HAVE_VECTORS
	static const SimdupComparer comparers[] = {
		[SIMDUP_VECTORS_PLAIN] = {compare_plain, 0.55},
		[SIMDUP_VECTORS_AVX2] = {compare_avx2, 0.22},
		[SIMDUP_VECTORS_AVX512] = {compare_avx512, 0.07},
	};

	return &comparers[simdup_vectors];
#else
	static const SimdupComparer plain = {compare_plain, 1.5};

	return &plain;
#endif
}

SIMDUP_POPCNT_CLONES void
simdup_compare_within(const SimdupComparison *c, const uint64_t *codes,
					  uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		compare_one(c, codes, i, codes, i);
}
