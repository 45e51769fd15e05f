/*
 * index_entries.c
 *	  Entries of a Hamming index: order, sorting, and search in a page.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <string.h>

#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "core/search/radii.h"

/*
 * The loops over a page are there for three instruction sets, and the best is
 * chosen at run time. With AVX-512 eight popcounts are one instruction. gcc does
 * not find it by itself, so these loops are written out. A bitcode file, which
 * clang makes, has the first set only.
 */
#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) && \
	!defined(__clang__)
#define HAVE_AVX512 1
#define AVX512 "popcnt,avx512f,avx512vpopcntdq"
#define OPTIMIZED __attribute__((optimize("O3")))
#else
#define OPTIMIZED
#endif

/* Values whose distances are computed together. */
#define COMPARED 32

/*
 * Few values are near. So those compared together are first asked whether any is,
 * which a compiler can do without a branch for each value.
 */
SIMDUP_POPCNT_CLONES OPTIMIZED static int
find_near(const uint64_t *values, int n, uint64_t center, int radius,
		  uint16_t *found)
{
	int n_found = 0;
	int start = 0;

	for (; start + COMPARED <= n; start += COMPARED)
	{
		uint64_t any = 0;

		for (int i = 0; i < COMPARED; i++)
		{
			uint64_t x = values[start + i] ^ center;

			any |= (uint64_t) ((int64_t) simdup_popcount64(x) - radius - 1);
		}
		if ((any >> 63) == 0)
			continue;
		for (int i = start; i < start + COMPARED; i++)
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

SIMDUP_POPCNT_CLONES OPTIMIZED static void
compute_distances(const uint64_t *values, int n, uint64_t center,
				  uint8_t *distances)
{
	for (int i = 0; i < n; i++)
		distances[i] = (uint8_t) simdup_popcount64(values[i] ^ center);
}

#ifdef HAVE_AVX512
/* Return which of eight values are near, as bits. */
static inline __attribute__((always_inline, target(AVX512))) uint32_t
near_of_eight(const uint64_t *values, __m512i center, __m512i radius)
{
	__m512i x = _mm512_xor_si512(_mm512_loadu_si512(values), center);

	return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), radius);
}

static __attribute__((optimize("O3"), target(AVX512))) int
find_near_avx512(const uint64_t *values, int n, uint64_t center, int radius,
				 uint16_t *found)
{
	__m512i all_center = _mm512_set1_epi64((long long) center);
	__m512i all_radius = _mm512_set1_epi64(radius);
	int n_found = 0;
	int start = 0;

	for (; start + COMPARED <= n; start += COMPARED)
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

static __attribute__((optimize("O3"), target(AVX512))) void
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
#ifdef HAVE_AVX512
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		return find_near_avx512(values, n, center, radius, found);
#endif
	return find_near(values, n, center, radius, found);
}

void
simdup_distances(const uint64_t *values, int n, uint64_t center,
				 uint8_t *distances)
{
#ifdef HAVE_AVX512
	if (__builtin_cpu_supports("avx512vpopcntdq"))
		distances_avx512(values, n, center, distances);
	else
#endif
		compute_distances(values, n, center, distances);
}

/*
 * The search begins at the guess and goes on in steps that double. Static, since
 * a search of a leaf needs it inline: no step is more frequent.
 */
static inline int
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

int
simdup_first_not_below(const uint64_t *values, int from, int n, uint64_t value,
					   int guess)
{
	return first_not_below(values, from, n, value, guess);
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

/*
 * The sort of pairs, for the whole module. Entries are parted by the leading
 * bits in which their values differ, or their rows where all values are equal,
 * and each part is sorted alone. Only a few entries are compared. Each parting
 * takes bits off, so no order and no distribution makes the sort slow.
 */

/* Fewer entries are sorted by insertion. */
#define FEW_ENTRIES 24

/* Parts of entries that have spare room: some two entries each. */
#define SPARE_BITS 11

/* Parts of more entries, which the processor's cache holds if it can. */
#define MIN_BITS 8
#define MAX_BITS 10
#define PART_TARGET (SIMDUP_SORT_SPARE / 2)

typedef struct Parting
{
	int which; /* of an entry's two numbers */
	int shift;
	uint64_t mask; /* of a part's number */
} Parting;

static inline uint64_t
number_of(const SimdupEntry *entry, int which)
{
	return (&entry->value)[which];
}

static inline size_t
part_of(const SimdupEntry *entry, Parting parting)
{
	return (size_t) (number_of(entry, parting.which) >> parting.shift &
					 parting.mask);
}

/* Choose 2^bits parts at most. Return false if all entries are equal. */
static bool
choose_parts(const SimdupEntry *entries, size_t n, int bits, Parting *parting)
{
	for (int which = 0; which < 2; which++)
	{
		uint64_t first = number_of(&entries[0], which);
		uint64_t differing = 0;

		for (size_t i = 1; i < n; i++)
			differing |= number_of(&entries[i], which) ^ first;
		if (differing == 0)
			continue;
		*parting = (Parting){.which = which, .mask = (UINT64_C(1) << bits) - 1};
		while (differing >> parting->shift >> bits != 0)
			parting->shift++;
		return true;
	}
	return false;
}

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

/* Sort at most SIMDUP_SORT_SPARE entries. */
static void
sort_with_spare(SimdupEntry *entries, size_t n, SimdupEntry *spare)
{
	uint16_t ends[(1 << SPARE_BITS) + 1];
	Parting parting;
	int bits = 1;
	size_t n_parts;

	while (bits < SPARE_BITS && n >> bits > 1)
		bits++;
	n_parts = (size_t) 1 << bits;
	if (!choose_parts(entries, n, bits, &parting))
		return;
	memset(ends, 0, n_parts * sizeof(ends[0]));
	for (size_t i = 0; i < n; i++)
		ends[part_of(&entries[i], parting)]++;
	for (size_t part = 1; part < n_parts; part++)
		ends[part] += ends[part - 1];
	for (size_t i = n; i-- > 0;)
		spare[--ends[part_of(&entries[i], parting)]] = entries[i];
	memcpy(entries, spare, n * sizeof(SimdupEntry));
	/* `ends` now has where each part begins */
	ends[n_parts] = (uint16_t) n;
	for (size_t part = 0; part < n_parts; part++)
	{
		size_t size = (size_t) (ends[part + 1] - ends[part]);

		if (size > FEW_ENTRIES)
			sort_with_spare(entries + ends[part], size, spare);
		else if (size > 1)
			insertion_sort(entries + ends[part], size);
	}
}

/*
 * Bring each entry into its part. An entry that is out of position is exchanged
 * for the first one of its part that may be, part by part, until none is left.
 */
static void
part_in_place(SimdupEntry *entries, Parting parting, size_t n_parts,
			  size_t *next, const size_t *ends)
{
	for (size_t first = 0; first < n_parts;)
	{
		for (size_t part = first; part < n_parts; part++)
		{
			simdup_check_interrupts();
			for (size_t i = next[part]; i < ends[part]; i++)
			{
				size_t to = next[part_of(&entries[i], parting)]++;
				SimdupEntry entry = entries[to];

				entries[to] = entries[i];
				entries[i] = entry;
			}
		}
		while (first < n_parts && next[first] == ends[first])
			first++;
	}
}

/* Sort more entries than there is spare room for. */
static void
sort_large(SimdupEntry *entries, size_t n, SimdupEntry *spare)
{
	size_t next[1 << MAX_BITS] = {0};
	size_t ends[1 << MAX_BITS];
	size_t start = 0;
	size_t n_parts;
	Parting parting;
	int bits = MIN_BITS;

	while (bits < MAX_BITS && n >> bits > PART_TARGET)
		bits++;
	n_parts = (size_t) 1 << bits;
	if (!choose_parts(entries, n, bits, &parting))
		return;
	simdup_check_interrupts();
	for (size_t i = 0; i < n; i++)
		next[part_of(&entries[i], parting)]++;
	for (size_t part = 0; part < n_parts; part++)
	{
		ends[part] = start + next[part];
		next[part] = start;
		start = ends[part];
	}
	part_in_place(entries, parting, n_parts, next, ends);
	start = 0;
	for (size_t part = 0; part < n_parts; start = ends[part++])
		simdup_sort_entries(entries + start, ends[part] - start, spare);
}

void
simdup_sort_entries(SimdupEntry *entries, size_t n, SimdupEntry *spare)
{
	if (n > SIMDUP_SORT_SPARE)
		sort_large(entries, n, spare);
	else if (n > FEW_ENTRIES)
		sort_with_spare(entries, n, spare);
	else
		insertion_sort(entries, n);
}

void
simdup_sort_pairs(SimdupEntry *entries, size_t n)
{
	SimdupEntry *spare = NULL;

	if (n > FEW_ENTRIES)
		spare = simdup_alloc((n < SIMDUP_SORT_SPARE ? n : SIMDUP_SORT_SPARE) *
							 sizeof(SimdupEntry));
	simdup_sort_entries(entries, n, spare);
	simdup_free(spare);
}
