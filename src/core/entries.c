/*
 * entries.c
 *	  Entries of a Hamming index: order, partition, and search in a page.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "core/entries.h"
#include "core/hamming.h"
#include "core/host.h"
#include "core/radii.h"

/*
 * The loops over a page are there for three instruction sets, and the best is
 * chosen at run time. With AVX-512 eight popcounts are one instruction. gcc does
 * not find it by itself, so these loops are written out. A bitcode file, which
 * clang makes, has the first set only.
 */
#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) && \
	!defined(__clang__)
#define HAVE_CLONES 1
#define PAGE_LOOP static inline __attribute__((always_inline))
#define CLONE(isa) static __attribute__((optimize("O3"), target(isa)))
#define AVX512 "popcnt,avx512f,avx512vpopcntdq"
#else
#define PAGE_LOOP static
#endif

/* Values whose distances are computed together. */
#define CHUNK 32

/*
 * Few values are near. So a chunk is first asked whether it has any, which a
 * compiler can do without a branch for each value.
 */
PAGE_LOOP int
find_near(const uint64_t *values, int n, uint64_t center, int radius,
		  uint16_t *found)
{
	int n_found = 0;
	int start = 0;

	for (; start + CHUNK <= n; start += CHUNK)
	{
		uint64_t any = 0;

		for (int i = 0; i < CHUNK; i++)
		{
			uint64_t x = values[start + i] ^ center;

			any |= (uint64_t) ((int64_t) simdup_popcount64(x) - radius - 1);
		}
		if ((any >> 63) == 0)
			continue;
		for (int i = start; i < start + CHUNK; i++)
		{
			found[n_found] = (uint16_t) i;
			n_found += simdup_popcount64(values[i] ^ center) <= radius;
		}
	}
	for (int i = start; i < n; i++)
	{
		found[n_found] = (uint16_t) i;
		n_found += simdup_popcount64(values[i] ^ center) <= radius;
	}
	return n_found;
}

PAGE_LOOP void
distances_of(const uint64_t *values, int n, uint64_t center, uint8_t *distances)
{
	for (int i = 0; i < n; i++)
		distances[i] = (uint8_t) simdup_popcount64(values[i] ^ center);
}

#ifdef HAVE_CLONES
CLONE("popcnt")
int
find_near_popcnt(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
	return find_near(values, n, center, radius, found);
}

/* Which of eight values are near, as bits. */
static inline __attribute__((always_inline, target(AVX512))) uint32_t
near_of_eight(const uint64_t *values, __m512i center, __m512i radius)
{
	__m512i x = _mm512_xor_si512(_mm512_loadu_si512(values), center);

	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), radius);
}

CLONE(AVX512)
int
find_near_avx512(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
	__m512i all_center = _mm512_set1_epi64((long long) center);
	__m512i all_radius = _mm512_set1_epi64(radius);
	int n_found = 0;
	int start = 0;

	for (; start + CHUNK <= n; start += CHUNK)
	{
		const uint64_t *chunk = values + start;
		uint32_t near = near_of_eight(chunk, all_center, all_radius);

		near |= near_of_eight(chunk + 8, all_center, all_radius) << 8;
		near |= near_of_eight(chunk + 16, all_center, all_radius) << 16;
		near |= near_of_eight(chunk + 24, all_center, all_radius) << 24;
		for (; near != 0; near &= near - 1)
			found[n_found++] = (uint16_t) (start + __builtin_ctz(near));
	}
	for (; start < n; start++)
		if (__builtin_popcountll(values[start] ^ center) <= radius)
			found[n_found++] = (uint16_t) start;
	return n_found;
}

CLONE("popcnt")
void
distances_popcnt(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
	distances_of(values, n, center, distances);
}

CLONE(AVX512)
void
distances_avx512(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
	__m512i all_center = _mm512_set1_epi64((long long) center);
	int i = 0;

	for (; i + 8 <= n; i += 8)
	{
		__m512i x = _mm512_loadu_si512(values + i);
		__m512i counts = _mm512_popcnt_epi64(_mm512_xor_si512(x, all_center));

		_mm_storel_epi64((__m128i *) (distances + i),
						 _mm512_cvtepi64_epi8(counts));
	}
	for (; i < n; i++)
		distances[i] = (uint8_t) __builtin_popcountll(values[i] ^ center);
}
#endif

int
simdup_find_near(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
#ifdef HAVE_CLONES
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		return find_near_avx512(values, n, center, radius, found);
	if (__builtin_cpu_supports("popcnt"))
		return find_near_popcnt(values, n, center, radius, found);
#endif
	return find_near(values, n, center, radius, found);
}

void
simdup_distances(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
#ifdef HAVE_CLONES
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		distances_avx512(values, n, center, distances);
	else if (__builtin_cpu_supports("popcnt"))
		distances_popcnt(values, n, center, distances);
	else
#endif
		distances_of(values, n, center, distances);
}

static void
swap_entries(SimdupEntry *a, SimdupEntry *b)
{
	SimdupEntry t = *a;

	*a = *b;
	*b = t;
}

/* The median of the first, the middle and the last entry. */
static SimdupEntry
pivot_of(SimdupEntry *entries, size_t n)
{
	SimdupEntry *a = &entries[0];
	SimdupEntry *b = &entries[n / 2];
	SimdupEntry *c = &entries[n - 1];

	if (simdup_entry_less(b, a))
		swap_entries(a, b);
	if (simdup_entry_less(c, b))
		swap_entries(b, c);
	if (simdup_entry_less(b, a))
		swap_entries(a, b);
	return *b;
}

/*
 * Hoare's partition: no entry before the returned position is above the
 * pivot, none from it on below. Both sides hold at least one entry.
 */
static size_t
partition(SimdupEntry *entries, size_t n)
{
	SimdupEntry pivot = pivot_of(entries, n);
	size_t i = 0;
	size_t j = n - 1;

	for (;;)
	{
		while (simdup_entry_less(&entries[i], &pivot))
			i++;
		while (simdup_entry_less(&pivot, &entries[j]))
			j--;
		if (i >= j)
			return i > 0 ? i : 1;
		swap_entries(&entries[i++], &entries[j--]);
	}
}

static void
sift_down(SimdupEntry *entries, size_t i, size_t n)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child)
	{
		if (child + 1 < n &&
			simdup_entry_less(&entries[child], &entries[child + 1]))
			child++;
		if (!simdup_entry_less(&entries[i], &entries[child]))
			return;
		swap_entries(&entries[i], &entries[child]);
	}
}

/* Fewer are parted in well under a millisecond. */
#define FEW_ENTRIES 4096

/* Bounds the time if the pivots are bad. */
static void
heap_sort(SimdupEntry *entries, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(entries, i, n);
	for (size_t end = n; end-- > 1;)
	{
		swap_entries(&entries[0], &entries[end]);
		sift_down(entries, 0, end);
	}
}

static void
part_entries(SimdupEntry *entries, size_t n, size_t rank, size_t size,
			 int depth)
{
	/* is there a border of groups inside? */
	while (n > 1 && rank / size != (rank + n - 1) / size)
	{
		size_t left;

		if (n > FEW_ENTRIES)
			simdup_check_interrupts();
		if (depth-- == 0)
		{
			heap_sort(entries, n);
			return;
		}
		left = partition(entries, n);
		part_entries(entries, left, rank, size, depth);
		entries += left;
		rank += left;
		n -= left;
	}
}

void
simdup_part_entries(SimdupEntry *entries, size_t n, size_t rank, size_t size)
{
	int depth = 8;

	for (size_t m = n; m > 1; m /= 2)
		depth += 2;
	part_entries(entries, n, rank, size, depth);
}

SimdupEntry
simdup_least_entry(const SimdupEntry *entries, size_t n)
{
	SimdupEntry least = entries[0];

	for (size_t i = 1; i < n; i++)
		if (simdup_entry_less(&entries[i], &least))
			least = entries[i];
	return least;
}

static inline size_t
bucket_of(uint64_t value, const SimdupBuckets *buckets)
{
	return (size_t) ((value - buckets->low) >> buckets->shift);
}

void
simdup_count_entries(const SimdupEntry *entries, size_t n,
					 const SimdupBuckets *buckets, size_t *counts)
{
	SimdupBuckets b = *buckets;

	for (size_t i = 0; i < n; i++)
		counts[bucket_of(simdup_rotate(entries[i].value, b.rotation), &b)]++;
}

void
simdup_place_entries(const SimdupEntry *entries, size_t n,
					 const SimdupBuckets *buckets, size_t *places,
					 SimdupEntry *target)
{
	SimdupBuckets b = *buckets;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t value = simdup_rotate(entries[i].value, b.rotation);
		SimdupEntry *place = &target[places[bucket_of(value, &b)]++];

		place->value = value;
		place->row = entries[i].row;
	}
}
