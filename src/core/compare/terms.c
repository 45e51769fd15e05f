/*
 * terms.c
 *	  The cosine (Salton, Wong and Yang 1975) and I-Match (Chowdhury and others
 *	  2002, with the randomised lexicons of Kolcz and others 2004).
 */
#include <math.h>
#include <stdlib.h>

#include "core/compare/terms.h"
#include "core/fingerprint/hash.h"

/* Any odd number; each signature chooses its lexicon by another multiple. */
#define LEXICON_SEED UINT64_C(0x9e3779b97f4a7c15)

void
simdup_terms_sort(SimdupTerm *terms, size_t n)
{
	if (n > 1)
		qsort(terms, n, sizeof(SimdupTerm), simdup_compare_words);
}

const SimdupTerm *
simdup_terms_find(const SimdupTerm *terms, size_t n, uint64_t hash)
{
	SimdupTerm key = {hash, 0};

	return n ? bsearch(&key, terms, n, sizeof(SimdupTerm), simdup_compare_words)
			 : NULL;
}

/* Return the largest weight: divided by it, no square overflows. */
static double
largest_weight(const SimdupTerm *terms, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(terms[i].weight));
	return largest;
}

bool
simdup_cosine(const SimdupTerm *a, size_t n_a, const SimdupTerm *b, size_t n_b,
			  double *cosine)
{
	double unit_a = largest_weight(a, n_a);
	double unit_b = largest_weight(b, n_b);
	double product = 0;
	double square_a = 0;
	double square_b = 0;
	size_t i = 0;
	size_t j = 0;

	if (unit_a == 0 || unit_b == 0)
		return false;
	while (i < n_a || j < n_b)
	{
		bool take_a = j == n_b || (i < n_a && a[i].hash <= b[j].hash);
		bool take_b = i == n_a || (j < n_b && b[j].hash <= a[i].hash);
		double x = take_a ? a[i++].weight / unit_a : 0;
		double y = take_b ? b[j++].weight / unit_b : 0;

		product += x * y;
		square_a += x * x;
		square_b += y * y;
	}
	/* one root of the product: equal vectors give 1 to the last digit */
	*cosine = fmin(1, fmax(-1, product / sqrt(square_a * square_b)));
	return true;
}

/* Check whether signature i keeps a term. Only the term and i decide. */
static inline bool
is_kept(uint64_t hash, uint32_t i, double keep)
{
	uint64_t draw = simdup_mix64(hash ^ i * LEXICON_SEED);

	return (double) (draw >> 11) < keep * (double) (UINT64_C(1) << 53);
}

bool
simdup_imatch(const SimdupTerm *terms, size_t n, const SimdupTerm *lexicon,
			  size_t n_lexicon, uint32_t i, double keep, uint64_t *signature)
{
	uint64_t hash = i;
	bool any = false;

	for (size_t t = 0; t < n; t++)
	{
		uint64_t term = terms[t].hash;

		if ((i > 0 && !is_kept(term, i, keep)) ||
			!simdup_terms_find(lexicon, n_lexicon, term))
			continue;
		any = true;
		hash = simdup_mix64((hash + 1) * LEXICON_SEED ^ term);
	}
	*signature = hash;
	return any;
}
