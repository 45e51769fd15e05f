/*
 * terms.h
 *	  Texts as weighted terms: the cosine of the vector space model, and
 *	  I-Match's signature of the terms in a lexicon.
 */
#ifndef SIMDUP_CORE_COMPARE_TERMS_H
#define SIMDUP_CORE_COMPARE_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* SIMDUP_CORE_COMPARE_TERMS_H */
