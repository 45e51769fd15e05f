/*
 * folded.h
 *	  Shingles of profile 2: the windows of w units of a folded text.
 *
 * Units are the word characters of the folded text, joined, or its words. Words
 * are what the word tokenizer of profile 1 finds: maximal runs of segmented
 * characters, and bigrams of unsegmented ones. A text of fewer than w units is
 * one shingle, a text without any has none. Characters that fold to nothing do
 * not separate. Bytes that are not UTF-8 separate.
 */
#ifndef SIMDUP_CORE_FOLDED_H
#define SIMDUP_CORE_FOLDED_H

#include <stddef.h>
#include <stdint.h>

typedef enum SimdupFoldedUnit
{
	SIMDUP_FOLDED_CHAR,
	SIMDUP_FOLDED_WORD,
	SIMDUP_FOLDED_RAW /* not folded: any character but white space */
} SimdupFoldedUnit;

/* The widest shingle. */
#define SIMDUP_MAX_FOLDED_W 64

typedef struct SimdupFoldedShingling
{
	SimdupFoldedUnit unit;
	int w; /* 1 to SIMDUP_MAX_FOLDED_W */
} SimdupFoldedShingling;

/*
 * Receives shingles in text order, repeated as the text repeats them: shingle i
 * is bytes[starts[i]] up to bytes[ends[i]]. All are valid until it returns.
 */
typedef void (*SimdupFoldedSink)(void *arg, const char *bytes,
								 const size_t *starts, const size_t *ends,
								 size_t n);

/* Hand on the shingles of a text in UTF-8. Checks for interrupts. */
extern void simdup_folded_shingles(SimdupFoldedShingling shingling,
								   const char *text, size_t len,
								   SimdupFoldedSink sink, void *arg);

/* Receives the hashes of shingles, which are a sketch's elements. */
typedef void (*SimdupElementSink)(void *arg, const uint64_t *hashes, size_t n);

/* Hand on the CityHash64 of each shingle. */
extern void simdup_folded_elements(SimdupFoldedShingling shingling,
								   const char *text, size_t len,
								   SimdupElementSink sink, void *arg);

/*
 * A field of a row, folded, with white space trimmed and each run of it inside
 * as one blank. Returns allocated bytes, and how many in *folded_len.
 */
extern char *simdup_fold_field(const char *text, size_t len,
							   size_t *folded_len);

/* The most bits of a field's mask. */
#define SIMDUP_MAX_FIELD_BITS 32

/*
 * Return the mask of field number of a row, from 1: n_bits bits that depend on
 * the folded field and its number. A blank field has none. The masks of two
 * different fields have 2 n_bits - n_bits^2 / 32 bits apart on average.
 */
extern uint64_t simdup_field_mask(const char *text, size_t len, uint32_t number,
								  int n_bits);

#endif /* SIMDUP_CORE_FOLDED_H */
