/*
 * folded_shingles.h
 *	  Shingles of profile 2: the windows of w units of a folded text.
 *
 * Units are the word characters of the folded text, joined, or its words. Words
 * are what the word tokenizer of profile 1 finds: maximal runs of segmented
 * characters, and bigrams of unsegmented ones. A text of fewer than w units is
 * one shingle, a text without any has none. Characters that fold to nothing do
 * not separate. Bytes that are not UTF-8 separate.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_FOLDED_SHINGLES_H
#define SIMDUP_CORE_FINGERPRINT_FOLDED_SHINGLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/shingle.h"

/* The widest shingle of a folded text. */
#define SIMDUP_MAX_FOLDED_W 64

/*
 * Receives shingles in text order, repeated as the text repeats them: shingle i
 * is bytes[starts[i]] up to bytes[ends[i]]. All are valid until it returns.
 */
typedef void (*SimdupFoldedSink)(void *arg, const char *bytes,
								 const size_t *starts, const size_t *ends,
								 size_t n);

/* Hand on the shingles of a text in UTF-8. Checks for interrupts. */
extern void simdup_folded_shingles(SimdupShingling shingling, const char *text,
								   size_t len, SimdupFoldedSink sink,
								   void *arg);

/* Receives the hashes of shingles, which are a sketch's elements. */
typedef void (*SimdupElementSink)(void *arg, const uint64_t *hashes, size_t n);

/* Hand on the CityHash64 of each shingle. */
extern void simdup_folded_elements(SimdupShingling shingling, const char *text,
								   size_t len, SimdupElementSink sink,
								   void *arg);

#endif /* SIMDUP_CORE_FINGERPRINT_FOLDED_SHINGLES_H */
