/*
 * minhash64_row.h
 *	  The minhash64 of a row in the making.
 */
#ifndef SIMDUP_TEXT_MINHASH64_ROW_H
#define SIMDUP_TEXT_MINHASH64_ROW_H

#include "text/fingerprinter.h"
#include "text/minhash64.h"

/* Content and fields may come in any order. */
typedef struct SimdupMinhashRow
{
	SimdupFingerprinter base;
	SimdupFoldedShingling shingling;
	double field_share;
	SimdupSketch sketch;
	SimdupHashes elements; /* of the content */
	SimdupHashes fields;
	SimdupFewest fewest;
} SimdupMinhashRow;

/*
 * Begin a row with the options of a call, at these arguments; min_features
 * comes after unit, if the function has it. Raises 22004 for
 * NULLs and 22023 for values that are not allowed.
 */
extern void simdup_minhash_row_get(SimdupMinhashRow *row,
								   FunctionCallInfo fcinfo, int field_share,
								   int w, int unit);

/* For simdup_make_fingerprinter. */
extern SimdupFingerprinter *simdup_minhash_row_make(void);

#endif /* SIMDUP_TEXT_MINHASH64_ROW_H */
