/*
 * index_entries.h
 *	  Entries of a Hamming index: order, sorting, and search in a page.
 */
#ifndef SIMDUP_CORE_SEARCH_INDEX_ENTRIES_H
#define SIMDUP_CORE_SEARCH_INDEX_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A rotated fingerprint and its row. Entries are ordered by both: no two are
 * equal, so any number of equal fingerprints can be parted between pages. Batches
 * sort other pairs of numbers as entries, which may be equal.
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
 * Find the positions of the values within radius of the center, ascending.
 * Return their number. The list is of one page, n at most SIMDUP_MAX_FOUND.
 */
extern int simdup_find_near(const uint64_t *values, int n, uint64_t center,
							int radius, uint16_t *found);

/*
 * Find the same among ascending values that begin with one of the blocks. The
 * blocks ascend. No value is above `high`.
 */
extern int simdup_find_in_blocks(const uint64_t *values, int n, uint64_t high,
								 const uint16_t *blocks, int n_blocks,
								 uint64_t center, int radius, uint16_t *found);

/*
 * Return the probable position of a value among n ascending ones from `low` to
 * `high`, if they are evenly spread.
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

/*
 * Return the first position from `from` on of ascending values where the value is
 * not below this one, or n. The guess is where it may be.
 */
extern int simdup_first_not_below(const uint64_t *values, int from, int n,
								  uint64_t value, int guess);

/* Compute the distance of each value from the center. */
extern void simdup_distances(const uint64_t *values, int n, uint64_t center,
							 uint8_t *distances);

#define SIMDUP_SORT_SPARE 8192

/*
 * Sort entries. `spare` has room for all, or for SIMDUP_SORT_SPARE if they are
 * more.
 */
extern void simdup_sort_entries(SimdupEntry *entries, size_t n,
								SimdupEntry *spare);

/* Sort entries, with spare room of its own. */
extern void simdup_sort_pairs(SimdupEntry *entries, size_t n);

#endif /* SIMDUP_CORE_SEARCH_INDEX_ENTRIES_H */
