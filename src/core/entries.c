/*
 * entries.c
 *	  Entries of a Hamming index: order, sorting, and search in a page.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <string.h>

#include "core/entries.h"
#include "core/hamming.h"
#include "core/host.h"

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

/* Return which of eight values are near, as bits. */
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
	for (; start < n; start += 8)
	{
		uint32_t near;
		int left = n - start;

		if (left >= 8)
			near = near_of_eight(values + start, all_center, all_radius);
		else
		{
			__mmask8 mask = (__mmask8) ((1 << left) - 1);
			__m512i x = _mm512_maskz_loadu_epi64(mask, values + start);

			x = _mm512_popcnt_epi64(_mm512_xor_si512(x, all_center));
			near = _mm512_mask_cmple_epu64_mask(mask, x, all_radius);
		}
		for (; near != 0; near &= near - 1)
			found[n_found++] = (uint16_t) (start + __builtin_ctz(near));
	}
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

/*
 * The first position from `from` on whose value is not below `value`. The search
 * begins at the guess and goes on in steps that double.
 */
static int
first_not_below(const uint64_t *values, int from, int n, uint64_t value,
				int guess)
{
	int low = from; /* no value before is a candidate */
	int high = n;	/* the value there is not below, or there is none */
	int step = 1;

	if (guess < from)
		guess = from;
	if (guess < n && values[guess] < value)
	{
		low = guess + 1;
		while (low + step < n && values[low + step] < value)
		{
			low += step + 1;
			step *= 2;
		}
		if (low + step < n)
			high = low + step;
	}
	else
	{
		high = guess < n ? guess : n;
		while (high - step >= from && values[high - step] >= value)
		{
			high -= step;
			step *= 2;
		}
		if (high - step >= from)
			low = high - step + 1;
	}
	while (low < high)
	{
		int middle = (low + high) / 2;

		if (values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* All values of a page are compared as fast as this number of ranges is found. */
#define MANY_BLOCKS 12

int
simdup_find_in_blocks(const uint64_t *values, int n, uint64_t high,
					  const uint16_t *blocks, int n_blocks, uint64_t center,
					  int radius, uint16_t *found)
{
	int n_found = 0;
	int at = 0;

	if (n_blocks > MANY_BLOCKS)
		return simdup_find_near(values, n, center, radius, found);
	for (int i = 0; i < n_blocks && at < n; i++)
	{
		uint64_t first = (uint64_t) blocks[i] << 48;
		uint64_t last;
		int start;
		int found_here;

		/* neighbouring blocks are one range */
		while (i + 1 < n_blocks && blocks[i + 1] == blocks[i] + 1)
			i++;
		last = (uint64_t) blocks[i] << 48 | (UINT64_MAX >> 16);
		start = first_not_below(values, at, n, first,
								at + simdup_guess_position(first, values[at],
														   high, n - at));
		at = start;
		if (start == n || values[start] > last)
			continue;
		at =
			last == UINT64_MAX
				? n
				: first_not_below(values, start, n, last + 1,
								  start +
									  simdup_guess_position(last, values[start],
															high, n - start));
		found_here = simdup_find_near(values + start, at - start, center,
									  radius, found + n_found);
		for (; found_here > 0; found_here--)
			found[n_found++] += (uint16_t) start;
	}
	return n_found;
}

/* Fewer entries are sorted by insertion. */
#define FEW_ENTRIES 24

static void
insertion_sort(SimdupEntry *entries, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		SimdupEntry entry = entries[i];
		size_t j = i;

		for (; j > 0 && simdup_entry_less(&entry, &entries[j - 1]); j--)
			entries[j] = entries[j - 1];
		entries[j] = entry;
	}
}

static void
swap_entries(SimdupEntry *a, SimdupEntry *b)
{
	SimdupEntry t = *a;

	*a = *b;
	*b = t;
}

/* Return the median of the first, the middle and the last entry. */
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
 * Partition the entries as Hoare does: no entry before the returned position is
 * above the pivot, none from it on below. Both sides hold at least one entry.
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

/* Sort by a heap, which bounds the time where the pivots are bad. */
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

/* Sort by comparisons; `depth` partitions at most. */
static void
quick_sort(SimdupEntry *entries, size_t n, int depth)
{
	while (n > FEW_ENTRIES)
	{
		size_t left;

		if (depth-- == 0)
		{
			heap_sort(entries, n);
			return;
		}
		left = partition(entries, n);
		quick_sort(entries, left, depth);
		entries += left;
		n -= left;
	}
	insertion_sort(entries, n);
}

#define SORT_BITS 11

/*
 * Put the entries, SIMDUP_SORT_SPARE at most, in groups of some two by the
 * leading bits in which they differ. Then only neighbours are out of order.
 */
static void
sort_by_bits(SimdupEntry *entries, size_t n, SimdupEntry *spare)
{
	uint16_t ends[1 << SORT_BITS] = {0};
	uint64_t low = entries[0].value;
	uint64_t high = low;
	int bits = 1;
	int shift = 0;
	size_t start = 0;

	for (size_t i = 1; i < n; i++)
	{
		uint64_t value = entries[i].value;

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	while (bits < SORT_BITS && n >> bits > 1)
		bits++;
	while ((high - low) >> shift >> bits != 0)
		shift++;
	for (size_t i = 0; i < n; i++)
		ends[(entries[i].value - low) >> shift]++;
	for (size_t b = 1; b < (size_t) 1 << bits; b++)
		ends[b] += ends[b - 1];
	for (size_t i = n; i-- > 0;)
		spare[--ends[(entries[i].value - low) >> shift]] = entries[i];
	memcpy(entries, spare, n * sizeof(SimdupEntry));
	/* where each group begins is now in `ends` */
	for (size_t b = 1; b <= (size_t) 1 << bits; b++)
	{
		size_t end = b < (size_t) 1 << bits ? ends[b] : n;

		if (end - start > 1)
			quick_sort(entries + start, end - start, 2 * SORT_BITS);
		start = end;
	}
}

/* Sort by at most `depth` partitions. */
static void
sort_parts(SimdupEntry *entries, size_t n, SimdupEntry *spare, int depth)
{
	while (n > SIMDUP_SORT_SPARE)
	{
		size_t left;

		simdup_check_interrupts();
		if (depth-- == 0)
		{
			heap_sort(entries, n);
			return;
		}
		left = partition(entries, n);
		sort_parts(entries, left, spare, depth);
		entries += left;
		n -= left;
	}
	if (n > FEW_ENTRIES)
		sort_by_bits(entries, n, spare);
	else
		insertion_sort(entries, n);
}

void
simdup_sort_entries(SimdupEntry *entries, size_t n, SimdupEntry *spare)
{
	int depth = 8;

	for (size_t m = n; m > 1; m /= 2)
		depth += 2;
	sort_parts(entries, n, spare, depth);
}

void
simdup_sort_pairs(SimdupEntry *entries, size_t n)
{
	SimdupEntry *spare = NULL;

	if (n > FEW_ENTRIES)
		spare = simdup_alloc((n < SIMDUP_SORT_SPARE ? n : SIMDUP_SORT_SPARE) *
							 sizeof(SimdupEntry));
	simdup_sort_entries(entries, n, spare);
	if (spare != NULL)
		simdup_free(spare);
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
