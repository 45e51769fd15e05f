/*
 * contents.h
 *	  The contents of many rows on disk, to be compared in pairs.
 *
 * A content is a text, or a sketch of minhash_bits, which stands in for one. Most
 * rows of a large table are near no other row. So a text is only stored as it is
 * read. Its shingles are made when it is compared for the first time.
 */
#ifndef SIMDUP_SHINGLES_CONTENTS_H
#define SIMDUP_SHINGLES_CONTENTS_H

#include "fmgr.h"

#include "text/minhash64.h"

typedef struct SimdupContents SimdupContents;

/* Return a new store in the current memory context. */
extern SimdupContents *simdup_contents_begin(SimdupFoldedShingling shingling);
extern void simdup_contents_end(SimdupContents *contents);

/* Check whether a column of this type may hold the contents. */
extern bool simdup_contents_expect(SimdupContents *contents, Oid type);

/* Add that of the next row; rows are numbered from 0. */
extern void simdup_contents_add(SimdupContents *contents, Datum content);

/*
 * End the rows, before all calls below. This takes 8 bytes a row, and `memory`
 * bytes for contents that are asked for again.
 */
extern void simdup_contents_finish(SimdupContents *contents, Size memory);

/* Return 64 bits of a content. Equal contents have equal digests. */
extern uint64 simdup_contents_digest(SimdupContents *contents, uint32 number);

/* Return a content, valid until the next call of any function here. */
extern Datum simdup_contents_get(SimdupContents *contents, uint32 number);

/* Check whether two contents are the same bytes. */
extern bool simdup_contents_equal(SimdupContents *contents, uint32 a, uint32 b);

/*
 * Check whether a content has a shingle. One without any resembles no other, not
 * even an equal one.
 */
extern bool simdup_contents_has_shingle(SimdupContents *contents,
										uint32 number);

/*
 * Return the resemblance of two contents if it is at least min_resemblance,
 * else -1. Quick for the same a again, and mostly quick for -1.
 */
extern double simdup_contents_resemblance(SimdupContents *contents, uint32 a,
										  uint32 b, double min_resemblance);

/*
 * Return the set of a content's shingles, as ascending hashes, valid until the
 * next call with the same buffer, 0 or 1.
 */
extern const SimdupHashes *simdup_contents_set(SimdupContents *contents,
											   uint32 number, int buffer);

#endif /* SIMDUP_SHINGLES_CONTENTS_H */
