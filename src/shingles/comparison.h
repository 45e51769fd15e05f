/*
 * comparison.h
 *	  Two contents compared: by their shingles, or by their sketches.
 *
 * A content is a text, or a sketch of minhash_bits, which stands in for one.
 * Either becomes words: the ascending hashes of the shingles, or the bits.
 */
#ifndef SIMDUP_SHINGLES_COMPARISON_H
#define SIMDUP_SHINGLES_COMPARISON_H

#include "fmgr.h"

#include "text/minhash64.h"

typedef struct SimdupComparison
{
	SimdupFoldedShingling shingling;
	bool by_sketch;	 /* contents are sketches, not texts */
	int sketch_bits; /* 0: before the first sketch */
} SimdupComparison;

/* A column of this type holds the contents; false if none can. */
extern bool simdup_comparison_takes(SimdupComparison *comparison, Oid type,
									bool sketches);

/* ERROR if a sketch is not as long as the one before. */
extern void simdup_comparison_check(SimdupComparison *comparison,
									Datum content);

/* The words of a content, in the current memory context. */
extern SimdupHashes simdup_comparison_words(SimdupComparison *comparison,
											Datum content);

/* The resemblance of two contents; 0 if one of them has no shingle. */
extern double simdup_comparison_of(const SimdupComparison *comparison,
								   const SimdupHashes *a,
								   const SimdupHashes *b);

#endif /* SIMDUP_SHINGLES_COMPARISON_H */
