/*
 * simhash_row.h
 *	  The simhash of a row in the making.
 */
#ifndef SIMDUP_TEXT_SIMHASH_ROW_H
#define SIMDUP_TEXT_SIMHASH_ROW_H

#include "text/fingerprinter.h"

typedef struct SimdupSimhashRow
{
	SimdupFingerprinter base;
	SimdupProfile profile;
	const text *tokenizer; /* its name, where it is not the default */
	uint64 field_weight;
	SimdupSum sum;
} SimdupSimhashRow;

/* Begin a row with the default options. */
extern void simdup_simhash_row_init(SimdupSimhashRow *row);

/*
 * Begin a row with the options of a call. field_weight is the number of that
 * argument; NULL and negative values are errors.
 */
extern void simdup_simhash_row_get(SimdupSimhashRow *row,
								   FunctionCallInfo fcinfo, int field_weight,
								   SimdupProfileArgs args);

/* For simdup_make_fingerprinter. */
extern SimdupFingerprinter *simdup_simhash_row_make(void);

#endif /* SIMDUP_TEXT_SIMHASH_ROW_H */
