/*
 * host.h
 *	  What core/ needs from the program it runs in: memory, large sorts, and a place
 *	  to stop.
 *
 * In the server these are palloc, temporary files and CHECK_FOR_INTERRUPTS
 * (server/host.c, server/spill.c), in unit tests and fuzz targets malloc and nothing
 * (test/unit/host.c). None of them returns NULL, and any of them may leave by a
 * non-local exit: core/ must therefore own nothing that memory contexts would not
 * clean up.
 */
#ifndef SIMDUP_CORE_HOST_H
#define SIMDUP_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern void *simdup_alloc(size_t size);
extern void *simdup_alloc0(size_t size);

/* As in the C library, p may be NULL. */
extern void *simdup_realloc(void *p, size_t size);
extern void simdup_free(void *p);

/*
 * Return an array with room for `needed` elements of this width. Its room, *size
 * elements, grows to a power of two. An array without room may be NULL.
 */
static inline void *
simdup_grow(void *array, size_t *size, size_t needed, size_t width)
{
	if (needed <= *size)
		return array;
	*size =
		needed <= 16 ? 16 : (size_t) 1 << (64 - __builtin_clzll(needed - 1));
	return simdup_realloc(array, *size * width);
}

/*
 * Sort as qsort does. The comparison may check for interrupts: an error that leaves
 * the sort in the middle loses no memory.
 */
extern void simdup_sort(void *array, size_t n, size_t width,
						int (*compare)(const void *, const void *));

/* Pairs of numbers, sorted: in memory, and on disk beyond it. */

struct SimdupSortItem;

typedef struct SimdupPairSort SimdupPairSort;

/* Return a new sort with this many bytes of memory, and at least 128 kB. */
extern SimdupPairSort *simdup_pairsort_begin(int64_t memory);
extern void simdup_pairsort_end(SimdupPairSort *sort);
/* Return the bytes that went to disk. */
extern int64_t simdup_pairsort_disk(const SimdupPairSort *sort);

/* Add all pairs, then perform, then get them in order. */
extern void simdup_pairsort_put(SimdupPairSort *sort, uint64_t first,
								uint64_t second);
extern void simdup_pairsort_perform(SimdupPairSort *sort);

/* Get the next pair by first and second, unsigned; return false at the end. */
extern bool simdup_pairsort_get(SimdupPairSort *sort, uint64_t *first,
								uint64_t *second);

/* Get the next pairs, at most `most`; return their number, 0 at the end. */
extern size_t simdup_pairsort_get_list(SimdupPairSort *sort,
									   struct SimdupSortItem *pairs,
									   size_t most);

/* Check for interrupts. Long computations do at least every few milliseconds. */
extern void simdup_check_interrupts(void);

/* The same, but for one of 65,536 elements of a loop. */
static inline void
simdup_check_interrupts_at(size_t i)
{
	if (i % 65536 == 0)
		simdup_check_interrupts();
}

/* Bytes of text between two checks for interrupts. */
#define SIMDUP_POLL_BYTES (1 << 16)

/* Check for interrupts if p has reached poll_at. Return where to check next. */
static inline const unsigned char *
simdup_poll(const unsigned char *p, const unsigned char *poll_at)
{
	if (p < poll_at)
		return poll_at;
	simdup_check_interrupts();
	return p + SIMDUP_POLL_BYTES;
}

#endif /* SIMDUP_CORE_HOST_H */
