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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/charclass.h"
#include "core/shingle.h"

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
 * Return a field of a row, folded, with white space trimmed and each run of it
 * inside as one blank. The bytes are allocated, and *folded_len is their
 * number.
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

/*
 * The resemblance of two texts: the Jaccard coefficient of the sets of their
 * folded shingles (Broder 1997).
 */

/*
 * Fill *set, which begins as {0}, with the distinct elements of a text in UTF-8,
 * ascending. Return false if the text has more than SIMDUP_MAX_SHINGLES.
 */
extern bool simdup_folded_set(SimdupFoldedShingling shingling, const char *text,
							  size_t len, SimdupHashes *set);

/* Return the resemblance of two ascending sets, one of which is not empty. */
extern double simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b);

/*
 * Return the resemblance of two ascending sets if it is at least
 * min_resemblance, else -1. An empty set resembles nothing. The comparison ends
 * as soon as the elements that are left cannot reach min_resemblance.
 */
extern double simdup_resemblance_from(const SimdupHashes *a,
									  const SimdupHashes *b,
									  double min_resemblance);

/*
 * Winnowing: a sample of a text's shingles such that texts that share a
 * passage share an element (Schleimer, Wilkerson and Aiken 2003).
 */

/* The most shingles of which one is sampled. */
#define SIMDUP_MAX_WINNOW_WINDOW 1024

/*
 * Fill *set, which begins as {0}, with the smallest element of every window of
 * consecutive shingles, ascending. A text with fewer shingles has the smallest of
 * all. Two texts that share shingling.w + window - 1 units in a row
 * share an element. Return false if the text has too many elements.
 */
extern bool simdup_winnow(SimdupFoldedShingling shingling, int window,
						  const char *text, size_t len, SimdupHashes *set);

/* A short field of a row, folded as profile 1 compares fields. */

/* Folding makes at most this many bytes of each byte of a field. */
#define SIMDUP_FIELD_GROWTH SIMDUP_MAX_UTF8

/*
 * Write the field to out: its characters in lower case, without the white
 * space around them. Bytes that are not UTF-8 stay as they are. Returns the
 * length, which is 0 for a blank field. out has room for SIMDUP_FIELD_GROWTH
 * bytes for each byte of the field.
 */
extern size_t simdup_lower_field(const char *field, size_t len, char *out);

#endif /* SIMDUP_CORE_FOLDED_H */
