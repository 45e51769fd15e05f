/*
 * corpus.h
 *	  The terms of all texts of a query, with their document frequencies.
 */
#ifndef SIMDUP_TERMS_CORPUS_H
#define SIMDUP_TERMS_CORPUS_H

#include "fmgr.h"

#include "server/query.h"

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
