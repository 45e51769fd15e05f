/*
 * bitmap.h
 *	  Feature bitmaps, their Jaccard similarity, and the sliding window of
 *	  class representatives.
 *
 * A bitmap is an array of 64-bit words; unused bits of the last are 0.
 */
#ifndef SIMDUP_CORE_COMPARE_BITMAP_H
#define SIMDUP_CORE_COMPARE_BITMAP_H

#include <stddef.h>
#include <stdint.h>

/* The widest bitmap; the sum of two sizes must fit 16 bits and a sign. */
#define SIMDUP_BITMAP_MAX_BITS 32768

/* Bits in both, bits in either. */
extern void simdup_bitmap_counts(const uint64_t *a, const uint64_t *b,
								 size_t n_words, uint64_t *both,
								 uint64_t *either);

typedef struct SimdupWindow SimdupWindow;

/*
 * Create an empty window for bitmaps of n_words (1 to 512) words. It keeps the
 * representatives of the last window_size (1 or more) classes. The threshold is
 * from 0 to 1.
 */
extern SimdupWindow *simdup_window_create(size_t n_words, int64_t window_size,
										  double threshold);

/*
 * Return the class of the next bitmap. It is the class of the first
 * representative, in ring order, whose similarity is strictly above the
 * threshold. If there is none, the bitmap represents a new class; classes are
 * numbered from 0. An empty bitmap is similar to none, not even to itself.
 */
extern int64_t simdup_window_next(SimdupWindow *window, const uint64_t *bitmap);

/* Open a new class for the bitmap, without a search. */
extern int64_t simdup_window_add(SimdupWindow *window, const uint64_t *bitmap);

/* Free a window, in programs without memory contexts. */
extern void simdup_window_free(SimdupWindow *window);

#endif /* SIMDUP_CORE_COMPARE_BITMAP_H */
