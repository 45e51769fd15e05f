/*
 * corpus.h
 *	  The terms of a text, of an array with weights, and of all texts of a query.
 */
#ifndef SIMDUP_TERMS_CORPUS_H
#define SIMDUP_TERMS_CORPUS_H

#include "fmgr.h"
#include "utils/array.h"

#include "core/compare/terms.h"
#include "server/arguments.h"
#include "server/query.h"
#include "text/profile.h"

/* Terms from an array, sorted by hash. */
typedef struct SimdupLexicon
{
	SimdupMemo memo; /* of words and weights */
	SimdupTerm *terms;
	size_t n;
	double largest; /* weight */
} SimdupLexicon;

/* The lexicon of two arguments; weights may be NULL. Raises 22023 or 2202E. */
extern const SimdupLexicon *simdup_get_lexicon(FunctionCallInfo fcinfo,
											   ArrayType *words,
											   ArrayType *weights);

/* Return the same as terms, sorted by hash. */
extern SimdupTerm *simdup_terms_of(const text *content,
								   SimdupTokenizer tokenizer, size_t *n);

/*
 * Receives a term, the number of documents that have it, and its inverse
 * document frequency, log(documents / documents with the term).
 */
typedef void (*SimdupTermSink)(void *arg, text *term, int64 n_documents,
							   double idf);

/*
 * Run a query of one text column, and hand on its terms in byte order. Sorts
 * on disk beyond maintenance_work_mem.
 */
extern void simdup_scan_corpus(const text *query, SimdupParameters *parameters,
							   const text *tokenizer, SimdupTermSink sink,
							   void *arg);

#endif /* SIMDUP_TERMS_CORPUS_H */
