/*
 * resemblance.h
 *	  What two texts have in common. Their resemblance is the Jaccard coefficient
 *	  of the sets of their folded shingles (Broder 1997), or of samples of these.
 *	  Their cosine is that of their weighted terms. Feature bitmaps (bitmap.c) and the
 *	  distances of a sample of fingerprints (statistics.c) are here, too.
 */
#ifndef SIMDUP_CORE_COMPARE_RESEMBLANCE_H
#define SIMDUP_CORE_COMPARE_RESEMBLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/shingle.h"

/*
 * Fill *set, which begins as {0}, with the distinct elements of a text in UTF-8,
 * ascending. Return false if the text has more than SIMDUP_MAX_SHINGLES.
 */
extern bool simdup_folded_set(SimdupShingling shingling, const char *text,
							  size_t len, SimdupHashes *set);

/* Return the number of elements in both of two ascending sets. */
extern size_t simdup_hashes_common(const SimdupHashes *a,
								   const SimdupHashes *b);

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
extern bool simdup_winnow(SimdupShingling shingling, int window,
						  const char *text, size_t len, SimdupHashes *set);

/*
 * Texts as weighted terms. The cosine is that of the vector space model (Salton,
 * Wong and Yang 1975). I-Match is a signature of the terms in a lexicon (Chowdhury
 * et al. 2002), also in randomised lexicons (Kolcz et al. 2004).
 */

typedef struct SimdupTerm
{
	uint64_t hash;
	double weight;
} SimdupTerm;

/* Sort terms by hash, as the functions below expect them. */
extern void simdup_terms_sort(SimdupTerm *terms, size_t n);

/* Return the term with this hash, or NULL. */
extern const SimdupTerm *simdup_terms_find(const SimdupTerm *terms, size_t n,
										   uint64_t hash);

/* Compute the cosine of two vectors. Return false if one has no length. */
extern bool simdup_cosine(const SimdupTerm *a, size_t n_a, const SimdupTerm *b,
						  size_t n_b, double *cosine);

/*
 * Compute signature number i of the terms that are in the lexicon. Number 0
 * uses the whole lexicon. Other numbers each choose a share `keep` of the
 * lexicon at random. False if no term is left.
 */
extern bool simdup_imatch(const SimdupTerm *terms, size_t n,
						  const SimdupTerm *lexicon, size_t n_lexicon,
						  uint32_t i, double keep, uint64_t *signature);

/*
 * Feature bitmaps, their Jaccard similarity, and the sliding window of class
 * representatives (bitmap.c). A bitmap is an array of 64-bit words; unused bits of the
 * last are 0.
 */

/* The widest bitmap; the sum of two sizes must fit 16 bits and a sign. */
#define SIMDUP_BITMAP_MAX_BITS 32768

/* Bits in both, bits in either. */
extern void simdup_bitmap_counts(const uint64_t *a, const uint64_t *b,
								 size_t n_words, uint64_t *both,
								 uint64_t *either);

typedef struct SimdupRepresentatives SimdupRepresentatives;

/*
 * Create an empty window for bitmaps of n_words (1 to 512) words. It keeps the
 * representatives of the last window_size (1 or more) classes. The threshold is
 * from 0 to 1.
 */
extern SimdupRepresentatives *simdup_representatives_create(size_t n_words,
															int64_t window_size,
															double threshold);

/*
 * Return the class of the next bitmap. It is the class of the first
 * representative, in ring order, whose similarity is strictly above the
 * threshold. If there is none, the bitmap represents a new class; classes are
 * numbered from 0. An empty bitmap is similar to none, not even to itself.
 */
extern int64_t simdup_representatives_next(SimdupRepresentatives *window,
										   const uint64_t *bitmap);

/* Open a new class for the bitmap, without a search. */
extern int64_t simdup_representatives_add(SimdupRepresentatives *window,
										  const uint64_t *bitmap);

/* Free a window, in programs without memory contexts. */
extern void simdup_representatives_free(SimdupRepresentatives *window);

/*
 * What distances of fingerprints say about their texts (statistics.c). Two bins of
 * minhash64 agree with chance J, the resemblance of the two sets. If two bins do not
 * agree, their bits are still equal by chance in half of the cases. So each of the
 * 64 bits agrees with chance (1 + J) / 2.
 */

/* Return the estimate of the resemblance where d of n bits differ, 0 to 1. */
extern double simdup_agreement_resemblance(int d, int n);

/*
 * Return the smallest distance, 0 to 64, that holds a pair of this resemblance
 * with a chance of at least recall. Both are in [0, 1].
 */
extern int simdup_agreement_distance(double resemblance, double recall);

/* How far apart unrelated fingerprints of a table are. */

/* Size of a sample of which all pairs are compared. */
#define SIMDUP_SAMPLE_SIZE 4096

/*
 * Set chance[d] to the chance that two unrelated fingerprints are within
 * distance d of each other, for d = 0 to 64. It is estimated from the distances
 * of all pairs of the sample. All are 0 for fewer than two fingerprints.
 */
extern void simdup_false_pair_chances(const uint64_t *sample, size_t n,
									  double *chance);

#endif /* SIMDUP_CORE_COMPARE_RESEMBLANCE_H */
