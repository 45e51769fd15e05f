/*
 * entries.h
 *	  Entries of a Hamming index: order, sorting, and search in a page.
 */
#ifndef SIMDUP_CORE_ENTRIES_H
#define SIMDUP_CORE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A rotated fingerprint and its row. Entries are ordered by both: no two are
 * equal, so any number of equal fingerprints can be parted between pages.
 */
typedef struct SimdupEntry
{
	uint64_t value;
	uint64_t row; /* block number and offset of a TID, 48 bits */
} SimdupEntry;

static inline bool
simdup_entry_less(const SimdupEntry *a, const SimdupEntry *b)
{
	return a->value < b->value || (a->value == b->value && a->row < b->row);
}

/* Longest list of values that simdup_find_near takes. */
#define SIMDUP_MAX_FOUND 4096

/*
 * Positions of the values within radius of the center, ascending; their
 * number. The list is of one page, n at most SIMDUP_MAX_FOUND.
 */
extern int simdup_find_near(const uint64_t *values, int n, uint64_t center,
							int radius, uint16_t *found);

/*
 * The same among ascending values, of those that begin with one of the blocks.
 * The blocks ascend. No value is above `high`.
 */
extern int simdup_find_in_blocks(const uint64_t *values, int n, uint64_t high,
								 const uint16_t *blocks, int n_blocks,
								 uint64_t center, int radius, uint16_t *found);

/*
 * Where a value probably is among n ascending ones from `low` to `high`, if they
 * are evenly spread.
 */
static inline int
simdup_guess_position(uint64_t value, uint64_t low, uint64_t high, int n)
{
	if (value <= low || high <= low)
		return 0;
	if (value >= high)
		return n;
	return (int) ((double) (value - low) / (double) (high - low) * n);
}

/* The distance of each value from the center. */
extern void simdup_distances(const uint64_t *values, int n, uint64_t center,
							 uint8_t *distances);

#define SIMDUP_SORT_SPARE 8192

/* Sort entries. `spare` has room for all, or for SIMDUP_SORT_SPARE if they are more. */
extern void simdup_sort_entries(SimdupEntry *entries, size_t n,
								SimdupEntry *spare);

/*
 * Buckets of rotated values, in ascending order: `low` is the least value there
 * can be, and a bucket holds 2^shift values. Entries come in several lists: count
 * all of them, then place all of them.
 */
typedef struct SimdupBuckets
{
	int rotation;
	uint64_t low;
	int shift;
} SimdupBuckets;

/* Add to counts[b] the entries of bucket b. */
extern void simdup_count_entries(const SimdupEntry *entries, size_t n,
								 const SimdupBuckets *buckets, size_t *counts);

/*
 * Copy the entries to `target`, their values rotated. places[b] is the next
 * place of bucket b, and moves on.
 */
extern void simdup_place_entries(const SimdupEntry *entries, size_t n,
								 const SimdupBuckets *buckets, size_t *places,
								 SimdupEntry *target);

#endif /* SIMDUP_CORE_ENTRIES_H */
