/*
 * entries.h
 *	  Entries of a Hamming index: order, partition, and search in a page.
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

/* The distance of each value from the center. */
extern void simdup_distances(const uint64_t *values, int n, uint64_t center,
							 uint8_t *distances);

/*
 * Part the entries into groups of `size`. Group j then holds the entries that it
 * would hold if all were sorted: ranks j * size to j * size + size - 1. The first
 * entry has rank `rank`.
 */
extern void simdup_part_entries(SimdupEntry *entries, size_t n, size_t rank,
								size_t size);

/* The least of n entries; n at least 1. */
extern SimdupEntry simdup_least_entry(const SimdupEntry *entries, size_t n);

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
