/*
 * stored_texts.h
 *	  The contents of many rows, to be compared in pairs.
 *
 * A content is a text, or a sketch of minhash_bits, which stands in for one. Most
 * rows of a large table are near no other row. So a text is only stored as it is
 * read. Its shingles are made when it is compared for the first time.
 */
#ifndef SIMDUP_PAIRS_STORED_TEXTS_H
#define SIMDUP_PAIRS_STORED_TEXTS_H

#include "fmgr.h"

#include "text/minhash64.h"

typedef struct SimdupStoredTexts SimdupStoredTexts;

/*
 * Return a new store of contents of this type in the current memory context. Equal
 * contents are stored once, in memory up to this size.
 */
extern SimdupStoredTexts *simdup_stored_texts_begin(SimdupShingling shingling,
													Oid type, Size memory);
extern void simdup_stored_texts_end(SimdupStoredTexts *contents);

/*
 * Return a new store of n texts that somebody else keeps, numbered from 0: get
 * returns one, valid until its next call. It is finished, with this much memory.
 */
extern SimdupStoredTexts *simdup_text_cache_begin(
	SimdupShingling shingling, uint32 n, Datum (*get)(void *arg, uint32 number),
	void *arg, Size memory);

/* Add that of the next row; rows are numbered from 0. */
extern void simdup_stored_texts_add(SimdupStoredTexts *contents, Datum content);

/*
 * End the rows, before all calls below. This takes 8 bytes a row, and `memory`
 * bytes for contents that are asked for again.
 */
extern void simdup_stored_texts_finish(SimdupStoredTexts *contents,
									   Size memory);

/* Return the number of a row's content, below all rows. Equal contents have one. */
extern uint32 simdup_stored_texts_number(const SimdupStoredTexts *contents,
										 uint32 row);

/* Return a content, valid until the next call of any function here. */
extern Datum simdup_stored_texts_get(SimdupStoredTexts *contents, uint32 row);

/*
 * Check whether a content has a shingle. One without any resembles no other, not
 * even an equal one.
 */
extern bool simdup_stored_texts_has_shingle(SimdupStoredTexts *contents,
											uint32 row);

/*
 * Return the resemblance of two contents if it is at least min_resemblance,
 * else -1. Quick for the same a again, and mostly quick for -1.
 */
extern double simdup_stored_texts_resemblance(SimdupStoredTexts *contents,
											  uint32 a, uint32 b,
											  double min_resemblance);

#endif /* SIMDUP_PAIRS_STORED_TEXTS_H */
