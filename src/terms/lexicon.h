/*
 * lexicon.h
 *	  The terms of a text, and terms given as an array, with weights.
 */
#ifndef SIMDUP_TERMS_LEXICON_H
#define SIMDUP_TERMS_LEXICON_H

#include "fmgr.h"
#include "utils/array.h"

#include "core/shingle.h"
#include "text/profile.h"

/*
 * Terms from an array, sorted by hash. A lexicon lives as long as the call's
 * FmgrInfo: the next row nearly always comes with the same arrays.
 */
typedef struct SimdupLexicon
{
	MemoryContext context;
	ArrayType *words; /* the arguments it was made of */
	ArrayType *weights;
	SimdupTerm *terms;
	size_t n;
	double largest; /* weight */
} SimdupLexicon;

/* The lexicon of two arguments; weights may be NULL. Raises 22023 or 2202E. */
extern const SimdupLexicon *simdup_get_lexicon(FunctionCallInfo fcinfo,
											   ArrayType *words,
											   ArrayType *weights);

/* The distinct terms of a text with their frequencies, in text order. */
extern SimdupFeatures simdup_term_features(const text *content,
										   SimdupTokenizer tokenizer);

/* The same as terms, sorted by hash. */
extern SimdupTerm *simdup_terms_of(const text *content,
								   SimdupTokenizer tokenizer, size_t *n);

#endif /* SIMDUP_TERMS_LEXICON_H */
