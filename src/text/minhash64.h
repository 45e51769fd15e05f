/*
 * minhash64.h
 *	  Fingerprints of profile 2 for what cuts text in SQL.
 */
#ifndef SIMDUP_TEXT_MINHASH64_H
#define SIMDUP_TEXT_MINHASH64_H

#include "core/folded.h"
#include "core/shingle.h"
#include "core/sketch.h"
#include "fmgr.h"
#include "text/profile.h"

/*
 * The options w and unit, at these arguments of a call. Raises 22004 for NULLs
 * and 22023 for a width out of range and a unit that there is not.
 */
extern SimdupFoldedShingling simdup_get_folded_shingling(
	FunctionCallInfo fcinfo, int w, int unit);

/* A SimdupElementSink that adds to a SimdupSketch. */
extern void simdup_add_elements(void *sketch, const uint64_t *hashes, size_t n);

/* Add the shingles of a text. */
extern void simdup_sketch_text(SimdupSketch *sketch,
							   SimdupFoldedShingling shingling,
							   SimdupUtf8 content);

/* What a function returns for its sketch: NULL for the empty set. */
extern Datum simdup_minhash64_result(FunctionCallInfo fcinfo,
									 SimdupSketch *sketch);

/* The fingerprint of a row in the making; its parts may come in any order. */
typedef struct SimdupMinhashRow
{
	SimdupSketch sketch;
	SimdupFoldedShingling shingling;
	double field_share;
	SimdupHashes elements; /* of the content */
	SimdupHashes fields;
} SimdupMinhashRow;

/* The options field_share, w and unit, at these arguments; errors as above. */
extern void simdup_minhash_row_begin(SimdupMinhashRow *row,
									 FunctionCallInfo fcinfo, int field_share,
									 int w, int unit);

/*
 * The content, at most once. Raises 54000 for more distinct shingles than can
 * be counted.
 */
extern void simdup_minhash_row_content(SimdupMinhashRow *row,
									   SimdupUtf8 content);

/* A field; a blank one adds nothing. */
extern void simdup_minhash_row_field(SimdupMinhashRow *row, SimdupUtf8 field);

/* The fingerprint, NULL of a row without content and fields. */
extern Datum simdup_minhash_row_end(FunctionCallInfo fcinfo,
									SimdupMinhashRow *row);

#endif /* SIMDUP_TEXT_MINHASH64_H */
